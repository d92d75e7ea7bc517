"""A duplicate filter for Scrapy in a few bits per request: in memory, in a file, or in Redis for
all machines of a crawl.

    DUPEFILTER_CLASS = "bloomfilter.scrapy.BloomDupeFilter"
    BLOOMFILTER_N = 10_000_000             # expected number of requests (1,000,000)
    BLOOMFILTER_P = 1e-6                   # false-positive rate at N requests (1e-6)
    BLOOMFILTER_STORAGE = "redis://..."    # or a path (seen.bloom in JOBDIR; no JOBDIR: memory)
    BLOOMFILTER_WINDOW = 7 * 24 * 3600     # seconds to remember a request (for ever)
    BLOOMFILTER_GROW = 2                   # grow past BLOOMFILTER_N by this factor
    BLOOMFILTER_SECRET = "00112233..."     # 16 bytes, or 32 hexadecimal digits
    BLOOMFILTER_SCHEME = "scrapy-redis-bloomfilter"    # continue a bitmap of that package
    BLOOMFILTER_EXCLUSIVE = True           # this crawler is the file's only writer: faster
    BLOOMFILTER_SEEN = "success"           # seen after the response ("request": when scheduled)
    BLOOMFILTER_PENDING = 100_000          # "success": maximum number of pending requests

Defaults are in parentheses; docs/crawlers.md has the details."""

import logging
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

try:
    from scrapy import signals
    from scrapy.dupefilters import BaseDupeFilter
    from scrapy.exceptions import CloseSpider
    from scrapy.utils.job import job_dir
    from scrapy.utils.request import referer_str
except ImportError as error:
    raise ImportError(
        "bloomfilter.scrapy needs Scrapy: pip install 'bloomfilter-shared[scrapy]'"
    ) from error

from . import BloomFilter, Error
from ._gate import LOOK, was_replaced

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

__all__ = ["BloomDupeFilter"]

logger = logging.getLogger(__name__)
N, P, PENDING, SECRET = 1_000_000, 1e-6, 100_000, 16
# the scheme of the package scrapy-redis-bloomfilter, and defaults of that package's settings
THEIRS, THEIR_BIT, THEIR_HASHES = "scrapy-redis-bloomfilter", 30, 6
# key of request.meta: fingerprints that become seen if this request succeeds; retries and redirects
# inherit the list
MARK = "bloomfilter_pending"
PENDING_FILE = "seen.pending"
# in JOBDIR from open() to close().  If it exists before, the last run was killed: its queue is lost
OPEN_FILE = "seen.open"


def parameters(settings: "BaseSettings", spider: str) -> dict[str, Any]:
    """Returns the arguments of BloomFilter()."""
    window, grow = number(settings, "WINDOW", float), number(settings, "GROW", float)
    secret, scheme = secret_of(settings), settings.get("BLOOMFILTER_SCHEME")
    storage, overfull = storage_of(settings, spider), settings.get("BLOOMFILTER_OVERFULL")
    return {
        "n": number(settings, "N", int, N),
        **(
            sizes_of_theirs(settings, storage)
            if scheme == THEIRS
            else {"p": number(settings, "P", float, P)}
        ),
        "storage": storage,
        **({} if scheme is None else {"scheme": scheme}),
        **({} if window is None else {"window": window}),
        **({} if grow is None else {"grow": grow}),
        **({} if overfull is None else {"overfull": overfull}),
        **({} if secret is None else {"secret": secret}),
        **({"exclusive": True} if settings.getbool("BLOOMFILTER_EXCLUSIVE") else {}),
    }


def number(settings: "BaseSettings", name: str, kind: type, default: Any = None) -> Any:
    """Returns the setting BLOOMFILTER_<name> as an int or a float; of a timedelta its seconds."""
    given = settings.get(f"BLOOMFILTER_{name}", default)
    given = given.total_seconds() if isinstance(given, timedelta) else given
    try:
        return None if given is None else kind(given)
    except (TypeError, ValueError, OverflowError):
        whole = " whole" if kind is int else ""
        raise ValueError(f"BLOOMFILTER_{name} must be a{whole} number, got {given!r}") from None


def sizes_of_theirs(settings: "BaseSettings", storage: str | None) -> dict[str, Any]:
    """Returns m and k from the settings of scrapy-redis-bloomfilter.  Its bitmap in Redis is
    adopted; the package can still use the bitmap."""
    bit = settings.getint("BLOOMFILTER_BIT", THEIR_BIT)
    if not 0 <= bit <= 32:
        raise ValueError(f"BLOOMFILTER_BIT must be 0 to 32, got {bit}")
    hashes = settings.getint("BLOOMFILTER_HASH_NUMBER", THEIR_HASHES)
    adopt = {"adopt": True} if storage and "://" in storage else {}
    return {"m": 1 << bit, "k": hashes, **adopt}


def keys_of(filter: "BloomDupeFilter") -> "Callable[[Request], bytes]":
    """Returns a function from a request to its key: the crawler's fingerprint, which
    scrapy-redis-bloomfilter writes in hexadecimal, or what a subclass makes of the request."""
    overridden = type(filter).request_fingerprint is not BloomDupeFilter.request_fingerprint
    if overridden or filter.crawler.settings.get("BLOOMFILTER_SCHEME") == THEIRS:
        return lambda request: filter.request_fingerprint(request).encode()
    fingerprint: Callable[[Request], bytes] = filter.fingerprinter.fingerprint
    return fingerprint


def secret_of(settings: "BaseSettings") -> bytes | None:
    """Returns the secret, or None.  Messages never contain the value."""
    given = settings.get("BLOOMFILTER_SECRET")
    if given is None:
        return None
    if isinstance(given, (bytes, bytearray)) and len(given) == SECRET:
        return bytes(given)
    text = given.decode("latin-1") if isinstance(given, (bytes, bytearray)) else given
    if isinstance(text, str) and re.fullmatch(r"[0-9A-Fa-f]{32}", text, re.ASCII):
        return bytes.fromhex(text)
    raise ValueError("BLOOMFILTER_SECRET must be 16 bytes or 32 hexadecimal digits")


def storage_of(settings: "BaseSettings", spider: str) -> str | None:
    """Returns a path, a URL, or None for memory.  Replaces %(spider)s by the spider's name."""
    given = settings.get("BLOOMFILTER_STORAGE")
    if given:
        text = str(given)
        return text.replace("%(spider)s", quote(spider, safe="") if "://" in text else spider)
    folder = job_dir(settings)
    return str(Path(folder, "seen.bloom")) if folder else None


class BloomDupeFilter(BaseDupeFilter):
    """Set DUPEFILTER_CLASS to this class.  `seen` is the BloomFilter, opened at its first use."""

    def __init__(self, crawler: "Crawler") -> None:
        settings = crawler.settings
        self.crawler = crawler
        self.fingerprinter = crawler.request_fingerprinter
        self.fingerprint = keys_of(self)
        self.debug = settings.getbool("DUPEFILTER_DEBUG")
        self.logdupes = True
        success = settings.get("BLOOMFILTER_SEEN") == "success"
        self.pending = Pending(crawler, self.fingerprint) if success else None
        self._seen: BloomFilter | None = None
        self._next_look = 0.0
        self._open_file: Path | None = None

    @classmethod
    def from_crawler(cls, crawler: "Crawler") -> "BloomDupeFilter":
        return cls(crawler)

    @classmethod
    def from_spider(cls, spider: "Spider") -> "BloomDupeFilter":
        """For schedulers that create the duplicate filter themselves and call neither open() nor
        close() (scrapy-redis)."""
        made = cls.from_crawler(spider.crawler)
        logger.info("Filtering duplicates with %r", made.seen)
        spider.crawler.signals.connect(made._spider_closed, signals.spider_closed)
        return made

    def _spider_closed(self, reason: str) -> None:
        self.close(reason)

    @property
    def seen(self) -> BloomFilter:
        if self._seen is None:
            settings = self.crawler.settings
            mode = settings.get("BLOOMFILTER_SEEN", "request")
            if mode not in ("request", "success"):
                raise ValueError(f'BLOOMFILTER_SEEN must be "request" or "success", got {mode!r}')
            name = self.crawler.spider.name if self.crawler.spider else ""
            seen = BloomFilter(**parameters(settings, name))
            if self.pending:
                self.pending.open(seen, job_dir(settings))
            self._seen = seen
        elif time.monotonic() >= self._next_look:
            self._seen = self._follow(self._seen)
        return self._seen

    def _follow(self, seen: BloomFilter) -> BloomFilter:
        """Returns the filter, or opens the file that has replaced its file.  Its sizes may differ."""
        self._next_look = time.monotonic() + LOOK
        if not was_replaced(seen):
            return seen
        given = parameters(self.crawler.settings, "") | {"storage": seen.storage}
        new = BloomFilter.open(
            **{name: given[name] for name in given if name not in ("m", "n", "k", "p")}
        )
        logger.info("The filter's file was replaced: filtering duplicates with %r", new)
        if self.pending:
            self.pending.seen = new
        return new

    def open(self) -> None:
        """Called by Scrapy's own scheduler, which keeps its queue only in JOBDIR."""
        settings = self.crawler.settings
        storage, folder = settings.get("BLOOMFILTER_STORAGE"), job_dir(settings)
        try:
            logger.info("Filtering duplicates with %r", self.seen)
            if folder:
                self._open_job(Path(folder, OPEN_FILE), storage)
        except (OSError, TypeError, ValueError, Error) as fault:
            logger.error("Cannot open the filter of seen requests: %s%s", fault, advice(fault))
            self.crawler.signals.connect(self._stop, signals.spider_opened)
            return
        if storage and not folder:
            logger.warning(
                "BLOOMFILTER_STORAGE is kept, but without JOBDIR the queue is lost if this crawl is interrupted: the next run may then miss pages that were never requested. Set JOBDIR, or use a new storage for each crawl (delete the old one)"
            )

    def _open_job(self, file: Path, storage: Any) -> None:
        """Scrapy writes its queue when a job is closed, and calls close() after that.  If the last
        run was killed, the filter is ahead of the queue."""
        if file.exists() and len(self.seen):
            if storage:
                logger.warning(
                    "The last run of this job did not end cleanly (killed, or Ctrl-C twice) and its queue is lost, but BLOOMFILTER_STORAGE remembers its requests: this run may miss pages that were never requested. Use a new storage (delete the old one)"
                )
            else:
                self.clear()
                logger.warning(
                    "The last run of this job did not end cleanly (killed, or Ctrl-C twice) and its queue is lost: the filter of seen requests is cleared, and pages are requested again"
                )
        file.touch()
        self._open_file = file

    def _stop(self) -> None:
        """Ends the crawl once the spider is open: Scrapy can close only a spider that is open."""
        raise CloseSpider("bloomfilter_error")

    def request_fingerprint(self, request: "Request") -> str:
        """For subclasses: requests with the same text are duplicates, as in RFPDupeFilter."""
        text: str = self.fingerprinter.fingerprint(request).hex()
        return text

    def request_seen(self, request: "Request") -> bool:
        """Returns true if the request is a duplicate.  A false positive has the probability
        BLOOMFILTER_P; there are no false negatives."""
        fingerprint = self.fingerprint(request)
        if not self.pending:
            return not self.seen.add(fingerprint)
        return fingerprint in self.seen or not self.pending.start(request, fingerprint)

    def clear(self) -> None:
        """Forgets all requests, also for other processes that share the filter."""
        self.seen.clear()
        if self.pending:
            self.pending.idle()

    def log(self, request: "Request", spider: "Spider") -> None:
        if self.debug:
            message = "Filtered duplicate request: %(request)s (referer: %(referer)s)"
            logger.debug(
                message,
                {"request": request, "referer": referer_str(request)},
                extra={"spider": spider},
            )
        elif self.logdupes:
            message = "Filtered duplicate request: %(request)s - no more duplicates will be shown (see DUPEFILTER_DEBUG to show all duplicates)"
            logger.debug(message, {"request": request}, extra={"spider": spider})
            self.logdupes = False
        self.crawler.stats.inc_value("dupefilter/filtered")

    def close(self, reason: str) -> None:
        if self._seen is None:
            return
        try:
            with self._seen as seen:
                if self._open_file:
                    self._open_file.unlink(missing_ok=True)
                if self.pending:
                    self.pending.close(job_dir(self.crawler.settings))
                self._tell_state(seen)
                seen.sync()
        except (
            OSError,
            Error,
        ) as fault:  # the crawl has ended, also if Redis or the file is not available
            logger.warning("The filter of requests seen before: %s", fault)
        finally:
            self._seen = self._open_file = None

    def _tell_state(self, seen: BloomFilter) -> None:
        count = len(seen)
        self.crawler.stats.set_value("dupefilter/seen", count)
        if self.crawler.settings.get("BLOOMFILTER_OVERFULL") == "ignore":
            return
        if seen.saturated if seen.grow else count > 1.1 * seen.n:
            logger.warning(
                "The filter is sized for BLOOMFILTER_N = %d requests and holds about %d: a share of %.2g of new requests is dropped as seen",
                seen.n, count, seen.fpr,
            )  # fmt: skip


def advice(fault: Exception) -> str:
    """Returns what to do about settings that differ from those of an existing filter."""
    if "asked for" not in str(fault):
        return ""
    return ". Use the settings that created the filter, another BLOOMFILTER_STORAGE or JOBDIR, or delete the filter"


# ---- seen only after success ----
class Pending:
    """Pending requests: scheduled, but without a response.  Equal requests are duplicates of them.
    A pending request is added to the filter only if it succeeds.

    on_their_way: fingerprint -> None while the request waits in the scheduler, the request while
    the downloader has it.  Some failures send no signal (IgnoreRequest of a middleware).  So a
    request has failed if it has left the downloader without a response and was not scheduled
    again.  When the spider is idle, no request is pending."""

    def __init__(self, crawler: "Crawler", fingerprint: "Callable[[Request], bytes]") -> None:
        self.crawler = crawler
        self.fingerprint = fingerprint
        self.most = PENDING
        self.on_their_way: OrderedDict[bytes, Request | None] = OrderedDict()
        self.leaving: list[Request] = []
        self.told_of_limit = False
        connect = crawler.signals.connect
        connect(self.scheduled, signals.request_scheduled)
        connect(self.dropped, signals.request_dropped)
        connect(self.downloading, signals.request_reached_downloader)
        connect(self.left, signals.request_left_downloader)
        connect(self.received, signals.response_received)
        connect(self.idle, signals.spider_idle)

    def start(self, request: "Request", fingerprint: bytes) -> bool:
        """Returns false if the request is pending already."""
        self.sweep()
        if fingerprint in self.on_their_way:
            return False
        request.meta[MARK] = [*marks(request), fingerprint]
        self.keep(fingerprint, None)
        return True

    def keep(self, fingerprint: bytes, request: "Request | None") -> None:
        self.on_their_way[fingerprint] = request
        if len(self.on_their_way) <= self.most:
            return
        self.on_their_way.popitem(last=False)
        if not self.told_of_limit:
            logger.warning(
                "More than BLOOMFILTER_PENDING = %d requests are on their way: the oldest may be requested twice",
                self.most,
            )
            self.told_of_limit = True

    def end(self, fingerprints: Iterable[bytes], success: bool) -> None:
        for fingerprint in fingerprints:
            self.on_their_way.pop(fingerprint, None)
            if success:
                self.seen.add(fingerprint)

    def sweep(self) -> None:
        """Drops requests that have failed: they have left the downloader without a response."""
        active = self.crawler.engine.downloader.active if self.leaving else ()
        self.leaving, left = (
            [request for request in self.leaving if request in active],
            self.leaving,
        )
        for request in left:
            if request not in active:
                self.end((f for f in marks(request) if self.on_their_way.get(f) is request), False)

    # signals
    def scheduled(self, request: "Request") -> None:
        """A retry or a redirect has the marks of the request that it continues."""
        for fingerprint in marks(request):
            self.keep(fingerprint, None)

    def dropped(self, request: "Request") -> None:
        """After a redirect to a duplicate: the requests before the redirect are seen if its target
        is seen.  Without a redirect the spider has yielded the request twice, and the first one
        counts."""
        if marks(request) and request.meta.get("redirect_times"):
            self.end(request.meta.pop(MARK), self.fingerprint(request) in self.seen)

    def downloading(self, request: "Request") -> None:
        for fingerprint in marks(request):
            self.keep(fingerprint, request)

    def left(self, request: "Request") -> None:
        self.sweep()
        if marks(request):
            self.leaving.append(request)

    def received(self, response: "Response", request: "Request") -> None:
        """Removes the marks before the spider gets the response, because new requests that copy the
        meta must not have the marks."""
        if marks(request):
            self.end(request.meta.pop(MARK), self.is_success(response, request))

    def idle(self) -> None:
        self.on_their_way.clear()
        self.leaving.clear()

    def is_success(self, response: "Response", request: "Request") -> bool:
        """Returns true if HttpErrorMiddleware passes the response to the spider."""
        settings, meta = self.crawler.settings, request.meta
        if (
            200 <= response.status < 300
            or settings.getbool("HTTPERROR_ALLOW_ALL")
            or meta.get("handle_httpstatus_all")
        ):
            return True
        allowed = meta.get(
            "handle_httpstatus_list",
            getattr(
                self.crawler.spider,
                "handle_httpstatus_list",
                settings.getlist("HTTPERROR_ALLOWED_CODES"),
            ),
        )
        return response.status in {int(status) for status in allowed or ()}

    # between two runs, pending requests wait in the queue of JOBDIR
    def open(self, seen: BloomFilter, folder: str | None) -> None:
        self.most = number(self.crawler.settings, "PENDING", int, PENDING)
        if self.most < 1:
            raise ValueError(f"BLOOMFILTER_PENDING must be 1 or more, got {self.most}")
        self.seen = seen
        if folder and Path(folder, PENDING_FILE).exists():
            file = Path(folder, PENDING_FILE)
            for fingerprint in read_fingerprints(file.read_bytes()):
                self.keep(fingerprint, None)
            file.unlink()

    def close(self, folder: str | None) -> None:
        self.sweep()
        if folder and self.on_their_way:
            data = b"".join(len(f).to_bytes(2, "big") + f for f in self.on_their_way)
            Path(folder, PENDING_FILE).write_bytes(data)


def marks(request: "Request") -> list[bytes]:
    found: list[bytes] = request.meta.get(MARK, [])
    return found


def read_fingerprints(data: bytes) -> Iterator[bytes]:
    at = 0
    while at + 2 <= len(data):
        size = int.from_bytes(data[at : at + 2], "big")
        if at + 2 + size <= len(data):
            yield data[at + 2 : at + 2 + size]
        at += 2 + size
