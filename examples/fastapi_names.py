#!/usr/bin/env python3
"""fastapi_names.py - a web server that answers whether a user name is free.

    STORAGE=names.bloom uvicorn fastapi_names:app       GET /free/NAME, POST /users/NAME

If the filter does not have the name, it is surely free.  Otherwise the database decides, by its
unique index.  STORAGE is a file, or a redis:// URL that several servers share.
"""

import asyncio
import os
from contextlib import asynccontextmanager

from fastapi import FastAPI, HTTPException

from bloomfilter.asyncio import BloomFilter


class Database:
    """In place of yours."""

    def __init__(self):
        self.names, self.asked = set(), 0

    async def has(self, name):
        await asyncio.sleep(0)
        self.asked += 1
        return name in self.names

    async def all_names(self):
        for name in sorted(self.names):
            yield name


database = Database()


@asynccontextmanager
async def lifespan(app):
    async with await BloomFilter.create(
        n=1_000_000, p=0.001, storage=os.environ["STORAGE"]
    ) as names:
        if names.created:
            await names.update(database.all_names())
        app.state.names = names
        yield


app = FastAPI(lifespan=lifespan)


async def is_free(name):
    return not await app.state.names.exists(name) or not await database.has(name)


@app.get("/free/{name}")
async def free(name: str) -> bool:
    return await is_free(name)


@app.post("/users/{name}", status_code=201)
async def register(name: str) -> str:
    if not await is_free(name):
        raise HTTPException(409, "this name is taken")
    await app.state.names.add(name)  # first: a name that is in the database is always in the filter
    database.names.add(name)
    return name
