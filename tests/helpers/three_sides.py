"""C, PHP and Python as sides that answer the same requests: the programs of tests/catalogue, also
for filters with many keys."""

import contextlib
import os
import sys

from products import ROOT, compile_c, php_command, phpredis

CATALOGUE = ROOT / "tests" / "catalogue"
sys.path.append(str(CATALOGUE))

from cases import of  # noqa: E402
from sides import Program, Python  # noqa: E402


@contextlib.contextmanager
def running(folder):
    """Side -> what is asked."""
    program = os.environ.get("CATALOGUE_C") or compile_c(CATALOGUE / "side.c", folder / "side")
    php, loads = php_command(), phpredis(php_command())
    sides = {
        "c": Program([program]),
        "php": Program([*php, *(loads or []), CATALOGUE / "side.php"]),
        "py": Python(),
    }
    sides["php"].clients = bool(loads)
    yield sides
    assert {name: side.stop() for name, side in sides.items()} == {"c": 0, "php": 0, "py": 0}


def write_keys(path, keys):
    """(kind, bytes) pairs as records for the sides."""
    records = (kind.encode() + len(data).to_bytes(4, "little") + data for kind, data in keys)
    path.write_bytes(b"".join(records))


def asked(side, op, paths, **args):
    """The lines of an answer; paths: arguments that are paths."""
    given = {name: of(value) for name, value in args.items()}
    given |= {name: {"p": os.fsencode(path)} for name, path in paths.items()}
    outcome, text = side.ask(op, given)
    assert outcome == "ok", text
    return text.splitlines()
