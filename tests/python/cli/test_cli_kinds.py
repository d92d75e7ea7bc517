"""The command line on filters that count, grow or forget."""

import json

import pytest
from cli_helpers import cli, fails, ok, redis_socket, redis_url  # noqa: F401

from bloomfilter import BloomFilter, CountingBloomFilter

KINDS = {
    "counting": ["-n", 3000, "-p", 0.01, "--counting"],
    "grow": ["-n", 100, "-p", 0.01, "--grow", 2],
    "window": ["-n", 3000, "-p", 0.01, "--window", 3600, "--parts", 3],
}
LINES = b"".join(b"%d\n" % i for i in range(2000))


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def made(tmp_path, kind):
    path = tmp_path / "f.bloom"
    ok("create", path, *KINDS[kind])
    ok("add", path, data=LINES)
    return path


def opened(path):
    try:
        return CountingBloomFilter.open(path)
    except ValueError:
        return BloomFilter.open(path)


def facts(path):
    return json.loads(ok("info", path, "--json").out)


def test_create(tmp_path, kind):
    said = json.loads(ok("create", tmp_path / "f", *KINDS[kind], "--json").out)
    assert (said["kind"], said["created"]) == (kind, True)
    assert "left as it is" in ok("create", tmp_path / "f", *KINDS[kind]).text
    with opened(tmp_path / "f") as bf:
        assert isinstance(bf, CountingBloomFilter) == (kind == "counting")
        assert (bf.grow, bf.window) == (
            2.0 if kind == "grow" else None,
            3600.0 if kind == "window" else None,
        )
        assert len(bf.part_info()) == {"window": 4}.get(kind, 1)


def test_info_shows_that_a_growing_filter_counts(tmp_path):
    path = tmp_path / "f"
    said = json.loads(ok("create", path, *KINDS["grow"], "--counting", "--json").out)
    assert (said["kind"], said["grow"]) == (facts(path)["kind"], facts(path)["grow"])
    assert (said["kind"], said["grow"]) == ("counting", 2)
    text = ok("info", path).text
    for words in ("counts, grows by 2, 1 part now", "counters above 0", "n  keys it began with"):
        assert words in text


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--grow", 0.5], "grow must be a factor from 1 to 1024"),
        (["--window", 0], "window must be"),
        (["--parts", 3], "parts is for forgetting filters"),
        (["--grow", 2, "--window", 3], "must not be given together"),
        (["--counting", "--window", 2], "a counting filter cannot forget"),
    ],
)
def test_create_refuses(tmp_path, words, says):
    assert says in fails("create", tmp_path / "f", "-n", 10, "-p", 0.1, *words)
    assert says in fails("add", tmp_path / "f", "-n", 10, "-p", 0.1, *words)
    assert list(tmp_path.iterdir()) == []


def test_the_other_kind_is_refused_by_its_option(tmp_path):
    ok("create", tmp_path / "c", "-n", 10, "-p", 0.1, "--counting")
    ok("create", tmp_path / "f", "-n", 10, "-p", 0.1)
    assert fails("create", tmp_path / "c", "-n", 10, "-p", 0.1).endswith("(--counting)")
    assert fails("create", tmp_path / "f", "-n", 10, "-p", 0.1, "--counting").endswith(
        "(no --counting)"
    )


def test_add_creates_it(tmp_path, kind):
    ok("add", tmp_path / "f", *KINDS[kind], data=LINES)
    assert facts(tmp_path / "f")["kind"] == kind


def test_add_and_check(made):
    assert cli("add", made, "--print", "new", data=b"1\nnew\n").out == b"new\n"
    assert ok("check", made, data=LINES + b"new\n").text.startswith("2,001 keys: 2,001 present")
    assert cli("check", made, data=b"surely absent\n").code == 1


def test_a_large_file_counts_every_key_once(tmp_path):
    """No way through a copy, which would be added up with the file every second."""
    (tmp_path / "keys").write_bytes(b"".join(b"%d\n" % i for i in range(3000)))
    ok("create", tmp_path / "c", "-n", 3000, "-p", 0.5, "--counting")
    ok("add", tmp_path / "c", tmp_path / "keys", "-q")
    naive = CountingBloomFilter(n=3000, p=0.5)
    naive.update(str(i) for i in range(3000))
    with CountingBloomFilter.open(tmp_path / "c") as bf:
        assert bf.bitset == naive.bitset


def test_info(made, kind):
    text, said = ok("info", made).text, facts(made)
    assert "too many" not in text and abs(said["count"] - 2000) < 60
    assert said["kind"] == kind and ("kind" in text)
    with opened(made) as bf:
        assert said["bytes"] == len(bf.bitset)
        assert (
            said.get("parts") == {"counting": None, "window": 3, "grow": len(bf.part_info())}[kind]
        )
    assert ("m  counters" in text) == (kind == "counting")
    assert ("it grows" in text) == (kind == "grow")


def test_info_of_a_growing_filter_whose_rate_is_lost(tmp_path):
    for name, keys in (("a", range(100)), ("b", range(100, 200)), ("c", range(200, 300))):
        with BloomFilter(n=100, p=0.01, grow=2.0, storage=tmp_path / name, warn=False) as bf:
            bf.update(keys)
    with BloomFilter.open(tmp_path / "a", warn=False) as bf:
        for i in range(12):
            other = BloomFilter(n=100, p=0.01, grow=2.0)
            other.update(range(1000 * i, 1000 * i + 90))
            bf |= other
    text = ok("info", tmp_path / "a").text
    assert "more than its rate allows" in text and "it grows" not in text


def test_merge(tmp_path, made, kind):
    ok("merge", tmp_path / "new", made, made)
    assert facts(tmp_path / "new")["kind"] == kind
    assert ok("check", tmp_path / "new", data=LINES).code == 0
    ok("merge", tmp_path / "new", made)
    assert ok("check", tmp_path / "new", data=LINES).code == 0
    if kind == "counting":
        assert ok("count", tmp_path / "new", data=b"7\n").out >= b"7\t3\n"
    ok("create", tmp_path / "plain", "-n", 3000, "-p", 0.01)
    assert "only filters of the same kind" in fails("merge", tmp_path / "plain", made)
    assert "only filters of the same kind" in fails(
        "merge", tmp_path / "x", made, tmp_path / "plain"
    )
    assert not (tmp_path / "x").exists()


def test_merge_of_filters_that_grew_otherwise(tmp_path):
    for name, keys in (("old", LINES), ("young", b"young\n")):
        ok("add", tmp_path / name, *KINDS["grow"], data=keys)
    for order in (("old", "young"), ("young", "old")):
        ok("merge", tmp_path / "-".join(order), *(tmp_path / name for name in order))
        assert ok("check", tmp_path / "-".join(order), data=LINES + b"young\n").code == 0
    ok("merge", tmp_path / "young", tmp_path / "old")
    assert ok("check", tmp_path / "young", data=LINES + b"young\n").code == 0


def test_convert(tmp_path, made, kind):
    ok("convert", made, tmp_path / "copy")
    data = ok("convert", tmp_path / "copy", "-").out
    ok("convert", "-", tmp_path / "back", data=data)
    with opened(made) as one, opened(tmp_path / "back") as two:
        assert type(one) is type(two) and one.bitset == two.bitset
        assert [one.grow, one.window] == [two.grow, two.window]
    if kind == "counting":
        ok("convert", made, tmp_path / "bits", "--to", "bits")
        with CountingBloomFilter.open(made) as bf:
            assert (tmp_path / "bits").read_bytes() == bf.to_plain().bitset
    else:
        assert "of fixed size" in fails("convert", made, tmp_path / "bits", "--to", "bits")


def test_convert_into_redis_and_back(tmp_path, made, kind, redis_url):  # noqa: F811
    ok("convert", made, redis_url)
    assert "exists already" in fails("convert", made, redis_url)
    assert facts(redis_url)["kind"] == kind
    assert ok("check", redis_url, data=LINES).code == 0
    ok("convert", redis_url, tmp_path / "back")
    assert ok("check", tmp_path / "back", data=LINES).code == 0
    if kind == "counting":
        assert b"\t1\n" in ok("count", redis_url, data=b"1\n").out


def test_plot(tmp_path, made):
    pytest.importorskip("matplotlib")
    ok("plot", "growth", "--filter", made, "-o", tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_size > 10_000


# ---- removing and counting ----
def test_remove(tmp_path):
    ok("create", tmp_path / "c", "-n", 1000, "-p", 0.001, "--counting")
    ok("add", tmp_path / "c", data=b"a\na\nb\n\n\xff\n")
    (tmp_path / "keys").write_bytes(b"a\nnone")
    said = ok("remove", tmp_path / "c", tmp_path / "keys").text
    assert said == "2 keys: 1 removed, 1 absent\n"
    said = json.loads(ok("remove", tmp_path / "c", "--json", "--sync", data=b"b\n\n").out)
    assert (said["keys"], said["removed"], said["absent"]) == (2, 2, 0)
    assert cli("remove", tmp_path / "c", "--print", "removed", data=b"\xff\nq\n").out == b"\xff\n"
    assert cli("remove", tmp_path / "c", "--print", "absent", "-0", data=b"q\0a\0").out == b"q\0"
    assert ok("info", tmp_path / "c", "--json").text.count('"count": 0')


def test_count(tmp_path):
    ok("create", tmp_path / "c", "-n", 1000, "-p", 0.001, "--counting")
    ok("add", tmp_path / "c", data=b"a\na\nb\n\xff\n" + b"much\n" * 20)
    asked = b"a\nb\nnone\n\n\xff\nmuch"
    assert ok("count", tmp_path / "c", data=asked).out == (
        b"a\t2\nb\t1\nnone\t0\n\t0\n\xff\t1\nmuch\t15\n"
    )
    assert ok("count", tmp_path / "c", "-0", data=b"a\0b").out == b"a\t2\0b\t1\0"
    lines = [
        json.loads(line)
        for line in ok("count", tmp_path / "c", "--json", data=asked).out.splitlines()
    ]
    assert [line["count"] for line in lines] == [2, 1, 0, 0, 1, 15]
    assert [line["key"].encode("utf-8", "surrogateescape") for line in lines] == asked.split(b"\n")
    many = b"".join(b"%d\n" % i for i in range(300_000))
    assert ok("count", tmp_path / "c", data=many).out.count(b"\n") == 300_000


# ---- rebuilding ----
@pytest.mark.parametrize("counting", [(), ("--counting",)])
def test_rebuild(tmp_path, counting):
    path, twin = tmp_path / "c", tmp_path / "twin"
    for made in (path, twin):
        ok("create", made, "-n", 3000, "-p", 0.001, *counting)
    ok("add", path, data=b"old\nboth\n")
    many = b"".join(b"%d\n" % i for i in range(2000)) + b"\n\xff\nboth"
    (tmp_path / "keys").write_bytes(many)
    assert ok("rebuild", path, tmp_path / "keys").text == "2,003 keys: 2,003 different\n"
    ok("add", twin, data=many)
    assert cli("check", path, "--print", "absent", data=b"old\nboth\n").out == b"old\n"
    kind = CountingBloomFilter if counting else BloomFilter
    assert kind.load(path) == kind.load(twin)
    said = json.loads(ok("rebuild", path, "--json", "-0", data=b"a\0a\0\0").out)
    assert (said["keys"], said["different"]) == (3, 2)
    assert ok("rebuild", path, "-q", data=b"").out == b""
    assert ok("info", path, "--json").text.count('"count": 0')


def test_what_is_not_rebuilt(tmp_path, made, kind):
    if kind in ("grow", "window"):
        assert "it cannot be rebuilt" in fails("rebuild", made, data=b"a\n")
    assert "no such file" in fails("rebuild", tmp_path / "none", data=b"a\n").lower()
    ok("create", tmp_path / "utf16", "-m", 1000, "-n", 100, "--scheme", "rs-dotnet")
    ok("add", tmp_path / "utf16", data=b"old\n")
    text = fails("rebuild", tmp_path / "utf16", data=b"a\n\xff\n")
    assert "key 2: " in text and "is as it was" in text
    assert cli("check", tmp_path / "utf16", "--print", "absent", data=b"old\na\n").out == b"a\n"


def test_only_counting_filters_count(tmp_path, made, kind):
    if kind == "counting":
        return
    for command in ("remove", "count"):
        text = fails(command, made, data=b"a\n")
        assert {"grow": "a growing filter", "window": "a forgetting filter"}[kind] in text
    ok("create", tmp_path / "plain", "-n", 10, "-p", 0.1)
    assert "a plain filter and does not count" in fails("count", tmp_path / "plain", data=b"a\n")
