"""bench/held.py: a ratio that got more than 10 % worse fails, and what was not measured is named."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

HELD = Path(__file__).resolve().parents[2] / "bench" / "held.py"


def one(ratio, op="batch absent", target=None):
    return {
        "table": "variants", "op": op, "ours": "grown", "against": "fixed", "ratio": ratio, "target": target,
    }  # fmt: skip


def run(tmp_path, *ratios, option=(), processor="here"):
    (tmp_path / "now.json").write_text(
        json.dumps({"facts": {"processor": processor}, "ratios": ratios})
    )
    done = subprocess.run(
        [sys.executable, HELD, *option, tmp_path / "ratios.tsv", tmp_path / "now.json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


@pytest.mark.parametrize(("ratio", "failed"), [(1.0, 0), (2.19, 0), (2.21, 1)])
def test_a_loss_of_ten_percent_fails(tmp_path, ratio, failed):
    run(tmp_path, one(2.0), option=["--write"])
    code, said = run(tmp_path, one(ratio))
    assert (code, said[-1]) == (failed, f"{1 - failed} passed, {failed} failed, 0 skipped")
    assert said[0].startswith("FAIL" if failed else "ok ")


def test_what_is_not_measured_is_skipped_by_name(tmp_path):
    run(tmp_path, one(2.0), one(1.5, "test absent", 2.5), one(9.0, "add"), option=["--write"])
    assert run(tmp_path, one(2.0)) == (
        0,
        [
            "ok   variants batch absent: grown of fixed: 2.000, was 2.000",
            "skip variants test absent: grown of fixed: not measured",
            "1 passed, 0 failed, 1 skipped",
        ],
    )


def test_another_processor_is_not_compared(tmp_path):
    run(tmp_path, one(2.0), option=["--write"])
    code, said = run(tmp_path, one(5.0), processor="there")
    assert code == 0 and "measured on here, this is there" in said[0]
    assert said[-1] == "0 passed, 0 failed, 1 skipped"
