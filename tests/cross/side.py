"""side.py - the Python side of the cross-language tests; see side.c, which is the same program."""

import struct
import sys
from pathlib import Path

from bloomfilter import BloomFilter

FROM_TEXT = {"m": int, "n": int, "k": int, "p": float, "scheme": str, "secret": bytes.fromhex}
FROM_BYTES = {"b": bytes, "s": bytes.decode, "i": int}


def read_keys(path):
    """All keys in their Python types, and those to add, which come first."""
    data = Path(path).read_bytes()
    keys, added, at = [], [], 0
    while at < len(data):
        kind, length = chr(data[at]), int.from_bytes(data[at + 1 : at + 5], "little")
        keys.append(FROM_BYTES[kind.lower()](data[at + 5 : at + 5 + length]))
        if kind.islower():
            added.append(keys[-1])
        at += 5 + length
    return keys, added


def real(x):
    return struct.pack(">d", x).hex()


def print_answers(label, each):
    print(label, "".join(str(int(answer)) for answer in each))


def print_parameters(f):
    print("parameters", f.m, f.n, f.k, real(f.p), f.scheme)


def print_state(f):
    print("state", len(f), real(f.fill_ratio), real(f.fpr))


def print_presence(f, keys):
    print_answers("single", [key in f for key in keys])
    print_answers("batch", f.contains_many(keys))


def print_positions(f, keys):
    for i, key in enumerate(keys):
        print("positions", i, *f.hashcode(key))


def parse(line):
    name, home, *values = line.split("\t")
    letters = ["scheme", "m", "n", "k", "p", "secret"]
    return (
        name,
        home,
        {
            letter: FROM_TEXT[letter](value)
            for letter, value in zip(letters, values)
            if value != "-"
        },
    )


def make(path, home, given, keys, added):
    f = BloomFilter(**given, storage=f"{path}.py.mapped" if home == "file" else None)
    print_parameters(f)
    print_answers("add", [f.add(key) for key in added[::2]])
    print_answers("update", f.add_many(added))
    print_presence(f, keys)
    print_positions(f, keys)
    print_state(f)
    f.save(f"{path}.py.saved")
    Path(f"{path}.py.bytes").write_bytes(f.to_bytes())


def read_others(path, home, given, keys):
    secret = given.get("secret")
    ways = {
        "saved": lambda file: BloomFilter.load(file, secret=secret),
        "bytes": lambda file: BloomFilter.from_bytes(Path(file).read_bytes(), secret=secret),
    }
    if home == "file":
        ways["mapped"] = lambda file: BloomFilter.open(file, secret=secret)
    for side in ["c", "php", "py"]:
        for how, open_it in ways.items():
            f = open_it(f"{path}.{side}.{how}")
            print("read", side, how)
            print_parameters(f)
            print_presence(f, keys)
            print_state(f)


def main(what, cases, keys_file, folder):
    keys, added = read_keys(keys_file)
    for line in Path(cases).read_text().splitlines():
        name, home, given = parse(line)
        print("case", name)
        if what == "make":
            make(f"{folder}/{name}", home, given, keys, added)
        elif what == "read":
            read_others(f"{folder}/{name}", home, given, keys)
        else:
            print_positions(BloomFilter(**given), keys)


main(*sys.argv[1:])
