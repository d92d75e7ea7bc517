"""bench.py FOLDER GENERATOR LINES ROUNDS [LARGE] - the command line on a file of URLs beside wc -l
and a Python loop over rbloom.

Prints raw times for ../report.py: wall time of whole commands, the interpreter's start included, by
the line.  The file is in the page cache: it was just written, and wc reads it once before the
clock.  LARGE: so many URLs through a pipe into a 1.2 GB filter, in ten parts, with the command's
memory."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from time import perf_counter_ns

P = 0.01
COMMAND = [sys.executable, "-m", "bloomfilter"]
LOOP = """
import sys
from rbloom import Bloom
bf = Bloom(int(sys.argv[2]), 0.01)
add = bf.add
with open(sys.argv[1], "rb") as file:
    for line in file:
        add(line)
"""
MEMORY = """
import sys
from bloomfilter import BloomFilter
from bloomfilter.cli.lines import opened, read
bf = BloomFilter(n=int(sys.argv[2]), p=0.01)
with opened(sys.argv[1]) as fd:
    read(fd, bytes([10]), lambda data, last: bf.update_lines(data, last=last))
"""
PARTS = 10
LARGE_N = 1_000_000_000  # keys that the large filter is sized for: 1.24 GB


def emit(*cells):
    print(*cells, sep="\t", flush=True)


def run(*words, **options):
    subprocess.run(list(map(str, words)), check=True, stdout=subprocess.DEVNULL, **options)


# ---- a file ----
def add_again(keys, seen, n):
    run(*COMMAND, "add", seen, keys)


def add_fresh(keys, seen, n):
    seen.unlink(missing_ok=True)
    run(*COMMAND, "add", seen, keys, "-n", n, "-p", P)


def add_pipe(keys, seen, n):
    """Through a pipe keys go to the shared file one by one: no copy."""
    seen.unlink(missing_ok=True)
    with subprocess.Popen(["cat", keys], stdout=subprocess.PIPE) as cat:
        run(*COMMAND, "add", seen, "-n", n, "-p", P, stdin=cat.stdout)


def check(keys, seen, n):
    run(*COMMAND, "check", seen, keys)


SUBJECTS = {
    "wc -l": lambda keys, seen, n: run("wc", "-l", keys),
    "bloomfilter add": add_fresh,
    "bloomfilter add, all seen": add_again,
    "bloomfilter check": check,
    "cat | bloomfilter add": add_pipe,
    "update_lines, in memory": lambda keys, seen, n: run(sys.executable, "-c", MEMORY, keys, n),
    "Python loop over rbloom": lambda keys, seen, n: run(sys.executable, "-c", LOOP, keys, n),
    "bloomfilter --version": lambda keys, seen, n: run(*COMMAND, "--version"),
}


def small(folder, generator, n, rounds):
    keys, seen = folder / "keys", folder / "seen.bloom"
    with open(keys, "wb") as file:
        subprocess.run([generator, str(n)], stdout=file, check=True)
    run("wc", "-l", keys)
    emit(
        "table",
        "cli",
        "ns",
        f"command line: {n:,} lines of {keys.stat().st_size // n} B in the page cache, whole commands, {rounds} rounds: ns a line",
    )
    for round_ in range(rounds):
        for name, subject in SUBJECTS.items():
            if "rbloom" in name and not importlib.util.find_spec("rbloom"):
                continue
            start = perf_counter_ns()
            subject(keys, seen, n)
            emit("ns", "cli", name, "file", round_, (perf_counter_ns() - start) / n)
    keys.unlink()
    seen.unlink()


# ---- a stream ----
def memory_of(pid):
    """Peak of resident memory in bytes, the mapped filter included."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return 1024 * int(line.split()[1])
    return 0


def large(folder, generator, n):
    seen = folder / "large.bloom"
    seen.unlink(missing_ok=True)
    run(*COMMAND, "create", seen, "-n", LARGE_N, "-p", P)
    bits = seen.stat().st_size
    emit(
        "table",
        "cli-large",
        "ns",
        f"command line: {n:,} generated URLs through a pipe into {bits / 1e9:.2f} GB: ns a line",
    )
    with subprocess.Popen(
        [generator, str(n), str(PARTS)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as source:
        with subprocess.Popen(
            [*COMMAND, "add", seen], stdin=source.stdout, stdout=subprocess.DEVNULL
        ) as command:
            peak = 0
            for part, line in enumerate(source.stderr, 1):
                emit(
                    "ns", "cli-large", f"part {part} of {PARTS}", "add", 0, int(line) / (n / PARTS)
                )
                peak = max(peak, memory_of(command.pid))
            source.stdout.close()
    emit(
        "fact",
        "memory of add",
        f"{peak / 1e6:.0f} MB at most, {(peak - bits) / 1e6:+.0f} MB beside the filter",
    )
    seen.unlink()


def main(folder, generator, lines, rounds, more=0):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["PYTHONDONTWRITEBYTECODE"] = ""
    small(folder, generator, int(lines), int(rounds))
    if int(more):
        large(folder, generator, int(more))


main(*sys.argv[1:])
