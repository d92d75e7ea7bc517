"""The commands add and check: streams of keys through a filter."""

from __future__ import annotations

import errno
import json
import sys
from argparse import Namespace
from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import Any

from .. import BloomFilter, Error
from .._bloomfilter import _path_of
from . import homes, report
from .faults import Fault, sentence, shown
from .hashes import by_hash
from .lines import FOR_THREADS, Endless, bytes_in, opened, read, sources, write
from .meter import Silent, meter
from .signals import Interrupted, Signals

Call = Callable[..., tuple[int, int, int, bytes]]  # update_lines or contains_lines


class Stream:
    """Passes lines to one method of a filter, counts the answers, and prints the keys of --print."""

    def __init__(
        self, call: Call, args: Namespace, keep: bool | None, progress: Silent, signals: Signals
    ) -> None:
        self.call, self.keep, self.progress, self.signals = call, keep, progress, signals
        self.separator: bytes | None
        self.separator = b"\0" if args.null else b"\n"
        if getattr(args, "binary", False):
            self.separator = None
        self.keys = self.hits = self.bytes = 0
        self.blocks = 1 if getattr(args, "threads", 1) == 1 else FOR_THREADS

    def feed(self, data: memoryview, last: bool) -> None:
        self.signals.work()
        try:
            keys, hits, used, kept = self.call(data, self.separator, last=last, keep=self.keep)
        except Interrupted:  # the second signal, which does not wait
            raise
        except Exception as fault:
            if done := getattr(fault, "_done", None):
                self.failed(fault, *done)
            raise
        self.keys, self.hits, self.bytes = self.keys + keys, self.hits + hits, self.bytes + used
        self.print(kept, self.keys)
        self.signals.rest()
        self.progress.show(self.bytes, self.keys)

    def print(self, kept: bytes, taken: int) -> None:
        if not kept:
            return
        self.signals.prints()
        try:
            write(kept)  # before a signal ends it: what was added now is never new again
        except Fault as fault:
            raise Fault(f"{fault}; keys taken: {taken:,}") from None

    def failed(self, fault: Exception, keys: int, kept: bytes) -> None:
        """The block ended with an error after so many keys.  An error with an index names the key."""
        self.print(kept, self.keys + keys)
        if not hasattr(fault, "index"):
            raise Fault(f"{sentence(fault)}; keys taken: {self.keys + keys:,}") from fault

    def file(self, path: str) -> None:
        before = self.keys
        try:
            with opened(path) as fd:
                read(fd, self.separator, self.feed, path, self.blocks)
        except Endless as fault:
            raise self.fault(path, self.keys - before, str(fault)) from None
        except ValueError as fault:
            self.name_line(path, self.keys - before, fault)
            raise

    def name_line(self, path: str, lines: int, fault: ValueError) -> None:
        """The library counts keys from 0 within a block; people count lines of a file from 1."""
        index = getattr(fault, "index", None)
        if index is not None:
            raise self.fault(
                path, lines + index, str(fault).removeprefix(f"key {index}: ")
            ) from None

    def fault(self, path: str, keys: int, why: str) -> Fault:
        name = "standard input" if path == "-" else path
        return Fault(f"{name}, key {keys + 1}: {why}; the keys before it were taken")


def run(call: Call, args: Namespace, keep: bool | None, paths: list[str]) -> Stream:
    with Signals() as signals:
        progress = meter(bytes_in(paths), args.quiet)
        stream = Stream(call, args, keep, progress, signals)
        try:
            for path in paths:
                stream.file(path)
            stream.feed(memoryview(b""), True)  # a warning comes with the next call that adds
        except Interrupted as stop:
            raise Interrupted(
                stop.number,
                f"{stop} after {report.count(stream.keys, 'key')}, {stream.hits:,} of them ",
            ) from None
        finally:
            progress.close()
    return stream


def summary(args: Namespace, answer: dict[str, Any], text: str) -> None:
    """Prints to standard output, or to standard error if standard output has the keys."""
    file = sys.stderr if args.show else sys.stdout
    if args.json or (not args.quiet and (not args.show or file.isatty())):
        report.answer(args, answer, text, file)


# ---- add ----
def writable(args: Namespace) -> BloomFilter:
    """The filter that exists, or a new one if its size is given.  A constructor refuses another
    system's bitmap in Redis, so where --scheme, -m and -k may describe one, it is opened."""
    sizes = homes.sizes(args)
    foreign = sizes.keys() <= {"scheme", "m", "k"} and _path_of(args.file) is None
    if sizes and not foreign:
        return homes.make(args)
    try:
        return homes.open_to_write(args.file, **sizes, **homes.how_to_write(args))
    except (Error, FileNotFoundError) as fault:
        if getattr(fault, "errno", None) != errno.ENOENT:
            raise
        if sizes:
            return homes.make(args)
        why = getattr(fault, "strerror", None) or shown(str(fault))
        raise Fault(f"{why}: create it first, or pass -n and -p (or -m and -n)") from None


def through(
    call: Call,
    bf: BloomFilter,
    args: Namespace,
    paths: list[str],
    yes: str,
    no: str,
    began: float = 0,
) -> int:
    """Passes all keys to call.  Keys that it finds are called `yes`, the others `no`; returns the
    number of the latter.  began: start time of an add, else 0."""
    keep = None if args.show is None else args.show == yes
    try:
        stream = run(call, args, keep, paths)
    except Interrupted as stop:
        kept = f": {shown(args.file)} keeps them" if began else ""
        raise Interrupted(stop.number, f"{stop}{yes}{kept}") from None
    if getattr(args, "sync", False):
        bf.sync()
    keys, hits = stream.keys, stream.hits
    answer = {"file": shown(args.file), "keys": keys, yes: hits, no: keys - hits}
    if began:
        answer["seconds"] = round(monotonic() - began, 3)
    text = f"{report.count(keys, 'key')}: {hits:,} {yes}, {keys - hits:,} {no}"
    try:
        summary(args, answer, text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as fault:
        raise Fault(f"{sentence(fault)}; {text}") from None
    return keys - hits


def call_of(bf: BloomFilter, args: Namespace, adds: bool) -> Call:
    if args.hashes:
        return by_hash(bf, adds, args.binary, args.threads)
    return partial(bf.update_lines if adds else bf.contains_lines, threads=args.threads)


def check_hashes(args: Namespace) -> None:
    if args.binary and not args.hashes:
        raise Fault("--binary is for hashes: give --hashes")
    if args.hashes and homes.sizes(args):
        args.scheme = args.scheme or "hashes64"
    if args.hashes and args.scheme and not args.scheme.startswith("hashes64"):
        raise Fault(f"--hashes is for a filter of scheme hashes64, not {args.scheme}")


def add(args: Namespace) -> int:
    check_hashes(args)
    paths = sources(args.keyfiles, args.file)
    began = monotonic()
    with writable(args) as bf:
        through(call_of(bf, args, True), bf, args, paths, "new", "seen", began)
    return 0


# ---- check ----
def check(args: Namespace) -> int:
    check_hashes(args)
    paths = sources(args.keyfiles, args.file)
    with homes.in_place(args.file), homes.open_to_read(args.file, **homes.given(args)) as bf:
        return 1 if through(call_of(bf, args, False), bf, args, paths, "present", "absent") else 0


# ---- remove, count ----
Many = Callable[[list[bytes]], bytes]  # remove_many or count_many: one byte per key


def by_key(many: Many, out: Callable[[list[bytes], bytes, bytes, bool | None], bytes]) -> Call:
    """As update_lines, of a method that takes keys."""

    def call(
        data: memoryview, separator: bytes, *, last: bool, keep: bool | None
    ) -> tuple[int, int, int, bytes]:
        keys = bytes(data).split(separator)
        rest = keys.pop()
        if last and rest:
            keys.append(rest)
            rest = b""
        answers = many(keys)
        hits = len(keys) - answers.count(0)
        return len(keys), hits, len(data) - len(rest), out(keys, answers, separator, keep)

    return call


def kept_keys(keys: list[bytes], answers: bytes, separator: bytes, keep: bool | None) -> bytes:
    if keep is None:
        return b""
    return b"".join(key + separator for key, hit in zip(keys, answers) if bool(hit) == keep)


def counted(keys: list[bytes], answers: bytes, separator: bytes, _keep: bool | None) -> bytes:
    return b"".join(b"%b\t%d%b" % (key, n, separator) for key, n in zip(keys, answers))


def counted_in_json(keys: list[bytes], answers: bytes, _sep: bytes, _keep: bool | None) -> bytes:
    """Bytes that are not UTF-8 become lone surrogates, as in file names."""
    return b"".join(
        json.dumps({"key": key.decode("utf-8", "surrogateescape"), "count": n}).encode() + b"\n"
        for key, n in zip(keys, answers)
    )


def remove(args: Namespace) -> int:
    paths = sources(args.keyfiles, args.file)
    with homes.open_counting(args) as bf:
        through(by_key(bf.remove_many, kept_keys), bf, args, paths, "removed", "absent")
    return 0


def count(args: Namespace) -> int:
    paths = sources(args.keyfiles, args.file)
    out = counted_in_json if args.json else counted
    with homes.in_place(args.file), homes.open_counting(args, read_only=True) as bf:
        try:
            run(by_key(bf.count_many, out), args, None, paths)
        except Interrupted as stop:
            raise Interrupted(stop.number, f"{stop}present") from None
    return 0
