#!/usr/bin/env python3
"""aiohttp_visits.py - a web server that greets first-time visitors.

    aiohttp_visits.py redis://127.0.0.1/0

POST /visit/NAME answers "welcome" to the first request of a name, then "welcome back".  All servers
that use the same Redis share one filter: exactly one request for a new name gets "welcome".  With
probability p a new visitor gets "welcome back".
"""

import sys

import redis.asyncio
from aiohttp import web

from bloomfilter.asyncio import BloomFilter

URL = web.AppKey("url", str)
VISITORS = web.AppKey("visitors", BloomFilter)


async def visit(request):
    new = await request.app[VISITORS].add(request.match_info["name"])
    return web.Response(text="welcome" if new else "welcome back")


async def visitors(app):
    async with redis.asyncio.Redis.from_url(app[URL]) as client:
        async with await BloomFilter.create(
            n=1_000_000, p=1e-4, storage=client, key="visitors"
        ) as app[VISITORS]:
            yield  # the server runs


def make_app(url):
    app = web.Application()
    app[URL] = url
    app.cleanup_ctx.append(visitors)
    app.router.add_post("/visit/{name}", visit)
    return app


if __name__ == "__main__":
    web.run_app(make_app(sys.argv[1]))
