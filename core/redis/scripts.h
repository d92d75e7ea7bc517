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
    "local m if apart then m=call('STRLEN',KEYS[1])==at and call('HGET',KEYS[2],'mark') or "       \
    "'00000000' else m=call('GETRANGE',KEYS[1],at,at+3) m=#m==4 and "                              \
    "string.format('%02x%02x%02x%02x',m:byte(1,4)) or '00000000' end local live=m~='00000000' "    \
    "and m==ARGV[2] "

/* After an add that met a lost key: take_back(), which the script begins with, takes back what it
 * changed.  Not where there is a sound filter by now, be it of another size: one bit too many harms
 * it less than one too few; Redisson's is the one with a size. */
#define BF_LUA_UNDO                                                                                \
    "if call('HEXISTS',KEYS[2],'size')==1 then return 0 end local function field(name) return "    \
    "tonumber(call('HGET',KEYS[2],name) or '') end local n=field('m') if n then "                  \
    "ARGV[1]=math.floor((n*(field('cell_bits') or 1)/(field('shards') or 1)+31)/32)*4 end "        \
    "ARGV[2]=call('HGET',KEYS[2],'mark') " BF_LUA_LIVE                                             \
    "if live then return 0 end take_back() if call('BITCOUNT',KEYS[1])==0 then "                   \
    "call('DEL',KEYS[1]) end return 1"

/* A part that is ready under a temporary name gets its own: KEYS[1] the newest part, KEYS[2] its
 * companion hash, KEYS[3] the temporary name, KEYS[4] the new part's, KEYS[5] its companion hash,
 * KEYS[6] K:meta; ARGV[1] and ARGV[2] of the newest part, ARGV[3] the mark it gets, ARGV[4] the
 * same in hex; hash: what the companion hash gets, its owner first.  Only where the name is free,
 * or a part of this owner is there; again: a lost filter is re-created, whose K:meta is there: a
 * string of the part's length is its part that lost its hash. */
#define BF_LUA_FAIL "local function fail(v) call('DEL',KEYS[3]) return v end "
#define BF_LUA_OWN                                                                                 \
    "local function own(key,meta) local owner=call('HGET',meta,'owner') if owner then return "     \
    "owner==hash[2] end return again and call('EXISTS',meta)==0 and "                              \
    "call('STRLEN',key)==call('STRLEN',KEYS[3]) end "
#define BF_LUA_NAME_PART                                                                           \
    "local kind=call('TYPE',KEYS[4]).ok if kind~='none' and kind~='string' or "                    \
    "(call('EXISTS',KEYS[4],KEYS[5])>0 and not own(KEYS[4],KEYS[5])) then return fail(3) end "     \
    "call('PERSIST',KEYS[3]) call('RENAME',KEYS[3],KEYS[4]) call('DEL',KEYS[5]) "                  \
    "call('HSET',KEYS[5],unpack(hash)) "

/* mine: the companion hash is there, and speaks of the bits that have this mark. */
#define BF_LUA_MINE "local mine=call('HGET',KEYS[2],'mark')==ARGV[2] "
#define BF_LUA_RENEW                                                                               \
    BF_LUA_MINE                                                                                    \
    "local function renew(hex) if mine then call('HSET',KEYS[2],'mark',hex) end end "
#define BF_LUA_EXPIRE                                                                              \
    "local function expire(key,ms) if ms=='0' then call('PERSIST',key) else "                      \
    "call('PEXPIRE',key,ms) end end "

/* Puts such a script; the caller puts the arguments after the first two. */
static inline void bf_redis_script(bf_redis *r, const char *text)
{
    bf_link_eval(r->link, text, 2);
    bf_link_more(r->link, "ssnx", r->key, r->meta, r->mark_at, r->mark);
}
#endif
