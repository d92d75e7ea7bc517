"""Filters in Redis, by URL: the test's own server, the same bits as in memory, threads and forks, faults as exceptions."""

import multiprocessing
import pickle
import shutil
import socket
import subprocess
import threading
import time

import pytest

from bloomfilter import BloomFilter, Error


class Server:
    """redis-server on a free port of 127.0.0.1, and a client of three lines."""

    def __init__(self, folder):
        self.folder = folder
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        self.start()

    def start(self):
        options = f"--port {self.port} --bind 127.0.0.1 --appendonly no --enable-debug-command yes --dir {self.folder}"
        self.process = subprocess.Popen(["redis-server", *options.split(), "--save", ""], stdout=subprocess.DEVNULL)
        for _ in range(200):
            try:
                assert self("PING") == b"+PONG\r\n"
                return
            except ConnectionError:
                time.sleep(0.02)
        raise AssertionError("redis-server does not run")

    def __call__(self, command):
        with socket.create_connection(("127.0.0.1", self.port), 5) as s:
            s.sendall(command.encode() + b"\r\n")
            return s.recv(1 << 16)

    def url(self, key, more=""):
        return f"redis://127.0.0.1:{self.port}/0?key={key}{more}"

    def stop(self):
        self.process.kill()
        self.process.wait()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    try:
        BloomFilter(m=10, k=1, storage="redis://127.0.0.1:1?key=x")
    except Error as error:
        if "lacks hiredis" in str(error):
            pytest.skip(str(error))
    except OSError:
        pass
    assert shutil.which("redis-server"), "install redis-server"
    server = Server(tmp_path_factory.mktemp("redis"))
    yield server
    server.stop()


@pytest.fixture(autouse=True)
def empty(server):
    server("FLUSHALL")


def test_the_same_bits_as_in_memory(server, scheme):
    keys = [f"k{i}" for i in range(3000)]
    with BloomFilter(n=5000, p=0.01, scheme=scheme, storage=server.url("seen")) as bf:
        memory = BloomFilter(n=5000, p=0.01, scheme=scheme)
        assert bf.add_many(keys[:2000]) == memory.add_many(keys[:2000])
        assert bf.contains_many(iter(keys)) == memory.contains_many(keys)
        assert bf.update(keys[1990:2010]) == memory.update(keys[1990:2010])
        assert bf.add("x") and not bf.add("x") and "x" in bf and b"y" not in bf
        memory.add("x")
        assert bf.bitset == memory.bitset and bf == memory and bf.copy() == memory
        assert len(bf) == len(memory) and bf.fill_ratio == memory.fill_ratio and bool(bf)
        assert bf.to_bytes() == memory.to_bytes()
        other = BloomFilter(n=5000, p=0.01, scheme=scheme)
        other.add("z")
        bf |= other
        assert "z" in bf and (bf | other) == bf
        other |= bf
        assert other == bf
        with BloomFilter.open(server.url("seen")) as again:
            assert again == bf and (again.n, again.p) == (5000, 0.01)
        bf.clear()
        assert not bf and "x" not in bf


def test_key_argument_pickle_and_repr(server):
    url = server.url("a").split("?")[0]
    with BloomFilter(n=100, p=0.01, storage=url, key="by name") as bf:
        bf.add("x")
        twin = pickle.loads(pickle.dumps(bf))
        assert "x" in twin and twin.storage == url
        twin.close()
    server("ACL SETUSER reader on >s3same ~* +@all")
    with BloomFilter(n=100, p=0.01, storage=url.replace("//", "//reader:s3same@"), key="by name") as bf:
        assert "x" in bf and "s3same" not in repr(bf) and "by name" in repr(bf)
    with pytest.raises(ValueError, match="names no key"):
        BloomFilter(n=100, p=0.01, storage=url)
    with pytest.raises(ValueError, match="no Redis is given"):
        BloomFilter(n=100, p=0.01, key="x")


def test_expire_and_delete(server):
    with BloomFilter(n=100, p=0.01, storage=server.url("life")) as bf:
        bf.expire(100)
        assert 90 < int(server("TTL life")[1:]) <= 100 and 90 < int(server("TTL life:meta")[1:]) <= 100
        bf.expire(None)
        assert server("TTL life") == b":-1\r\n"
        for wrong in (0, -1, float("nan"), 10**400):
            with pytest.raises(ValueError):
                bf.expire(wrong)
        bf.delete()
        assert server("EXISTS life life:meta") == b":0\r\n"
        with pytest.raises(Error, match="is lost"):
            bf.add("x")
        with pytest.raises(Error, match="is lost"):
            bf.contains_many(["x"])
        BloomFilter(n=100, p=0.01, storage=server.url("life")).close()
        assert bf.add("x")
    with pytest.raises(Error, match="only filters in Redis"):
        BloomFilter(10, 2).expire(1)


def test_faults_are_exceptions_that_name_the_cause(server):
    with pytest.raises(ConnectionRefusedError, match="Redis key k at 127.0.0.1"):
        BloomFilter(n=100, p=0.01, storage="redis://:s3same@127.0.0.1:1/0?key=k")
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        with pytest.raises(TimeoutError):
            BloomFilter(n=100, p=0.01, storage=f"redis://127.0.0.1:{deaf.getsockname()[1]}?key=k&timeout=0.2")
    with BloomFilter(n=100, p=0.01, storage=server.url("killed")) as bf:
        server.stop()
        for call in (lambda: bf.add("x"), lambda: "x" in bf, lambda: bf.update(["x"]), lambda: bf.bitset, bf.clear):
            with pytest.raises(ConnectionError):
                call()
        server.start()
        with pytest.raises(Error, match="is lost"):
            assert "x" in bf
        BloomFilter(n=100, p=0.01, storage=server.url("killed")).close()
        assert bf.add("x") and "x" in bf


def test_other_threads_run_during_a_trip(server):
    with BloomFilter(n=100, p=0.01, storage=server.url("slow")) as bf:
        bf.add("x")
        sleeper = threading.Thread(target=server, args=("DEBUG SLEEP 1.5",))
        sleeper.start()
        time.sleep(0.1)
        answers = []
        threads = [threading.Thread(target=lambda call=call: answers.append(call())) for call in (lambda: "x" in bf, lambda: bf.contains_many(["x"]))]
        for thread in threads:
            thread.start()
        turns = 0
        while any(thread.is_alive() for thread in threads):
            turns += 1
            time.sleep(0.001)
        assert turns > 0  # this thread was not held up until their answers came
        for thread in (*threads, sleeper):
            thread.join()
        assert sorted(map(bool, answers)) == [True, True]


def test_threads_share_one_filter(server):
    with BloomFilter(n=10_000, p=1e-5, storage=server.url("threads")) as bf:
        fresh = []
        threads = [threading.Thread(target=lambda: fresh.append(bf.update(f"k{i}" for i in range(1000)))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sum(fresh) == 1000


def add_some(bf, name, queue):
    queue.put(sum(bf.add(f"{name}-{i}") for i in range(300)) + sum(f"{name}-{i}" in bf for i in range(300)))


def test_children_of_a_fork(server):
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    with BloomFilter(n=10_000, p=1e-6, storage=server.url("fork")) as bf:
        bf.add("parent")
        children = [context.Process(target=add_some, args=(bf, name, queue)) for name in "abc"]
        for child in children:
            child.start()
        mine = sum(bf.add(f"p-{i}") for i in range(300))
        assert [queue.get(timeout=30) for _ in children] == [600] * 3 and mine == 300
        for child in children:
            child.join()
        assert "parent" in bf and "a-7" in bf
