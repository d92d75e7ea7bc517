"""What scripts/build made and tests of several folders use: where it is, how a command is run, how a
C program is compiled with the library, which PHP loads the extension.  Holds no test."""

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
OUT = ROOT / "out"
PKG_CONFIG_PATH = f"{OUT}/lib/pkgconfig"
VERSION = re.search(r'#define BF_VERSION "(.*)"', (ROOT / "core" / "bloomfilter.h").read_text())[1]
NUMBER = VERSION.split("-")[0]  # CMake, pkg-config and the soname have no candidates
PYTHON_VERSION = VERSION.replace("-", "")  # 1.2.3rc4
PHP_VERSION = PYTHON_VERSION.upper()  # 1.2.3RC4


def run(command, **options):
    """Standard output of a command that must succeed."""
    done = subprocess.run(
        [str(part) for part in command],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        **options,
    )
    assert done.returncode == 0, (
        f"exit {done.returncode} of {shlex.join(map(str, command))}\n{done.stderr!s}\n{done.stdout!s}"
    )
    return done.stdout


def compile_c(source, program):
    """As a user of the installed library would."""
    env = os.environ | {"PKG_CONFIG_PATH": PKG_CONFIG_PATH}
    flags = run(["pkg-config", "--cflags", "--libs", "bloomfilter"], env=env, text=True).split()
    run(
        [
            *"cc -O1 -g -Wall -Wextra".split(),
            source,
            "-o",
            program,
            f"-Wl,-rpath,{OUT}/lib",
            *flags,
        ],
        text=True,
    )
    return program


def php_command():
    php = os.environ.get("PHP") or run(["php-config", "--php-binary"], text=True).strip()
    return [php, "-n", "-d", f"extension={OUT}/php/bloomfilter.so"]


def phpredis(php):
    """Options with which this PHP loads it (Debian's needs igbinary), or None."""
    for names in (["igbinary", "redis"], ["redis"]):
        options = [part for name in names for part in ("-d", f"extension={name}.so")]
        command = [*php, *options, "-r", "echo (int) class_exists('Redis', false);"]
        if subprocess.run(command, capture_output=True, check=False).stdout == b"1":
            return options
    return None


def quick_compilers(folder):
    """PATH with compilers that do not optimise, whatever they are told: a third of the time, where a
    test builds what it then only looks at."""
    path = os.environ["PATH"]
    real = ":".join(one for one in path.split(":") if "ccache" not in one)
    folder.mkdir(parents=True)
    for name in ("cc", "gcc"):
        script = folder / name
        script.write_text(
            f'#!/bin/sh\nexec {shutil.which(name, path=real)} "$@" -O0 -g0 -U_FORTIFY_SOURCE\n'
        )
        script.chmod(0o755)
    return f"{folder}:{path}"
