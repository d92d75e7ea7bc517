/* server.h - structures shared by the files of the daemon: server, worker, connection.
 *
 *   main.c -> worker.c (epoll, deadlines) -> conn.c (sockets) -> parse.c (llhttp) -> routes.c
 *   routes.c -> filters.c -> core, or -> jobs.c (threads that may wait) -> routes.c
 *
 * A worker is one thread.  No other thread uses its connections and its other members, except its
 * counters, which all threads read. */
#ifndef BFD_SERVER_H
#define BFD_SERVER_H
#include "clock.h"
#include "filters.h"
#include "history.h"
#include "http.h"
#include "jobs.h"
#include "framing.h"
#include <llhttp.h>
#include <pthread.h>
#include <time.h>

enum { READ_BYTES = 64 << 10, STATUSES = 16 };
/* The headers that the daemon reads.  A request that repeats one of them is answered 400. */
enum { TYPE, AUTHORIZATION, EXPECT, TRANSFER, CODING, HOST_NAME, ORIGIN, REFERER, SITE, HEADERS };

/* A request that is being received.  While bytes are parsed it is a member of the worker.  If it is
 * still incomplete after a read, it is moved to the heap (suspended). */
typedef struct request_in {
    bool active, head_done;
    bool owns_memory;    /* at least one of its buffers owns memory */
    bool deadline_unset; /* the connection's deadline does not count from this request yet */
    int refused_with;    /* the status with which it is refused; 0: it is not refused */
    const char *why;     /* the reason, a literal, or NULL */
    buffer url, body, headers[HEADERS];
    buffer *value; /* receives the value of the present header; NULL: the header is skipped */
    char field[24];
    unsigned field_len, seen; /* seen: bit i: header i was received */
    framing framing;
    /* head_bytes: bytes received before the head is complete.  held: bytes counted in
     * server.buffered */
    uint64_t header_bytes, head_bytes, body_bytes, held;
    uint64_t active_at; /* ms: time of its last bytes, if it is suspended */
} request_in;

/* The unsent rest of a reply, and the input that waits until it is sent. */
typedef struct {
    buffer out, tail, input;
    size_t out_done, tail_done;
    uint64_t held, active_at;
    uint64_t queued; /* bytes in the socket's send queue at the last check of memory_budget.c */
} response_out;

/* ASKING: a request is incomplete.  WAITING: a job answers the request. */
enum { IDLE, ASKING, SENDING, LINGERING, WAITING, STATES };
typedef struct conn {
    llhttp_t parser;
    /* neighbours in the worker's list of connections in the same state */
    struct conn *previous, *next;
    request_in *suspended; /* the incomplete request, or NULL */
    response_out *response_out;
    job *job;       /* the job that answers the request, or NULL */
    uint64_t until; /* deadline, ms; each list but SENDING is ordered by it */
    int fd;
    uint8_t state;
    /* broken: the connection closes after the reply, but reads until the client closes (LINGERING)
     */
    bool close : 1, broken : 1, events_out : 1;
    uint8_t blanks; /* number of CR and LF received before the request */
} conn;
typedef struct {
    conn *first, *last;
} conn_list;

typedef struct server server;
typedef struct worker {
    server *s;
    pthread_t thread;
    int epoll, wake;
    conn_list lists[STATES];
    uint64_t now, swept; /* ms on the monotonic clock */
    char date[40];
    time_t date_of;
    char *read_buffer;  /* receive buffer of READ_BYTES bytes */
    char *decoded;      /* max_url bytes, for a decoded key */
    buffer out, tail;   /* replies for the present connection */
    uint64_t tail_held; /* bytes of the tail that are counted in server.buffered */
    request_in current; /* the request that is being parsed */
    conn *current_conn; /* the present connection, which must not be evicted */
    conn *evicted;      /* closed connections, freed after the events of this round */
    bool answered;      /* the last parsed bytes completed a request */
    buffer log;
    job *done;      /* atomic: jobs that have ended, newest first */
    bool woken;     /* `done` may have jobs */
    bool may_block; /* true in threads of jobs.c, which may wait and have no connections */
    uint64_t reserved, missing; /* for threads of jobs.c: see budget_reserve() */
    bool drained;
    /* no descriptor was free: the worker accepts no connection until the next sweep */
    bool accept_paused;
    uint64_t statuses[STATUSES], connections, accepted; /* counters: relaxed atomics */
} worker;

struct server {
    options o;
    filters fs;
    pool *pool;
    worker *workers;
    int listener, log_fd;
    /* relaxed atomics; report: bytes of the last /metrics */
    uint64_t buffered, connections, report;
    uint64_t started, drain_until; /* ms; drain_until is set before draining */
    /* atomic: the largest number of bytes that was refused since budget_relieve() last freed
     * enough; 0: none */
    uint64_t largest_refused;
    bool draining;  /* atomic */
    bool loopback;  /* listens on a loopback address only */
    bool stuck;     /* a job did not end in time */
    bool log_fails; /* relaxed atomic: the failure to write was reported */
    history history;
};

/* worker.c */
bool worker_init(worker *w, server *s);
void *worker_run(void *w);
void worker_free(worker *w);
void worker_move(worker *w, conn *c, int state, uint64_t until);
void worker_pause_accept(worker *w);
static inline bool is_draining(const server *s)
{
    return __atomic_load_n(&s->draining, __ATOMIC_ACQUIRE);
}

/* conn.c */
void conn_accept(worker *w);
void conn_ready(worker *w, conn *c, unsigned events);
void conn_drain(worker *w, conn *c);
void conn_late(worker *w, conn *c);
void conn_close(worker *w, conn *c);
void conn_answered(worker *w, conn *c);                 /* Called when its job has ended. */
void conn_refused(worker *w, conn *c, const char *why); /* Answers 503; the job may still run. */
/* Closes the connection to make room for others; conn_bury frees it. */
void conn_evict(worker *w, conn *c);
void conn_bury(worker *w);

/* memory_budget.c */
#define BUDGET_FULL "the daemon holds as much for its clients as --max-buffered allows"
/* Reserves `bytes` of --max-buffered.  A worker closes idle clients to make room.  A thread of
 * jobs.c cannot: it uses w->reserved (bytes reserved for the second start of its job), then free
 * bytes; if these are too few, it stores `bytes` in w->missing. */
bool budget_reserve(worker *w, uint64_t bytes);
/* Reserves `bytes` for a request that holds `beside` bytes already.  The request releases those if
 * this fails, and then needs both amounts: so budget_relieve() makes room for the sum. */
bool budget_reserve_beside(worker *w, uint64_t bytes, uint64_t beside);
void budget_release(worker *w, uint64_t bytes);
void budget_relieve(worker *w);
/* Free bytes at the end of an input buffer; they are counted too. */
enum { INPUT_MORE = 256 };
static inline uint64_t input_cost(const buffer *b) { return b->len ? b->len + INPUT_MORE : 0; }
/* Counts a large reply in --max-buffered until it is sent.  If there is no room, turns it into a
 * 503. */
void budget_reply(worker *w, reply *a);

/* parse.c */
void parse_start(conn *c);
void parse_resume(worker *w, conn *c); /* Continues the suspended request. */
/* Suspends the incomplete request until more bytes arrive. */
void parse_suspend(worker *w, conn *c);
void request_in_drop(worker *w, request_in *x);
/* Returns false, with the reason in *x, if there is no room. */
bool body_grow(worker *w, request_in *x, size_t more);
/* True if the rest of a body of known length follows; *left is the length of the rest. */
bool body_direct(const conn *c, size_t *left);
/* Parses requests and writes their replies to w->out and w->tail.  Returns how many bytes it used.
 * Sets c->close if no more may be read. */
size_t parse(worker *w, conn *c, const char *bytes, size_t len);
void refuse(worker *w, conn *c, int status);
void finish_reply(worker *w, conn *c, request *q, reply *a, uint64_t began);

/* routes.c */
#define REDIS_HANGS "Redis does not reply: it is not known whether this was done"
void route(worker *w, const request *q, reply *a);
/* Called by jobs.c: access was checked, and the thread may wait. */
void route_in_job(worker *w, const request *q, reply *a);
/* Returns the name of the job queue for the request: the filter it is about, or "?..." for requests
 * about the server.  The name may be stored in room. */
enum { NAME_ROOM = 3 * NAME_BYTES };
text route_queue(const request *q, char room[NAME_ROOM]);
bool route_is_whole_filter(const request *q); /* True if the request is about a complete filter. */

/* access.c: if the request is not allowed, replies 401 or 403 and returns true. */
bool access_refuses(const server *s, const request *q, reply *a);

/* origin.c */
enum { ORIGIN_WHY = 160 };
/* Returns NULL, or why this web page may not send the request.  health: every page may send it;
 * changes: the request may change something, so it needs more checks. */
const char *origin_refuses(
    const server *s, const request *q, bool health, bool changes, char why[ORIGIN_WHY]);

/* stats.c, page.c, log.c */
bool stats_json(worker *w, served *f, reply *a);
bool stats_filters(worker *w, reply *a);
bool stats_metrics(worker *w, reply *a);
bool stats_info(served *f, reply *a);
/* Returns false if the storage does not answer.  Never waits. */
bool stats_state(const worker *w, served *f, bf_state *st);
uint64_t stats_requests(const server *s);
bool page(worker *w, served *f, reply *a);
void count_status(worker *w, int status);
int log_open(server *s);
void log_request(
    worker *w, const conn *c, const request *q, const reply *a, size_t bytes, uint64_t began_ns);
void log_flush(worker *w);
#endif
