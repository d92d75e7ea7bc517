"""How far a measured rate may lie from the formula's: the interval that holds a share of all
measurements.

The number of false positives among t probes of one filter is binomial with that filter's own rate
R.  R itself differs from filter to filter, because so do the bits that n keys happen to set: E[R]
is the formula, Var[R] is below.  Both together are taken as a beta-binomial of this mean and
variance.  The formula itself is the library's: plan()["p"]."""

from __future__ import annotations

from math import exp, inf, lgamma, log, log1p, sqrt

LINE = 512  # bits of a line, the unit of the schemes block and block2
WORD = 64


def best_k(m: float, n: float) -> float:
    """The number of positions per key with the lowest rate, as the texts on Bloom filters print
    it."""
    return m / n * log(2)


# ---- the variance of a filter's own rate ----
def occupancy(m: float, throws: float) -> float:
    """Variance of the share of m bits that are set after so many throws."""
    c = throws / m
    return exp(-c) * (1 - (1 + c) * exp(-c)) / m


def classic_variance(m: float, n: float, k: int) -> float:
    fill = -(exp(-k * n / m) - 1)
    return (k * fill ** (k - 1)) ** 2 * occupancy(m, k * n)


def loads(mean: float) -> list[tuple[int, float]]:
    """The numbers of keys a line may have, with their chances (Poisson)."""
    low, high = max(0, int(mean - 12 * sqrt(mean) - 12)), int(mean + 12 * sqrt(mean) + 12)
    return [(i, exp(i * log(mean) - mean - lgamma(i + 1))) for i in range(low, high + 1)]


def line_variance(lines: float, mean: float, bits: float) -> tuple[float, float]:
    """Mean and variance of the rate averaged over all lines, each key setting `bits` bits of its
    line.

    A line's rate depends on its load.  All loads together are n: what is linear in the load cancels
    out, and is taken away.  At one load it still varies with how many bits of each word were hit
    twice."""
    share, average, square, slope, inside = bits / LINE, 0.0, 0.0, 0.0, 0.0
    for load, chance in loads(mean):
        fill = 1 - exp(load * log1p(-share))
        rate = fill**bits
        average += chance * rate
        square += chance * rate * rate
        slope += chance * rate * (load - mean)
        if fill > 0:
            inside += chance * rate * rate * bits * occupancy(WORD, load * share * WORD) / fill**2
    return average, max(0.0, square - average**2 - slope**2 / mean + inside) / lines


def block_variance(m: float, n: float, k: int) -> float:
    return line_variance(m / LINE, n * LINE / m, k)[1]


def block2_variance(m: float, n: float, k: int) -> float:
    """Two lines of the same kind multiply: where k is odd they differ by a bit, which is left out
    here."""
    mean, variance = line_variance(m / LINE, 2 * n * LINE / m, k / 2)
    return 4 * mean**2 * variance


VARIANCE = {"classic": classic_variance, "block": block_variance, "block2": block2_variance}


def variance(scheme: str, m: float, n: float, k: int) -> float:
    """0 for schemes of older systems: then the interval is the binomial's, a little too narrow."""
    return VARIANCE[scheme](m, n, k) if scheme in VARIANCE else 0.0


# ---- the interval ----
def log_choose(n: int, x: int) -> float:
    return lgamma(n + 1) - lgamma(x + 1) - lgamma(n - x + 1)


def chances(trials: int, mean: float, spread: float, counts: range) -> list[float]:
    """Chance of each of these counts: beta-binomial, or binomial where spread is next to
    nothing."""
    total = mean * (1 - mean) / spread - 1 if spread > 0 else inf
    if total > 1e9:
        return [
            exp(log_choose(trials, x) + x * log(mean) + (trials - x) * log1p(-mean)) for x in counts
        ]
    a, b = mean * total, (1 - mean) * total
    base = lgamma(a + b) - lgamma(a) - lgamma(b) - lgamma(trials + a + b)
    return [
        exp(log_choose(trials, x) + lgamma(x + a) + lgamma(trials - x + b) + base) for x in counts
    ]


def plausible(trials: int, mean: float, spread: float) -> range:
    """The counts that are looked at: beyond lies less than any interval's rest."""
    middle, width = (
        trials * mean,
        20 + 12 * sqrt(trials * mean * (1 - mean) + trials * trials * spread),
    )
    return range(max(0, int(middle - width)), min(trials, int(middle + width) + 1) + 1)


def interval(trials: int, mean: float, spread: float, confidence: float) -> tuple[int, int]:
    """Smallest and largest count to expect: outside, on either side, lies at most half of 1 -
    confidence."""
    if not 0 < mean < 1:
        return (0, 0) if mean <= 0 else (trials, trials)
    counts = plausible(trials, mean, spread)
    table, tail, low, high = (
        chances(trials, mean, spread, counts),
        (1 - confidence) / 2,
        0,
        len(counts) - 1,
    )
    below, above = table[0], table[-1]
    while low < len(table) - 1 and below <= tail:
        low += 1
        below += table[low]
    while high > 0 and above <= tail:
        high -= 1
        above += table[high]
    return counts[low], counts[high]
