-- Written by scripts/gen-polyfill from core/redis/scripts.c.
local call=redis.call
local lost = call('EXISTS', KEYS[2]) == 0 or call('HGET', KEYS[2], 'mark') == ARGV[1]
if call('EXISTS', KEYS[1]) == 1 or not lost then
 if KEYS[3] then call('DEL', KEYS[3]) end
 return 0
end
if KEYS[3] then
 if call('STRLEN', KEYS[3]) ~= tonumber(ARGV[2]) then return -1 end
 call('PERSIST', KEYS[3])
 call('RENAME', KEYS[3], KEYS[1])
end
call('DEL', KEYS[2])
call('HSET', KEYS[2], unpack(ARGV, 3))
return 1
