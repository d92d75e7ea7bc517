/* adopt.c - a bitmap that another system made and goes on with gets a companion hash, and the mark
 * after its last bit, or where that is the last bit of all in the companion hash alone: from then
 * on it is a filter of ours.  Their bits stay where they are, and their offsets end below the mark.
 *
 * The string grows to the mark a step at a time, each in a script that writes past its end only: a
 * bit that they set meanwhile is never overwritten. */
#include "redis/attach.h"
#include "redis/mark.h"
#include "redis/meta.h"
#include "redis/scripts.h"

enum { STEPS = 8 }; /* of BF_REDIS_STEP bytes */

/* KEYS: K, K:meta.  ARGV: where the mark is, bytes of m, how much longer at once, the mark K:meta
 * had when it was looked at, the mark as bytes, K:meta.  1 adopted, 2 grown: again, 0 something
 * else is there by now. */
static const char adopt_script[] = BF_LUA_APART
    "local bytes=tonumber(ARGV[2]) local n=call('STRLEN',KEYS[1]) if n==0 or (n>bytes and "
    "n~=at+4) then return 0 end if (call('HGET',KEYS[2],'mark') or '')~=ARGV[4] or (ARGV[4]=='' "
    "and call('EXISTS',KEYS[2])==1) then return 0 end if n+tonumber(ARGV[3])<bytes then "
    "call('SETRANGE',KEYS[1],n+ARGV[3]-1,'\\0') return 2 end if not apart then "
    "call('SETRANGE',KEYS[1],at,ARGV[5]) elseif n<at then call('SETRANGE',KEYS[1],at-1,'\\0') "
    "end call('DEL',KEYS[2]) call('HSET',KEYS[2],unpack(ARGV,6)) local t=call('PTTL',KEYS[1]) if "
    "t>0 then call('PEXPIRE',KEYS[2],t) end return 1";

static int step(bf_redis *r, const bf_desc *d, uint32_t mark, long long *done, bf_error *err)
{
    bf_link *l = r->link;
    bf_link_begin(l, BF_CHANGES);
    bf_link_eval(l, adopt_script, 2);
    bf_link_more(l, "ssnnnxr", r->key, r->meta, r->mark_at, (r->bits + 7) / 8,
        (uint64_t)STEPS * BF_REDIS_STEP, r->seen, mark);
    bf_redis_meta_put(r, d, mark);
    bf_link_more(l, "ss", "adopted", "1");
    return bf_link_run(l, done, err);
}

/* d: what it is opened as; the string was found to be no longer than that. */
int bf_redis_adopt(bf_redis *r, const bf_desc *d, bf_error *err)
{
    const uint32_t mark = bf_redis_new_mark();
    long long done = 2;
    if (d->g.m > bf_redis_most_bits(d->scheme->layout, &d->g))
        return bf_fail(err, BF_ENOTSUP,
            "%s: adopt needs room for the mark after m=%llu bits of scheme %s, one Redis key has "
            "it up to m=%llu",
            r->label, (unsigned long long)d->g.m, d->name, (unsigned long long)BF_REDIS_M_MAX);
    for (int rc; done == 2;)
        if ((rc = step(r, d, mark, &done, err)) < 0) return rc;
    if (done != 1) return 0;
    r->mark = r->born = mark;
    r->adopted = true;
    return 1;
}
