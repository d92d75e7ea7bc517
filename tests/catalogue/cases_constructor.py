"""Constructor values at, past and far from every limit and of every wrong type; keys."""

import itertools

from cases import NO_TYPE, NO_RANGE, ZERO, i, f, s, b, YES, NONE, LIST, case, both, LIMITS, BESIDE


def whole_numbers():
    for letter, most in LIMITS.items():
        beside, must = BESIDE[letter], f"{letter} must be 1 to"
        no_c = {"c": NO_RANGE}
        both(
            f"{letter}=0",
            "value",
            {"": [must, "got 0"], "c": ["give m and n"]},
            {letter: i(0), **beside},
        )
        for n in (-1, -2, -(2**31), -(2**63)):
            both(
                f"{letter}={n}",
                "value",
                {"": [must, f"got {n}"], "c": [letter]},
                {letter: i(n), **beside},
                no=no_c if letter == "k" and n < -2 else None,
            )
        for n in (-(2**63) - 1, -(2**64), 2**64, 2**64 + 1, 10**30):
            both(
                f"{letter}={n}",
                "value",
                {"": [must], "php": [letter]},
                {letter: i(n), **beside},
                no=no_c,
            )
        for n in sorted({most + 1, 2**63, 2**64 - 1}):
            both(
                f"{letter}={n}",
                "value",
                {"": [must], "php": [letter]},
                {letter: i(n), **beside},
                no=no_c if letter == "k" else None,
            )
        for n in ("1.5", "0.0", "-1.0", "nan", "inf", "-inf", "1e300", "9.3e18"):
            both(
                f"{letter}={n}",
                {"": "type", "php": "value"},
                letter,
                {letter: f(n), **beside},
                no={"c": NO_TYPE},
            )
        both(
            f"{letter}=float",
            {"": "type", "php": "ok"},
            {"": [letter], "php": []},
            {letter: f("100.0"), **beside},
            no={"c": NO_TYPE},
        )
        for word, value in (
            ("true", YES),
            ("text", s("100")),
            ("bytes", b(b"100")),
            ("list", LIST),
        ):
            both(f"{letter}={word}", "type", letter, {letter: value, **beside}, no={"c": NO_TYPE})
        both(
            f"{letter}=none",
            "value",
            "give m and n",
            {letter: NONE, **({} if letter != "k" else {"m": i(1000)})},
            no={"c": NO_TYPE},
        )
    case(
        "construct/m=most: plan -> ok",
        args={"m": i(2**40), "k": i(4096)},
        value="1099511627776 186065279 4096 classic",
    )
    case("construct/m=1: new -> ok", args={"m": i(1), "k": i(1)}, value="1 1 1 classic")
    case(
        "construct/m=1,k=most: new -> ok", args={"m": i(1), "k": i(4096)}, value="1 1 4096 classic"
    )
    case("construct/m=n: new -> ok", args={"m": i(1), "n": i(1)}, value="1 1 1 classic")
    case(
        "construct/n=most: plan -> ok",
        args={"m": i(1), "n": i(2**63 - 1)},
        value="1 9223372036854775807 1 classic",
    )
    case(
        "construct/block/m=most: plan -> ok",
        args={"m": i(2**40), "k": i(8), "scheme": s("block")},
        value="1099511627776 95265423098 8 block",
    )
    case(
        "construct/block/m=1: new -> ok",
        args={"m": i(1), "k": i(1), "scheme": s("block")},
        value="512 354 1 block",
    )
    case("construct/m=most/new: new", {"": []}, {"m": i(2**40), "k": i(1)}, want=["memory", "ok"])
    both(
        "n=most,p",
        "value",
        ["n=9223372036854775807", "m must be 1 to"],
        {"n": i(2**63 - 1), "p": f(0.01)},
    )
    both("n=2^37,p", "value", ["m must be 1 to 1099511627776"], {"n": i(2**37), "p": f(0.001)})
    both(
        "k-past-4096",
        "value",
        ["k must be 1 to 4096", "m=1000000", "n=1"],
        {"m": i(10**6), "n": i(1)},
    )


def rates():
    for p in (
        "-1",
        "-0.5",
        "-1e-300",
        "1",
        "1.0000000000000002",
        "2",
        "1e300",
        "-1e300",
        "nan",
        "inf",
        "-inf",
    ):
        both(f"p={p}", "value", "p must be above 0 and below 1", {"n": i(100), "p": f(p)})
        both(f"p={p},m", "value", "p must be above 0 and below 1", {"m": i(100000), "p": f(p)})
    for p in ("0", "-0.0"):
        both(
            f"p={p}",
            "value",
            {"": ["p must be above 0 and below 1"], "c": ["give m and n"]},
            {"n": i(100), "p": f(p)},
        )
    for p in (0, 1, -1, 2, 10**400):
        no = {"c": NO_TYPE} | ({"php": NO_RANGE} if p > 2 else {})
        both(
            f"p=int{p if p < 9 else 'huge'}",
            "value",
            "p must be above 0 and below 1",
            {"n": i(100), "p": i(p)},
            no=no,
        )
    for word, value in (("true", YES), ("text", s("0.01")), ("bytes", b(b"0.01")), ("list", LIST)):
        both(f"p={word}", "type", "p", {"n": i(100), "p": value}, no={"c": NO_TYPE})
    both("p=none", "value", "give m and n", {"n": i(100), "p": NONE}, no={"c": NO_TYPE})
    case("construct/p=0.5: plan -> ok", args={"n": i(1), "p": f("0.5")})
    case("construct/p=least: plan", args={"n": i(1), "p": f("5e-324")}, want=["ok", "value"])
    case("construct/p=most: plan -> ok", args={"n": i(1), "p": f("0.9999999999999999")})
    both("m,p-too-small", "value", ["m=10", "too few"], {"m": i(10), "p": f("1e-9")})
    both(
        "m,n,p-cannot",
        "value",
        ["p=0.001", "is not possible"],
        {"m": i(1000), "n": i(1000), "p": f("0.001")},
    )
    both(
        "m,n,k,p-cannot",
        "value",
        ["p=0.001", "is not possible"],
        {"m": i(1000), "n": i(1000), "k": i(3), "p": f("0.001")},
    )


def insufficient():
    given = {"m": i(1000), "n": i(100), "k": i(3), "p": f(0.01)}
    for r in range(5):
        for letters in itertools.combinations("mnkp", r):
            enough = (
                set(letters) >= {"m", "n"}
                or set(letters) >= {"n", "p"}
                or set(letters) >= {"m", "k"}
                or set(letters) >= {"m", "p"}
            )
            args = {letter: given[letter] for letter in letters}
            name = "".join(letters) or "nothing"
            if enough and set(letters) >= {"m", "n", "k", "p"}:
                continue
            if enough:
                case(
                    f"construct/given={name}: plan",
                    args=args,
                    want=["ok"] if name != "nkp" else ["ok", "value"],
                )
            else:
                both(f"given={name}", "value", "give m and n, n and p, m and k, or m and p", args)
    case("construct/given=storage: plan -> value", "give m and n", {"storage": {"path": "missing"}})


def schemes():
    size = {"m": i(1000), "k": i(3)}
    for name, text in (
        ("empty", ""),
        ("case", "Classic"),
        ("space", " classic"),
        ("colon", "classic:"),
        ("more", "block:x"),
        ("unknown", "nosuch"),
        ("64", "x" * 64),
        ("1000", "y" * 1000),
        ("utf8", "klässik"),
        ("newline", "classic\n"),
        ("format", "%s%n"),
        ("prefix", "block3"),
    ):
        both(f"scheme={name}", "value", "scheme", {**size, "scheme": s(text)})
    for name, text in (("nul", "classic\0"), ("nul-first", "\0classic")):
        both(f"scheme={name}", "value", "scheme", {**size, "scheme": s(text)}, no={"c": NO_TYPE})
    for word, value in (("true", YES), ("int", i(1)), ("float", f(1.0)), ("list", LIST)):
        both(f"scheme={word}", "type", "scheme", {**size, "scheme": value}, no={"c": NO_TYPE})
    both(
        "scheme=surrogate",
        "value",
        [],
        {**size, "scheme": s("\ud800")},
        no={"c": NO_TYPE, "php": NO_TYPE},
    )
    for scheme, k_max in (("block", 16), ("block2", 32)):
        for k in (k_max + 1, 4096):
            both(
                f"{scheme}/k={k}",
                "value",
                [f"k must be 1 to {k_max} for scheme {scheme}", f"got {k}"],
                {"m": i(5120), "k": i(k), "scheme": s(scheme)},
            )
        case(
            f"construct/{scheme}/k={k_max}: new -> ok",
            args={"m": i(5120), "k": i(k_max), "scheme": s(scheme)},
        )
    for scheme, k in (
        ("sax-sdbm", 2),
        ("java7", 7),
        ("rs-rand", 7),
        ("rs-dotnet", 7),
        ("rs-dotnet-repo", 7),
        ("gozero", 14),
    ):
        others = sorted({1, k - 1, k + 1, 4096})
        for other in others if "dotnet" in scheme else ():  # its constructor takes k
            case(
                f"construct/{scheme}/k={other}: new -> ok",
                args={"m": i(1024), "k": i(other), "scheme": s(scheme)},
            )
        for wrong in () if "dotnet" in scheme else others:
            both(
                f"{scheme}/k={wrong}",
                "value",
                [f"k must be {k}", f"got {wrong}"],
                {"m": i(1024), "k": i(wrong), "scheme": s(scheme)},
            )
        case(
            f"construct/{scheme}/k={k}: new -> ok",
            args={"m": i(1024), "k": i(k), "scheme": s(scheme)},
        )
        both(
            f"{scheme}/secret",
            "value",
            [scheme, "cannot be keyed"],
            {"m": i(1024), "k": i(k), "scheme": s(scheme), "secret": b(bytes(16))},
        )
    for scheme in ("java7", "rs-rand", "rs-dotnet", "rs-dotnet-repo"):
        both(
            f"{scheme}/m=2^31",
            "value",
            ["m must be", "got 2147483648"],
            {"m": i(2**31), "n": i(10**6), "scheme": s(scheme)},
        )
    both(
        "gozero/m=2^32+1",
        "value",
        ["m must be", "got 4294967297"],
        {"m": i(2**32 + 1), "n": i(10**6), "scheme": s("gozero")},
    )
    for name in (
        "guava:",
        "guava:x",
        "guava:bytes2",
        "guava:Chars",
        "php-hashes:",
        "php-hashes:nosuch",
        "php-hashes:md5,",
        "php-hashes:,md5",
    ):
        both(
            f"scheme={name}",
            "value",
            [],
            {"m": i(2**32) if name.startswith("php") else i(1024), "n": i(10), "scheme": s(name)},
        )
    both("functions", "value", "functions", {**size, "scheme": s("functions")})
    both("functions:x", "value", "functions", {**size, "scheme": s("functions:x")})


def secrets():
    for n in (0, 1, 8, 15, 17, 32, 64, 4096):
        both(
            f"secret={n}",
            "value",
            ["secret must be 16 bytes", f"got {n} bytes"],
            {"m": i(1000), "k": i(3), "secret": b(b"\0", n) if n else b(b"")},
        )
        case(
            f"construct/block/secret={n}: new -> value",
            f"got {n} bytes",
            {"n": i(100), "p": f(0.01), "secret": b(b"a", n) if n else b(b"")},
        )
    for name, secret in (
        ("zeros", bytes(16)),
        ("ones", b"\xff" * 16),
        ("text", b"0123456789abcdef"),
    ):
        for scheme in ("classic", "block", "block2"):
            case(
                f"construct/{scheme}/secret={name}: new -> ok",
                args={"m": i(1024), "k": i(3), "scheme": s(scheme), "secret": b(secret)},
            )
    for word, value in (("true", YES), ("int", i(16)), ("float", f(1.0)), ("list", LIST)):
        case(
            f"construct/secret={word}: new -> type",
            "secret",
            {"m": i(1000), "k": i(3), "secret": value},
            no={"c": NO_TYPE},
        )
    case(
        "construct/secret=str: new -> type",
        "secret",
        {"m": i(1000), "k": i(3), "secret": s("0123456789abcdef")},
        no={"c": NO_TYPE, "php": NO_TYPE},
    )


def named(name, what, *more):
    """Messages say a parameter as the language does."""
    php = {"cache_max_age": "cacheMaxAge", "wait_replicas": "waitReplicas"}
    return {"": [f"{name} {what}", *more], "php": [f"{php.get(name, name)} {what}", *more]}


def variants():
    size = {"m": i(1000), "k": i(3)}
    no = {"c": ZERO}
    for name, bad in (
        ("grow", ("-1", "0.5", "1", "nan", "-inf")),
        ("window", ("-1", "-1e-9", "nan", "-inf")),
        ("timeout", ("-1", "-1e-9", "nan")),
        ("cache_max_age", ("-1", "nan")),
    ):
        for v in bad:
            both(f"{name}={v}", "value", named(name, "must be"), {**size, name: f(v)})
        both(f"{name}=0", "value", named(name, "must be"), {**size, name: f(0)}, no=no)
        for word, value in (("true", YES), ("text", s("2")), ("list", LIST)):
            case(
                f"construct/{name}={word}: new -> type",
                {"": [name], "php": ["must be of type ?float"]},
                {**size, name: value},
                no={"c": NO_TYPE},
            )
    for name in ("shards", "parts", "wait_replicas"):
        for v in (0, -1, 2**32, -(2**63), 2**63 - 1):
            case(
                f"construct/{name}={v}: new -> value",
                named(name, "must be", f"got {v}"),
                {**size, name: i(v)},
                no=no if v == 0 else {"c": NO_RANGE},
            )
        for word, value in (("true", YES), ("float", f(1.0)), ("text", s("2")), ("list", LIST)):
            case(
                f"construct/{name}={word}: new -> type",
                {"": [name], "php": ["must be of type ?int"]},
                {**size, name: value},
                no={"c": NO_TYPE},
            )
    for n in (4097, 2**32 - 1):
        both(f"shards={n}", "value", ["shards must be", f"got {n}"], {**size, "shards": i(n)})
    both(
        "java7/shards",
        "value",
        "shards",
        {"m": i(1024), "k": i(7), "scheme": s("java7"), "shards": i(4097)},
    )
    case("construct/shards-in-memory: new -> ok", args={**size, "shards": i(2)})
    for name, value in (("text", s("k")), ("empty", s(""))):
        both(f"key={name}", "value", "no Redis is given", {**size, "key": value})
        case(
            f"construct/key={name},file: new -> value",
            "no Redis is given",
            {**size, "key": value, "storage": {"path": "missing"}},
        )
    for word, value in (("true", YES), ("int", i(1)), ("list", LIST)):
        case(f"construct/key={word}: new -> type", "key", {**size, "key": value}, no={"c": NO_TYPE})
    case("construct/key=nul: new -> value", "key", {**size, "key": s("a\0b")}, no={"c": NO_TYPE})
    case("construct/storage=empty: new -> value", "empty", {**size, "storage": s("")})
    for text, says in (
        ("redis:host:6379", "a Redis URL is redis://"),
        ("redis:/s3same@host", "a Redis URL is redis://"),
        ("REDIS://:s3same@host?key=k", "a Redis URL is redis://"),
        ("rediss:host", "a Redis URL with TLS is rediss://"),
        ("unix:/tmp/socket", "unix:///path?key=NAME"),
        ("http://s3same@host", "not opened over HTTP"),
        ("https:host", "not opened over HTTP"),
        ("file:///tmp/f", "file:PATH"),
        ("file:", "names no path"),
        ("nosuch://:s3same@host", "redis://, rediss:// or unix://"),
    ):
        both(f"storage={text}", "value", says, {**size, "storage": s(text)}, never="s3same")
        case(
            f"construct/storage={text}/open: open -> value",
            says,
            {"storage": s(text)},
            never="s3same",
        )
    case(
        "construct/storage=nul: new -> value",
        "null byte",
        {**size, "storage": s("a\0b")},
        no={"c": NO_TYPE},
    )
    for word, value in (("true", YES), ("int", i(1)), ("float", f(1.0)), ("list", LIST)):
        case(
            f"construct/storage={word}: new -> type",
            {"": [], "php": ["storage"]},
            {**size, "storage": value},
            no={"c": NO_TYPE},
        )


def urls():
    rows = [
        ("redis://", "has no host"),
        ("redis://h", "names no key"),
        ("redis://h?key=", "names no key"),
        ("redis://:s3same@?key=k", "no host"),
        ("redis://h:0?key=k", "port"),
        ("redis://h:65536?key=k", "port"),
        ("redis://h:6x?key=k", "port"),
        ("redis://h:?key=k", "port"),
        ("redis://h:-1?key=k", "port"),
        ("redis://h/x?key=k", "database"),
        ("redis://h/-1?key=k", "database"),
        ("redis://h/99999999999?key=k", "database"),
        ("redis://h/1.5?key=k", "database"),
        ("redis://[::1?key=k", "no closing ]"),
        ("redis://[::1]6379?key=k", "followed by"),
        ("redis://h?key=a&key=b", "two keys"),
        ("redis://h?key=%zz", "hexadecimal"),
        ("redis://h?key=%4", "hexadecimal"),
        ("redis://h?key=%", "hexadecimal"),
        ("redis://h?key=a%00b", "NUL"),
        ("redis://h?key=k&timeout=0", "timeout"),
        ("redis://h?key=k&timeout=-1", "timeout"),
        ("redis://h?key=k&timeout=1s", "timeout"),
        ("redis://h?key=k&timeout=", "timeout"),
        ("redis://h?key=k&timeout=nan", "timeout"),
        ("redis://h?key=k&timeout=inf", "timeout"),
        ("redis://h?key=k&timeout=1e999", "timeout"),
        ("redis://h?key=k&retry_after=-1", "retry_after"),
        ("redis://h?key=k&retry_after=x", "retry_after"),
        ("redis://h?key=k&retry_after=86401", "retry_after"),
        ("redis://h/0?key=k&db=1", "one db"),
        ("redis://h?key=k&db=1&db=2", "one db"),
        ("redis://h?key=k&db=x", "db"),
        ("redis://s3same@h?key=k", "user without a password"),
        ("redis://u:s3same%@h?key=k", "password"),
        ("redis://u:s3same/x@h?key=k", "port"),
        ("redis://u:s3same?x@h", "port"),
        ("unix://?key=k", "no path"),
        ("unix://relative/x?key=k", "absolute"),
        ("unix:///" + "x" * 120 + "?key=k", "at most 107"),
    ]
    for n, (url, says) in enumerate(rows):
        case(
            f"construct/url{n}: new -> value",
            says,
            {"m": i(1000), "k": i(3), "storage": s(url)},
            never="s3same",
        )
    case(
        "construct/url-key-twice: new -> value",
        ["key is given twice", "b", "a"],
        {"m": i(1000), "k": i(3), "storage": s("redis://h?key=a"), "key": s("b")},
    )
    case(
        "construct/unix-missing: new -> io",
        "No such file",
        {"m": i(1000), "k": i(3), "storage": s("unix:///no/such/socket?key=k")},
    )


# ---- keys ----
def keys():
    good = {
        "empty": b(b""),
        "nul": b(b"\0"),
        "nuls": b(b"\0" * 9),
        "nul-inside": b(b"a\0b"),
        "nul-last": b(b"a\0"),
        "invalid-utf8": b(b"\xff\xfe"),
        "cut-utf8": b(b"\xf0\x9f\x98"),
        "overlong-utf8": b(b"\xc0\x80"),
        "surrogate-utf8": b(b"\xed\xa0\x80"),
        "past-unicode": b(b"\xf4\x90\x80\x80"),
        "every-byte": b(range(256)),
        "crlf": b(b"a\r\n"),
        "mebibyte": b(b"k", 2**20),
        "mebibyte-text": s("ü", 2**19),
        "text": s("Grüße"),
        "astral": s("😀"),
        "nul-text": s("\0"),
        "last-character": s("\U0010ffff"),
        "bom": s("\ufeff"),
        "0": i(0),
        "-0": s("-0"),
        "42": i(42),
        "-1": i(-1),
        "int64-least": i(-(2**63)),
        "int64-most": i(2**63 - 1),
        "int32": i(2**31),
        "space": s(" "),
        "percent": s("%s%n%00"),
    }
    for length in (
        1,
        3,
        4,
        8,
        9,
        15,
        16,
        17,
        63,
        64,
        65,
        128,
        129,
        240,
        241,
        511,
        512,
        513,
        4095,
        4096,
        4097,
        65536,
    ):
        good[f"length{length}"] = b(b"x", length)
    for (name, key), scheme in itertools.product(good.items(), ("classic", "block", "block2")):
        case(
            f"key/{name}/{scheme}: key -> ok",
            args={"m": i(4096), "k": i(5), "scheme": s(scheme), "arg": key},
        )
    case(
        "key/huge-int: key -> ok",
        args={"m": i(4096), "k": i(5), "arg": i(10**400)},
        no={"php": NO_RANGE},
    )
    case(
        "key/int-past-64: key -> ok",
        args={"m": i(4096), "k": i(5), "arg": i(2**64)},
        no={"php": NO_RANGE},
    )
    for word, value in (
        ("true", YES),
        ("none", NONE),
        ("list", LIST),
        ("float", f(1.0)),
        ("nan", f("nan")),
    ):
        for op in ("add", "test", "hashcode"):
            case(
                f"key/{word}/{op}: {op} -> type",
                "must be",
                {"m": i(4096), "k": i(5), "arg": value},
                no={"c": NO_TYPE},
            )
        for op in ("batch", "testbatch"):
            case(
                f"key/{word}/{op}: {op} -> type",
                {"py": ["key 1: a key must be"], "php": ["index 1"]},
                {"m": i(4096), "k": i(5), "arg": value},
                no={"c": NO_TYPE},
            )
    for name, text in (
        ("high", "\ud800"),
        ("low", "\udfff"),
        ("escape", "\udcff"),
        ("inside", "aa\ud800bb"),
        ("swapped", "\udc00\ud800"),
    ):
        no = {"c": NO_TYPE, "php": NO_TYPE}
        for op in ("add", "test", "hashcode"):
            case(
                f"key/surrogate-{name}/{op}: {op} -> value",
                "lone surrogate",
                {"m": i(4096), "k": i(5), "arg": s(text)},
                no=no,
            )
        case(
            f"key/surrogate-{name}/batch: batch -> value",
            ["key 1: lone surrogate"],
            {"m": i(4096), "k": i(5), "arg": s(text)},
            no=no,
        )
    for scheme, k in (("guava:chars", 5), ("rs-dotnet", 7)):  # they hash UTF-16
        for name, bad in (
            ("ff", b"\xff"),
            ("cut", b"\xf0\x9f"),
            ("overlong", b"\xc0\x80"),
            ("surrogate", b"\xed\xa0\x80"),
            ("alone", b"\x80"),
            ("late", b"good\xfe"),
            ("past", b"\xf4\x90\x80\x80"),
        ):
            for op in ("add", "test", "hashcode"):
                case(
                    f"key/{scheme}/{name}/{op}: {op} -> value",
                    "UTF-8",
                    {"m": i(4096), "k": i(k), "scheme": s(scheme), "arg": b(bad)},
                )
            case(
                f"key/{scheme}/{name}/batch: batch -> value",
                {
                    "": ["UTF-8"],
                    "c": ["key 1", "before 1 after 0"],
                    "py": ["key 1", "before 1 after 0"],
                    "php": ["index 1", "before 1 after 0"],
                },
                {"m": i(4096), "k": i(k), "scheme": s(scheme), "arg": b(bad)},
            )
    for scheme in ("guava:long", "guava:int"):
        for name, bad in (
            ("empty", b(b"")),
            ("text", s("x")),
            ("past-64", s(str(2**64))),
            ("float", s("1.5")),
            ("space", s(" 1")),
            ("sign", s("-")),
            ("nul", b(b"1\0")),
        ):
            for op in ("add", "test", "batch"):
                case(
                    f"key/{scheme}/{name}/{op}: {op} -> value",
                    [],
                    {"m": i(4096), "k": i(5), "scheme": s(scheme), "arg": bad},
                )
    case(
        "key/guava:int/past-32/add: add -> value",
        [],
        {"m": i(4096), "k": i(5), "scheme": s("guava:int"), "arg": i(2**31)},
    )
