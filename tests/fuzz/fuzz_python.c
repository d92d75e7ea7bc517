/* fuzz_python.c - the Python extension in an interpreter of its own: fuzz_python_calls.py makes
 * values of the input and calls methods with them.  An exception that leaves it is a finding, as is
 * what the sanitizers see. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include "fuzz_host.h"

PyMODINIT_FUNC PyInit__bloomfilter(void);
static PyObject *fuzz;

static PyObject *must(PyObject *o)
{
    if (!o) PyErr_Print();
    MUST(o);
    return o;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    setenv("PYTHONMALLOC", "malloc", 1); /* the sanitizer sees every object */
    setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
    MUST(PyImport_AppendInittab("_bloomfilter", PyInit__bloomfilter) == 0);
    Py_InitializeEx(0);
    begin_host("python");
    /* The package around it, from the sources: it imports this module as its own. */
    MUST(PyRun_SimpleString("import sys, _bloomfilter\n"
                            "sys.path += ['" TARGETS "', '" TARGETS "/../../python-ext']\n"
                            "sys.modules['bloomfilter._bloomfilter'] = _bloomfilter\n") == 0);
    PyObject *calls = must(PyImport_ImportModule("fuzz_python_calls")),
             *schemes = must(PyObject_GetAttrString(calls, "SCHEMES"));
    for (size_t i = 0; bf_scheme_name(i); i++)
        PyList_Append(schemes, must(PyUnicode_FromString(bf_scheme_name(i))));
    PyObject_SetAttrString(calls, "FOLDER", must(PyUnicode_FromString(folder)));
    fuzz = must(PyObject_GetAttrString(calls, "fuzz"));
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static unsigned runs;
    begin_input();
    Py_DECREF(must(PyObject_CallFunction(fuzz, "y#", data, (Py_ssize_t)len)));
    end_input();
    if (++runs % 1000 == 0) PyGC_Collect();
    return 0;
}
