"""What the package tests share: a copy of the sources as a clone has them, a machine on which the
commands of the documents are followed, pip.

Every test builds a package from that copy, outside the tree, and uses it as its user would.  Knows
nothing of how a filter works."""

import os
import shutil
import sys

import pytest
from documents import blocks
from packages import run
from products import OUT, ROOT, quick_compilers


@pytest.fixture(scope="session")
def source(tmp_path_factory):
    """The tree without what was built in it."""
    copy = tmp_path_factory.mktemp("clone") / "bloomfilter"
    shutil.copytree(
        ROOT,
        copy,
        ignore=shutil.ignore_patterns("out", ".git", ".hypothesis", "__pycache__", "*.egg-info"),
    )
    return copy


@pytest.fixture(scope="session")
def machine(tmp_path_factory):
    """The environment of a user: nothing is optimised, sudo changes nothing outside DESTDIR, pip has
    the build requirements that scripts/test has downloaded, and nothing else."""
    folder = tmp_path_factory.mktemp("machine")
    path = quick_compilers(folder / "bin")
    (folder / "bin/sudo").write_text('#!/bin/sh\n[ "$1" = ldconfig ] || exec "$@"\n')
    (folder / "bin/sudo").chmod(0o755)
    return os.environ | {
        "PATH": path,
        "DESTDIR": f"{folder}/root",  # cmake --install
        "MAKEFLAGS": f"INSTALL_ROOT={folder}/root",  # make install of PHP
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(OUT / "wheels"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


@pytest.fixture(scope="session")
def follow(machine):
    """Runs the one block of commands of a page that has these words, and what comes behind it."""

    def follow(page, words, folder, behind="", change=("", ""), **env):
        (block,) = [block for block in blocks(page, "sh") if words in block]
        assert change[0] in block
        script = block.replace(*change) + behind
        return run("bash", "-euo", "pipefail", "-c", script, cwd=folder, env=machine | env)

    return follow


@pytest.fixture(scope="session")
def pip(machine):
    """Installs into a folder of its own and returns a function that runs a script with nothing but
    that folder."""

    def install(what, folder, *options, **env):
        command = *"-m pip install -q --no-deps --target".split(), folder, *options, what
        run(sys.executable, *command, cwd="/", env=machine | env)
        code = f"import sys, runpy; sys.path.insert(0, {str(folder)!r}); sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"
        return lambda *script: run(sys.executable, "-I", "-S", "-c", code, *script, cwd="/")

    return install
