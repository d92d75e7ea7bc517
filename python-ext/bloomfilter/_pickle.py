"""Pickles of filters, and the attributes of a subclass in pickles and copies.

The C type calls this module.
"""

from __future__ import annotations

import copyreg
import os.path
from collections.abc import Callable
from copy import deepcopy
from functools import partial
from typing import Any

from ._bloomfilter import BloomFilter, CountingBloomFilter, _from_bytes


def reduce(
    bf: BloomFilter,
    home: str,
    callback: bool,
    keyed: bool,
    read_only: bool,
    storage: str | None,
    path: str | None,
    is_there: bool,
    key: str | None,
    overfull: str | None,
) -> tuple[Any, ...] | str:
    """Returns the value of __reduce__(), or a str: the reason why the filter cannot be pickled.

    callback: the filter has a clock or hash functions.  path: the filter's path if it is relative,
    else None; is_there: in the present working directory, that path leads to the filter's file.
    """
    if callback and bf.scheme == "functions":
        return "a filter with hash functions of its own cannot be pickled: use to_bytes() and from_bytes(data, hashes=...)"
    if keyed:
        return "a keyed filter cannot be pickled: its secret is never stored; use to_bytes() and from_bytes(data, secret=...)"
    if callback:
        return "a filter with a clock of its own cannot be pickled: use to_bytes() and from_bytes(data, clock=...)"
    if storage is None and home == "memory":
        return in_memory(bf, overfull)
    if storage is None:
        return "a filter on a client object cannot be pickled"
    if not is_there:
        return f"{path!r} is a relative path, which is not this filter's in the present working directory: to pickle it, open it by its absolute path"
    expected: dict[str, Any] = {"k": bf.k, "scheme": bf.scheme}
    if key is not None:
        expected["key"] = key
    if overfull is not None:
        expected["overfull"] = overfull
    if read_only:
        expected["read_only"] = True
    if bf.grow is None and bf.window is None:  # m of a filter with many parts changes
        expected["m"] = bf.m
    if bf.grow is not None:
        expected["grow"] = bf.grow
    if bf.window is not None:
        expected["window"] = bf.window
    # the filter may be unpickled in another working directory
    source = os.path.abspath(path) if path else storage
    return with_state(bf, partial(type(bf).open, **expected), source)


def in_memory(bf: BloomFilter, overfull: str | None) -> tuple[Any, ...]:
    """A pickle of our own classes contains the name of the function _from_bytes, which is shorter
    than that of a method.  The name must not change, because stored pickles contain it."""
    kind = type(bf)
    plain = kind in (BloomFilter, CountingBloomFilter)
    make: Callable[..., BloomFilter] = _from_bytes if plain else kind.from_bytes
    if overfull is not None:
        make = partial(make, overfull=overfull)
    return with_state(bf, make, BloomFilter.to_bytes(bf))


def with_state(
    bf: BloomFilter, make: Callable[..., BloomFilter], source: bytes | str
) -> tuple[Any, ...]:
    members, slots = attributes(bf)
    state: object = (members, slots) if slots else members
    return (make, (source,)) if state is None else (make, (source,), state)


def attributes(bf: BloomFilter) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """Returns the __dict__ of an object (None if it is empty or missing), and a dict of the
    __slots__ that are set."""
    names = copyreg._slotnames(type(bf))  # type: ignore[attr-defined]
    slots = {name: getattr(bf, name) for name in names if hasattr(bf, name)}
    return getattr(bf, "__dict__", None) or None, slots


def copy_attributes(bf: BloomFilter, twin: BloomFilter, memo: dict[int, Any] | None) -> None:
    """Copies the attributes of bf to twin.  memo: the memo of copy.deepcopy(), or None; in a deep
    copy, references to bf become references to twin."""
    members, slots = attributes(bf)
    if memo is not None:
        memo[id(bf)] = twin
        members, slots = deepcopy(members, memo), deepcopy(slots, memo)
    if members:
        twin.__dict__.update(members)
    for name, value in slots.items():
        setattr(twin, name, value)
