/* py_array.c - batches over one-dimensional arrays: numpy's 'S' and 'U' arrays, and integers of any
 * width, byte order and stride. Reads keys from the buffer without creating Python objects.
 * py_batch.c iterates over all other arrays of one dimension. Refuses tables. And columns of
 * hashes. */
#include "py_bloomfilter.h"

/* ---- text ---- */
/* Returns the length of an 'S' item without the NUL bytes at its end, which are padding (as in
 * numpy). */
static size_t text_length(const char *p, size_t width)
{
    uint64_t word;
    while (width >= sizeof word && (memcpy(&word, p + width - sizeof word, sizeof word), word == 0))
        width -= sizeof word;
    while (width && p[width - 1] == 0) width--;
    return width;
}

size_t pick_bytes(const column *c, size_t from, size_t n, bf_key *keys, char *text)
{
    const char *at = c->at + (Py_ssize_t)from * c->stride;
    (void)text;
    for (size_t i = 0; i < n; i++, at += c->stride)
        keys[i] = (bf_key){ at, c->padded ? text_length(at, c->width) : c->width };
    return n;
}

/* Writes an item of a 'U' array as UTF-8, which is never longer than the item. Returns the length,
 * or -1 - i if code point i has no UTF-8 form. */
static Py_ssize_t unicode_text(column *c, char *out)
{
    uint32_t text[BATCH_ROOM / sizeof(uint32_t)];
    size_t n = c->padded ? text_length(c->at, c->width) : c->width;
    n = (n + sizeof *text - 1) / sizeof *text;
    memcpy(text, c->at, n * sizeof *text);
    for (size_t i = 0; c->swapped && i < n; i++) text[i] = __builtin_bswap32(text[i]);
    Py_ssize_t len = utf8_of_ucs4(text, (Py_ssize_t)n, out);
    if (len < 0) c->value = text[-1 - len];
    return len;
}

static void gather_unicode(batch *b, column *c)
{
    for (; b->n < b->most && c->left && b->used + c->width <= b->space;
        c->left--, c->at += c->stride) {
        Py_ssize_t len = unicode_text(c, b->room + b->used);
        if (len < 0) {
            c->fault = FAULT_TEXT;
            c->left = 0;
            return;
        }
        b->keys[b->n++] = (bf_key){ b->room + b->used, (size_t)len };
        b->used += (size_t)len;
    }
}

/* ---- which arrays ---- */
/* Returns true if the array can be read here, and fills *c. The format is that of the module
 * struct: byte order (optional), number (optional), letter. "5s" is a text of 5 bytes, "5w" a text
 * of 5 code points. Without a number (array.array("u")) an item is one character, also if it is
 * NUL. */
static bool readable(const Py_buffer *v, column *c)
{
    *c = (column){ 0 };
    if (v->ndim != 1 || v->suboffsets) return false;
    const char *f = v->format ? v->format : "B";
    char order = strchr("@=<>!", *f) && *f ? *f++ : '@';
    const char *letter = f + strspn(f, "0123456789");
    if (!*letter || letter[1]) return false;
    c->is_signed = *letter >= 'a';
    c->width = (size_t)v->itemsize;
    c->swapped = PY_LITTLE_ENDIAN ? order == '>' || order == '!' : order == '<';
    c->padded = letter != f;
    c->at = v->buf;
    c->left = v->shape ? v->shape[0] : v->len / (v->itemsize ? v->itemsize : 1);
    c->stride = v->strides ? v->strides[0] : v->itemsize;
    if (*letter == 's')
        c->pick = pick_bytes;
    else if (*letter == 'w' && c->width % sizeof(uint32_t) == 0 && c->width <= BATCH_ROOM)
        c->gather = gather_unicode;
    else if (!c->padded && strchr("bBhHiIlLqQnN", *letter) &&
             (c->width == 1 || c->width == 2 || c->width == 4 || c->width == 8))
        c->pick = pick_numbers;
    c->converts = c->pick == pick_numbers;
    if (c->pick) c->gather = gather_picked;
    return c->gather;
}

int refuse_table(PyObject *o)
{
    PyErr_Format(PyExc_TypeError,
        "keys must be one column, not a table or an array of arrays (%.200s): pass one of its "
        "columns",
        Py_TYPE(o)->tp_name);
    return -1;
}

/* Returns true for the type of objects of numpy, pandas and polars. */
static bool is_object_type(PyObject *dtype)
{
    const char *dot = strrchr(Py_TYPE(dtype)->tp_name, '.'),
               *name = dot ? dot + 1 : Py_TYPE(dtype)->tp_name;
    return !strcmp(name, "ObjectDType") || !strcmp(name, "dtype[object_]") ||
           !strcmp(name, "Object");
}

PyObject *column_of(batch *b, PyObject *keys)
{
    PyObject *ndim = NULL, *dtype = NULL, *array = NULL;
    int large = 0;
    const int column = has_attribute(keys, "__array__");
    if (column <= 0) return column < 0 ? NULL : Py_NewRef(keys);
    const int table = has_attribute(keys, "columns");
    if (table < 0 || find_attribute(keys, "ndim", &ndim) < 0 ||
        find_attribute(keys, "dtype", &dtype) < 0)
        goto done;
    if (table ||
        (ndim && PyLong_Check(ndim) && (PyLong_AsLongAndOverflow(ndim, &large) > 1 || large > 0)))
        refuse_table(keys);
    else if (dtype && is_object_type(dtype) && !PyObject_CheckBuffer(keys))
        array = PyObject_CallMethod(keys, "__array__", NULL);
    else
        array = Py_NewRef(keys);
    b->column = !PyIter_Check(keys);
done:
    Py_XDECREF(ndim);
    Py_XDECREF(dtype);
    return array;
}

int array_batch(batch *b, PyObject *keys)
{
    Py_buffer view;
    column c;
    if (!PyObject_CheckBuffer(keys)) return 0;
    if (PyObject_GetBuffer(keys, &view, PyBUF_FULL_RO) < 0) {
        bool no_array = PyErr_ExceptionMatches(PyExc_BufferError) ||
                        PyErr_ExceptionMatches(PyExc_ValueError) ||
                        PyErr_ExceptionMatches(PyExc_TypeError);
        if (no_array)
            PyErr_Clear(); /* for example numpy's dates: iterating over them raises the error */
        return no_array ? 0 : -1;
    }
    int rc = 0;
    const bool iterable = Py_TYPE(keys)->tp_iter;
    if (view.ndim > 1 || (view.format && *view.format == 'T')) {
        PyBuffer_Release(&view);
        return refuse_table(keys);
    }
    const bool known = readable(&view, &c);
    if (b->hashed && !(known && c.pick == pick_numbers && c.width == sizeof(uint64_t)))
        rc = refuse_hashes(view.format ? view.format : Py_TYPE(keys)->tp_name);
    /* bytes that cannot be iterated over (mmap, PickleBuffer) are one key, not an array */
    else if (view.itemsize == 1 && !iterable)
        rc = refuse_one_key(keys);
    /* a masked array of numpy is iterated over, because its buffer does not show what is masked */
    else if (known) {
        if (b->hashed) c.gather = gather_hashes;
        const int masked = iterable ? has_attribute(keys, "mask") : 0;
        if (masked < 0) rc = -1;
        if (!masked) rc = column_run(b, &c) < 0 ? -1 : 1;
    }
    PyBuffer_Release(&view);
    return rc;
}

/* ---- hashes ---- */
int refuse_hashes(const char *what)
{
    PyErr_Format(PyExc_TypeError,
        "hashes must be an array of 64-bit integers (numpy, Arrow, array('Q')), not %.200s", what);
    return -1;
}

int hashes_batch(batch *b, PyObject *hashes)
{
    PyObject *array = NULL;
    int rc = array_batch(b, hashes);
    if (rc == 0) rc = arrow_batch(b, hashes);
    if (rc == 0 && !PyObject_CheckBuffer(hashes)) { /* pandas without pyarrow */
        const int has = has_attribute(hashes, "__array__");
        array = has > 0 ? PyObject_CallMethod(hashes, "__array__", NULL) : NULL;
        rc = array ? array_batch(b, array) : PyErr_Occurred() ? -1 : 0;
        Py_XDECREF(array);
    }
    return rc ? rc : refuse_hashes(Py_TYPE(hashes)->tp_name);
}
