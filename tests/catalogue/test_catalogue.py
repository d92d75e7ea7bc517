"""Every case of cases.jsonl in C, PHP and Python, and those of HTTP in the daemon: the same outcome
class everywhere, a message that names the value at fault, and where the answer is a value, the same
value.  A case that fails is named by its id.

Needs the products of scripts/build.  A case's form is in README.md."""

import json
import os
import re
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(ROOT / "tests" / "helpers")]

import places  # noqa: E402
import three_sides  # noqa: E402
import servers  # noqa: E402
from daemons import Daemon, flood  # noqa: E402
from sides import is_class  # noqa: E402

CASES = [json.loads(line) for line in (HERE / "cases.jsonl").read_text().splitlines()]
NUMBERS = {case["id"]: number for number, case in enumerate(CASES)}
LIBRARY = [case for case in CASES if case["kind"] != "http"]
REQUESTS = [case for case in CASES if case["kind"] == "http"]


@pytest.fixture(scope="session")
def sides(tmp_path_factory):
    with three_sides.running(tmp_path_factory.mktemp("side")) as sides:
        yield sides


@pytest.fixture(scope="session")
def redis(tmp_path_factory):
    server = servers.Server(tmp_path_factory.mktemp("redis") / "server")
    yield server
    server.stop()


def stored(case, key, server):
    """What is in Redis before."""
    what = case.get("there")
    if isinstance(what, dict):
        places.made(what, storage=server.url(key)).close()
    elif what:
        server(what.replace("KEY", key))


def prepared(case, folder, key, redis):
    """The arguments with paths, URLs and clients in their places."""
    args = dict(case["args"])
    stored(case, key, redis)
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
            args[name] = {"s": redis.url(key)}
        elif "o" in value:
            args[name] = {
                "o": f"{value['o']} {servers.free_port() if value['o'] == 'nobody' else redis.port}"
            }
        elif value == {"s": "KEY"}:
            args[name] = {"s": key}
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


def groups(cases, size=25):
    """So many cases are one test, named by its first: a fixture for each takes longer than a case."""
    some = [cases[at : at + size] for at in range(0, len(cases), size)]
    return pytest.mark.parametrize("cases", some, ids=[f"{group[0]['id']}.." for group in some])


def faults_of(case, side, program, folder, key, redis):
    """(what is wrong, the answer)"""
    folder.mkdir(parents=True)
    args = prepared(case, folder, key, redis)
    refuses = case["op"] in ("new", "plan", "open", "openro") and case["want"] != "ok"
    before, keys = places.listing(folder), refuses and redis("DBSIZE")
    outcome, text = program.ask(case["op"], args)
    fault = judge(case, side, outcome, text)
    wrong = [fault] if fault else []
    if outcome != "ok" and places.listing(folder) != before:
        wrong.append(f"{side}: was refused, and left {places.listing(folder)} where {before} was")
    if outcome != "ok" and refuses and redis("DBSIZE") != keys:
        wrong.append(f"{side}: was refused, and left something in Redis")
    return wrong, text if outcome == "ok" else None


def asks_for_a_client(case):
    return any("o" in value for value in case["args"].values())


@groups(LIBRARY)
def test_library(cases, sides, redis, tmp_path):
    wrong = {}
    for number, case in enumerate(cases):
        found, answers = [], set()
        for side, program in sides.items():
            lacks_client = asks_for_a_client(case) and not getattr(program, "clients", True)
            if side in case.get("not", {}) or lacks_client:
                continue
            folder, key = tmp_path / f"{number}" / side, f"{side}-{NUMBERS[case['id']]}"
            more, answer = faults_of(case, side, program, folder, key, redis)
            found += more
            answers |= {answer} - {None}
        if len(answers) > 1:
            found.append(f"not the same everywhere: {answers}")
        if found:
            wrong[case["id"]] = found
    assert wrong == {}


def test_there_are_enough_cases():
    kinds = "construct key bytes mismatch file http counting variant client".split()
    assert len(CASES) > 2000 and {case["kind"] for case in CASES} == set(kinds)
    assert len(NUMBERS) == len(CASES)
    # What a language cannot say has a reason, and no case is left to none of them.
    reasons = {reason for case in CASES for reason in case.get("not", {}).values()}
    assert reasons <= {"type", "range", "zero", "method", "wrapper"}
    assert all(len(case.get("not", {})) < 3 for case in CASES)


# ---- HTTP ----
@pytest.fixture(scope="session")
def daemon(tmp_path_factory):
    daemon = Daemon(tmp_path_factory.mktemp("daemon"), "-n", 1000, "-p", 0.01)
    yield daemon
    daemon.stop()


@groups(REQUESTS)
def test_http(cases, daemon):
    """One reply, an error with its sentence, and a daemon in which no key and no filter is new."""
    wrong = {}
    for case in cases:
        raw, bytes_ = case["raw"], "garbage" in case["id"] or "framing" in case["id"]
        code = "latin-1" if bytes_ or raw.isascii() else "utf-8"
        text = flood(daemon, raw.encode(code)).decode("latin-1")
        daemon.clients.pop().close()
        right = re.findall(r"HTTP/1\.1 (\d+)", text) == [case["want"]]
        right = right and all(part in text for part in case["says"])
        if case["want"] == "400":
            right = right and text.endswith("\r\n\r\nError Command") and "\r\nX-New" not in text
        if case["want"] != "200":
            right = right and re.search(r"\r\nX-Error: [^\x00-\x1f]+\r\n", text)
        adds, filters = daemon.stats()["adds"], [*json.loads(daemon.get("/f").body)]
        if not right or adds or filters != ["default"]:
            wrong[case["id"]] = text, adds, filters
    assert wrong == {}
