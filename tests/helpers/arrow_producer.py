"""A producer of the Arrow PyCapsule interface in ctypes, without any Arrow library: it makes sound
data and damaged data alike, and counts what was made and what was released."""

import ctypes
import errno
import struct

P = ctypes.c_void_p


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


ReleaseSchema, ReleaseArray, ReleaseStream = (
    ctypes.CFUNCTYPE(None, ctypes.POINTER(kind)) for kind in (Schema, Array, Stream)
)
GetSchema = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Schema))
GetNext = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Array))
LastError = ctypes.CFUNCTYPE(P, ctypes.POINTER(Stream))

Schema._fields_ = [
    ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p), ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64),
    ("children", P), ("dictionary", ctypes.POINTER(Schema)), ("release", ReleaseSchema), ("private_data", P),
]  # fmt: skip
Array._fields_ = [
    ("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64), ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(P)), ("children", P), ("dictionary", ctypes.POINTER(Array)), ("release", ReleaseArray), ("private_data", P),
]  # fmt: skip
Stream._fields_ = [
    ("get_schema", GetSchema),
    ("get_next", GetNext),
    ("get_last_error", LastError),
    ("release", ReleaseStream),
    ("private_data", P),
]

new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [P, ctypes.c_char_p, P]


class Column:
    """buffers: bytes or None each.  Keeps everything it gave out; `made` and `released` count the
    structs."""

    def __init__(
        self, format, length, buffers, *, nulls=0, offset=0, dictionary=None, n_buffers=None
    ):
        self.format, self.length, self.nulls, self.offset, self.dictionary = (
            format,
            length,
            nulls,
            offset,
            dictionary,
        )
        self.bytes = [
            None if data is None else ctypes.create_string_buffer(data, max(len(data), 1))
            for data in buffers
        ]
        self.pointers = (P * max(len(buffers), 1))(
            *(None if data is None else ctypes.addressof(data) for data in self.bytes)
        )
        self.n_buffers = len(buffers) if n_buffers is None else n_buffers
        self.made = self.released = 0
        self.on_release = lambda: None
        self.keep = []

    def count_release(self, pointer):
        self.released += 1
        pointer.contents.release = type(pointer.contents.release)(0)
        self.on_release()

    def schema(self):
        made = Schema(format=self.format, flags=2, release=ReleaseSchema(self.count_release))
        if self.dictionary:
            made.dictionary = ctypes.pointer(self.dictionary.schema())
        return self.kept(made)

    def array(self):
        made = Array(
            self.length,
            self.nulls,
            self.offset,
            self.n_buffers,
            0,
            self.pointers,
            release=ReleaseArray(self.count_release),
        )
        if self.dictionary:
            made.dictionary = ctypes.pointer(self.dictionary.array())
        return self.kept(made)

    def kept(self, made):
        self.made += 1
        self.keep.append(made)
        return made

    def __arrow_c_array__(self, requested_schema=None):
        return tuple(
            new_capsule(ctypes.addressof(made), name, None)
            for made, name in ((self.schema(), b"arrow_schema"), (self.array(), b"arrow_array"))
        )


class Streamed:
    """Chunks one after another; `fail` = (at which chunk, errno, message)."""

    def __init__(self, *columns, fail=None):
        self.columns, self.fail, self.made, self.released, self.at = columns, fail, 0, 0, 0

    def get_schema(self, stream, out):
        if self.fail and self.fail[0] < 0:
            return self.fail[1]
        self.move(self.columns[0].schema(), out)
        return 0

    def get_next(self, stream, out):
        if self.fail and self.fail[0] == self.at:
            return self.fail[1]
        if self.at < len(self.columns):
            self.move(self.columns[self.at].array(), out)
            self.at += 1
        else:
            out.contents.release = ReleaseArray(0)
        return 0

    @staticmethod
    def move(made, out):
        ctypes.memmove(out, ctypes.addressof(made), ctypes.sizeof(made))

    def count_release(self, stream):
        self.released += 1
        stream.contents.release = ReleaseStream(0)

    def __arrow_c_stream__(self, requested_schema=None):
        self.made += 1
        self.message = (
            ctypes.create_string_buffer(self.fail[2].encode())
            if self.fail and self.fail[2]
            else None
        )
        message = ctypes.addressof(self.message) if self.message else None
        self.stream = Stream(
            GetSchema(self.get_schema),
            GetNext(self.get_next),
            LastError(lambda stream: message),
            ReleaseStream(self.count_release),
        )
        return new_capsule(ctypes.addressof(self.stream), b"arrow_array_stream", None)


def text(keys, format=b"z", **options):
    """A column of bytes with 32-bit or, for U and Z, 64-bit offsets."""
    offsets, at = [0], 0
    for key in keys:
        at += len(key)
        offsets.append(at)
    return Column(
        format,
        len(keys),
        [
            None,
            struct.pack(f"={len(offsets)}{'q' if format in b'UZ' else 'i'}", *offsets),
            b"".join(keys),
        ],
        **options,
    )


def views(keys, format=b"vz", parts=None, edit=lambda view: view):
    """A column of views: long keys in a buffer each."""
    parts = [key for key in keys if len(key) > 12] if parts is None else parts
    items, part = b"", 0
    for key in keys:
        if len(key) <= 12:
            items += edit(struct.pack("=i12s", len(key), key))
        else:
            items += edit(struct.pack("=i4sii", len(key), key[:4], part, 0))
            part += 1
    return Column(
        format, len(keys), [None, items, *parts, struct.pack(f"={len(parts)}q", *map(len, parts))]
    )


def marked(column, keys, counted=True):
    """The column, with a bitmap of its nulls: the keys that are None."""
    bits = bytearray(len(keys) // 8 + 1)
    for i, key in enumerate(keys):
        bits[i // 8] |= (key is not None) << i % 8
    column.valid = ctypes.create_string_buffer(bytes(bits), len(bits))
    column.pointers[0] = ctypes.addressof(column.valid)
    column.nulls = keys.count(None) if counted else -1
    return column


ENOMEM, EINVAL, EIO = errno.ENOMEM, errno.EINVAL, errno.EIO
