"""A Redis that answers some commands as a case says and all others as a sound server would that
holds one filter.

Which case a command belongs to is told by its key, so that one server serves all of them."""

import contextlib
import socket
import threading

MARK = 0x0000002A
META = {
    "format": "1",
    "scheme": "classic",
    "m": "20000",
    "n": "2772",
    "k": "5",
    "p": "0.031",
    "secret": "0",
    "mark": f"{MARK:08x}",
    "by": "catalogue",
}


def bulk(data):
    data = data.encode() if isinstance(data, str) else data
    return b"$%d\r\n%s\r\n" % (len(data), data)


def array(items):
    return b"*%d\r\n" % len(items) + b"".join(items)


class Closed(Exception):
    pass


class Bitmap:
    """What the key of one case holds."""

    def __init__(self, key, case):
        self.case = case
        self.meta = {**META, "owner": key, **case.get("meta", {})}
        self.bits = bytearray(20000 // 8) + MARK.to_bytes(4, "big")

    def hash(self):
        pairs = (
            []
            if self.case.get("absent")
            else [
                text
                for name, value in self.meta.items()
                if value is not None
                for text in (name, value)
            ]
        )
        return array([bulk(text) for text in pairs])

    def length(self):
        return b":%d\r\n" % (0 if self.case.get("absent") else len(self.bits))

    def field(self, kind, at):
        width = int(kind[1:])
        whole = int.from_bytes(self.bits, "big")
        return whole >> (len(self.bits) * 8 - at - width) & (1 << width) - 1

    def bitfield(self, words):
        out = []
        while words:
            op, kind, at, *words = words
            out.append(b":%d\r\n" % self.field(kind, int(at)))
            if op == "SET":
                words = words[1:]
                self.bits[int(at) // 8] |= 0x80 >> int(at) % 8
        return array(out)

    def add(self, words):
        """The scripts of adds.  One key: first and last byte of the mark, the mark, the arguments of
        BITFIELD.  Several: where the mark is, the mark, k, the positions, '' for bits, their
        number."""
        if words[3] == "SET":
            keys = [[int(at) for at in words[5::4]]]
        else:
            k, positions = int(words[2]), [int(at) for at in words[3].split("\0") if at]
            keys = [positions[i : i + k] for i in range(0, len(positions), k)]
        out = []
        for key in keys:
            out.append(b":%d\r\n" % all(self.field("u1", at) for at in key))
            for at in key:
                self.bits[at // 8] |= 0x80 >> at % 8
        return array([*out, b":%d\r\n" % MARK])

    def sound(self, command, words):
        if command in ("BITFIELD", "BITFIELD_RO"):
            return self.bitfield(words)
        if command == "GETRANGE":
            first, last = (int(word) % len(self.bits) for word in words)
            return bulk(bytes(self.bits[first : last + 1]))
        if command == "EVAL":
            return self.add(words[1 + int(words[0]) :])
        return self.hash() if command == "HGETALL" else self.length()


class Connection(threading.Thread):
    def __init__(self, server, link):
        super().__init__(daemon=True)
        self.server, self.link, self.input = server, link, link.makefile("rb")
        self.key, self.looked = None, False

    def command(self):
        head = self.input.readline()
        if not head:
            raise Closed
        words = []
        for _ in range(int(head[1:])):
            length = int(self.input.readline()[1:])
            words.append(self.input.read(length + 2)[:-2].decode("latin-1"))
        return words

    def send(self, reply, sound):
        if isinstance(reply, str):
            self.link.sendall(reply.encode("latin-1"))
        elif "raw" in reply:  # and nothing after it: what is cut short need not be waited for
            self.link.sendall(reply["raw"].encode("latin-1"))
            raise Closed
        elif "close" in reply:
            self.link.sendall(sound[: reply["close"]])
            raise Closed
        elif "silence" not in reply:
            raise ValueError(reply)

    def answer(self, name, words):
        self.key = words[2 if name == "EVAL" else 0].removesuffix(":meta")
        return self.server.bitmaps[self.key].sound(name, words[1:])

    def run(self):
        try:
            while True:
                name, *words = self.command()
                sound = self.answer(name, words)
                replies = self.server.bitmaps[self.key].case.get("replies", {}) if self.key else {}
                reply = replies.get(name)
                if name == "HGETALL":  # the first one opens the filter
                    reply = replies.get("HGETALL/alone" if self.looked else name)
                    self.looked = True
                if reply is None:
                    self.link.sendall(sound)
                else:
                    self.send(reply, sound)
        except (Closed, OSError):
            pass
        finally:
            with contextlib.suppress(OSError):
                self.link.shutdown(socket.SHUT_RDWR)
            self.input.close()
            self.link.close()


class FakeRedis(threading.Thread):
    def __init__(self):
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.bitmaps = {}
        self.start()

    def run(self):
        while True:
            try:
                link, _ = self.listener.accept()
            except OSError:
                return
            Connection(self, link).start()

    def url(self, key, case):
        """Where a filter of this case is; a fresh one."""
        self.bitmaps[key] = Bitmap(key, case)
        timeout = case.get("timeout", "20")
        return f"redis://127.0.0.1:{self.port}?key={key}&timeout={timeout}&retry_after=0"

    def stop(self):
        self.listener.close()
