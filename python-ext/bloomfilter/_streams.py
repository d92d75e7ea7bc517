"""Filters as base64, as JSON and in file objects.

The C type calls this module.
"""

from __future__ import annotations

import binascii
import errno
import io
import json
from typing import Any

from ._bloomfilter import Error, _image_wants


def encode(data: bytes) -> str:
    return binascii.b2a_base64(data, newline=False).decode()


def decode(text: str) -> bytes:
    """Ignores white space."""
    if not isinstance(text, str):
        raise TypeError(f"base64 must be str, not {type(text).__name__}")
    data = "".join(text.split())
    try:
        found = binascii.a2b_base64(data)
    except ValueError:
        found = b""
    if encode(found).rstrip("=") != data.rstrip("="):  # a2b_base64 skips invalid characters
        raise Error("the text is not base64")
    return found


def to_json(data: bytes | None) -> str:
    """As PHP's json_encode() writes it.  None: the filter is not in memory, or has a secret."""
    if data is None:
        raise Error(
            "only a filter in memory without a secret can be JSON: of a filter in a file or in Redis use copy().to_json(), of a keyed filter copy().to_bytes()"
        )
    return '{"bloomfilter":"' + encode(data).replace("/", "\\/") + '"}'


def from_json(text: str | dict[str, Any]) -> bytes:
    if not isinstance(text, (str, dict)):
        raise TypeError(f"JSON must be a str or a dict, not {type(text).__name__}")
    try:
        found = json.loads(text) if isinstance(text, str) else text
    except (ValueError, RecursionError) as error:
        raise Error(f"the text is not JSON: {error}") from None
    inside = found.get("bloomfilter") if isinstance(found, dict) else None
    if not isinstance(inside, str):
        raise Error("the JSON is not a filter: it has no text bloomfilter")
    return decode(inside)


def write(file: Any, data: bytes) -> None:
    if isinstance(file, io.TextIOBase):
        raise TypeError(f"a file must be binary, not {type(file).__name__}")
    rest: bytes | memoryview = data
    while rest:
        written = file.write(rest)
        if written is None:
            if isinstance(file, io.RawIOBase):
                raise BlockingIOError(errno.EAGAIN, "the file takes no more bytes now")
            return
        if not 0 < written <= len(rest):
            raise OSError(errno.EIO, f"the file took {written} of {len(rest)} bytes")
        rest = memoryview(rest)[written:]


def read(file: Any) -> bytearray:
    """Returns the bytes of one filter, or less at the end of the file."""
    data = bytearray()
    while wants := _image_wants(data):
        piece = file.read(min(wants, 1 << 20))
        if not isinstance(piece, (bytes, bytearray, memoryview)):
            raise TypeError(f"read() of a file must give bytes, not {type(piece).__name__}")
        if not piece:
            break
        data += piece
    return data
