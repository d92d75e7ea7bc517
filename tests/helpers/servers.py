"""Real Redis servers for the tests, on loopback and free ports, stopped by pid: one alone, one
behind a proxy that spoils answers, a cluster of three masters with a replica each."""

import contextlib
import select
import socket
import subprocess
import threading
import time


PATIENCE = 60  # seconds until a test gives up; less only for what must fail


def free_port(most=65535):
    while True:
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        if port <= most:
            return port


def until(done, what, seconds=PATIENCE):
    """Waits for what must come; no test depends on when."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if done():
                return
        except (OSError, ValueError):
            pass
        time.sleep(0.02)
    raise AssertionError(f"{what} did not happen in {seconds} s")


class Server:
    def __init__(self, folder, *options):
        self.folder = folder
        folder.mkdir(exist_ok=True)
        self.options = [str(option) for option in options]
        self.port = free_port()
        self.start()

    def start(self):
        fixed = "--bind 127.0.0.1 --appendonly no --enable-debug-command yes --save".split()
        own = {"port": self.port, "dir": self.folder, "unixsocket": self.folder / "socket"}
        command = ["redis-server", *fixed, ""]
        command += [str(word) for name in own for word in (f"--{name}", own[name])]
        with open(self.folder / "log", "wb") as log:
            self.process = subprocess.Popen([*command, *self.options], stdout=log, stderr=log)
        try:
            until(self.answers, "a server's start")
        except BaseException:
            self.stop()
            raise

    def answers(self):
        assert self.process.poll() is None, (self.folder / "log").read_text(errors="replace")
        said = self("INFO server")
        return f"process_id:{self.process.pid}\r\n" in said or "NOAUTH" in said

    def __call__(self, command):
        """One command as in telnet; what is answered, as text."""
        with socket.create_connection(("127.0.0.1", self.port), PATIENCE) as s:
            s.sendall(command.encode() + b"\r\nQUIT\r\n")
            return (
                b"".join(iter(lambda: s.recv(1 << 16), b""))
                .decode(errors="replace")
                .removesuffix("+OK\r\n")
            )

    def url(self, key, more=""):
        return f"redis://127.0.0.1:{self.port}/0?timeout={PATIENCE}&key={key}{more}"

    def stop(self):
        self.process.kill()
        self.process.wait()


@contextlib.contextmanager
def running(folder, *options):
    """(port, process) of a server for a with statement."""
    server = Server(folder / "redis", *options)
    try:
        yield server.port, server.process
    finally:
        server.stop()


@contextlib.contextmanager
def sentinel(folder, port):
    """The port of a Sentinel that knows the server at `port` as `mine`."""
    own, settings = free_port(), folder / "sentinel.conf"
    settings.write_text(f"port {own}\nbind 127.0.0.1\nsentinel monitor mine 127.0.0.1 {port} 1\n")
    process = subprocess.Popen(
        ["redis-server", settings, "--sentinel"], stdout=subprocess.DEVNULL, cwd=folder
    )
    try:
        until(
            lambda: socket.create_connection(("127.0.0.1", own), PATIENCE).close() is None,
            "a start",
        )
        yield own
    finally:
        process.kill()
        process.wait()


class Cluster:
    def __init__(self, folder, masters=3, replicas=1):
        # a node that stands still is not dead: a test says which is
        own = "--cluster-enabled yes --cluster-node-timeout 60000 --cluster-replica-validity-factor 0 --cluster-allow-replica-migration no --repl-diskless-sync-delay 0 --cluster-config-file".split()
        self.servers = []
        for i in range(masters * (1 + replicas)):
            self.servers.append(
                Server(folder / f"node{i}", *own, f"nodes-{i}.conf", "--cluster-port", free_port())
            )
        addresses = [f"127.0.0.1:{server.port}" for server in self.servers]
        self.cli(
            "--cluster", "create", *addresses, "--cluster-replicas", str(replicas), "--cluster-yes"
        )
        self.settle()
        until(
            lambda: all(
                "role:master" in s("INFO replication")
                or "master_link_status:up" in s("INFO replication")
                for s in self.servers
            ),
            "replication",
        )

    def settle(self):
        """Until all nodes know the same."""
        ask = ["redis-cli", "--cluster", "check", f"127.0.0.1:{self.servers[0].port}"]
        until(
            lambda: all("cluster_state:ok" in server("CLUSTER INFO") for server in self.servers),
            "the cluster's agreement",
        )
        until(
            lambda: (
                subprocess.run(ask, capture_output=True, timeout=60, check=False).returncode == 0
            ),
            "the cluster's agreement",
        )

    @staticmethod
    def cli(*args):
        done = subprocess.run(
            ["redis-cli", *args], capture_output=True, text=True, timeout=90, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def master_of(self, key):
        slot = int(self.servers[0](f"CLUSTER KEYSLOT {key}").split("\r\n")[0][1:])
        for server in self.servers:
            if server.process.poll() is not None or "role:master" not in server("INFO replication"):
                continue
            for line in self.nodes(server):
                if "myself" in line[2] and any(
                    int(r.split("-")[0]) <= slot <= int(r.split("-")[-1])
                    for r in line[8:]
                    if "[" not in r
                ):
                    return server
        raise AssertionError(f"nobody has slot {slot}")

    @staticmethod
    def nodes(server):
        return [
            line.split(" ") for line in server("CLUSTER NODES").splitlines() if line.count(" ") > 6
        ]

    def id_of(self, server):
        return next(line[0] for line in self.nodes(server) if "myself" in line[2])

    def masters(self):
        return [
            s
            for s in self.servers
            if s.process.poll() is None and "role:master" in s("INFO replication")
        ]

    def replica_of(self, server):
        own = self.id_of(server)
        return next(
            s
            for s in self.servers
            if any("myself" in line[2] and line[3] == own for line in self.nodes(s))
        )

    def end_soon(self):
        """Nodes that do not answer are soon taken for dead."""
        for server in self.servers:
            if server.process.poll() is None:
                server("CONFIG SET cluster-node-timeout 1000")

    def begin_move(self, key, target):
        """From here until end_move the slot is in two places."""
        source, slot = (
            self.master_of(key),
            int(self.servers[0](f"CLUSTER KEYSLOT {key}").split("\r\n")[0][1:]),
        )
        assert "+OK" in target(f"CLUSTER SETSLOT {slot} IMPORTING {self.id_of(source)}")
        assert "+OK" in source(f"CLUSTER SETSLOT {slot} MIGRATING {self.id_of(target)}")
        return source, slot

    @staticmethod
    def move_key(source, target, key):
        assert "+OK" in source(f'MIGRATE 127.0.0.1 {target.port} "" 0 60000 KEYS {key}'), key

    def end_move(self, source, target, slot):
        for server in (target, source, *self.masters()):
            server(f"CLUSTER SETSLOT {slot} NODE {self.id_of(target)}")

    def stop(self):
        for server in self.servers:
            server.stop()


class Proxy:
    """Passes bytes on, but for what `spoil(request, answer)` makes of an answer: bytes to send
    instead, None = hang up."""

    def __init__(self, port):
        self.target = port
        self.spoil = None
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        with client, socket.create_connection(("127.0.0.1", self.target)) as server:
            try:
                while True:
                    readable, _, _ = select.select([client, server], [], [])
                    if (
                        server in readable and client not in readable
                    ):  # more of an answer before, or the end
                        answer = server.recv(1 << 20)
                        if not answer:
                            return
                    else:
                        request = client.recv(1 << 20)
                        if not request:
                            return
                        server.sendall(request)
                        answer = server.recv(1 << 20)
                        while select.select([server], [], [], 0.01)[0] and (
                            more := server.recv(1 << 20)
                        ):
                            answer += more
                        answer = self.spoil(request, answer) if self.spoil else answer
                        if answer is None:
                            return
                    client.sendall(answer)
            except OSError:
                pass

    def stop(self):
        self.listener.close()
