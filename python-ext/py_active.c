/* py_active.c - counts the active calls of a filter in `users`, also after a fork; the handle may
 * be replaced only if no call is active.
 *
 * A forked child has one thread, the thread that forked, but `users` still counts the calls of the
 * parent's other threads. So each thread has a list of the filters that it has entered. The first
 * call on a filter after a fork computes `users` from the list of the child's thread.
 *
 * The core counts active calls, too, but only of filters that run code of the host (a clock, a
 * client): to refuse calls of the host's code on the same filter (BF_EBUSY). */
#include "py_bloomfilter.h"

#include <pthread.h>
#include <time.h>

/* length of a thread's list; if the thread has entered more filters, close() may fail in a forked
 * child */
enum { ENTERED_MOST = 64 };
typedef struct {
    size_t n; /* number of filters entered; may be larger than ENTERED_MOST */
    const FilterObject *at[ENTERED_MOST];
} entered;

static _Thread_local entered mine;
static entered of_parent; /* the filters that the forking thread had entered */
static unsigned forks;
static pthread_once_t once = PTHREAD_ONCE_INIT;
enum { REPAIRING = -1 }; /* value of FilterObject.forks while a thread corrects `users` */

__attribute__((unused)) static void in_child(void) /* unused on Windows */
{
    of_parent = mine;
    forks++;
}
static void watch_forks(void) { pthread_atfork(NULL, NULL, in_child); }
void inside_begin(void) { pthread_once(&once, watch_forks); }

int fork_count(void) { return (int)(forks & INT_MAX); }

static Py_ssize_t entered_by(const entered *e, const FilterObject *f)
{
    /* the calls that are not in the list may be calls of f, so all of them are counted */
    Py_ssize_t count = e->n > ENTERED_MOST ? (Py_ssize_t)(e->n - ENTERED_MOST) : 0;
    for (size_t i = 0; i < e->n && i < ENTERED_MOST; i++) count += e->at[i] == f;
    return count;
}

static void remember(const FilterObject *f)
{
    if (mine.n < ENTERED_MOST) mine.at[mine.n] = f;
    mine.n++;
}

/* Removes f from the list. Greenlets may leave in any order. */
static void forget(const FilterObject *f)
{
    size_t last = mine.n < ENTERED_MOST ? mine.n : ENTERED_MOST, i = last;
    while (i > 0 && mine.at[i - 1] != f) i--;
    if (i > 0 && mine.n <= ENTERED_MOST) mine.at[i - 1] = mine.at[last - 1];
    mine.n--;
}

/* Corrects `users` in the first call after a fork. */
static __attribute__((noinline)) void after_fork(FilterObject *self, int now)
{
    int was = __atomic_load_n(&self->forks, __ATOMIC_ACQUIRE);
    if (was != now && was != REPAIRING &&
        __atomic_compare_exchange_n(
            &self->forks, &was, REPAIRING, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        __atomic_store_n(&self->users, entered_by(&of_parent, self), __ATOMIC_SEQ_CST);
        if (!NO_GIL && self->users == 0 && self->unlocked) {
            self->unlocked = 0;
            if (self->bf) bf_set_threads(self->bf, false);
        }
        __atomic_store_n(&self->forks, now, __ATOMIC_RELEASE);
    }
    while (__atomic_load_n(&self->forks, __ATOMIC_ACQUIRE) == REPAIRING) sched_yield();
}

static inline void heed_forks(FilterObject *self)
{
    int now = fork_count();
    if (__builtin_expect(__atomic_load_n(&self->forks, __ATOMIC_ACQUIRE) != now, 0))
        after_fork(self, now);
}

#if NO_GIL
/* While a thread replaces the handle, `users` is far below 0, and calls wait in filter_count_in.
 * While a thread waits to replace the handle, `wanted` is bf_process(), and new calls wait, too;
 * if they did not, a sequence of short calls could make that thread wait forever. In a forked
 * child, `wanted` may be the number of the parent, which has no effect. */
#define REPLACING (PY_SSIZE_T_MIN / 2)
enum { REPLACE_TRIES = 1000 };

static void pause_thread(void)
{
    struct timespec shortly = { 0, 20000 };
    PyThreadState *ts = PyEval_SaveThread();
    nanosleep(&shortly, NULL);
    PyEval_RestoreThread(ts);
}

static bool try_count_in(FilterObject *self)
{
    int wanted = __atomic_load_n(&self->wanted, __ATOMIC_RELAXED);
    heed_forks(self);
    if (__builtin_expect(wanted != 0, 0) && wanted == bf_process()) return false;
    if (__atomic_fetch_add(&self->users, 1, __ATOMIC_SEQ_CST) >= 0) return true;
    __atomic_fetch_sub(&self->users, 1, __ATOMIC_SEQ_CST);
    return false;
}

bf_filter *filter_count_in(FilterObject *self)
{
    while (!try_count_in(self)) pause_thread();
    if (self->bf) return self->bf;
    filter_count_out(self);
    return raise_closed();
}

void filter_count_out(FilterObject *self)
{
    heed_forks(self);
    __atomic_fetch_sub(&self->users, 1, __ATOMIC_SEQ_CST);
}

bool replace_begin(FilterObject *self)
{
    bool alone = false;
    heed_forks(self);
    /* the number of tries is limited, because a batch may take long */
    for (int i = 0; !alone && i < REPLACE_TRIES; i++) {
        Py_ssize_t none = 0;
        __atomic_store_n(&self->wanted, bf_process(), __ATOMIC_RELAXED);
        alone = __atomic_compare_exchange_n(
            &self->users, &none, REPLACING, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
        if (!alone) pause_thread();
    }
    __atomic_store_n(&self->wanted, 0, __ATOMIC_RELAXED);
    return alone;
}
void replace_end(FilterObject *self)
{
    __atomic_fetch_sub(&self->users, REPLACING, __ATOMIC_SEQ_CST);
}

#else
bf_filter *filter_count_in(FilterObject *self)
{
    plain_share(self);
    if (!self->bf) return raise_closed();
    heed_forks(self);
    self->users++;
    return self->bf;
}

void filter_count_out(FilterObject *self)
{
    heed_forks(self);
    self->users--;
}

bool replace_begin(FilterObject *self)
{
    heed_forks(self);
    return self->users == 0;
}
void replace_end(FilterObject *self) { (void)self; }
#endif

void filter_count_waiting(FilterObject *self)
{
    heed_forks(self);
    self->users++;
}

bf_filter *filter_enter(FilterObject *self)
{
    bf_filter *bf = filter_count_in(self);
    if (bf) remember(self);
    return bf;
}

void filter_leave(FilterObject *self)
{
    forget(self);
    filter_count_out(self);
}
