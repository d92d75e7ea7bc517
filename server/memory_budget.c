/* memory_budget.c - limits the memory that the daemon uses for its clients (--max-buffered).
 *
 * server.buffered is the sum of: replies that their clients have not read, input stored behind such
 * replies, incomplete requests, requests of jobs, images and other large replies.  If a reservation
 * would exceed the limit, clients that have neither sent nor read for IDLE_MS ms are closed.  Those
 * with unread replies are closed first, the longest idle first; then those with incomplete
 * requests, the oldest first.  If no client is idle, the request is refused. */
#include "server.h"
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* EXAMINED_MAX: connections in state ASKING that find_idle() examines. */
enum { IDLE_MS = 2000, EXAMINED_MAX = 64 };

static bool take_bytes(server *s, uint64_t bytes)
{
    uint64_t held = __atomic_load_n(&s->buffered, __ATOMIC_RELAXED);
    do
        if (held > s->o.max_buffered || bytes > s->o.max_buffered - held) return false;
    while (!__atomic_compare_exchange_n(
        &s->buffered, &held, held + bytes, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return true;
}

/* Updates active_at of clients that have read since the last call.  A shrinking send queue of the
 * kernel shows that, even if a client reads too slowly for the socket to become writable. */
static void note_progress(worker *w)
{
    conn *next, *last = w->lists[SENDING].last;
    for (conn *c = w->lists[SENDING].first; c; c = c == last ? NULL : next) {
        int queued;
        next = c->next;
        if (!c->response_out || ioctl(c->fd, TIOCOUTQ, &queued) < 0) continue;
        const bool took = (uint64_t)queued < c->response_out->queued;
        c->response_out->queued = (uint64_t)queued;
        if (!took) continue;
        c->response_out->active_at = w->now;
        worker_move(w, c, SENDING, c->until);
    }
}

/* Returns a client that has been idle for IDLE_MS, or NULL.  SENDING is ordered by active_at,
 * ASKING by the begin of the request. */
static conn *find_idle(const worker *w)
{
    conn *c = w->lists[SENDING].first;
    while (c && (c == w->current_conn || !c->response_out)) c = c->next;
    if (c && w->now - c->response_out->active_at >= IDLE_MS) return c;
    c = w->lists[ASKING].first;
    for (int i = 0; c && i < EXAMINED_MAX; c = c->next, i++)
        if (c != w->current_conn && c->suspended && w->now - c->suspended->active_at >= IDLE_MS)
            return c;
    return NULL;
}

static void note_refused(server *s, uint64_t bytes)
{
    uint64_t most = counter_get(&s->largest_refused);
    while (bytes > most && !__atomic_compare_exchange_n(&s->largest_refused, &most, bytes, true,
                               __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
}

static bool reserve_in_job(worker *w, uint64_t bytes)
{
    const uint64_t more = bytes > w->reserved ? bytes - w->reserved : 0;
    if (!take_bytes(w->s, more)) {
        w->missing = bytes;
        return false;
    }
    w->reserved -= bytes - more;
    w->missing = 0;
    return true;
}

bool budget_reserve(worker *w, uint64_t bytes)
{
    return budget_reserve_beside(w, bytes, w->current.held);
}

bool budget_reserve_beside(worker *w, uint64_t bytes, uint64_t beside)
{
    server *s = w->s;
    conn *c;
    if (w->may_block) return reserve_in_job(w, bytes);
    if (take_bytes(s, bytes)) return true;
    if (bytes > s->o.max_buffered) return false;
    while ((c = find_idle(w))) {
        conn_evict(w, c);
        if (take_bytes(s, bytes)) return true;
    }
    note_refused(s, bytes + beside);
    return false;
}

void budget_release(worker *w, uint64_t bytes)
{
    if (bytes) __atomic_fetch_sub(&w->s->buffered, bytes, __ATOMIC_RELAXED);
}

void budget_reply(worker *w, reply *a)
{
    const uint64_t most = a->made.cap >= LARGE ? a->made.cap : 0;
    if (most <= a->held || budget_reserve(w, most - a->held)) {
        if (most < a->held) budget_release(w, a->held - most);
        a->held = most;
        return;
    }
    note_refused(w->s, most);
    budget_release(w, a->held);
    a->held = 0;
    a->more[0] = 0;
    a->ends = true;
    reply_status(a, 503, BUDGET_FULL);
}

/* Called regularly by each worker.  If a reservation failed in any worker, closes idle clients
 * until largest_refused bytes, and at least an eighth of the limit, are free. */
void budget_relieve(worker *w)
{
    server *s = w->s;
    const uint64_t most = s->o.max_buffered, wanted = counter_get(&s->largest_refused);
    const uint64_t least = wanted > most / 8 ? wanted : most / 8,
                   room = least < most ? least : most;
    conn *c;
    if (counter_get(&s->buffered) > most / 2) note_progress(w);
    if (wanted == 0) return;
    w->current_conn = NULL;
    while (counter_get(&s->buffered) > most - room && (c = find_idle(w))) conn_evict(w, c);
    if (counter_get(&s->buffered) <= most - room)
        __atomic_store_n(&s->largest_refused, 0, __ATOMIC_RELAXED);
}
