/* py_redisbloom.c - filters of the module RedisBloom: from_redisbloom() and to_redisbloom(). */
#include "py_bloomfilter.h"

/* Where a filter of the module is. */
typedef struct {
    bf_spec spec;
    PyObject *path;       /* owned; spec.storage points into it */
    redis_client *client; /* owned; the client, if the storage is a client object */
} place;

static void place_free(place *at)
{
    Py_XDECREF(at->path);
    redis_client_free(at->client);
}

/* Reads (storage, key=None). Returns 0, or -1 with an exception; then nothing is to be freed. */
static int place_of(
    module_state *state, PyObject *args, PyObject *kwargs, const char *format, place *at)
{
    static char *const names[] = { "storage", "key", NULL };
    PyObject *storage;
    *at = (place){ .path = NULL };
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, format, (char **)names, &storage, &at->spec.key))
        return -1;
    const int path = is_path(storage);
    if (path > 0 && PyUnicode_FSConverter(storage, &at->path))
        at->spec.storage = PyBytes_AS_STRING(at->path);
    if (path != 0) return path > 0 && at->path ? 0 : -1;
    if (!(at->client = redis_client_new(state, storage))) return -1;
    at->spec.redis_client = &at->client->host;
    return 0;
}

PyObject *filter_from_redisbloom(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    module_state *state = state_of(type);
    bf_error err;
    place at;
    if (place_of(state, args, kwargs, "O|z:from_redisbloom", &at) < 0) return NULL;
    at.spec.counting = is_counting(type);
    at.spec.threads = NO_GIL;
    PyThreadState *ts = gil_out();
    bf_filter *bf = bf_from_redisbloom(&at.spec, &err);
    gil_back(ts);
    PyObject *made = bf ? filter_wrap(type, bf, NULL) : raise_error(state, &err);
    place_free(&at);
    return made;
}

PyObject *filter_to_redisbloom(FilterObject *self, PyObject *args, PyObject *kwargs)
{
    core_call c;
    place at;
    if (place_of(state_of(Py_TYPE(self)), args, kwargs, "O|z:to_redisbloom", &at) < 0) return NULL;
    int rc = core_begin(&c, self, NULL, gil_release) ? 0 : -1;
    if (rc == 0) rc = core_end(&c, bf_to_redisbloom(c.bf, &at.spec, &c.err));
    place_free(&at);
    return none(rc);
}
