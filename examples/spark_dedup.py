#!/usr/bin/env python3
"""spark_dedup.py - finds the lines of new files that no old file has, with Spark, without a join.

    spark_dedup.py --old 'seen/*.txt' --new 'today/*.txt' --out fresh
        [--filter seen.bloom] [-n 100000000] [-p 0.001]

All executors build one filter from the old lines, which is then sent to all of them.  A line of the
old files is never printed; a new line is dropped with probability -p.  --filter saves the filter
for the next run, for PHP or for C: BloomFilter::load('seen.bloom') reads it.  Run the program with
spark-submit, or on this machine alone with --master.
"""

import argparse
import os
import sys

from pyspark.sql import SparkSession

from bloomfilter import spark as bloom


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--old", required=True, help="files or a pattern of them")
    parser.add_argument("--new", required=True)
    parser.add_argument("--out", required=True, help="folder, must not exist")
    parser.add_argument(
        "--filter", metavar="FILE", help="file to save the filter of the old lines to"
    )
    parser.add_argument("--master", help="for example local[2]")
    parser.add_argument(
        "-n", type=int, default=1_000_000, help="different old lines expected (%(default)s)"
    )
    parser.add_argument(
        "-p", type=float, default=0.001, help="probability that a new line is dropped (%(default)s)"
    )
    return parser.parse_args()


def main():
    args = arguments()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("spark_dedup")
    session = (builder.master(args.master) if args.master else builder).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    seen = bloom.build(session.read.text(args.old), "value", n=args.n, p=args.p)
    known = bloom.contains(session, seen)
    fresh = session.read.text(args.new).where(~known("value"))
    fresh.write.text(args.out)
    if args.filter:
        seen.save(args.filter)
    print(
        f"about {len(seen)} old lines, "
        f"{session.read.text(args.out).count()} fresh ones in {args.out}"
    )
    session.stop()


if __name__ == "__main__":
    main()
