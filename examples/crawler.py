#!/usr/bin/env python3
"""crawler.py - a crawler with several processes that fetches each page once.

    crawler.py redis://127.0.0.1/0?key=seen http://localhost:8000/      prints the fetched pages
    crawler.py --processes 8 redis://127.0.0.1/0?key=seen http://localhost:8000/

The filter of seen pages is in Redis.  All processes share it, and crawlers on other machines can
share it too.  The crawler stays on the hosts of its first pages.  With probability -p it skips a
new page.  A page whose fetch fails is not tried again.
"""

import argparse
import multiprocessing
import sys
from html.parser import HTMLParser
from itertools import compress
from urllib.parse import urldefrag, urljoin, urlsplit
from urllib.request import urlopen

from bloomfilter import BloomFilter


class Links(HTMLParser):
    def __init__(self, base):
        super().__init__()
        self.base, self.found = base, set()

    def handle_starttag(self, tag, attrs):
        href = dict(attrs).get("href") if tag == "a" else None
        if href:
            self.found.add(urldefrag(urljoin(self.base, href)).url)


def links_of(url, hosts):
    with urlopen(url, timeout=30) as page:
        parser = Links(page.url)
        parser.feed(page.read().decode("utf-8", "replace"))
    return sorted(link for link in parser.found if urlsplit(link).netloc in hosts)


def only_new(seen, urls):
    """The new URLs.  If several processes add one at the same moment, exactly one gets it."""
    return list(compress(urls, seen.add_many(urls)))


def work(storage, hosts, todo):
    with BloomFilter.open(
        storage, cache=True
    ) as seen:  # most links lead to known pages: they need no round trip
        while True:
            url = todo.get()
            try:
                for link in only_new(seen, links_of(url, hosts)):
                    todo.put(link)
                sys.stdout.write(f"{url}\n")  # one write: lines of two processes do not mix
                sys.stdout.flush()
            except OSError as error:
                print(f"crawler: {url}: {error}", file=sys.stderr)
            finally:
                todo.task_done()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("-n", type=int, default=1_000_000, help="pages expected (%(default)s)")
    parser.add_argument(
        "-p", type=float, default=1e-6, help="probability that a new page is skipped (%(default)s)"
    )
    parser.add_argument("storage", help="redis://HOST/DB?key=NAME")
    parser.add_argument("start", nargs="+", help="where to begin")
    args = parser.parse_args()
    todo, hosts = multiprocessing.JoinableQueue(), {urlsplit(url).netloc for url in args.start}
    with BloomFilter(n=args.n, p=args.p, storage=args.storage) as seen:
        for url in only_new(seen, args.start):
            todo.put(url)
    for _ in range(args.processes):
        multiprocessing.Process(target=work, args=(args.storage, hosts, todo), daemon=True).start()
    todo.join()  # daemons end with this process


if __name__ == "__main__":
    main()
