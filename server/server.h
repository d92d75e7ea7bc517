/* server.h - what the files of the daemon share: the server, its workers, a connection.
 *
 *   main.c -> worker.c (epoll, deadlines) -> conn.c (sockets) -> parse.c (llhttp) -> routes.c
 *
 *   routes.c -> filters.c -> core, or -> jobs.c (threads that may wait) -> routes.c
 *
 * A worker is one thread.  Only this thread uses its connections and its other members; other
 * threads read its counters. */
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
/* The headers that the daemon reads.  A request that repeats one is answered 400. */
enum { TYPE, AUTHORIZATION, EXPECT, TRANSFER, CODING, HOST_NAME, ORIGIN, REFERER, SITE, HEADERS };

/* A request that is being received.  It is a member of the worker while bytes are parsed, and is
 * moved to the heap only if it is still incomplete after a read. */
typedef struct request_in {
    bool active, head_done;
    bool owns;       /* one of its buffers owns memory */
    bool fresh;      /* its deadline has not been set yet */
    int fail;        /* the status with which it is refused; 0: it is not */
    const char *why; /* the reason, a literal, or NULL */
    buffer url, body, headers[HEADERS];
    buffer *into; /* receives the value of the current header */
    char field[24];
    unsigned field_len, seen; /* seen: one bit per header */
    strict strict;
    uint64_t header_bytes, raw, body_bytes,
        held;       /* raw: bytes received while its head is incomplete; held: bytes counted in
                       server.buffered */
    uint64_t moved; /* ms; when it is suspended: the time of its last bytes */
} request_in;

/* A reply that the socket did not take completely, and the input that waits until it is sent. */
typedef struct {
    buffer out, tail, input;
    size_t out_done, tail_done;
    uint64_t held, moved;
    uint64_t queued; /* bytes in the socket's send queue at the last check of memory_budget.c */
} response_out;

/* ASKING: a request is incomplete.  WAITING: a job answers the request. */
enum { IDLE, ASKING, SENDING, LINGERING, WAITING, STATES };
typedef struct conn {
    llhttp_t parser;
    struct conn *previous, *next; /* neighbours in the worker's list of connections in this state */
    request_in *part;             /* the incomplete request, or NULL */
    response_out *response_out;
    job *job;       /* the job that answers its request, or NULL */
    uint64_t until; /* deadline, ms; all lists but SENDING are ordered by it */
    int fd;
    uint8_t state;
    /* broken: after the reply, reads until the client closes (LINGERING) */
    bool close : 1, broken : 1, events_out : 1;
    uint8_t blanks; /* CR and LF received before the request */
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
    uint64_t now, swept; /* ms on the monotonic clock                          */
    char date[40];
    time_t date_of;
    char *in;           /* READ_BYTES                                         */
    char *decoded;      /* max_url bytes: a key out of a URL                  */
    buffer out, tail;   /* replies for the current connection */
    uint64_t tail_held; /* bytes of the tail that count in server.buffered */
    request_in asked;   /* the current request */
    conn *at;           /* the current connection, which must not be evicted */
    conn *evicted;      /* closed, freed after the events of this round */
    bool answered;      /* a request ended in the current bytes */
    buffer log;
    job *done;             /* atomic: jobs that have ended, newest first */
    bool woken;            /* jobs may be in `done` */
    bool may_block;        /* a thread of jobs.c: it may wait, and has no connections */
    uint64_t room, lacked; /* for threads of jobs.c: see hold() */
    bool drained;
    bool accept_paused; /* no descriptor was free: accepts nothing until the next sweep */
    uint64_t statuses[STATUSES], connections, accepted; /* counters: relaxed atomics              */
} worker;

struct server {
    options o;
    filters fs;
    pool *pool;
    worker *workers;
    int listener, log_fd;
    /* relaxed atomics; report: the size of the last /metrics in bytes */
    uint64_t buffered, connections, report;
    uint64_t started, drain_until; /* ms; drain_until is set before draining */
    /* atomic, bytes: the largest request that hold() refused since held_relieve() ran */
    uint64_t wanted;
    bool draining;  /* atomic */
    bool loopback;  /* listens on a loopback address only */
    bool stuck;     /* a job did not end in time */
    bool log_fails; /* relaxed atomic: the failure was reported */
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
void conn_answered(worker *w, conn *c);                 /* Its job has ended. */
void conn_refused(worker *w, conn *c, const char *why); /* Answers 503; its job may still run. */
void conn_evict(worker *w, conn *c); /* Closes it to make room for others; conn_bury frees it. */
void conn_bury(worker *w);

/* memory_budget.c */
#define HELD_FULL "the daemon holds as much for its clients as --max-buffered allows"
/* Reserves bytes of --max-buffered.  A worker closes idle clients if that is needed.  A thread of
 * jobs.c has no connections: it takes what is free, or the bytes that its job brought (`room`), and
 * records how many were missing (`lacked`). */
bool hold(worker *w, uint64_t bytes);
/* The same for a request that has reserved `beside` bytes already and releases them if this fails;
 * so room is made for both when it is started again. */
bool hold_beside(worker *w, uint64_t bytes, uint64_t beside);
void unhold(worker *w, uint64_t bytes);
void held_relieve(worker *w);
/* Free bytes that an input buffer has beyond its contents; they count as held. */
enum { INPUT_MORE = 256 };
static inline uint64_t input_held(const buffer *b) { return b->len ? b->len + INPUT_MORE : 0; }
/* Counts a large reply in --max-buffered until it is sent.  If it does not fit, it becomes a 503.
 */
void hold_reply(worker *w, reply *a);

/* parse.c */
void parse_start(conn *c);
void parse_resume(worker *w, conn *c);  /* Continues the suspended request. */
void parse_suspend(worker *w, conn *c); /* Suspends the incomplete request until more bytes come. */
void request_in_drop(worker *w, request_in *x);
/* Returns false and sets x->fail if there is no room. */
bool body_grow(worker *w, request_in *x, size_t more);
bool body_direct(const conn *c,
    size_t *left); /* True if the rest of a body of known length follows; *left is its length. */
/* Parses requests and writes their replies to w->out and w->tail.  Returns how many bytes it used;
 * sets c->close if no more may be read. */
size_t parse(worker *w, conn *c, const char *bytes, size_t len);
void refuse(worker *w, conn *c, int status);
void answer_late(worker *w, conn *c, request *q, reply *a, uint64_t began);

/* routes.c */
#define ROUTE_HANGS "Redis does not reply: it is not known whether this was done"
void route(worker *w, const request *q, reply *a);
/* For jobs.c: the request was checked, and the thread may wait. */
void route_in_job(worker *w, const request *q, reply *a);
/* Returns the name of the filter that the request is about; it may be stored in room. */
enum { NAME_ROOM = 3 * NAME_BYTES };
text route_turn(const request *q, char room[NAME_ROOM]);
bool route_is_whole(const request *q); /* Is the request about a complete filter? */

/* access.c: replies 401 or 403 and returns true if the request is not allowed. */
bool access_refuses(const server *s, const request *q, reply *a);

/* origin.c */
enum { ORIGIN_WHY = 160 };
/* Returns NULL, or why a web page may not send this request.  health: allowed for all pages;
 * changes: the request does not only show something. */
const char *origin_refuses(
    const server *s, const request *q, bool health, bool changes, char why[ORIGIN_WHY]);

/* stats.c, page.c, log.c */
bool stats_json(worker *w, served *f, reply *a);
bool stats_filters(worker *w, reply *a);
bool stats_metrics(worker *w, reply *a);
bool stats_info(served *f, reply *a);
/* Returns false if its storage does not answer. */
bool stats_state(const worker *w, served *f, bf_state *st);
uint64_t stats_requests(const server *s);
bool page(worker *w, served *f, reply *a);
void count_status(worker *w, int status);
int log_open(server *s);
void log_request(
    worker *w, const conn *c, const request *q, const reply *a, size_t bytes, uint64_t began_ns);
void log_flush(worker *w);
#endif
