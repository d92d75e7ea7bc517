"""Client objects; filters that grow, forget or count, in every home."""

import itertools

from cases import (
    NO_TYPE,
    NO_RANGE,
    NO_METHOD,
    ZERO,
    f,
    times,
    case,
    image,
    pairs,
    u32,
    u64,
    wrong,
    PLAIN,
)

URL, THERE, DATA = (
    {"storage": {"url": 1}},
    {"storage": {"path": "missing"}},
    {"storage": {"path": "data"}},
)
NOT_C = {"c": NO_TYPE}
NOT_FLOAT = ("true", "text", "list")  # wrong for a number


# ---- grow and window: in every home the same values are refused, and leave nothing there ----
def growing():
    size = {"n": 100, "p": 0.01}
    homes = {"memory": {}, "file": THERE, "url": URL}
    values = {
        "grow": (
            "0.5 0.9999999999999999 5e-324 -1 -0.5 -1e300 1024.0000000000002 1e9 nan inf -inf",
            "1 1.0000000000000002 1.5 2 1024",
        ),
        "window": (
            "-1 -1e-9 5e-324 0.0003999 -1e300 1.01e300 nan inf -inf",
            "4e-4 1e-3 1 3600 1e9 1e300",
        ),
    }
    for where, home in homes.items():

        def new(name, want, says=(), op="new", no=None, **args):
            case(f"variant/{where}/{name}: {op} -> {want}", says, {**size, **home, **args}, no)

        for name, (bad, good) in values.items():
            for v in bad.split():
                new(f"{name}={v}", "value", f"{name} must be", **{name: f(v)})
            for word, value, no in (
                ("0", f(0), {"c": ZERO}),
                ("int0", 0, {"c": ZERO}),
                ("huge-int", 10**400, {"c": NO_TYPE, "php": NO_RANGE}),
            ):
                new(f"{name}={word}", "value", f"{name} must be", no=no, **{name: value})
            php = "DateInterval|float|null" if name == "window" else "?float"
            says = {"": [name], "php": [f"must be of type {php}"]}
            for word, value in wrong(*NOT_FLOAT, bytes=b"2"):
                new(f"{name}={word}", "type", says, no=NOT_C, **{name: value})
            for v in good.split():
                new(f"{name}={v}", "ok", **{name: f(v)})
        both_given = ["grow=2", "window=60", "must not be given together"]
        new("grow,window", "value", both_given, grow=f(2), window=f(60))
        for name, v in (("grow", 2), ("window", 60)):
            for beside in ({"m": 1000, "k": 3}, {"m": 1000, "n": 10, "p": f(0.01)}):
                args = {**beside, **home, name: f(v)}
                what = f"variant/{where}/{name},{','.join(beside)}: new -> value"
                case(what, [name, "needs n and p"], args)
            kind = {name: f(v)}
            new(f"{name},shards", "value", "shards=2", **kind, shards=2)
            if name == "window":
                new(f"{name},counting", "value", "cannot forget", **kind, counting=True)
            else:
                new(f"{name},counting", "ok", **kind, counting=True)
                args = {"m": 1000, "n": 10, **home, **kind}
                case(f"variant/{where}/{name},m,n-together: new -> ok", args=args)
            new(f"{name},java7", "value", "java7", **kind, scheme="java7")
            new(f"{name},p=1", "value", "p must be", **kind, p=f(1))
            new(f"{name},n=most", "value", [], **kind, n=2**63 - 1)
        for n in (256, 257, 2**32 - 1):
            says = ["parts must be 1 to 255", f"got {n}"]
            new(f"parts={n}", "value", says, window=f(60), parts=n)
        for n in (1, 4):
            new(f"parts={n}-ok", "ok", window=f(60), parts=n)
        for op in ("add", "test", "batch", "testbatch"):
            for name, v in (("grow", 2), ("window", 3600)):
                new(f"{name}/{op}", "ok", op=op, **{name: f(v)})
                if where != "file":  # which it makes, before it refuses the key
                    new(f"{name}/{op}-none", "type", op=op, no=NOT_C, **{name: f(v), "arg": None})
    kinds = {
        "plain": size,
        "grow": {**size, "grow": f(2)},
        "window": {**size, "window": f(60)},
        "counting": {**size, "counting": True},
    }
    for (have, there), (kind, args) in itertools.product(kinds.items(), repeat=2):
        refused = have != kind and kind != "plain" or {have, kind} == {"plain", "counting"}
        if have == kind or refused:
            want = "mismatch" if refused else "ok"
            what, data = f"{have}-opened-as-{kind}: new", {"of": there}
            case(f"variant/url/{what}", [], {**args, **URL}, there=there, want=want)
            case(f"variant/file/{what}", [], {**args, **DATA}, data=data, want=want)
            if kind not in ("grow", "window"):
                want = "mismatch" if refused and "counting" in (have, kind) else "ok"
                what = f"variant/bytes/{have}-read-as-{kind}: from_bytes"
                case(what, [], args, data={"of": there}, want=want)
    for name, other in (("grow", 3), ("window", 61)):
        args, says = {**size, name: f(other)}, f"asked for {name}={other}"
        what, data = f"other-{name}: new -> mismatch", {"of": kinds[name]}
        case(f"variant/url/{what}", says, {**args, **URL}, there=kinds[name])
        case(f"variant/file/{what}", says, {**args, **DATA}, data=data)


# ---- counting filters ----
REMOVING = ("remove", "count", "removebatch")
COUNTING = {"m": 1001, "k": 3, "counting": True}


def counting():
    as_counting = {"counting": True}

    def refused(name, want, says, args, no=None, ops=("plan", "new")):
        for op in ops:
            case(f"counting/{name}/{op}: {op} -> {want}", says, {**as_counting, **args}, no)

    refused("nothing", "value", "give m and n", {})
    for name, v in (("window", 60), ("window", -1)):
        says = "cannot forget"
        args = {"n": 100, "p": 0.01, name: f(v)}
        refused(f"{name}={v}", "value", {"": [says], "py": []} if v < 2 else says, args)
    args = {**COUNTING, "shards": 2}
    case("counting/shards/plan: plan -> ok", args=args, value="1024 236 3 classic")
    case("counting/shards/new: new -> ok", args=args)
    says = "shards must be 1 to 4096, got 5000"
    refused("shards=5000", "value", says, {**COUNTING, "shards": 5000})
    refused("scheme", "value", "nosuch", {**COUNTING, "scheme": "nosuch"})
    case(
        "counting/secret=15: new -> value", "got 15 bytes", {**COUNTING, "secret": times(b"a", 15)}
    )
    most, one = {"m": 2**40, "k": 1, **as_counting}, {"m": 1, "k": 1, **as_counting}
    value = "1099511627776 762123384785 1 classic"
    case("counting/m=most/plan: plan -> ok", args=most, value=value)
    case("counting/m=1: new -> ok", args=one, value="1 1 1 classic")
    for scheme, k in (
        ("classic", 3),
        ("block", 3),
        ("block2", 3),
        ("sax-sdbm", 2),
        ("java7", 7),
        ("guava:chars", 5),
        ("gozero", 14),
    ):
        args = {"m": 4096, "k": k, "scheme": scheme, "counting": True, "arg": "x"}
        case(f"counting/{scheme}/key: key -> ok", args=args)
        for op in REMOVING:
            case(f"counting/{scheme}/{op}: {op} -> ok", args=args, value="0")
    for word, value in wrong("true", "none", "list", "float", nan=f("nan")):
        args = {**COUNTING, "arg": value}
        refused(word, "type", "must be", args, NOT_C, ops=("remove", "count"))
        says = {"py": ["key 1: a key must be"], "php": ["index 1"]}
        refused(word, "type", says, args, NOT_C, ops=("removebatch",))
    for name, text in (("high", "\ud800"), ("inside", "aa\ud800bb")):
        args, no = {**COUNTING, "arg": text}, {"c": NO_TYPE, "php": NO_TYPE}
        refused(f"surrogate-{name}", "value", "lone surrogate", args, no, ops=REMOVING)
    for name, bad in (("ff", b"\xff"), ("cut", b"\xf0\x9f"), ("late", b"good\xfe")):
        args = {"m": 4096, "k": 5, "scheme": "guava:chars", "arg": bad}
        refused(f"utf16/{name}", "value", "UTF-8", args, ops=("add", *REMOVING))
    for op in REMOVING:  # of a plain filter
        no = {"php": NO_METHOD, "py": NO_METHOD}
        case(f"counting/plain/{op}: {op} -> notsup", "only counting filters", PLAIN, no)
    counting_images()
    counting_mixed()


def counting_images():
    whole, last = 4096 + 8 * 63, 4096 + 500  # 1001 counters: 501 bytes, 63 words

    def damaged(name, says, *patches, want="format", **damage):
        image(name, want, says, COUNTING, {"counting": True}, *patches, kind="counting", **damage)

    damaged("sound", [], want="ok")
    damaged("mended-nothing", [], want="ok", mend=2)
    for n in (0, 7, 16, 2048, 4095, 4096, 4097, whole - 8, whole - 1):
        damaged(f"cut-{n}", [f"{n} bytes"], cut=n)
    for n in (1, 8, 4096):
        damaged(f"long-{n}", ["too long", f"{whole + n} bytes"], more=n)
    for v in (0, 1, 2, 3, 8, 2**32 - 1):  # 1: as many bits would need fewer bytes
        damaged(f"cell-{v}", [], (52, u32(v)), mend=1)
    for v in (0, 8, 503, 505, 2016, 2**64 - 1):
        damaged(f"bytes-{v}", [], (64, u64(v)), mend=1)
    for v in (0, 1000, 1009, 2**40, 2**64 - 1):
        want = "format" if v != 1000 else ["format", "ok"]
        damaged(f"m-{v}", [], (32, u64(v)), want=want, mend=1)
    damaged("shards", [], (28, [3]), mend=1)
    # counter 1000 is the high half of byte 500
    for at, mask in ((last, 0x01), (last, 0x08), (last + 1, 0x80), (whole - 1, 1)):
        damaged(f"past-m-{at}-{mask}", "past m", flip=[[at, mask]], mend=2)
    for at in (4096, last):
        damaged(f"bit-{at}", "bits' checksum", flip=[[at, 0x40]])


def counting_mixed():
    """Each class refuses the other's bytes, files and Redis filters, and says which one opens
    them."""
    client = {"storage": {"o": "sound"}, "key": "KEY"}
    as_counting = {"counting": True}
    for have, other, there, asked, refuser, opener, opens in (
        ("counting", "plain", COUNTING, {}, "BloomFilter", "CountingBloomFilter", as_counting),
        ("plain", "counting", PLAIN, as_counting, "CountingBloomFilter", "BloomFilter", {}),
    ):
        says, data = [f"is a {have} filter, asked for a {other} one"], {"of": there}
        refused, opened = f"counting/{have}-as-{refuser}", f"counting/{have}-as-{opener}"
        for op in ("from_bytes", "load", "open", "openro"):
            case(f"{refused}/{op}: {op} -> mismatch", says, asked, data=data)
        case(f"{refused}/new: new -> mismatch", says, {**PLAIN, **asked, **DATA}, data=data)
        for where, place in (("url", URL), ("client", client)):
            for op, more in (("open", {}), ("openro", {}), ("new", PLAIN)):
                what = f"{refused}/{where}/{op}: {op} -> mismatch"
                case(what, says, {**more, **asked, **place}, there=there)
            case(f"{opened}/{where}/open: open -> ok", args={**place, **opens}, there=there)
    pairs("counting", {"plain": PLAIN, "counting": COUNTING}, "plain")
    for form in ("bits", "bits-lsb", "cells", "guava"):
        says, want = "bits, not counters", "notsup"
        if form == "cells":  # a byte for each of m cells: counters hold them
            says, want = "126 bytes, m=1001 needs 1001", "format"
        args, data = {**COUNTING, "scheme": "classic", "format": form}, {"raw": "00", "times": 126}
        case(f"counting/as-{form}: from_bytes", says, args, data=data, want=want)


# ---- client objects in the place of a URL ----
def client_objects():
    size, key = {"m": 1001, "k": 3}, {"key": "KEY"}

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
        ("counting", {"counting": True}),
        ("shards", {"shards": 2}),
        ("keyed", {"secret": range(16)}),
    ):
        through(f"sound-{name}", "ok", args={**key, **more})
    for op in ("add", "test", "batch", "testbatch", "key", "hashcode"):
        through(f"sound/{op}", "ok", op=op)
    for op in REMOVING:
        through(f"sound/{op}", "ok", op=op, args={**key, "counting": True}, value="0")
    through("no-key", "value", "key", args={})
    through("key=empty", "value", "key", args={"key": ""})
    through("key=none", "value", "key", args={"key": None}, no={"c": NO_TYPE})
    through("key=nul", "value", "key", args={"key": "a\0b"}, no={"c": NO_TYPE})
    for word, value in wrong("true", "int", "list", float=1.5):
        through(f"key={word}", "type", "key", args={"key": value}, no=NOT_C)
    through("timeout", "value", "timeout", args={**key, "timeout": f(1)})
    for name, v in (("grow", 2), ("window", 60)):
        args = {"n": 100, "p": 0.01, **key, "storage": {"o": "sound"}, name: f(v)}
        case(f"client/{name}: new -> ok", args=args)
    through("m=0", "value", "m must be 1 to", args={**key, "m": 0}, no={"c": ZERO})
    no_client = {"py": ["a client of redis-py", "object"], "php": ["a phpredis object", "stdClass"]}
    for op in ("new", "open", "openro"):
        for client, want, says, no in (
            ("object", "type", no_client, NOT_C),
            ("raises", "io", "no way", None),
            ("nobody", "io", [], None),
            ("pipelining", {"py": "type", "php": "io"}, "pipeline", NOT_C),
            ("missing", "absent", "does not exist", None),
        ):
            args = {**key, "storage": {"o": client if client != "missing" else "sound"}}
            if op == "new":
                args |= size
            if (client, op) != ("missing", "new"):
                case(f"client/{client}/{op}: {op}", says, args, no, want=want)
    for op in ("add", "test", "batch", "testbatch"):
        through(f"turns/{op}", "io", "no way", client="turns", op=op)
    for op in REMOVING:
        through(
            f"turns/{op}", "io", "no way", client="turns", op=op, args={**key, "counting": True}
        )
    for name, args, says in (
        ("m", {"m": 1002}, ["m=1001", "m=1002"]),
        ("k", {"k": 4}, ["k=3", "k=4"]),
        ("scheme", {"scheme": "block"}, ["classic", "block"]),
        ("secret", {"secret": bytes(16)}, "not keyed"),
    ):
        through(f"other-{name}", "mismatch", says, args={**key, **args}, there=PLAIN)
    through("same", "ok", there=PLAIN)
    for name, says, there in (
        ("foreign", "not our filter", "SET KEY abc"),
        ("list", "WRONGTYPE", "RPUSH KEY abc"),
        ("foreign-meta", "its companion hash", "HSET KEY:meta a b"),
    ):
        through(name, "format", says, there=there)
        case(f"client/url-{name}: new -> format", says, {**size, **URL}, there=there)
