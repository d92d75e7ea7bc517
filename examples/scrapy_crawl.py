#!/usr/bin/env python3
"""scrapy_crawl.py - crawls a site with Scrapy and prints the address of each page once.

scrapy_crawl.py https://example.org/
    with a filter in memory
scrapy_crawl.py --job folder https://example.org/
    Ctrl-C stops the crawl; the same command continues it
scrapy_crawl.py --seen seen.bloom --retry https://example.org/
    with a file for all runs, also at the same time; pages that failed are requested again.
    If such a crawl is interrupted, later runs may miss pages: its queue is lost
scrapy_crawl.py --seen 'redis://host/0?key=seen' https://example.org/
    with a filter that machines share
"""

import argparse
from urllib.parse import urlsplit

from scrapy import Spider
from scrapy.crawler import CrawlerProcess
from w3lib.url import canonicalize_url


class Pages(Spider):
    name = "pages"

    # Scrapy does not filter the start page, so that each run begins there.  Links back to it are
    # omitted here.
    begun_at = frozenset()

    def parse(self, response):
        if response.request.dont_filter:
            came_by = [*response.meta.get("redirect_urls", []), response.url]
            self.begun_at = frozenset(map(canonicalize_url, came_by))
        yield {"url": response.url}
        if hasattr(response, "css"):
            for link in response.follow_all(response.css("a"), errback=lambda failure: None):
                if canonicalize_url(link.url) not in self.begun_at:
                    yield link


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-n", type=int, default=1_000_000, help="pages expected (%(default)s)")
    parser.add_argument("--seen", metavar="WHERE", help="path or Redis URL of the filter")
    parser.add_argument(
        "--job",
        metavar="FOLDER",
        help="Scrapy's JOBDIR: stores the state of a crawl that may be interrupted",
    )
    parser.add_argument(
        "--retry",
        action="store_true",
        help="a page counts as seen when its response has arrived, not when it was requested",
    )
    parser.add_argument("url")
    return parser.parse_args()


def settings(args):
    return {
        "DUPEFILTER_CLASS": "bloomfilter.scrapy.BloomDupeFilter",
        "BLOOMFILTER_N": args.n,
        "BLOOMFILTER_STORAGE": args.seen,
        "BLOOMFILTER_SEEN": "success" if args.retry else "request",
        "JOBDIR": args.job,
        "ROBOTSTXT_OBEY": True,
        "LOG_LEVEL": "WARNING",
        "TELNETCONSOLE_ENABLED": False,
        "FEEDS": {
            "stdout:": {"format": "csv", "item_export_kwargs": {"include_headers_line": False}}
        },
    }


def main():
    args = arguments()
    process = CrawlerProcess(settings(args))
    process.crawl(Pages, start_urls=[args.url], allowed_domains=[urlsplit(args.url).hostname])
    process.start()


if __name__ == "__main__":
    main()
