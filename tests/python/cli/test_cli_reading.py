"""How the command line reads its keys: the lines of a file are the same in whatever pieces they
come, read by the caller or by a thread ahead of it."""

import bz2
import gzip
import lzma
import os
import subprocess
import sys
import threading

import pytest
from cli_helpers import cli, ok

from bloomfilter.cli import lines
from bloomfilter.cli.faults import Fault

READERS = {"in turn": 1 << 60, "ahead": 0}


@pytest.fixture(params=READERS)
def small_pieces(monkeypatch, request):
    monkeypatch.setattr(lines, "BLOCK", 64)
    monkeypatch.setattr(lines, "HEAD", 16)
    monkeypatch.setattr(lines, "LARGE", READERS[request.param])


def lines_of(path, separator=b"\n"):
    found = []

    def feed(data, last):
        text = bytes(data)
        if not last:
            assert text.endswith(separator)
            text = text[:-1]
        found.extend(text.split(separator))

    with lines.opened(str(path)) as fd:
        lines.read(fd, separator, feed)
    return found


@pytest.mark.parametrize("length", [0, 1, 15, 16, 17, 63, 64, 65, 300])
@pytest.mark.parametrize("ended", [True, False])
def test_every_line_once_and_in_order(tmp_path, small_pieces, length, ended):
    keys = [b"%d" % i + b"x" * (length + i % 3) for i in range(200)] + [b"end"]
    path = tmp_path / "keys"
    path.write_bytes(b"\n".join(keys) + b"\n" * ended)
    assert lines_of(path) == keys
    path.write_bytes(b"\0".join(keys) + b"\0" * ended)
    assert lines_of(path, b"\0") == keys


def test_nothing_is_no_line(tmp_path, small_pieces):
    path = tmp_path / "keys"
    path.write_bytes(b"")
    assert lines_of(path) == []
    path.write_bytes(b"\n")
    assert lines_of(path) == [b""]


def test_a_line_without_end_is_told_after_those_before_it(tmp_path, small_pieces, monkeypatch):
    monkeypatch.setattr(lines, "LONGEST", 1000)
    path, fed = tmp_path / "keys", []
    path.write_bytes(b"first\n" + b"x" * 2000 + b"\nlast\n")

    def feed(data, _last):
        fed.append(bytes(data))

    with lines.opened(str(path)) as fd, pytest.raises(lines.Endless):
        lines.read(fd, b"\n", feed)
    assert fed == [b"first\n"]


def test_what_the_caller_raises_ends_the_reading(tmp_path, small_pieces):
    path = tmp_path / "keys"
    path.write_bytes(b"key\n" * 1000)
    before = threading.active_count()

    def feed(_data, _last):
        raise KeyError("stop")

    with lines.opened(str(path)) as fd:
        with pytest.raises(KeyError):
            lines.read(fd, b"\n", feed)
        assert os.lseek(fd, 0, os.SEEK_CUR) < 4000  # it did not read on to the end
    assert threading.active_count() == before


@pytest.mark.parametrize("fault", [Fault, MemoryError])
def test_a_failed_read_comes_after_the_keys_before_it(tmp_path, small_pieces, monkeypatch, fault):
    path, left = tmp_path / "keys", [b"a\nb\n", b"c\nd"]

    def fill(_fd, room):
        if not left:
            raise fault("cannot read the keys: no such luck")
        piece = left.pop(0)
        room[: len(piece)] = piece
        return len(piece)

    monkeypatch.setattr(lines, "fill", fill)
    path.write_bytes(b"")
    fed = []

    def feed(data, _last):
        fed.append(bytes(data))

    with lines.opened(str(path)) as fd, pytest.raises(fault, match="no such luck"):
        lines.read(fd, b"\n", feed)
    assert fed == [b"a\nb\n", b"c\n"]


def test_signals_are_the_callers(tmp_path, small_pieces, monkeypatch):
    """The thread that reads ahead takes none: the caller waits in a write, which must be broken."""
    masks, fill = [], lines.fill

    def look(fd, room):
        if threading.current_thread() is not threading.main_thread():
            masks.append(lines.signal.pthread_sigmask(lines.signal.SIG_BLOCK, []))
        return fill(fd, room)

    monkeypatch.setattr(lines, "fill", look)
    path = tmp_path / "keys"
    path.write_bytes(b"key\n" * 100)
    lines_of(path)
    assert all({2, 14, 15} <= {int(number) for number in mask} for mask in masks)
    assert bool(masks) == (lines.LARGE == 0)


STOPPED = """
import os, sys
from bloomfilter.cli import lines
from bloomfilter.cli.signals import Interrupted
lines.LARGE, seen, when = 0, [], int(sys.argv[2])
def trace(frame, event, _arg):
    if frame.f_code is not lines.pieces_ahead.__code__:
        return None
    if event == "line" and frame.f_locals.get("thread"):
        seen.append(frame.f_lineno)
        if len(seen) == when:
            sys.settrace(None)
            raise Interrupted(2)
    return trace
def feed(_data, _last):
    if when > 4:  # the first signal; the second one comes while the first one is dealt with
        raise Interrupted(2)
sys.settrace(trace)
try:
    lines.read(os.open(sys.argv[1], os.O_RDONLY), b"\\n", feed)
except Interrupted:
    print("stopped")
"""


@pytest.mark.parametrize("when", [1, 3, 5, 7])
def test_a_signal_at_any_moment_ends_it(tmp_path, when):
    """The thread that reads ahead may not have heard that nobody wants more: it ends all the
    same."""
    path = tmp_path / "keys"
    path.write_bytes(b"key\n" * 2_000_000)
    done = subprocess.run(
        [sys.executable, "-c", STOPPED, str(path), str(when)],
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"stopped\n", b"")


ENCODED = {
    "gzip": (gzip.compress(b"a\nb\n"), "is compressed: zcat shows its keys"),
    "xz": (lzma.compress(b"a\nb\n"), "is compressed: xzcat shows its keys"),
    "bzip2": (bz2.compress(b"a\nb\n"), "is compressed: bzcat shows its keys"),
    "zstd": (b"\x28\xb5\x2f\xfd\x04\x00\x01", "is compressed: zstdcat shows its keys"),
    "utf-16": ("a\nb\n".encode("utf-16"), "is UTF-16: iconv"),
    "utf-16be": (b"\xfe\xff" + "a\nb\n".encode("utf-16be"), "is UTF-16: iconv"),
    "utf-16 without a mark": ("key a\nb\n".encode("utf-16le"), "is UTF-16: iconv"),
    "bom": (b"\xef\xbb\xbfa\nb\n", "begins with a byte order mark, which is part of the first key"),
    "crlf": (b"a\r\nb\r\n", "has CR before LF: CR is part of each key"),
}


@pytest.mark.parametrize(
    "command, kind",
    [
        *(("add", kind) for kind in ENCODED),
        *((command, "gzip") for command in ("check", "remove", "count", "rebuild", "study")),
    ],
)
def test_a_file_that_is_not_text_is_warned_of_once(tmp_path, kind, command):
    """The keys are taken as they are."""
    bf, keys = tmp_path / "bf", tmp_path / "keys"
    counting = ["--counting"] if command in ("remove", "count") else []
    data, says = ENCODED[kind]
    keys.write_bytes(data * 3 if kind == "crlf" else data + b"\nc\nd\n")
    ok("create", bf, "-n", "1000", "-p", "0.01", *counting)
    words = [command, keys] if command == "study" else [command, bf, keys]
    done = cli(*words)
    assert done.code in (0, 1) and done.err.count(b"\n") == 1
    assert done.err.decode().startswith(f"bloomfilter: warning: {keys} {says}"), done.err
    if command != "study":
        done = cli(command, bf, data=data)
        assert done.err.decode().startswith(f"bloomfilter: warning: standard input {says}")
    if command == "add":
        assert done.code == 0 and cli("add", bf, keys, keys).err.count(b"\n") == 1


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"a\nb", b"BZh is a name\nb\n", b"\x1f\n", b"a\0\nb\n", b"a\nb\r\n"]
)
def test_text_is_not_warned_of(tmp_path, data):
    ok("create", tmp_path / "bf", "-n", "1000", "-p", "0.01")
    ok("add", tmp_path / "bf", data=data)
    ok("add", "-0", tmp_path / "bf", data=b"a\r\n\0b\r\n\0")
