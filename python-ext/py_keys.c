/* py_keys.c - the bytes of a Python object that is a key: str as UTF-8, bytes-like objects
 * unchanged, int as decimal text. Does not use PyUnicode_AsUTF8AndSize, which stores a copy of the
 * text in each str that is not ASCII. */
#include "py_bloomfilter.h"

/* ---- str ---- */
static inline char *put_utf8(char *out, Py_UCS4 c)
{
    if (c < 0x80) {
        *out++ = (char)c;
        return out;
    }
    if (c < 0x800) {
        *out++ = (char)(0xC0 | c >> 6);
    } else {
        if (c < 0x10000) {
            *out++ = (char)(0xE0 | c >> 12);
        } else {
            *out++ = (char)(0xF0 | c >> 18);
            *out++ = (char)(0x80 | (c >> 12 & 0x3F));
        }
        *out++ = (char)(0x80 | (c >> 6 & 0x3F));
    }
    *out++ = (char)(0x80 | (c & 0x3F));
    return out;
}

/* Writes text as UTF-8. Returns the length, or -1 - i if character i is a lone surrogate. Inlined
 * with a constant kind, so there is a fast loop for each kind. */
static inline Py_ssize_t write_utf8(int kind, const void *data, Py_ssize_t n, char *out)
{
    char *start = out;
    for (Py_ssize_t i = 0; i < n; i++) {
        Py_UCS4 c = PyUnicode_READ(kind, data, i);
        if (kind != PyUnicode_1BYTE_KIND && c >= 0xD800 && c < 0xE000) return -1 - i;
        out = put_utf8(out, c);
    }
    return out - start;
}

Py_ssize_t utf8_of_ucs4(const uint32_t *text, Py_ssize_t n, char *out)
{
    for (Py_ssize_t i = 0; i < n; i++)
        if (text[i] > 0x10FFFF) return -1 - i;
    return write_utf8(PyUnicode_4BYTE_KIND, text, n, out);
}

static Py_ssize_t utf8_of(PyObject *s, char *out)
{
    const void *data = PyUnicode_DATA(s);
    Py_ssize_t n = PyUnicode_GET_LENGTH(s), len;
    switch (PyUnicode_KIND(s)) {
    case PyUnicode_1BYTE_KIND: len = write_utf8(PyUnicode_1BYTE_KIND, data, n, out); break;
    case PyUnicode_2BYTE_KIND: len = write_utf8(PyUnicode_2BYTE_KIND, data, n, out); break;
    default: len = write_utf8(PyUnicode_4BYTE_KIND, data, n, out);
    }
    return len;
}

/* Returns an upper bound for the length of a str in UTF-8: 2, 3 or 4 bytes per character,
 * depending on its kind. */
static size_t utf8_bound(PyObject *s)
{
    size_t each = PyUnicode_KIND(s) == PyUnicode_1BYTE_KIND   ? 2
                  : PyUnicode_KIND(s) == PyUnicode_2BYTE_KIND ? 3
                                                              : 4;
    size_t n = (size_t)PyUnicode_GET_LENGTH(s);
    return n <= PY_SSIZE_T_MAX / each ? n * each : PY_SSIZE_T_MAX;
}

/* Up to Python 3.11 a str of the legacy kind must be converted first, which may allocate. */
#if PY_VERSION_HEX < 0x030C0000
static bool str_is_ready(PyObject *s) { return PyUnicode_IS_READY(s); }
static int str_ready(PyObject *s) { return PyUnicode_READY(s); }
#else
static bool str_is_ready(PyObject *Py_UNUSED(s)) { return true; }
static int str_ready(PyObject *Py_UNUSED(s)) { return 0; }
#endif

/* ---- keys that need no Python code ---- */
static Py_ssize_t str_plain(PyObject *o, bf_key *key, char *room, size_t cap)
{
    if (!str_is_ready(o)) return -2;
    if (PyUnicode_IS_ASCII(o)) {
        *key = (bf_key){ PyUnicode_DATA(o), (size_t)PyUnicode_GET_LENGTH(o) };
        return 0;
    }
    if (utf8_bound(o) > cap) return -2;
    Py_ssize_t len = utf8_of(o, room);
    *key = (bf_key){ room, (size_t)len };
    return len < 0 ? -2 : len;
}

static Py_ssize_t int_plain(PyObject *o, bf_key *key, char *room, size_t cap)
{
    int overflow;
    long long v = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (overflow || cap < DECIMAL_MAX) return -2;
    *key = (bf_key){ room, decimal(room, v < 0 ? 0 - (uint64_t)v : (uint64_t)v, v < 0) };
    return (Py_ssize_t)key->len;
}

Py_ssize_t key_plain(PyObject *o, bf_key *key, char *room, size_t cap)
{
    if (PyUnicode_Check(o)) return str_plain(o, key, room, cap);
    if (PyBytes_Check(o)) {
        *key = (bf_key){ PyBytes_AS_STRING(o), (size_t)PyBytes_GET_SIZE(o) };
        return 0;
    }
    if (PyLong_Check(o) && !PyBool_Check(o)) return int_plain(o, key, room, cap);
    return -2;
}

/* ---- any key ---- */
static int hold_str(PyObject *o, key_holder *h)
{
    h->heap = PyMem_Malloc(utf8_bound(o));
    if (!h->heap) {
        PyErr_NoMemory();
        return -1;
    }
    Py_ssize_t len = utf8_of(o, h->heap);
    h->key = (bf_key){ h->heap, (size_t)len };
    if (len >= 0) return 0;
    PyErr_Format(PyExc_ValueError, "lone surrogate U+%x at position %zd has no UTF-8 form",
        (unsigned)PyUnicode_READ_CHAR(o, -1 - len), -1 - len);
    return -1;
}

/* Reads an int of any size. PyNumber_ToBase does not call methods of subclasses. */
static int hold_int(PyObject *o, key_holder *h)
{
    if (int_plain(o, &h->key, h->room, KEY_ROOM) >= 0) return 0;
    h->text = PyNumber_ToBase(o, 10);
    if (!h->text) return -1;
    h->key = (bf_key){ PyUnicode_DATA(h->text), (size_t)PyUnicode_GET_LENGTH(h->text) };
    return 0;
}

int bytes_hold(PyObject *o, key_holder *h)
{
    if (PyObject_GetBuffer(o, &h->view, PyBUF_FULL_RO) < 0) {
        h->view.obj = NULL;
        return -1;
    }
    h->key = (bf_key){ h->view.buf, (size_t)h->view.len };
    if (PyBuffer_IsContiguous(&h->view, 'C')) return 0;
    h->heap = PyMem_Malloc((size_t)h->view.len);
    if (!h->heap) {
        PyErr_NoMemory();
        return -1;
    }
    h->key.ptr = h->heap;
    return PyBuffer_ToContiguous(h->heap, &h->view, h->view.len, 'C');
}

/* Returns how to get a key from such an object. The attribute is that of a UUID. */
static const char *conversion(PyObject *o)
{
    PyTypeObject *type = Py_TYPE(o);
    if (o == Py_None) return "";
    if (type->tp_iter || PySequence_Check(o))
        return PyObject_CheckBuffer(o) ? ": pass its items to update(), or its tobytes()"
                                       : ": pass its items to update(), or one text";
    const int bytes = has_attribute((PyObject *)type, "bytes");
    if (bytes < 0) PyErr_Clear();
    return bytes > 0 ? ": pass str(key) or key.bytes" : ": pass str(key)";
}

static int refuse_type(PyObject *o)
{
    const char *advice = conversion(o);
    PyErr_Format(PyExc_TypeError, "a key must be str, bytes-like or int, not %.200s%s",
        Py_TYPE(o)->tp_name, advice);
    return -1;
}

/* Returns true for dates and time spans of numpy, which export bytes but are no keys. */
static bool is_time(PyObject *o)
{
    return strcmp(Py_TYPE(o)->tp_name, "numpy.datetime64") == 0 ||
           strcmp(Py_TYPE(o)->tp_name, "numpy.timedelta64") == 0;
}

/* Returns true if a buffer is one sequence of bytes, and not an array of numbers or of arrays. */
static bool is_bytes(const Py_buffer *v)
{
    const char *f = v->format ? v->format : "B";
    f += *f && strchr("@=<>!", *f);
    return v->ndim == 1 && (*f == 'B' || *f == 'b' || *f == 'c') && !f[1];
}

static int hold_buffer(PyObject *o, key_holder *h)
{
    if (is_time(o)) return refuse_type(o);
    if (bytes_hold(o, h) == 0 && is_bytes(&h->view)) return 0;
    bool odd = PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_BufferError) &&
               !PyErr_ExceptionMatches(PyExc_TypeError) &&
               !PyErr_ExceptionMatches(PyExc_ValueError);
    return odd ? -1 : refuse_type(o);
}

/* Up to numpy 2.2 a numpy boolean has __index__, so it must not be taken for an int. */
bool is_boolean(PyObject *o)
{
    return PyBool_Check(o) || strcmp(Py_TYPE(o)->tp_name, "numpy.bool") == 0 ||
           strcmp(Py_TYPE(o)->tp_name, "numpy.bool_") == 0;
}

/* Reads an object with __index__ as an int, because numpy's integers export buffers, too. numpy's
 * arrays raise TypeError in __index__ and may be bytes. */
static int hold_other(PyObject *o, key_holder *h)
{
    PyObject *number = PyIndex_Check(o) && !is_boolean(o) ? PyNumber_Index(o) : NULL;
    if (number) {
        int rc = hold_int(number, h);
        Py_DECREF(number);
        return rc;
    }
    if (!PyObject_CheckBuffer(o)) return PyErr_Occurred() ? -1 : refuse_type(o);
    if (PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_TypeError)) return -1;
        PyErr_Clear();
    }
    return hold_buffer(o, h);
}

int key_hold(PyObject *o, key_holder *h)
{
    h->text = NULL;
    h->heap = NULL;
    h->view.obj = NULL;
    if (PyUnicode_Check(o) && str_ready(o) < 0) return -1;
    if (key_plain(o, &h->key, h->room, KEY_ROOM) >= 0) return 0;
    int rc = PyUnicode_Check(o)                    ? hold_str(o, h)
             : PyLong_Check(o) && !PyBool_Check(o) ? hold_int(o, h)
                                                   : hold_other(o, h);
    if (rc < 0) key_release(h);
    return rc;
}

void key_release(key_holder *h)
{
    Py_XDECREF(h->text);
    PyMem_Free(h->heap);
    if (h->view.obj) PyBuffer_Release(&h->view);
}
