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

static int step(bf_redis *r, const bf_desc *d, uint32_t mark, long long *done, bf_error *err)
{
    bf_conn *l = r->conn;
    bf_conn_begin(l, BF_WRITES);
    bf_conn_eval(l, bf_script_adopt, 2);
    bf_conn_append(l, "%s %s %n %n %n %x %r", r->key, r->meta, r->mark_at, (r->bits + 7) / 8,
        (uint64_t)STEPS * BF_REDIS_STEP, r->seen, mark);
    bf_redis_meta_put(r, d, mark);
    bf_conn_append(l, "adopted 1");
    return bf_conn_run_script(l, done, err);
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
    r->mark = r->filter_id = mark;
    r->adopted = true;
    return 1;
}
