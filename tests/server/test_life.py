"""Starting, stopping, files, signals, several daemons and several languages on one filter."""

import functools
import json
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import threading

import pytest
from bloomfilter import BloomFilter
from daemons import (
    BINARY,
    FRAMED,
    PATIENCE,
    ROOT,
    TAKES_RAW,
    asks,
    ended,
    framed,
    lines_of,
    until,
)
from threads import in_threads


def printed(option):
    done = subprocess.run([BINARY, option], capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


# ---- options ----
def test_help_and_the_documents_have_every_option():
    text = printed("--help")
    assert printed("--version").startswith("bloomfilterd ")
    for word in """127.0.0.1 6381 -m@M -n@N -p@P 16K 64M (30) (75)""".split():
        assert word.replace("@", " ") in text
    options = {word.rstrip(",") for word in text.split() if word.startswith("--")}
    manual = (ROOT / "server/bloomfilterd.8").read_text().replace("\\-", "-")
    document = (ROOT / "docs/server.md").read_text()
    assert {"--host", "--max-url", "--deadline"} <= options and len(options) >= 20
    for option in options:
        assert option in manual and option in document, option


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_an_answer_that_cannot_be_written(option):
    with open("/dev/full", "w") as full:
        done = subprocess.run([BINARY, option], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert done.stderr == (
        "bloomfilterd: cannot write to standard output: No space left on device\n"
    )


@pytest.mark.parametrize(
    "args, words",
    [
        (["--port", "70000"], "--port must be 0 to 65535, got 70000"),
        (["--port", "x"], "got x"),
        (["--threads", "0"], "--threads must be 1 to 256, got 0"),
        (["-p", "2"], "p must be between 0 and 1, got 2"),
        (["-n", "0"], "got 0"),
        (["--nonsense"], "nonsense"),
        (["word"], "got word"),
        (["--max-body", "5X"], "got 5X"),
        (["--token", ""], "token"),
        (["--storage", ""], "--storage"),
        (["--token-file", "/nonexistent/x"], "/nonexistent/x: No such file"),
        (["-n", "5"], "p"),
        (["--scheme", "nope", "-n", "5", "-p", "0.1"], "nope"),
        (["--host", "999.1.1.1"], "999.1.1.1"),
        (["--storage", "/nonexistent/x"], "/nonexistent/x"),
        (["--storage", "http://127.0.0.1/f"], "not opened over HTTP"),
        (["--storage", "file://x"], "a file is file:PATH"),
        (["--access-log", "/nonexistent/x"], "/nonexistent/x"),
        (["-n", "1e18", "-p", "0.001"], "m"),
        (["--exclusive"], "exclusive is for mapped files"),
        (["--exclusive", "--storage", "redis://127.0.0.1:1/0?key=k"], "exclusive is for mapped"),
        (["--storage", "REDIS://user:hunter2@host/0?key=x"], "a Redis URL is redis://"),
    ],
)
def test_bad_options_are_one_line(args, words):
    code, said = ended(*args)
    assert code in (1, 2) and words in said and "hunter2" not in said
    assert len(said.strip().splitlines()) <= 2


def test_file_names_a_folder_or_a_file_that_looks_like_a_url(start, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    daemon = start("--storage", "file:http:odd/", "--create")
    assert daemon.ask("PUT", "/f/x?n=1000&p=0.01").status == 201
    assert daemon.get("/f/x/add=1").headers["x-new"] == "1"
    assert sorted(os.listdir("http:odd")) == ["default.bloom", "x.bloom"]
    assert daemon.ask("DELETE", "/f/x").status == 200
    assert os.listdir("http:odd") == ["default.bloom"]
    daemon = start("--storage", "file:redis:x.bloom", "-n", 1000, "-p", 0.01)
    assert daemon.get("/add=1").headers["x-new"] == "1"
    assert os.path.exists("redis:x.bloom")


@pytest.mark.parametrize("prefix", ["", "file:"])
def test_errors_name_the_filter_not_its_file(start, tmp_path, prefix):
    path = tmp_path / "private" / "seen.bloom"
    path.parent.mkdir()
    daemon = start("--storage", f"{prefix}{path}", "-n", 1000, "-p", 0.01)
    path.unlink()
    path.write_bytes(b"no filter at all")
    got = daemon.get("/contain=a")
    assert got.status == 503 and 'the filter "default"' in got.headers["x-error"]
    assert b"private" not in got.body and "private" not in got.headers["x-error"]


def test_a_port_already_taken(daemon):
    code, said = ended("--port", daemon.port)
    taken = f"cannot listen on 127.0.0.1 port {daemon.port}: Address already in use"
    assert (code, said) == (1, f"bloomfilterd: {taken}\n")
    assert daemon.get("/healthz").body == b"ok"


def test_binds_loopback_only(daemon):
    lines = open(f"/proc/{daemon.process.pid}/net/tcp").read().splitlines()[1:]
    ours = [
        line.split()[1]
        for line in lines
        if line.split()[1].endswith(f":{daemon.port:04X}") and line.split()[3] == "0A"
    ]
    assert ours == [f"0100007F:{daemon.port:04X}"]


def test_other_hosts(start):
    if not socket.has_ipv6 or not os.path.exists("/proc/net/if_inet6"):
        pytest.skip("no IPv6 here")
    daemon = start("--host", "::1")
    with socket.create_connection(("::1", daemon.port)) as connection:
        connection.sendall(b"GET /healthz HTTP/1.0\r\n\r\n")
        assert connection.makefile("rb").read().endswith(b"ok")


# ---- files ----
def test_a_damaged_file_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "seen.bloom"
    for content in (b"", b"nonsense", b"\0" * 8192):
        path.write_bytes(content)
        code, said = ended("--storage", path)
        assert code == 1 and str(path)[:60] in said  # a long name is cut
        assert path.read_bytes() == content


def test_named_filters_live_in_the_folder(start, tmp_path):
    folder = f"{tmp_path}/filters/"
    first = start("--storage", folder, "--create", "-n", 5000, "-p", 0.01)
    assert first.ask("PUT", "/f/seen?n=1000&p=0.01").status == 201
    assert first.get("/f/seen/add=k").status == first.get("/add=main").status == 200
    assert sorted(os.listdir(folder)) == ["default.bloom", "seen.bloom"]
    first.kill()
    (tmp_path / "filters/not a filter.bloom").write_bytes(b"x")
    (tmp_path / "filters/.hidden.bloom").write_bytes(b"x")
    second = start("--storage", folder)
    assert set(json.loads(second.get("/f").body)) == {"default", "seen"}
    assert second.get("/f/seen/contain=k").body == second.get("/contain=main").body == b"true"
    assert second.ask("PUT", "/f/seen?n=1000&p=0.01").status == 200
    assert second.ask("PUT", "/f/seen?n=999&p=0.01").status == 409
    with BloomFilter.open(folder + "seen.bloom") as python:
        assert "k" in python
        python.add("from python")
    assert second.get("/f/seen/contain=from+python").body == b"true"
    BloomFilter(n=77, p=0.1, storage=folder + "late.bloom").add(
        "x"
    )  # made by another process meanwhile
    assert second.get("/f/late/contain=x").body == b"true"
    assert second.ask("PUT", "/f/late?n=77&p=0.1").status == 200
    assert second.ask("DELETE", "/f/seen").status == 200
    assert sorted(os.listdir(folder)) == [
        ".hidden.bloom",
        "default.bloom",
        "late.bloom",
        "not a filter.bloom",
    ]
    second.stop()
    (tmp_path / "filters/broken.bloom").write_bytes(b"x")
    code, said = ended("--storage", folder)
    assert code == 1 and 'the filter "broken"' in said


def test_a_file_that_cannot_be_written(start, tmp_path):
    path = tmp_path / "seen.bloom"
    BloomFilter(n=100, p=0.01, storage=str(path)).add("k")
    path.chmod(stat.S_IRUSR)
    before = path.read_bytes()
    # root may write to any file, unless it is told that it may not
    daemon = start(
        "--storage",
        path,
        prefix=["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
        if os.getuid() == 0
        else (),
    )
    assert daemon.get("/contain=k").body == b"true"
    for got in (daemon.get("/add=x"), daemon.post("/add", b"y")):
        assert got.status in (400, 503)
        assert "read-only" in got.headers["x-error"] or "ermission" in got.headers["x-error"]
    assert path.read_bytes() == before


# ---- threads ----
@pytest.mark.parametrize(("threads", "home"), [(1, "memory"), (4, "file")])
def test_adders_at_once(start, tmp_path, threads, home):
    """Every key of every adder is there; of several adders of one new key at least one is told
    so."""
    daemon = start(
        *"-n 100000 -p 0.0001 --threads".split(),
        threads,
        *(("--storage", tmp_path / "x.bloom") if home == "file" else ()),
    )
    adders, each = 8, 400
    told = [[] for _ in range(adders)]

    def add(number):
        client = daemon.client()
        for i in range(each):
            told[number].append(client.get(f"/add=shared-{i}").headers["x-new"])
            assert client.ask("POST", "/add", b"%d-%d" % (number, i)).status == 200

    in_threads(*(functools.partial(add, number) for number in range(adders)), seconds=PATIENCE)
    assert all(len(mine) == each for mine in told)
    assert all("1" in new for new in zip(*told))
    keys = [b"%d-%d" % (number, i) for number in range(adders) for i in range(each)] + [
        b"shared-%d" % i for i in range(each)
    ]
    assert daemon.post("/contain", framed(keys), **FRAMED).body == b"1" * len(keys)
    assert daemon.stats()["adds"] == 2 * adders * each


def test_filters_come_and_go_under_their_users(start):
    daemon = start("-n", 1000, "-p", 0.01, "--threads", 4)
    stop = threading.Event()
    seen = [set() for _ in range(4)]
    other = BloomFilter(n=1000, p=0.01)
    other.add("merged")
    image, batch = other.to_bytes(), lines_of(range(30_000))

    def use(statuses):
        client = daemon.client()
        while not stop.is_set():
            statuses.add(client.ask("POST", "/f/x/add", batch).status)
            for ask in asks("GET /f/x/add=k, POST /f/x/add a, GET /f/x, GET /metrics, GET /"):
                statuses.add(client.ask(*ask).status)
            statuses.add(client.ask("POST", "/f/x/merge", image).status)

    users = [threading.Thread(target=use, args=(statuses,)) for statuses in seen]
    for user in users:
        user.start()
    client = daemon.client()
    for _ in range(150):
        assert client.ask("PUT", "/f/x?n=1000&p=0.01").status == 201
        assert client.ask("DELETE", "/f/x").status == 200
    stop.set()
    for user in users:
        user.join(PATIENCE)
    assert set().union(*seen) <= {200, 404}


def test_a_thousand_clients(daemon):
    clients = [daemon.client() for _ in range(1000)]
    for i, client in enumerate(clients):
        client.send(b"GET /add=%d HTTP/1.1\r\n\r\n" % i)
    for client in clients:
        assert client.reply().body == b"ok"
    assert daemon.stats()["connections"] >= 1000
    assert daemon.post("/contain", b"\n".join(b"%d" % i for i in range(1000))).body == b"1" * 1000


@pytest.mark.plain_daemon  # a sanitizer has memory of its own
def test_idle_connections_are_small(daemon):
    """Also where the request before was long: a URL of 16 KiB, a header, a body."""
    before = daemon.resident()
    clients = [daemon.client() for _ in range(2000)]
    for client in clients:
        assert client.get("/contain=" + "x" * 16000, A="y" * 16000).status == 200
        assert client.ask("POST", "/contain", b"z" * 100_000).status == 200
    assert (daemon.resident() - before) / len(clients) < 6144


# ---- signals ----
@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_drain(start, tmp_path, sign):
    """Requests that are half there are finished; idle connections and new ones are not kept; the
    exit code is 0."""
    path = tmp_path / "seen.bloom"
    daemon = start("-n", 1000, "-p", 0.01, "--storage", path, "--threads", 2)
    idle, half, body = daemon.client(), daemon.client(), daemon.client()
    assert idle.get("/contain=a").status == 200
    half.send(b"GET /add=half HTT")
    body.send(b"POST /add HTTP/1.1\r\nContent-Length: 4\r\n\r\nbo")
    while daemon.stats()["connections"] < 4:
        pass
    daemon.process.send_signal(sign)
    assert idle.end() == b""
    got = half.send(b"P/1.1\r\n\r\n").reply()
    assert (got.body, got.headers["connection"]) == (b"ok", "close")
    assert body.send(b"dy").reply().body == b"1"
    assert half.end() == body.end() == b""
    assert daemon.process.wait(PATIENCE) == 0
    with pytest.raises(ConnectionRefusedError):
        daemon.client()
    with BloomFilter.open(str(path)) as python:
        assert "half" in python and "body" in python


def test_systemd_is_told(start, tmp_path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(tmp_path / "notify"))
        systemd.settimeout(PATIENCE)
        daemon = start("-n", 1000, "-p", 0.01, env={"NOTIFY_SOCKET": str(tmp_path / "notify")})
        assert "READY=1" in systemd.recv(4096).decode().splitlines()
        daemon.process.send_signal(signal.SIGTERM)
        assert systemd.recv(4096) == b"STOPPING=1"


def unit(tmp_path):
    """The unit with this binary and folders that exist."""
    text = (ROOT / "server/bloomfilterd.service").read_text()
    for old, new in (
        ("/usr/local/bin/bloomfilterd", BINARY),
        ("/var/lib/bloomfilterd", tmp_path / "lib"),
        ("/var/log/bloomfilterd", tmp_path),
    ):
        assert old in text
        text = text.replace(old, str(new))
    return text


def test_the_unit_starts_what_is_there(start, tmp_path):
    command = re.search(r"^ExecStart=(.*)$", unit(tmp_path), flags=re.M)[1].split()
    assert command[0] == BINARY
    (tmp_path / "lib").mkdir()  # StateDirectory
    daemon = start(*command[1:])
    daemon.ask("PUT", "/f/x?n=10&p=0.1")
    assert sorted(path.name for path in (tmp_path / "lib").iterdir()) == [
        "default.bloom",
        "x.bloom",
    ]


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd-analyze here")
def test_the_unit_is_understood(tmp_path):
    (tmp_path / "bloomfilterd.service").write_text(unit(tmp_path))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", tmp_path / "bloomfilterd.service"],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert [line for line in done.stderr.splitlines() if "bloomfilterd.service" in line] == []


# ---- the access log ----
def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_access_log(start, tmp_path):
    log = tmp_path / "access.log"
    daemon = start("-n", 1000, "-p", 0.01, "--access-log", log)
    client = daemon.client()
    (
        client.get("/add=secretkey"),
        client.ask("PUT", "/f/x?n=10&p=0.1"),
        client.get("/f/x/contain=secretkey"),
        client.get("/secretkey"),
        client.ask("POST", "/add", b"secretkey\n\xff"),
        client.ask("HEAD", "/stats"),
    )
    client.send(b"GARBAGE secretkey\r\n\r\n").end()
    until(lambda: len(lines(log)) == 7)
    assert "secretkey" not in log.read_text()
    got = [(one["method"], one["path"], one["status"], one["sent"]) for one in lines(log)]
    assert got[:3] == [
        ("GET", "/add", 200, 2),
        ("PUT", "/f/x", 201, got[1][3]),
        ("GET", "/f/x/contain", 200, 5),
    ]
    assert got[3] == ("GET", "", 400, 13)
    assert (lines(log)[4]["received"], got[4]) == (11, ("POST", "/add", 200, 2))
    assert got[5] == ("HEAD", "/stats", 200, 0)
    assert got[6][2] == 400
    assert lines(log)[0]["client"] == "127.0.0.1" and lines(log)[0]["port"] == client.local
    os.rename(log, tmp_path / "old.log")
    daemon.process.send_signal(signal.SIGHUP)
    until(log.exists)
    daemon.get("/healthz")
    until(lambda: len(lines(log)) == 1)
    assert len(lines(tmp_path / "old.log")) == 7


@pytest.mark.parametrize("keys", [[], ["--log-keys"]])
def test_the_log_shows_no_path_that_nobody_understood(start, tmp_path, keys):
    """Whatever is refused before its path is looked at, or because of it, may hold a key or a
    token."""
    log, secret = tmp_path / "access.log", "S3CRET"
    limits = ["--max-body", 1000, "--max-header", 2000, "--max-url", 1000, "--deadline", 1]
    daemon = start(
        "-n", 1000, "-p", 0.01, "--access-log", log, "--token", secret + "-T", *limits, *keys
    )
    token = f"Authorization: Bearer {secret}-T\r\n"
    refused = [
        (401, f"GET /{secret} HTTP/1.1\r\n\r\n"),
        (401, f"GET /add={secret} HTTP/1.1\r\n\r\n"),
        (401, f"GET /f/{secret}/stats HTTP/1.1\r\nAuthorization: {secret}\r\n\r\n"),
        (403, f"GET /{secret} HTTP/1.1\r\n{token}Host: evil.example\r\n\r\n"),
        (403, f"GET /f/{secret}/stats HTTP/1.1\r\n{token}Origin: null\r\n\r\n"),
        (413, f"POST /f/{secret}/add HTTP/1.1\r\n{token}Content-Length: 9999\r\n\r\n"),
        (414, f"GET /{secret}{'x' * 1000} HTTP/1.1\r\n{token}\r\n"),
        (431, f"GET /f/{secret}/stats HTTP/1.1\r\n{token}A: {'x' * 3000}\r\n\r\n"),
        (
            415,
            f"POST /f/{secret}/add HTTP/1.1\r\n{token}Content-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx",
        ),
        (400, f"GET /{secret} HTTP/1.1\r\n{token}\r\n"),
        (400, f"GET /f/{secret}/nothing HTTP/1.1\r\n{token}\r\n"),
        (400, f"GET http://{secret}@localhost/stats HTTP/1.1\r\n{token}\r\n"),
        (400, f"GET /f/{secret}/stats HTTP/1.1\r\n{token} folded\r\n\r\n"),
        (400, f"CONNECT {secret}:1 HTTP/1.1\r\n{token}\r\n"),
        (400, f"{secret} / HTTP/1.1\r\n\r\n"),
        (408, f"GET /f/{secret}/stats HTTP/1.1\r\n{token}"),
    ]
    for status, request in refused:
        assert daemon.client().send(request.encode()).reply().status == status, request
    until(lambda: len(lines(log)) == len(refused))
    assert [(one["path"], one["status"]) for one in lines(log)] == [
        ("", status) for status, _ in refused
    ]
    assert secret not in log.read_text()
    for target, shown in (
        ("http://localhost/stats", "/stats"),
        ("/contain=%zz", "/contain=%zz" if keys else ""),
        ("/f/none/contain=k", "/f/none/contain" + ("=k" if keys else "")),
    ):
        daemon.get(target, Authorization=f"Bearer {secret}-T")
        until(lambda: lines(log)[-1]["path"] == shown)


def test_keys_in_the_log_where_asked(start, tmp_path):
    log = tmp_path / "access.log"
    daemon = start("-n", 1000, "-p", 0.01, "--access-log", log, "--log-keys")
    daemon.ask("GET", b'/add=a"b\\c%0a')
    until(lambda: len(lines(log)) == 1)
    assert lines(log)[0]["path"] == '/add=a"b\\c%0a'
    if not TAKES_RAW:
        pytest.skip("this llhttp refuses bytes past ASCII in a URL")
    daemon.ask("GET", b"/add=\xff")
    daemon.get("/add=\u009b31m\u0085\u00a0\u00e9".encode())
    until(lambda: len(lines(log)) == 3)
    assert lines(log)[1]["path"] == "/add=\N{REPLACEMENT CHARACTER}"
    assert lines(log)[2]["path"] == "/add=\u009b31m\u0085\u00a0\u00e9"
    assert "\\u009b31m\\u0085\u00a0\u00e9" in log.read_text()  # no control bytes


def test_signals_do_not_end_it(daemon):
    for sign in (signal.SIGHUP, signal.SIGPIPE):
        daemon.process.send_signal(sign)
    assert daemon.get("/healthz").body == b"ok"
