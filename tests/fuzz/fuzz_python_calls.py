"""What fuzz_python.c runs for each input: the input chooses methods, keywords and objects, among
them iterables and numbers that raise, or that close, clear and fill the filter in the middle of a
call.  Whatever is raised is of the documented classes.  Paths are of a fixed set in a folder of the
fuzzer's own: no input writes anywhere else."""

import struct

from bloomfilter import BloomFilter, CountingBloomFilter, Error

FOLDER, SCHEMES = "", []  # the target sets them


class Mischief(Exception):
    pass


class Helper:
    """Runs foreign code wherever Python lets it run."""

    def __init__(self, f, how, items):
        self.f, self.how, self.items = f, how, items

    def act(self):
        how = self.how % 9
        if how == 0:
            raise Mischief
        if how == 1:
            raise ValueError("mine")
        {
            2: self.f.close,
            3: self.f.clear,
            4: lambda: self.f.update(["x", "y"]),
            5: lambda: self.f.__init__(m=64, k=2),
            6: self.items.clear,
            7: lambda: self.items.extend(range(5)),
        }.get(how, int)()
        return how

    __index__ = act

    def __float__(self):
        return self.act() / 9

    def __str__(self):
        self.act()
        return "text"

    def __fspath__(self):
        self.act()
        return f"{FOLDER}/f0"

    def __bool__(self):
        return self.act() > 4

    def __length_hint__(self):
        return (self.act() - 4) << self.how % 61

    def __iter__(self):
        for i, item in enumerate(self.items):
            if i == self.how % 5:
                self.act()
            yield item


# Behind the name: an object, a path, bytes of a filter, keywords.
CALLS = """add:o addKey:o existKey:o hashcode:o update:o add_many:o contains_many:o __contains__:o
    union:o intersection:o __or__:o __iand__:o __eq__:o __lt__:o copy: __deepcopy__:o clear: sync:
    close: __enter__: __exit__:ooo __reduce__: __sizeof__: __len__: __bool__: __repr__: expire:o
    delete: random_secret: save:p load:pk open:pk plan:k __init__:k from_bytes:bk to_bytes:k info:
    saturated: issubset:o issuperset:o union_count:o intersection_count:o rebuild:o contains_lines:o
    update_lines:o remove:o remove_many:o count_of:o count_many:o to_plain:""".split()
PARAMETERS = """m n k p scheme storage secret key grow window shards parts timeout cache cache_max_age
    wait_replicas read_only format data nonsense""".split()
ATTRIBUTES = "m n k p scheme storage bitset fill_ratio fpr".split()
PATHS = ["f0", "f1", "f2", "", "no/such"]
NO_PATHS = [
    "\0",
    "redis://",
    "redis://h?key=%zz",
    "unix:///no?key=k",
    "rediss://h?key=k",
    "redis://h:0?key=k",
    "",
]


class Input:
    """Values off the input's front."""

    def __init__(self, data):
        self.data, self.filters = data, [BloomFilter(500, 50), BloomFilter(500, 50)]

    def cut(self, n):
        front, self.data = self.data[:n], self.data[n:]
        return front

    def take(self, n=1, signed=False):
        return int.from_bytes(self.cut(n), "big", signed=signed)

    def text(self):
        n, kind = self.take() % 40, self.take()
        text = self.cut(n)
        if kind & 1:
            return text.decode(errors="surrogateescape" if kind & 2 else "replace")
        if kind & 4:
            return "".join(
                map(chr, struct.unpack(f"{len(text) // 2}H", text[: len(text) // 2 * 2]))
            )
        return text.decode("latin-1")

    def bytes(self):
        return self.cut(self.take())

    def real(self):
        return struct.unpack(">d", self.cut(8).rjust(8, b"\0"))[0]

    def view(self):
        data = memoryview(self.bytes())
        try:
            data = data.cast("BbcHiqd?"[self.take() % 8])
            return data[:: self.take() % 5 - 2]
        except (TypeError, ValueError):  # a length that does not fit, a step of 0
            return data

    def list(self, depth):
        items = []
        for _ in range(self.take() % 12):
            if self.data:
                items.append(self.object(depth + 1))
        return items

    def trickster(self, depth):
        how = self.take()
        return Helper(self.filters[how & 1], how, self.list(depth))

    def image(self):
        """Of a filter: its bytes, maybe damaged."""
        image = documented(self.filters[0].to_bytes)
        if image is None or len(image) > 1 << 20:
            return self.bytes()
        at, flip = self.take(2), self.take()
        return image[:at] + bytes(byte ^ flip for byte in image[at : at + 1]) + image[at + 1 :]

    def object(self, depth=0):
        kinds = (
            lambda: None,
            lambda: bool(self.take() & 1),
            lambda: self.take(2) - 100,
            lambda: self.take(8, signed=True),
            lambda: (self.take(2) - 30000) << self.take(2) % 20000,
            self.real,
            self.text,
            self.text,
            self.bytes,
            self.view,
            lambda: bytearray(self.bytes()),
            lambda: self.list(depth),
            lambda: self.list(depth),
            lambda: tuple(self.list(depth)),
            lambda: self.trickster(depth),
            lambda: iter(self.trickster(depth)),
            self.image,
            lambda: self.filters[self.take() & 1],
        )
        return kinds[self.take() % (10 if depth > 2 else 18)]()

    def place(self):
        """A storage or a path: these, or what is no path at all."""
        i = self.take() % 16
        if i < 5:
            return f"{FOLDER}/{PATHS[i]}"
        if i < 12:
            return NO_PATHS[i - 5]
        return (
            lambda: f"{FOLDER}/f1".encode(),
            lambda: self.trickster(2),
            self.real,
            lambda: None,
        )[i - 12]()

    def scheme(self):
        i = self.take() % 20
        return SCHEMES[i] if i < len(SCHEMES) and self.take() % 8 else self.object(2)

    def value(self, name):
        """Mostly what the constructor takes, so that calls come through."""
        sane = self.take() % 4
        if name == "storage":
            return self.place()
        if name == "scheme":
            return self.scheme()
        if sane and name in "mnkp":
            return (
                self.take() / 256
                if name == "p"
                else 1 + (self.take(2) if name == "m" else self.take() % 20)
            )
        if sane and name == "secret":
            return b"0123456789abcdefg"[: 17 if sane == 3 else 16]
        return self.object(1)

    def keywords(self):
        which = self.take() | (0 if self.take() % 3 else self.take(2) << 8)
        return {name: self.value(name) for i, name in enumerate(PARAMETERS) if which >> i & 1}

    def call(self, f):
        name, kinds = CALLS[self.take() % len(CALLS)].split(":")
        method = documented(getattr, f, name, None)  # None: closed, or of the other type
        how = {
            "o": self.object,
            "p": self.place,
            "b": lambda: self.image() if self.take() & 1 else self.object(),
        }
        if method:
            given = self.keywords() if "k" in kinds else {}
            return documented(method, *[how[kind]() for kind in kinds.rstrip("k")], **given)


def documented(call, *args, **given):
    try:
        return call(*args, **given)
    except (ValueError, TypeError, OSError, MemoryError, Error, Mischief):
        return None


def fuzz(data):
    of = Input(data)
    for i in range(2):
        given = of.keywords()
        f = documented(CountingBloomFilter if of.take() & 1 else BloomFilter, **given)
        if documented(len, f) is not None:
            of.filters[i] = f
    for calls in range(12):
        if not of.data:
            break
        f = of.filters[of.take() & 1]
        if of.take() % 8:
            result = of.call(f)
        else:
            result = documented(getattr, f, ATTRIBUTES[of.take() % 9])
        if isinstance(result, BloomFilter) and result is not f:
            of.filters[calls & 1] = result
    for f in of.filters:  # a filter that is open keeps what is added now
        assert documented(f.add, "here") is None or "here" in f
