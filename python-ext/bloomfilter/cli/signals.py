"""Ctrl-C and SIGTERM are handled between batches, so that the number of keys that were added is
always known, and --print prints all of them."""

from __future__ import annotations

import signal
from types import TracebackType

NAMES = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
ALARM = getattr(signal, "SIGALRM", None)  # None on Windows: there the reader is waited for
PATIENCE = 5  # seconds for the reader of the remaining output


class Interrupted(Exception):
    """A signal ended the work; str() is what was done until then."""

    def __init__(self, number: int, text: str = "") -> None:
        super().__init__(text or NAMES[signal.Signals(number)])
        self.number = number


class Signals:
    """with Signals() as signals: raises Interrupted immediately, or, while `busy`, when busy ends.  A
    second signal does not wait, and no signal waits for a blocked reader."""

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
        if ALARM in self.before:
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
        if ALARM is not None:
            self.before[ALARM] = signal.signal(ALARM, self.give_up)
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
