"""The examples, each as its user runs it; those on filters in Redis against a server of the test's
own."""

import re
import socket
import subprocess
import sys
import threading
import time
from collections import Counter

import pytest
import redis as redis_py
from bloomfilter import CountingBloomFilter
from products import ROOT

EXAMPLES = ROOT / "examples"


@pytest.fixture
def redis(redis_port):
    """The URL of an empty database, to be followed by the key's name."""
    redis_py.Redis(port=redis_port).flushall()
    return f"redis://127.0.0.1:{redis_port}/0?timeout=60&key="


def example(command, name, *arguments, stdin=""):
    done = subprocess.run(
        [*map(str, command), str(EXAMPLES / name), *map(str, arguments)],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def answered(command, name, *arguments, stdin=""):
    return example(command, name, *arguments, stdin=stdin)[0].splitlines()


PYTHON = [sys.executable]


def test_recrawl(tmp_path):
    urls = [f"https://example.org/{i}" for i in range(10_000)]
    (tmp_path / "urls.txt").write_text("\n".join(urls + urls[:50]) + "\n")
    command = PYTHON, "recrawl.py", "--seen", tmp_path / "seen.bloom", tmp_path / "urls.txt"
    first = answered(*command)
    assert len(first) >= 9_990 and first == list(dict.fromkeys(first)) and set(first) <= set(urls)
    assert answered(*command) == []  # nothing is due yet


@pytest.mark.parametrize(
    ("words", "first", "again"),
    [
        ("once_a_day.php ann bob ann", "welcome", "come back tomorrow"),
        ("seckill.php 86400 u1 u2 u1", "ordered", "once is enough"),
    ],
)
def test_once_in_a_window(php, tmp_path, words, first, again):
    name, *words = words.split()
    users = words[-3:]
    for answers in ((first, first, again), (again, again, again)):
        expected = [f"{user}: {answer}" for user, answer in zip(users, answers, strict=True)]
        assert answered(php, name, tmp_path / "seen.bloom", *words) == expected


def test_online_in_both_languages(php, tmp_path):
    talk, answers = (
        "+ann\n+bob\n-ann\n?ann\n?bob\n-eve\n",
        ["ann: no", "bob: yes", "eve was not here"],
    )
    path = tmp_path / "online.bloom"
    assert answered(PYTHON, "online.py", stdin=talk) == answers
    assert answered(php, "online.php", path, stdin=talk) == answers
    with CountingBloomFilter(n=100_000, p=0.01, storage=path) as online:
        assert online.count_of("bob") == 1 and online.count_of("ann") == 0 and online.remove("bob")
    assert answered(php, "online.php", path, stdin="?bob\n") == ["bob: no"]


def test_comments(redis, php):
    comments = [
        "ann\tFirst!",
        "bob\tFirst!",
        "ann\tfirst",
        "ann\t  First!!",
        "ann\tSecond",
        "bob\tFirst!",
        "ann\t\u00c4rger \u4e2d",
        "ann\t\u00c4rger  \u4e2d.",
    ]
    command = php, "comments.php", redis + "comments"
    out, err = example(*command, stdin="".join(f"{line}\n" for line in comments))
    assert out.splitlines() == [comments[i] for i in (0, 1, 4, 6)] and "4 taken, 4 refused" in err
    out, err = example(*command, stdin=f"{comments[4]}\ncarl\tSecond\n")  # another server
    assert out == "carl\tSecond\n" and "1 taken, 1 refused" in err
    with socket.create_connection(("127.0.0.1", int(redis.split(":")[2].split("/")[0])), 60) as s:
        s.sendall(b"TTL comments-%s\r\n" % time.strftime("%Y-%m-%d", time.gmtime()).encode())
        assert int(s.recv(100)[1:]) > 86400


def test_feed(redis):
    """Several servers at once show 20 items to each of 30 users: each item once to each."""
    url = redis.split("?")[0]
    lines = [f"user {u}\titem {i}" for u in range(30) for i in range(20)]
    halves = [lines[:400] + lines[:200], lines[200:] + lines[:200]]
    servers = [
        threading.Thread(
            target=lambda half=half: shown.append(
                example(PYTHON, "feed.py", url, stdin="".join(f"{x}\n" for x in half))[0]
            )
        )
        for half in halves
    ]
    shown = []
    for server in servers:
        server.start()
    for server in servers:
        server.join()
    told = Counter("".join(shown).splitlines())
    assert set(told.values()) == {1} and told.keys() <= set(lines)
    assert len(told) > 0.95 * len(lines)  # p = 0.01
    again = "".join(f"{line}\n" for line in lines)
    assert example(PYTHON, "feed.py", url, stdin=again)[0] == ""


@pytest.mark.parametrize("url", ["redis://127.0.0.1:1/0", "http://127.0.0.1/"])
def test_feed_without_redis_is_one_line(url):
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "feed.py"), url],
        input="ann\titem 7\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith("feed.py: ") and done.stderr.count("\n") == 1


def test_register(redis, php, tmp_path):
    def register(*words, stdin=""):
        return example(php, "register.php", redis + "phones", *words, stdin=stdin)

    numbers = [f"138{i:08}" for i in range(3000)]
    database = tmp_path / "database"
    database.write_text("".join(f"{number}\n" for number in numbers))
    assert register("rebuild", stdin=database.read_text())[0] == "3000 numbers\n"
    asked = numbers[:50] + [f"139{i:08}" for i in range(2000)]
    out, err = register("check", database, stdin="".join(f"{number}\n" for number in asked))
    answers = ["yes"] * 50 + ["no"] * 2000
    assert out.splitlines() == [f"{number} {answer}" for number, answer in zip(asked, answers)]
    read = re.match(r"register: 2050 numbers, (\d+) ", err)[1]
    assert 50 <= int(read) < 100 and "50 registered" in err
    assert [register("add", "13700000000")[0] for _ in range(2)] == ["new\n", "known\n"]
    assert register("add", "13500000000", database)[0] == "new\n"
    assert database.read_text().endswith("13500000000\n")
    # a crash, here a fault, between the two: only the filter has the number, never only the database
    with pytest.raises(AssertionError, match="cannot write"):
        register("add", "13400000000", tmp_path / "gone" / "database")
    assert register("add", "13400000000")[0] == "known\n"
    register("rebuild", stdin="13600000000\n")
    assert register("add", "13600000000")[0] == "known\n"
    assert register("add", numbers[0])[0] == "new\n"
