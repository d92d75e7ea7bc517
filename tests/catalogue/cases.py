"""What a case is made of: values, names of reasons, the list of cases."""

NO_TYPE = "type"  # reasons of "not": the language has no such type here
NO_RANGE = "range"  # its type for this cannot hold the value
NO_METHOD = "method"  # its class has no such method
ZERO = "zero"  # 0 means "not given" to C
cases = []


# ---- values ----
def i(number):
    return {"i": str(number)}


def f(number):
    return {"f": str(number)}


def s(text, times=1):
    return {"s": text} | ({"x": times} if times != 1 else {})


def b(data, times=1):
    return {"b": bytes(data).hex()} | ({"x": times} if times != 1 else {})


YES, NONE, LIST = {"t": 1}, {"n": 0}, {"l": []}


def case(what, says=(), args=None, no=None, value=None, want=None, **more):
    """what: "KIND/NAME: OP -> WANT".  says: what the message must hold.  want and says may differ by
    language: {"": all others, "php": ...}."""
    name, _, op = what.rpartition(": ")
    op, _, one = op.partition(" -> ")
    kind = name.partition("/")[0]
    row = {"id": name, "kind": kind, "op": op, "args": args or {}, "want": want or one}
    row["says"] = (
        [says] if isinstance(says, str) else says if isinstance(says, dict) else list(says)
    )
    if no:
        row["not"] = no
    if value is not None:
        row["value"] = value
    cases.append(row | more)


def both(name, want, says, args, **more):
    """What plan refuses, the constructor refuses."""
    for op in ("plan", "new"):
        case(f"construct/{name}/{op}: {op}", says, args, want=want, **more)


PLAIN = {"m": i(1001), "k": i(3)}
LINES = {"m": i(1024), "k": i(4), "scheme": s("block")}
KEYED = {"m": i(1001), "k": i(3), "secret": b(range(16))}


def image(
    name, want, says, base=None, args=None, ways=("from_bytes", "load", "open"), no=None, **damage
):
    for op in ways:
        data = {"of": base or PLAIN, **damage}
        case(f"bytes/{name}/{op}: {op}", says, args, want=want, data=data, no=no)


def put(at, data):
    return [at, bytes(data).hex()]


LIMITS = {"m": 2**40, "n": 2**63 - 1, "k": 4096}
BESIDE = {"m": {"k": i(3)}, "n": {"p": f(0.01)}, "k": {"m": i(1000)}}
