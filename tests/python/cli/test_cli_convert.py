"""The command convert: the same bits between homes and formats, nothing overwritten, nothing half
done."""

import json
import os

import pytest
from cli_helpers import fails, ok, redis_socket, redis_url  # noqa: F401

from bloomfilter import BloomFilter, Error
from bloomfilter.cli import homes, main


def filled(**options):
    bf = BloomFilter(**options)
    bf.update(f"key {i}" for i in range(500))
    return bf


@pytest.fixture(params=["classic", "block", "block2", "guava", "gozero"])
def bf(request):
    return filled(n=1000, p=0.01, scheme=request.param)


@pytest.fixture
def stored(bf, tmp_path):
    bf.save(tmp_path / "in.bloom")
    return tmp_path / "in.bloom"


def test_through_every_home_and_back(bf, stored, tmp_path, redis_url):  # noqa: F811
    ok("convert", stored, redis_url)
    with BloomFilter.open(redis_url) as remote:
        assert remote == bf and (remote.n, remote.p) == (bf.n, bf.p)
    data = ok("convert", redis_url, "-").out
    assert BloomFilter.from_bytes(data) == bf
    assert json.loads(ok("convert", "-", tmp_path / "out.bloom", "--json", data=data).out)[
        "to"
    ] == str(tmp_path / "out.bloom")
    with BloomFilter.open(tmp_path / "out.bloom") as out:
        assert out == bf and (out.n, out.p) == (bf.n, bf.p)


@pytest.mark.parametrize("kind", [{}, {"grow": 2.0}, {"window": 60}])
def test_small_images_are_read(kind, tmp_path):
    """Their header is no page, so that they cannot be mapped: what only reads loads them, and the
    others say so."""
    bf = BloomFilter(n=10, p=0.01, **kind)
    bf.update(["a", "b"])
    small, out = tmp_path / "small.bloom", tmp_path / "out.bloom"
    small.write_bytes(bf.to_bytes())
    ok("convert", small, out)
    with BloomFilter.open(out) as opened:
        assert opened == bf and opened.add("c")
    ok("check", small, data=b"a\nb\n")
    assert ok("info", small, "--json").text
    ok("merge", tmp_path / "merged.bloom", small)
    text = "has a compact header and cannot be mapped: use load(), or convert it with bloomfilter convert"
    assert text in fails("add", small, data=b"d\n")
    for options in ({}, {"read_only": True}):
        with pytest.raises(Error) as refused:
            BloomFilter.open(small, **options)
        assert text in str(refused.value)
    assert small.read_bytes() == bf.to_bytes()
    assert BloomFilter.load(small) == bf


@pytest.mark.parametrize("form", ["bits", "bits-lsb"])
def test_bare_bits(bf, stored, tmp_path, form):
    bits = tmp_path / "bits"
    text = ok("convert", stored, bits, "--to", form).text
    assert bits.read_bytes() == bf.to_bytes(format=form) and f"{bf.m:,}" in text
    ok(
        "convert",
        bits,
        tmp_path / "back.bloom",
        "--from",
        form,
        "-m",
        bf.m,
        "-n",
        bf.n,
        "-k",
        bf.k,
        "--scheme",
        bf.scheme,
    )
    assert BloomFilter.open(tmp_path / "back.bloom") == bf
    assert ok("convert", stored, "-", "--to", form).out == bits.read_bytes()


def test_guava(tmp_path):
    bf = filled(n=1000, p=0.01, scheme="guava")
    (tmp_path / "java").write_bytes(bf.to_bytes(format="guava"))
    ok("convert", "--from", "guava", tmp_path / "java", tmp_path / "seen.bloom")
    assert BloomFilter.open(tmp_path / "seen.bloom") == bf
    assert (
        ok("convert", "--to", "guava", tmp_path / "seen.bloom", "-").out
        == (tmp_path / "java").read_bytes()
    )
    ok(
        *"convert --from guava -".split(),
        tmp_path / "again.bloom",
        data=(tmp_path / "java").read_bytes(),
    )


def test_cells(tmp_path):
    bf = BloomFilter(m=64, scheme="sax-sdbm")
    bf.add("a")
    cells = bytes(bf.bitset[i // 8] >> (7 - i % 8) & 1 for i in range(64))
    ok(
        *"convert --from cells -".split(),
        tmp_path / "out.bloom",
        *"-m 64 --scheme sax-sdbm".split(),
        data=cells,
    )
    assert BloomFilter.open(tmp_path / "out.bloom").bitset == bf.bitset


def test_nothing_is_overwritten(stored, tmp_path, redis_url):  # noqa: F811
    other = tmp_path / "other"
    other.write_bytes(b"precious")
    for words in ([stored, other], [stored, other, "--to", "bits"], [stored, stored]):
        assert "exists already" in fails("convert", *words)
    ok("convert", stored, redis_url)
    assert "exists already" in fails("convert", stored, redis_url)
    assert other.read_bytes() == b"precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.bloom", "other"]


def test_what_cannot_be_said_is_refused(stored, tmp_path, redis_url):  # noqa: F811
    out = tmp_path / "out"
    for words, data in [
        (["-", out], b"junk" * 2000),
        (["-", out], b""),
        (["-", out, "--from", "guava"], b"\1\7"),
        (["-", out, "--from", "bits"], b"\0" * 10),
        ([stored, out, "-n", "17"], b""),
        ([stored, out, "--to", "cells"], b""),
        ([redis_url, out, "--from", "guava"], b""),
        ([stored, redis_url, "--to", "guava"], b""),
    ]:
        fails("convert", *words, data=data)
    assert not out.exists()


def test_a_bitmap_of_an_older_system_in_redis(tmp_path, redis_url, redis_socket):  # noqa: F811
    import socket

    bf = filled(m=20_000, scheme="gozero")
    bits, key = bf.to_bytes(format="bits"), redis_url.split("key=")[1].encode()
    with socket.socket(socket.AF_UNIX) as link:
        link.connect(str(redis_socket))
        link.sendall(
            b"*3\r\n$3\r\nSET\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n" % (len(key), key, len(bits), bits)
        )
        assert link.recv(10) == b"+OK\r\n"
    ok(
        "convert",
        "--from",
        "bits",
        redis_url,
        tmp_path / "out.bloom",
        *"-m 20000 --scheme gozero".split(),
    )
    assert BloomFilter.open(tmp_path / "out.bloom").bitset == bf.bitset


@pytest.mark.parametrize("words", [("convert", "in", "out"), ("merge", "out", "in", "in")])
def test_a_file_that_appears_after_the_look_is_not_replaced(words, tmp_path, monkeypatch, capsys):
    """Only the moment is chosen: another process creates OUT between the look and the save."""
    monkeypatch.chdir(tmp_path)
    BloomFilter(n=1000, p=0.01, grow=2.0).save("in")
    look = homes.exists

    def exists(storage, *more):
        found = look(storage, *more)
        with BloomFilter(n=1000, p=0.01, grow=2.0, storage="out") as other:
            other.add("acknowledged")
        return found

    monkeypatch.setattr(homes, "exists", exists)
    assert main([*words]) == 2
    assert "out exists already" in capsys.readouterr().err
    assert "acknowledged" in BloomFilter.open("out")
    assert sorted(os.listdir()) == ["in", "out"]
