"""scripts/results: what passed, failed or was skipped, out of the JUnit files of three tools."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = '<testcase name="test_x" status="{}"><system-out>{}</system-out>{}</testcase>'


@pytest.fixture
def total(tmp_path):
    """total(cases, exit code, tests/skips) -> the last line, the exit code, all that was said."""

    def total(cases, code=0, listed="", ci=True):
        (tmp_path / "scripts").mkdir()
        (tmp_path / "tests").mkdir()
        shutil.copy(ROOT / "scripts" / "results", tmp_path / "scripts")
        (tmp_path / "tests" / "skips").write_text(listed)
        (tmp_path / "run.exit").write_text(f"{code} 7\n")
        if cases is not None:
            (tmp_path / "run.xml").write_text(
                f"<testsuites><testsuite>{cases}</testsuite></testsuites>"
            )
        env = {name: value for name, value in os.environ.items() if name != "CI"}
        command = [sys.executable, tmp_path / "scripts" / "results"]
        said = [
            subprocess.run(
                [*command, *sum, tmp_path / "run.xml"], capture_output=True, text=True,
                env=env | ({"CI": "1"} if ci else {}),
            )
            for sum in ([], ["--sum"])
        ]  # fmt: skip
        assert not said[0].stderr + said[1].stderr
        return said[1].stdout.splitlines()[-1], said[1].returncode, said[0].stdout

    return total


SKIP = '<testcase classname="tests.a" name="b"><skipped message="no moon"/></testcase><testcase name="c"/>'


@pytest.mark.parametrize(("listed", "ci", "last"), [
    ("", True, "1 passed, 1 failed"),
    ("", False, "1 passed, 0 failed, 1 skipped"),
    ("run: tests.a b: no * -- because\n", True, "1 passed, 0 failed, 1 skipped"),
    ("# run: * -- a comment\nrun: elsewhere* -- because\n", True, "1 passed, 1 failed"),
])  # fmt: skip
def test_a_skip_in_ci_must_be_listed(total, listed, ci, last):
    said = total(SKIP, listed=listed, ci=ci)
    assert said[:2] == (last, int("1 failed" in last)) and "tests.a b: no moon" in said[2]


@pytest.mark.parametrize(("cases", "code", "last"), [
    (None, 0, "0 passed, 1 failed"),                                # the tool wrote nothing
    ("<", 0, "0 passed, 1 failed"),                                 # or half
    ("", 0, "0 passed, 0 failed"),                                  # no test at all
    ('<testcase name="a"/>', 3, "1 passed, 1 failed"),              # an end that nobody explains
    ('<testcase name="a"><failure message="m"/></testcase>', 1, "0 passed, 1 failed"),
    ('<testcase name="a"><error message="m"/></testcase>', 1, "0 passed, 1 failed"),
    ('<testcase name="a"><warning>Test passed on retry attempt</warning></testcase>', 0, "0 passed, 1 failed"),
    # programs of tests/c
    (PROGRAM.format("run", "ok a\n9 passed, 0 failed\n", ""), 0, "9 passed, 0 failed"),
    (PROGRAM.format("run", "skip a: why\n9 passed, 0 failed, 1 skipped\n", ""), 0, "9 passed, 1 failed"),
    (PROGRAM.format("run", "7 passed, 2 failed\n", ""), 0, "7 passed, 2 failed"),
    (PROGRAM.format("run", "ok a\n", ""), 0, "0 passed, 1 failed"),   # something called exit(0)
    (PROGRAM.format("fail", "7 passed, 2 failed\n", '<failure message="Failed"/>'), 8, "7 passed, 2 failed"),
    (PROGRAM.format("fail", "ok a\n", '<failure message="SEGFAULT"/>'), 8, "0 passed, 1 failed"),
    (PROGRAM.format("fail", "7 passed, 0 failed\n", '<failure message="SEGFAULT"/>'), 8, "7 passed, 1 failed"),
])  # fmt: skip
def test_what_counts_as_failed(total, cases, code, last):
    said = total(cases, code)
    assert said[:2] == (last, int("0 failed" not in last or last[0] == "0"))


def test_a_failure_shows_its_output(total):
    said = total(
        PROGRAM.format("fail", "x.c:3: CHECK(a)\n1 passed, 1 failed\n", '<failure message="m"/>'), 8
    )
    assert "x.c:3: CHECK(a)" in said[2]


PIPES = [
    "seq 9 | grep -q 1",
    "seq 9 | grep -Fxqm2 1",
    "seq 9 | grep --quiet 1",
    "seq 9 |\n    head -n 1",
    "seq 9 | sed 2q",
    "seq 9 | awk 'NR == 2 { exit }'",
]
STAY = "# seq 9 | head\nseq 9 | grep 1 >/dev/null || head -n 1 planted | tail -n 1 | awk 'END { exit 0 }'\n"


def test_lint_finds_readers_that_leave_early():
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    pattern = re.compile(next(hook["entry"] for hook in hooks if hook["id"] == "pipes"), re.M)
    assert not pattern.search(STAY)
    for text in PIPES:
        assert pattern.search(STAY + text), text
