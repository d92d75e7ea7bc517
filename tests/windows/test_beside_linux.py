"""Programs for Windows, run by Wine, beside those of Linux: the names that the library exports, one
mapped file, one Redis.

BLOOMFILTER_WINDOWS is the build of scripts/machines windows; scripts/build c has made the other."""

import os
import re
import subprocess
from pathlib import Path

import servers
import pytest

ROOT = Path(__file__).resolve().parents[2]
LINUX, WINDOWS = ROOT / "out" / "stage" / "c", Path(os.environ["BLOOMFILTER_WINDOWS"])
WINE = ["/usr/lib/wine/wine64", WINDOWS / "tests" / "keys.exe"]


def says(*command):
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, text=True)
    return done.returncode, done.stdout


def right(*command):
    code, said = says(*command)
    assert code == 0, said


@pytest.fixture(scope="module")
def linux(tmp_path_factory):
    program = tmp_path_factory.mktemp("linux") / "keys"
    words = f"cc -Wall -Werror -I{ROOT}/core {ROOT}/tests/windows/keys.c {LINUX}/libbloomfilter.a"
    right(*words.split(), "-lsodium", "-lpthread", "-lm", "-o", program)
    return [program]


def test_exports():
    here = says("nm", "-D", "--defined-only", LINUX / "libbloomfilter.so")[1]
    there = says("x86_64-w64-mingw32-objdump", "-p", WINDOWS / "bloomfilter.dll")[1]
    table = re.search(r"Name Pointer\] Table(.*?)\n\n", there, re.S)[1]
    names = set(re.findall(r"\] (?:\+base\[.*?\] *\w+ )?([a-z]\w*)$", table, re.M))
    assert names and names == set(re.findall(r" T (bf_\w+)", here))


def test_one_mapped_file(linux, tmp_path):
    file = tmp_path / "two.bloom"
    adding = [[*WINE, "add", file, who, "20000"] for who in ("one", "two")]
    both = [subprocess.Popen(list(map(str, words))) for words in adding]
    assert [one.wait() for one in both] == [0, 0]
    for who in ("one", "two"):
        right(*linux, "test", file, who, 20000)
    right(*linux, "add", file, "linux", 1000)
    for who, count in (("one", 20000), ("two", 20000), ("linux", 1000)):
        right(*WINE, "test", file, who, count)
    assert says(*WINE, "test", file, "nobody", 20)[0] != 0


def test_one_redis(linux, tmp_path):
    with servers.running(tmp_path) as (port, _):
        url = f"redis://localhost:{port}?key=w"
        right(*WINE, "add", url, "one", 500)
        right(*linux, "test", url, "one", 500)
        right(*linux, "add", url, "linux", 500)
        right(*WINE, "test", url, "linux", 500)
        right("redis-cli", "-p", port, "client", "pause", 60000)
        assert "timed out" in says(*WINE, "test", f"{url}&timeout=0.5", "linux", 1)[1]
    assert "refused" in says(*WINE, "test", "redis://127.0.0.1:1?key=w", "linux", 1)[1]
