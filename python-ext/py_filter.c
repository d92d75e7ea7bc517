/* py_filter.c - the type BloomFilter: calls on one key, and the tables of methods and slots. */
#include "py_bloomfilter.h"

#include <stddef.h>
#include <structmember.h>

/* ---- one key ---- */

/* the caller must keep a reference to the object of the key */
static __attribute__((noinline)) int ask_nogil(
    FilterObject *self, const bf_key *key, single_call *call)
{
    core_call c;
    if (!core_begin(&c, self, NULL, gil_release)) return -1;
    return core_end(&c, call(c.bf, key->ptr, key->len, &c.err));
}

static inline __attribute__((always_inline)) int ask(
    FilterObject *self, const bf_key *key, single_call *call)
{
    bf_error err;
    bf_filter *bf = filter_peek(self);
    if (!bf) return -1;
    if (__builtin_expect(key->len >= self->nogil_min_len, 0)) {
        filter_peeked(self);
        return ask_nogil(self, key, call);
    }
    int rc = call(bf, key->ptr, key->len, &err);
    filter_peeked(self);
    if (rc < 0) raise_in(self, &err);
    return rc < 0 ? -1 : rc;
}

/* Converts the key before the filter is entered, because the conversion may run code that closes
 * the filter. */
static __attribute__((noinline)) int ask_any(FilterObject *self, PyObject *o, single_call *call)
{
    key_holder h;
    if (key_hold(o, &h) < 0) return -1;
    int rc = ask(self, &h.key, call);
    key_release(&h);
    return rc;
}

static inline int single(FilterObject *self, PyObject *o, single_call *call)
{
    bf_key key;
    return key_direct(o, &key) ? ask(self, &key, call) : ask_any(self, o, call);
}

int filter_ask(FilterObject *self, PyObject *key, single_call *call)
{
    return single(self, key, call);
}

static PyObject *filter_add(FilterObject *self, PyObject *key)
{
    int rc = single(self, key, bf_add);
    return rc < 0 ? NULL : PyBool_FromLong(rc == BF_ADDED);
}

static int filter_contains(PyObject *self, PyObject *key)
{
    return single((FilterObject *)self, key, bf_test);
}

static PyObject *filter_exist_key(FilterObject *self, PyObject *key)
{
    int rc = single(self, key, bf_test);
    return rc < 0 ? NULL : PyBool_FromLong(rc);
}

/* ---- positions of a key ---- */
static PyObject *positions_of(FilterObject *self, const bf_key *key, uint64_t *pos)
{
    core_call c;
    if (!core_begin(&c, self, NULL, key->len >= LARGE_KEY ? gil_release : gil_release_if_remote))
        return NULL;
    const int k = core_end(&c, (int)bf_hashcode(c.bf, key->ptr, key->len, pos, BF_K_MAX, &c.err));
    PyObject *list = k < 0 ? NULL : PyList_New(k);
    for (int i = 0; list && i < k; i++) {
        PyObject *number = PyLong_FromUnsignedLongLong(pos[i]);
        if (number)
            PyList_SET_ITEM(list, i, number);
        else
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *filter_hashcode(FilterObject *self, PyObject *o)
{
    key_holder h;
    if (key_hold(o, &h) < 0) return NULL;
    uint64_t *pos = PyMem_Malloc(BF_K_MAX * sizeof *pos);
    PyObject *list = pos ? positions_of(self, &h.key, pos) : PyErr_NoMemory();
    PyMem_Free(pos);
    key_release(&h);
    return list;
}

/* ---- tables of methods and slots ---- */
static PyMethodDef methods[] = {
    METHOD(add, filter_add, METH_O),
    METHOD(addKey, filter_add, METH_O),
    METHOD(existKey, filter_exist_key, METH_O),
    METHOD(hashcode, filter_hashcode, METH_O),
    METHOD(update, filter_update, METH_FASTCALL | METH_KEYWORDS),
    METHOD(add_many, filter_add_many, METH_FASTCALL | METH_KEYWORDS),
    METHOD(contains_many, filter_contains_many, METH_FASTCALL | METH_KEYWORDS),
    METHOD(add_mask, filter_add_mask, METH_FASTCALL | METH_KEYWORDS),
    METHOD(contains_mask, filter_contains_mask, METH_FASTCALL | METH_KEYWORDS),
    METHOD(add_hashes, filter_add_hashes, METH_FASTCALL | METH_KEYWORDS),
    METHOD(contains_hashes, filter_contains_hashes, METH_FASTCALL | METH_KEYWORDS),
    METHOD(add_hashes_mask, filter_add_hashes_mask, METH_FASTCALL | METH_KEYWORDS),
    METHOD(contains_hashes_mask, filter_contains_hashes_mask, METH_FASTCALL | METH_KEYWORDS),
    METHOD(update_lines, filter_update_lines, METH_VARARGS | METH_KEYWORDS),
    METHOD(contains_lines, filter_contains_lines, METH_VARARGS | METH_KEYWORDS),
    METHOD(union, filter_union, METH_O),
    METHOD(intersection, filter_intersection, METH_O),
    METHOD(issubset, filter_issubset, METH_O),
    METHOD(issuperset, filter_issuperset, METH_O),
    METHOD(union_count, filter_union_count, METH_O),
    METHOD(intersection_count, filter_intersection_count, METH_O),
    METHOD(info, filter_info, METH_NOARGS),
    METHOD(copy, filter_copy, METH_NOARGS),
    METHOD(__copy__, filter_copy, METH_NOARGS),
    METHOD(__deepcopy__, filter_deepcopy, METH_O),
    METHOD(clear, filter_clear_bits, METH_NOARGS),
    METHOD(to_bytes, filter_to_bytes, METH_VARARGS | METH_KEYWORDS),
    METHOD(from_bytes, filter_from_bytes, METH_VARARGS | METH_KEYWORDS | METH_CLASS),
    METHOD(to_redisbloom, filter_to_redisbloom, METH_VARARGS | METH_KEYWORDS),
    METHOD(from_redisbloom, filter_from_redisbloom, METH_VARARGS | METH_KEYWORDS | METH_CLASS),
    METHOD(to_base64, filter_to_base64, METH_NOARGS),
    METHOD(from_base64, filter_from_base64, METH_VARARGS | METH_KEYWORDS | METH_CLASS),
    METHOD(to_json, filter_to_json, METH_NOARGS),
    METHOD(from_json, filter_from_json, METH_VARARGS | METH_KEYWORDS | METH_CLASS),
    METHOD(save, filter_save, METH_O),
    METHOD(_save_new, filter_save_new, METH_O),
    METHOD(load, filter_load, METH_VARARGS | METH_KEYWORDS | METH_CLASS),
    METHOD(open, filter_open, METH_VARARGS | METH_KEYWORDS | METH_CLASS),
    METHOD(random_secret, filter_random_secret, METH_NOARGS | METH_CLASS),
    METHOD(plan, filter_plan, METH_VARARGS | METH_KEYWORDS | METH_CLASS),
    METHOD(expire, filter_expire, METH_O),
    METHOD(_expires_in, filter_expires_in, METH_NOARGS),
    METHOD(delete, filter_delete, METH_NOARGS),
    METHOD(part_info, filter_part_info, METH_NOARGS),
    METHOD(rebuild, filter_rebuild, METH_O),
    METHOD(sync, filter_sync, METH_NOARGS),
    METHOD(close, filter_close, METH_NOARGS),
    METHOD(__enter__, filter_with, METH_NOARGS),
    METHOD(__exit__, filter_exit, METH_FASTCALL),
    METHOD(__reduce__, filter_reduce, METH_NOARGS),
    METHOD(__sizeof__, filter_sizeof, METH_NOARGS),
    { NULL, NULL, 0, NULL },
};

static PyMemberDef members[] = { { "__weaklistoffset__", T_PYSSIZET,
                                     offsetof(FilterObject, weakrefs), READONLY, NULL },
    { NULL, 0, 0, 0, NULL } };

static int filter_traverse(PyObject *self, visitproc visit, void *arg)
{
    const redis_client *c = ((FilterObject *)self)->client;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((FilterObject *)self)->callback);
    if (c) {
        Py_VISIT(c->client);
        Py_VISIT(c->transport);
    }
    return 0;
}

static PyType_Slot slots[] = { { Py_tp_doc, PyDoc_STR(DOC_BloomFilter) }, { Py_tp_new, filter_new },
    { Py_tp_init, filter_init }, { Py_tp_dealloc, filter_dealloc },
    { Py_tp_traverse, filter_traverse }, { Py_tp_clear, filter_forget }, { Py_tp_methods, methods },
    { Py_tp_members, members }, { Py_tp_getset, filter_getset }, { Py_tp_repr, filter_repr },
    { Py_tp_richcompare, filter_compare }, { Py_tp_hash, PyObject_HashNotImplemented },
    { Py_sq_contains, filter_contains }, { Py_sq_length, filter_length },
    { Py_nb_bool, filter_bool }, { Py_nb_or, filter_or }, { Py_nb_and, filter_and },
    { Py_nb_inplace_or, filter_ior }, { Py_nb_inplace_and, filter_iand }, { 0, NULL } };

PyType_Spec filter_spec = {
    .name = "bloomfilter.BloomFilter",
    .basicsize = sizeof(FilterObject),
    .flags =
        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
