"""The command `bloomfilter`: faults, signals and exit codes.  Each command is a module.

`import bloomfilter` imports none of this.  A fault is one line on standard error and exit code 2,
Ctrl-C is 130, a closed output pipe is 141, as in other tools of the shell.
BLOOMFILTER_TRACEBACK=1 shows the traceback of a fault."""

from __future__ import annotations

import os
import sys
import warnings
from argparse import Namespace
from importlib import import_module

from .faults import Fault, as_options, of_warning, sentence, visible
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
            parser = build_parser()
            args = parser.parse_args(argv)
            if not args.run:
                parser.print_help(sys.stdout)
                parser.error("COMMAND is missing")
            code = run(args)
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
    """Prints a warning of the library as one line, without a place in our sources."""
    complain(f"warning: {as_options(of_warning(message))}", OK)


def hold_streams() -> None:
    """If a stream is closed (>&-), the next file that is opened, perhaps a filter, would get its
    number.  Opens /dev/null there instead, so that using the stream is an error."""
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
        pass  # standard error is closed
    return code


def settle_output() -> None:
    """If the buffered output cannot be written, discards it: otherwise the interpreter tries again
    when it ends, and prints an error."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


__all__ = ["Fault", "main"]
