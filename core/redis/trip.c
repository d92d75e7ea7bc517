/* trip.c - a batch of positions as one trip: the only loop that says what is asked again.
 *
 * What is asked, and of which cells, is a row of functions: cells.c looks and counts up, counting.c
 * counts down.  Here is what all of them share: groups of several names (shards, parts) follow each
 * other in the same trip; the last thing read of a name is its mark; born of K:meta after the parts
 * of a filter that forgets, because K:meta may be lost, and created again, without them; WAIT,
 * after a change, where so many replicas are to have it.
 *
 * A lost key is an error, never "absent".  A change is never sent twice, unless its script said
 * that it did nothing. */
#include "parts/filter.h"
#include "redis/mark.h"
#include "redis/trip.h"
#include <stdio.h>
#include <string.h>

enum { TRIES = 10 };

/* ---- there and back ---- */
/* Half of the time that a trip may take: its answer must come before that is over, and Redis looks
 * at its clock every 100 ms. */
void bf_redis_put_wait(bf_redis *r)
{
    if (!r->wait_replicas) return;
    bf_link_say(
        r->link, "snn", "WAIT", (uint64_t)r->wait_replicas, (uint64_t)(r->link->url.timeout * 500));
}

static void put_born(bf_redis *r)
{
    bf_link_about(r->link, r->key);
    bf_link_put(r->link, "HGET", r->meta, "born");
}

static void take_born(bf_redis *r, bf_redis_answers *a, bf_error *err)
{
    if (bf_redis_next(r, a, err)) a->born = bf_reply_number(&r->link->reply, 0, 16);
}

/* Adds to the parts of a filter that was lost are acknowledged to nobody, and what the parts lack
 * is no answer: span.c looks then what has become of the whole. */
static int whole_stands(bf_redis *r, const bf_redis_answers *a, bf_error *err)
{
    if (!r->by_born || (a->born > 0 ? a->born : 0) == r->born) return 0;
    r->fate = BF_MISSING;
    return bf_redis_lost(r, err);
}

static int take_wait(bf_redis *r, bf_redis_answers *a, bf_error *err)
{
    long long got = 0;
    if (!bf_redis_next(r, a, err) && !a->unknown) return 0;
    if (!bf_reply_integer(&r->link->reply, 0, &got)) return bf_redis_nonsense(r, err);
    if (a->replicas < 0 || got < a->replicas) a->replicas = got;
    return 0;
}

int bf_redis_enough(const bf_redis *r, const char *done, long long have, bf_error *err)
{
    if (!r->wait_replicas || have >= (long long)r->wait_replicas) return 0;
    return bf_fail(err, BF_EIO, "%s: %s, but only %lld of wait_replicas=%u replicas had it in time",
        r->label, done, have, r->wait_replicas);
}

/* All parts of a filter are in one slot. */
static const char *about(const bf_redis *r, const bf_redis_group *g)
{
    return g->of->guest ? r->key : g->of->key;
}

/* What the groups that are pending change; NULL: nothing. */
static const char *changes(const bf_redis_group *g, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (g[i].pending && g[i].how->done) return g[i].how->done;
    return NULL;
}

static int trip(
    bf_redis *r, bf_redis_group *g, size_t n, unsigned k, bf_redis_answers *a, bf_error *err)
{
    const bool change = changes(g, n) != NULL, wait = change && r->wait_replicas;
    bf_link_begin(r->link, change ? BF_CHANGES : BF_LOOKS);
    for (size_t i = 0; i < n; i++)
        if (g[i].pending) {
            bf_redis_select(g[i].of);
            g[i].how->put(g + i, k, about(r, g + i));
        }
    if (r->by_born) put_born(r);
    if (wait) bf_redis_put_wait(r);
    int rc = bf_link_send(r->link, err);
    if (rc < 0) return rc;
    for (size_t i = 0; rc == 0 && i < n; i++)
        if (g[i].pending) {
            bf_redis_select(g[i].of);
            g[i].mark = 0;
            a->looks = !g[i].how->done;
            rc = g[i].how->take(g + i, k, a, err);
        }
    if (rc == 0 && r->by_born) take_born(r, a, err);
    return rc == 0 && wait ? take_wait(r, a, err) : rc;
}

/* To all groups, or where the answerer is a cluster to one after the other. */
static int trips(
    bf_redis *r, bf_redis_group *g, size_t n, unsigned k, bf_redis_answers *a, bf_error *err)
{
    const size_t step = r->link->one_slot && r->shard ? 1 : n;
    int rc = 0;
    *a = (bf_redis_answers){ .replicas = a->replicas };
    for (size_t i = 0; rc == 0 && !a->refused && i < n; i += step)
        if (step > 1 || g[i].pending) rc = trip(r, g + i, step, k, a, err);
    return rc;
}

/* ---- what the marks say ---- */
int bf_redis_follow_group(bf_redis_group *g, bool *pending, bf_error *err)
{
    if (!g->pending) return 0;
    bf_redis_select(g->of);
    int rc = bf_redis_follow(g->of, g->mark, &g->pending, err);
    *pending |= g->pending;
    return rc;
}

/* What was added to it: a lost name takes back what was written to it. */
static int settle_add(bf_redis_group *g, unsigned k, bf_error *err)
{
    bf_redis *r = g->of;
    bool changed = false;
    r->note = BF_SENT_IN;
    int rc = bf_redis_follow_group(g, &changed, err);
    r->note = NULL;
    if (rc < 0 && !g->pending && r->link->stands &&
        !r->adopted) /* they may have set the bits too */
        g->how->undo(g, k);
    g->pending = rc < 0 && g->pending;
    return rc;
}

/* Every lost shard takes back what was written to it, whatever became of the others; the first
 * error is the error. */
static int settle_adds(bf_redis_group *g, size_t n, unsigned k, bf_error *err)
{
    int first = 0, anew = 0;
    for (size_t i = 0; i < n; i++) {
        if (!g[i].pending || !g[i].how->undo) continue;
        int rc = settle_add(g + i, k, first < 0 ? NULL : err);
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
static int settle(bf_redis *r, bf_redis_group *g, size_t n, unsigned k, const bf_redis_answers *a,
    bool *pending, bf_error *err)
{
    const bool unanswered = *pending, change = changes(g, n) != NULL;
    int rc = settle_adds(g, n, k, err);
    *pending = false;
    if (rc == 0 && change && !unanswered) rc = whole_stands(r, a, err);
    for (size_t i = 0; rc == 0 && i < n; i++)
        if (unanswered)
            *pending |= g[i].pending;
        else
            rc = bf_redis_follow_group(g + i, pending, err);
    return rc == 0 && !change && !*pending ? whole_stands(r, a, err) : rc;
}

int bf_redis_not_sure(bf_redis *r, const char *done, bf_error *err)
{
    char what[48];
    const char *label = r->shard ? r->link->label : r->label; /* the shard's */
    if (!err || err->code != BF_EIO) return err ? err->code : BF_EIO;
    snprintf(what, sizeof what, "tell what was %s: no reply from", done);
    if (err->sys_errno) return bf_fail_sys(err, err->sys_errno, what, label);
    if (!r->link->client)
        return bf_fail(err, BF_EIO, "%s: cannot tell what was %s: unexpected reply", label, done);
    const bf_error said = *err; /* the host's own words */
    return bf_fail(err, BF_EIO, "cannot tell what was %s: %.130s", done, said.msg);
}

/* ---- a batch ---- */
/* Where BITFIELD_RO turns out to be missing, only what looks is sent again: groups that are added
 * to come first and have been told what became of them. */
int bf_redis_ask(bf_redis *r, bf_redis_group *g, size_t n, unsigned k, bf_error *err)
{
    const char *const done = changes(g, n);
    bf_redis_answers a = { .replicas = -1 };
    bool pending = true;
    for (int tries = 0; pending && tries < TRIES; tries++) {
        const char *change = changes(g, n);
        int rc = trips(r, g, n, k, &a, err);
        if (rc < 0)
            return change && (r->link->sent || r->link->one_slot || tries)
                       ? bf_redis_not_sure(r, change, err)
                       : rc;
        pending = a.unknown && !r->link->no_bitfield_ro;
        if (pending)
            r->link->no_bitfield_ro = true;
        else if (a.refused)
            return a.refused;
        if (bf_redis_marked(r) && (rc = settle(r, g, n, k, &a, &pending, err)) < 0) return rc;
    }
    if (pending) return bf_fail(err, BF_EIO, "%s is re-created too often: no reply", r->label);
    return done ? bf_redis_enough(r, done, a.replicas, err) : 0;
}

int bf_redis_marks(bf_redis *r, bf_redis_group *g, size_t n, bf_error *err)
{
    bf_redis_answers a = { .replicas = -1 };
    int rc = trips(r, g, n, 1, &a, err);
    return rc < 0 ? rc : a.refused;
}
