-- Written by scripts/gen-polyfill from core/redis/scripts.c.
local call=redis.call
local at = tonumber(ARGV[1])
local apart, m = at > 536870904, '00000000'
if apart then
 if call('STRLEN', KEYS[1]) == at then m = call('HGET', KEYS[2], 'mark') or m end
else
 local b = call('GETRANGE', KEYS[1], at, at + 3)
 if #b == 4 then m = string.format('%02x%02x%02x%02x', b:byte(1, 4)) end
end
local live = m ~= '00000000' and m == ARGV[2]
if not live then return {-1, tonumber(m, 16)} end
local function run(p, fields)
 local out = {}
 for i = 1, #p, 1000 do
  local c = {'BITFIELD', KEYS[1]}
  for j = i, math.min(i + 999, #p) do fields(c, p[j], j) end
  if #c > 2 then
   for _, v in ipairs(call(unpack(c))) do out[#out + 1] = v end
  end
 end
 return out
end
local k, out, at, named = tonumber(ARGV[3]), {}, 1, 0
while at <= #ARGV[4] do
 local p, there = {}, 1
 for i = named + 1, named + k do
  local cell
  cell, at = struct.unpack('s', ARGV[4], at)
  if ARGV[5]:byte(i) == 1 then p[#p + 1] = cell end
 end
 named = named + k
 local v = run(p, function(c, cell)
  local n = #c
  c[n + 1], c[n + 2], c[n + 3] = 'GET', 'u4', cell
 end)
 for _, n in ipairs(v) do if n == 0 then there = 0 end end
 if there == 1 then
  run(p, function(c, cell, j)
   local n = #c
   if v[j] < 15 then
    c[n + 1], c[n + 2], c[n + 3], c[n + 4] = 'INCRBY', 'u4', cell, '-1'
   end
  end)
 end
 out[#out + 1] = there
end
return out
