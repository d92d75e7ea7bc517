"""Filters that forget, served: what one machine's clock says does not count for the others."""

import time

import pytest
from bloomfilter import BloomFilter


@pytest.mark.parametrize("ahead", [1000.0, 1e6, 3e9])
def test_a_merge_from_the_future_forgets_nothing(start, tmp_path, ahead):
    daemon = start("--storage", f"{tmp_path}/")
    shape = {"n": 1000, "p": 0.01, "window": 3600.0}
    with BloomFilter(storage=tmp_path / "w.bloom", **shape) as shared:
        keys = [f"k{i}" for i in range(500)]
        shared.update(keys)
        future = BloomFilter(clock=lambda: time.time() + ahead, **shape)
        future.add("theirs")
        client = daemon.client()
        assert client.get("/f/w/contain=k1").body == b"true"
        assert client.ask("POST", "/f/w/merge", future.to_bytes()).status == 200
        assert sum(shared.contains_many(keys)) == 500 and "theirs" in shared
        assert client.ask("POST", "/f/w/contain", "\n".join(keys).encode()).body == b"1" * 500
