"""docs/format.md: its reader, run on what the library wrote; its table, compared with the
reader."""

import struct

import pytest
from bloomfilter import BloomFilter
from documents import blocks, table_rows

CODE = {}
exec(compile(blocks("docs/format.md", "python")[0], "docs/format.md", "exec"), CODE)
SECRET = bytes(range(16))
WORDS = [f"word {i}" for i in range(1000)]


@pytest.fixture(params=["classic", "block", "block2"])
def bf(request):
    made = BloomFilter(n=1000, p=0.01, scheme=request.param)
    made.update(WORDS)
    return made


def test_table_is_what_the_reader_reads():
    rows = table_rows("docs/format.md", "offset")
    table = [(int(at), int(size), name.strip("`")) for at, size, name, _ in rows]
    named = [(at, size, name) for at, size, name in table if name]
    assert named == [(at, struct.calcsize(form), name) for at, form, name in CODE["FIELDS"]]
    assert [at for at, *_ in table] == [0] + [at + size for at, size, _ in table][
        :-1
    ]  # no gap, no overlap
    assert table[-1][0] + table[-1][1] == 4096


def test_reader_on_a_saved_file(bf, tmp_path):
    bf.save(tmp_path / "saved.bloom")
    f = CODE["read_filter"]((tmp_path / "saved.bloom").read_bytes())
    assert (f["version"], f["header_bytes"], f["flags"], f["cell_bits"]) == (1, 4096, 0, 1)
    assert (f["m"], f["n"], f["k"], f["p"], f["scheme"]) == (bf.m, bf.n, bf.k, bf.p, bf.scheme)
    assert f["scheme_id"] == {"classic": 1, "block": 2, "block2": 3}[bf.scheme]
    assert f["secret_check"] == 0
    assert f["dirty"] == f["clean"]
    assert f["bits_bytes"] == len(f["bits"]) == (bf.m + 63) // 64 * 8
    assert f["bits"][: len(bf.bitset)] == bf.bitset
    assert f["ones"] == sum(byte.bit_count() for byte in f["bits"])


def test_reader_on_a_mapped_file(tmp_path):
    path = str(tmp_path / "mapped.bloom")
    with BloomFilter(n=1000, p=0.01, storage=path) as bf:
        assert_dirty(CODE["read_filter"]((tmp_path / "mapped.bloom").read_bytes()))
        bf.update(WORDS)
        bf.save(tmp_path / "copy.bloom")
        bits = bf.bitset
    f = CODE["read_filter"]((tmp_path / "mapped.bloom").read_bytes())
    assert_dirty(f)
    copy = CODE["read_filter"]((tmp_path / "copy.bloom").read_bytes())
    assert copy["dirty"] == copy["clean"]
    assert f["bits"] == copy["bits"] == bits


def assert_dirty(f):
    assert f["dirty"] != f["clean"]


def test_keyed(tmp_path):
    a, b = (
        BloomFilter(n=1000, p=0.01, secret=secret).to_bytes() for secret in (SECRET, SECRET[::-1])
    )
    checks = [CODE["read_filter"](data)["secret_check"] for data in (a, b)]
    assert 0 not in checks
    assert checks[0] != checks[1]
    assert CODE["read_filter"](a)["flags"] == 1
    assert SECRET not in a


@pytest.mark.parametrize("shards", [None, 3])
def test_membership_by_the_page(shards):
    bf = BloomFilter(m=10007, n=1000, shards=shards)
    bf.update(WORDS)
    f = CODE["read_filter"](bf.to_bytes())
    assert (f["shards"], f["flags"]) == ((shards, 16) if shards else (0, 0))
    absent = [f"no word {i}" for i in range(1000)]
    for key in WORDS + absent:
        assert list(CODE["positions"](f, key.encode())) == bf.hashcode(key)
        assert CODE["contains"](f, key.encode()) == (key in bf)


@pytest.mark.parametrize("kwargs", [{}, {"secret": SECRET}, {"scheme": "guava:long"}], ids=str)
def test_reader_on_a_compact_image(kwargs):
    bf = BloomFilter(n=10, p=0.01, **kwargs)
    bf.update(range(10))
    f = CODE["read_filter"](bf.to_bytes())
    assert (f["version"], f["cell_bits"], f["n"]) == (2, 1, 10)
    assert (f["m"], f["k"], f["p"], f["scheme"]) == (bf.m, bf.k, bf.p, bf.scheme)
    assert f["bits"][: len(bf.bitset)] == bf.bitset
    assert (f["secret_check"] != 0) == ("secret" in kwargs)
    assert len(bf.to_bytes()) == f["header_bytes"] + len(f["bits"])


@pytest.mark.parametrize("saved", [False, True])
def test_every_flipped_byte_is_refused(bf, tmp_path, saved):
    """By the library and by the page's reader."""
    bf.save(tmp_path / "f")
    data = bytearray((tmp_path / "f").read_bytes() if saved else bf.to_bytes())
    for at in range(4096 if saved else len(data)):
        for flip in (0x10, 3):
            data[at] ^= flip
            with pytest.raises(ValueError):
                BloomFilter.from_bytes(data)
            with pytest.raises((ValueError, struct.error)):
                CODE["read_filter"](bytes(data))
            data[at] ^= flip
    assert BloomFilter.from_bytes(data) == bf
