"""Keys that are hashed already: 16 hexadecimal digits per line, or 8 bytes each."""

from __future__ import annotations

import sys
from array import array
from binascii import Error, unhexlify
from collections.abc import Callable
from typing import Any

from .. import BloomFilter

BYTES, DIGITS = 8, 16


def numbers(raw: bytes, order: str) -> array[int]:
    hashes = array("Q", raw)
    if sys.byteorder != order:
        hashes.byteswap()
    return hashes


def from_lines(lines: list[bytes]) -> bytes:
    """The bytes of the lines before the first that is no hash."""
    try:
        raw = unhexlify(b"".join(lines))
        if all(len(line) == DIGITS for line in lines):
            return raw
    except Error:
        pass
    if len(lines) <= 1:
        return b""
    middle = len(lines) // 2
    first = from_lines(lines[:middle])
    return first + from_lines(lines[middle:]) if len(first) == BYTES * middle else first


def by_hash(
    bf: BloomFilter, adds: bool, binary: bool, threads: int = 1
) -> Callable[..., tuple[int, int, int, bytes]]:
    """As update_lines and contains_lines, for hashes.  separator is None if they are binary."""
    many: Callable[..., Any] = bf.add_hashes_mask if adds else bf.contains_hashes

    def call(
        data: memoryview, separator: bytes | None, *, last: bool, keep: bool | None
    ) -> tuple[int, int, int, bytes]:
        text, end = bytes(data), separator or b""
        if separator is None:
            items = [text[i : i + BYTES] for i in range(0, len(text), BYTES)]
            raw = text[: len(text) // BYTES * BYTES]
        else:
            items = text.split(separator)
            if not items[-1]:
                items.pop()
            raw = from_lines(items)
        good = len(raw) // BYTES

        def kept_of(answers: bytes) -> bytes:
            hits = zip(items, answers) if keep is not None else ()
            return b"".join(item + end for item, hit in hits if bool(hit) == keep)

        try:
            answers = bytes(many(numbers(raw, "little" if binary else "big"), threads=threads))
        except Exception as stop:  # what was added before it is never new again
            done = getattr(stop, "_answers", None)
            if adds and done is not None:
                stop._done = len(done), kept_of(done)  # type: ignore[attr-defined]
            raise
        kept = kept_of(answers)
        if good < len(items):
            what = f"{BYTES} bytes" if binary else f"{DIGITS} hexadecimal digits"
            fault = ValueError(f"a hash must be {what}, got {len(items[good])} bytes")
            fault.index = good  # type: ignore[attr-defined]
            fault._done = good, kept  # type: ignore[attr-defined]
            raise fault
        return good, len(answers) - answers.count(0), len(text), kept

    return call
