"""Damaged bytes and files of filters of many parts: parts that are missing, live words and sizes
that no filter writes."""

from cases import i, f, image, put

GROW = {"n": i(100), "p": f(0.01), "grow": f(2)}
WINDOW = {"n": i(100), "p": f(0.01), "window": f(60), "parts": i(4)}
FIRST = 4096  # where the first part's page begins
FLAGS, M, N, K, P, BYTES, GROW_AT, WINDOW_AT, PARTS, LIVE = (
    28,
    32,
    40,
    48,
    56,
    64,
    144,
    152,
    160,
    2080,
)
NEVER = -(1 << 47)


def live(value):
    """As format.c writes a live word: 48 bits, and 16 that check them."""
    v = value & 0xFFFFFFFFFFFF
    return ((~(v ^ v >> 16 ^ v >> 32) & 0xFFFF) << 48 | v).to_bytes(8, "little")


def u32(v):
    return v.to_bytes(4, "little")


def u64(v):
    return v.to_bytes(8, "little")


def chains():
    for name, base in (("grow", GROW), ("window", WINDOW)):

        def bad(what, says, *patches, **damage):
            if patches:
                damage["put"] = [put(at, data) for at, data in patches]
            image(f"{name}-{what}", "format", says, base, **damage)

        image(f"{name}-sound", "ok", [], base)
        image(f"{name}-mended-nothing", "ok", [], base, mend=1)
        for n in (4096, 4097, FIRST + 4095):
            bad(f"cut-{n}", ["truncated", f"{n} bytes", "part 0 is missing"], cut=n)
        for n in (FIRST + 4096, FIRST + 4097):
            bad(f"cut-{n}", ["truncated", "its part 0 has", f"{n - FIRST} bytes"], cut=n)
        for n in (1, 4096, 65536):
            bad(f"long-{n}", "too long", more=n)
        bad("twice", "too long", twice=1)
        for where, at in (("whole", 0), ("part", FIRST)):
            bad(f"{where}-live-broken", "live counter is invalid", flip=[[at + LIVE, 1]])
            bad(f"{where}-live-zero", "live counter is invalid", (at + LIVE, u64(0)))
            bad(f"{where}-flipped", "checksum", (at + N, [1]))
            bad(f"{where}-reserved", "reserved", (at + 1000, [1]), mend=1)
            bad(f"{where}-m-0", "m is out of range", (at + M, u64(0)), mend=1)
            bad(f"{where}-m-past", "m is out of range", (at + M, u64(1 << 41)), mend=1)
            bad(f"{where}-n-past", "n is out of range", (at + N, u64(1 << 63)), mend=1)
            bad(f"{where}-k-0", "k is out of range", (at + K, u32(0)), mend=1)
            bad(f"{where}-both-kinds", "features", (at + FLAGS, u32(0x300)), mend=1)
        bad(
            "part-huge",
            "its part 0" if name == "grow" else "does not belong",
            (FIRST + M, u64(1 << 39)),
            (FIRST + BYTES, u64(1 << 36)),
            mend=1,
        )
        bad("part-of-other-k", "does not belong", (FIRST + K, u32(3)), mend=1)
        bad("part-index", "does not belong", (FIRST + PARTS, u32(1)), mend=1)
        bad("part-index-past", "parts is out of range", (FIRST + PARTS, u32(256)), mend=1)
    for v in (0, -1, 257, NEVER):
        image(
            f"grow-live-{v}",
            "format",
            "number of parts is out of range",
            GROW,
            put=[put(LIVE, live(v))],
        )
    for v in (2, 256):
        image(
            f"grow-live-{v}",
            "format",
            ["truncated", "part 1 is missing"],
            GROW,
            put=[put(LIVE, live(v))],
        )
    for word, bits in (
        ("1", 0x3FF0000000000000),
        ("half", 0x3FE0000000000000),
        ("minus", 0xC000000000000000),
        ("nan", 0x7FF8000000000000),
        ("inf", 0x7FF0000000000000),
    ):
        image(
            f"grow-factor-{word}",
            "format",
            "grow is out of range",
            GROW,
            put=[put(GROW_AT, u64(bits))],
            mend=1,
        )
        if word not in ("1", "half"):
            image(
                f"window-seconds-{word}",
                "format",
                "window is out of range",
                WINDOW,
                put=[put(WINDOW_AT, u64(bits))],
                mend=1,
            )
    for v in (0, 256, 2**32 - 1):
        image(
            f"window-parts-{v}",
            "format",
            "parts is out of range",
            WINDOW,
            put=[put(PARTS, u32(v))],
            mend=1,
        )


def never_written():
    """Sound but for what no filter writes: sums and checks are right."""
    for v in (2**46, 2**47 - 1, -(2**46), NEVER + 1):
        image(
            f"window-live-{v}",
            "format",
            ["epoch", str(v), "out of range"],
            WINDOW,
            put=[put(LIVE, live(v))],
        )
        image(
            f"window-part-live-{v}",
            "format",
            ["epoch", str(v), "out of range"],
            WINDOW,
            put=[put(FIRST + LIVE, live(v))],
        )
    image(
        "window-part-live-1",
        "format",
        ["epoch 1", "belongs in another part"],
        WINDOW,
        put=[put(FIRST + LIVE, live(1))],
    )
    image(
        "window-part-live-later",
        "format",
        ["epoch 5000000000000", "later than the newest"],
        WINDOW,
        put=[put(FIRST + LIVE, live(5 * 10**12))],
    )
    image(
        "grow-part-live-minus",
        "format",
        "number of keys is below 0",
        GROW,
        put=[put(FIRST + LIVE, live(-1))],
    )
    for name, base in (("grow", GROW), ("window", WINDOW)):
        for v in (1, 2**40):
            image(f"{name}-n-{v}", "format", [], base, put=[put(N, u64(v))], mend=1)
        image(
            f"{name}-m-2^39",
            "format",
            f"m={2**39}",
            base,
            put=[put(M, u64(2**39)), put(BYTES, u64(2**36))],
            mend=1,
        )
        image(
            f"{name}-part-n",
            "format",
            ["its part 0", f"n={2**40}"],
            base,
            put=[put(FIRST + N, u64(2**40))],
            mend=1,
        )
