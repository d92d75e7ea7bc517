/* server.h - what the parts of the daemon share: the server, its workers, a connection.
 *
 *   main.c -> worker.c (epoll, deadlines) -> conn.c (sockets) -> parse.c (llhttp) -> routes.c -> filters.c -> core
 *
 * A worker is one thread; its connections are its own, so is everything in it but the counters, which others read. */
#ifndef BFD_SERVER_H
#define BFD_SERVER_H
#include "filters.h"
#include "history.h"
#include "http.h"
#include <llhttp.h>
#include <pthread.h>
#include <time.h>

enum { READ_BYTES = 64 << 10, STATUSES = 16 };

/* A request on its way in.  Lives in the worker while bytes are parsed, on the heap only between two reads. */
typedef struct {
    bool active, head_done;
    bool fresh;                                      /* its deadline does not run yet                      */
    int fail;                                        /* the status it is refused with, 0 = not refused     */
    buffer url, type, authorization, expect, transfer, coding, body;
    buffer *into;                                    /* where the value of the present header goes         */
    char field[24];
    unsigned field_len;
    uint64_t header_bytes, raw, body_bytes, held;    /* raw: all bytes while its head is incomplete; held: in server.buffered */
} exchange;

/* A reply on its way out that the socket did not take at once, and the input that waits for it. */
typedef struct { buffer out, tail, input; size_t out_done, tail_done; uint64_t held; } unsent;

enum { IDLE, ASKING, SENDING, LINGERING, STATES };
typedef struct conn {
    llhttp_t parser;
    struct conn *previous, *next;                    /* in the worker's list of its state                  */
    exchange *part;                                  /* NULL while no request is half there                */
    unsent *unsent;
    uint64_t until;                                  /* ms; every list but SENDING is in this order        */
    int fd;
    uint8_t state;
    bool close, broken, events_out;                  /* broken: close only once the client has seen the reply */
} conn;
typedef struct { conn *first, *last; } conn_list;

typedef struct server server;
typedef struct {
    server *s;
    pthread_t thread;
    int epoll, wake;
    conn_list lists[STATES];
    uint64_t now, swept;                             /* ms on the monotonic clock                          */
    char date[40];
    time_t date_of;
    char *in;                                        /* READ_BYTES                                         */
    char *decoded;                                   /* max_url bytes: a key out of a URL                  */
    buffer out, tail;                                /* replies to the connection at hand                  */
    exchange asked;                                  /* the request at hand                                */
    conn *at;
    bool answered;                                   /* a request ended in the bytes at hand               */
    buffer log;
    bool drained;
    bool deaf;                                       /* no descriptors are left: not listening until the next sweep */
    uint64_t statuses[STATUSES], connections, accepted;      /* counters: relaxed atomics              */
} worker;

struct server {
    options o;
    filters fs;
    worker *workers;
    int listener, log_fd;
    uint64_t buffered, connections;                  /* relaxed atomics                                    */
    uint64_t started, drain_until;                   /* ms; drain_until is there once draining is          */
    bool draining;                                   /* atomic                                             */
    history history;
};

/* worker.c */
bool worker_init(worker *w, server *s);
void *worker_run(void *w);
void worker_free(worker *w);
void worker_move(worker *w, conn *c, int state, uint64_t until);
void worker_deaf(worker *w);
static inline bool is_draining(const server *s) { return __atomic_load_n(&s->draining, __ATOMIC_ACQUIRE); }
uint64_t clock_ms(void);

/* conn.c */
void conn_accept(worker *w);
void conn_ready(worker *w, conn *c, unsigned events);
void conn_drain(worker *w, conn *c);
void conn_late(worker *w, conn *c);
void conn_close(worker *w, conn *c);

/* parse.c */
void parse_start(conn *c);
void parse_resume(worker *w, conn *c);               /* takes up the request that is half there            */
void parse_suspend(worker *w, conn *c);              /* puts it away                                       */
void exchange_drop(worker *w, exchange *x);
bool body_grow(worker *w, exchange *x, size_t more); /* false: x->fail says why                            */
bool body_direct(const conn *c, size_t *left);       /* is a body of known length coming, and how much?    */
/* Parses, answers into w->out and w->tail.  Returns how much it took; c->close where no more must be read. */
size_t parse(worker *w, conn *c, const char *bytes, size_t len);
void refuse(worker *w, conn *c, int status);

/* routes.c */
void route(worker *w, const request *q, reply *a);
bool route_allowed(const server *s, const request *q);      /* the token */

/* stats.c, page.c, log.c */
bool stats_json(worker *w, served *f, reply *a);
bool stats_filters(worker *w, reply *a);
bool stats_metrics(worker *w, reply *a);
bool stats_info(served *f, reply *a);
uint64_t stats_requests(const server *s);
bool page(worker *w, reply *a);
void count_status(worker *w, int status);
int log_open(server *s);
void log_request(worker *w, const conn *c, const request *q, const reply *a, size_t bytes, uint64_t began_ns);
void log_flush(worker *w);
uint64_t clock_ns(void);
#endif
