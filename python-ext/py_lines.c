/* py_lines.c - batches over text lines: keys in one buffer, each followed by a separator. The core
 * finds the text lines (bf_add_lines). Large buffers are read without the GIL, with plain kernels
 * while no other thread uses the filter (py_gil.c). */
#include "py_bloomfilter.h"

enum {
    LINES_NS = 10000000, /* interval in ns at which signals are checked */
    /* buffers of at most this many bytes keep the GIL, because taking it again may take ms */
    SMALL = 1 << 15
};

typedef struct {
    FilterObject *self;
    bf_filter *bf;
    bool add, stays; /* stays: the call keeps the GIL */
    unsigned threads;
    int keep;       /* text lines with this answer (1 or 0) are returned; -1: none */
    bool lost;      /* the file was replaced or deleted: its keys are lost */
    uint64_t taken; /* text lines before the one that was refused */
    bf_lines l;
} lines;

/* ---- the GIL ---- */
static int run(lines *l)
{
    bf_error err;
    int rc;
    do {
        PyThreadState *ts = l->stays ? NULL : gil_release_plain(l->self);
        const uint64_t deadline = clock_ns() + LINES_NS;
        bf_use_threads(l->threads);
        do {
            rc = (l->add ? bf_add_lines : bf_test_lines)(l->bf, &l->l, &err);
            if (!l->stays) plain_yield(l->self);
        } while (rc > 0 && clock_ns() < deadline);
        bf_use_threads(1);
        gil_take_plain(ts, l->self);
    } while (rc > 0 && PyErr_CheckSignals() == 0);
    l->taken = l->l.keys;
    if (rc < 0) {
        l->lost = err.lost;
        if (err.key != BF_NO_KEY) l->taken = err.key;
        raise_in(l->self, &err);
        if (err.key != BF_NO_KEY) name_refused(&err, (Py_ssize_t)err.key);
    }
    return rc == 0 ? 0 : -1;
}

/* The exception has what was done before it: keys that were added are never new again. */
static void note_done(const lines *l, const char *kept)
{
    PyObject *raised = PyErr_GetRaisedException();
    PyObject *done = Py_BuildValue("(Ly#)", (long long)l->taken, kept,
        l->keep < 0 ? (Py_ssize_t)0 : (Py_ssize_t)(l->l.kept - kept));
    if (!done || PyObject_SetAttrString(raised, "_done", done) < 0) PyErr_Clear();
    Py_XDECREF(done);
    PyErr_SetRaisedException(raised);
}

static PyObject *answer(lines *l, const Py_buffer *view)
{
    /* space for all text lines, each followed by a separator */
    PyObject *kept = view->len == PY_SSIZE_T_MAX
                         ? PyErr_NoMemory()
                         : PyBytes_FromStringAndSize(NULL, l->keep < 0 ? 0 : view->len + 1);
    if (!kept) return NULL;
    char *start = PyBytes_AS_STRING(kept);
    l->l.kept = l->keep < 0 ? NULL : start;
    l->l.keep = l->keep > 0;
    l->l.at = view->buf;
    l->l.end = l->l.at + view->len;
    int rc = l->add ? filter_begin_adds(l->self) : 0;
    if (rc == 0) rc = run(l);
    if (rc < 0 && l->add && !l->lost) note_done(l, start);
    if (rc == 0 && l->keep >= 0) rc = _PyBytes_Resize(&kept, l->l.kept - start);
    if (rc < 0) {
        Py_XDECREF(kept);
        return NULL;
    }
    return Py_BuildValue("(LLnN)", (long long)l->l.keys, (long long)l->l.hits,
        (Py_ssize_t)(l->l.at - (const char *)view->buf), kept);
}

static PyObject *lines_of(
    FilterObject *self, PyObject *args, PyObject *kwargs, bool add, const char *types)
{
    static char *const names[] = { "", "sep", "last", "keep", "threads", NULL };
    Py_buffer view, sep = { .obj = NULL };
    PyObject *keep = Py_None, *threads = NULL, *out = NULL;
    int last = 0;
    lines l = { .self = self, .add = add, .threads = 1, .l.sep = '\n' };
    if (!PyArg_ParseTupleAndKeywords(
            args, kwargs, types, (char **)names, &view, &sep, &last, &keep, &threads)) {
        if (PyErr_ExceptionMatches(PyExc_BufferError))
            PyErr_SetString(PyExc_ValueError, "lines must be contiguous, got a view with gaps");
        return NULL;
    }
    l.l.last = last != 0;
    if (threads) l.threads = threads_of(threads);
    l.keep = keep == Py_None || PyErr_Occurred() ? -1 : PyObject_IsTrue(keep);
    if (sep.obj && sep.len == 1) l.l.sep = *(const char *)sep.buf;
    if (PyErr_Occurred())
        ;
    else if (sep.obj && sep.len != 1)
        PyErr_Format(PyExc_ValueError, "sep must be one byte, got %zd", sep.len);
    else if ((keep == Py_None || l.keep >= 0) && (l.bf = filter_enter(self))) {
        if (l.threads != 1) l.threads = useful_threads(self, l.bf, l.threads);
        l.stays = !self->blocking && view.len <= SMALL;
        out = answer(&l, &view);
        filter_leave(self);
    }
    if (sep.obj) PyBuffer_Release(&sep);
    PyBuffer_Release(&view);
    return out;
}

PyObject *filter_update_lines(FilterObject *self, PyObject *args, PyObject *kwargs)
{
    return lines_of(self, args, kwargs, true, "y*|y*$pOO:update_lines");
}

PyObject *filter_contains_lines(FilterObject *self, PyObject *args, PyObject *kwargs)
{
    return lines_of(self, args, kwargs, false, "y*|y*$pOO:contains_lines");
}
