"""scrapy_memory.py [N] - bytes of process memory a seen request takes in Scrapy's own duplicate
filter and in ours.

Each in a fresh process: N different requests (1,000,000) are asked about; what counts is how far
the resident memory grew."""

import subprocess
import sys

CODE = """
import gc, sys
from scrapy import Request
from scrapy.utils.test import get_crawler
from scrapy.utils.misc import load_object
name, n, options = sys.argv[1], int(sys.argv[2]), eval(sys.argv[3])
def resident():
    with open("/proc/self/statm") as file: return int(file.read().split()[1]) * 4096
crawler = get_crawler(settings_dict=options)
crawler.request_fingerprinter.fingerprint(Request("http://warm.up/"))
kind = load_object(name)
gc.collect()
before = resident()
seen = kind.from_crawler(crawler)
new = sum(not seen.request_seen(Request(f"https://www.example.com/page/{i}")) for i in range(n))
gc.collect()
print(new, (resident() - before) / n, sys.getsizeof(seen.seen) / n if hasattr(seen, "seen") else "-")
"""


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    for name, options in (
        ("scrapy.dupefilters.RFPDupeFilter", {}),
        ("bloomfilter.scrapy.BloomDupeFilter", {"BLOOMFILTER_N": n}),
        ("bloomfilter.scrapy.BloomDupeFilter", {"BLOOMFILTER_N": n, "BLOOMFILTER_P": 1e-4}),
    ):
        command = [sys.executable, "-c", CODE, name, str(n), repr(options)]
        new, grown, size = subprocess.run(
            command, capture_output=True, text=True, check=True
        ).stdout.split()
        print(
            f"{name} {options}: {new} of {n} new, {float(grown):.2f} bytes of resident memory a request, the filter's own {size}",
            flush=True,
        )


if __name__ == "__main__":
    main()
