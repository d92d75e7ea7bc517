"""The catalogue of bad input (tests/catalogue) with the extension and with the polyfill: the same class of
exception and the same message, but where the polyfill says that something is not there."""

import sys
import tempfile
import urllib.parse
from pathlib import Path

import pytest

CATALOGUE = Path(__file__).resolve().parent.parent / "catalogue"
sys.path.insert(0, str(CATALOGUE))

import servers  # noqa: E402
import test_catalogue as catalogue  # noqa: E402
from sides import Program  # noqa: E402

CASES = [case for case in catalogue.LIBRARY if "php" not in case.get("not", {})]
# What is not there, each an exception of its own.
NOT_THERE = (
    "needs the extension",
    "pure PHP makes no connection of its own",
    "pure PHP opens files to read",
    "pure PHP cannot write to a file",
)
# PHP opens the path that it has made of a name: the reason is that of another system call.
OTHER_REASON = (
    "file/loop/",
    "file/under-a-file/",
    "file/directory/",
    "file/socket/",
    "client/nobody/",
)


@pytest.fixture(scope="module")
def programs(with_extension, with_polyfill):
    pair = [Program([*php, CATALOGUE / "side.php"]) for php in (with_extension, with_polyfill)]
    yield pair
    assert [program.stop() for program in pair] == [0, 0]


@pytest.fixture(scope="module")
def redis(tmp_path_factory):
    server = servers.Server(tmp_path_factory.mktemp("redis") / "server")
    yield server
    server.stop()


def with_client(args, url):
    """A client object and key in the place of a URL."""
    parts = urllib.parse.urlparse(url)
    key = urllib.parse.parse_qs(parts.query)["key"][0]
    return {"key": {"s": key}} | args | {"storage": {"o": f"plain {parts.port}"}}


def answer(program, case, folder, key, redis):
    folder.mkdir(parents=True)
    args = catalogue.prepared(case, folder, key, redis)
    if "url" in case["args"].get("storage", {}):
        args = with_client(args, args["storage"]["s"])
    outcome, text = program.ask(case["op"], args)
    text = text.replace(str(folder), "FOLDER").replace(f"/{folder.name}/", "/FOLDER/")
    text = text.replace(key, "KEY").split(", called in ")[0]
    return outcome, text


def differ(case, theirs, ours):
    if any(text in ours[1] for text in NOT_THERE):
        return ours[0] not in ("BloomFilterException:-6", "setup")
    if case["id"].startswith(OTHER_REASON):
        return not all(one[0].startswith("BloomFilterException") for one in (theirs, ours))
    return ours != theirs


@pytest.fixture
def short():
    """Messages cut a long path, in which FOLDER would not be found."""
    with tempfile.TemporaryDirectory(prefix="b") as folder:
        yield Path(folder)


@catalogue.groups(CASES)
def test_the_same(cases, programs, redis, short):
    wrong = {}
    for case in cases:
        number = catalogue.NUMBERS[case["id"]]
        answers = [
            answer(program, case, short / f"{number}" / name, f"{name}-{number}", redis)
            for name, program in zip(("aaa", "bbb"), programs, strict=True)
        ]
        if differ(case, *answers):
            wrong[case["id"]] = answers
    assert wrong == {}
