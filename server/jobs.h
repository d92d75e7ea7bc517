/* jobs.h - requests that may wait: for Redis, for a lock, for a disk, or because they open, create,
 * delete, send or receive a complete filter.  Other threads than the workers carry them out: a
 * worker is one thread for thousands of connections and must never wait.
 *
 *   worker --job_start--> queue of the name --> thread --> worker.done --jobs_deliver--> worker
 *
 * Jobs of one name run one after the other, jobs of different names in parallel.  So many requests
 * for one unknown name query Redis one at a time, and a slow name occupies one thread.  While a job
 * runs, its connection is WAITING: nothing is read from it.
 *
 * While jobs wait for Redis, a further thread sends Redis a small command every PROBE_MS ms (the
 * probe).  If Redis does not reply within HANG_MS ms, it hangs: waiting requests are answered 503,
 * and new ones get 503 immediately, until Redis replies again.  Two exceptions: an open filter has
 * a connection of its own, and its requests get 503 only after HANG_MS ms; a request about a
 * complete filter may itself keep Redis busy, and waits until the time-out of the URL.
 *
 * The memory of jobs counts in --max-buffered.  Only a worker can close idle clients.  So a job
 * that finds no room returns to its worker without having done anything; if the worker can make
 * room, it starts the job a second time. */
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
    struct worker *w; /* the worker of the connection; NULL: a job of jobs_refresh */
    struct conn *c;   /* NULL: the connection was answered or closed.  Used by the worker only */
    bool dropped;     /* atomic: the client is gone; the job is skipped unless it has begun */
    bool done;        /* the reply is complete.  Used by the worker only */
    request q;        /* points into text and body */
    buffer text, body, input; /* input: what the client sent after this request */
    /* bytes counted in server.buffered; bytes that could not be reserved; bytes reserved for the
     * second start */
    uint64_t held, missing, reserved;
    uint64_t began;    /* ns on the monotonic clock, for the log */
    bool whole_filter; /* the request is about a complete filter */
    bool restarted;    /* the job was started a second time */
    reply a;
};

bool jobs_open(struct server *s);
/* Waits for the jobs that run.  Returns false if some have not ended at `until` (ms). */
bool jobs_stop(struct server *s, uint64_t until);
void jobs_close(struct server *s);
bool jobs_hang(const struct server *s); /* True if Redis hangs. */
/* Queues the job under this name.  Returns false if it is too late or no thread can start. */
bool jobs_submit(struct server *s, job *j, text name);
/* True if Redis hangs for this request.  An open filter hangs only if its own jobs do. */
bool jobs_hang_for(struct server *s, const request *q);
/* Called once a second: refreshes the list of filters and records the fill. */
void jobs_refresh(struct server *s);

/* ---- job.c ---- */
/* Called by workers.  Starts a job for the request.  The job takes over the request's body, the
 * bytes counted for it, and *a, the reply so far.  NULL: *why has the reason. */
job *job_start(
    struct worker *w, struct conn *c, const request *q, reply *a, uint64_t began, const char **why);
/* Called by workers for a job that has ended.  If the job could not reserve enough memory and the
 * worker can, starts the job again and returns true.  Does that once per job. */
bool job_restart(struct worker *w, job *j);
bool job_keep_input(struct worker *w, job *j, const char *bytes, size_t len);
/* Moves the input out; the caller calls budget_release(input_cost()) and frees it. */
buffer job_input(job *j);
void job_abandon(job *j); /* Detaches the job from its connection, which was answered or closed. */
void job_free(job *j);    /* Called after the job has ended. */
void jobs_deliver(struct worker *w);
void jobs_drop_done(struct worker *w); /* Frees the jobs that ended after their worker. */
#endif
