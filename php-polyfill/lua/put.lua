-- Written by scripts/gen-polyfill from core/redis/scripts.c.
local call=redis.call
local KEYS, ARGV, get = KEYS, ARGV, struct.unpack
local parts, k, most = #KEYS - 2, tonumber(ARGV[1]), tonumber(ARGV[2])
local whole = call('HMGET', KEYS[parts + 2], 'kind', 'born')
if whole[1] ~= 'grow' or whole[2] ~= ARGV[4] then return {-3} end
local at, pos, other, marks = 5, {}, false, {-1}
for i = 1, parts do
 local mark = call('GETRANGE', KEYS[i], ARGV[at], ARGV[at] + 3)
 other = other or mark ~= ARGV[at + 1]
 marks[i + 1] = #mark == 4 and get('>I4', mark) or 0
 pos[i] = ARGV[at + 2]
 at = at + 3
end
if other then return marks end
local meta, last, wide = KEYS[parts + 1], pos[parts], 11 * k
local text = call('HGET', meta, 'keys')
if text and not string.match(text, '^%d+$') then
 local v = string.sub(text, 1, 24)
 return {err = "DAMAGED field keys of its newest part is '" .. v .. "'"}
end
local had = tonumber(text or ARGV[3])
local keys = math.max(had, tonumber(ARGV[3]))
local set = {'BITFIELD', KEYS[parts]}
for j = 1, math.min(k, 1000) do set[4 * j - 1], set[4 * j], set[4 * j + 2] = 'SET', 'u1', '1' end
local out, n = {}, 1
for from = 1, #last, wide do
 local found, stop = 0, from + wide
 for i = parts, 1, -1 do
  local key, p, j = KEYS[i], pos[i], from
  while j < stop and call('GETBIT', key, (get('s', p, j))) == 1 do j = j + 11 end
  if j == stop then
   found = i
   break
  end
 end
 if found == 0 and keys >= most then
  found = -2
 elseif found == 0 then
  keys = keys + 1
  for j = from, stop - 1, 11000 do
   local c = 2
   for q = j, math.min(j + 11000, stop) - 1, 11 do
    set[c + 3] = get('s', last, q)
    c = c + 4
   end
   call(unpack(set, 1, c))
  end
 end
 n = n + 1
 out[n] = found
end
if keys ~= had and call('HEXISTS', meta, 'format') == 1 then
 call('HSET', meta, 'keys', string.format('%.0f', keys))
end
out[1] = keys
return out
