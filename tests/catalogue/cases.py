"""What a case is made of: values, names of reasons, the list of cases."""

import itertools

NO_TYPE = "type"  # reasons of "not": the language has no such type here
NO_RANGE = "range"  # its type for this cannot hold the value
NO_METHOD = "method"  # its class has no such method
ZERO = "zero"  # 0 means "not given" to C
cases = []


# ---- values: Python's own, and what they cannot say ----
def f(text):
    """A float as it is written: 2, 1e300, nan."""
    return {"f": str(text)}


def stream(name):
    """A stream of PHP, a file object of Python: closed, full, a file open to be read or written."""
    return {"r": name}


def times(data, n):
    return of(data) | ({"x": n} if n != 1 else {})


def of(value):
    """As it stands in cases.jsonl.  A dict is that already: a path, a client, a float."""
    if isinstance(value, dict):
        return value
    if value is None or value is True or value == []:
        return {"n": 0} if value is None else {"t": 1} if value else {"l": []}
    if isinstance(value, (bytes, range)):
        return {"b": bytes(value).hex()}
    return {{int: "i", float: "f", str: "s"}[type(value)]: str(value)}


def all_of(args):
    return {name: of(value) for name, value in args.items()}


WORDS = {"true": True, "text": "2", "list": [], "int": 1, "float": 1.0, "none": None}


def wrong(*words, **others):
    """Values of a wrong type, by their names."""
    return [(word, WORDS[word]) for word in words] + list(others.items())


def case(what, says=(), args=None, no=None, value=None, want=None, **more):
    """what: "KIND/NAME: OP -> WANT".  says: what the message must hold.  want and says may differ by
    language: {"": all others, "php": ...}."""
    name, _, op = what.rpartition(": ")
    op, _, one = op.partition(" -> ")
    kind = name.partition("/")[0]
    row = {"id": name, "kind": kind, "op": op, "args": all_of(args or {}), "want": want or one}
    row["says"] = (
        [says] if isinstance(says, str) else says if isinstance(says, dict) else list(says)
    )
    if any("o" in value for value in row["args"].values()):  # C has no client of its own
        no = {"c": NO_TYPE} | (no or {})
    if no:
        row["not"] = no
    if value is not None:
        row["value"] = value
    if "of" in more.get("data", {}):
        more["data"]["of"] = all_of(more["data"]["of"])
    if isinstance(more.get("there"), dict):
        more["there"] = all_of(more["there"])
    cases.append(row | more)


def both(name, want, says, args, **more):
    """What plan refuses, the constructor refuses."""
    for op in ("plan", "new"):
        case(f"construct/{name}/{op}: {op}", says, args, want=want, **more)


PLAIN = {"m": 1001, "k": 3}
LINES = {"m": 1024, "k": 4, "scheme": "block"}
KEYED = {"m": 1001, "k": 3, "secret": range(16)}


WAYS = ("from_bytes", "load", "open")


def image(name, want, says, base=None, args=None, *patches, ways=WAYS, kind="bytes", **damage):
    """A damaged image in every way to read one.  patches: (place, bytes) each."""
    if patches:
        damage = {"put": [[at, bytes(data).hex()] for at, data in patches], **damage}
    for op in ways:
        data = {"of": base or PLAIN, **damage}
        case(f"{kind}/{name}/{op}: {op}", says, args, want=want, data=data)


def u32(v):
    return v.to_bytes(4, "little")


def u64(v):
    return v.to_bytes(8, "little")


LIMITS = {"m": 2**40, "n": 2**63 - 1, "k": 4096}
BESIDE = {"m": {"k": 3}, "n": {"p": 0.01}, "k": {"m": 1000}}


def pairs(kind, filters, differ):
    """Every two of these filters in a set operation."""
    for (a, left), (c, right) in itertools.product(filters.items(), repeat=2):
        args = {f"a.{name}": value for name, value in left.items()}
        args |= {f"b.{name}": value for name, value in right.items()}
        says, want = ([], "ok") if a == c else (differ, "value")
        for op in ("union", "intersect"):
            case(f"{kind}/{op}-{a}-{c}: {op}", says, args, want=want)
        case(f"{kind}/equal-{a}-{c}: equal -> ok", args=args, value=str(int(a == c)))
