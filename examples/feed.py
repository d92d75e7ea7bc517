#!/usr/bin/env python3
"""feed.py - a filter per user: which of these items has this user not seen yet?

    printf 'ann\\titem 7\\nann\\titem 8\\nann\\titem 7\\n' | feed.py redis://127.0.0.1:6379/0

Reads lines "USER<TAB>ITEM", prints the items that are new to their user, and remembers them.  Each
user has a Redis string, feed:USER, with the bytes of a filter: 224 bytes for the first ten items;
it grows with the number of items.  If two servers change the filter of one user at the same time,
WATCH detects this, and one of them repeats its change.
"""

import sys
from itertools import groupby

import redis

from bloomfilter import BloomFilter

DAYS = 90  # a user who stays away longer sees all items again


def show(store, user, items):
    """The items that the user has not seen; one new item in a hundred may be omitted."""
    name = f"feed:{user}"

    def change(pipe):
        old = pipe.get(name)
        seen = BloomFilter.from_bytes(old) if old else BloomFilter(n=10, p=0.01, grow=2.0)
        new = [item for item in items if seen.add(item)]
        pipe.multi()
        pipe.set(name, seen.to_bytes(), ex=DAYS * 86400)
        return new

    return store.transaction(change, name, value_from_callable=True)


def main():
    store = redis.Redis.from_url(sys.argv[1])
    lines = (line.rstrip("\n").partition("\t") for line in sys.stdin)
    for user, some in groupby(lines, key=lambda parts: parts[0]):
        for item in show(store, user, [item for _, _, item in some]):
            print(f"{user}\t{item}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: feed.py redis://HOST:PORT/DB < LINES")
    try:
        main()
    except (redis.RedisError, ValueError) as fault:  # ValueError: not a Redis URL
        sys.exit(f"feed.py: {fault}")  # without the URL, which may contain a password
