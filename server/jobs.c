/* jobs.c - the threads that may wait, and a queue of jobs for each name: see jobs.h. */
#include "server.h"
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* At most MOST_NEW of the threads work for filters that are not open yet: new connections to Redis
 * may hang while Redis answers on the open ones. */
enum { THREADS_MAX = 64, MOST_NEW = 32, BUCKETS = 256 };
enum { HANGS = 500, BEAT = 50 }; /* ms */
enum { SMALL = 1024 };           /* bytes; smaller jobs are not counted in --max-buffered */

/* The jobs of one name; freed when the last one is done. */
typedef struct turn {
    struct turn *next, *next_ready; /* next in the hash table's bucket; next in `ready` */
    job *first, *last;
    size_t len;
    uint64_t since; /* ms: when its first job became the first */
    bool open;      /* was the filter open when the first job came?            */
    char name[NAME_BYTES + 1];
} turn;

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t more, less;   /* signalled when a job was queued; when a thread finished one */
    pthread_cond_t probe_wanted; /* signalled when a job was queued and `rests` is set */
    turn *buckets[BUCKETS], *ready[2], *last_ready[2]; /* ready[1]: names whose filter is open */
    pthread_t thread[THREADS_MAX], probe;
    worker self[THREADS_MAX];                       /* each thread's worker, without connections */
    unsigned threads, idle, busy, busy_new, nready; /* nready: turns in ready */
    bool stop, beats, rests;                        /* rests: the probe waits for a job */
    bool looking;                                   /* atomic: a jobs_look is queued or runs */
    uint64_t asked; /* atomic: ms when the probe was sent; 0 = answered */
    bool late;      /* atomic: the last probe took too long */
};

/* ---- turns ---- */
static turn **find_turn(pool *p, text name)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < name.len; i++) h = (h ^ (unsigned char)name.ptr[i]) * 16777619u;
    turn **at = &p->buckets[h % BUCKETS];
    while (*at && ((*at)->len != name.len || memcmp((*at)->name, name.ptr, name.len)))
        at = &(*at)->next;
    return at;
}

static void make_ready(pool *p, turn *t)
{
    t->next_ready = NULL;
    if (p->ready[t->open])
        p->last_ready[t->open]->next_ready = t;
    else
        p->ready[t->open] = t;
    p->last_ready[t->open] = t;
    p->nready++;
}

static turn **next_ready(pool *p)
{
    if (p->ready[true]) return &p->ready[true];
    return p->ready[false] && p->busy_new < MOST_NEW ? &p->ready[false] : NULL;
}

static void end_turn(pool *p, turn *t)
{
    if (t->first) {
        t->since = clock_ms();
        make_ready(p, t);
        return;
    }
    turn **at = find_turn(p, (text){ t->name, t->len });
    *at = t->next;
    free(t);
}

static bool queue(pool *p, job *j, text name, bool open)
{
    turn **at = find_turn(p, name), *t = *at;
    if (!t) {
        if (!(t = *at = calloc(1, sizeof *t))) return false;
        memcpy(t->name, name.ptr, name.len);
        t->len = name.len;
        t->since = clock_ms();
        t->open = open;
        make_ready(p, t);
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
static void look(worker *w)
{
    server *s = w->s;
    bf_state st = { 0 };
    bf_set_nowait(true); /* a locked filter must not delay the others */
    filters_refresh(&s->fs);
    served *f = filters_known(&s->fs, TEXT(""), false);
    int rc = f ? filter_state(f, &st, NULL) : -1;
    if (f) filters_done(f);
    bf_set_nowait(false);
    history_tick(&s->history, (double)(clock_ms() - s->started) / 1000, stats_requests(s),
        rc < 0 ? -1 : st.fill);
}

/* The worker takes the complete list, so only its first job must wake the worker. */
static void hand_back(job *j)
{
    const uint64_t one = 1;
    worker *w = j->w;
    job *before = __atomic_load_n(&w->done, __ATOMIC_RELAXED);
    do {
        j->next = before;
    } while (!__atomic_compare_exchange_n(
        &w->done, &before, j, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
    if (!before && write(w->wake, &one, sizeof one) < 0)
        return; /* the counter is at its limit, so the worker will wake up anyway */
}

/* If only hold_reply() finds no room, the job is not started again: the request was carried out. */
static void do_job(worker *w, job *j)
{
    if (!j->w) {
        look(w);
        __atomic_store_n(&w->s->pool->looking, false, __ATOMIC_RELEASE);
        free(j);
        return;
    }
    if (!__atomic_load_n(&j->dropped, __ATOMIC_ACQUIRE)) {
        w->room = j->room;
        w->lacked = 0;
        route_in_job(w, &j->q, &j->a);
        j->lacked = w->lacked;
        hold_reply(w, &j->a);
        unhold(w, w->room);
        w->room = j->room = 0;
    }
    hand_back(j);
}

static void *run_jobs(void *self)
{
    worker *w = self;
    pool *p = w->s->pool;
    pthread_mutex_lock(&p->lock);
    for (;;) {
        p->idle++;
        turn **first;
        while (!(first = next_ready(p)) && !p->stop) pthread_cond_wait(&p->more, &p->lock);
        p->idle--;
        if (p->stop) break;
        turn *t = *first;
        job *j = t->first;
        *first = t->next_ready;
        p->nready--;
        t->first = j->next;
        p->busy++;
        p->busy_new += !t->open;
        pthread_mutex_unlock(&p->lock);
        do_job(w, j);
        pthread_mutex_lock(&p->lock);
        p->busy--;
        p->busy_new -= !t->open;
        end_turn(p, t);
        if (p->nready) pthread_cond_signal(&p->more);
        pthread_cond_broadcast(&p->less);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* Starts a thread if fewer are idle than turns are queued, because a job may take minutes. */
static bool start_thread(pool *p, server *s)
{
    if (p->idle > p->nready || p->threads == THREADS_MAX) return true;
    worker *w = &p->self[p->threads];
    *w = (worker){ .s = s, .may_block = true, .decoded = malloc(s->o.max_url) };
    if (w->decoded && pthread_create(&p->thread[p->threads], NULL, run_jobs, w) == 0) {
        p->threads++;
        return true;
    }
    free(w->decoded);
    return p->threads > 0;
}

static bool submit(server *s, job *j, text name)
{
    pool *p = s->pool;
    const bool open = filters_has_open(&s->fs, name); /* of "?metrics" and the like: false */
    pthread_mutex_lock(&p->lock);
    const bool ok = !p->stop && start_thread(p, s) && queue(p, j, name, open);
    if (ok) pthread_cond_signal(&p->more);
    if (ok && p->rests) pthread_cond_signal(&p->probe_wanted);
    pthread_mutex_unlock(&p->lock);
    return ok;
}

/* ---- the probe ---- */
static bool ask(const server *s, bf_filter **f, bf_error *err)
{
    const text name = TEXT(DEFAULT_NAME);
    char *storage;
    if (*f) return bf_test(*f, "0", 1, err) >= 0; /* "0" is a key in every scheme */
    if (stored_at(&s->fs, name, &storage, err) < 0) return false;
    *f = stored_open(&s->fs, name, storage, err);
    free(storage);
    return *f != NULL;
}

static void nap(pool *p, pthread_cond_t *until)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_nsec += BEAT * 1000000L;
    if (t.tv_nsec >= 1000000000) {
        t.tv_nsec -= 1000000000;
        t.tv_sec++;
    }
    pthread_cond_timedwait(until, &p->lock, &t);
}

/* Any reply that comes in time shows that Redis answers, also an error.  A time-out does not,
 * however soon it is reported: after a first one the core reports more of them without asking
 * Redis. */
static void send_probe(server *s, bf_filter **f)
{
    pool *p = s->pool;
    const uint64_t began = clock_ms();
    __atomic_store_n(&p->asked, began, __ATOMIC_RELEASE);
    bf_error err = { 0 };
    if (!ask(s, f, &err)) {
        bf_close(*f);
        *f = NULL;
    }
    const bool late = clock_ms() - began >= HANGS || err.sys_errno == ETIMEDOUT;
    __atomic_store_n(&p->late, late, __ATOMIC_RELEASE);
    __atomic_store_n(&p->asked, 0, __ATOMIC_RELEASE);
}

/* The probe's thread.  Waits BEAT ms before each probe, so jobs that end sooner cause none. */
static void *beat(void *self)
{
    server *s = self;
    pool *p = s->pool;
    bf_filter *f = NULL;
    pthread_mutex_lock(&p->lock);
    while (!p->stop) {
        p->rests = !p->busy && !p->nready && !p->late;
        if (p->rests) {
            pthread_cond_wait(&p->probe_wanted, &p->lock);
            p->rests = false;
        }
        if (!p->stop) nap(p, &p->probe_wanted);
        if (p->stop || (!p->busy && !p->nready && !p->late)) continue;
        pthread_mutex_unlock(&p->lock);
        send_probe(s, &f);
        pthread_mutex_lock(&p->lock);
        pthread_cond_broadcast(&p->less);
    }
    pthread_mutex_unlock(&p->lock);
    bf_close(f);
    return NULL;
}

bool jobs_hang(const server *s)
{
    const pool *p = s->pool;
    const uint64_t asked = __atomic_load_n(&p->asked, __ATOMIC_ACQUIRE);
    return __atomic_load_n(&p->late, __ATOMIC_ACQUIRE) || (asked && clock_ms() - asked >= HANGS);
}

/* The probe may hang on a new connection while an open filter's connection is answered. */
bool jobs_hang_for(server *s, const request *q)
{
    char room[NAME_ROOM];
    const text name = route_turn(q, room);
    pool *p = s->pool;
    if (!jobs_hang(s)) return false;
    if (!filters_has_open(&s->fs, name)) return true;
    pthread_mutex_lock(&p->lock);
    const turn *t = *find_turn(p, name);
    const bool hangs = t && clock_ms() - t->since >= HANGS;
    pthread_mutex_unlock(&p->lock);
    return hangs;
}

/* ---- life ---- */
/* Monotonic, so that a change of the real-time clock does not prolong nap(). */
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
    init_cond(&p->more);
    init_cond(&p->less);
    init_cond(&p->probe_wanted);
    p->beats = s->fs.remote && pthread_create(&p->probe, NULL, beat, s) == 0;
    return p->beats || !s->fs.remote;
}

bool jobs_stop(server *s, uint64_t until)
{
    pool *p = s->pool;
    bool through = true;
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pthread_cond_broadcast(&p->more);
    pthread_cond_broadcast(&p->probe_wanted);
    while (
        (p->busy || __atomic_load_n(&p->asked, __ATOMIC_ACQUIRE)) && (through = clock_ms() < until))
        nap(p, &p->less);
    pthread_mutex_unlock(&p->lock);
    return through;
}

static void drop_turns(pool *p)
{
    for (size_t i = 0; i < BUCKETS; i++)
        for (turn *t = p->buckets[i], *next; t; t = next) {
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
    if (p->beats) pthread_join(p->probe, NULL);
    drop_turns(p);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->more);
    pthread_cond_destroy(&p->less);
    pthread_cond_destroy(&p->probe_wanted);
    free(p);
    s->pool = NULL;
}

/* Does nothing if the job of the last call has not ended. */
void jobs_look(server *s)
{
    pool *p = s->pool;
    if (s->fs.remote && jobs_hang(s)) return;
    if (__atomic_exchange_n(&p->looking, true, __ATOMIC_ACQUIRE)) return;
    job *j = calloc(1, sizeof *j);
    if (j && submit(s, j, TEXT("?look"))) return;
    __atomic_store_n(&p->looking, false, __ATOMIC_RELEASE);
    free(j);
}

/* ---- the worker's side ---- */
/* Copies what the request points to.  A body on the heap is not copied: take_body() moves it. */
static bool copy_request(job *j, const request *q, const buffer *body)
{
    const size_t target = q->target.len, type = q->type.len;
    if (!buffer_add(&j->text, q->target.ptr, target) || !buffer_add(&j->text, q->type.ptr, type))
        return false;
    if (!body->cap && q->body.len && !buffer_add(&j->body, q->body.ptr, q->body.len)) return false;
    const char *bytes = body->cap ? body->ptr : j->body.ptr;
    j->q = (request){ .method = q->method,
        .head = q->head,
        .keep_alive = q->keep_alive,
        .old = q->old,
        .target = { j->text.ptr, target },
        .path = { j->text.ptr + (q->path.ptr - q->target.ptr), q->path.len },
        .type = { j->text.ptr + target, type },
        .body = { bytes ? bytes : "", q->body.len } };
    return true;
}

static void take_body(job *j, request_in *x)
{
    if (!x->body.cap) return;
    j->body = x->body;
    j->held += x->body.cap;
    x->held -= x->body.cap;
    x->body = (buffer){ 0 };
}

job *job_start(worker *w, conn *c, const request *q, reply *a, uint64_t began, const char **why)
{
    request_in *x = &w->asked;
    char name[NAME_ROOM];
    job *j = calloc(1, sizeof *j);
    *why = "out of memory";
    if (!j || !copy_request(j, q, &x->body)) goto fail;
    j->w = w;
    j->c = c;
    j->began = began;
    j->whole = route_is_whole(&j->q);
    const uint64_t copied = (j->text.cap > SMALL ? j->text.cap : 0) + j->body.cap;
    if (!hold(w, copied)) {
        *why = HELD_FULL;
        goto fail;
    }
    j->held = copied;
    take_body(j, x);
    j->a = *a;
    j->a.defer = false;
    *a = (reply){ 0 };
    if (submit(w->s, j, route_turn(&j->q, name))) return j;
fail:
    if (j) job_free(j);
    return NULL;
}

bool job_again(worker *w, job *j)
{
    char name[NAME_ROOM];
    const uint64_t lacked = j->lacked;
    j->lacked = 0;
    if (!lacked || j->again || !hold_beside(w, lacked, j->held)) return false;
    unhold(w, j->a.held);
    buffer_drop(&j->a.made);
    j->a = (reply){ 0 };
    j->room = lacked;
    j->again = true;
    j->done = false;
    if (submit(w->s, j, route_turn(&j->q, name))) return true;
    j->done = true;
    reply_status(&j->a, 503, HELD_FULL);
    return false;
}

/* Called once per job, because nothing is read from a waiting connection. */
bool job_keep_input(worker *w, job *j, const char *bytes, size_t len)
{
    if (!hold(w, len + INPUT_MORE)) return false;
    if (buffer_add(&j->input, bytes, len)) return true;
    unhold(w, len + INPUT_MORE);
    return false;
}

buffer job_input(job *j)
{
    const buffer input = j->input;
    j->input = (buffer){ 0 };
    return input;
}

void job_leave(job *j)
{
    j->c = NULL;
    __atomic_store_n(&j->dropped, true, __ATOMIC_RELEASE);
}

void job_free(job *j)
{
    if (j->w) unhold(j->w, j->held + j->room + j->a.held + input_held(&j->input));
    buffer_drop(&j->text);
    buffer_drop(&j->body);
    buffer_drop(&j->input);
    buffer_drop(&j->a.made);
    free(j);
}

void jobs_deliver(worker *w)
{
    job *j = __atomic_exchange_n(&w->done, NULL, __ATOMIC_ACQUIRE);
    for (job *next; j; j = next) {
        next = j->next;
        if (j->c) {
            j->done = true;
            conn_answered(w, j->c);
        } else
            job_free(j);
    }
}

void jobs_forget(worker *w)
{
    for (job *j = w->done, *next; j; j = next) {
        next = j->next;
        job_free(j);
    }
    w->done = NULL;
}
