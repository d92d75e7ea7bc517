"""Damaged bytes and files of filters of many parts: parts that are missing, live words and sizes
that no filter writes."""

from cases import f, image, u32, u64

GROW = {"n": 100, "p": 0.01, "grow": f(2)}
WINDOW = {"n": 100, "p": 0.01, "window": f(60), "parts": 4}
FIRST = 4096  # where the first part's page begins
FLAGS, M, N, K, P, BYTES = 28, 32, 40, 48, 56, 64
GROW_AT, WINDOW_AT, PARTS, LIVE = 144, 152, 160, 2080
NEVER = -(1 << 47)


def live(value):
    """As format.c writes a live word: 48 bits, and 16 that check them."""
    v = value & 0xFFFFFFFFFFFF
    return ((~(v ^ v >> 16 ^ v >> 32) & 0xFFFF) << 48 | v).to_bytes(8, "little")


KINDS = {"grow": GROW, "window": WINDOW}


def bad(name, says, *patches, **damage):
    """name: "grow-..." or "window-..."."""
    image(name, "format", says, KINDS[name.partition("-")[0]], None, *patches, **damage)


def chains():
    for name, base in KINDS.items():
        image(f"{name}-sound", "ok", [], base)
        image(f"{name}-mended-nothing", "ok", [], base, mend=1)
        for n in (4096, 4097, FIRST + 4095):
            bad(f"{name}-cut-{n}", ["truncated", f"{n} bytes", "part 0 is missing"], cut=n)
        for n in (FIRST + 4096, FIRST + 4097):
            bad(f"{name}-cut-{n}", ["truncated", "its part 0 has", f"{n - FIRST} bytes"], cut=n)
        for n in (1, 4096, 65536):
            bad(f"{name}-long-{n}", "too long", more=n)
        bad(f"{name}-twice", "too long", twice=1)
        for where, at in ((f"{name}-whole", 0), (f"{name}-part", FIRST)):
            bad(f"{where}-live-broken", "state of a part is invalid", flip=[[at + LIVE, 1]])
            bad(f"{where}-live-zero", "state of a part is invalid", (at + LIVE, u64(0)))
            bad(f"{where}-flipped", "checksum", (at + N, [1]))
            bad(f"{where}-reserved", "reserved", (at + 1000, [1]), mend=1)
            bad(f"{where}-m-0", "m is out of range", (at + M, u64(0)), mend=1)
            bad(f"{where}-m-past", "m is out of range", (at + M, u64(1 << 41)), mend=1)
            bad(f"{where}-n-past", "n is out of range", (at + N, u64(1 << 63)), mend=1)
            bad(f"{where}-k-0", "k is out of range", (at + K, u32(0)), mend=1)
            bad(f"{where}-both-kinds", "features", (at + FLAGS, u32(0x300)), mend=1)
        huge = (FIRST + M, u64(1 << 39)), (FIRST + BYTES, u64(1 << 36))
        bad(
            f"{name}-part-huge",
            "its part 0" if name == "grow" else "does not belong",
            *huge,
            mend=1,
        )
        bad(f"{name}-part-of-other-k", "does not belong", (FIRST + K, u32(3)), mend=1)
        bad(f"{name}-part-index", "does not belong", (FIRST + PARTS, u32(1)), mend=1)
        bad(f"{name}-part-index-past", "parts is out of range", (FIRST + PARTS, u32(256)), mend=1)
    for v in (0, -1, 257, NEVER):
        bad(f"grow-live-{v}", "number of parts is out of range", (LIVE, live(v)))
    for v in (2, 256):
        bad(f"grow-live-{v}", ["truncated", "part 1 is missing"], (LIVE, live(v)))
    for word, bits in (
        ("half", 0x3FE0000000000000),
        ("minus", 0xC000000000000000),
        ("nan", 0x7FF8000000000000),
        ("inf", 0x7FF0000000000000),
    ):
        bad(f"grow-factor-{word}", "grow is out of range", (GROW_AT, u64(bits)), mend=1)
        if word != "half":
            bad(f"window-seconds-{word}", "window is out of range", (WINDOW_AT, u64(bits)), mend=1)
    for v in (0, 256, 2**32 - 1):
        bad(f"window-parts-{v}", "parts is out of range", (PARTS, u32(v)), mend=1)


def never_written():
    """Sound but for what no filter writes: sums and checks are right."""
    part_live = FIRST + LIVE
    for v in (2**46, 2**47 - 1, -(2**46), NEVER + 1):
        says = ["epoch", str(v), "out of range"]
        bad(f"window-live-{v}", says, (LIVE, live(v)))
        bad(f"window-part-live-{v}", says, (part_live, live(v)))
    bad("window-part-live-1", ["epoch 1", "belongs in another part"], (part_live, live(1)))
    later = 5 * 10**12
    says = [f"epoch {later}", "later than the newest"]
    bad("window-part-live-later", says, (part_live, live(later)))
    bad("grow-part-live-minus", "number of keys is below 0", (part_live, live(-1)))
    for name in KINDS:
        for v in (1, 2**40):
            bad(f"{name}-n-{v}", [], (N, u64(v)), mend=1)
        bad(f"{name}-m-2^39", f"m={2**39}", (M, u64(2**39)), (BYTES, u64(2**36)), mend=1)
        bad(f"{name}-part-n", ["its part 0", f"n={2**40}"], (FIRST + N, u64(2**40)), mend=1)
