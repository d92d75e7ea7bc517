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
    core_call c;
    PyObject *path;
    if (!PyUnicode_FSConverter(arg, &path)) return NULL;
    int rc = core_begin(&c, self, NULL, gil_release) ? 0 : -1;
    if (rc == 0) rc = core_end(&c, bf_save(c.bf, PyBytes_AS_STRING(path), &c.err));
    Py_DECREF(path);
    return rc < 0 ? NULL : Py_NewRef(Py_None);
}

/* ---- pickle ---- */
/* Takes value over. */
static int put(PyObject *dict, const char *name, PyObject *value)
{
    const int rc = value ? PyDict_SetItemString(dict, name, value) : -1;
    Py_XDECREF(value);
    return rc;
}

/* What open() is told beside the storage: where it is, and what it must be.  m of a filter of many
 * parts is not its own to say. */
static PyObject *open_arguments(const bf_info *info)
{
    PyObject *kwargs = PyDict_New();
    const bool many = info->grow != 0 || info->window != 0;
    const bool failed =
        !kwargs || (info->key && put(kwargs, "key", PyUnicode_FromString(info->key)) < 0) ||
        (info->read_only && put(kwargs, "read_only", Py_NewRef(Py_True)) < 0) ||
        (!many && put(kwargs, "m", PyLong_FromUnsignedLongLong(info->m)) < 0) ||
        (info->grow != 0 && put(kwargs, "grow", PyFloat_FromDouble(info->grow)) < 0) ||
        (info->window != 0 && put(kwargs, "window", PyFloat_FromDouble(info->window)) < 0) ||
        put(kwargs, "k", PyLong_FromUnsignedLong(info->k)) < 0 ||
        put(kwargs, "scheme", PyUnicode_FromString(info->scheme)) < 0;
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

/* What makes it again from one argument.  Of an image that tells its class the module's function
 * does, whose name takes 40 bytes less in a pickle than a class method's; it stays for pickles that
 * are stored. */
static PyObject *maker_of(FilterObject *self, const bf_info *info)
{
    PyTypeObject *type = Py_TYPE(self);
    const module_state *state = state_of(type);
    if (!info->storage && (type == state->filter_type || type == state->counting_type))
        return get_attribute(PyType_GetModule(type), "_from_bytes");
    PyObject *made =
        PyObject_GetAttrString((PyObject *)type, info->storage ? "open" : "from_bytes");
    if (!made || !info->storage) return made;
    PyObject *kwargs = open_arguments(info), *bound = kwargs ? partial(made, kwargs) : NULL;
    Py_DECREF(made);
    Py_XDECREF(kwargs);
    return bound;
}

/* What was opened by a relative path is named from where the process is now, and goes out as an
 * absolute one: who unpickles it may be elsewhere, where that name is another filter's. */
static PyObject *storage_of(FilterObject *self, bf_filter *bf, const bf_info *info)
{
    const char *name = NULL;
    const bool is_file = bf_storage_path(info->storage, &name, NULL) > 0,
               relative = is_file && name[0] != '/';
    PyObject *path = PyUnicode_DecodeFSDefault(relative ? name : info->storage);
    if (!path || !relative) return path;
    bf_spec there = { .storage = info->storage, .counting = is_counting(Py_TYPE(self)) },
            only_read = there;
    only_read.read_only = true;
    if (bf_is_current(bf, &there, NULL) <= 0 && bf_is_current(bf, &only_read, NULL) <= 0) {
        PyErr_Format(state_of(Py_TYPE(self))->error,
            "%R is a relative path, which is not this filter's in the present working directory: "
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
    const char *fault = self->clock && !strcmp(info.scheme, "functions")
                            ? "a filter with hash functions of its own cannot be pickled: use "
                              "to_bytes() and from_bytes(data, hashes=...)"
                        : info.keyed  ? "a keyed filter cannot be pickled: its secret is never "
                                        "stored; use to_bytes() and from_bytes(data, secret=...)"
                        : self->clock ? "a filter with a clock of its own cannot be pickled: use "
                                        "to_bytes() and from_bytes(data, clock=...)"
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

/* ---- what a subclass keeps on its objects ---- */
/* value of name in to, if the object has it. */
static int take_slot(PyObject *self, PyObject *name, PyObject *to)
{
    PyObject *value = PyObject_GetAttr(self, name);
    if (!value) {
        if (!PyErr_ExceptionMatches(PyExc_AttributeError)) return -1;
        PyErr_Clear();
        return 0;
    }
    const int rc = PyDict_SetItem(to, name, value);
    Py_DECREF(value);
    return rc;
}

/* Its __slots__, as copyreg knows them: a dict of those that are set. */
static PyObject *slots_of(PyObject *self)
{
    PyObject *copyreg = PyImport_ImportModule("copyreg");
    PyObject *names =
        copyreg ? PyObject_CallMethod(copyreg, "_slotnames", "O", (PyObject *)Py_TYPE(self)) : NULL;
    PyObject *found = names ? PyDict_New() : NULL;
    PyObject *list = found ? PySequence_Fast(names, "_slotnames() gave no list") : NULL;
    for (Py_ssize_t i = 0; list && i < PySequence_Fast_GET_SIZE(list); i++)
        if (take_slot(self, PySequence_Fast_GET_ITEM(list, i), found) < 0) Py_CLEAR(list);
    if (!list) Py_CLEAR(found);
    Py_XDECREF(list);
    Py_XDECREF(names);
    Py_XDECREF(copyreg);
    return found;
}

PyObject *filter_attributes(PyObject *self)
{
    const module_state *state = state_of(Py_TYPE(self));
    if (Py_IS_TYPE(self, state->filter_type) || Py_IS_TYPE(self, state->counting_type))
        return Py_NewRef(Py_None);
    PyObject *slots = slots_of(self),
             *dict = slots ? PyObject_GetAttrString(self, "__dict__") : NULL;
    if (!slots) return NULL;
    if (!dict && !PyErr_ExceptionMatches(PyExc_AttributeError)) {
        Py_DECREF(slots);
        return NULL;
    }
    PyErr_Clear();
    if (!dict || (PyDict_Check(dict) && PyDict_GET_SIZE(dict) == 0)) {
        Py_XDECREF(dict);
        dict = Py_NewRef(Py_None);
    }
    if (PyDict_GET_SIZE(slots)) return Py_BuildValue("(NN)", dict, slots);
    Py_DECREF(slots);
    return dict;
}

PyObject *filter_reduce(FilterObject *self, PyObject *Py_UNUSED(unused))
{
    bf_filter *bf = filter_enter(self);
    if (!bf) return NULL;
    PyObject *made = recipe(self, bf), *full = NULL;
    filter_leave(self);
    PyObject *kept = made ? filter_attributes((PyObject *)self) : NULL;
    if (kept)
        full = kept == Py_None
                   ? Py_NewRef(made)
                   : PyTuple_Pack(3, PyTuple_GET_ITEM(made, 0), PyTuple_GET_ITEM(made, 1), kept);
    Py_XDECREF(kept);
    Py_XDECREF(made);
    return full;
}
