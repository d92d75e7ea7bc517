"""Answers: JSON for programs, lines and tables for people."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import Any, TextIO

from .faults import visible


def say(text: str, file: TextIO | None = None) -> None:
    """A line for people."""
    print(visible(text), file=file or sys.stdout)


def say_json(answer: object, file: TextIO | None = None) -> None:
    print(json.dumps(answer, allow_nan=False), file=file or sys.stdout)


def answer(args: Namespace, facts: object, text: str, file: TextIO | None = None) -> None:
    """Prints JSON with --json, else the text."""
    if args.json:
        say_json(facts, file)
    else:
        say(text, file)


def count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def size(bytes_: float) -> str:
    if bytes_ < 1024:
        return f"{bytes_:,.0f} bytes"
    units = ["KiB", "MiB", "GiB", "TiB"]
    while (bytes_ := bytes_ / 1024) >= 1024 and len(units) > 1:
        units.pop(0)
    return f"{bytes_:.1f} {units[0]}"


def rate(p: float) -> str:
    return f"{p:.3g}" + (f" (1 in {1 / p:,.0f})" if 1e-12 < p < 0.5 else "")


def pairs(rows: Iterable[tuple[str, str]]) -> None:
    rows = list(rows)
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        say(f"{name:<{width}}  {value}")


def table(heading: Sequence[str], rows: Iterable[Sequence[Any]], names: int = 1) -> None:
    """Columns as wide as they need to be; the first `names` to the left, numbers to the right."""
    cells = [list(map(str, heading)), *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(heading))]
    for row in cells:
        say(
            "  ".join(
                cell.ljust(w) if i < names else cell.rjust(w)
                for i, (cell, w) in enumerate(zip(row, widths))
            ).rstrip()
        )


def completion(args: Namespace) -> int:
    """A shell's completion script, which scripts/gen-cli made."""
    print(files(__package__).joinpath(f"bloomfilter.{args.shell}").read_text("utf-8"), end="")
    return 0
