"""How the command line reads its keys: the lines of a file are the same in whatever pieces they
come, read by the caller or by a thread ahead of it."""

import array
import os
import subprocess
import sys
import threading

import pytest

from bloomfilter import BloomFilter
from bloomfilter._bloomfilter import _find_lines
from bloomfilter.cli import lines
from bloomfilter.cli.faults import Fault

READERS = {"in turn": 1 << 60, "ahead": 0}


@pytest.fixture(params=READERS)
def small_pieces(monkeypatch, request):
    monkeypatch.setattr(lines, "BLOCK", 64)
    monkeypatch.setattr(lines, "HEAD", 16)
    monkeypatch.setattr(lines, "LARGE", READERS[request.param])


def lines_of(path, separator=b"\n", ends_known=None):
    found = []

    def feed(data, last, ends):
        text = bytes(data)
        if ends is not None:
            ends_known.append(len(ends) // 4)
            where = [at for at in range(len(text)) if text[at : at + 1] == separator]
            assert list(ends.cast("I")) == where
        if not last:
            assert text.endswith(separator)
            text = text[:-1]
        found.extend(text.split(separator))

    with lines.opened(str(path)) as fd:
        lines.read(fd, separator, feed, ends_known is not None)
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


def test_where_lines_end_is_told_by_who_reads_ahead(tmp_path, small_pieces):
    """Unless they are so short that there is no room for it."""
    path, known = tmp_path / "keys", []
    keys = [b"a key %d" % i for i in range(200)]
    path.write_bytes(b"\n".join(keys) + b"\nend")
    assert lines_of(path, ends_known=known) == [*keys, b"end"]
    assert sum(known) == (0 if lines.LARGE else 200)
    known.clear()
    path.write_bytes(b"\n" * 500)
    assert lines_of(path, ends_known=known) == [b""] * 500 and not known


def test_lines_whose_ends_are_known_are_the_same_keys():
    text = b"".join(b"key %d\0" % (i * i) for i in range(3000))
    found, other = BloomFilter(n=3000, p=0.01), BloomFilter(n=3000, p=0.01)
    ends = bytearray(4 * 3000)
    assert _find_lines(text, b"\0", ends) == 3000
    new = other.update_lines(text, b"\0")
    assert found.update_lines(text, b"\0", _ends=ends) == new and found == other
    assert found.contains_lines(text, b"\0", _ends=ends) == (3000, 3000, len(text), b"")
    first = memoryview(ends)[:4000]
    assert found.contains_lines(text, b"\0", _ends=first)[:2] == (1000, 1000)
    assert found.contains_lines(text, b"\0", keep=True, _ends=first) == (
        3000,
        3000,
        len(text),
        text,
    )
    assert _find_lines(text, b"\0", memoryview(ends)[:-1]) == -1
    assert _find_lines(b"no end", b"\n", ends) == 0 == _find_lines(b"", b"\n", bytearray())


@pytest.mark.parametrize("ends", [[3, 2], [3, 3], [8], [2**32 - 1], [3, 2**31]])
def test_ends_that_are_none_are_not_followed(ends):
    bf = BloomFilter(n=100, p=0.01)
    good = 1 if ends[0] == 3 else 0
    answer = bf.update_lines(b"abc\nefg\n", _ends=array.array("I", ends))
    assert answer == (good, good, 4 * good, b"")


def test_a_bad_key_is_named_where_ends_are_known():
    bf, ends = BloomFilter(m=10**6, scheme="java7"), bytearray(4 * 2001)
    text = b"".join(b"%d\n" % i for i in range(2000)) + b"\xff\n"
    assert _find_lines(text, b"\n", ends) == 2001
    with pytest.raises(ValueError, match="^key 2000: ") as raised:
        bf.update_lines(text, _ends=ends)
    assert raised.value.index == 2000 and "1999" in bf


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

    def feed(data, _last, _ends):
        fed.append(bytes(data))

    with lines.opened(str(path)) as fd, pytest.raises(lines.Endless):
        lines.read(fd, b"\n", feed)
    assert fed == [b"first\n"]


def test_what_the_caller_raises_ends_the_reading(tmp_path, small_pieces):
    path = tmp_path / "keys"
    path.write_bytes(b"key\n" * 1000)
    before = threading.active_count()

    def feed(_data, _last, _ends):
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

    def feed(data, _last, _ends):
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
def feed(_data, _last, _ends):
    if when > 4:  # the first signal; the second one comes while the first one is dealt with
        raise Interrupted(2)
sys.settrace(trace)
try:
    lines.read(os.open(sys.argv[1], os.O_RDONLY), b"\\n", feed)
except Interrupted:
    print("stopped")
"""


@pytest.mark.parametrize("when", range(1, 8))
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
