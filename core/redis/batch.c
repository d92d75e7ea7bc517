/* batch.c - a batch of positions in one round trip: the only loop that decides what is sent again.
 *
 * What is sent, and about which cells, is a row of functions: bitfield.c tests, changes.c adds and
 * removes.  This file has what they share: requests about several names (shards,
 * parts) follow each other in one round trip; the last thing read of a name is its mark; `born` of
 * K:meta follows the parts of a filter that forgets, because K:meta may be lost, and created again,
 * without them; WAIT follows a change if replicas must have it.
 *
 * A lost key is an error, never "absent".  A change is a script that does nothing unless it finds
 * the mark: so nothing is ever written into what has taken the name, and only what was reported as
 * not done is sent again. */
#include "parts/filter.h"
#include "redis/generation.h"
#include "redis/batch.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- one round trip ---- */
/* WAIT gets half of the timeout: its reply must arrive in time, and Redis checks its clock only
 * every 100 ms. */
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

/* Returns what the pending requests do to keys; NULL: they change nothing. */
static const char *changes(const bf_redis_request *g, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (g[i].pending && op_of(g + i)->done) return op_of(g + i)->done;
    return NULL;
}

/* Requests about parts go to the node of their filter: all are in one slot. */
static int round_trip(bf_redis *r, bf_redis_request *g, size_t n, bf_redis_outcome *a)
{
    const bool change = changes(g, n) != NULL, wait = change && r->wait_replicas;
    bf_conn_begin(r->conn, change ? BF_WRITES : BF_READS);
    for (size_t i = 0; i < n; i++) {
        if (!g[i].pending) continue;
        bf_redis_select(g[i].of);
        op_of(g + i)->put(g + i, bf_redis_is_part(g[i].of) ? r->key : g[i].of->key);
    }
    if (r->by_born) {
        bf_conn_route(r->conn, r->key);
        bf_conn_command(r->conn, "HGET %s born", r->meta);
    }
    if (wait) bf_redis_append_wait(r);
    int rc = bf_conn_send(r->conn, a->err);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        if (!g[i].pending) continue;
        bf_redis_select(g[i].of);
        g[i].mark = 0;
        a->looks = !op_of(g + i)->done;
        rc = op_of(g + i)->take(g + i, a);
    }
    if (rc == 0 && r->by_born && bf_redis_next(r, a))
        a->filter_id = bf_reply_number(&r->conn->reply, 0, 16);
    return rc == 0 && wait ? take_wait(r, a) : rc;
}

/* Sends all requests in one round trip, or one after the other to a cluster that needs one slot. */
static int send_pending(bf_redis *r, bf_redis_request *g, size_t n, bf_redis_outcome *a)
{
    const size_t step = r->conn->one_slot && r->shard ? 1 : n;
    int rc = 0;
    *a = (bf_redis_outcome){ .err = a->err, .replicas = a->replicas };
    for (size_t i = 0; rc == 0 && !a->refused && i < n; i += step)
        if (step > 1 || g[i].pending) rc = round_trip(r, g + i, step, a);
    return rc;
}

/* ---- what the marks show ---- */
/* Compares the mark that the request read.  Sets *pending if the bits were replaced meanwhile, so
 * that the request must be sent again. */
static int check_request(bf_redis_request *g, bool *pending, bf_error *err)
{
    if (!g->pending) return 0;
    bf_redis_select(g->of);
    int rc = bf_redis_check_generation(g->of, g->mark, &g->pending, err);
    *pending |= g->pending;
    return rc;
}

/* If K:meta is another filter's, adds to the parts are not acknowledged, and absent keys are no
 * answer.  The chain then finds out what became of the filter. */
static int check_filter_id(bf_redis *r, const bf_redis_outcome *a, bf_error *err)
{
    if (!r->by_born || (a->filter_id > 0 ? a->filter_id : 0) == r->filter_id) return 0;
    r->doubt = true;
    return bf_redis_fail_lost(r, err);
}

/* *pending: a request must be sent again, because it got no reply, or one from bits that
 * were replaced since. */
static int check_marks(
    bf_redis *r, bf_redis_request *g, size_t n, const bf_redis_outcome *a, bool *pending)
{
    bf_error *err = a->err;
    const bool unanswered = *pending, change = changes(g, n) != NULL;
    int rc = change && !unanswered ? check_filter_id(r, a, err) : 0;
    *pending = false;
    for (size_t i = 0; rc == 0 && i < n; i++)
        if (unanswered && !op_of(g + i)->done)
            *pending |= g[i].pending;
        else
            rc = check_request(g + i, pending, err);
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
    const bf_error said = *err; /* the host's own error */
    return bf_fail(err, BF_EIO, "cannot tell what was %s: %.130s", done, said.msg);
}

/* ---- a batch ---- */
/* If the server has no BITFIELD_RO, the tests are sent again; the changes precede them and are
 * done. */
int bf_redis_send_requests(bf_redis *r, bf_redis_request *g, size_t n, bf_error *err)
{
    const char *const done = changes(g, n);
    bf_redis_outcome a = { .err = err, .replicas = -1 };
    bool pending = true;
    for (int tries = 0; pending && tries < BF_REDIS_TRIES; tries++) {
        const char *change = changes(g, n);
        int rc = send_pending(r, g, n, &a);
        if (rc < 0)
            return change && (r->conn->sent || r->conn->one_slot || tries)
                       ? bf_redis_fail_unknown_outcome(r, change, err)
                       : rc;
        pending = a.unknown && !r->conn->no_bitfield_ro;
        if (pending)
            r->conn->no_bitfield_ro = true;
        else if (a.refused)
            return a.refused;
        if (bf_redis_marked(r) && (rc = check_marks(r, g, n, &a, &pending)) < 0) return rc;
    }
    if (pending) return bf_fail(err, BF_EIO, "%s is re-created too often: no reply", r->label);
    return done ? bf_redis_check_replicas(r, done, a.replicas, err) : 0;
}

/* ---- a filter's batch: of one key, or sorted by shards ---- */
/* Makes one request per shard.  Keys keep their order within a shard, which decides which of them
 * are new. */
static int apply_sorted(const bf_redis_request *all, bf_error *err)
{
    bf_redis *r = all->of;
    const size_t s = r->shards, nkeys = all->nkeys, positions = nkeys * all->k;
    const unsigned k = all->k;
    const uint64_t cells = bf_redis_cells(r);
    char *room = bf_redis_room(&r->room, positions * sizeof *all->pos +
                                             s * (sizeof(bf_redis_request) + sizeof(size_t)) +
                                             nkeys * (sizeof(uint32_t) + 1));
    if (!room) return bf_fail(err, BF_ENOMEM, "out of memory");
    uint64_t *sorted = (uint64_t *)(void *)room;
    bf_redis_request *g = (bf_redis_request *)(void *)(sorted + positions);
    size_t *next = (size_t *)(void *)(g + s), n = 0, at = 0;
    uint32_t *from = (uint32_t *)(void *)(next + s);
    uint8_t *answer = (uint8_t *)(from + nkeys);
    memset(next, 0, s * sizeof *next);
    for (size_t i = 0; i < nkeys; i++) next[all->pos[i * k] / cells]++;
    for (size_t i = 0; i < s; i++) { /* only shards that have keys */
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
    const int rc = bf_redis_send_requests(r, g, n, err);
    for (size_t i = 0; i < nkeys; i++) all->present[from[i]] = answer[i];
    return rc;
}

int bf_redis_apply(const bf_redis_request *g, bf_error *err)
{
    bf_redis_request one = *g;
    return g->of->shard ? apply_sorted(g, err) : bf_redis_send_requests(g->of, &one, 1, err);
}
