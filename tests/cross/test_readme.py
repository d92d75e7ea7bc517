"""README.md, its translation, and the commands of docs/install.md and docs/server.md: every code
block is run, every commented answer compared; the tables of sizes and speed are those of the
library and of docs/performance.md."""

import re
import socket
import stat

import pytest
from bloomfilter import BloomFilter
from products import OUT, ROOT, run
from documents import (
    PHP_ANSWER,
    PHP_CHECK,
    blocks,
    languages,
    php_with_checks,
    run_python,
    same_code,
    shell,
    table_rows,
    text_of,
)

README, INSTALL, SERVER = "README.md", "docs/install.md", "docs/server.md"
READMES = ["README.md", "README.zh-CN.md"]


def test_no_block_is_left_out():
    assert set(languages(README)) == {"sh", "php", "python", "text"}
    assert set(languages(SERVER)) == {"sh"}
    # No test runs PowerShell: docs/tested.md says what of the build for Windows was run.
    assert set(languages(INSTALL)) == {"sh", "powershell", "cmake"}  # tests/package runs cmake


def test_the_translation_has_the_code_of_its_original():
    same_code(README, "README.zh-CN.md")


def test_it_fits_on_a_screen_or_three():
    for name in READMES:
        assert len(text_of(name).splitlines()) <= 135, name


# ---- PHP and Python: `expression   # answer: why` must hold, and what is printed ----
NEW_ONES = "https://a.org/\nhttps://b.org/\n"


@pytest.mark.parametrize("code", blocks(README, "php"))
def test_php(code, php, tmp_path):
    assert any(PHP_ANSWER.search(line) for line in code.splitlines())
    checked = PHP_CHECK + php_with_checks(code.removeprefix("<?php\n"))
    (tmp_path / "first.php").write_text(checked + "\necho 'end';\n")
    assert run([*php, tmp_path / "first.php"], cwd=tmp_path, text=True) == NEW_ONES + "end"


@pytest.mark.parametrize("code", blocks(README, "python"))
def test_python(code, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run_python(code, {}) == 1
    assert capsys.readouterr().out == NEW_ONES


# ---- the commands ----
def block_with(text, name=README):
    (found,) = [block for block in blocks(name, "sh") if text in block]
    return found


def test_every_command_block_is_run():
    """Here, or in tests/package what builds."""
    known = {
        README: ["scripts/demo", "apt install", "pip install", "phpize"],
        INSTALL: ["apt install", "cmake -B"],
        SERVER: ["bloomfilterd"],
    }
    for name, texts in known.items():
        assert len(blocks(name, "sh")) == len(texts)
        assert all(block_with(text, name) for text in texts)


def test_first_commands_exist():
    """tests/runner runs scripts/demo; the README shows lines of it."""
    for line in block_with("scripts/demo").splitlines():
        assert (ROOT / line.split()[0]).stat().st_mode & stat.S_IXUSR
    report = text_of("examples/demo/report.py")
    (shown,) = blocks(README, "text")
    for line in shown.splitlines()[2:]:
        assert line.strip().split("  ")[0] in report.replace("\\'", "'"), line


def test_packages_are_those_the_scripts_install():
    """Names of one package in several Debians stand in quotes, with a bar between them."""
    wanted = re.findall(r"^ +want '?([^' ]+)", text_of("scripts/lib.sh"), flags=re.M)
    known = {name for names in wanted for name in names.split("|")}
    for page in (README, INSTALL):
        lines = block_with("apt install", page).replace("\\\n", "").splitlines()
        for line in lines:
            assert line.startswith(("sudo apt install ", "# Debian")), line
            assert line.startswith("#") or set(line.split()[3:]) <= known


def test_bloomfilterd(tmp_path):
    """On a free port; each commented answer compared."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (tmp_path / "out").symlink_to(OUT)
    start, *lines = block_with("bloomfilterd", SERVER).replace("6381", str(port)).splitlines()
    start = start.split("#")[0].rstrip()
    assert start.endswith(" &")
    start = (
        start.removesuffix("&")
        + f"--port {port} & trap 'kill $!' EXIT; for _ in {{1..300}}; do curl -s -o answer http://127.0.0.1:{port}/healthz && break; sleep 0.1; done"
    )
    answers = [re.search(r"# (\w+)", line) for line in lines]
    assert sum(answer is not None for answer in answers) == 4
    script = [start, *(line.replace("curl ", "curl -s ", 1) + "\necho" for line in lines)]
    got = shell("\n".join(script), tmp_path).replace("\n\n", "\n").splitlines()
    assert len(got) == len(lines)
    for answer, line in zip(answers, got):
        assert answer is None or line == answer[1]


# ---- the tables ----
def test_sizes():
    rows = table_rows("docs/choosing.md", "without `scheme`")
    assert [float(row[0]) for row in rows] == [10.0**-e for e in range(1, 7)]
    for p, *bits, default in rows:
        plans = [
            BloomFilter.plan(n=10**6, p=float(p), scheme=scheme)
            for scheme in ("classic", "block", "block2")
        ]
        assert [f"{plan['m'] / 1e6:.2f}" for plan in plans] == bits
        assert BloomFilter.plan(n=10**6, p=float(p))["scheme"] == default.strip("`")


def test_speeds_are_those_of_the_page_of_measurements():
    """A bar of the README's chart is a number of docs/performance.md."""
    measured = text_of("docs/performance.md")
    bars = re.findall(
        r'width="([\d.]+)" height="16".*\n.*text-anchor="start">([\d.]+)<',
        text_of("docs/plots/speed.svg"),
    )
    assert len(bars) == 12
    for width, bar in bars:
        assert float(width) == pytest.approx(float(bar) * 430 / 195, abs=0.06)
        assert re.search(rf"(?<![\d.]){re.escape(bar)}(?![\d.])", measured), bar


def test_error_message_is_a_real_one():
    message = re.search(r"wrong value: `([^`]+)`", text_of("docs/errors.md"))[1]
    with pytest.raises(ValueError, match=re.escape(message)):
        BloomFilter(m=1000, k=4097)
