"""What the package tests share: a copy of the sources as a clone has them, quick builds, pip.

Every test builds a package from that copy, outside the tree, and uses it as its user would.  Knows
nothing of how a filter works."""

import os
import shutil
import sys

import pytest
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
def quick(tmp_path_factory):
    """An environment in which nothing is optimised."""
    return {"PATH": quick_compilers(tmp_path_factory.mktemp("quick") / "compilers")}


@pytest.fixture(scope="session")
def without_network():
    """pip with the build requirements that scripts/test has downloaded, and nothing else."""
    return os.environ | {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(OUT / "wheels"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


@pytest.fixture(scope="session")
def pip(without_network, quick):
    """Installs into a folder of its own and returns a function that runs a script with nothing but
    that folder."""

    def install(what, folder, **env):
        run(
            sys.executable,
            *"-m pip install -q --no-deps --target".split(),
            folder,
            what,
            cwd="/",
            env=without_network | quick | env,
        )
        code = f"import sys, runpy; sys.path.insert(0, {str(folder)!r}); sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"
        return lambda *script: run(sys.executable, "-I", "-S", "-c", code, *script, cwd="/")

    return install
