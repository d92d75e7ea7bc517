-- Written by scripts/gen-polyfill from core/redis/scripts.c.
local call=redis.call
local m, own = '00000000', call('HMGET', KEYS[2], 'm', 'adopted')
local live = not own[1] or own[1] == ARGV[2] and own[2] == '1'
if not live then return {-1, tonumber(m, 16)} end
local get, k, pos, by = struct.unpack, tonumber(ARGV[3]), ARGV[4], ARGV[5]
local bits, most = by == '', math.min(k, 1000)
local c, least = {'BITFIELD', KEYS[1]}, 1
if not bits then
 c, least = {'BITFIELD', KEYS[1], 'OVERFLOW', 'SAT'}, 2
end
local head = #c
for j = head + 1, head + 4 * most, 4 do
 c[j], c[j + 1] = bits and 'SET' or 'INCRBY', bits and 'u1' or 'u4'
 c[j + 2], c[j + 3] = '', '1'
end
local out, key, at, raised = {}, 0, 1, 0
while at <= #pos do
 local had = 1
 for from = 1, k, most do
  local n = math.min(most, k - from + 1)
  local p = {get(string.rep('s', n), pos, at)}
  at = p[n + 1]
  for j = 1, n do
   c[head + 4 * j - 1] = p[j]
   if not bits then
    raised = raised + 1
    c[head + 4 * j] = by:byte(raised)
   end
  end
  local v = call(unpack(c, 1, head + 4 * n))
  for j = 1, n do
   if v[j] < least then
    had = 0
    break
   end
  end
 end
 key = key + 1
 out[key] = had
end
out[key + 1] = tonumber(m, 16)
return out
