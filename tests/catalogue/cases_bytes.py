"""Damaged bytes and files, parameters that disagree with the stored ones, what else a path may lead
to."""

import math
import struct

from cases import (
    NO_METHOD,
    NO_TYPE,
    ZERO,
    f,
    case,
    PLAIN,
    LINES,
    KEYED,
    WAYS,
    image,
    pairs,
    stream,
    u32,
    u64,
    wrong,
)


# ---- bytes and files: every damage is read as bytes, loaded, and opened as a mapped file ----
def bad(name, says, *patches, **damage):
    image(name, "format", says, None, None, *patches, **damage)


def images():
    whole = 4096 + 128  # m = 1001: 16 words
    for base, word in ((PLAIN, "plain"), (LINES, "block")):
        image(f"sound-{word}", "ok", [], base)
    image("sound-keyed", "ok", [], KEYED, {"secret": range(16)})
    image("keyed-no-secret", "mismatch", "secret must be given", KEYED)
    image("keyed-other-secret", "mismatch", "another secret", KEYED, {"secret": range(1, 17)})
    image("keyed-short-secret", "value", "got 15 bytes", KEYED, {"secret": range(15)})
    image("not-keyed", "mismatch", "not keyed", PLAIN, {"secret": range(16)})
    for n in (0, 1, 7):
        bad(f"cut-{n}", [f"only {n} bytes"], cut=n)
    for n in (8, 16, 24, 144, 2048, 2080, 4088, 4095):
        bad(f"cut-{n}", ["truncated", f"{n} bytes"], cut=n)
    for n in (4096, 4097, whole - 8, whole - 1):
        bad(f"cut-{n}", ["truncated", f"{n} bytes", "m=1001"], cut=n)
    for n in (1, 8, 4096):
        bad(f"long-{n}", ["too long", f"{whole + n} bytes"], more=n)
    bad("twice", "too long", twice=1)
    for at in range(8):
        bad(f"magic-{at}", "magic", (at, [0]))
    for name, data in (
        ("zeros", bytes(whole)),
        ("ones", b"\xff" * whole),
        ("text", b"hello, world\n" * 400),
        ("gzip", b"\x1f\x8b\x08\0" + bytes(whole)),
    ):
        bad(f"other-{name}", "magic", raw=data[:16].hex(), times=len(data) // 16)
    for version in (0, 2, 3, 2**31, 2**32 - 1):
        says = ["format version", str(version)] if version > 1 else ["damaged"]
        ways = [way for way in WAYS if version != 2 or way != "open"]  # 2: compact, not opened
        bad(f"version-{version}", says, (8, u32(version)), ways=ways)
        bad(f"version-{version}-mended", says, (8, u32(version)), mend=1, ways=ways)
    for field, at, word, values in (
        ("header-bytes", 12, u32, (0, 1, 4095, 2**32 - 1)),
        ("scheme", 24, u32, (0, 2, 999, 2**32 - 1)),
        ("flags", 28, u32, (1, 2, 3, 2**31)),
        ("m", 32, u64, (0, 960, 1025, 2**40, 2**40 + 1, 2**64 - 1)),
        ("n", 40, u64, (0, 2**63, 2**64 - 1)),
        ("k", 48, u32, (0, 4097, 2**31, 2**32 - 1)),
        ("cell", 52, u32, (0, 2, 4, 2**32 - 1)),
        ("bytes", 64, u64, (0, 64, 127, 129, 2**63, 2**64 - 1)),
        ("secret", 72, u64, (1, 2**63)),
    ):
        for v in values:
            bad(f"{field}-{v}", "damaged", (at, word(v)), ways=("from_bytes", "open"))
            bad(f"{field}-{v}-mended", [], (at, word(v)), mend=1)
    for p, bits in (
        ("negative", 0xBFF0000000000000),
        ("two", 0x4000000000000000),
        ("nan", 0x7FF8000000000000),
        ("inf", 0x7FF0000000000000),
        ("past-1", 0x3FF0000000000001),
    ):
        bad(f"p-{p}", "p is out of range", (56, u64(bits)), mend=1)
    for name, text in (
        ("empty", b""),
        ("other", b"block"),
        ("unknown", b"nosuch"),
        ("longer", b"classicx"),
        ("full", b"c" * 64),
        ("colon", b"classic:"),
        ("behind-nul", b"classic\0x"),
    ):
        says = "scheme name and number disagree"
        bad(f"name-{name}", says, (80, text.ljust(64, b"\0")), mend=1)
    for at in (144, 1000, 2047, 2088, 3000, 4087):
        bad(f"reserved-{at}", "reserved", (at, [1]), mend=1)
    bad("generation-2080", "generation is invalid", (2080, [1]), mend=1)
    for name, at in (("dirty", 2048), ("clean", 2056)):
        bad(f"sequence-{name}", "sequence", (at, [1]))
        bad(f"sequence-{name}-mended", "sequence", (at, [1]), mend=1)
    bad("sum-header", "checksum", (16, [1, 2, 3]))
    bad("sum-bits", "checksum", (2072, [1, 2, 3]))
    bad("sum-bits-mended-page", "bits' checksum", (2072, [1, 2, 3]), mend=1)
    bad("sum-page", "checksum", (4088, [1, 2, 3]))
    bad("ones-count", "checksum", (2064, [77]))
    for at in (4096, 4100, 4096 + 64, 4096 + 124):
        bad(f"bit-{at}", "bits' checksum", flip=[[at, 1]])
    # m = 1001: bit 1000 is the last
    for at, mask in ((4221, 0x01), (4221, 0x40), (4222, 0x80), (4223, 1)):
        bad(f"past-m-{at}-{mask}", "past m", flip=[[at, mask]], mend=2)
    image("mended-nothing", "ok", [], mend=2)
    foreign()
    base64()


def dumped(keys=0, links=1, options=5, growth=2, bits=64, error=0.005, k=8, capacity=1, more=0):
    """BF.SCANDUMP of BF.RESERVE key 0.01 1, with other values."""
    per_key = -math.log(error) / 0.480453013918201
    head = struct.pack("<QIII", keys, links, options, growth)
    link = struct.pack("<QQQddIQB", bits // 8, bits, keys, error, per_key, k, capacity, 0)
    return (head + link + bytes(8 + more)).hex()


def redisbloom():
    for name, args, want, says, raw in (
        ("sound", {}, "ok", [], dumped()),
        ("empty", {}, "format", "RedisBloom", ""),
        ("text", {}, "format", "RedisBloom", b"a text".hex()),
        ("long", {}, "format", ["82 bytes", "describes 81"], dumped(more=1)),
        ("cut", {}, "format", ["80 bytes", "describes 81"], dumped(more=-1)),
        ("no-links", {}, "format", "number of links", dumped(links=0)),
        ("links", {}, "format", "cut off", dumped(links=2)),
        ("old-hash", {}, "notsup", "options 1", dumped(options=1)),
        ("rounded", {}, "notsup", "options 4", dumped(options=4)),
        ("options", {}, "format", "options 21", dumped(options=21)),
        ("growth", {}, "format", "growth 0", dumped(growth=0)),
        ("bits", {}, "format", "bits 65", dumped(bits=65)),
        ("other-bits", {}, "format", "does not follow", dumped(bits=192, more=16)),
        ("k", {}, "format", "does not follow", dumped(k=9)),
        ("capacity", {}, "format", "capacity 0", dumped(capacity=0)),
        ("other-n", {"n": 2}, "mismatch", ["n=1", "n=2"], dumped()),
        ("other-p", {"p": 0.1}, "mismatch", ["p=0.01", "p=0.1"], dumped()),
        ("other-scheme", {"scheme": "classic"}, "mismatch", ["redisbloom", "classic"], dumped()),
    ):
        data = {"raw": raw, "times": 1}
        args = {**args, "format": "redisbloom"}
        case(f"bytes/as-redisbloom-{name}: from_bytes", says, args, want=want, data=data)


def foreign():
    sized = {"m": 1001, "k": 3}
    classic = {**sized, "scheme": "classic"}
    guava, one = "guava", "0103000000010000000000000000"  # MITZ_64, k = 3, one word of zeros
    for name, format_, args, want, says, raw in (
        ("unknown", "nosuch", sized, "value", "format must be one of", "00"),
        ("empty", "", sized, "value", "format must be one of", "00"),
        ("guava-empty", guava, {}, "format", [], ""),
        ("guava-5", guava, {}, "format", [], one[:10]),
        ("guava-strategy", guava, {}, "format", "strategy", "02" + one[2:]),
        ("guava-k0", guava, {}, "format", "k=0", "0100" + one[4:]),
        ("guava-0-longs", guava, {}, "format", "0 longs", "010300000000"),
        (
            "guava-short",
            guava,
            {},
            "format",
            ["14 bytes", "2 longs need 22"],
            "010300000002" + "00" * 8,
        ),
        ("guava-long", guava, {}, "format", ["15 bytes", "1 longs need 14"], one + "ff"),
        ("guava-minus", guava, {}, "format", [], "0103ffffffff" + "00" * 8),
        ("guava-other-k", guava, {"k": 4}, "mismatch", ["k=3", "k=4"], one),
        ("guava-other-m", guava, {"m": 65}, "mismatch", ["m=64", "m=65"], one),
        (
            "guava-other-scheme",
            guava,
            {"scheme": "guava32"},
            "mismatch",
            ["MITZ_64", "guava32"],
            one,
        ),
        ("bits-no-scheme", "bits", sized, "value", "scheme must be given", "00"),
        ("bits-too-long", "bits", classic, "format", ["127 bytes", "m=1001"], "00" * 127),
        ("bits-past-m", "bits", classic, "format", "past m=1001", "00" * 125 + "01"),
        ("bits-short", "bits", classic, "ok", [], ""),
        ("lsb-past-m", "bits-lsb", classic, "format", "past m=1001", "00" * 125 + "80"),
        ("cells-short", "cells", classic, "format", ["1000 bytes", "m=1001"], "01" * 1000),
        ("cells-long", "cells", classic, "format", ["1002 bytes", "m=1001"], "01" * 1002),
    ):
        data = {"raw": raw, "times": 1}
        case(
            f"bytes/as-{name}: from_bytes", says, {**args, "format": format_}, want=want, data=data
        )
    redisbloom()
    says = {"": [], "php": ["must be of type string"]}
    for word, value in wrong("none", "list", "true", int=5):
        case(f"bytes/data={word}: from_bytes -> type", says, {"data": value}, no={"c": NO_TYPE})


# ---- base64, streams ----
def base64():
    no = {"c": NO_METHOD}
    for name, args in {"classic": PLAIN, "block": LINES, "keyed": KEYED}.items():
        case(f"bytes/base64-{name}: to_base64 -> ok", args=args, no=no)
    for name, want, says, args, damage in (
        ("sound", "ok", [], {}, {}),
        ("other-k", "mismatch", ["k=3", "k=5"], {"k": 5}, {}),
        ("cut", "format", "truncated", {}, {"cut": 4100}),
        ("nothing", "format", "only 0 bytes", {}, {"cut": 0}),
        ("more", "format", "too long", {}, {"more": 3}),
        ("flipped", "format", "checksum", {}, {"flip": [[4100, 1]]}),
    ):
        data = {"of": PLAIN, **damage}
        case(f"bytes/base64-{name}: from_base64", says, args, no, want=want, data=data)
    for name, value in (
        ("mark", "QUJD!"),
        ("middle", "QUJD=QUJD"),
        ("lengths", "QUJDQ"),
        ("high", "\xe9"),
        ("nul", "QUJD\0"),
    ):
        says = "the text is not base64"
        case(f"bytes/base64={name}: from_base64 -> format", says, {"data": value}, no)
    for word, value in wrong("none", "list", "true", int=5):
        case(f"bytes/base64={word}: from_base64 -> type", [], {"data": value}, no)
    foreign = "the JSON is not a filter: it has no text bloomfilter"
    for name, says, value in (
        ("empty", "the text is not JSON", ""),
        ("begun", "the text is not JSON", "{"),
        ("list", foreign, "[]"),
        ("other", foreign, '{"BloomFilter": "QUJD"}'),
        ("no-text", foreign, '{"bloomfilter": 5}'),
        ("no-base64", "the text is not base64", '{"bloomfilter": "QUJD!"}'),
    ):
        case(f"bytes/json-{name}: from_json -> format", says, {"data": value}, no)
    for word, value in wrong("none", "true", int=5):
        case(f"bytes/json={word}: from_json -> type", [], {"data": value}, no)


def streams():
    unreadable = {"": "io", "py": "value"}  # io.UnsupportedOperation is both
    for name, op, want, says in (
        ("sound", "load", "ok", []),
        ("empty", "load", "format", "only 0 bytes"),
        ("cut", "load", "format", "truncated"),
        ("written", "load", unreadable, {"": "to its end", "py": "read"}),
        ("closed", "load", {"": "value", "php": "type"}, {"": "closed", "php": "not a valid"}),
        ("written", "save", "ok", []),
        ("full", "save", "io", {"": "No space", "php": "0 of its "}),
        ("sound", "save", unreadable, {"": "0 of its ", "py": "writ"}),
        ("closed", "save", {"": "value", "php": "type"}, {"": "closed", "php": "not a valid"}),
    ):
        args = {"storage": stream(name)} if op == "load" else {**PLAIN, "arg": stream(name)}
        case(f"file/stream-{name}/{op}: {op}", says, args, {"c": NO_TYPE}, want=want)


# ---- parameters that disagree with the stored ones ----
def mismatches():
    sized = {"m": 5000, "n": 500}
    rates = {"n": 100, "p": 0.01}
    asked = {
        "classic": (
            PLAIN,
            ({"m": 1002, "k": 3}, ["m=1001", "m=1002"]),
            ({"m": 1001, "k": 4}, ["k=3", "k=4"]),
            ({"m": 1001, "n": 5}, ["n=231", "n=5"]),
            ({"m": 1001, "k": 3, "scheme": "block"}, ["classic", "block"]),
            ({"m": 1001, "p": 0.5}, ["asked for p=0.5"]),
            ({"k": 1}, ["k=3", "k=1"]),
            ({"n": 1}, ["n=231", "n=1"]),
            ({"m": 1}, ["m=1001", "m=1"]),
            ({"scheme": "block2"}, ["classic", "block2"]),
            ({"p": 0.25}, ["p=0.25"]),
        ),
        "block": (
            rates,
            ({"n": 101, "p": 0.01}, ["n=100", "n=101"]),
            ({"n": 100, "p": 0.02}, ["p=0.01", "p=0.02"]),
            ({**rates, "scheme": "classic"}, ["block", "classic"]),
            ({"m": 512}, ["m=512"]),
            ({"k": 16}, ["k=16"]),
        ),
        "sized": (
            sized,
            ({"m": 5000, "n": 501}, ["n=500", "n=501"]),
            ({**sized, "k": 6}, ["k=7", "k=6"]),
            ({"m": 4999, "n": 500}, ["m=5000", "m=4999"]),
        ),
    }

    def opened(name, want, says, args, base, no=None):
        for op, where in (("new", {"storage": {"path": "data"}}), ("from_bytes", {})):
            what = f"mismatch/{name}/{op}: {op} -> {want}"
            case(what, says, {**args, **where}, no, data={"of": base})

    for name, (base, *rows) in asked.items():
        for n, (args, says) in enumerate(rows):
            opened(f"{name}-{n}", "mismatch", says, args, base)
        opened(f"{name}-same", "ok", [], base, base)
    for letter, values in (
        ("m", (0, 2**40 + 1)),
        ("n", (0,)),
        ("k", (0, -1, 4097)),
        ("p", (1, 2, -1, "nan")),
    ):
        for v in values:
            value, no = f(v) if letter == "p" else v, {"c": ZERO} if v == 0 else None
            opened(f"bad-{letter}={v}", "value", f"{letter} must be", {letter: value}, PLAIN, no)
    shapes = {
        "classic": PLAIN,
        "m": {"m": 1002, "k": 3},
        "k": {"m": 1001, "k": 4},
        "scheme": {"m": 1024, "k": 3, "scheme": "block"},
        "keyed": KEYED,
        "other-key": {**KEYED, "secret": range(1, 17)},
    }
    pairs("mismatch", shapes, "must have the same")
    for word, value in wrong("none", "list", int=5, text="x"):
        for op in ("union", "intersect"):
            args = {"a.m": 1001, "a.k": 3, "arg": value}
            case(f"mismatch/{op}-{word}: {op} -> type", [], args, no={"c": NO_TYPE})


# ---- what a path may lead to ----
def paths():
    for name, want, says in (  # what is there, says of load and open
        ("missing", "absent", "No such file"),
        ("folder-missing", "absent", "No such file"),
        ("directory", "io", "directory"),
        ("fifo", "io", "FIFO"),
        ("socket", "io", []),
        ("device", "io", "device"),
        ("dangling", "io", {"": ["open"]}),
        ("loop", "io", []),
        ("empty", "format", "only 0 bytes"),
        ("text", "format", "magic"),
        ("under-a-file", "io", "Not a directory"),
        ("long", "io", "too long"),
        *((name, "ok", []) for name in "link sound read-only holes spaces utf8 newline".split()),
    ):
        for op in ("load", "open", "openro"):
            # load follows the link, and finds nothing
            found = "absent" if (name, op) == ("dangling", "load") else want
            case(f"file/{name}/{op}: {op}", says, {"storage": {"path": name}}, want=found)
    both = {
        "missing": ("ok", []),
        "folder-missing": ("io", "No such file"),
        "directory": ("io", "directory"),
        "under-a-file": ("io", "Not a directory"),
        "long": ("io", "too long"),
    }
    creates = {
        "dangling": ("io", "symbolic link"),
        "fifo": ("io", "FIFO"),
        "device": ("io", "device"),
        "empty": ("format", "only 0 bytes"),
        "text": ("format", "magic"),
        "link": ("ok", []),
        "loop": ("io", []),
    }
    saves = {"sound": ("ok", []), "dangling": ("ok", [])}
    for op, argument, rows in (("new", "storage", creates), ("save", "arg", saves)):
        for name, (want, says) in (both | rows).items():
            case(f"file/{name}/{op}: {op}", says, {**PLAIN, argument: {"path": name}}, want=want)
    case("file/read-only/addto: addto -> notsup", "read-only", {"storage": {"path": "read-only"}})
    case("file/sound/addto: addto -> ok", args={"storage": {"path": "sound"}})
    streams()
    no = {"c": NO_TYPE}
    for op in ("load", "open"):
        case(f"file/nul/{op}: {op} -> value", "null byte", {"storage": "a\0b"}, no)
        case(f"file/empty-name/{op}: {op} -> value", "empty", {"storage": ""})
        for word, value in wrong("list", "none", float=1.5):
            case(f"file/path={word}/{op}: {op} -> type", [], {"storage": value}, no)
