"""The command plan: its numbers are the library's."""

import json
import warnings

import pytest
from cli_helpers import ok

from bloomfilter import BloomFilter, CountingBloomFilter


@pytest.mark.parametrize(
    "words, given",
    [
        ("-n 1e8 -p 1e-6", {"n": 10**8, "p": 1e-6}),
        ("-n 100M -p 1% --scheme classic", {"n": 10**8, "p": 0.01, "scheme": "classic"}),
        ("-m 1M -n 100k", {"m": 10**6, "n": 10**5}),
        ("-m 1M -k 4", {"m": 10**6, "k": 4}),
        ("-m 1M -p 0.1%", {"m": 10**6, "p": 0.001}),
        ("-n 1M -p 1% --grow 2", {"n": 10**6, "p": 0.01, "grow": 2}),
        ("-n 1M -p 1% --window 60 --parts 2", {"n": 10**6, "p": 0.01, "window": 60, "parts": 2}),
        ("-n 1M -p 1% --counting", {"n": 10**6, "p": 0.01}),
        ("-n 100k -p 1% --scheme guava", {"n": 10**5, "p": 0.01, "scheme": "guava"}),
    ],
)
def test_numbers_are_the_librarys(words, given):
    answer = json.loads(ok("plan", *words.split(), "--json").out)
    counting = "--counting" in words
    made = (CountingBloomFilter if counting else BloomFilter).plan(**given)
    assert {name: answer[name] for name in made} == made
    assert answer["bytes"] == (made["m"] * (4 if counting else 1) + 7) // 8
    rates = {row["load"]: row["rate"] for row in answer["rates"]}
    assert list(rates) == [0.5, 1, 1.5, 2, 3, 4]
    assert rates[1] == pytest.approx(made["p"], rel=0.02)
    text = ok("plan", *words.split()).text
    assert f"{made['m']:,}" in text and f"{answer['bytes']:,} bytes" in text


def test_the_rate_is_what_a_filter_has():
    """Also with more keys than n."""
    answer = json.loads(ok("plan", "-n", "10k", "-p", "1%", "--json").out)
    for row in answer["rates"]:
        bf = BloomFilter(n=10_000, p=0.01, warn=False)
        bf.update(range(row["keys"]))
        assert row["rate"] == pytest.approx(bf.fpr, rel=0.1)


def test_n_and_k():
    """The m for which that k is the best."""
    answer = json.loads(ok("plan", "-n", "1M", "-k", "7", "--json").out)
    assert answer["k"] == 7 and answer["p"] == pytest.approx(0.5**7, rel=0.01)


@pytest.mark.parametrize("end", ["png", "pdf"])
def test_a_picture(tmp_path, end):
    pytest.importorskip("matplotlib.pyplot")
    picture = tmp_path / f"plan.{end}"
    ok("plan", "-n", "1M", "-p", "1%", "--plot", picture)
    assert picture.stat().st_size > 1000


def test_large_keys_of_redis():
    text = ok("plan", "-n", "100M", "-p", "1e-6").text
    assert "--shards 6" in text
    few = ok("plan", "-n", "100M", "-p", "1e-6", "--shards", "2").text
    assert "a key of 186 MiB; --shards 6 keeps each stop below 50 ms" in few
    for words in ("-n 1M", "-n 100M --shards 6", "-n 100M --grow 2", "-n 100M --window 9"):
        assert "--shards" not in ok("plan", *words.split(), "-p", "1e-6").text
    sizes = {"n": 10**8, "p": 1e-6}
    with pytest.warns(UserWarning, match=r"shards=6 keeps .* or pass overfull=\"ignore\""):
        BloomFilter.plan(**sizes, storage="redis://127.0.0.1/0?key=k")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        BloomFilter.plan(**sizes)
        BloomFilter.plan(**sizes, storage="redis://127.0.0.1/0?key=k", overfull="ignore")
