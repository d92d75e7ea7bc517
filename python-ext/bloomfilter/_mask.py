"""Answers as masks of booleans.

The C type calls this module.
"""

from __future__ import annotations

from typing import Any

numpy: Any
try:
    import numpy
except ImportError:
    numpy = None


def mask(answers: bytes) -> Any:
    """Returns the bytes 0 and 1 as booleans, without a copy."""
    if numpy:
        return numpy.frombuffer(answers, bool)
    # a view of length 0 cannot be cast
    return memoryview(answers or b"\0").cast("?")[: len(answers)]
