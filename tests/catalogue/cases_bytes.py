"""Damaged bytes and files, parameters that disagree with the stored ones, what else a path may lead
to."""

import itertools

from cases import NO_TYPE, ZERO, i, f, s, b, YES, NONE, LIST, case, PLAIN, LINES, KEYED, image, put


# ---- bytes and files: every damage is read as bytes, loaded, and opened as a mapped file ----
def images():
    whole = 4096 + 128  # m = 1001: 16 words
    for base, word in ((PLAIN, "plain"), (LINES, "block")):
        image(f"sound-{word}", "ok", [], base)
    image("sound-keyed", "ok", [], KEYED, {"secret": b(range(16))})
    image("keyed-no-secret", "mismatch", "secret must be given", KEYED)
    image("keyed-other-secret", "mismatch", "another secret", KEYED, {"secret": b(range(1, 17))})
    image("keyed-short-secret", "value", "got 15 bytes", KEYED, {"secret": b(range(15))})
    image("not-keyed", "mismatch", "not keyed", PLAIN, {"secret": b(range(16))})
    for n in (0, 1, 7):
        image(f"cut-{n}", "format", [f"only {n} bytes"], cut=n)
    for n in (8, 9, 12, 16, 24, 32, 80, 144, 2047, 2048, 2056, 2080, 4088, 4095):
        image(f"cut-{n}", "format", ["truncated", f"{n} bytes"], cut=n)
    for n in (4096, 4097, whole - 8, whole - 1):
        image(f"cut-{n}", "format", ["truncated", f"{n} bytes", "m=1001"], cut=n)
    for n in (1, 7, 8, 128, 4096, 65536):
        image(f"long-{n}", "format", ["too long", f"{whole + n} bytes"], more=n)
    image("twice", "format", "too long", twice=1)
    for at in range(8):
        image(f"magic-{at}", "format", "magic", put=[put(at, [0])])
    for name, data in (
        ("zeros", bytes(whole)),
        ("ones", b"\xff" * whole),
        ("text", b"hello, world\n" * 400),
        ("gzip", b"\x1f\x8b\x08\0" + bytes(whole)),
    ):
        image(f"other-{name}", "format", "magic", raw=data[:16].hex(), times=len(data) // 16)
    for version in (0, 2, 3, 2**31, 2**32 - 1):
        says = ["format version", str(version)] if version > 1 else ["damaged"]
        image(f"version-{version}", "format", says, put=[put(8, version.to_bytes(4, "little"))])
        image(
            f"version-{version}-mended",
            "format",
            says,
            put=[put(8, version.to_bytes(4, "little"))],
            mend=1,
        )
    fields = {
        "header-bytes": (12, 4, (0, 1, 4095, 2**32 - 1)),
        "scheme": (24, 4, (0, 2, 999, 2**32 - 1)),
        "flags": (28, 4, (1, 2, 3, 2**31)),
        "m": (32, 8, (0, 960, 1025, 2**40, 2**40 + 1, 2**64 - 1)),
        "n": (40, 8, (0, 2**63, 2**64 - 1)),
        "k": (48, 4, (0, 4097, 2**31, 2**32 - 1)),
        "cell": (52, 4, (0, 2, 4, 2**32 - 1)),
        "bytes": (64, 8, (0, 64, 127, 129, 2**63, 2**64 - 1)),
        "secret": (72, 8, (1, 2**63)),
    }
    for field, (at, size, values) in fields.items():
        for v in values:
            patch = [put(at, v.to_bytes(size, "little"))]
            image(f"{field}-{v}", "format", "damaged", put=patch, ways=("from_bytes", "open"))
            image(f"{field}-{v}-mended", "format", [], put=patch, mend=1)
    for p, bits in (
        ("negative", 0xBFF0000000000000),
        ("two", 0x4000000000000000),
        ("nan", 0x7FF8000000000000),
        ("inf", 0x7FF0000000000000),
        ("past-1", 0x3FF0000000000001),
    ):
        image(
            f"p-{p}",
            "format",
            "p is out of range",
            put=[put(56, bits.to_bytes(8, "little"))],
            mend=1,
        )
    for name, text in (
        ("empty", b""),
        ("other", b"block"),
        ("unknown", b"nosuch"),
        ("longer", b"classicx"),
        ("full", b"c" * 64),
        ("colon", b"classic:"),
        ("behind-nul", b"classic\0x"),
    ):
        image(
            f"name-{name}",
            "format",
            "scheme name and number disagree",
            put=[put(80, text.ljust(64, b"\0"))],
            mend=1,
        )
    for at in (144, 1000, 2047):
        image(f"reserved-{at}", "format", "reserved", put=[put(at, [1])], mend=1)
    image("generation-2080", "format", "generation is invalid", put=[put(2080, [1])], mend=1)
    for at in (2088, 3000, 4087):
        image(f"reserved-{at}", "format", "reserved", put=[put(at, [1])], mend=1)
    for name, at in (("dirty", 2048), ("clean", 2056)):
        image(f"sequence-{name}", "format", "sequence", put=[put(at, [1])])
        image(f"sequence-{name}-mended", "format", "sequence", put=[put(at, [1])], mend=1)
    image("sum-header", "format", "checksum", put=[put(16, [1, 2, 3])])
    image("sum-bits", "format", "checksum", put=[put(2072, [1, 2, 3])])
    image("sum-bits-mended-page", "format", "bits' checksum", put=[put(2072, [1, 2, 3])], mend=1)
    image("sum-page", "format", "checksum", put=[put(4088, [1, 2, 3])])
    image("ones-count", "format", "checksum", put=[put(2064, [77])])
    for at in (4096, 4100, 4096 + 64, 4096 + 124):
        image(f"bit-{at}", "format", "bits' checksum", flip=[[at, 1]])
    for at, mask in (
        (4096 + 125, 0x01),
        (4096 + 125, 0x40),
        (4096 + 126, 0x80),
        (4096 + 127, 1),
    ):  # m = 1001: bit 1000 is the last
        image(f"past-m-{at}-{mask}", "format", "past m", flip=[[at, mask]], mend=2)
    image("mended-nothing", "ok", [], mend=2)
    as_args = {"m": i(1001), "k": i(3)}
    for name, format_, args, want, says, raw in (
        ("unknown", "nosuch", as_args, "value", "format must be one of", "00"),
        ("empty", "", as_args, "value", "format must be one of", "00"),
        ("guava-empty", "guava", {}, "format", [], ""),
        ("guava-5", "guava", {}, "format", [], "0103000000"),
        ("guava-strategy", "guava", {}, "format", "strategy", "0203000000010000000000000000"),
        ("guava-k0", "guava", {}, "format", "k=0", "0100000000010000000000000000"),
        ("guava-0-longs", "guava", {}, "format", "0 longs", "010300000000"),
        (
            "guava-short",
            "guava",
            {},
            "format",
            ["14 bytes", "2 longs need 22"],
            "01030000000200000000000000000"[:28],
        ),
        (
            "guava-long",
            "guava",
            {},
            "format",
            ["15 bytes", "1 longs need 14"],
            "0103000000010000000000000000ff",
        ),
        ("guava-minus", "guava", {}, "format", [], "0103ffffffff0000000000000000"),
        (
            "guava-other-k",
            "guava",
            {"k": i(4)},
            "mismatch",
            ["k=3", "k=4"],
            "0103000000010000000000000000",
        ),
        (
            "guava-other-m",
            "guava",
            {"m": i(65)},
            "mismatch",
            ["m=64", "m=65"],
            "0103000000010000000000000000",
        ),
        (
            "guava-other-scheme",
            "guava",
            {"scheme": s("guava32")},
            "mismatch",
            ["MITZ_64", "guava32"],
            "0103000000010000000000000000",
        ),
        ("bits-no-scheme", "bits", as_args, "value", "scheme must be given", "00"),
        (
            "bits-too-long",
            "bits",
            {**as_args, "scheme": s("classic")},
            "format",
            ["127 bytes", "m=1001"],
            "00" * 127,
        ),
        (
            "bits-past-m",
            "bits",
            {**as_args, "scheme": s("classic")},
            "format",
            "past m=1001",
            "00" * 125 + "01",
        ),
        ("bits-short", "bits", {**as_args, "scheme": s("classic")}, "ok", [], ""),
        (
            "lsb-past-m",
            "bits-lsb",
            {**as_args, "scheme": s("classic")},
            "format",
            "past m=1001",
            "00" * 125 + "80",
        ),
        (
            "cells-short",
            "cells",
            {**as_args, "scheme": s("classic")},
            "format",
            ["1000 bytes", "m=1001"],
            "01" * 1000,
        ),
        (
            "cells-long",
            "cells",
            {**as_args, "scheme": s("classic")},
            "format",
            ["1002 bytes", "m=1001"],
            "01" * 1002,
        ),
    ):
        case(
            f"bytes/as-{name}: from_bytes",
            says,
            {**args, "format": s(format_)},
            data={"raw": raw, "times": 1},
            want=want,
        )
    for word, value in (("int", i(5)), ("none", NONE), ("list", LIST), ("true", YES)):
        case(
            f"bytes/data={word}: from_bytes -> type",
            {"": [], "php": ["must be of type string"]},
            {"data": value},
            no={"c": NO_TYPE},
        )


# ---- parameters that disagree with the stored ones ----
def mismatches():
    bases = {
        "classic": {"m": i(1001), "k": i(3)},
        "block": {"n": i(100), "p": f(0.01)},
        "sized": {"m": i(5000), "n": i(500)},
    }
    asked = {
        "classic": [
            ({"m": i(1002), "k": i(3)}, ["m=1001", "m=1002"]),
            ({"m": i(1001), "k": i(4)}, ["k=3", "k=4"]),
            ({"m": i(1001), "n": i(5)}, ["n=231", "n=5"]),
            ({"m": i(1001), "k": i(3), "scheme": s("block")}, ["classic", "block"]),
            ({"m": i(1001), "p": f(0.5)}, ["asked for p=0.5"]),
            ({"k": i(1)}, ["k=3", "k=1"]),
            ({"n": i(1)}, ["n=231", "n=1"]),
            ({"m": i(1)}, ["m=1001", "m=1"]),
            ({"scheme": s("block2")}, ["classic", "block2"]),
            ({"p": f(0.25)}, ["p=0.25"]),
        ],
        "block": [
            ({"n": i(101), "p": f(0.01)}, ["n=100", "n=101"]),
            ({"n": i(100), "p": f(0.02)}, ["p=0.01", "p=0.02"]),
            ({"n": i(100), "p": f(0.01), "scheme": s("classic")}, ["block", "classic"]),
            ({"m": i(512)}, ["m=512"]),
            ({"k": i(16)}, ["k=16"]),
        ],
        "sized": [
            ({"m": i(5000), "n": i(501)}, ["n=500", "n=501"]),
            ({"m": i(5000), "n": i(500), "k": i(6)}, ["k=7", "k=6"]),
            ({"m": i(4999), "n": i(500)}, ["m=5000", "m=4999"]),
        ],
    }
    for base, rows in asked.items():
        for n, (args, says) in enumerate(rows):
            case(
                f"mismatch/{base}-{n}/new: new -> mismatch",
                says,
                {**args, "storage": {"path": "data"}},
                data={"of": bases[base]},
            )
            case(
                f"mismatch/{base}-{n}/from_bytes: from_bytes -> mismatch",
                says,
                args,
                data={"of": bases[base]},
            )
        case(
            f"mismatch/{base}-same/new: new -> ok",
            args={**bases[base], "storage": {"path": "data"}},
            data={"of": bases[base]},
        )
        case(
            f"mismatch/{base}-same/from_bytes: from_bytes -> ok",
            args=bases[base],
            data={"of": bases[base]},
        )
    for letter, bad in (
        ("m", i(0)),
        ("n", i(0)),
        ("k", i(0)),
        ("k", i(-1)),
        ("m", i(2**40 + 1)),
        ("k", i(4097)),
        ("p", f(1)),
        ("p", f(2)),
        ("p", f(-1)),
        ("p", f("nan")),
    ):
        text = bad.get("i", bad.get("f"))
        no = {"c": ZERO} if text == "0" else None
        case(
            f"mismatch/bad-{letter}={text}/from_bytes: from_bytes -> value",
            f"{letter} must be",
            {letter: bad},
            data={"of": bases["classic"]},
            no=no,
        )
        case(
            f"mismatch/bad-{letter}={text}/new: new -> value",
            f"{letter} must be",
            {letter: bad, "storage": {"path": "data"}},
            data={"of": bases["classic"]},
            no=no,
        )
    shapes = {
        "classic": {"m": i(1001), "k": i(3)},
        "m": {"m": i(1002), "k": i(3)},
        "k": {"m": i(1001), "k": i(4)},
        "scheme": {"m": i(1024), "k": i(3), "scheme": s("block")},
        "keyed": KEYED,
        "other-key": {**KEYED, "secret": b(range(1, 17))},
    }
    for (a, left), (c, right) in itertools.product(shapes.items(), repeat=2):
        args = {f"a.{name}": value for name, value in left.items()} | {
            f"b.{name}": value for name, value in right.items()
        }
        for op in ("union", "intersect"):
            case(
                f"mismatch/{op}-{a}-{c}: {op}",
                [] if a == c else "must have the same",
                args,
                want="ok" if a == c else "value",
            )
        case(f"mismatch/equal-{a}-{c}: equal -> ok", args=args, value=str(int(a == c)))
    for word, value in (("int", i(5)), ("none", NONE), ("list", LIST), ("text", s("x"))):
        for op in ("union", "intersect"):
            case(
                f"mismatch/{op}-{word}: {op} -> type",
                [],
                {"a.m": i(1001), "a.k": i(3), "arg": value},
                no={"c": NO_TYPE},
            )


# ---- what a path may lead to ----
def paths():
    rows = [  # what is there, says of load and open
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
        ("link", "ok", []),
        ("sound", "ok", []),
        ("read-only", "ok", []),
        ("holes", "ok", []),
        ("spaces", "ok", []),
        ("utf8", "ok", []),
        ("newline", "ok", []),
    ]
    for name, want, says in rows:
        for op in ("load", "open", "openro"):
            # load follows the link, and finds nothing
            found = "absent" if (name, op) == ("dangling", "load") else want
            case(f"file/{name}/{op}: {op}", says, {"storage": {"path": name}}, want=found)
    creates = {
        "missing": ("ok", []),
        "dangling": ("io", "symbolic link"),
        "folder-missing": ("io", "No such file"),
        "directory": ("io", "directory"),
        "fifo": ("io", "FIFO"),
        "device": ("io", "device"),
        "empty": ("format", "only 0 bytes"),
        "text": ("format", "magic"),
        "under-a-file": ("io", "Not a directory"),
        "long": ("io", "too long"),
        "link": ("ok", []),
        "loop": ("io", []),
    }
    for name, (want, says) in creates.items():
        case(f"file/{name}/new: new", says, {**PLAIN, "storage": {"path": name}}, want=want)
    saves = {
        "missing": ("ok", []),
        "sound": ("ok", []),
        "dangling": ("ok", []),
        "folder-missing": ("io", "No such file"),
        "directory": ("io", "directory"),
        "under-a-file": ("io", "Not a directory"),
        "long": ("io", "too long"),
    }
    for name, (want, says) in saves.items():
        case(f"file/{name}/save: save", says, {**PLAIN, "arg": {"path": name}}, want=want)
    case("file/read-only/addto: addto -> notsup", "read-only", {"storage": {"path": "read-only"}})
    case("file/sound/addto: addto -> ok", args={"storage": {"path": "sound"}})
    for op in ("load", "open"):
        case(
            f"file/nul/{op}: {op} -> value", "null byte", {"storage": s("a\0b")}, no={"c": NO_TYPE}
        )
        case(
            f"file/empty-name/{op}: {op}",
            [],
            {"storage": s("")},
            want={
                "": "value",
                "c": "absent" if op == "load" else "value",
                "py": "io" if op == "load" else "value",
            },
        )
        for word, value in (("float", f(1.5)), ("list", LIST), ("none", NONE)):
            case(f"file/path={word}/{op}: {op} -> type", [], {"storage": value}, no={"c": NO_TYPE})
