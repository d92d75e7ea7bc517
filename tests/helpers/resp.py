"""RESP as bytes: commands as a client of Redis sends them, replies as Python values."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Error:
    text: str


def command(*words):
    words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(one), one) for one in words)


class Resp:
    """A connection of daemons.Client."""

    def __init__(self, client):
        self.client = client

    def send(self, *commands):
        self.client.send(b"".join(command(*words) for words in commands))
        return self

    def ask(self, *words):
        return self.send(words).reply()

    def _line(self):
        while b"\r\n" not in self.client.left:
            self.client._more()
        line, self.client.left = self.client.left.split(b"\r\n", 1)
        return line

    def _bytes(self, n):
        while len(self.client.left) < n + 2:
            self.client._more()
        text, self.client.left = self.client.left[:n], self.client.left[n + 2 :]
        return text

    def reply(self):
        line = self._line()
        kind, rest = line[:1], line[1:]
        if kind == b"-":
            return Error(rest.decode())
        if kind in b"+,(":
            return rest
        if kind == b"#":
            return rest == b"t"
        if kind == b"_" or rest == b"-1" and kind in b"$*":
            return None
        n = int(rest)
        if kind == b"$":
            return self._bytes(n)
        if kind in b"*~%":
            return [self.reply() for _ in range(n * (2 if kind == b"%" else 1))]
        assert kind == b":", line
        return n
