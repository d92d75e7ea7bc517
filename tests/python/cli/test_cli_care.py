"""The commands adopt, clear, expire and delete, and the options that open another system's bitmap,
on bitmaps that are in use: that system goes on unharmed.  Then the examples of every --help."""

import json
import os
import pty
import re
import shlex
import socket
import subprocess

import pytest
from cli_helpers import COMMAND, cli, fails, ok
import resp

from bloomfilter import BloomFilter
from bloomfilter.cli import parser, study, urls

HASHES = "php-hashes:JS,FNV,AP"  # those that need no warning
AS_OLDER = "php-hashes:JSHash,FNVHash,APHash"  # and as that class spells them


class OldSystem:
    """A class that sets and reads its bits by SETBIT and GETBIT, as go-zero's filter and the PHP
    class do; what it knows is positions.  Nothing of ours is used once it exists."""

    def __init__(self, redis_socket, key, scheme, **size):
        self.key, self.scheme, self.size = key, scheme, size
        self.model = BloomFilter(scheme=scheme, **size)
        self.socket = redis_socket

    def redis(self, *words):
        with socket.socket(socket.AF_UNIX) as own:
            own.connect(str(self.socket))
            own.sendall(resp.command(*words))
            kind, *said = own.recv(1 << 16).decode().strip()
        assert kind != "-", said
        return "".join(said)

    def add(self, key):
        for position in self.model.hashcode(key):
            self.redis("SETBIT", self.key, position, 1)

    def has(self, key):
        return all(
            self.redis("GETBIT", self.key, position) == "1" for position in self.model.hashcode(key)
        )


SYSTEMS = {
    "gozero": ("gozero", {"m": 20_000}, ["--scheme", "gozero", "-m", "20k"]),
    "php": (HASHES, {"m": 2**32}, ["--scheme", AS_OLDER, "-m", str(2**32)]),
}


@pytest.fixture
def old(request, redis_socket):
    name = getattr(request, "param", "gozero")
    scheme, size, options = SYSTEMS[name]
    system = OldSystem(redis_socket, f"care-{name}", scheme, **size)
    system.options = options
    system.url = f"unix://{redis_socket}?key={system.key}"
    system.redis("DEL", system.key, f"{system.key}:meta")
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
    assert old.redis("EXISTS", f"{old.key}:meta") == "0"
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
    assert int(old.redis("TTL", old.key)) > 900 and int(old.redis("TTL", f"{old.key}:meta")) > 900
    ok("expire", old.url, 0)
    assert old.redis("TTL", old.key) == "-1"
    ok("rebuild", old.url, data=b"bob\ncy\n")
    assert old.has("bob") and old.has("cy") and not old.has("ann")
    ok("clear", old.url)
    assert not old.has("bob")
    old.add("dan")
    assert old.has("dan") and ok("check", old.url, data=b"dan\n").code == 0
    ok("delete", old.url)
    assert old.redis("EXISTS", old.key, f"{old.key}:meta") == "0"
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
    old = OldSystem(redis_socket, "old", "gozero", m=20_000)
    old.redis("DEL", "old", "seen", "copy")
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
