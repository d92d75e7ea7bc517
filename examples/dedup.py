#!/usr/bin/env python3
"""dedup.py - prints each line once, and takes only a few bits per line.

    dedup.py urls.txt
    crawler | dedup.py --seen seen.bloom

With --seen it remembers the lines from run to run.  Any number of dedup.py, dedup.php and dedup.c
can use the file at the same time.  A repeated line is never printed; a new line is dropped with
probability -p.
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
        "-p", type=float, default=1e-6, help="probability that a new line is dropped (%(default)s)"
    )
    parser.add_argument(
        "--seen", metavar="FILE", help="file of the filter; created if it does not exist"
    )
    parser.add_argument(
        "files", nargs="*", metavar="FILE", help="files of lines; standard input if none is given"
    )
    return parser.parse_args()


def dedup(lines, seen, write):
    """Writes the new lines; returns the numbers of all lines and of new ones."""
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
