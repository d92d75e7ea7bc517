"""Filters by the words of the command line: where they are, with which secret, what exists
already."""

from __future__ import annotations

import os
import re
from argparse import Namespace
from typing import Any

from .. import BloomFilter
from .faults import Fault, shown

SIZES = ("m", "n", "k", "p", "scheme")


def is_url(storage: str) -> bool:
    return re.match(r"\w+://", storage) is not None


def read_secret(path: str | None) -> bytes | None:
    """16 bytes, or 32 hexadecimal digits with or without a line feed.  The message never has any of
    it."""
    if path is None:
        return None
    with open(path, "rb") as file:
        data = file.read(100)
    if len(data) == 16:
        return data
    if re.fullmatch(rb"[0-9A-Fa-f]{32}\s*", data):
        return bytes.fromhex(data.decode().strip())
    raise Fault(
        f"{path}: a secret is 16 bytes, or 32 hexadecimal digits; this file has {'100 bytes or more' if len(data) == 100 else f'{len(data)} bytes'}"
    )


def how(args: Namespace) -> dict[str, Any]:
    """Key and secret, as the library's keywords."""
    found = {"key": getattr(args, "key", None), "secret": read_secret(args.secret_file)}
    return {name: value for name, value in found.items() if value is not None}


def sizes(args: Namespace) -> dict[str, Any]:
    return {name: getattr(args, name) for name in SIZES if getattr(args, name, None) is not None}


def make(args: Namespace) -> BloomFilter:
    """The filter of these sizes: a new one, or the one that exists; sizes that do not suffice are
    said to be so first."""
    given = sizes(args)
    BloomFilter.plan(**given)
    return BloomFilter(storage=args.file, **given, **how(args))


def open_to_read(storage: str, **options: Any) -> BloomFilter:
    return BloomFilter.open(storage, read_only=True, **options)


def exists(storage: str, options: dict[str, Any]) -> bool:
    """Is there something under this name, a filter or not?  A server that does not answer
    raises."""
    if not is_url(storage):
        return os.path.lexists(storage)
    try:
        BloomFilter.open(storage, read_only=True, **options).close()
    except FileNotFoundError:
        return False
    except ValueError as fault:
        if str(fault).endswith("does not exist"):
            return False
        raise
    return True


def must_be_fixed(bf: BloomFilter) -> None:
    """To be united with a new filter, which is of fixed size: said before that is made, and stays
    behind empty."""
    if bf.grow or bf.window:
        raise Fault(
            f"{shown(bf.storage or 'the filter')} {'grows' if bf.grow else 'forgets'}, and the new filter would be of fixed size: `bloomfilter convert IN OUT` copies it into a file as it is"
        )


def like(model: BloomFilter, storage: str, options: dict[str, Any]) -> BloomFilter:
    """A filter in that storage with the parameters of another; an existing one must have them."""
    must_be_fixed(model)
    return BloomFilter(
        model.m, model.n, model.k, model.p, scheme=model.scheme, storage=storage, **options
    )


def must_be_free(storage: str, options: dict[str, Any], advice: str) -> None:
    if exists(storage, options):
        raise Fault(f"{shown(storage)} exists already: {advice}")
