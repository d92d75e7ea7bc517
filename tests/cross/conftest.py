"""What the cross-language tests share: the three sides, a copy of the tree, a Redis.

Run by scripts/test cross, after scripts/build: the products in out/ are what is tested."""

import shutil
import sys
from pathlib import Path

import own_redis
import pytest
from products import ROOT, compile_c, php_command, run

HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="session")
def php():
    return php_command()


@pytest.fixture(scope="session")
def sides(tmp_path_factory):
    """The three programs: what to run for each."""
    program = compile_c(HERE / "side.c", tmp_path_factory.mktemp("side") / "side")
    return {
        "c": [program],
        "php": [*php_command(), HERE / "side.php"],
        "py": [sys.executable, HERE / "side.py"],
    }


def tab_separated(cases):
    """Dicts with a name and what the constructor is given, as lines for the sides."""
    names = ["name", "home", "scheme", "m", "n", "k", "p", "secret"]
    return "".join("\t".join(str(case.get(name, "-")) for name in names) + "\n" for case in cases)


def packed(keys):
    """(kind, bytes) pairs as records for the sides."""
    return b"".join(kind.encode() + len(data).to_bytes(4, "little") + data for kind, data in keys)


def by_case(text):
    """What a side printed: case name -> its lines."""
    return {part.split("\n", 1)[0]: part.splitlines()[1:] for part in text.split("case ")[1:]}


def run_sides(sides, what, cases, keys, folder):
    """Side -> case -> lines."""
    (folder / "cases").write_text(tab_separated(cases))
    (folder / "keys").write_bytes(packed(keys))
    return {
        side: by_case(run([*command, what, folder / "cases", folder / "keys", folder], text=True))
        for side, command in sides.items()
    }


@pytest.fixture
def tree(tmp_path):
    """A copy of the source tree, without what was built."""
    copy = tmp_path / "tree"
    shutil.copytree(
        ROOT, copy, ignore=shutil.ignore_patterns("out", ".git", ".hypothesis", "__pycache__")
    )
    return copy


@pytest.fixture(scope="session")
def redis_port(tmp_path_factory):
    """A redis-server of the tests' own on a free port of 127.0.0.1."""
    with own_redis.running(tmp_path_factory.mktemp("redis")) as (port, _):
        yield port
