"""The command plot: pictures of what study measures.  Only this module knows matplotlib, an extra:
pip install ...[plot].

Theory is a line, what was measured is points with the interval in which they should lie.  All rates
are on logarithmic axes."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Callable, Sequence
from typing import Any

from .. import BloomFilter
from . import homes, report
from .faults import Fault, shown
from .study import BITS_A_KEY, Halves, check, keys_of, over_k

# Okabe and Ito's colours, which the colour-blind can tell apart.
BLUE, ORANGE, GREEN = "#0072b2", "#d55e00", "#009e73"
SCHEMES = {"classic": (BLUE, "o"), "block": (ORANGE, "s"), "block2": (GREEN, "D")}
RATES = [10 ** (-e / 4) for e in range(2, 25)]  # 0.3 to 1e-6
FILLS = [step / 20 for step in range(1, 31)]  # of n, in steps of 5 %
STEPS, MOST_NUMBERS = 60, 10_000_000  # of a growing filter
FORMATS = (".png", ".svg", ".pdf")
Axes = Any


def library() -> Any:
    try:
        import matplotlib  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        raise Fault(
            "plot needs matplotlib: pip install matplotlib (or this package with its extra plot)"
        ) from None
    matplotlib.use("Agg")
    matplotlib.rcParams.update(
        {
            "font.size": 10, "axes.titlesize": 11, "axes.titleweight": "bold", "axes.titlepad": 12, "axes.spines.top": False, "axes.spines.right": False,
            "axes.grid": True, "grid.color": "#dddddd", "grid.linewidth": 0.6, "legend.frameon": False, "svg.fonttype": "none",
            "lines.linewidth": 1.6, "axes.axisbelow": True, "svg.hashsalt": "bloomfilter",
        }
    )  # fmt: skip
    from matplotlib import pyplot  # type: ignore[import-not-found, unused-ignore]

    return pyplot


# ---- axes ----
def percent(value: float, _position: object = None) -> str:
    return f"{100 * value:.10f}".rstrip("0").rstrip(".") + " %"


def rate_axis(ax: Axes) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter  # type: ignore[import-not-found, unused-ignore]

    ax.set_yscale("log")
    ax.yaxis.set_major_locator(LogLocator(10, numticks=12))
    ax.yaxis.set_major_formatter(FuncFormatter(percent))
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.set_ylabel("false positives")


def keys_axis(ax: Axes, most: float) -> None:
    ax.set_xlabel("different keys added")
    ax.xaxis.set_major_formatter(
        lambda value, _: f"{value:,.0f}" if most < 1e6 else f"{value / 1e6:,g} M"
    )
    ax.xaxis.get_major_locator().set_params(nbins=7)


def plain_log(low: float, high: float, axis: Any) -> None:
    """A short logarithmic axis: marks at 1, 2 and 5, written out."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator  # type: ignore[import-not-found, unused-ignore]

    marks = [digit * 10.0**e for e in range(-9, 2) for digit in (1, 2, 5)]
    axis.set_major_locator(
        FixedLocator([mark for mark in marks if low * 0.99 <= mark <= high * 1.01])
    )
    axis.set_major_formatter(FuncFormatter(percent))
    axis.set_minor_locator(NullLocator())


def points(
    ax: Axes, x: Sequence[float], rates: Sequence[float], color: str, marker: str, label: str
) -> None:
    """Measured rates; a rate of 0 has no place on a logarithmic axis and is left out."""
    some = [(at, rate) for at, rate in zip(x, rates) if rate]
    at, rate = [at for at, _ in some], [rate for _, rate in some]
    ax.plot(at, rate, marker, color=color, ms=4.5, label=label, zorder=3)


# ---- the pictures ----
def draw_k(ax: Axes, args: Namespace, halves: Halves) -> None:
    low, high = 1.0, 0.0
    for shift, (scheme, (color, marker)) in enumerate(SCHEMES.items()):
        results = list(over_k(halves, scheme, args.confidence))
        x = [float(r.k) for r in results]
        ax.plot(x, [r.theory for r in results], color=color, lw=1.3)
        at = [k + 0.16 * (shift - 1) for k in x]
        theory = [r.theory for r in results]
        spans = [[r.theory - r.low for r in results], [r.high - r.theory for r in results]]
        ax.errorbar(at, theory, yerr=spans, fmt="none", ecolor=color, alpha=0.35, elinewidth=3.2)
        points(ax, at, [r.measured for r in results], color, marker, scheme)
        low, high = min([low, *(r.low for r in results)]), max([high, *(r.high for r in results)])
    rate_axis(ax)
    plain_log(low, high, ax.yaxis)
    ax.set_xticks([1, *range(3, 20, 2)])
    ax.set_xlabel("k, positions per key")
    ax.set_title(f"Rate against k: m = {BITS_A_KEY} n, n = {halves.n:,}")
    ax.legend(
        title=f"line: rate by the formula\nbar: {100 * args.confidence:g} % of measurements lie in it\npoint: rate measured",
        loc="upper center",
    )


def draw_fill(ax: Axes, args: Namespace, halves: Halves) -> None:
    """Each scheme at its own best k for 1 % at n; keys added in steps, half of them beyond n."""
    n = len(halves.added) * 2 // 3
    for scheme, (color, marker) in SCHEMES.items():
        bf = BloomFilter(n=n, p=0.01, scheme=scheme, warn=False)
        fills, rates, theory = [], [], []
        for load in FILLS:
            bf.update(halves.added[int(n * (load - 0.05) + 0.5) : int(n * load + 0.5)])
            fills.append(bf.fill_ratio)
            theory.append(bf.fpr)
            rates.append(sum(bf.contains_many(halves.probed)) / halves.probes)
        ax.plot(fills, theory, color=color, lw=1.3)
        points(ax, fills, rates, color, marker, f"{scheme}, k = {bf.k}")
        ax.plot([fills[19]], [theory[19]], "o", ms=11, mfc="none", mec=color, mew=1.2)
    rate_axis(ax)
    ax.set_ylim(bottom=0.6 / halves.probes)  # less than one found cannot be seen
    ax.xaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
    ax.set_xlabel("bits set")
    ax.set_title(f"Rate against fill: sized for n = {n:,} at 1 %")
    ax.legend(
        title="line: rate by the bits that are set\npoint: rate measured\nring: n keys are in",
        loc="lower right",
    )


def draw_bits(ax: Axes, _args: Namespace, _halves: Halves) -> None:
    n = 10_000_000  # large enough that whole lines do not show
    for scheme, (color, _) in SCHEMES.items():
        found = [BloomFilter.plan(n=n, p=p, scheme=scheme)["m"] / n for p in RATES]
        ax.plot(RATES, found, color=color, label=scheme)
        for e in (2, 4, 6):
            at, bits = RATES[4 * e - 2], found[4 * e - 2]
            below = scheme == "classic"
            ax.plot([at], [bits], "o", ms=3.5, color=color)
            if scheme != "block2" and not (e == 2 and not below):
                ax.annotate(
                    f"{bits:.1f}",
                    (at, bits),
                    xytext=(0, -6 if below else 6),
                    textcoords="offset points",
                    color=color,
                    fontsize=8,
                    ha="left" if below else "right",
                    va="top" if below else "bottom",
                )
    default = [BloomFilter.plan(n=n, p=p)["m"] / n for p in RATES]
    ax.plot(RATES, default, "--", color="#222222", lw=1, label="chosen without --scheme")
    ax.set_xscale("log")
    ax.invert_xaxis()
    ax.xaxis.set_major_formatter(percent)
    ax.set_ylim(bottom=0)
    ax.set_xlabel("p, false positives at n keys")
    ax.set_ylabel("bits per key, m / n")
    ax.set_title("Size against rate")
    ax.legend(loc="upper left")


def model(args: Namespace, keys: int) -> tuple[BloomFilter, BloomFilter | None]:
    """An empty filter to fill, and the one whose parameters it has."""
    if not args.filter:
        return BloomFilter(n=max(1, keys * 2 // 3), p=0.01, warn=False), None
    real = homes.open_to_read(args.filter, **homes.how(args))
    secret = homes.secret_of(args)
    return homes.like(real, None, {"secret": secret, "warn": False}), real


def growing(bf: BloomFilter, keys: Sequence[Any]) -> tuple[list[int], list[float], list[float]]:
    """Keys added so far, rate and fill by the bits, in steps."""
    ends = [len(keys) * (step + 1) // STEPS for step in range(STEPS)]
    rates, fills = [], []
    for start, end in zip([0, *ends], ends):
        bf.update(keys[start:end])
        rates.append(bf.fpr)
        fills.append(bf.fill_ratio)
    return ends, rates, fills


def draw_growth(ax: Axes, args: Namespace, halves: Halves) -> None:
    bf, real = model(args, halves.n)
    made_up = (
        args.filter and not args.keyfile
    )  # numbers, as many as it takes to see the filter full
    x, rates, fills = growing(
        bf, range(min(bf.n * 3 // 2, MOST_NUMBERS)) if made_up else halves.added
    )
    ax.plot(x, rates, color=ORANGE, label="false positives (by its bits)")
    rate_axis(ax)
    keys_axis(ax, x[-1])
    other = ax.twinx()
    other.grid(False)
    other.spines["right"].set_visible(True)
    other.plot([0, *x], [0, *fills], color=BLUE, label="bits set (right)")
    other.set_ylim(0, 1)
    other.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
    other.set_ylabel("bits set")
    ax.set_ylim(bottom=max(min(rates), 1e-5 * max(rates), 1e-12))
    mark_growth(ax, bf, real, x[-1])
    named = [
        line
        for line in [*ax.get_lines(), *other.get_lines()]
        if not line.get_label().startswith("_")
    ]
    other.legend(
        handles=named,
        loc="lower right",
        frameon=True,
        facecolor="white",
        edgecolor="none",
        framealpha=0.9,
    )
    ax.set_title(f"A filter filling up: {bf.scheme}, m = {bf.m:,}, k = {bf.k}")


def mark_growth(ax: Axes, bf: BloomFilter, real: BloomFilter | None, end: int) -> None:
    ax.axhline(bf.p, color="#555555", lw=0.9, ls=":")
    if bf.n <= 1.5 * end:
        ax.axvline(
            bf.n,
            color="#555555",
            lw=0.9,
            ls=":",
            label=f"sized for n = {bf.n:,} at {percent(bf.p)}",
        )
    if real is not None and len(real):
        ax.set_ylim(bottom=min(ax.get_ylim()[0], real.fpr / 2))
        ax.plot(
            [len(real)],
            [real.fpr],
            "*",
            color="#222222",
            ms=12,
            label=f"{os.path.basename(shown(real.storage or ''))} now",
        )


PICTURES: dict[str, Callable[[Axes, Namespace, Halves], None]] = {
    "k": draw_k,
    "fill": draw_fill,
    "bits": draw_bits,
    "growth": draw_growth,
}


# ---- the file ----
def plot(args: Namespace) -> int:
    check(args)
    check_name(args.picture)
    if not 10 <= args.dpi <= 1200:
        raise Fault(f"--dpi must be 10 to 1200, got {args.dpi}")
    pyplot = library()
    names = list(PICTURES) if args.what == "all" else [args.what]
    halves = Halves(keys_of(args))
    rows = (len(names) + 1) // 2
    figure, axes = pyplot.subplots(
        rows,
        len(names) // rows,
        figsize=(7.2 * len(names) / rows, 4.6 * rows),
        squeeze=False,
        layout="constrained",
    )
    for name, ax in zip(names, axes.flat):
        PICTURES[name](ax, args, halves)
    save(figure, args.picture, args.dpi)
    facts = {"file": args.picture, "plots": names, "keys": halves.n + halves.probes}
    report.answer(args, facts, args.picture)
    return 0


def check_name(path: str) -> None:
    if os.path.splitext(path)[1].lower() not in FORMATS:
        raise Fault(f"{path}: a picture's name must end in {', '.join(FORMATS)}")


def save(figure: Any, path: str, dpi: int = 150) -> None:
    """A picture that cannot be finished is removed."""
    svg = path.lower().endswith(".svg")
    try:
        figure.savefig(path, dpi=dpi, metadata={"Date": None} if svg else None)
    except OSError:
        if os.path.isfile(path) and os.path.getsize(path) == 0:
            os.unlink(path)
        raise
