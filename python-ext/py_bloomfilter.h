/* py_bloomfilter.h - declarations shared by the files of the Python extension. The extension parses
 * arguments, gathers keys, calls the core once and maps the answer. It includes only the public
 * headers of the core and base/parameters.h.
 *
 * With a GIL, a call on one key keeps the GIL, unless the key is large or the filter is in Redis.
 * A call that releases the GIL (also columns, large filters, disk) is counted in `unlocked`. While
 * `unlocked` is 0, the core uses its plain kernels, else the atomic kernels, with one exception: a
 * column (py_column.c) keeps the plain kernels, which are several times faster for new keys, while
 * no other thread uses the filter (`plain`). A thread that arrives then waits until the thread of
 * the column has ended its current call of the core and has selected the atomic kernels.
 *
 * Without a GIL the kernels are always atomic. Every round trip to Redis releases the GIL.
 *
 * `users` counts the active calls during which other code may run. If close() is called meanwhile,
 * the last of these calls frees the handle (py_active.c). */
#ifndef PY_BLOOMFILTER_H
#define PY_BLOOMFILTER_H
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "base/parameters.h"
#include "bloomfilter_host.h"
#include "py_decimal.h"
#include "py_docs.h"

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
    PyTypeObject *replies_type; /* for py_redis.c */
    PyObject *error;            /* bloomfilter.Error */
    PyObject *warning;          /* bloomfilter.SaturationWarning */
    PyObject *full;             /* bloomfilter.FullError */
    PyObject *names;            /* keeps the strings of get_attribute alive */
    PyObject *turn;             /* an empty Python function: see batch_turn */
} module_state;

/* The client object of a filter in Redis, see py_redis.c. */
typedef struct {
    bf_redis_client host; /* the interface that the core uses */
    module_state *state;
    PyObject *client;    /* owned: the client object */
    PyObject *transport; /* owned: the object of _redis.py that sends the commands */
    PyObject *turn;      /* owned: what transport.turn() returned, during a call; else NULL */
    bool takes_turns;
    PyObject *name; /* owned: a str, the client's name in messages */
} redis_client;

typedef struct {
    PyObject_HEAD
    bf_filter *bf;      /* NULL: the filter is closed, or __init__ was not called */
    bf_filter *closing; /* the handle of a closed filter that active calls still use, or NULL */
    /* number of active calls; with a GIL, only of calls during which other code may run */
    Py_ssize_t users;
    Py_ssize_t unlocked; /* number of active calls that are in the core without the GIL */
    PyObject *weakrefs;
    int plain;         /* PLAIN_... of py_gil.c: a thread uses plain kernels without the GIL */
    int plain_process; /* bf_process() of that thread; it does not exist in a forked child */
    /* filter_set sets these, and bf; they are read while the filter is entered */
    redis_client *client; /* NULL: the storage is no client object */
    PyObject *callback;   /* a clock, a tuple of hash functions, or NULL: py_callback.c */
    size_t nogil_min_len; /* calls on a key of at least this length release the GIL */
    bool remote;          /* the filter is in Redis: any call may be a round trip */
    bool blocking;        /* remote, or calls Python code (a clock, hash functions) */
    bool waits;           /* many parts, not remote: any call may wait for a lock */
    bool shared;          /* waits, and other processes may hold the lock (a file) */
} FilterObject;

extern struct PyModuleDef bloomfilter_module;
extern PyType_Spec filter_spec, counting_spec, replies_spec;

/* ---- py_error.c ---- */
/* Returns NULL without an exception if the type is neither BloomFilter nor a subclass. */
module_state *state_of(PyTypeObject *type);
bool is_filter(PyObject *o);
bool is_counting(PyTypeObject *type);
/* The only function that turns a bf_error into an exception. Returns NULL. */
void *raise_error(module_state *state, const bf_error *err);
void *raise_in(FilterObject *self, const bf_error *err);
void *raise_closed(void);
/* Gets an attribute. name: one of module_state.names, because CPython's method cache would keep a
 * new string of each call. */
PyObject *get_attribute(PyObject *o, const char *name);
/* Return 1 or 0, or -1 if the attribute's code raised something else than AttributeError. */
int find_attribute(PyObject *o, const char *name, PyObject **found);
int has_attribute(PyObject *o, const char *name);
/* Calls a function of a module of this package; imports the module if needed. format describes a
 * tuple, as for Py_BuildValue. */
PyObject *call_helper(const char *module, const char *function, const char *format, ...);
/* Prepends "key 5: " (if index is 5) to the message of a pending TypeError or ValueError, and
 * sets the exception's attribute index. */
void name_key(Py_ssize_t index);
/* Like name_key, for a key that the core refused. A FullError gets the attribute only. */
void name_refused(const bf_error *err, Py_ssize_t index);
/* Gives the present exception the first n answers, those of the keys before it. asyncio.py needs
 * them, because its batches have keys of many callers, and cli/hashes.py, which prints new keys. */
void note_answers(PyObject *out, Py_ssize_t n);

/* ---- py_active.c: entering, leaving, closing ---- */
/* Adds `by` to `users` and returns the value from before. */
static inline Py_ssize_t filter_count(FilterObject *self, Py_ssize_t by)
{
    if (NO_GIL) return __atomic_fetch_add(&self->users, by, __ATOMIC_SEQ_CST);
    const Py_ssize_t before = self->users;
    self->users = before + by;
    return before;
}
/* Enters the filter; filter_leave must follow. Returns NULL with a ValueError if the filter is
 * closed. The handle stays valid until filter_leave. */
bf_filter *filter_enter(FilterObject *self);
void filter_leave(FilterObject *self);
/* Closes the filter. Its handle is freed now, or by the last active call. */
void handle_close(FilterObject *self);
/* Frees the handle of a closed filter if no call is active. */
void free_closed(FilterObject *self);
static inline void free_if_closed(FilterObject *self)
{
    if (__builtin_expect(__atomic_load_n(&self->closing, __ATOMIC_SEQ_CST) != NULL, 0))
        free_closed(self);
}
/* Returns true if no call is active: the handle may be replaced, and handle_end must follow. */
bool handle_begin(FilterObject *self);
void handle_end(FilterObject *self);
/* Returns the handle for a call that has entered the filter: also if it was closed meanwhile. */
static inline bf_filter *handle_of(FilterObject *self)
{
    bf_filter *bf = __atomic_load_n(&self->bf, __ATOMIC_SEQ_CST);
    return bf ? bf : __atomic_load_n(&self->closing, __ATOMIC_SEQ_CST);
}

void plain_end(FilterObject *self);
static inline void plain_share(FilterObject *self)
{
    if (__builtin_expect(__atomic_load_n(&self->plain, __ATOMIC_RELAXED) != 0, 0)) plain_end(self);
}
/* Like filter_enter, for calls during which no other code runs. With a GIL, does not count the
 * call. filter_peeked must follow. */
static inline bf_filter *filter_peek(FilterObject *self)
{
    if (NO_GIL) return filter_enter(self);
    plain_share(self);
    return self->bf ? self->bf : raise_closed();
}
static inline void filter_peeked(FilterObject *self)
{
    if (NO_GIL)
        filter_leave(self);
    else
        free_if_closed(self);
}

/* ---- py_gil.c: releasing and taking the GIL ---- */
/* Releases the GIL while this thread is in the core. The caller has entered both filters; b may be
 * NULL. If a filter has a callback and none is remote, keeps the GIL and returns NULL; gil_take
 * accepts NULL. */
PyThreadState *gil_release(FilterObject *a, FilterObject *b);
void gil_take(PyThreadState *ts, FilterObject *a, FilterObject *b);
/* Like gil_release, but the filter keeps the plain kernels until another thread arrives. The caller
 * must call plain_yield between its calls of the core, and gil_take_plain at the end. If another
 * call is active, does the same as gil_release; plain_yield then does nothing. */
PyThreadState *gil_release_plain(FilterObject *self);
void plain_yield(FilterObject *self);
void gil_take_plain(PyThreadState *ts, FilterObject *self);
/* Like gil_release, if the bitmap is large or in Redis; otherwise keeps the GIL. For work on the
 * complete bitmap. */
PyThreadState *gil_release_if_big(FilterObject *a, FilterObject *b);
PyThreadState *gil_release_if_remote(FilterObject *a, FilterObject *b);

/* A call of the core on one or two filters (b may be NULL). core_begin enters the filters and
 * releases the GIL by `release` (NULL: keeps the GIL). core_end takes the GIL, leaves the filters,
 * and raises an exception on error. */
typedef struct {
    bf_filter *bf, *other;
    bf_error err;
    FilterObject *a, *b;
    PyThreadState *ts;
} core_call;
typedef PyThreadState *release_gil(FilterObject *a, FilterObject *b);
bool core_begin(core_call *c, FilterObject *a, FilterObject *b, release_gil *release);
void core_back(core_call *c);       /* takes the GIL before core_end */
int core_end(core_call *c, int rc); /* returns rc, or -1 with an exception */

/* For calls of the core that may run Python code: gil_out releases the GIL and gil_back takes it.
 * In a callback of the core, gil_enter takes the GIL (NULL: this thread has the GIL) and gil_leave
 * releases it. */
PyThreadState *gil_out(void);
void gil_back(PyThreadState *ts);
PyThreadState *gil_enter(void);
void gil_leave(PyThreadState *ts);

/* Types of methods. keys_method: takes (keys, *, nulls="raise", threads=1). */
typedef PyObject *method(FilterObject *self, PyObject *arg);
typedef PyObject *keyword_method(FilterObject *self, PyObject *args, PyObject *kwargs);
typedef PyObject *keys_method(
    FilterObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *names);
typedef PyObject *class_method(PyTypeObject *type, PyObject *args, PyObject *kwargs);
typedef PyObject *module_method(PyObject *module, PyObject *args, PyObject *kwargs);
typedef PyObject *operator_method(PyObject *a, PyObject *b);
static inline PyObject *none(int rc) { return rc < 0 ? NULL : Py_NewRef(Py_None); }

class_method filter_new;
/* Returns a new object of that type with the handle bf, or NULL with an exception. Takes over bf
 * and callback (may be NULL), also on failure. */
PyObject *filter_wrap(PyTypeObject *type, bf_filter *bf, PyObject *callback);
/* Stores a handle in place of the present one, if there is one. Returns 0, or -1 with an exception
 * if a call is active. Takes over bf, client and callback, also on failure. */
int filter_set(FilterObject *self, bf_filter *bf, redis_client *client, PyObject *callback);
/* After handle_begin: ends it, and frees the handle, the client and the callback. */
void handle_free(FilterObject *self);
/* ---- py_callback.c: Python callables that the core calls ---- */
/* callback_clock fills spec->clock; callback_functions fills *functions. Both return a new
 * reference to the callback, or NULL with an exception; each filter object that uses the callback
 * owns a reference. A call of the core without the GIL must use gil_out, because a callback needs
 * the GIL. */
PyObject *callback_clock(PyObject *callable, bf_spec *spec);
PyObject *callback_functions(PyObject *list, bf_functions *functions);

method filter_close, filter_with, filter_sync, filter_clear_bits, filter_expire, filter_expires_in,
    filter_delete, filter_rebuild;
PyObject *filter_exit(FilterObject *self, PyObject *const *args, Py_ssize_t nargs);
/* Called by the garbage collector: breaks a reference cycle through the clock or the client by
 * closing the filter. */
int filter_forget(FilterObject *self);
void filter_dealloc(FilterObject *self);

#define METHOD(name, function, flags)                                                              \
    { #name, (PyCFunction)(void (*)(void))function, flags, PyDoc_STR(DOC_##name) }

/* ---- py_filter.c: one key ---- */
typedef int single_call(bf_filter *f, const void *key, size_t len, bf_error *err);
/* Returns the core's answer, or -1 with an exception. */
int filter_ask(FilterObject *self, PyObject *key, single_call *call);

/* ---- py_keys.c: the bytes of a Python object ---- */
enum {
    KEY_ROOM = 512,
    LARGE_KEY = 1 << 20 /* a key of at least this length is hashed without the GIL (about 0.1 ms) */
};
typedef struct { /* the bytes of a key; on the caller's stack */
    bf_key key;
    PyObject *text; /* owned, or NULL */
    char *heap;     /* from PyMem_Malloc, or NULL */
    Py_buffer view; /* view.obj is NULL if there is no view */
    char room[KEY_ROOM];
} key_holder;

/* The most frequent keys, bytes and ASCII str: sets *key to the bytes inside the object. Returns
 * false if the object is anything else. */
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
/* Reads a key that needs no Python code and at most cap bytes of room. Returns the number of bytes
 * of room used (0: the key points into the object), or -2 if key_hold must read the key. Raises no
 * exception and creates no object, because up to Python 3.11 both may run the garbage collector,
 * and so any code. */
Py_ssize_t key_plain(PyObject *o, bf_key *key, char *room, size_t cap);
/* Reads any key; may run Python code. Returns 0 (then key_release must follow), or -1 with an
 * exception. */
int key_hold(PyObject *o, key_holder *h);
void key_release(key_holder *h);
bool is_boolean(PyObject *o);
/* Gets contiguous bytes of any bytes-like object. Returns -1 with the exporter's exception. */
int bytes_hold(PyObject *o, key_holder *h);
/* Writes n code points as UTF-8, at most 4 n bytes. Returns the length, or -1 - i if code point
 * i has no UTF-8 form. */
Py_ssize_t utf8_of_ucs4(const uint32_t *text, Py_ssize_t n, char *out);

/* ---- py_batch.c: batches of keys; py_column.c, py_array.c, py_arrow.c: keys in one buffer ---- */
enum { BATCH_KEYS = BF_BATCH_SIZE_MAX, BATCH_ROOM = 10240 };
typedef int64_t many_call(bf_filter *f, const bf_key *keys, size_t n, uint8_t *each, bf_error *err);
typedef struct batch {
    FilterObject *self;
    bf_filter *bf;
    size_t most; /* maximum number of keys per call of the core */
    many_call *call;
    PyObject *out;   /* a bytes object with one answer per key; NULL: only the count is needed */
    Py_ssize_t done; /* number of rows (keys and skipped nulls) answered so far */
    int64_t hits;    /* number of keys so far that were new (adds) or present (tests) */
    size_t n;        /* number of gathered keys */
    size_t held;     /* number of references in refs */
    size_t used;     /* number of used bytes of room */
    size_t asked;    /* number of gathered keys of a column that were answered */
    bool column;     /* the keys are a column of objects: a null gets a message of its own */
    bool skip_nulls; /* nulls="skip": a null is not a key, and its answer is 0 */
    size_t nulls;    /* number of nulls among the gathered keys */
    bool hashed;     /* the keys are hashes: gather stores them in `hashes` instead of `keys` */
    const uint64_t *hashes;
    bool large_key;     /* the chunk is one key of LARGE_KEY bytes or more; take_alone holds it */
    PyObject *borrowed; /* the list or tuple from which keys are borrowed, or NULL */
    Py_ssize_t first;   /* the index of the first gathered key in `borrowed` */
    int64_t left;       /* work until the next read of the clock, see KEY_WORK */
    uint64_t deadline;  /* time (clock_ns) after which other threads must run */
    char *room;         /* a buffer of `space` bytes */
    size_t space;
    unsigned threads; /* see bf_use_threads; only columns use more than one thread */
    union {           /* an array of `most` keys or hashes */
        bf_key *keys;
        uint64_t *room_for_hashes;
    };
    bf_key own_keys[BATCH_KEYS];
    PyObject *refs[BATCH_KEYS];
    char own_room[BATCH_ROOM];
    /* the rows of the nulls, counted from the first row of the chunk */
    uint32_t null_row[BATCH_KEYS];
} batch;
uint64_t clock_ns(void);
/* Returns space for `more` answers, or NULL with an exception. */
uint8_t *batch_room(batch *b, Py_ssize_t more);
/* keeps references to the borrowed keys; call it before the GIL is released */
void batch_hold_keys(batch *b);
void batch_hold_borrowed(void); /* batch_hold_keys for the batch of this thread, if there is one */
/* Records a null after the gathered keys. A chunk is full if `n` is b->most or
 * `nulls` is BATCH_KEYS. */
static inline void batch_null(batch *b)
{
    b->null_row[b->nulls] = (uint32_t)(b->n + b->nulls);
    b->nulls++;
}
/* Returns the row of gathered key i, counted from the start of the batch. */
Py_ssize_t batch_row(const batch *b, size_t i);
/* Ends a chunk: counts its rows as done, and moves the answers each[0..n-1] of its keys to their
 * rows (NULL: no answers). */
void batch_answered(batch *b, uint8_t *each);
/* Return 1 if done, 0 if keys must be iterated over, -1 with an exception. keys: no object of a
 * built-in type that has no columns. */
int array_batch(batch *b, PyObject *keys);
int arrow_batch(batch *b, PyObject *keys);
int hashes_batch(batch *b, PyObject *hashes); /* never returns 0 */
/* Returns a new reference to the keys, or NULL with an exception. Refuses tables, whose items are
 * column names, and arrays of arrays. If the keys are a column of objects, returns its array: Arrow
 * would guess what the objects mean, and make 16 bytes of a UUID. Only columns and tables have
 * __array__. */
PyObject *column_of(batch *b, PyObject *keys);
int batch_run(batch *b, PyObject *keys); /* returns -1 with an exception */
int refuse_one_key(PyObject *o);         /* returns -1 with a TypeError */
int refuse_table(PyObject *o);           /* the same: a table, or an array of arrays or structs */
int refuse_hashes(const char *what);     /* the same: not 64-bit integers */

/* Keys that can be read without the GIL. gather stores the next keys, at most b->most, in b->keys
 * and sets b->n. An invalid key ends the column: gather stores the keys before the invalid key, and
 * sets `left` to 0 and `fault`. */
enum column_fault { FAULT_NONE, FAULT_NULL, FAULT_TYPE, FAULT_DAMAGED, FAULT_TEXT };
typedef struct column column;
struct column {
    void (*gather)(batch *b, column *c);
    /* Not NULL: several threads can gather the keys. Stores n keys, starting `from` items after the
     * next item. Returns how many are good. text: DECIMAL_MAX bytes for each key. */
    size_t (*pick)(const column *c, size_t from, size_t n, bf_key *keys, char *text);
    bool converts;     /* pick writes to `text` */
    Py_ssize_t left;   /* number of items left */
    int64_t next;      /* items without a fixed width: index of the next item */
    const char *at;    /* items of fixed width: the next item */
    Py_ssize_t stride; /* bytes from an item to the next one; may be negative */
    size_t width;      /* bytes per item */
    bool is_signed, swapped;
    bool padded; /* NULs at the end of a text are padding */
    enum column_fault fault;
    const char *what; /* for the message about the fault: words and a number */
    long long value;
};
/* Adds or tests all keys of a column, then raises its fault, if it has one. Returns 0, or -1 with
 * an exception. */
int column_run(batch *b, column *c);
/* Raises the fault of a column, with the row number. Returns -1. */
int column_refuse(const column *c, Py_ssize_t row);
void gather_picked(batch *b, column *c); /* gather for a column with `pick` */
size_t pick_numbers(const column *c, size_t from, size_t n, bf_key *keys, char *text);
size_t pick_bytes(const column *c, size_t from, size_t n, bf_key *keys, char *text);
void gather_hashes(batch *b, column *c);
/* Loads an integer of 1, 2, 4 or 8 bytes and extends it to 64 bits. */
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
/* Writes the integer at p in decimal and returns the length. May write up to DECIMAL_MAX bytes
 * (py_decimal.h). */
static inline __attribute__((always_inline)) size_t number_text(
    const char *p, size_t width, bool is_signed, bool swapped, char *out)
{
    const uint64_t v = load_number(p, width, is_signed, swapped);
    const bool negative = is_signed && (int64_t)v < 0;
    return decimal(out, negative ? 0 - v : v, negative);
}

/* Reads the argument `threads`. On failure sets an exception. */
unsigned threads_of(PyObject *value);
/* Returns 1 if calls of the core may run code of the user, or if k is so large that a call for
 * several threads, which has many keys, would take seconds, and signals would wait. */
unsigned useful_threads(const FilterObject *self, bf_filter *bf, unsigned threads);
/* Adds all keys and returns how many were new. */
PyObject *batch_update(FilterObject *self, PyObject *keys);
keys_method filter_update, filter_add_many, filter_contains_many, filter_remove_many,
    filter_count_many, filter_add_mask, filter_contains_mask, filter_add_hashes,
    filter_contains_hashes, filter_add_hashes_mask, filter_contains_hashes_mask;

/* ---- py_lines.c: keys in one buffer, each followed by a separator ---- */
keyword_method filter_update_lines, filter_contains_lines;

/* ---- py_params.c: arguments of constructors ---- */
int filter_init(FilterObject *self, PyObject *args, PyObject *kwargs);
class_method filter_open, filter_plan, filter_from_bytes, filter_from_base64, filter_from_json,
    filter_load;
/* Returns 1 for a path, a URL and os.PathLike, -1 with an exception. Any other storage must be a
 * client object. */
int is_path(PyObject *value);
/* Returns a new reference to the seconds of a timedelta, or to any other value. */
PyObject *seconds_of(PyObject *value);
PyObject *filter_random_secret(PyTypeObject *type, PyObject *none);
/* open and from_bytes of the module; the stored filter determines the class of the object. */
module_method module_open, module_from_bytes;

/* ---- py_redisbloom.c ---- */
class_method filter_from_redisbloom;
keyword_method filter_to_redisbloom;

/* ---- py_redis.c ---- */
/* returns NULL with an exception on failure */
redis_client *redis_client_new(module_state *state, PyObject *client);
void redis_client_free(redis_client *c);
/* lets green threads wait for each other in calls of this filter */
void redis_client_take_turns(redis_client *c, bf_filter *bf);

/* ---- py_bytes.c, py_sets.c, py_state.c ---- */
PyObject *new_bytes(uint64_t len);
keyword_method filter_to_bytes;
method filter_to_base64, filter_to_json, filter_save, filter_save_new, filter_reduce, filter_copy,
    filter_deepcopy, filter_union, filter_intersection, filter_issubset, filter_issuperset,
    filter_union_count, filter_intersection_count;
operator_method filter_or, filter_and, filter_ior, filter_iand;
/* self |= other. Returns the estimated number of new keys, or NULL with an exception. */
PyObject *filter_update_from(FilterObject *self, PyObject *other);
PyObject *filter_compare(PyObject *a, PyObject *b, int op);

extern PyGetSetDef filter_getset[];
method filter_part_info, filter_info, filter_sizeof;
Py_ssize_t filter_length(PyObject *self);
int filter_bool(PyObject *self);
PyObject *filter_repr(PyObject *self);
PyObject *path_or_none(const char *text);
/* filter_watch makes the core warn when the filter is overfull. filter_begin_adds gives that
 * warning if it is due; returns -1 if it was raised as an exception, or the filter is closed. */
void filter_watch(FilterObject *self, bf_filter *bf);
int filter_begin_adds(FilterObject *self);
int filter_warn_opened(FilterObject *self);
int warn_of(const char *sentence); /* a UserWarning of the core */
#endif
