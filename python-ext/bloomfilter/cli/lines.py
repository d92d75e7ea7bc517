"""Reads keys from files: large blocks into reused buffers, complete lines to the filter, no Python
object per key.

Knows files and buffers, not filters.
"""

from __future__ import annotations

import os
import signal
import stat
import warnings
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from itertools import repeat

from .faults import Fault, shown

BLOCK = 1 << 20  # bytes a read: in the second cache level when the lines are looked at
FOR_THREADS = 4  # blocks a read, where several threads share its lines
HEAD = 1 << 12  # bytes before a piece: room for the beginning of its first line
AHEAD = 3  # buffers: one is looked at, one is read into, one lies between
LARGE = 16 << 20  # bytes of a file from which on a thread reads it
LONGEST = 2 << 30  # bytes of a line: what never ends (/dev/zero) must not take all memory
STDIN = "-"
# Windows: no other process inherits descriptors, and text mode would remove \r.
FLAGS: int = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
MAGIC = b"\x8bBLM\r\n\x1a\n"  # begins each filter file: docs/format.md

COMPRESSED = {
    b"\x1f\x8b\x08": "zcat",
    b"\xfd7zXZ\0": "xzcat",
    b"\x28\xb5\x2f\xfd": "zstdcat",
    b"BZh": "bzcat",
}

Feed = Callable[[memoryview, bool], None]  # lines; true: these are the last
Piece = tuple[
    bytearray, memoryview, bool
]  # a buffer, the lines in it, and whether they are the last
Pieces = Generator[Piece, None, None]


class Endless(Exception):
    """A line is longer than any key may be here."""


def is_file(status: os.stat_result, path: str) -> bool:
    try:
        return os.path.samestat(status, os.stat(path))
    except (OSError, ValueError):  # a URL, or not there yet
        return False


def warn_of_text(path: str, data: memoryview | bytes, separator: bytes) -> None:
    """Keys are bytes and are taken as they are.  Warns if the first lines look like something else."""
    head = bytes(data[:HEAD])
    tool = next((tool for magic, tool in COMPRESSED.items() if head.startswith(magic)), None)
    first = head.partition(b"\n")[0]
    wide = separator == b"\n" and len(first) >= 4 and {0} in ({*first[::2]}, {*first[1::2]})
    if tool and (tool != "bzcat" or head[4:10] == b"1AY&SY"):
        what = f"is compressed: {tool} shows its keys"
    elif wide or head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        what = "is UTF-16: iconv -f utf-16 -t utf-8 converts it"
    elif head.startswith(b"\xef\xbb\xbf"):
        what = "begins with a byte order mark, which is part of the first key"
    elif first.endswith(b"\r") and separator == b"\n":
        what = "has CR before LF: CR is part of each key, tr -d '\\r' removes it"
    else:
        return
    warnings.warn(f"{'standard input' if path == STDIN else path} {what}", stacklevel=2)


def is_filter(path: str) -> bool:
    with open(path, "rb", buffering=0) as file:
        return file.read(len(MAGIC)) == MAGIC


def sources(keyfiles: list[str], filter_file: str) -> list[str]:
    """The inputs in order; complains about a missing one, and about the filter itself, before any
    is read."""
    for path in keyfiles or [STDIN]:
        if not path:
            raise Fault("KEYFILE must be the name of a file of keys, got an empty name")
        status = os.fstat(0) if path == STDIN else os.stat(path)
        if stat.S_ISREG(status.st_mode) and is_file(status, filter_file):
            raise Fault(f"{shown(filter_file)} is the filter, not a file of keys")
        if path == STDIN:
            continue
        if stat.S_ISDIR(status.st_mode):
            raise Fault(f"{path} is a directory, not a file of keys")
        if not os.access(path, os.R_OK):
            raise Fault(f"{path} cannot be read: permission denied")
        if stat.S_ISREG(status.st_mode) and is_filter(path):
            raise Fault(f"{path} is a filter, not a file of keys: FILE comes before KEYFILE")
    if keyfiles and os.path.isfile(filter_file) and not is_filter(filter_file):
        raise Fault(f"{filter_file} is not a filter file: FILE comes before KEYFILE")
    return keyfiles or [STDIN]


def bytes_in(paths: list[str]) -> int | None:
    """What there is to read, as long as all of it is in regular files."""
    total = 0
    for path in paths:
        status = os.fstat(0) if path == STDIN else os.stat(path)
        if not stat.S_ISREG(status.st_mode):
            return None
        total += status.st_size
    return total


@contextmanager
def opened(path: str) -> Iterator[int]:
    if path == STDIN:
        yield 0
        return
    fd = os.open(path, os.O_RDONLY | FLAGS)
    try:
        yield fd
    finally:
        os.close(fd)


def read_into(fd: int, rooms: list[memoryview]) -> int:
    """os.readv, which Windows has not, for one room."""
    data = os.read(fd, len(rooms[0]))
    rooms[0][: len(data)] = data
    return len(data)


readv = getattr(os, "readv", read_into)


def fill(fd: int, room: memoryview) -> int:
    try:
        return int(readv(fd, [room]))
    except OSError as fault:
        raise Fault(
            f"cannot read {'standard input' if fd == 0 else 'the keys'}: {fault.strerror}"
        ) from None


def new_buffer(blocks: int = 1) -> bytearray:
    return bytearray(HEAD + blocks * BLOCK)


def end_of_keys(buffer: bytearray, separator: bytes | None, end: int, begun: int) -> int:
    """Where the last complete key ends, or 0.  Without a separator, keys have 8 bytes."""
    if separator is not None:
        return buffer.rfind(separator, HEAD, end) + 1
    cut = end - (begun + end - HEAD) % 8
    return cut if cut > HEAD else 0


def whole_lines(fd: int, separator: bytes | None, buffers: Iterator[bytearray]) -> Pieces:
    """What each read() brings, cut after its last separator.  The beginning of a line whose end
    comes later is put before the piece that brings it; it is not looked at again with each piece.
    Last comes what follows the last separator, if anything does."""
    begun = bytearray()
    buffer = next(buffers, None)
    while buffer and (got := fill(fd, memoryview(buffer)[HEAD:])):
        text, end = memoryview(buffer), HEAD + got
        cut = end_of_keys(buffer, separator, end, len(begun))
        if not cut:
            begun += text[HEAD:end]
        else:
            rest = bytearray(text[cut:end])
            if len(begun) <= HEAD:
                start = HEAD - len(begun)
                buffer[start:HEAD] = begun
                yield buffer, text[start:cut], False
            else:
                begun += text[HEAD:cut]
                yield buffer, memoryview(begun), False
            begun, buffer = rest, next(buffers, None)
        if len(begun) >= LONGEST:
            raise Endless(f"it has {LONGEST:,} bytes or more, too many for a key here")
    if begun and buffer:
        yield buffer, memoryview(begun), True


def pieces_ahead(fd: int, separator: bytes | None, blocks: int) -> Pieces:
    """Complete lines; a thread reads the next ones while the caller works."""
    from queue import SimpleQueue  # small inputs do not wait for these two
    from threading import Thread

    free: SimpleQueue[bytearray | None] = SimpleQueue()
    full: SimpleQueue[Piece | BaseException | None] = SimpleQueue()

    def work() -> None:
        if hasattr(signal, "pthread_sigmask"):  # signals are the caller's business
            signal.pthread_sigmask(signal.SIG_SETMASK, signal.valid_signals())
        try:
            for piece in whole_lines(fd, separator, iter(free.get, None)):
                full.put(piece)
            full.put(None)
        except BaseException as fault:  # whatever it is: the caller waits for it
            full.put(fault)

    for _ in range(AHEAD):
        free.put(new_buffer(blocks))
    # After a signal the process must not wait for this thread.
    thread = Thread(target=work, daemon=True)
    thread.start()
    try:
        while isinstance(item := full.get(), tuple):
            yield item
            free.put(item[0])
        if item:
            raise item
    finally:
        free.put(None)
        thread.join()


def read(fd: int, separator: bytes | None, feed: Feed, path: str = STDIN, blocks: int = 1) -> None:
    """Calls feed with the complete lines of each block that is read."""
    status = os.fstat(fd)
    large = stat.S_ISREG(status.st_mode) and status.st_size >= LARGE
    one = whole_lines(fd, separator, repeat(new_buffer(blocks)))
    with closing(pieces_ahead(fd, separator, blocks) if large else one) as source:
        for i, (_, data, last) in enumerate(source):
            if i == 0 and separator is not None:
                warn_of_text(path, data, separator)
            feed(data, last)


def write(data: bytes) -> None:
    """Writes all of it to standard output immediately: the reader of a pipe need not wait."""
    rest = memoryview(data)
    try:
        while rest:
            rest = rest[os.write(1, rest) :]
    except BrokenPipeError:
        raise
    except OSError as fault:
        raise Fault(f"cannot write to standard output: {fault.strerror}") from None


def whole(fd: int) -> bytes:
    """Reads everything: for studies, and filters from a pipe."""
    buffer, parts = memoryview(bytearray(BLOCK)), []
    while got := fill(fd, buffer):
        parts.append(bytes(buffer[:got]))
    return b"".join(parts)


def is_piped() -> bool:
    """Somebody hands keys over on standard input: a pipe, a socket or a file, no terminal and not
    /dev/null."""
    try:
        return not stat.S_ISCHR(os.fstat(0).st_mode)
    except OSError:  # closed
        return False


def all_keys(path: str, separator: bytes) -> list[bytes]:
    """The different keys of a file, in order, as objects."""
    with opened(path) as fd:
        data = whole(fd)
    warn_of_text(path, data, separator)
    lines = data.split(separator)
    if not lines[-1]:
        lines.pop()
    return list(dict.fromkeys(lines))
