"""Who may ask: --token, --token-file."""

import base64
import itertools
import subprocess

import pytest
from daemons import asks, ended

TOKEN = "s3cret-Token"


@pytest.fixture(params=["argument", "file"])
def guarded(request, start, tmp_path):
    if request.param == "argument":
        return start("-n", 1000, "-p", 0.01, "--token", TOKEN)
    (tmp_path / "token").write_text(TOKEN + "\n")
    return start("-n", 1000, "-p", 0.01, "--token-file", tmp_path / "token")


def test_a_token_that_is_too_long_is_not_cut(start, tmp_path):
    path = tmp_path / "token"
    path.write_text("t" * 1022 + "\nnot of it" + "x" * 1000)
    daemon = start("-n", 1000, "-p", 0.01, "--token-file", path)
    assert daemon.get("/add=k", Authorization="Bearer " + "t" * 1022).status == 200
    path.write_text("t" * 1023 + "\n")
    code, said = ended("--token-file", path)
    assert code == 2 and "shorter than 1023 bytes" in said


WRONG = [
    None,
    "",
    "Bearer",
    "Bearer ",
    "Bearer x",
    f"Bearer {TOKEN}x",
    f"Bearer {TOKEN[:-1]}",
    f"Bearer {TOKEN}{TOKEN}",
    f"Bearer {TOKEN.lower()}",
    f"Bearer  {TOKEN}",
    TOKEN,
    f"Token {TOKEN}",
    "Basic " + base64.b64encode(f"user:{TOKEN}".encode()).decode(),
    "Bearer " + "x" * 5000,
]
PATHS = asks("""GET /add=k, GET /contain=k, GET /remove=k, GET /count=k, POST /add, POST /contain,
    PUT /f/x?n=1&p=0.1, GET /f, GET /f/default, DELETE /f/x, GET /metrics, GET /nothing,
    GET /f/default/stats, POST /clear, POST /flush, POST /f/default/clear,
    POST /f/default/expire?seconds=1, POST /f/x""")


def test_without_the_token(guarded):
    client = guarded.client()
    for ask, wrong in itertools.product(PATHS, WRONG):
        got = client.ask(*ask, **({} if wrong is None else {"Authorization": wrong}))
        assert (got.status, got.reason) == (401, "Unauthorized"), (ask, wrong)
        assert got.headers["www-authenticate"] == "Bearer"
    assert client.get("/healthz").body == b"ok"
    assert client.get("/contain=k", Authorization=f"Bearer {TOKEN}").body == b"false"


def test_with_the_token(guarded):
    client = guarded.client()
    for scheme in ("Bearer", "bearer"):
        assert client.get("/add=k", Authorization=f"{scheme} {TOKEN}").body == b"ok"
    assert client.ask("POST", "/contain", b"k\nx", Authorization=f"Bearer {TOKEN}").body == b"10"


def test_strangers_cannot_upload(guarded):
    """Refused before the body is there."""
    client = guarded.client().send(b"POST /add HTTP/1.1\r\nContent-Length: 50000000\r\n\r\n")
    assert client.reply().status == 401


def test_browsers_may_give_it_as_a_password(guarded):
    """For what only shows: the page and its numbers."""
    basic = "Basic " + base64.b64encode(f"anyone:{TOKEN}".encode()).decode()
    wrong = "Basic " + base64.b64encode(b"anyone:x").decode()
    client = guarded.client()
    for path in ("/", "/stats"):
        assert client.get(path, Authorization=basic).status == 200
        for bad in (
            wrong,
            "Basic",
            "Basic !!!!",
            "Basic " + base64.b64encode(TOKEN.encode()).decode(),
            "Basic " + "A" * 6000,
        ):
            assert client.get(path, Authorization=bad).status == 401
    assert client.get("/").headers["www-authenticate"].startswith("Basic realm=")
    for ask in asks("GET /add=k, GET /contain=k, POST /flush, GET /f/default"):
        assert client.ask(*ask, Authorization=basic).status == 401


def test_the_token_is_not_for_everybodys_ps(start):
    command = ["ps", "-o", "args", "-p", str(start("--token", TOKEN).process.pid)]
    assert TOKEN not in subprocess.run(command, capture_output=True, text=True).stdout
