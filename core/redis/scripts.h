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

/* A part that is ready under a temporary name gets its own: KEYS[1] the newest part, KEYS[2] its
 * companion hash, KEYS[3] the temporary name, KEYS[4] the new part's, KEYS[5] its companion hash,
 * KEYS[6] K:meta; ARGV[1] and ARGV[2] of the newest part, ARGV[3] the mark it gets, ARGV[4] the
 * same in hex.  Not over a string of another system: what has a companion hash, or the length of
 * the part and a mark, is a part of a filter before. */
#define BF_LUA_FAIL "local function fail(v) redis.call('DEL',KEYS[3]) return v end "
#define BF_LUA_NAME_PART(meta)                                                                     \
    "local kind=redis.call('TYPE',KEYS[4]).ok "                                                    \
    "if kind~='none' and (kind~='string' or (redis.call('HEXISTS',KEYS[5],'mark')==0 "             \
    "and (redis.call('STRLEN',KEYS[4])~=redis.call('STRLEN',KEYS[3]) "                             \
    "or redis.call('GETRANGE',KEYS[4],-4,-1)=='\\0\\0\\0\\0'))) then return fail(3) end "          \
    "redis.call('PERSIST',KEYS[3]) redis.call('RENAME',KEYS[3],KEYS[4]) "                          \
    "redis.call('DEL',KEYS[5]) redis.call('HSET',KEYS[5]," meta ") "
/* No companion hash of one field, where it vanished alone. */
#define BF_LUA_NEW_MARK(hex)                                                                       \
    "if redis.call('HEXISTS',KEYS[2],'format')==1 then redis.call('HSET',KEYS[2],'mark'," hex      \
    ") end "
#define BF_LUA_NEXT_MARK                                                                           \
    "redis.call('SETRANGE',KEYS[1],ARGV[1],ARGV[3]) " BF_LUA_NEW_MARK("ARGV[4]")
#define BF_LUA_EXPIRE(key, ms)                                                                     \
    "if " ms "=='0' then redis.call('PERSIST'," key ") else redis.call('PEXPIRE'," key "," ms      \
    ") end "

/* Puts such a script; the caller puts the arguments after the first two. */
static inline void bf_redis_script(bf_redis *r, const char *text)
{
    bf_link_eval(r->link, text, 2);
    bf_link_more(r->link, "ssnx", r->key, r->meta, r->mark_at, r->mark);
}
#endif
