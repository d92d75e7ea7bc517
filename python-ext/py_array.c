/* py_array.c - batches over arrays: numpy 'S' arrays and one-dimensional integer arrays of any width, order and
 * stride, read from the buffer without making Python objects.  Knows the buffer protocol's formats; anything
 * else goes by iteration.  Large arrays are read without the GIL, in slices; signals are looked at in between. */
#include "py_bloomfilter.h"

enum {
    SLICE_NS = 10000000,         /* the GIL is asked for this often, for signals */
    SMALL = 1024                 /* up to so many keys the GIL stays: giving it away may cost ms to get it back */
};

typedef struct {
    const char *at;              /* the next item */
    Py_ssize_t left, stride;
    size_t width;
    bool text, is_signed, swapped;
} cells;

/* ---- one item as a key ---- */
/* numpy's own reading of an 'S' item: the NUL bytes at its end are padding. */
static size_t text_length(const char *p, size_t width)
{
    uint64_t word;
    while (width >= sizeof word && (memcpy(&word, p + width - sizeof word, sizeof word), word == 0)) width -= sizeof word;
    while (width && p[width - 1] == 0) width--;
    return width;
}

static uint64_t load_number(const char *p, size_t width, bool swapped)
{
    uint16_t u16; uint32_t u32; uint64_t u64;
    switch (width) {
    case 1: return (uint8_t)*p;
    case 2: memcpy(&u16, p, 2); return swapped ? __builtin_bswap16(u16) : u16;
    case 4: memcpy(&u32, p, 4); return swapped ? __builtin_bswap32(u32) : u32;
    default: memcpy(&u64, p, 8); return swapped ? __builtin_bswap64(u64) : u64;
    }
}

static size_t number_text(const cells *c, char *out)
{
    unsigned spare = 64 - 8 * (unsigned)c->width;
    uint64_t v = load_number(c->at, c->width, c->swapped);
    int64_t extended = (int64_t)(v << spare) >> spare;
    bool negative = c->is_signed && extended < 0;
    return decimal(out, negative ? 0 - (uint64_t)extended : v, negative);
}

static void gather(batch *b, cells *c)
{
    for (b->n = b->used = 0; b->n < BATCH_KEYS && c->left; c->left--, c->at += c->stride) {
        bf_key *key = &b->keys[b->n++];
        if (c->text) {
            *key = (bf_key){ c->at, text_length(c->at, c->width) };
        } else {
            *key = (bf_key){ b->room + b->used, number_text(c, b->room + b->used) };
            b->used += key->len;
        }
    }
}

/* ---- the loop ---- */
/* Works until the deadline or the end; touches no Python object. */
static int slice(batch *b, cells *c, uint8_t *each, bf_error *err)
{
    int64_t work = 0;
    while (c->left) {
        gather(b, c);
        int64_t rc = b->call(b->bf, b->keys, b->n, each, err);
        if (rc < 0) return -1;
        b->hits += rc;
        b->done += (Py_ssize_t)b->n;
        if (each) each += b->n;
        work += (int64_t)(b->n * (32 + c->width));
        if (work > 1 << 16) {
            if (clock_ns() > b->deadline) return 0;
            work = 0;
        }
    }
    return 0;
}

static int run(batch *b, cells *c)
{
    bf_error err;
    bool small = c->left <= SMALL;
    uint8_t *each = NULL;
    if (b->out && !batch_room(b, c->left)) return -1;
    while (c->left) {
        if (b->out) each = batch_room(b, c->left);
        b->deadline = clock_ns() + SLICE_NS;
        PyThreadState *ts = small ? NULL : gil_release(b->self, NULL);
        int rc = slice(b, c, each, &err);
        gil_take(ts, b->self, NULL);
        if (rc < 0) {
            raise_in(b->self, &err);
            if (err.key != BF_NO_KEY) name_key(b->done + (Py_ssize_t)err.key);
            return -1;
        }
        if (PyErr_CheckSignals() < 0) return -1;
    }
    return 1;
}

/* ---- which arrays ---- */
/* struct's letters with one order mark before them; "5s" is a text of 5 bytes. */
static bool read_format(const Py_buffer *v, cells *c)
{
    const char *f = v->format ? v->format : "B";
    char order = strchr("@=<>!", *f) && *f ? *f++ : '@';
    const char *letter = f + strspn(f, "0123456789");
    if (!*letter || letter[1]) return false;
    c->text = *letter == 's';
    c->is_signed = *letter >= 'a';
    c->width = (size_t)v->itemsize;
    c->swapped = PY_LITTLE_ENDIAN ? order == '>' || order == '!' : order == '<';
    bool number = letter == f && strchr("bBhHiIlLqQnN", *letter) && (c->width == 1 || c->width == 2 || c->width == 4 || c->width == 8);
    return c->text || number;
}

static bool readable(const Py_buffer *v, cells *c)
{
    if (v->ndim != 1 || v->suboffsets || !read_format(v, c)) return false;
    c->at = v->buf;
    c->left = v->shape ? v->shape[0] : v->len / (v->itemsize ? v->itemsize : 1);
    c->stride = v->strides ? v->strides[0] : v->itemsize;
    return true;
}

/* mmap, ctypes' buffers, PickleBuffer: bytes without an iterator of their own are not an array of small numbers. */
static int refuse_one(PyObject *o)
{
    PyErr_Format(PyExc_TypeError, "keys must be an iterable of keys, not one %.200s", Py_TYPE(o)->tp_name);
    return -1;
}

int array_batch(batch *b, PyObject *keys)
{
    Py_buffer view;
    cells c;
    if (!PyObject_CheckBuffer(keys)) return 0;
    if (PyObject_GetBuffer(keys, &view, PyBUF_FULL_RO) < 0) {
        bool no_array = PyErr_ExceptionMatches(PyExc_BufferError) || PyErr_ExceptionMatches(PyExc_ValueError)
            || PyErr_ExceptionMatches(PyExc_TypeError);
        if (no_array) PyErr_Clear();   /* numpy's dates and the like: iteration says what is wrong */
        return no_array ? 0 : -1;
    }
    int rc = view.itemsize == 1 && !Py_TYPE(keys)->tp_iter ? refuse_one(keys) : readable(&view, &c) ? run(b, &c) : 0;
    PyBuffer_Release(&view);
    return rc;
}
