"""rediss://: one filter in a Redis that speaks TLS, from PHP, from Python and through redis-py's
own TLS."""

import os
import subprocess
import sys
import time

import pytest
import redis
from products import run
from own_redis import free_port

WRITE = """$f = new BloomFilter(n: 1000, p: 0.01, storage: $argv[1]);
foreach (range(0, 499) as $i) $f->add("k$i");
echo json_encode($f->existMany(array_map(fn($i) => "k$i", range(400, 599))));"""
READ = """import json, sys
from bloomfilter import BloomFilter
f = BloomFilter(storage=sys.argv[1])
print(json.dumps([bool(x) for x in f.contains_many([f"k{i}" for i in range(400, 600)])]))"""


def certificate(folder, name, *signed):
    """An EC key and what openssl signs for it: NAME.key, NAME.pem.  Python 3.13 refuses authorities
    that do not say what their key is for, and openssl makes all of these authorities."""
    new = [
        *"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1".split(),
        *"-nodes -days 2 -subj".split(),
        f"/CN={name}",
        "-addext",
        "keyUsage=digitalSignature,keyCertSign,cRLSign",
    ]
    run([*new, "-keyout", folder / f"{name}.key", "-out", folder / f"{name}.pem", *signed])


@pytest.fixture(scope="module")
def tls(tmp_path_factory):
    """Port and folder of a server that wants to see its clients' certificates."""
    folder, port = tmp_path_factory.mktemp("tls"), free_port()
    certificate(folder, "ca")
    by = ["-CA", folder / "ca.pem", "-CAkey", folder / "ca.key"]
    certificate(folder, "server", *by, "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1")
    certificate(folder, "client", *by)
    (folder / "both.pem").write_text(
        (folder / "client.pem").read_text() + (folder / "client.key").read_text()
    )
    command = [
        *"redis-server --port 0 --tls-port".split(),
        str(port),
        "--bind",
        "127.0.0.1",
        "--save",
        "",
        "--dir",
        folder,
    ]
    for what, name in (("ca-cert", "ca.pem"), ("cert", "server.pem"), ("key", "server.key")):
        command += [f"--tls-{what}-file", folder / name]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    client = redis.Redis(
        "localhost",
        port,
        ssl=True,
        ssl_ca_certs=folder / "ca.pem",
        ssl_certfile=folder / "client.pem",
        ssl_keyfile=folder / "client.key",
    )
    until = time.monotonic() + 20
    while True:
        try:
            client.ping()
            break
        except redis.ConnectionError:
            assert server.poll() is None and time.monotonic() < until, "no server that speaks TLS"
            time.sleep(0.02)
    yield port, folder, client
    server.kill()
    server.wait()


def test_one_filter_from_everywhere(tls, php):
    from bloomfilter import BloomFilter

    port, folder, client = tls
    url = f"rediss://localhost:{port}/0?key=seen&ca={folder}/ca.pem&cert={folder}/both.pem"
    wrote = run([*php, "-r", WRITE, "--", url], text=True)
    assert wrote.count("true") >= 100
    assert run([sys.executable, "-c", READ, url], text=True).replace(" ", "").strip() == wrote
    through = BloomFilter(storage=client, key="seen")
    assert through == BloomFilter(storage=url) and all(f"k{i}" in through for i in range(500))


def test_nobody_is_trusted_by_default(tls, php):
    port = tls[0]
    refused = f"try {{ new BloomFilter(n: 10, p: 0.1, storage: 'rediss://localhost:{port}/0?key=other'); }} catch (BloomFilterException $e) {{ echo $e->getMessage(); }}"
    assert "certificate" in run([*php, "-r", refused], text=True, env=os.environ)


def test_open_basedir_holds_for_certificates(tls, php):
    port, folder, _ = tls
    for name in ("ca", "cert"):
        url = f"rediss://localhost:{port}/0?key=other&{name}={folder}%2Fca.pem"
        refused = f"try {{ new BloomFilter(n: 10, p: 0.1, storage: '{url}'); }} catch (BloomFilterException $e) {{ echo $e->getMessage(); }}"
        assert f"open_basedir does not allow {folder}/ca.pem" in run(
            [*php, "-d", "open_basedir=/usr", "-r", refused], text=True
        )
