-- Written by scripts/gen-polyfill from core/redis/scripts.c.
local call=redis.call
local at, m = tonumber(ARGV[1]), 0
local apart = at > 536870904
if apart then
 local text = call('STRLEN', KEYS[1]) == at and call('HGET', KEYS[2], 'mark') or ''
 if string.match(text, '^' .. string.rep('%x', 8) .. '$') then m = tonumber(text, 16) end
else
 local b = call('GETRANGE', KEYS[1], ARGV[1], at + 3)
 if #b == 4 then m = struct.unpack('>I4', b) end
end
local live = m ~= 0 and m == tonumber(ARGV[2], 16)
if not live then return {-1, m} end
local function read(key, cells)
 local v, least = {}, 15
 for j, cell in ipairs(cells) do
  local i = tonumber(string.sub(cell, 2))
  local at = math.floor(i / 2)
  local byte = call('GETRANGE', key, at, at):byte() or 0
  v[j] = i % 2 == 0 and math.floor(byte / 16) or byte % 16
  least = math.min(least, v[j])
  if least == 0 then break end
 end
 return v, least
end
local function raise(key, cells, by)
 for i = 1, #cells, 1000 do
  local c = {'BITFIELD', key, 'OVERFLOW', 'SAT'}
  for j = i, math.min(i + 999, #cells) do
   local n = #c
   c[n + 1], c[n + 2], c[n + 3], c[n + 4] = 'INCRBY', 'u4', cells[j], by
  end
  call(unpack(c))
 end
end
local function lower(key, cells, v)
 local down = {}
 for j, cell in ipairs(cells) do
  if v[j] < 15 then down[#down + 1] = cell end
 end
 raise(key, down, '-1')
end
local k, out, at, named = tonumber(ARGV[3]), {}, 1, 0
while named < tonumber(ARGV[6]) do
 local cells = {}
 for i = named + 1, named + k do
  local cell
  cell, at = struct.unpack('s', ARGV[4], at)
  if ARGV[5]:byte(i) == 1 then cells[#cells + 1] = cell end
 end
 named = named + k
 local v, least = read(KEYS[1], cells)
 if least > 0 then lower(KEYS[1], cells, v) end
 out[#out + 1] = least > 0 and 1 or 0
end
out[#out + 1] = m
return out
