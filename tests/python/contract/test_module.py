"""The package itself: names, stub, several interpreters, importing twice, what importing costs in
modules."""

import doctest
import subprocess
import sys

import bloomfilter
from bloomfilter import BloomFilter


def test_names():
    assert sorted(bloomfilter.__all__) == [
        "BloomFilter",
        "CountingBloomFilter",
        "Error",
        "FullError",
        "SaturationWarning",
        "__version__",
    ]
    assert bloomfilter.__version__.count(".") == 2
    assert BloomFilter.__module__ == "bloomfilter" and BloomFilter.__name__ == "BloomFilter"


def test_the_docstrings_examples():
    assert doctest.testmod(bloomfilter).failed == 0


def test_the_stub_is_what_is_there(tmp_path):
    """Of the compiled part; the other modules have their types in them."""
    done = subprocess.run(
        [
            sys.executable,
            *"-m mypy.stubtest --ignore-disjoint-bases bloomfilter._bloomfilter".split(),
        ],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


TYPED = """
from array import array
from pathlib import Path
from bloomfilter import BloomFilter, CountingBloomFilter, Error, SaturationWarning
bf: BloomFilter = BloomFilter(n=1000, p=0.01)
new: bool = bf.add("a") or bf.addKey(b"a") or bf.add(5) or "a" in bf
count: int = bf.update(["a", b"b", 3]) + bf.update(array("i", [1])) + len(bf)
answers: bytes = bf.add_many(str(i) for i in range(3)) + bf.contains_many({"a"})
both: BloomFilter = (bf | bf) & bf.copy()
with BloomFilter.open(Path("x")) as other:
    other |= bf
p: float = BloomFilter.plan(1000, 2)["p"]
class Column:
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
new_ones: int = bf.update(Column())
where: str | None = bf.storage
counting = CountingBloomFilter(n=1000, p=0.01, warn=False)
gone: bool = counting.remove("a") or counting.to_plain() <= bf or bf < bf or bf.saturated
how_often: int = counting.count_of(5) + bf.union_count(bf) + bf.update(bf) + bf.info()["ones"]
gone_too: bytes = counting.remove_many(["a"]) + counting.count_many([1])
warning: type[UserWarning] = SaturationWarning
class Seen(BloomFilter): ...
mine: Seen = Seen.from_bytes(bf.to_bytes(), secret=b"x")
try: ...
except Error: ...
"""
WRONG = [
    "bf.add(1.5)",
    "bf.remove(1)",
    "bf <= {1}",
    "bf.add(None)",
    "bf.update(5)",
    "bf.update([1.5])",
    "bf.union(set())",
    "bf.m = 5",
    "BloomFilter(1, 2, 3, 0.5, 'classic')",
    "x: str = bf.add('a')",
]


def mypy(tmp_path, code):
    file = tmp_path / "code.py"
    file.write_text(code)
    command = [sys.executable, *"-m mypy --strict --cache-dir".split(), tmp_path / "cache", file]
    return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)


def test_the_stub_lets_right_code_pass_and_not_wrong_code(tmp_path):
    done = mypy(tmp_path, TYPED)
    assert done.returncode == 0, done.stdout + done.stderr
    done = mypy(tmp_path, TYPED + "\n".join(WRONG) + "\n")
    first = TYPED.count("\n") + 1
    for line in range(first, first + len(WRONG)):
        assert f"code.py:{line}: error" in done.stdout, WRONG[line - first] + "\n" + done.stdout


def test_importing_loads_nothing_else(run_python):
    code = "import sys; before = set(sys.modules); import bloomfilter; print(*sorted(set(sys.modules) - before))"
    loaded = [
        name for name in run_python(code).split() if not name.startswith("encodings.")
    ]  # of the path's names, under some locales
    assert loaded == ["bloomfilter", "bloomfilter._bloomfilter"]


def test_importing_twice(run_python):
    code = """
import gc, importlib, sys, bloomfilter as first
importlib.reload(first)
for _ in range(20):
    for name in [name for name in sys.modules if name.startswith("bloomfilter")]: del sys.modules[name]
    import bloomfilter as second
    assert first.BloomFilter is not second.BloomFilter
    a, b = first.BloomFilter(1000, 10), second.BloomFilter(1000, 10)
    assert a.add("x") and b.add("x") and a.bitset == b.bitset and a == b and (a | b) == b
    try: second.BloomFilter(0, 1)
    except ValueError: pass
    del second, b
    gc.collect()
    assert "x" in a
print("ok")
"""
    assert run_python(code) == "ok"


IN_ANOTHER = """
from bloomfilter import BloomFilter, Error
bf = BloomFilter(n=1000, p=0.01)
assert bf.update(range(1000)) > 900 and 5 in bf
try: BloomFilter.from_bytes(b"nothing")
except Error: pass
now = [0.0]
short = BloomFilter(n=100, p=0.01, window=60, clock=lambda: now[0])
assert short.add("x") and "x" in short
now[0] = 100.0
assert "x" not in short
assert BloomFilter.from_bytes(bf.to_bytes()) == bf
"""


def test_several_interpreters(run_python):
    code = f"""
try: import _interpreters as interpreters
except ImportError: import _xxsubinterpreters as interpreters
import bloomfilter
mine = bloomfilter.BloomFilter(n=1000, p=0.01)
for _ in range(5):
    other = interpreters.create()
    failed = interpreters.run_string(other, {IN_ANOTHER!r})
    assert failed is None, failed
    interpreters.destroy(other)
    mine.add("still here")
exec({IN_ANOTHER!r})
print("ok")
"""
    assert run_python(code) == "ok"


def test_leaving_while_a_thread_is_inside_a_batch(run_python):
    code = """
import itertools, threading, time
from bloomfilter import BloomFilter
bf = BloomFilter(n=1000, p=0.01)
threading.Thread(target=bf.update, args=(itertools.repeat("a"),), daemon=True).start()
time.sleep(0.05)
print("ok")
"""
    assert run_python(code) == "ok"
