"""A site on 127.0.0.1 for crawlers: a graph of pages with many ways to each, pages that fail, and a
count of what was asked for."""

import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PAGES = 60


def links_of(page):
    """A tree, with ways back and across."""
    return [
        link
        for link in (2 * page + 1, 2 * page + 2, page // 2, (7 * page + 3) % PAGES, 0)
        if link < PAGES
    ]


# The pages of a chain are asked for one after another; each names the page that is tried.
def chain(at, tried, length=4):
    return ([f"/chain/{tried}/{at + 1}"] if at + 1 < length else []) + [f"/{tried}"]


class Site(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Page)
        self.asked, self.lock, self.gate, self.up = (
            Counter(),
            threading.Lock(),
            threading.Event(),
            False,
        )
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def url(self, path="/0"):
        return f"http://127.0.0.1:{self.server_port}{path}"

    def handle_error(self, request, client_address):
        pass

    def pages(self):
        return {path: n for path, n in self.asked.items() if path[1:].isdigit()}


class Page(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        site = self.server
        with site.lock:
            site.asked[self.path] += 1
            times = site.asked[self.path]
        first, *rest = self.path.strip("/").split("/")
        if first.isdigit():
            return self.answer(200, [f"/{link}" for link in links_of(int(first))])
        return getattr(self, "page_" + first, self.page_unknown)(times, rest)

    def page_unknown(self, times, rest):
        self.answer(404)

    def page_chains(self, times, rest):
        tried = "flaky flakier drop gone moved".split()
        self.answer(200, [f"/chain/{name}/0" for name in tried])

    def page_chain(self, times, rest):
        self.answer(200, chain(int(rest[1]), rest[0]))

    def page_flaky(self, times, rest):
        """Fails once."""
        self.answer(500 if times == 1 else 200)

    def page_flakier(self, times, rest):
        self.answer(503 if times <= 2 else 200)

    def page_drop(self, times, rest):
        """Hangs up once."""
        if times == 1:
            self.close_connection = True
            self.connection.close()
        else:
            self.answer(200)

    def page_moved(self, times, rest):
        self.answer(302, location="/target")

    def page_target(self, times, rest):
        self.answer(200)

    def page_down(self, times, rest):
        self.answer(200 if self.server.up else 503)

    def page_opens(self, times, rest):
        self.answer(200, ["/slow", "/opener"])

    def page_slow(self, times, rest):
        """Is under way until the opener was asked for, which names it again."""
        self.server.gate.wait(30)
        self.answer(200)

    def page_opener(self, times, rest):
        self.answer(200, ["/slow", "/opened"])

    def page_opened(self, times, rest):
        """Asked for after the opener was read."""
        self.server.gate.set()
        self.answer(200)

    def answer(self, status, links=(), location=None):
        body = "".join(f'<a href="{link}">{link}</a>\n' for link in links).encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        if location:
            self.send_header("Location", location)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass
