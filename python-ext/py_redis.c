/* py_redis.c - lets the core use a redis-py client (bf_redis_client). For each round trip, calls
 * _redis.py, which sends the commands and passes the bytes of the replies to a `replies` object. */
#include "py_bloomfilter.h"

#include <errno.h>
#include <stddef.h>
#include <structmember.h>

/* ---- the object `replies` of one round trip ---- */
typedef struct {
    PyObject_HEAD
    bf_reply_sink *sink; /* NULL: the round trip is over */
    size_t commands;     /* number of commands in the round trip */
    PyObject *ranges;    /* a bytes object with an array of bf_redis_range, or NULL */
    char sent;           /* set by _redis.py: bytes may have been sent */
} RepliesObject;

/* If the round trip is over, raises an exception and returns true. Call it again after each call of
 * Python code, because another thread may have ended the round trip meanwhile. */
static bool over(const RepliesObject *r)
{
    if (!r->sink) PyErr_SetString(PyExc_RuntimeError, "the round trip is over");
    return !r->sink;
}

static PyObject *replies_feed(RepliesObject *r, PyObject *data)
{
    Py_buffer view;
    if (PyObject_GetBuffer(data, &view, PyBUF_SIMPLE) < 0) return NULL;
    int64_t count = over(r) ? BF_EHOST : bf_reply_feed(r->sink, view.buf, (size_t)view.len);
    PyBuffer_Release(&view);
    if (count >= 0) return PyLong_FromLongLong(count);
    if (count == BF_ENOMEM) return PyErr_NoMemory();
    if (count != BF_EHOST)
        PyErr_SetString(PyExc_ConnectionError, "these bytes are not the replies to the commands");
    return NULL;
}

/* expect(bytes), an array of bf_redis_range: the commands to which the next replies belong. If
 * `first` is -1, the replies are ignored. */
static PyObject *replies_expect(RepliesObject *r, PyObject *ranges)
{
    if (over(r)) return NULL;
    if (!PyBytes_Check(ranges))
        return PyErr_Format(
            PyExc_TypeError, "ranges must be bytes, not %.200s", Py_TYPE(ranges)->tp_name);
    bf_reply_expect(r->sink, (const void *)PyBytes_AS_STRING(ranges),
        (size_t)PyBytes_GET_SIZE(ranges) / sizeof(bf_redis_range));
    Py_XSETREF(r->ranges, Py_NewRef(ranges));
    Py_RETURN_NONE;
}

static PyObject *replies_refused(RepliesObject *r, PyObject *Py_UNUSED(unused))
{
    if (over(r)) return NULL;
    const char *text;
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list && r->sink && i < r->commands; i++) {
        size_t len = bf_reply_refusal(r->sink, i, &text);
        if (len == 0) continue;
        PyObject *words = PyUnicode_DecodeUTF8(text, (Py_ssize_t)len, "replace");
        PyObject *one = words ? Py_BuildValue("(nN)", (Py_ssize_t)i, words) : NULL;
        if (!one || PyList_Append(list, one) < 0) Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

static PyObject *replies_fault(RepliesObject *r, PyObject *args)
{
    int code;
    const char *text;
    Py_ssize_t len;
    if (!PyArg_ParseTuple(args, "is#:fault", &code, &text, &len) || over(r)) return NULL;
    bf_reply_fault(r->sink, code, text, (size_t)len);
    Py_RETURN_NONE;
}

static PyObject *replies_connection(RepliesObject *r, PyObject *number)
{
    const unsigned long long n = PyLong_AsUnsignedLongLong(number);
    if (PyErr_Occurred() || over(r)) return NULL;
    bf_reply_connection(r->sink, n);
    Py_RETURN_NONE;
}

static int replies_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    return 0;
}

static void replies_dealloc(RepliesObject *r)
{
    PyTypeObject *type = Py_TYPE(r);
    PyObject_GC_UnTrack(r);
    Py_XDECREF(r->ranges);
    type->tp_free(r);
    Py_DECREF(type);
}

#define REPLY(name, function, flags) { name, (PyCFunction)(void (*)(void))function, flags, NULL }
static PyMethodDef replies_methods[] = { REPLY("feed", replies_feed, METH_O),
    REPLY("expect", replies_expect, METH_O), REPLY("refused", replies_refused, METH_NOARGS),
    REPLY("fault", replies_fault, METH_VARARGS), REPLY("connection", replies_connection, METH_O),
    { NULL, NULL, 0, NULL } };

static PyMemberDef replies_members[] = { { "sent", T_BOOL, offsetof(RepliesObject, sent), 0, NULL },
    { NULL, 0, 0, 0, NULL } };

static PyType_Slot replies_slots[] = { { Py_tp_dealloc, replies_dealloc },
    { Py_tp_traverse, replies_traverse }, { Py_tp_methods, replies_methods },
    { Py_tp_members, replies_members }, { 0, NULL } };
PyType_Spec replies_spec = {
    .name = "bloomfilter._Replies",
    .basicsize = sizeof(RepliesObject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE |
             Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = replies_slots,
};

/* ---- one round trip ---- */
static PyObject *parts_of(const bf_redis_part *parts, size_t n, size_t *commands)
{
    PyObject *list = PyList_New((Py_ssize_t)n);
    *commands = 0;
    for (size_t i = 0; list && i < n; i++) {
        PyObject *one =
            Py_BuildValue("(y#y#nn)", parts[i].key, (Py_ssize_t)parts[i].key_len, parts[i].bytes,
                (Py_ssize_t)parts[i].len, (Py_ssize_t)*commands, (Py_ssize_t)parts[i].commands);
        *commands += parts[i].commands;
        if (one)
            PyList_SET_ITEM(list, (Py_ssize_t)i, one);
        else
            Py_CLEAR(list);
    }
    return list;
}

static int round_trip(
    redis_client *c, const bf_redis_part *parts, size_t nparts, bf_reply_sink *sink)
{
    size_t commands;
    PyTypeObject *type = c->state->replies_type;
    PyObject *list = parts_of(parts, nparts, &commands), *done = NULL;
    RepliesObject *r = list ? (RepliesObject *)type->tp_alloc(type, 0) : NULL;
    if (r) {
        r->sink = sink;
        r->commands = commands;
        done = PyObject_CallMethod(c->transport, "exchange", "OO", list, r);
        r->sink = NULL;
    }
    int how = r && r->sent ? BF_CLIENT_LOST : BF_CLIENT_UNSENT;
    if (done) {
        how = BF_CLIENT_ANSWERED;
        bf_reply_expect(sink, NULL, 0); /* r->ranges is freed with r */
    } else if (!PyErr_ExceptionMatches(PyExc_Exception))
        how = BF_CLIENT_STOP; /* KeyboardInterrupt or SystemExit */
    else if (!r)
        bf_reply_fault(sink, ENOMEM, "", 0);
    Py_XDECREF(list);
    Py_XDECREF((PyObject *)r);
    Py_XDECREF(done);
    return how;
}

/* report: true: an exception of this round trip stays set, and raise_error makes it the cause of
 * its own exception. false: restores the exception of an earlier round trip, or none. */
static int exchange(
    void *ctx, const bf_redis_part *parts, size_t nparts, bool report, bf_reply_sink *sink)
{
    redis_client *c = ctx;
    PyThreadState *ts = gil_enter();
    PyObject *raised = PyErr_GetRaisedException();
    int how = round_trip(c, parts, nparts, sink);
    if (report)
        Py_XDECREF(raised);
    else
        PyErr_SetRaisedException(raised);
    gil_leave(ts);
    return how;
}

/* ---- turns: a green thread waits for a lock of the module `threading`, which gevent and eventlet
 * replace. The lock is taken and released here, because in Python code a signal handler may raise
 * an exception in between ---- */
static int wait_turn(redis_client *c, bool second)
{
    PyObject *lock, *held, *turn = PyObject_CallMethod(c->transport, "turn", NULL);
    int seconds, rc = BF_EHOST;
    if (!turn || !PyArg_ParseTuple(turn, "OO!i", &lock, &PyList_Type, &held, &seconds)) {
        Py_XDECREF(turn);
        return rc;
    }
    const bool waits = PyList_GET_SIZE(held) <= second;
    PyObject *got = waits ? PyObject_CallMethod(lock, "acquire", "ii", 1, seconds)
                          : PyObject_CallMethod(lock, "acquire", "i", 0);
    if (got == Py_True && PyList_Append(held, lock) == 0) {
        Py_XSETREF(c->turn, Py_NewRef(turn));
        rc = 0;
    } else if (got)
        rc = waits ? BF_EIO : BF_EBUSY;
    Py_XDECREF(got);
    Py_DECREF(turn);
    return rc;
}

static int enter(void *ctx, bool second)
{
    PyThreadState *ts = gil_enter();
    PyObject *raised = PyErr_GetRaisedException();
    const int rc = wait_turn(ctx, second);
    if (raised) PyErr_SetRaisedException(raised);
    gil_leave(ts);
    return rc;
}

static void leave(void *ctx)
{
    redis_client *c = ctx;
    PyThreadState *ts = gil_enter();
    PyObject *raised = PyErr_GetRaisedException(), *turn = c->turn;
    c->turn = NULL;
    if (turn) {
        PyObject *lock = PyTuple_GET_ITEM(turn, 0);
        PyObject *removed = PyObject_CallMethod(PyTuple_GET_ITEM(turn, 1), "remove", "O", lock);
        PyObject *released = PyObject_CallMethod(lock, "release", NULL);
        if (!removed || !released) PyErr_WriteUnraisable(lock);
        Py_XDECREF(removed);
        Py_XDECREF(released);
        Py_DECREF(turn);
    }
    PyErr_SetRaisedException(raised);
    gil_leave(ts);
}

void redis_client_take_turns(redis_client *c, bf_filter *bf)
{
    if (c->takes_turns) bf_set_turn_hooks(bf, enter, leave, c);
}

/* ---- creating and freeing a client ---- */
redis_client *redis_client_new(module_state *state, PyObject *client)
{
    redis_client *c = PyMem_Calloc(1, sizeof *c);
    if (!c) {
        PyErr_NoMemory();
        return NULL;
    }
    c->state = state;
    c->host = (bf_redis_client){ .exchange = exchange, .ctx = c };
    c->client = Py_NewRef(client);
    c->transport = call_helper("_redis", "adapt", "(O)", client);
    PyObject *cluster = c->transport ? PyObject_GetAttrString(c->transport, "cluster") : NULL;
    c->name = cluster ? PyObject_GetAttrString(c->transport, "name") : NULL;
    c->host.name = c->name ? PyUnicode_AsUTF8(c->name) : NULL;
    c->host.cluster = cluster == Py_True;
    PyObject *turns = c->name ? PyObject_GetAttrString(c->transport, "takes_turns") : NULL;
    c->takes_turns = turns == Py_True;
    Py_XDECREF(turns);
    Py_XDECREF(cluster);
    if (c->host.name) return c;
    redis_client_free(c);
    return NULL;
}

void redis_client_free(redis_client *c)
{
    if (!c) return;
    Py_XDECREF(c->client);
    Py_XDECREF(c->transport);
    Py_XDECREF(c->name);
    Py_XDECREF(c->turn);
    PyMem_Free(c);
}
