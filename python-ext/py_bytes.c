/* py_bytes.c - writes a filter as bytes, base64, a file or a pickle. py_params.c reads them. */
#include "py_bloomfilter.h"

/* Returns an uninitialized bytes object, or NULL with an exception. On 32-bit machines a filter in
 * Redis or in a file may exceed the maximum size of an object. */
PyObject *new_bytes(uint64_t len)
{
    if (len <= PY_SSIZE_T_MAX) return PyBytes_FromStringAndSize(NULL, (Py_ssize_t)len);
    return PyErr_Format(
        PyExc_MemoryError, "memory cannot hold %llu bytes in one object", (unsigned long long)len);
}

/* format: the name of another system's format; NULL: our own format. */
static PyObject *image(FilterObject *self, const char *format)
{
    core_call c;
    PyObject *out = NULL;
    if (!core_begin(&c, self, NULL, gil_release_if_big)) return NULL;
    int64_t rc = bf_bytes_as(c.bf, format, &c.err);
    core_back(&c);
    if (rc >= 0 && (out = new_bytes((uint64_t)rc))) {
        c.ts = gil_release_if_big(self, NULL);
        rc = bf_to_bytes_as(c.bf, format, PyBytes_AS_STRING(out), (uint64_t)rc, &c.err);
    }
    if (core_end(&c, rc < 0 ? -1 : 0) < 0) Py_CLEAR(out);
    return out;
}

PyObject *filter_to_bytes(FilterObject *self, PyObject *args, PyObject *kwargs)
{
    static char *const names[] = { "format", NULL };
    const char *format = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$z:to_bytes", (char **)names, &format))
        return NULL;
    return image(self, format);
}

static PyObject *save_by(
    FilterObject *self, PyObject *arg, int (*save)(bf_filter *, const char *, bf_error *))
{
    core_call c;
    PyObject *path;
    if (!PyUnicode_FSConverter(arg, &path)) return NULL;
    int rc = core_begin(&c, self, NULL, gil_release) ? 0 : -1;
    if (rc == 0) rc = core_end(&c, save(c.bf, PyBytes_AS_STRING(path), &c.err));
    Py_DECREF(path);
    return none(rc);
}

PyObject *filter_to_base64(FilterObject *self, PyObject *Py_UNUSED(none))
{
    PyObject *bytes = image(self, NULL);
    return bytes ? call_helper("_streams", "encode", "(N)", bytes) : NULL;
}

/* Without bytes, the helper raises an exception that names the way. */
PyObject *filter_to_json(FilterObject *self, PyObject *Py_UNUSED(none))
{
    bf_info info;
    bf_filter *bf = filter_enter(self);
    if (!bf) return NULL;
    bf_get_info(bf, &info);
    const bool secret = info.keyed && strcmp(info.scheme, "functions") != 0,
               plain = strcmp(info.home, "memory") == 0 && !secret;
    filter_leave(self);
    PyObject *bytes = plain ? image(self, NULL) : Py_NewRef(Py_None);
    return bytes ? call_helper("_streams", "to_json", "(N)", bytes) : NULL;
}

/* arg: a path, or an object with write(). */
PyObject *filter_save(FilterObject *self, PyObject *arg)
{
    const int stream = has_attribute(arg, "write");
    if (stream <= 0) return stream < 0 ? NULL : save_by(self, arg, bf_save);
    PyObject *bytes = image(self, NULL);
    return bytes ? call_helper("_streams", "write", "ON", arg, bytes) : NULL;
}

PyObject *filter_save_new(FilterObject *self, PyObject *arg)
{
    return save_by(self, arg, bf_save_new);
}

/* ---- pickle (_pickle.py) ---- */
PyObject *filter_reduce(FilterObject *self, PyObject *Py_UNUSED(unused))
{
    bf_info info;
    const char *path = NULL;
    bool is_there = true;
    bf_filter *bf = filter_enter(self);
    if (!bf) return NULL;
    bf_get_info(bf, &info);
    if (info.storage && bf_storage_path(info.storage, &path, NULL) > 0 && path[0] != '/') {
        bf_spec spec = { .storage = info.storage, .counting = is_counting(Py_TYPE(self)) };
        is_there = bf_is_current(bf, &spec, NULL) > 0;
        spec.read_only = true;
        is_there = is_there || bf_is_current(bf, &spec, NULL) > 0;
    } else
        path = NULL;
    PyObject *made = call_helper("_pickle", "reduce", "OsOOONNNzz", self, info.home,
        self->callback ? Py_True : Py_False, info.keyed ? Py_True : Py_False,
        info.read_only ? Py_True : Py_False, path_or_none(info.storage), path_or_none(path),
        PyBool_FromLong(is_there), info.key, bf_overfull_name(info.overfull));
    filter_leave(self);
    /* A str is the reason why the filter cannot be pickled. _pickle.py does not raise the exception
     * itself, because CPython 3.11 loses exceptions of Python code when memory is short. */
    if (made && PyUnicode_Check(made)) {
        PyErr_SetObject(state_of(Py_TYPE(self))->error, made);
        Py_CLEAR(made);
    }
    return made;
}
