"""report.py [--summary] [--json FILE] RAW... - from raw times to tables: medians, ratios, the
targets and a verdict.

RAW files are what the parts print, tab-separated: "fact NAME VALUE", "table ID UNIT TITLE", "ns
TABLE SUBJECT OP ROUND NS". A ratio is the median of the ratios of single rounds: both sides of one
were taken within seconds.  Knows the targets; knows nothing of how anything was measured.  A missed
target is a line that says MISS, never a failure."""

import argparse
import json
from dataclasses import dataclass
from statistics import median, quantiles

UNITS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "B": 1.0}


class Rounds(dict):
    """round -> ns, of one subject under one operation."""

    def median(self):
        return median(self.values())

    def __add__(self, other):
        return Rounds({r: self[r] + other[r] for r in self.keys() & other.keys()})

    def __sub__(self, other):
        return Rounds({r: self[r] - other[r] for r in self.keys() & other.keys()})

    def over(self, other):
        return [self[r] / other[r] for r in sorted(self.keys() & other.keys()) if other[r] > 0]


class Table:
    def __init__(self, name, unit, title):
        self.name, self.unit, self.title = name, unit, title
        self.subjects, self.ops = {}, {}  # subject -> op -> Rounds; ops: an ordered set

    def take(self, subject, op, round_, ns):
        self.ops[op] = None
        self.subjects.setdefault(subject, {}).setdefault(op, Rounds())[int(round_)] = float(ns)

    def get(self, subject, op):
        return self.subjects.get(subject, {}).get(op)

    def fastest(self, prefix, op):
        found = [
            (ops[op].median(), s)
            for s, ops in self.subjects.items()
            if s.startswith(prefix) and op in ops
        ]
        return self.get(min(found)[1], op) if found else None


@dataclass
class Ratio:
    """Subject `ours` over subject `against`, or over a limit of `most` in the table's unit where
    against is None."""

    table: str
    op: str
    ours: str
    against: str | None
    most: float | None = None
    less: tuple[str, str] | None = None  # subjects to take away first: from ours, from the other


SUM, BOTH = (
    "XXH3 + one line",
    "both in one loop",
)  # limits: the fastest of each kind; SUM adds two loops that ran alone
PLAIN, SHARED = "block k=8", "block k=8 threads"
OURS = "bloomfilter"
EMPTY, USER = "empty internal method", "empty method in PHP"
BUILD = "no call"


FM64, BOOST_CLASSIC = "Boost fast_multiblock64 k=8", "Boost classic k=7"
SUM_32 = "XXH3 + line, 32 ahead"  # as the first figures were taken, before better distances
RAGGED = ("c-1-20-79", "c-64-20-79", "c-256-20-79", "c-4096-20-79")
LENGTHS = ("c-1-8", "c-256-8", "c-1-200", "c-256-200")


def boost_ratios(table):
    """Beside Boost.Bloom, and the limits; the targets are those of texts of 20 to 79 bytes."""
    ragged, large = table in RAGGED, table == "c-256-20-79"
    for op in ("batch absent", "batch present", "batch fresh", "batch again"):
        yield Ratio(table, op, PLAIN, FM64, 1.0 if ragged else None)
        yield Ratio(table, op, PLAIN, SUM_32, 0.8 if large else None)
        yield Ratio(table, op, PLAIN, SUM, 1.35 if large else None)
        most = {"batch absent": 0.95, "batch present": 0.65}.get(op) if ragged else None
        yield Ratio(table, op, "classic k=7", BOOST_CLASSIC, most)
    for op in ("test absent", "test present", "add fresh", "add again"):
        yield Ratio(table, op, PLAIN, FM64, 1.1 if large and op == "test absent" else None)
        yield Ratio(table, op, "classic k=7", BOOST_CLASSIC)


def c_ratios(table, target):
    for op in ("batch absent", "batch present", "batch fresh", "batch again"):
        yield Ratio(table, op, PLAIN, SUM, 0.95 if target else None)
    for op in ("batch absent", "batch fresh"):
        yield Ratio(table, op, PLAIN, BOTH)
        for other in (f"{PLAIN}, 128 a call", "block2 k=8", "classic k=7"):
            yield Ratio(table, op, other, SUM)
    for op in ("test absent", "test present", "add fresh"):
        for ours in (PLAIN, "block2 k=8", "classic k=7"):
            yield Ratio(table, op, ours, "libbloom k=7")


def file_ratios(table, ours):
    for op in (
        "test absent",
        "test present",
        "add again",
        "batch absent",
        "batch present",
        "batch again",
    ):
        yield Ratio(table, op, ours, PLAIN, 1.10)
    for op in ("add fresh", "batch fresh"):
        yield Ratio(table, op, ours, PLAIN, 1.10)
        yield Ratio(table, op, ours, SHARED, 1.10)  # atomic adds on both sides


def python_ratios(table, target):
    most = {
        "abloom serializable": {"add": 0.75, "in absent": 0.75, "in present": 0.9, "update": 0.45},
        "rbloom": {"add": 0.4, "in absent": 0.6, "in present": 0.6, "update": 0.3},
    }
    for peer in (
        "abloom serializable",
        "abloom hash()",
        "rbloom",
        "rbloom + xxh3",
        "pybloomfiltermmap3",
        "set",
    ):
        for op in ("add", "in present", "in absent", "update"):
            limit = most.get(peer, {}).get(op) if target else None
            yield Ratio(table, op, OURS, peer, limit)
    for op in ("add", "in present", "in absent", "update", "contains_many"):
        yield Ratio(table, op, f"{OURS}, mapped file", OURS, 1.10 if target else None)


ARROW_OPS = ("update", "contains present", "contains absent")
ARROW = (
    "Arrow string",
    "Arrow large_string",
    "Arrow string_view",
    "Arrow string, chunks of 65,536",
    "Arrow int64 of 19 digits",
    "Arrow int64 below 2 N",
)


def arrow_ratios():
    for op in ARROW_OPS:
        for kind in ARROW:
            yield Ratio("arrow", op, kind, None, 25.0)
        for kind in ("Arrow string", "numpy S"):
            yield Ratio("arrow", op, kind, "list of str")


def php_ratios():
    """Keys from an array: a call and its loop, as people call it. Keys just built: the
    calls alone."""
    many = f"{OURS}, batches of 1000"
    for op in ("add", "exists present", "exists absent"):
        most = 2.0 if op == "add" else 2.4
        yield Ratio("php", op, OURS, EMPTY, most)
        yield Ratio("php", op, OURS, USER)
        yield Ratio("php", op, OURS, "array")
        yield Ratio("php", op, many, EMPTY, 1.0)
        yield Ratio("php", op, f"{OURS}, mapped file", OURS, 1.10)
        yield Ratio("php-built", op, OURS, EMPTY, most, less=(BUILD, BUILD))
        yield Ratio("php-built", op, OURS, "array", less=(BUILD, BUILD))
        yield Ratio("php-built", op, many, EMPTY, 1.0, less=(f"{BUILD}, batches of 1000", BUILD))


def redis_ratios():
    for scheme in ("block", "classic"):
        for op in ("add", "test"):
            yield Ratio("redis-batch", op, f"{scheme}, redis-py", None, 12.0)
            yield Ratio(
                "redis-batch", op, f"{scheme}, redis-py", "BITFIELD pipeline by hand, redis-py"
            )
    yield Ratio("redis-batch", "test", "block, by URL", "RedisBloom, bare socket, pipelined", 1.2)
    yield Ratio("redis-batch", "add", "block, by URL", "RedisBloom, bare socket, pipelined")
    yield Ratio("redis-batch", "test", "block, by URL", "RedisBloom, bare socket, 1000 a command")
    yield Ratio(
        "redis-whole",
        "unite",
        "remote |= local, by URL",
        "BF.MADD of all keys, bare socket",
        0.1,
    )
    yield Ratio(
        "redis-whole",
        "unite",
        "remote |= local, redis-py",
        "BF.MADD of all keys, bare socket",
        0.1,
    )
    for scheme in ("block", "classic"):
        yield Ratio(
            "php-batch", "add", f"{scheme}, phpredis", "BITFIELD pipeline by hand, phpredis", 1.1
        )


def cli_ratios():
    yield Ratio("cli", "file", "bloomfilter add", "Python loop over rbloom", 1 / 8)
    yield Ratio("cli", "file", "bloomfilter add", "wc -l", 2.0)
    for ours in (
        "update_lines, in memory",
        "bloomfilter add, all seen",
        "bloomfilter check",
        "cat | bloomfilter add",
    ):
        yield Ratio("cli", "file", ours, "wc -l", 2.0 if "memory" in ours else None)
        yield Ratio("cli", "file", ours, "Python loop over rbloom")
    yield Ratio(
        "cli-large", "add", "part 10 of 10", "part 2 of 10", 1 / 0.7
    )  # part 1 waits for the file to be opened and checked


def server_ratios():
    """A rate of at least 0.9 of nginx's is 1 / 0.9 of its time a request."""
    ours, peers = (
        "bloomfilterd",
        (
            "nginx",
            "libmicrohttpd, 4 KB a connection",
            "libmicrohttpd, 32 KB: URLs of 16 KiB",
            "evhttp",
        ),
    )
    for op, most in (("64", 1 / 0.9), ("1000", 1 / 0.9), ("10000", 1 / 0.8)):
        for peer in peers:
            yield Ratio("http", op, ours, peer, most if peer == "nginx" else None)
            yield Ratio(
                "http-cpu", op, ours, peer, 1.1 if peer == "nginx" and op != "10000" else None
            )
    yield Ratio("idle", "memory", ours, None, 6144)
    yield Ratio("idle-cost", "64", f"{ours}, beside idle ones", ours, 1.1)
    for how in ("lines", "framed"):
        for op, most in (("1000", 1 / 1.5), ("10000", 1 / 2)):
            yield Ratio("batch", op, f"POST /contain, {how}", "BF.MEXISTS", most)
            yield Ratio("batch-cpu", op, f"POST /contain, {how}", "BF.MEXISTS")


def resp_ratios():
    ours, theirs = "bloomfilterd", "RedisBloom"
    for connections in (8, 64):
        for command, most in (("BF.MEXISTS", 1 / 3), ("BF.MADD", None)):
            op = f"{command} of 1000 keys, {connections} connections"
            yield Ratio("resp-cpu", op, ours, theirs, most)
        for command in ("BF.EXISTS", "BF.ADD"):
            op = f"{command}, 64 in a pipeline, {connections} connections"
            yield Ratio("resp-cpu", op, ours, theirs, 0.6)
            op = f"{command}, 1 in a pipeline, {connections} connections"
            yield Ratio("resp-cpu", op, ours, theirs)


def sets_ratios():
    for op in ("65536 KiB", "512 KiB"):
        for ours in (
            "popcount",
            "union in place",
            "union_count",
            "subset",
            "counters above 0",
            "sum of counters",
        ):
            most = (
                1 / 0.6 if op == "65536 KiB" and ours in ("popcount", "union in place") else None
            )  # 512 KiB: caches, not memory
            yield Ratio("sets", op, ours, "memcpy", most)
    for scheme in ("block", "block2", "classic"):
        for op in (
            "batch fresh",
            "batch present",
            "batch absent",
            "test present",
            "test absent",
            "add fresh",
        ):
            yield Ratio("counting", op, f"{scheme} counting", scheme, 2.0)


def targets():
    for name in (*RAGGED, *LENGTHS):
        yield from boost_ratios(name)
    for name in ("c-cache", "c-large"):
        yield from boost_ratios(name)
        yield from c_ratios(name, name == "c-large")
        for home in ("file on tmpfs", "file on disk"):
            yield from file_ratios(name, f"{PLAIN} {home}")
    yield from python_ratios("python", True)
    yield from python_ratios("python-big", False)
    yield Ratio("import", "import", OURS, None, 2.0)
    yield from arrow_ratios()
    yield from php_ratios()
    for op in ("test absent", "test present", "batch absent", "batch present", "batch again"):
        yield Ratio("variants", op, "grown from 1000", "right-sized", 2.5)
    for op in ("test absent", "test present"):
        yield Ratio("variants", op, "window, 4 parts", "right-sized", 2.5)
    for op in ("batch absent", "batch present", "add again", "batch again"):
        yield Ratio("variants", op, "window, 4 parts", "right-sized")
    for op in ("in absent", "in present", "contains_many absent"):
        yield Ratio("variants-python", op, "grown from 1000", "right-sized", 2.5)
    yield from redis_ratios()
    yield from cli_ratios()
    yield from server_ratios()
    yield from resp_ratios()
    yield from sets_ratios()
    yield Ratio("fpm", "median", "open + exists", None, 5.0)
    yield Ratio("fpm", "median", "new + exists", None, 5.0)


# ---- arithmetic ----
def side(table, name, op):
    """A subject's rounds, or a limit's; None: not measured."""
    if name == BOTH:
        return table.fastest(f"limit: {BOTH}", op)
    if name == SUM:
        parts = [table.fastest("limit: XXH3", op), table.fastest("limit: line", op)]
        return parts[0] + parts[1] if all(parts) else None
    if name == SUM_32:
        parts = [table.fastest("limit: XXH3", op), table.get("limit: line, 32 ahead", op)]
        return parts[0] + parts[1] if all(parts) else None
    return table.get(name, op)


def sides(table, ratio):
    ours, against = side(table, ratio.ours, ratio.op), side(table, ratio.against, ratio.op)
    if not ours or (ratio.against and not against):
        return None
    if ratio.less:
        return ours - table.get(ratio.less[0], ratio.op), against - table.get(
            ratio.less[1], ratio.op
        )
    return ours, against


def judge(table, ratio):
    both = sides(table, ratio)
    if not both:
        return None
    ours, against = both
    unit = UNITS[table.unit]
    found = ours.over(against) if against else [ns / unit for ns in ours.values()]
    if not found:
        return None
    best = min(ours.values()) / min(against.values()) if against and not ratio.less else None
    low, _, high = quantiles(found, n=4) if len(found) > 1 else (found * 3)
    verdict = None if ratio.most is None else "ok" if median(found) <= ratio.most else "MISS"
    return {
        "table": ratio.table, "op": ratio.op, "ours": ratio.ours, "against": ratio.against, "less": ratio.less,
        "ours_ns": ours.median(), "against_ns": against.median() if against else None,
        "ratio" if against else "value": median(found), "quartiles": [low, high], "best": best,
        "target": ratio.most, "verdict": verdict,
    }  # fmt: skip


# ---- output ----
def show_table(table):
    width = max(map(len, table.subjects))
    columns = {op: max(len(op), 8) for op in table.ops}
    print(f"\n{table.title}")
    print(" " * width + "".join(f"  {op:>{w}}" for op, w in columns.items()))
    for subject, ops in table.subjects.items():
        cells = (
            f"{ops[op].median() / UNITS[table.unit]:.1f}" if op in ops else "-" for op in columns
        )
        print(
            f"{subject:<{width}}"
            + "".join(f"  {cell:>{w}}" for cell, w in zip(cells, columns.values()))
        )


def line_of(j, table, width, wide):
    unit = UNITS[table.unit]
    line = f"{j['op']:<14} {j['ours']:<{width}} {j['ours_ns'] / unit:8.1f}"
    if j["against"]:
        low, high = j["quartiles"]
        line += (
            f" : {j['against']:<{wide}} {j['against_ns'] / unit:8.1f}  = {j['ratio']:5.2f} ({low:.2f}-{high:.2f})"
            + (f" best {j['best']:5.2f}" if j["best"] else "")
        )
    if j["verdict"]:
        line += (
            f"   target {j['target']:.2f}{'' if j['against'] else ' ' + table.unit} {j['verdict']}"
        )
    return line + (
        f"   [less '{j['less'][0]}'{'' if j['less'][0] == j['less'][1] else ' : ' + repr(j['less'][1])}]"
        if j["less"]
        else ""
    )


def show_judged(table, judged):
    width, wide = (
        max((len(j[side] or "") for j in judged), default=0) for side in ("ours", "against")
    )
    print()
    for j in judged:
        print(line_of(j, table, width, wide))


def show_all(facts, tables, judged):
    for name, value in facts.items():
        print(f"{name:<20} {value}")
    for table in tables.values():
        show_table(table)
        show_judged(table, [j for j in judged if j["table"] == table.name])


def read(paths):
    facts, tables = {}, {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for line in file:
                kind, *rest = line.rstrip("\n").split("\t")
                if kind == "fact":
                    facts[rest[0]] = rest[1]
                elif kind == "table":
                    tables[rest[0]] = Table(*rest)
                elif kind == "ns":
                    tables[rest[0]].take(*rest[1:])
    return facts, {name: table for name, table in tables.items() if table.subjects}


def as_json(facts, tables, judged):
    return {
        "facts": facts,
        "tables": [
            {
                "name": t.name, "title": t.title, "unit": "ns",
                "rows": [
                    {"subject": subject, "op": op, "median": rounds.median(), "rounds": list(rounds.values())}
                    for subject, ops in t.subjects.items() for op, rounds in ops.items()
                ],
            }
            for t in tables.values()
        ],
        "ratios": judged,
    }  # fmt: skip


def show_summary(judged, tables):
    verdicts = [j["verdict"] for j in judged if j["verdict"]]
    print(f"\n{len(verdicts)} targets: {verdicts.count('ok')} ok, {verdicts.count('MISS')} MISS")
    for j in judged:
        if j["verdict"] == "MISS":
            print(f"{j['table']:<10} {line_of(j, tables[j['table']], 0, 0)}")


def main():
    parser = argparse.ArgumentParser(description="tables, ratios and verdicts from raw times")
    parser.add_argument("raw", nargs="+")
    parser.add_argument("--summary", action="store_true", help="only what was missed")
    parser.add_argument("--json", metavar="FILE")
    args = parser.parse_args()
    facts, tables = read(args.raw)
    judged = [j for j in (judge(tables[r.table], r) for r in targets() if r.table in tables) if j]
    if args.summary:
        show_summary(judged, tables)
    else:
        show_all(facts, tables, judged)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(as_json(facts, tables, judged), file, indent=1)


main()
