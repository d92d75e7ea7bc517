"""Random sequences of calls on filters in Redis, by URL and through a client of redis-py, against a
model: machine.py."""

import models
import pytest
from homes import ByClient, ByURL, home, homes_in


@pytest.mark.filterwarnings("ignore::bloomfilter.SaturationWarning")
@pytest.mark.parametrize("variant, place", homes_in("URL"))
def test_by_url(redis_by_url, variant, place, quick_folder):
    models.run(home(variant, place, quick_folder, [ByURL(redis_by_url)]))


@pytest.mark.filterwarnings("ignore::bloomfilter.SaturationWarning")
@pytest.mark.parametrize("variant, place", homes_in("client"))
def test_through_a_client(redis_server, variant, place, quick_folder):
    redis = pytest.importorskip("redis")
    models.run(
        home(
            variant,
            place,
            quick_folder,
            [ByClient(redis_server, redis.Redis(port=redis_server.port))],
        )
    )
