"""A redis-server that speaks TLS, and the certificates of it and of its clients."""

import contextlib
import subprocess

import redis
from products import run
from servers import free_port, until


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


def client_of(port, folder):
    return redis.Redis(
        "localhost",
        port,
        ssl=True,
        ssl_ca_certs=folder / "ca.pem",
        ssl_certfile=folder / "client.pem",
        ssl_keyfile=folder / "client.key",
    )


@contextlib.contextmanager
def tls_server(folder, *options):
    """Its port.  The folder gets ca.pem, client.pem and client.key, and both.pem with these two; the
    server wants to see its clients' certificates, if the options do not say otherwise."""
    certificate(folder, "ca")
    by = ["-CA", folder / "ca.pem", "-CAkey", folder / "ca.key"]
    certificate(folder, "server", *by, "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1")
    certificate(folder, "client", *by)
    both = (folder / "client.pem").read_text() + (folder / "client.key").read_text()
    (folder / "both.pem").write_text(both)
    port = free_port()
    command = [
        "redis-server",
        *f"--port 0 --tls-port {port} --bind 127.0.0.1".split(),
        "--save",
        "",
    ]
    for what, name in (("ca-cert", "ca.pem"), ("cert", "server.pem"), ("key", "server.key")):
        command += [f"--tls-{what}-file", folder / name]
    command += ["--dir", folder, *options]
    with subprocess.Popen([*map(str, command)], stdout=subprocess.DEVNULL) as server:
        try:
            with client_of(port, folder) as client:
                until(lambda: answers(client, server), "a server that speaks TLS")
            yield port
        finally:
            server.kill()


def answers(client, server):
    assert server.poll() is None
    with contextlib.suppress(redis.ConnectionError):
        return client.ping()
