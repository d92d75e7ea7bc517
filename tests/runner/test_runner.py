"""scripts/lib.sh: what the scripts share.  Needs no build."""

import signal
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


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


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_what_runs_side_by_side_ends_with_the_script(sent):
    """All of it, and before the script, also in the background of a script, which ignores Ctrl-C."""
    words = f""". {ROOT}/scripts/lib.sh
    one() {{ trap 'sleep 1; echo "one ended"; exit 1' INT TERM; echo begun; for _ in {{1..600}}; do sleep 0.1; done; }}
    two() {{ bash -c 'echo begun; exec sleep 60'; echo on; }}
    [ {sent} != {signal.SIGTERM:d} ] || trap '' INT
    side_by_side one two"""
    with subprocess.Popen(["bash", "-c", words], stdout=subprocess.PIPE, text=True) as script:
        assert [script.stdout.readline() for _ in range(2)] == ["begun\n"] * 2
        script.send_signal(sent)
        assert script.wait(60) > 128
        assert script.stdout.read() == "one ended\n"
