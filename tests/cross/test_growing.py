"""docs/growing.md: its code is run; and the examples that use grow and window."""

import sys

import pytest
from products import ROOT, run
from documents import blocks, languages

PAGE = "docs/growing.md"


def test_no_block_is_left_out():
    assert set(languages(PAGE)) == {"php", "python"} and len(languages(PAGE)) == 4


@pytest.mark.parametrize("code", blocks(PAGE, "python"))
def test_python(code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "assert" in code
    exec(compile(code, PAGE, "exec"), {})


@pytest.mark.parametrize("code", blocks(PAGE, "php"))
def test_php(code, php, tmp_path):
    assert "throw" in code
    (tmp_path / "page.php").write_text("<?php\n" + code + "\necho 'end';\n")
    assert run([*php, tmp_path / "page.php"], cwd=tmp_path, text=True) == "end"


def test_recrawl(tmp_path):
    urls = [f"https://example.org/{i}" for i in range(10_000)]
    (tmp_path / "urls.txt").write_text("\n".join(urls + urls[:50]) + "\n")
    command = [
        sys.executable,
        ROOT / "examples/recrawl.py",
        "--seen",
        tmp_path / "seen.bloom",
        tmp_path / "urls.txt",
    ]
    first = run(command, text=True).splitlines()
    assert len(first) >= 9_990 and first == list(dict.fromkeys(first)) and set(first) <= set(urls)
    assert run(command, text=True) == ""  # nothing is due yet


def test_once_a_day(php, tmp_path):
    command = [
        *php,
        ROOT / "examples/once_a_day.php",
        tmp_path / "seen.bloom",
        "a@example.org",
        "b@example.org",
        "a@example.org",
    ]
    assert run(command, text=True).splitlines() == [
        "a@example.org: welcome",
        "b@example.org: welcome",
        "a@example.org: come back tomorrow",
    ]
    assert run(command, text=True).splitlines() == [
        f"{who}@example.org: come back tomorrow" for who in "aba"
    ]


def test_seckill(php, tmp_path):
    command = [
        *php,
        ROOT / "examples/seckill.php",
        tmp_path / "sale.bloom",
        *"86400 u1 u2 u1".split(),
    ]
    assert run(command, text=True).splitlines() == [
        "u1: ordered",
        "u2: ordered",
        "u1: once is enough",
    ]
    assert run(command, text=True).splitlines() == [
        "u1: once is enough",
        "u2: once is enough",
        "u1: once is enough",
    ]
