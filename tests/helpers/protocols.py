"""The operations of a filter that bloomfilterd serves, over HTTP and over RESP: the same methods,
lists of 0 and 1 as answers."""

import urllib.parse

from daemons import FRAMED, framed
from resp import Error, Resp

KINDS = {
    "fixed": ("", ["NONSCALING"]),
    "grow": ("&grow=2", ["EXPANSION", 2]),
    "window": ("&window=3600", ["WINDOW", 3600]),
    "counting": ("&counting=1", ["NONSCALING", "COUNTING"]),
}


class Http:
    def __init__(self, daemon):
        self.client = daemon.client()

    def make(self, name, kind, n=500, p=0.01):
        """Is it new?"""
        got = self.client.ask("PUT", f"/f/{name}?n={n}&p={p}{KINDS[kind][0]}")
        assert got.status in (200, 201), got
        return got.status == 201

    def _one(self, name, verb, key):
        return self.client.get(f"/f/{name}/{verb}=" + urllib.parse.quote_from_bytes(key, safe=""))

    def _many(self, name, verb, keys, says):
        if len(keys) == 1:
            got = self._one(name, verb, keys[0])
            return [int(got.headers[says] if says else got.body == b"true")]
        got = self.client.ask("POST", f"/f/{name}/{verb}", framed(keys), **FRAMED)
        assert got.status == 200, got
        return [byte - ord("0") for byte in got.body]

    def add(self, name, keys):
        return self._many(name, "add", keys, "x-new")

    def has(self, name, keys):
        return self._many(name, "contain", keys, None)

    def remove(self, name, keys):
        return self._many(name, "remove", keys, "x-removed")

    def count(self, name, key):
        return int(self._one(name, "count", key).body)


class ByResp:
    def __init__(self, daemon):
        self.client = Resp(daemon.client())

    def make(self, name, kind, n=500, p=0.01):
        return self.client.ask("BF.RESERVE", name, p, n, *KINDS[kind][1]) == b"OK"

    def _many(self, one, many, name, keys):
        """As a pipeline where there is no command for several."""
        if many and len(keys) > 1:
            answers = self.client.ask(many, name, *keys)
        else:
            self.client.send(*((one, name, key) for key in keys))
            answers = [self.client.reply() for _ in keys]
        assert not isinstance(answers, Error), answers
        return answers

    def add(self, name, keys):
        return self._many("BF.ADD", None, name, keys)

    def has(self, name, keys):
        return self._many("BF.EXISTS", "BF.MEXISTS", name, keys)

    def remove(self, name, keys):
        return self.client.ask("BF.REMOVE", name, *keys)

    def count(self, name, key):
        return self.client.ask("BF.COUNT", name, key)


PROTOCOLS = {"http": Http, "resp": ByResp}
