"""Random sequences of calls on filters in Redis, by URL and through a client of redis-py, against a model: machine.py."""

import machine
import pytest
from homes import ByClient, ByURL, Folder, Memory, home, homes_in


@pytest.mark.filterwarnings("ignore::bloomfilter.SaturationWarning")
@pytest.mark.parametrize("variant, place", homes_in("URL"))
def test_by_url(redis_by_url, variant, place, tmp_path):
    machine.run(home(variant, place, {"memory": Memory(), "file": Folder(tmp_path), "URL": ByURL(redis_by_url)}))


@pytest.mark.filterwarnings("ignore::bloomfilter.SaturationWarning")
@pytest.mark.parametrize("variant, place", homes_in("client"))
def test_through_a_client(redis_server, variant, place, tmp_path):
    redis = pytest.importorskip("redis")
    machine.run(home(variant, place, {"memory": Memory(), "file": Folder(tmp_path), "client": ByClient(redis_server, redis.Redis(port=redis_server.port))}))
