/* fuzz_python.c - the Python extension in an interpreter of its own: the input chooses methods,
 * keywords and objects, among them iterables and numbers that raise, or that close, clear and fill
 * the filter in the middle of a call.  Whatever is raised is of the documented classes, and a call
 * that failed has raised.  Paths are of a fixed set in a folder of the fuzzer's own: no input
 * writes anywhere else. */
#include <Python.h>
#include "fuzz.h"
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

PyMODINIT_FUNC PyInit__bloomfilter(void);
int LLVMFuzzerInitialize(int *argc, char ***argv);
const char *__asan_default_options(void);
int __lsan_is_turned_off(void);
/* Large allocations fail as on a small machine.  The interpreter itself leaks at its end. */
const char *__asan_default_options(void)
{
    return "max_allocation_size_mb=64:allocator_may_return_null=1";
}
int __lsan_is_turned_off(void) { return 1; }

static PyObject *type, *counting, *error, *mischief,
    *helper; /* the two types, Error, and the exception and class of the text below */
static char folder[64];
static PyObject *filters[2]; /* what the present input works on */

static const char prelude[] =
    "class Mischief(Exception): pass\n"
    "class Helper:\n"
    "    def __init__(self, f, how, items): self.f, self.how, self.items = f, how, items\n"
    "    def act(self):\n"
    "        how = self.how % 9\n"
    "        if how == 0: raise Mischief\n"
    "        if how == 1: raise ValueError('mine')\n"
    "        if how == 2: self.f.close()\n"
    "        if how == 3: self.f.clear()\n"
    "        if how == 4: self.f.update(['x', 'y'])\n"
    "        if how == 5: self.f.__init__(m=64, k=2)\n"
    "        if how == 6: self.items.clear()\n"
    "        if how == 7: self.items.extend(range(5))\n"
    "        return how\n"
    "    def __index__(self): return self.act()\n"
    "    def __float__(self): return self.act() / 9\n"
    "    def __str__(self): self.act(); return 'text'\n"
    "    def __fspath__(self): self.act(); return folder + '/f0'\n"
    "    def __bool__(self): return self.act() > 4\n"
    "    def __length_hint__(self): return (self.act() - 4) << self.how % 61\n"
    "    def __iter__(self):\n"
    "        for i, item in enumerate(self.items):\n"
    "            if i == self.how % 5: self.act()\n"
    "            yield item\n";

static PyObject *must(PyObject *o)
{
    if (!o) PyErr_Print();
    MUST(o);
    return o;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    setenv("PYTHONMALLOC", "malloc", 1); /* the sanitizer sees every object */
    setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
    MUST(PyImport_AppendInittab("_bloomfilter", PyInit__bloomfilter) == 0);
    Py_InitializeEx(0);
    /* The package around it, from the sources: it imports this module as its own. */
    PyObject *module = must(PyImport_ImportModule("_bloomfilter")), *names = must(PyDict_New());
    char path[4096];
    snprintf(path, sizeof path, "%s/../../python-ext", TARGETS);
    PyObject *sources = must(PyUnicode_DecodeFSDefault(path));
    PyList_Append(PySys_GetObject("path"), sources);
    PyDict_SetItemString(PyImport_GetModuleDict(), "bloomfilter._bloomfilter", module);
    must(PyImport_ImportModule("bloomfilter"));
    type = must(PyObject_GetAttrString(module, "BloomFilter"));
    counting = must(PyObject_GetAttrString(module, "CountingBloomFilter"));
    error = must(PyObject_GetAttrString(module, "Error"));
    snprintf(folder, sizeof folder, "%s/fuzz-python-%d",
        access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", (int)getpid());
    PyDict_SetItemString(names, "__builtins__", PyEval_GetBuiltins());
    PyDict_SetItemString(names, "folder", must(PyUnicode_FromString(folder)));
    must(PyRun_String(prelude, Py_file_input, names, names));
    mischief = must(PyDict_GetItemString(names, "Mischief"));
    helper = must(PyDict_GetItemString(names, "Helper"));
    /* Mapped files stay small. */
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 32 << 20, 32 << 20 });
    return 0;
}

/* ---- objects ---- */
static PyObject *text(input *in)
{
    size_t n = (size_t)take(in, 1) % 40, kind = (size_t)take(in, 1);
    if (n > in->left) n = in->left;
    PyObject *s = kind & 1   ? PyUnicode_DecodeUTF8((const char *)in->at, (Py_ssize_t)n,
                                 kind & 2 ? "surrogateescape" : "replace")
                  : kind & 4 ? PyUnicode_FromKindAndData(PyUnicode_2BYTE_KIND,
                                   memcpy((Py_UCS2[20]){ 0 }, in->at, n / 2 * 2), (Py_ssize_t)n / 2)
                             : PyUnicode_DecodeLatin1((const char *)in->at, (Py_ssize_t)n, NULL);
    in->at += n;
    in->left -= n;
    return must(s);
}

static PyObject *bytes(input *in)
{
    size_t n = (size_t)take(in, 1);
    if (n > in->left) n = in->left;
    PyObject *o = PyBytes_FromStringAndSize((const char *)in->at, (Py_ssize_t)n);
    in->at += n;
    in->left -= n;
    return must(o);
}

static PyObject *real(input *in)
{
    uint64_t bits = take(in, 8);
    double v;
    memcpy(&v, &bits, sizeof v);
    return must(PyFloat_FromDouble(v));
}

static PyObject *huge(input *in)
{
    PyObject *one = PyLong_FromLongLong((int64_t)take(in, 2) - 30000),
             *by = PyLong_FromLong((long)take(in, 2) % 20000);
    PyObject *o = PyNumber_Lshift(one, by);
    Py_DECREF(one);
    Py_DECREF(by);
    return must(o);
}

static PyObject *object(input *in, int depth);
static PyObject *list(input *in, int depth)
{
    PyObject *all = must(PyList_New(0));
    for (size_t n = (size_t)take(in, 1) % 12; n && in->left; n--) {
        PyObject *o = object(in, depth + 1);
        PyList_Append(all, o);
        Py_DECREF(o);
    }
    return all;
}

static PyObject *view(input *in)
{
    static const char *const kinds[] = { "B", "b", "c", "H", "i", "q", "d", "?" };
    PyObject *data = bytes(in), *whole = must(PyMemoryView_FromObject(data)),
             *o = PyObject_CallMethod(whole, "cast", "s", kinds[take(in, 1) % 8]);
    Py_DECREF(data);
    if (!o) {
        PyErr_Clear();
        return whole;
    }
    Py_DECREF(whole);
    PyObject *step = PyLong_FromLongLong((int64_t)take(in, 1) % 5 - 2),
             *slice = must(PySlice_New(NULL, NULL, step)), *part = PyObject_GetItem(o, slice);
    Py_DECREF(step);
    Py_DECREF(slice);
    if (!part) {
        PyErr_Clear();
        return o;
    } /* a step of 0 */
    Py_DECREF(o);
    return part;
}

static PyObject *trickster(input *in, int depth)
{
    long how = (long)take(in, 1);
    PyObject *items = list(in, depth),
             *o = PyObject_CallFunction(
                 helper, "OlO", filters[how & 1] ? filters[how & 1] : Py_None, how, items);
    Py_DECREF(items);
    return must(o);
}

/* Of a filter: its bytes, maybe damaged. */
static PyObject *image(input *in)
{
    PyObject *o = PyObject_CallMethod(filters[0], "to_bytes", NULL);
    if (!o || PyBytes_GET_SIZE(o) > 1 << 20) {
        PyErr_Clear();
        Py_XDECREF(o);
        return bytes(in);
    }
    uint64_t at = take(in, 2), flip = take(in, 1);
    if (at < (uint64_t)PyBytes_GET_SIZE(o)) ((uint8_t *)PyBytes_AS_STRING(o))[at] ^= (uint8_t)flip;
    return o;
}

static PyObject *object(input *in, int depth)
{
    uint64_t kind = take(in, 1) % (depth > 2 ? 10 : 18);
    PyObject *o, *data;
    switch (kind) {
    case 0: return Py_NewRef(Py_None);
    case 1: return PyBool_FromLong((long)take(in, 1) & 1);
    case 2: return PyLong_FromLong((long)take(in, 2) - 100);
    case 3: return PyLong_FromLongLong((int64_t)take(in, 8));
    case 4: return huge(in);
    case 5: return real(in);
    case 6:
    case 7: return text(in);
    case 8: return bytes(in);
    case 9: return view(in);
    case 10:
        data = bytes(in);
        o = must(PyByteArray_FromObject(data));
        Py_DECREF(data);
        return o;
    case 11:
    case 12: return list(in, depth);
    case 13:
        data = list(in, depth);
        o = must(PyList_AsTuple(data));
        Py_DECREF(data);
        return o;
    case 14: return trickster(in, depth);
    case 15:
        data = trickster(in, depth);
        o = PyObject_GetIter(data);
        Py_DECREF(data);
        return must(o);
    case 16: return image(in);
    default: return Py_NewRef(filters[take(in, 1) & 1]);
    }
}

/* A storage or a path: these, or what is no path at all. */
static PyObject *place(input *in)
{
    static const char *const names[] = { "f0", "f1", "f2", "", "no/such", "\0", "redis://",
        "redis://h?key=%zz", "unix:///no?key=k", "rediss://h?key=k", "redis://h:0?key=k", "" };
    uint64_t i = take(in, 1) % 16;
    if (i < 5) return must(PyUnicode_FromFormat("%s/%s", folder, names[i]));
    if (i < 12)
        return must(PyUnicode_FromStringAndSize(names[i], (Py_ssize_t)strlen(names[i]) + (i == 5)));
    if (i == 12) return must(PyBytes_FromFormat("%s/f1", folder));
    if (i == 13) return trickster(in, 2);
    if (i == 14) return real(in);
    return Py_NewRef(Py_None);
}

static PyObject *schemes(input *in)
{
    const char *known = bf_scheme_name(take(in, 1) % 20);
    return known && take(in, 1) % 8 ? must(PyUnicode_FromString(known)) : object(in, 2);
}

/* Mostly what the constructor takes, so that calls come through. */
static PyObject *value(input *in, const char *name)
{
    uint64_t sane = take(in, 1) % 4;
    if (!strcmp(name, "storage")) return place(in);
    if (!strcmp(name, "scheme")) return schemes(in);
    if (!sane) return object(in, 1);
    if (!strcmp(name, "m")) return PyLong_FromLong(1 + (long)take(in, 2));
    if (!strcmp(name, "n") || !strcmp(name, "k"))
        return PyLong_FromLong(1 + (long)take(in, 1) % 20);
    if (!strcmp(name, "p")) return PyFloat_FromDouble((double)take(in, 1) / 256);
    if (!strcmp(name, "secret"))
        return must(PyBytes_FromStringAndSize("0123456789abcdefg", sane == 3 ? 17 : 16));
    return object(in, 1);
}

static PyObject *keywords(input *in)
{
    static const char *const names[] = { "m", "n", "k", "p", "scheme", "storage", "secret", "key",
        "grow", "window", "shards", "parts", "timeout", "cache", "cache_max_age", "wait_replicas",
        "read_only", "format", "data", "nonsense" };
    PyObject *all = must(PyDict_New());
    uint64_t which = take(in, 1) | (take(in, 1) % 3 ? 0 : take(in, 2) << 8);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!(which >> i & 1)) continue;
        PyObject *v = value(in, names[i]);
        PyDict_SetItemString(all, names[i], v);
        Py_DECREF(v);
    }
    return all;
}

/* ---- calls ---- */
/* Takes the result over. */
static PyObject *sound(PyObject *result)
{
    MUST(!result == !!PyErr_Occurred());
    if (result) return result;
    PyObject *ours[] = { PyExc_ValueError, PyExc_TypeError, PyExc_OSError, PyExc_MemoryError, error,
        mischief };
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (PyErr_ExceptionMatches(ours[i])) {
            PyErr_Clear();
            return NULL;
        }
    PyErr_Print();
    abort();
}

static PyObject *construct(input *in)
{
    PyObject *none = must(PyTuple_New(0)), *given = keywords(in),
             *f = sound(PyObject_Call(take(in, 1) & 1 ? counting : type, none, given));
    Py_DECREF(none);
    Py_DECREF(given);
    return f;
}

static PyObject *method(PyObject *f, input *in)
{
    static const struct {
        const char *name;
        int args;
    } rows[] = { { "add", 1 }, { "addKey", 1 }, { "existKey", 1 }, { "hashcode", 1 },
        { "update", 1 }, { "add_many", 1 }, { "contains_many", 1 }, { "__contains__", 1 },
        { "union", 1 }, { "intersection", 1 }, { "__or__", 1 }, { "__iand__", 1 }, { "__eq__", 1 },
        { "__lt__", 1 }, { "copy", 0 }, { "__deepcopy__", 1 }, { "clear", 0 }, { "sync", 0 },
        { "close", 0 }, { "__enter__", 0 }, { "__exit__", 3 }, { "__reduce__", 0 },
        { "__sizeof__", 0 }, { "__len__", 0 }, { "__bool__", 0 }, { "__repr__", 0 },
        { "expire", 1 }, { "delete", 0 }, { "random_secret", 0 }, { "save", -1 }, { "load", -2 },
        { "open", -2 }, { "plan", -3 }, { "__init__", -3 }, { "from_bytes", -4 },
        { "to_bytes", -3 }, { "info", 0 }, { "saturated", 0 }, { "issubset", 1 },
        { "issuperset", 1 }, { "union_count", 1 }, { "intersection_count", 1 }, { "rebuild", 1 },
        { "contains_lines", 1 }, { "update_lines", 1 }, { "remove", 1 }, { "remove_many", 1 },
        { "count_of", 1 }, { "count_many", 1 }, { "to_plain", 0 } };
    size_t row = take(in, 1) % (sizeof rows / sizeof *rows);
    int n = rows[row].args;
    PyObject *call = PyObject_GetAttrString(f, rows[row].name);
    if (!call) { /* a property, or of the other type */
        PyErr_Clear();
        return NULL;
    }
    PyObject *args = must(PyTuple_New(n >= 0    ? n
                                      : n == -3 ? 0
                                                : 1)),
             *given = n < -1 ? keywords(in) : NULL;
    for (int i = 0; i < PyTuple_GET_SIZE(args); i++)
        PyTuple_SET_ITEM(args, i,
            n < 0 && n > -3 ? place(in)
            : n == -4       ? take(in, 1) & 1 ? image(in) : object(in, 0)
                            : object(in, 0));
    PyObject *result = sound(PyObject_Call(call, args, given));
    Py_DECREF(call);
    Py_DECREF(args);
    Py_XDECREF(given);
    return result;
}

static PyObject *attribute(PyObject *f, input *in)
{
    static const char *const names[] = { "m", "n", "k", "p", "scheme", "storage", "bitset",
        "fill_ratio", "fpr" };
    return sound(PyObject_GetAttrString(f, names[take(in, 1) % 9]));
}

/* Whatever was done to it: a filter that is open keeps what is added now. */
static void keeps_keys(PyObject *f)
{
    PyObject *added = sound(PyObject_CallMethod(f, "add", "s", "here"));
    if (!added) return; /* closed, read-only, of a scheme for numbers */
    MUST(PySequence_Contains(f, must(PyUnicode_InternFromString("here"))) == 1);
    Py_DECREF(added);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    input in = { data, len };
    signal(SIGXFSZ, SIG_IGN); /* each time: libFuzzer has set its own */
    MUST(mkdir(folder, 0700) == 0 || access(folder, W_OK) == 0);
    for (int i = 0; i < 2; i++) filters[i] = must(PyObject_CallFunction(type, "ii", 500, 50));
    for (int i = 0; i < 2; i++) {
        PyObject *f = construct(&in);
        if (!f || PyObject_Length(f) < 0) {
            PyErr_Clear();
            Py_XDECREF(f);
            continue;
        }
        Py_SETREF(filters[i], f);
    }
    for (int calls = 0; in.left && calls < 12; calls++) {
        PyObject *f = filters[take(&in, 1) & 1],
                 *result = take(&in, 1) % 8 ? method(f, &in) : attribute(f, &in);
        if (result && PyObject_TypeCheck(result, (PyTypeObject *)type) && result != f)
            Py_SETREF(filters[calls & 1], Py_NewRef(result));
        Py_XDECREF(result);
    }
    for (int i = 0; i < 2; i++) {
        keeps_keys(filters[i]);
        Py_CLEAR(filters[i]);
    }
    for (int i = 0; i < 3; i++) {
        char path[80];
        snprintf(path, sizeof path, "%s/f%d", folder, i);
        unlink(path);
    }
    rmdir(folder);
    static unsigned runs;
    if (++runs % 1000 == 0) PyGC_Collect();
    return PyErr_Occurred() ? abort(), 0 : 0;
}
