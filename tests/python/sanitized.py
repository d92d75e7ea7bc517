"""sanitized.py - a pytest plugin (-p sanitized) for the extension built with the address sanitizer.

At the beginning: is it that build, and does the sanitizer see a leak?  At the end: what has our code allocated that nobody refers to
any more?  BLOOMFILTER_REPORTS is where the sanitizer writes (log_path; ".PID" is added).  Knows nothing of the tests.
"""

import ctypes
import gc
import os
import re
from pathlib import Path

import pytest

from bloomfilter import _bloomfilter

CONTROL = 4321  # bytes


def leaks():
    """What the leak checker says of this process, one text a leak."""
    report = Path(f"{os.environ['BLOOMFILTER_REPORTS']}.{os.getpid()}")
    report.unlink(missing_ok=True)
    gc.collect()
    ctypes.CDLL(None).__lsan_do_recoverable_leak_check()
    text = report.read_text(errors="replace") if report.exists() else ""
    report.unlink(missing_ok=True)
    return re.findall(r"^(?:Direct|Indirect) leak of .*?(?=\n\n)", text, re.M | re.S)


def ours(leak):
    """The interpreter and other libraries lose memory of their own: a leak is ours where our library is among its frames."""
    return _bloomfilter.__file__ in leak


def pytest_configure(config):
    if b"__asan_report_load" not in Path(_bloomfilter.__file__).read_bytes():
        pytest.exit(f"{_bloomfilter.__file__} is not built with the address sanitizer", 3)
    malloc = ctypes.CDLL(None).malloc
    malloc.restype = None  # nobody has the address
    malloc(CONTROL)
    if not any(f"leak of {CONTROL} byte" in leak for leak in leaks()):
        pytest.exit("the leak checker does not see what was leaked to try it", 3)


def pytest_sessionfinish(session, exitstatus):
    found = [leak for leak in leaks() if ours(leak)]
    if found:
        session.exitstatus = 1
        print("\n\n".join(["", "leaked:", *found, ""]))
