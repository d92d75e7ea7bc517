/* py_column.c - batches over keys that can be read without the GIL: gathers keys through the
 * interface `column`, and calls the core. */
#include "py_bloomfilter.h"

enum {
    SLICE_NS = 10000000, /* interval in ns at which the GIL is taken and signals are checked */
    STAY_NS = 500000,    /* maximum time in ns that a small column keeps the GIL */
    /* columns of at most this many keys keep the GIL, because taking it again may take ms */
    SMALL = 1024,
    CALL_BYTES = 1 << 22, /* bytes of keys per call of the core; more keys need several calls */
    /* with several threads: keys per call, and bytes of converted text for each of them */
    MANY = 1 << 17,
    ROOM_OF_KEY = 64
};

/* ---- keys that several threads can gather ---- */
static inline __attribute__((always_inline)) size_t numbers(const column *c, size_t from, size_t n,
    bf_key *keys, char *text, size_t width, bool is_signed, bool swapped)
{
    const char *at = c->at + (Py_ssize_t)from * c->stride;
    for (size_t i = 0; i < n; i++, at += c->stride) {
        const size_t len = number_text(at, width, is_signed, swapped, text);
        keys[i] = (bf_key){ text, len };
        text += len;
    }
    return n;
}

size_t pick_numbers(const column *c, size_t from, size_t n, bf_key *keys, char *text)
{
    return c->width == 8 && !c->swapped && c->is_signed
               ? numbers(c, from, n, keys, text, 8, true, false) /* the most frequent case */
               : numbers(c, from, n, keys, text, c->width, c->is_signed, c->swapped);
}

static void skip(column *c, size_t n)
{
    c->at += (Py_ssize_t)n * c->stride;
    c->next += (int64_t)n;
    c->left -= (Py_ssize_t)n;
}

static void stop_at_damaged(column *c)
{
    c->left = 0;
    c->fault = FAULT_DAMAGED;
    c->value = c->next;
}

void gather_picked(batch *b, column *c)
{
    const size_t fits = c->converts ? b->space / DECIMAL_MAX : b->most,
                 most = b->most < fits ? b->most : fits,
                 n = (size_t)c->left < most ? (size_t)c->left : most;
    b->n = c->pick(c, 0, n, b->keys, b->room);
    skip(c, b->n);
    if (b->n < n) stop_at_damaged(c);
}

/* ---- hashes ---- */
void gather_hashes(batch *b, column *c)
{
    const bool in_place = c->stride == sizeof(uint64_t) && !c->swapped && !b->self->remote &&
                          (uintptr_t)c->at % sizeof(uint64_t) == 0;
    const Py_ssize_t at_once = b->threads == 1 ? 1 << 16 : 1 << 20,
                     most = in_place ? at_once : (Py_ssize_t)b->most,
                     n = c->left < most ? c->left : most;
    for (Py_ssize_t i = 0; !in_place && i < n; i++)
        b->room_for_hashes[i] = load_number(c->at + i * c->stride, c->width, false, c->swapped);
    b->hashes = in_place ? (const void *)c->at : b->room_for_hashes;
    c->at += n * c->stride;
    c->left -= n;
    b->n = (size_t)n;
}

/* ---- the loop ---- */
int column_refuse(const column *c, Py_ssize_t row)
{
    switch (c->fault) {
    case FAULT_NULL:
        PyErr_SetString(PyExc_TypeError,
            "a key must be str, bytes-like or int, not null (nulls='skip' leaves nulls out)");
        break;
    case FAULT_TYPE:
        PyErr_Format(PyExc_TypeError, "a key must be str, bytes-like or int, not %s", c->what);
        break;
    case FAULT_TEXT:
        PyErr_Format(PyExc_ValueError, "U+%x has no UTF-8 form", (unsigned)c->value);
        break;
    default: PyErr_Format(PyExc_ValueError, "damaged Arrow data: %s %lld", c->what, c->value);
    }
    name_key(row);
    return -1;
}

/* Adds or tests gathered keys from key b->asked on, by one call of the core. each: the answers of
 * the chunk, or NULL. */
static int ask_gathered(batch *b, uint8_t *each, bf_error *err)
{
    /* the bytes of a call are limited, because other threads may wait for its end */
    size_t n = b->hashed ? b->n : 0, bytes = 0;
    const size_t most = b->threads == 1 ? CALL_BYTES : MANY * ROOM_OF_KEY;
    while (b->asked + n < b->n && bytes < most) bytes += b->keys[b->asked + n++].len;
    if (each) each += b->asked;
    const int64_t rc = !b->hashed               ? b->call(b->bf, b->keys + b->asked, n, each, err)
                       : b->call == bf_add_many ? bf_add_hashes(b->bf, b->hashes, n, each, err)
                                                : bf_test_hashes(b->bf, b->hashes, n, each, err);
    if (rc < 0) return -1;
    b->hits += rc;
    b->asked += n;
    plain_yield(b->self);
    return 0;
}

static size_t pick(const void *c, size_t from, size_t n, bf_key *keys, char *text)
{
    return ((const column *)c)->pick(c, from, n, keys, text);
}

/* Adds or tests the next keys by one call of the core, whose threads gather them. Returns the
 * number of keys, or -1. */
static Py_ssize_t ask_picked(batch *b, column *c, uint8_t *each, bf_error *err)
{
    const bf_column keys = { pick, c };
    size_t n = c->left < MANY ? (size_t)c->left : MANY;
    const int64_t rc = b->call == bf_add_many ? bf_add_column(b->bf, &keys, n, each, err)
                                              : bf_test_column(b->bf, &keys, n, each, err);
    const bool damaged = rc == BF_EHOST; /* has_many: nothing else of the host can fail */
    if (rc < 0 && !damaged) return -1;
    if (damaged)
        n = err->key;
    else
        b->hits += rc;
    skip(c, n);
    if (damaged) stop_at_damaged(c);
    b->done += (Py_ssize_t)n;
    plain_yield(b->self);
    return (Py_ssize_t)n;
}

static bool has_many(const batch *b, const column *c)
{
    return b->threads != 1 && b->n == 0 && c->pick && c->left > BATCH_KEYS && !b->hashed &&
           (b->call == bf_add_many || b->call == bf_test_many);
}

/* Works until the deadline or the end of the column. Uses no Python objects. */
static int slice(batch *b, column *c, uint8_t *each, bf_error *err)
{
    while (c->left || b->n) {
        if (has_many(b, c)) {
            const Py_ssize_t n = ask_picked(b, c, each, err);
            if (n < 0) return -1;
            if (each) each += n;
            if (clock_ns() > b->deadline) return 0;
            continue;
        }
        if (b->n == 0) {
            b->used = 0;
            c->gather(b, c);
        }
        if (b->n && ask_gathered(b, each, err) < 0) return -1;
        if (b->asked == b->n) {
            const size_t rows = b->n + b->nulls;
            batch_answered(b, each);
            if (each) each += rows;
        }
        if (clock_ns() > b->deadline) return 0;
    }
    return 0;
}

static int turn(batch *b, column *c, bool small)
{
    bf_error err;
    uint8_t *each = b->out ? batch_room(b, c->left + (Py_ssize_t)(b->n + b->nulls)) : NULL;
    if (b->out && !each) return -1;
    b->deadline = clock_ns() + (small ? STAY_NS : SLICE_NS);
    PyThreadState *ts = small && !b->self->remote ? NULL : gil_release_plain(b->self);
    bf_use_threads(b->threads);
    int rc = slice(b, c, each, &err);
    bf_use_threads(1);
    gil_take_plain(ts, b->self);
    if (rc == 0) return PyErr_CheckSignals();
    raise_in(b->self, &err);
    const bool named = err.key != BF_NO_KEY;
    const Py_ssize_t row = batch_row(b, b->asked + (named ? err.key : 0));
    if (named) name_refused(&err, row);
    /* between the nulls of a chunk, answers are not in their rows yet */
    if (each && !err.lost) note_answers(b->out, b->nulls ? b->done : row);
    return -1;
}

static int run_turns(batch *b, column *c)
{
    b->n = b->asked = b->nulls = 0;
    for (bool small = c->left <= SMALL; c->left || b->n; small = false)
        if (turn(b, c, small) < 0) return -1;
    return c->fault ? column_refuse(c, b->done) : 0;
}

/* With several threads, gathers more keys for each call of the core. */
int column_run(batch *b, column *c)
{
    char *const room = b->room;
    const size_t space = b->space, most = b->most;
    const size_t n = (size_t)c->left < MANY ? (size_t)c->left : MANY;
    char *more = b->threads != 1 && !has_many(b, c) && n > BATCH_KEYS
                     ? PyMem_RawMalloc(n * (sizeof *b->keys + ROOM_OF_KEY))
                     : NULL;
    if (more) {
        b->keys = (bf_key *)(void *)more;
        b->room = more + n * sizeof *b->keys;
        b->space = n * ROOM_OF_KEY;
        b->most = n;
    }
    const int rc = run_turns(b, c);
    b->keys = b->own_keys;
    b->room = room;
    b->space = space;
    b->most = most;
    PyMem_RawFree(more);
    return rc;
}
