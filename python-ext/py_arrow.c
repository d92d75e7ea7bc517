/* py_arrow.c - batches over Arrow columns: whatever has __arrow_c_array__ or __arrow_c_stream__
 * (the Arrow PyCapsule interface), read from its buffers.  Knows how Arrow lays keys out; no Arrow
 * library is needed or imported.
 *
 * What comes in is checked before it is read: offsets that decrease, views and dictionary indices
 * that point outside, a null.  The interface does not tell how long a buffer of text is, so an
 * offset that is too large as a whole is believed. */
#include "py_bloomfilter.h"
#include "arrow_abi.h"

enum shape { TEXT32, TEXT64, VIEWS, NUMBERS, FIXED, REFUSED };
typedef struct {
    enum shape shape;
    size_t width; /* NUMBERS, FIXED: bytes an item           */
    bool is_signed;
    const char *refused; /* what it is, for the message             */
} type;

typedef struct source source;
struct source { /* one array; items are counted from `offset` on */
    column c;   /* first: gather gets it                         */
    type type;
    const uint8_t *valid; /* bit i: item i is there; NULL = all are        */
    const char *items;    /* offsets, views or the items themselves        */
    const char *text;     /* TEXT: what offsets point into                 */
    const void **parts;   /* VIEWS: what views point into, and their sizes */
    const char *sizes;
    int64_t first, last; /* TEXT: where its text begins and ends in that  */
    int64_t nparts, length, offset, next;
    source *values; /* of a dictionary; then the items are indices   */
};

/* ---- one item ---- */
static int32_t load32(const char *p)
{
    int32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}
static int64_t load64(const char *p)
{
    int64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}
static inline int64_t offset_at(const source *s, bool wide, int64_t i)
{
    return wide ? load64(s->items + 8 * i) : load32(s->items + 4 * i);
}

/* They were checked; another thread of the producer may have changed them since. */
static inline bool text_at(const source *s, bool wide, int64_t i, bf_key *key)
{
    const int64_t start = offset_at(s, wide, i), end = offset_at(s, wide, i + 1);
    *key = (bf_key){ s->text + start, (size_t)(end - start) };
    return s->first <= start && start <= end && end <= s->last;
}

/* Up to 12 bytes are in the view itself; more are (prefix, part, place). */
static enum column_fault view_at(const source *s, int64_t i, bf_key *key)
{
    enum { INSIDE = 12 };
    const char *view = s->items + 16 * i;
    int64_t len = load32(view), part = load32(view + 8), place = load32(view + 12);
    *key = (bf_key){ view + 4, (size_t)len };
    if (len >= 0 && len <= INSIDE) return FAULT_NONE;
    if (len < 0 || part < 0 || part >= s->nparts || place < 0) return FAULT_DAMAGED;
    int64_t size = load64(s->sizes + 8 * part);
    if (place > size || len > size - place) return FAULT_DAMAGED;
    key->ptr = (const char *)s->parts[part] + place;
    return s->parts[part] ? FAULT_NONE : FAULT_DAMAGED;
}

static inline bool is_valid(const source *s, int64_t i)
{
    return !s->valid || (s->valid[i >> 3] >> (i & 7) & 1);
}

static enum column_fault key_at(const source *s, int64_t i, batch *b, bf_key *key)
{
    const type *t = &s->type;
    if (!is_valid(s, i)) return FAULT_NULL;
    switch (t->shape) {
    case TEXT32:
    case TEXT64: return text_at(s, t->shape == TEXT64, i, key) ? FAULT_NONE : FAULT_DAMAGED;
    case VIEWS: return view_at(s, i, key);
    case FIXED: *key = (bf_key){ s->items + (int64_t)t->width * i, t->width }; break;
    default:
        *key = (bf_key){ b->room + b->used, number_text(s->items + (int64_t)t->width * i, t->width,
                                                t->is_signed, false, b->room + b->used) };
        b->used += key->len;
    }
    return FAULT_NONE;
}

/* ---- many ---- */
static void stop(column *c, enum column_fault fault, const char *what, int64_t value)
{
    c->left = 0;
    c->fault = fault;
    c->what = what;
    c->value = value;
}

static inline void gather_text(batch *b, source *s, bool wide)
{
    size_t n = (size_t)s->c.left < b->most ? (size_t)s->c.left : b->most, i = 0;
    while (i < n && text_at(s, wide, s->next + (int64_t)i, &b->keys[i])) i++;
    b->n = i;
    s->next += (int64_t)i;
    s->c.left -= (Py_ssize_t)i;
    if (i < n)
        stop(&s->c, FAULT_DAMAGED, "offsets changed while they were read, at offset", s->next);
}
static void gather_text32(batch *b, column *c) { gather_text(b, (source *)c, false); }
static void gather_text64(batch *b, column *c) { gather_text(b, (source *)c, true); }

static void gather_views(batch *b, column *c)
{
    source *s = (source *)c;
    for (; b->n < b->most && c->left; c->left--, s->next++) {
        if (view_at(s, s->next, &b->keys[b->n]) != FAULT_NONE) {
            stop(c, FAULT_DAMAGED, "a view points outside its buffers, item", s->next);
            return;
        }
        b->n++;
    }
}

static void gather_fixed(batch *b, column *c)
{
    for (; b->n < b->most && c->left; c->left--, c->at += c->stride)
        b->keys[b->n++] = (bf_key){ c->at, c->width };
}

static int64_t index_at(const source *s, int64_t i)
{
    const char *p = s->items + (int64_t)s->type.width * i;
    switch (s->type.width) {
    case 1: return s->type.is_signed ? *(const int8_t *)p : *(const uint8_t *)p;
    case 2: {
        int16_t v;
        memcpy(&v, p, 2);
        return s->type.is_signed ? v : (uint16_t)v;
    }
    case 4: {
        int32_t v = load32(p);
        return s->type.is_signed ? v : (int64_t)(uint32_t)v;
    }
    default: return load64(p); /* unsigned and past 2^63: negative, refused */
    }
}

static void gather_dictionary(batch *b, column *c)
{
    source *s = (source *)c, *values = s->values;
    for (; b->n < b->most && b->used + DECIMAL_MAX <= b->space && c->left; c->left--, s->next++) {
        int64_t i = index_at(s, s->next);
        if (i < 0 || i >= values->length) {
            stop(c, FAULT_DAMAGED, "an index into its dictionary is", i);
            return;
        }
        enum column_fault fault = key_at(values, values->offset + i, b, &b->keys[b->n]);
        if (fault != FAULT_NONE) {
            stop(c, fault, "a dictionary's item points outside its buffers, item", i);
            return;
        }
        b->n++;
    }
}

/* ---- what kind of column ---- */
static type refused(const char *what) { return (type){ .shape = REFUSED, .refused = what }; }

static const char NUMBER_LETTERS[] = "cCsSiIlL";
static type read_number(char letter)
{
    size_t at = (size_t)(strchr(NUMBER_LETTERS, letter) - NUMBER_LETTERS);
    return (type){ .shape = NUMBERS, .width = (size_t)1 << at / 2, .is_signed = at % 2 == 0 };
}

static type read_fixed(const char *f)
{
    char *end = NULL;
    unsigned long width = f[1] == ':' ? strtoul(f + 2, &end, 10) : 0;
    if (!end || end == f + 2 || *end || width > INT32_MAX)
        return refused("an Arrow type that this version does not know");
    return (type){ .shape = FIXED, .width = width };
}

static type read_type(const char *f)
{
    if (!*f || (f[1] && !strchr("vwd+t", *f)))
        return refused("an Arrow type that this version does not know");
    if (strchr(NUMBER_LETTERS, *f)) return read_number(*f);
    switch (*f) {
    case 'u':
    case 'z': return (type){ .shape = TEXT32 };
    case 'U':
    case 'Z': return (type){ .shape = TEXT64 };
    case 'v':
        if (!strcmp(f, "vu") || !strcmp(f, "vz")) return (type){ .shape = VIEWS };
        break;
    case 'w': return read_fixed(f);
    case 'n': return refused("null");
    case 'b': return refused("bool");
    case 'e':
    case 'f':
    case 'g': return refused("float");
    case 'd': return refused("decimal");
    case 't': return refused("a date or time");
    case '+': return refused("a struct, list or table: give one column");
    }
    return refused("an Arrow type that this version does not know");
}

static type type_of(const struct ArrowSchema *schema)
{
    return schema->format ? read_type(schema->format) : refused("an Arrow column without a type");
}

/* ---- an array, checked ---- */
static int damaged(const char *what, int64_t value)
{
    PyErr_Format(PyExc_ValueError, "damaged Arrow data: %s %lld", what, (long long)value);
    return -1;
}

/* How many of the offsets of the items do not decrease: length + 1 = all is well. */
static inline int64_t rising(source *s, bool wide)
{
    int64_t last = offset_at(s, wide, s->offset), i = 1;
    s->first = s->last = last;
    if (last < 0) return 0;
    for (; i <= s->length; i++) {
        int64_t at = offset_at(s, wide, s->offset + i);
        if (at < last) return i;
        last = at;
    }
    s->last = last;
    return i;
}

static int64_t first_null(const source *s)
{
    int64_t i = s->offset, end = s->offset + s->length;
    for (; i < end; i++) {
        if ((i & 7) == 0 && end - i >= 8 && s->valid[i >> 3] == 0xFF)
            i += 7;
        else if (!is_valid(s, i))
            break;
    }
    return i - s->offset;
}

static int check_text(source *s, Py_ssize_t done)
{
    int64_t good;
    bool wide = s->type.shape == TEXT64;
    if (!s->items) return damaged("no offsets, buffers given:", 0);
    Py_BEGIN_ALLOW_THREADS good = wide ? rising(s, true) : rising(s, false);
    Py_END_ALLOW_THREADS if (good <= s->length)
    {
        damaged("offsets begin below 0 or decrease, at offset", good);
        name_key(done + (Py_ssize_t)(good ? good - 1 : 0));
        return -1;
    }
    if (s->last > PY_SSIZE_T_MAX) return damaged("its text ends at", s->last);
    if (s->text) return 0;
    s->text = "";
    return s->first == s->last ? 0 : damaged("no text, buffers given:", 2);
}

static int64_t buffers_of(const type *t)
{
    return t->shape == NUMBERS || t->shape == FIXED ? 2 : 3;
}

static int check_buffers(source *s, const struct ArrowArray *a)
{
    if (a->length < 0 || a->length > PY_SSIZE_T_MAX) return damaged("its length is", a->length);
    int64_t most =
        PY_SSIZE_T_MAX /
        (s->type.width > 16 ? (int64_t)s->type.width : 16); /* bytes of items that can be counted */
    if (a->offset < 0 || a->offset >= most - a->length) return damaged("its offset is", a->offset);
    if (a->n_buffers < buffers_of(&s->type) || !a->buffers)
        return damaged("too few buffers:", a->n_buffers);
    s->length = a->length;
    s->offset = s->next = a->offset;
    s->valid = a->null_count == 0 ? NULL : a->buffers[0];
    s->items = a->buffers[1];
    if (a->null_count > 0 && !s->valid)
        return damaged("no bitmap for its nulls, of which there are", a->null_count);
    return 0;
}

static int read_array(source *s, const struct ArrowArray *a, Py_ssize_t done)
{
    if (check_buffers(s, a) < 0) return -1;
    if (s->length == 0) return 0;
    switch (s->type.shape) {
    case TEXT32:
    case TEXT64: s->text = a->buffers[2]; return check_text(s, done);
    case VIEWS:
        s->nparts = a->n_buffers - 3;
        s->parts = a->buffers + 2;
        s->sizes = a->buffers[a->n_buffers - 1];
        if (s->nparts > 0 && !s->sizes)
            return damaged("no sizes of its buffers, of which there are", s->nparts);
        break;
    default: break;
    }
    return s->items || (s->type.shape == FIXED && s->type.width == 0)
               ? 0
               : damaged("no items, buffers given:", 1);
}

static void start_column(source *s)
{
    static void (*const gather[])(batch *, column *) = { gather_text32, gather_text64, gather_views,
        gather_numbers, gather_fixed };
    column *c = &s->c;
    if (s->length == 0) return;
    c->gather = s->values ? gather_dictionary : gather[s->type.shape];
    c->width = s->type.width;
    c->stride = (Py_ssize_t)c->width;
    c->is_signed = s->type.is_signed;
    c->at = s->items + (int64_t)c->width * s->offset;
    c->left = (Py_ssize_t)s->length;
    if (!s->valid) return;
    Py_BEGIN_ALLOW_THREADS c->left = (Py_ssize_t)first_null(s);
    Py_END_ALLOW_THREADS if (c->left < s->length) c->fault = FAULT_NULL;
}

/* ---- from an array to the core ---- */
static int run_refused(batch *b, const type *t, int64_t length)
{
    column c = { .fault = length > 0 ? FAULT_TYPE : FAULT_NONE, .what = t->refused };
    return column_run(b, &c);
}

static int run_array(batch *b, const struct ArrowSchema *schema, const struct ArrowArray *a)
{
    source s = { .type = type_of(schema) }, values = { .type = { .shape = TEXT32 } };
    if (s.type.shape == REFUSED) return run_refused(b, &s.type, a->length);
    if (schema->dictionary) {
        values.type = type_of(schema->dictionary);
        if (values.type.shape == REFUSED) return run_refused(b, &values.type, a->length);
        if (schema->dictionary->dictionary || s.type.shape != NUMBERS || !a->dictionary)
            return damaged("no dictionary where one must be, length", a->length);
        if (read_array(&values, a->dictionary, b->done) < 0) return -1;
        s.values = &values;
    }
    if (read_array(&s, a, b->done) < 0) return -1;
    start_column(&s);
    return column_run(b, &s.c);
}

/* ---- what is ours to release ---- */
/* A callback of the producer may run Python code: the exception that stands is kept from it. */
#define RELEASE(thing)                                                                             \
    do {                                                                                           \
        if ((thing)->release) {                                                                    \
            PyObject *type_, *value_, *trace_;                                                     \
            PyErr_Fetch(&type_, &value_, &trace_);                                                 \
            (thing)->release(thing);                                                               \
            PyErr_Restore(type_, value_, trace_);                                                  \
        }                                                                                          \
    } while (0)

/* Moves the struct out of its capsule, as consumers do: from here on it is ours, and the capsule's
 * destructor sees it gone. */
#define MOVE(to, capsule, name)                                                                    \
    do {                                                                                           \
        void *from_ = PyCapsule_GetPointer(capsule, name);                                         \
        if (from_) {                                                                               \
            memcpy(&(to), from_, sizeof(to));                                                      \
            memset((char *)from_ + offsetof(__typeof__(to), release), 0, sizeof(to).release);      \
        }                                                                                          \
        if (from_ && !(to).release)                                                                \
            PyErr_SetString(PyExc_ValueError, "the Arrow data was consumed before");               \
    } while (0)

static int run_capsules(batch *b, PyObject *pair)
{
    struct ArrowSchema schema = { .release = NULL };
    struct ArrowArray array = { .release = NULL };
    MOVE(schema, PyTuple_GET_ITEM(pair, 0), "arrow_schema");
    if (!PyErr_Occurred()) MOVE(array, PyTuple_GET_ITEM(pair, 1), "arrow_array");
    int rc = PyErr_Occurred() ? -1 : run_array(b, &schema, &array);
    RELEASE(&array);
    RELEASE(&schema);
    return rc;
}

/* ---- streams ---- */
static int stream_fault(struct ArrowArrayStream *stream, int code)
{
    const char *told = stream->get_last_error ? stream->get_last_error(stream) : NULL;
    if (PyErr_Occurred()) return -1;
    PyObject *text =
        PyUnicode_FromFormat("the Arrow stream failed: %s", told ? told : strerror(code));
    PyObject *arguments = text ? Py_BuildValue("(iO)", code, text) : NULL;
    if (arguments && code == ENOMEM)
        PyErr_NoMemory();
    else if (arguments && code == EINVAL)
        PyErr_SetObject(PyExc_ValueError, text);
    else if (arguments)
        PyErr_SetObject(PyExc_OSError, arguments);
    Py_XDECREF(arguments);
    Py_XDECREF(text);
    return -1;
}

/* Producers may need other threads, and those the GIL. */
static int next_array(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    int code;
    Py_BEGIN_ALLOW_THREADS code = stream->get_next(stream, out);
    Py_END_ALLOW_THREADS return code ? stream_fault(stream, code) : 0;
}

static int run_arrays(batch *b, struct ArrowArrayStream *stream, const struct ArrowSchema *schema)
{
    for (;;) {
        struct ArrowArray array = { .release = NULL };
        if (next_array(stream, &array) < 0) return -1;
        if (!array.release) return 0;
        int rc = run_array(b, schema, &array);
        RELEASE(&array);
        if (rc < 0) return -1;
    }
}

static int run_stream(batch *b, PyObject *capsule)
{
    struct ArrowArrayStream stream = { .release = NULL };
    struct ArrowSchema schema = { .release = NULL };
    MOVE(stream, capsule, "arrow_array_stream");
    int code, rc = -1;
    if (!PyErr_Occurred()) {
        Py_BEGIN_ALLOW_THREADS code = stream.get_schema(&stream, &schema);
        Py_END_ALLOW_THREADS rc =
            code ? stream_fault(&stream, code) : run_arrays(b, &stream, &schema);
    }
    RELEASE(&schema);
    RELEASE(&stream);
    return rc;
}

/* ---- which objects ---- */
/* What the method gives; NULL without an exception where there is none, or where its owner cannot
 * be put into Arrow's types (pandas: a column of mixed objects) but can be iterated.  The names of
 * a table's columns are not its keys. */
static PyObject *ask(PyObject *keys, const char *name)
{
    PyObject *method = PyObject_GetAttrString(keys, name);
    PyObject *given = method ? PyObject_CallNoArgs(method) : NULL;
    bool none = !method && PyErr_ExceptionMatches(PyExc_AttributeError);
    bool cannot = method && !given && Py_TYPE(keys)->tp_iter &&
                  PyErr_ExceptionMatches(PyExc_Exception) &&
                  !PyErr_ExceptionMatches(PyExc_MemoryError);
    Py_XDECREF(method);
    if (!none && !cannot) return given;
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    if (cannot && PyObject_HasAttrString(keys, "columns")) {
        PyErr_Restore(type, value, trace);
        return NULL;
    }
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return NULL;
}

static bool never_arrow(PyObject *o)
{
    return PyList_CheckExact(o) || PyTuple_CheckExact(o) || PyAnySet_CheckExact(o) ||
           PyDict_CheckExact(o) || PyGen_CheckExact(o);
}

int arrow_batch(batch *b, PyObject *keys)
{
    if (never_arrow(keys)) return 0;
    PyObject *given = ask(keys, "__arrow_c_array__");
    bool array = given;
    if (!given && !PyErr_Occurred()) given = ask(keys, "__arrow_c_stream__");
    if (!given) return PyErr_Occurred() ? -1 : 0;
    int rc = -1;
    if (!array)
        rc = run_stream(b, given);
    else if (PyTuple_Check(given) && PyTuple_GET_SIZE(given) == 2)
        rc = run_capsules(b, given);
    else
        PyErr_Format(PyExc_TypeError, "__arrow_c_array__ must give a pair of capsules, not %.200s",
            Py_TYPE(given)->tp_name);
    Py_DECREF(given);
    return rc < 0 ? -1 : 1;
}
