-- Written by scripts/gen-polyfill from core/redis/scripts.c.
local call=redis.call
local KEYS, ARGV, get = KEYS, ARGV, struct.unpack
local meta = call('HMGET', KEYS[2], 'mark', 'parts')
if call('GETRANGE', KEYS[1], ARGV[1], ARGV[1] + 4) ~= ARGV[2] or meta[1] ~= ARGV[3] then
 return {-1}
end
if meta[2] ~= ARGV[7] then return {-1} end
call('SETRANGE', KEYS[1], ARGV[4], ARGV[5])
call('SETRANGE', KEYS[1], ARGV[1], '\0\0\0\0')
call('HSET', KEYS[2], 'parts', ARGV[7] + 1, 'part' .. ARGV[7], ARGV[8], 'mark', ARGV[6])
return {1}
