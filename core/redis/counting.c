/* counting.c - counters in a Redis string: counting down, and the sum with counters of memory.
 * Looking and counting up are bitfield.c's.
 *
 *   remove   EVAL script K ...      SCRIPT_KEYS keys: each looked at and counted down at once
 *
 * A script does nothing where it does not find the mark, so what it was to remove is asked again.
 * Counters at 15 are never counted down. */
#include "bits/bits.h"
#include "redis/generation.h"
#include "redis/scripts.h"
#include "redis/batch.h"
#include <string.h>

enum { SCRIPT_KEYS = 50, SCRIPT_POSITIONS = 1500, SUMS = 250 };

/* How many of so many keys go into one script. */
static size_t keys_per_script(size_t nkeys, unsigned k)
{
    size_t most = SCRIPT_POSITIONS / k;
    most = most < 1 ? 1 : most < SCRIPT_KEYS ? most : SCRIPT_KEYS;
    return nkeys < most ? nkeys : most;
}

static void put_removes(bf_redis_request *g, const char *about)
{
    bf_conn *l = g->of->conn;
    const uint64_t *pos = g->pos;
    uint64_t own[BF_K_MAX];
    for (size_t at = 0, c; at < g->nkeys; at += c) {
        c = keys_per_script(g->nkeys - at, g->k);
        bf_conn_new_request(l);
        bf_conn_route(l, about);
        bf_redis_script(g->of, bf_script_count_down, NULL);
        for (size_t i = 0; i < c; i++, pos += g->k) {
            memcpy(own, pos, g->k * sizeof *own);
            const unsigned n = bf_counters_distinct(own, g->k);
            bf_conn_append(l, "%n", (uint64_t)n);
            for (unsigned j = 0; j < n; j++) bf_conn_append(l, "%n", own[j]);
        }
        bf_conn_expect(l, c, 0);
    }
}

/* A mark that is gone does not come back: once a script has not found it, no later one has.  Then
 * the group is what is left to be removed. */
static int take_removes(bf_redis_request *g, bf_redis_outcome *a)
{
    const bf_redis_reply *reply = &g->of->conn->reply;
    const size_t nkeys = g->nkeys;
    size_t done = 0;
    long long v;
    g->mark = g->of->mark;
    for (size_t at = 0, c; at < nkeys; at += c) {
        c = keys_per_script(nkeys - at, g->k);
        if (!bf_redis_next(g->of, a)) continue;
        const bool other = bf_reply_integer(reply, 0, &v) && v == -1;
        if (reply->n != (other ? 2 : c)) return bf_redis_fail_protocol(g->of, a->err);
        if (other && (!bf_reply_integer(reply, 1, &v) || v < 0 || v > UINT32_MAX))
            return bf_redis_fail_protocol(g->of, a->err);
        if (other) g->mark = (uint32_t)v;
        for (size_t i = 0; !other && i < c; i++) {
            if (!bf_reply_integer(reply, i, &v) || v < 0 || v > 1)
                return bf_redis_fail_protocol(g->of, a->err);
            g->present[done++] = (uint8_t)v;
        }
    }
    g->pos += done * g->k;
    g->present += done;
    g->nkeys -= done;
    return 0;
}

const bf_redis_op bf_redis_removes = {
    .done = "removed", .put = put_removes, .take = take_removes
};

/* ---- the sum with counters of memory ---- */
/* The next counters above 0, from *at on. */
static size_t gather(const uint64_t *words, uint64_t m, uint64_t *at, uint64_t *pos, uint8_t *by)
{
    size_t n = 0;
    for (; n < SUMS && *at < m; ++*at) {
        if (*at % 16 == 0 && !words[*at / 16]) {
            *at += 15;
            continue;
        }
        if (!(by[n] = (uint8_t)bf_cell(words, *at))) continue;
        pos[n++] = *at;
    }
    return n;
}

/* Each trip is one command and so at once; a fault in between leaves a part of the sum, which the
 * error says. */
int bf_redis_count_unite(bf_redis *r, const void *words, bf_error *err)
{
    uint64_t pos[SUMS], at = 0;
    uint8_t by[SUMS + 1], present;
    int rc = 0;
    for (size_t n; rc == 0 && (n = gather(words, bf_redis_cells(r), &at, pos, by));) {
        bf_redis_request g = { .of = r,
            .op = BF_OP_ADD,
            .pos = pos,
            .by = by,
            .nkeys = 1,
            .k = (unsigned)n,
            .present = &present,
            .pending = true };
        rc = bf_redis_send_requests(r, &g, 1, err);
    }
    return rc;
}
