#!/usr/bin/env python3
"""scrapy_crawl.py - crawls a site with Scrapy and prints each page's address once; what it has seen
lives in a Bloom filter.

scrapy_crawl.py https://example.org/                                   in memory
scrapy_crawl.py --job folder https://example.org/                      Ctrl-C, start again: goes on
where it was
scrapy_crawl.py --seen seen.bloom --retry https://example.org/         from run to run, and shared
by all that run at once;
                                                                       pages that failed are asked
                                                                       for again
scrapy_crawl.py --seen 'redis://host/0?key=seen' https://example.org/  shared by machines
"""

import argparse
from urllib.parse import urlsplit

from scrapy import Spider
from scrapy.crawler import CrawlerProcess
from w3lib.url import canonicalize_url


class Pages(Spider):
    name = "pages"

    # Scrapy asks no filter for the start page, so that each run begins there: links back to it are
    # left out here.
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
    parser.add_argument("--seen", metavar="WHERE", help="a file or the URL of a Redis")
    parser.add_argument(
        "--job",
        metavar="FOLDER",
        help="Scrapy's JOBDIR: queue and filter of a crawl that may be interrupted",
    )
    parser.add_argument(
        "--retry",
        action="store_true",
        help="a page is seen once it came, not once it was asked for",
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
