"""Keyed filters: --secret-file.  The bits are those of the libraries with the same secret, and
nobody without it gets on."""

import os

import pytest
from bloomfilter import BloomFilter
from daemons import ended

SECRET, OTHER = bytes(range(16)), bytes(16)
KEYS = [b"key %d" % i for i in range(1000)]


@pytest.fixture
def secret_file(tmp_path):
    (tmp_path / "secret").write_bytes(SECRET)
    return tmp_path / "secret"


@pytest.mark.parametrize("said", [SECRET, SECRET.hex().encode() + b"\n"])
def test_the_same_bits(start, tmp_path, said):
    (tmp_path / "said").write_bytes(said)
    client = start("-n", 1000, "-p", 0.01, "--secret-file", tmp_path / "said").client()
    client.ask("PUT", "/f/named?n=500&p=0.0001")
    for path, sizes in (("", {"n": 1000, "p": 0.01}), ("/f/named", {"n": 500, "p": 0.0001})):
        assert client.ask("POST", path + "/add", b"\n".join(KEYS)).status == 200
        twin = BloomFilter(secret=SECRET, warn=False, **sizes)
        twin.update(KEYS)
        image = client.get(path or "/f/default").body
        assert image == twin.to_bytes() and BloomFilter.from_bytes(image, secret=SECRET) == twin
        assert SECRET not in image
        assert client.get(path + "/stats").body.find(SECRET.hex().encode()) == -1


def test_stored_filters_ask_for_their_secret(start, tmp_path, secret_file):
    folder = f"{tmp_path}/filters/"
    new = ["-n", 1000, "-p", 0.01, "--create"]
    first = start(*new, "--storage", folder, "--secret-file", secret_file)
    first.ask("PUT", "/f/named?n=500&p=0.01")
    first.get("/f/named/add=k")
    first.stop()
    again = start("-n", 1000, "-p", 0.01, "--storage", folder, "--secret-file", secret_file)
    assert again.get("/f/named/contain=k").body == b"true"
    again.stop()
    (tmp_path / "other").write_bytes(OTHER)
    for args, what in (
        (["--secret-file", tmp_path / "other"], "is keyed with another secret"),
        ([], "is keyed: its secret must be given"),
    ):
        code, told = ended("--storage", folder, *args)
        assert code == 1 and what in told
    os.unlink(folder + "named.bloom")
    BloomFilter(n=500, p=0.01, storage=folder + "plain.bloom").close()
    code, told = ended("--storage", folder, "--secret-file", secret_file)
    assert code == 1 and 'the filter "plain"' in told
    assert "is not keyed, but a secret was given" in told


def test_merge_and_upload_want_the_same_secret(start, secret_file):
    client = start("-n", 1000, "-p", 0.01, "--secret-file", secret_file).client()
    for secret, status in ((SECRET, 200), (OTHER, 409), (None, 409)):
        other = BloomFilter(n=1000, p=0.01, secret=secret)
        other.add(f"of {secret}")
        got = client.ask("POST", "/f/default/merge", other.to_bytes())
        assert got.status == status, got
        uploaded = client.ask("POST", f"/f/of-{status}", other.to_bytes()).status
        assert uploaded == (201 if status == 200 else 409)
        assert client.get(f"/contain=of {secret}".replace(" ", "%20")).body == (
            b"true" if status == 200 else b"false"
        )
    with BloomFilter(n=1000, p=0.01, secret=SECRET) as other:
        other.add(f"of {SECRET}")
        assert client.get("/f/of-200").body == other.to_bytes()
    assert client.get("/f/of-200/add=new").headers["x-new"] == "1"


def test_a_scheme_that_cannot_be_keyed(start, secret_file):
    got = start("-n", 1000, "-p", 0.01, "--secret-file", secret_file).ask(
        "PUT", "/f/x?n=100&p=0.01&scheme=guava"
    )
    assert got.status == 400 and "guava cannot be keyed" in got.headers["x-error"]


@pytest.mark.parametrize("said", [b"short", None])
def test_no_secret(tmp_path, said):
    if said is not None:
        (tmp_path / "said").write_bytes(said)
    code, told = ended("--secret-file", tmp_path / "said")
    assert code == 2 and told.count("\n") == 1
    assert str(tmp_path / "said")[-60:] in told  # a long name is shortened
    assert "16 bytes, or 32 hexadecimal digits" in told or (said is None and "No such file" in told)
