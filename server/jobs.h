/* jobs.h - requests that may take long: those that need Redis, that open, create or delete a
 * filter, or that read or write a complete one.  Threads of their own do them, because a worker is
 * one thread for thousands of connections and must never wait.
 *
 *   worker --job_start--> turns (a queue for each name) --> a thread --> worker.done
 * --jobs_deliver--> the connection
 *
 * Jobs of one name are done one after the other, those of different names in parallel: many
 * requests for one unknown name query Redis one at a time, and a slow name keeps one thread.  A
 * connection whose request is a job is WAITING: nothing is read from it until the reply is there.
 *
 * While jobs wait for Redis, another thread sends Redis a small command every BEAT ms (the probe).
 * If Redis does not reply within HANGS ms it hangs: requests that wait are answered 503, and new
 * ones get 503 immediately, until Redis replies again.  Exceptions: an open filter has a connection
 * of its own, and its requests get 503 only after HANGS ms; a request about a complete filter may
 * itself be what keeps Redis busy, and waits for the URL's time-out.
 *
 * The memory of jobs counts in --max-buffered.  Only a worker can close idle clients, its own ones:
 * a job that finds no room returns to its worker without having done anything, and is started a
 * second time if the worker made room. */
#ifndef BFD_JOBS_H
#define BFD_JOBS_H
#include "http.h"

typedef struct pool pool;
typedef struct job job;
struct worker;
struct request_in;
struct conn;
struct server;

struct job {
    job *next;
    struct worker *w;            /* the worker of its connection; NULL: jobs_look, which has none */
    struct conn *c;              /* NULL: answered or closed; only the worker uses it      */
    bool dropped;                /* atomic: its client is gone; skip it unless it has begun */
    bool done;                   /* its reply is complete; only the worker uses it */
    request q;                   /* points into text and body                              */
    buffer text, body, input;    /* input: what the client sent after this request         */
    uint64_t held, lacked, room; /* bytes: counted in server.buffered; that were missing; reserved
                                    for the second start */
    uint64_t began;              /* ns, for the log */
    bool whole;                  /* about a complete filter */
    bool again;                  /* it was started a second time */
    reply a;
};

bool jobs_open(struct server *s);
/* Waits for the jobs that run.  Returns false if some have not ended at `until` (ms). */
bool jobs_stop(struct server *s, uint64_t until);
void jobs_close(struct server *s);
bool jobs_hang(const struct server *s); /* Does Redis hang? */
/* The same for this request: an open filter hangs only if its own jobs do. */
bool jobs_hang_for(struct server *s, const request *q);
void jobs_look(struct server *s); /* Called once a second: refreshes the list, records the fill. */

/* For workers.  The job takes over the present request's body, the bytes counted for it, and *a,
 * the reply as far as the worker came.  NULL: *why says why. */
job *job_start(
    struct worker *w, struct conn *c, const request *q, reply *a, uint64_t began, const char **why);
/* True if the job found too little room, the worker made some, and the job was started again. */
bool job_again(struct worker *w, job *j);
bool job_keep_input(struct worker *w, job *j, const char *bytes, size_t len);
buffer job_input(job *j); /* the caller frees it and subtracts input_held() */
void job_leave(job *j);   /* its connection was answered or closed                  */
void job_free(job *j);    /* after it was delivered                                 */
void jobs_deliver(struct worker *w);
void jobs_forget(struct worker *w); /* after the worker's end                                 */
#endif
