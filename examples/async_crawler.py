#!/usr/bin/env python3
"""async_crawler.py - a crawler on one event loop that fetches each page once.

    async_crawler.py seen.bloom http://localhost:8000/       prints the fetched pages
    async_crawler.py --tasks 100 redis://127.0.0.1/0?key=seen http://localhost:8000/

The filter of seen pages is in a file, or in Redis, where crawlers on other machines can share it.
The crawler stays on the hosts of its first pages.  With probability -p it skips a new page.  A page
whose fetch fails is not tried again.
"""

import argparse
import asyncio
import sys
from html.parser import HTMLParser
from itertools import compress
from urllib.parse import urldefrag, urljoin, urlsplit

import aiohttp

from bloomfilter.asyncio import BloomFilter


class Links(HTMLParser):
    def __init__(self, base):
        super().__init__()
        self.base, self.found = base, set()

    def handle_starttag(self, tag, attrs):
        href = dict(attrs).get("href") if tag == "a" else None
        if href:
            self.found.add(urldefrag(urljoin(self.base, href)).url)


async def links_of(session, url, hosts):
    async with session.get(url) as page:
        parser = Links(str(page.url))
        parser.feed(await page.text(errors="replace"))
    return sorted(link for link in parser.found if urlsplit(link).netloc in hosts)


async def work(session, seen, hosts, todo, fetched):
    while True:
        url = await todo.get()
        try:
            links = await links_of(session, url, hosts)
            fetched(url)
            for link in compress(links, await seen.add_many(links)):  # the new ones
                todo.put_nowait(link)
        except (aiohttp.ClientError, TimeoutError) as error:
            print(f"async_crawler: {url}: {error}", file=sys.stderr)
        finally:
            todo.task_done()


async def crawl(seen, start, tasks=20, fetched=print):
    todo, hosts = asyncio.Queue(), {urlsplit(url).netloc for url in start}
    for url in compress(start, await seen.add_many(start)):
        todo.put_nowait(url)
    async with aiohttp.ClientSession() as session:
        workers = [
            asyncio.create_task(work(session, seen, hosts, todo, fetched)) for _ in range(tasks)
        ]
        await todo.join()
        for worker in workers:
            worker.cancel()


async def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--tasks", type=int, default=20, help="number of simultaneous fetches (%(default)s)"
    )
    parser.add_argument("-n", type=int, default=1_000_000, help="pages expected (%(default)s)")
    parser.add_argument(
        "-p", type=float, default=1e-6, help="probability that a new page is skipped (%(default)s)"
    )
    parser.add_argument("storage", help="a file, or redis://HOST/DB?key=NAME")
    parser.add_argument("start", nargs="+", help="where to begin")
    args = parser.parse_args()
    async with await BloomFilter.create(n=args.n, p=args.p, storage=args.storage) as seen:
        await crawl(seen, args.start, args.tasks)


if __name__ == "__main__":
    asyncio.run(main())
