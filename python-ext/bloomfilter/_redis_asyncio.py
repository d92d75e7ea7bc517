"""Filters in Redis through a client of redis.asyncio: _redis.py with awaited I/O.

The core's calls are synchronous, so they run in a greenlet, without a thread.  A call that needs
I/O passes a coroutine to the task that made the call (wait_for) and continues with the coroutine's
result.  The event loop runs other tasks meanwhile."""

import asyncio
import errno
import select
import types

from greenlet import GreenletExit, getcurrent, greenlet

from . import _redis
from .asyncio import inside_client
from ._redis import PIECE, Cluster, Loan, Single, number_of, refuse_fake

SHORT = 1 << 15  # up to this many bytes are written to the transport's buffer without waiting


async def adapt(client):
    """Returns an object with exchange() for this client, or raises TypeError."""
    name = f"{type(client).__module__}.{type(client).__qualname__}"
    refuse_fake(type(client))
    if isinstance(client, type) or hasattr(client, "command_stack"):
        raise TypeError(f"storage must be a client of redis.asyncio, got {name}")
    await client.initialize()
    return AwaitedCluster(client) if hasattr(client, "nodes_manager") else AwaitedSingle(client)


# ---- calls ----
class Caller:
    """Calls functions in a greenlet, one at a time, and awaits the coroutines that they pass to
    wait_for()."""

    def __init__(self):
        self.worker = None

    async def __call__(self, function):
        if self.worker is None:
            self.worker = Worker(serve)
        worker = self.worker
        worker.parent = getcurrent()
        # a coroutine is started in the worker and awaited here, so both need the same context
        worker.gr_context = worker.parent.gr_context
        done, result = worker.switch(function)
        while not done:
            try:
                reply = await result
            except GeneratorExit:  # the event loop has ended, so nothing can be awaited
                self.worker = None
                worker.ending = True
                worker.throw()
                raise
            except BaseException as error:
                done, result = worker.throw(error)
            else:
                done, result = worker.switch(reply)
        if isinstance(result, Raised):
            raise result.error
        return result


class Worker(greenlet):
    ending = False


class Raised:
    def __init__(self, error):
        self.error = error


def serve(function):
    """Runs one function after the other, because a new greenlet per function would cost a stack."""
    worker = getcurrent()
    while True:
        try:
            result = function()
        except GreenletExit:
            raise
        except BaseException as error:
            result = Raised(error)
        function = None
        function = worker.parent.switch((True, result))
        result = None


def wait_for(coroutine):
    """Returns the result of a coroutine, in a function that a Caller calls.  Starts the coroutine
    here and switches only if the coroutine must wait, because a switch copies the stack of the
    core."""
    worker = getcurrent()
    if not isinstance(worker, Worker) or worker.ending:
        coroutine.close()
        raise RuntimeError("a client of redis.asyncio works only while its event loop runs")
    try:
        future = coroutine.send(None)
    except StopIteration as done:
        return done.value
    return worker.parent.switch((False, rest(coroutine, future)))


@types.coroutine
def rest(coroutine, future):
    """Awaits the rest of a started coroutine that waits for `future`."""
    while True:
        try:
            value = yield future
        except BaseException as error:
            step, value = coroutine.throw, error
        else:
            step = coroutine.send
        try:
            future = step(value)
        except StopIteration as done:
            return done.value


# ---- connections ----
class AwaitedLoan(Loan):
    def take(self):
        return wait_for(self.borrow())

    def give(self, connection):
        wait_for(self.give_back(connection))

    async def borrow(self):
        connection = await self.obtain()
        try:
            if not connection.is_connected:
                await connection.connect()
            elif is_stale(connection):
                await connection.disconnect(nowait=True)
                await connection.connect()
        except BaseException:
            await self.give_back(connection)
            raise
        return connection

    async def obtain(self):
        if self.client.connection is None:
            return await self.client.connection_pool.get_connection(*self.args)
        lock = self.client._single_conn_lock
        if not lock.locked():
            await lock.acquire()  # without a task
            return self.client.connection
        limit = _redis.LOCK_PATIENCE if len(inside_client.get()) < 2 else 0
        try:
            await asyncio.wait_for(lock.acquire(), limit)
        except asyncio.TimeoutError:
            raise OSError(
                errno.EBUSY, "the client's only connection waits for another reply"
            ) from None
        return self.client.connection

    async def give_back(self, connection):
        if self.client.connection is None:
            await self.client.connection_pool.release(connection)
        else:
            self.client._single_conn_lock.release()

    @staticmethod
    def drop(connection):
        wait_for(connection.disconnect(nowait=True))

    @staticmethod
    def send(connection, pieces, replies):
        # send_packed_command() starts a task for its timeout, which short commands do not need
        replies.sent = True
        if connection.health_check_interval or sum(map(len, pieces)) > SHORT:
            wait_for(connection.send_packed_command(pieces))
        else:
            connection._writer.writelines(pieces)
        replies.connection(number_of(connection._reader))

    @staticmethod
    def receive(connection, count, replies):
        reader, writer = connection._reader, connection._writer
        late = []

        def end():
            late.append(True)
            writer.transport.abort()  # makes the read below return

        limit = connection.socket_timeout
        timer = limit and asyncio.get_running_loop().call_later(limit, end)
        try:
            while True:
                data = wait_for(reader.read(PIECE))
                if late:
                    raise TimeoutError(errno.ETIMEDOUT, "the reply takes too long")
                if not data:
                    raise ConnectionResetError(errno.ECONNRESET, "the server closed the connection")
                if replies.feed(data) >= count:
                    return
        finally:
            if timer:
                timer.cancel()


class NodeLoan(AwaitedLoan):
    """Borrows connections of a cluster node, which has no pool."""

    def __init__(self, node):
        self.client = node

    async def obtain(self):
        return self.client.acquire_connection()

    async def give_back(self, connection):
        self.client.release(connection)


def is_stale(connection):
    """Returns true if the server has closed the connection or has sent bytes that are no reply.
    Polls the socket, because the event loop may not have read it yet."""
    reader = connection._reader
    return poll_of(connection)(0) or reader.at_eof() or reader._buffer


def poll_of(connection):
    try:
        return connection._reader.bloomfilter_poll
    except AttributeError:
        socket = connection._writer.get_extra_info("socket")
        if not hasattr(select, "poll"):  # on Windows
            return lambda wait: select.select([socket], [], [], wait)[0]
        poll = select.poll()
        poll.register(socket, select.POLLIN)
        connection._reader.bloomfilter_poll = poll.poll
        return poll.poll


# ---- homes ----
class Awaited:
    takes_turns = False  # bloomfilter.asyncio makes one call at a time

    def exchange(self, parts, replies):
        calls = [*inside_client.get(), self]
        token = inside_client.set(calls)
        try:
            super().exchange(parts, replies)
        finally:
            calls.clear()
            inside_client.reset(token)


class AwaitedSingle(Awaited, Single):
    loan_of = AwaitedLoan


class AwaitedCluster(Awaited, Cluster):
    loan_of = NodeLoan

    def client_of(self, node):
        return node

    def pause(self, seconds):
        wait_for(asyncio.sleep(seconds))

    def read_nodes(self):
        wait_for(self.nodes.initialize())

    def note_moved(self, error):
        if hasattr(self.nodes, "move_slot"):
            wait_for(self.nodes.move_slot(error))
        else:  # before redis-py 7
            self.nodes._moved_exception = error
