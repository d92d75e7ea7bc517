"""How a filter is pickled, and how a copy gets what a subclass keeps on its objects.

The C type calls this; it knows the rules of pickle and copy, and no bits.
"""

from __future__ import annotations

import copyreg
import os.path
from collections.abc import Callable
from copy import deepcopy
from functools import partial
from typing import Any

from ._bloomfilter import BloomFilter, CountingBloomFilter, _from_bytes


def reduce_bytes(bf: BloomFilter, data: bytes) -> tuple[Any, ...]:
    """The function of the module takes 40 bytes less in a pickle than the method of a class, and
    finds the class in the data; a pickle that is stored names it."""
    kind = type(bf)
    plain = kind in (BloomFilter, CountingBloomFilter)
    return with_state(bf, _from_bytes if plain else kind.from_bytes, data)


def reduce_stored(
    bf: BloomFilter, storage: str, path: str, key: str | None, read_only: bool
) -> tuple[Any, ...]:
    """path: the file's, where it is relative.  An unpickling process may be in another folder, so
    the pickle has the absolute path."""
    expected: dict[str, Any] = {"k": bf.k, "scheme": bf.scheme}
    if key is not None:
        expected["key"] = key
    if read_only:
        expected["read_only"] = True
    if bf.grow is None and bf.window is None:  # m of a filter with many parts changes
        expected["m"] = bf.m
    if bf.grow is not None:
        expected["grow"] = bf.grow
    if bf.window is not None:
        expected["window"] = bf.window
    return with_state(
        bf, partial(type(bf).open, **expected), os.path.abspath(path) if path else storage
    )


def with_state(
    bf: BloomFilter, make: Callable[..., BloomFilter], source: bytes | str
) -> tuple[Any, ...]:
    members, slots = attributes(bf)
    state: object = (members, slots) if slots else members
    return (make, (source,)) if state is None else (make, (source,), state)


def attributes(bf: BloomFilter) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """What a subclass keeps on its object: its __dict__, or None if it is empty or missing, and a
    dict of the __slots__ that are set."""
    names = copyreg._slotnames(type(bf))  # type: ignore[attr-defined]
    slots = {name: getattr(bf, name) for name in names if hasattr(bf, name)}
    return getattr(bf, "__dict__", None) or None, slots


def copy_attributes(bf: BloomFilter, twin: BloomFilter, memo: dict[int, Any] | None) -> None:
    """memo: that of a deep copy, or None.  What refers to bf in there refers to twin afterwards."""
    members, slots = attributes(bf)
    if memo is not None:
        memo[id(bf)] = twin
        members, slots = deepcopy(members, memo), deepcopy(slots, memo)
    if members:
        twin.__dict__.update(members)
    for name, value in slots.items():
        setattr(twin, name, value)
