#!/usr/bin/env python3
"""dedup.py - prints every line the first time it comes and drops it from then on, in a few bits
per line.

    dedup.py urls.txt                      a list with repeats in, each line once out
    crawler | dedup.py --seen seen.bloom   remembers from run to run, and shares the file with every
    other dedup
                                           that runs at the same time: this one, dedup.php or
                                           dedup.c

With a small chance (-p) a new line is taken for a repeat and dropped; a repeat is never printed.
"""

import argparse
import fileinput
import sys
from itertools import compress, islice

from bloomfilter import BloomFilter

BATCH = 4096


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "-n", type=int, default=1_000_000, help="different lines expected (%(default)s)"
    )
    parser.add_argument(
        "-p", type=float, default=1e-6, help="chance that a new line is dropped (%(default)s)"
    )
    parser.add_argument(
        "--seen", metavar="FILE", help="where the filter lives; made if it is not there"
    )
    parser.add_argument(
        "files", nargs="*", metavar="FILE", help="lines; standard input where none is given"
    )
    return parser.parse_args()


def dedup(lines, seen, write):
    """Writes the new ones of the lines; returns how many came in and how many went out."""
    total = fresh = 0
    while batch := [line.rstrip(b"\n") for line in islice(lines, BATCH)]:
        new = seen.add_many(batch)  # one byte per line: 1 = surely new
        write(b"".join(line + b"\n" for line in compress(batch, new)))
        total += len(batch)
        fresh += sum(new)
    return total, fresh


def main():
    args = arguments()
    with BloomFilter(n=args.n, p=args.p, storage=args.seen) as seen:
        total, fresh = dedup(fileinput.input(args.files, mode="rb"), seen, sys.stdout.buffer.write)
        seen.sync()
    print(f"dedup: {total} lines, {fresh} new, {total - fresh} seen before", file=sys.stderr)


if __name__ == "__main__":
    main()
