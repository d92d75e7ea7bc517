"""held.py [--write] RATIOS JSON - is anything slower than it was?  Compares what `report.py --json`
measured with the ratios that are written down.

RATIOS has "processor NAME" and lines of "TABLE OP OURS AGAINST RATIO", separated by tabs.  A ratio
that is more than LOSS above what is written fails.  What was not measured (a peer that is not
there), and all of it on another processor, is skipped and named.  --write makes RATIOS anew.  The
last line counts, as every suite's does."""

import argparse
import json
import sys

LOSS = 1.10
HELD = ("c-1-20-79", "c-64-20-79", "variants")  # scripts/bench --held measures these


def read(path):
    with open(path, encoding="utf-8") as file:
        head, *rows = (line.rstrip("\n").split("\t") for line in file)
    return head[1], {tuple(row[:4]): float(row[4]) for row in rows}


def measured(path):
    with open(path, encoding="utf-8") as file:
        all_of_it = json.load(file)
    ratios = {
        (r["table"], r["op"], r["ours"], r["against"]): r["ratio"]
        for r in all_of_it["ratios"]
        if r["table"] in HELD and "ratio" in r and (r["target"] or r["op"].startswith("batch"))
    }
    return all_of_it["facts"]["processor"], ratios


def write(path, processor, ratios):
    with open(path, "w", encoding="utf-8") as file:
        print("processor", processor, sep="\t", file=file)
        for names, ratio in ratios.items():
            print(*names, f"{ratio:.3f}", sep="\t", file=file)


def compare(was, now):
    """How many passed, failed and were skipped."""
    counts = [0, 0, 0]
    for names, ratio in was.items():
        what = f"{names[0]} {names[1]}: {names[2]} of {names[3]}"
        if names not in now:
            print(f"skip {what}: not measured")
            counts[2] += 1
            continue
        lost = now[names] > ratio * LOSS
        print(f"{'FAIL' if lost else 'ok  '} {what}: {now[names]:.3f}, was {ratio:.3f}")
        counts[lost] += 1
    return counts


def main():
    parser = argparse.ArgumentParser(description="is anything slower than it was?")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("ratios")
    parser.add_argument("json")
    args = parser.parse_args()
    processor, now = measured(args.json)
    if args.write:
        write(args.ratios, processor, now)
        return 0
    of, was = read(args.ratios)
    if of != processor:
        print(f"skip {args.ratios}: measured on {of}, this is {processor}")
        counts = [0, 0, 1]
    else:
        counts = compare(was, now)
    print(f"{counts[0]} passed, {counts[1]} failed, {counts[2]} skipped")
    return 1 if counts[1] else 0


sys.exit(main())
