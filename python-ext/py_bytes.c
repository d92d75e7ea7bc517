/* py_bytes.c - a filter as bytes, as a saved file, as a pickle.  The format is the core's; reading
 * it back is py_params.c's, because the parameters may be given again. */
#include "py_bloomfilter.h"

/* To be filled.  On 32-bit machines a filter elsewhere may be larger than any object. */
PyObject *new_bytes(uint64_t len)
{
    if (len <= PY_SSIZE_T_MAX) return PyBytes_FromStringAndSize(NULL, (Py_ssize_t)len);
    return PyErr_Format(
        PyExc_MemoryError, "memory cannot hold %llu bytes in one object", (unsigned long long)len);
}

/* format NULL: our own. */
static PyObject *image(FilterObject *self, bf_filter *bf, const char *format)
{
    bf_error err;
    PyThreadState *ts = gil_release_if_big(self, NULL);
    int64_t len = bf_bytes_as(bf, format, &err);
    gil_take(ts, self, NULL);
    if (len < 0) return raise_in(self, &err);
    PyObject *out = new_bytes((uint64_t)len);
    if (!out) return NULL;
    ts = gil_release_if_big(self, NULL);
    int rc = bf_to_bytes_as(bf, format, PyBytes_AS_STRING(out), (uint64_t)len, &err);
    gil_take(ts, self, NULL);
    if (rc >= 0) return out;
    Py_DECREF(out);
    return raise_in(self, &err);
}

PyObject *filter_to_bytes(FilterObject *self, PyObject *args, PyObject *kwargs)
{
    static char *const names[] = { "format", NULL };
    const char *format = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$z:to_bytes", (char **)names, &format))
        return NULL;
    bf_filter *bf = filter_enter(self);
    if (!bf) return NULL;
    PyObject *out = image(self, bf, format);
    filter_leave(self);
    return out;
}

PyObject *filter_save(FilterObject *self, PyObject *arg)
{
    bf_error err;
    PyObject *path;
    if (!PyUnicode_FSConverter(arg, &path)) return NULL;
    bf_filter *bf = filter_enter(self);
    if (!bf) {
        Py_DECREF(path);
        return NULL;
    }
    PyThreadState *ts = gil_release(self, NULL);
    int rc = bf_save(bf, PyBytes_AS_STRING(path), &err);
    gil_take(ts, self, NULL);
    filter_leave(self);
    Py_DECREF(path);
    if (rc < 0) return raise_in(self, &err);
    Py_RETURN_NONE;
}

/* ---- pickle ---- */
/* What open() must be told beside the storage; an empty dict where nothing. */
static PyObject *open_arguments(const bf_info *info)
{
    PyObject *kwargs = PyDict_New(), *key = info->key ? PyUnicode_FromString(info->key) : NULL;
    bool failed = !kwargs || (info->key && !key) ||
                  (key && PyDict_SetItemString(kwargs, "key", key) < 0) ||
                  (info->read_only && PyDict_SetItemString(kwargs, "read_only", Py_True) < 0);
    Py_XDECREF(key);
    if (failed) Py_CLEAR(kwargs);
    return kwargs;
}

static PyObject *partial(PyObject *function, PyObject *kwargs)
{
    PyObject *functools = PyImport_ImportModule("functools");
    PyObject *make = functools ? PyObject_GetAttrString(functools, "partial") : NULL,
             *args = PyTuple_Pack(1, function);
    PyObject *bound = make && args ? PyObject_Call(make, args, kwargs) : NULL;
    Py_XDECREF(functools);
    Py_XDECREF(make);
    Py_XDECREF(args);
    return bound;
}

/* The class method that makes it again from one argument. */
static PyObject *maker_of(FilterObject *self, const bf_info *info)
{
    PyObject *made =
        PyObject_GetAttrString((PyObject *)Py_TYPE(self), info->storage ? "open" : "from_bytes");
    PyObject *kwargs = made && info->storage ? open_arguments(info) : NULL;
    if (!kwargs || PyDict_GET_SIZE(kwargs) == 0) {
        if (PyErr_Occurred()) Py_CLEAR(made);
        Py_XDECREF(kwargs);
        return made;
    }
    PyObject *bound = partial(made, kwargs);
    Py_DECREF(made);
    Py_DECREF(kwargs);
    return bound;
}

/* What was opened by a relative path is named from where the process is now, and goes out as an
 * absolute one: who unpickles it may be elsewhere, where that name is another filter's. */
static PyObject *storage_of(FilterObject *self, bf_filter *bf, const bf_info *info)
{
    PyObject *path = PyUnicode_DecodeFSDefault(info->storage);
    if (!path || bf_is_url(info->storage) || info->storage[0] == '/') return path;
    bf_spec there = { .storage = info->storage, .counting = is_counting(Py_TYPE(self)) },
            only_read = there;
    only_read.read_only = true;
    if (bf_fits(bf, &there, NULL) <= 0 && bf_fits(bf, &only_read, NULL) <= 0) {
        PyErr_Format(state_of(Py_TYPE(self))->error,
            "%R is a relative path and not this filter's in the present working directory: "
            "to pickle it, open it by its absolute path",
            path);
        Py_DECREF(path);
        return NULL;
    }
    PyObject *os_path = PyImport_ImportModule("os.path");
    PyObject *whole = os_path ? PyObject_CallMethod(os_path, "abspath", "O", path) : NULL;
    Py_XDECREF(os_path);
    Py_DECREF(path);
    return whole;
}

/* How to get it back: a stored filter by its path, one in memory by its bytes. */
static PyObject *recipe(FilterObject *self, bf_filter *bf)
{
    bf_info info;
    bf_get_info(bf, &info);
    const char *fault =
        info.keyed
            ? "a keyed filter cannot be pickled: its secret is never stored; use to_bytes() and from_bytes(data, secret=...)"
        : self->clock
            ? "a filter with a clock of its own cannot be pickled: use to_bytes() and from_bytes(data, clock=...)"
        : !info.storage && strcmp(info.home, "memory") != 0
            ? "a filter on a client object cannot be pickled"
            : NULL;
    if (fault) {
        PyErr_SetString(state_of(Py_TYPE(self))->error, fault);
        return NULL;
    }
    PyObject *arg = info.storage ? storage_of(self, bf, &info) : image(self, bf, NULL);
    PyObject *maker = arg ? maker_of(self, &info) : NULL;
    if (!maker) {
        Py_XDECREF(arg);
        return NULL;
    }
    return Py_BuildValue("(N(N))", maker, arg);
}

/* What a subclass keeps on its objects; NULL without an exception where there is nothing. */
static PyObject *attributes(FilterObject *self)
{
    PyObject *dict = PyObject_GetAttrString((PyObject *)self, "__dict__");
    if (!dict && PyErr_ExceptionMatches(PyExc_AttributeError)) PyErr_Clear();
    if (dict && PyDict_Check(dict) && PyDict_GET_SIZE(dict) == 0) Py_CLEAR(dict);
    return dict;
}

PyObject *filter_reduce(FilterObject *self, PyObject *Py_UNUSED(unused))
{
    bf_filter *bf = filter_enter(self);
    if (!bf) return NULL;
    PyObject *made = recipe(self, bf);
    filter_leave(self);
    PyObject *dict = made ? attributes(self) : NULL;
    if (!dict) {
        if (PyErr_Occurred()) Py_CLEAR(made);
        return made;
    }
    PyObject *full =
        Py_BuildValue("(OON)", PyTuple_GET_ITEM(made, 0), PyTuple_GET_ITEM(made, 1), dict);
    Py_DECREF(made);
    return full;
}
