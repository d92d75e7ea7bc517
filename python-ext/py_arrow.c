/* py_arrow.c - batches over Arrow columns: objects with __arrow_c_array__ or __arrow_c_stream__
 * (the Arrow PyCapsule interface). Needs no Arrow library. All chunks of a column are checked
 * before the first key is used, so a refused column does not change the filter. */
#include "py_arrow.h"

typedef struct {
    const struct ArrowSchema *schema;
    chunk *at; /* &first, or memory from PyMem */
    size_t n, room;
    Py_ssize_t rows;
    chunk first;
} chunks;

/* ---- releasing what the producer passed ---- */
/* Saves and restores a pending exception, because a release callback may run Python code. */
#define RELEASE(thing)                                                                             \
    do {                                                                                           \
        if ((thing)->release) {                                                                    \
            PyObject *raised_ = PyErr_GetRaisedException();                                        \
            (thing)->release(thing);                                                               \
            PyErr_SetRaisedException(raised_);                                                     \
        }                                                                                          \
    } while (0)

/* Moves the struct out of its capsule. Afterwards this file must release the struct; the capsule's
 * destructor does nothing. */
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

/* Returns space for a chunk after the last one, or NULL with an exception. */
static chunk *next_chunk(chunks *all)
{
    if (all->n == 0) {
        all->at = &all->first;
        all->room = 1;
    } else if (all->n == all->room) {
        const size_t room = 8 * all->room;
        chunk *at = all->at == &all->first ? PyMem_New(chunk, room) : all->at;
        if (at && all->at == &all->first)
            *at = all->first;
        else
            PyMem_Resize(at, chunk, room);
        if (!at) {
            PyErr_NoMemory();
            return NULL;
        }
        all->at = at;
        all->room = room;
    }
    chunk *k = &all->at[all->n];
    k->array.release = NULL;
    return k;
}

/* Checks and counts the chunk that next_chunk returned. Returns 0, or -1 with an exception. */
static int add_chunk(batch *b, chunks *all)
{
    chunk *k = &all->at[all->n++];
    if (chunk_check(b, k, all->schema, all->rows) < 0) return -1;
    all->rows += (Py_ssize_t)k->keys.length;
    return 0;
}

/* ---- streams ---- */
static int stream_fault(struct ArrowArrayStream *stream, int code)
{
    const char *message = stream->get_last_error ? stream->get_last_error(stream) : NULL;
    if (PyErr_Occurred()) return -1;
    PyObject *text =
        PyUnicode_FromFormat("the Arrow stream failed: %s", message ? message : strerror(code));
    PyObject *arguments = text ? Py_BuildValue("(iN)", code, text) : NULL;
    if (arguments && code == ENOMEM)
        PyErr_NoMemory();
    else if (arguments)
        PyErr_SetObject(
            code == EINVAL ? PyExc_ValueError : PyExc_OSError, code == EINVAL ? text : arguments);
    Py_XDECREF(arguments);
    return -1;
}

static int fetch_chunks(batch *b, struct ArrowArrayStream *stream, chunks *all)
{
    for (;;) {
        int code;
        chunk *k = next_chunk(all);
        if (!k || PyErr_CheckSignals() < 0) return -1;
        Py_BEGIN_ALLOW_THREADS /* the producer's threads may need the GIL */
            code = stream->get_next(stream, &k->array);
        Py_END_ALLOW_THREADS if (code) return stream_fault(stream, code);
        if (!k->array.release) return 0;
        if (add_chunk(b, all) < 0) return -1;
    }
}

/* given: a pair of capsules (schema and array), or one capsule with a stream. */
static int run_capsules(batch *b, PyObject *keys, PyObject *given, bool pair)
{
    struct ArrowArrayStream stream = { .release = NULL };
    struct ArrowSchema schema = { .release = NULL };
    chunks all;
    int code = 0, rc = -1;
    all.schema = &schema;
    all.at = NULL;
    all.n = 0;
    all.rows = 0;
    if (pair) {
        chunk *k = next_chunk(&all);
        if (k) MOVE(schema, PyTuple_GET_ITEM(given, 0), "arrow_schema");
        if (!PyErr_Occurred()) MOVE(k->array, PyTuple_GET_ITEM(given, 1), "arrow_array");
    } else {
        MOVE(stream, given, "arrow_array_stream");
        if (!PyErr_Occurred()) {
            Py_BEGIN_ALLOW_THREADS code = stream.get_schema(&stream, &schema);
            Py_END_ALLOW_THREADS if (code) stream_fault(&stream, code);
        }
    }
    if (!PyErr_Occurred()) {
        const bool table = schema.format && !strcmp(schema.format, "+s");
        rc = table  ? refuse_table(keys)
             : pair ? add_chunk(b, &all)
                    : fetch_chunks(b, &stream, &all);
        if (table && pair) RELEASE(&all.first.array); /* add_chunk has not counted it */
    }
    for (size_t i = 0; rc == 0 && i < all.n; i++) {
        chunk *k = &all.at[i];
        /* the chunks may have moved in memory since chunk_check set this pointer */
        if (k->keys.values) k->keys.values = &k->values;
        if (k->keys.length) rc = column_run(b, chunk_column(b, k));
        RELEASE(&k->array);
    }
    for (size_t i = 0; i < all.n; i++) RELEASE(&all.at[i].array);
    if (all.at != &all.first) PyMem_Free(all.at);
    RELEASE(&schema);
    RELEASE(&stream);
    return rc;
}

/* ---- which objects ---- */
/* Calls the method and returns its result, or NULL with an exception. Returns NULL without an
 * exception if the object has no such method, or if its method fails (pandas without pyarrow) but
 * the object can be iterated over. A table is not iterated over, because its items are column
 * names. */
static PyObject *call_export(PyObject *keys, const char *name)
{
    PyObject *method;
    if (find_attribute(keys, name, &method) <= 0) return NULL;
    PyObject *given = PyObject_CallNoArgs(method);
    Py_DECREF(method);
    if (!given && Py_TYPE(keys)->tp_iter && PyErr_ExceptionMatches(PyExc_Exception) &&
        !PyErr_ExceptionMatches(PyExc_MemoryError)) {
        PyObject *raised = PyErr_GetRaisedException();
        if (has_attribute(keys, "columns") > 0)
            PyErr_SetRaisedException(raised);
        else
            Py_XDECREF(raised);
    }
    return given;
}

int arrow_batch(batch *b, PyObject *keys)
{
    PyObject *given = call_export(keys, "__arrow_c_array__");
    bool array = given;
    if (!given && !PyErr_Occurred()) given = call_export(keys, "__arrow_c_stream__");
    if (!given) return PyErr_Occurred() ? -1 : 0;
    int rc = -1;
    if (!array || (PyTuple_Check(given) && PyTuple_GET_SIZE(given) == 2))
        rc = run_capsules(b, keys, given, array);
    else
        PyErr_Format(PyExc_TypeError, "__arrow_c_array__ must give a pair of capsules, not %.200s",
            Py_TYPE(given)->tp_name);
    Py_DECREF(given);
    return rc < 0 ? -1 : 1;
}
