"""The command `bloomfilter`: what it does with faults and signals; the commands are modules of
their own.

Nothing of this is imported by `import bloomfilter`.  A fault is one line on standard error and exit
code 2, Ctrl-C is 130, a reader of our output that went away is 141, as for any tool of the shell.
BLOOMFILTER_TRACEBACK=1 shows where a fault came from."""

from __future__ import annotations

import os
import sys
import warnings
from argparse import Namespace
from importlib import import_module

from .faults import Fault, sentence, visible
from .parser import build_parser
from .signals import Interrupted

OK, ABSENT, FAULT, GONE = 0, 1, 2, 141


def main(argv: list[str] | None = None) -> int:
    """Runs one command; returns the exit code."""
    hold_streams()
    warnings.showwarning = tell
    try:
        code = 0
        try:
            code = run(build_parser().parse_args(argv))
        except SystemExit as end:  # --help, --version, a wrong command line
            if end.code:
                raise
        sys.stdout.flush()
        return code
    except Interrupted as stop:
        return complain(str(stop), 128 + stop.number)
    except KeyboardInterrupt:
        return complain("interrupted", 130)
    except BrokenPipeError:
        settle_output()
        return GONE
    except Exception as fault:
        if os.environ.get("BLOOMFILTER_TRACEBACK"):
            raise
        settle_output()
        return complain(sentence(fault), FAULT)


def tell(message: Warning | str, *_where: object, **_more: object) -> None:
    """A warning of the library: one line, without the place in our sources where it came up, and
    without the argument that only programs have."""
    text = str(message).removesuffix(', or pass overfull="ignore"')
    complain(f"warning: {text}", OK)


def hold_streams() -> None:
    """A stream that was closed (>&-) must not become the number of the next file, a filter perhaps,
    that is opened: what takes its place cannot be used either, but says so."""
    for number, mode in ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)
    if sys.stdout is None:
        sys.stdout = open(1, "w", closefd=False)
    if sys.stderr is None:
        sys.stderr = open(2, "w", closefd=False)


def run(args: Namespace) -> int:
    """Imports a command's module only now: most need little."""
    module, function = args.run.split(":")
    code: int = getattr(import_module(f".{module}", __name__), function)(args)
    return code


def complain(text: str, code: int) -> int:
    try:
        print(f"bloomfilter: {visible(text)}", file=sys.stderr, flush=True)
    except OSError:
        pass  # nobody there to be told
    return code


def settle_output() -> None:
    """Where what is still buffered cannot be written, the interpreter must not try it again, and
    complain, when it ends."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


__all__ = ["Fault", "main"]
