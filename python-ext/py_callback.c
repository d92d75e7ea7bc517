/* py_callback.c - the Python callback of a filter: a clock, or a tuple of hash functions. The
 * filter's object and the objects of its copies own references to the callback. */
#include "py_bloomfilter.h"

/* ---- the clock ---- */
/* Returns NaN if the callable raised an exception. The core then returns an error, and the
 * exception stays set. */
static double read_clock(PyObject *callable)
{
    PyObject *now = PyObject_CallNoArgs(callable);
    const PyNumberMethods *number = now ? Py_TYPE(now)->tp_as_number : NULL;
    double seconds = Py_NAN;
    if (number && (number->nb_float || number->nb_index)) {
        seconds = PyFloat_AsDouble(now);
        const bool large = PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_OverflowError);
        if (large) PyErr_Clear();
        if (!PyErr_Occurred() && (large || Py_IS_NAN(seconds)))
            PyErr_Format(PyExc_ValueError, "clock must return a number of seconds, got %s",
                large ? "an int too large for a float" : "nan");
    } else if (now)
        PyErr_Format(PyExc_TypeError, "clock must return a number of seconds, got %.80s",
            Py_TYPE(now)->tp_name);
    Py_XDECREF(now);
    return PyErr_Occurred() ? Py_NAN : seconds;
}

static double ask_clock(void *callable)
{
    PyThreadState *ts = gil_enter();
    Py_INCREF((PyObject *)callable);
    const double seconds = read_clock(callable);
    Py_DECREF((PyObject *)callable);
    gil_leave(ts);
    return seconds;
}

PyObject *callback_clock(PyObject *callable, bf_spec *spec)
{
    if (!PyCallable_Check(callable))
        return PyErr_Format(
            PyExc_TypeError, "clock must be callable, not %.200s", Py_TYPE(callable)->tp_name);
    spec->clock = ask_clock;
    spec->clock_ctx = callable;
    return Py_NewRef(callable);
}

/* ---- hash functions ---- */
/* Reads a digest. Returns 0, or -1 with an exception that names the function and what it
 * returned. */
static int read_digest(PyObject *answer, Py_ssize_t i, uint64_t *digest)
{
    if (is_boolean(answer) || !PyIndex_Check(answer)) {
        PyErr_Format(PyExc_TypeError, "hashes[%zd] must return an int, got %.80s", i,
            Py_TYPE(answer)->tp_name);
        return -1;
    }
    PyObject *number = PyNumber_Index(answer);
    if (!number) return -1;
    *digest = PyLong_AsUnsignedLongLong(number);
    if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_OverflowError)) {
        PyErr_Clear();
        PyObject *text = PyObject_Str(number);
        if (!text) PyErr_Clear(); /* the int has more digits than Python converts to text */
        PyErr_Format(PyExc_ValueError, "hashes[%zd] must return 0 to 18446744073709551615, got %V",
            i, text, "a number too long to print");
        Py_XDECREF(text);
    }
    Py_DECREF(number);
    return PyErr_Occurred() ? -1 : 0;
}

static int read_digests(PyObject *functions, const void *key, size_t len, uint64_t *digests)
{
    PyObject *bytes = PyErr_Occurred() ? NULL : PyBytes_FromStringAndSize(key, (Py_ssize_t)len);
    int rc = bytes ? 0 : -1;
    for (Py_ssize_t i = 0; rc == 0 && i < PyTuple_GET_SIZE(functions); i++) {
        PyObject *answer = PyObject_CallOneArg(PyTuple_GET_ITEM(functions, i), bytes);
        rc = answer ? read_digest(answer, i, digests + i) : -1;
        Py_XDECREF(answer);
    }
    Py_XDECREF(bytes);
    return rc;
}

/* Keeps a reference to the tuple during the call, because a hash function may free the filter. */
static int ask_functions(void *functions, const void *key, size_t len, uint64_t *digests)
{
    PyThreadState *ts = gil_enter();
    Py_INCREF(functions);
    const int rc = read_digests(functions, key, len, digests);
    Py_DECREF(functions);
    gil_leave(ts);
    return rc;
}

PyObject *callback_functions(PyObject *list, bf_functions *functions)
{
    if (PyUnicode_Check(list) || PyBytes_Check(list) ||
        !(Py_TYPE(list)->tp_iter || PySequence_Check(list)))
        return PyErr_Format(PyExc_TypeError, "hashes must be a list of callables, not %.200s",
            Py_TYPE(list)->tp_name);
    PyObject *all = PySequence_Tuple(list);
    const Py_ssize_t n = all ? PyTuple_GET_SIZE(all) : 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *one = PyTuple_GET_ITEM(all, i);
        if (PyCallable_Check(one)) continue;
        PyErr_Format(
            PyExc_TypeError, "hashes[%zd] must be callable, not %.200s", i, Py_TYPE(one)->tp_name);
        Py_DECREF(all);
        return NULL;
    }
    *functions = (bf_functions){
        .count = n > UINT32_MAX ? UINT32_MAX : (unsigned)n, .call = ask_functions, .ctx = all
    };
    return all;
}
