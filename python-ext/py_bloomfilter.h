/* py_bloomfilter.h - what the files of the Python extension share: the object, how a call enters
 * it, keys, errors. The extension parses arguments, gathers keys, calls the core once and maps the
 * answer; it knows bloomfilter.h and nothing behind it: no hash, no bit, no formula.
 *
 * Threads.  With a GIL, a call on one key keeps the GIL, and the core runs its plain kernels.  A
 * call that releases the GIL inside the core (columns, large filters, disk) counts itself in
 * `unlocked`; while that is not 0 the filter uses atomic kernels.  One case differs: a column
 * (py_column.c) whose thread is the only one inside keeps the plain kernels, which are several
 * times as fast for new keys, and notes that in `plain`.  A thread that arrives asks it to share:
 * the first thread changes to atomic kernels after its current few hundred keys, and only then the
 * second one enters.  Without a GIL kernels are always atomic.  Every call on a filter in Redis
 * releases the GIL.  `users` counts calls during which other code may run; close() refuses while it
 * is not 0, so that no call loses its handle. */
#ifndef PY_BLOOMFILTER_H
#define PY_BLOOMFILTER_H
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "base/parameters.h"
#include "bloomfilter_host.h"
#include "py_decimal.h"

#if PY_VERSION_HEX < 0x030C0000
static inline PyObject *PyErr_GetRaisedException(void)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    if (type) PyErr_NormalizeException(&type, &value, &trace);
    if (value && trace) PyException_SetTraceback(value, trace);
    Py_XDECREF(type);
    Py_XDECREF(trace);
    return value;
}
static inline void PyErr_SetRaisedException(PyObject *e)
{
    PyErr_Restore(e ? Py_NewRef(Py_TYPE(e)) : NULL, e, e ? PyException_GetTraceback(e) : NULL);
}
#endif

#ifdef Py_GIL_DISABLED
#define NO_GIL 1
#else
#define NO_GIL 0
#endif

typedef struct {
    PyTypeObject *filter_type, *counting_type;
    PyTypeObject *replies_type, *hashes_type; /* py_redis.c */
    PyObject *error;                          /* bloomfilter.Error */
    PyObject *warning;                        /* bloomfilter.SaturationWarning */
    PyObject *names; /* a tuple of the strings that get_attribute looks up: kept alive */
    PyObject *turn;  /* a Python function that does nothing: see batch_turn */
} module_state;

/* A client object that is the home of a filter: py_redis.c. */
typedef struct {
    bf_redis_client host; /* what the core calls */
    module_state *state;
    PyObject *client, *transport,
        *name; /* owned: as given; the object that talks through it; what messages call it */
} redis_client;

typedef struct {
    PyObject_HEAD
    bf_filter *bf;       /* NULL: closed, or __init__ did not run */
    Py_ssize_t users;    /* calls inside; with a GIL only calls during which other code may run */
    Py_ssize_t unlocked; /* calls inside the core without the GIL */
    int forks;           /* fork_count() when `users` was last right: py_active.c */
    int wanted;          /* without a GIL: bf_process() while a thread waits for all to leave */
    PyObject *weakrefs;
    redis_client *client;     /* NULL: the storage is not a client object */
    int64_t adds_until_check; /* new keys until the next check of the fill */
    bool warn;                /* false: the fill is not checked */
    size_t nogil_min_len;     /* keys of this length and longer are looked up by ask_nogil */
    bool remote;              /* in Redis: every call may be a round trip, without the GIL */
    bool blocking;            /* remote, or it has a clock or hash functions in Python */
    bool waits;               /* any call may wait for a lock: batches hold all their keys */
    bool shared;              /* the same, for a file: other processes may have the lock */
    int plain;                /* py_gil.c: is a thread without the GIL in the plain kernels? */
    int plain_process;        /* bf_process() of that thread: a fork leaves it behind */
    PyObject *clock; /* what the core calls: a clock, or the object of py_hashes.c; or NULL */
} FilterObject;

extern struct PyModuleDef bloomfilter_module;
extern PyType_Spec filter_spec, counting_spec, replies_spec, hashes_spec;

/* ---- py_error.c ---- */
/* NULL without an exception where the type is neither BloomFilter nor a subclass. */
module_state *state_of(PyTypeObject *type);
bool is_filter(PyObject *o);
bool is_counting(PyTypeObject *type);
/* The only place where a bf_error becomes an exception.  Returns NULL. */
void *raise_error(module_state *state, const bf_error *err);
void *raise_in(FilterObject *self, const bf_error *err);
void *raise_closed(void);
/* An attribute by one of the names in module_state: a new string for each call would stay in
 * CPython's cache of methods. */
PyObject *get_attribute(PyObject *o, const char *name);
bool has_attribute(PyObject *o, const char *name);
/* Calls a function of a module of the package, imported when it is needed; format: Py_BuildValue's,
 * of a tuple. */
PyObject *call_helper(const char *module, const char *function, const char *format, ...);
/* A TypeError or ValueError that is set gets "key 5: " before its message, and 5 as its index. */
void name_key(Py_ssize_t index);

/* ---- py_active.c: entering, leaving ---- */
/* NULL with a ValueError where the filter is closed; otherwise filter_leave must follow. */
bf_filter *filter_enter(FilterObject *self);
void filter_leave(FilterObject *self);
/* What they are made of: for a call in which this thread runs no Python code, so does not fork. */
bf_filter *filter_count_in(FilterObject *self);
void filter_count_out(FilterObject *self);
/* With a GIL: the call, counted or not, waits without the GIL until filter_count_out. */
void filter_count_waiting(FilterObject *self);
/* Alone, so that the handle may be replaced?  Then replace_end must follow. */
bool replace_begin(FilterObject *self);
void replace_end(FilterObject *self);
void inside_begin(void); /* once, when the module is made */
/* How often this process is a child of fork of the one that imported the module. */
int fork_count(void);

/* The same for a call in which no other code can run: with a GIL there is nothing to count. */
void plain_end(FilterObject *self);
static inline void plain_share(FilterObject *self)
{
    if (__builtin_expect(__atomic_load_n(&self->plain, __ATOMIC_RELAXED) != 0, 0)) plain_end(self);
}
static inline bf_filter *filter_peek(FilterObject *self)
{
    if (NO_GIL) return filter_count_in(self);
    plain_share(self);
    return self->bf ? self->bf : raise_closed();
}
static inline void filter_peeked(FilterObject *self)
{
    if (NO_GIL) filter_count_out(self);
}

/* ---- py_gil.c: the GIL ---- */
/* Lets other threads run while this one works in the core; both filters were entered, b may be
 * NULL.  Not where one has a clock of Python's and none is remote: NULL then, which gil_take
 * understands. */
PyThreadState *gil_release(FilterObject *a, FilterObject *b);
void gil_take(PyThreadState *ts, FilterObject *a, FilterObject *b);
/* gil_release for a thread that is alone inside: it keeps the plain kernels until another thread
 * arrives.  It calls plain_yield between its calls of the core and gil_take_plain at the end.  If
 * it is not alone, this is gil_release, and plain_yield does nothing. */
PyThreadState *gil_release_plain(FilterObject *self);
void plain_yield(FilterObject *self);
void gil_take_plain(PyThreadState *ts, FilterObject *self);
/* The same for work on the whole bitmap, if that is large enough to be worth it, or in Redis. */
PyThreadState *gil_release_if_big(FilterObject *a, FilterObject *b);

/* A call of the core about one filter or two (b may be NULL), without the GIL: it enters them, lets
 * the GIL go by one of the three above (or keeps it: NULL), takes it again, leaves, and raises what
 * went wrong. */
typedef struct {
    bf_filter *bf, *other;
    bf_error err;
    FilterObject *a, *b;
    PyThreadState *ts;
} core_call;
typedef PyThreadState *release_gil(FilterObject *a, FilterObject *b);
bool core_begin(core_call *c, FilterObject *a, FilterObject *b, release_gil *release);
void core_back(core_call *c);       /* the GIL alone; core_end does it where it was not done */
int core_end(core_call *c, int rc); /* rc, or -1 with an exception */

/* What those and every other call into a core that may come back through a client object are made
 * of: out and back; and inside such a callback enter, which is NULL where the GIL was never let go,
 * and leave. */
PyThreadState *gil_out(void);
void gil_back(PyThreadState *ts);
PyThreadState *gil_enter(void);
void gil_leave(PyThreadState *ts);

/* The shapes of methods: one argument or none; keywords; (keys, *, nulls=); of a class; of the
 * module; operators. */
typedef PyObject *method(FilterObject *self, PyObject *arg);
typedef PyObject *keyword_method(FilterObject *self, PyObject *args, PyObject *kwargs);
typedef PyObject *keys_method(
    FilterObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *names);
typedef PyObject *class_method(PyTypeObject *type, PyObject *args, PyObject *kwargs);
typedef PyObject *module_method(PyObject *module, PyObject *args, PyObject *kwargs);
typedef PyObject *operator_method(PyObject *a, PyObject *b);
static inline PyObject *none(int rc) { return rc < 0 ? NULL : Py_NewRef(Py_None); }

class_method filter_new;
/* A new object of that type around the handle; takes the handle and its client over, also on
 * failure.  clock: its, borrowed, or NULL. */
PyObject *filter_wrap(
    PyTypeObject *type, bf_filter *bf, redis_client *client, PyObject *clock, bool warn);
/* Puts next (NULL closes) in the place of the handle; takes both over, also on failure. */
int filter_replace(FilterObject *self, bf_filter *next, redis_client *client, PyObject *clock);
/* A bf_spec's clock; its context is the callable. Code that calls the core without the GIL uses
 * gil_out. */
double clock_ask(void *callable);

/* ---- py_hashes.c: hash functions of the user's ---- */
/* The object that is stored in place of a clock, or NULL with an exception; and its functions for
 * the core. */
PyObject *hashes_new(module_state *state, PyObject *functions);
const bf_functions *hashes_host(PyObject *hashes);

method filter_close, filter_with, filter_sync, filter_clear_bits, filter_expire, filter_delete,
    filter_rebuild;
PyObject *filter_exit(FilterObject *self, PyObject *const *args, Py_ssize_t nargs);
/* For the collector: breaks a cycle through the clock or the client by closing the filter. */
int filter_forget(FilterObject *self);
void filter_dealloc(FilterObject *self);

/* A method as help() shows it: args is what is between the parentheses. */
#define METHOD(name, function, flags, args, doc)                                                   \
    { name, (PyCFunction)(void (*)(void))(function), flags,                                        \
        PyDoc_STR(name "(" args ")\n--\n\n" doc) }

/* ---- py_filter.c: one key ---- */
typedef int single_call(bf_filter *f, const void *key, size_t len, bf_error *err);
/* What the core answers; -1 with an exception. */
int filter_ask(FilterObject *self, PyObject *key, single_call *call);

/* ---- py_keys.c: a Python object as bytes ---- */
enum {
    KEY_ROOM = 512,
    LARGE_KEY = 1 << 20
}; /* a key from which on the core works without the GIL: some 0.1 ms */
typedef struct { /* on the caller's stack */
    bf_key key;
    PyObject *text; /* owned, or NULL */
    char *heap;     /* PyMem, or NULL */
    Py_buffer view; /* view.obj NULL = none */
    char room[KEY_ROOM];
} key_holder;

/* The commonest keys, inline: the object's own bytes. */
static inline bool key_direct(PyObject *o, bf_key *key)
{
    if (PyUnicode_CheckExact(o) && PyUnicode_IS_COMPACT_ASCII(o)) {
        key->ptr = ((PyASCIIObject *)o) + 1;
        key->len = (size_t)PyUnicode_GET_LENGTH(o);
        return true;
    }
    if (!PyBytes_CheckExact(o)) return false;
    key->ptr = PyBytes_AS_STRING(o);
    key->len = (size_t)PyBytes_GET_SIZE(o);
    return true;
}
/* A key that needs no Python code and at most cap bytes of room: number of bytes of room used,
 * which is 0 where the key points into the object; -2 where key_hold must do it, or say why it is
 * no key.  Raises nothing and makes no object: up to Python 3.11 either may run the collector, and
 * so any code. */
Py_ssize_t key_plain(PyObject *o, bf_key *key, char *room, size_t cap);
/* Any key; may run Python code.  0 and key_release must follow, or -1 with an exception and nothing
 * held. */
int key_hold(PyObject *o, key_holder *h);
void key_release(key_holder *h);
bool is_boolean(PyObject *o);
/* Contiguous bytes of any bytes-like in the holder; -1 with the exporter's exception. */
int bytes_hold(PyObject *o, key_holder *h);
/* UTF-8 of n code points, at most 4 n bytes; the length, or -1 - index of one that has no UTF-8
 * form. */
Py_ssize_t utf8_of_ucs4(const uint32_t *text, Py_ssize_t n, char *out);

/* ---- py_batch.c: many keys; py_column.c, py_array.c, py_arrow.c: many keys in one piece of memory
 * ---- */
enum { BATCH_KEYS = BF_BATCH_SIZE_MAX, BATCH_ROOM = 10240 };
typedef int64_t many_call(bf_filter *f, const bf_key *keys, size_t n, uint8_t *each, bf_error *err);
typedef struct batch {
    FilterObject *self;
    bf_filter *bf;
    size_t most; /* keys a call of the core */
    many_call *call;
    PyObject *out;   /* bytes object being filled, one per key; NULL = only the count is wanted */
    Py_ssize_t done; /* keys that were answered        */
    int64_t hits;    /* of them new, or present        */
    size_t n, held, used; /* keys gathered, references held for them, bytes of room used */
    size_t asked;         /* of a column: gathered keys that were answered */
    bool column;          /* of objects: a null is refused as such */
    bool skip_nulls;      /* nulls="skip": a null is a row without a key; its answer is 0 */
    size_t nulls;         /* nulls between the gathered keys */
    bool large_key;       /* one large key, held: the core works on it without the GIL */
    PyObject *borrowed;   /* the list or tuple of which keys are borrowed, or NULL      */
    Py_ssize_t first;     /* where those stand that are gathered                        */
    int64_t left;         /* work until the next look at the clock */
    uint64_t deadline;    /* ns, when other threads run */
    bf_key keys[BATCH_KEYS];
    PyObject *refs[BATCH_KEYS];
    char *room; /* of `space` bytes */
    size_t space;
    char own_room[BATCH_ROOM];
    uint16_t null_row[BF_BATCH_SIZE_MAX]; /* their rows, counted from the first row of the chunk */
} batch;
uint64_t clock_ns(void);
/* Makes sure of room for more answers; NULL with an exception. */
uint8_t *batch_room(batch *b, Py_ssize_t more);
void batch_hold_keys(batch *b);
void batch_hold_borrowed(void); /* of this thread's batch in the core, if it holds no keys */
/* A chunk has `n` keys and `nulls` nulls.  batch_null notes a null after the keys gathered so far;
 * the chunk is full when either count reaches b->most. */
static inline void batch_null(batch *b)
{
    b->null_row[b->nulls] = (uint16_t)(b->n + b->nulls);
    b->nulls++;
}
/* The row, counted from the start of the batch, of the gathered key number i. */
Py_ssize_t batch_row(const batch *b, size_t i);
/* Ends a chunk whose keys were answered in each[0..n-1], or each is NULL: moves the answers to
 * their rows and counts the rows as done. */
void batch_answered(batch *b, uint8_t *each);
/* 1 = done, 0 = not an array this reads, go on by iteration; -1 with an exception. */
int array_batch(batch *b, PyObject *keys);
int refuse_one_key(PyObject *o); /* -1 */
int arrow_batch(batch *b, PyObject *keys);

/* Keys that can be read without the GIL.  gather puts the next ones, b->most at most, in b->keys
 * and sets b->n; a key that is none ends the column: then `left` is 0 and `fault` says why, after
 * the keys before it. */
enum column_fault { FAULT_NONE, FAULT_NULL, FAULT_TYPE, FAULT_DAMAGED, FAULT_TEXT };
typedef struct column column;
struct column {
    void (*gather)(batch *b, column *c);
    Py_ssize_t left; /* items to come                                                  */
    const char *at;  /* cells of equal width: the next one                             */
    Py_ssize_t stride;
    size_t width;
    bool is_signed, swapped;
    bool padded; /* NUL at the end of a text is none of it                         */
    enum column_fault fault;
    const char *what; /* of the fault: a word for its message                           */
    long long value;
};
/* Works through a column and raises its fault; 0, or -1 with an exception. */
int column_run(batch *b, column *c);
/* Raises the fault of a column as that of its row.  Returns -1. */
int column_refuse(const column *c, Py_ssize_t row);
void gather_numbers(batch *b, column *c);
void gather_bytes(batch *b, column *c);
/* The integer of 1, 2, 4 or 8 bytes at p, extended to 64 bits. */
static inline __attribute__((always_inline)) uint64_t load_number(
    const char *p, size_t width, bool is_signed, bool swapped)
{
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    switch (width) {
    case 1: u64 = (uint8_t)*p; break;
    case 2:
        memcpy(&u16, p, 2);
        u64 = swapped ? __builtin_bswap16(u16) : u16;
        break;
    case 4:
        memcpy(&u32, p, 4);
        u64 = swapped ? __builtin_bswap32(u32) : u32;
        break;
    default: memcpy(&u64, p, 8); return swapped ? __builtin_bswap64(u64) : u64;
    }
    const unsigned spare = 64 - 8 * (unsigned)width;
    return is_signed ? (uint64_t)((int64_t)(u64 << spare) >> spare) : u64;
}
/* Decimal text of the integer at p; writes up to DECIMAL_MAX bytes of py_decimal.h, returns the
 * length. */
size_t number_text(const char *p, size_t width, bool is_signed, bool swapped, char *out);

/* Adds all keys: how many were new. */
PyObject *batch_update(FilterObject *self, PyObject *keys, bool skip_nulls);
keys_method filter_update, filter_add_many, filter_contains_many, filter_remove_many,
    filter_count_many;

/* ---- py_lines.c: keys in one buffer, each ended by a separator ---- */
keyword_method filter_update_lines, filter_contains_lines;
PyObject *module_find_lines(PyObject *module, PyObject *args);

/* Rows of parameters.h in a signature: each with a comma before it, or after it. */
#define SIGNED(kind, name, ...) ", " #name DEFAULT_##kind
#define SIGNED_FIRST(kind, name, ...) #name DEFAULT_##kind ", "
#define DEFAULT_SIZE "=None"
#define DEFAULT_COUNT "=None"
#define DEFAULT_SMALL "=None"
#define DEFAULT_REAL "=None"
#define DEFAULT_REAL0 "=None"
#define DEFAULT_TEXT "=None"
#define DEFAULT_FLAG "=False"
#define DEFAULT_SECRET "=None"
#define DEFAULT_STORAGE "=None"
#define DEFAULT_CLOCK "=None"
#define DEFAULT_HASHES "=None"
#define CONSTRUCTOR_SIGNATURE                                                                      \
    BF_NUMBERS(SIGNED_FIRST)                                                                       \
    "*" BF_SCHEME(SIGNED) BF_STORAGE(SIGNED) BF_KEY(SIGNED) BF_SECRET(SIGNED) BF_MORE(SIGNED)      \
        BF_CLOCK(SIGNED) ", warn=True"

/* ---- py_params.c: arguments as a bf_spec ---- */
int filter_init(FilterObject *self, PyObject *args, PyObject *kwargs);
class_method filter_open, filter_plan, filter_from_bytes, filter_load;
PyObject *filter_random_secret(PyTypeObject *type, PyObject *none);
/* The same as open and from_bytes, for both classes: the stored filter decides. */
module_method module_open, module_from_bytes;

/* ---- py_redis.c ---- */
redis_client *redis_client_new(module_state *state, PyObject *client); /* NULL with an exception */
void redis_client_free(redis_client *c);

/* ---- py_bytes.c, py_sets.c, py_state.c ---- */
PyObject *new_bytes(uint64_t len);
keyword_method filter_to_bytes;
method filter_save, filter_reduce, filter_copy, filter_deepcopy, filter_union, filter_intersection,
    filter_issubset, filter_issuperset, filter_union_count, filter_intersection_count;
operator_method filter_or, filter_and, filter_ior, filter_iand;
/* self |= other; the estimated number of keys that came new, or NULL. */
PyObject *filter_update_from(FilterObject *self, PyObject *other);
PyObject *filter_compare(PyObject *a, PyObject *b, int op);

extern PyGetSetDef filter_getset[];
method filter_part_info, filter_info, filter_sizeof;
Py_ssize_t filter_length(PyObject *self);
int filter_bool(PyObject *self);
PyObject *filter_repr(PyObject *self);
/* The fill is checked after so many new keys; checks it now: -1 if the warning became an exception.
 */
void filter_plan_check(FilterObject *self, uint64_t fresh);
int filter_check_fill(FilterObject *self);
int filter_warn_weak_hash(FilterObject *self);
static inline int filter_count_new(FilterObject *self, int64_t fresh)
{
    int64_t left = NO_GIL ? __atomic_sub_fetch(&self->adds_until_check, fresh, __ATOMIC_RELAXED)
                          : (self->adds_until_check -= fresh);
    return __builtin_expect(left < 0, 0) ? filter_check_fill(self) : 0;
}
#endif
