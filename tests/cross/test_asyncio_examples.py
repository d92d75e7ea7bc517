"""The examples for asyncio, run: a server of aiohttp, one of FastAPI, a crawler; and a crawler of
several processes."""

import asyncio
import importlib.util
import sys

import pytest
import site_of_links
from products import ROOT, run
from site_of_links import PAGES, Site

redis = pytest.importorskip("redis")
pytest.importorskip("redis.asyncio")
pytest.importorskip("greenlet")
aiohttp = pytest.importorskip("aiohttp")
from aiohttp import test_utils  # noqa: E402

from bloomfilter.asyncio import BloomFilter  # noqa: E402

EXAMPLES = ROOT / "examples"


def example(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def server(redis_port):
    return f"redis://127.0.0.1:{redis_port}/0"


@pytest.fixture(autouse=True)
def empty(server):
    with redis.Redis.from_url(server) as client:
        client.flushall()


def test_aiohttp(server):
    async def visit(client, name):
        async with client.post(f"/visit/{name}") as response:
            return await response.text()

    async def main():
        visits = example("aiohttp_visits")
        apps = [visits.make_app(server) for _ in range(2)]
        async with test_utils.TestClient(test_utils.TestServer(apps[0])) as a:
            async with test_utils.TestClient(test_utils.TestServer(apps[1])) as b:
                names = [f"visitor{i}" for i in range(100)]
                answers = await asyncio.gather(
                    *(visit(client, name) for name in names for client in (a, b, a))
                )
                for i in range(100):
                    three = sorted(answers[3 * i : 3 * i + 3])
                    assert three == ["welcome", "welcome back", "welcome back"]
                assert await visit(b, "visitor7") == "welcome back"

    asyncio.run(main())


def test_fastapi(server, monkeypatch):
    pytest.importorskip("fastapi")
    httpx = pytest.importorskip("httpx")
    monkeypatch.setenv("STORAGE", server + "?key=names")
    names = example("fastapi_names")
    names.database.names.update(["ann", "bob"])

    async def main():
        async with (
            names.lifespan(names.app),
            httpx.AsyncClient(
                transport=httpx.ASGITransport(names.app), base_url="http://x"
            ) as client,
        ):
            assert (await client.get("/free/ann")).json() is False
            asked = names.database.asked
            free = await asyncio.gather(*(client.get(f"/free/new{i}") for i in range(50)))
            assert all(answer.json() for answer in free) and names.database.asked < asked + 5
            assert (await client.post("/users/cid")).status_code == 201
            assert (await client.post("/users/cid")).status_code == 409
            assert (await client.get("/free/cid")).json() is False

    asyncio.run(main())


@pytest.fixture
def site(monkeypatch):
    """Its links have fragments, which are of the same page, and lead to another host, too."""
    plain, other = site_of_links.links_of, "/elsewhere.invalid/"
    links = lambda page: [*(f"{x}#here" for x in plain(page)), other]  # noqa: E731
    monkeypatch.setattr(site_of_links, "links_of", links)
    with Site() as site:
        yield site
        assert site.pages() == {f"/{page}": 1 for page in range(PAGES)}
        site.shutdown()


@pytest.mark.parametrize("home", ["file", "redis.asyncio"])
def test_a_crawler_fetches_each_page_once(home, server, site, tmp_path):
    crawler = example("async_crawler")

    async def main():
        client = redis.asyncio.Redis.from_url(server)
        where = {
            "file": {"storage": tmp_path / "seen.bloom"},
            "redis.asyncio": {"storage": client, "key": "seen"},
        }[home]
        async with await BloomFilter.create(n=100_000, p=1e-6, **where) as seen:
            fetched = []
            crawls = (crawler.crawl(seen, [site.url()], 10, fetched.append) for _ in "ab")
            await asyncio.gather(*crawls)
            assert len(fetched) == PAGES == len(set(fetched))
        await client.aclose()

    asyncio.run(main())


def test_the_crawler_as_a_command(site, tmp_path):
    command = sys.executable, EXAMPLES / "async_crawler.py", tmp_path / "x", site.url()
    for pages in (PAGES, 0):  # what was seen stays in the file
        assert len(set(run(command).split())) == pages


def test_a_crawler_of_several_processes(server, site):
    command = sys.executable, EXAMPLES / "crawler.py", server + "?key=pages", site.url()
    fetched = run(command, text=True).split()
    assert sorted(fetched) == sorted(site.url(f"/{page}") for page in range(PAGES))
    assert run([*command, "--processes", "3"], text=True) == ""  # all of them are seen
