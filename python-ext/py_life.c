/* py_life.c - the life of a filter object: who is inside, when the GIL goes, closing, replacing, disk.
 * The only file that touches users, unlocked and the handle's place; knows nothing of keys. */
#include "py_bloomfilter.h"

#include <time.h>
#include <unistd.h>

/* The state of the thread that is in the core without the GIL: a client object needs it to come back to Python. */
static _Thread_local PyThreadState *outside;

PyThreadState *gil_out(void) { return outside = PyEval_SaveThread(); }
void gil_back(PyThreadState *ts)
{
    outside = NULL;
    PyEval_RestoreThread(ts);
}
PyThreadState *gil_enter(void)
{
    PyThreadState *ts = outside;
    if (ts) gil_back(ts);
    return ts;
}
void gil_leave(PyThreadState *ts) { if (ts) gil_out(); }

static bool busy(const FilterObject *self)
{
    if (!redis_client_busy(self->client)) return false;
    PyErr_SetString(state_of(Py_TYPE((PyObject *)self))->error,
                    "the filter waits for its Redis client in this very thread: a signal handler or the client's own code cannot use it now");
    return true;
}

#if NO_GIL
/* `users` far below 0 means: the handle is being replaced, come again.  Who wants to replace it puts his pid into `wanted`,
 * and nobody enters until he has done it or given up: otherwise there might always be somebody inside for a moment.  A
 * process that forked meanwhile finds another's pid there and does not wait. */
#define REPLACING (PY_SSIZE_T_MIN / 2)
enum { REPLACE_TRIES = 1000 };

static void pause_thread(void)
{
    struct timespec shortly = { 0, 20000 };
    PyThreadState *ts = PyEval_SaveThread();
    nanosleep(&shortly, NULL);
    PyEval_RestoreThread(ts);
}

static bool come_in(FilterObject *self)
{
    int wanted = __atomic_load_n(&self->wanted, __ATOMIC_RELAXED);
    if (__builtin_expect(wanted != 0, 0) && wanted == (int)getpid()) return false;
    if (__atomic_fetch_add(&self->users, 1, __ATOMIC_SEQ_CST) >= 0) return true;
    __atomic_fetch_sub(&self->users, 1, __ATOMIC_SEQ_CST);
    return false;
}

bf_filter *filter_enter(FilterObject *self)
{
    while (!come_in(self)) pause_thread();
    if (self->bf && !busy(self)) return self->bf;
    filter_leave(self);
    return PyErr_Occurred() ? NULL : raise_closed();
}
void filter_leave(FilterObject *self) { __atomic_fetch_sub(&self->users, 1, __ATOMIC_SEQ_CST); }

static bool replace_begin(FilterObject *self)
{
    bool alone = false;
    /* A call on one key is over at once; a batch is not, so the wait ends. */
    for (int i = 0; !alone && i < REPLACE_TRIES; i++) {
        Py_ssize_t none = 0;
        __atomic_store_n(&self->wanted, (int)getpid(), __ATOMIC_RELAXED);
        alone = __atomic_compare_exchange_n(&self->users, &none, REPLACING, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
        if (!alone) pause_thread();
    }
    __atomic_store_n(&self->wanted, 0, __ATOMIC_RELAXED);
    return alone;
}
static void replace_end(FilterObject *self) { __atomic_fetch_sub(&self->users, REPLACING, __ATOMIC_SEQ_CST); }

#else
bf_filter *filter_enter(FilterObject *self)
{
    solo_share(self);
    if (!self->bf) return raise_closed();
    if (busy(self)) return NULL;
    self->users++;
    return self->bf;
}
void filter_leave(FilterObject *self) { self->users--; }
static bool replace_begin(FilterObject *self) { return self->users == 0; }
static void replace_end(FilterObject *self) { (void)self; }
#endif

static void unlocked_add(FilterObject *self, int step)
{
    if (NO_GIL || !self) return;
    Py_ssize_t before = self->unlocked;
    self->unlocked += step;
    if (before == 0 || self->unlocked == 0) bf_set_threads(self->bf, self->unlocked != 0);
}

PyThreadState *gil_release(FilterObject *a, FilterObject *b)
{
    if ((a && a->clock) || (b && b->clock)) return NULL;
    unlocked_add(a, 1);
    unlocked_add(b, 1);
    return gil_out();
}

void gil_take(PyThreadState *ts, FilterObject *a, FilterObject *b)
{
    if (!ts) return;
    gil_back(ts);
    unlocked_add(a, -1);
    unlocked_add(b, -1);
}

/* ---- one thread alone in the plain kernels ----
 *
 *   NOBODY --solo_release--> ALONE --solo_take--> LEAVING --GIL taken--> NOBODY
 *                              |                     |
 *                       someone comes         someone comes: there is nothing to wait for
 *                              v
 *                            ASKED --solo_yield, solo_take: atomic kernels from here on--> NOBODY
 *
 * Only the thread itself leaves ALONE and ASKED for another state but that of being asked; who asks holds the GIL and
 * waits.  The thread counts in `unlocked` all the time, so kernels stay atomic until it and all others are out. */
enum { NOBODY, ALONE, ASKED, LEAVING };

static int solo_state(FilterObject *self) { return __atomic_load_n(&self->solo, __ATOMIC_ACQUIRE); }
static void solo_set(FilterObject *self, int state) { __atomic_store_n(&self->solo, state, __ATOMIC_RELEASE); }
static bool solo_swap(FilterObject *self, int from, int to)
{
    return __atomic_compare_exchange_n(&self->solo, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

PyThreadState *solo_release(FilterObject *self)
{
    if (NO_GIL || self->users != 1 || self->unlocked != 0 || self->remote) return gil_release(self, NULL);
    self->unlocked = 1;
    self->solo_pid = (int)getpid();
    solo_set(self, ALONE);
    return PyEval_SaveThread();
}

void solo_yield(FilterObject *self)
{
    if (__builtin_expect(solo_state(self) != ASKED, 1)) return;
    bf_set_threads(self->bf, true);
    solo_set(self, NOBODY);
}

void solo_take(PyThreadState *ts, FilterObject *self)
{
    if (!ts) return;
    if (!solo_swap(self, ALONE, LEAVING)) solo_yield(self);
    gil_back(ts);
    if (solo_state(self) == LEAVING) solo_set(self, NOBODY);
    unlocked_add(self, -1);
}

/* With the GIL: returns when nobody is in the plain kernels.  A thread that was not in the process when it forked never
 * answers; nor does one that waits for the GIL have to. */
void solo_end(FilterObject *self)
{
    struct timespec shortly = { 0, 10000 };
    bool there = self->solo_pid == (int)getpid();
    while (there && (solo_swap(self, ALONE, ASKED) || solo_state(self) == ASKED)) nanosleep(&shortly, NULL);
    if (solo_state(self) == NOBODY) return;
    bf_set_threads(self->bf, true);
    solo_set(self, NOBODY);
}

PyThreadState *gil_release_if_big(FilterObject *a, FilterObject *b)
{
    enum { BIG = 1 << 20 };      /* a bitmap that takes some 0.1 ms */
    bf_info info;
    bf_get_info(a->bf, &info);
    if (a->remote || (b && b->remote)) return gil_release(a, b);
    return info.bitset_bytes < BIG ? NULL : gil_release(a, b);
}

static bool is_remote(const bf_filter *bf)
{
    bf_info info;
    if (!bf) return false;
    bf_get_info(bf, &info);
    return strcmp(info.home, "redis") == 0;
}

/* NaN where it raised: the core gives up, and the exception stands. */
double clock_ask(void *callable)
{
    PyObject *now = PyObject_CallNoArgs(callable);
    const PyNumberMethods *number = now ? Py_TYPE(now)->tp_as_number : NULL;
    double seconds = Py_NAN;
    if (number && (number->nb_float || number->nb_index)) {
        seconds = PyFloat_AsDouble(now);
        const bool large = PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_OverflowError);
        if (large) PyErr_Clear();
        if (!PyErr_Occurred() && (large || Py_IS_NAN(seconds)))
            PyErr_Format(PyExc_ValueError, "clock must return a number of seconds, got %s", large ? "an int that is no float" : "nan");
    } else if (now) PyErr_Format(PyExc_TypeError, "clock must return a number of seconds, got %.80s", Py_TYPE(now)->tp_name);
    Py_XDECREF(now);
    return PyErr_Occurred() ? Py_NAN : seconds;
}

/* What was there before is the caller's. */
static void put(FilterObject *self, bf_filter *bf, redis_client *client, PyObject *clock)
{
    self->bf = bf;
    self->client = client;
    self->clock = Py_XNewRef(clock);
    self->remote = clock || is_remote(bf);
}

static void let_go(bf_filter *bf, redis_client *client)
{
    bf_close(bf);
    redis_client_free(client);
}

PyObject *filter_wrap(PyTypeObject *type, bf_filter *bf, redis_client *client, PyObject *clock)
{
    FilterObject *self = (FilterObject *)type->tp_alloc(type, 0);
    if (!self) { let_go(bf, client); return NULL; }
    bf_set_threads(bf, NO_GIL);
    put(self, bf, client, clock);
    self->warn = true;
    filter_watch_new(self);
    return (PyObject *)self;
}

/* The old ones go when others may enter again: their end may run Python code, which may use this very filter. */
int filter_replace(FilterObject *self, bf_filter *next, redis_client *client, PyObject *clock)
{
    bf_filter *old = next;
    redis_client *old_client = client;
    PyObject *old_clock = NULL;
    bool alone = replace_begin(self);
    if (alone) {
        old = self->bf;
        old_client = self->client;
        old_clock = self->clock;
        put(self, next, client, clock);
        filter_watch_new(self);
        replace_end(self);
    } else {
        PyErr_SetString(state_of(Py_TYPE(self))->error,
                        "the filter cannot be closed: a batch is running in it (in another thread, or the one that reads the iterable)");
    }
    let_go(old, old_client);
    Py_XDECREF(old_clock);                                   /* after the filter that asks it */
    return alone ? 0 : -1;
}

PyObject *filter_close(FilterObject *self, PyObject *Py_UNUSED(unused))
{
    if (filter_replace(self, NULL, NULL, NULL) < 0) return NULL;
    Py_RETURN_NONE;
}

PyObject *filter_with(FilterObject *self, PyObject *Py_UNUSED(unused))
{
    if (!filter_peek(self)) return NULL;
    filter_peeked(self);
    return Py_NewRef(self);
}

PyObject *filter_exit(FilterObject *self, PyObject *const *Py_UNUSED(args), Py_ssize_t Py_UNUSED(nargs))
{
    return filter_close(self, NULL);
}

PyObject *filter_sync(FilterObject *self, PyObject *Py_UNUSED(unused))
{
    bf_error err;
    bf_filter *bf = filter_enter(self);
    if (!bf) return NULL;
    PyThreadState *ts = gil_release(self, NULL);
    int rc = bf_sync(bf, &err);
    gil_take(ts, self, NULL);
    filter_leave(self);
    if (rc < 0) return raise_in(self, &err);
    Py_RETURN_NONE;
}

PyObject *filter_clear_bits(FilterObject *self, PyObject *Py_UNUSED(unused))
{
    bf_error err;
    bf_filter *bf = filter_enter(self);
    if (!bf) return NULL;
    PyThreadState *ts = gil_release_if_big(self, NULL);
    int rc = bf_clear(bf, &err);
    gil_take(ts, self, NULL);
    filter_watch(self);
    filter_leave(self);
    if (rc < 0) return raise_in(self, &err);
    Py_RETURN_NONE;
}

/* ---- in Redis ---- */
static PyObject *told(FilterObject *self, int rc, const bf_error *err)
{
    if (rc < 0) return raise_in(self, err);
    Py_RETURN_NONE;
}

PyObject *filter_expire(FilterObject *self, PyObject *arg)
{
    bf_error err;
    double seconds = arg == Py_None ? 0 : PyFloat_AsDouble(arg);
    if (seconds == -1 && PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_OverflowError)) return NULL;
        PyErr_Clear();           /* an int past what a double holds: refused below */
    }
    if (arg != Py_None && !(seconds > 0)) return PyErr_Format(PyExc_ValueError, "seconds must be above 0, or None for never, got %R", arg);
    bf_filter *bf = filter_enter(self);
    if (!bf) return NULL;
    PyThreadState *ts = gil_release(self, NULL);
    int rc = bf_expire(bf, seconds, &err);
    gil_take(ts, self, NULL);
    filter_leave(self);
    return told(self, rc, &err);
}

/* The keys go to a filter in memory that nobody else sees: it is entered, so nobody closes it meanwhile. */
static int rebuild_from(FilterObject *self, bf_filter *bf, FilterObject *fresh, bf_error *err)
{
    PyThreadState *ts = gil_release(self, fresh);
    int rc = bf_rebuild_end(bf, fresh->bf, err);
    gil_take(ts, self, fresh);
    return rc;
}

PyObject *filter_rebuild(FilterObject *self, PyObject *keys)
{
    bf_error err;
    PyObject *fresh = NULL, *count = NULL;
    bf_filter *bf = filter_enter(self), *empty = bf ? bf_rebuild_begin(bf, &err) : NULL;
    if (!bf) return NULL;
    if (!empty) raise_in(self, &err);
    else if ((fresh = filter_wrap(state_of(Py_TYPE(self))->filter_type, empty, NULL, NULL))) count = filter_update((FilterObject *)fresh, keys);
    if (count && rebuild_from(self, bf, (FilterObject *)fresh, &err) < 0) { Py_CLEAR(count); raise_in(self, &err); }
    filter_leave(self);
    Py_XDECREF(fresh);
    return count;
}

PyObject *filter_delete(FilterObject *self, PyObject *Py_UNUSED(unused))
{
    bf_error err;
    bf_filter *bf = filter_enter(self);
    if (!bf) return NULL;
    PyThreadState *ts = gil_release(self, NULL);
    int rc = bf_delete(bf, &err);
    gil_take(ts, self, NULL);
    filter_leave(self);
    return told(self, rc, &err);
}

void filter_dealloc(FilterObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (self->weakrefs) PyObject_ClearWeakRefs((PyObject *)self);
    let_go(self->bf, self->client);
    Py_XDECREF(self->clock);
    type->tp_free(self);
    Py_DECREF(type);
}
