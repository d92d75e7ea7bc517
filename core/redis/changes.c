/* changes.c - adds and removes: scripts that look at the mark first and do nothing unless it is the
 * known one.  So a handle never writes into what has taken the name of its filter since, be it
 * another filter or another system's string, and what was not done is sent again.
 *
 *   add      EVAL script K ...      ADD_POSITIONS cells at most: set, or counted up
 *   remove   EVAL script K ...      REMOVE_KEYS keys: each is counted down if it is there
 *
 * Counters at 15 are never counted down. */
#include "bits/bits.h"
#include "redis/generation.h"
#include "redis/scripts.h"
#include "redis/batch.h"
#include <stdlib.h>
#include <string.h>

enum { ADD_POSITIONS = 1024, REMOVE_KEYS = 50, REMOVE_POSITIONS = 1500, SUMS = 250 };
_Static_assert(SUMS <= ADD_POSITIONS, "what is united goes into one script");

/* Number of keys that go into the next script, if nkeys are left. */
static size_t keys_per_script(const bf_redis_request *g, size_t nkeys)
{
    const bool add = g->op == BF_OP_ADD;
    size_t most = (add ? ADD_POSITIONS : REMOVE_POSITIONS) / g->k;
    if (!add && most > REMOVE_KEYS) most = REMOVE_KEYS;
    return most < 1 ? 1 : nkeys < most ? nkeys : most;
}

/* Begins a script over K, and over K:meta only if the mark is in K:meta alone: while a cluster
 * moves a slot, a command with several keys of it may have to wait. */
static void begin_script(const bf_redis *r, const char *text)
{
    const bool apart = bf_redis_mark_apart(r);
    bf_conn_eval(r->conn, text, 1 + apart);
    bf_conn_append(r->conn, apart ? "%s %s" : "%s", r->key, r->meta);
    bf_conn_append(r->conn, "%n %x", r->mark_at, r->mark);
}

/* ---- adds ---- */
static void begin_add_script(const bf_redis *r)
{
    if (!r->foreign) {
        begin_script(r, bf_script_add);
        return;
    }
    bf_conn_eval(r->conn, r->redisson ? bf_script_add_redisson : bf_script_add_foreign, 2);
    bf_conn_append(r->conn, "%s %s", r->key, r->meta);
    if (r->redisson)
        bf_conn_append(r->conn, "%n %n", r->desc.g.m, (uint64_t)r->desc.g.k);
    else
        bf_conn_append(r->conn, "%s %n", "", r->desc.g.m);
}

/* Appends the positions of keys in the script's form, and how much each counter rises: 0 if the key
 * names it once more. */
static void append_positions(bf_redis_request *g, const uint64_t *pos, size_t nkeys)
{
    const bool counting = g->of->desc.g.counting;
    const unsigned k = g->k;
    const size_t places = nkeys * k;
    uint64_t own[BF_K_MAX];
    /* 13 bytes of text a place ('#', ten digits, NUL), one byte of by */
    char *text = malloc(places * 14), *at = text;
    g->of->conn->no_memory |= !text;
    if (!text) return;
    uint8_t *by = (uint8_t *)text + places * 13, *raise = by;
    for (size_t i = 0; i < nkeys; i++, pos += k) {
        unsigned n = k;
        if (counting) n = bf_counters_distinct(memcpy(own, pos, k * sizeof *own), k);
        for (unsigned j = 0; j < k; j++) {
            if (counting) *at++ = '#';
            at = bf_redis_digits(at, !counting ? pos[j] : own[j < n ? j : 0]);
            *at++ = 0;
            *raise++ = j >= n ? 0 : g->by ? g->by[j] : 1;
        }
    }
    bf_conn_append(
        g->of->conn, "%n %b %b", (uint64_t)k, text, (size_t)(at - text), by, counting ? places : 0);
    free(text);
}

static void append_adds(bf_redis_request *g, const char *route_key)
{
    for (size_t at = 0, c; at < g->nkeys; at += c) {
        c = keys_per_script(g, g->nkeys - at);
        bf_conn_new_request(g->of->conn);
        bf_conn_route(g->of->conn, route_key);
        begin_add_script(g->of);
        append_positions(g, g->pos + at * g->k, c);
        bf_conn_expect(g->of->conn, c, 0);
    }
    /* a host client that sends a request as one script cannot have a script inside it */
    bf_conn_new_request(g->of->conn);
}

/* ---- removes ---- */
static void put_removes(bf_redis_request *g, const char *route_key)
{
    bf_conn *l = g->of->conn;
    const uint64_t *pos = g->pos;
    uint64_t own[BF_K_MAX];
    for (size_t at = 0, c; at < g->nkeys; at += c) {
        c = keys_per_script(g, g->nkeys - at);
        bf_conn_new_request(l);
        bf_conn_route(l, route_key);
        begin_script(g->of, bf_script_count_down);
        for (size_t i = 0; i < c; i++, pos += g->k) {
            memcpy(own, pos, g->k * sizeof *own);
            const unsigned n = bf_counters_distinct(own, g->k);
            bf_conn_append(l, "%n", (uint64_t)n);
            for (unsigned j = 0; j < n; j++) bf_conn_append(l, "%n", own[j]);
        }
        bf_conn_expect(l, c, 0);
    }
}

/* ---- replies of both: 1 or 0 for each key; or -1, and the mark that is there ---- */
/* A mark that is gone never comes back: if one script did not find it, none of the later ones did.
 * Of removes, those are what is left.  Adds are all sent again, because the bits that the earlier
 * ones set are gone. */
static int take_changes(bf_redis_request *g, bf_redis_outcome *a)
{
    const bf_redis_reply *reply = &g->of->conn->reply;
    size_t done = 0;
    long long v;
    g->mark = g->of->mark;
    for (size_t at = 0, c; at < g->nkeys; at += c) {
        c = keys_per_script(g, g->nkeys - at);
        if (!bf_redis_next(g->of, a)) continue;
        const bool other = bf_reply_integer(reply, 0, &v) && v == -1;
        if (reply->n != (other ? 2 : c)) return bf_redis_fail_protocol(g->of, a->err);
        if (other && (!bf_reply_integer(reply, 1, &v) || v < 0 || v > UINT32_MAX))
            return bf_redis_fail_protocol(g->of, a->err);
        if (other) g->mark = (uint32_t)v;
        if (other && !bf_redis_marked(g->of)) a->refused = bf_redis_fail_lost(g->of, a->err);
        for (size_t i = 0; !other && i < c; i++) {
            if (!bf_reply_integer(reply, i, &v) || v < 0 || v > 1)
                return bf_redis_fail_protocol(g->of, a->err);
            g->present[done++] = (uint8_t)v;
        }
    }
    if (g->op == BF_OP_ADD) return 0;
    g->pos += done * g->k;
    g->present += done;
    g->nkeys -= done;
    return 0;
}

const bf_redis_op bf_redis_adds = { .done = "added", .put = append_adds, .take = take_changes };
const bf_redis_op bf_redis_removes = {
    .done = "removed", .put = put_removes, .take = take_changes
};

/* ---- the sum with counters of memory ---- */
/* Collects the next counters above 0, from *at on. */
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

/* Each round trip is one command and thus atomic; after a fault a part of the counters may be
 * added, and the error says so. */
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
