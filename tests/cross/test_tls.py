"""rediss://: one filter in a Redis that speaks TLS, from PHP, from Python and through redis-py's
own TLS."""

import sys

import pytest
from bloomfilter import BloomFilter
from products import run
from redis_tls import client_of, tls_server

WRITE = """$f = new BloomFilter(n: 1000, p: 0.01, storage: $argv[1]);
foreach (range(0, 499) as $i) $f->add("k$i");
echo json_encode($f->existMany(array_map(fn($i) => "k$i", range(400, 599))));"""
READ = """import json, sys
from bloomfilter import BloomFilter
f = BloomFilter(storage=sys.argv[1])
print(json.dumps([bool(x) for x in f.contains_many([f"k{i}" for i in range(400, 600)])]))"""


@pytest.fixture(scope="module")
def tls(tmp_path_factory):
    """Port and folder of a server that wants to see its clients' certificates."""
    folder = tmp_path_factory.mktemp("tls")
    with tls_server(folder) as port:
        yield port, folder


def test_one_filter_from_everywhere(tls, php):
    port, folder = tls
    url = f"rediss://localhost:{port}/0?key=seen&ca={folder}/ca.pem&cert={folder}/both.pem"
    wrote = run([*php, "-r", WRITE, "--", url], text=True)
    assert wrote.count("true") >= 100
    assert run([sys.executable, "-c", READ, url], text=True).replace(" ", "").strip() == wrote
    through = BloomFilter(storage=client_of(port, folder), key="seen")
    assert through == BloomFilter(storage=url) and all(f"k{i}" in through for i in range(500))


def test_open_basedir_holds_for_certificates(tls, php):
    port, folder = tls
    for name in ("ca", "cert"):
        url = f"rediss://localhost:{port}/0?key=other&{name}={folder}%2Fca.pem"
        refused = f"try {{ new BloomFilter(n: 10, p: 0.1, storage: '{url}'); }} catch (BloomFilterException $e) {{ echo $e->getMessage(); }}"
        assert f"open_basedir does not allow {folder}/ca.pem" in run(
            [*php, "-d", "open_basedir=/usr", "-r", refused], text=True
        )
