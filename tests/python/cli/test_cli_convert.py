"""The command convert: the same bits between homes and formats, nothing overwritten, nothing half
done."""

import json
import os
import subprocess

import pytest
from cli_helpers import fails, ok

from bloomfilter import BloomFilter, Error
from bloomfilter.cli import homes, main


def filled(**options):
    bf = BloomFilter(**options)
    bf.update(f"key {i}" for i in range(500))
    return bf


def test_through_every_home_and_back(bf, stored, tmp_path, redis_url):
    ok("convert", stored, redis_url)
    with BloomFilter.open(redis_url) as remote:
        assert remote == bf and (remote.n, remote.p) == (bf.n, bf.p)
    data, out = ok("convert", redis_url, "-").out, tmp_path / "out.bloom"
    assert BloomFilter.from_bytes(data) == bf
    assert json.loads(ok("convert", "-", out, "--json", data=data).out)["to"] == str(out)
    with BloomFilter.open(out) as again:
        assert again == bf and (again.n, again.p) == (bf.n, bf.p)


def test_older_systems(tmp_path, redis_url):
    """Cells of a byte each; a bitmap in Redis."""
    bf = filled(m=640, scheme="sax-sdbm", warn=False)
    cells = bytes(bf.bitset[i // 8] >> (7 - i % 8) & 1 for i in range(640))
    words = "-m 640 --scheme sax-sdbm".split()
    ok("convert", "--from", "cells", "-", tmp_path / "out.bloom", *words, data=cells)
    assert BloomFilter.open(tmp_path / "out.bloom").bitset == bf.bitset
    bf = filled(m=20_000, scheme="gozero")
    socket, _, key = redis_url.removeprefix("unix://").partition("?key=")
    command = ["redis-cli", "-s", socket, "-x", "SET", key]
    subprocess.run(command, input=bf.bitset, check=True, stdout=subprocess.DEVNULL)
    words = "-m 20000 --scheme gozero".split()
    ok("convert", "--from", "bits", redis_url, tmp_path / "in_redis.bloom", *words)
    assert BloomFilter.open(tmp_path / "in_redis.bloom").bitset == bf.bitset


@pytest.fixture(params=["classic", "block", "guava", "gozero"])
def bf(request):
    return filled(n=1000, p=0.01, scheme=request.param)


@pytest.fixture
def stored(bf, tmp_path):
    bf.save(tmp_path / "in.bloom")
    return tmp_path / "in.bloom"


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
    sizes = ["-m", bf.m, "-n", bf.n, "-k", bf.k, "--scheme", bf.scheme]
    ok("convert", bits, tmp_path / "back.bloom", "--from", form, *sizes)
    assert BloomFilter.open(tmp_path / "back.bloom") == bf
    assert ok("convert", stored, "-", "--to", form).out == bits.read_bytes()


def test_guava(tmp_path):
    bf = filled(n=1000, p=0.01, scheme="guava")
    (tmp_path / "java").write_bytes(bf.to_bytes(format="guava"))
    ok("convert", "--from", "guava", tmp_path / "java", tmp_path / "seen.bloom")
    assert BloomFilter.open(tmp_path / "seen.bloom") == bf
    java = (tmp_path / "java").read_bytes()
    assert ok("convert", "--to", "guava", tmp_path / "seen.bloom", "-").out == java
    ok("convert", "--from", "guava", "-", tmp_path / "again.bloom", data=java)


def test_nothing_is_overwritten(stored, tmp_path, redis_url):
    other = tmp_path / "other"
    other.write_bytes(b"precious")
    for words in ([stored, other], [stored, other, "--to", "bits"], [stored, stored]):
        assert "exists already" in fails("convert", *words)
    ok("convert", stored, redis_url)
    assert "exists already" in fails("convert", stored, redis_url)
    assert other.read_bytes() == b"precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.bloom", "other"]


def test_what_cannot_be_said_is_refused(stored, tmp_path, redis_url):
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
