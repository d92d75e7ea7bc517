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
local set = {'BITFIELD', key}
for j = 1, math.min(k, 1000) do
 set[4 * j - 1], set[4 * j], set[4 * j + 2] = 'SET', 'u1', '1'
end
local function fill(first, stop, by)
 local had = 1
 for j = first, stop - 1, 11000 do
  local c = 2
  for q = j, math.min(j + 11000, stop) - 1, 11 do
   set[c + 3] = get('s', pos, q) + by
   c = c + 4
  end
  for _, v in ipairs(call(unpack(set, 1, c))) do
   if v == 0 then had = 0 end
  end
 end
 return had
end
local keys = math.max(had, tonumber(ARGV[7]))
for from = 1, #pos, parts * wide do
 local found, stop = 0, from + parts * wide
 for i = parts, 1, -1 do
  local j = stop - wide
  while j < stop and call('GETBIT', key, (get('s', pos, j))) == 1 do j = j + 11 end
  if j == stop then
   found = i
   break
  end
  stop = stop - wide
 end
 if found == 0 and keys >= most then
  found = -2
 elseif found == 0 then
  keys = keys + 1
  stop = from + parts * wide
  fill(stop - wide, stop, 0)
 end
 n = n + 1
 out[n] = found
end
if keys ~= had then
 call('HSET', KEYS[2], 'keys' .. ARGV[4] - 1, string.format('%.0f', keys))
end
out[1] = keys
return out
