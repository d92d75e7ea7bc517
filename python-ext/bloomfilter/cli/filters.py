"""The commands create, info and merge: whole filters."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from .. import BloomFilter, CountingBloomFilter
from .._bloomfilter import _path_of
from . import homes, report
from .faults import Fault, shown


def describe(bf: BloomFilter) -> dict[str, Any]:
    storage = bf.storage
    home = "memory" if storage is None else "file" if _path_of(storage) else "redis"
    return {
        "file": storage and shown(storage),
        "home": home,
        "kind": homes.kind_of(bf),
        "scheme": bf.scheme,
        "m": bf.m,
        "n": bf.n,
        "k": bf.k,
        "p": bf.p,
        **({"grow": bf.grow} if bf.grow else {}),
        **({"window": bf.window} if bf.window else {}),
        **({"parts": homes.parts_of(bf)} if bf.grow or bf.window else {}),
    }


def variant(bf: BloomFilter) -> str:
    """What a fixed filter cannot do, as text; empty for a fixed filter."""
    counts = ["counts"] if isinstance(bf, CountingBloomFilter) else []
    if bf.grow:
        counts += [f"grows by {bf.grow:g}", f"{report.count(homes.parts_of(bf), 'part')} now"]
    if bf.window:
        return f"forgets after {bf.window:,g} s, in {report.count(homes.parts_of(bf), 'step')}"
    return ", ".join(counts)


def brief(bf: BloomFilter) -> str:
    more = variant(bf)
    return (
        f"{bf.scheme}, m = {bf.m:,} ({report.size(room_of(bf))}), n = {bf.n:,}, k = {bf.k}, p = {bf.p:.3g}"
        + (f", {more}" if more else "")
    )


def room_of(bf: BloomFilter) -> int:
    """Bytes of its bits, or of its counters."""
    return (bf.m * (4 if isinstance(bf, CountingBloomFilter) else 1) + 7) // 8


# ---- create ----
def create(args: Namespace) -> int:
    if not homes.sizes(args):
        raise Fault(f"pass -n and -p (or -m and -n) to create {shown(args.file)}")
    old = homes.exists(args.file, homes.how(args))
    with homes.make(args) as bf:
        text = " exists already, with these parameters: left as it is" if old else f": {brief(bf)}"
        report.answer(args, {**describe(bf), "created": not old}, shown(args.file) + text)
    return 0


# ---- info ----
def sized_for(bf: BloomFilter) -> int:
    """Number of keys that it has room for now; in a growing filter, in all its parts."""
    return sum(part["n"] for part in bf.part_info()) if bf.grow else bf.n


def room_left(bf: BloomFilter, count: int) -> str:
    if bf.grow:
        return "more than its rate allows" if bf.saturated else "it grows"
    left = bf.n - count
    return f"room for {left:,}" if left >= 0 else f"{-left:,} too many"


def state(bf: BloomFilter) -> dict[str, Any]:
    return {
        "bytes": room_of(bf),
        "bits_per_key": round(8 * room_of(bf) / sized_for(bf), 3),
        "fill_ratio": bf.fill_ratio,
        "count": len(bf),
        "fpr": bf.fpr,
    }


def info(args: Namespace) -> int:
    with homes.open_to_read(args.file, **homes.given(args)) as bf:
        left = bf._expires_in()
        facts = {**describe(bf), **state(bf), **({"expires_in": left} if left else {})}
        kind, room = variant(bf), room_left(bf, facts["count"])
    if args.json:
        report.say_json(facts)
        return 0
    report.pairs(
        [
            ("filter", f"{facts['file']} ({facts['home']})"),
            *([("kind", kind)] if kind else []),
            ("scheme", facts["scheme"]),
            (
                "m  counters" if facts["kind"] == "counting" else "m  bits",
                f"{facts['m']:,} ({report.size(facts['bytes'])}, {facts['bits_per_key']:.2f} bits per key)",
            ),
            (
                "n  keys it began with" if "grow" in facts else "n  keys it is sized for",
                f"{facts['n']:,}",
            ),
            ("k  positions per key", f"{facts['k']}"),
            ("p  false positives at n keys", report.rate(facts["p"])),
            (
                "keys in it, estimated",
                f"{facts['count']:,} ({room})",
            ),
            (
                "counters above 0" if facts["kind"] == "counting" else "bits set",
                f"{100 * facts['fill_ratio']:.2f} %",
            ),
            ("false positives now", report.rate(facts["fpr"])),
            *([("expires", f"in {left:,.0f} s")] if left else []),
        ]
    )
    return 0


# ---- merge ----
def unlike(a: BloomFilter, b: BloomFilter) -> bool:
    """Growing filters are compared by their initial size, because they may have grown unequally."""
    both = ((type(x), x.grow, x.window, x.n if x.grow else x.m, x.k, x.scheme) for x in (a, b))
    return next(both) != next(both)


def same(inputs: list[BloomFilter], names: list[str]) -> None:
    """Refuses unlike filters before anything is changed."""
    for bf, name in zip(inputs, names):
        if unlike(bf, inputs[0]):
            raise Fault(
                f"{shown(name)} is {brief(bf)}; {shown(names[0])} is {brief(inputs[0])}: only filters of the same kind, m, k and scheme unite"
            )


def into_new(inputs: list[BloomFilter], storage: str, options: dict[str, Any]) -> BloomFilter:
    """The union in a new storage.  It is first created in memory where one step must create it with
    its keys: in Redis, and if it grows, because its parts are those of the largest input."""
    if not inputs[0].grow and _path_of(storage):
        out = homes.like(inputs[0], storage, options)
        for bf in inputs:
            out |= bf
        return out
    whole = inputs[0].copy()
    for bf in inputs[1:]:
        whole |= bf
    homes.save_new(whole, storage, options.get("key"))
    options.pop("exclusive", None)
    return homes.open_to_read(storage, **options)


def merge(args: Namespace) -> int:
    options = homes.given(args)
    inputs = [homes.open_to_read(name, **options) for name in args.inputs]
    same(inputs, args.inputs)
    old = homes.exists(args.out, options)
    if old:
        out = homes.open_to_write(args.out, **options, **homes.writers(args))
        same([out, inputs[0]], [args.out, args.inputs[0]])
        for bf in inputs:
            out |= bf
        out.update(())  # a warning comes with the next call that adds
    else:
        out = into_new(inputs, args.out, homes.how_to_write(args))
    with out:
        answer = {**describe(out), "created": not old, "count": len(out), "fpr": out.fpr}
    report.answer(
        args,
        answer,
        f"{shown(args.out)}: about {report.count(answer['count'], 'key')} of {report.count(len(inputs), 'filter')}, false positives {report.rate(answer['fpr'])}",
    )
    return 0
