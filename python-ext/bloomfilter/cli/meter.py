"""Progress on a terminal: bytes of bytes, rate, time left, keys.  Silent where standard error is
none.

tqdm draws it where it is installed (the extra `cli`); without it a plain line does.
"""

from __future__ import annotations

import sys
from time import monotonic

EVERY = 0.2  # seconds between two looks
DELAY = 0.3  # before a bar appears at all


class Silent:
    def show(self, done: int, keys: int) -> None:
        """done: bytes read, keys: keys answered, both in all."""

    def close(self) -> None:
        """Leaves the screen as it was."""


class Visible(Silent):
    def __init__(self, total: int | None) -> None:
        self.total, self.start, self.last = total, monotonic(), 0.0

    def show(self, done: int, keys: int) -> None:
        now = monotonic()
        if now - self.last >= EVERY:
            self.last, spent = now, max(now - self.start, 1e-6)
            self.draw(done, spent, f"{keys:,} keys, {keys / spent:,.0f}/s")

    def draw(self, done: int, spent: float, text: str) -> None:
        raise NotImplementedError


class Plain(Visible):
    def draw(self, done: int, spent: float, text: str) -> None:
        if self.total and done:
            left = max(0, round(spent * (self.total / done - 1)))
            text = f"{100 * done // self.total:3d}%  {text}, {left // 60}:{left % 60:02d} left"
        self.write(text)

    def write(self, text: str) -> None:
        sys.stderr.write(f"\r{text}\x1b[K")
        sys.stderr.flush()

    def close(self) -> None:
        self.write("")


class Bar(Visible):
    def __init__(self, total: int | None) -> None:
        from tqdm import tqdm  # type: ignore[import-untyped, import-not-found, unused-ignore]

        super().__init__(total)
        fixed = {"unit": "B", "unit_scale": True, "leave": False, "dynamic_ncols": True}
        self.bar = tqdm(total=total or None, mininterval=0, miniters=0, delay=DELAY, **fixed)

    def draw(self, done: int, spent: float, text: str) -> None:
        self.bar.set_postfix_str(text, refresh=False)
        self.bar.update(done - self.bar.n)

    def close(self) -> None:
        self.bar.close()


def meter(total: int | None, quiet: bool) -> Silent:
    """total: number of bytes, None if unknown."""
    if quiet or not sys.stderr.isatty():
        return Silent()
    try:
        return Bar(total)
    except ImportError:
        return Plain(total)
