"""The commands that make, fill and ask filters, run as a user runs them."""

import json
import os

import pytest
from cli_helpers import cli, fails, ok

from bloomfilter import BloomFilter, __version__

COMMANDS = """create add check info merge convert study plot remove rebuild count bench serve completion
    adopt clear expire delete plan""".split()


@pytest.fixture
def seen(tmp_path):
    path = tmp_path / "seen.bloom"
    with BloomFilter(n=10_000, p=0.001, storage=path) as bf:
        bf.update([b"a", b"b", b""])
    return path


@pytest.fixture
def keys(tmp_path):
    path = tmp_path / "keys"
    path.write_bytes(b"a\n\n\xff\xfe\nnew\na")
    return path


# ---- everywhere ----
@pytest.mark.parametrize("command", COMMANDS)
def test_version_and_help_everywhere(command):
    assert ok("--version").text == ok(command, "--version").text == f"bloomfilter {__version__}\n"
    text = ok(command, "--help").text
    assert f"bloomfilter {command}" in text and "--json" in text and "--version" in text
    assert command in ok("--help").text


def test_without_a_command_it_shows_them_all():
    done = cli()
    assert (
        done.code == 2 and done.err == b"bloomfilter: COMMAND is missing (see bloomfilter --help)\n"
    )
    assert done.text == ok("--help").text


# ---- create ----
@pytest.mark.parametrize(
    "words, plan",
    [
        (["-n", "1000", "-p", "0.01"], {"n": 1000, "p": 0.01}),
        (["-m", "2.5e4", "-k", "3", "--scheme", "block"], {"m": 25000, "k": 3, "scheme": "block"}),
    ],
)
def test_create(tmp_path, words, plan):
    path = tmp_path / "new.bloom"
    answer = json.loads(ok("create", path, *words, "--json").out)
    with BloomFilter.open(path) as bf:
        expected = BloomFilter.plan(**plan)
        assert {name: getattr(bf, name) for name in expected} == expected
        assert answer == expected | {
            "file": str(path), "home": "file", "kind": "fixed", "created": True
        }  # fmt: skip
        assert not bf


def test_create_never_empties(seen):
    before = seen.read_bytes()
    same = ["create", seen, "-n", "10000", "-p", "0.001"]
    assert "exists already" in ok(*same).text
    assert json.loads(ok(*same, "--json").out)["created"] is False
    text = fails("create", seen, "-n", "10000", "-p", "0.01")
    assert "0.001" in text and "0.01" in text and str(seen) in text
    assert seen.read_bytes() == before


def test_keyed(tmp_path):
    raw, digits, bad = tmp_path / "raw", tmp_path / "digits", tmp_path / "bad"
    raw.write_bytes(bytes(range(16)))
    digits.write_text(bytes(range(16)).hex() + "\n")
    bad.write_text("password")
    path = tmp_path / "keyed.bloom"
    ok("create", path, "-n", "100", "-p", "0.01", "--secret-file", raw)
    ok("add", path, "--secret-file", digits, data=b"a\n")
    assert BloomFilter.open(path, secret=bytes(range(16))).__contains__("a")
    assert "--secret-file" in fails("info", path)
    text = fails("info", path, "--secret-file", bad)
    assert "8 bytes" in text and "password" not in text
    assert json.loads(ok("info", path, "--secret-file", raw, "--json").out)["count"] == 1


# ---- add ----
def test_add_files_and_standard_input(seen, keys):
    assert ok("add", seen, keys).text == "5 keys: 2 new, 3 seen\n"
    assert ok("add", seen, data=b"x").text == "1 key: 1 new, 0 seen\n"
    assert ok("add", seen, keys, "-", keys, data=b"y\nx\n").text == "12 keys: 1 new, 11 seen\n"
    assert ok("add", "--json", seen, data=b"").out.startswith(b'{"file":')
    assert ok("--json", "add", seen, data=b"").out.startswith(b'{"file":')
    assert ok("add", "-q", seen, keys).out == b""
    with BloomFilter.open(seen) as bf:
        assert all(key in bf for key in (b"\xff\xfe", "new", "x", "y", "")) and len(bf) == 7


def test_add_answers_in_json(seen, keys):
    answer = json.loads(ok("add", seen, keys, "--json").out)
    assert answer.pop("seconds") >= 0
    assert answer == {"file": str(seen), "keys": 5, "new": 2, "seen": 3}


def test_add_prints(seen, keys):
    assert ok("add", seen, keys, "--print", "new").out == b"\xff\xfe\nnew\n"
    assert ok("add", seen, keys, "--print", "seen").out == b"a\n\n\xff\xfe\nnew\na\n"
    done = cli("add", seen, "--print", "new", "--json", data=b"p\nq\np")
    assert done.out == b"p\nq\n" and json.loads(done.err)["seen"] == 1


def test_add_nul(seen):
    done = ok("add", seen, "-0", "--print", "new", data=b"one\ntwo\0\0three")
    assert done.out == b"one\ntwo\0three\0"
    assert b"one\ntwo" in BloomFilter.open(seen)
    assert ok("check", seen, "--null", data=b"one\ntwo\0three\0").code == 0


@pytest.mark.parametrize("home", ["file", "Redis"])
def test_add_creates_where_it_is_told_how_large(tmp_path, redis_url, home):
    path = tmp_path / "new.bloom" if home == "file" else redis_url
    assert "create it first" in fails("add", path, data=b"a\n")
    assert not os.listdir(tmp_path)
    for _ in range(2):
        ok("add", path, "-n", "1000", "-p", "0.01", data=b"a\n")
    assert "p=0.01" in fails("add", path, "-n", "1000", "-p", "0.1", data=b"a\n")
    assert len(BloomFilter.open(path)) == 1


def test_options_and_files_in_any_order(seen, keys):
    for words in (
        [seen, "-q", keys, "--print", "seen"],
        ["--print", "seen", seen, keys, "-q"],
        [seen, keys, keys, "--print", "seen"],
    ):
        assert ok("add", *words).out.startswith(b"a\n\n")
    assert ok("add", seen, "--", "-", data=b"dash\n").text.startswith("1 key")


def test_large_files_are_the_same_as_one_key_at_a_time(tmp_path):
    """Several blocks, and a line that is longer than a block."""
    path, file, other = tmp_path / "large.bloom", tmp_path / "keys", BloomFilter(n=20_000, p=0.01)
    numbers = [b"%d" % (i % 20_000) for i in range(30_000)]
    keys = [*numbers, b"long" * 700_000, *(b"%d" % i for i in range(20_000, 20_100)), b"end"]
    file.write_bytes(b"\n".join(keys))
    new, sizes = other.update(keys), ["-n", "20000", "-p", "0.01"]
    assert json.loads(ok("add", path, file, *sizes, "--json", "--sync").out)["new"] == new
    with BloomFilter.open(path) as bf:
        assert bf == other
    assert ok("add", path, file).text == f"{len(keys):,} keys: 0 new, {len(keys):,} seen\n"
    assert ok("check", path, file).code == 0
    printed = tmp_path / "printed.bloom"
    out = ok("add", printed, file, *sizes, "--print", "new").out
    assert out.count(b"\n") == new and BloomFilter.open(printed) == other


# ---- check ----
def test_check_tells_by_its_exit_code(seen, keys):
    for data, code, text in [
        (b"a\nb\n", 0, "2 keys: 2 present, 0 absent\n"),
        (b"a\nz", 1, "2 keys: 1 present, 1 absent\n"),
        (b"", 0, "0 keys: 0 present, 0 absent\n"),
        (b"\n", 0, "1 key: 1 present, 0 absent\n"),
    ]:
        done = cli("check", seen, data=data)
        assert (done.code, done.text, done.err) == (code, text, b"")
        assert cli("check", seen, "-q", data=data).out == b""
    assert cli("check", seen, keys).code == 1
    counts = {"keys": 5, "present": 3, "absent": 2}
    assert json.loads(cli("check", seen, keys, "--json").out) == counts | {"file": str(seen)}


def test_check_prints(seen, keys):
    done = cli("check", seen, keys, "--print", "absent")
    assert (done.code, done.out, done.err) == (1, b"\xff\xfe\nnew\n", b"")
    assert cli("check", seen, keys, "--print", "present").out == b"a\n\na\n"


def test_check_changes_nothing(seen, keys):
    os.chmod(seen, 0o444)
    before = seen.read_bytes()
    assert cli("check", seen, keys).code == 1
    assert seen.read_bytes() == before
    assert "read-only" in fails("add", seen, keys)


# ---- info ----
def test_info(seen):
    facts = json.loads(ok("info", seen, "--json").out)
    with BloomFilter.open(seen) as bf:
        for name in ("m", "n", "k", "p", "scheme", "fill_ratio", "fpr"):
            assert facts[name] == getattr(bf, name)
    assert (
        facts["count"] == 3 and facts["home"] == "file" and facts["bytes"] == (facts["m"] + 7) // 8
    )
    text = ok("info", seen).text
    assert f"{facts['m']:,}" in text and "room for 9,997" in text and facts["scheme"] in text


# ---- merge ----
def test_merge(tmp_path, seen):
    other, out = tmp_path / "other.bloom", tmp_path / "out.bloom"
    ok("create", other, "-n", "10000", "-p", "0.001")
    ok("add", other, data=b"c\n")
    assert json.loads(ok("merge", out, seen, other, "--json").out)["created"] is True
    with BloomFilter.open(out) as bf:
        assert bf.contains_many(["a", "b", "c", ""]) == b"\1" * 4
        assert (len(bf), bf.n, bf.p) == (4, 10_000, 0.001)
    ok("add", other, data=b"d\n")
    assert "5 keys of 1 filter" in ok("merge", out, other).text
    assert len(BloomFilter.open(other)) == 2


@pytest.mark.parametrize("kind", [{"grow": 2.0}, {"window": 3600.0}])
def test_a_large_file_into_others_than_fixed_ones(tmp_path, kind):
    """Their keys take no way through a copy, which would not have grown equally."""
    seen, keys = tmp_path / "seen", tmp_path / "keys"
    BloomFilter(n=1000, p=0.01, storage=seen, warn=False, **kind).close()
    keys.write_bytes(b"".join(b"key %d\n" % i for i in range(50_000)))
    done = cli("add", seen, keys)
    assert done.code == 0, done.err
    with BloomFilter.open(seen) as bf:
        assert bf.contains_lines(keys.read_bytes())[:2] == (50_000, 50_000)
    assert ("it grows)" in ok("info", seen).text) == ("grow" in kind)


def test_merge_of_unlike_filters_changes_nothing(tmp_path, seen):
    other, out = tmp_path / "other.bloom", tmp_path / "out.bloom"
    ok("create", other, "-n", "500", "-p", "0.001")
    before = seen.read_bytes()
    for words in ([out, seen, other], [seen, seen, other], [seen, other]):
        text = fails("merge", *words)
        assert f"n = {500:,}" in text and f"n = {10_000:,}" in text
    assert not out.exists() and seen.read_bytes() == before
    assert "No such file" in fails("merge", seen, tmp_path / "none")
    assert seen.read_bytes() == before


# ---- Redis: the same commands ----
def test_redis(redis_url, seen, keys):
    ok("create", redis_url, "-n", "10000", "-p", "0.001")
    assert "exists already" in ok("create", redis_url, "-n", "10000", "-p", "0.001").text
    assert "asked for" in fails("create", redis_url, "-n", "10000", "-p", "0.01")
    assert ok("add", redis_url, keys, "--print", "new").out == b"a\n\n\xff\xfe\nnew\n"
    assert cli("check", redis_url, data=b"a\nz\n").code == 1
    assert json.loads(ok("info", redis_url, "--json").out)["home"] == "redis"
    ok("merge", seen, redis_url)
    ok("merge", redis_url, seen)
    with BloomFilter.open(seen) as bf, BloomFilter.open(redis_url) as remote:
        assert bf == remote and "new" in bf and "b" in remote
    base, name = redis_url.split("?key=")
    count = json.loads(ok("info", base, "--key", name, "--json").out)["count"]
    assert count == len(BloomFilter.open(seen))
    assert "does not exist" in fails("info", base, "--key", "none")


def test_no_password_is_ever_shown():
    text = fails("info", "redis://user:hunter2@127.0.0.1:1/0?key=x")
    assert "hunter2" not in text and "127.0.0.1:1" in text
    url = "redis://user:hunter2@127.0.0.1:1/0?key=x"
    for words in (
        ["info", "a", url],
        [url],
        ["create", "a", "-n", url],
        ["--nothing", url],
        ["study", "a", url],
        ["plot", url, "-o", "a"],
        ["add", "--print", url, "a"],
    ):
        assert "hunter2" not in fails(*words), words
    assert "hun" not in fails("info", "redis://user:hun/ter2@127.0.0.1:1/0?key=x")
    for path in ("REDIS://user:hunter2@host/0?key=x", "redis+tls://user:hunter2@host/0?key=x"):
        assert "hunter2" not in fails("info", path)
    assert "hunter2" not in fails("info", "redis:hunter2@host")
    assert "hun" not in fails("check", "a", "redis://user:hun ter2@127.0.0.1:1/0?key=x")
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    assert "No such file" in fails("info", "é", env=ascii_only)
