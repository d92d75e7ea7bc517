/* sample.c - about how full a key is: BITCOUNT of a few places of it, or the counters there, one
 * trip.  For warnings only: it reads no mark, so it follows nobody and takes away no error that the
 * next call is to tell. */
#include "redis/bitmap.h"
#include "redis/generation.h"
#include <string.h>

/* Bytes: 2^21 bits, or 2^17 counters, which have to be sent, tell the share well enough. */
enum { PLACES = 16, PLACE = 1 << 14, PLACE_OF_COUNTERS = 1 << 12, SOME = 1 << 12 };

static uint64_t ones_in(const bf_cells *cells, const char *text, size_t len)
{
    uint64_t words[SOME / 8], ones = 0;
    for (size_t done = 0, some; done < len; done += some) {
        some = len - done < SOME ? len - done : SOME;
        memset(words, 0, sizeof words);
        memcpy(words, text + done, some);
        ones += cells->count(words, SOME / 8);
    }
    return ones;
}

/* The cells that are set in what one place was answered with; -1: nonsense. */
static int64_t ones_of(const bf_redis *r, uint64_t each)
{
    const bf_redis_reply *reply = &r->conn->reply;
    const bf_cells *cells = bf_cells_of(&r->desc.g);
    long long v;
    size_t len;
    if (cells->bits == 1)
        return bf_reply_integer(reply, 0, &v) && v >= 0 && (uint64_t)v <= 8 * each ? v : -1;
    const char *text = bf_reply_only_text(reply, &len);
    return text && len <= each ? (int64_t)ones_in(cells, text, len) : -1;
}

/* *ones of *of cells are set. */
int bf_redis_sample(bf_redis *r, uint64_t *ones, uint64_t *of, bf_error *err)
{
    bf_conn *l = r->conn;
    const uint64_t bytes = (r->bits + 7) / 8;
    const unsigned cell = bf_cells_of(&r->desc.g)->bits;
    const uint64_t place = cell == 1 ? PLACE : PLACE_OF_COUNTERS;
    const unsigned n = bytes > PLACES * place ? PLACES : 1;
    const uint64_t each = n > 1 ? place : bytes, step = n > 1 ? (bytes - each) / (n - 1) : 0;
    bf_conn_begin(l, BF_READS);
    for (unsigned i = 0; i < n; i++) {
        const uint64_t at = i * step;
        bf_conn_command(
            l, "%s %s %n %n", cell == 1 ? "BITCOUNT" : "GETRANGE", l->key, at, at + each - 1);
        if (cell > 1) bf_conn_expect(l, 0, (size_t)each);
    }
    *ones = 0;
    *of = (n > 1 ? n * each * 8 : r->bits) / cell;
    const int rc = bf_conn_finish(l, err);
    if (rc < 0) return rc;
    for (unsigned i = 0; i < n; i++) {
        bf_conn_next(l);
        const int64_t here = ones_of(r, each);
        if (here < 0) return bf_redis_fail_protocol(r, err);
        *ones += (uint64_t)here;
    }
    return 0;
}
