/* py_error.c - how a refusal of the core becomes a Python exception, and how a type finds its
 * module. Knows the module's state; knows nothing of keys, batches or arguments. */
#include "py_bloomfilter.h"

#include <errno.h>

module_state *state_of(PyTypeObject *type)
{
#if PY_VERSION_HEX >= 0x030B0000
    PyObject *module = PyType_GetModuleByDef(type, &bloomfilter_module);
    if (module) return PyModule_GetState(module);
    PyErr_Clear();
#else
    PyObject *mro = type->tp_mro;
    for (Py_ssize_t i = 0; mro && i < PyTuple_GET_SIZE(mro); i++) {
        PyTypeObject *t = (PyTypeObject *)PyTuple_GET_ITEM(mro, i);
        PyObject *module =
            PyType_HasFeature(t, Py_TPFLAGS_HEAPTYPE) ? ((PyHeapTypeObject *)t)->ht_module : NULL;
        if (module && PyModule_GetDef(module) == &bloomfilter_module)
            return PyModule_GetState(module);
    }
#endif
    return NULL;
}

bool is_filter(PyObject *o)
{
    module_state *state = state_of(Py_TYPE(o));
    return state && PyObject_TypeCheck(o, state->filter_type);
}

bool is_counting(PyTypeObject *type)
{
    module_state *state = state_of(type);
    return state && PyType_IsSubtype(type, state->counting_type);
}

/* OSError(errno, text) picks its own subclass: FileNotFoundError and its kin. */
static void raise_os(int code, PyObject *text)
{
    PyObject *exc = PyObject_CallFunction(PyExc_OSError, "iO", code, text);
    if (!exc) return;
    PyErr_SetObject((PyObject *)Py_TYPE(exc), exc);
    Py_DECREF(exc);
}

/* What a client object raised stands behind what the core says of it: `raise ... from`. */
static PyObject *take_cause(void)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    if (!type) return NULL;
    PyErr_NormalizeException(&type, &value, &trace);
    if (value && trace) PyException_SetTraceback(value, trace);
    Py_XDECREF(type);
    Py_XDECREF(trace);
    return value;
}

static void set_cause(PyObject *cause)
{
    PyObject *type, *value, *trace;
    if (!cause) return;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (value)
        PyException_SetCause(value, cause);
    else
        Py_DECREF(cause);
    PyErr_Restore(type, value, trace);
}

/* An attribute of the exception that is set. */
static void note_number(const char *name, Py_ssize_t number)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    PyObject *n = value ? PyLong_FromSsize_t(number) : NULL;
    if (!n || PyObject_SetAttrString(value, name, n) < 0) PyErr_Clear();
    Py_XDECREF(n);
    PyErr_Restore(type, value, trace);
}

void *raise_error(module_state *state, const bf_error *err)
{
    if (err->code == BF_EHOST && PyErr_Occurred()) return NULL;
    PyObject *cause = take_cause();
    /* A path or a value in the sentence may be cut in the middle of a character. */
    PyObject *text =
        PyUnicode_DecodeUTF8(err->msg, (Py_ssize_t)strlen(err->msg), "backslashreplace");
    if (!text) {
        Py_XDECREF(cause);
        return NULL;
    }
    if ((err->code == BF_EIO || err->code == BF_ENOENT) && err->sys_errno)
        raise_os(err->sys_errno, text);
    else if (err->code == BF_EINVAL)
        PyErr_SetObject(PyExc_ValueError, text);
    else if (err->code == BF_ENOMEM)
        PyErr_SetObject(PyExc_MemoryError, text);
    else
        PyErr_SetObject(state ? state->error : PyExc_ValueError, text);
    if (err->code == BF_ENOENT && !err->sys_errno) note_number("errno", ENOENT);
    Py_DECREF(text);
    set_cause(cause);
    return NULL;
}

void *raise_in(FilterObject *self, const bf_error *err)
{
    return raise_error(state_of(Py_TYPE(self)), err);
}

void *raise_closed(void)
{
    PyErr_SetString(PyExc_ValueError, "the filter is closed");
    return NULL;
}

PyObject *get_attribute(PyObject *o, const char *name)
{
    PyObject *text = PyUnicode_InternFromString(name);
    PyObject *found = text ? PyObject_GetAttr(o, text) : NULL;
    Py_XDECREF(text);
    return found;
}

bool has_attribute(PyObject *o, const char *name)
{
    PyObject *found = get_attribute(o, name);
    if (!found) PyErr_Clear();
    Py_XDECREF(found);
    return found;
}

void name_key(Py_ssize_t index)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    if (type != PyExc_TypeError && type != PyExc_ValueError) {
        PyErr_Restore(type, value, trace);
        return;
    }
    PyErr_NormalizeException(&type, &value, &trace);
    PyObject *text = PyUnicode_FromFormat("key %zd: %S", index, value);
    PyObject *named = text ? PyObject_CallOneArg(type, text) : NULL;
    Py_XDECREF(text);
    if (!named) PyErr_Clear();
    PyErr_Restore(type, named ? named : Py_NewRef(value), trace);
    Py_DECREF(value);
    note_number("index", index);
}

PyObject *call_helper(const char *module, const char *function, const char *format, ...)
{
    char path[64];
    va_list ap;
    va_start(ap, format);
    PyObject *args = Py_VaBuildValue(format, ap), *in = NULL, *call = NULL, *answer = NULL;
    va_end(ap);
    snprintf(path, sizeof path, "bloomfilter.%s", module);
    if (args && (in = PyImport_ImportModule(path)) && (call = PyObject_GetAttrString(in, function)))
        answer = PyObject_CallObject(call, args);
    Py_XDECREF(call);
    Py_XDECREF(in);
    Py_XDECREF(args);
    return answer;
}
