/* worker.c - a thread that waits for events, and closes connections whose deadline has passed. */
#include "server.h"
#include <stdlib.h>

enum { SWEEP = 250 }; /* ms between two calls of sweep() */

/* ---- lists of connections ---- */
static void unlink_conn(worker *w, conn *c)
{
    conn_list *l = &w->lists[c->state];
    if (c->previous)
        c->previous->next = c->next;
    else
        l->first = c->next;
    if (c->next)
        c->next->previous = c->previous;
    else
        l->last = c->previous;
}

void worker_move(worker *w, conn *c, int state, uint64_t until)
{
    c->until = until;
    if (c->state == state && state < STATES && w->lists[state].last == c) return;
    if (c->state < STATES) unlink_conn(w, c);
    c->state = (uint8_t)state;
    if (state >= STATES) return;
    conn_list *l = &w->lists[state];
    c->next = NULL;
    c->previous = l->last;
    if (l->last)
        l->last->next = c;
    else
        l->first = c;
    l->last = c;
}

/* Stops listening until the next sweep.  A connection that could not be accepted stays in the
 * backlog, so it would be reported again and again. */
void worker_pause_accept(worker *w) { w->accept_paused = events_listen(w, false); }

/* If Redis hangs, replies 503 to the connections that wait for Redis. */
static void sweep_waiting(worker *w)
{
    conn *next;
    if (!w->s->fs.remote || !w->lists[WAITING].first || !jobs_hang(w->s)) return;
    for (conn *c = w->lists[WAITING].first; c; c = next) {
        next = c->next;
        if (!c->job->whole_filter && jobs_hang_for(w->s, &c->job->q))
            conn_refused(w, c, REDIS_HANGS);
    }
}

/* The work of every SWEEP ms.  Calls conn_late, which moves or frees the connection, after each
 * deadline that has passed; replies 503 to connections that wait while Redis hangs; frees memory;
 * listens again after worker_pause_accept.  SENDING and WAITING are not ordered by deadline. */
static void sweep(worker *w)
{
    for (int state = 0; state < STATES; state++) {
        conn *next;
        for (conn *c = w->lists[state].first; c; c = next) {
            next = c->next;
            if (c->until <= w->now)
                conn_late(w, c);
            else if (state != SENDING && state != WAITING)
                break;
            /* sending the 408 may have evicted the next connection */
            if (state == ASKING) next = w->lists[ASKING].first;
        }
    }
    sweep_waiting(w);
    budget_relieve(w);
    if (w->accept_paused && !w->drained) w->accept_paused = !events_listen(w, true);
    w->swept = w->now;
}

static void update_clock(worker *w)
{
    time_t now = time(NULL);
    w->now = clock_ms();
    if (now == w->date_of) return;
    struct tm tm;
    gmtime_r(&now, &tm);
    strftime(w->date, sizeof w->date, "%a, %d %b %Y %H:%M:%S GMT", &tm);
    w->date_of = now;
}

/* ---- the end ---- */
/* Called once, when the server ends: accepts the backlog for a last time, closes idle connections.
 */
static void drain(worker *w)
{
    conn *next;
    w->drained = true;
    conn_accept(w);
    events_listen(w, false);
    for (conn *c = w->lists[IDLE].first; c; c = next) {
        next = c->next;
        conn_drain(w, c);
    }
}

static bool is_done(worker *w)
{
    if (!w->drained) return false;
    bool some = false;
    for (int i = 0; i < STATES; i++) some = some || w->lists[i].first;
    return !some || w->now >= w->s->drain_until;
}

static void close_all(worker *w)
{
    static const char ends[] = "the daemon ends: it is not known whether this was done";
    while (w->lists[WAITING].first) conn_refused(w, w->lists[WAITING].first, ends);
    for (int i = 0; i < STATES; i++)
        while (w->lists[i].first) conn_close(w, w->lists[i].first);
    conn_bury(w);
}

/* ---- the loop ---- */
static void handle_event(worker *w, const event *e)
{
    if (e->source == &w->s->listener)
        conn_accept(w);
    else if (e->source == &w->wake)
        w->woken = events_woken(w);
    else
        conn_ready(w, e->source, e->writable);
}

void *worker_run(void *self)
{
    worker *w = self;
    event events[EVENTS_MAX];
    bf_set_nowait(true);
    while (!is_done(w)) {
        const int n = events_wait(w, events, SWEEP);
        update_clock(w);
        for (int i = 0; i < n; i++) handle_event(w, &events[i]);
        if (w->woken) { /* after all events, because jobs_deliver() may free connections */
            w->woken = false;
            jobs_deliver(w);
        }
        if (w->now - w->swept >= SWEEP) sweep(w);
        conn_bury(w);
        if (w->log.len) log_flush(w);
        if (!w->drained && is_draining(w->s)) drain(w);
    }
    close_all(w);
    log_flush(w);
    return NULL;
}

bool worker_init(worker *w, server *s)
{
    *w = (worker){ .s = s, .read_buffer = malloc(READ_BYTES), .decoded = malloc(s->o.max_url) };
    update_clock(w);
    return events_init(w) && w->read_buffer && w->decoded && events_listen(w, true);
}

void worker_free(worker *w)
{
    jobs_drop_done(w);
    events_free(w);
    free(w->read_buffer);
    free(w->decoded);
    buffer_drop(&w->out);
    buffer_drop(&w->log);
}
