-- Written by scripts/gen-polyfill from core/redis/scripts.c.
local call=redis.call
local at = tonumber(ARGV[1])
local apart, m = at > 536870904, '00000000'
if apart then
 local text = call('STRLEN', KEYS[1]) == at and call('HGET', KEYS[2], 'mark') or ''
 if string.match(text, '^' .. string.rep('%x', 8) .. '$') then m = text end
else
 local b = call('GETRANGE', KEYS[1], at, at + 3)
 if #b == 4 then m = string.format('%02x%02x%02x%02x', b:byte(1, 4)) end
end
local live = m ~= '00000000' and m == ARGV[2]
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
