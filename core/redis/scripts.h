/* scripts.h - what Lua scripts over one name have in common: KEYS[1] K, KEYS[2] K:meta, ARGV[1]
 * where the mark is, ARGV[2] the one it should be, as 8 hex digits.  Private. */
#ifndef BF_REDIS_SCRIPTS_H
#define BF_REDIS_SCRIPTS_H
#include "redis/redis.h"

/* at: where the mark is; apart: there is no room for it, see bf_redis_mark_apart. */
#define BF_LUA_APART "local at=tonumber(ARGV[1]) local apart=at>536870904 "
/* m: the mark that is there, "00000000" where there is none; live: it is the one. */
#define BF_LUA_LIVE                                                                                \
    BF_LUA_APART                                                                                   \
    "local m if apart then "                                                                       \
    "m=redis.call('STRLEN',KEYS[1])==at and redis.call('HGET',KEYS[2],'mark') or '00000000' else " \
    "m=redis.call('GETRANGE',KEYS[1],at,at+3) "                                                    \
    "m=#m==4 and string.format('%02x%02x%02x%02x',m:byte(1,4)) or '00000000' end "                 \
    "local live=m~='00000000' and m==ARGV[2] "
/* After an add that met a lost key: takes back what it changed.  Not where there is a sound filter
 * by now, be it of another size: one bit too many harms it less than one too few. */
#define BF_LUA_UNDO(each)                                                                          \
    "if redis.call('HEXISTS',KEYS[2],'size')==1 then return 0 end " /* Redisson's */               \
    "local function field(name) return tonumber(redis.call('HGET',KEYS[2],name) or '') end "       \
    "local n=field('m') if n then "                                                                \
    "ARGV[1]=math.floor((n*(field('cell_bits') or 1)/(field('shards') or 1)+31)/32)*4 end "        \
    "ARGV[2]=redis.call('HGET',KEYS[2],'mark') " BF_LUA_LIVE "if live then return 0 end " each     \
    "if redis.call('BITCOUNT',KEYS[1])==0 then redis.call('DEL',KEYS[1]) end return 1"

/* Lua: not over a string of another system, which has the name (KEYS[3], KEYS[4] its companion
 * hash) of the part that is ready in KEYS[2].  What has a companion hash, or the length of the part
 * and a mark, is a part of a filter before. */
#define BF_NOT_OVER_OTHERS                                                                         \
    "local kind=redis.call('TYPE',KEYS[3]).ok "                                                    \
    "if kind~='none' and (kind~='string' or (redis.call('HEXISTS',KEYS[4],'mark')==0 "             \
    "and (redis.call('STRLEN',KEYS[3])~=redis.call('STRLEN',KEYS[2]) "                             \
    "or redis.call('GETRANGE',KEYS[3],-4,-1)=='\\0\\0\\0\\0'))) then "                             \
    "redis.call('DEL',KEYS[2]) return 3 end "

/* bulk.c: puts such a script, and how many arguments more the caller puts; temp: KEYS[3], or NULL
 */
void bf_redis_script(bf_redis *r, const char *text, const char *temp, size_t more);
#endif
