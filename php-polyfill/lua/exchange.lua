-- Written by scripts/gen-polyfill from core/redis/scripts.c.
local call=redis.call
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
if call('STRLEN', KEYS[3]) ~= (apart and at or at + 4) then return -1 end
local ttl, mine = call('PTTL', KEYS[1]), call('HGET', KEYS[2], 'mark') == ARGV[2]
if ARGV[6] == 'OR' then
 if not apart then call('SETRANGE', KEYS[3], at, '\0\0\0\0') end
 call('BITOP', 'OR', KEYS[1], KEYS[1], KEYS[3])
 call('DEL', KEYS[3])
else
 if ARGV[6] == 'AND' then
  call('BITOP', 'AND', KEYS[3], KEYS[1], KEYS[3])
  if not apart then call('SETRANGE', KEYS[3], at, ARGV[5]) end
 end
 call('PERSIST', KEYS[3])
 call('RENAME', KEYS[3], KEYS[1])
 if mine then call('HSET', KEYS[2], 'mark', ARGV[4]) end
end
if mine and #ARGV > 6 then call('HSET', KEYS[2], unpack(ARGV, 7)) end
if ttl >= 0 then call('PEXPIRE', KEYS[1], ttl) end
return 1
