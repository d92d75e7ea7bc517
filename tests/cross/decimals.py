"""decimals.py LOCALE URL OTHER - filters with fractions in their parameters, made in Redis under a
locale that may have a decimal comma; opened, and those that OTHER has; and what messages say about
fractions."""

import json
import locale
import sys

from bloomfilter import BloomFilter

_, name, own, other = sys.argv
locale.setlocale(locale.LC_ALL, name)
kinds = {
    "plain": {},
    "grow": {"grow": 1.5},
    "window": {"window": 0.5e9},
    "redisson": {"scheme": "redisson"},
}
for kind, more in kinds.items():
    BloomFilter(n=1000, p=0.0125, storage=f"{own}{kind}&timeout=60.5", **more).add("key")
print(repr(BloomFilter(n=9, p=0.5, grow=1.5)), repr(BloomFilter(n=9, p=0.5, window=2.5)))
for where in own, other:
    for kind, more in kinds.items():
        f = BloomFilter(storage=f"{where}{kind}&timeout=60.5", **more)
        print(
            kind,
            json.dumps(
                [f.p, "key" in f, f.info()["grow"], f.info()["window"]], separators=(",", ":")
            ),
        )
for given in {"grow": 0.5}, {"window": -2.5}, {"p": 1.5}, {"p": 0.5, "storage": f"{own}plain"}:
    try:
        BloomFilter(**{"n": 1000, "p": 0.0125} | given)
    except ValueError as e:
        print(e)
