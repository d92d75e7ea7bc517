"""The command rebuild: replaces the keys of a filter by those of files."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from itertools import repeat
from time import monotonic

from . import homes, report
from .faults import Fault, shown
from .lines import (
    LONGEST,
    Endless,
    bytes_in,
    new_buffer,
    opened,
    sources,
    warn_of_text,
    whole_lines,
)
from .meter import Silent, meter
from .signals import Interrupted, Signals


class Keys:
    """The lines of all files, counted.  After the last one the filter is exchanged, and signals
    wait."""

    def __init__(
        self, paths: list[str], separator: bytes, progress: Silent, signals: Signals
    ) -> None:
        self.paths, self.separator, self.progress = paths, separator, progress
        self.signals = signals
        self.count = self.bytes = 0

    def __iter__(self) -> Iterator[bytes]:
        for path in self.paths:
            with opened(path) as fd:
                for block in self.blocks(fd, path):
                    self.count += len(block)
                    yield from block
                    self.progress.show(self.bytes, self.count)
        self.signals.work()

    def blocks(self, fd: int, path: str) -> Iterator[list[bytes]]:
        pieces = whole_lines(fd, self.separator, repeat(new_buffer()))
        for i, (_, data, last) in enumerate(pieces):
            if i == 0:
                warn_of_text(path, data, self.separator)
            self.bytes += len(data)
            keys = bytes(data).split(self.separator)
            yield keys if last else keys[:-1]


def rebuild(args: Namespace) -> int:
    paths = sources(args.keyfiles, args.file)
    start = monotonic()
    progress = meter(bytes_in(paths), args.quiet)
    signals, state = Signals(), "is as it was"
    keys = Keys(paths, b"\0" if args.null else b"\n", progress, signals)
    with signals, homes.open_to_write(args.file, **homes.given(args), **homes.writers(args)) as bf:
        try:
            different = bf.rebuild(keys)
            state = "has the new keys"
            signals.rest()
        except Interrupted as stop:
            if signals.busy:  # a second one, that did not wait
                state = "has the old keys or the new ones"
            raise Interrupted(stop.number, f"{stop}: {shown(args.file)} {state}") from None
        except Endless:
            raise Fault(f"a line has {LONGEST:,} bytes or more, too many for a key here") from None
        except ValueError as fault:
            if (index := getattr(fault, "index", None)) is None:
                raise
            why = str(fault).removeprefix(f"key {index}: ")
            raise Fault(f"key {index + 1}: {why}; {shown(args.file)} is as it was") from None
        finally:
            progress.close()
    answer = {
        "file": shown(args.file),
        "keys": keys.count,
        "different": different,
        "seconds": round(monotonic() - start, 3),
    }
    if args.json or not args.quiet:
        text = f"{report.count(keys.count, 'key')}: {different:,} different"
        report.answer(args, answer, text)
    return 0
