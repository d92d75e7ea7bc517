"""Faults as one line of text."""

from __future__ import annotations

import re


class Fault(Exception):
    """What the user should read, as it is."""


def shown(storage: str) -> str:
    """A path or URL without what stands before the @ of a URL: never a password."""
    return re.sub(r"^(\w+://)[^/]*@", r"\1", storage)


def sentence(fault: BaseException) -> str:
    """One line; system errors with the file they are about, nothing of Python's own wording."""
    if isinstance(fault, OSError) and fault.strerror:
        text = f"cannot use {fault.filename}: {fault.strerror}" if fault.filename else fault.strerror
    elif isinstance(fault, (Fault, ValueError, OSError, ModuleNotFoundError)) or (isinstance(fault, MemoryError) and str(fault)):
        text = str(fault)
    else:
        text = f"{type(fault).__name__}: {fault}"
    if text.endswith("its secret must be given"):
        text += " (--secret-file)"
    return " ".join(text.split())
