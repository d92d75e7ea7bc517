"""The commands study, bench and plot: the counts are right, the intervals hold what they say, the
pictures are pictures."""

import json
import math
from fractions import Fraction
from hashlib import sha256
from itertools import accumulate, pairwise

import pytest
from cli_helpers import fails, ok

from bloomfilter import BloomFilter
from bloomfilter.cli import homes, kbest, main, study, theory, urls


# ---- the made list ----
def test_made_urls_are_always_the_same():
    found = urls.made()
    assert len(found) == len(set(found)) == 30_558
    assert found == urls.made() and found[:100] == urls.made(100) and found != urls.made(seed=1)
    assert (
        sha256(b"\n".join(found)).hexdigest()
        == "67a1d05d78e940002a332fe258f2162928f38ef37924f5d2e4e3ec7b7e24019f"
    )  # for ever
    assert all(key.startswith(b"https://") and b"\n" not in key for key in found)


# ---- counting ----
def naive(keys, scheme, m, k):
    half = len(keys) // 2
    bf = BloomFilter(m=m, n=half, k=k, scheme=scheme)
    for key in keys[:half]:
        bf.add(key)
    return sum(key in bf for key in keys[half:])


def test_counts_are_those_of_single_calls(tmp_path):
    keys = [b"\xff%d" % (i * i) for i in range(2001)]
    file = tmp_path / "keys"
    file.write_bytes(b"\n".join([*keys, keys[0], keys[1000]]))  # those that come twice count once
    answer = json.loads(ok("study", file, "--json").out)
    assert answer["keys"] == 2001
    by_k = {(r["scheme"], r["k"]): r for r in answer["over_k"]}
    assert set(by_k) == {
        (s, k)
        for s, most in (("classic", 19), ("block", 16), ("block2", 19))
        for k in range(1, most + 1)
    }
    for (scheme, k), r in by_k.items():
        assert r["false_positives"] == naive(keys, scheme, 10_000, k)
        assert (r["n"], r["probes"]) == (1000, 1001) and r["theory"] == BloomFilter.plan(
            m=10_000, n=1000, k=k, scheme=scheme
        )["p"]
        assert r["inside"] == (r["low"] <= r["measured"] <= r["high"])
    table = {(r["scheme"], r["m_asked"] // r["n"], r["k"]): r for r in answer["over_ratio"]}
    assert len(table) == 3 * 31 * 8
    for at in [("classic", 2, 1), ("classic", 32, 8), ("block", 9, 4), ("block2", 16, 8)]:
        assert table[at]["false_positives"] == naive(keys, at[0], at[1] * 1000, at[2])


def test_keys_through_a_pipe(tmp_path):
    """As of add and check: standard input without KEYFILE.  A study of other keys than were given
    would be a wrong answer in silence."""
    data = b"".join(b"%d\n" % i for i in range(300))
    file = tmp_path / "keys"
    file.write_bytes(data)
    expected = ok("study", file, "--json", "--schemes", "classic").out
    assert json.loads(expected)["keys"] == 300
    for words in ([], ["-"], ["/dev/stdin"]):
        assert ok("study", *words, "--json", "--schemes", "classic", data=data).out == expected
    with file.open() as stdin:
        assert ok("study", "--json", "--schemes", "classic", stdin=stdin).out == expected
    assert (
        ok("study", "-0", "--json", "--schemes", "classic", data=data.replace(b"\n", b"\0")).out
        == expected
    )
    assert "at least 2" in fails("study", data=b"one\n")
    with open("/dev/null") as nothing:
        made = json.loads(ok("study", "--json", "--schemes", "classic", stdin=nothing).out)
    assert made["keys"] == 30_558


def test_study_for_people():
    text = ok("study").text
    assert "30,558 different keys" in text and text.count("false positives in %, measured") == 3
    assert "classic: m = 152,790 bits, n = 15,279 keys added, 15,279 others probed" in text
    assert text.count("the best k is m/n ln 2 = 6.93; false positives in %") == 3
    assert "m/n  best k" in text and text.count("\n2      1.39 ") == 3
    inside, filters = map(
        int, text.splitlines()[-1].split(" measurements")[0].replace("of ", "").split()
    )
    assert filters == 19 + 16 + 19 + 3 * 31 * 8 and inside > 0.93 * filters


# ---- theory ----
def exact(trials, p, confidence):
    """The interval of a binomial from exact fractions."""
    p, tail = Fraction(p), (1 - Fraction(confidence)) / 2
    chance = [math.comb(trials, x) * p**x * (1 - p) ** (trials - x) for x in range(trials + 1)]
    low = next(x for x, below in enumerate(accumulate(chance)) if below > tail)
    return low, trials - next(
        x for x, above in enumerate(accumulate(reversed(chance))) if above > tail
    )


@pytest.mark.parametrize("trials", [1, 10, 90])
@pytest.mark.parametrize("p", [0.001, 0.03, 0.5, 0.9])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_the_binomial_interval(trials, p, confidence):
    assert theory.interval(trials, p, 0, confidence) == exact(trials, p, confidence)


def test_spread_widens_the_interval():
    spans = [
        high - low
        for low, high in (
            theory.interval(10_000, 0.01, spread, 0.95) for spread in (0, 1e-7, 1e-6, 1e-5)
        )
    ]
    assert all(a < b for a, b in pairwise(spans))


@pytest.mark.parametrize("scheme", ["classic", "block", "block2"])
def test_intervals_hold_as_many_as_they_say(scheme):
    """Fixed lists, so it is the same every time; counts are whole, so a little more than asked is
    inside."""
    lists = [study.Halves(urls.made(4000, seed=100 + seed)) for seed in range(15)]
    for confidence, least, most in ((0.95, 0.92, 0.99), (0.5, 0.44, 0.62)):
        found = [r.inside for one in lists for r in study.over_k(one, scheme, confidence)]
        assert least < sum(found) / len(found) < most


@pytest.mark.parametrize("scheme, k", [("classic", 16), ("block", 12), ("block2", 16)])
def test_the_variance_between_filters(scheme, k):
    """Small filters differ much: the spread of their own rates, by their bits for classic, by many
    probes for the others."""
    n, m, probes = 400, 4096, [b"probe %d" % i for i in range(20_000)]
    rates = []
    for seed in range(150):
        bf = BloomFilter(m=m, n=n, k=k, scheme=scheme)
        bf.update(b"%d %d" % (seed, i) for i in range(n))
        rates.append(sum(bf.contains_many(probes)) / len(probes))
    mean = sum(rates) / len(rates)
    binomial = mean * (1 - mean) / len(probes)
    found = sum((r - mean) ** 2 for r in rates) / (len(rates) - 1) - binomial
    assert 0.6 < found / theory.variance(scheme, m, n, k) < 1.7


# ---- K-best ----
def clock_of(*times):
    """A clock by which the measurements take so long, one after another."""
    ticks = iter([t for at, time in enumerate(times) for t in (1000 * at, 1000 * at + time)])
    return lambda: next(ticks)


@pytest.mark.parametrize(
    "times, k, tolerance, expected",
    [
        ([100], 1, 0, (100, 100, 1, True)),
        ([150, 100, 101, 102], 3, 0.02, (100, 102, 4, True)),
        ([100, 130, 100, 130, 100], 3, 0, (100, 100, 5, True)),
        ([100, 110, 121, 133, 90], 2, 0.01, (90, 100, 5, False)),
        ([100, 110], 3, 0.5, (100, 110, 2, False)),
        ([0, 0], 2, 0, (0, 0, 2, True)),
    ],
)
def test_k_best(times, k, tolerance, expected):
    prepared = []
    found = kbest.k_best(
        lambda: None,
        k=k,
        tolerance=tolerance,
        most=len(times),
        prepare=lambda: prepared.append(1),
        clock=clock_of(*times),
    )
    assert (found.best, found.kth, found.measurements, found.converged) == expected
    assert len(prepared) == found.measurements


def test_bench(tmp_path):
    words = [*"-n 2000 --schemes block,classic --max 3 --file".split(), tmp_path / "b.bloom"]
    answer = json.loads(ok("bench", "--json", *words).out)
    assert (answer["k"], answer["tolerance"], answer["max"]) == (3, 0.02, 3)
    assert [r["filter"] for r in answer["results"]] == [
        name for s in ("block", "classic") for name in [s] * 6 + [f"{s}, file"] * 6
    ]
    assert all(
        r["best"] <= r["kth"] and r["measurements"] == 3 and r["ns_per_key"] > 0
        for r in answer["results"]
    )
    assert answer["cold"] is False
    cold = ok("bench", "-n", "10", "--schemes", "block", "--max", "3", "--cold").text
    assert "caches evicted before each measurement" in cold
    text = ok("bench", *words).text
    assert "3-best" in text and "3 times" in text and "million keys/s" in text
    assert list(tmp_path.iterdir()) == []


def test_bench_removes_no_file_of_another_process(tmp_path, monkeypatch, capsys):
    """Only the moment is chosen: the file appears after the look."""

    def look(storage, *_more):
        BloomFilter(n=10, p=0.01, scheme="block", storage=storage).close()

    monkeypatch.setattr(homes, "must_be_free", look)
    file = tmp_path / "x"
    assert main(["bench", "-n", "10", "--schemes", "block", "--file", str(file)]) == 2
    assert "exists already" in capsys.readouterr().err and file.exists()


# ---- pictures ----
@pytest.fixture
def matplotlib(monkeypatch):
    """Is imported once, and not by each of the commands; they measure few URLs."""
    monkeypatch.setattr(study, "made", lambda seed: urls.made(3000, seed))
    return pytest.importorskip("matplotlib.pyplot")


@pytest.mark.parametrize("what, end", [("k", "svg"), ("bits", "svg"), ("all", "png")])
def test_plot(tmp_path, matplotlib, what, end):
    picture = tmp_path / f"picture.{end}"
    assert ok("plot", what, "-o", picture).text == f"{picture}\n"
    data = picture.read_bytes()
    if end == "png":
        assert data.startswith(b"\x89PNG\r\n\x1a\n") and len(data) > 20_000
        return
    names = {"k": ["positions per key", "classic", "measured"], "bits": ["bits per key"]}
    assert b"</svg>" in data and all(name in data.decode() for name in names[what])
    ok("plot", what, "-o", tmp_path / "again.svg")
    assert (tmp_path / "again.svg").read_bytes() == data


@pytest.mark.parametrize(
    "words, says",
    [
        ([], "sized for n = 5,000 at 0.1 %"),
        (["--counting"], "sized for n = 5,000 at 0.1 %"),
        (["--grow", "2"], "seen.bloom now"),
        (["--window", "3600"], "seen.bloom now"),
    ],
    ids=str,
)
def test_plot_of_an_actual_filter_and_list(tmp_path, matplotlib, words, says):
    seen, keys, picture = tmp_path / "seen.bloom", tmp_path / "keys", tmp_path / "x.svg"
    keys.write_text("".join(f"{i}\n" for i in range(2000)))
    ok("add", seen, keys, "-n", "5k", "-p", "0.1%", *words)
    if not words:
        answer = ok("plot", "growth", keys, "--filter", seen, "-o", picture, "--json").out
        assert json.loads(answer)["plots"] == ["growth"]
    ok("plot", "growth", "--filter", seen, "-o", picture)
    assert "seen.bloom now" in picture.read_text() and says in picture.read_text()
    assert "No such file" in fails("plot", "k", "-o", tmp_path / "none" / "k.png")


def test_without_matplotlib(tmp_path):
    (tmp_path / "matplotlib.py").write_text("raise ImportError('no')")
    assert "pip install matplotlib" in fails(
        "plot", "k", "-o", tmp_path / "k.png", env={"PYTHONPATH": str(tmp_path)}
    )
