/* batch.c - a batch of positions as one trip: the only loop that says what is asked again.
 *
 * What is asked, and of which cells, is a row of functions: bitfield.c looks and counts up,
 * counting.c counts down.  Here is what all of them share: groups of several names (shards, parts)
 * follow each other in the same trip; the last thing read of a name is its mark; born of K:meta
 * after the parts of a filter that forgets, because K:meta may be lost, and created again, without
 * them; WAIT, after a change, where so many replicas are to have it.
 *
 * A lost key is an error, never "absent".  A change is never sent twice, unless its script said
 * that it did nothing. */
#include "parts/filter.h"
#include "redis/generation.h"
#include "redis/batch.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- there and back ---- */
/* Half of the time that a trip may take: its answer must come before that is over, and Redis looks
 * at its clock every 100 ms. */
void bf_redis_append_wait(bf_redis *r)
{
    if (!r->wait_replicas) return;
    bf_conn_command(
        r->conn, "WAIT %n %n", (uint64_t)r->wait_replicas, (uint64_t)(r->conn->url.timeout * 500));
}

static const bf_redis_op *op_of(const bf_redis_request *g)
{
    return g->op == BF_OP_ADD      ? &bf_redis_adds
           : g->op == BF_OP_REMOVE ? &bf_redis_removes
                                   : &bf_redis_tests;
}

/* Adds to the parts of a filter that was lost are acknowledged to nobody, and what the parts lack
 * is no answer: span.c looks then what has become of the whole. */
static int check_filter_id(bf_redis *r, const bf_redis_outcome *a, bf_error *err)
{
    if (!r->by_born || (a->filter_id > 0 ? a->filter_id : 0) == r->filter_id) return 0;
    r->outcome = BF_MISSING;
    return bf_redis_fail_lost(r, err);
}

static int take_wait(bf_redis *r, bf_redis_outcome *a)
{
    long long got = 0;
    if (!bf_redis_next(r, a) && !a->unknown) return 0;
    if (!bf_reply_integer(&r->conn->reply, 0, &got)) return bf_redis_fail_protocol(r, a->err);
    if (a->replicas < 0 || got < a->replicas) a->replicas = got;
    return 0;
}

int bf_redis_check_replicas(const bf_redis *r, const char *done, long long have, bf_error *err)
{
    if (!r->wait_replicas || have >= (long long)r->wait_replicas) return 0;
    return bf_fail(err, BF_EIO, "%s: %s, but only %lld of wait_replicas=%u replicas had it in time",
        r->label, done, have, r->wait_replicas);
}

/* What the groups that are pending change; NULL: nothing. */
static const char *changes(const bf_redis_request *g, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (g[i].pending && op_of(g + i)->done) return op_of(g + i)->done;
    return NULL;
}

/* Parts are asked at the node of their filter: all are in one slot. */
static int trip(bf_redis *r, bf_redis_request *g, size_t n, bf_redis_outcome *a)
{
    const bool change = changes(g, n) != NULL, wait = change && r->wait_replicas;
    bf_conn_begin(r->conn, change ? BF_WRITES : BF_READS);
    for (size_t i = 0; i < n; i++)
        if (g[i].pending) {
            bf_redis_select(g[i].of);
            op_of(g + i)->put(g + i, g[i].of->shares_connection ? r->key : g[i].of->key);
        }
    if (r->by_born) {
        bf_conn_route(r->conn, r->key);
        bf_conn_command(r->conn, "HGET %s born", r->meta);
    }
    if (wait) bf_redis_append_wait(r);
    int rc = bf_conn_send(r->conn, a->err);
    if (rc < 0) return rc;
    for (size_t i = 0; rc == 0 && i < n; i++)
        if (g[i].pending) {
            bf_redis_select(g[i].of);
            g[i].mark = 0;
            a->looks = !op_of(g + i)->done;
            rc = op_of(g + i)->take(g + i, a);
        }
    if (rc == 0 && r->by_born && bf_redis_next(r, a))
        a->filter_id = bf_reply_number(&r->conn->reply, 0, 16);
    return rc == 0 && wait ? take_wait(r, a) : rc;
}

/* To all groups, or where the answerer is a cluster to one after the other. */
static int trips(bf_redis *r, bf_redis_request *g, size_t n, bf_redis_outcome *a)
{
    const size_t step = r->conn->one_slot && r->shard ? 1 : n;
    int rc = 0;
    *a = (bf_redis_outcome){ .err = a->err, .replicas = a->replicas };
    for (size_t i = 0; rc == 0 && !a->refused && i < n; i += step)
        if (step > 1 || g[i].pending) rc = trip(r, g + i, step, a);
    return rc;
}

/* ---- what the marks say ---- */
int bf_redis_check_request(bf_redis_request *g, bool *pending, bf_error *err)
{
    if (!g->pending) return 0;
    bf_redis_select(g->of);
    int rc = bf_redis_check_generation(g->of, g->mark, &g->pending, err);
    *pending |= g->pending;
    return rc;
}

/* What was added to it: a lost name takes back what was written to it. */
static int settle_add(bf_redis_request *g, bf_error *err)
{
    bf_redis *r = g->of;
    bool changed = false;
    r->add_outcome = BF_SENT_IN;
    int rc = bf_redis_check_request(g, &changed, err);
    r->add_outcome = NULL;
    if (rc < 0 && !g->pending && r->conn->healthy &&
        !r->adopted) /* they may have set the bits too */
        op_of(g)->undo(g);
    g->pending = rc < 0 && g->pending;
    return rc;
}

/* Every lost shard takes back what was written to it, whatever became of the others; the first
 * error is the error. */
static int settle_adds(bf_redis_request *g, size_t n, bf_error *err)
{
    int first = 0, anew = 0;
    for (size_t i = 0; i < n; i++) {
        if (!g[i].pending || !op_of(g + i)->undo) continue;
        int rc = settle_add(g + i, first < 0 ? NULL : err);
        if (rc < 0 && g[i].pending)
            anew = rc; /* re-created: they are in it */
        else if (first == 0)
            first = rc;
        g[i].pending = false;
    }
    return first < 0 ? first : anew;
}

/* *pending: something is to be asked again, because it got no answer, or one from bits that are
 * others by now. */
static int settle_marks(
    bf_redis *r, bf_redis_request *g, size_t n, const bf_redis_outcome *a, bool *pending)
{
    bf_error *err = a->err;
    const bool unanswered = *pending, change = changes(g, n) != NULL;
    int rc = settle_adds(g, n, err);
    *pending = false;
    if (rc == 0 && change && !unanswered) rc = check_filter_id(r, a, err);
    for (size_t i = 0; rc == 0 && i < n; i++)
        if (unanswered)
            *pending |= g[i].pending;
        else
            rc = bf_redis_check_request(g + i, pending, err);
    return rc == 0 && !change && !*pending ? check_filter_id(r, a, err) : rc;
}

int bf_redis_fail_unknown_outcome(bf_redis *r, const char *done, bf_error *err)
{
    char what[48];
    const char *label = r->shard ? r->conn->label : r->label; /* the shard's */
    if (!err || err->code != BF_EIO) return err ? err->code : BF_EIO;
    snprintf(what, sizeof what, "tell what was %s: no reply from", done);
    if (err->sys_errno) return bf_fail_sys(err, err->sys_errno, what, label);
    if (r->conn->socket)
        return bf_fail(err, BF_EIO, "%s: cannot tell what was %s: unexpected reply", label, done);
    const bf_error said = *err; /* the host's own words */
    return bf_fail(err, BF_EIO, "cannot tell what was %s: %.130s", done, said.msg);
}

/* ---- a batch ---- */
/* Where BITFIELD_RO turns out to be missing, only what looks is sent again: groups that are added
 * to come first and have been told what became of them. */
int bf_redis_send_requests(bf_redis *r, bf_redis_request *g, size_t n, bf_error *err)
{
    const char *const done = changes(g, n);
    bf_redis_outcome a = { .err = err, .replicas = -1 };
    bool pending = true;
    for (int tries = 0; pending && tries < BF_REDIS_TRIES; tries++) {
        const char *change = changes(g, n);
        int rc = trips(r, g, n, &a);
        if (rc < 0)
            return change && (r->conn->sent || r->conn->one_slot || tries)
                       ? bf_redis_fail_unknown_outcome(r, change, err)
                       : rc;
        pending = a.unknown && !r->conn->no_bitfield_ro;
        if (pending)
            r->conn->no_bitfield_ro = true;
        else if (a.refused)
            return a.refused;
        if (bf_redis_marked(r) && (rc = settle_marks(r, g, n, &a, &pending)) < 0) return rc;
    }
    if (pending) return bf_fail(err, BF_EIO, "%s is re-created too often: no reply", r->label);
    return done ? bf_redis_check_replicas(r, done, a.replicas, err) : 0;
}

int bf_redis_read_marks(bf_redis *r, bf_redis_request *g, size_t n, bf_error *err)
{
    bf_redis_outcome a = { .err = err, .replicas = -1 };
    int rc = trips(r, g, n, &a);
    return rc < 0 ? rc : a.refused;
}

/* ---- a filter's batch: of one key, or sorted by shards ---- */
/* old: a byte a position of an add to bits, or NULL. */
static int ask_groups(bf_redis *r, bf_redis_request *g, size_t n, uint8_t *old, bf_error *err)
{
    for (size_t i = 0; old && i < n; old += g[i].nkeys * g[i].k, i++) {
        g[i].old = old;
        memset(old, 1, g[i].nkeys * g[i].k); /* what no reply told is not undone */
    }
    return bf_redis_send_requests(r, g, n, err);
}

/* A group a shard.  The order of keys within a shard stays: it decides which is new. */
static int apply_sorted(const bf_redis_request *all, size_t old, bf_error *err)
{
    bf_redis *r = all->of;
    const size_t s = r->shards, nkeys = all->nkeys, positions = nkeys * all->k;
    const unsigned k = all->k;
    const uint64_t cells = bf_redis_cells(r);
    char *room = bf_redis_room(&r->room, positions * sizeof *all->pos +
                                             s * (sizeof(bf_redis_request) + sizeof(size_t)) +
                                             nkeys * (sizeof(uint32_t) + 1) + old);
    if (!room) return bf_fail(err, BF_ENOMEM, "out of memory");
    uint64_t *sorted = (uint64_t *)(void *)room;
    bf_redis_request *g = (bf_redis_request *)(void *)(sorted + positions);
    size_t *next = (size_t *)(void *)(g + s), n = 0, at = 0;
    uint32_t *from = (uint32_t *)(void *)(next + s);
    uint8_t *answer = (uint8_t *)(from + nkeys);
    memset(next, 0, s * sizeof *next);
    for (size_t i = 0; i < nkeys; i++) next[all->pos[i * k] / cells]++;
    for (size_t i = 0; i < s; i++) { /* the groups that have keys, and where each begins */
        const size_t c = next[i];
        next[i] = at;
        if (c) {
            g[n] = *all;
            g[n].of = r->shard + i;
            g[n].pos = sorted + at * k;
            g[n].nkeys = c;
            g[n++].present = answer + at;
        }
        at += c;
    }
    for (size_t i = 0; i < nkeys; i++) {
        const uint64_t shard = all->pos[i * k] / cells;
        at = next[shard]++;
        from[at] = (uint32_t)i;
        for (unsigned j = 0; j < k; j++) sorted[at * k + j] = all->pos[i * k + j] - shard * cells;
    }
    const int rc = ask_groups(r, g, n, old ? answer + nkeys : NULL, err);
    for (size_t i = 0; i < nkeys; i++) all->present[from[i]] = answer[i];
    return rc;
}

int bf_redis_apply(const bf_redis_request *g, bf_error *err)
{
    const size_t old = g->op == BF_OP_ADD && !g->of->desc.g.counting ? g->nkeys * g->k : 0;
    bf_redis_request one = *g;
    if (g->of->shard) return apply_sorted(g, old, err);
    uint8_t *room = bf_redis_room(&g->of->room, old);
    if (old && !room) return bf_fail(err, BF_ENOMEM, "out of memory");
    return ask_groups(g->of, &one, 1, old ? room : NULL, err);
}
