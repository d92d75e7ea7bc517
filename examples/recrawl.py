#!/usr/bin/env python3
"""recrawl.py - which of these URLs are due?  A page that was fetched is left alone for a week, then
it is due again.

    recrawl.py urls.txt                           prints the URLs that are due, and remembers that
    they were handed out
    recrawl.py --days 1 --seen seen.bloom FILE    another period; the file is shared by all crawlers
    of the machine

The filter forgets by itself: a URL is due again at the earliest when the period is over, and at the
latest one step later: a day, where a week is forgotten in seven (--parts).  It is asked before it
is told: adding a URL again would restart its week."""

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
        "-n", type=int, default=100_000, help="URLs fetched in one period (%(default)s)"
    )
    parser.add_argument(
        "-p", type=float, default=1e-4, help="chance that a new URL is left out once (%(default)s)"
    )
    parser.add_argument(
        "--days", type=float, default=7, help="how long a page is good for (%(default)s)"
    )
    parser.add_argument(
        "--parts", type=int, default=7, help="steps the period is forgotten in (%(default)s)"
    )
    parser.add_argument(
        "--seen", metavar="FILE", help="where the filter lives; made if it is not there"
    )
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="URLs, one per line; standard input where none is given",
    )
    return parser.parse_args()


def due(urls, seen):
    """Those of a batch that nobody fetched within the period; from now on they count as fetched."""
    known = seen.contains_many(urls)
    fresh = list(compress(urls, (not there for there in known)))
    return list(
        compress(fresh, seen.add_many(fresh))
    )  # 1 = surely new: not a repeat within the batch


def main():
    args = arguments()
    with BloomFilter(
        n=args.n, p=args.p, window=args.days * 86400, parts=args.parts, storage=args.seen
    ) as seen:
        lines = fileinput.input(args.files, mode="rb")
        while batch := [line.rstrip(b"\n") for line in islice(lines, BATCH)]:
            sys.stdout.buffer.writelines(url + b"\n" for url in due(batch, seen))
        seen.sync()


if __name__ == "__main__":
    main()
