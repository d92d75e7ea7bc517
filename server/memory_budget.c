/* memory_budget.c - the memory that clients make the daemon use: one sum, one limit
 * (--max-buffered), and which clients are closed when it is reached.  Knows connections and how
 * long they have been idle; knows no HTTP.
 *
 * Counted are: replies that their clients have not read, input that waits behind them, incomplete
 * requests and those that wait for a thread of jobs.c, images and other large replies.  If there is
 * no room, clients that neither sent nor read for STILL ms are closed, the longest idle first, so
 * that an active client never waits for an idle one.  If there is no such client, the request
 * is refused.
 */
#include "server.h"
#include <stdlib.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { STILL = 2000, LOOK = 64 }; /* STILL: ms.  LOOK: how many connections are examined at once. */

static bool reserve(server *s, uint64_t bytes)
{
    uint64_t held = __atomic_load_n(&s->buffered, __ATOMIC_RELAXED);
    do
        if (held > s->o.max_buffered || bytes > s->o.max_buffered - held) return false;
    while (!__atomic_compare_exchange_n(
        &s->buffered, &held, held + bytes, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return true;
}

/* A shrinking send queue of the kernel shows that a client reads, also one that reads too slowly
 * for the socket to become writable. */
static void watch_readers(worker *w)
{
    conn *next, *last = w->lists[SENDING].last;
    for (conn *c = w->lists[SENDING].first; c; c = c == last ? NULL : next) {
        int queued;
        next = c->next;
        if (!c->response_out || ioctl(c->fd, SIOCOUTQ, &queued) < 0) continue;
        const bool took = (uint64_t)queued < c->response_out->queued;
        c->response_out->queued = (uint64_t)queued;
        if (!took) continue;
        c->response_out->moved = w->now;
        worker_move(w, c, SENDING, c->until);
    }
}

/* SENDING is ordered by the time of the last byte sent, ASKING by the time the request began. */
static conn *stands_still(const worker *w)
{
    conn *c = w->lists[SENDING].first;
    while (c && (c == w->at || !c->response_out)) c = c->next;
    if (c && w->now - c->response_out->moved >= STILL) return c;
    c = w->lists[ASKING].first;
    for (int i = 0; c && i < LOOK; c = c->next, i++)
        if (c != w->at && c->part && w->now - c->part->moved >= STILL) return c;
    return NULL;
}

static void want(server *s, uint64_t bytes)
{
    uint64_t most = tallied(&s->wanted);
    while (bytes > most && !__atomic_compare_exchange_n(&s->wanted, &most, bytes, true,
                               __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
}

static bool hold_in_job(worker *w, uint64_t bytes)
{
    const uint64_t more = bytes > w->room ? bytes - w->room : 0;
    if (!reserve(w->s, more)) {
        w->lacked = bytes;
        return false;
    }
    w->room -= bytes - more;
    w->lacked = 0;
    return true;
}

bool hold(worker *w, uint64_t bytes) { return hold_beside(w, bytes, w->asked.held); }

bool hold_beside(worker *w, uint64_t bytes, uint64_t beside)
{
    server *s = w->s;
    conn *c;
    if (w->may_block) return hold_in_job(w, bytes);
    if (reserve(s, bytes)) return true;
    if (bytes > s->o.max_buffered) return false;
    while ((c = stands_still(w))) {
        conn_evict(w, c);
        if (reserve(s, bytes)) return true;
    }
    want(s, bytes + beside);
    return false;
}

void unhold(worker *w, uint64_t bytes)
{
    if (bytes) __atomic_fetch_sub(&w->s->buffered, bytes, __ATOMIC_RELAXED);
}

void hold_reply(worker *w, reply *a)
{
    const uint64_t most = a->made.cap >= LARGE ? a->made.cap : 0;
    if (most <= a->held || hold(w, most - a->held)) {
        if (most < a->held) unhold(w, a->held - most);
        a->held = most;
        return;
    }
    want(w->s, most);
    unhold(w, a->held);
    a->held = 0;
    a->more[0] = 0;
    a->ends = true;
    reply_status(a, 503, HELD_FULL);
}

/* Called after a request was refused room, perhaps in another worker: closes idle clients until so
 * much is free, and at least an eighth of the limit. */
void held_relieve(worker *w)
{
    server *s = w->s;
    const uint64_t most = s->o.max_buffered, wanted = tallied(&s->wanted);
    const uint64_t least = wanted > most / 8 ? wanted : most / 8,
                   room = least < most ? least : most;
    conn *c;
    if (tallied(&s->buffered) > most / 2) watch_readers(w);
    if (wanted == 0) return;
    w->at = NULL;
    while (tallied(&s->buffered) > most - room && (c = stands_still(w))) conn_evict(w, c);
    if (tallied(&s->buffered) <= most - room) __atomic_store_n(&s->wanted, 0, __ATOMIC_RELAXED);
}
