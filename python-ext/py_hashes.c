/* py_hashes.c - hash functions in Python as the core's scheme "functions".  A list of them is an
 * object, kept where a clock would be (a filter with functions has no clock): shared by copies, and
 * visible to the collector.  Knows nothing of positions. */
#include "py_bloomfilter.h"

typedef struct {
    /* for bf_spec */
    PyObject_HEAD
    bf_functions host;
    PyObject *list; /* a tuple of callables  */
} HashesObject;

/* Reads a digest.  Returns 0, or -1 with an exception that names the function and its answer. */
static int number_of(PyObject *answer, Py_ssize_t i, uint64_t *digest)
{
    if (is_boolean(answer) || !PyIndex_Check(answer)) {
        PyErr_Format(PyExc_TypeError, "hashes[%zd] must return an int, got %.80s", i,
            Py_TYPE(answer)->tp_name);
        return -1;
    }
    PyObject *number = PyNumber_Index(answer);
    if (!number) return -1;
    *digest = PyLong_AsUnsignedLongLong(number);
    const bool odd = PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_OverflowError);
    if (odd) {
        PyErr_Clear();
        PyObject *text = PyObject_Str(number);
        if (!text) PyErr_Clear(); /* more digits than Python converts to text */
        PyErr_Format(PyExc_ValueError, "hashes[%zd] must return 0 to 18446744073709551615, got %V",
            i, text, "a number too long to print");
        Py_XDECREF(text);
    }
    Py_DECREF(number);
    return PyErr_Occurred() ? -1 : 0;
}

static int ask_all(PyObject *list, const void *key, size_t len, uint64_t *digests)
{
    PyObject *bytes = PyErr_Occurred() ? NULL : PyBytes_FromStringAndSize(key, (Py_ssize_t)len);
    int rc = bytes ? 0 : -1;
    for (Py_ssize_t i = 0; rc == 0 && i < PyTuple_GET_SIZE(list); i++) {
        PyObject *answer = PyObject_CallOneArg(PyTuple_GET_ITEM(list, i), bytes);
        rc = answer ? number_of(answer, i, digests + i) : -1;
        Py_XDECREF(answer);
    }
    Py_XDECREF(bytes);
    return rc;
}

/* The filter keeps the object, but a call of the core may be the last to hold it. */
static int ask(void *ctx, const void *key, size_t len, uint64_t *digests)
{
    PyThreadState *ts = gil_enter();
    PyObject *list = Py_NewRef(((HashesObject *)ctx)->list);
    const int rc = ask_all(list, key, len, digests);
    Py_DECREF(list);
    gil_leave(ts);
    return rc;
}

PyObject *hashes_new(module_state *state, PyObject *functions)
{
    const bool text = PyUnicode_Check(functions) || PyBytes_Check(functions);
    PyObject *it = text ? NULL : PyObject_GetIter(functions);
    if (!it && !(PyErr_Occurred() && Py_TYPE(functions)->tp_iter)) {
        PyErr_Clear();
        return PyErr_Format(PyExc_TypeError, "hashes must be a list of callables, not %.200s",
            Py_TYPE(functions)->tp_name);
    }
    /* an exception of the iterator is passed on */
    PyObject *list = it ? PySequence_Tuple(it) : NULL;
    Py_XDECREF(it);
    if (!list) return NULL;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(list); i++) {
        PyObject *one = PyTuple_GET_ITEM(list, i);
        if (PyCallable_Check(one)) continue;
        PyErr_Format(
            PyExc_TypeError, "hashes[%zd] must be callable, not %.200s", i, Py_TYPE(one)->tp_name);
        Py_DECREF(list);
        return NULL;
    }
    HashesObject *h = (HashesObject *)state->hashes_type->tp_alloc(state->hashes_type, 0);
    if (!h) {
        Py_DECREF(list);
        return NULL;
    }
    const Py_ssize_t n = PyTuple_GET_SIZE(list);
    h->list = list;
    h->host =
        (bf_functions){ .count = n > UINT32_MAX ? UINT32_MAX : (unsigned)n, .call = ask, .ctx = h };
    return (PyObject *)h;
}

const bf_functions *hashes_host(PyObject *hashes) { return &((HashesObject *)hashes)->host; }

/* The tuple stays until the object is freed: a filter that outlives a collection may still call it.
 */
static int traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((HashesObject *)self)->list);
    return 0;
}

static void dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Py_XDECREF(((HashesObject *)self)->list);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyType_Slot slots[] = { { Py_tp_traverse, traverse }, { Py_tp_dealloc, dealloc },
    { 0, NULL } };

PyType_Spec hashes_spec = {
    .name = "bloomfilter._bloomfilter._Hashes",
    .basicsize = sizeof(HashesObject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
