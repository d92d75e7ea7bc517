"""The command serve: becomes bloomfilterd."""

from __future__ import annotations

import os
import shutil
import sys
from argparse import Namespace

from .faults import Fault

OPTIONS = ("host", "port", "token", "threads", "secret_file", "m", "n", "p")


def find() -> str:
    """On PATH, or in the folder of this interpreter."""
    beside = os.path.join(os.path.dirname(sys.executable), "bloomfilterd")
    found = shutil.which("bloomfilterd") or shutil.which(beside)
    if not found:
        raise Fault(
            "bloomfilterd is not installed: pip installs only the Python part.  In the source tree, cmake -B out/d && sudo cmake --build out/d -t install installs it; scripts/build c builds out/bin/bloomfilterd"
        )
    return found


def command(args: Namespace) -> list[str]:
    words = [find()]
    if args.file:
        words += ["--storage", args.file]
    for name in OPTIONS:
        value = getattr(args, name)
        if value is not None:
            words += ["-" + name if len(name) == 1 else "--" + name.replace("_", "-"), str(value)]
    return [*words, *args.more]


def serve(args: Namespace) -> int:
    words = command(args)
    sys.stdout.flush()
    os.execv(words[0], words)
