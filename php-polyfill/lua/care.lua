-- Written by scripts/gen-polyfill from core/redis/scripts.c.
local call=redis.call
if #KEYS == 1 then
 if call('HGET', KEYS[1], 'born') ~= ARGV[2] then return 0 end
else
 local at = tonumber(ARGV[1])
local apart, m = at > 536870904, '00000000'
if apart then
 local text = call('STRLEN', KEYS[1]) == at and call('HGET', KEYS[2], 'mark') or ''
 if string.match(text, '^' .. string.rep('%x', 8) .. '$') then m = text end
else
 local b = call('GETRANGE', KEYS[1], at, at + ARGV[3])
 if #b == 4 then m = string.format('%02x%02x%02x%02x', b:byte(1, 4)) end
end
local live = m ~= '00000000' and m == ARGV[2]
 if not live then return 0 end
 if call('HGET', KEYS[2], 'mark') == m then call(ARGV[4], KEYS[2], unpack(ARGV, 5)) end
end
call(ARGV[4], KEYS[1], unpack(ARGV, 5))
return 1
