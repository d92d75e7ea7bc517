"""What the paths of the catalogue lead to, and images of filters with the damage that a case
describes."""

import contextlib
import os
import socket
import stat
import struct
import tempfile

import xxhash

from bloomfilter import BloomFilter, CountingBloomFilter
from sides import as_object

HEADER, DIRTY, CLEAN, BITS_SUM, LIVE, PAGE_SUM = 4096, 2048, 2056, 2072, 2080, 4088
FLAGS, CHAIN = 28, 0x700


# ---- damaged images ----
def mend(image, bits):
    """The sums that a damage made wrong, made right again: what lies behind them must refuse it."""
    chain = mend_page(image, 0, bits)
    if chain and len(image) >= 2 * HEADER:  # the first part; damage goes no further
        mend_page(image, HEADER, False)


def mend_page(image, at, bits):
    """Of a filter of many parts and of a part the live word does not count."""
    struct.pack_into(
        "<Q", image, at + 16, xxhash.xxh3_64_intdigest(bytes(image[at + 24 : at + DIRTY]))
    )
    if bits:
        struct.pack_into(
            "<Q", image, at + BITS_SUM, xxhash.xxh3_64_intdigest(bytes(image[at + HEADER :]))
        )
    page = bytearray(image[at : at + PAGE_SUM])
    page[DIRTY : DIRTY + 8] = page[CLEAN : CLEAN + 8]
    chain = struct.unpack_from("<I", page, FLAGS)[0] & CHAIN
    if chain:
        page[LIVE : LIVE + 8] = bytes(8)
    struct.pack_into("<Q", image, at + PAGE_SUM, xxhash.xxh3_64_intdigest(bytes(page)))
    return chain


def made(args, **more):
    """A filter of these parameters."""
    given = {name: as_object(value) for name, value in args.items()} | more
    return (CountingBloomFilter if given.pop("counting", False) else BloomFilter)(**given)


def sound(args):
    f = made(args)
    f.update(["a", "b", "c"])
    with tempfile.TemporaryDirectory() as folder:  # what is saved has header pages, however small
        path = os.path.join(folder, "f")
        f.save(path)
        with open(path, "rb") as file:
            return bytearray(file.read())


def image(data):
    """raw: these bytes, `times` over; else of: the parameters of a filter, and what is done to its
    bytes."""
    if "raw" in data:
        return bytes.fromhex(data["raw"]) * data["times"]
    out = sound(data["of"])
    for at, patch in data.get("put", []):
        out[at : at + len(patch) // 2] = bytes.fromhex(patch)
    for at, mask in data.get("flip", []):
        out[at] ^= mask
    if "mend" in data:
        mend(out, data["mend"] == 2)
    if "cut" in data:
        del out[data["cut"] :]
    return bytes(out * 2 if "twice" in data else out) + bytes(data.get("more", 0))


# ---- paths ----
FILTER = {"m": 1001, "k": 3}
IN_CASES = {"m": {"i": "1001"}, "k": {"i": "3"}}


def make(folder, name):
    """Something of that name, anew; returns its path as bytes."""
    path = {
        "spaces": "a b  c",
        "utf8": "Grüße",
        "newline": "a\nb",
        "folder-missing": "missing/x",
        "under-a-file": "text/x",
        "long": "x" * 300,
    }.get(name, name)
    path = os.path.join(folder, path)
    if name == "device":  # of its own: root's broken library would replace the machine's
        try:
            os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 3))
        except PermissionError:
            path = "/dev/null"
    before = {
        "directory": os.mkdir,
        "fifo": os.mkfifo,
        "dangling": lambda at: os.symlink(os.path.join(folder, "nowhere"), at),
        "loop": lambda at: os.symlink(at, at),
        "empty": lambda at: open(at, "wb").close(),
    }
    if name in before:
        before[name](path)
    elif name == "socket":
        listen(path)
    elif name == "link":
        BloomFilter(**FILTER).save(path + ".target")
        os.symlink(path + ".target", path)
    elif name in ("text", "under-a-file"):
        with open(os.path.join(folder, "text"), "w") as file:
            file.write("hello, world\n" * 1000)
    elif name == "holes":
        with_holes(path)
    elif name in ("sound", "read-only", "spaces", "utf8", "newline"):
        BloomFilter(**FILTER).save(path)
        os.chmod(path, 0o444 if name == "read-only" else 0o644)
    return os.fsencode(path)


def stream(folder, name):
    """The path of what a stream of this name opens."""
    if name == "full":
        return "/dev/full"
    path = os.path.join(folder, "stream")
    data = bytes(sound(IN_CASES)) if name in ("sound", "closed", "cut") else b""
    with open(path, "wb") as file:
        file.write(data[:4100] if name == "cut" else data)
    return path


def with_holes(path):
    """As cp --sparse makes a copy: without the blocks that are all zeros."""
    data = bytes(BloomFilter(**FILTER | {"m": 8 << 20}).to_bytes())
    with open(path, "wb") as file:
        file.write(data[:HEADER])
        file.truncate(len(data))


def listen(path):
    """A socket stays in its folder after its server is gone; its whole path may be too long for
    bind()."""
    here = os.open(".", os.O_RDONLY)
    try:
        os.chdir(os.path.dirname(path))
        with socket.socket(socket.AF_UNIX) as unix:
            unix.bind(os.path.basename(path))
    finally:
        os.fchdir(here)
        os.close(here)


def listing(folder):
    """What is there: name -> size and kind.  A refused call must leave it as it was."""
    found = {}
    for entry in os.scandir(folder):
        with contextlib.suppress(FileNotFoundError):  # it was removed meanwhile
            facts = entry.stat(follow_symlinks=False)
            found[entry.name] = facts.st_size, facts.st_mode
    return found
