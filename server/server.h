/* server.h - what the parts of the daemon share: the server, its workers, a connection.
 *
 *   main.c -> worker.c (epoll, deadlines) -> conn.c (sockets) -> parse.c (llhttp) -> routes.c ->
 * filters.c -> core
 *                                                                             `-> jobs.c (threads
 * that may wait) -> routes.c
 *
 * A worker is one thread; its connections are its own, so is everything in it but the counters,
 * which others read. */
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
/* The headers that are read; a second one of a kind is a 400. */
enum { TYPE, AUTHORIZATION, EXPECT, TRANSFER, CODING, HOST_NAME, ORIGIN, REFERER, SITE, HEADERS };

/* A request on its way in.  Lives in the worker while bytes are parsed, on the heap only between
 * two reads. */
typedef struct request_in {
    bool active, head_done;
    bool owns;       /* a buffer of its own: else there is nothing to free */
    bool fresh;      /* its deadline does not run yet                      */
    int fail;        /* the status it is refused with, 0 = not refused     */
    const char *why; /* NULL, or a literal that says why */
    buffer url, body, headers[HEADERS];
    buffer *into; /* where the value of the present header goes         */
    char field[24];
    unsigned field_len, seen; /* seen: a bit for each of the headers */
    strict strict;
    uint64_t header_bytes, raw, body_bytes,
        held;       /* raw: all bytes while its head is incomplete; held: in server.buffered */
    uint64_t moved; /* ms; when its last bytes came, while it is put away */
} request_in;

/* A reply on its way out that the socket did not take at once, and the input that waits for it. */
typedef struct {
    buffer out, tail, input;
    size_t out_done, tail_done;
    uint64_t held, moved;
    uint64_t queued; /* bytes that the kernel had of it when memory_budget.c looked last */
} response_out;

enum { IDLE, ASKING, SENDING, LINGERING, WAITING, STATES }; /* WAITING: for its job */
typedef struct conn {
    llhttp_t parser;
    struct conn *previous, *next; /* in the worker's list of its state                  */
    request_in *part;             /* NULL while no request is half there                */
    response_out *response_out;
    job *job;       /* NULL where no request is somebody else's to answer */
    uint64_t until; /* ms; every list but SENDING is in this order        */
    int fd;
    uint8_t state;
    /* broken: close only once the client has seen the reply */
    bool close : 1, broken : 1, events_out : 1;
    uint8_t blanks; /* CR and LF in front of a request */
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
    buffer out, tail;   /* replies to the connection at hand                  */
    uint64_t tail_held; /* of the tail, in server.buffered */
    request_in asked;   /* the request at hand                                */
    conn *at;           /* the connection at hand: it does not give way */
    conn *evicted;      /* closed, to be freed behind this round's events */
    bool answered;      /* a request ended in the bytes at hand               */
    buffer log;
    job *done;             /* atomic: jobs that are through, newest first        */
    bool woken;            /* there may be some                                  */
    bool may_block;        /* a thread of jobs.c: it may wait, and has no connections */
    uint64_t room, lacked; /* may_block: see hold() */
    bool drained;
    bool accept_paused; /* no descriptors are left: not listening until the next sweep */
    uint64_t statuses[STATUSES], connections, accepted; /* counters: relaxed atomics              */
} worker;

struct server {
    options o;
    filters fs;
    pool *pool;
    worker *workers;
    int listener, log_fd;
    /* relaxed atomics; report: the size of the last /metrics */
    uint64_t buffered, connections, report;
    uint64_t started, drain_until; /* ms; drain_until is there once draining is          */
    /* atomic; wanted: the most that hold() found no room for since room was made */
    uint64_t wanted;
    bool draining;  /* atomic */
    bool loopback;  /* nobody but this machine can connect */
    bool stuck;     /* a job did not end in time */
    bool log_fails; /* relaxed atomic: said already */
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
void conn_answered(worker *w, conn *c); /* its job is done                                    */
void conn_refused(worker *w, conn *c, const char *why); /* 503, whatever becomes of its job */
void conn_evict(worker *w, conn *c);                    /* for others' sake; freed by conn_bury */
void conn_bury(worker *w);

/* memory_budget.c */
#define HELD_FULL "the daemon holds as much for its clients as --max-buffered allows"
/* Room in what clients may make the daemon hold.  A worker closes clients that stand still for it;
 * a thread of jobs.c has no connections: it takes what is free or what its job brought (`room`),
 * and notes what it lacked (`lacked`). */
bool hold(worker *w, uint64_t bytes);
/* The same for a request that holds `beside` already and gives that back where it goes without:
 * room for less than both is no room for it when it comes again. */
bool hold_beside(worker *w, uint64_t bytes, uint64_t beside);
void unhold(worker *w, uint64_t bytes);
void held_relieve(worker *w);
/* Of input that waits for a reply, which is never added to. */
enum { INPUT_MORE = 256 };
static inline uint64_t input_held(const buffer *b) { return b->len ? b->len + INPUT_MORE : 0; }
/* Counts a large reply until its client has it; where there is no room it becomes a 503. */
void hold_reply(worker *w, reply *a);

/* parse.c */
void parse_start(conn *c);
void parse_resume(worker *w, conn *c);  /* takes up the request that is half there            */
void parse_suspend(worker *w, conn *c); /* puts it away                                       */
void request_in_drop(worker *w, request_in *x);
bool body_grow(worker *w, request_in *x, size_t more); /* false: x->fail says why */
bool body_direct(const conn *c, size_t *left); /* is a body of known length coming, and how much? */
/* Parses, answers into w->out and w->tail.  Returns how much it took; c->close where no more must
 * be read. */
size_t parse(worker *w, conn *c, const char *bytes, size_t len);
void refuse(worker *w, conn *c, int status);
void answer_late(worker *w, conn *c, request *q, reply *a, uint64_t began);

/* routes.c */
#define ROUTE_HANGS "Redis does not reply: it is not known whether this was done"
void route(worker *w, const request *q, reply *a);
void route_in_job(
    worker *w, const request *q, reply *a); /* the same for jobs.c: checked already, may wait     */
/* The name of the filter it is about, perhaps in room. */
enum { NAME_ROOM = 3 * NAME_BYTES };
text route_turn(const request *q, char room[NAME_ROOM]);
bool route_is_whole(const request *q); /* is it about a whole filter?                         */

/* access.c: strangers and foreign pages, 401 and 403 */
bool access_refuses(const server *s, const request *q, reply *a);

/* origin.c */
enum { ORIGIN_WHY = 160 };
/* NULL, or why the page that asks may not.  health: asked from anywhere; changes: not only shows
 * something. */
const char *origin_refuses(
    const server *s, const request *q, bool health, bool changes, char why[ORIGIN_WHY]);

/* stats.c, page.c, log.c */
bool stats_json(worker *w, served *f, reply *a);
bool stats_filters(worker *w, reply *a);
bool stats_metrics(worker *w, reply *a);
bool stats_info(served *f, reply *a);
bool stats_state(const worker *w, served *f, bf_state *st); /* false: its storage does not answer */
uint64_t stats_requests(const server *s);
bool page(worker *w, served *f, reply *a);
void count_status(worker *w, int status);
int log_open(server *s);
void log_request(
    worker *w, const conn *c, const request *q, const reply *a, size_t bytes, uint64_t began_ns);
void log_flush(worker *w);
#endif
