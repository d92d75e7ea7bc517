"""The command convert: the same bits in another home or in another system's format."""

from __future__ import annotations

import os
import sys
import tempfile
from argparse import Namespace
from collections.abc import Callable
from typing import IO

from .. import BloomFilter, CountingBloomFilter, _streams
from .._bloomfilter import _from_bytes, _path_of
from . import homes, report
from .faults import Fault, shown
from .filters import brief, describe
from .lines import STDIN, whole, write


# ---- in ----
def bytes_of(path: str) -> bytes:
    """Reads the file instead of mapping it: if another program truncates a mapped file, access to it
    ends the process."""
    if path == STDIN:
        return whole(0)
    with open(path, "rb", buffering=0) as file:
        return file.readall()


def read(args: Namespace) -> BloomFilter:
    options, sizes = homes.how(args), homes.sizes(args)
    path = args.input if args.input == STDIN else _path_of(args.input)
    if not path and args.source == "redisbloom":
        return BloomFilter.from_redisbloom(args.input, options.get("key"))
    if not path:
        if args.source not in ("native", "bits"):
            raise Fault(
                f"--from {args.source}: {shown(args.input)} is a bitmap in Redis, which is native, or bits of an older system"
            )
        return homes.open_to_read(args.input, **sizes, **options)
    if args.source == "native" and path != STDIN:
        return homes.open_to_read(args.input, **sizes, **options)
    options.pop("key", None)
    return _from_bytes(
        bytes_of(path),
        format=None if args.source == "native" else args.source,
        **sizes,
        **options,
    )


# ---- out ----
ADVICE = "convert writes no existing filter; merge unites two"


def with_new_file(path: str, fill: Callable[[IO[bytes]], object]) -> None:
    """By link: neither a partial file nor an overwritten one."""
    folder = os.path.dirname(os.path.abspath(path))
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".bloomfilter.", buffering=0) as file:
        try:
            fill(file)
            if hasattr(os, "fchmod"):
                os.fchmod(file.fileno(), 0o666 & ~umask())
            os.fsync(file.fileno())
            os.link(file.name, path)
        except OSError as fault:
            raise Fault(f"cannot write {path}: {fault.strerror}") from None


def umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def store(bf: BloomFilter, args: Namespace) -> None:
    options = homes.how(args)
    target = None if args.target == "native" else args.target
    if target and isinstance(bf, CountingBloomFilter):
        bf = bf.to_plain()  # the others hold bits
    if args.output == STDIN:
        return write(bf.to_bytes(format=target))
    path = _path_of(args.output)
    if not path and target == "redisbloom":
        return bf.to_redisbloom(args.output, options.get("key"))
    homes.must_be_free(args.output, options, ADVICE)
    if not path and target not in (None, "bits"):
        raise Fault(f"--to {args.target}: a filter in Redis is a plain bitmap")
    if target is None or not path:
        return homes.save_new(bf, args.output, options.get("key"), ADVICE)
    return with_new_file(path, lambda file: _streams.write(file, bf.to_bytes(format=target)))


def convert(args: Namespace) -> int:
    with read(args) as bf:
        store(bf, args)
        file = sys.stderr if args.output == STDIN else sys.stdout
        names = {"file": shown(args.input), "to": shown(args.output), "format": args.target}
        if args.json or args.output != STDIN:
            text = f"{shown(args.output)}: {brief(bf)}"
            report.answer(args, {**describe(bf), **names}, text, file)
    return 0
