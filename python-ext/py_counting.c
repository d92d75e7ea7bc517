/* py_counting.c - the type CountingBloomFilter: the methods that BloomFilter does not have. */
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
    PyObject *made = NULL;
    if (plain)
        made = filter_wrap(state_of(Py_TYPE(self))->filter_type, plain, Py_XNewRef(self->callback));
    core_end(&c, plain ? 0 : -1);
    return made;
}

static PyMethodDef methods[] = {
    METHOD(remove, counting_remove, METH_O),
    METHOD(remove_many, filter_remove_many, METH_FASTCALL | METH_KEYWORDS),
    METHOD(count_of, counting_count_of, METH_O),
    METHOD(count_many, filter_count_many, METH_FASTCALL | METH_KEYWORDS),
    METHOD(to_plain, counting_to_plain, METH_NOARGS),
    { NULL, NULL, 0, NULL },
};

static PyType_Slot slots[] = { { Py_tp_doc, PyDoc_STR(DOC_CountingBloomFilter) },
    { Py_tp_methods, methods }, { 0, NULL } };

/* The functions for the garbage collector are inherited. */
PyType_Spec counting_spec = {
    .name = "bloomfilter.CountingBloomFilter",
    .basicsize = sizeof(FilterObject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
