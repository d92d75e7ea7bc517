/* py_gil.c - releases and takes the GIL; creates, closes and rebuilds filters. The only file that
 * stores handles. */
#include "py_bloomfilter.h"

#include <time.h>

/* the state of this thread while it is in the core without the GIL, else NULL; a callback needs it
 * to take the GIL */
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
void gil_leave(PyThreadState *ts)
{
    if (ts) gil_out();
}

/* Counts the calls that run without the GIL. The first one switches the filter to atomic kernels,
 * the last one back. */
static void count_unlocked(FilterObject *self, int step)
{
    if (NO_GIL || !self) return;
    Py_ssize_t before = self->unlocked;
    self->unlocked += step;
    if (before == 0 || self->unlocked == 0) bf_set_threads(handle_of(self), self->unlocked != 0);
}

/* Returns true if calls keep the GIL: a filter with a callback, which would take the GIL in each
 * call, releases the GIL for round trips only. */
static bool keeps_gil(const FilterObject *a, const FilterObject *b)
{
    const bool remote = (a && a->remote) || (b && b->remote);
    return !remote && ((a && a->callback) || (b && b->callback));
}

PyThreadState *gil_release(FilterObject *a, FilterObject *b)
{
    if (keeps_gil(a, b)) return NULL;
    count_unlocked(a, 1);
    count_unlocked(b, 1);
    return gil_out();
}

void gil_take(PyThreadState *ts, FilterObject *a, FilterObject *b)
{
    if (!ts) return;
    gil_back(ts);
    count_unlocked(a, -1);
    count_unlocked(b, -1);
}

/* ---- a single thread that uses the plain kernels without the GIL ----
 *
 *   NONE --gil_release_plain--> ALONE --gil_take_plain--> LEAVING --GIL taken--> NONE
 *                                 |                          |
 *                          a thread arrives           a thread arrives: need not wait
 *                                 v
 *                               ASKED --plain_yield, gil_take_plain: atomic kernels--> NONE
 *
 * A thread that arrives has the GIL. In the state ALONE it sets ASKED and waits until the first
 * thread has set another state (plain_end). The first thread is counted in `unlocked` in all these
 * states, so after ASKED the kernels stay atomic until the first thread has taken the GIL. */
enum { PLAIN_NONE, PLAIN_ALONE, PLAIN_ASKED, PLAIN_LEAVING };

static int plain_state(FilterObject *self)
{
    return __atomic_load_n(&self->plain, __ATOMIC_ACQUIRE);
}
static void plain_set(FilterObject *self, int state)
{
    __atomic_store_n(&self->plain, state, __ATOMIC_RELEASE);
}
static bool plain_swap(FilterObject *self, int from, int to)
{
    return __atomic_compare_exchange_n(
        &self->plain, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

PyThreadState *gil_release_plain(FilterObject *self)
{
    if (NO_GIL || self->users != 1 || self->unlocked != 0 || self->blocking || self->shared)
        return gil_release(self, NULL);
    self->unlocked = 1;
    self->plain_process = bf_process();
    plain_set(self, PLAIN_ALONE);
    return gil_out();
}

void plain_yield(FilterObject *self)
{
    if (__builtin_expect(plain_state(self) != PLAIN_ASKED, 1)) return;
    bf_set_threads(handle_of(self), true);
    plain_set(self, PLAIN_NONE);
}

void gil_take_plain(PyThreadState *ts, FilterObject *self)
{
    if (!ts) return;
    if (!plain_swap(self, PLAIN_ALONE, PLAIN_LEAVING)) plain_yield(self);
    gil_back(ts);
    if (plain_state(self) == PLAIN_LEAVING) plain_set(self, PLAIN_NONE);
    count_unlocked(self, -1);
}

/* With a GIL: waits until no other thread uses the plain kernels. Does not wait in a forked child,
 * where the other thread does not exist. Releases the GIL if waiting takes long. */
void plain_end(FilterObject *self)
{
    enum { PATIENCE = 20 };
    struct timespec shortly = { 0, 10000 };
    bool there = self->plain_process == bf_process();
    for (int i = 0;
        there && (plain_swap(self, PLAIN_ALONE, PLAIN_ASKED) || plain_state(self) == PLAIN_ASKED);
        i++) {
        PyThreadState *ts = i < PATIENCE ? NULL : gil_out();
        nanosleep(&shortly, NULL);
        if (ts) gil_back(ts);
    }
    if (plain_state(self) == PLAIN_NONE) return;
    /* NULL: a forked child has closed the filter */
    if (handle_of(self)) bf_set_threads(handle_of(self), true);
    plain_set(self, PLAIN_NONE);
}

PyThreadState *gil_release_if_remote(FilterObject *a, FilterObject *b)
{
    return a->remote || (b && b->remote) ? gil_release(a, b) : NULL;
}

PyThreadState *gil_release_if_big(FilterObject *a, FilterObject *b)
{
    enum { BIG = 1 << 20 }; /* size in bytes of a bitmap that takes about 0.1 ms */
    bf_info info;
    bf_get_info(handle_of(a), &info);
    if (a->remote || (b && b->remote)) return gil_release(a, b);
    return info.bitset_bytes < BIG ? NULL : gil_release(a, b);
}

/* ---- calls of the core ---- */
bool core_begin(core_call *c, FilterObject *a, FilterObject *b, release_gil *release)
{
    *c = (core_call){ .a = a, .b = b };
    if (!(c->bf = filter_enter(a))) return false;
    if (b && !(c->other = filter_enter(b))) {
        filter_leave(a);
        return false;
    }
    if (release) c->ts = release(a, b);
    return true;
}

void core_back(core_call *c)
{
    gil_take(c->ts, c->a, c->b);
    c->ts = NULL;
}

int core_end(core_call *c, int rc)
{
    core_back(c);
    if (c->b) filter_leave(c->b);
    filter_leave(c->a);
    if (rc >= 0) return rc;
    raise_in(c->a, &c->err);
    return -1;
}

/* ---- wait hooks of the core, for calls that keep the GIL ---- */
/* Releases the GIL. Counts the call in `users` while it waits, because close() must then keep the
 * handle. */
static void *wait_begin(void *op)
{
    FilterObject *self = op;
    if (outside) return NULL;
    batch_hold_borrowed();
    if (!NO_GIL) filter_count(self, 1);
    return gil_out();
}

static void wait_end(void *op, void *began)
{
    if (!began) return;
    gil_back(began);
    if (!NO_GIL) filter_count(op, -1);
}

/* Closes a handle that no other code uses. Releases the GIL if closing may need a round trip, wait
 * for a lock, or free much memory. */
static void close_handle(bf_filter *bf)
{
    enum { BIG = 1 << 20 };
    bf_info info;
    if (!bf) return;
    bf_get_info(bf, &info);
    if (strcmp(info.home, "memory") == 0 && info.bitset_bytes < BIG) {
        bf_close(bf);
        return;
    }
    PyThreadState *ts = gil_out();
    bf_close(bf);
    gil_back(ts);
}

/* Keeps the present exception: the finalizers of the client and the callback are code of the
 * user. */
static void let_go(bf_filter *bf, redis_client *client, PyObject *callback)
{
    PyObject *raised = PyErr_GetRaisedException();
    close_handle(bf);
    redis_client_free(client);
    Py_XDECREF(callback); /* after the filter, which calls it */
    PyErr_SetRaisedException(raised);
}

/* Stores a handle, and frees the old objects after handle_end, because their finalizers may use
 * this filter. */
static void exchange_handle(
    FilterObject *self, bf_filter *bf, redis_client *client, PyObject *callback)
{
    bf_filter *old = handle_of(self);
    redis_client *old_client = self->client;
    PyObject *old_callback = self->callback;
    self->client = client;
    self->callback = callback;
    __atomic_store_n(&self->closing, NULL, __ATOMIC_SEQ_CST);
    __atomic_store_n(&self->bf, bf, __ATOMIC_SEQ_CST);
    handle_end(self);
    let_go(old, old_client, old_callback);
}

void handle_free(FilterObject *self) { exchange_handle(self, NULL, NULL, NULL); }

PyObject *filter_new(PyTypeObject *type, PyObject *Py_UNUSED(args), PyObject *Py_UNUSED(kwargs))
{
    return type->tp_alloc(type, 0);
}

PyObject *filter_wrap(PyTypeObject *type, bf_filter *bf, PyObject *callback)
{
    FilterObject *self = (FilterObject *)filter_new(type, NULL, NULL);
    if (!self) {
        let_go(bf, NULL, callback);
        return NULL;
    }
    bf_set_threads(bf, NO_GIL);
    filter_set(self, bf, NULL, callback);
    return (PyObject *)self;
}

int filter_set(FilterObject *self, bf_filter *bf, redis_client *client, PyObject *callback)
{
    bf_info info;
    if (!handle_begin(self)) {
        PyErr_SetString(state_of(Py_TYPE(self))->error,
            "__init__ cannot replace the filter: a call or a batch is running in it (in another "
            "thread, or it is reading an iterable or calling a clock or hash function)");
        let_go(bf, client, callback);
        return -1;
    }
    bf_get_info(bf, &info);
    self->remote = strcmp(info.home, "redis") == 0;
    self->waits = !self->remote && (info.grow != 0 || info.window != 0);
    self->shared = self->waits && strcmp(info.home, "file") == 0;
    self->blocking = callback || self->remote;
    self->nogil_min_len = self->blocking ? 0 : LARGE_KEY;
    if (!self->remote) bf_set_wait_hooks(bf, wait_begin, wait_end, self);
    if (client) redis_client_take_turns(client, bf);
    filter_watch(self, bf);
    exchange_handle(self, bf, client, callback);
    return 0;
}

PyObject *filter_close(FilterObject *self, PyObject *Py_UNUSED(unused))
{
    bf_error err;
    bf_filter *bf = filter_peek(self);
    const int rc = bf ? bf_check_file(bf, &err) : 0;
    if (bf)
        filter_peeked(self);
    else
        PyErr_Clear(); /* closing twice is no error */
    handle_close(self);
    return rc < 0 ? raise_in(self, &err) : none(0);
}

PyObject *filter_with(FilterObject *self, PyObject *Py_UNUSED(unused))
{
    if (!filter_peek(self)) return NULL;
    filter_peeked(self);
    return Py_NewRef(self);
}

PyObject *filter_exit(
    FilterObject *self, PyObject *const *Py_UNUSED(args), Py_ssize_t Py_UNUSED(nargs))
{
    return filter_close(self, NULL);
}

static PyObject *command(FilterObject *self, int (*call)(bf_filter *, bf_error *))
{
    core_call c;
    if (!core_begin(&c, self, NULL, gil_release)) return NULL;
    return none(core_end(&c, call(c.bf, &c.err)));
}

PyObject *filter_sync(FilterObject *self, PyObject *Py_UNUSED(no))
{
    return command(self, bf_sync);
}

PyObject *filter_clear_bits(FilterObject *self, PyObject *Py_UNUSED(unused))
{
    core_call c;
    if (!core_begin(&c, self, NULL, gil_release_if_big)) return NULL;
    return none(core_end(&c, bf_clear(c.bf, &c.err)));
}

/* ---- in Redis ---- */
PyObject *filter_expire(FilterObject *self, PyObject *arg)
{
    core_call c;
    PyObject *given = seconds_of(arg);
    if (!given) return NULL;
    double seconds = arg == Py_None ? 0 : PyFloat_AsDouble(given);
    Py_DECREF(given);
    if (seconds == -1 && PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_OverflowError)) return NULL;
        PyErr_Clear(); /* an int too large for a double is refused below */
    }
    if (arg != Py_None && !(seconds > 0))
        return PyErr_Format(
            PyExc_ValueError, "seconds must be above 0, or None for never, got %R", arg);
    if (!core_begin(&c, self, NULL, gil_release)) return NULL;
    return none(core_end(&c, bf_expire(c.bf, seconds, &c.err)));
}

/* cli/filters.py calls this */
PyObject *filter_expires_in(FilterObject *self, PyObject *Py_UNUSED(unused))
{
    core_call c;
    double seconds;
    if (!core_begin(&c, self, NULL, gil_release)) return NULL;
    const int rc = core_end(&c, bf_expires_in(c.bf, &seconds, &c.err));
    return rc < 0 ? NULL : PyFloat_FromDouble(seconds);
}

/* Adds the keys to `fresh`, a filter in memory, then ends the rebuild. Enters `fresh`, because any
 * code may find that object through the garbage collector. */
static PyObject *rebuild_with(
    FilterObject *self, bf_filter *bf, FilterObject *fresh, PyObject *keys)
{
    bf_error err;
    bf_filter *filled = filter_enter(fresh);
    if (!filled) return NULL;
    /* a filter that takes hashes refuses an empty batch of keys, too */
    int rc = is_filter(keys) ? 0 : (int)bf_add_many(filled, NULL, 0, NULL, &err);
    PyObject *count = rc == 0 ? batch_update(fresh, keys) : NULL;
    PyThreadState *ts = gil_release(self, fresh);
    if (count) rc = bf_rebuild_end(bf, filled, &err);
    if (!count || rc < 0) bf_rebuild_cancel(bf, filled, NULL);
    gil_take(ts, self, fresh);
    if (rc < 0) {
        Py_CLEAR(count);
        raise_in(self, &err);
    }
    filter_leave(fresh);
    return count;
}

PyObject *filter_rebuild(FilterObject *self, PyObject *keys)
{
    core_call c;
    PyObject *fresh = NULL, *count = NULL;
    if (!core_begin(&c, self, NULL, gil_release)) return NULL;
    bf_filter *empty = bf_rebuild_begin(c.bf, &c.err);
    core_back(&c);
    if (empty)
        fresh =
            filter_wrap(state_of(Py_TYPE(self))->filter_type, empty, Py_XNewRef(self->callback));
    if (fresh) count = rebuild_with(self, c.bf, (FilterObject *)fresh, keys);
    core_end(&c, empty ? 0 : -1);
    Py_XDECREF(fresh);
    return count;
}

PyObject *filter_delete(FilterObject *self, PyObject *Py_UNUSED(unused))
{
    return command(self, bf_delete);
}

int filter_forget(FilterObject *self)
{
    if (self->callback || self->client) handle_close(self);
    return 0;
}

void filter_dealloc(FilterObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (self->weakrefs) PyObject_ClearWeakRefs((PyObject *)self);
    let_go(handle_of(self), self->client, self->callback);
    type->tp_free(self);
    Py_DECREF(type);
}
