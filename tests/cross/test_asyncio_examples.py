"""The examples for asyncio, run: a server of aiohttp, one of FastAPI, a crawler."""

import asyncio
import importlib.util
import sys
from collections import Counter

import own_redis
import pytest
from products import ROOT

redis = pytest.importorskip("redis")
pytest.importorskip("redis.asyncio")
pytest.importorskip("greenlet")
aiohttp = pytest.importorskip("aiohttp")
from aiohttp import test_utils, web  # noqa: E402

from bloomfilter.asyncio import BloomFilter  # noqa: E402

EXAMPLES = ROOT / "examples"
PAGES = 300


def example(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with own_redis.running(tmp_path_factory.mktemp("redis")) as (port, _):
        yield f"redis://127.0.0.1:{port}/0"


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


class Site:
    """Pages with several ways to each; counts what was asked for."""

    def __init__(self):
        self.asked = Counter()
        self.app = web.Application()
        self.app.router.add_get("/{page}", self.page)

    async def page(self, request):
        page = int(request.match_info["page"])
        self.asked[page] += 1
        await asyncio.sleep(0)
        links = 2 * page + 1, 2 * page + 2, page // 2, (7 * page + 3) % PAGES, 0
        text = "".join(f'<a href="/{link}#here">{link}</a>' for link in links if link < PAGES)
        return web.Response(text=text, content_type="text/html")


@pytest.mark.parametrize("home", ["file", "redis.asyncio"])
def test_a_crawler_fetches_each_page_once(home, server, tmp_path):
    crawler = example("async_crawler")

    async def main():
        site = Site()
        client = redis.asyncio.Redis.from_url(server)
        where = {
            "file": {"storage": tmp_path / "seen.bloom"},
            "redis.asyncio": {"storage": client, "key": "seen"},
        }[home]
        async with test_utils.TestServer(site.app) as web_server:
            start = [str(web_server.make_url("/0"))]
            async with await BloomFilter.create(n=100_000, p=1e-6, **where) as seen:
                fetched = []
                await asyncio.gather(
                    *(crawler.crawl(seen, start, 10, fetched.append) for _ in "ab")
                )
                assert len(fetched) == PAGES == len(set(fetched))
            assert site.asked == Counter(range(PAGES))
        await client.aclose()

    asyncio.run(main())


def test_the_crawler_as_a_command(tmp_path):
    async def main():
        site = Site()
        async with test_utils.TestServer(site.app) as web_server:
            command = [str(EXAMPLES / "async_crawler.py"), str(tmp_path / "x")]
            for pages in (PAGES, 0):  # what was seen stays in the file
                process = await asyncio.create_subprocess_exec(
                    sys.executable,
                    *command,
                    str(web_server.make_url("/0")),
                    stdout=asyncio.subprocess.PIPE,
                )
                out, _ = await process.communicate()
                assert process.returncode == 0 and len(set(out.split())) == pages
        assert site.asked == Counter(range(PAGES))

    asyncio.run(main())
