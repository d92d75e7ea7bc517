/* py_error.c - raises a bf_error as a Python exception; finds the state of the module. */
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

/* Sets an attribute of an exception. Ignores a failure. */
static void note_number(PyObject *exception, const char *name, Py_ssize_t number)
{
    PyObject *n = PyLong_FromSsize_t(number);
    if (!n || PyObject_SetAttrString(exception, name, n) < 0) PyErr_Clear();
    Py_XDECREF(n);
}

/* A pending exception (of a client object) becomes the cause of the new exception. */
void *raise_error(module_state *state, const bf_error *err)
{
    if (err->code == BF_EHOST && PyErr_Occurred()) return NULL;
    PyObject *cause = PyErr_GetRaisedException();
    const bool os = (err->code == BF_EIO || err->code == BF_ENOENT) && err->sys_errno;
    PyObject *kind = os                               ? PyExc_OSError
                     : err->code == BF_EINVAL         ? PyExc_ValueError
                     : err->code == BF_ENOMEM         ? PyExc_MemoryError
                     : state && err->code == BF_EFULL ? state->full
                     : state                          ? state->error
                                                      : PyExc_ValueError;
    /* the message may be cut off inside a character */
    PyObject *text =
        PyUnicode_DecodeUTF8(err->msg, (Py_ssize_t)strlen(err->msg), "backslashreplace");
    PyObject *raised = !text ? NULL
                       : os  ? PyObject_CallFunction(kind, "iO", err->sys_errno, text)
                             : PyObject_CallOneArg(kind, text);
    Py_XDECREF(text);
    if (!raised) {
        Py_XDECREF(cause);
        return NULL;
    }
    if (err->code == BF_ENOENT && !os) note_number(raised, "errno", ENOENT);
    if (err->code == BF_EBUSY) note_number(raised, "errno", EBUSY);
    if (err->code == BF_ENOTSUP) note_number(raised, "errno", ENOTSUP);
    if (cause) PyException_SetCause(raised, cause);
    PyErr_SetObject((PyObject *)Py_TYPE(raised), raised);
    Py_DECREF(raised);
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

int find_attribute(PyObject *o, const char *name, PyObject **found)
{
    *found = get_attribute(o, name);
    if (!*found && !PyErr_ExceptionMatches(PyExc_AttributeError)) return -1;
    if (!*found) PyErr_Clear();
    return *found != NULL;
}

int has_attribute(PyObject *o, const char *name)
{
    PyObject *found;
    const int is = find_attribute(o, name, &found);
    Py_XDECREF(found);
    return is;
}

void name_key(Py_ssize_t index)
{
    PyObject *raised = PyErr_GetRaisedException();
    PyObject *type = (PyObject *)Py_TYPE(raised);
    if (type == PyExc_TypeError || type == PyExc_ValueError) {
        PyObject *text = PyUnicode_FromFormat("key %zd: %S", index, raised);
        PyObject *named = text ? PyObject_CallOneArg(type, text) : NULL;
        Py_XDECREF(text);
        if (!named) PyErr_Clear();
        if (named) {
            PyObject *trace = PyException_GetTraceback(raised),
                     *cause = PyException_GetCause(raised);
            if (trace) PyException_SetTraceback(named, trace);
            if (cause) PyException_SetCause(named, cause);
            PyException_SetContext(named, PyException_GetContext(raised));
            Py_XDECREF(trace);
            Py_SETREF(raised, named);
        }
        note_number(raised, "index", index);
    }
    PyErr_SetRaisedException(raised);
}

void note_answers(PyObject *out, Py_ssize_t n)
{
    PyObject *raised = PyErr_GetRaisedException();
    PyObject *answers = PyBytes_FromStringAndSize(PyBytes_AS_STRING(out), n);
    if (!answers || PyObject_SetAttrString(raised, "_answers", answers) < 0) PyErr_Clear();
    Py_XDECREF(answers);
    PyErr_SetRaisedException(raised);
}

void name_refused(const bf_error *err, Py_ssize_t index)
{
    if (err->code != BF_EFULL) {
        name_key(index);
        return;
    }
    PyObject *raised = PyErr_GetRaisedException();
    note_number(raised, "index", index);
    PyErr_SetRaisedException(raised);
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
