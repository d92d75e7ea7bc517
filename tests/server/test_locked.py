"""A filter whose file another process has locked: requests that need the lock wait for it, and
nothing else does.  The lock is held until everything else was answered; a daemon that waits as well
is noticed by the clients' time-out."""

import concurrent.futures
import contextlib
import fcntl
import re
import signal

import pytest
from daemons import PATIENCE, until_status

KINDS = {
    "fixed": "n=1000&p=0.000001",
    "counting": "n=1000&p=0.000001&counting=1",
    "grow": "n=100&p=0.000001&grow=2",
    "window": "n=1000&p=0.000001&window=1000&parts=1",
}
REMOVE = b"GET /f/x/remove=a HTTP/1.1\r\nHost: localhost\r\n\r\n"
VERBS = ["add", "contain", "remove", "count"]


@contextlib.contextmanager
def locked(path):
    with open(path, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def lines(names):
    return "\n".join(names).encode()


def all_of_another(server, image):
    """Every verb, of filters of every kind, none of which is locked."""
    assert server.get("/healthz").body == b"ok"
    assert server.get("/metrics").status == 200
    assert server.get("/f").status == 200
    for kind, how in KINDS.items():
        name = f"/f/other-{kind}"
        assert server.ask("PUT", f"{name}?{how}").status == 201
        assert server.get(f"{name}/add=a").headers["x-new"] == "1"
        assert server.get(f"{name}/add=a").headers["x-new"] == "0"
        assert server.get(f"{name}/contain=a").body == b"true"
        assert server.post(f"{name}/add", lines(f"k{i}" for i in range(300))).body == b"1" * 300
        assert server.post(f"{name}/contain", b"k1\nnone").body == b"10"
        if kind == "counting":
            assert server.get(f"{name}/count=a").body == b"2"
            assert server.get(f"{name}/remove=a").headers["x-removed"] == "1"
            assert server.post(f"{name}/remove", b"k1\nnone").body == b"10"
            assert server.post(f"{name}/count", b"k1\nk2").body == b"\0\1"
        assert server.get(f"{name}/stats").status == 200
        assert server.get(name).status == 200
        assert server.ask("DELETE", name).status == 200
    assert server.ask("PUT", f"/f/merged?{KINDS['fixed']}").status == 201
    assert server.post("/f/merged/merge", image).status == 200
    assert server.ask("DELETE", "/f/merged").status == 200


def requests(server, kind, image, name):
    """One of each kind at the locked filter, by its path."""
    ask = [(f"{name}/{verb}=b", b"") for verb in VERBS]
    ask += [(f"{name}/{verb}", b"b\nc\nnone") for verb in VERBS]
    ask += [(f"{name}/stats", b""), (name, b"")] + [(f"{name}/merge", image)] * (kind == "fixed")
    return [("POST" if body else "GET", target, body) for target, body in ask]


@pytest.mark.parametrize("kind", KINDS)
def test_others_are_answered_while_filters_are_locked(start, tmp_path, kind):
    """Those that are locked are up, also at the first scrape, when nothing is known of them yet."""
    parameters = [one.split("=") for one in KINDS[kind].split("&")]
    options = [
        word
        for name, value in parameters
        for word in (
            ["--counting"] if name == "counting" else ["-" * min(len(name), 2) + name, value]
        )
    ]
    server = start("--storage", f"{tmp_path}/", *options)
    assert server.ask("PUT", f"/f/image?{KINDS['fixed']}").status == 201
    server.get("/f/image/add=of the image")
    image = server.get("/f/image").body
    assert server.ask("PUT", f"/f/x?{KINDS[kind]}").status == 201
    names, counts = ("x", "default"), kind == "counting"
    asked = [one for name in names for one in requests(server, kind, image, f"/f/{name}")]
    half = len(asked) // 2
    with concurrent.futures.ThreadPoolExecutor(len(asked) + 2) as pool:
        with contextlib.ExitStack() as locks:
            waiting = []
            for name, part in zip(names, (asked[:half], [*asked[half:], ("GET", "/", b"")])):
                locks.enter_context(locked(tmp_path / f"{name}.bloom"))
                waiting += [pool.submit(server.ask, *one) for one in part]
                up = f'bloomfilter_up{{filter="{name}"}} 1\n'.encode()
                assert up in server.get("/metrics").body
                if name == "x":
                    page = server.get("/").body
                    shown = b'<td data-name="keys (estimated)">no reply'
                    assert shown not in page and b'href="#f-x"' not in page
                all_of_another(server, image)
        for one, reply in zip(asked, waiting):
            impossible = not counts and re.search("/(remove|count)", one[1])
            assert reply.result().status == (409 if impossible else 200), one
        assert waiting[-1].result().status == 200
    for name in names:
        assert server.get(f"/f/{name}/contain=b").body == b"true" or counts


@pytest.mark.parametrize("one", [True, False], ids=["single", "batch"])
def test_new_is_said_once_when_a_job_goes_on(start, tmp_path, one):
    """The event thread fills what room there is, a job makes the next part and adds the rest."""
    server = start("--storage", f"{tmp_path}/")
    assert server.ask("PUT", f"/f/x?{KINDS['grow']}").status == 201
    keys = [f"k{i}" for i in range(2000)]
    assert server.post("/f/x/add", lines(keys[:50])).body == b"1" * 50
    if one:
        new = [server.get(f"/f/x/add={key}").headers["x-new"] for key in keys]
        assert "".join(new) == "0" * 50 + "1" * 1950
    else:
        assert server.post("/f/x/add", lines(keys)).body == b"0" * 50 + b"1" * 1950
    assert server.post("/f/x/contain", lines(keys)).body == b"1" * 2000


@pytest.mark.parametrize("kind", ["counting", "grow"])
def test_one_deadline_for_all_that_wait(start, tmp_path, kind):
    """A request does not wait for the deadlines of those before it, too; none of them is done
    later."""
    begun, server = (start("--storage", f"{tmp_path}/", *more) for more in ([], ["--deadline", 1]))
    assert begun.ask("PUT", f"/f/x?{KINDS[kind]}").status == 201
    keys = [f"k{i}" for i in range(50)]
    assert begun.post("/f/x/add", lines(keys)).body == b"1" * 50
    until_status(200, lambda: server.get("/f/x"))
    ask = [(server.get, "/f/x")] * 3 + [
        (server.post, "/f/x/add", lines(f"n{i}" for i in range(900)))
    ]
    if kind == "counting":
        ask = [(server.get, f"/f/x/remove=k{i}") for i in range(20)]
    with concurrent.futures.ThreadPoolExecutor(len(ask)) as pool:
        with locked(tmp_path / "x.bloom"):
            waiting = [pool.submit(*call) for call in ask]
            replies = [reply.result() for reply in waiting]
    for reply in replies:
        assert reply.status == 503
        assert re.search(
            r"its lock \(flock\); this call waited \d+ sec|--deadline", reply.headers["x-error"]
        )
    until_status(200, lambda: server.get("/f/x"))
    if kind == "counting":
        assert begun.post("/f/x/count", lines(keys)).body == b"\1" * 50
    assert begun.post("/f/x/contain", lines(keys)).body == b"1" * 50


def test_a_daemon_that_ends_answers_what_waits(start, tmp_path):
    """And does not wait for ever for a request that is half there."""
    server = start("--storage", f"{tmp_path}/")
    assert server.ask("PUT", f"/f/x?{KINDS['counting']}").status == 201
    assert server.get("/f/x/add=a").status == 200
    with locked(tmp_path / "x.bloom"):
        half = server.client().send(b"GET /add=half HTT")
        clients = [server.client().send(REMOVE) for _ in range(2)]
        while server.stats()["connections"] < 4:
            pass
        server.process.send_signal(signal.SIGTERM)
        replies = [client.reply() for client in clients]
        assert server.process.wait(PATIENCE) == 0
    assert half.end() == b"" and {reply.status for reply in replies} == {503}
    assert all("the daemon ends" in reply.headers["x-error"] for reply in replies)


def test_more_filters_are_locked_than_a_machine_has_processors(start, tmp_path):
    server = start("--storage", f"{tmp_path}/")
    names = [f"x{i}" for i in range(20)]
    for name in names:
        assert server.ask("PUT", f"/f/{name}?{KINDS['counting']}").status == 201
        assert server.get(f"/f/{name}/add=a").status == 200
    assert server.ask("PUT", f"/f/image?{KINDS['fixed']}").status == 201
    image = server.get("/f/image").body
    with concurrent.futures.ThreadPoolExecutor(len(names)) as pool:
        with contextlib.ExitStack() as locks:
            for name in names:
                locks.enter_context(locked(tmp_path / f"{name}.bloom"))
            waiting = [pool.submit(server.get, f"/f/{name}/remove=a") for name in names]
            all_of_another(server, image)
        assert [reply.result().headers["x-removed"] for reply in waiting] == ["1"] * len(names)
