/* py_params.c - converts arguments of the constructor and of class methods to a bf_spec. This file
 * checks the types of values, the core their ranges. */
#include "py_bloomfilter.h"
#include <float.h>
#include <math.h> /* HUGE_VAL */

/* The rows of parameters.h (BF_PARAMETERS) generate the fields of `arguments` (FIELD), and the
 * names and addresses for PyArg_ParseTupleAndKeywords (NAME, PLACE, FORM). GIVE makes an expression
 * that converts all fields to a bf_spec and is true if a value is refused. */
#define FIELD(kind, name, ...) PyObject *name;
typedef struct { /* borrowed references; NULL or None: not given */
    BF_PARAMETERS(FIELD)
    int read_only, warn; /* warn=False means overfull="ignore" */
} arguments;

#define NAME(kind, name, ...) #name,
#define PLACE(kind, name, ...) , &a.name
#define FORM(...) "O"

#define GIVE(kind, name, php, above, below, ...) GIVE_##kind(name, above, below)
#define GIVE_SIZE(name, above, below)                                                              \
    whole(#name, a->name, &q->spec.name, sizeof q->spec.name) < 0 ||
#define GIVE_COUNT GIVE_SIZE
#define GIVE_SMALL GIVE_SIZE
#define GIVE_REAL(name, above, below) real(#name, a->name, above, below, &q->spec.name) < 0 ||
#define GIVE_SPAN(name, above, below) GIVE_REAL(name, above, below)
#define GIVE_SPAN0(name, above, below) GIVE_SPAN(name, -DBL_TRUE_MIN, below)
#define GIVE_TEXT(name, above, below) text(#name, a->name, &q->spec.name) < 0 ||
#define GIVE_CHOICE(name, above, below) choice(#name, a->name, &q->spec.name) < 0 ||
#define GIVE_FLAG(name, above, below) truth(a->name, &q->spec.name) < 0 ||
#define GIVE_SECRET(name, above, below) secret_bytes(a->name, q) < 0 ||
#define GIVE_STORAGE(name, above, below) storage_place(state, a->name, q) < 0 ||
#define GIVE_CLOCK(name, above, below)                                                             \
    (given(a->name) && !(q->callback = callback_clock(a->name, &q->spec))) ||
#define GIVE_HASHES(name, above, below) hashes_of(a->name, q) < 0 ||

typedef struct {
    bf_spec spec;
    PyObject *path;       /* owned; spec.storage points into it */
    redis_client *client; /* owned; the client, if the storage is a client object */
    key_holder secret;
    PyObject *callback; /* owned; a clock or hash functions, or NULL */
    bf_functions functions;
    bool has_secret;
} params;

static bool given(PyObject *o) { return o && o != Py_None; }

/* ---- values ---- */
static int refuse(const char *name, PyObject *value)
{
    bf_error err;
    PyObject *text = PyObject_Str(value);
    if (!text) PyErr_Clear(); /* the int has more digits than Python converts to text */
    const char *utf8 = text ? PyUnicode_AsUTF8(text) : NULL;
    if (!utf8) PyErr_Clear();
    bf_refuse(&err, name, utf8 ? utf8 : "a number too long to print");
    Py_XDECREF(text);
    raise_error(NULL, &err);
    return -1;
}

static int type_fault(const char *name, const char *wanted, PyObject *got)
{
    PyErr_Format(PyExc_TypeError, "%s must be %s, not %.200s", name, wanted, Py_TYPE(got)->tp_name);
    return -1;
}

/* Reads an integer of `size` bytes; a float without a fraction (1e6) is one. Refuses 0, because 0
 * means "not given" to the core. */
static int whole(const char *name, PyObject *value, void *out, size_t size)
{
    if (!given(value)) return 0;
    const bool real = PyFloat_Check(value);
    const double v0 = real ? PyFloat_AS_DOUBLE(value) : 0;
    if (real && v0 - floor(v0) != 0) { /* also NaN and infinity */
        PyErr_Format(PyExc_TypeError, "%s must be an int, or a float without a fraction, not %R",
            name, value);
        return -1;
    }
    if (is_boolean(value) || !(real || PyIndex_Check(value)))
        return type_fault(name, "an int", value);
    PyObject *number = real ? PyLong_FromDouble(v0) : PyNumber_Index(value);
    if (!number) return -1;
    const uint64_t v = PyLong_AsUnsignedLongLong(number);
    const bool odd = v == UINT64_MAX && PyErr_Occurred();
    PyErr_Clear(); /* OverflowError: negative, or more than 64 bits */
    int rc = 0;
    if (odd || v == 0 || (size == sizeof(unsigned) && v > UINT32_MAX))
        rc = refuse(name, number);
    else if (size == sizeof(unsigned))
        *(unsigned *)out = (unsigned)v;
    else
        *(uint64_t *)out = v;
    Py_DECREF(number);
    return rc;
}

PyObject *seconds_of(PyObject *value)
{
    PyObject *total = NULL, *seconds;
    if (PyFloat_CheckExact(value) || PyLong_CheckExact(value)) return Py_NewRef(value);
    const int span = find_attribute(value, "total_seconds", &total);
    seconds = span < 0 ? NULL : span ? PyObject_CallNoArgs(total) : Py_NewRef(value);
    Py_XDECREF(total);
    return seconds;
}

/* Reads a number with above < number < below, so NaN and a number too large for a double are
 * refused. All numbers but p and grow are seconds. 0, which only retry_after accepts, becomes
 * BF_ALWAYS_TRY. */
static int real(const char *name, PyObject *value, double above, double below, double *out)
{
    if (!given(value)) return 0;
    if (is_boolean(value)) return type_fault(name, "a number", value);
    const bool time = strcmp(name, "p") != 0 && strcmp(name, "grow") != 0;
    PyObject *number = time ? seconds_of(value) : Py_NewRef(value);
    if (!number) return -1;
    double v = PyFloat_AsDouble(number);
    Py_DECREF(number);
    if (v == -1.0 && PyErr_Occurred()) {
        if (PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Clear();
            return type_fault(name, "a number", value);
        }
        if (!PyErr_ExceptionMatches(PyExc_OverflowError)) return -1;
        PyErr_Clear();
        return refuse(name, value);
    }
    if (!(v > above && v < below)) return refuse(name, value);
    *out = v == 0 ? BF_ALWAYS_TRY : v;
    return 0;
}

static int text(const char *name, PyObject *value, const char **out)
{
    if (!given(value)) return 0;
    Py_ssize_t len;
    if (!PyUnicode_Check(value)) return type_fault(name, "a str", value);
    *out = PyUnicode_AsUTF8AndSize(value, &len);
    if (!*out) return -1;
    if (strlen(*out) == (size_t)len) return 0;
    PyErr_Format(PyExc_ValueError, "%s must not hold a NUL character", name);
    return -1;
}

static int choice(const char *name, PyObject *value, unsigned *out)
{
    bf_error err;
    const char *given_text = NULL;
    if (text(name, value, &given_text) < 0) return -1;
    if (!given_text || bf_read_overfull(given_text, out, &err) == 0) return 0;
    raise_error(NULL, &err);
    return -1;
}

static int truth(PyObject *value, bool *out)
{
    const int is = value ? PyObject_IsTrue(value) : 0;
    *out = is > 0;
    return is;
}

static int secret_bytes(PyObject *value, params *out)
{
    if (!given(value)) return 0;
    if (PyUnicode_Check(value) || !PyObject_CheckBuffer(value))
        return type_fault("secret", "bytes", value);
    out->secret.text = NULL;
    out->secret.heap = NULL;
    out->has_secret = true;
    if (bytes_hold(value, &out->secret) < 0) return -1;
    /* an empty secret is an error, not a missing secret */
    out->spec.secret = out->secret.key.len ? out->secret.key.ptr : "";
    out->spec.secret_len = out->secret.key.len;
    return 0;
}

int is_path(PyObject *value)
{
    if (PyUnicode_Check(value) || PyBytes_Check(value)) return 1;
    return has_attribute((PyObject *)Py_TYPE(value), "__fspath__");
}

static int storage_place(module_state *state, PyObject *value, params *out)
{
    if (!given(value)) return 0;
    const int path = is_path(value);
    if (path < 0) return -1;
    if (!path) {
        if (!(out->client = redis_client_new(state, value))) return -1;
        out->spec.redis_client = &out->client->host;
        return 0;
    }
    if (!PyUnicode_FSConverter(value, &out->path)) return -1;
    out->spec.storage = PyBytes_AS_STRING(out->path);
    return 0;
}

static int hashes_of(PyObject *value, params *out)
{
    if (!given(value)) return 0;
    if (out->callback) {
        PyErr_SetString(PyExc_ValueError,
            "a filter with hashes cannot forget: window and clock must not be given");
        return -1;
    }
    out->spec.functions = &out->functions;
    return (out->callback = callback_functions(value, &out->functions)) ? 0 : -1;
}

/* ---- all arguments ---- */
static void params_free(params *q)
{
    Py_XDECREF(q->path);
    redis_client_free(q->client);
    if (q->has_secret) key_release(&q->secret);
    Py_CLEAR(q->callback);
}

static int params_fill(module_state *state, params *q, const arguments *a)
{
    q->spec = (bf_spec){ .threads = NO_GIL, .read_only = a->read_only != 0 };
    q->path = NULL;
    q->callback = NULL;
    q->client = NULL;
    q->has_secret = false;
    q->secret.view.obj = NULL;
    const bool refused = BF_PARAMETERS(GIVE) false;
    if (!a->warn && !a->overfull) q->spec.overfull = BF_OVERFULL_IGNORE;
    if (!refused) return 0;
    params_free(q);
    return -1;
}

/* ---- constructors ---- */
#define CONSTRUCTOR(X)                                                                             \
    BF_NUMBERS(X) BF_SCHEME(X) BF_STORAGE(X) BF_KEY(X) BF_SECRET(X) BF_MORE(X) BF_CLOCK(X)
#define CONSTRUCTOR_FORM                                                                           \
    "|" BF_NUMBERS(FORM) "$" BF_SCHEME(FORM) BF_STORAGE(FORM) BF_KEY(FORM) BF_SECRET(FORM)         \
        BF_MORE(FORM) BF_CLOCK(FORM) "p:"

/* Replaces the exception by a hint if the arguments are those of other packages (capacity,
 * error_rate). Returns -1. */
static int fail_with_hint(PyObject *args, PyObject *kwargs, const char *type)
{
    PyObject *raised = PyErr_GetRaisedException();
    PyObject *hint = call_helper("_text", "hint", "sOO", type, args, kwargs ? kwargs : Py_None);
    if (hint && hint != Py_None) {
        PyErr_SetObject(PyExc_TypeError, hint);
        Py_DECREF(raised);
    } else
        PyErr_SetRaisedException(raised);
    Py_XDECREF(hint);
    return -1;
}

static int parse_constructor(
    module_state *state, PyObject *args, PyObject *kwargs, const char *format, params *q)
{
    static const char *const names[] = { CONSTRUCTOR(NAME) "warn", NULL };
    arguments a = { .warn = true };
    if (PyArg_ParseTupleAndKeywords(
            args, kwargs, format, (char **)names CONSTRUCTOR(PLACE), &a.warn) &&
        params_fill(state, q, &a) == 0)
        return 0;
    if (!PyErr_ExceptionMatches(PyExc_TypeError) && !PyErr_ExceptionMatches(PyExc_ValueError))
        return -1;
    return fail_with_hint(args, kwargs, strchr(format, ':') + 1);
}

static bf_filter *open_spec(const bf_spec *spec, bf_error *err)
{
    PyThreadState *ts = gil_out();
    bf_filter *bf = bf_open(spec, err);
    gil_back(ts);
    return bf;
}

/* Moves bf and q's client and callback into the object, and frees q. If bf is NULL, raises err.
 * Returns 0, or -1 with an exception. */
static int install(FilterObject *self, params *q, bf_filter *bf, const bf_error *err)
{
    if (!bf) {
        raise_in(self, err);
        params_free(q);
        return -1;
    }
    redis_client *client = q->client;
    PyObject *callback = q->callback;
    q->client = NULL;
    q->callback = NULL;
    params_free(q);
    return filter_set(self, bf, client, callback) < 0 ? -1 : filter_warn_opened(self);
}

int filter_init(FilterObject *self, PyObject *args, PyObject *kwargs)
{
    bf_error err;
    params q;
    PyTypeObject *type = Py_TYPE(self);
    if (parse_constructor(state_of(type), args, kwargs, CONSTRUCTOR_FORM "BloomFilter", &q) < 0)
        return -1;
    q.spec.counting = is_counting(type);
    bf_filter *bf = open_spec(&q.spec, &err);
    return install(self, &q, bf, &err);
}

PyObject *filter_random_secret(PyTypeObject *type, PyObject *Py_UNUSED(none))
{
    bf_error err;
    char secret[BF_SECRET_BYTES];
    if (bf_random_secret(secret, &err) < 0) return raise_error(state_of(type), &err);
    return PyBytes_FromStringAndSize(secret, sizeof secret);
}

PyObject *filter_plan(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    bf_error err;
    params q;
    char sentence[BF_SENTENCE_BYTES];
    PyObject *plan = NULL;
    if (parse_constructor(state_of(type), args, kwargs, CONSTRUCTOR_FORM "plan", &q) < 0)
        return NULL;
    q.spec.counting = is_counting(type);
    if (bf_plan(&q.spec, &err) < 0)
        raise_error(state_of(type), &err);
    else if (!bf_plan_warning(&q.spec, sentence, sizeof sentence) || warn_of(sentence) == 0)
        plan = Py_BuildValue("{sK sK sI sd ss}", "m", (unsigned long long)q.spec.m, "n",
            (unsigned long long)q.spec.n, "k", q.spec.k, "p", q.spec.p, "scheme", q.spec.scheme);
    params_free(&q);
    return plan;
}

/* Returns a new object with the filter bf, or NULL with an exception. If q accepts both classes
 * (may_count), the filter determines the class. */
static PyObject *wrap_or_raise(PyTypeObject *type, params *q, bf_filter *bf, const bf_error *err)
{
    bf_info info = { .counting = false };
    if (bf) bf_get_info(bf, &info);
    if (q->spec.may_count && info.counting) type = state_of(type)->counting_type;
    PyObject *made = filter_new(type, NULL, NULL);
    if (!made) {
        bf_close(bf);
        params_free(q);
    } else if (install((FilterObject *)made, q, bf, err) < 0)
        Py_CLEAR(made);
    return made;
}

static PyObject *open_as(PyTypeObject *type, PyObject *args, PyObject *kwargs, bool either)
{
#define OPEN(X) BF_NUMBERS(X) BF_SCHEME(X) BF_KEY(X) BF_SECRET(X) BF_MORE(X) BF_CLOCK(X)
    static const char *const names[] = { "storage", OPEN(NAME) "read_only", "warn", NULL };
    bf_error err;
    params q;
    arguments a = { .warn = true };
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$" OPEN(FORM) "pp:open", (char **)names,
            &a.storage OPEN(PLACE), &a.read_only, &a.warn))
        return NULL;
    if (!given(a.storage)) {
        type_fault("storage", "a path, a URL or a Redis client", a.storage);
        return NULL;
    }
    if (params_fill(state_of(type), &q, &a) < 0) return NULL;
    q.spec.must_exist = true;
    q.spec.counting = is_counting(type);
    q.spec.may_count = either;
    bf_filter *bf = open_spec(&q.spec, &err);
    return wrap_or_raise(type, &q, bf, &err);
}

PyObject *filter_open(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    return open_as(type, args, kwargs, false);
}

PyObject *module_open(PyObject *module, PyObject *args, PyObject *kwargs)
{
    return open_as(((module_state *)PyModule_GetState(module))->filter_type, args, kwargs, true);
}

/* ---- reading bytes or a file; the arguments are the expected parameters ---- */
enum image_form { IMAGE_BYTES, IMAGE_BASE64, IMAGE_JSON, IMAGE_FILE };

/* data: for IMAGE_FILE a path or an object with read(). On failure returns NULL; either a Python
 * exception is set and *raised is true, or *err is filled. */
static bf_filter *read_data(enum image_form form, PyObject *data, const char *format, params *q,
    bool *raised, bf_error *err)
{
    const int stream = form == IMAGE_FILE ? has_attribute(data, "read") : 0;
    const bool file = form == IMAGE_FILE && !stream;
    *raised = stream < 0;
    if (*raised) return NULL;
    key_holder h = { .text = NULL };
    PyObject *path = NULL, *bytes = NULL;
    bf_filter *bf = NULL;
    if (stream)
        data = bytes = call_helper("_streams", "read", "(O)", data);
    else if (form == IMAGE_BASE64 || form == IMAGE_JSON)
        data = bytes =
            call_helper("_streams", form == IMAGE_JSON ? "from_json" : "decode", "(O)", data);
    *raised = !data || (file ? !PyUnicode_FSConverter(data, &path) : bytes_hold(data, &h) < 0);
    if (!*raised) {
        PyThreadState *ts = gil_out();
        bf = file ? bf_load(PyBytes_AS_STRING(path), &q->spec, err)
                  : bf_from_bytes_as(h.key.ptr, h.key.len, format, &q->spec, err);
        gil_back(ts);
    }
    key_release(&h);
    Py_XDECREF(path);
    Py_XDECREF(bytes);
    return bf;
}

static PyObject *read_image(
    PyTypeObject *type, PyObject *args, PyObject *kwargs, enum image_form form, bool either)
{
#define EXPECTED(X) BF_NUMBERS(X) BF_SCHEME(X) BF_SECRET(X) BF_HANDLE(X) BF_CLOCK(X)
    static const char *const first[] = { "data", "text", "text", "path" }, *const forms[] = {
        "O|$" EXPECTED(FORM) "z:from_bytes", "O|$" EXPECTED(FORM) "z:from_base64",
        "O|$" EXPECTED(FORM) ":from_json", "O|$" EXPECTED(FORM) ":load"
    };
    const char *const names[] = { first[form], EXPECTED(NAME) form < IMAGE_JSON ? "format" : NULL,
        NULL };
    bf_error err;
    params q;
    PyObject *data;
    const char *format = NULL;
    bool raised;
    arguments a = { .warn = true };
    if (!PyArg_ParseTupleAndKeywords(
            args, kwargs, forms[form], (char **)names, &data EXPECTED(PLACE), &format) ||
        params_fill(state_of(type), &q, &a) < 0)
        return NULL;
    q.spec.counting = is_counting(type);
    q.spec.may_count = either;
    bf_filter *bf = read_data(form, data, format, &q, &raised, &err);
    if (!raised) return wrap_or_raise(type, &q, bf, &err);
    params_free(&q);
    return NULL;
}

PyObject *filter_from_bytes(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    return read_image(type, args, kwargs, IMAGE_BYTES, false);
}

PyObject *filter_from_base64(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    return read_image(type, args, kwargs, IMAGE_BASE64, false);
}

PyObject *filter_from_json(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    return read_image(type, args, kwargs, IMAGE_JSON, false);
}

PyObject *filter_load(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    return read_image(type, args, kwargs, IMAGE_FILE, false);
}

PyObject *module_from_bytes(PyObject *module, PyObject *args, PyObject *kwargs)
{
    const module_state *state = PyModule_GetState(module);
    return read_image(state->filter_type, args, kwargs, IMAGE_BYTES, true);
}
