/* jobs.c - the threads that may wait, and a queue of jobs for each name: see jobs.h. */
#include "resp.h"
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* At most UNOPENED_MAX threads work for filters that are not open, because new connections to Redis
 * may hang while open connections work. */
enum { THREADS_MAX = 64, UNOPENED_MAX = 32, BUCKETS = 256 };
enum { HANG_MS = 500, PROBE_MS = 50 }; /* ms */

/* The jobs of one name, which run one after the other.  Freed with the last job. */
typedef struct name_queue {
    struct name_queue *next;       /* in the same bucket of the hash table */
    struct name_queue *next_ready; /* in the list `ready` */
    job *first, *last;             /* jobs that have not begun */
    size_t len;                    /* length of the name */
    uint64_t since;                /* ms: when the job that runs, or runs next, became the first */
    bool open;                     /* the filter was open when the queue was created */
    char name[NAME_BYTES + 1];
} name_queue;

/* `lock` protects all members that are not atomic. */
struct pool {
    pthread_mutex_t lock;
    /* job_queued: a job was queued.  job_ended: a job ended or the probe was answered.
     * probe_wanted: a job was queued while probe_sleeps is set, or the pool stops */
    pthread_cond_t job_queued, job_ended, probe_wanted;
    /* ready: queues whose first job can begin; [1]: of open filters, [0]: others */
    name_queue *buckets[BUCKETS], *ready[2], *last_ready[2];
    pthread_t thread[THREADS_MAX], probe;
    worker self[THREADS_MAX]; /* the worker structure of each thread, without connections */
    unsigned threads, idle, busy, busy_unopened;
    unsigned ready_count;               /* number of queues in both lists `ready` */
    bool stop, has_probe, probe_sleeps; /* probe_sleeps: the probe's thread waits for a job */
    bool refreshing;                    /* atomic: a refresh is queued or runs */
    uint64_t probe_sent; /* atomic: ms when the probe was sent; 0: no probe is pending */
    bool probe_late;     /* atomic: the last probe took HANG_MS or timed out */
};

/* ---- queues ---- */
static name_queue **find_queue(pool *p, text name)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < name.len; i++) h = (h ^ (unsigned char)name.ptr[i]) * 16777619u;
    name_queue **at = &p->buckets[h % BUCKETS];
    while (*at && ((*at)->len != name.len || memcmp((*at)->name, name.ptr, name.len)))
        at = &(*at)->next;
    return at;
}

static void add_ready(pool *p, name_queue *t)
{
    t->next_ready = NULL;
    if (p->ready[t->open])
        p->last_ready[t->open]->next_ready = t;
    else
        p->ready[t->open] = t;
    p->last_ready[t->open] = t;
    p->ready_count++;
}

static name_queue **next_ready(pool *p)
{
    if (p->ready[true]) return &p->ready[true];
    return p->ready[false] && p->busy_unopened < UNOPENED_MAX ? &p->ready[false] : NULL;
}

static void finish_queue(pool *p, name_queue *t)
{
    if (t->first) {
        t->since = clock_ms();
        add_ready(p, t);
        return;
    }
    name_queue **at = find_queue(p, (text){ t->name, t->len });
    *at = t->next;
    free(t);
}

static bool queue(pool *p, job *j, text name, bool open)
{
    name_queue **at = find_queue(p, name), *t = *at;
    if (!t) {
        if (!(t = *at = calloc(1, sizeof *t))) return false;
        memcpy(t->name, name.ptr, name.len);
        t->len = name.len;
        t->since = clock_ms();
        t->open = open;
        add_ready(p, t);
    }
    j->next = NULL;
    if (t->first)
        t->last->next = j;
    else
        t->first = j;
    t->last = j;
    return true;
}

/* ---- threads ---- */
static void refresh(worker *w)
{
    server *s = w->s;
    bf_state st = { 0 };
    bf_set_nowait(true); /* a locked filter must not delay the others */
    filters_refresh(&s->fs);
    loads_expire(s, false);
    served *f = filters_get_open(&s->fs, TEXT(""), false);
    int rc = f ? filter_state(f, &st, NULL) : -1;
    if (f) filters_release(f);
    bf_set_nowait(false);
    history_tick(&s->history, (double)(clock_ms() - s->started) / 1000, stats_requests(s),
        rc < 0 ? -1 : st.fill);
}

/* Returns a job to its worker.  A worker takes all ended jobs in one step, so only the first of
 * these jobs must wake the worker. */
static void return_job(job *j)
{
    worker *w = j->w;
    job *before = __atomic_load_n(&w->done, __ATOMIC_RELAXED);
    do {
        j->next = before;
    } while (!__atomic_compare_exchange_n(
        &w->done, &before, j, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
    if (!before) events_wake(w);
}

/* Runs a job and returns it to its worker.  j->missing > 0 makes the worker free memory and start
 * the job again.  Sets j->missing before budget_reply(), because that call follows a request that
 * was carried out, which must not be repeated. */
static void run_job(worker *w, job *j)
{
    if (!j->w) {
        refresh(w);
        __atomic_store_n(&w->s->pool->refreshing, false, __ATOMIC_RELEASE);
        free(j);
        return;
    }
    if (job_claim(j)) {
        bf_set_deadline(j->until);
        w->reserved = j->reserved;
        w->missing = 0;
        if (clock_ms() < j->until)
            route_in_job(w, &j->q, &j->a);
        else
            reply_status(&j->a, 503, NOT_BEGUN);
        j->missing = w->missing;
        budget_reply(w, &j->a);
        budget_release(w, w->reserved);
        w->reserved = j->reserved = 0;
    }
    return_job(j);
}

static void *run_jobs(void *self)
{
    worker *w = self;
    pool *p = w->s->pool;
    pthread_mutex_lock(&p->lock);
    for (;;) {
        p->idle++;
        name_queue **first;
        while (!(first = next_ready(p)) && !p->stop) pthread_cond_wait(&p->job_queued, &p->lock);
        p->idle--;
        if (p->stop) break;
        name_queue *t = *first;
        job *j = t->first;
        *first = t->next_ready;
        p->ready_count--;
        t->first = j->next;
        p->busy++;
        p->busy_unopened += !t->open;
        pthread_mutex_unlock(&p->lock);
        run_job(w, j);
        pthread_mutex_lock(&p->lock);
        p->busy--;
        p->busy_unopened -= !t->open;
        finish_queue(p, t);
        if (p->ready_count) pthread_cond_signal(&p->job_queued);
        pthread_cond_broadcast(&p->job_ended);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* Starts a thread unless an idle one is left for a new job, because running jobs may take minutes.
 * Returns false if there is no thread. */
static bool start_thread(pool *p, server *s)
{
    if (p->idle > p->ready_count || p->threads == THREADS_MAX) return true;
    worker *w = &p->self[p->threads];
    *w = (worker){ .s = s, .may_block = true, .decoded = malloc(s->o.max_url) };
    if (w->decoded && pthread_create(&p->thread[p->threads], NULL, run_jobs, w) == 0) {
        p->threads++;
        return true;
    }
    free(w->decoded);
    return p->threads > 0;
}

/* True if the filter of this queue is open.  False for "?metrics" and other queues without one. */
static bool has_open_filter(server *s, text name)
{
    return filters_has_open(&s->fs, text_is(name, TEXT("?healthz")) ? TEXT(DEFAULT_NAME) : name);
}

bool jobs_submit(server *s, job *j, text name)
{
    pool *p = s->pool;
    const bool open = has_open_filter(s, name);
    pthread_mutex_lock(&p->lock);
    const bool ok = !p->stop && start_thread(p, s) && queue(p, j, name, open);
    if (ok) pthread_cond_signal(&p->job_queued);
    if (ok && p->probe_sleeps) pthread_cond_signal(&p->probe_wanted);
    pthread_mutex_unlock(&p->lock);
    return ok;
}

/* ---- the probe ---- */
static bool probe_redis(const server *s, bf_filter **f, bf_error *err)
{
    const text name = TEXT(DEFAULT_NAME);
    char *storage;
    if (*f) return bf_test(*f, "0", 1, err) >= 0; /* every scheme accepts the key "0" */
    if (stored_at(&s->fs, name, &storage, err) < 0) return false;
    *f = stored_open(&s->fs, name, storage, NULL, err);
    free(storage);
    return *f != NULL;
}

static void wait_short(pool *p, pthread_cond_t *until)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_nsec += PROBE_MS * 1000000L;
    if (t.tv_nsec >= 1000000000) {
        t.tv_nsec -= 1000000000;
        t.tv_sec++;
    }
    pthread_cond_timedwait(until, &p->lock, &t);
}

/* Sends Redis a command and measures the time.  While jobs wait for a new connection, the probe
 * opens one, too, because new connections may hang while open ones work.  Any reply in time, even
 * an error, shows that Redis works.  A time-out shows that Redis hangs, even if it is reported
 * early: after a first time-out the core reports further time-outs for a while without sending
 * anything. */
static void send_probe(server *s, bf_filter **f, bool reconnect)
{
    pool *p = s->pool;
    if (reconnect) {
        bf_close(*f);
        *f = NULL;
    }
    const uint64_t began = clock_ms();
    __atomic_store_n(&p->probe_sent, began, __ATOMIC_RELEASE);
    bf_error err = { 0 };
    if (!probe_redis(s, f, &err)) {
        bf_close(*f);
        *f = NULL;
    }
    const bool probe_late = clock_ms() - began >= HANG_MS || err.sys_errno == ETIMEDOUT;
    __atomic_store_n(&p->probe_late, probe_late, __ATOMIC_RELEASE);
    __atomic_store_n(&p->probe_sent, 0, __ATOMIC_RELEASE);
}

/* The probe's thread.  Waits PROBE_MS before each probe, so short jobs cause no probe. */
static void *run_probe(void *self)
{
    server *s = self;
    pool *p = s->pool;
    bf_filter *f = NULL;
    pthread_mutex_lock(&p->lock);
    while (!p->stop) {
        p->probe_sleeps = !p->busy && !p->ready_count && !p->probe_late;
        if (p->probe_sleeps) {
            pthread_cond_wait(&p->probe_wanted, &p->lock);
            p->probe_sleeps = false;
        }
        if (!p->stop) wait_short(p, &p->probe_wanted);
        if (p->stop || (!p->busy && !p->ready_count && !p->probe_late)) continue;
        const bool reconnect = p->busy_unopened || p->ready[false];
        pthread_mutex_unlock(&p->lock);
        send_probe(s, &f, reconnect);
        pthread_mutex_lock(&p->lock);
        pthread_cond_broadcast(&p->job_ended);
    }
    pthread_mutex_unlock(&p->lock);
    bf_close(f);
    return NULL;
}

bool jobs_hang(const server *s)
{
    const pool *p = s->pool;
    const uint64_t probe_sent = __atomic_load_n(&p->probe_sent, __ATOMIC_ACQUIRE);
    return __atomic_load_n(&p->probe_late, __ATOMIC_ACQUIRE) ||
           (probe_sent && clock_ms() - probe_sent >= HANG_MS);
}

/* An open filter has its own connection, so it hangs only if one of its jobs takes HANG_MS. */
bool jobs_hang_for(server *s, const request *q)
{
    char room[NAME_ROOM];
    const text name = route_queue(q, room);
    pool *p = s->pool;
    if (!jobs_hang(s)) return false;
    if (!has_open_filter(s, name)) return true;
    pthread_mutex_lock(&p->lock);
    const name_queue *t = *find_queue(p, name);
    const bool hangs = t && clock_ms() - t->since >= HANG_MS;
    pthread_mutex_unlock(&p->lock);
    return hangs;
}

/* ---- life ---- */
/* Uses the monotonic clock, because setting the real-time clock would change wait_short(). */
static void init_cond(pthread_cond_t *c)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(c, &attr);
    pthread_condattr_destroy(&attr);
}

bool jobs_open(server *s)
{
    pool *p = s->pool = calloc(1, sizeof *p);
    if (!p) return false;
    pthread_mutex_init(&p->lock, NULL);
    init_cond(&p->job_queued);
    init_cond(&p->job_ended);
    init_cond(&p->probe_wanted);
    p->has_probe = s->fs.remote && pthread_create(&p->probe, NULL, run_probe, s) == 0;
    return p->has_probe || !s->fs.remote;
}

bool jobs_stop(server *s, uint64_t until)
{
    pool *p = s->pool;
    bool ended = true;
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pthread_cond_broadcast(&p->job_queued);
    pthread_cond_broadcast(&p->probe_wanted);
    while ((p->busy || __atomic_load_n(&p->probe_sent, __ATOMIC_ACQUIRE)) &&
           (ended = clock_ms() < until))
        wait_short(p, &p->job_ended);
    pthread_mutex_unlock(&p->lock);
    return ended;
}

static void free_queues(pool *p)
{
    for (size_t i = 0; i < BUCKETS; i++)
        for (name_queue *t = p->buckets[i], *next; t; t = next) {
            next = t->next;
            for (job *j; (j = t->first);) {
                t->first = j->next;
                job_free(j);
            }
            free(t);
        }
}

void jobs_close(server *s)
{
    pool *p = s->pool;
    if (!p) return;
    for (unsigned i = 0; i < p->threads; i++) {
        pthread_join(p->thread[i], NULL);
        free(p->self[i].decoded);
    }
    if (p->has_probe) pthread_join(p->probe, NULL);
    free_queues(p);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->job_queued);
    pthread_cond_destroy(&p->job_ended);
    pthread_cond_destroy(&p->probe_wanted);
    free(p);
    s->pool = NULL;
}

/* Queues a job that calls refresh().  Does nothing if the previous job has not ended or Redis
 * hangs. */
void jobs_refresh(server *s)
{
    pool *p = s->pool;
    if (s->fs.remote && jobs_hang(s)) return;
    if (__atomic_exchange_n(&p->refreshing, true, __ATOMIC_ACQUIRE)) return;
    job *j = calloc(1, sizeof *j);
    if (j && jobs_submit(s, j, TEXT("?refresh"))) return;
    __atomic_store_n(&p->refreshing, false, __ATOMIC_RELEASE);
    free(j);
}
