-- Written by scripts/gen-polyfill from core/redis/scripts.c.
local call=redis.call
local KEYS, ARGV, get = KEYS, ARGV, struct.unpack
local meta = call('HMGET', KEYS[2], 'mark', 'keys' .. ARGV[4] - 1)
if call('GETRANGE', KEYS[1], ARGV[1], ARGV[1] + 4) ~= ARGV[2] or meta[1] ~= ARGV[3] then
 return {-1}
end
local key, parts, k = KEYS[1], tonumber(ARGV[4]), tonumber(ARGV[5])
local most = tonumber(ARGV[6])
local text, pos, wide = meta[2], ARGV[8], 11 * k
if text and not string.match(text, '^%d+$') then
 local v = string.sub(text, 1, 24)
 return {err = "DAMAGED field keys of its newest part is '" .. v .. "'"}
end
local had, out, n = tonumber(text or 0), {}, 1
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
local keys, op = had, ARGV[9]
for from = 1, #pos, parts * wide do
 local found, least, cells, v = 0, 0
 for i = 1, parts do
  cells = {}
  for j = from + (i - 1) * wide, from + i * wide - 1, 11 do
   local cell = get('s', pos, j)
   if cell ~= '' then cells[#cells + 1] = '#'..cell end
  end
  v, least = read(key, cells)
  if least > 0 then
   found = i
   break
  end
 end
 n = n + 1
 out[n] = found
 if op == 'count' then
  out[n] = least
 elseif op == 'remove' and found > 0 then
  lower(key, cells, v)
  if least == 1 and found == parts and keys > 0 then keys = keys - 1 end
 elseif op == 'add' and found == 0 and keys >= most then
  out[n] = -2
 elseif op == 'add' then
  if found == 0 then keys = keys + 1 end
  raise(key, cells, '1')
 end
end
if keys ~= had then
 call('HSET', KEYS[2], 'keys' .. ARGV[4] - 1, string.format('%.0f', keys))
end
out[1] = keys
return out
