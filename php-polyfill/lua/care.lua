-- Written by scripts/gen-polyfill from core/redis/scripts.c.
local call=redis.call
if #KEYS == 1 then
 if call('HGET', KEYS[1], 'born') ~= ARGV[2] then return 0 end
else
 local at, m = tonumber(ARGV[1]), 0
local apart = at > 536870904
if apart then
 local text = call('STRLEN', KEYS[1]) == at and call('HGET', KEYS[2], 'mark') or ''
 if string.match(text, '^' .. string.rep('%x', 8) .. '$') then m = tonumber(text, 16) end
else
 local b = call('GETRANGE', KEYS[1], ARGV[1], at + ARGV[3])
 if #b == 4 then m = struct.unpack('>I4', b) end
end
local live = m ~= 0 and m == tonumber(ARGV[2], 16)
 if not live then return 0 end
 if call('HGET', KEYS[2], 'mark') == ARGV[2] then call(ARGV[4], KEYS[2], unpack(ARGV, 5)) end
end
call(ARGV[4], KEYS[1], unpack(ARGV, 5))
return 1
