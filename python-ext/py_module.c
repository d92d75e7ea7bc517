/* py_module.c - the module bloomfilter._bloomfilter. Has multi-phase initialisation and no state
 * outside the module, so there may be any number of interpreters, with or without a GIL. */
#include "py_bloomfilter.h"

static PyObject *make_turn(void)
{
    PyObject *globals = PyDict_New();
    PyObject *code =
        globals ? Py_CompileString("lambda: None", "<bloomfilter>", Py_eval_input) : NULL;
    PyObject *turn = code ? PyEval_EvalCode(code, globals, globals) : NULL;
    Py_XDECREF(code);
    Py_XDECREF(globals);
    return turn;
}

/* ---- for the command line: storage texts and files with secrets ---- */
static PyObject *module_path_of(PyObject *module, PyObject *arg)
{
    PyObject *text, *found;
    const char *path;
    bf_error err;
    if (!PyUnicode_FSConverter(arg, &text)) return NULL;
    const int is = bf_storage_path(PyBytes_AS_STRING(text), &path, &err);
    if (is < 0)
        found = raise_error(PyModule_GetState(module), &err);
    else
        found = is ? PyUnicode_DecodeFSDefault(path) : Py_NewRef(Py_None);
    Py_DECREF(text);
    return found;
}

/* accepts any str, also with lone surrogates (from os.fsdecode) */
static PyObject *module_hide_passwords(PyObject *module, PyObject *arg)
{
    PyObject *text = PyUnicode_AsEncodedString(arg, "utf-8", "surrogatepass"), *shown = NULL;
    (void)module;
    if (!text) return NULL;
    const size_t len = bf_hide_passwords(PyBytes_AS_STRING(text), NULL, 0);
    char *out = PyMem_Malloc(len + 1);
    if (out) {
        bf_hide_passwords(PyBytes_AS_STRING(text), out, len + 1);
        shown = PyUnicode_DecodeUTF8(out, (Py_ssize_t)len, "surrogatepass");
    } else
        PyErr_NoMemory();
    PyMem_Free(out);
    Py_DECREF(text);
    return shown;
}

static PyObject *module_read_secret(PyObject *module, PyObject *arg)
{
    PyObject *path;
    bf_error err;
    char secret[BF_SECRET_BYTES];
    if (!PyUnicode_FSConverter(arg, &path)) return NULL;
    PyThreadState *ts = gil_out(); /* reading a FIFO may wait */
    const int rc = bf_read_secret(PyBytes_AS_STRING(path), secret, &err);
    gil_back(ts);
    Py_DECREF(path);
    return rc < 0 ? raise_error(PyModule_GetState(module), &err)
                  : PyBytes_FromStringAndSize(secret, sizeof secret);
}

/* _streams.py calls this to read an image from a file object */
static PyObject *module_image_wants(PyObject *module, PyObject *data)
{
    Py_buffer view;
    (void)module;
    if (PyObject_GetBuffer(data, &view, PyBUF_SIMPLE) < 0) return NULL;
    const uint64_t wants = bf_image_wants(view.buf, (size_t)view.len);
    PyBuffer_Release(&view);
    return PyLong_FromUnsignedLongLong(wants);
}

/* _redis.py calls this to detect a fork */
static PyObject *module_process(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyLong_FromLong(bf_process());
}

/* asyncio.py calls this, because a single key in the thread of an event loop must not wait */
static PyObject *module_set_nowait(PyObject *module, PyObject *on)
{
    (void)module;
    bf_set_nowait(on == Py_True);
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = { { "_path_of", module_path_of, METH_O, NULL },
    { "_open", (PyCFunction)(void (*)(void))module_open, METH_VARARGS | METH_KEYWORDS, NULL },
    { "_from_bytes", (PyCFunction)(void (*)(void))module_from_bytes, METH_VARARGS | METH_KEYWORDS,
        NULL },
    { "_image_wants", module_image_wants, METH_O, NULL },
    { "_process", module_process, METH_NOARGS, NULL },
    { "_set_nowait", module_set_nowait, METH_O, NULL },
    { "_hide_passwords", module_hide_passwords, METH_O, NULL },
    { "_read_secret", module_read_secret, METH_O, NULL }, { NULL, NULL, 0, NULL } };

static PyObject *make_names(void)
{
    static const char *const all[] = { "__array__", "__arrow_c_array__", "__arrow_c_stream__",
        "__fspath__", "bytes", "columns", "dtype", "mask", "ndim", "read", "total_seconds",
        "write" };
    const Py_ssize_t n = Py_ARRAY_LENGTH(all);
    PyObject *names = PyTuple_New(n);
    for (Py_ssize_t i = 0; names && i < n; i++) {
        PyObject *name = PyUnicode_InternFromString(all[i]);
        if (name)
            PyTuple_SET_ITEM(names, i, name);
        else
            Py_CLEAR(names);
    }
    return names;
}

static bool add_exception(
    PyObject *module, PyObject **to, const char *name, const char *doc, PyObject *base)
{
    *to = PyErr_NewExceptionWithDoc(name, doc, base, NULL);
    if (*to && base == PyExc_ValueError && PyObject_SetAttrString(*to, "errno", Py_None) < 0)
        return false;
    return *to && PyModule_AddObjectRef(module, strchr(name, '.') + 1, *to) == 0;
}

static bool make_type(PyObject *module, PyTypeObject **to, PyType_Spec *spec, PyTypeObject *base)
{
    PyObject *bases = base ? PyTuple_Pack(1, base) : NULL;
    if (bases || !base) *to = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, bases);
    Py_XDECREF(bases);
    return *to;
}

/* The library's 1.2.3-rc4 is 1.2.3rc4 in Python. */
static int add_version(PyObject *module)
{
    const char *version = bf_version(), *candidate = strchr(version, '-');
    const int number = candidate ? (int)(candidate - version) : (int)strlen(version);
    char text[32];
    snprintf(text, sizeof text, "%.*s%s", number, version, candidate ? candidate + 1 : "");
    return PyModule_AddStringConstant(module, "__version__", text);
}

static int module_exec(PyObject *module)
{
    module_state *state = PyModule_GetState(module);
    const bool made = (state->names = make_names()) && (state->turn = make_turn()) &&
                      add_exception(module, &state->error, "bloomfilter.Error",
                          PyDoc_STR(DOC_Error), PyExc_ValueError) &&
                      add_exception(module, &state->warning, "bloomfilter.SaturationWarning",
                          PyDoc_STR(DOC_SaturationWarning), PyExc_UserWarning) &&
                      add_exception(module, &state->full, "bloomfilter.FullError",
                          PyDoc_STR(DOC_FullError), state->error) &&
                      make_type(module, &state->filter_type, &filter_spec, NULL) &&
                      make_type(module, &state->replies_type, &replies_spec, NULL) &&
                      make_type(module, &state->counting_type, &counting_spec, state->filter_type);
    if (!made || PyModule_AddType(module, state->filter_type) < 0 ||
        PyModule_AddType(module, state->counting_type) < 0)
        return -1;
    return add_version(module);
}

/* all members of module_state */
#define STATE(X)                                                                                   \
    X(filter_type)                                                                                 \
    X(replies_type) X(counting_type) X(warning) X(error) X(full) X(names) X(turn)
#define VISIT(member) Py_VISIT(state->member);
#define CLEAR(member) Py_CLEAR(state->member);
static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
    module_state *state = PyModule_GetState(module);
    STATE(VISIT)
    return 0;
}

static int module_clear(PyObject *module)
{
    module_state *state = PyModule_GetState(module);
    STATE(CLEAR)
    return 0;
}

static void module_free(void *module) { module_clear(module); }

static PyModuleDef_Slot slots[] = { { Py_mod_exec, module_exec },
#ifdef Py_mod_multiple_interpreters
    { Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED },
#endif
#ifdef Py_mod_gil
    { Py_mod_gil, Py_MOD_GIL_NOT_USED },
#endif
    { 0, NULL } };

struct PyModuleDef bloomfilter_module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "bloomfilter._bloomfilter",
    .m_doc = PyDoc_STR("The compiled part of bloomfilter; import it from there."),
    .m_size = sizeof(module_state),
    .m_methods = functions,
    .m_slots = slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
    .m_free = module_free,
};

PyMODINIT_FUNC PyInit__bloomfilter(void) { return PyModuleDef_Init(&bloomfilter_module); }
