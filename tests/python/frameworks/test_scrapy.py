"""The duplicate filter for Scrapy, in real crawls of a site on this machine."""

import datetime
import json
import runpy
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import servers
import pytest
from crawl import main as crawler_main
import forked
from site_of_links import PAGES, Site

from bloomfilter import BloomFilter, Error

scrapy = pytest.importorskip("scrapy")
from scrapy import Request  # noqa: E402
from scrapy.settings import Settings  # noqa: E402
from scrapy.utils.test import get_crawler  # noqa: E402

from bloomfilter.scrapy import BloomDupeFilter, parameters  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]
OURS = {"DUPEFILTER_CLASS": "bloomfilter.scrapy.BloomDupeFilter"}
SUCCESS = OURS | {"BLOOMFILTER_SEEN": "success", "CONCURRENT_REQUESTS": 1}


@pytest.fixture
def site():
    site = Site()
    yield site
    site.gate.set()
    site.shutdown()
    site.server_close()


def start(settings, url):
    pipes = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
    return forked.Forked(lambda: crawler_main(settings, url), text=True, **pipes)


def finish(process):
    out, log = process.communicate(timeout=300)
    assert process.returncode == 0, log
    return json.loads(out.splitlines()[-1]), log


def crawl(settings, url):
    return finish(start(settings, url))


@pytest.fixture
def redis(tmp_path):
    with servers.running(tmp_path) as (port, _):
        url = f"redis://127.0.0.1:{port}/0?timeout=60&key="
        try:
            BloomFilter(n=10, p=0.1, storage=url + "try").close()
        except Error as error:
            pytest.skip(str(error))
        yield url


# ---- seen once scheduled ----
def test_in_memory_as_the_default_filter_does(site):
    default, _ = crawl({}, site.url())
    pages = site.pages()
    site.asked.clear()
    ours, _ = crawl(OURS, site.url())
    assert set(pages) == {f"/{i}" for i in range(PAGES)}
    assert site.pages() == pages
    assert ours["dupefilter/filtered"] == default["dupefilter/filtered"] > PAGES
    assert (
        ours["finish_reason"] == "finished"
        and ours["response_received_count"] == default["response_received_count"]
    )
    assert abs(ours["dupefilter/seen"] - PAGES) <= 2


def make(**settings):
    return BloomDupeFilter.from_crawler(get_crawler(settings_dict=settings))


A = Request("http://a.org")
HEXED = bytes.fromhex("00112233445566778899aabbccddeeff")


@pytest.mark.parametrize("mode, kill", [("request", False), ("success", False), ("success", True)])
def test_a_job_goes_on_where_it_was(site, tmp_path, mode, kill):
    """Scrapy writes its queue at a clean end only; after a kill the filter is ahead of it."""
    folder = tmp_path / "job"
    job = OURS | {"JOBDIR": str(folder), "BLOOMFILTER_SEEN": mode, "CONCURRENT_REQUESTS": 1}
    first, log = crawl(job | {"CLOSESPIDER_PAGECOUNT": 10}, site.url())
    asked = site.pages()  # page 0 may come twice: Scrapy does not filter where it starts
    assert first["finish_reason"] == "closespider_pagecount", log
    assert 10 <= sum(asked.values()) and len(asked) < PAGES
    assert BloomFilter.open(folder / "seen.bloom").n == 1_000_000
    assert (folder / "seen.pending").exists() == (mode == "success")
    if kill:
        killed = start(job | {"KILL_AT": 15}, site.url())
        assert killed.communicate(timeout=300) and killed.returncode == -signal.SIGKILL
    last, log = crawl(job, site.url())
    assert last["finish_reason"] == "finished", log
    assert set(site.pages()) == {f"/{i}" for i in range(PAGES)}
    assert kill or {n for path, n in site.pages().items() if path != "/0"} == {1}
    assert log.count("WARNING: The last run of this job did not end cleanly") == kill
    assert not {"seen.pending", "seen.open"} & {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("named", [False, True])
def test_a_filter_that_the_user_named_is_not_cleared(tmp_path, caplog, named):
    settings = {"JOBDIR": str(tmp_path / "job")}
    if named:
        settings["BLOOMFILTER_STORAGE"] = str(tmp_path / "job" / "seen.bloom")
    killed, again = make(**settings), make(**settings)
    killed.open()
    assert not killed.request_seen(A)
    again.open()
    assert again.request_seen(A) == named
    assert ("is cleared" in caplog.text, "Use a new storage" in caplog.text) == (not named, named)
    again.close("finished")
    caplog.clear()
    closed = make(**settings)
    closed.open()
    assert closed.request_seen(A) and not caplog.text


def test_settings_that_do_not_fit_do_not_hide_that_a_run_was_killed(tmp_path, caplog):
    settings = {"JOBDIR": str(tmp_path / "job")}
    killed = make(**settings)
    killed.open()
    killed.request_seen(A)
    for wrong in ({"BLOOMFILTER_N": 5}, {"BLOOMFILTER_SEEN": "success", "BLOOMFILTER_PENDING": 0}):
        refused = make(**settings, **wrong)
        refused.open()
        refused.close("bloomfilter_error")
    assert caplog.text.count("Cannot open the filter of seen requests") == 2
    again = make(**settings)
    again.open()
    assert not again.request_seen(A)


def test_a_file_from_run_to_run(site, tmp_path):
    stored = OURS | {
        "BLOOMFILTER_STORAGE": str(tmp_path / "%(spider)s.bloom"),
        "BLOOMFILTER_N": 5000,
    }
    _, log = crawl(stored, site.url())
    assert "without JOBDIR the queue is lost" in log
    site.asked.clear()
    again, _ = crawl(stored, site.url())
    assert site.pages() == {"/0": 1}  # Scrapy does not filter its start requests
    assert again["dupefilter/filtered"] == 5
    with BloomFilter.open(tmp_path / "pages.bloom") as seen:
        assert (seen.n, seen.p) == (5000, 1e-6)
    refused, log = crawl(stored | {"BLOOMFILTER_N": 6000}, site.url())
    assert "has n=5000, asked for n=6000. Use the settings that created the filter" in log
    assert "Traceback" not in log and refused["finish_reason"] == "bloomfilter_error"
    assert "response_received_count" not in refused


def test_two_processes_share_redis(site, redis):
    shared = OURS | {"BLOOMFILTER_STORAGE": redis + "%(spider)s:seen"}
    for process in [start(shared, site.url()) for _ in range(2)]:
        finish(process)
    assert {path: n for path, n in site.pages().items() if path != "/0"} == {
        f"/{i}": 1 for i in range(1, PAGES)
    }
    assert BloomFilter.open(redis + "pages:seen").p == 1e-6


def test_redis_that_went_away_is_no_absence(redis, tmp_path):
    with servers.running(tmp_path) as (port, _):
        url = f"redis://127.0.0.1:{port}/0?timeout=60&key="
        dupefilter = BloomDupeFilter.from_crawler(
            get_crawler(settings_dict=OURS | {"BLOOMFILTER_STORAGE": url + "x"})
        )
        dupefilter.open()
        assert not dupefilter.request_seen(A)
    with pytest.raises(OSError):
        dupefilter.request_seen(A)
    dupefilter.close("finished")  # and the crawl can end


# ---- seen once it came ----
FOUR = {"HTTPERROR_ALLOWED_CODES": [404]}
RETRIES = {"RETRY_ENABLED": True, "RETRY_TIMES": 2, "RETRY_PRIORITY_ADJUST": -100}


@pytest.mark.parametrize(
    "more, asked",
    [
        ({}, {"flaky": 2, "flakier": 3, "drop": 2, "gone": 4, "moved": 1, "target": 1}),
        ({"BLOOMFILTER_SEEN": "request"}, dict.fromkeys(("flaky", "flakier", "gone"), 1)),
        (FOUR, {"flaky": 2, "flakier": 3, "gone": 1}),
        ({"HTTPERROR_ALLOW_ALL": True}, {"flaky": 1, "flakier": 1, "drop": 2, "gone": 1}),
        (RETRIES, {"flaky": 2, "flakier": 3, "drop": 2, "gone": 4}),  # 503, 503, 200: one request
    ],
    ids=lambda value: "-".join(map(str, value)),
)
def test_a_page_that_failed_is_asked_for_again(site, more, asked):
    stats, log = crawl(SUCCESS | more, site.url("/chains"))
    assert {name: site.asked["/" + name] for name in asked} == asked, log
    assert not stats["still_pending"]


def test_success_mode_asks_for_the_same_pages(site):
    """Also where the spider copies the meta of a response to its next requests."""
    stats, _ = crawl(SUCCESS | {"CONCURRENT_REQUESTS": 8, "INHERIT_META": True}, site.url())
    assert site.pages() == {f"/{i}": 2 if i == 0 else 1 for i in range(PAGES)}
    assert stats["still_pending"] == 0


def test_next_run_asks_for_what_failed_in_the_last(site, tmp_path):
    stored = SUCCESS | {"BLOOMFILTER_STORAGE": str(tmp_path / "seen.bloom")}
    crawl(stored, site.url("/chain/down/3"))
    assert site.asked["/down"] == 1
    site.up = True
    crawl(stored, site.url("/chain/down/3"))
    assert site.asked["/down"] == 2


def test_requests_that_a_middleware_ignores_are_forgotten_when_idle(site):
    refuses = {"DOWNLOADER_MIDDLEWARES": {"crawl.Refuse": 10}, "CONCURRENT_REQUESTS": 8}
    stats, _ = crawl(SUCCESS | refuses, site.url())
    assert not any(path.endswith("7") for path in site.pages()) and stats["still_pending"] == 0


def test_not_twice_while_it_is_under_way(site):
    stats, log = crawl(SUCCESS | {"CONCURRENT_REQUESTS": 8}, site.url("/opens"))
    assert site.asked == {"/opens": 1, "/slow": 1, "/opener": 1, "/opened": 1}, log
    assert stats["dupefilter/filtered"] == 1


def test_the_number_of_pending_requests_is_bounded(site):
    stats, log = crawl(SUCCESS | {"BLOOMFILTER_PENDING": 3}, site.url())
    assert set(site.pages()) == {f"/{i}" for i in range(PAGES)}
    assert log.count("More than BLOOMFILTER_PENDING = 3 requests") == 1


# ---- the interface ----
def test_the_interface():
    dupefilter = make()
    assert dupefilter.open() is None
    assert dupefilter.request_seen(Request("http://a.org/?b=1&a=2")) is False
    assert dupefilter.request_seen(Request("http://a.org/?a=2&b=1")) is True  # canonical
    assert dupefilter.request_seen(Request("http://a.org/?a=2&b=1", method="POST")) is False
    seen = dupefilter.seen
    assert (seen.n, seen.p, seen.storage) == (1_000_000, 1e-6, None)
    assert sys.getsizeof(seen) <= 5 * seen.n
    assert dupefilter.close("finished") is None and dupefilter.close("again") is None


@pytest.mark.parametrize("mode", ["request", "success"])
def test_clear_forgets_also_what_is_on_its_way(mode):
    dupefilter = make(BLOOMFILTER_SEEN=mode)
    assert [dupefilter.request_seen(A) for _ in range(2)] == [False, True]
    dupefilter.clear()
    assert not dupefilter.request_seen(A)


class WithoutQuery(BloomDupeFilter):
    def request_fingerprint(self, request):
        return super().request_fingerprint(request.replace(url=request.url.split("?")[0]))


@pytest.mark.parametrize("seen", ["request", "success"])
def test_a_subclass_that_overrides_request_fingerprint(seen):
    crawler = get_crawler(settings_dict={"BLOOMFILTER_SEEN": seen})
    dupefilter = WithoutQuery.from_crawler(crawler)
    requests = [Request(f"http://a.org/page?session={i}") for i in range(4)]
    assert list(map(dupefilter.request_seen, requests)) == [False, True, True, True]
    text = dupefilter.request_fingerprint(requests[0])
    assert text == BloomDupeFilter.from_crawler(crawler).request_fingerprint(
        Request("http://a.org/page")
    )
    assert (text in dupefilter.seen) is (seen == "request")


@pytest.mark.parametrize("debug", [False, True])
def test_duplicates_are_logged_and_counted(debug, caplog):
    crawler = get_crawler(settings_dict={"DUPEFILTER_DEBUG": debug})
    crawler.spider = crawler._create_spider("pages")
    dupefilter = BloomDupeFilter.from_crawler(crawler)
    with caplog.at_level("DEBUG", logger="bloomfilter.scrapy"):
        for _ in range(3):
            dupefilter.log(
                Request("http://a.org", headers={"Referer": "http://b.org"}), crawler.spider
            )
    told = [record.getMessage() for record in caplog.records]
    assert len(told) == (3 if debug else 1) and all(
        line.startswith("Filtered duplicate request: <GET http://a.org>") for line in told
    )
    assert ("referer: http://b.org" in told[0]) == debug
    assert crawler.stats.get_value("dupefilter/filtered") == 3


@pytest.mark.parametrize(
    "secret", ["", b"", "hunter2hunter2", "g" * 32, "0" * 31, b"0" * 33, "é" * 16, 5, "\u0661" * 32]
)
def test_a_secret_that_is_none(secret):
    with pytest.raises(ValueError, match="16 bytes or 32 hexadecimal digits") as refused:
        _ = make(BLOOMFILTER_SECRET=secret).seen
    assert "hunter2" not in str(refused.value)


# ---- the settings ----
THEIRS = {"SCHEME": "scrapy-redis-bloomfilter"}
DEFAULTS = {"n": 1_000_000, "p": 1e-6, "storage": None}
ARGUMENTS = [
    ({}, DEFAULTS),
    ({"N": "5", "P": "0.5", "WINDOW": "3600"}, DEFAULTS | {"n": 5, "p": 0.5, "window": 3600.0}),
    ({"WINDOW": datetime.timedelta(hours=1)}, DEFAULTS | {"window": 3600.0}),
    ({"GROW": "2", "OVERFULL": "raise"}, DEFAULTS | {"grow": 2.0, "overfull": "raise"}),
    ({"STORAGE": Path("/x/%(spider)s")}, DEFAULTS | {"storage": "/x/a/b"}),
    (
        {"STORAGE": "redis://h/0?key=%(spider)s%2F"},
        DEFAULTS | {"storage": "redis://h/0?key=a%2Fb%2F"},
    ),
    ({"SCHEME": "classic"}, DEFAULTS | {"scheme": "classic"}),
    ({"SECRET": "00112233445566778899aAbBcCdDeEfF"}, DEFAULTS | {"secret": HEXED}),
    ({"SECRET": HEXED, "EXCLUSIVE": True}, DEFAULTS | {"secret": HEXED, "exclusive": True}),
    (THEIRS, {"n": 1_000_000, "m": 2**30, "k": 6, "storage": None, "scheme": THEIRS["SCHEME"]}),
    (
        THEIRS | {"STORAGE": "redis://h/0?key=k", "BIT": 20, "HASH_NUMBER": 3},
        {"n": 1_000_000, "m": 2**20, "k": 3, "adopt": True, "storage": "redis://h/0?key=k"}
        | {"scheme": THEIRS["SCHEME"]},
    ),
]


@pytest.mark.parametrize("given, arguments", ARGUMENTS, ids=str)
def test_settings(given, arguments):
    settings = {f"BLOOMFILTER_{name}": value for name, value in given.items()}
    assert parameters(Settings(settings), "a/b") == arguments


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"SEEN": "sometimes"}, "sometimes"),
        ({"N": 0}, "0"),
        ({"P": 2}, "2"),
        ({"WINDOW": -1}, "-1"),
        ({"N": "many"}, "many"),
        ({"N": float("inf")}, "inf"),
        ({"SEEN": "success", "PENDING": 0}, "BLOOMFILTER_PENDING"),
        (THEIRS | {"BIT": 33}, "BLOOMFILTER_BIT must be 0 to 32, got 33"),
    ],
    ids=str,
)
def test_settings_that_are_refused(given, says, caplog):
    settings = {f"BLOOMFILTER_{name}": value for name, value in given.items()}
    with pytest.raises(ValueError, match=says):
        _ = make(**settings).seen
    make(**settings).open()
    assert "Cannot open the filter of seen requests" in caplog.text and says in caplog.text


@pytest.mark.parametrize("how", [None, "warn", "ignore", "raise"])
@pytest.mark.parametrize("grow", [None, 2])
def test_a_filter_that_is_too_small_says_so(caplog, how, grow):
    sizes = {"BLOOMFILTER_N": 100, "BLOOMFILTER_P": 0.01, "BLOOMFILTER_GROW": grow}
    seen = make(**sizes, **({"BLOOMFILTER_OVERFULL": how} if how else {}))
    seen.open()
    requests = (Request(f"https://example.org/{i}") for i in range(300))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if how == "raise" and not grow:
            with pytest.raises(Error, match="it holds the n=100 keys"):
                list(map(seen.request_seen, requests))
        else:
            list(map(seen.request_seen, requests))
    seen.close("finished")
    warned = not grow and how in (None, "warn")
    assert ("sized for BLOOMFILTER_N = 100" in caplog.text) == warned


# ---- schedulers that make the filter ----
def test_from_spider(tmp_path):
    crawler = get_crawler(settings_dict={"BLOOMFILTER_STORAGE": tmp_path / "%(spider)s"})
    crawler.spider = crawler._create_spider("pages")
    dupefilter = BloomDupeFilter.from_spider(crawler.spider)
    assert not dupefilter.request_seen(A)
    crawler.signals.send_catch_log(
        scrapy.signals.spider_closed, spider=crawler.spider, reason="finished"
    )
    assert crawler.stats.get_value("dupefilter/seen") == 1
    again = BloomDupeFilter.from_spider(crawler.spider)
    assert again.request_seen(A)
    again.clear()
    assert not again.request_seen(A)
    with BloomFilter.open(tmp_path / "pages") as seen:
        assert len(seen) == 1


def with_scrapy_redis(redis, **more):
    pytest.importorskip("scrapy_redis")
    return OURS | {
        "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
        "REDIS_URL": redis.partition("?")[0],
        "BLOOMFILTER_STORAGE": redis + "%(spider)s:seen",
        "SCHEDULER_PERSIST": True,
        **more,
    }


def test_the_scheduler_of_scrapy_redis(site, redis):
    stats, log = crawl(with_scrapy_redis(redis), site.url())
    assert stats["finish_reason"] == "finished", log
    assert set(site.pages()) == {f"/{i}" for i in range(PAGES)}
    assert stats["scheduler/enqueued/redis"] >= PAGES
    assert stats["dupefilter/filtered"] > PAGES
    assert abs(stats["dupefilter/seen"] - PAGES) <= 2
    site.asked.clear()
    crawl(with_scrapy_redis(redis, SCHEDULER_PERSIST=False), site.url())
    assert site.pages() == {"/0": 1}  # all others were seen
    with BloomFilter.open(redis + "pages:seen") as seen:
        assert len(seen) == 0  # and are forgotten at the end


def test_a_crawl_goes_on_with_a_bitmap_of_scrapy_redis_bloomfilter(site, redis):
    """Pages that the package has in its bitmap are not requested; those of ours it finds, and it
    goes on writing."""
    theirs = pytest.importorskip("scrapy_redis_bloomfilter.bloomfilter")
    client = pytest.importorskip("redis").Redis.from_url(redis.partition("?")[0])
    old = theirs.BloomFilter(client, "pages:bloomfilter", 20, 6)
    fingerprint = get_crawler().request_fingerprinter.fingerprint

    def key(i):
        return fingerprint(Request(site.url(f"/{i}"))).hex()

    for i in (3, 4):
        old.insert(key(i))
    settings = OURS | {
        "BLOOMFILTER_SCHEME": "scrapy-redis-bloomfilter",
        "BLOOMFILTER_STORAGE": redis + "%(spider)s:bloomfilter",
        "BLOOMFILTER_N": 1000,
        "BLOOMFILTER_BIT": 20,
        "BLOOMFILTER_HASH_NUMBER": 6,
        "BLOOMFILTER_SEEN": "success",
    }
    stats, log = crawl(settings, site.url())
    assert stats["finish_reason"] == "finished", log
    asked = set(site.pages())
    assert "/1" in asked and not asked & {"/3", "/4"}
    assert all(old.exists(key(int(page[1:]))) for page in asked - {"/0"})
    old.insert(key(10**6))
    site.asked.clear()
    crawl(settings, site.url())
    assert site.pages() == {"/0": 1}
    with BloomFilter.open(redis + "pages:bloomfilter") as filter:
        assert filter.m == 2**20 and filter.k == 6 and key(10**6) in filter
        filter.clear()
    assert not old.exists(key(1))
    client.close()


EXAMPLE = ROOT / "examples" / "scrapy_crawl.py"


@pytest.mark.skipif(not EXAMPLE.exists(), reason="without the examples")
def test_the_example(site, tmp_path):
    def pages(*retry):
        command = [EXAMPLE, "--seen", tmp_path / "seen.bloom", *retry, site.url()]

        def example():
            sys.argv = [str(word) for word in command]
            runpy.run_path(sys.argv[0], run_name="__main__")

        done = forked.run(example)
        assert done.returncode == 0, done.stderr
        return done.stdout.decode().split()

    assert sorted(pages("--retry")) == sorted(site.url(f"/{i}") for i in range(PAGES))
    assert pages() == [site.url()]  # each run begins there


# ---- a file that another one replaces ----
@pytest.mark.parametrize("seen", ["request", "success"])
def test_the_new_file_is_used_when_it_has_replaced_the_old_one(tmp_path, caplog, monkeypatch, seen):
    """Also one of another size; a deleted file is an error, never an empty filter."""
    caplog.set_level("INFO")
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    path, other = tmp_path / "seen.bloom", tmp_path / "other"
    settings = {"BLOOMFILTER_STORAGE": str(path), "BLOOMFILTER_SEEN": seen}
    dupefilter = BloomDupeFilter.from_crawler(get_crawler(settings_dict=settings))
    dupefilter.open()
    request, known = Request("https://example.org/"), Request("https://example.org/known")
    assert not dupefilter.request_seen(request)
    with BloomFilter(n=500, p=1e-6, storage=other) as new:
        new.add(dupefilter.fingerprint(known))
    other.rename(path)
    now[0] += 2
    assert dupefilter.request_seen(known) and "was replaced: filtering" in caplog.text
    assert dupefilter.seen.n == 500 and (dupefilter.request_seen(request) is (seen == "success"))
    path.unlink()
    now[0] += 2
    with pytest.raises(FileNotFoundError):
        dupefilter.request_seen(known)
    assert not path.exists()
