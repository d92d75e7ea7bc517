/* jobs.h - requests that may wait: for Redis, for a lock, for a disk, or because they open, create,
 * delete, send or receive a complete filter.  A pool of threads processes these requests, because a
 * worker serves thousands of connections and must never wait.
 *
 *   worker --job_start--> queue of the name --> thread --> worker.done --jobs_deliver--> worker
 *
 * Jobs of one name run one after the other, jobs of different names in parallel.  So a slow filter
 * occupies only one thread.  While a job runs, the worker does not read from its connection.
 *
 * If the filters are in Redis, a further thread sends Redis a small command every PROBE_MS ms while
 * jobs exist (the probe).  If Redis does not reply within HANG_MS ms, Redis hangs: waiting and new
 * requests get 503 until Redis replies again.  There are two exceptions.  An open filter has its
 * own connection: its requests get 503 only if one of its jobs also takes HANG_MS ms.  A request
 * about a complete filter may keep Redis busy itself: it waits until the time-out of the URL.
 *
 * The memory of jobs counts in --max-buffered.  Only a worker can close idle clients to free
 * memory.  So a job that cannot reserve enough returns to its worker unchanged.  If the worker can
 * free the memory, it starts the job a second time. */
#ifndef BFD_JOBS_H
#define BFD_JOBS_H
#include "http.h"

#define NOT_BEGUN "other requests took all of --deadline: this one was not begun"

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
    /* atomic: a thread has begun the job, or the connection was answered or closed.  Whoever sets
     * it first decides: see job_claim() */
    bool claimed;
    bool done;                /* the reply is complete.  Used by the worker only */
    request q;                /* points into text and body */
    buffer text, body, input; /* input: bytes that the client sent after this request */
    uint64_t held;            /* bytes counted in server.buffered */
    uint64_t missing;         /* bytes that the job failed to reserve; 0: none */
    uint64_t reserved;        /* bytes reserved for the second start */
    uint64_t began;           /* ns on the monotonic clock, for the log */
    uint64_t until;           /* ms: until then it must begin, and locks must be free */
    bool whole_filter;        /* the request is about a complete filter */
    bool restarted;           /* the job was started a second time */
    reply a;
};

bool jobs_open(struct server *s);
/* Waits for the jobs that run.  Returns false if some have not ended at `until` (ms). */
bool jobs_stop(struct server *s, uint64_t until);
void jobs_close(struct server *s);
bool jobs_hang(const struct server *s); /* True if Redis hangs. */
/* Queues the job under this name.  Returns false after jobs_stop() or without memory or threads. */
bool jobs_submit(struct server *s, job *j, text name);
/* True if Redis hangs for this request; see the exceptions above. */
bool jobs_hang_for(struct server *s, const request *q);
/* Called once a second: refreshes the list of filters and records the fill. */
void jobs_refresh(struct server *s);

/* ---- job.c ---- */
/* Called by workers.  Starts a job for the request.  The job takes over the request's body, the
 * bytes reserved for the body, and *a, the reply so far.  NULL: *why has the reason. */
job *job_start(
    struct worker *w, struct conn *c, const request *q, reply *a, uint64_t began, const char **why);
/* Called by workers for a job that has ended.  Returns true if the job was started again: it could
 * not reserve enough memory, and the worker could.  A job is restarted at most once. */
bool job_restart(struct worker *w, job *j);
/* Stores input that arrived after the request.  Called at most once per job, because the worker
 * does not read while the job runs.  Returns false if memory or --max-buffered does not suffice. */
bool job_keep_input(struct worker *w, job *j, const char *bytes, size_t len);
/* Returns the stored input.  The caller frees it and calls budget_release(input_cost()). */
buffer job_input(job *j);
/* Returns true for the first caller: a thread that will run the job, or a worker that will not let
 * it begin. */
static inline bool job_claim(job *j)
{
    return !__atomic_exchange_n(&j->claimed, true, __ATOMIC_ACQ_REL);
}
void job_abandon(job *j); /* Called when the connection was answered or closed. */
void job_free(job *j);    /* Called after the job has ended. */
void jobs_deliver(struct worker *w);
void jobs_drop_done(struct worker *w); /* Frees the jobs that ended after their worker. */
#endif
