"""Filters by the words of the command line: where they are, with which secret, what exists
already."""

from __future__ import annotations

import errno
import os
from argparse import Namespace
from typing import Any

from .. import BloomFilter, Error
from .._bloomfilter import _path_of, _read_secret
from .faults import Fault, shown

SIZES = ("m", "n", "k", "p", "scheme")


def secret_of(args: Namespace) -> bytes | None:
    return None if args.secret_file is None else _read_secret(args.secret_file)


def how(args: Namespace) -> dict[str, Any]:
    """Key and secret, as the library's keywords."""
    found = {"key": getattr(args, "key", None), "secret": secret_of(args)}
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
    if path := _path_of(storage):
        return os.path.lexists(path)
    try:
        BloomFilter.open(storage, read_only=True, **options).close()
    except (Error, OSError) as fault:
        if getattr(fault, "errno", None) == errno.ENOENT:
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
