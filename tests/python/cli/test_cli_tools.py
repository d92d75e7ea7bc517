"""What surrounds the commands: the man page, completions, the progress line, serve, running without
extras."""

import io
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cli_helpers import cli, fails, ok

from bloomfilter.cli import meter, parser

PAGE = Path(__file__).resolve().parents[3] / "docs" / "man" / "bloomfilter.1"


# ---- the man page ----
pages = pytest.mark.skipif(not PAGE.exists(), reason="the documents are not here")


@pages
def test_the_man_page_names_every_command_and_option():
    page = PAGE.read_text(encoding="utf-8").replace("\\-", "-")
    commands = parser.build_parser()._subparsers._group_actions[0].choices
    for name, sub in commands.items():
        assert f"'bloomfilter {name}'" in page, name
        for flag in (flag for action in sub._actions for flag in action.option_strings):
            assert f"\\fB{flag}\\fR" in page or flag in ("-h", "--help"), (name, flag)


@pages
def test_the_man_page_is_well_formed():
    if not shutil.which("mandoc"):
        pytest.skip("no mandoc here")
    done = subprocess.run(
        ["mandoc", "-T", "lint", "-W", "warning", PAGE], capture_output=True, text=True, check=False
    )
    assert [line for line in done.stdout.splitlines() if "missing date" not in line] == []


# ---- completions ----
def bash_completes(tmp_path, *words):
    script = tmp_path / "complete.bash"
    script.write_bytes(ok("completion", "bash").out)
    call = f'source {script}; COMP_WORDS=(bloomfilter {" ".join(words)}); COMP_CWORD={len(words)}; _shtab_bloomfilter; printf "%s\\n" "${{COMPREPLY[@]}}"'
    return subprocess.run(
        ["bash", "-euc", call], capture_output=True, text=True, check=True, cwd=tmp_path
    ).stdout.split()


def test_bash(tmp_path):
    (tmp_path / "keys.txt").touch()
    assert set(bash_completes(tmp_path, "''")) >= set(parser.COMMANDS)
    assert bash_completes(tmp_path, "con") == ["convert"]
    assert bash_completes(tmp_path, "add", "x", "--pr") == ["--print"]
    assert bash_completes(tmp_path, "add", "x", "--print", "''") == ["new", "seen"]
    assert bash_completes(tmp_path, "--json", "plot", "gr") == ["growth"]
    assert bash_completes(tmp_path, "add", "key") == ["keys.txt"]
    assert bash_completes(tmp_path, "create", "f", "-n", "''") == []
    assert bash_completes(tmp_path, "convert", "--from", "bits") == ["bits", "bits-lsb"]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_zsh_and_fish(shell, tmp_path):
    text = ok("completion", shell).text
    assert all(name in text for name in parser.COMMANDS) and "secret-file" in text
    if not shutil.which(shell):
        pytest.skip(f"no {shell} here: its script was only looked at")
    (tmp_path / "script").write_text(text)
    subprocess.run([shell, "-n", tmp_path / "script"], check=True)
    if shell == "fish":
        asks = "".join(f'; complete -C "bloomfilter {words}"' for words in ("con", "add x --pri"))
        done = subprocess.run(
            [shell, "-c", f"source {tmp_path}/script{asks}"],
            capture_output=True,
            text=True,
            check=True,
        )
        assert [line.split("\t")[0] for line in done.stdout.splitlines()] == ["convert", "--print"]


# ---- progress ----
class Terminal(io.StringIO):
    def isatty(self):
        return True


def shows(monkeypatch, total, without_tqdm):
    """What a terminal gets while a second passes between two looks."""
    screen, now = Terminal(), [0.0]
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(meter, "monotonic", lambda: now[0])
    if without_tqdm:
        monkeypatch.setitem(sys.modules, "tqdm", None)
    shown = meter.meter(total, False)
    for part in range(1, 4):
        now[0] += 1
        shown.show(250 * part, 5_000_000 * part)
    shown.close()
    return screen.getvalue()


def test_progress_without_tqdm(monkeypatch):
    assert type(meter.meter(5, False)) is meter.Silent  # no terminal
    text = shows(monkeypatch, 1000, True)
    assert " 75%  15,000,000 keys, 5,000,000/s, 0:01 left" in text and text.endswith("\r\x1b[K")
    text = shows(monkeypatch, None, True)  # of a pipe
    assert "15,000,000 keys, 5,000,000/s" in text and "%" not in text and "left" not in text
    assert type(meter.meter(5, True)) is meter.Silent


def test_progress_with_tqdm(monkeypatch):
    pytest.importorskip("tqdm")
    assert isinstance(meter.Bar(10), meter.Silent)
    monkeypatch.setattr(meter, "DELAY", 0)
    text = shows(monkeypatch, 1000, False)
    assert "75%" in text and "15,000,000 keys, 5,000,000/s" in text


# ---- serve ----
def test_serve_becomes_bloomfilterd(tmp_path):
    daemon = tmp_path / "bloomfilterd"
    daemon.write_text('#!/bin/sh\nfor word; do echo "<$word>"; done\nexit 7\n')
    daemon.chmod(0o755)
    env = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    words = (
        "--port 0 --host ::1 --threads 2 -n 1e6 -p 0.01 --token t --secret-file s -- --body 5 -x"
    )
    done = cli("serve", "a b.bloom", *words.split(), env=env)
    assert done.code == 7
    told = (
        "--host ::1 --port 0 --token t --threads 2 --secret-file s -n 1000000 -p 0.01 --body 5 -x"
    )
    expected = ["--storage", "a b.bloom", *told.split()]
    assert done.text == "".join(f"<{word}>\n" for word in expected)
    assert cli("serve", env=env).code == 7


def test_serve_without_bloomfilterd(tmp_path):
    text = fails("serve", env={"PATH": str(tmp_path)})
    assert "bloomfilterd is not installed" in text and "scripts/build" in text and "cmake" in text


# ---- as a module, from other programs ----


WHOLE = {"0": 0, "-5": -5, "+5": 5, "1_000": 1000, "1e6": 10**6, "2.50E3": 2500, "1e+18": 10**18, "1k": 1000,
         "2.5M": 2_500_000, "3G": 3 * 10**9, "1T": 10**12, "123456789012345678901": 123456789012345678901}  # fmt: skip
REAL = {"1%": 0.01, "0.5%": 0.005, "1e-6": 1e-6, ".1": 0.1, "1k": 1000, "2": 2, "-1": -1}
NOT_WHOLE = ["", "x", "1.5", "1.25e1", "1e-3", "1e", "0x10", "1e9999", "nan", "1 000", "1%", "k", "1K", "1kk", "_1"]  # fmt: skip


def test_numbers():
    assert {text: parser.whole(text) for text in WHOLE} == WHOLE
    assert {text: parser.real(text) for text in REAL} == REAL
    for text in NOT_WHOLE:
        with pytest.raises(Exception, match="a whole number is like"):
            parser.whole(text)
    with pytest.raises(Exception, match="a number is like"):
        parser.real("1 %")
