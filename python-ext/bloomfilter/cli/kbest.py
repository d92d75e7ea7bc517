"""K-best timing: noise makes a measurement longer, never shorter, so the smallest of many is the
best estimate, if it is reproduced.

Measures until the K smallest agree: the K-th is at most (1 + tolerance) times the smallest.  Gives
up after `most` measurements, with converged = False.  The method of Bryant and O'Hallaron's "Computer
Systems"."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter_ns


@dataclass
class Timing:
    best: int  # ns, the smallest
    kth: int  # ns, the K-th smallest
    measurements: int
    converged: bool


def k_best(
    run: Callable[[], object],
    *,
    k: int,
    tolerance: float,
    most: int,
    prepare: Callable[[], object] = lambda: None,
    clock: Callable[[], int] = perf_counter_ns,
) -> Timing:
    """Times run(); prepare() before each is not timed."""
    smallest: list[int] = []
    for measured in range(1, most + 1):
        prepare()
        start = clock()
        run()
        insort(smallest, clock() - start)
        del smallest[k:]
        if len(smallest) == k and smallest[-1] <= (1 + tolerance) * smallest[0]:
            return Timing(smallest[0], smallest[-1], measured, True)
    return Timing(smallest[0], smallest[-1], most, False)
