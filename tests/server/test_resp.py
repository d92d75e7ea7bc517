"""The protocol of Redis on the daemon's port: commands, pipelines, frames, the token."""

import json
import re
import signal

import pytest
import redis
import resp
from daemons import ROOT, until

OK = b"OK"


@pytest.fixture(params=[2, 3])
def client(daemon, request):
    with redis.Redis(port=daemon.port, protocol=request.param) as client:
        yield client


def raw(daemon, token=None):
    connection = resp.Resp(daemon.client())
    if token:
        assert connection.ask("AUTH", token) == OK
    return connection


# ---- the commands of redis-py


def test_redis_py(client):
    bf = client.bf()
    assert bf.create("users", 0.001, 1000, expansion=4)
    assert [bf.add("users", "a"), bf.add("users", "a")] == [1, 0]
    assert list(bf.madd("users", "a", "b", "c")) == [0, 1, 1]
    assert list(bf.mexists("users", "a", "z", "c")) == [1, 0, 1]
    assert [bf.exists("users", "b"), bf.exists("users", "z"), bf.exists("none", "z")] == [1, 0, 0]
    assert list(bf.insert("new", ["x", "y"], capacity=10, error=0.1, expansion=1)) == [1, 1]
    assert bf.card("users") == 3 and bf.card("none") == 0
    info = bf.info("users")  # a dict with RESP3, an object with RESP2
    info = info if isinstance(info, dict) else vars(info)
    assert {1000, 1, 3, 4} <= {v for v in info.values() if isinstance(v, int)}
    assert client.type("users") == b"MBbloom--"
    assert client.exists("users", "new", "none") == 2
    assert sorted(client.keys("*e*")) == [b"default", b"new", b"users"]
    assert set(client.scan_iter(match="u*")) == {b"users"}
    assert client.dbsize() == 3
    assert client.delete("users", "none") == 1 and not client.exists("users")
    assert client.ping() and client.echo("x") == b"x"
    assert client.info()["redis_mode"] == "standalone"
    assert len(client.command()) == client.command_count()


def test_filters_are_merged(client):
    run = client.execute_command
    for name, key in (("one", "a"), ("two", "b")):
        assert run("BF.RESERVE", name, "0.01", 100, "NONSCALING") and run("BF.ADD", name, key)
    assert run("BF.MERGE", "all", "one", "two")
    assert list(run("BF.MEXISTS", "all", "a", "b", "c")) == [1, 1, 0]


def test_filters_that_grow_forget_or_count(daemon):
    client = raw(daemon)
    for kind, words in (
        ("grow", ["EXPANSION", 2]),
        ("window", ["WINDOW", 3600]),
        ("counting", ["NONSCALING", "COUNTING"]),
    ):
        assert client.ask("BF.RESERVE", kind, 0.0001, 1000, *words) == OK
        assert client.ask("BF.MADD", kind, "a", "a", "b") == [1, 0, 1]
        assert daemon.stats(kind)["kind"] == kind
    assert [client.ask("BF.COUNT", "counting", key) for key in "abc"] == [2, 1, 0]
    assert client.ask("BF.REMOVE", "counting", *"abcaa") == [1, 1, 0, 1, 0]
    assert client.ask("BF.MEXISTS", "counting", *"abc") == [0, 0, 0]


def test_a_filter_that_is_full_answers_what_it_took(daemon):
    client = raw(daemon)
    assert client.ask("BF.RESERVE", "few", "0.01", "3", "NONSCALING") == OK
    full = resp.Error("ERR non scaling filter is full")
    assert client.ask("BF.MADD", "few", *"abcd") == [1, 1, 1, full]
    assert client.ask("BF.MADD", "few", "a", "d", "b") == [0, full]
    client.send(*(("BF.ADD", "few", key) for key in "abdc"))
    assert [client.reply() for _ in range(4)] == [0, 0, full, 0]


def test_a_refused_reserve_leaves_the_filter_as_it_is(daemon):
    client = raw(daemon)
    assert daemon.ask("PUT", "/f/few?n=3&p=0.01").status == 201
    taken = client.ask("BF.RESERVE", "few", "0.01", "3", "NONSCALING")
    assert taken == resp.Error("ERR item exists")
    assert len(client.ask("BF.MADD", "few", *"abcdefgh")) == 8  # past its capacity, as before


# Errors as of RedisBloom 2.8
REFUSED = """
BF.RESERVE f => ERR wrong number of arguments for 'bf.reserve' command
BF.RESERVE f x 10 => ERR bad error rate
BF.RESERVE f 1 10 => ERR (0 < error rate range < 1)\x20
BF.RESERVE f 0.01 x => ERR bad capacity
BF.RESERVE f 0.01 -1 => ERR (capacity should be larger than 0)
BF.RESERVE f 0.01 10 EXPANSION => ERR no expansion
BF.RESERVE f 0.01 10 EXPANSION x => ERR bad expansion
BF.RESERVE f 0.01 10 EXPANSION 0 => ERR expansion should be greater or equal to 1
BF.RESERVE f 0.01 10 EXPANSION 2 NONSCALING => Nonscaling filters cannot expand
BF.RESERVE default 0.01 10 => ERR item exists
BF.INSERT f ITEMS => ERR wrong number of arguments for 'bf.insert' command
BF.INSERT f FOO bar => Unknown argument received
BF.INSERT f NOCREATE ITEMS a => ERR not found
BF.INSERT f ERROR x ITEMS a => Bad error rate
BF.INSERT f ERROR 2 ITEMS a => Bad argument received
BF.INSERT f CAPACITY 0 ITEMS a => Bad argument received
BF.INFO f => ERR not found
BF.INFO default FOO => Invalid information value
BF.ADD f => ERR wrong number of arguments for 'bf.add' command
HELLO 4 => NOPROTO unsupported protocol version
HELLO x => ERR Protocol version is not an integer or out of range
SELECT 1 => ERR DB index is out of range
CLIENT NOPE => ERR unknown subcommand 'NOPE'. Try CLIENT HELP.
SCAN x => ERR invalid cursor
SET a b => ERR unknown command 'SET', with args beginning with: 'a'\x20
"""


def test_errors_are_those_of_redis_and_redisbloom(daemon):
    client = raw(daemon)
    for line in REFUSED.strip("\n").split("\n"):
        command, error = line.split(" => ")
        assert client.ask(*command.split()) == resp.Error(error), command
    for name in ("", ".f", "a/b", "x" * 129):
        assert client.ask("BF.ADD", name, "k").text.startswith("ERR the name of a filter"), name
    assert client.ask("DEL", "default").text.startswith("ERR ")
    assert client.ask("BF.REMOVE", "default", "k").text.startswith("ERR ")
    for many in (("COMMAND", "DOCS"), ("COMMAND", "INFO"), ("BF.MERGE", "f")):
        assert isinstance(client.ask(*many, *["default"] * 1026), resp.Error), many
    assert client.ask("PING") == b"PONG"


# ---- the documented table


def test_the_documented_commands_are_those_of_the_daemon(daemon):
    told = raw(daemon).ask("COMMAND", "DOCS")
    docs = [dict(zip(row[::2], row[1::2])) for row in told[1::2]]
    names = [name.decode().upper() for name in told[::2]]
    rows = [
        f"| `{(name + ' ' + row[b'syntax'].decode()).strip().replace('|', chr(92) + '|')}` "
        f"| {row[b'summary'].decode()} |"
        for name, row in zip(names, docs)
    ]
    page = (ROOT / "docs/resp.md").read_text()
    found = [line for line in page.splitlines() if line in rows]
    assert found == rows, "\n".join(rows)
    assert raw(daemon).ask("COMMAND", "COUNT") == len(rows)


# ---- pipelines


def test_a_pipeline_of_10000_is_answered_in_order(client):
    for command, expected in (("BF.ADD", [1, 0]), ("BF.EXISTS", [1, 1])):
        pipe = client.pipeline(transaction=False)
        for i in range(5000):
            pipe.execute_command(command, "seen", i)
            pipe.execute_command(command, "seen", i)
        answers = pipe.execute()
        wrong = [i for i, yes in enumerate(answers) if yes != expected[i % 2]]
        assert len(wrong) < 100, wrong[:10]  # false positives
    pipe = client.pipeline(transaction=False)
    for i in range(2000):
        pipe.execute_command(
            *[("BF.ADD", "a", i), ("ECHO", i), ("BF.EXISTS", f"f{i % 7}", i)][i % 3]
        )
    answers = pipe.execute()
    assert [int(answer) for answer in answers[1::3]] == list(range(1, 2000, 3))


def test_many_keys_and_large_keys(daemon):
    client = raw(daemon)
    keys = [f"{i}" for i in range(200_000)]
    assert client.ask("BF.RESERVE", "big", "0.0001", "200000", "NONSCALING") == OK
    assert sum(client.ask("BF.MADD", "big", *keys)) > 199_900
    assert client.ask("BF.MEXISTS", "big", *keys) == [1] * len(keys)
    large = b"\r\n\0" * 1_000_000
    assert client.ask("BF.ADD", "big", large) == 1
    assert client.ask("BF.EXISTS", "big", large) == 1
    assert client.ask("ECHO", large) == large


# ---- frames

CONVERSATION = [
    (("HELLO", "3"), None),
    (("BF.ADD", "cut", "\r\n*1"), True),
    (("BF.MADD", "cut", "a", "", "\r\n*1"), [True, True, False]),
    (("PING",), b"PONG"),
    (("BF.EXISTS", "cut", "a"), True),
    (("BF.EXISTS", "cut", "z"), False),
    (("ECHO", "$5"), b"$5"),
]


def test_frames_cut_at_every_byte(daemon):
    data = b"".join(resp.command(*command) for command, _ in CONVERSATION)
    for at in range(1, len(data)):
        client = raw(daemon)
        assert client.ask("DEL", "cut") in (0, 1)
        client.client.send(data[:at])
        # what is complete is answered before the rest is sent
        whole, sent = 0, 0
        for command, _ in CONVERSATION:
            sent += len(resp.command(*command))
            whole += sent <= at
        answers = [client.reply() for _ in range(whole)]
        client.client.send(data[at:])
        answers += [client.reply() for _ in range(len(CONVERSATION) - whole)]
        assert answers[1:] == [expected for _, expected in CONVERSATION[1:]], at
        client.client.close()


MALFORMED = [
    b"*x\r\n",
    b"*-1\r\n",
    b"*1\n$4\r\nPING\r\n",
    b"*1\r\n+PING\r\n",
    b"*1\r\n$4\r\nPINGxx",
    b"*1\r\n$-1\r\n",
    b"*1\r\n$99999999999\r\n",
    b"*1\r\n$9999999999\r\n",
    b"*99999999999\r\n",
    b"*1000000000\r\n",
    b"*1\r\n:4\r\n",
    b"*1\r\n*1\r\n$4\r\nPING\r\n",
    b"*1\r\n$4\r\nPING\r\nGET / HTTP/1.1\r\n\r\n",
    b"*1\r\n$4\r\nPING\r\nPING\r\n",
    b"*" + b"1" * 100,
]


def test_a_malformed_frame_gets_one_error_and_the_end(daemon):
    for frame in MALFORMED:
        got = daemon.client().send(frame).end()
        assert re.fullmatch(rb"(\+PONG\r\n)?-ERR Protocol error: [^\r\n]+\r\n", got), (frame, got)
    assert daemon.get("/healthz").body == b"ok"


def test_empty_frames_and_empty_lines_are_skipped(daemon):
    client = raw(daemon)
    client.client.send(b"*0\r\n\r\n" + resp.command("PING") + b"\r\n*0\r\n" + resp.command("PING"))
    assert [client.reply(), client.reply()] == [b"PONG", b"PONG"]
    client.client.send(b"*0\r\n" + resp.command("quit") + resp.command("PING"))
    assert client.client.end() == b"+OK\r\n"


def test_limits(start):
    daemon = start("--max-body", "64K", "--deadline", 1, "--max-buffered", "1M")
    client = raw(daemon)
    assert client.ask("BF.ADD", "f", "x" * 60_000) == 1
    assert b"larger than --max-body" in client.client.send(resp.command("ECHO", "x" * 70_000)).end()
    assert (
        b"larger than --max-body"
        in daemon.client().send(b"*9\r\n" + b"$6\r\nabcdef\r\n" * 8 + b"$70000\r\n").end()
    )
    assert b"did not arrive in time" in daemon.client().send(b"*2\r\n$4\r\nEC").end()


# ---- the token


def test_the_token_is_the_password(start):
    daemon = start("--token", "s3cret")
    client = raw(daemon)
    for command in (("PING",), ("BF.ADD", "f", "k"), ("NOPE",), ("COMMAND",), ("HELLO", "3")):
        assert client.ask(*command).text.startswith("NOAUTH "), command
    for wrong in ("", "s3cre", "s3crets", "S3CRET"):
        assert client.ask("AUTH", wrong).text.startswith("WRONGPASS "), wrong
    assert client.ask("AUTH", "s3cret") == OK and client.ask("PING") == b"PONG"
    for wrong in (("AUTH", "x"), ("AUTH", "u", "x"), ("HELLO", "3", "AUTH", "u", "x")):
        assert client.ask(*wrong).text.startswith("WRONGPASS "), wrong
        assert client.ask("PING") == b"PONG" and client.ask("bf.aDD", "f", *wrong[:1]) in (0, 1)
    client = raw(daemon)
    assert client.ask("HELLO", "3", "AUTH", "u", "x").text.startswith("WRONGPASS ")
    assert client.ask("PING").text.startswith("NOAUTH ")
    for protocol in (2, 3):
        with redis.Redis(port=daemon.port, password="s3cret", protocol=protocol) as python:
            assert python.bf().add(f"f{protocol}", "k") == 1
    assert dict(zip(*[iter(raw(daemon, "s3cret").ask("HELLO"))] * 2))[b"proto"] == 2
    assert raw(daemon, "s3cret").ask("RESET") == b"RESET"
    for frame in (b"*11\r\n", b"*2\r\n$4\r\nECHO\r\n$20000\r\n"):
        assert b"-ERR Protocol error" in daemon.client().send(frame).end()


# ---- dumps of RedisBloom


def dump(client, name):
    pieces, at = [], 0
    while (piece := client.ask("BF.SCANDUMP", name, at))[0]:
        pieces.append(piece)
        at = piece[0]
    return pieces


def test_a_filter_moves_by_scandump_and_loadchunk(start, tmp_path):
    daemon = start("--storage", f"{tmp_path}/filters/", "--create")
    client = raw(daemon)
    for name, more in (("fixed", ""), ("grown", "&grow=2"), ("large", "0000&grow=2")):
        assert daemon.ask("PUT", f"/f/{name}?scheme=redisbloom&p=0.01&n=1000{more}").status == 201
        client.ask("BF.MADD", name, *range(4000))
        pieces = dump(client, name)
        for at, data in pieces:
            assert client.ask("BF.EXISTS", "copy", 1) == 0
            assert client.ask("BF.LOADCHUNK", "copy", at, data) == OK
        assert dump(client, "copy") == pieces and len(pieces) > 1
        answers = client.ask("BF.MEXISTS", name, *range(8000))
        assert client.ask("BF.MEXISTS", "copy", *range(8000)) == answers
        at, header = pieces[0]
        for bad in ((at, header), (at + 1, header), ("x", header)):
            assert isinstance(client.ask("BF.LOADCHUNK", "copy", *bad), resp.Error)
        assert client.ask("DEL", "copy") == 1
        assert client.ask("BF.LOADCHUNK", "copy", at, header) == OK  # and no more of it
        assert isinstance(client.ask("BF.LOADCHUNK", "copy", at, header[:-1]), resp.Error)
    daemon = start("--deadline", 1)
    client = raw(daemon)
    assert client.ask("BF.LOADCHUNK", "copy", at, header) == OK
    until(lambda: daemon.metric("buffered_bytes") == 0)  # after --deadline its memory is free
    assert client.ask("BF.LOADCHUNK", "copy", *pieces[1]) == resp.Error("ERR received bad data")
    assert isinstance(client.ask("BF.SCANDUMP", "default", 0), resp.Error)


def test_parts_of_filters_are_no_more_than_filters_can_be(start, tmp_path):
    limits = "--max-filters", 3, "--max-buffered", "16M", "--max-body", "1M"
    daemon = start("--storage", f"{tmp_path}/filters/", "--create", *limits)
    client = raw(daemon)
    assert daemon.ask("PUT", "/f/a?scheme=redisbloom&p=0.01&n=9000000").status == 201  # 10.8 MB
    at, header = client.ask("BF.SCANDUMP", "a", 0)
    for name in ("b", "c", "d", "c"):  # a header takes none of the memory that it promises
        assert client.ask("BF.LOADCHUNK", name, at, header) == OK
    assert isinstance(client.ask("BF.LOADCHUNK", "e", at, header), resp.Error)
    assert daemon.ask("PUT", "/f/big?scheme=redisbloom&p=0.01&n=30000000").status == 201  # 36 MB
    end, last = client.ask("BF.SCANDUMP", "big", 35_000_001)  # takes the memory of one piece
    assert end == 35_000_001 + len(last) and client.ask("BF.SCANDUMP", "big", end) == [0, b""]
    assert client.ask("BF.SCANDUMP", "big", 0)[0] == 1


# ---- beside HTTP


def test_metrics_and_log_count_commands(start, tmp_path):
    log = tmp_path / "log"
    daemon = start("--access-log", log)
    client = raw(daemon)
    client.send(*[("BF.ADD", "seen", "secret-key")] * 3, ("BF.INFO", "none"), ("nope",))
    for _ in range(5):
        client.reply()
    metrics = daemon.get("/metrics").body.decode()
    for line in (
        'bloomfilter_commands_total{command="BF.ADD"} 3',
        'bloomfilter_commands_total{command="BF.INFO"} 1',
        'bloomfilter_adds_total{filter="seen"} 3',
        'bloomfilter_requests_total{code="200"} 3',
        'bloomfilter_requests_total{code="404"} 1',
    ):
        assert line in metrics.splitlines(), line
    daemon.process.send_signal(signal.SIGTERM)
    daemon.process.wait()
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    told = [(line.get("command"), line.get("filter"), line["status"]) for line in lines][:5]
    assert told == [("BF.ADD", "seen", 200)] * 3 + [("BF.INFO", "none", 404), ("", "", 400)]
    assert "secret-key" not in log.read_text()
