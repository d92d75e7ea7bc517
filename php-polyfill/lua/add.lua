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
local get, k, pos, by = struct.unpack, tonumber(ARGV[3]), ARGV[4], ARGV[5]
local all, bits, c = tonumber(ARGV[6]), by == '', {'BITFIELD', KEYS[1]}
local set, kind, least, most = 'SET', 'u1', 1, math.min(all, 32)
if not bits then
 c, set, kind, least = {'BITFIELD', KEYS[1], 'OVERFLOW', 'SAT'}, 'INCRBY', 'u4', 2
end
local head = #c
for j = head + 1, head + 4 * most, 4 do
 c[j], c[j + 1], c[j + 2], c[j + 3] = set, kind, '', '1'
end
local out, key, had, from, at = {}, 0, 1, 1, 1
for first = 1, all, most do
 local n = math.min(most, all - first + 1)
 for j = head + 3, head + 4 * n, 16 do
  c[j], c[j + 4], c[j + 8], c[j + 12], at = get('ssss', pos, at)
 end
 for j = 1, bits and 0 or n do
  c[head + 4 * j] = by:byte(first + j - 1)
 end
 local v = call(unpack(c, 1, head + 4 * n))
 while from <= n do
  local last = from + k - 1
  for j = math.max(from, 1), math.min(last, n) do
   if v[j] < least then
    had = 0
    break
   end
  end
  if last > n then break end
  key = key + 1
  out[key], had, from = had, 1, last + 1
 end
 from = from - n
end
out[key + 1] = m
return out
