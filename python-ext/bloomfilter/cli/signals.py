"""Ctrl-C and a polite kill between batches: while one is under way they wait, so that what was
added is always known, and printed where that was asked for."""

from __future__ import annotations

import signal
from types import TracebackType

NAMES = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
PATIENCE = 5  # seconds for whoever reads what is still to be printed


class Interrupted(Exception):
    """A signal ended the work; str() says what was done until then."""

    def __init__(self, number: int, text: str = "") -> None:
        super().__init__(text or NAMES[signal.Signals(number)])
        self.number = number


class Signals:
    """with Signals() as signals: raises Interrupted at once, but while `busy` only when busy ends.
    A second signal waits for nothing, and no signal for a reader who does not read."""

    def __init__(self) -> None:
        self.busy = self.printing = False
        self.came = 0
        self.before: dict[int, object] = {}

    def __enter__(self) -> Signals:
        for number in NAMES:
            try:
                self.before[number] = signal.signal(number, self.take)
            except ValueError:  # not the main thread: signals are somebody else's business
                break
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if signal.SIGALRM in self.before:
            signal.alarm(0)
        for number, handler in self.before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]

    def take(self, number: int, _frame: object) -> None:
        again, self.came = self.came, number
        if again or not self.busy:
            raise Interrupted(number)
        if self.printing:
            self.hurry()

    def hurry(self) -> None:
        self.before[signal.SIGALRM] = signal.signal(signal.SIGALRM, self.give_up)
        signal.alarm(PATIENCE)

    def give_up(self, _number: int, _frame: object) -> None:
        if self.busy:
            raise Interrupted(self.came)

    def work(self) -> None:
        self.busy = True

    def prints(self) -> None:
        self.printing = True
        if self.came:
            self.hurry()

    def rest(self) -> None:
        self.busy = self.printing = False
        if self.came:
            raise Interrupted(self.came)
