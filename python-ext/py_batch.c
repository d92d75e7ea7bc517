/* py_batch.c - batches over Python objects: gathers keys from any iterable into chunks, and calls
 * the core once per chunk (a flush).
 *
 * Keys of a list or tuple are borrowed, without a reference, while no other code can run. Before
 * the core waits, the batch gets references to its keys (batch_hold_borrowed). If every call may
 * wait or run Python code (Redis, a lock, a clock), keys are never borrowed. Up to Python 3.11
 * every new object, also an exception, may run the garbage collector, and so a finalizer that
 * changes the list. So a key that needs a new object first flushes the chunk.
 *
 * The core runs with the GIL, except for Redis and large keys. Every few ms other threads and
 * signal handlers run between two flushes. */
#include "py_bloomfilter.h"

#include <stddef.h>
#include <time.h>

enum {
    TURN_NS = 2000000, /* time in ns after which other threads run */
    /* work between two reads of the clock: KEY_WORK per key, and 1 per byte */
    LOOK_EVERY = 1 << 16,
    KEY_WORK = 32,
    MUCH = 1 << 18,  /* after this much work an incomplete chunk is flushed */
    SHORT = 1 << 12, /* bytes or ASCII text shorter than this is taken without a look at MUCH */
    AHEAD = 128,     /* number of objects to prefetch ahead */
    LINE = 64,       /* bytes in a cache line */
    REST = 512,      /* bytes of a text after which the processor prefetches by itself */
    REMOTE_ROOM = 1 << 20 /* bytes of converted keys per round trip */
};

uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- answers ---- */
uint8_t *batch_room(batch *b, Py_ssize_t more)
{
    Py_ssize_t have = PyBytes_GET_SIZE(b->out), need = b->done + more;
    if (need > have) {
        Py_ssize_t size = need > have + have / 2 ? need : have + have / 2;
        if (_PyBytes_Resize(&b->out, size) < 0) return NULL;
    }
    return (uint8_t *)PyBytes_AS_STRING(b->out) + b->done;
}

Py_ssize_t batch_row(const batch *b, size_t i)
{
    for (size_t z = 0; z < b->nulls && b->null_row[z] <= i; z++) i++;
    return b->done + (Py_ssize_t)i;
}

void batch_answered(batch *b, uint8_t *each)
{
    const size_t rows = b->n + b->nulls;
    for (size_t row = rows, key = b->n, z = b->nulls; each && z && row--;)
        each[row] = b->null_row[z - 1] == row ? (z--, 0) : each[--key];
    b->done += (Py_ssize_t)rows;
    b->n = b->asked = b->nulls = 0;
}

/* the batch of this thread that is in the core with borrowed keys, or NULL */
static _Thread_local batch *borrowing;
void batch_hold_borrowed(void)
{
    if (borrowing) batch_hold_keys(borrowing);
}

static int ask_core(batch *b)
{
    bf_error err;
    uint8_t *each = b->out ? batch_room(b, (Py_ssize_t)(b->n + b->nulls)) : NULL;
    if (b->out && !each) return -1;
    PyThreadState *ts = b->self->remote || b->large_key ? gil_release(b->self, NULL) : NULL;
    batch *const outer = borrowing;
    if (b->borrowed && !ts) borrowing = b;
    int64_t rc = b->n ? b->call(b->bf, b->keys, b->n, each, &err) : 0;
    gil_take(ts, b->self, NULL);
    borrowing = outer;
    if (rc < 0) {
        raise_in(b->self, &err);
        if (err.key != BF_NO_KEY) name_refused(&err, batch_row(b, err.key));
        if (err.code == BF_EFULL && each && !b->nulls)
            note_answers(b->out, b->done + (Py_ssize_t)err.key);
        return -1;
    }
    b->hits += rc;
    batch_answered(b, each);
    return 0;
}

static int batch_flush(batch *b)
{
    int rc = b->n || b->nulls ? ask_core(b) : 0;
    size_t held = b->held;
    b->n = b->nulls = b->held = b->used = 0;
    b->large_key = false;
    while (held) Py_DECREF(b->refs[--held]);
    return rc;
}

/* Lets other threads and signal handlers run after the deadline, by calling an empty Python
 * function. Releasing and taking the GIL here would not do: the waiting thread would wake up, find
 * the GIL taken, and wait again without a request for it. If a signal handler raises an exception,
 * the batch ends after the flushed keys. */
static int batch_turn(batch *b)
{
    b->left = LOOK_EVERY;
    if (clock_ns() < b->deadline) return 0;
    PyObject *none = PyObject_CallNoArgs(state_of(Py_TYPE(b->self))->turn);
    Py_XDECREF(none);
    b->deadline = clock_ns() + TURN_NS;
    return none ? 0 : -1;
}

static int batch_next_chunk(batch *b)
{
    if (batch_flush(b) < 0) return -1;
    return b->left < 0 || b->self->remote ? batch_turn(b) : 0;
}

/* ---- keys ---- */
static int taken(batch *b)
{
    b->left -= KEY_WORK + (int64_t)b->keys[b->n].len;
    /* round trips to Redis release the GIL anyway */
    const bool enough = b->left < -MUCH && !b->self->remote;
    return ++b->n == b->most || enough ? batch_next_chunk(b) : 0;
}

/* Returns true if o is a missing value in a column of objects: None, NaN, NA and NaT of pandas,
 * masked of numpy. */
static bool is_null(PyObject *o)
{
    if (PyUnicode_Check(o) || PyBytes_Check(o) || PyLong_Check(o)) return false;
    if (o == Py_None) return true;
    if (PyFloat_Check(o)) return Py_IS_NAN(PyFloat_AS_DOUBLE(o));
    const char *dot = strrchr(Py_TYPE(o)->tp_name, '.'),
               *name = dot ? dot + 1 : Py_TYPE(o)->tp_name;
    return !strcmp(name, "NAType") || !strcmp(name, "NaTType") || !strcmp(name, "MaskedConstant");
}

static int refuse_null(Py_ssize_t row)
{
    const column c = { .fault = FAULT_NULL };
    return column_refuse(&c, row);
}

/* Flushes one key that may run Python code, has a wrong type, or is too large for the room. The
 * chunk must be empty. */
static int take_alone(batch *b, PyObject *o)
{
    key_holder h;
    int rc = -1;
    if (key_hold(o, &h) == 0) {
        b->keys[b->n++] = h.key;
        b->left -= KEY_WORK + (int64_t)h.key.len;
        b->large_key = h.key.len >= LARGE_KEY;
        rc = batch_next_chunk(b);
        key_release(&h);
    } else {
        name_key(b->done);
    }
    return rc;
}

/* Flushes the gathered keys, then takes o. Keeps a reference to o, because other threads may run
 * during the flush. */
static int take_after_flush(batch *b, PyObject *o)
{
    Py_INCREF(o);
    int rc = batch_next_chunk(b);
    Py_ssize_t used = rc < 0 ? 0 : key_plain(o, b->keys, b->room, b->space);
    if (rc == 0 && (used <= 0 || b->keys->len >= LARGE_KEY))
        rc = take_alone(b, o);
    else if (rc == 0) {
        b->used = (size_t)used;
        rc = taken(b);
    }
    Py_DECREF(o);
    return rc;
}

static __attribute__((noinline)) int take_converted(batch *b, PyObject *o)
{
    Py_ssize_t used = key_plain(o, &b->keys[b->n], b->room + b->used, b->space - b->used);
    if (used < 0 && (b->skip_nulls || b->column) && is_null(o)) {
        if (!b->skip_nulls) return refuse_null(batch_row(b, b->n));
        batch_null(b);
        b->left -= KEY_WORK;
        return b->nulls == BATCH_KEYS ? batch_next_chunk(b) : 0;
    }
    if (used < 0 || b->keys[b->n].len >= LARGE_KEY) return take_after_flush(b, o);
    b->used += (size_t)used;
    return taken(b);
}

/* Prefetches the text of an object after the first two cache lines, which take_sequence has
 * prefetched before the length was known. */
static inline void fetch_rest(const PyObject *o, const bf_key *key)
{
    const char *line = (const char *)o + 2 * LINE - (uintptr_t)o % LINE, *end = key->ptr;
    end += key->len < REST ? key->len : REST;
    __builtin_prefetch(end);
    for (; end - line >= LINE; line += LINE) __builtin_prefetch(line);
}

static inline int take(batch *b, PyObject *o)
{
    bf_key *key = &b->keys[b->n];
    if (!key_direct(o, key) || key->len >= SHORT) return take_converted(b, o);
    fetch_rest(o, key);
    b->left -= KEY_WORK + (int64_t)key->len;
    return ++b->n == b->most ? batch_next_chunk(b) : 0;
}

/* ---- sources of keys ---- */
/* Takes keys from a list or tuple. Other code may change the list during a flush, so its size is
 * read again for each key. */
static int take_sequence(batch *b, PyObject *seq)
{
    Py_ssize_t i = 0;
    b->borrowed = seq;
    for (; i < PySequence_Fast_GET_SIZE(seq); i++) {
        PyObject **items = PySequence_Fast_ITEMS(seq);
        b->first = i - (Py_ssize_t)b->n;
        if (i + AHEAD < PySequence_Fast_GET_SIZE(seq)) {
            __builtin_prefetch(items[i + AHEAD]);
            __builtin_prefetch((char *)items[i + AHEAD] + LINE);
        }
        if (take(b, items[i]) < 0) return -1;
    }
    b->first = i - (Py_ssize_t)b->n;
    return 0;
}

void batch_hold_keys(batch *b)
{
    PyObject *seq = b->borrowed;
    const Py_ssize_t size = PySequence_Fast_GET_SIZE(seq);
    for (size_t i = b->held; i < b->n && b->first + (Py_ssize_t)i < size; i++)
        b->refs[b->held++] = Py_NewRef(PySequence_Fast_GET_ITEM(seq, b->first + (Py_ssize_t)i));
}

static int take_iterator(batch *b, PyObject *it)
{
    PyObject *o;
    while ((o = PyIter_Next(it))) {
        int rc = take(b, o);
        if (rc == 0 && b->held < b->n) /* o is the last key of the chunk, which keeps it */
            b->refs[b->held++] = o;
        else
            Py_DECREF(o);
        if (rc < 0) return -1;
    }
    return PyErr_Occurred() ? -1 : 0;
}

static int take_all(batch *b, PyObject *keys)
{
    if (!NO_GIL && !b->self->blocking && !b->self->waits && !b->skip_nulls &&
        (PyList_CheckExact(keys) || PyTuple_CheckExact(keys)))
        return take_sequence(b, keys);
    PyObject *it = PyObject_GetIter(keys);
    if (!it) return -1;
    int rc = take_iterator(b, it);
    Py_DECREF(it);
    return rc;
}

/* Gets a view of the objects of a numpy array; view->obj is NULL if an iterator is needed. Returns
 * -1 with an exception. */
static int view_objects(PyObject *keys, Py_buffer *view)
{
    view->obj = NULL;
    const int masked = PyObject_CheckBuffer(keys) ? has_attribute(keys, "mask") : 1;
    if (masked) return masked < 0 ? -1 : 0;
    if (PyObject_GetBuffer(keys, view, PyBUF_FULL_RO) < 0) {
        if (!PyErr_ExceptionMatches(PyExc_Exception)) return -1;
        PyErr_Clear();
        view->obj = NULL;
    } else if (view->ndim != 1 || !view->format || strcmp(view->format, "O") != 0)
        PyBuffer_Release(view);
    return 0;
}

/* Returns 1 if o is null, 0 if not, or -1 if a signal handler raised an exception. May let other
 * threads run. */
static int check_null(batch *b, PyObject *o)
{
    if (is_null(o)) return 1;
    b->left -= KEY_WORK / 4;
    return b->left < 0 ? batch_turn(b) : 0;
}

/* Checks a column of objects for nulls before any of its keys is added. */
static int refuse_nulls(batch *b, PyObject *keys)
{
    Py_buffer view;
    Py_ssize_t row = 0;
    int rc = 0;
    if (view_objects(keys, &view) < 0) return -1;
    if (view.obj) {
        const char *at = view.buf;
        for (; rc == 0 && row < view.shape[0]; at += *view.strides, row++) {
            PyObject *const *o = (PyObject *const *)at;
            if (row + AHEAD < view.shape[0])
                __builtin_prefetch(*(void *const *)(at + AHEAD * *view.strides));
            rc = check_null(b, *o ? *o : Py_None);
        }
        PyBuffer_Release(&view);
    } else {
        PyObject *it = PyObject_GetIter(keys), *o;
        for (; it && rc == 0 && (o = PyIter_Next(it)); row++) {
            rc = check_null(b, o);
            Py_DECREF(o);
        }
        Py_XDECREF(it);
    }
    if (PyErr_Occurred()) return -1;
    return rc ? refuse_null(row - 1) : 0;
}

static int batch_objects(batch *b, PyObject *keys)
{
    const bool changes = b->call != bf_test_many && b->call != bf_count_many;
    b->left = LOOK_EVERY;
    b->deadline = clock_ns() + TURN_NS;
    if (b->column && changes && !b->skip_nulls && refuse_nulls(b, keys) < 0) return -1;
    if (take_all(b, keys) == 0) return batch_flush(b);
    /* a key is wrong; the keys before it are added */
    PyObject *raised = PyErr_GetRaisedException();
    if (batch_flush(b) < 0) PyErr_Clear();
    PyErr_SetRaisedException(raised);
    return -1;
}

int refuse_one_key(PyObject *o)
{
    PyErr_Format(
        PyExc_TypeError, "keys must be an iterable of keys, not one %.200s", Py_TYPE(o)->tp_name);
    return -1;
}

/* Returns true if o is one text, which would be iterated over character by character. */
static bool is_one_key(PyObject *o)
{
    return PyUnicode_Check(o) || PyBytes_Check(o) || PyByteArray_Check(o) ||
           (PyMemoryView_Check(o) && PyMemoryView_GET_BUFFER(o)->itemsize == 1);
}

static int batch_keys(batch *b, PyObject *keys)
{
    if (PyList_CheckExact(keys) || PyTuple_CheckExact(keys) || PyAnySet_CheckExact(keys) ||
        PyDict_CheckExact(keys) || PyGen_CheckExact(keys))
        return batch_objects(b, keys);
    int rc = array_batch(b, keys);
    PyObject *column = rc == 0 ? column_of(b, keys) : NULL;
    if (rc == 0 && !column) rc = -1;
    if (rc == 0) rc = column == keys ? arrow_batch(b, keys) : array_batch(b, column);
    if (rc == 0) rc = batch_objects(b, column);
    Py_XDECREF(column);
    return rc;
}

int batch_run(batch *b, PyObject *keys)
{
    if (is_one_key(keys) && !b->hashed) return refuse_one_key(keys);
    if (b->call == bf_add_many && filter_begin_adds(b->self) < 0) return -1;
    b->bf = filter_enter(b->self);
    if (!b->bf) return -1;
    if (b->threads != 1) b->threads = useful_threads(b->self, b->bf, b->threads);
    b->most = bf_batch_size(b->bf);
    char *more = b->self->remote ? PyMem_Malloc(REMOTE_ROOM) : NULL;
    if (more) {
        b->room = more;
        b->space = REMOTE_ROOM;
    }
    bf_error err;
    /* asks without hashes, so that an empty array is refused as others are */
    const bool takes = !b->hashed || (b->call == bf_add_many ? bf_add_hashes : bf_test_hashes)(
                                         b->bf, NULL, 0, NULL, &err) == 0;
    if (!takes) raise_in(b->self, &err);
    const int rc = takes ? (b->hashed ? hashes_batch : batch_keys)(b, keys) : -1;
    PyMem_Free(more);
    filter_leave(b->self);
    return rc < 0 ? -1 : 0;
}
