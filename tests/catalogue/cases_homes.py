"""Redis that answers wrongly, client objects; filters that grow, forget or count, in every home."""

import itertools

from cases import (
    NO_TYPE,
    NO_RANGE,
    NO_METHOD,
    ZERO,
    i,
    f,
    s,
    b,
    YES,
    NONE,
    LIST,
    case,
    PLAIN,
    put,
    LIMITS,
    BESIDE,
)


# ---- Redis: a server of the test's own that answers these commands so, and all others as a sound
# one would ----
def redis():
    errors = {
        "WRONGTYPE Operation against a key holding the wrong kind of value": "format",
        "NOAUTH Authentication required.": "io",
        "NOPERM this user has no permissions": "io",
        "READONLY You can't write against a read only replica.": "io",
        "OOM command not allowed when used memory > 'maxmemory'.": "io",
        "LOADING Redis is loading the dataset in memory": "io",
        "MOVED 1234 10.0.0.1:6379": "io",
        "ASK 1234 10.0.0.1:6379": "io",
        "CLUSTERDOWN The cluster is down": "io",
        "MISCONF Redis is configured to save RDB snapshots": "io",
        "BUSY Redis is busy running a script": "io",
        "TRYAGAIN Multiple keys request during rehashing of slot": "io",
        "MASTERDOWN Link with MASTER is down": "io",
        "ERR syntax error": "io",
        "": "io",
    }
    phases = {
        "new": ("HGETALL", "new"),
        "mark": ("GETRANGE", "new"),
        "test": ("BITFIELD_RO", "test"),
        "add": ("EVAL", "add"),
        "batch": ("EVAL", "batch"),
        "testbatch": ("BITFIELD_RO", "testbatch"),
    }
    for phase, (command, op) in phases.items():
        for text, want in errors.items():
            word = text.split(" ")[0]
            case(
                f"redis/{phase}/{word or 'empty-error'}: {op}",
                [word] if word else [],
                replies={command: f"-{text}\r\n"},
                want=want,
            )
    garbage = {
        "http": "HTTP/1.1 400 Bad Request\r\n\r\n",
        "newline": "\r\n",
        "huge-bulk": "$99999999999999\r\n",
        "minus-array": "*-7\r\n",
        "huge-array": "*2147483647\r\n",
        "no-number": ":x\r\n",
        "deep": "*1\r\n" * 12 + ":1\r\n",
        "long-text": "$1000000000\r\n" + "x" * 500,
        "long-error": "-ERR " + "x" * 5000 + "\r\n",
        "many-nils": "*2000000\r\n" + "$-1\r\n" * 100,
        "deep-and-wide": "*60\r\n" * 8,
        "binary": "\x00\x01\x02\x03",
        "status": "+OK\r\n",
        "integer": ":1\r\n",
        "nil": "$-1\r\n",
        "one": "*1\r\n:1\r\n",
        "empty-array": "*0\r\n",
        "text": "$3\r\nabc\r\n",
    }
    for phase, (command, op) in phases.items():
        for name, raw in garbage.items():
            if phase == "add" and name in ("integer", "one"):
                continue  # this is what an add answers
            if phase == "mark" and name in (
                "status",
                "nil",
                "text",
                "one",
                "empty-array",
                "integer",
            ):
                case(
                    f"redis/{phase}/{name}: {op} -> format",
                    "not the mark",
                    replies={command: {"raw": raw}},
                )
            else:
                case(f"redis/{phase}/{name}: {op} -> io", "Redis", replies={command: {"raw": raw}})
        for name, cut in (("nothing", 0), ("half", 5)):
            case(
                f"redis/{phase}/close-{name}: {op} -> io",
                "Redis",
                replies={command: {"close": cut}},
            )
        case(
            f"redis/{phase}/silence: {op} -> io",
            "timed out",
            replies={command: {"silence": 1}},
            timeout="0.4",
        )
    case(
        "redis/test/lost: test -> lost",
        "is lost",
        replies={"BITFIELD_RO": "*6\r\n" + ":0\r\n" * 6, "HGETALL/alone": "*0\r\n"},
    )
    case(
        "redis/test/too-few: test -> io",
        "unexpected reply",
        replies={"BITFIELD_RO": "*5\r\n" + ":1\r\n" * 5},
    )
    case(
        "redis/test/too-many: test -> io",
        "unexpected reply",
        replies={"BITFIELD_RO": "*7\r\n" + ":1\r\n" * 7},
    )
    case(
        "redis/test/no-integers: test -> io",
        "unexpected reply",
        replies={"BITFIELD_RO": "*6\r\n" + "$1\r\n1\r\n" * 6},
    )
    case("redis/sound/new: new -> ok", value="20000 2772 5 classic")
    for op in ("test", "add", "batch", "testbatch"):
        case(f"redis/sound/{op}: {op} -> ok")
    for field, bad in (
        ("m", ("0", "5000000000", "x", "-1", "", "20000.0", "99999999999999999999")),
        ("k", ("0", "5000", "x", "-1")),
        ("n", ("-1", "0", "x")),
        ("p", ("2", "nan", "-1", "x")),
        ("mark", ("0", "xyz", "123456789")),
        ("format", ("2", "x")),
        ("scheme", ("nosuch", "")),
        ("secret", ("zz",)),
    ):
        for v in bad:
            case(f"redis/meta/{field}={v or 'empty'}: new -> format", [], meta={field: v})
        case(
            f"redis/meta/no-{field}: new -> format",
            "field m or shards of its" if field == "m" else f"field {field} of its",
            meta={field: None},
        )
    case("redis/meta/other-mark: new -> format", "not the mark", meta={"mark": "0000abcd"})
    for args, says in (
        ({"m": i(20001), "k": i(5)}, ["m=20000", "m=20001"]),
        ({"m": i(20000), "k": i(6)}, ["k=5", "k=6"]),
        ({"m": i(20000), "k": i(5), "scheme": s("block")}, ["classic", "block"]),
    ):
        case(f"redis/mismatch/{says[1]}: new -> mismatch", says, args)
    case(
        "redis/mismatch/secret: new -> mismatch",
        "not keyed",
        {"m": i(20000), "k": i(5), "secret": b(bytes(16))},
    )


# ---- rediss://: what is wrong before TLS begins; the rest is tests/c/test_redis_tls.c ----
def tls():
    size = {"m": i(1000), "k": i(3)}
    closed, none = ["127.0.0.1:1 (TLS)", "refused"], ["no host"]
    for n, (url, want, says) in enumerate(
        (
            ("rediss://127.0.0.1:1?key=k", "io", closed),
            ("rediss://u:s3same@127.0.0.1:1/0?key=k&timeout=1", "io", closed),
            ("rediss://127.0.0.1:1?key=k&ca=/none&cert=/none", "io", closed),
            ("rediss://", "value", none),
            ("rediss://:s3same@/0?key=k", "value", none),
            ("rediss://127.0.0.1:1?key=k&ca=a&ca=b", "value", ["one ca= and one cert="]),
        )
    ):
        for more in ({}, {"key": s("k")}, {"counting": YES}, {"grow": f(2)}):
            args = {"n": i(100), "p": f(0.01)} if "grow" in more else size
            case(
                f"construct/rediss{n}/new{''.join(more)}: new",
                says,
                {**args, **more, "storage": s(url)},
                never="s3same",
                want=want,
            )
        for op in ("open", "openro"):
            case(
                f"construct/rediss{n}/{op}: {op}",
                says,
                {"storage": s(url)},
                never="s3same",
                want=want,
            )
    case(
        "construct/rediss/no-key: new -> value",
        ["names no key"],
        {**size, "storage": s("rediss://127.0.0.1:1")},
    )
    case(
        "construct/rediss/ca-in-the-clear: new -> value",
        ["one db=, and nothing else"],
        {**size, "storage": s("redis://127.0.0.1:1?key=k&ca=a")},
    )


# ---- grow and window: in every home the same values are refused, and leave nothing there ----
def growing():
    size = {"n": i(100), "p": f(0.01)}
    homes = {"memory": {}, "file": {"storage": {"path": "missing"}}, "url": {"storage": {"url": 1}}}
    bad_grow = (
        "1",
        "0.5",
        "0.9999999999999999",
        "5e-324",
        "-1",
        "-0.5",
        "-1e300",
        "1.01e300",
        "nan",
        "inf",
        "-inf",
    )
    bad = {
        "grow": bad_grow,
        "window": (
            "-1",
            "-1e-9",
            "5e-324",
            "0.0003999",
            "-1e300",
            "1.01e300",
            "nan",
            "inf",
            "-inf",
        ),
    }
    good = {
        "grow": ("1.0000000000000002", "1.5", "2", "1e9", "1e300"),
        "window": ("4e-4", "1e-3", "1", "3600", "1e9", "1e300"),
    }
    for (where, home), (name, values) in itertools.product(homes.items(), bad.items()):
        for v in values:
            case(
                f"variant/{where}/{name}={v}: new -> value",
                f"{name} must be",
                {**size, **home, name: f(v)},
            )
        case(
            f"variant/{where}/{name}=0: new -> value",
            f"{name} must be",
            {**size, **home, name: f(0)},
            no={"c": ZERO},
        )
        case(
            f"variant/{where}/{name}=int0: new -> value",
            f"{name} must be",
            {**size, **home, name: i(0)},
            no={"c": ZERO},
        )
        case(
            f"variant/{where}/{name}=huge-int: new -> value",
            f"{name} must be",
            {**size, **home, name: i(10**400)},
            no={"c": NO_TYPE, "php": NO_RANGE},
        )
        for word, value in (("true", YES), ("text", s("2")), ("list", LIST), ("bytes", b(b"2"))):
            case(
                f"variant/{where}/{name}={word}: new -> type",
                {"": [name], "php": ["must be of type ?float"]},
                {**size, **home, name: value},
                no={"c": NO_TYPE},
            )
        for v in good[name]:
            case(f"variant/{where}/{name}={v}: new -> ok", args={**size, **home, name: f(v)})
    for where, home in homes.items():
        case(
            f"variant/{where}/grow,window: new -> value",
            ["grow=2", "window=60", "must not be given together"],
            {**size, **home, "grow": f(2), "window": f(60)},
        )
        for name, v in (("grow", 2), ("window", 60)):
            both_given = {**home, name: f(v)}
            case(
                f"variant/{where}/{name},m,k: new -> value",
                [name, "needs n and p"],
                {"m": i(1000), "k": i(3), **both_given},
            )
            case(
                f"variant/{where}/{name},m,n: new -> value",
                [name, "needs n and p"],
                {"m": i(1000), "n": i(10), **both_given},
            )
            case(
                f"variant/{where}/{name},shards: new -> value",
                "shards=2",
                {**size, **both_given, "shards": i(2)},
            )
            case(
                f"variant/{where}/{name},counting: new -> value",
                "neither grow nor forget",
                {**size, **both_given, "counting": YES},
            )
            case(
                f"variant/{where}/{name},java7: new -> value",
                "java7",
                {**size, **both_given, "scheme": s("java7")},
            )
            case(
                f"variant/{where}/{name},p=1: new -> value",
                "p must be",
                {"n": i(100), "p": f(1), **both_given},
            )
            case(
                f"variant/{where}/{name},n=most: new -> value",
                [],
                {"n": i(2**63 - 1), "p": f(0.01), **both_given},
            )
        for n in (256, 257, 2**32 - 1):
            case(
                f"variant/{where}/parts={n}: new -> value",
                ["parts must be 1 to 255", f"got {n}"],
                {**size, **home, "window": f(60), "parts": i(n)},
            )
        for n in (1, 4):
            case(
                f"variant/{where}/parts={n}-ok: new -> ok",
                args={**size, **home, "window": f(60), "parts": i(n)},
            )
        for op in ("add", "test", "batch", "testbatch"):
            for name, v in (("grow", 2), ("window", 3600)):
                case(f"variant/{where}/{name}/{op}: {op} -> ok", args={**size, **home, name: f(v)})
                if where != "file":  # which it makes, before it refuses the key
                    case(
                        f"variant/{where}/{name}/{op}-none: {op} -> type",
                        [],
                        {**size, **home, name: f(v), "arg": NONE},
                        no={"c": NO_TYPE},
                    )
    kinds = {
        "plain": {**size},
        "grow": {**size, "grow": f(2)},
        "window": {**size, "window": f(60)},
        "counting": {**size, "counting": YES},
    }
    for (have, there), (want, args) in itertools.product(kinds.items(), repeat=2):
        refused = have != want and want != "plain" or {have, want} == {"plain", "counting"}
        if have == want or refused:
            case(
                f"variant/url/{have}-opened-as-{want}: new",
                [],
                {**args, "storage": {"url": 1}},
                there=there,
                want="mismatch" if refused else "ok",
            )
            case(
                f"variant/file/{have}-opened-as-{want}: new",
                [],
                {**args, "storage": {"path": "data"}},
                data={"of": there},
                want="mismatch" if refused else "ok",
            )
            case(
                f"variant/bytes/{have}-read-as-{want}: from_bytes",
                [],
                {name: value for name, value in args.items() if name not in ("grow", "window")},
                data={"of": there},
                want="mismatch" if refused and "counting" in (have, want) else "ok",
            ) if want not in ("grow", "window") else None
    for name, other in (("grow", 3), ("window", 61)):
        case(
            f"variant/url/other-{name}: new -> mismatch",
            f"asked for {name}={other}",
            {**size, name: f(other), "storage": {"url": 1}},
            there=kinds[name],
        )
        case(
            f"variant/file/other-{name}: new -> mismatch",
            f"asked for {name}={other}",
            {**size, name: f(other), "storage": {"path": "data"}},
            data={"of": kinds[name]},
        )


# ---- counting filters ----
COUNTING = {"m": i(1001), "k": i(3), "counting": YES}


def counting():
    as_counting = {"counting": YES}
    for letter, most in LIMITS.items():
        beside, must, no_c = (
            {**BESIDE[letter], **as_counting},
            f"{letter} must be 1 to",
            {"c": NO_RANGE} if letter == "k" else None,
        )
        for op in ("plan", "new"):
            case(
                f"counting/{letter}=0/{op}: {op} -> value",
                {"": [must, "got 0"], "c": ["give m and n"]},
                {letter: i(0), **beside},
            )
            case(
                f"counting/{letter}=-1/{op}: {op} -> value",
                {"": [must, "got -1"], "c": [letter]},
                {letter: i(-1), **beside},
            )
            case(
                f"counting/{letter}=past/{op}: {op} -> value",
                {"": [must, f"got {most + 1}"], "php": [must]},
                {letter: i(most + 1), **beside},
                no=no_c,
            )
            for word, value in (("true", YES), ("text", s("100")), ("list", LIST)):
                case(
                    f"counting/{letter}={word}/{op}: {op} -> type",
                    letter,
                    {letter: value, **beside},
                    no={"c": NO_TYPE},
                )
    for op in ("plan", "new"):
        for p in ("1", "2", "-1", "nan", "inf"):
            case(
                f"counting/p={p}/{op}: {op} -> value",
                "p must be above 0 and below 1",
                {"n": i(100), "p": f(p), **as_counting},
            )
        case(f"counting/nothing/{op}: {op} -> value", "give m and n", as_counting)
        for name, value in (("grow", f(2)), ("window", f(60)), ("grow", f(1)), ("window", f(-1))):
            says = (
                {"": ["neither grow nor forget"], "py": []}
                if float(value["f"]) < 2
                else "neither grow nor forget"
            )
            case(
                f"counting/{name}={value['f']}/{op}: {op} -> value",
                says,
                {"n": i(100), "p": f(0.01), name: value, **as_counting},
            )
        case(
            f"counting/shards/{op}: {op} -> ok",
            args={**COUNTING, "shards": i(2)},
            value="1024 236 3 classic" if op == "plan" else None,
        )
        case(
            f"counting/shards=5000/{op}: {op} -> value",
            "shards must be 1 to 4096, got 5000",
            {**COUNTING, "shards": i(5000)},
        )
        case(f"counting/scheme/{op}: {op} -> value", "nosuch", {**COUNTING, "scheme": s("nosuch")})
    case("counting/secret=15: new -> value", "got 15 bytes", {**COUNTING, "secret": b(b"a", 15)})
    case(
        "counting/m=most/plan: plan -> ok",
        args={"m": i(2**40), "k": i(1), **as_counting},
        value="1099511627776 762123384785 1 classic",
    )
    case(
        "counting/m=1: new -> ok", args={"m": i(1), "k": i(1), **as_counting}, value="1 1 1 classic"
    )
    for scheme, k in (
        ("classic", 3),
        ("block", 3),
        ("block2", 3),
        ("sax-sdbm", 2),
        ("java7", 7),
        ("guava:chars", 5),
        ("gozero", 14),
    ):
        for op in ("key", "remove", "count", "removebatch"):
            case(
                f"counting/{scheme}/{op}: {op} -> ok",
                args={"m": i(4096), "k": i(k), "scheme": s(scheme), "counting": YES, "arg": s("x")},
                value=None if op == "key" else "0",
            )
    for word, value in (
        ("true", YES),
        ("none", NONE),
        ("list", LIST),
        ("float", f(1.0)),
        ("nan", f("nan")),
    ):
        for op in ("remove", "count"):
            case(
                f"counting/{word}/{op}: {op} -> type",
                "must be",
                {**COUNTING, "arg": value},
                no={"c": NO_TYPE},
            )
        case(
            f"counting/{word}/removebatch: removebatch -> type",
            {"py": ["key 1: a key must be"], "php": ["index 1"]},
            {**COUNTING, "arg": value},
            no={"c": NO_TYPE},
        )
    for name, text in (("high", "\ud800"), ("inside", "aa\ud800bb")):
        for op in ("remove", "count", "removebatch"):
            case(
                f"counting/surrogate-{name}/{op}: {op} -> value",
                "lone surrogate",
                {**COUNTING, "arg": s(text)},
                no={"c": NO_TYPE, "php": NO_TYPE},
            )
    for name, bad in (("ff", b"\xff"), ("cut", b"\xf0\x9f"), ("late", b"good\xfe")):
        for op in ("add", "remove", "count", "removebatch"):
            case(
                f"counting/utf16/{name}/{op}: {op} -> value",
                "UTF-8",
                {
                    "m": i(4096),
                    "k": i(5),
                    "scheme": s("guava:chars"),
                    "counting": YES,
                    "arg": b(bad),
                },
            )
    for op in ("remove", "count", "removebatch"):  # of a plain filter
        case(
            f"counting/plain/{op}: {op} -> notsup",
            "only counting filters",
            {**PLAIN},
            no={"php": NO_METHOD, "py": NO_METHOD},
        )
    counting_images()
    counting_mixed()


def counting_images():
    whole, last = 4096 + 8 * 63, 4096 + 500  # 1001 counters: 501 bytes, 63 words

    def damaged(name, want, says, **damage):
        for op in ("from_bytes", "load", "open"):
            case(
                f"counting/{name}/{op}: {op}",
                says,
                {"counting": YES},
                data={"of": COUNTING, **damage},
                want=want,
            )

    damaged("sound", "ok", [])
    damaged("mended-nothing", "ok", [], mend=2)
    for n in (0, 7, 16, 2048, 4095, 4096, 4097, whole - 8, whole - 1):
        damaged(f"cut-{n}", "format", [f"{n} bytes"], cut=n)
    for n in (1, 8, 4096):
        damaged(f"long-{n}", "format", ["too long", f"{whole + n} bytes"], more=n)
    for v in (0, 2, 3, 8, 2**32 - 1):
        damaged(f"cell-{v}", "format", [], put=[put(52, v.to_bytes(4, "little"))], mend=1)
    damaged(
        "cell-1", "format", [], put=[put(52, [1])], mend=1
    )  # as many bits would need fewer bytes
    for v in (0, 8, 503, 505, 2016, 2**64 - 1):
        damaged(f"bytes-{v}", "format", [], put=[put(64, v.to_bytes(8, "little"))], mend=1)
    for v in (0, 1000, 1009, 2**40, 2**64 - 1):
        damaged(
            f"m-{v}",
            "format" if v != 1000 else ["format", "ok"],
            [],
            put=[put(32, v.to_bytes(8, "little"))],
            mend=1,
        )
    damaged("shards", "format", [], put=[put(28, [3])], mend=1)
    for at, mask in (
        (last, 0x01),
        (last, 0x08),
        (last + 1, 0x80),
        (whole - 1, 1),
    ):  # counter 1000 is the high half of byte 500
        damaged(f"past-m-{at}-{mask}", "format", "past m", flip=[[at, mask]], mend=2)
    for at in (4096, last):
        damaged(f"bit-{at}", "format", "bits' checksum", flip=[[at, 0x40]])


def counting_mixed():
    """Each class refuses the other's bytes, files and Redis filters, and says which one opens
    them."""
    for have, there, want, args in (
        ("counting", COUNTING, "BloomFilter", {}),
        ("plain", PLAIN, "CountingBloomFilter", {"counting": YES}),
    ):
        right = "CountingBloomFilter" if have == "counting" else "BloomFilter"
        other = "plain" if have == "counting" else "counting"
        says = [f"is a {have} filter, asked for a {other} one"]
        for op in ("from_bytes", "load", "open", "openro"):
            case(
                f"counting/{have}-as-{want}/{op}: {op} -> mismatch", says, args, data={"of": there}
            )
        case(
            f"counting/{have}-as-{want}/new: new -> mismatch",
            says,
            {**PLAIN, **args, "storage": {"path": "data"}},
            data={"of": there},
        )
        for where, place in (
            ("url", {"storage": {"url": 1}}),
            ("client", {"storage": {"o": "sound"}, "key": s("KEY")}),
        ):
            for op in ("open", "openro"):
                case(
                    f"counting/{have}-as-{want}/{where}/{op}: {op} -> mismatch",
                    says,
                    {**args, **place},
                    there=there,
                )
            case(
                f"counting/{have}-as-{want}/{where}/new: new -> mismatch",
                says,
                {**PLAIN, **args, **place},
                there=there,
            )
            case(
                f"counting/{have}-as-{right}/{where}/open: open -> ok",
                args={**place, **({"counting": YES} if have == "counting" else {})},
                there=there,
            )
    sides = {"plain": PLAIN, "counting": COUNTING}
    for (a, left), (c, right) in itertools.product(sides.items(), repeat=2):
        given = {f"a.{name}": value for name, value in left.items()} | {
            f"b.{name}": value for name, value in right.items()
        }
        for op in ("union", "intersect"):
            case(
                f"counting/{op}-{a}-{c}: {op}",
                [] if a == c else "plain",
                given,
                want="ok" if a == c else "value",
            )
        case(f"counting/equal-{a}-{c}: equal -> ok", args=given, value=str(int(a == c)))
    for form in ("bits", "bits-lsb", "cells", "guava"):
        cells = form == "cells"  # a byte for each of m cells: counters hold them
        case(
            f"counting/as-{form}: from_bytes",
            "126 bytes, m=1001 needs 1001" if cells else "bits, not counters",
            {**COUNTING, "scheme": s("classic"), "format": s(form)},
            data={"raw": "00", "times": 126},
            want="format" if cells else "notsup",
        )


# ---- client objects in the place of a URL ----
def client_objects():
    size, key = {"m": i(1001), "k": i(3)}, {"key": s("KEY")}

    def through(name, want, says=(), args=None, client="sound", op="new", **more):
        case(
            f"client/{name}: {op}",
            says,
            {**size, "storage": {"o": client}, **(key if args is None else args)},
            **more,
            want=want,
        )

    for name, more in (
        ("plain", {}),
        ("counting", {"counting": YES}),
        ("shards", {"shards": i(2)}),
        ("keyed", {"secret": b(range(16))}),
    ):
        through(f"sound-{name}", "ok", args={**key, **more})
    for op in ("add", "test", "batch", "testbatch", "key", "hashcode"):
        through(f"sound/{op}", "ok", op=op)
    for op in ("remove", "count", "removebatch"):
        through(f"sound/{op}", "ok", op=op, args={**key, "counting": YES}, value="0")
    through("no-key", "value", "key", args={})
    through("key=empty", "value", "key", args={"key": s("")})
    through("key=none", "value", "key", args={"key": NONE}, no={"c": NO_TYPE})
    through("key=nul", "value", "key", args={"key": s("a\0b")}, no={"c": NO_TYPE})
    for word, value in (("true", YES), ("int", i(1)), ("float", f(1.5)), ("list", LIST)):
        through(f"key={word}", "type", "key", args={"key": value}, no={"c": NO_TYPE})
    through("timeout", "value", "timeout", args={**key, "timeout": f(1)})
    for name, v in (("grow", 2), ("window", 60)):
        case(
            f"client/{name}: new -> ok",
            args={"n": i(100), "p": f(0.01), **key, "storage": {"o": "sound"}, name: f(v)},
        )
    through("m=0", "value", "m must be 1 to", args={**key, "m": i(0)}, no={"c": ZERO})
    for op in ("new", "open", "openro"):
        args = {**key} if op != "new" else {**size, **key}
        case(
            f"client/object/{op}: {op} -> type",
            {"py": ["a client of redis-py", "object"], "php": ["a phpredis object", "stdClass"]},
            {**args, "storage": {"o": "object"}},
            no={"c": NO_TYPE},
        )
        case(f"client/raises/{op}: {op} -> io", "no way", {**args, "storage": {"o": "raises"}})
        case(f"client/nobody/{op}: {op} -> io", [], {**args, "storage": {"o": "nobody"}})
        case(
            f"client/pipelining/{op}: {op}",
            "pipeline",
            {**args, "storage": {"o": "pipelining"}},
            no={"c": NO_TYPE},
            want={"py": "type", "php": "io"},
        )
        if op != "new":
            case(
                f"client/missing/{op}: {op} -> absent",
                "does not exist",
                {**key, "storage": {"o": "sound"}},
            )
    for op in ("add", "test", "batch", "testbatch"):
        through(f"turns/{op}", "io", "no way", client="turns", op=op)
    for op in ("remove", "count", "removebatch"):
        through(f"turns/{op}", "io", "no way", client="turns", op=op, args={**key, "counting": YES})
    for name, args, says in (
        ("m", {"m": i(1002)}, ["m=1001", "m=1002"]),
        ("k", {"k": i(4)}, ["k=3", "k=4"]),
        ("scheme", {"scheme": s("block")}, ["classic", "block"]),
        ("secret", {"secret": b(bytes(16))}, "not keyed"),
    ):
        through(f"other-{name}", "mismatch", says, args={**key, **args}, there=PLAIN)
    through("same", "ok", there=PLAIN)
    through("foreign", "format", "not our filter", there="SET KEY abc")
    through("list", "format", [], there="RPUSH KEY abc")
    through("foreign-meta", "format", [], there="HSET KEY:meta a b")
