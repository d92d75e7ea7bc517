#!/usr/bin/env python3
"""recrawl.py - which of these URLs are due?  A URL is due again a week after it was printed.

    recrawl.py urls.txt
        prints the URLs that are due, and remembers them
    recrawl.py --days 1 --seen seen.bloom urls.txt
        with another period; all crawlers of the machine share the file

The filter forgets a URL when its period is over, at the latest one step later.  A week has seven
steps of a day (--parts).  Adding a URL again would restart its period, so the program first tests
all URLs, and adds only the absent ones.
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
        "-n", type=int, default=100_000, help="URLs fetched in one period (%(default)s)"
    )
    parser.add_argument(
        "-p",
        type=float,
        default=1e-4,
        help="probability that a new URL is omitted once (%(default)s)",
    )
    parser.add_argument(
        "--days", type=float, default=7, help="days until a URL is due again (%(default)s)"
    )
    parser.add_argument(
        "--parts",
        type=int,
        default=7,
        help="number of steps in which the filter forgets (%(default)s)",
    )
    parser.add_argument(
        "--seen", metavar="FILE", help="file of the filter; created if it does not exist"
    )
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="URLs, one per line; standard input if none is given",
    )
    return parser.parse_args()


def due(urls, seen):
    """The URLs of a batch that are due; from now on they count as fetched."""
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
