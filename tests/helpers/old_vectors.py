"""What older systems answered: the files of tests/vectors, and the keys that their lines name."""

from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "vectors"
MASK = (1 << 64) - 1


def lines(name):
    return [line.split(" ") for line in (FOLDER / name).read_text().splitlines()]


def mix(z):
    z = (z + 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def read_key(how, arg, length="0"):
    n = int(length)
    if how == "hex":
        return bytes.fromhex("" if arg == "-" else arg)
    if how == "rep":
        unit = bytes.fromhex(arg)
        return (unit * (n // len(unit) + 1))[:n]
    return b"".join(mix((int(arg) + j) & MASK).to_bytes(8, "little") for j in range((n + 7) // 8))[
        :n
    ]


KEYS = {number: read_key(*how) for number, *how in lines("keys.txt")}


def blocks():
    found = []
    for first, *rest in lines("positions.txt"):
        if first == "=":
            found.append((rest[0], int(rest[1]), int(rest[2]), []))
        else:
            found[-1][3].append((first, rest))
    return found
