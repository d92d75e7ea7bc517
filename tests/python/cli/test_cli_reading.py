"""How the command line reads its keys: the lines of a file are the same in whatever pieces they
come, read by the caller or by a thread ahead of it."""

import os
import threading

import pytest

from bloomfilter import BloomFilter
from bloomfilter.cli import lines, staging
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
        *whole, rest = bytes(data).split(separator)
        found.extend(whole)
        if last and rest:
            found.append(rest)
        return len(data) - (0 if last else len(rest))

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
        fed.append(bytes(data).split(b"\n")[0])
        return bytes(data).rfind(b"\n") + 1

    with lines.opened(str(path)) as fd, pytest.raises(lines.Endless):
        lines.read(fd, b"\n", feed)
    assert fed == [b"first"]


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
        return bytes(data).rfind(b"\n") + 1

    with lines.opened(str(path)) as fd, pytest.raises(fault, match="no such luck"):
        lines.read(fd, b"\n", feed)
    assert fed == [b"a\nb\n", b"c\nd"]


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


# ---- the copy of a large load ----
def test_the_copy_is_united_as_often_as_its_share_allows(tmp_path, monkeypatch):
    now, unions = [0.0], []
    monkeypatch.setattr(staging, "monotonic", lambda: now[0])

    class File:
        def copy(self):
            return BloomFilter(n=1000, p=0.01)

        def __ior__(self, _copy):
            unions.append(now[0])
            now[0] += took
            return self

    for took, every in ((0.0, 1.0), (0.25, 5.0)):
        now[0] = 0.0
        unions.clear()
        load = staging.Staged(File())
        for _ in range(200):
            now[0] += 0.125
            load.update_lines(memoryview(b"key\n"), b"\n", last=False)
        gaps = [after - before - took for before, after in zip(unions, unions[1:])]
        assert set(gaps) == {every + 0.125}
