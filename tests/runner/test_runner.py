"""scripts/test itself: passed, failed, skipped; what depends on what.  Needs no build."""

import contextlib
import os
import re
import select
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def bash(tmp_path):
    """Runs words of suites.sh with logs and a tests/skips of the test's own; returns what was said
    and the exit code."""

    def run(words, listed="", ci=True):
        (tmp_path / "tests").mkdir(exist_ok=True)
        (tmp_path / "tests" / "skips").write_text(listed)
        script = f". {ROOT}/scripts/lib.sh\nroot={tmp_path} out={tmp_path} jobs=1 venv={sys.prefix}\n" \
            f"say() {{ echo \"$*\"; }}; die() {{ say \"$*\"; exit 1; }}\n. {ROOT}/scripts/suites.sh\nlogs={tmp_path}\n{words}\nfinish\n"  # fmt: skip
        environment = {name: value for name, value in os.environ.items() if name != "CI"} | (
            {"CI": "1"} if ci else {}
        )
        done = subprocess.run(
            ["bash", "-c", script], capture_output=True, text=True, env=environment, check=False
        )
        return done.stdout + done.stderr, done.returncode

    return run


COUNTED = "run_counted suite log printf '%s\\n' 'skip somewhere: no reason' '3 passed, 0 failed, 1 skipped'"


@pytest.mark.parametrize(("listed", "ci", "last", "code"), [
    ("", True, "3 passed, 1 failed", 1),
    ("", False, "3 passed, 0 failed, 1 skipped", 0),
    ("skip suite: somewhere: no * -- because\n", True, "3 passed, 0 failed, 1 skipped", 0),
    ("skip suite: elsewhere* -- because\n", True, "3 passed, 1 failed", 1),
    ("flaky suite: somewhere* -- because\n", True, "3 passed, 1 failed", 1),
])  # fmt: skip
def test_a_skip_in_ci_must_be_listed(bash, listed, ci, last, code):
    said, ended = bash(COUNTED, listed, ci)
    assert said.splitlines()[-1] == last and ended == code
    assert "somewhere: no reason" in said


@pytest.mark.parametrize(("words", "last"), [
    # a skip without its reason
    ("run_counted suite log printf '2 passed, 0 failed, 1 skipped\\n'", "2 passed, 1 failed"),
    ("run_counted suite log printf 'nothing\\n'", "0 passed, 1 failed"),
    ("run_counted suite log sh -c 'echo 2 passed, 0 failed; exit 3'", "2 passed, 1 failed"),
    ("run_noted suite log false", "0 passed, 1 failed"),
    ("run_noted suite log true", "1 passed, 0 failed"),
    # a step inside that fails, not the last
    ("f() { false; true; }; run_noted suite log f", "0 passed, 1 failed"),
    ("f() ( false; true ); run_noted suite log f", "0 passed, 1 failed"),
    ("f() { false; echo 1 passed, 0 failed; }; run_counted suite log f", "0 passed, 1 failed"),
])  # fmt: skip
def test_what_counts_as_failed(bash, words, last):
    said, code = bash(words)
    assert said.splitlines()[-1] == last and code == ("1 failed" in last)


def test_only_what_is_listed_is_tried_twice(bash, tmp_path):
    """The first run fails, the second passes."""
    test = tmp_path / "test_it.py"
    test.write_text(
        f"import pathlib\n\ndef test_once():\n    mark = pathlib.Path({str(tmp_path / 'mark')!r})\n    seen = mark.exists()\n    mark.touch()\n    assert seen\n"
    )
    words = f"run_pytest suite once {test}"
    said, code = bash(words)
    assert (said.splitlines()[-1], code) == ("0 passed, 1 failed", 1)
    (tmp_path / "mark").unlink()
    said, code = bash(words, "flaky *test_it.py::test_once -- the test says why\n")
    assert (said.splitlines()[-1], code) == ("1 passed, 0 failed", 0) and "second try" in said


def test_pytest_skips_have_their_reasons(bash, tmp_path):
    test = tmp_path / "test_it.py"
    test.write_text(
        "import pytest\n\n@pytest.mark.parametrize('n', [1, 2])\ndef test_no(n):\n    pytest.skip('no moon: not tonight')\n\ndef test_yes():\n    pass\n"
    )
    said, code = bash(
        f"run_pytest suite skips {test}", "skip suite: *test_it.py: no moon* -- because\n"
    )
    assert (said.splitlines()[-1], code) == ("1 passed, 0 failed, 2 skipped", 0)
    assert "skipped (2): " in said and "no moon: not tonight" in said


def side_by_side(tmp_path, table, script):
    (tmp_path / "table").write_text(table)
    (tmp_path / "job").write_text("#!/bin/bash\n" + script)
    (tmp_path / "job").chmod(0o755)
    command = [
        sys.executable,
        ROOT / "scripts" / "side-by-side",
        "2",
        tmp_path / "table",
        tmp_path / "durations",
        tmp_path / "job",
    ]
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, check=False
    )
    return done.stdout.splitlines(), done.returncode


def test_jobs_run_after_what_they_need(tmp_path):
    said, code = side_by_side(
        tmp_path,
        "build-a - 1 1\none build-a 5 5\ntwo - 9 9\n",
        f"""
        [ $1 != one ] || [ -e {tmp_path}/built ] || exit 9
        [ $1 != build-a ] || {{ sleep 0.3; touch {tmp_path}/built; exit 0; }}
        echo "of $1"; echo "1 passed, 0 failed, 2 skipped" """,
    )
    assert (said[-1], code) == ("2 passed, 0 failed, 4 skipped", 0)
    assert [line for line in said if line.startswith("of ")] == [
        "of one",
        "of two",
    ]  # the table's order
    assert {
        line.split()[0]: line.split()[3:]
        for line in (tmp_path / "durations").read_text().splitlines()
    }["two"] == ["1", "0", "2"]


@pytest.mark.parametrize(("script", "last"), [
    # the build, and what could not run
    ("[ $1 != build-a ] || exit 1; echo '1 passed, 0 failed'", "1 passed, 2 failed"),
    ("[ $1 != one ] || { echo '4 passed, 2 failed'; exit 1; }; echo '1 passed, 0 failed'", "6 passed, 2 failed"),
    ("[ $1 != one ] || kill -9 $$; echo '1 passed, 0 failed'", "2 passed, 1 failed"),
    ("[ $1 != one ] || { echo nothing; exit 0; }; echo '1 passed, 0 failed'", "2 passed, 1 failed"),
])  # fmt: skip
def test_jobs_that_fail(tmp_path, script, last):
    said, code = side_by_side(tmp_path, "build-a - 1 1\none build-a 5 5\ntwo - 9 9\n", script)
    assert (said[-1], code) == (last, 1)


def test_a_job_leaves_no_process(tmp_path):
    said, code = side_by_side(
        tmp_path, "one - 1 1\n", f"sleep 300 & echo $! >{tmp_path}/pid; echo '1 passed, 0 failed'"
    )
    assert code == 0
    pid = int((tmp_path / "pid").read_text())
    with contextlib.suppress(ProcessLookupError):  # it has been killed; it may not have ended yet
        select.select([os.pidfd_open(pid)], [], [], 20)
    state = Path(f"/proc/{pid}/stat")
    assert not state.exists() or state.read_text().split()[2] in "ZX"


@pytest.mark.parametrize(("work", "most"), [(9, 2), (1, 4)])
def test_jobs_that_wait_have_others_beside_them(tmp_path, work, most):
    """Of four jobs on two processors; each says how many it has seen at once, itself among them."""
    said, code = side_by_side(
        tmp_path,
        "".join(f"job{n} - 9 {work}\n" for n in range(4)),
        f"""
        touch {tmp_path}/runs-$1
        end=$((SECONDS + {20 if most == 4 else 1}))
        while [ "$(ls {tmp_path}/runs-* | wc -l)" -lt {most} ] && [ $SECONDS -lt $end ]; do sleep 0.05; done
        sleep 0.3
        ls {tmp_path}/runs-* | wc -l; rm {tmp_path}/runs-$1; echo '1 passed, 0 failed' """,
    )
    assert code == 0 and max(int(line) for line in said if line.isdecimal()) == most


def steps_of_the_workflows():
    """(what a step runs) with each value of the matrix that it names."""
    for path in sorted((ROOT / ".github" / "workflows").glob("*.yml")):
        text = path.read_text()
        for job in re.split(r"(?m)^  (?=[\w-]+:$)", text):
            values = dict(re.findall(r"(?m)^ {8}(\w+): \[(.*)\]$", job))
            for command in re.findall(r"(?m)^ +(?:- )?run: (.*)$", job):
                name = re.search(r"\$\{\{ matrix\.(\w+) \}\}", command)
                for value in values[name[1]].split(", ") if name else [""]:
                    yield command.replace(name[0], value.strip("'")) if name else command


def parts():
    """The table of scripts/test."""
    return re.findall(r"(?m)^([a-z]+) +\|", (ROOT / "scripts" / "test").read_text())


def test_what_the_workflows_call_is_there():
    """Files and parts; what else may be wrong in a workflow actionlint says, which is not in
    Debian."""
    steps = list(steps_of_the_workflows())
    named = re.compile(r"(?:^|\s)((?:\.ci|scripts|tests)/[\w./-]+)")
    paths = {path for step in steps for path in named.findall(step)}
    assert {"scripts/test", ".ci/run", "tests/php"} <= paths
    assert [path for path in paths if not os.access(ROOT / path, os.X_OK)] == []
    asked = [step.split()[1:] for step in steps if step.startswith("scripts/test ")]
    assert {"c", "php", "python", "options"} <= {one[0] for one in asked}
    assert [one for one in asked if one[0] not in parts()] == []


@pytest.mark.parametrize("option", ["--help", "--list"])
def test_every_part_is_named(option):
    said = subprocess.run(
        [ROOT / "scripts" / "test", option], capture_output=True, text=True, check=True
    ).stdout
    assert len(parts()) > 15
    assert [one for one in parts() if not re.search(rf"\b{one}\b", said)] == []


def test_lint_finds_readers_that_leave_early(tmp_path):
    leave = [
        "seq 9 | grep -q 1",
        "seq 9 | grep -Fxqm2 1",
        "seq 9 | grep --quiet 1",
        "seq 9 |\n    head -n 1",
        "seq 9 | sed 2q",
        "seq 9 | awk 'NR == 2 { exit }'",
    ]
    stay = "# seq 9 | head\nseq 9 | grep 1 >/dev/null || head -n 1 planted | tail -n 1 | awk 'END { exit 0 }'\n"
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "lint", tmp_path / "scripts")
    for text, verdict in ((stay, "ok"), (stay + "\n".join(leave), "FAILED (awk)")):
        (tmp_path / "scripts" / "planted").write_text("#!/bin/sh\n" + text)
        done = subprocess.run([tmp_path / "scripts" / "lint"], capture_output=True, text=True)
        assert f"lint: pipes that are read to their end: {verdict}" in done.stdout
    found = re.findall(r"(?m)^scripts/planted:.*: (.*)$", done.stdout)
    assert found == [line.split("\n")[-1] for line in leave]


def test_the_first_package_that_can_be_had(tmp_path):
    """However much apt-cache writes: a reader that left early ended it, and the other package's name came out."""
    (tmp_path / "apt-cache").write_text(
        '#!/bin/sh\n[ "$2" != none ] || exit 0\nseq -f "$2 | %g | http://deb.debian.org/ main amd64 Packages" 50000\n'
    )
    (tmp_path / "apt-cache").chmod(0o755)
    words = f". {ROOT}/scripts/lib.sh; PATH={tmp_path}:$PATH; one_of 'none|first|second'; one_of 'none|none'"
    done = subprocess.run(["bash", "-c", words], capture_output=True, text=True)
    assert done.stdout.split() == ["first", "none"], done.stderr


@pytest.mark.parametrize("body", ["{ echo said; false; }", "( echo said; false )"])
def test_a_step_that_fails_shows_its_end(body):
    words = f". {ROOT}/scripts/lib.sh; f() {body}\n({{ :; }} && step 'doing it' step-of-a-test f); echo on"
    done = subprocess.run(["bash", "-c", words], capture_output=True, text=True)
    assert done.returncode and not done.stdout
    assert "FAILED; the end of its output:\nsaid\n" in done.stderr
