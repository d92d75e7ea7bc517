/* py_state.c - properties, len(), bool(), repr(), info() and warnings of a filter. */
#include "py_bloomfilter.h"

#include <stddef.h>

/* ---- properties ---- */
PyObject *path_or_none(const char *text)
{
    return text ? PyUnicode_DecodeFSDefault(text) : Py_NewRef(Py_None);
}

/* The closure of a property that is a field of bf_info. */
typedef struct {
    enum { WHOLE64, WHOLE32, REAL, REAL_OR_NONE, WHOLE_OR_NONE, TRUTH, TEXT, PLACE } kind;
    size_t at; /* offset of the field in bf_info */
} info_field;

static PyObject *read_field(FilterObject *self, const info_field *field, const void *at)
{
    switch (field->kind) {
    case TEXT: return PyUnicode_FromString(*(const char *const *)at);
    case PLACE:
        return self->client ? Py_NewRef(self->client->client)
                            : path_or_none(*(const char *const *)at);
    case WHOLE64: return PyLong_FromUnsignedLongLong(*(const uint64_t *)at);
    case WHOLE32: return PyLong_FromUnsignedLong(*(const unsigned *)at);
    case TRUTH: return PyBool_FromLong(*(const bool *)at);
    case WHOLE_OR_NONE:
        return *(const unsigned *)at ? PyLong_FromUnsignedLong(*(const unsigned *)at)
                                     : Py_NewRef(Py_None);
    case REAL_OR_NONE:
        if (*(const double *)at == 0) return Py_NewRef(Py_None);
        /* fall through */
    default: return PyFloat_FromDouble(*(const double *)at);
    }
}

static PyObject *get_info(FilterObject *self, const info_field *field)
{
    bf_info info;
    /* the texts of bf_info are valid while the handle is open */
    bf_filter *bf = filter_enter(self);
    if (!bf) return NULL;
    bf_get_info(bf, &info);
    PyObject *value = read_field(self, field, (const char *)&info + field->at);
    filter_leave(self);
    return value;
}

static PyObject *get_bitset(FilterObject *self, void *Py_UNUSED(unused))
{
    core_call c;
    bf_info info;
    bf_part_info first;
    PyObject *bits = NULL;
    if (!core_begin(&c, self, NULL, gil_release_if_big)) return NULL;
    int rc = bf_get_part(c.bf, 0, &first, &c.err); /* updates the number of parts */
    core_back(&c);
    bf_get_info(c.bf, &info);
    if (rc >= 0 && (bits = new_bytes(info.bitset_bytes))) {
        c.ts = gil_release_if_big(self, NULL);
        rc = bf_read_bits(c.bf, 0, PyBytes_AS_STRING(bits), (size_t)info.bitset_bytes, &c.err);
    }
    if (core_end(&c, rc) < 0) Py_CLEAR(bits);
    return bits;
}

/* ---- parts ---- */
static PyObject *time_or_none(const bf_part_info *p, double seconds)
{
    return p->until > p->since ? PyFloat_FromDouble(seconds) : Py_NewRef(Py_None);
}

#define PART "sK sK sK sd"
#define PART_OF(p)                                                                                 \
    "first_bit", (unsigned long long)(p)->first_bit, "m", (unsigned long long)(p)->m, "n",         \
        (unsigned long long)(p)->n, "p", (p)->p
static PyObject *part_dict(const bf_info *whole, const bf_part_info *p)
{
    if (whole->window != 0)
        return Py_BuildValue("{" PART " sN sN}", PART_OF(p), "since", time_or_none(p, p->since),
            "until", time_or_none(p, p->until));
    if (whole->grow != 0)
        return Py_BuildValue("{" PART " sK}", PART_OF(p), "keys", (unsigned long long)p->keys);
    return Py_BuildValue("{" PART "}", PART_OF(p));
}

static PyObject *part_list(FilterObject *self, bf_filter *bf)
{
    bf_error err;
    bf_info info;
    bf_part_info part;
    PyObject *list = PyList_New(0);
    info.part_count = 1;
    for (unsigned i = 0; list && i < info.part_count; i++) {
        PyThreadState *ts = self->remote ? gil_release(self, NULL) : NULL;
        int rc = bf_get_part(bf, i, &part, &err); /* for part 0, updates the number of parts */
        gil_take(ts, self, NULL);
        bf_get_info(bf, &info);
        PyObject *d = rc < 0 ? raise_in(self, &err) : part_dict(&info, &part);
        if (!d || PyList_Append(list, d) < 0) Py_CLEAR(list);
        Py_XDECREF(d);
    }
    return list;
}

PyObject *filter_part_info(FilterObject *self, PyObject *Py_UNUSED(unused))
{
    bf_filter *bf = filter_enter(self);
    if (!bf) return NULL;
    PyObject *list = part_list(self, bf);
    filter_leave(self);
    return list;
}

/* ---- contents: one pass over the bits ---- */
static int read_state(FilterObject *self, bf_state *state)
{
    core_call c;
    if (!core_begin(&c, self, NULL, gil_release_if_big)) return -1;
    return core_end(&c, bf_get_state(c.bf, state, &c.err));
}

static PyObject *get_fill_ratio(FilterObject *self, void *Py_UNUSED(unused))
{
    bf_state s;
    return read_state(self, &s) < 0 ? NULL : PyFloat_FromDouble(s.fill);
}
static PyObject *get_fpr(FilterObject *self, void *Py_UNUSED(unused))
{
    bf_state s;
    return read_state(self, &s) < 0 ? NULL : PyFloat_FromDouble(s.fpr);
}

Py_ssize_t filter_length(PyObject *self)
{
    bf_state s;
    if (read_state((FilterObject *)self, &s) < 0) return -1;
    return s.count < (double)PY_SSIZE_T_MAX ? (Py_ssize_t)(s.count + 0.5) : PY_SSIZE_T_MAX;
}

int filter_bool(PyObject *self)
{
    bf_state s;
    return read_state((FilterObject *)self, &s) < 0 ? -1 : s.ones > 0;
}

/* ---- warnings ---- */
/* Code of the user may run. Counts the call, because close() must then keep the handle. */
static int warn_overfull(void *op, const char *sentence)
{
    FilterObject *self = op;
    PyThreadState *ts = gil_enter();
    if (!NO_GIL) filter_count(self, 1);
    const int rc = PyErr_WarnFormat(
        state_of(Py_TYPE(self))->warning, 1, "%s, or pass overfull=\"ignore\"", sentence);
    if (!NO_GIL) filter_count(self, -1);
    gil_leave(ts);
    return rc;
}

void filter_watch(FilterObject *self, bf_filter *bf) { bf_set_warning(bf, warn_overfull, self); }

int filter_begin_adds(FilterObject *self)
{
    core_call c;
    bf_filter *bf = filter_peek(self);
    const bool due = bf && bf_check_is_due(bf);
    if (bf) filter_peeked(self);
    if (!due) return bf ? 0 : -1;
    if (!core_begin(&c, self, NULL, gil_release_if_remote)) return -1;
    return core_end(&c, bf_begin_adds(c.bf, &c.err));
}

int warn_of(const char *sentence)
{
    return PyErr_WarnFormat(PyExc_UserWarning, 1, "%s, or pass overfull=\"ignore\"", sentence);
}

/* Warns once, when the filter is created or opened. */
int filter_warn_opened(FilterObject *self)
{
    char sentence[BF_SENTENCE_BYTES];
    bf_filter *bf = filter_enter(self);
    if (!bf) return -1;
    const int weak = bf_open_warning(bf, sentence, sizeof sentence);
    filter_leave(self);
    return weak ? warn_of(sentence) : 0;
}

static PyObject *get_saturated(FilterObject *self, void *Py_UNUSED(unused))
{
    core_call c;
    uint64_t wait;
    if (!core_begin(&c, self, NULL, gil_release_if_big)) return NULL;
    const int full = core_end(&c, bf_saturated(c.bf, &wait, &c.err));
    return full < 0 ? NULL : PyBool_FromLong(full != 0);
}

static PyObject *get_is_current(FilterObject *self, void *Py_UNUSED(unused))
{
    core_call c;
    if (!core_begin(&c, self, NULL, gil_release)) return NULL;
    const int is = core_end(&c, bf_is_current(c.bf, NULL, &c.err));
    return is < 0 ? NULL : PyBool_FromLong(is);
}

/* ---- info() ---- */
PyObject *filter_info(FilterObject *self, PyObject *Py_UNUSED(unused))
{
    core_call c;
    bf_info info;
    bf_state state;
    if (!core_begin(&c, self, NULL, gil_release_if_big)) return NULL;
    const int rc = bf_get_state(c.bf, &state, &c.err);
    bf_get_info(c.bf, &info);
    core_back(&c);
    PyObject *parts = rc < 0 ? NULL : part_list(self, c.bf), *all = NULL;
    if (parts)
        all = Py_BuildValue("{sK sK sI sd ss ss sN sN sO sI sN sd sd sK sO sO sK sd sL sd sO}", "m",
            (unsigned long long)info.m, "n", (unsigned long long)info.n, "k", info.k, "p", info.p,
            "scheme", info.scheme, "home", info.home, "storage", path_or_none(info.shown), "key",
            path_or_none(info.key), "counting", info.counting ? Py_True : Py_False, "shards",
            info.shards, "parts", parts, "grow", info.grow, "window", info.window, "bytes",
            (unsigned long long)info.bitset_bytes, "keyed", info.keyed ? Py_True : Py_False,
            "read_only", info.read_only ? Py_True : Py_False, "ones",
            (unsigned long long)state.ones, "fill_ratio", state.fill, "count",
            (long long)(state.count < 9e18 ? state.count + 0.5 : 9e18), "fpr", state.fpr,
            "saturated", state.saturated ? Py_True : Py_False);
    return core_end(&c, rc) < 0 ? NULL : all;
}

/* ---- repr() ---- */
PyObject *filter_repr(PyObject *self)
{
    bf_info info = { .shown = NULL };
    bf_filter *bf = filter_enter((FilterObject *)self);
    if (bf) bf_get_info(bf, &info);
    PyObject *shown = path_or_none(info.shown);
    if (bf)
        filter_leave((FilterObject *)self);
    else
        PyErr_Clear();
    return call_helper("_text", "represent", "ON", self, shown);
}

PyObject *filter_sizeof(FilterObject *self, PyObject *Py_UNUSED(unused))
{
    bf_info info = { 0 };
    bf_filter *bf = filter_peek(self);
    if (bf) {
        bf_get_info(bf, &info);
        if (strcmp(info.home, "memory") != 0) info.bitset_bytes = 0;
        filter_peeked(self);
    } else {
        PyErr_Clear();
    }
    return PyLong_FromUnsignedLongLong(
        (unsigned long long)Py_TYPE(self)->tp_basicsize + info.bitset_bytes);
}

#define INFO(name, kind)                                                                           \
    {                                                                                              \
        #name, (getter)(void (*)(void))get_info, NULL, PyDoc_STR(DOC_##name), &(info_field)        \
        {                                                                                          \
            kind, offsetof(bf_info, name)                                                          \
        }                                                                                          \
    }
#define GET(name) { #name, (getter)(void (*)(void))get_##name, NULL, PyDoc_STR(DOC_##name), NULL }
PyGetSetDef filter_getset[] = { INFO(m, WHOLE64), INFO(n, WHOLE64), INFO(k, WHOLE32), INFO(p, REAL),
    INFO(grow, REAL_OR_NONE), INFO(window, REAL_OR_NONE), INFO(parts, WHOLE_OR_NONE),
    INFO(scheme, TEXT), INFO(storage, PLACE), INFO(created, TRUTH), INFO(shards, WHOLE32),
    GET(bitset), GET(fill_ratio), GET(saturated), GET(fpr), GET(is_current),
    { NULL, NULL, NULL, NULL, NULL } };
