/* py_filter.c - the type BloomFilter: calls on one key, and the tables of methods and slots.
 * Knows which function answers to which name; everything else is in the file that the header names.
 */
#include "py_bloomfilter.h"

#include <stddef.h>
#include <structmember.h>

/* ---- one key ---- */

/* The caller holds the key's object meanwhile. */
static __attribute__((noinline)) int ask_nogil(
    FilterObject *self, const bf_key *key, single_call *call)
{
    core_call c;
    if (!core_begin(&c, self, NULL, gil_release)) return -1;
    return core_end(&c, call(c.bf, key->ptr, key->len, &c.err));
}

static inline int ask(FilterObject *self, const bf_key *key, single_call *call)
{
    bf_error err;
    if (__builtin_expect(key->len >= self->nogil_min_len, 0)) return ask_nogil(self, key, call);
    bf_filter *bf = filter_peek(self);
    if (!bf) return -1;
    int rc = call(bf, key->ptr, key->len, &err);
    filter_peeked(self);
    if (rc < 0) raise_in(self, &err);
    return rc < 0 ? -1 : rc;
}

/* The key is converted before the filter is entered, because conversion may run code that closes
 * it. */
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
    if (rc == BF_ADDED && filter_count_new(self, 1) < 0) return NULL;
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
    release_gil *release = self->remote || key->len >= LARGE_KEY ? gil_release : NULL;
    if (!core_begin(&c, self, NULL, release)) return NULL;
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

/* ---- the tables ---- */
#define NEW_MEANS                                                                                  \
    "True means the key is SURELY NEW: it was never added before.  False means it was\n"           \
    "probably there already.  (Some other packages answer the other way round.)"

static PyMethodDef methods[] = { METHOD("add", filter_add, METH_O, "$self, key, /",
                                     "Add a key (str, bytes-like or int).\n\n" NEW_MEANS),
    METHOD(
        "addKey", filter_add, METH_O, "$self, key, /", "The classic name of add().\n\n" NEW_MEANS),
    METHOD("existKey", filter_exist_key, METH_O, "$self, key, /",
        "The classic name of `key in bf`: False means surely never added, True probably added."),
    METHOD("hashcode", filter_hashcode, METH_O, "$self, key, /",
        "The k positions of a key in the scheme's order; repeats are possible."),
    METHOD("update", filter_update, METH_FASTCALL | METH_KEYWORDS,
        "$self, keys, /, *, nulls='raise'",
        "Add all keys of an iterable or array; return how many were SURELY NEW.\n\n"
        "A filter of equal parameters in their place: self |= keys; returns how many keys came "
        "new, estimated.\n"
        "Arrow columns (pyarrow, polars, pandas ...), numpy 'S' and 'U' arrays (NUL bytes at the\n"
        "end are padding) and 1-d integer arrays are read without making objects and without the\n"
        "GIL.  Other threads run, and Ctrl-C is looked for, every few ms.\n"
        "A bad key raises and is named by its index; the keys before it are added.  A column with "
        "a null is\nrefused before any key is added; nulls='skip' leaves nulls out."),
    METHOD("add_many", filter_add_many, METH_FASTCALL | METH_KEYWORDS,
        "$self, keys, /, *, nulls='raise'",
        "Add all keys; return one byte per key: 1 = SURELY NEW, 0 = probably there already, or a "
        "null.\n\n"
        "The answer fits itertools.compress(keys, answer) and numpy.frombuffer(answer, bool)."),
    METHOD("contains_many", filter_contains_many, METH_FASTCALL | METH_KEYWORDS,
        "$self, keys, /, *, nulls='raise'",
        "Test all keys; return one byte per key: 1 = probably added, 0 = surely never added, or a "
        "null."),
    METHOD("update_lines", filter_update_lines, METH_VARARGS | METH_KEYWORDS,
        "$self, data, /, sep=b'\\n', *, last=False, keep=None",
        "Add the keys of a buffer, each ended by the byte sep, without an object per key.\n\n"
        "Returns (keys, new, consumed, kept): keys added, how many of them were SURELY NEW, bytes "
        "of data\n"
        "read.  What follows the last sep is not read: pass it again before more data; last=True: "
        "it is a key as\n"
        "well, if not empty.  kept: b'', or the lines that were new (keep=True) or seen "
        "(keep=False), each\n"
        "with its sep."),
    METHOD("contains_lines", filter_contains_lines, METH_VARARGS | METH_KEYWORDS,
        "$self, data, /, sep=b'\\n', *, last=False, keep=None",
        "Test the keys of a buffer: (keys, present, consumed, kept), as update_lines() but for "
        "adding.\n\n"
        "kept: the lines that are present (keep=True) or absent (keep=False)."),
    METHOD("union", filter_union, METH_O, "$self, other, /",
        "A new filter with the keys of both: self | other."),
    METHOD("intersection", filter_intersection, METH_O, "$self, other, /",
        "A new filter with the bits of both: self & other.  It may hold more than the common "
        "keys."),
    METHOD("issubset", filter_issubset, METH_O, "$self, other, /",
        "Whether all bits are set in the other, too: self <= other.  True if all keys are in the "
        "other."),
    METHOD("issuperset", filter_issuperset, METH_O, "$self, other, /",
        "self >= other; see issubset()."),
    METHOD("union_count", filter_union_count, METH_O, "$self, other, /",
        "Estimated number of keys in self | other, without making it."),
    METHOD("intersection_count", filter_intersection_count, METH_O, "$self, other, /",
        "Estimated number of keys that both have: the counts of both less union_count()."),
    METHOD("info", filter_info, METH_NOARGS, "$self, /",
        "What the filter is and what is in it, as a dict.  One pass over the bits."),
    METHOD("copy", filter_copy, METH_NOARGS, "$self, /",
        "An independent copy in memory, whatever the home of this filter."),
    METHOD("__copy__", filter_copy, METH_NOARGS, "$self, /", "The same as copy()."),
    METHOD("__deepcopy__", filter_deepcopy, METH_O, "$self, memo, /",
        "The same as copy(), with deep copies of a subclass's attributes."),
    METHOD("clear", filter_clear_bits, METH_NOARGS, "$self, /", "Forget all keys."),
    METHOD("to_bytes", filter_to_bytes, METH_VARARGS | METH_KEYWORDS, "$self, *, format=None",
        "The filter as bytes, the same in every language; see from_bytes().  format: as another "
        "system\n"
        "writes them, \"guava\", \"bits\" or \"bits-lsb\" (docs/migrate.md)."),
    METHOD("from_bytes", filter_from_bytes, METH_VARARGS | METH_KEYWORDS | METH_CLASS,
        "$type, data, *" BF_NUMBERS(SIGNED) BF_SCHEME(SIGNED)
            BF_SECRET(SIGNED) ", format=None" BF_CLOCK(SIGNED),
        "A filter in memory from what to_bytes() gave.  Parameters given must be those of the "
        "data;\nthe secret is needed for a keyed filter.  format: as another system\n"
        "wrote them, \"guava\", \"bits\", \"bits-lsb\" or \"cells\"; bare bits need scheme, m and "
        "k."),
    METHOD("save", filter_save, METH_O, "$self, path, /",
        "Write the filter to a file, by rename: no partial file stays behind."),
    METHOD("load", filter_load, METH_VARARGS | METH_KEYWORDS | METH_CLASS,
        "$type, path, *" BF_NUMBERS(SIGNED) BF_SCHEME(SIGNED) BF_SECRET(SIGNED) BF_CLOCK(SIGNED),
        "Read a saved file into memory.  open() stays bound to the file instead."),
    METHOD("open", filter_open, METH_VARARGS | METH_KEYWORDS | METH_CLASS,
        "$type, storage, *" BF_NUMBERS(SIGNED) BF_SCHEME(SIGNED) BF_KEY(SIGNED) BF_SECRET(SIGNED)
            BF_MORE(SIGNED) BF_CLOCK(SIGNED) ", read_only=False, warn=True",
        "Open the filter that is in a storage and stay bound to it.  Parameters given must be its "
        "own."),
    METHOD("random_secret", filter_random_secret, METH_NOARGS | METH_CLASS, "$type, /",
        "16 random bytes from the kernel, for secret=. Keep them: a keyed filter opens with its "
        "own secret only."),
    METHOD("plan", filter_plan, METH_VARARGS | METH_KEYWORDS | METH_CLASS,
        "$type, " CONSTRUCTOR_SIGNATURE,
        "What the constructor would make of these arguments, without making it: a dict of m, n, k, "
        "p, scheme."),
    METHOD("expire", filter_expire, METH_O, "$self, seconds, /",
        "Filters in Redis: gone for everybody after so many seconds; None = never."),
    METHOD("delete", filter_delete, METH_NOARGS, "$self, /",
        "Filters in Redis: delete it there, for everybody."),
    METHOD("part_info", filter_part_info, METH_NOARGS, "$self, /",
        "The parts of a filter that grows or forgets, a dict each: first_bit, m, n, p, and keys "
        "(grow)\n"
        "or since and until (window; seconds of its clock, None where the part is unused)."),
    METHOD("rebuild", filter_rebuild, METH_O, "$self, keys, /",
        "Make it hold these keys and no others, for everybody who uses it; how many were surely "
        "different.\n\n"
        "Until all keys are read it is used as ever, and no key that is in the old and in the new "
        "ones is ever absent.\n"
        "Memory and files: keys that anybody adds meanwhile are kept; it needs room for the bits "
        "once more; an exception\n"
        "changes nothing, and whoever dies leaves the old keys or the new ones. Redis: keys that "
        "others add meanwhile are\n"
        "kept only if they are among these; with shards, one shard after the other; the time to "
        "live stays.\n"
        "Not for filters that grow or forget."),
    METHOD("sync", filter_sync, METH_NOARGS, "$self, /",
        "Return once everything added before is on disk.  Nothing to do in memory."),
    METHOD("close", filter_close, METH_NOARGS, "$self, /",
        "Give the filter's memory or file back.  Twice is fine; any later use is a ValueError."),
    METHOD("__enter__", filter_with, METH_NOARGS, "$self, /", "The filter itself."),
    METHOD("__exit__", filter_exit, METH_FASTCALL, "$self, /, *args", "Close the filter."),
    METHOD("__reduce__", filter_reduce, METH_NOARGS, "$self, /",
        "For pickle: the bytes of a filter in memory, the path of a stored one."),
    METHOD("__sizeof__", filter_sizeof, METH_NOARGS, "$self, /",
        "Bytes of process memory, the bits included."),
    { NULL, NULL, 0, NULL } };

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

PyDoc_STRVAR(filter_doc,
    "BloomFilter(" CONSTRUCTOR_SIGNATURE ")\n--\n\n"
    "A set that answers `key in bf` with \"surely not\" or \"probably\", in a few bits per key.\n\n"
    "    BloomFilter(n=1_000_000, p=0.01)     sized for n keys at false-positive rate p\n"
    "    BloomFilter(m, n)                    the classic one: m bits for n keys\n\n"
    "m = bits, n = keys it is sized for, k = positions per key, p = false-positive rate at n "
    "keys;\n"
    "any sufficient set of them.  grow=2.0: it grows past n and keeps p.  window=seconds: it "
    "forgets\n"
    "keys that long after they were added last, n being the keys of one window.  Keys are str (as "
    "UTF-8), bytes-like or int (as decimal text):\n"
    "42, \"42\" and b\"42\" are one key.\n\n"
    "bf.add(key) is True when the key is SURELY NEW, False when it was probably there already.");

static PyType_Slot slots[] = { { Py_tp_doc, (void *)filter_doc }, { Py_tp_new, filter_new },
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
