"""Code of the user's that runs in the middle of a call: what it may do to the filters of that call,
and objects that call act() whenever the extension asks them something.  Holds no test."""

import copy
import gc
import io
import itertools
import pickle
import sys

import numpy as np

ACTIONS = {
    "close": lambda bf, other: bf.close(),
    "close the other": lambda bf, other: other.close(),
    "init": lambda bf, other: bf.__init__(1000, 10),
    "init the other": lambda bf, other: other.__init__(1000, 10),
    "exit": lambda bf, other: bf.__exit__(None, None, None),
    "add": lambda bf, other: bf.add("inner"),
    "in": lambda bf, other: "inner" in bf,
    "update": lambda bf, other: bf.update(["inner", "é", 10**30]),
    "contains_many": lambda bf, other: bf.contains_many(iter(["inner"])),
    "lines": lambda bf, other: bf.update_lines(b"a\nb\n"),
    "unite": lambda bf, other: bf.__ior__(other),
    "unite the other": lambda bf, other: other.__ior__(bf),
    "union": lambda bf, other: (bf | other, other | bf),
    "equal": lambda bf, other: (bf == other, other == bf),
    "update from": lambda bf, other: bf.update(other),
    "copy": lambda bf, other: (bf.copy(), copy.copy(bf), copy.deepcopy(other)),
    "pickle": lambda bf, other: pickle.dumps(bf),
    "bytes": lambda bf, other: bf.to_bytes(),
    "state": lambda bf, other: (
        len(bf),
        bool(bf),
        repr(bf),
        bf.info(),
        bf.part_info(),
        bf.bitset,
        bf.saturated,
    ),
    "sync": lambda bf, other: bf.sync(),
    "clear": lambda bf, other: bf.clear(),
    "close and init": lambda bf, other: (bf.close(), bf.__init__(1000, 10)),
    "batch that closes": lambda bf, other: bf.update(iterate(bf.close)),
    "batch that unites": lambda bf, other: other.update(iterate(lambda: bf.__ior__(other))),
    "collect": lambda bf, other: gc.collect(1),  # of what the call has made; all takes too long
}


class Key:
    def __init__(self, act, answer=77):
        self.act, self.answer = act, answer

    def __index__(self):
        self.act()
        return self.answer


class Dying(str):
    def __del__(self):
        self.act()


def dying(act):
    key = Dying("dying")
    key.act = act
    return key


class Exporter:
    def __init__(self, act, view):
        self.act, self.view = act, view

    def __buffer__(self, flags):
        self.act()
        return self.view

    def __release_buffer__(self, view):
        self.act()


def iterate(act):
    yield "first"
    act()
    yield "last"


class Iterable:
    def __init__(self, act):
        self.act = act

    def __iter__(self):
        self.act()
        return iter(["first", "last"])

    def __length_hint__(self):
        self.act()
        return 2


class Sequence:
    """Counts its items wrongly."""

    def __init__(self, act, length):
        self.act, self.length = act, length

    def __len__(self):
        self.act()
        return self.length

    def __getitem__(self, i):
        self.act()
        return ["first", "item", "last"][i]


class Column(Iterable):
    """Says of itself and answers what it is told to; without an answer the attribute is missing.  at:
    the only attribute whose code acts."""

    def __init__(self, act, at=None, **answers):
        super().__init__(act)
        self.at, self.answers = at, answers

    def told(name):
        def get(self):
            if self.at in (None, name):
                self.act()
            if name not in self.answers:
                raise AttributeError(name)
            return self.answers[name]

        return property(get)

    columns, dtype, ndim, mask = map(told, ("columns", "dtype", "ndim", "mask"))
    __array__, __arrow_c_array__, __arrow_c_stream__ = map(
        told, ("__array__", "__arrow_c_array__", "__arrow_c_stream__")
    )


def column(act, **answers):
    """One whose methods act, too."""

    def method(answer):
        return lambda *more, **named: act() or answer

    called = {n: method(a) if n.startswith("__") else a for n, a in answers.items()}
    return Column(act, **called)


class File(io.BytesIO):
    """Answers other numbers and bytes than those that were written and read, if it is told to."""

    def __init__(self, act, data=b"", **answers):
        super().__init__(data)
        self.act, self.answers = act, answers

    def write(self, data):
        self.act()
        written = super().write(data)
        return self.answers.get("written", written)

    def read(self, size=-1):
        self.act()
        data = super().read(size)
        return self.answers.get("data", data)


class Text(dict):
    """JSON that was parsed."""

    def __init__(self, act, text):
        self.act, self.text = act, text

    def get(self, name, other=None):
        self.act()
        return self.text


# Whose code runs while keys are read, which are "first" and "last" and others.
KEYS = {
    "generator": iterate,
    "iterable": Iterable,
    "column": Column,
    "arrow": lambda act: Column(act, at="__arrow_c_array__"),
    "key in a list": lambda act: ["first", Key(act), "last"],
    "key in a generator": lambda act: iter(["first", Key(act, 10**30), "last"]),
    "key that dies": lambda act: itertools.chain(
        ["first"], (dying(act) for _ in range(1)), ["last"]
    ),
    "many keys that die": lambda act: itertools.chain(
        (dying(act) for _ in range(2000)), ["first", "last"]
    ),
}
OBJECTS = np.array(["first", None, 5, "last"], object)
# Those that answer what no key and no column may be.
NONSENSE = {
    "index": lambda act: ["first", Key(act, "x")],
    "too short": lambda act: Sequence(act, 1),
    "too long": lambda act: Sequence(act, 10**9),
    "dtype": lambda act: column(act, dtype=np.dtype("O"), ndim="x", __array__=OBJECTS),
    "ndim": lambda act: column(act, dtype=np.dtype("i"), ndim=2**70, __array__="text"),
    "table": lambda act: column(act, dtype=np.dtype("O"), ndim=1, __array__=np.eye(2)),
    "null": lambda act: column(act, dtype=np.dtype("O"), ndim=1, __array__=OBJECTS),
    "no array": lambda act: column(act, dtype=np.dtype("O"), ndim=1, __array__=None),
    "mask": lambda act: column(act, mask=5, dtype=np.dtype("i"), ndim=1),
    "columns": lambda act: column(act, columns=None),
    "arrow": lambda act: column(act, __arrow_c_array__=(1, 2)),
    "arrow pair": lambda act: column(act, __arrow_c_array__=(None,)),
    "arrow stream": lambda act: column(act, __arrow_c_stream__=()),
}
if sys.version_info >= (3, 12):
    DOUBLES = memoryview(b"12345678").cast("d")
    KEYS["exporter in a list"] = lambda act: [
        "first",
        Exporter(act, memoryview(b"exported")),
        "last",
    ]
    NONSENSE["exporter"] = lambda act: ["first", Exporter(act, DOUBLES)]
