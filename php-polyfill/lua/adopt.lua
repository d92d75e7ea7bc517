-- Written by scripts/gen-polyfill from core/redis/scripts.c.
local call=redis.call
local at, bytes, n = tonumber(ARGV[1]), tonumber(ARGV[2]), call('STRLEN', KEYS[1])
local apart = at > 536870904
if n == 0 or (n > bytes and n ~= at + 4) then return 0 end
if (call('HGET', KEYS[2], 'mark') or '') ~= ARGV[4] then return 0 end
if ARGV[4] == '' and call('EXISTS', KEYS[2]) == 1 then return 0 end
if n + tonumber(ARGV[3]) < bytes then
 call('SETRANGE', KEYS[1], n + ARGV[3] - 1, '\0')
 return 2
end
if not apart then
 call('SETRANGE', KEYS[1], at, ARGV[5])
elseif n < at then
 call('SETRANGE', KEYS[1], at - 1, '\0')
end
call('DEL', KEYS[2])
call('HSET', KEYS[2], unpack(ARGV, 6))
local ttl = call('PTTL', KEYS[1])
if ttl >= 0 then call('PEXPIRE', KEYS[2], ttl) end
return 1
