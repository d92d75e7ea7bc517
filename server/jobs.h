/* jobs.h - requests that may take long: what waits for Redis, opens, makes or deletes a filter, or
 * is about a whole one.  Threads of their own do them, so that a worker, which is one thread for
 * thousands of connections, never waits.
 *
 *   worker --job_start--> turns (a queue for each name) --> a thread --> worker.done
 * --jobs_deliver--> the connection
 *
 * Jobs of one name are done one after the other, those of different names side by side: many who
 * look the same unknown name up ask Redis once at a time, and one name that takes long keeps one
 * thread.  A connection whose request is a job is WAITING: nothing is read from it until the reply
 * is there.
 *
 * While jobs of a server in Redis are under way another thread asks Redis something small every
 * BEAT ms (the probe).  If that stays unanswered for HANGS ms, Redis hangs: requests that wait are
 * answered 503, and new ones immediately, until Redis answers again.  Only the names whose filter
 * is open, on a connection that may still answer, are asked: their requests wait HANGS ms.  A
 * request about a whole filter may itself be what keeps Redis busy, and is waited for.
 *
 * What jobs hold counts in --max-buffered.  Only a worker can close clients that stand still, its
 * own: a job that finds no room comes back, having done nothing, and is begun once more where its
 * worker found some. */
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
    struct worker *w;            /* whose connection it is; NULL: nobody waits (a look)    */
    struct conn *c;              /* NULL: answered already, or gone; the worker's alone    */
    bool dropped;                /* atomic: need not be begun any more                     */
    bool done;                   /* its reply is there; the worker's alone                 */
    request q;                   /* points into text and body                              */
    buffer text, body, input;    /* input: what the client sent after this request         */
    uint64_t held, lacked, room; /* bytes: counted; that were not free; got for it since */
    uint64_t began;              /* ns, for the log */
    bool whole;                  /* about a whole filter                                   */
    bool again;                  /* begun once more already */
    reply a;
};

bool jobs_open(struct server *s);
/* False: some still run at `until` (ms). */
bool jobs_stop(struct server *s, uint64_t until);
void jobs_close(struct server *s);
bool jobs_hang(const struct server *s); /* does Redis?                                            */
/* For this request: a name that is open hangs only if its own jobs do. */
bool jobs_hang_for(struct server *s, const request *q);
void jobs_look(struct server *s); /* once a second: what is stored, and how full            */

/* The worker's side.  The job takes the body of the request at hand over, what is counted for it,
 * and how far the worker came with it (a); NULL: *why. */
job *job_start(
    struct worker *w, struct conn *c, const request *q, reply *a, uint64_t began, const char **why);
/* Was there too little room, as yet, for what the job makes?  True: the worker made some, and the
 * job is begun once more. */
bool job_again(struct worker *w, job *j);
bool job_keep_input(struct worker *w, job *j, const char *bytes, size_t len);
buffer job_input(job *j); /* gives it, counted by input_held() */
void job_leave(job *j);   /* its connection has no use for it any more              */
void job_free(job *j);    /* after it was delivered                                 */
void jobs_deliver(struct worker *w);
void jobs_forget(struct worker *w); /* after the worker's end                                 */
#endif
