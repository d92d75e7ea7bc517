"""sanitized.py - a pytest plugin (-p sanitized) for the extension built with the address sanitizer.

At the beginning: is it that build, and does the sanitizer see a leak?  At the end: what has our
code allocated that nobody refers to any more?  BLOOMFILTER_REPORTS is where the sanitizer writes
(log_path; ".PID" is added).  Knows nothing of the tests."""

import ctypes
import gc
import os
import re
from pathlib import Path

import pytest

from bloomfilter import _bloomfilter

CONTROL = 4321  # bytes


def report():
    return Path(f"{os.environ['BLOOMFILTER_REPORTS']}.{os.getpid()}")


def leaks():
    """What the leak checker says of this process, one text a leak.  The sanitizer keeps its file
    open: what is new is at its end."""
    before = report().stat().st_size if report().exists() else 0
    gc.collect()
    ctypes.CDLL(None).__lsan_do_recoverable_leak_check()
    text = report().read_bytes()[before:].decode(errors="replace") if report().exists() else ""
    return re.findall(r"^(?:Direct|Indirect) leak of .*?(?=\n\n)", text, re.M | re.S)


def control():
    """Leaks on purpose, several times because a stale register may still hold one of the
    addresses."""
    malloc = ctypes.CDLL(None).malloc
    malloc.restype = None
    for _ in range(10):
        malloc(CONTROL)


def seen(found):
    return any(
        re.search(r"leak of \d+ byte\(s\) in \d+ object.*\n.*malloc", leak)
        and int(leak.split()[3]) % CONTROL == 0
        for leak in found
    )


def ours(leak):
    """The interpreter and other libraries lose memory of their own: a leak is ours where our
    library is among its frames."""
    return _bloomfilter.__file__ in leak


def pytest_configure(config):
    if b"__asan_report_load" not in Path(_bloomfilter.__file__).read_bytes():
        pytest.exit(f"{_bloomfilter.__file__} is not built with the address sanitizer", 3)
    control()
    if not seen(leaks()):
        pytest.exit("the leak checker does not see what was leaked to try it", 3)


def pytest_sessionfinish(session, exitstatus):
    found = leaks()
    mine = [leak for leak in found if ours(leak)]
    if mine or not seen(found):  # what was leaked at the beginning is in each report
        session.exitstatus = 1
        print("\n\n".join(["", "leaked:" if mine else "the leak checker is gone", *mine, ""]))
    report().unlink(missing_ok=True)
