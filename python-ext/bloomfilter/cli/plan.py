"""The command plan: size and rates of a filter that is not created.  The library has the formulas;
here they are put into a table and a picture."""

from __future__ import annotations

import warnings
from argparse import Namespace
from math import ceil, log
from typing import Any

from .. import BloomFilter, CountingBloomFilter
from . import homes, report
from .faults import as_options
from .plot import BLUE, check_name, keys_axis, library, percent, rate_axis, save

LOADS = (0.5, 1, 1.5, 2, 3, 4)  # of n


def sized(args: Namespace) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the library plans, and what was given.  Of n and k it is the m for which that k is the
    best."""
    given = homes.sizes(args)
    if given.keys() - {"scheme"} == {"n", "k"}:
        given["m"] = ceil(given["n"] * given["k"] / log(2))
    given |= homes.variants(args)
    kind = CountingBloomFilter if args.counting else BloomFilter
    return {**kind.plan(**given, warn=False)}, given


def rate_at(load: float, made: dict[str, Any], args: Namespace) -> float:
    """The rate with load * n keys.  A growing filter keeps p; of a forgetting one it is the rate
    when all keys of the window are in each of its parts, the most that is possible."""
    if args.grow:
        return float(made["p"])
    slots = (args.parts or 4) + 1 if args.window else 1
    shape = {"k": made["k"], "scheme": made["scheme"], "warn": False}
    keys = max(1, round(load * made["n"]))
    one = BloomFilter.plan(m=made["m"] // slots, n=keys, **shape)["p"]
    return float(1 - (1 - one) ** slots) if slots > 1 else float(one)


def note(args: Namespace, given: dict[str, Any]) -> str | None:
    """What the library would warn of if the filter were created in Redis."""
    kind = CountingBloomFilter if args.counting else BloomFilter
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            kind.plan(**given, storage="redis://127.0.0.1/0?key=planned")
        except ValueError:  # not possible in Redis
            return None
    return as_options(str(caught[0].message).partition(", or pass")[0]) if caught else None


def draw(path: str, made: dict[str, Any], args: Namespace) -> None:
    pyplot = library()
    figure, ax = pyplot.subplots(figsize=(7.2, 4.6), layout="constrained")
    loads = [step / 20 for step in range(2, 81)]
    x = [load * made["n"] for load in loads]
    ax.plot(x, [rate_at(load, made, args) for load in loads], color=BLUE)
    ax.axhline(made["p"], color="#555555", lw=0.9, ls=":")
    ax.axvline(made["n"], color="#555555", lw=0.9, ls=":")
    ax.annotate(
        f"n = {made['n']:,}, p = {percent(made['p'])}",
        (made["n"], made["p"]),
        xytext=(6, -14),
        textcoords="offset points",
    )
    rate_axis(ax)
    ax.set_ylim(max(made["p"] / 1000, 1e-9), 1)
    keys_axis(ax, x[-1])
    ax.set_title(f"{made['scheme']}, m = {made['m']:,}, k = {made['k']}")
    save(figure, path)


def plan(args: Namespace) -> int:
    if args.picture:
        check_name(args.picture)
    made, given = sized(args)
    bytes_ = (made["m"] * (4 if args.counting else 1) + 7) // 8
    advice = note(args, given)
    rates = [
        {"load": load, "keys": round(load * made["n"]), "rate": rate_at(load, made, args)}
        for load in LOADS
    ]
    facts = {
        **made,
        **homes.variants(args),
        **({"counting": True} if args.counting else {}),
        "bytes": bytes_,
        "bits_per_key": round(8 * bytes_ / made["n"], 3),
        "rates": rates,
        **({"redis": advice} if advice else {}),
    }
    if args.picture:
        draw(args.picture, made, args)
    if args.json:
        report.say_json(facts)
        return 0
    report.pairs(
        [
            ("scheme", made["scheme"]),
            (
                "size",
                f"{report.size(bytes_)} ({bytes_:,} bytes), {facts['bits_per_key']:.2f} bits per key",
            ),
            ("m  counters" if args.counting else "m  bits", f"{made['m']:,}"),
            ("n  keys", f"{made['n']:,}"),
            ("k  positions per key", f"{made['k']}"),
            ("p  false positives at n keys", report.rate(made["p"])),
        ]
    )
    report.say("")
    most = "at most " if args.grow or args.window else ""
    report.table(
        ("keys", "of n", "false positives"),
        [(f"{r['keys']:,}", f"{r['load']:g}", most + report.rate(r["rate"])) for r in rates],
        names=0,
    )
    if args.grow:
        report.say(f"it begins with this size and grows by {args.grow:g} past n keys")
    if advice:
        report.say(advice)
    return 0
