"""Every case of cases.jsonl in C, PHP and Python, and those of HTTP in the daemon: the same outcome
class everywhere, a message that names the value at fault, and where the answer is a value, the same
value.  A case that fails is named by its id.

Needs the products of scripts/build.  A case's form is in README.md."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(ROOT / "tests" / "helpers")]

import fake_redis  # noqa: E402
import places  # noqa: E402
import products  # noqa: E402
import web  # noqa: E402
import servers  # noqa: E402
from sides import Program, Python, is_class  # noqa: E402

CASES = [json.loads(line) for line in (HERE / "cases.jsonl").read_text().splitlines()]
LIBRARY = [case for case in CASES if case["kind"] != "http"]
REQUESTS = [case for case in CASES if case["kind"] == "http"]


@pytest.fixture(scope="session")
def sides(tmp_path_factory):
    program = os.environ.get("CATALOGUE_C") or products.compile_c(
        HERE / "side.c", tmp_path_factory.mktemp("side") / "side"
    )
    php = products.php_command()
    loads = phpredis(php)
    all_sides = {
        "c": Program([program]),
        "php": Program([*php, *loads, HERE / "side.php"]),
        "py": Python(),
    }
    all_sides["php"].clients = bool(loads)
    yield all_sides
    assert {name: side.stop() for name, side in all_sides.items()} == {"c": 0, "php": 0, "py": 0}


def phpredis(php):
    """Options that load it: Debian's needs igbinary."""
    for options in (
        ["-d", "extension=igbinary.so", "-d", "extension=redis.so"],
        ["-d", "extension=redis.so"],
    ):
        code = "echo (int) class_exists('Redis', false);"
        if (
            subprocess.run(
                [*php, *options, "-r", code], capture_output=True, text=True, check=False
            ).stdout
            == "1"
        ):
            return options
    return []


@pytest.fixture(scope="session")
def real_redis(tmp_path_factory):
    server = servers.Server(tmp_path_factory.mktemp("redis") / "server")
    yield server
    server.stop()


@pytest.fixture(scope="session")
def redis():
    server = fake_redis.FakeRedis()
    yield server
    server.stop()


def stored(case, key, server):
    """What is in the real Redis before."""
    what = case.get("there")
    if isinstance(what, dict):
        places.made(what, storage=server.url(key)).close()
    elif what:
        server(what.replace("KEY", key))


def prepared(case, folder, key, redis, real_redis):
    """The arguments with paths, URLs and clients in their places."""
    args = dict(case["args"])
    stored(case, key, real_redis)
    if "data" in case:
        (folder / "data").write_bytes(places.image(case["data"]))
        if case["op"] in ("from_bytes", "from_base64"):
            args["data"] = {"p": os.fsencode(folder / "data")}
        elif case["op"] in ("load", "open", "openro"):
            args["storage"] = {"path": "data"}
    for name, value in args.items():
        if "path" in value:
            args[name] = {
                "p": os.fsencode(folder / "data")
                if value["path"] == "data"
                else places.make(folder, value["path"])
            }
        elif "r" in value:
            args[name] = {"r": f"{value['r']} {places.stream(folder, value['r'])}"}
        elif "url" in value:
            args[name] = {"s": real_redis.url(key)}
        elif "o" in value:
            args[name] = {
                "o": f"{value['o']} {servers.free_port() if value['o'] == 'nobody' else real_redis.port}"
            }
        elif value == {"s": "KEY"}:
            args[name] = {"s": key}
    if case["kind"] == "redis":
        if case["op"] != "new" or not case["args"]:
            args = {"m": {"i": "20000"}, "k": {"i": "5"}} | args
        args["storage"] = {"s": redis.url(key, case)}
    return args


def by_side(value, side):
    return (
        value.get(side, value.get("", [] if side else None)) if isinstance(value, dict) else value
    )


def judge(case, side, outcome, text):
    """What is wrong with this answer, or None."""
    want, says = by_side(case["want"], side), by_side(case["says"], side)
    wants = want if isinstance(want, list) else [want]
    if not any(is_class(side, outcome, one) for one in wants):
        return f"{side}: expected {want}, got {outcome}: {text}"
    lacks = [part for part in ([says] if isinstance(says, str) else says) if part not in text]
    if outcome != "ok" and lacks:
        return f"{side}: {outcome}: {text!r} lacks {lacks}"
    if case.get("never") and case["never"] in text:
        return f"{side}: shows a secret: {text}"
    if "value" in case and text != case["value"]:
        return f"{side}: expected {case['value']}, got {text}"
    return "an error without a message" if outcome != "ok" and not text else None


@pytest.mark.parametrize("case", LIBRARY, ids=[case["id"] for case in LIBRARY])
def test_library(case, sides, redis, real_redis, tmp_path):
    wrong, answers = [], {}
    for side, program in sides.items():
        if side in case.get("not", {}) or (
            not getattr(program, "clients", True)
            and any("o" in value for value in case["args"].values())
        ):
            continue
        folder = tmp_path / side
        folder.mkdir()
        key = f"{side}-{CASES.index(case)}"
        args = prepared(case, folder, key, redis, real_redis)
        before, keys = places.listing(folder), real_redis("DBSIZE")
        outcome, text = program.ask(case["op"], args)
        fault = judge(case, side, outcome, text)
        wrong += [fault] if fault else []
        if outcome != "ok" and places.listing(folder) != before:
            wrong.append(
                f"{side}: was refused, and left {places.listing(folder)} where {before} was"
            )
        if (
            outcome != "ok"
            and case["op"] in ("new", "plan", "open", "openro")
            and real_redis("DBSIZE") != keys
        ):
            wrong.append(f"{side}: was refused, and left something in Redis")
        if outcome == "ok":
            answers[side] = text
    assert not wrong, f"{case['id']}:\n" + "\n".join(wrong)
    assert len(set(answers.values())) <= 1, f"{case['id']}: not the same everywhere: {answers}"


def test_there_are_enough_cases():
    assert len(CASES) > 2000
    assert len({case["id"] for case in CASES}) == len(CASES)
    assert {case["kind"] for case in CASES} == {
        "construct",
        "key",
        "bytes",
        "mismatch",
        "file",
        "redis",
        "http",
        "counting",
        "variant",
        "client",
    }
    # What a language cannot say has a reason, and no case is left to none of them.
    assert {reason for case in CASES for reason in case.get("not", {}).values()} <= {
        "type",
        "range",
        "zero",
        "method",
        "wrapper",
    }
    assert all(len(case.get("not", {})) < 3 for case in CASES)


# ---- HTTP ----
DAEMON = Path(os.environ.get("BLOOMFILTERD", ROOT / "out" / "bin" / "bloomfilterd"))


@pytest.fixture(scope="session")
def daemon(tmp_path_factory):
    if not DAEMON.exists():
        pytest.skip(f"no {DAEMON.name}: scripts/build c makes it where its parser is there")
    said = tmp_path_factory.mktemp("daemon") / "said"
    with said.open("wb") as errors:
        process = subprocess.Popen(
            [str(DAEMON), "--port", "0", "-n", "1000", "-p", "0.01"], stderr=errors
        )
    port = None
    while port is None:
        assert process.poll() is None, said.read_text()
        port = re.search(r"listening on .* port (\d+)", said.read_text())
        time.sleep(0.005)
    yield int(port[1])
    process.terminate()
    assert process.wait(60) == 0, said.read_text()


@pytest.mark.parametrize("case", REQUESTS, ids=[case["id"] for case in REQUESTS])
def test_http(case, daemon):
    status, text = web.ask(
        daemon,
        case["raw"].encode(
            "latin-1"
            if case["raw"].isascii()
            or case["id"].startswith("http/garbage")
            or "framing" in case["id"]
            else "utf-8"
        ),
    )
    assert str(status) == case["want"], f"{case['id']}: {text}"
    assert [part for part in case["says"] if part not in text] == [], f"{case['id']}: {text}"
    status, text = web.ask(daemon, b"GET /stats HTTP/1.1\r\n\r\n")
    stats = json.loads(text.split("\r\n\r\n", 1)[1])
    assert status == 200 and stats["count"] == 0, (
        f"{case['id']}: a refused request added something, or the daemon is not well: {text}"
    )
