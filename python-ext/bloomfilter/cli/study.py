"""The command study: the classic study of m, n and k on any list of keys, compared with theory.

The first half of the keys is added, the second probed: none of those was ever added, so each one
found is a false positive."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from .. import BloomFilter
from . import report, theory
from .faults import Fault
from .lines import STDIN, all_keys, is_piped
from .urls import made

BITS_A_KEY, COUNTS = 10, range(1, 20)
TABLE_RATIOS, TABLE_COUNTS = range(2, 33), range(1, 9)


@dataclass
class Result:
    """One filter: false positives measured and expected, as shares of the probes."""

    scheme: str
    m: int
    n: int
    m_asked: int  # block and block2 round it up to whole lines
    k: int
    best_k: float  # m/n ln 2
    probes: int
    false_positives: int
    measured: float
    theory: float
    low: float
    high: float
    inside: bool


class Halves:
    def __init__(self, keys: list[bytes]) -> None:
        half = len(keys) // 2
        if half < 1:
            raise Fault(f"a study needs at least 2 different keys, got {len(keys)}")
        self.added, self.probed = keys[:half], keys[half:]
        self.n, self.probes = half, len(keys) - half
        self.data = [b"".join(key + b"\n" for key in part) for part in (self.added, self.probed)]
        self.plain = not any(b"\n" in key for key in keys)

    def count(self, bf: BloomFilter) -> int:
        """How many of the second half are found once the first half is in."""
        if self.plain:
            bf.update_lines(self.data[0])
            return bf.contains_lines(self.data[1])[1]
        bf.update(self.added)
        return sum(bf.contains_many(self.probed))


def measure(halves: Halves, scheme: str, m: int, k: int, confidence: float) -> Result:
    bf = BloomFilter(m=m, n=halves.n, k=k, scheme=scheme, warn=False)
    found = halves.count(bf)
    low, high = theory.interval(
        halves.probes, bf.p, theory.variance(scheme, bf.m, halves.n, k), confidence
    )
    share = 1 / halves.probes
    return Result(
        scheme,
        bf.m,
        halves.n,
        m,
        k,
        theory.best_k(m, halves.n),
        halves.probes,
        found,
        found * share,
        bf.p,
        low * share,
        high * share,
        low <= found <= high,
    )


def allowed(scheme: str, m: int, n: int, k: int) -> bool:
    """False if the scheme does not have this k.  An unknown scheme raises."""
    try:
        BloomFilter.plan(m=m, n=n, k=k, scheme=scheme, warn=False)
    except ValueError as fault:
        if str(fault).startswith("k "):
            return False
        raise
    return True


def over_k(halves: Halves, scheme: str, confidence: float) -> Iterator[Result]:
    m = BITS_A_KEY * halves.n
    for k in COUNTS:
        if allowed(scheme, m, halves.n, k):
            yield measure(halves, scheme, m, k, confidence)


def over_ratio(halves: Halves, scheme: str, confidence: float) -> Iterator[Result]:
    for ratio in TABLE_RATIOS:
        for k in TABLE_COUNTS:
            if allowed(scheme, ratio * halves.n, halves.n, k):
                yield measure(halves, scheme, ratio * halves.n, k, confidence)


def keys_of(args: Namespace) -> list[bytes]:
    return (
        all_keys(args.keyfile, b"\0" if args.null else b"\n")
        if args.keyfile
        else made(seed=args.seed)
    )


def keys_to_study(args: Namespace) -> list[bytes]:
    """Without KEYFILE the keys come from a pipe, as in other commands; if it is empty, they are
    generated URLs."""
    piped = not args.keyfile and is_piped() and all_keys(STDIN, b"\0" if args.null else b"\n")
    return piped or keys_of(args)


def check(args: Namespace) -> None:
    if not 0 < args.confidence < 1:
        raise Fault(f"--confidence must be between 0 and 1, got {args.confidence:g}")


# ---- output ----
def percent(share: float) -> str:
    return f"{100 * share:.4g}"


def show_over_k(scheme: str, results: list[Result]) -> None:
    first = results[0]
    print(
        f"\n{scheme}: m = {first.m:,} bits, n = {first.n:,} keys added, {first.probes:,} others probed; the best k is m/n ln 2 = {first.best_k:.2f}; false positives in %"
    )
    rows = [
        (
            r.k,
            r.false_positives,
            percent(r.measured),
            percent(r.theory),
            f"{percent(r.low)} .. {percent(r.high)}",
            "" if r.inside else "outside",
        )
        for r in results
    ]
    report.table(("k", "found", "measured", "theory", "interval", ""), rows)


def show_over_ratio(scheme: str, results: list[Result]) -> None:
    """Two text lines per ratio: measured, and below it theory."""
    print(
        f"\n{scheme}: false positives in %, measured (* = outside its interval) and below it theory"
    )
    cells = {(r.m_asked // r.n, r.k): r for r in results}
    counts = sorted({k for _, k in cells})
    rows: list[tuple[str, ...]] = []
    for ratio in sorted({ratio for ratio, _ in cells}):
        line = [cells.get((ratio, k)) for k in counts]
        rows.append(
            (
                str(ratio),
                f"{theory.best_k(ratio, 1):.2f}",
                *(f"{100 * r.measured:.3g}{' ' if r.inside else '*'}" if r else "" for r in line),
            )
        )
        rows.append(("", "", *(f"{100 * r.theory:.3g} " if r else "" for r in line)))
    report.table(("m/n", "best k", *(f"k={k} " for k in counts)), rows)


def study(args: Namespace) -> int:
    check(args)
    halves = Halves(keys_to_study(args))
    by_k = {scheme: list(over_k(halves, scheme, args.confidence)) for scheme in args.schemes}
    by_ratio = {
        scheme: list(over_ratio(halves, scheme, args.confidence)) for scheme in args.schemes
    }
    everything = [r for part in (by_k, by_ratio) for results in part.values() for r in results]
    inside = sum(r.inside for r in everything)
    if args.json:
        report.say_json(
            {
                "keys": halves.n + halves.probes, "confidence": args.confidence, "inside": inside, "filters": len(everything),
                "over_k": [asdict(r) for results in by_k.values() for r in results],
                "over_ratio": [asdict(r) for results in by_ratio.values() for r in results],
            }
        )  # fmt: skip
        return 0
    print(
        f"{halves.n + halves.probes:,} different keys, the first half added, the second probed; intervals hold {100 * args.confidence:g} % of such measurements"
    )
    for scheme, results in by_k.items():
        if results:
            show_over_k(scheme, results)
    for scheme, results in by_ratio.items():
        if results:
            show_over_ratio(scheme, results)
    print(
        f"\n{inside} of {len(everything)} measurements lie in their interval ({100 * inside / max(1, len(everything)):.1f} %)"
    )
    return 0
