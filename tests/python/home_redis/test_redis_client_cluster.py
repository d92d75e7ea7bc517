"""Filters on redis-py's RedisCluster: the same bits, clusters that move slots, fail over and go
down.  The servers are real and the test's own."""

import random
import shutil
import threading

import pytest
from bloomfilter import BloomFilter, Error, _redis
from redis_clients import (
    FAULTS,
    calls,
    check_against_memory,
    odd_replies,
    plain,
    redis,
)
from servers import PATIENCE, Cluster, until


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    assert shutil.which("redis-cli"), "install redis-tools"
    cluster = Cluster(tmp_path_factory.mktemp("cluster"))
    yield cluster
    cluster.stop()


def through(cluster, **options):
    alive = next(server for server in cluster.servers if server.process.poll() is None)
    return redis.RedisCluster(host="127.0.0.1", port=alive.port, socket_timeout=PATIENCE, **options)


def test_cluster_same_bits(cluster):
    for key in ("seen", "{tag}:1", "other"):
        check_against_memory(through(cluster), "block", key)
    check_against_memory(through(cluster, decode_responses=True, protocol=2), "block")


def test_cluster_shards_spread_over_the_nodes(cluster):
    client = through(cluster)
    keys = [f"k{i}" for i in range(3000)]
    with BloomFilter(n=5000, p=0.01, shards=7, storage=client, key="spread") as bf:
        memory = BloomFilter(n=5000, p=0.01, shards=7)
        assert bf.add_many(keys[:2000]) == memory.add_many(keys[:2000]) and bf.contains_many(
            keys
        ) == memory.contains_many(keys)
        assert bf.add("x") and not bf.add("x") and "x" in bf and "y" not in bf
        memory.add("x")
        assert bf == memory and len(bf) == len(memory)
        assert len({client.get_node_from_key(f"spread:{i}").name for i in range(7)}) > 1
        with BloomFilter.open(client, key="spread") as again:
            assert again == bf and again.shards == 7
        with BloomFilter.open(client, key="spread", wait_replicas=1) as durable:
            assert durable.update(["w1", "w2", "w3"]) == 3
        bf |= memory
        bf.clear()
        assert not bf and bf.rebuild(keys[:100]) == 100 and all(bf.contains_many(keys[:100]))
        client.delete("spread:3")
        with pytest.raises(Error, match="is lost"):
            bf.contains_many(keys)
        with pytest.raises(Error, match="spread:3"):  # the others are deleted
            bf.delete()
    assert not any(client.exists(f"spread:{i}") for i in range(7)) and not client.exists(
        "{spread}:meta"
    )


def test_cluster_a_refused_reply_closes_the_connections(cluster, monkeypatch):
    client = through(cluster)
    keys = [f"k{i}" for i in range(50)]
    with BloomFilter(n=100, p=1e-9, shards=5, storage=client, key="refused") as bf:
        bf.update(keys)
        with monkeypatch.context() as patch:
            patch.setattr(_redis.Loan, "receive", staticmethod(odd_replies))
            with pytest.raises(Error, match="out of step"):
                bf.contains_many(keys)
        pools = [client.get_redis_connection(n).connection_pool for n in client.get_primaries()]
        assert not any(c._sock for pool in pools for c in pool._available_connections)
        assert all(bf.contains_many(keys)) and "never" not in bf


def test_cluster_companions_share_the_slot(cluster):
    client = through(cluster)
    with (
        BloomFilter(n=100, p=0.01, storage=client, key="named"),
        BloomFilter(n=100, p=0.01, storage=client, key="{user}:seen"),
    ):
        assert client.exists("{named}:meta") and client.exists("{user}:seen:meta")
        with pytest.raises(ValueError, match="hash tag"):
            BloomFilter(n=100, p=0.01, storage=client, key="a}b")


def test_a_plain_client_of_a_cluster_is_told(cluster):
    other = next(server for server in cluster.masters() if server is not cluster.master_of("seen"))
    with pytest.raises(Error, match="MOVED|CROSSSLOT"):
        BloomFilter(n=100, p=0.01, storage=plain(other.port), key="seen")


def test_cluster_moves_slots_while_keys_are_added(cluster):
    client = through(cluster)
    with BloomFilter(n=100_000, p=1e-6, storage=client, key="moving") as bf:
        added, stop, faults = [], threading.Event(), []

        def work():
            i = 0
            while not stop.is_set():
                i += 1
                try:
                    fresh = bf.add(f"k{i}") if i % 3 else bf.update([f"k{i}", f"m{i}"]) == 2
                    added.extend([f"k{i}"] if i % 3 else [f"k{i}", f"m{i}"])
                    if not fresh or f"k{i}" not in bf or added[i // 2] not in bf:
                        faults.append(i)
                except FAULTS as fault:
                    faults.append(fault)

        worker = threading.Thread(target=work)
        worker.start()
        try:
            random.seed(1)
            for _ in range(6):
                until(lambda: len(added) % 50 > 40 or faults, "progress")
                source = cluster.master_of("moving")
                target = random.choice(
                    [server for server in cluster.masters() if server is not source]
                )
                source, slot = cluster.begin_move("moving", target)
                for key in ("moving", "{moving}:meta"):
                    count = len(added)
                    until(lambda count=count: len(added) > count + 20 or faults, "progress")
                    cluster.move_key(source, target, key)
                count = len(added)
                until(lambda count=count: len(added) > count + 20 or faults, "progress")
                cluster.end_move(source, target, slot)
        finally:
            stop.set()
            worker.join()
        assert faults == []
        assert all(bf.contains_many(added)) and len(added) > 500
        memory = BloomFilter(n=100_000, p=1e-6)
        memory.update(added)
        assert bf == memory


def test_cluster_fails_over_and_goes_down(cluster):
    """The last test of the cluster: it loses nodes."""
    client = through(cluster)
    with BloomFilter(n=10_000, p=1e-6, storage=client, key="failing") as bf:
        bf.update(f"k{i}" for i in range(1000))
        master = cluster.master_of("failing")
        replica = cluster.replica_of(master)
        # WAIT counts the replicas that have what its own connection wrote
        assert master("SET {failing}:last 1\r\nWAIT 1 60000").startswith("+OK\r\n:1")
        master.stop()

        def whole():
            """Exceptions or right answers meanwhile."""
            try:
                assert all(bf.contains_many([f"k{i}" for i in range(1000)]))
                return bf.add("after") or "after" in bf
            except FAULTS:
                return False

        assert not whole()
        assert replica("CLUSTER FAILOVER TAKEOVER") == "+OK\r\n"
        until(whole, "the failover")
        assert "after" in bf and "never" not in bf
        replica.stop()
        cluster.end_soon()
        until(
            lambda: (
                "cluster_state:fail"
                in next(s for s in cluster.servers if s.process.poll() is None)("CLUSTER INFO")
            ),
            "the end of the cluster",
        )
        for call in calls(bf)[:4]:
            with pytest.raises(FAULTS, match="Redis key failing"):
                call()
        replica.start()
        master.start()

        def answers_again():
            try:
                bf.add("x")
                return True
            except Error as error:  # it comes back empty
                return "is lost" in str(error)
            except OSError:
                return False

        until(answers_again, "the cluster's return")
        until(
            lambda: all("cluster_state:ok" in s("CLUSTER INFO") for s in cluster.servers),
            "the cluster's return",
        )
        BloomFilter(n=10_000, p=1e-6, storage=client, key="failing").close()
        assert bf.add("k1") and "k1" in bf
