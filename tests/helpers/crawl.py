"""main(settings, url): one crawl, once in a process; prints Scrapy's stats as JSON, and what is still
pending."""

import json
import os
import signal

from scrapy import Spider
from scrapy.crawler import CrawlerProcess
from scrapy.exceptions import IgnoreRequest
from scrapy.settings import Settings
from scrapy.utils.misc import load_object

# What each crawl imports is there before the processes of the crawls are forked.
for table in ("DOWNLOADER_MIDDLEWARES", "SPIDER_MIDDLEWARES", "EXTENSIONS", "DOWNLOAD_HANDLERS"):
    for one, other in Settings()[f"{table}_BASE"].items():
        load_object(other if isinstance(other, str) else one)


class Refuse:
    """A downloader middleware: pages that end in 7 are not asked for."""

    def process_request(self, request):
        if request.url.endswith("7"):
            raise IgnoreRequest


class Pages(Spider):
    name = "pages"
    parsed = 0

    def parse(self, response):
        self.parsed += 1
        if self.parsed == self.settings.getint("KILL_AT"):
            os.kill(os.getpid(), signal.SIGKILL)
        yield from response.follow_all(
            response.css("a"),
            errback=self.failed,
            meta=response.meta if self.settings.getbool("INHERIT_META") else None,
        )

    def failed(self, failure):
        pass

    def closed(self, reason):
        pending = getattr(self.crawler.engine.scheduler.df, "pending", None)
        self.crawler.stats.set_value(
            "still_pending", len(pending.on_their_way) if pending else None
        )


def main(settings, url):
    settings = {
        "LOG_LEVEL": "DEBUG",
        "TELNETCONSOLE_ENABLED": False,
        "RETRY_ENABLED": False,
        "DNSCACHE_ENABLED": False,
        "COOKIES_ENABLED": False,
    } | settings
    process = CrawlerProcess(settings)
    crawler = process.create_crawler(Pages)
    process.crawl(crawler, start_urls=[url])
    process.start()
    print(json.dumps(crawler.stats.get_stats(), default=str))
