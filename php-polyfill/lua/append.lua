-- Written by scripts/gen-polyfill from core/redis/scripts.c.
local call=redis.call
local function fail(v)
 call('DEL', KEYS[3])
 return v
end
local meta
local function ours(hash)
 local v = redis.pcall('HMGET', hash, 'owner', 'filter')
 return v[1] == meta[2] and v[2] and string.sub(v[2], 10) == KEYS[6]
end
local n, again = tonumber(ARGV[5]), false
meta = {unpack(ARGV, 7 + ARGV[6])}
if n == 0 then
 again = call('EXISTS', KEYS[6]) == 1
 local lost = ARGV[2] ~= '' and call('HGET', KEYS[6], 'born') == ARGV[2]
 if call('EXISTS', KEYS[1]) == 1 or again and not lost then return fail(0) end
else
 if call('HGET', KEYS[6], 'parts') ~= ARGV[5] then return fail(0) end
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
 if not live then return fail(2) end
end
local kind = call('TYPE', KEYS[4]).ok
local free = kind == 'none' and call('EXISTS', KEYS[5]) == 0
local own = (kind == 'none' or kind == 'string') and ours(KEYS[5])
local bare = again and kind == 'string' and call('EXISTS', KEYS[5]) == 0 and
 call('STRLEN', KEYS[4]) == call('STRLEN', KEYS[3])
if not (free or own or bare) then return fail(3) end
if call('PERSIST', KEYS[3]) == 0 then return -1 end
call('RENAME', KEYS[3], KEYS[4])
call('DEL', KEYS[5])
call('HSET', KEYS[5], unpack(meta))
if n == 0 then
 for i = 7, #KEYS, 2 do
  if ours(KEYS[i + 1]) then call('DEL', KEYS[i], KEYS[i + 1]) end
 end
 call('DEL', KEYS[6])
 call('HSET', KEYS[6], unpack(ARGV, 7, 6 + ARGV[6]))
 return 1
end
local ttl = call('PTTL', KEYS[6])
if ttl > 0 then
 call('PEXPIRE', KEYS[4], ttl)
 call('PEXPIRE', KEYS[5], ttl)
end
if call('HGET', KEYS[2], 'mark') == ARGV[2] then call('HSET', KEYS[2], 'mark', ARGV[4]) end
call('SETRANGE', KEYS[1], ARGV[1], ARGV[3])
call('HSET', KEYS[6], 'parts', n + 1)
return 1
