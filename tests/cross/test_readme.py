"""README.md: every code block is run, every commented answer compared, every number of its tables
computed again."""

import os
import re
import socket
import stat
import subprocess
import sys

import pytest
from bloomfilter import BloomFilter
from conftest import OUT, ROOT, compile_c, run
from documents import (
    PHP_ANSWER,
    PHP_CHECK,
    blocks,
    languages,
    php_with_checks,
    run_python,
    table_rows,
    text_of,
)

README = "README.md"


def test_no_block_is_left_out():
    assert set(languages(README)) == {"sh", "php", "python", "c"}


# ---- PHP and Python: `expression   # answer: why` must hold ----
def with_redis(code, request):
    """The blocks speak to Redis's usual port: here it is a server of the test's own."""
    return (
        code.replace("6379", str(request.getfixturevalue("redis_port"))) if "6379" in code else code
    )


@pytest.mark.parametrize("code", blocks(README, "php"))
def test_php(code, php, tmp_path, request):
    code = with_redis(code, request)
    if "new Redis" in code:
        php = [*php, "-d", "extension=igbinary.so", "-d", "extension=redis.so"]
    assert any(PHP_ANSWER.search(line) for line in code.splitlines())
    (tmp_path / "readme.php").write_text(PHP_CHECK + php_with_checks(code) + "\necho 'end';\n")
    assert run([*php, tmp_path / "readme.php"], cwd=tmp_path, text=True) == "end"


@pytest.mark.parametrize("code", blocks(README, "python"))
def test_python(code, tmp_path, monkeypatch, request):
    monkeypatch.chdir(tmp_path)
    assert run_python(with_redis(code, request), {}) or "assert" in code


def test_c(tmp_path):
    code = blocks(README, "c")[0]
    (tmp_path / "seen.c").write_text(code)
    answers = " ".join(re.findall(r"/\* (\d+):", code))
    assert run([compile_c(tmp_path / "seen.c", tmp_path / "seen")], text=True) == answers + "\n"


# ---- the commands ----
@pytest.fixture
def machine(tree, tmp_path):
    """Environment of a user who follows the README in a copy of the tree: sudo changes nothing
    outside tmp_path."""
    bin_, root = tmp_path / "bin", tmp_path / "root"
    bin_.mkdir()
    (bin_ / "sudo").write_text('#!/bin/sh\n[ "$1" = ldconfig ] || exec "$@"\n')
    (bin_ / "sudo").chmod(0o755)
    run([sys.executable, "-m", "venv", tmp_path / "venv"])
    return os.environ | {
        "PATH": f"{bin_}:{tmp_path}/venv/bin:{os.environ['PATH']}",
        "DESTDIR": str(root),  # cmake --install
        "MAKEFLAGS": f"INSTALL_ROOT={root}",  # make install of PHP
        "PKG_CONFIG_PATH": f"{root}/usr/local/lib/pkgconfig",
        "LD_LIBRARY_PATH": f"{root}/usr/local/lib",
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(OUT / "wheels"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def shell(script, env, cwd):
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        env=env,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{script}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def block_with(text):
    (found,) = [block for block in blocks(README, "sh") if text in block]
    return found


def test_every_command_block_is_run_below():
    known = [
        "scripts/demo",
        "apt install",
        "pip install",
        "phpize",
        "bloomfilter create",
        "cmake -B",
        "cc seen.c",
        "bloomfilterd",
        "--data-binary",
    ]
    assert len(blocks(README, "sh")) == len(known)
    assert all(block_with(text) for text in known)


def test_first_commands_exist():
    """scripts/test runs scripts/demo, and runs this."""
    for line in block_with("scripts/demo").splitlines():
        assert (ROOT / line.split()[0]).stat().st_mode & stat.S_IXUSR


def test_packages_are_those_the_scripts_install():
    """Names of one package in several Debians stand in quotes, with a bar between them."""
    wanted = re.findall(r"^ +want '?([^' ]+)", text_of("scripts/lib.sh"), flags=re.M)
    assert set(block_with("apt install").split()[3:]) <= {
        name for names in wanted for name in names.split("|")
    }


def test_pip_install(machine, tree, tmp_path):
    shell(block_with("pip install"), machine, tree)
    where = shell(
        'cd /; python -c "import bloomfilter; print(bloomfilter.BloomFilter(1000, 100).add(42), bloomfilter.__file__)"',
        machine,
        tree,
    )
    assert where.startswith(f"True {tmp_path}/venv/")


def test_command_line(tmp_path):
    (tmp_path / "urls").write_text("https://b.org/\nhttps://a.org/\nhttps://b.org/\n")
    environment = os.environ | {"PATH": f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"}
    out = shell(block_with("bloomfilter create"), environment, tmp_path)
    assert "\nhttps://b.org/\nhttps://a.org/\n3 keys: 3 present, 0 absent\nall there\n" in out
    assert "keys in it, estimated         2 " in out


def test_phpize(machine, tree, tmp_path, php):
    shell(block_with("phpize"), machine, tree)
    (built,) = (tmp_path / "root").rglob("bloomfilter.so")
    command = [
        php[0],
        "-n",
        "-d",
        f"extension={built}",
        "-r",
        "var_dump((new BloomFilter(1000, 100))->add(42));",
    ]
    assert run(command, text=True) == "bool(true)\n"


def test_cmake_and_cc(machine, tree):
    shell(block_with("cmake -B"), machine, tree)
    (tree / "seen.c").write_text(blocks(README, "c")[0])
    shell(block_with("cc seen.c"), machine, tree)
    assert shell("./seen", machine, tree) == "1 1\n"


def test_bloomfilterd(tmp_path):
    """On a free port; each commented answer compared."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (tmp_path / "out").symlink_to(OUT)
    start, *lines = (
        (block_with("bloomfilterd") + block_with("--data-binary"))
        .replace("6381", str(port))
        .splitlines()
    )
    assert start.endswith(" &")
    start = (
        start.removesuffix("&")
        + f"--port {port} & trap 'kill $!' EXIT; for _ in {{1..300}}; do curl -s -o answer http://127.0.0.1:{port}/healthz && break; sleep 0.1; done"
    )
    answers = [re.search(r"# (\w+)", line) for line in lines]
    assert sum(answer is not None for answer in answers) == 4
    script = [start, *(line.replace("curl ", "curl -s ", 1) + "\necho" for line in lines)]
    got = shell("\n".join(script), os.environ, tmp_path).replace("\n\n", "\n").splitlines()
    assert len(got) == len(lines)
    for answer, line in zip(answers, got):
        assert answer is None or line == answer[1]


# ---- the tables ----
def test_sizes():
    rows = table_rows(README, "`classic`")
    assert [float(row[0]) for row in rows] == [10.0**-e for e in range(1, 7)]
    for p, *bits, default in rows:
        plans = [
            BloomFilter.plan(n=10**6, p=float(p), scheme=scheme)
            for scheme in ("classic", "block", "block2")
        ]
        assert [f"{plan['m'] / 1e6:.2f}" for plan in plans] == bits
        assert BloomFilter.plan(n=10**6, p=float(p))["scheme"] == default.strip("`")


def test_error_message_is_a_real_one():
    message = re.search(r"at fault: `([^`]+)`", text_of(README))[1]
    with pytest.raises(ValueError, match=re.escape(message)):
        BloomFilter(m=1000, k=4097)
