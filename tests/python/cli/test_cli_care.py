"""The commands adopt, clear, expire and delete, and the options that open another system's bitmap,
on bitmaps that are in use: that system goes on unharmed.  Then the examples of every --help."""

import json
import os
import pty
import re
import shlex
import subprocess

import pytest
from cli_helpers import COMMAND, cli, fails, ok
from redis_clients import OtherSystem, redis

from bloomfilter import BloomFilter
from bloomfilter.cli import parser, study, urls

HASHES = "php-hashes:JS,FNV,AP"  # those that need no warning
AS_OLDER = "php-hashes:JSHash,FNVHash,APHash"  # and as that class spells them


SYSTEMS = {
    "gozero": ("gozero", 20_000, ["--scheme", "gozero", "-m", "20k"]),
    "php": (HASHES, 2**32, ["--scheme", AS_OLDER, "-m", str(2**32)]),
}


def other_system(redis_socket, key, scheme, m):
    client = redis.Redis(unix_socket_path=str(redis_socket))
    client.delete(key, f"{key}:meta")
    return OtherSystem(client, key, scheme, m)


@pytest.fixture
def old(request, redis_socket):
    name = getattr(request, "param", "gozero")
    scheme, m, options = SYSTEMS[name]
    system = other_system(redis_socket, f"care-{name}", scheme, m)
    system.scheme, system.options = scheme, options
    system.url = f"unix://{redis_socket}?key={system.key}"
    system.add("ann")
    return system


@pytest.mark.parametrize("old", SYSTEMS, indirect=True)
def test_a_bitmap_of_another_system_is_opened(old, tmp_path):
    """No companion hash is written, and both sides see what the other added."""
    assert "use bloomfilter adopt with --scheme, and -m and -k if" in fails(
        "check", old.url, data=b"ann\n"
    )
    assert ok("check", old.url, *old.options, data=b"ann\n").code == 0
    assert cli("check", old.url, *old.options, data=b"bob\n").code == 1
    assert "1 new" in ok("add", old.url, *old.options, data=b"bob\n").text
    assert old.has("bob") and not old.has("eve")
    assert json.loads(ok("info", old.url, *old.options, "--json").out)["scheme"] == old.scheme
    assert "does not count" in fails("count", old.url, *old.options, data=b"ann\n")
    assert "does not count" in fails("remove", old.url, *old.options, data=b"ann\n")
    assert "cannot be rebuilt" in fails("rebuild", old.url, *old.options, data=b"x\n")
    assert not old.redis.exists(f"{old.key}:meta")
    if old.scheme == "gozero":
        ok("merge", tmp_path / "all", old.url, old.url, *old.options)
        assert b"bob" in BloomFilter.open(tmp_path / "all")


def test_care_for_a_bitmap_of_another_system(old):
    for words in (["clear"], ["delete", "--yes"]):
        assert "adopt" in fails(*words, old.url)
    assert "adopted" in ok("adopt", old.url, *old.options).text
    assert json.loads(ok("adopt", old.url, *old.options, "--json").out)["adopted"] is True
    assert old.has("ann")
    old.add("bob")
    assert "2 present" in ok("check", old.url, data=b"ann\nbob\n").text
    assert "expires" not in ok("info", old.url).text
    ok("expire", old.url, "1k")
    assert 900 < json.loads(ok("info", old.url, "--json").out)["expires_in"] <= 1000.1
    assert re.search(r"expires +in (1,000|9\d\d) s", ok("info", old.url).text)
    assert old.redis.ttl(old.key) > 900 and old.redis.ttl(f"{old.key}:meta") > 900
    ok("expire", old.url, 0)
    assert old.redis.ttl(old.key) == -1
    ok("rebuild", old.url, data=b"bob\ncy\n")
    assert old.has("bob") and old.has("cy") and not old.has("ann")
    ok("clear", old.url)
    assert not old.has("bob")
    old.add("dan")
    assert old.has("dan") and ok("check", old.url, data=b"dan\n").code == 0
    ok("delete", old.url)
    assert not old.redis.exists(old.key, f"{old.key}:meta")
    assert "does not exist" in fails("adopt", old.url, *old.options)


def test_files(tmp_path):
    path = tmp_path / "a"
    ok("add", path, "-n", 100, "-p", "1%", data=b"a\n")
    assert "empty now" in ok("clear", path).text
    assert len(BloomFilter.open(path)) == 0
    assert json.loads(ok("delete", path, "--json").out)["deleted"] is True
    assert not path.exists()
    path.write_bytes(b"precious")
    assert "is not a filter" in fails("delete", path)
    assert path.read_bytes() == b"precious"


@pytest.mark.parametrize("command, answer", [("clear", "y"), ("delete", "n"), ("delete", None)])
def test_it_asks_on_a_terminal(tmp_path, command, answer):
    path = tmp_path / "a"
    with BloomFilter(n=100, p=0.01, storage=path) as bf:
        bf.add("a")
    try:
        leader, follower = pty.openpty()
    except OSError as e:
        pytest.skip(f"no terminal here: {e}")
    words = [*COMMAND, command, str(path), *([] if answer else ["--yes"])]
    run = subprocess.Popen(words, stdin=follower, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    os.write(leader, f"{answer}\n".encode())
    _, err = run.communicate()
    os.close(leader)
    os.close(follower)
    assert (b"[y/N]" in err) == (answer is not None)
    if answer == "n":
        assert run.returncode == 2 and b"is unchanged" in err and "a" in BloomFilter.open(path)
    else:
        assert run.returncode == 0 and (not path.exists() or "a" not in BloomFilter.open(path))


# ---- the examples of every --help ----
def test_the_examples(tmp_path, monkeypatch, redis_socket):
    pytest.importorskip("matplotlib.pyplot")  # once, and not by each command
    monkeypatch.chdir(tmp_path)
    (tmp_path / "keys.txt").write_bytes(b"a\nb\n")
    old = other_system(redis_socket, "old", "gozero", 20_000)
    old.redis.delete("seen", "copy")
    old.add("a")
    (tmp_path / "bloomfilterd").write_text("#!/bin/sh\n")
    (tmp_path / "bloomfilterd").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(study, "made", lambda seed: urls.made(200, seed))
    assert parser.EXAMPLES.keys() == parser.COMMANDS.keys()
    for command, lines in parser.EXAMPLES.items():
        text = ok(command, "--help").text
        for line in lines:
            assert f"  bloomfilter {line}\n" in text
            line = line.replace("redis://127.0.0.1:6379/0?", f"unix://{redis_socket}?")
            line += " --max 3" if command == "bench" else ""
            words, _, keys = line.partition(" < ")
            with open(keys or os.devnull) as stdin:
                done = cli(*shlex.split(words), stdin=stdin)
            assert done.code in (0, 1), (line, done.err)
