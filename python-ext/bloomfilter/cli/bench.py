"""The command bench: what a key costs here, by scheme and operation, measured by the K-best
method."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

from .. import BloomFilter
from . import homes, report
from .faults import Fault
from .kbest import k_best

FACTOR, MODULUS = 0x9E3779B97F4A7C15, 10**18  # coprime: 18 digits that never repeat
OWN = "bench creates a file of its own and removes it"
SINGLE = 100_000  # keys a measurement of single calls
SLICE = 1 << 20  # bytes of lines per call, as when files are read
LARGEST_CACHE = 64 << 20  # bytes to read where the system does not know its third level


def urls(word: str, n: int) -> list[bytes]:
    return [
        b"https://www.example.com/%s/item/%018d" % (word.encode(), i * FACTOR % MODULUS)
        for i in range(1, n + 1)
    ]


def slices(keys: list[bytes]) -> list[bytes]:
    each = SLICE // (len(keys[0]) + 1)
    return [b"\n".join(keys[i : i + each]) + b"\n" for i in range(0, len(keys), each)]


Operation = tuple[str, int, Callable[[], object], Callable[[], object]]  # name, keys, run, prepare


def operations(bf: BloomFilter, here: list[bytes], gone: list[bytes]) -> Iterator[Operation]:
    """Adding comes first: it leaves the filter full for the others."""
    lines_here, lines_gone = slices(here), slices(gone)
    few_here, few_gone = here[:SINGLE], gone[:SINGLE]

    def each(call: Callable[[bytes], object], data: list[bytes]) -> Callable[[], None]:
        def run() -> None:
            for item in data:
                call(item)

        return run

    def nothing() -> None:
        pass

    yield "add lines, new", len(here), each(bf.update_lines, lines_here), bf.clear
    yield "add lines, seen", len(here), each(bf.update_lines, lines_here), nothing
    yield "check lines, present", len(here), each(bf.contains_lines, lines_here), nothing
    yield "check lines, absent", len(gone), each(bf.contains_lines, lines_gone), nothing
    yield "one key, present", len(few_here), each(bf.__contains__, few_here), nothing
    yield "one key, absent", len(few_gone), each(bf.__contains__, few_gone), nothing


def filters(args: Namespace) -> Iterator[tuple[str, BloomFilter]]:
    for scheme in args.schemes:
        yield scheme, BloomFilter(n=args.n, p=args.p, scheme=scheme, warn=False)
        if args.file:
            homes.must_be_free(args.file, {}, OWN)
            bf = BloomFilter(n=args.n, p=args.p, scheme=scheme, storage=args.file, warn=False)
            if not bf.created:  # another process created it after the look
                raise Fault(f"{args.file} exists already: {OWN}")
            yield f"{scheme}, file", bf


def evict() -> Callable[[], object]:
    """A call that fills the processor's caches with other data: it reads twice their size."""
    try:
        size = os.sysconf("SC_LEVEL3_CACHE_SIZE")
    except (AttributeError, OSError, ValueError):  # Windows has no sysconf
        size = 0
    other = bytearray(b"\1") * (2 * max(size, LARGEST_CACHE))
    return lambda: other.count(b"\2")


def both(first: Callable[[], object], second: Callable[[], object]) -> Callable[[], None]:
    def run() -> None:
        first()
        second()

    return run


def measure(args: Namespace) -> Iterator[dict[str, Any]]:
    cool = evict() if args.cold else lambda: None
    here, gone = urls("here", args.n), urls("gone", args.n)
    for name, bf in filters(args):
        try:
            for operation, keys, run, prepare in operations(bf, here, gone):
                timing = k_best(
                    run,
                    k=args.k_best,
                    tolerance=args.tolerance,
                    most=args.most,
                    prepare=both(prepare, cool),
                )
                yield {
                    "filter": name,
                    "bytes": (bf.m + 7) // 8,
                    "operation": operation,
                    "keys": keys,
                    "ns_per_key": timing.best / keys,
                    **asdict(timing),
                }
        finally:
            remove(bf)


def remove(bf: BloomFilter) -> None:
    storage = bf.storage
    bf.close()
    if storage:
        os.unlink(storage)


def spread(row: dict[str, Any]) -> str:
    share = row["kth"] / max(1, row["best"]) - 1
    return f"{100 * share:.1f} %{'' if row['converged'] else ' NOT'}"


def check(args: Namespace) -> None:
    if not 1 <= args.n <= 100_000_000:
        raise Fault(f"-n must be 1 to 100000000 keys, which are held in memory, got {args.n}")
    if not 1 <= args.k_best <= args.most:
        raise Fault(f"--k-best must be 1 to --max ({args.most}), got {args.k_best}")
    if not args.tolerance >= 0:
        raise Fault(f"--tolerance must be 0 or more, got {args.tolerance:g}")


def bench(args: Namespace) -> int:
    check(args)
    rows = list(measure(args))
    if args.json:
        report.say_json(
            {
                "k": args.k_best,
                "tolerance": args.tolerance,
                "max": args.most,
                "cold": args.cold,
                "results": rows,
            }
        )
        return 0
    print(
        f"{args.n:,} keys of 49 bytes, p = {args.p:g}{', caches evicted before each measurement' if args.cold else ''}; ns per key by {args.k_best}-best: the {args.k_best} smallest measurements agree within {100 * args.tolerance:g} %, or NOT after {args.most}"
    )
    heading = ("filter", "operation", "ns per key", "million keys/s", "measured", "agree within")
    table = [
        (
            row["filter"],
            row["operation"],
            f"{row['ns_per_key']:.1f}",
            f"{1000 / row['ns_per_key']:.1f}",
            f"{row['measurements']} times",
            spread(row),
        )
        for row in rows
    ]
    report.table(heading, table, names=2)
    missed = sum(not row["converged"] for row in rows)
    if missed:
        print(
            f"{missed} of {len(rows)} did not converge: the machine is too busy for this tolerance, take these with care"
        )
    return 0
