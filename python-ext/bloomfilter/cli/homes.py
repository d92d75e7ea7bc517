"""Opens and creates filters from the options of the command line."""

from __future__ import annotations

import errno
import os
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

from .. import BloomFilter, CountingBloomFilter, Error
from .._bloomfilter import _from_bytes, _open, _path_of, _read_secret
from .faults import Fault, shown

SIZES = ("m", "n", "k", "p", "scheme")
VARIANTS = ("grow", "window", "parts", "shards")
WRITERS = ("exclusive", "overfull")  # options of a handle that writes
KINDS = {
    "grow": "a growing",
    "window": "a forgetting",
    "counting": "a counting",
    "fixed": "a plain",
}


def secret_of(args: Namespace) -> bytes | None:
    """Reads the file once: a pipe has its bytes only once."""
    path = getattr(args, "secret_file", None)
    if path is not None and not hasattr(args, "secret"):
        args.secret = _read_secret(path)
    return getattr(args, "secret", None)


def how(args: Namespace) -> dict[str, Any]:
    """Key and secret, as the library's keywords."""
    found = {"key": getattr(args, "key", None), "secret": secret_of(args)}
    return {name: value for name, value in found.items() if value is not None}


def writers(args: Namespace) -> dict[str, Any]:
    return {name: getattr(args, name) for name in WRITERS if getattr(args, name, None)}


def how_to_write(args: Namespace) -> dict[str, Any]:
    return how(args) | writers(args)


def sizes(args: Namespace) -> dict[str, Any]:
    return {name: getattr(args, name) for name in SIZES if getattr(args, name, None) is not None}


def given(args: Namespace) -> dict[str, Any]:
    """How to open a filter, or the bitmap of another system that --scheme, -m and -k describe."""
    return how(args) | sizes(args)


def variants(args: Namespace) -> dict[str, Any]:
    return {name: getattr(args, name) for name in VARIANTS if getattr(args, name) is not None}


def make(args: Namespace) -> BloomFilter:
    """Creates the filter of these sizes, or opens the existing one.  Insufficient sizes are an error
    before the storage is accessed."""
    kind = CountingBloomFilter if args.counting else BloomFilter
    given = sizes(args) | variants(args)
    kind.plan(**given)
    return kind(storage=args.file, **given, **how_to_write(args))


def open_to_read(storage: str, **options: Any) -> BloomFilter:
    """Opens a filter of any kind. Loads an image with a compact header, which cannot be mapped."""
    try:
        return _open(storage, read_only=True, **options)
    except Error as fault:
        path = _path_of(storage)
        if not path or getattr(fault, "errno", None) != errno.ENOTSUP:
            raise
    with open(path, "rb") as file:
        return _from_bytes(file.read(), format=None, **options)


def identity(storage: str) -> tuple[int, int] | None:
    path = _path_of(storage)
    try:
        status = os.stat(path) if path else None
    except OSError:
        return None
    return status and (status.st_dev, status.st_ino)


@contextmanager
def in_place(storage: str) -> Iterator[None]:
    """For reading, as closing a file that was written does: an error at the end if the name belongs
    to another file by then."""
    before = identity(storage)
    yield
    if identity(storage) != before:
        raise Fault(
            f"{shown(storage)} was replaced or deleted while it was open: the answers are those of the old file, run the command again"
        )


def open_to_write(storage: str, **options: Any) -> BloomFilter:
    return _open(storage, **options)


def open_counting(args: Namespace, **more: Any) -> CountingBloomFilter:
    bf = _open(args.file, **given(args), **more)
    if not isinstance(bf, CountingBloomFilter):
        raise Fault(
            f"{shown(args.file)} is {KINDS[kind_of(bf)]} filter and does not count: create one that does with bloomfilter create FILE --counting"
        )
    return bf


def exists(storage: str, options: dict[str, Any]) -> bool:
    """True if this name exists, be it a filter or not.  Raises if the server does not answer."""
    if path := _path_of(storage):
        return os.path.lexists(path)
    try:
        open_to_read(storage, **options).close()
    except (Error, OSError) as fault:
        if getattr(fault, "errno", None) == errno.ENOENT:
            return False
        raise
    return True


def kind_of(bf: BloomFilter) -> str:
    """As bloomfilterd names it: what grows and counts is "counting"."""
    if isinstance(bf, CountingBloomFilter):
        return "counting"
    return "grow" if bf.grow else "window" if bf.window else "fixed"


def parts_of(bf: BloomFilter) -> int:
    """The parts that a growing filter has now; the value of --parts of a forgetting filter, which has
    one more, the one that is being filled."""
    return len(bf.part_info()) - (1 if bf.window else 0)


def like(model: BloomFilter, storage: str | None, options: dict[str, Any]) -> BloomFilter:
    """A filter in that storage (None: memory) with the parameters and the kind of another.  An
    existing one must have the same."""
    given: dict[str, Any] = {"n": model.n, "p": model.p}
    if model.grow:
        given |= {"grow": model.grow}
    elif model.window:
        given |= {"window": model.window, "parts": parts_of(model)}
    else:
        given |= {"m": model.m, "k": model.k}
    return type(model)(scheme=model.scheme, storage=storage, **given, **options)


def must_be_free(storage: str, options: dict[str, Any], advice: str) -> None:
    if exists(storage, options):
        raise Fault(f"{shown(storage)} exists already: {advice}")


def save_new(
    bf: BloomFilter,
    storage: str,
    key: str | None = None,
    advice: str = "another process created it",
) -> None:
    """Never replaces a filter, also not one that appeared after a look."""
    to = _path_of(storage) or storage
    if key is not None:
        to += ("&" if "?" in to else "?") + "key=" + quote(key, safe="")
    try:
        bf._save_new(to)
    except FileExistsError:
        raise Fault(f"{shown(storage)} exists already: {advice}") from None
