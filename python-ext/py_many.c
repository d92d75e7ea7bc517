/* py_many.c - the methods that take many keys or hashes: their arguments, and their results as a
 * number, bytes or a mask. py_batch.c handles the keys. */
#include "py_bloomfilter.h"

#include <stddef.h>

/* A call of the core for keys or, if `hashed`, for hashes, and the arguments of the method. */
typedef struct {
    many_call *call;
    bool hashed, skip_nulls;
    unsigned threads;
} operation;

static void batch_start(batch *b, FilterObject *self, operation o)
{
    memset(b, 0, offsetof(batch, own_keys)); /* the arrays after it are large and need no zeros */
    b->self = self;
    b->call = o.call;
    b->hashed = o.hashed;
    b->skip_nulls = o.skip_nulls;
    b->threads = o.threads;
    b->keys = b->own_keys;
    b->room = b->own_room;
    b->space = sizeof b->own_room;
}

static PyObject *count_new(FilterObject *self, PyObject *keys, operation o)
{
    batch b;
    batch_start(&b, self, o);
    return batch_run(&b, keys) < 0 ? NULL : PyLong_FromLongLong(b.hits);
}

PyObject *batch_update(FilterObject *self, PyObject *keys)
{
    return is_filter(keys) ? filter_update_from(self, keys)
                           : count_new(self, keys, (operation){ bf_add_many, false, false, 1 });
}

static PyObject *answers(FilterObject *self, PyObject *keys, operation o)
{
    /* a length hint may be wrong, so at most this much is allocated first */
    enum { HINT_MAX = 1 << 20 };
    batch b;
    Py_ssize_t hint = PyObject_LengthHint(keys, BF_BATCH_SIZE_MAX);
    if (hint < 0) return NULL;
    batch_start(&b, self, o);
    b.out = PyBytes_FromStringAndSize(NULL, hint < HINT_MAX ? hint : HINT_MAX);
    if (!b.out) return NULL;
    if (batch_run(&b, keys) == 0 && b.done != PyBytes_GET_SIZE(b.out))
        _PyBytes_Resize(&b.out, b.done);
    if (PyErr_Occurred()) Py_CLEAR(b.out);
    return b.out;
}

/* ---- the methods ---- */
static void read_nulls(PyObject *value, operation *o)
{
    if (PyUnicode_Check(value) && !PyUnicode_CompareWithASCIIString(value, "skip"))
        o->skip_nulls = true;
    else if (!PyUnicode_Check(value) || PyUnicode_CompareWithASCIIString(value, "raise"))
        PyErr_Format(PyExc_ValueError, "nulls must be 'raise' or 'skip', got %R", value);
}

unsigned threads_of(PyObject *value)
{
    int overflow = 0;
    PyObject *number = is_boolean(value) ? NULL : PyNumber_Index(value);
    const long n = number ? PyLong_AsLongAndOverflow(number, &overflow) : 0;
    Py_XDECREF(number);
    if (!number && !PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "threads must be an int, not bool");
    else if (!PyErr_Occurred() && (overflow || n < 0 || n > INT_MAX))
        PyErr_Format(PyExc_ValueError,
            "threads must be 0 (one per processor) or a number of threads, got %R", value);
    return (unsigned)n;
}

unsigned useful_threads(const FilterObject *self, bf_filter *bf, unsigned threads)
{
    enum { K_MOST = 128 };
    bf_info info;
    if (self->blocking) return 1;
    bf_get_info(bf, &info);
    return info.k > K_MOST ? 1 : threads;
}

/* Parses (keys, /, *, nulls="raise", threads=1). Returns false with an exception. */
static bool read_arguments(
    const char *method, PyObject *const *args, Py_ssize_t nargs, PyObject *names, operation *o)
{
    const Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0;
    o->threads = 1;
    if (nargs != 1)
        PyErr_Format(PyExc_TypeError, "%s() takes exactly one positional argument (%zd given)",
            method, nargs);
    for (Py_ssize_t i = 0; i < named && !PyErr_Occurred(); i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i), *value = args[nargs + i];
        if (!PyUnicode_CompareWithASCIIString(name, "nulls"))
            read_nulls(value, o);
        else if (!PyUnicode_CompareWithASCIIString(name, "threads"))
            o->threads = threads_of(value);
        else
            PyErr_Format(
                PyExc_TypeError, "%s() got an unexpected keyword argument %R", method, name);
    }
    return !PyErr_Occurred();
}

static PyObject *update(FilterObject *self, PyObject *keys, operation o)
{
    return is_filter(keys) ? filter_update_from(self, keys) : count_new(self, keys, o);
}
static PyObject *mask(FilterObject *self, PyObject *keys, operation o)
{
    PyObject *each = answers(self, keys, o);
    return each ? call_helper("_mask", "mask", "(N)", each) : NULL;
}

#define METHOD_OF_KEYS(method, call, hashed, result)                                               \
    PyObject *filter_##method(                                                                     \
        FilterObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *names)              \
    {                                                                                              \
        operation o = { call, hashed, false, 1 };                                                  \
        return read_arguments(#method, args, nargs, names, &o) ? result(self, *args, o) : NULL;    \
    }
METHOD_OF_KEYS(update, bf_add_many, false, update)
METHOD_OF_KEYS(add_many, bf_add_many, false, answers)
METHOD_OF_KEYS(contains_many, bf_test_many, false, answers)
METHOD_OF_KEYS(remove_many, bf_remove_many, false, answers)
METHOD_OF_KEYS(count_many, bf_count_many, false, answers)
METHOD_OF_KEYS(add_mask, bf_add_many, false, mask)
METHOD_OF_KEYS(contains_mask, bf_test_many, false, mask)
METHOD_OF_KEYS(add_hashes, bf_add_many, true, count_new)
METHOD_OF_KEYS(contains_hashes, bf_test_many, true, answers)
METHOD_OF_KEYS(add_hashes_mask, bf_add_many, true, mask)
METHOD_OF_KEYS(contains_hashes_mask, bf_test_many, true, mask)
