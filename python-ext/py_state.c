/* py_state.c - what a filter is and what is in it: properties, len(), bool(), repr(), its size in memory.
 * Every number comes from the core. */
#include "py_bloomfilter.h"

/* ---- what it is ---- */
static int read_info(FilterObject *self, bf_info *info)
{
    bf_filter *bf = filter_peek(self);
    if (!bf) return -1;
    bf_get_info(bf, info);
    filter_peeked(self);
    return 0;
}

static PyObject *get_m(FilterObject *self, void *Py_UNUSED(unused))
{
    bf_info i;
    return read_info(self, &i) < 0 ? NULL : PyLong_FromUnsignedLongLong(i.m);
}
static PyObject *get_n(FilterObject *self, void *Py_UNUSED(unused))
{
    bf_info i;
    return read_info(self, &i) < 0 ? NULL : PyLong_FromUnsignedLongLong(i.n);
}
static PyObject *get_k(FilterObject *self, void *Py_UNUSED(unused))
{
    bf_info i;
    return read_info(self, &i) < 0 ? NULL : PyLong_FromUnsignedLong(i.k);
}
static PyObject *get_shards(FilterObject *self, void *Py_UNUSED(unused))
{
    bf_info i;
    return read_info(self, &i) < 0 ? NULL : PyLong_FromUnsignedLong(i.shards);
}
static PyObject *get_p(FilterObject *self, void *Py_UNUSED(unused))
{
    bf_info i;
    return read_info(self, &i) < 0 ? NULL : PyFloat_FromDouble(i.p);
}

/* The strings of bf_info live as long as the handle: it is entered for them. */
static PyObject *get_scheme(FilterObject *self, void *Py_UNUSED(unused))
{
    bf_info info;
    bf_filter *bf = filter_enter(self);
    if (!bf) return NULL;
    bf_get_info(bf, &info);
    PyObject *name = PyUnicode_FromString(info.scheme);
    filter_leave(self);
    return name;
}

static PyObject *get_storage(FilterObject *self, void *Py_UNUSED(unused))
{
    bf_info info;
    bf_filter *bf = filter_enter(self);
    if (!bf) return NULL;
    bf_get_info(bf, &info);
    PyObject *name = self->client ? Py_NewRef(self->client->client) : info.storage ? PyUnicode_DecodeFSDefault(info.storage) : Py_NewRef(Py_None);
    filter_leave(self);
    return name;
}

static PyObject *get_bitset(FilterObject *self, void *Py_UNUSED(unused))
{
    bf_error err;
    bf_info info;
    bf_filter *bf = filter_enter(self);
    if (!bf) return NULL;
    bf_get_info(bf, &info);
    int rc = 0;
    PyObject *bits = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)info.bitset_bytes);
    if (bits) {
        PyThreadState *ts = gil_release_if_big(self, NULL);
        rc = bf_read_bits(bf, 0, PyBytes_AS_STRING(bits), (size_t)info.bitset_bytes, &err);
        gil_take(ts, self, NULL);
    }
    filter_leave(self);
    if (rc >= 0) return bits;
    Py_DECREF(bits);
    return raise_in(self, &err);
}

/* ---- what is in it: one pass over the bits ---- */
static int read_state(FilterObject *self, bf_state *state)
{
    bf_error err;
    bf_filter *bf = filter_enter(self);
    if (!bf) return -1;
    PyThreadState *ts = gil_release_if_big(self, NULL);
    int rc = bf_get_state(bf, state, &err);
    gil_take(ts, self, NULL);
    filter_leave(self);
    if (rc < 0) raise_in(self, &err);
    return rc < 0 ? -1 : 0;
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

/* ---- for people ---- */
static PyObject *describe(const char *type, const bf_info *info)
{
    PyObject *p = PyFloat_FromDouble(info->p), *where = NULL, *text = NULL;
    if (info->shown) where = PyUnicode_DecodeFSDefault(info->shown);
    const char *format = where ? "%s(m=%llu, n=%llu, k=%u, p=%R, scheme='%s', storage=%R)"
                               : "%s(m=%llu, n=%llu, k=%u, p=%R, scheme='%s')";
    if (p && (where || !info->shown))
        text = PyUnicode_FromFormat(format, type, (unsigned long long)info->m, (unsigned long long)info->n, info->k, p,
                                    info->scheme, where);
    Py_XDECREF(p);
    Py_XDECREF(where);
    return text;
}

PyObject *filter_repr(PyObject *op)
{
    FilterObject *self = (FilterObject *)op;
    const char *dot = strrchr(Py_TYPE(op)->tp_name, '.'), *type = dot ? dot + 1 : Py_TYPE(op)->tp_name;
    bf_info info;
    bf_filter *bf = filter_enter(self);
    if (!bf) {
        PyErr_Clear();
        return PyUnicode_FromFormat("<%s, closed>", type);
    }
    bf_get_info(bf, &info);
    PyObject *text = describe(type, &info);
    filter_leave(self);
    return text;
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
    return PyLong_FromUnsignedLongLong((unsigned long long)Py_TYPE(self)->tp_basicsize + info.bitset_bytes);
}

#define GET(name, doc) { #name, (getter)(void (*)(void))get_##name, NULL, doc, NULL }
PyGetSetDef filter_getset[] = {
    GET(m, "Number of bits."),
    GET(n, "Number of keys it is sized for."),
    GET(k, "Positions a key."),
    GET(p, "False-positive rate at n keys: as asked, or by the scheme's formula."),
    GET(scheme, "Name of the scheme: how a key becomes positions."),
    GET(storage, "Path, URL or client as given; None for process memory."),
    GET(shards, "Into how many equal parts the bits are cut, all bits of a key in one; 1 = not at all."),
    GET(bitset, "The bits, ceil(m / 8) bytes: bit i is byte i // 8, mask 0x80 >> (i % 8)."),
    GET(fill_ratio, "Share of the bits that are 1 now.  One pass over the bits."),
    GET(fpr, "False-positive rate at the present fill, by the scheme's formula.  One pass over the bits."),
    { NULL, NULL, NULL, NULL, NULL }
};
