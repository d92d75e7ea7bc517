"""Filters as base64 and in file objects.

The C type calls this module.
"""

from __future__ import annotations

import binascii
import errno
import io
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
    """Returns what the image needs, or less at the end of the file, and at most one byte more."""
    data = bytearray()
    while wants := _image_wants(data):
        piece = file.read(min(wants, 1 << 20))
        if not isinstance(piece, (bytes, bytearray, memoryview)):
            raise TypeError(f"read() of a file must give bytes, not {type(piece).__name__}")
        if not piece:
            break
        data += piece
    return data
