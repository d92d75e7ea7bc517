"""The extension's own .phpt tests, run against the polyfill.  Those that do not apply are in not_here,
each with its reason."""

from pathlib import Path

import phpt
import pytest

NOT_HERE = dict(
    line.split(" -- ", 1)
    for line in (Path(__file__).parent / "not_here").read_text().splitlines()
    if line and not line.startswith("#")
)
TESTS = sorted(path.stem for path in phpt.TESTS.glob("*.phpt"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return phpt.copied(tmp_path_factory.mktemp("phpt"))


@pytest.mark.parametrize("name", [name for name in TESTS if name not in NOT_HERE])
def test_applies(name, php, phpredis, folder):
    said = phpt.differs(phpt.TESTS / f"{name}.phpt", php, phpredis, folder)
    assert said is None, said


def test_what_does_not_apply_is_there():
    assert set(NOT_HERE) < set(TESTS)
