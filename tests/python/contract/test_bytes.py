"""Bytes, saved files, pickles; and what happens to damaged ones."""

import array
import base64
import contextlib
import io
import json
import time
import copy
import copyreg
import os
import pickle

import numpy as np
import pytest

from bloomfilter import BloomFilter, CountingBloomFilter, Error, _bloomfilter

pytestmark = pytest.mark.quick

SECRET = bytes(range(16))


@pytest.fixture
def full():
    bf = BloomFilter(n=100, p=0.01)
    bf.update(range(100))
    return bf


@pytest.mark.parametrize(
    "wrap",
    [
        bytes,
        bytearray,
        memoryview,
        lambda b: np.frombuffer(b, "u1"),
        lambda b: memoryview(b"".join(bytes([x, 0]) for x in b))[::2],
    ],
)
def test_any_bytes_like(full, wrap):
    assert BloomFilter.from_bytes(wrap(full.to_bytes())) == full


def test_the_data_may_go_away(full):
    data = bytearray(full.to_bytes())
    back = BloomFilter.from_bytes(data)
    data[:] = bytes(len(data))
    assert back == full


# ---- pickle ----
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(full, protocol):
    back = pickle.loads(pickle.dumps(full, protocol))
    assert back == full and type(back) is BloomFilter


def test_pickle_ignores_what_copyreg_would_do():
    assert BloomFilter not in copyreg.dispatch_table
    assert BloomFilter(10, 1).__reduce_ex__(4)[0] == _bloomfilter._from_bytes


def test_random_secret():
    secret = BloomFilter.random_secret()
    assert type(secret) is bytes and len(secret) == 16 and secret != BloomFilter.random_secret()


@pytest.mark.parametrize("kind", [str, os.fsencode, lambda path: path])
def test_save_and_load(full, tmp_path, kind):
    path = kind(tmp_path / "日本")
    assert full.save(path) is None and BloomFilter.load(path) == full


class Slotted(BloomFilter):
    __slots__ = ("kept", "__hidden", "never_set")

    def hide(self, value):
        self.__hidden = value

    def hidden(self):
        return self.__hidden


class SlottedToo(Slotted):
    __slots__ = ("__dict__", "more")


@pytest.mark.parametrize("kind", [Slotted, SlottedToo])
@pytest.mark.parametrize(
    "twin_of",
    [BloomFilter.copy, copy.copy, copy.deepcopy, lambda bf: pickle.loads(pickle.dumps(bf))],
)
def test_slots_go_along(kind, twin_of):
    bf = kind(100, 10)
    bf.kept = [1, [2]]
    bf.hide("secret")
    if kind is SlottedToo:
        bf.more, bf.free = bf.kept, 5
    twin = twin_of(bf)
    assert type(twin) is kind and twin.kept == [1, [2]] and twin.hidden() == "secret"
    assert not hasattr(twin, "never_set")
    shallow = twin_of in (BloomFilter.copy, copy.copy)
    assert (twin.kept[1] is bf.kept[1]) is shallow
    if kind is SlottedToo:
        assert twin.free == 5 and twin.more is twin.kept


@pytest.mark.parametrize(
    "sizes",
    [
        {"m": 2000, "k": 3},
        {"m": 1000, "k": 4},
        {"n": 100, "p": 0.01, "grow": 2.0},
        {"n": 100, "p": 0.01, "window": 60.5},
    ],
    ids=str,
)
def test_unpickling_compares(tmp_path, sizes):
    path = tmp_path / "it"
    with BloomFilter(storage=path, **sizes) as bf:
        bf.add(7)
        data = pickle.dumps(bf)
        assert 7 in pickle.loads(data)
    path.unlink()
    BloomFilter(m=1000, k=3, storage=path).close()
    with pytest.raises(Error, match="asked for"):
        pickle.loads(data)


def test_a_clock_is_for_filters_that_forget(tmp_path):
    path = tmp_path / "it"
    with BloomFilter(n=100, p=0.01, storage=path) as bf:
        data = bf.to_bytes()
    for call in (
        lambda: BloomFilter.from_bytes(data, clock=time.time),
        lambda: BloomFilter.load(path, clock=time.time),
        lambda: BloomFilter.open(path, clock=time.time),
        lambda: BloomFilter(n=100, p=0.01, storage=path, clock=time.time),
        lambda: BloomFilter(n=100, p=0.01, storage=tmp_path / "new", clock=time.time),
        lambda: BloomFilter.from_bytes(b"x", format="bits", m=8, k=1, clock=time.time),
    ):
        with pytest.raises(ValueError, match="clock"):
            call()
    assert not (tmp_path / "new").exists()


# ---- base64, and objects that are files ----
class Slow(io.RawIOBase):
    """Takes 100 bytes at a time, as a pipe may."""

    def __init__(self, takes=100):
        self.got, self.takes = b"", takes

    def write(self, data):
        self.got += bytes(data[: self.takes or 0])
        return self.takes and min(self.takes, len(data))


@pytest.mark.parametrize("kind", [BloomFilter, CountingBloomFilter])
def test_base64_and_streams(kind, tmp_path):
    bf = kind(n=1000, p=0.01, secret=SECRET)
    bf.update(range(1000))
    text, file, slow = bf.to_base64(), io.BytesIO(), Slow()
    assert text == base64.b64encode(bf.to_bytes()).decode()
    wrapped = base64.encodebytes(bf.to_bytes()).decode()
    for one in (text, wrapped):
        back = kind.from_base64(one, secret=SECRET, n=1000)
        assert type(back) is kind and back == bf
    assert bf.save(file) is None and bf.save(slow) is None
    assert file.getvalue() == slow.got == bf.to_bytes()
    file.seek(0)
    assert kind.load(file, secret=SECRET) == bf
    with open(tmp_path / "s", "wb") as raw:
        bf.save(raw)
    with open(tmp_path / "s", "rb", buffering=0) as raw:
        assert kind.load(raw, secret=SECRET) == bf == kind.load(tmp_path / "s", secret=SECRET)


@pytest.mark.parametrize(
    "wrong, error, says",
    [
        (lambda bf, _: BloomFilter.from_base64(bf.to_bytes()), TypeError, "str, not bytes"),
        (lambda bf, _: BloomFilter.from_base64(bf.to_base64(), k=1), Error, "k"),
        (lambda bf, _: bf.save(io.StringIO()), TypeError, "binary, not StringIO"),
        (lambda bf, _: bf.save(5), TypeError, "not int"),
        (lambda bf, _: bf.save(Slow(None)), BlockingIOError, "no more bytes"),
        (lambda bf, _: BloomFilter.load(5), TypeError, "not int"),
        (lambda bf, _: BloomFilter.load(io.StringIO("x")), TypeError, "bytes, not str"),
        (lambda bf, path: BloomFilter.load(path.open("wb")), io.UnsupportedOperation, "read"),
    ],
)
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_wrong_base64_and_streams(full, wrong, error, says, tmp_path):
    with pytest.raises(error, match=says):
        wrong(full, tmp_path / "f")


class Endless(io.RawIOBase):
    """Some bytes, and then zeros for ever."""

    def __init__(self, first):
        self.first, self.taken = first, 0

    def read(self, n=-1):
        assert 0 < n <= 1 << 20 and self.taken < 1 << 24, "reads all of an endless file"
        at, self.taken = self.taken, self.taken + n
        return self.first[at : at + n].ljust(n, b"\0")


@pytest.mark.parametrize("keys", [10, 10**6])
@pytest.mark.parametrize("how", [{}, {"window": 60.0}])
def test_load_reads_no_more_than_an_image_has(keys, how):
    bf = BloomFilter(n=keys, p=0.01, **how)
    data = bf.to_bytes()
    file = Endless(data)
    assert BloomFilter.load(file) == bf and file.taken == len(data)
    file = Endless(b"no filter at all")
    with pytest.raises(Error, match="not a filter file"):
        BloomFilter.load(file)
    assert file.taken == 64


@pytest.mark.parametrize("opened", ["buffered", "raw", "memory"])
def test_filters_lie_one_after_the_other(tmp_path, opened):
    """Each load() leaves the stream right after its filter, also inside other data."""
    kinds = ({"n": 10}, {"n": 10**5}, {"n": 10, "grow": 2.0}, {"n": 50, "window": 60.0}, {"n": 9})
    made = [BloomFilter(p=0.01, **kind) for kind in kinds]
    for bf in made:
        bf.update(range(100))
    made.append(CountingBloomFilter(n=100, p=0.01))
    with open(tmp_path / "many", "wb") as file:
        file.write(b"before")
        for bf in made:
            bf.save(file)
            file.write(b"between")
    file = (
        io.BytesIO((tmp_path / "many").read_bytes())
        if opened == "memory"
        else open(tmp_path / "many", "rb", buffering=0 if opened == "raw" else -1)
    )
    with file:
        assert file.read(6) == b"before"
        for bf in made:
            assert type(bf).load(file) == bf
            assert file.read(7) == b"between"
        assert file.read() == b""


@pytest.mark.parametrize("answer", [0, -1, 10**9])
def test_save_does_not_believe_a_wrong_number_of_written_bytes(answer):
    class Odd:
        def write(self, data):
            return answer

    f = BloomFilter(n=1000, p=0.01)
    size = len(f.to_bytes())
    with pytest.raises(OSError, match=f"the file took {answer} of {size} bytes"):
        f.save(Odd())


class Broken(array.array):
    """Has one attribute, whose code raises an error."""

    def __getattribute__(self, name):
        if name == type(self).broken:
            raise type(self).error(f"looking up {name}")
        return super().__getattribute__(name)


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError, MemoryError])
@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("write", BloomFilter.save),
        ("read", lambda _, file: BloomFilter.load(file)),
        ("__array__", lambda bf, keys: bf.update(ByKey(keys))),
        ("mask", BloomFilter.update),
    ],
)
def test_an_error_of_looking_up_an_attribute_is_raised(name, call, error):
    broken = type("One", (Broken,), {"broken": name, "error": error})("q", [1])
    with pytest.raises(error, match=f"looking up {name}"):
        call(BloomFilter(n=1000, p=0.01), broken)
    hidden = type("One", (Broken,), {"broken": name, "error": AttributeError})("q", [1])
    with contextlib.suppress(TypeError):  # not a path
        call(BloomFilter(n=1000, p=0.01), hidden)


class ByKey:
    """The keys of an object, without its buffer."""

    def __init__(self, keys):
        self.keys = keys

    def __getattr__(self, name):
        return getattr(self.keys, name)

    def __iter__(self):
        return iter(self.keys)


# ---- JSON ----
@pytest.mark.parametrize("make", [BloomFilter, CountingBloomFilter])
@pytest.mark.parametrize("kind", [{}, {"grow": 2.0}])
def test_json_is_that_of_php(kind, make):
    bf = make(n=500, p=0.01, **kind)
    bf.update(range(200))
    text = bf.to_json()
    assert text == '{"bloomfilter":"' + bf.to_base64().replace("/", "\\/") + '"}'
    assert json.loads(text) == {"bloomfilter": bf.to_base64()}
    for given in (text, json.loads(text), json.dumps(json.loads(text), indent=4)):
        back = make.from_json(given)
        assert type(back) is make and back == bf and back.created is False
    with pytest.raises(Error, match="k=7, .*asked for k=1|k"):
        make.from_json(text, k=1)
    own = BloomFilter(m=999, n=99, scheme="functions", hashes=[len])
    assert BloomFilter.from_json(own.to_json(), hashes=[len]) == own


def test_json_of_other_homes_says_copy(full, tmp_path, redis_server):
    stored = BloomFilter(n=100, p=0.01, storage=tmp_path / "f")
    remote = BloomFilter(n=100, p=0.01, storage=redis_server.url("json"))
    for bf in (stored, remote):
        with pytest.raises(Error, match=r"copy\(\).to_json\(\)"):
            bf.to_json()
        assert BloomFilter.from_json(bf.copy().to_json()) == bf
    remote.delete()
    keyed = BloomFilter(n=100, p=0.01, secret=SECRET)
    with pytest.raises(Error, match=r"copy\(\)"):
        keyed.to_json()
    full.close()
    with pytest.raises(ValueError, match="closed"):
        full.to_json()


def test_no_dump_shows_a_secret_or_the_bits(tmp_path):
    keyed = BloomFilter(n=100, p=0.01, secret=SECRET)
    keyed.update(range(50))
    bits = keyed.bitset
    for dump in (
        repr,
        str,
        format,
        dir,
        lambda bf: repr(bf.info()),
        lambda bf: repr(bf.__reduce_ex__),
    ):
        said = dump(keyed) if isinstance(dump(keyed), str) else repr(dump(keyed))
        for secret in (SECRET, bits[:8]):
            for form in (repr(secret)[2:-1], secret.hex(), base64.b64encode(secret).decode()[:8]):
                assert form not in said
    with pytest.raises(TypeError):
        vars(keyed)
    with pytest.raises(Error, match="its secret is never stored"):
        pickle.dumps(keyed)
