/* py_life.c - the life of a filter object: who is inside, when the GIL goes, closing, replacing, disk.
 * The only file that touches users, unlocked and the handle's place; knows nothing of keys. */
#include "py_bloomfilter.h"

#include <time.h>

#if NO_GIL
/* `users` far below 0 means: the handle is being replaced, come again. */
#define REPLACING (PY_SSIZE_T_MIN / 2)
enum { REPLACE_TRIES = 1000 };

static void pause_thread(void)
{
    struct timespec shortly = { 0, 20000 };
    PyThreadState *ts = PyEval_SaveThread();
    nanosleep(&shortly, NULL);
    PyEval_RestoreThread(ts);
}

bf_filter *filter_enter(FilterObject *self)
{
    while (__atomic_fetch_add(&self->users, 1, __ATOMIC_SEQ_CST) < 0) {
        __atomic_fetch_sub(&self->users, 1, __ATOMIC_SEQ_CST);
        pause_thread();
    }
    if (self->bf) return self->bf;
    filter_leave(self);
    return raise_closed();
}
void filter_leave(FilterObject *self) { __atomic_fetch_sub(&self->users, 1, __ATOMIC_SEQ_CST); }

static bool replace_begin(FilterObject *self)
{
    /* A call on one key is over at once; a batch is not, so the wait ends. */
    for (int i = 0; i < REPLACE_TRIES; i++) {
        Py_ssize_t none = 0;
        if (__atomic_compare_exchange_n(&self->users, &none, REPLACING, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) return true;
        pause_thread();
    }
    return false;
}
static void replace_end(FilterObject *self) { __atomic_fetch_sub(&self->users, REPLACING, __ATOMIC_SEQ_CST); }

#else
bf_filter *filter_enter(FilterObject *self)
{
    if (!self->bf) return raise_closed();
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
    unlocked_add(a, 1);
    unlocked_add(b, 1);
    return PyEval_SaveThread();
}

void gil_take(PyThreadState *ts, FilterObject *a, FilterObject *b)
{
    if (!ts) return;
    PyEval_RestoreThread(ts);
    unlocked_add(a, -1);
    unlocked_add(b, -1);
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

PyObject *filter_wrap(PyTypeObject *type, bf_filter *bf)
{
    FilterObject *self = (FilterObject *)type->tp_alloc(type, 0);
    if (!self) { bf_close(bf); return NULL; }
    bf_set_threads(bf, NO_GIL);
    self->bf = bf;
    self->remote = is_remote(bf);
    return (PyObject *)self;
}

int filter_replace(FilterObject *self, bf_filter *next)
{
    bf_filter *old = next;
    bool alone = replace_begin(self);
    if (alone) {
        old = self->bf;
        self->bf = next;
        self->remote = is_remote(next);
        replace_end(self);
    } else {
        PyErr_SetString(state_of(Py_TYPE(self))->error,
                        "the filter cannot be closed: a batch is running in it (in another thread, or the one that reads the iterable)");
    }
    bf_close(old);
    return alone ? 0 : -1;
}

PyObject *filter_close(FilterObject *self, PyObject *Py_UNUSED(unused))
{
    if (filter_replace(self, NULL) < 0) return NULL;
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
    bf_close(self->bf);
    type->tp_free(self);
    Py_DECREF(type);
}
