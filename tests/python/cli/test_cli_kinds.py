"""The command line on filters that count, grow or forget."""

import json

import pytest
from cli_helpers import cli, fails, ok

from bloomfilter import BloomFilter, CountingBloomFilter

KINDS = {
    "counting": ["-n", 3000, "-p", 0.01, "--counting"],
    "grow": ["-n", 100, "-p", 0.01, "--grow", 2],
    "window": ["-n", 3000, "-p", 0.01, "--window", 3600, "--parts", 3],
}
LINES = b"".join(b"%d\n" % i for i in range(2000))


def opened(path):
    try:
        return CountingBloomFilter.open(path)
    except ValueError:
        return BloomFilter.open(path)


def facts(path):
    return json.loads(ok("info", path, "--json").out)


@pytest.mark.parametrize("kind", KINDS)
def test_the_life_of_a_filter(tmp_path, kind, redis_url):
    """Created, filled, asked, shown, and taken to other files and to Redis."""
    path, copy = tmp_path / "f.bloom", tmp_path / "copy"
    said = json.loads(ok("create", path, *KINDS[kind], "--json").out)
    assert (said["kind"], said["created"]) == (kind, True)
    assert "left as it is" in ok("create", path, *KINDS[kind]).text
    ok("add", path, *KINDS[kind], data=LINES)  # which would create it
    assert cli("add", path, "--print", "new", data=b"1\nnew\n").out == b"new\n"
    assert ok("check", path, data=LINES + b"new\n").text.startswith("2,001 keys: 2,001 present")
    assert cli("check", path, data=b"surely absent\n").code == 1
    text, said = ok("info", path).text, facts(path)
    assert "too many" not in text and abs(said["count"] - 2000) < 60
    assert said["kind"] == kind and "kind" in text
    assert ("m  counters" in text) == (kind == "counting") and ("it grows" in text) == (
        kind == "grow"
    )
    with opened(path) as bf:
        grow, window = bf.grow, bf.window
        assert (grow, window) == (
            2.0 * (kind == "grow") or None,
            3600.0 * (kind == "window") or None,
        )
        parts = {"counting": None, "window": 3, "grow": len(bf.part_info())}[kind]
        assert said["bytes"] == len(bf.bitset) and said.get("parts") == parts
    for source, target in ((path, copy), (path, redis_url), (redis_url, tmp_path / "back")):
        ok("convert", source, target)
        assert "exists already" in fails("convert", source, target)
        assert facts(target)["kind"] == kind
        assert ok("check", target, data=LINES).code == 0
    with opened(path) as one, opened(copy) as two:
        assert type(one) is type(two) and one.bitset == two.bitset
        assert (two.grow, two.window) == (grow, window)
    if kind == "counting":
        assert b"\t1\n" in ok("count", redis_url, data=b"2\n").out
        ok("convert", path, tmp_path / "bits", "--to", "bits")
        with CountingBloomFilter.open(path) as bf:
            assert (tmp_path / "bits").read_bytes() == bf.to_plain().bitset
    else:
        assert "of fixed size" in fails("convert", path, tmp_path / "bits", "--to", "bits")
        for command in ("remove", "count"):
            says = {"grow": "a growing filter", "window": "a forgetting filter"}[kind]
            assert says in fails(command, path, data=b"a\n")
        assert "it cannot be rebuilt" in fails("rebuild", path, data=b"a\n")
    ok("merge", tmp_path / "new", path, path)
    ok("merge", tmp_path / "new", path)
    assert facts(tmp_path / "new")["kind"] == kind
    assert ok("check", tmp_path / "new", data=LINES).code == 0
    if kind == "counting":
        assert ok("count", tmp_path / "new", data=b"7\n").out >= b"7\t3\n"
    ok("create", tmp_path / "plain", "-n", 3000, "-p", 0.01)
    for words in (["plain", path], ["x", path, tmp_path / "plain"]):
        said = fails("merge", tmp_path / words[0], *words[1:])
        assert "only filters of the same kind" in said and not (tmp_path / "x").exists()


def test_info_shows_that_a_growing_filter_counts(tmp_path):
    path = tmp_path / "f"
    said = json.loads(ok("create", path, *KINDS["grow"], "--counting", "--json").out)
    assert (said["kind"], said["grow"]) == (facts(path)["kind"], facts(path)["grow"])
    assert (said["kind"], said["grow"]) == ("counting", 2)
    text = ok("info", path).text
    for words in ("counts, grows by 2, 1 part now", "counters above 0", "n  keys it began with"):
        assert words in text


def test_the_other_kind_is_refused_by_its_option(tmp_path):
    ok("create", tmp_path / "c", "-n", 10, "-p", 0.1, "--counting")
    ok("create", tmp_path / "f", "-n", 10, "-p", 0.1)
    assert fails("create", tmp_path / "c", "-n", 10, "-p", 0.1).endswith("(--counting)")
    assert fails("create", tmp_path / "f", "-n", 10, "-p", 0.1, "--counting").endswith(
        "(no --counting)"
    )


def test_a_large_file_counts_every_key_once(tmp_path):
    """No way through a copy, which would be added up with the file every second."""
    (tmp_path / "keys").write_bytes(b"".join(b"%d\n" % i for i in range(3000)))
    ok("create", tmp_path / "c", "-n", 3000, "-p", 0.5, "--counting")
    ok("add", tmp_path / "c", tmp_path / "keys", "-q")
    naive = CountingBloomFilter(n=3000, p=0.5)
    naive.update(str(i) for i in range(3000))
    with CountingBloomFilter.open(tmp_path / "c") as bf:
        assert bf.bitset == naive.bitset


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


def test_merge_of_filters_that_grew_otherwise(tmp_path):
    for name, keys in (("old", LINES), ("young", b"young\n")):
        ok("add", tmp_path / name, *KINDS["grow"], data=keys)
    for order in (("old", "young"), ("young", "old")):
        ok("merge", tmp_path / "-".join(order), *(tmp_path / name for name in order))
        assert ok("check", tmp_path / "-".join(order), data=LINES + b"young\n").code == 0
    ok("merge", tmp_path / "young", tmp_path / "old")
    assert ok("check", tmp_path / "young", data=LINES + b"young\n").code == 0


def test_a_rebuild_with_a_wrong_key_changes_nothing(tmp_path):
    path = tmp_path / "utf16"
    ok("create", path, "-m", 1000, "-n", 100, "--scheme", "rs-dotnet")
    ok("add", path, data=b"old\n")
    text = fails("rebuild", path, data=b"a\n\xff\n")
    assert "key 2: " in text and "is as it was" in text
    assert cli("check", path, "--print", "absent", data=b"old\na\n").out == b"a\n"


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
    many = b"".join(b"%d\n" % i for i in range(100_000))
    assert ok("count", tmp_path / "c", data=many).out.count(b"\n") == 100_000


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
    if not counting:
        assert "does not count" in fails("count", path, data=b"a\n")
    assert "no such file" in fails("rebuild", tmp_path / "none", data=b"a\n").lower()
    said = json.loads(ok("rebuild", path, "--json", "-0", data=b"a\0a\0\0").out)
    assert (said["keys"], said["different"]) == (3, 2)
    assert ok("rebuild", path, "-q", data=b"").out == b""
    assert ok("info", path, "--json").text.count('"count": 0')
