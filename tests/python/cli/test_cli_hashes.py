"""add --hashes and check --hashes: text lines and 8 bytes each, in pieces of any size; faults."""

import array
import random
import struct

import numpy as np
import pytest
from bloomfilter import BloomFilter
from cli_helpers import cli, ok

from bloomfilter.cli import hashes, lines

HASHES = [random.Random(i).getrandbits(64) for i in range(3000)]
FORMS = {
    "text": ([], b"".join(b"%016x\n" % h for h in HASHES)),
    "text without a last line feed": ([], b"\n".join(b"%016X" % h for h in HASHES)),
    "NUL": (["-0"], b"".join(b"%016x\0" % h for h in HASHES)),
    "binary": (["--binary"], struct.pack("<3000Q", *HASHES)),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form(tmp_path, form):
    options, data = FORMS[form]
    path, keys = str(tmp_path / "f.bloom"), tmp_path / "keys"
    keys.write_bytes(data)
    ok("add", path, "-n", "10k", "-p", "1e-9", "--hashes", *options, str(keys))
    with BloomFilter.open(path) as bf:
        assert bf.scheme == "hashes64-block2" and not bf.add_hashes(array.array("Q", HASHES))
    assert cli("check", path, "--hashes", *options, str(keys)).code == 0
    keys.write_bytes(data[: len(data) // 2 + 3])  # not the end of a hash
    assert cli("check", path, "--hashes", *options, str(keys)).code == 2


@pytest.mark.parametrize("block", [7, 64, 1000])
@pytest.mark.parametrize("ahead", [0, 1 << 60])
def test_pieces_of_binary_hashes(tmp_path, monkeypatch, block, ahead):
    for name, value in (("BLOCK", block), ("HEAD", 16), ("LARGE", ahead)):
        monkeypatch.setattr(lines, name, value)
    path, found = tmp_path / "keys", []
    path.write_bytes(FORMS["binary"][1] + b"end")
    with lines.opened(str(path)) as fd:
        lines.read(fd, None, lambda data, last: found.append(bytes(data)))
    assert b"".join(found[:-1]) == FORMS["binary"][1] and found[-1] == b"end"
    assert all(len(piece) % 8 == 0 for piece in found[:-1])


@pytest.mark.parametrize("bad", [0, 1, 5, 2999])
def test_a_line_that_is_no_hash(bad):
    for wrong in b"|0123456789abcde|0123456789abcdefa|0123456789abcde\r|0x23456789abcdef".split(
        b"|"
    ):
        text = [b"%016x" % h for h in HASHES]
        text[bad] = wrong
        bf = BloomFilter(n=10_000, p=1e-9, scheme="hashes64")
        call = hashes.by_hash(bf, True, False)
        with pytest.raises(ValueError) as fault:
            call(memoryview(b"\n".join(text) + b"\n"), b"\n", last=False, keep=True)
        assert fault.value.index == bad and fault.value._done[1].count(b"\n") == bad
        there = bf.contains_hashes(np.array(HASHES, "uint64"))
        assert there == b"\1" * bad + b"\0" * (3000 - bad)


def test_print_and_faults(tmp_path):
    path = str(tmp_path / "f.bloom")
    ok("create", path, "-n", "1k", "-p", "1e-9", "--scheme", "hashes64")
    text = b"9e3779b97f4a7c15\n0000000000000000\n9e3779b97f4a7c15\n"
    assert cli("add", path, "--hashes", "--print", "new", "-q", data=text).out == text[:34]
    out = cli("check", path, "--hashes", "--print", "absent", "-q", data=text + b"00000000000000ff")
    assert (out.code, out.out.strip()) == (1, b"00000000000000ff")
    for wrong in (["add", path], ["check", path, "--binary"], ["add", path, "--hashes", "-n", "5"]):
        assert cli(*wrong, data=b"key\n").code == 2
    for data in (b"", b"key\n"):
        assert cli("rebuild", path, data=data).code == 2
    assert cli("check", path, "--hashes", "-q", data=text).code == 0


@pytest.mark.parametrize("threads", ["1", "2"])
def test_what_was_added_before_an_error_is_printed(tmp_path, threads):
    """A hash that was added is never new again."""
    path, data = str(tmp_path / "f.bloom"), b"".join(b"%016x\n" % h for h in HASHES) * 9
    ok("create", path, "-n", "1k", "-p", "1e-9", "--scheme", "hashes64")
    how = "--hashes", "--overfull", "raise", "--print", "new", "--threads", threads
    out = cli("add", path, *how, data=data)
    assert out.code == 2 and out.out == data[: 17 * 1000]
    assert cli("check", path, "--hashes", "-q", data=out.out).code == 0
