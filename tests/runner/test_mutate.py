"""scripts/mutate: what it changes, what it leaves alone, and the programs that it chooses."""

import importlib.machinery
import importlib.util
from pathlib import Path

PATH = str(Path(__file__).resolve().parents[2] / "scripts" / "mutate")
LOADER = importlib.machinery.SourceFileLoader("mutate", PATH)
LOADER.path_stats = lambda _: (_ for _ in ()).throw(OSError)  # leaves no cache in scripts/
mutate = importlib.util.module_from_spec(importlib.util.spec_from_loader("mutate", LOADER))
LOADER.exec_module(mutate)


def test_what_it_changes():
    text = '/* a < b */\n#define N 3\nint f(int a)\n{\n    x = "1 < 2";\n    bf_prefetch(a + 1);\n    if (a < 7) g(a);\n    return a;\n}\n'
    got = {text[:start] + other + text[end:] for start, end, other in mutate.changes(text)}
    wanted = ["a <= 7", "a >= 7", "a < 8", "a < 6", "(!(a < 7))", "(0)", "(1)"]
    wanted = [f"if {one if one[0] == '(' else f'({one})'}" for one in wanted]
    wanted += ["return 0;", "return 1;", "    ;\n    bf_prefetch"]
    assert all(any(one in text for text in got) for one in wanted)
    kept = ("a < b", "#define N 3", "bf_prefetch(a + 1)")
    assert all(one in text for text in got for one in kept)
    assert all('"1 < 2"' in one for one in got if "x =" in one)


def test_it_leaves_alone_what_only_prefetches():
    loop = "    for (int i = 0; i < n; i++)\n        "
    assert not list(mutate.changes(loop + "bf_prefetch(at + 8 * i);\n"))
    assert list(mutate.changes(loop + "sum += at[8 * i];\n    bf_prefetch(at);\n"))


def test_a_sample_keeps_its_numbers_where_only_speed_could_tell():
    text = "int line_large(int n)\n{\n    n++;\n    return n;\n}\nint g(int n)\n{\n    n++;\n    if (n < 3) {\n        w.fetch(n);\n        n--;\n    }\n    sched_yield();\n    return n;\n}\n"
    starts = [0]
    for line in text.splitlines(True):
        starts.append(starts[-1] + len(line))
    lines = {n for n in range(1, 16) if mutate.only_speed(text, starts[n - 1] + 1)}
    assert {3, 4, 9, 10, 13} <= lines and not lines & {8, 11, 14}


def test_which_programs_run_a_line():
    """Of a line that gcov does not know, those that run one of the file."""

    def run(cpu, *reached):
        of = {"known": {3, 4, 9}, "reached": set(reached), "sources": set()}
        return {"cpu": cpu, "files": {"core/a.c": of}}

    runs = {("a", ""): run(2, 3, 9), ("b", ""): run(1, 9), ("a", "portable"): run(3, 3, 9)}
    runs["left out", ""] = {"cpu": 9, "files": {}}
    names = {
        line: [name for name, _ in mutate.programs(runs, "core/a.c", line)] for line in (3, 4, 9, 7)
    }
    assert names == {3: ["a"], 4: [], 9: ["b", "a"], 7: ["b", "a"]}
