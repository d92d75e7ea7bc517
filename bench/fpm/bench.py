"""bench.py FOLDER ROUNDS NGINX PHP_FPM EXTENSION - a request's first query: nginx, PHP-FPM with 4
workers, a 16 MiB filter on disk.

Prints raw times for ../report.py; request.php takes them with hrtime() around the work alone.  Two
pools: one keeps its maps (as it comes), one opens the file in each request (bloomfilter.max_maps =
0).  A round's value is the median of its requests."""

import http.client
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from statistics import quantiles
from urllib.parse import urlencode

from bloomfilter import BloomFilter

HERE = Path(__file__).resolve().parent
WORKERS = 4
M, KEYS = 2**27, 1_000_000
TITLE = f"PHP-FPM: {WORKERS} workers behind nginx, a mapped file of 16 MiB: microseconds inside the request"

# subject: pool, what request.php does, requests a round
SUBJECTS = {
    "nothing": ("kept", "nothing", 200),
    "open + exists": ("kept", "open + exists", 200),
    "new + exists": ("kept", "new + exists", 200),
    "open + add": ("kept", "open + add", 200),
    "open + exists, max_maps=0": ("fresh", "open + exists", 200),
    "load + exists": ("kept", "load + exists", 10),
    "unserialize + exists": ("kept", "unserialize + exists", 10),
}

FPM = """
[global]
error_log = {folder}/fpm.log
daemonize = no
{pools}
"""
POOL = """
[{name}]
listen = {folder}/{name}.sock
pm = static
pm.max_children = {workers}
php_admin_value[memory_limit] = 256M
php_admin_value[bloomfilter.max_maps] = {maps}
{owner}
"""
NGINX = """
{owner}
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/nginx.log;
worker_processes 1;
events {{ }}
http {{
    access_log off;
    client_body_temp_path {folder}/tmp; fastcgi_temp_path {folder}/tmp; proxy_temp_path {folder}/tmp;
    uwsgi_temp_path {folder}/tmp; scgi_temp_path {folder}/tmp;
    server {{
        listen unix:{folder}/nginx.sock;
        location ~ ^/(kept|fresh)$ {{
            fastcgi_pass unix:{folder}/$1.sock;
            fastcgi_param SCRIPT_FILENAME {script};
            fastcgi_param REQUEST_METHOD $request_method;
            fastcgi_param QUERY_STRING $query_string;
        }}
    }}
}}
"""


def emit(*cells):
    print(*cells, sep="\t", flush=True)


class Connection(http.client.HTTPConnection):
    """To nginx, kept alive."""

    def __init__(self, path):
        super().__init__("localhost")
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)

    def ask(self, pool, **query):
        self.request("GET", f"/{pool}?{urlencode(query)}")
        answer = self.getresponse()
        text = answer.read().decode()
        if answer.status != 200 or len(text.split()) != 2:
            raise RuntimeError(f"{query}: {answer.status} {text[:300]}")
        return map(int, text.split())


class Servers:
    def __init__(self, folder, nginx, fpm, extension):
        self.folder = folder
        root = os.getuid() == 0
        pools = "".join(
            POOL.format(
                folder=folder,
                name=name,
                workers=WORKERS,
                maps=maps,
                owner="user = root\ngroup = root" if root else "",
            )
            for name, maps in (("kept", 64), ("fresh", 0))
        )
        (folder / "tmp").mkdir(exist_ok=True)
        (folder / "fpm.conf").write_text(FPM.format(folder=folder, pools=pools))
        (folder / "nginx.conf").write_text(
            NGINX.format(
                folder=folder, script=HERE / "request.php", owner="user root;" if root else ""
            )
        )
        self.commands = [
            [
                fpm,
                "-n",
                "-F",
                "-y",
                folder / "fpm.conf",
                "-d",
                f"extension={extension}",
                *(["-R"] if root else []),
            ],
            [nginx, "-c", folder / "nginx.conf", "-e", folder / "nginx.log"],
        ]
        self.running = []

    def __enter__(self):
        for name in ("nginx.sock", "kept.sock", "fresh.sock"):
            (self.folder / name).unlink(missing_ok=True)
        with open(self.folder / "servers.log", "wb") as log:
            self.running = [
                subprocess.Popen(command, stdout=log, stderr=log) for command in self.commands
            ]
        for name in ("nginx.sock", "kept.sock", "fresh.sock"):
            self.wait_for(self.folder / name)
        return Connection(self.folder / "nginx.sock")

    def wait_for(self, path):
        for _ in range(100):
            if path.exists():
                return
            time.sleep(0.1)
        self.__exit__()
        sys.exit(f"bench.py: no {path}; see {self.folder}/servers.log, fpm.log and nginx.log")

    def __exit__(self, *_):
        for process in reversed(self.running):
            process.terminate()
            process.wait()


def make_filter(path):
    path.unlink(missing_ok=True)
    with BloomFilter(m=M, k=8, scheme="block", storage=path) as f:
        f.update(f"https://www.example.com/{i}" for i in range(KEYS))
        f.sync()


def measure(connection, path, rounds):
    pids = set()
    for round_ in range(-1, rounds):  # -1: warming up
        for name, (pool, what, requests) in SUBJECTS.items():
            times = []
            for _ in range(2 * requests if round_ < 0 else requests):
                pid, ns = connection.ask(pool, what=what, path=path)
                pids.add(pid)
                times.append(ns)
            if round_ >= 0:
                cut = quantiles(times, n=10)
                emit("ns", "fpm", name, "median", round_, cut[4])
                emit("ns", "fpm", name, "90 %", round_, cut[8])
    return pids


def main(folder, rounds, nginx, fpm, extension):
    folder = Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "seen.bloom"
    make_filter(path)
    Path(f"{path}.serialized").write_bytes(serialized(path, extension))
    emit("table", "fpm", "us", TITLE)
    with Servers(folder, nginx, fpm, extension) as connection:
        pids = measure(connection, path, int(rounds))
    emit("fact", "PHP-FPM", f"{len(pids)} of {2 * WORKERS} workers answered")


def serialized(path, extension):
    code = "echo serialize(BloomFilter::load($argv[1]));"
    return subprocess.run(
        ["php", "-n", "-d", f"extension={extension}", "-r", code, path],
        check=True,
        capture_output=True,
    ).stdout


main(*sys.argv[1:])
