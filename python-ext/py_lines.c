/* py_lines.c - batches over text lines: keys in one buffer, each ended by a separator.  The core
 * finds them (bf_add_lines); this file releases the GIL and checks signals.
 *
 * Large buffers are read without the GIL, with plain kernels while no other call is inside
 * (py_gil.c); signals are checked in between. */
#include "py_bloomfilter.h"

enum {
    LINES_NS = 10000000, /* how often signals are checked */
    SMALL = 1 << 15 /* buffers of at most this size keep the GIL: getting it back may take ms */
};

typedef struct {
    FilterObject *self;
    bf_filter *bf;
    bool add, stays; /* stays: keeps the GIL */
    int keep;        /* the answer (1 or 0) of lines to copy; -1: none */
    bf_lines l;
    size_t size;      /* size of the buffer */
    const char *ends; /* ends of the lines (32-bit numbers), if they were found before; or NULL */
    size_t nends;
} lines;

/* ---- lines found before, by another thread ---- */
/* The next lines as keys.  Returns 0 also if an end is out of range, because another thread may
 * still write the ends. */
static size_t read_ends(lines *l, bf_key *keys, size_t most)
{
    const char *const start = l->l.end - l->size;
    size_t n = 0, from = (size_t)(l->l.at - start);
    for (; n < most && n < l->nends; n++) {
        uint32_t stop;
        memcpy(&stop, l->ends + n * sizeof stop, sizeof stop);
        if (stop < from || stop >= l->size) break;
        keys[n] = (bf_key){ start + from, stop - from };
        from = (size_t)stop + 1;
    }
    return n;
}

static int run_found(lines *l, bf_error *err)
{
    bf_key keys[BF_BATCH_SIZE_MAX];
    const size_t n = read_ends(l, keys, bf_batch_size(l->bf));
    if (n == 0) return 0;
    const int64_t hits = (l->add ? bf_add_many : bf_test_many)(l->bf, keys, n, NULL, err);
    if (hits < 0) {
        if (err->key != BF_NO_KEY) err->key += l->l.keys;
        return (int)hits;
    }
    l->ends += n * sizeof(uint32_t);
    l->nends -= n;
    l->l.at = (const char *)keys[n - 1].ptr + keys[n - 1].len + 1;
    l->l.keys += n;
    l->l.hits += (uint64_t)hits;
    return 1;
}

/* Works until the deadline or the end.  Returns 1 if there may be more, 0 at the end, negative on
 * error. */
static int slice(lines *l, uint64_t deadline, bf_error *err)
{
    int rc;
    do {
        rc = l->ends  ? run_found(l, err)
             : l->add ? bf_add_lines(l->bf, &l->l, err)
                      : bf_test_lines(l->bf, &l->l, err);
        if (!l->stays) plain_yield(l->self);
    } while (rc > 0 && clock_ns() < deadline);
    return rc;
}

/* ---- the GIL ---- */
static int run(lines *l)
{
    bf_error err;
    for (;;) {
        PyThreadState *ts = l->stays ? NULL : gil_release_plain(l->self);
        int more = slice(l, clock_ns() + LINES_NS, &err);
        gil_take_plain(ts, l->self);
        if (more < 0) {
            raise_in(l->self, &err);
            if (err.key != BF_NO_KEY) name_key((Py_ssize_t)err.key);
            return -1;
        }
        if (more == 0) return 0;
        if (PyErr_CheckSignals() < 0) return -1;
    }
}

/* Allocates room for all lines with a separator each, also after the last one. */
static PyObject *make_room(const lines *l, const Py_buffer *view)
{
    if (view->len == PY_SSIZE_T_MAX) return PyErr_NoMemory();
    return PyBytes_FromStringAndSize(NULL, l->keep < 0 ? 0 : view->len + 1);
}

static PyObject *answer(lines *l, const Py_buffer *view)
{
    PyObject *kept = make_room(l, view);
    if (!kept) return NULL;
    char *start = PyBytes_AS_STRING(kept);
    l->l.kept = l->keep < 0 ? NULL : start;
    l->l.keep = l->keep > 0;
    l->l.at = view->buf;
    l->l.end = l->l.at + view->len;
    l->size = (size_t)view->len;
    int rc = run(l);
    if (rc == 0 && l->add) rc = filter_count_new(l->self, (int64_t)l->l.hits);
    if (rc == 0 && l->keep >= 0) rc = _PyBytes_Resize(&kept, l->l.kept - start);
    if (rc < 0) {
        Py_XDECREF(kept);
        return NULL;
    }
    return Py_BuildValue("(LLnN)", (long long)l->l.keys, (long long)l->l.hits,
        (Py_ssize_t)(l->l.at - (const char *)view->buf), kept);
}

/* ---- arguments ---- */
static int read_sep(const Py_buffer *sep, char *out)
{
    bool one = sep->len == 1;
    if (one)
        *out = *(const char *)sep->buf;
    else
        PyErr_Format(PyExc_ValueError, "sep must be one byte, got %zd", sep->len);
    return one ? 0 : -1;
}

static int read_keep(PyObject *keep, int *out)
{
    *out = keep == Py_None ? -1 : PyObject_IsTrue(keep);
    return keep != Py_None && *out < 0 ? -1 : 0;
}

static PyObject *refuse_arguments(void)
{
    if (!PyErr_ExceptionMatches(PyExc_BufferError)) return NULL;
    PyErr_SetString(PyExc_ValueError, "lines must be contiguous, got a view with gaps");
    return NULL;
}

static PyObject *lines_of(
    FilterObject *self, PyObject *args, PyObject *kwargs, bool add, const char *types)
{
    static char *const names[] = { "", "sep", "last", "keep", "_ends", NULL };
    Py_buffer view, sep = { .obj = NULL }, ends = { .obj = NULL };
    PyObject *keep = Py_None, *out = NULL;
    int last = 0;
    lines l = { .self = self, .add = add, .l.sep = '\n' };
    if (!PyArg_ParseTupleAndKeywords(
            args, kwargs, types, (char **)names, &view, &sep, &last, &keep, &ends))
        return refuse_arguments();
    l.l.last = last != 0;
    if ((!sep.obj || read_sep(&sep, &l.l.sep) == 0) && read_keep(keep, &l.keep) == 0 &&
        (l.bf = filter_enter(self))) {
        if (ends.obj && l.keep < 0) {
            l.ends = ends.buf;
            l.nends = (size_t)ends.len / sizeof(uint32_t);
        }
        l.stays = !self->blocking && view.len <= SMALL;
        out = answer(&l, &view);
        filter_leave(self);
    }
    if (ends.obj) PyBuffer_Release(&ends);
    if (sep.obj) PyBuffer_Release(&sep);
    PyBuffer_Release(&view);
    return out;
}

PyObject *filter_update_lines(FilterObject *self, PyObject *args, PyObject *kwargs)
{
    return lines_of(self, args, kwargs, true, "y*|y*$pOy*:update_lines");
}

PyObject *filter_contains_lines(FilterObject *self, PyObject *args, PyObject *kwargs)
{
    return lines_of(self, args, kwargs, false, "y*|y*$pOy*:contains_lines");
}

/* ---- finding alone ---- */
static Py_ssize_t find_ends(bf_lines *l, uint32_t *ends, size_t room)
{
    enum { FEW = 256 };
    const char *const start = l->at;
    bf_key keys[FEW];
    size_t n = 0, found;
    if (l->end - start > UINT32_MAX) return -1;
    while ((found = bf_next_lines(l, keys, FEW))) {
        if (found > room - n) return -1;
        for (size_t i = 0; i < found; i++)
            ends[n++] = (uint32_t)((const char *)keys[i].ptr + keys[i].len - start);
    }
    return (Py_ssize_t)n;
}

/* Writes the ends of the lines of a buffer, as 32-bit numbers, to `ends`.  Returns how many, or -1
 * if `ends` is too small. update_lines and contains_lines take them as _ends while another thread
 * finds the next ones: the thread that read the lines finds them fastest. */
PyObject *module_find_lines(PyObject *module, PyObject *args)
{
    Py_buffer view, sep, ends;
    PyObject *out = NULL;
    bf_lines l = { .at = NULL };
    (void)module;
    if (!PyArg_ParseTuple(args, "y*y*w*:_find_lines", &view, &sep, &ends)) return NULL;
    if (read_sep(&sep, &l.sep) == 0) {
        l.at = view.buf;
        l.end = l.at + view.len;
        PyThreadState *ts = gil_out();
        const Py_ssize_t n = find_ends(&l, ends.buf, (size_t)ends.len / sizeof(uint32_t));
        gil_back(ts);
        out = PyLong_FromSsize_t(n);
    }
    PyBuffer_Release(&ends);
    PyBuffer_Release(&sep);
    PyBuffer_Release(&view);
    return out;
}
