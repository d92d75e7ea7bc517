/* py_bytes.c - a filter as bytes, as a saved file and as a pickle. py_params.c reads them back,
 * because parameters may be given again. */
#include "py_bloomfilter.h"

/* An uninitialized bytes object.  On 32-bit machines a filter in Redis or a file may be larger than
 * any object. */
PyObject *new_bytes(uint64_t len)
{
    if (len <= PY_SSIZE_T_MAX) return PyBytes_FromStringAndSize(NULL, (Py_ssize_t)len);
    return PyErr_Format(
        PyExc_MemoryError, "memory cannot hold %llu bytes in one object", (unsigned long long)len);
}

/* format NULL: our own format. */
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

PyObject *filter_save(FilterObject *self, PyObject *arg)
{
    core_call c;
    PyObject *path;
    if (!PyUnicode_FSConverter(arg, &path)) return NULL;
    int rc = core_begin(&c, self, NULL, gil_release) ? 0 : -1;
    if (rc == 0) rc = core_end(&c, bf_save(c.bf, PyBytes_AS_STRING(path), &c.err));
    Py_DECREF(path);
    return none(rc);
}

/* ---- pickle: what can be, and from where it is made again; bloomfilter._pickle does the rest ----
 */
static const char *why_no_pickle(const FilterObject *self, const bf_info *info)
{
    if (self->callback && !strcmp(info->scheme, "functions"))
        return "a filter with hash functions of its own cannot be pickled: use to_bytes() and "
               "from_bytes(data, hashes=...)";
    if (info->keyed)
        return "a keyed filter cannot be pickled: its secret is never stored; use to_bytes() and "
               "from_bytes(data, secret=...)";
    if (self->callback)
        return "a filter with a clock of its own cannot be pickled: use to_bytes() and "
               "from_bytes(data, clock=...)";
    return info->storage || !strcmp(info->home, "memory")
               ? NULL
               : "a filter on a client object cannot be pickled";
}

/* A relative path is relative to the present working directory.  Returns NULL if that leads to
 * another file or to none. */
static const char *relative_path(FilterObject *self, bf_filter *bf, const bf_info *info)
{
    const char *path = "";
    if (bf_storage_path(info->storage, &path, NULL) <= 0 || path[0] == '/') return "";
    bf_spec there = { .storage = info->storage, .counting = is_counting(Py_TYPE(self)) },
            only_read = there;
    only_read.read_only = true;
    if (bf_is_current(bf, &there, NULL) > 0 || bf_is_current(bf, &only_read, NULL) > 0) return path;
    PyObject *name = PyUnicode_DecodeFSDefault(path);
    if (name)
        PyErr_Format(state_of(Py_TYPE(self))->error,
            "%R is a relative path, which is not this filter's in the present working directory: "
            "to pickle it, open it by its absolute path",
            name);
    Py_XDECREF(name);
    return NULL;
}

static PyObject *reduce(FilterObject *self, bf_filter *bf)
{
    bf_info info;
    bf_get_info(bf, &info);
    const char *why = why_no_pickle(self, &info), *path;
    if (why) {
        PyErr_SetString(state_of(Py_TYPE(self))->error, why);
        return NULL;
    }
    if (!info.storage) {
        PyObject *bytes = image(self, NULL);
        return bytes ? call_helper("_pickle", "reduce_bytes", "ON", self, bytes) : NULL;
    }
    if (!(path = relative_path(self, bf, &info))) return NULL;
    return call_helper("_pickle", "reduce_stored", "ONNzO", self,
        PyUnicode_DecodeFSDefault(info.storage), PyUnicode_DecodeFSDefault(path), info.key,
        info.read_only ? Py_True : Py_False);
}

PyObject *filter_reduce(FilterObject *self, PyObject *Py_UNUSED(unused))
{
    bf_filter *bf = filter_enter(self);
    PyObject *made = bf ? reduce(self, bf) : NULL;
    if (bf) filter_leave(self);
    return made;
}
