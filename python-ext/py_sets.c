/* py_sets.c - copies, unions, intersections, equality.  Which filters fit together is the core's
 * decision; here is only what Python expects of operators and methods. */
#include "py_bloomfilter.h"

typedef int combine(bf_filter *into, bf_filter *from, bf_error *err);

typedef bf_filter *combine_new(bf_filter *a, bf_filter *b, bf_error *err);

/* A new object of the same type and in memory: a copy, or what call makes of self and other.  The
 * clock that both go by is held before anyone may replace it. */
static PyObject *wrap_new(FilterObject *self, FilterObject *other, combine_new *call)
{
    core_call c;
    if (!core_begin(&c, self, other, gil_release_if_big)) return NULL;
    bf_filter *twin = call ? call(c.bf, c.other, &c.err) : bf_copy(c.bf, &c.err);
    core_back(&c);
    PyObject *clock = Py_XNewRef(self->clock);
    const int rc = core_end(&c, twin ? 0 : -1);
    PyObject *made = rc < 0 ? NULL : filter_wrap(Py_TYPE(self), twin, NULL, clock);
    Py_XDECREF(clock);
    return made;
}

/* ---- copies ---- */
static int put_attributes(PyObject *to, PyObject *dict, PyObject *slots)
{
    PyObject *target = dict == Py_None ? NULL : PyObject_GetAttrString(to, "__dict__");
    PyObject *name, *value;
    int rc = dict == Py_None ? 0 : target ? PyDict_Update(target, dict) : -1;
    for (Py_ssize_t i = 0; rc == 0 && slots && PyDict_Next(slots, &i, &name, &value);)
        rc = PyObject_SetAttr(to, name, value);
    Py_XDECREF(target);
    return rc;
}

/* Attributes that a subclass keeps on its objects go along. */
static int copy_attributes(PyObject *from, PyObject *to, PyObject *memo)
{
    PyObject *kept = filter_attributes(from);
    if (kept && memo && kept != Py_None) {
        PyObject *module = PyImport_ImportModule("copy");
        PyObject *deep = module ? PyObject_CallMethod(module, "deepcopy", "OO", kept, memo) : NULL;
        Py_XDECREF(module);
        Py_SETREF(kept, deep);
    }
    if (!kept) return -1;
    const bool both = PyTuple_Check(kept);
    const int rc = put_attributes(
        to, both ? PyTuple_GET_ITEM(kept, 0) : kept, both ? PyTuple_GET_ITEM(kept, 1) : NULL);
    Py_DECREF(kept);
    return rc;
}

/* What refers to the filter meanwhile is to refer to its copy. */
static int memorize(PyObject *self, PyObject *twin, PyObject *memo)
{
    if (!memo || memo == Py_None) return 0;
    PyObject *id = PyLong_FromVoidPtr(self);
    int rc = id ? PyDict_SetItem(memo, id, twin) : -1;
    Py_XDECREF(id);
    return rc;
}

static PyObject *copy_object(FilterObject *self, PyObject *memo)
{
    PyObject *twin = wrap_new(self, NULL, NULL);
    if (twin && !self->warn) {
        ((FilterObject *)twin)->warn = false;
        filter_plan_check((FilterObject *)twin, false);
    }
    if (twin && memorize((PyObject *)self, twin, memo) < 0) Py_CLEAR(twin);
    if (twin && copy_attributes((PyObject *)self, twin, memo) < 0) Py_CLEAR(twin);
    return twin;
}

PyObject *filter_copy(FilterObject *self, PyObject *Py_UNUSED(unused))
{
    return copy_object(self, NULL);
}
PyObject *filter_deepcopy(FilterObject *self, PyObject *memo)
{
    if (memo != Py_None && !PyDict_Check(memo)) {
        PyErr_Format(PyExc_TypeError,
            "memo must be the dict that copy.deepcopy() gives, got %.200s", Py_TYPE(memo)->tp_name);
        return NULL;
    }
    return copy_object(self, memo);
}

/* ---- unions and intersections ---- */
static int combine_into(FilterObject *into, FilterObject *from, combine *call)
{
    core_call c;
    if (!core_begin(&c, into, from, gil_release_if_big)) return -1;
    const int rc = core_end(&c, call(c.bf, c.other, &c.err));
    if (rc >= 0 && call == bf_unite) filter_plan_check(into, false);
    return rc;
}

static PyObject *refuse_other(PyObject *other)
{
    return PyErr_Format(
        PyExc_TypeError, "the other must be a BloomFilter, not %.200s", Py_TYPE(other)->tp_name);
}

static PyObject *method(FilterObject *self, PyObject *other, combine_new *call)
{
    return is_filter(other) ? wrap_new(self, (FilterObject *)other, call) : refuse_other(other);
}

static PyObject *binary(PyObject *a, PyObject *b, combine_new *call)
{
    if (!is_filter(a) || !is_filter(b)) Py_RETURN_NOTIMPLEMENTED;
    return wrap_new((FilterObject *)a, (FilterObject *)b, call);
}

static PyObject *in_place(PyObject *a, PyObject *b, combine *call)
{
    if (!is_filter(b)) Py_RETURN_NOTIMPLEMENTED;
    return combine_into((FilterObject *)a, (FilterObject *)b, call) < 0 ? NULL : Py_NewRef(a);
}

PyObject *filter_union(FilterObject *self, PyObject *other)
{
    return method(self, other, bf_union);
}
PyObject *filter_intersection(FilterObject *self, PyObject *other)
{
    return method(self, other, bf_intersection);
}
PyObject *filter_or(PyObject *a, PyObject *b) { return binary(a, b, bf_union); }
PyObject *filter_and(PyObject *a, PyObject *b) { return binary(a, b, bf_intersection); }
PyObject *filter_ior(PyObject *a, PyObject *b) { return in_place(a, b, bf_unite); }
PyObject *filter_iand(PyObject *a, PyObject *b) { return in_place(a, b, bf_intersect); }

/* ---- comparisons ---- */
static int is_within(PyObject *a, PyObject *b)
{
    return combine_into((FilterObject *)a, (FilterObject *)b, bf_subset);
}
static int is_equal(PyObject *a, PyObject *b)
{
    return combine_into((FilterObject *)a, (FilterObject *)b, bf_equal);
}

/* a within b, and, where they must not be equal, b not within a. */
static int is_less(PyObject *a, PyObject *b, bool strictly)
{
    int rc = is_within(a, b);
    if (rc <= 0 || !strictly) return rc;
    return (rc = is_within(b, a)) < 0 ? rc : !rc;
}

PyObject *filter_compare(PyObject *a, PyObject *b, int op)
{
    if (!is_filter(b)) Py_RETURN_NOTIMPLEMENTED;
    int rc = op == Py_EQ || op == Py_NE   ? is_equal(a, b)
             : op == Py_LE || op == Py_LT ? is_less(a, b, op == Py_LT)
                                          : is_less(b, a, op == Py_GT);
    return rc < 0 ? NULL : PyBool_FromLong(op == Py_NE ? !rc : rc);
}

static PyObject *compare_method(FilterObject *self, PyObject *other, int op)
{
    return is_filter(other) ? filter_compare((PyObject *)self, other, op) : refuse_other(other);
}
PyObject *filter_issubset(FilterObject *self, PyObject *other)
{
    return compare_method(self, other, Py_LE);
}
PyObject *filter_issuperset(FilterObject *self, PyObject *other)
{
    return compare_method(self, other, Py_GE);
}

/* ---- estimates ---- */
static PyObject *whole_number(double count)
{
    return PyLong_FromLongLong(count < 9e18 ? (long long)(count + 0.5) : INT64_MAX);
}

typedef int counter(bf_filter *, bf_filter *, double *, bf_error *);
static PyObject *estimate(FilterObject *self, PyObject *other, counter *call)
{
    core_call c;
    double count;
    if (!is_filter(other)) return refuse_other(other);
    if (!core_begin(&c, self, (FilterObject *)other, gil_release_if_big)) return NULL;
    const int rc = core_end(&c, call(c.bf, c.other, &count, &c.err));
    return rc < 0 ? NULL : whole_number(count);
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
    return filter_count_new(self, 1) < 0 ? NULL
                                         : PyLong_FromSsize_t(after > before ? after - before : 0);
}
