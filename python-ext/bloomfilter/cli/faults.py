"""Faults as one line of text."""

from __future__ import annotations

import os
import re

from .._bloomfilter import _hide_passwords


# What the library calls an argument or a class, and what is an option here.
SAID = {
    r"its secret must be given$": "its secret must be given (--secret-file)",
    r"asked for a plain one$": "asked for a plain one (--counting)",
    r"asked for a counting one$": "asked for a counting one (no --counting)",
    r"^([mnkp]) must be ": r"-\1 must be ",
    r"^(scheme|grow|window|parts|shards) must be ": r"--\1 must be ",
    r"give m and n, n and p, m and k, or m and p$": "pass -n and -p (or -m and -n, -m and -k, -m and -p); of another system's bitmap, -m",
    r"give scheme, m, k and adopt$": "use bloomfilter adopt with --scheme, and -m and -k if the scheme does not fix them",
    r"^seconds must be above 0, or None for never, ": "SECONDS must be 0 (never) to 10000000000, ",
    r"^seconds must be ": "SECONDS must be ",
    r"scheme must be given$": "pass --scheme",
    r"^grow=(\S+) and window=(\S+) must": r"--grow \1 and --window \2 must",
    r"^parts is for forgetting filters: give window": "--parts is for forgetting filters: pass --window",
    r"^shards=(\d+): ": r"--shards \1: ",
    r"; shards=(\d+) keeps ": r"; --shards \1 keeps ",
    r"^key=(\S+) names a filter inside Redis, but no Redis is given": r"--key \1 names a filter inside Redis, but FILE is no Redis URL",
    r"or give key$": "or pass --key NAME",
    r"^adopt is for filters in Redis, but no Redis is given": "adopt is for bitmaps in Redis: pass a URL, redis://host/0?key=NAME",
}


class Fault(Exception):
    """What the user should read, as it is."""


def shown(storage: str) -> str:
    """A path or URL, or a text that quotes some: never a password."""
    return _hide_passwords(storage)


def visible(text: str) -> str:
    """What a terminal may get: control characters of a file name or a message as \\x1b or \\n, bytes
    of a name that are not UTF-8 as \\xff."""
    return "".join(c if c.isprintable() else escaped(c) for c in text)


def escaped(c: str) -> str:
    if "\udc80" <= c <= "\udcff":  # a byte, as os.fsdecode() gives it
        c = chr(ord(c) - 0xDC00)
    return c.encode("unicode_escape").decode()


def sentence(fault: BaseException) -> str:
    """System errors with the file they are about, nothing of Python's own wording.  What is no URL
    to the library is a path to it, and quoted as one."""
    if isinstance(fault, OSError) and fault.strerror:
        text = of_system(fault, fault.strerror)
    elif isinstance(fault, Warning):  # PYTHONWARNINGS=error
        text = of_warning(fault)
    elif isinstance(fault, (Fault, ValueError, OSError, ModuleNotFoundError)) or (
        isinstance(fault, MemoryError) and str(fault)
    ):
        text = str(fault)
    else:
        text = f"{type(fault).__name__}: {fault}"
    return shown(as_options(text))


def of_warning(message: Warning | str) -> str:
    """Without the argument that only programs have."""
    return str(message).removesuffix(', or pass overfull="ignore"')


def as_options(text: str) -> str:
    """A sentence of the library, with options instead of arguments."""
    for said, meant in SAID.items():
        text = re.sub(said, meant, text)
    return text


def of_system(fault: OSError, text: str) -> str:
    """The library's own sentences name the file.  What names none comes from print: all else is
    read and written by name."""
    if fault.filename:
        return f"cannot use {shown(os.fsdecode(fault.filename))}: {text}"
    return (
        f"cannot write to standard output: {text}"
        if fault.errno and text == os.strerror(fault.errno)
        else text
    )
