/* glance.c - about how full a key is: BITCOUNT of a few places of it, one trip.  For warnings
 * only: it reads no mark, so it follows nobody and takes away no error that the next call is to
 * tell. */
#include "redis/bulk.h"
#include "redis/mark.h"

enum { PLACES = 16, PLACE = 1 << 14 }; /* bytes: 2^21 bits tell the share within 0.1 % */

/* *ones of *of bits are set. */
int bf_redis_glance(bf_redis *r, uint64_t *ones, uint64_t *of, bf_error *err)
{
    bf_link *l = r->link;
    const uint64_t bytes = (r->bits + 7) / 8;
    const unsigned n = bytes > PLACES * PLACE ? PLACES : 1;
    const uint64_t each = n > 1 ? PLACE : bytes, step = n > 1 ? (bytes - each) / (n - 1) : 0;
    bf_link_begin(l, BF_LOOKS);
    for (unsigned i = 0; i < n; i++) {
        bf_link_count(l, 4);
        bf_link_word(l, "BITCOUNT");
        bf_link_word(l, l->key);
        bf_link_number(l, i * step);
        bf_link_number(l, i * step + each - 1);
    }
    *ones = 0;
    *of = n > 1 ? n * each * 8 : r->bits;
    const int rc = bf_link_finish(l, err);
    if (rc < 0) return rc;
    for (unsigned i = 0; i < n; i++) {
        long long v;
        bf_link_next(l);
        if (!bf_reply_integer(&l->reply, 0, &v) || v < 0 || (uint64_t)v > 8 * each)
            return bf_redis_nonsense(r, err);
        *ones += (uint64_t)v;
    }
    return 0;
}
