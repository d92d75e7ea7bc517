"""One request as raw bytes, and what the daemon answers to it."""

import socket

PATIENCE = 60  # seconds until a test gives up; no test measures time


def ask(port, request):
    """(status, everything that came back) of the first reply."""
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as link:
        try:
            link.sendall(request)
            link.shutdown(socket.SHUT_WR)
        except (BrokenPipeError, ConnectionResetError):
            pass  # it has heard enough
        answer = b""
        try:
            while more := link.recv(1 << 16):
                answer += more
        except ConnectionResetError:
            pass
    text = answer.decode("latin-1")
    return (int(text.split(" ", 2)[1]) if text.startswith("HTTP/1.1 ") else 0), text
