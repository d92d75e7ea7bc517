/* py_lines.c - batches over lines: keys that stand in one buffer, each ended by a separator, read
 * without an object a key.  Knows separators and buffers; knows neither files nor what a key means.
 *
 * Large buffers are read without the GIL, with plain kernels while nobody else is inside
 * (py_life.c); signals are looked at in between. */
#include "py_bloomfilter.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum {
    LINES_KEYS = 1000,    /* keys a core call: one round trip to Redis      */
    LINES_NS = 10000000,  /* signals are looked at this often               */
    CALL_BYTES = 1 << 22, /* lines of more bytes go in several calls of the core: others wait for
                             its end, if only to come in */
    SMALL =
        1 << 15 /* up to so many bytes the GIL stays: giving it away may cost ms to get it back */
};

typedef struct {
    FilterObject *self;
    bf_filter *bf;
    bool add, stays, last; /* stays: the GIL does                            */
    char sep;
    int keep;             /* 1, 0: the answer of lines to copy; -1: none    */
    const char *at, *end; /* what is left of the buffer                     */
    char *kept;           /* where the next copied line goes                */
    int64_t keys, hits;
    size_t n;
    bf_key key[LINES_KEYS];
    uint8_t each[LINES_KEYS];
} lines;

/* ---- the loop: touches no Python object ---- */
static bool take(lines *l, const char *from, const char *stop)
{
    l->key[l->n++] = (bf_key){ from, (size_t)(stop - from) };
    return l->n == LINES_KEYS;
}

#ifdef __SSE2__
/* Bit i: byte i of 64 is a separator. */
static inline uint64_t separators(const char *at, __m128i sep)
{
    uint64_t bits = 0;
    for (int i = 0; i < 4; i++)
        bits |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(
                    _mm_loadu_si128((const __m128i *)(const void *)(at + 16 * i)), sep))
                << 16 * i;
    return bits;
}

/* Whole lines of whole blocks: a search a line costs twice as much.  *from is where the next line
 * begins; returns where to look on. */
static const char *gather_blocks(lines *l, const char **from)
{
    const __m128i sep = _mm_set1_epi8(l->sep);
    const char *at = *from, *end = l->end - at > CALL_BYTES ? at + CALL_BYTES : l->end;
    for (; end - at >= 64; at += 64)
        for (uint64_t bits = separators(at, sep); bits; bits &= bits - 1) {
            const char *stop = at + __builtin_ctzll(bits);
            bool full = take(l, *from, stop);
            *from = stop + 1;
            if (full) return *from;
        }
    return at;
}
#else
static const char *gather_blocks(lines *l, const char **from)
{
    (void)l;
    return *from;
}
#endif

/* Returns where the first line that was not taken begins. */
static const char *gather(lines *l)
{
    const char *from = l->at, *at;
    l->n = 0;
    for (at = gather_blocks(l, &from);
        l->n < LINES_KEYS && from < l->end && from - l->at < CALL_BYTES; at = from) {
        const char *stop = at < l->end ? memchr(at, l->sep, (size_t)(l->end - at)) : NULL;
        if (!stop && !l->last) break;
        if (!stop) stop = l->end;
        take(l, from, stop);
        from = stop < l->end ? stop + 1 : stop;
    }
    return from;
}

static void copy_kept(lines *l)
{
    for (size_t i = 0; i < l->n; i++) {
        if (l->each[i] != l->keep) continue;
        memcpy(l->kept, l->key[i].ptr, l->key[i].len);
        l->kept += l->key[i].len;
        *l->kept++ = l->sep;
    }
}

/* Works until the deadline or the end: 1 = there may be more, 0 = done, -1 = fault. */
static int slice(lines *l, uint64_t deadline, bf_error *err)
{
    do {
        const char *next = gather(l);
        if (l->n == 0) return 0;
        uint8_t *each = l->keep < 0 ? NULL : l->each;
        int64_t rc = l->add ? bf_add_many(l->bf, l->key, l->n, each, err)
                            : bf_test_many(l->bf, l->key, l->n, each, err);
        if (rc < 0) return -1;
        if (each) copy_kept(l);
        l->at = next;
        l->keys += (int64_t)l->n;
        l->hits += rc;
        if (!l->stays) solo_yield(l->self);
    } while (clock_ns() < deadline);
    return 1;
}

/* ---- the GIL ---- */
static int run(lines *l)
{
    bf_error err;
    for (;;) {
        PyThreadState *ts = l->stays ? NULL : solo_release(l->self);
        int more = slice(l, clock_ns() + LINES_NS, &err);
        solo_take(ts, l->self);
        if (more < 0) {
            raise_in(l->self, &err);
            if (err.key != BF_NO_KEY) name_key((Py_ssize_t)(l->keys + (int64_t)err.key));
            return -1;
        }
        if (more == 0) return 0;
        if (PyErr_CheckSignals() < 0) return -1;
    }
}

/* Room for every line with a separator of its own, the last one's included. */
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
    l->kept = start;
    l->at = view->buf;
    l->end = l->at + view->len;
    int rc = run(l);
    if (rc == 0 && l->add) rc = filter_grew(l->self, l->hits);
    if (rc == 0 && l->keep >= 0) rc = _PyBytes_Resize(&kept, l->kept - start);
    if (rc < 0) {
        Py_XDECREF(kept);
        return NULL;
    }
    return Py_BuildValue("(LLnN)", (long long)l->keys, (long long)l->hits,
        (Py_ssize_t)(l->at - (const char *)view->buf), kept);
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
    PyErr_SetString(PyExc_ValueError, "lines must stand in one piece, got a view with gaps");
    return NULL;
}

static PyObject *lines_of(
    FilterObject *self, PyObject *args, PyObject *kwargs, bool add, const char *types)
{
    static char *const names[] = { "", "sep", "last", "keep", NULL };
    Py_buffer view, sep = { .obj = NULL };
    PyObject *keep = Py_None, *out = NULL;
    int last = 0;
    lines l = { .self = self, .add = add, .sep = '\n' };
    if (!PyArg_ParseTupleAndKeywords(
            args, kwargs, types, (char **)names, &view, &sep, &last, &keep))
        return refuse_arguments();
    l.last = last != 0;
    if ((!sep.obj || read_sep(&sep, &l.sep) == 0) && read_keep(keep, &l.keep) == 0 &&
        (l.bf = filter_enter(self))) {
        l.stays = !self->remote && view.len <= SMALL;
        out = answer(&l, &view);
        filter_leave(self);
    }
    if (sep.obj) PyBuffer_Release(&sep);
    PyBuffer_Release(&view);
    return out;
}

PyObject *filter_update_lines(FilterObject *self, PyObject *args, PyObject *kwargs)
{
    return lines_of(self, args, kwargs, true, "y*|y*$pO:update_lines");
}

PyObject *filter_contains_lines(FilterObject *self, PyObject *args, PyObject *kwargs)
{
    return lines_of(self, args, kwargs, false, "y*|y*$pO:contains_lines");
}
