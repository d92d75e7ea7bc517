"""The sides of the catalogue: C and PHP as programs that answer a request a line, Python in this
process.

Each answers (outcome, text): "ok" and what came out, or what was raised and its message.  OUTCOMES
says which answers of a language are which outcome class."""

import base64
import struct
import subprocess
import tempfile
from pathlib import Path

import clients
from bloomfilter import BloomFilter, CountingBloomFilter, Error

# Python's Error does not tell format, mismatch, notsup and an io without an errno apart: the
# message does.
TABLE = """
ok       ok ok                       ok
value    -1 ValueError               ValueError
type     -  TypeError                TypeError
memory   -2 BloomFilterException:-2  MemoryError
io       -3 BloomFilterException:-3  OSError,Error
absent   -9 BloomFilterException:-9  OSError,Error
lost     -3 BloomFilterException:-10 Error
format   -4 BloomFilterException:-4  Error
mismatch -5 BloomFilterException:-5  Error
notsup   -6 BloomFilterException:-6  Error
"""
OUTCOMES = {
    name: dict(zip(("c", "php", "py"), row))
    for name, *row in map(str.split, TABLE.split("\n")[1:-1])
}


def is_class(side, outcome, want):
    """Is this answer of that class?"""
    return outcome in OUTCOMES[want][side].split(",")


# ---- C, PHP ----
def as_bytes(value):
    data = (
        value["s"].encode("utf-8", "surrogatepass") if "s" in value else bytes.fromhex(value["b"])
    )
    return data * value.get("x", 1)


def as_text(value):
    (kind, content), *_ = value.items()
    if kind in ("s", "b"):
        return "b" + as_bytes(value).hex()
    return kind + (content.hex() if kind == "p" else "0" if kind == "l" else str(content))


class Program:
    """One process for all cases; a new one where it died."""

    def __init__(self, command):
        self.command, self.process, self.said = (
            [str(part) for part in command],
            None,
            tempfile.TemporaryFile(),
        )

    def ask(self, op, args):
        if self.process is None:
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.said
            )
        line = "\t".join([op, *(f"{name}={as_text(value)}" for name, value in args.items())])
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().decode()
        if not answer.endswith("\n"):
            return self.died(answer)
        outcome, _, text = answer[:-1].partition("\t")
        return outcome, bytes.fromhex(text).decode("utf-8", "replace")

    def died(self, answer):
        code = self.process.wait()
        self.process = None
        self.said.seek(0)
        return f"died with {code}", f"{answer}{self.said.read()[-2000:]!r}"

    def stop(self):
        """The exit code of what still runs: a sanitizer's last word counts."""
        if self.process is None:
            return 0
        self.process.stdin.close()
        return self.process.wait(60)


# ---- Python ----
def as_object(value):
    (kind, content), *_ = value.items()
    if kind in ("s", "b"):
        return (content if kind == "s" else bytes.fromhex(content)) * value.get("x", 1)
    return {
        "i": int,
        "f": float,
        "t": bool,
        "n": lambda _: None,
        "l": lambda _: [],
        "p": bytes,
        "o": clients.make,
        "r": stream,
    }[kind](content)


def stream(text):
    name, path = text.split(" ", 1)
    file = open(path, "wb" if name in ("written", "full") else "rb", buffering=0)
    if name == "closed":
        file.close()
    return file


# ---- many keys, for tests/cross: see side.c ----
FROM_BYTES = {"b": bytes, "s": bytes.decode, "i": int}


def keys_in(path):
    """All keys in their Python types, and those to add, which come first."""
    data, keys, added, at = Path(path.decode()).read_bytes(), [], [], 0
    while at < len(data):
        kind, length = chr(data[at]), int.from_bytes(data[at + 1 : at + 5], "little")
        keys.append(FROM_BYTES[kind.lower()](data[at + 5 : at + 5 + length]))
        if kind.islower():
            added.append(keys[-1])
        at += 5 + length
    return keys, added


def real(x):
    return struct.pack(">d", x).hex()


def answers(label, each):
    return f"{label} {''.join(str(int(answer)) for answer in each)}"


def parameters(f):
    return f"parameters {f.m} {f.n} {f.k} {real(f.p)} {f.scheme}"


def found(f, keys):
    yield answers("single", [key in f for key in keys])
    yield answers("batch", f.contains_many(keys))
    yield f"state {len(f)} {real(f.fill_ratio)} {real(f.fpr)}"


def positions(f, keys):
    return [f"positions {i} {' '.join(map(str, f.hashcode(key)))}" for i, key in enumerate(keys)]


def filled(f, keys, added, bytes, saved):
    yield parameters(f)
    yield answers("add", [f.add(key) for key in added[::2]])
    yield answers("update", f.add_many(added))
    f.save(saved)
    Path(bytes.decode()).write_bytes(f.to_bytes())
    yield from positions(f, keys)
    yield from found(f, keys)


def many(kind, op, keys, how=None, bytes=None, saved=None, **given):
    keys, added = keys_in(keys)
    if op == "positions":
        lines = positions(kind(**given), keys)
    elif op == "make":
        lines = filled(kind(**given), keys, added, bytes, saved)
    else:
        path = given.pop("storage")
        data = Path(path.decode()).read_bytes() if how == b"bytes" else path
        opener = {b"saved": kind.load, b"bytes": kind.from_bytes, b"mapped": kind.open}[how]
        f = opener(data, **given)
        lines = [parameters(f), *found(f, keys)]
    return "".join(f"{line}\n" for line in lines)


class Setup(Exception):
    pass


def made(make):
    try:
        return make()
    except Exception as e:
        raise Setup(str(e)) from e


class Python:
    def ask(self, op, args):
        given = {name: as_object(value) for name, value in args.items()}
        self.kind = CountingBloomFilter if given.pop("counting", False) else BloomFilter
        try:
            return "ok", self.serve(op, given)
        except Setup as e:
            return "setup", str(e)
        except Error as e:
            return "Error", str(e)
        except Exception as e:
            kinds = (ValueError, TypeError, OSError, MemoryError)
            return next(
                (kind.__name__ for kind in kinds if isinstance(e, kind)), type(e).__name__
            ), str(e)

    def stop(self):
        return 0

    def serve(self, op, given):
        if "keys" in given:
            return many(self.kind, op, **given)
        if op == "plan":
            return "{m} {n} {k} {scheme}".format(**self.kind.plan(**given))
        if op == "new":
            return self.describe(self.kind(**given))
        if op in ("from_bytes", "from_base64", "from_json"):
            data = given.pop("data")
            if isinstance(data, bytes):
                data = Path(data.decode()).read_bytes()
                data = base64.b64encode(data).decode() if op == "from_base64" else data
            return self.describe(getattr(self.kind, op)(data, **given))
        if op == "to_base64":
            return self.kind(**given).to_base64()
        if op in ("load", "open", "openro"):
            path = given.pop("storage")
            return self.describe(
                self.kind.load(path, **given)
                if op == "load"
                else self.kind.open(path, read_only=op == "openro", **given)
            )
        if op in ("union", "intersect", "equal"):
            return self.sets(op, given)
        arg = given.pop("arg", "good")
        f = made(lambda: self.kind.open(**given) if op == "addto" else self.kind(**given))
        clients.turn(given.get("storage"))
        return self.keys(f, op, arg)

    def describe(self, f):
        return f"{f.m} {f.n} {f.k} {f.scheme}"

    def sets(self, op, given):
        a, b = (
            {name[2:]: value for name, value in given.items() if name.startswith(prefix)}
            for prefix in ("a.", "b.")
        )
        a, b = (
            (CountingBloomFilter if one.pop("counting", False) else BloomFilter, one)
            for one in (a, b)
        )
        left = made(lambda: a[0](**a[1]))
        right = given["arg"] if "arg" in given else made(lambda: b[0](**b[1]))
        if op == "equal":
            return str(int(left == right))
        (left.union if op == "union" else left.intersection)(right)
        return ""

    def keys(self, f, op, key):
        if op == "save":
            f.save(key)
            return ""
        if op == "key":
            return " ".join(
                str(int(answer))
                for answer in (
                    f.add(key),
                    f.add(key),
                    key in f,
                    f.update([key, "after"]),
                    *f.hashcode(key),
                )
            )
        if op == "hashcode":
            return "" if f.hashcode(key) else "none"
        if op in ("add", "addto", "test"):
            return str(int(key in f if op == "test" else f.add(key)))
        if op in ("remove", "count"):
            return str(int(f.remove(key) if op == "remove" else f.count_of(key)))
        many = ["good", key, "after"]
        if op == "removebatch":
            return str(sum(f.remove_many(many)))
        if op == "testbatch":
            return str(sum(f.contains_many(many)))
        try:
            return str(f.update(many))
        except ValueError as e:
            if isinstance(e, Error):
                raise
            raise ValueError(f"{e}; before {int('good' in f)} after {int('after' in f)}") from e
