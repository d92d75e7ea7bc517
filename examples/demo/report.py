"""report.py FOLDER DEDUP_C PHP... - runs the measurements in Python and in PHP, one after the
other, prints one table and checks every promise in it.  Exit 1 names the promises that were not
kept."""

import filecmp
import subprocess
import sys
from pathlib import Path

P = 0.001
HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parent


def output(command, **options):
    done = subprocess.run(
        [str(part) for part in command],
        stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        **options,
    )
    if done.returncode:
        sys.exit(f"demo: exit {done.returncode} of {' '.join(map(str, command))}")
    return done.stdout


class Side:
    """One language: how to run its scripts, where its file is, what was measured."""

    def __init__(self, name, command, suffix, folder):
        self.name, self.command, self.suffix = name, command, suffix
        self.file = folder / f"{suffix}.bloom"
        self.values = {}

    def measure(self, *args):
        text = output([*self.command, HERE / f"measure.{self.suffix}", *args])
        return dict(line.split(" ", 1) for line in text.splitlines())

    def measure_all(self, stream, words, n):
        print(f"measuring {self.name} ...", end=" ", flush=True, file=sys.stderr)
        self.values |= self.measure("filter-memory", stream, n, P)
        self.values |= self.measure("set-memory", stream)
        self.values |= self.measure("run", stream, words, n, P, self.file)
        print("done", file=sys.stderr)

    def number(self, name):
        return float(self.values[name])


def whole(x):
    return f"{x:,.0f}"


def size(x):
    return f"{x / 1e6:.2f} MB"


class Table:
    def __init__(self, sides):
        self.sides, self.broken = sides, []

    def line(self, label, *cells, note=""):
        print(
            f"{label:<41}"
            + "".join(f"{cell:>13}" for cell in cells)
            + (f"   {note}" if note else "")
        )

    def row(self, label, cell, note=""):
        self.line(label, *map(cell, self.sides), note=note)

    def promise(self, label, cell, kept, note):
        """A row that must hold on every side."""
        good = all(map(kept, self.sides))
        self.row(label, cell, note=f"{'ok ' if good else 'BROKEN'} {note}")
        if not good:
            self.broken.append(f"{label.strip()}: {note}")


def answers(t, lines, distinct):
    def count(label, name, kept, note):
        t.promise(label, lambda s: whole(s.number(name)), lambda s: kept(s.number(name), s), note)

    count("lines read", "lines", lambda x, s: x == lines, "all")
    count("new: the exact answer", "new_exact", lambda x, s: x == distinct, "set, array")
    less = "exact count minus false positives"
    fewer = lambda x, s: x == distinct - s.number("lost")  # noqa: E731
    count("new: the filter's answer", "new_filter", fewer, less)
    most = f"at most p = {P:.1%}: {P * distinct:.0f}"
    count("  new lines taken for seen", "lost", lambda x, s: x <= P * distinct, most)
    count("  seen lines taken for new", "again", lambda x, s: x == 0, "never")
    t.row("keys never added, asked for", lambda s: whole(s.number("absent_asked")))
    note = f"p = {P:.4%}, at most 5 % more"
    t.promise(
        "  found all the same", lambda s: f"{rate(s):.4%}", lambda s: rate(s) <= 1.05 * P, note
    )


def rate(side):
    return side.number("absent_told") / side.number("absent_asked")


def costs(t):
    bits = f"{t.sides[0].number('bits_a_key'):.2f} bits per key"
    t.row("memory of the filter", lambda s: size(s.number("filter_bytes")), bits)
    times = [s.number("exact_bytes") / s.number("filter_bytes") for s in t.sides]
    much, more = f"at least {min(times):.0f} times as much", min(times) > 1
    t.promise(
        "memory of set / array", lambda s: size(s.number("exact_bytes")), lambda s: more, much
    )
    for label, name in (
        ("add in a loop", "ns_add"),
        ("update / addMany", "ns_batch"),
        ("set / array, in a loop", "ns_exact"),
    ):
        t.row(f"time per key: {label}", lambda s, name=name: f"{s.number(name):.0f} ns")


def same_bytes(t, lines, stream):
    python, php = t.sides
    sums = {s.values["sha256"] for s in t.sides}
    t.promise(
        "sha256 of to_bytes / toBytes",
        lambda s: s.values["sha256"][:10],
        lambda s: len(sums) == 1,
        "identical",
    )
    files = {s: s.file.stat().st_size for s in t.sides}
    t.promise(
        "bytes of the saved file",
        lambda s: whole(files[s]),
        lambda s: filecmp.cmp(python.file, php.file, shallow=False),
        "identical",
    )
    other = {
        python: python.measure("open", php.file, stream),
        php: php.measure("open", python.file, stream),
    }
    t.promise(
        "opens the other's file, finds",
        lambda s: whole(float(other[s]["found"])),
        lambda s: float(other[s]["found"]) == lines,
        "every line",
    )
    t.promise(
        "  sha256 of what it opened",
        lambda s: other[s]["sha256"][:10],
        lambda s: {other[s]["sha256"]} == sums,
        "identical",
    )


def examples(t, dedup_c, stream, folder):
    """The three scripts of examples/, each as its user runs it."""
    commands = {
        s.suffix: [
            *s.command,
            EXAMPLES / f"dedup.{s.suffix}",
            f"--seen={folder}/dedup-{s.suffix}.bloom",
            stream,
        ]
        for s in t.sides
    }
    commands["c"] = ["sh", "-c", f'"$0" "{folder}/dedup-c.bloom" < "{stream}"', dedup_c]
    results, files = {}, {}
    for suffix, command in commands.items():
        files[suffix] = folder / f"dedup-{suffix}.bloom"
        files[suffix].unlink(missing_ok=True)
        results[suffix] = output(command, stderr=subprocess.DEVNULL)
    same = len(set(results.values())) == 1 and all(
        filecmp.cmp(files["c"], f, shallow=False) for f in files.values()
    )
    t.promise(
        "examples/dedup.{py,php}: lines out",
        lambda s: whole(results[s.suffix].count("\n")),
        lambda s: same,
        "and dedup.c: identical lines and files",
    )


def main(folder, dedup_c, *php):
    folder = Path(folder)
    stream, words = folder / "stream.txt", folder / "words.txt"
    with open(stream, encoding="utf-8") as file:
        everything = file.read().splitlines()
    lines, distinct = len(everything), len(set(everything))
    sides = [Side("Python", [sys.executable], "py", folder), Side("PHP", php, "php", folder)]
    for side in sides:
        side.measure_all(stream, words, distinct)
    t = Table(sides)
    scheme = sides[0].values["scheme"]
    print(
        f"\nDeduplicating {lines:,} lines, {distinct:,} different: p = {P:.1%}, scheme {scheme}\n"
    )
    t.line("", "Python", "PHP")
    answers(t, lines, distinct)
    costs(t)
    same_bytes(t, lines, stream)
    examples(t, dedup_c, stream, folder)
    if t.broken:
        sys.exit("\nNOT AS PROMISED\n  " + "\n  ".join(t.broken))
    print("\nAll of it holds.  Next: README.md; examples/ has what ran here.")


main(*sys.argv[1:])
