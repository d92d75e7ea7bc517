"""The commands adopt, clear, expire and delete: each calls the library once."""

from __future__ import annotations

import os
import sys
from argparse import Namespace

from .._bloomfilter import _open, _path_of
from . import homes, report
from .faults import Fault, shown
from .filters import brief, describe


def agreed(args: Namespace, question: str) -> None:
    """Asks if standard input is a terminal and --yes is not given."""
    if args.yes or not sys.stdin or not sys.stdin.isatty():
        return
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise Fault(f"{shown(args.file)} is unchanged")


def adopt(args: Namespace) -> int:
    if args.scheme is None:
        raise Fault(
            "pass the other system's scheme (--scheme), and -m and -k if the scheme does not fix them"
        )
    with _open(args.file, adopt=True, **homes.given(args)) as bf:
        text = f"{shown(args.file)}: adopted: {brief(bf)}"
        report.answer(args, {**describe(bf), "adopted": True}, text)
    return 0


def clear(args: Namespace) -> int:
    with homes.open_to_write(args.file, **homes.how(args)) as bf:
        agreed(args, f"remove about {report.count(len(bf), 'key')} from {shown(args.file)}?")
        bf.clear()
        report.answer(args, {**describe(bf), "cleared": True}, f"{shown(args.file)}: empty now")
    return 0


def expire(args: Namespace) -> int:
    with homes.open_to_write(args.file, **homes.how(args)) as bf:
        bf.expire(args.seconds or None)
        when = f"expires in {args.seconds:,g} s" if args.seconds else "never expires"
        facts = {**describe(bf), "seconds": args.seconds or None}
        report.answer(args, facts, f"{shown(args.file)}: {when}")
    return 0


def delete(args: Namespace) -> int:
    path = _path_of(args.file)
    opened = homes.open_to_read if path else homes.open_to_write
    with opened(args.file, **homes.how(args)) as bf:  # nothing but a filter is deleted
        agreed(args, f"delete {shown(args.file)}, {brief(bf)}?")
        facts = {**describe(bf), "deleted": True}
        if path:
            os.unlink(path)
        else:
            bf.delete()
    report.answer(args, facts, f"{shown(args.file)}: deleted")
    return 0
