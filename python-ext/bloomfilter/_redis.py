"""Filters in Redis through a client of redis-py: sends commands, reads replies, reports faults.

The core encodes the commands and parses the replies; redis-py's parser would take most of the time.
redis-py's pipelines and commands are not used, because they may send a command again after a fault.
An add must never be sent twice.

`replies` (py_redis.c) takes the replies of a round trip:
  feed(bytes)          takes bytes of replies; returns how many replies are complete
  expect(bytes)        the commands to which the next replies belong
  connection(number)   the connection from which the next replies come
  fault(errno, text)   the reason why there are no replies
  refused()            lists the commands with an error reply
A part (bf_redis_part, not a part of a filter) holds the commands for one Redis key:
(key, the commands as bytes, number of the first command, number of commands).
"""

import errno
import inspect
import itertools
import struct
import threading
import time
from contextlib import ExitStack
from weakref import WeakKeyDictionary

from ._bloomfilter import _process

PIECE = 1 << 16  # maximum number of bytes per read
ROUNDS = 16  # how often a cluster may redirect the commands of a round trip
PATIENCE = 1.0  # seconds after which refused commands are not sent again
PAUSE = 0.02
LOCK_PATIENCE = 120  # seconds; the core waits for its locks as long


def adapt(client):
    """Returns an object with exchange() for this client, or raises TypeError."""
    if isinstance(client, (Single, Cluster)):  # bloomfilter.asyncio has adapted the client
        return client
    kind = type(client)
    name = f"{kind.__module__}.{kind.__qualname__}"
    refuse_fake(kind)
    if ".asyncio" in kind.__module__ or inspect.iscoroutinefunction(
        getattr(kind, "execute_command", None)
    ):
        raise TypeError(
            f"storage must be a client of redis-py that is not asynchronous, got {name}: only the filters of bloomfilter.asyncio can await it"
        )
    if hasattr(client, "command_stack"):
        raise TypeError(
            f"storage must be a client of redis-py, got {name}: give the client itself, not a pipeline"
        )
    if isinstance(client, type) or not hasattr(client, "pipeline"):
        raise TypeError(
            f"storage must be a path, a URL or a client of redis-py (Redis, RedisCluster), got {name}"
        )
    if hasattr(client, "nodes_manager") and hasattr(client, "get_redis_connection"):
        return Cluster(client)
    if hasattr(getattr(client, "connection_pool", None), "get_connection"):
        return Single(client)
    raise TypeError(
        f"storage must be a path, a URL or a client of redis-py (Redis, RedisCluster), got {name}"
    )


def refuse_fake(kind):
    if any(base.__module__.split(".")[0] == "fakeredis" for base in kind.__mro__):
        raise TypeError(
            "storage must be a client of a Redis server, got one of fakeredis: in unit tests use a filter in memory (no storage), which gives the same answers"
        )


# ---- connections ----
class Loan:
    """Borrows connections of one client, one per round trip.  Only this class does I/O; in
    bloomfilter.asyncio a subclass awaits the I/O."""

    def __init__(self, client):
        self.client = client
        self.process = _process()
        if not hasattr(client, "single_connection_lock"):  # before redis-py 5.1
            client.single_connection_lock = threading.RLock()
        first = next(
            iter(inspect.signature(client.connection_pool.get_connection).parameters.values()), None
        )
        needs_name = (
            first is not None
            and first.kind is first.POSITIONAL_OR_KEYWORD
            and first.default is first.empty
        )
        self.args = ("BITFIELD",) if needs_name else ()  # redis-py < 5.3 needs a command name

    def take(self):
        """Returns an open connection that no other Talk uses."""
        own = self.client.connection  # None, unless the client has single_connection_client=True
        me = _process()
        if own is None:
            pool = self.client.connection_pool
            if owner_of.setdefault(pool, me) != me:
                leave_to_parent(pool)
                owner_of[pool] = me
            return pool.get_connection(*self.args)
        if self.process != me:  # a forked child must not use the parent's connection, nor its lock
            self.client.single_connection_lock = threading.RLock()
            own.pid = None  # so disconnect() closes the socket without shutdown()
            own.disconnect()
            self.process = me
        self.lock()
        try:
            own.connect()
        except BaseException:
            self.unlock()
            raise
        return own

    def give(self, connection):
        if self.client.connection is None:
            self.client.connection_pool.release(connection)
        else:
            self.unlock()

    def lock(self):
        """Locks the only connection of a client with single_connection_client=True."""
        lock = self.client.single_connection_lock
        limit = LOCK_PATIENCE if len(held()) < 2 else 0  # one is the lock of this filter
        if lock._is_owned() or not lock.acquire(timeout=limit):
            raise OSError(errno.EBUSY, "the client's only connection waits for another reply")

    def unlock(self):
        self.client.single_connection_lock.release()

    @staticmethod
    def drop(connection):
        connection.disconnect()

    @staticmethod
    def send(connection, pieces, replies):
        replies.sent = True
        connection.send_packed_command(pieces)
        sock = socket_of(connection)
        if sock is not None:
            replies.connection(number_of(sock))

    @staticmethod
    def receive(connection, count, replies):
        """Reads until `count` replies are complete."""
        sock = getattr(connection, "_sock", None)
        if sock is None:  # redis-py's client-side cache wraps connections
            read_parsed(connection, count, replies)
            return
        limit = connection.socket_timeout
        until = None
        while True:
            data = sock.recv(PIECE)
            if not data:
                raise ConnectionResetError(errno.ECONNRESET, "the server closed the connection")
            if replies.feed(data) >= count:
                return
            if limit:  # the timeout also ends a reply that arrives byte by byte
                now = time.monotonic()
                until = until or now + limit
                if now > until:
                    raise TimeoutError(errno.ETIMEDOUT, "the reply takes too long")


# pool -> the process that has opened its connections
owner_of = WeakKeyDictionary()


def leave_to_parent(pool):
    """Removes the parent's connections from a pool, in a forked child.  redis-py does the same by
    process id, which may be the parent's in a new pid namespace; redis-py would then shut down the
    parent's connections."""
    for name in "_available_connections", "_in_use_connections", "_connections":
        for connection in getattr(pool, name, ()):
            connection.pid = None
    pool.reset()


mine = threading.local()  # held: the locks of filters that this (green) thread holds


def held():
    try:
        return mine.held
    except AttributeError:
        mine.held = []
        return mine.held


numbers = itertools.count(1)
# socket -> number.  The core gets the number, because redis-py may reconnect during any send.
numbered = WeakKeyDictionary()


def socket_of(connection):
    inner = getattr(
        connection, "_conn", connection
    )  # redis-py's client-side cache wraps connections
    return getattr(inner, "_sock", None)


def number_of(stream):
    return numbered.get(stream) or numbered.setdefault(stream, next(numbers))


def read_parsed(connection, count, replies):
    from redis.exceptions import ResponseError

    for _ in range(count):
        try:
            replies.feed(encoded(connection.read_response(disable_decoding=True)))
        except ResponseError as error:
            replies.feed(encoded(error))


def encoded(reply):
    """Encodes a reply that redis-py has parsed, as RESP2.  Dicts and sets (RESP3) become arrays."""
    if reply is None:
        return b"$-1\r\n"
    if isinstance(reply, Exception):
        return b"-%s\r\n" % " ".join(str(reply).split()).encode()
    if isinstance(reply, int):
        return b":%d\r\n" % reply
    if isinstance(reply, (bytes, str, float)):
        data = reply if isinstance(reply, bytes) else str(reply).encode()
        return b"$%d\r\n%s\r\n" % (len(data), data)
    if isinstance(reply, dict):
        reply = itertools.chain.from_iterable(reply.items())
    members = [encoded(member) for member in reply]
    return b"*%d\r\n%s" % (len(members), b"".join(members))


def command(part, i):
    """Returns the bytes of command i, which is in this part."""
    bulk, end = part[1], 0
    for _ in range(i - part[2] + 1):
        start, line = end, bulk.index(b"\r\n", end)
        count, end = int(bulk[end + 1 : line]), line + 2
        for _ in range(count):
            line = bulk.index(b"\r\n", end)
            end = line + 2 + int(bulk[end + 1 : line]) + 2
    return bulk[start:end]


class Talk:
    """The use of one connection in a round trip.  After an exception the connection is closed,
    because replies may still arrive on it."""

    def __init__(self, loan):
        self.loan = loan

    def __enter__(self):
        self.connection = self.loan.take()
        return self.connection

    def __exit__(self, kind, error, trace):
        try:
            if kind:
                self.loan.drop(self.connection)
        finally:
            self.loan.give(self.connection)


# ---- faults ----
def describe(error, replies):
    """Reports an exception to the core: its errno or that of a cause (0: none), and its text."""
    from redis import exceptions

    code = 0
    if isinstance(error, (TimeoutError, exceptions.TimeoutError)):
        code = errno.ETIMEDOUT
    below = error
    for _ in range(5):
        if code or below is None:
            break
        if isinstance(below, OSError) and isinstance(below.errno, int) and below.errno > 0:
            code = below.errno
        below = below.__cause__ or below.__context__
    if not code and replies.sent and type(error) is exceptions.ConnectionError:
        code = errno.ECONNRESET
    replies.fault(code, str(error))


# ---- one server ----
class Turns:
    """The lock of a filter.  gevent and eventlet replace `threading`, so that green threads wait for
    each other.  A thread that holds a lock of a filter runs code inside its client; there it does
    not wait for another filter, which may wait for this one."""

    takes_turns = True

    def __init__(self):
        self.renew()

    def renew(self):
        self.lock, self.locked_by = threading.Lock(), _process()

    def turn(self):
        """Returns the lock, held(), and how long to wait."""
        if self.locked_by != _process():  # no thread of a forked child would release the lock
            self.renew()
            mine.held = []
        return self.lock, held(), LOCK_PATIENCE


class Single(Turns):
    """redis.Redis: one server, also behind Sentinel, with TLS or a Unix socket."""

    cluster = False
    loan_of = Loan

    def __init__(self, client):
        super().__init__()
        self.client = client
        self.loan = self.loan_of(client)
        known = client.connection_pool.connection_kwargs
        service = getattr(client.connection_pool, "service_name", None)
        self.name = (
            service
            or known.get("path")
            or f"{known.get('host', 'localhost')}:{known.get('port', 6379)}"
        )

    def exchange(self, parts, replies):
        try:
            with Talk(self.loan) as connection:
                self.loan.send(connection, [part[1] for part in parts], replies)
                self.loan.receive(connection, sum(part[3] for part in parts), replies)
        except Exception as error:
            describe(error, replies)
            raise


# ---- a cluster ----
ASKING = b"*1\r\n$6\r\nASKING\r\n"


class Cluster(Turns):
    """redis.RedisCluster.  Commands are sent to the master of their key's slot, and follow its
    redirections."""

    cluster = True
    loan_of = Loan
    pause = staticmethod(time.sleep)

    def __init__(self, client):
        super().__init__()
        self.client = client
        self.nodes = client.nodes_manager
        self.loans = {}
        node = getattr(self.nodes, "default_node", None) or next(
            iter(self.nodes.nodes_cache.values()), None
        )
        self.name = f"cluster {node.name}" if node else "a cluster"

    def exchange(self, parts, replies):
        try:
            try:
                self.first_time(parts, replies)
            except Exception:
                self.look_again()
                if replies.sent:
                    raise
                self.first_time(
                    parts, replies
                )  # nothing was sent, and the slot may have another master now
            self.follow(parts, replies)
        except Exception as error:
            describe(error, replies)
            raise

    # -- nodes --
    def look_again(self):
        """Reads the masters of all slots again.  Ignores a failure, because the first exception or
        refusal is more precise."""
        try:
            self.read_nodes()
        except Exception:
            pass

    def master(self, key):
        return self.nodes.get_node_from_slot(self.client.keyslot(key))

    def named(self, address):
        host, _, port = address.rpartition(":")
        remap = getattr(self.nodes, "remap_host_port", None)
        if remap:
            host, port = remap(host, int(port))
        node = self.client.get_node(host=host, port=int(port))
        if node is None:
            self.look_again()
            node = self.client.get_node(host=host, port=int(port))
        return node

    def loan(self, node):
        server = self.client_of(node)
        loan = self.loans.get(node.name)
        if loan is None or loan.client is not server:
            loan = self.loans[node.name] = self.loan_of(server)
        return loan

    def client_of(self, node):
        return self.client.get_redis_connection(node)

    # -- commands --
    def first_time(self, parts, replies):
        """Sends the commands to all nodes before reading replies: the nodes work in parallel."""
        by_node = {}
        for part in parts:
            node = self.master(part[0])
            by_node.setdefault(node.name, (node, []))[1].append(part)
        self.talk(
            [
                (self.loan(node), [p[1] for p in own], [(p[2], p[3]) for p in own])
                for node, own in by_node.values()
            ],
            replies,
        )

    def talk(self, jobs, replies):
        with ExitStack() as stack:
            connections = [stack.enter_context(Talk(loan)) for loan, _, _ in jobs]
            for connection, (loan, pieces, _) in zip(connections, jobs, strict=True):
                loan.send(connection, pieces, replies)
            for connection, (loan, _, ranges) in zip(connections, jobs, strict=True):
                replies.expect(struct.pack(f"{2 * len(ranges)}n", *itertools.chain(*ranges)))
                loan.receive(connection, sum(count for _, count in ranges), replies)

    def follow(self, parts, replies):
        """Sends redirected commands again.  A node that redirects a command has not executed it."""
        until = None
        for turn in range(ROUNDS):
            refused = [(i, *text.split(" ")) for i, text in replies.refused()]
            refused = [
                one for one in refused if one[1] in ("MOVED", "ASK", "TRYAGAIN", "CLUSTERDOWN")
            ]
            if not refused:
                return
            now = time.monotonic()
            until = until or now + PATIENCE
            if now > until:
                return  # the refusals are the replies
            if turn > 2 or any(one[1] in ("TRYAGAIN", "CLUSTERDOWN") for one in refused):
                self.pause(PAUSE * (turn + 1))
            self.learn(refused)
            self.talk(self.redirected(parts, refused), replies)

    def learn(self, refused):
        from redis.exceptions import MovedError

        words = {one[1] for one in refused}
        if "CLUSTERDOWN" in words:
            self.look_again()
        elif "MOVED" in words:
            moved = next(one for one in refused if one[1] == "MOVED")
            self.note_moved(MovedError(f"{moved[2]} {moved[3]}"))

    def read_nodes(self):
        self.nodes.initialize()

    def note_moved(self, error):
        note = getattr(self.nodes, "move_slot", None) or self.nodes.update_moved_exception
        note(error)

    def redirected(self, parts, refused):
        jobs, echoes = {}, {}
        for i, word, *rest in refused:
            part = next(part for part in parts if part[2] <= i < part[2] + part[3])
            node = (self.named(rest[1]) if word == "ASK" else None) or self.master(part[0])
            _, pieces, ranges = jobs.setdefault(node.name, (self.loan(node), [], []))
            if word == "ASK":  # ASKING is valid for the next command only
                pieces.append(ASKING)
                ranges.append((-1, 1))
            pieces.append(command(part, i))
            ranges.append((i, 1))
            echoes[node.name] = part
        for name, part in echoes.items():  # the last command of a part is its ECHO
            last = part[2] + part[3] - 1
            jobs[name][1].append(command(part, last))
            jobs[name][2].append((last, 1))
        return list(jobs.values())
