"""The commands create, info and merge: whole filters."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from .. import BloomFilter
from .._bloomfilter import _is_url
from . import homes, report
from .faults import Fault, shown


def describe(bf: BloomFilter) -> dict[str, Any]:
    storage = bf.storage
    home = "memory" if storage is None else "redis" if _is_url(storage) else "file"
    return {
        "file": storage and shown(storage),
        "home": home,
        "scheme": bf.scheme,
        "m": bf.m,
        "n": bf.n,
        "k": bf.k,
        "p": bf.p,
    }


def brief(bf: BloomFilter) -> str:
    return f"{bf.scheme}, m = {bf.m:,} ({report.size((bf.m + 7) // 8)}), n = {bf.n:,}, k = {bf.k}, p = {bf.p:.3g}"


# ---- create ----
def create(args: Namespace) -> int:
    if not homes.sizes(args):
        raise Fault(
            f"no size given: say -n KEYS -p RATE, or -m BITS -n KEYS, to create {shown(args.file)}"
        )
    old = homes.exists(args.file, homes.how(args))
    with homes.make(args) as bf:
        if args.json:
            report.say_json({**describe(bf), "created": not old})
        elif old:
            print(f"{shown(args.file)} exists already, with these parameters: left as it is")
        else:
            print(f"{shown(args.file)}: {brief(bf)}")
    return 0


# ---- info ----
def state(bf: BloomFilter) -> dict[str, Any]:
    return {
        "bytes": (bf.m + 7) // 8,
        "bits_per_key": round(bf.m / bf.n, 3),
        "fill_ratio": bf.fill_ratio,
        "count": len(bf),
        "fpr": bf.fpr,
    }


def info(args: Namespace) -> int:
    with homes.open_to_read(args.file, **homes.how(args)) as bf:
        facts = {**describe(bf), **state(bf)}
        grows = bf.grow
    if args.json:
        report.say_json(facts)
        return 0
    left = facts["n"] - facts["count"]
    room = "it grows" if grows else f"room for {left:,}" if left >= 0 else f"{-left:,} too many"
    report.pairs(
        [
            ("filter", f"{facts['file']} ({facts['home']})"),
            ("scheme", facts["scheme"]),
            (
                "m  bits",
                f"{facts['m']:,} ({report.size(facts['bytes'])}, {facts['bits_per_key']:.2f} bits per key)",
            ),
            ("n  keys it is sized for", f"{facts['n']:,}"),
            ("k  positions per key", f"{facts['k']}"),
            ("p  false positives at n keys", report.rate(facts["p"])),
            (
                "keys in it, estimated",
                f"{facts['count']:,} ({room})",
            ),
            ("bits set", f"{100 * facts['fill_ratio']:.2f} %"),
            ("false positives now", report.rate(facts["fpr"])),
        ]
    )
    return 0


# ---- merge ----
def unlike(a: BloomFilter, b: BloomFilter) -> bool:
    return (a.m, a.k, a.scheme) != (b.m, b.k, b.scheme)


def same(inputs: list[BloomFilter], names: list[str]) -> None:
    """Said before anything is changed."""
    for bf, name in zip(inputs, names):
        if unlike(bf, inputs[0]):
            raise Fault(
                f"{shown(name)} is {brief(bf)}; {shown(names[0])} is {brief(inputs[0])}: only filters of the same m, k and scheme unite"
            )


def merge(args: Namespace) -> int:
    options = homes.how(args)
    inputs = [homes.open_to_read(name, **options) for name in args.inputs]
    same(inputs, args.inputs)
    old = homes.exists(args.out, options)
    if not old:
        for bf in inputs:
            homes.must_be_fixed(bf)
    with (
        BloomFilter.open(args.out, **options)
        if old
        else homes.like(inputs[0], args.out, options) as out
    ):
        same([out, inputs[0]], [args.out, args.inputs[0]])
        for bf in inputs:
            out |= bf
        answer = {**describe(out), "created": not old, "count": len(out), "fpr": out.fpr}
    if args.json:
        report.say_json(answer)
    else:
        print(
            f"{shown(args.out)}: about {report.count(answer['count'], 'key')} of {report.count(len(inputs), 'filter')}, false positives {report.rate(answer['fpr'])}"
        )
    return 0
