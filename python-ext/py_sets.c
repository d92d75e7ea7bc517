/* py_sets.c - copies, unions, intersections and comparisons, as operators and methods. */
#include "py_bloomfilter.h"

typedef int combine(bf_filter *into, bf_filter *from, bf_error *err);

typedef bf_filter *combine_new(bf_filter *a, bf_filter *b, bf_error *err);

/* Returns a new object of the type of self: a copy of self in memory (call NULL), or the result of
 * `call` for self and other. Takes the reference to self->callback before the filter is left,
 * because another thread may replace the callback afterwards. */
static PyObject *wrap_new(FilterObject *self, FilterObject *other, combine_new *call)
{
    core_call c;
    if (!core_begin(&c, self, other, gil_release_if_big)) return NULL;
    bf_filter *twin = call ? call(c.bf, c.other, &c.err) : bf_copy(c.bf, &c.err);
    core_back(&c);
    PyObject *made = NULL;
    if (twin) made = filter_wrap(Py_TYPE(self), twin, Py_XNewRef(self->callback));
    core_end(&c, twin ? 0 : -1);
    return made;
}

/* Copies the attributes of self, if it is an object of a subclass, to twin. memo: the argument of
 * copy.deepcopy(), or None. Takes the reference to twin, which may be NULL; returns twin or NULL.
 */
static PyObject *with_attributes(FilterObject *self, PyObject *twin, PyObject *memo)
{
    const module_state *state = state_of(Py_TYPE(self));
    if (!twin || Py_IS_TYPE(self, state->filter_type) || Py_IS_TYPE(self, state->counting_type))
        return twin;
    PyObject *done = call_helper("_pickle", "copy_attributes", "OOO", self, twin, memo);
    if (!done) Py_CLEAR(twin);
    Py_XDECREF(done);
    return twin;
}

/* ---- copies ---- */
PyObject *filter_copy(FilterObject *self, PyObject *Py_UNUSED(unused))
{
    return with_attributes(self, wrap_new(self, NULL, NULL), Py_None);
}
PyObject *filter_deepcopy(FilterObject *self, PyObject *memo)
{
    if (memo == Py_None || PyDict_Check(memo))
        return with_attributes(self, wrap_new(self, NULL, NULL), memo);
    return PyErr_Format(PyExc_TypeError,
        "memo must be the dict that copy.deepcopy() gives, got %.200s", Py_TYPE(memo)->tp_name);
}

/* ---- unions and intersections ---- */
static int combine_into(FilterObject *into, FilterObject *from, combine *call)
{
    core_call c;
    if (call == bf_unite && filter_begin_adds(into) < 0) return -1;
    if (!core_begin(&c, into, from, gil_release_if_big)) return -1;
    return core_end(&c, call(c.bf, c.other, &c.err));
}

static PyObject *refuse_other(PyObject *other)
{
    return PyErr_Format(
        PyExc_TypeError, "the other must be a BloomFilter, not %.200s", Py_TYPE(other)->tp_name);
}

static PyObject *combined(FilterObject *self, PyObject *other, combine_new *call)
{
    return with_attributes(self, wrap_new(self, (FilterObject *)other, call), Py_None);
}

/* Defines a method, an operator and its in-place form. */
#define OPERATION(name, operator, of_both, into)                                                   \
    PyObject *filter_##name(FilterObject *self, PyObject *other)                                   \
    {                                                                                              \
        if (!is_filter(other)) return refuse_other(other);                                         \
        return combined(self, other, of_both);                                                     \
    }                                                                                              \
    PyObject *filter_##operator(PyObject * a, PyObject * b)                                        \
    {                                                                                              \
        if (!is_filter(a) || !is_filter(b)) Py_RETURN_NOTIMPLEMENTED;                              \
        return combined((FilterObject *)a, b, of_both);                                            \
    }                                                                                              \
    PyObject *filter_i##operator(PyObject * a, PyObject * b)                                       \
    {                                                                                              \
        if (!is_filter(b)) Py_RETURN_NOTIMPLEMENTED;                                               \
        const int rc = combine_into((FilterObject *)a, (FilterObject *)b, into);                   \
        return rc < 0 ? NULL : Py_NewRef(a);                                                       \
    }
OPERATION(union, or, bf_union, bf_unite)
OPERATION(intersection, and, bf_intersection, bf_intersect)

/* ---- comparisons ---- */
/* Returns 1 if a is a subset of b (strictly: a proper subset), 0 if not, -1 with an exception. */
static int is_within(PyObject *a, PyObject *b, bool strictly)
{
    int rc = combine_into((FilterObject *)a, (FilterObject *)b, bf_subset);
    if (rc <= 0 || !strictly) return rc;
    rc = combine_into((FilterObject *)b, (FilterObject *)a, bf_subset);
    return rc < 0 ? rc : !rc;
}

PyObject *filter_compare(PyObject *a, PyObject *b, int op)
{
    if (!is_filter(b)) Py_RETURN_NOTIMPLEMENTED;
    int rc = op == Py_LE || op == Py_LT ? is_within(a, b, op == Py_LT)
             : op == Py_GE || op == Py_GT
                 ? is_within(b, a, op == Py_GT)
                 : combine_into((FilterObject *)a, (FilterObject *)b, bf_equal);
    return rc < 0 ? NULL : PyBool_FromLong(op == Py_NE ? !rc : rc);
}

PyObject *filter_issubset(FilterObject *self, PyObject *other)
{
    return is_filter(other) ? filter_compare((PyObject *)self, other, Py_LE) : refuse_other(other);
}
PyObject *filter_issuperset(FilterObject *self, PyObject *other)
{
    return is_filter(other) ? filter_compare((PyObject *)self, other, Py_GE) : refuse_other(other);
}

/* ---- estimates ---- */
typedef int counter(bf_filter *, bf_filter *, double *, bf_error *);
static PyObject *estimate(FilterObject *self, PyObject *other, counter *call)
{
    core_call c;
    double count;
    if (!is_filter(other)) return refuse_other(other);
    if (!core_begin(&c, self, (FilterObject *)other, gil_release_if_big)) return NULL;
    const int rc = core_end(&c, call(c.bf, c.other, &count, &c.err));
    if (rc < 0) return NULL;
    return PyLong_FromLongLong(count < 9e18 ? (long long)(count + 0.5) : INT64_MAX);
}

PyObject *filter_union_count(FilterObject *self, PyObject *other)
{
    return estimate(self, other, bf_union_count);
}
PyObject *filter_intersection_count(FilterObject *self, PyObject *other)
{
    return estimate(self, other, bf_intersection_count);
}

PyObject *filter_update_from(FilterObject *self, PyObject *other)
{
    Py_ssize_t before = filter_length((PyObject *)self), after = -1;
    if (before < 0 || combine_into(self, (FilterObject *)other, bf_unite) < 0 ||
        (after = filter_length((PyObject *)self)) < 0)
        return NULL;
    return PyLong_FromSsize_t(after > before ? after - before : 0);
}
