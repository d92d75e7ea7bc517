#!/usr/bin/env python3
"""feed.py - a filter per user: which of these items has this user not been shown yet?

    printf 'ann\\titem 7\\nann\\titem 8\\nann\\titem 7\\n' | feed.py redis://127.0.0.1:6379/0

Reads lines "USER<TAB>ITEM", prints those that are new to their user, and remembers them.  Each user
has a string of Redis, feed:USER, with the bytes of a filter of his own: 224 bytes for the first ten
items, and it grows with what he has seen.  Two servers that show something to one user at once do
not lose what the other one wrote: WATCH tells, and the change is made again.
"""

import sys
from itertools import groupby

import redis

from bloomfilter import BloomFilter

DAYS = 90  # who stays away for so long is shown everything again


def show(store, user, items):
    """Those of items that the user was not shown before; one in a hundred may be left out."""
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
    except (redis.RedisError, ValueError) as fault:  # ValueError: no URL of a Redis
        sys.exit(f"feed.py: {fault}")  # not the URL: it may have a password
