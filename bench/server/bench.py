"""bench.py FOLDER ROUNDS SECONDS BLOOMFILTERD NGINX [REDISBLOOM] - bloomfilterd beside nginx,
libmicrohttpd and evhttp; its batches beside MEXISTS.  NGINX empty: the protocol of Redis instead,
with RedisBloom.

REDISBLOOM is the module's file, loaded into the redis-server of this machine.
FOLDER holds the compiled peers and blast; a peer that is not there is left out.  wrk with one
thread on loopback, the servers one after the other in each round.  Prints raw times for
../report.py: nanoseconds of the clock and of the server's processor a request, bytes a connection,
nanoseconds a key."""

import atexit
import os
import re
import resource
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

CONNECTIONS = (64, 1000, 10_000)
IDLE = 10_000
BATCHES = (1000, 10_000)
KEYS = 1_000_000
TICK = os.sysconf("SC_CLK_TCK")
NGINX = """
daemon off; worker_processes 1; worker_rlimit_nofile {files}; pid {folder}/nginx.pid; error_log {folder}/nginx.log;
events {{ worker_connections 12000; }}
http {{
    access_log off; keepalive_requests 1000000000;
    client_body_temp_path {folder}/tmp; fastcgi_temp_path {folder}/tmp; proxy_temp_path {folder}/tmp; uwsgi_temp_path {folder}/tmp; scgi_temp_path {folder}/tmp;
    server {{ listen 127.0.0.1:{port} backlog=4096; location / {{ return 200 "true"; }} }}
}}
"""


def emit(*cells):
    print(*cells, sep="\t", flush=True)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port):
    for _ in range(200):
        try:
            return socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            time.sleep(0.05)
    sys.exit(f"bench.py: nothing listens on port {port}")


class Server:
    """A running server; `worker` is the process that serves."""

    def __init__(self, name, command, port, log):
        self.name, self.port = name, port
        with open(log, "ab") as file:
            self.process = subprocess.Popen(list(map(str, command)), stdout=file, stderr=file)
        atexit.register(self.stop)
        wait_for(port)
        children = (
            Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        )
        self.worker = int(children[0]) if children else self.process.pid

    def cpu(self):
        fields = Path(f"/proc/{self.worker}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    def memory(self):
        return (
            int(re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{self.worker}/status").read_text())[1])
            * 1024
        )

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait()


def http_servers(folder, daemon, nginx):
    """name -> function that starts it."""
    log, files = folder / "servers.log", resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    (folder / "tmp").mkdir(exist_ok=True)

    def ours():
        port = free_port()
        return Server("bloomfilterd", [daemon, "--port", port, "-n", KEYS, "-p", 0.01], port, log)

    def start_nginx():
        port = free_port()
        (folder / "nginx.conf").write_text(
            NGINX.format(folder=folder, port=port, files=min(files, 20_000))
        )
        return Server(
            "nginx", [nginx, "-c", folder / "nginx.conf", "-e", folder / "nginx.log"], port, log
        )

    def peer(name, binary, *args):
        def start():
            port = free_port()
            return Server(name, [folder / binary, port, *args], port, log)

        return start

    found = {"bloomfilterd": ours, "nginx": start_nginx}
    if (folder / "peer_microhttpd").exists():
        found["libmicrohttpd, 4 KB a connection"] = peer("libmicrohttpd", "peer_microhttpd", 4096)
        found["libmicrohttpd, 32 KB: URLs of 16 KiB"] = peer(
            "libmicrohttpd", "peer_microhttpd", 32768
        )
    if (folder / "peer_evhttp").exists():
        found["evhttp"] = peer("evhttp", "peer_evhttp")
    return found


def wrk(server, connections, seconds):
    """(ns a request, ns of the server's processor a request)"""
    seconds += connections // 2500  # it takes a while to connect them
    before = server.cpu()
    out = subprocess.run(
        [
            "wrk",
            "-t1",
            f"-c{connections}",
            f"-d{seconds}s",
            f"http://127.0.0.1:{server.port}/contain=abc",
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    cpu = server.cpu() - before
    requests = int(re.search(r"(\d+) requests in", out)[1])
    errors = re.search(r"(Socket errors|Non-2xx).*", out)
    if errors:
        emit("fact", f"{server.name}, {connections} connections", errors[0])
    if not requests:
        sys.exit(
            f"bench.py: {server.name}, {connections} connections: no request was answered\n{out}"
        )
    return 1e9 / float(re.search(r"Requests/sec:\s+([\d.]+)", out)[1]), cpu * 1e9 / requests


def measure_requests(servers, rounds, seconds):
    emit(
        "table",
        "http",
        "us",
        "HTTP: GET /contain=abc, keep-alive, wrk -t1: microseconds a request, by connections",
    )
    emit("table", "http-cpu", "us", "HTTP: the server's processor time a request, microseconds")
    for round_ in range(rounds):
        running = {name: start() for name, start in servers.items()}
        for connections in CONNECTIONS:
            for name, server in running.items():
                ns, cpu = wrk(server, connections, seconds)
                emit("ns", "http", name, str(connections), round_, ns)
                emit("ns", "http-cpu", name, str(connections), round_, cpu)
        for server in running.values():
            server.stop()


# ---- connections that wait ----
def dial(port, count):
    connections = []
    for _ in range(count):
        connection = socket.create_connection(("127.0.0.1", port))
        connection.sendall(b"GET /contain=abc HTTP/1.1\r\nHost: localhost\r\n\r\n")
        connection.recv(4096)
        connections.append(connection)
    return connections


def measure_idle(servers, rounds, seconds):
    emit(
        "table",
        "idle",
        "B",
        f"HTTP: bytes of resident memory a connection, {IDLE} idle after one request",
    )
    emit(
        "table",
        "idle-cost",
        "us",
        f"HTTP: microseconds a request, 64 connections, without and beside {IDLE} idle ones",
    )
    for round_ in range(rounds):
        for name, start in servers.items():
            server = start()
            wrk(server, 64, 1)
            emit("ns", "idle-cost", name, "64", round_, wrk(server, 64, seconds)[0])
            before = server.memory()
            idle = dial(server.port, IDLE)
            emit("ns", "idle", name, "memory", round_, (server.memory() - before) / IDLE)
            emit(
                "ns",
                "idle-cost",
                f"{name}, beside idle ones",
                "64",
                round_,
                wrk(server, 64, seconds)[0],
            )
            for connection in idle:
                connection.close()
            server.stop()


# ---- batches ----
def batch(size):
    """Half of them present."""
    return [
        b"https://www.example.org/articles/%012d.html" % i
        for i in range(KEYS - size // 2, KEYS + size - size // 2)
    ]


def resp(*words):
    return b"*%d\r\n" % len(words) + b"".join(
        b"$%d\r\n%s\r\n" % (len(word), word) for word in words
    )


def http_request(path, keys, framed):
    body = (
        b"".join(struct.pack("<I", len(key)) + key for key in keys) if framed else b"\n".join(keys)
    )
    kind = b"Content-Type: application/x-bloomfilter-keys\r\n" if framed else b""
    return (
        b"POST %s HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: %d\r\n\r\n"
        % (path, kind, len(body))
        + body
    )


def ask(port, request):
    """The reply: all that comes until nothing more does."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(request)
        reply = connection.recv(1 << 20)
        connection.settimeout(0.5)
        try:
            while True:
                reply += connection.recv(1 << 20)
        except TimeoutError:
            return reply


def fill(port, make):
    for at in range(0, KEYS, 50_000):
        keys = [b"https://www.example.org/articles/%012d.html" % i for i in range(at, at + 50_000)]
        ask(port, make(keys))


def present(reply, http):
    return reply.split(b"\r\n\r\n", 1)[1].count(b"1") if http else reply.count(b":1\r\n")


def redis_bloom(folder, redis):
    port = free_port()
    server = Server(
        "RedisBloom",
        [
            "redis-server",
            "--port",
            port,
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--dir",
            folder,
            "--loadmodule",
            redis,
        ],
        port,
        folder / "servers.log",
    )
    ask(port, resp(b"BF.RESERVE", b"f", b"0.01", b"%d" % KEYS))
    return server


def blast(folder, server, request, length, seconds, connections=8):
    path = folder / "request"
    path.write_bytes(request)
    before = server.cpu()
    out = subprocess.run(
        [folder / "blast", str(server.port), str(connections), path, str(length), str(seconds)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    requests, ns = map(int, out.split())
    return ns / requests, (server.cpu() - before) * 1e9 / requests


def measure_batches(folder, servers, redis, rounds, seconds):
    emit(
        "table",
        "batch",
        "ns",
        f"batches, {KEYS} keys of 45 B in the filter, 8 connections: nanoseconds a key",
    )
    emit("table", "batch-cpu", "ns", "batches: the server's processor time a key, nanoseconds")
    ours = servers["bloomfilterd"]()
    fill(ours.port, lambda keys: http_request(b"/add", keys, True))
    subjects = {
        "POST /contain, lines": (ours, lambda keys: http_request(b"/contain", keys, False)),
        "POST /contain, framed": (ours, lambda keys: http_request(b"/contain", keys, True)),
    }
    if redis:
        theirs = redis_bloom(folder, redis)
        fill(theirs.port, lambda keys: resp(b"BF.MADD", b"f", *keys))
        subjects["BF.MEXISTS"] = (theirs, lambda keys: resp(b"BF.MEXISTS", b"f", *keys))
    for round_ in range(rounds):
        for size in BATCHES:
            for name, (server, make) in subjects.items():
                request = make(batch(size))
                reply = ask(server.port, request)
                if present(reply, server is ours) < size // 2:
                    sys.exit(f"bench.py: {name} answered {reply[:300]!r}")
                ns, cpu = blast(folder, server, request, len(reply), seconds)
                emit("ns", "batch", name, str(size), round_, ns / size)
                emit("ns", "batch-cpu", name, str(size), round_, cpu / size)
    for server in {server for server, _ in subjects.values()}:
        server.stop()


def resp_requests():
    """name, keys, request: batches, and single commands in pipelines."""
    for command in (b"BF.MEXISTS", b"BF.MADD"):
        yield command.decode() + " of 1000 keys", 1000, resp(command, b"f", *batch(1000))
    for command in (b"BF.EXISTS", b"BF.ADD"):
        for depth in (1, 64):
            pipe = b"".join(resp(command, b"f", key) for key in batch(depth))
            yield f"{command.decode()}, {depth} in a pipeline", depth, pipe


def measure_resp(folder, servers, redis, rounds, seconds):
    emit(
        "table",
        "resp-cpu",
        "ns",
        f"RESP, {KEYS} keys of 45 B in the filter: the server's processor time a key, nanoseconds",
    )
    subjects = {"bloomfilterd": servers["bloomfilterd"]()}
    ask(subjects["bloomfilterd"].port, resp(b"BF.RESERVE", b"f", b"0.01", b"%d" % KEYS))
    if redis:
        subjects["RedisBloom"] = redis_bloom(folder, redis)
    for server in subjects.values():
        fill(server.port, lambda keys: resp(b"BF.MADD", b"f", *keys))
    for round_ in range(rounds):
        for op, keys, request in resp_requests():
            for name, server in subjects.items():
                length = len(ask(server.port, request))
                for connections in (8, 64):
                    _, cpu = blast(folder, server, request, length, seconds, connections)
                    op_ = f"{op}, {connections} connections"
                    emit("ns", "resp-cpu", name, op_, round_, cpu / keys)
    for server in subjects.values():
        server.stop()


def main(folder, rounds, seconds, daemon, nginx, redis=""):
    folder, rounds, seconds = Path(folder).resolve(), int(rounds), int(seconds)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    servers = http_servers(folder, daemon, nginx)
    if not nginx:
        measure_resp(folder, servers, Path(redis) if redis else None, rounds, seconds)
        return
    measure_batches(folder, servers, Path(redis) if redis else None, rounds, seconds)
    measure_idle(servers, rounds, seconds)
    measure_requests(servers, rounds, seconds)


main(*sys.argv[1:])
