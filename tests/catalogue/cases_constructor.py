"""Constructor values at, past and far from every limit and of every wrong type; keys."""

import itertools

from cases import NO_TYPE, NO_RANGE, ZERO, f, times, case, both, wrong, LIMITS, BESIDE

SIZE = {"m": 1000, "k": 3}
NOT_C, ONLY_PY = {"c": NO_TYPE}, {"c": NO_TYPE, "php": NO_TYPE}


def fine(name, value=None, op="new", **args):
    case(f"construct/{name}: {op} -> ok", args=args, value=value)


def new(name, want, says, no=None, never=None, **args):
    """What only the constructor is asked for: of this size, if nothing else is said."""
    more = {"never": never} if never else {}
    case(f"construct/{name}: new -> {want}", says, {**SIZE, **args}, no, **more)


def whole_numbers():
    for letter, most in LIMITS.items():
        beside, must = BESIDE[letter], f"{letter} must be 1 to"
        no_k = NO_RANGE if letter == "k" else None

        def bad(name, v, want, says, no_c=None):
            no = {"c": no_c} if no_c else None
            both(f"{letter}={name}", want, says, {letter: v, **beside}, no=no)

        bad(0, 0, "value", {"": [must, "got 0"], "c": ["give m and n"]})
        for n in (-1, -2, -(2**31), -(2**63)):
            bad(n, n, "value", {"": [must, f"got {n}"], "c": [letter]}, no_k if n < -2 else None)
        for n in (-(2**63) - 1, -(2**64), 2**64, 2**64 + 1, 10**30):
            bad(n, n, "value", {"": [must], "php": [letter]}, NO_RANGE)
        for n in sorted({most + 1, 2**63, 2**64 - 1}):
            bad(n, n, "value", {"": [must], "php": [letter]}, no_k)
        for n in ("1.5", "nan", "inf", "-inf"):
            bad(n, f(n), {"": "type", "php": "value"}, letter, NO_TYPE)
        for n in ("0.0", "-1.0", "1e300", "9.3e18"):
            bad(n, f(n), "value", letter, NO_TYPE)
        bad("float", 100.0, "ok", [], NO_TYPE)
        for word, value in wrong("true", "list", text="100", bytes=b"100"):
            bad(word, value, "type", letter, NO_TYPE)
        args = {letter: None, **({} if letter != "k" else {"m": 1000})}
        both(f"{letter}=none", "value", "give m and n", args, no=NOT_C)
    fine("m=most", "1099511627776 186065279 4096 classic", "plan", m=2**40, k=4096)
    fine("m=1", "1 1 1 classic", m=1, k=1)
    fine("m=1,k=most", "1 1 4096 classic", m=1, k=4096)
    fine("m=n", "1 1 1 classic", m=1, n=1)
    fine("n=most", "1 9223372036854775807 1 classic", "plan", m=1, n=2**63 - 1)
    value = "1099511627776 95265423098 8 block"
    fine("block/m=most", value, "plan", m=2**40, k=8, scheme="block")
    fine("block/m=1", "512 354 1 block", m=1, k=1, scheme="block")
    case("construct/m=most/new: new", {"": []}, {"m": 2**40, "k": 1}, want=["memory", "ok"])
    says = ["n=9223372036854775807", "m must be 1 to"]
    both("n=most,p", "value", says, {"n": 2**63 - 1, "p": 0.01})
    both("n=2^37,p", "value", ["m must be 1 to 1099511627776"], {"n": 2**37, "p": 0.001})
    says = ["k must be 1 to 4096", "m=1000000", "n=1"]
    both("k-past-4096", "value", says, {"m": 10**6, "n": 1})


def rates():
    must = "p must be above 0 and below 1"
    for p in "-1 -0.5 -1e-300 1 1.0000000000000002 2 1e300 -1e300 nan inf -inf".split():
        both(f"p={p}", "value", must, {"n": 100, "p": f(p)})
        both(f"p={p},m", "value", must, {"m": 100000, "p": f(p)})
    for p in ("0", "-0.0"):
        both(f"p={p}", "value", {"": [must], "c": ["give m and n"]}, {"n": 100, "p": f(p)})
    for p in (0, 1, -1, 2, 10**400):
        no = NOT_C | ({"php": NO_RANGE} if p > 2 else {})
        both(f"p=int{p if p < 9 else 'huge'}", "value", must, {"n": 100, "p": p}, no=no)
    for word, value in wrong("true", "list", text="0.01", bytes=b"0.01"):
        both(f"p={word}", "type", "p", {"n": 100, "p": value}, no=NOT_C)
    both("p=none", "value", "give m and n", {"n": 100, "p": None}, no=NOT_C)
    fine("p=0.5", op="plan", n=1, p=0.5)
    case("construct/p=least: plan", args={"n": 1, "p": f("5e-324")}, want=["ok", "value"])
    fine("p=most", op="plan", n=1, p=f("0.9999999999999999"))
    both("m,p-too-small", "value", ["m=10", "too few"], {"m": 10, "p": f("1e-9")})
    says, args = ["p=0.001", "is not possible"], {"m": 1000, "n": 1000, "p": 0.001}
    both("m,n,p-cannot", "value", says, args)
    both("m,n,k,p-cannot", "value", says, {**args, "k": 3})


def insufficient():
    given = {"m": 1000, "n": 100, "k": 3, "p": 0.01}
    enough = [set(pair) for pair in ("mn", "np", "mk", "mp")]
    for r in range(5):
        for letters in itertools.combinations("mnkp", r):
            args = {letter: given[letter] for letter in letters}
            name = "".join(letters) or "nothing"
            if r == 4:
                continue
            if any(pair <= set(letters) for pair in enough):
                want = ["ok"] if name != "nkp" else ["ok", "value"]
                case(f"construct/given={name}: plan", args=args, want=want)
            else:
                both(f"given={name}", "value", "give m and n, n and p, m and k, or m and p", args)
    case("construct/given=storage: plan -> value", "give m and n", {"storage": {"path": "missing"}})


def schemes():
    for name, text in (
        ("empty", ""),
        ("case", "Classic"),
        ("colon", "classic:"),
        ("unknown", "nosuch"),
        ("64", "x" * 64),
        ("newline", "classic\n"),
        ("format", "%s%n"),
        ("prefix", "block3"),
    ):
        both(f"scheme={name}", "value", "scheme", {**SIZE, "scheme": text})
    for name, text in (("nul", "classic\0"), ("nul-first", "\0classic")):
        both(f"scheme={name}", "value", "scheme", {**SIZE, "scheme": text}, no=NOT_C)
    for word, value in wrong("true", "int", "float", "list"):
        both(f"scheme={word}", "type", "scheme", {**SIZE, "scheme": value}, no=NOT_C)
    both("scheme=surrogate", "value", [], {**SIZE, "scheme": "\ud800"}, no=ONLY_PY)
    for scheme, k_max in (("block", 16), ("block2", 32)):
        for k in (k_max + 1, 4096):
            says = [f"k must be 1 to {k_max} for scheme {scheme}", f"got {k}"]
            both(f"{scheme}/k={k}", "value", says, {"m": 5120, "k": k, "scheme": scheme})
        fine(f"{scheme}/k={k_max}", m=5120, k=k_max, scheme=scheme)
    for scheme, k in (
        ("sax-sdbm", 2),
        ("java7", 7),
        ("rs-rand", 7),
        ("rs-dotnet", 7),
        ("rs-dotnet-repo", 7),
        ("gozero", 14),
    ):
        args = {"m": 1024, "k": k, "scheme": scheme}
        for other in sorted({1, k - 1, k + 1, 4096}):
            if "dotnet" in scheme:  # its constructor takes k
                fine(f"{scheme}/k={other}", **{**args, "k": other})
            else:
                says = [f"k must be {k}", f"got {other}"]
                both(f"{scheme}/k={other}", "value", says, {**args, "k": other})
        fine(f"{scheme}/k={k}", **args)
        says = [scheme, "cannot be keyed"]
        both(f"{scheme}/secret", "value", says, {**args, "secret": bytes(16)})
    for scheme in ("java7", "rs-rand", "rs-dotnet", "rs-dotnet-repo"):
        args = {"m": 2**31, "n": 10**6, "scheme": scheme}
        both(f"{scheme}/m=2^31", "value", ["m must be", "got 2147483648"], args)
    args = {"m": 2**32 + 1, "n": 10**6, "scheme": "gozero"}
    both("gozero/m=2^32+1", "value", ["m must be", "got 4294967297"], args)
    for name in "guava: guava:x guava:bytes2 guava:Chars".split():
        both(f"scheme={name}", "value", [], {"m": 1024, "n": 10, "scheme": name})
    for name, says in (
        *((f"php-hashes:{names}", []) for names in ("", "nosuch", "md5,", ",md5")),
        ("php-hashes:JS,JSHash", "names JS twice"),
        ("php-hashes:JSHashHash", "a name after php-hashes: must be "),
    ):
        both(f"scheme={name}", "value", says, {"m": 2**32, "n": 10, "scheme": name})
    eight = ["JS", "PJW", "ELF", "BKDR", "SDBM", "DJB", "DEK", "FNV"]
    older, ours = ("php-hashes:" + ",".join(map(form.format, eight)) for form in ("{}Hash", "{}"))
    fine("php-hashes/older-names", f"4294967296 10 8 {ours}", "plan", scheme=older, n=10)
    for name, value in (("empty", ""), ("case", "Raise"), ("more", "warned"), ("long", "r" * 1000)):
        says = "overfull must be warn, raise or ignore"
        both(f"overfull={name}", "value", says, {**SIZE, "overfull": value}, no=NOT_C)
    for value in ("warn", "raise", "ignore"):
        case(f"construct/overfull={value}: new -> ok", args={**SIZE, "overfull": value}, no=NOT_C)
    for name in ("functions", "functions:x"):
        both(name, "value", "functions", {**SIZE, "scheme": name})


def secrets():
    for n in (0, 1, 8, 15, 17, 32, 64, 4096):
        says = ["secret must be 16 bytes", f"got {n} bytes"]
        both(f"secret={n}", "value", says, {**SIZE, "secret": times(b"\0" if n else b"", n or 1)})
        args = {"n": 100, "p": 0.01, "secret": times(b"a" if n else b"", n or 1)}
        case(f"construct/block/secret={n}: new -> value", f"got {n} bytes", args)
    for name, secret in (
        ("zeros", bytes(16)),
        ("ones", b"\xff" * 16),
        ("text", b"0123456789abcdef"),
    ):
        for scheme in ("classic", "block", "block2"):
            fine(f"{scheme}/secret={name}", m=1024, k=3, scheme=scheme, secret=secret)
    for word, value in wrong("true", "float", "list", int=16):
        new(f"secret={word}", "type", "secret", NOT_C, secret=value)
    new("secret=str", "type", "secret", ONLY_PY, secret="0123456789abcdef")


def named(name, what, *more):
    """Messages say a parameter as the language does."""
    php = {"cache_max_age": "cacheMaxAge", "wait_replicas": "waitReplicas"}
    return {"": [f"{name} {what}", *more], "php": [f"{php.get(name, name)} {what}", *more]}


def variants():
    no = {"c": ZERO}
    for name, bad in (
        ("grow", "-1 0.5 1025 nan -inf"),
        ("window", "-1 -1e-9 nan -inf"),
        ("timeout", "-1 -1e-9 nan"),
        ("cache_max_age", "-1 nan"),
    ):
        for v in bad.split():
            both(f"{name}={v}", "value", named(name, "must be"), {**SIZE, name: f(v)})
        both(f"{name}=0", "value", named(name, "must be"), {**SIZE, name: f(0)}, no=no)
        php = "?float" if name == "grow" else "DateInterval|float|null"
        says = {"": [name], "php": [f"must be of type {php}"]}
        for word, value in wrong("true", "text", "list"):
            new(f"{name}={word}", "type", says, NOT_C, **{name: value})
    for name in ("shards", "parts", "wait_replicas"):
        for v in (0, -1, 2**32, -(2**63), 2**63 - 1):
            says = named(name, "must be", f"got {v}")
            new(f"{name}={v}", "value", says, no if v == 0 else {"c": NO_RANGE}, **{name: v})
        says = {"": [name], "php": ["must be of type ?int"]}
        for word, value in wrong("true", "text", "list", float=f(1.5)):
            new(f"{name}={word}", "type", says, NOT_C, **{name: value})
    for n in (4097, 2**32 - 1):
        both(f"shards={n}", "value", ["shards must be", f"got {n}"], {**SIZE, "shards": n})
    args = {"m": 1024, "k": 7, "scheme": "java7", "shards": 4097}
    both("java7/shards", "value", "shards", args)
    fine("shards-in-memory", **SIZE, shards=2)
    for name, value in (("text", "k"), ("empty", "")):
        says = "no Redis is given"
        both(f"key={name}", "value", says, {**SIZE, "key": value})
        new(f"key={name},file", "value", says, key=value, storage={"path": "missing"})
    for word, value in wrong("true", "int", "list"):
        new(f"key={word}", "type", "key", NOT_C, key=value)
    new("key=nul", "value", "key", NOT_C, key="a\0b")
    new("storage=empty", "value", "empty", storage="")
    for text, says in (
        ("redis:host:6379", "a Redis URL is redis://"),
        ("127.0.0.1:6379", "a Redis URL is redis://127.0.0.1:6379/0?key="),
        ("redis.internal:6379/0?key=k", "a Redis URL is redis://redis.internal:6379/0?key="),
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
        both(f"storage={text}", "value", says, {**SIZE, "storage": text}, never="s3same")
        for op in ("open", "load", "save"):
            wrapper = "://" in text and op != "open"  # PHP opens streams by their URLs
            args = {**SIZE, "arg": text} if op == "save" else {"storage": text}
            what = f"construct/storage={text}/{op}: {op} -> value"
            case(what, says, args, {"php": "wrapper"} if wrapper else None, never="s3same")
    new("storage=nul", "value", "null byte", NOT_C, storage="a\0b")
    for word, value in wrong("true", "int", "float", "list"):
        new(f"storage={word}", "type", {"": [], "php": ["storage"]}, NOT_C, storage=value)


def urls():
    """One of each kind: all are in tests/c/test_redis_faults.c."""
    for n, (url, says) in enumerate(
        (
            ("redis://h?key=", "names no key"),
            ("redis://:s3same@?key=k", "no host"),
            ("redis://h?key=a%00b", "NUL"),
            ("redis://h?key=k&timeout=0", "timeout"),
            ("redis://u:s3same%@h?key=k", "password"),
            ("rediss://:s3same@/0?key=k", "no host"),
            ("rediss://h?key=k&ca=a&ca=b", "one ca= and one cert="),
        )
    ):
        new(f"url{n}", "value", says, never="s3same", storage=url)
    says = ["key is given twice", "b", "a"]
    new("url-key-twice", "value", says, storage="redis://h?key=a", key="b")
    new("unix-missing", "io", "No such file", storage="unix:///no/such/socket?key=k")
    args = {"storage": "rediss://u:s3same@127.0.0.1:1/0?key=k&timeout=1"}
    for op in ("new", "open", "openro"):
        says, given = ["127.0.0.1:1 (TLS)", "refused"], SIZE if op == "new" else {}
        case(f"construct/rediss/{op}: {op} -> io", says, {**given, **args}, never="s3same")


# ---- keys ----
def keys():
    good = {
        "empty": b"",
        "nul": b"\0",
        "nul-inside": b"a\0b",
        "invalid-utf8": b"\xff\xfe",
        "overlong-utf8": b"\xc0\x80",
        "surrogate-utf8": b"\xed\xa0\x80",
        "past-unicode": b"\xf4\x90\x80\x80",
        "every-byte": range(256),
        "mebibyte": times(b"k", 2**20),
        "text": "Grüße",
        "astral": "😀",
        "last-character": "\U0010ffff",
        "bom": "\ufeff",
        "0": 0,
        "-0": "-0",
        "42": 42,
        "int64-least": -(2**63),
        "int64-most": 2**63 - 1,
        "int32": 2**31,
        "percent": "%s%n%00",
    }
    lengths = "1 3 4 8 9 16 17 64 65 128 129 240 241 512 513 4096 65536"
    for length in lengths.split():
        good[f"length{length}"] = times(b"x", int(length))
    size = {"m": 4096, "k": 5}
    for (name, key), scheme in itertools.product(good.items(), ("classic", "block", "block2")):
        case(f"key/{name}/{scheme}: key -> ok", args={**size, "scheme": scheme, "arg": key})
    for name, key in (("huge-int", 10**400), ("int-past-64", 2**64)):
        case(f"key/{name}: key -> ok", args={**size, "arg": key}, no={"php": NO_RANGE})

    def refused(name, want, says, ops, no=None, **args):
        for op in ops:
            case(f"key/{name}/{op}: {op} -> {want}", says, {**size, **args}, no)

    single = ("add", "test", "hashcode")
    for word, value in wrong("true", "none", "list", "float", nan=f("nan")):
        refused(word, "type", "must be", single, NOT_C, arg=value)
        says = {"py": ["key 1: a key must be"], "php": ["index 1"]}
        refused(word, "type", says, ("batch", "testbatch"), NOT_C, arg=value)
    for name, text in (
        ("high", "\ud800"),
        ("low", "\udfff"),
        ("inside", "aa\ud800bb"),
    ):
        refused(f"surrogate-{name}", "value", "lone surrogate", single, ONLY_PY, arg=text)
        says = ["key 1: lone surrogate"]
        refused(f"surrogate-{name}", "value", says, ("batch",), ONLY_PY, arg=text)
    in_batch = ["key 1", "before 1 after 0"]
    in_php = ["index 1", "before 1 after 0"]
    says = {"": ["UTF-8"], "c": in_batch, "py": in_batch, "php": in_php}
    for scheme, k in (("guava:chars", 5), ("rs-dotnet", 7)):  # they hash UTF-16
        for name, bad in (
            ("ff", b"\xff"),
            ("cut", b"\xf0\x9f"),
            ("surrogate", b"\xed\xa0\x80"),
            ("overlong", b"\xc0\x80"),
            ("alone", b"\x80"),
            ("late", b"good\xfe"),
            ("past", b"\xf4\x90\x80\x80"),
        ):
            what, args = f"{scheme}/{name}", {"k": k, "scheme": scheme, "arg": bad}
            refused(what, "value", "UTF-8", single, **args)
            refused(what, "value", says, ("batch",), **args)
    for scheme in ("guava:long", "guava:int"):
        for name, bad in (
            ("empty", b""),
            ("text", "x"),
            ("past-64", str(2**64)),
            ("space", " 1"),
            ("sign", "-"),
            ("nul", b"1\0"),
        ):
            ops = ("add", "test", "batch")
            refused(f"{scheme}/{name}", "value", [], ops, scheme=scheme, arg=bad)
    takes = ["takes hashes, not keys", "add_hashes"]
    refused(
        "hashes64", "value", takes, (*single, "batch", "testbatch"), scheme="hashes64", arg="good"
    )
    refused("guava:int/past-32", "value", [], ("add",), scheme="guava:int", arg=2**31)
