"""The schemes of older systems against those systems themselves, downloaded for the purpose: Guava from Maven Central,
go-zero from the Go module proxy.  Optional: skipped where Java, Maven, Go or the network is missing.

    python -m pytest tests/live
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from bloomfilter import BloomFilter

HERE = Path(__file__).resolve().parent
CACHE = Path(tempfile.gettempdir()) / "bloomfilter-live"
TEXTS = ["", "a", "h\u00e4\u00df", "\u4e2d\u6587\u5b57", "\U0001f600 smile", *(f"https://www.example.org/item/{i}" for i in range(3000))]
NUMBERS = [0, -1, 1, 2**31 - 1, -(2**31), *range(5000, 8000)]
CASES = [
    ("bytes", "guava", TEXTS, 3100, 0.01),
    ("bytes", "guava:bytes", TEXTS, 3100, 1e-9),
    ("bytes", "guava", TEXTS, 40, 0.001378),
    ("chars", "guava:chars", TEXTS, 3100, 0.03),
    ("long", "guava:long", [*NUMBERS, 2**63 - 1, -(2**63)], 3100, 0.01),
    ("int", "guava:int", NUMBERS, 3100, 0.01),
]


def run(command, stdin="", cwd=None):
    return subprocess.run(command, input=stdin, capture_output=True, text=True, encoding="utf-8", check=True, timeout=300, cwd=cwd).stdout


@pytest.fixture(scope="session")
def guava():
    if not (shutil.which("java") and shutil.which("mvn")):
        pytest.skip("no Java or Maven")
    jar = CACHE / "guava-33.4.8-jre.jar"
    if not jar.exists():
        CACHE.mkdir(exist_ok=True)
        try:
            run(["mvn", "-q", "-B", "dependency:copy", "-Dartifact=com.google.guava:guava:33.4.8-jre", f"-DoutputDirectory={CACHE}"], cwd=CACHE)
        except subprocess.SubprocessError:
            pytest.skip("Maven Central cannot be reached")
    return ["java", "-cp", str(jar), str(HERE / "Live.java")]


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c[1]}-{c[3]}-{c[4]}")
def test_guava(guava, case, tmp_path):
    funnel, scheme, keys, n, p = case
    lines = "".join(f"{key}\n" for key in keys)
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    run([*guava, "write", funnel, str(n), repr(p), str(theirs)], lines)
    bf = BloomFilter(n=n, p=p, scheme=scheme)
    bf.update(keys)
    assert bf.to_bytes(format="guava") == theirs.read_bytes()
    assert BloomFilter.from_bytes(theirs.read_bytes(), format="guava", scheme=scheme, n=n).bitset == bf.bitset
    more = [f"{key}7" if isinstance(key, str) else key // 2 + 10000 for key in keys]
    ours.write_bytes(bf.to_bytes(format="guava"))
    answers = run([*guava, "read", funnel, str(ours)], lines + "".join(f"{key}\n" for key in more)).strip()
    assert answers == "".join(str(b) for b in bf.contains_many([*keys, *more]))


def test_gozero(tmp_path):
    if not shutil.which("go"):
        pytest.skip("no Go")
    shutil.copytree(HERE / "gozero", tmp_path, dirs_exist_ok=True)
    try:
        run(["go", "mod", "tidy"], cwd=tmp_path)
    except subprocess.SubprocessError:
        pytest.skip("the Go module proxy cannot be reached")
    for bits in (1, 1000, 20480, 2**32):
        bf = BloomFilter(m=bits, scheme="gozero")
        rows = run(["go", "run", ".", str(bits)], "".join(f"{key}\n" for key in TEXTS), cwd=tmp_path).splitlines()
        assert [bf.hashcode(key) for key in TEXTS] == [[int(x) for x in row.split()] for row in rows]
