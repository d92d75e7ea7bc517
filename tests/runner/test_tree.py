"""The tree itself: what is generated is what its generator writes, lint, the site, the demo."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from products import ROOT

GENERATED = {
    "gen-arginfo": "arginfo, of the stub",
    "gen-vectors": "vectors, of the formulas",
    "gen-cli": "the man page and completions, of the parser",
    "gen-api": "the reference, of stubs and header",
    "gen-catalogue": "the catalogue's cases",
    "gen-package": "package.xml, of the files there are",
    "gen-polyfill": "php-polyfill/lua, of the core's scripts",
    "gen-ffi": "declarations for FFI, of the header",
    "gen-plots": "plots, of what the library computes",
}
ENVIRONMENT = os.environ | {
    "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    "NO_MKDOCS_2_WARNING": "1",
}


def run(*command):
    done = subprocess.run(
        command, cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", GENERATED)
def test_generated(name):
    run(ROOT / "scripts" / name, "--check")


def test_every_generator_is_checked():
    assert {path.name for path in ROOT.glob("scripts/gen-*")} == set(GENERATED)


@pytest.mark.quick
def test_lint():
    run(ROOT / "scripts" / "lint")


def test_the_site_builds_without_a_warning():
    run(sys.executable, "-m", "mkdocs", "build", "--strict")


def test_demo():
    run(ROOT / "scripts" / "demo")
