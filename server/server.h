/* server.h - structures shared by the files of the daemon: server, worker, connection.
 *
 *   main.c -> worker.c (events, deadlines) -> conn.c (sockets) -> parse.c (llhttp) -> routes.c
 *   routes.c -> filters.c -> core, or -> jobs.c (threads that may wait) -> routes.c
 *
 * A worker is one thread.  Other threads read its counters, add jobs to `done` and write to `wake`.
 * No other thread uses its other members or its connections. */
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

enum { READ_BYTES = 64 << 10, STATUSES = 16, COMMANDS_MAX = 48 };
/* The headers that the daemon reads.  A request with two headers of the same kind gets a 400. */
enum { TYPE, AUTHORIZATION, EXPECT, TRANSFER, CODING, HOST_NAME, ORIGIN, REFERER, SITE, HEADERS };

/* A command of RESP that is being received: the bytes that were checked, and the arguments that are
 * missing. */
typedef struct {
    size_t at, left;
    bool begun;
} resp_scan;

/* A request that is being received.  During parsing the request is worker.current.  If the request
 * is incomplete after a read, it is moved to the heap (conn.suspended). */
typedef struct request_in {
    bool active, head_done;
    bool owns_memory;    /* at least one buffer of the request owns memory */
    bool deadline_unset; /* the connection has no deadline for this request yet */
    int refused_with;    /* status of a refused request; 0: not refused */
    const char *why;     /* reason of the refusal, a literal; NULL: http.c has the sentence */
    buffer url, body, headers[HEADERS];
    buffer *value; /* receives the value of the present header; NULL: the header is skipped */
    char field[24];
    unsigned field_len, seen; /* seen: bit i is set if header i was received */
    framing framing;
    resp_scan scan;
    uint64_t header_bytes, head_bytes, body_bytes; /* bytes so far: of header lines, head, body */
    uint64_t held;                                 /* bytes counted in server.buffered */
    uint64_t active_at; /* ms: time of the last received bytes, if the request is suspended */
} request_in;

/* A reply that is sent in part, and input that is parsed after the reply is sent. */
typedef struct {
    buffer out, tail, input;
    size_t out_done, tail_done; /* bytes sent of out and of tail */
    uint64_t held;              /* bytes counted in server.buffered */
    uint64_t active_at;         /* ms: when the client last read, at first when sending began */
    uint64_t queued; /* bytes in the socket's send queue at the last check of memory_budget.c */
} response_out;

/* ASKING: a request is incomplete.  WAITING: a job answers the request.  Others: see conn.c */
enum { IDLE, ASKING, SENDING, LINGERING, WAITING, STATES };
typedef struct conn {
    llhttp_t parser;
    /* neighbours in the worker's list of connections in the same state */
    struct conn *previous, *next;
    request_in *suspended; /* the incomplete request, or NULL */
    response_out *response_out;
    job *job;       /* the job that answers the request, or NULL */
    uint64_t until; /* deadline, ms; the lists except SENDING and WAITING are ordered by it */
    int fd;
    uint8_t state;
    /* close: closes after the reply.  broken: changes to LINGERING after the reply.
     * events_out: does not wait for input */
    bool close : 1, broken : 1, events_out : 1;
    uint8_t blanks;   /* number of CR and LF received before the request */
    uint8_t protocol; /* 0: no byte was received; 1: HTTP; 2, 3: RESP2, RESP3 */
    bool authorized;  /* RESP: the client has sent the token */
    uint64_t id;      /* RESP: for CLIENT ID */
} conn;
typedef struct {
    conn *first, *last;
} conn_list;

typedef struct server server;
typedef struct worker {
    server *s;
    pthread_t thread;
    int waiting, wake; /* descriptors of events.c */
    conn_list lists[STATES];
    uint64_t now;   /* ms on the monotonic clock, read once per round of events */
    uint64_t swept; /* ms on the monotonic clock: when sweep() was last called */
    char date[40];
    time_t date_of;
    char *read_buffer;  /* receive buffer of READ_BYTES bytes */
    char *decoded;      /* max_url bytes, for a decoded key */
    buffer out, tail;   /* replies for the present connection; see reply_write() */
    uint64_t tail_held; /* bytes of the tail that are counted in server.buffered */
    request_in current; /* the request that is being parsed */
    conn *current_conn; /* the present connection, which must not be evicted */
    conn *evicted;      /* closed connections, freed after the events of this round */
    bool answered;      /* the last parsed bytes completed a request */
    buffer log;
    job *done;      /* atomic: jobs that have ended, newest first */
    bool woken;     /* `done` may contain jobs */
    bool may_block; /* true in threads of jobs.c, which may wait and have no connections */
    uint64_t reserved, missing; /* bytes, for threads of jobs.c: see budget_reserve() */
    bool drained;               /* the server ends: drain() was called */
    bool accept_paused;         /* out of descriptors: accepts again at the next sweep */
    bool alone;                 /* RESP: commands are not gathered until the next read */
    /* counters: relaxed atomics */
    uint64_t statuses[STATUSES], commands[COMMANDS_MAX], connections, accepted;
} worker;

struct server {
    options o;
    filters fs;
    pool *pool;
    worker *workers;
    int listener;
    /* relaxed atomics.  buffered: see memory_budget.c.  report: bytes of the last /metrics */
    uint64_t buffered, connections, report;
    uint64_t started, drain_until; /* ms; drain_until is set before draining */
    /* atomic: bytes of the largest failed reservation since budget_relieve() last freed enough; 0:
     * no reservation failed */
    uint64_t largest_refused;
    /* filters that BF.LOADCHUNK has received in part; `loading` protects the list */
    struct load *loads;
    pthread_mutex_t loading;
    bool draining; /* atomic: the server ends */
    bool loopback; /* listens on a loopback address only */
    bool stuck;    /* a job did not end in time */
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

/* events.c */
typedef enum { WAIT_READABLE, WAIT_WRITABLE, WAIT_CLOSED } wait_for;
typedef struct {
    void *source;  /* a conn, &server.listener or &worker.wake */
    bool writable; /* the socket is writable, or has failed */
} event;
enum { EVENTS_MAX = 256 }; /* most events per call of events_wait */
bool events_init(worker *w);
void events_free(worker *w);
bool events_listen(worker *w, bool on);
bool events_add(worker *w, conn *c); /* waits until c is readable */
bool events_watch(worker *w, conn *c, wait_for what);
int events_wait(worker *w, event events[EVENTS_MAX], int timeout); /* timeout: ms */
void events_wake(worker *w);                                       /* may be called by any thread */
bool events_woken(worker *w);

/* conn.c */
void conn_accept(worker *w);
void conn_ready(worker *w, conn *c, bool writable);
void conn_drain(worker *w, conn *c);
void conn_late(worker *w, conn *c);
void conn_close(worker *w, conn *c);
void conn_answered(worker *w, conn *c); /* Called when the connection's job has ended. */
void conn_refused(worker *w, conn *c, const char *why); /* Replies 503; the job may still run. */
/* Closes the connection to free memory for other clients; conn_bury frees the structure. */
void conn_evict(worker *w, conn *c);
void conn_bury(worker *w);

/* memory_budget.c */
#define BUDGET_FULL "the daemon holds as much for its clients as --max-buffered allows"
/* Reserves `bytes` of --max-buffered.  Returns false if they are not free.  A worker closes idle
 * clients to free bytes.  A thread of jobs.c cannot do that: it uses w->reserved first (bytes for
 * the second start of its job), and stores `bytes` in w->missing on failure. */
bool budget_reserve(worker *w, uint64_t bytes);
/* As budget_reserve(), for a request that already holds `beside` bytes.  A refused request releases
 * these bytes, so its next attempt needs both amounts: budget_relieve() frees their sum. */
bool budget_reserve_beside(worker *w, uint64_t bytes, uint64_t beside);
void budget_release(worker *w, uint64_t bytes);
void budget_relieve(worker *w);
/* Bytes that are counted for the free end of an input buffer. */
enum { INPUT_MORE = 256 };
static inline uint64_t input_cost(const buffer *b) { return b->len ? b->len + INPUT_MORE : 0; }
/* Counts a large reply in --max-buffered.  If the bytes are not free, replaces the reply by a 503.
 */
void budget_reply(worker *w, reply *a);

/* parse.c */
void parse_start(conn *c);
void parse_resume(worker *w, conn *c); /* Continues the suspended request. */
/* Suspends the incomplete request until more bytes arrive. */
void parse_suspend(worker *w, conn *c);
void request_in_drop(worker *w, request_in *x);
/* Makes space for `more` bytes of the body in memory that the request owns.  Returns false, with
 * the status in x->refused_with, if memory or --max-buffered does not suffice. */
bool body_grow(worker *w, request_in *x, size_t more);
/* True if the next bytes belong to a body of known length; *left: bytes of the body still missing.
 */
bool body_direct(const conn *c, size_t *left);
/* Parses requests and writes their replies to w->out and w->tail.  Returns how many bytes it used.
 * Sets c->close if no more input may be read. */
size_t parse(worker *w, conn *c, const char *bytes, size_t len);
void refuse(worker *w, conn *c, int status);
/* Counts, logs and writes the reply.  began: ns on the monotonic clock, for the log. */
void finish_reply(worker *w, conn *c, request *q, reply *a, uint64_t began);

/* routes.c */
#define REDIS_HANGS "Redis does not reply: it is not known whether this was done"
void route(worker *w, const request *q, reply *a);
/* As route(), for threads of jobs.c: does not check access, and may wait. */
void route_in_job(worker *w, const request *q, reply *a);
/* Returns the name of the job queue for the request: the name of its filter, or "?..." for requests
 * about the server.  The name may point into room. */
enum { NAME_ROOM = 3 * NAME_BYTES };
text route_queue(const request *q, char room[NAME_ROOM]);
bool route_is_whole_filter(const request *q); /* True if the request is about a complete filter. */

/* access.c: returns true, after replying 401 or 403, if the request is not allowed. */
bool access_refuses(const server *s, const request *q, reply *a);
bool access_is_token(const server *s, text given);

/* origin.c */
enum { ORIGIN_WHY = 160 };
/* Returns NULL, or the reason why a web page may not send this request.  health: any Host is
 * allowed.  changes: the request may change a filter, so more headers are checked. */
const char *origin_refuses(
    const server *s, const request *q, bool health, bool changes, char why[ORIGIN_WHY]);

/* stats.c, page.c, log.c */
bool stats_json(worker *w, served *f, reply *a);
bool stats_filters(worker *w, reply *a);
bool stats_metrics(worker *w, reply *a);
bool stats_info(served *f, reply *a);
/* As filters_list(), and opens files that were replaced.  Never waits for a lock. */
served **stats_list(const worker *w, size_t *count);
/* Gets the filter's state, or its last known state if the filter is locked.  Returns false if the
 * state is not known, or requests for the filter get an error.  Never waits for a lock. */
bool stats_state(const worker *w, served *f, bf_state *st, bool *known);
uint64_t stats_requests(const server *s);
bool page(worker *w, served *f, reply *a);
void count_status(worker *w, int status, uint64_t n); /* for n replies */
bool log_open(server *s);
void log_request(
    worker *w, const conn *c, const request *q, const reply *a, size_t bytes, uint64_t began_ns);
void log_flush(worker *w);
#endif
