/* py_counting.c - the type CountingBloomFilter, a BloomFilter whose keys can be removed: the
 * methods that its base does not have. */
#include "py_bloomfilter.h"

static PyObject *counting_remove(FilterObject *self, PyObject *key)
{
    int rc = filter_ask(self, key, bf_remove);
    return rc < 0 ? NULL : PyBool_FromLong(rc);
}

static PyObject *counting_count_of(FilterObject *self, PyObject *key)
{
    int rc = filter_ask(self, key, bf_count_of);
    return rc < 0 ? NULL : PyLong_FromLong(rc);
}

static PyObject *counting_to_plain(FilterObject *self, PyObject *Py_UNUSED(unused))
{
    core_call c;
    if (!core_begin(&c, self, NULL, gil_release_if_big)) return NULL;
    bf_filter *plain = bf_to_plain(c.bf, &c.err);
    core_back(&c);
    PyObject *callback = Py_XNewRef(self->callback), *made = NULL;
    if (core_end(&c, plain ? 0 : -1) == 0)
        made = filter_wrap(state_of(Py_TYPE(self))->filter_type, plain, NULL, callback, true);
    Py_XDECREF(callback);
    return made;
}

static PyMethodDef methods[] = { METHOD("remove", counting_remove, METH_O, "$self, key, /",
                                     "Take one add of the key back.  True: it was there; False: it "
                                     "was absent, and nothing changed.\n\n"
                                     "Remove only what was added: removing a false positive "
                                     "damages the keys that share its counters."),
    METHOD("remove_many", filter_remove_many, METH_FASTCALL | METH_KEYWORDS,
        "$self, keys, /, *, nulls='raise'",
        "Remove all keys of an iterable or array; return one byte per key: 1 = removed, 0 = was "
        "absent."),
    METHOD("count_of", counting_count_of, METH_O, "$self, key, /",
        "How often the key was added and not removed, at most; 0: surely absent, 15: 15 or more."),
    METHOD("count_many", filter_count_many, METH_FASTCALL | METH_KEYWORDS,
        "$self, keys, /, *, nulls='raise'", "count_of() for all keys: one byte per key."),
    METHOD("to_plain", counting_to_plain, METH_NOARGS, "$self, /",
        "A BloomFilter in memory with the same keys, at a quarter of the size."),
    { NULL, NULL, 0, NULL } };

PyDoc_STRVAR(counting_doc,
    "CountingBloomFilter(" CONSTRUCTOR_SIGNATURE ")\n--\n\n"
    "A BloomFilter of 4-bit counters instead of bits: keys can be removed and counted.  m = "
    "counters.\n\n"
    "    bf = CountingBloomFilter(n=1_000_000, p=0.01)\n"
    "    bf.add(key); bf.remove(key); bf.count_of(key)\n\n"
    "A counter that reached 15 stays there for ever, so no removal ever makes another key absent.");

static PyType_Slot slots[] = { { Py_tp_doc, (void *)counting_doc }, { Py_tp_methods, methods },
    { 0, NULL } };

/* The collector's functions are inherited. */
PyType_Spec counting_spec = {
    .name = "bloomfilter.CountingBloomFilter",
    .basicsize = sizeof(FilterObject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
