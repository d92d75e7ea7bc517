"""seen.py - a filter through ctypes, without the package.  python3 seen.py [STORAGE]"""

import sys
from ctypes import CDLL, POINTER, Structure, byref, create_string_buffer
from ctypes import c_bool, c_char, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint, c_uint64
from ctypes import c_void_p

BF_ADDED = 1


class BfKey(Structure):
    _fields_ = [("ptr", c_char_p), ("len", c_size_t)]


class BfError(Structure):
    _fields_ = [
        ("code", c_int),
        ("sys_errno", c_int),
        ("msg", c_char * 160),
        ("key", c_size_t),
        ("lost", c_bool),
        ("reserved", c_char * 64),
    ]


def declare(name, result, *arguments):
    function = getattr(lib, name)
    function.restype, function.argtypes = result, arguments
    return function


lib = CDLL("libbloomfilter.so.1")
err_p = POINTER(BfError)
one_key = (c_void_p, c_char_p, c_size_t, err_p)
sizes = (c_uint64, c_uint64, c_uint, c_double)
bf_create = declare("bf_create", c_void_p, *sizes, c_char_p, c_char_p, err_p)
bf_add = declare("bf_add", c_int, *one_key)
bf_test = declare("bf_test", c_int, *one_key)
bf_add_many = declare("bf_add_many", c_int64, c_void_p, POINTER(BfKey), c_size_t, c_char_p, err_p)
bf_close = declare("bf_close", None, c_void_p)


def call(function, *arguments):
    """Negative answers and NULL are errors; the sentence is in err."""
    err = BfError()
    answer = function(*arguments, byref(err))
    if answer is None or answer < 0:
        raise RuntimeError(f"error {err.code}: {err.msg.decode()}")
    return answer


def open_filter(n, p, storage):
    return call(bf_create, 0, n, 0, p, None, storage.encode() if storage else None)


def add_many(bf, keys):
    """Adds a list of keys in one call. Returns a byte 1 for each new key, else a byte 0."""
    each = create_string_buffer(len(keys))
    call(bf_add_many, bf, (BfKey * len(keys))(*((key, len(key)) for key in keys)), len(keys), each)
    return each.raw


storage = sys.argv[1] if len(sys.argv) > 1 else None
seen = open_filter(100_000, 0.001, storage)
for url in [b"https://example.org/", b"https://example.org/"]:
    print("new" if call(bf_add, seen, url, len(url)) == BF_ADDED else "present")
other = b"https://example.org/other"
print("present" if call(bf_test, seen, other, len(other)) else "absent")
print(*add_many(seen, [b"a", b"b", b"a"]), sep="")
bf_close(seen)
try:
    bf_close(open_filter(100, 2.0, storage))
except RuntimeError as error:
    print(error)
