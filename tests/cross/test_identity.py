"""The same keys in the same filters in C, PHP and Python: same answers, same positions, same bytes;
each opens the others'."""

import filecmp
import itertools

import pytest
from bloomfilter import CountingBloomFilter
from products import run
from three_sides import asked, write_keys

pytestmark = pytest.mark.filterwarnings("ignore:more than half")  # on purpose
SECRET = bytes(range(16))
SHAPES = [
    {"scheme": "classic", "m": 1000, "n": 100},
    {"scheme": "classic", "m": 99991, "k": 5},
    {"scheme": "block", "n": 300, "p": 0.01},
    {"scheme": "block2", "m": 16384, "k": 32},
    {"n": 1000, "p": 1e-5},
    {"n": 1000, "p": 0.1},
    {"m": 4099, "n": 500},
]


def cases():
    """Name -> whether it is in a file, and the arguments.  Each shape in memory and, keyed, in a
    file; and a file that is not keyed."""
    for shape in SHAPES:
        name = "-".join(map(str, shape.values()))
        yield f"{name}-memory", (False, shape)
        yield f"{name}-file-keyed", (True, shape | {"secret": SECRET})
    yield "file", (True, SHAPES[0])


def keys():
    """Every kind, some more than once; those that are never added last."""
    text = [
        "",
        *"a seen.bloom https://example.org/?q=1&r=2 Grüße π≈3 日本語 😀".split(),
        "tab\tline\nend",
        "x" * 1024,
    ]
    odd = [
        b"",
        b"\0",
        b"a\0b",
        b"\0\0\0",
        bytes(range(256)),
        b"\xff\xfe",
        b"\xc3",
        "😀".encode()[:3],
        b"k" * 1024,
        b"M" * 2**20,
    ]
    numbers = [0, 1, -1, 42, 2**31, -(2**63), 2**63 - 1]
    for length in itertools.chain(
        range(1, 20), [63, 64, 65, 127, 128, 129, 239, 240, 241, 255, 256, 257, 4096]
    ):
        odd.append(bytes((7 * i + length) % 256 for i in range(length)))
    yield from (("s", t.encode()) for t in text)
    yield from (("b", b) for b in odd)
    yield from (("i", str(n).encode()) for n in numbers)
    yield from (("s", str(n).encode()) for n in numbers)  # 42 and "42" are one key
    yield from (("s", f"https://example.org/{i}".encode()) for i in range(150))
    yield from (("S", f"https://example.net/{i}".encode()) for i in range(100))
    yield from (("I", str(n).encode()) for n in range(10_000, 10_050))
    yield from (("B", bytes([0, i])) for i in range(50))


CASES, KEYS = dict(cases()), list(keys())


@pytest.fixture(scope="module")
def made(sides, tmp_path_factory):
    """(the folder, side -> case -> lines)"""
    folder = tmp_path_factory.mktemp("identity")
    write_keys(folder / "keys", KEYS)

    def lines(side, name):
        mapped, args = CASES[name]
        files = {kind: folder / f"{name}.{side}.{kind}" for kind in ("bytes", "saved", "mapped")}
        paths = {"keys": folder / "keys", "bytes": files["bytes"], "saved": files["saved"]}
        paths |= {"storage": files["mapped"]} if mapped else {}
        return asked(sides[side], "make", paths, **args)

    return folder, {side: {name: lines(side, name) for name in CASES} for side in sides}


@pytest.mark.parametrize("name", CASES)
def test_answers_positions_and_state(made, name):
    c, php, py = (made[1][side][name] for side in ("c", "php", "py"))
    assert len(c) == 6 + len(KEYS)
    assert php == c
    assert py == c


@pytest.mark.parametrize("name", CASES)
def test_added_keys_are_present(made, name):
    lines = dict(
        line.split(" ", 1) for line in made[1]["c"][name] if not line.startswith("positions")
    )
    added = sum(kind.islower() for kind, _ in KEYS)
    assert lines["single"] == lines["batch"]
    assert lines["single"][:added] == "1" * added
    assert lines["update"][::2] == "0" * len(lines["add"])  # they were added one by one before


@pytest.mark.parametrize("name", CASES)
def test_bytes(made, name):
    """to_bytes in all three: one and the same file; and save.  Both are one file where to_bytes has
    a header page."""
    first = made[0] / f"{name}.c.bytes"
    large = first.stat().st_size >= 4096 + 4096
    of = {"bytes": first, "saved": first if large else made[0] / f"{name}.c.saved"}
    others = [
        (of[kind], made[0] / f"{name}.{side}.{kind}") for side in ("c", "php", "py") for kind in of
    ]
    assert [str(b) for a, b in others if not filecmp.cmp(a, b, shallow=False)] == []
    assert large or of["saved"].stat().st_size >= 4096 > first.stat().st_size - 4096


@pytest.mark.parametrize("name", CASES)
def test_each_opens_the_others(sides, made, name):
    folder, lines = made
    words = ("parameters", "single", "batch", "state")
    expected = [line for line in lines["c"][name] if line.split()[0] in words]
    mapped, args = CASES[name]
    secret = {"secret": args["secret"]} if "secret" in args else {}
    ways = ["saved", "bytes", *["mapped"] * mapped]
    for reader, writer, how in itertools.product(sides, sides, ways):
        paths = {"keys": folder / "keys", "storage": folder / f"{name}.{writer}.{how}"}
        got = asked(sides[reader], "read", paths, how=how.encode(), **secret)
        assert got == expected, f"{reader}: {writer} {how}"


def test_counting_filters_count_the_same(php):
    code = """$f = new CountingBloomFilter(n: 500, p: 0.01, scheme: '%s'); for ($i = 0; $i < 900; $i++) $f->add($i %% 400);
              for ($i = 0; $i < 300; $i += 2) $f->remove($i); echo $f->toBase64();"""
    for scheme in ("classic", "block", "block2"):
        bf = CountingBloomFilter(n=500, p=0.01, scheme=scheme)
        bf.update(i % 400 for i in range(900))
        bf.remove_many(range(0, 300, 2))
        said = run([*php, "-r", code % scheme], text=True)
        assert CountingBloomFilter.from_base64(said) == bf
