"""The HTTP requests of the catalogue: scripts/gen-catalogue writes them out as cases.  Knows the
server's contract, docs/server.md."""


def web(case):
    def request(name, raw, status, says=(), times=1):
        case(f"http/{name}: send", says, raw=raw, times=times, want=str(status))

    def get(target):
        return f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n"

    def sent(method, target, body="", *headers):
        lines = [f"{method} {target} HTTP/1.1", *headers, f"Content-Length: {len(body)}"]
        return "".join(line + "\r\n" for line in lines) + "\r\n" + body

    host = "Host: localhost"
    for key in "% %a %zz a% a%4 %4g %g4 %%41 %+1 %-1 abc%2 %00%".split():
        for path in ("/add=", "/contain=", "/remove=", "/count=", "/f/default/contain="):
            request(f"percent/{path[1:]}{key}", get(path + key), 400, "Error Command")
    paths = """/nosuch /add /contain /remove /count /adds=x /Add=x //add=x /add/ /?add=x /f/
        /f/default/ /f/default/nosuch /stats/x /healthz/ /metrics=x * x /.."""
    for path in paths.split():
        request(f"path{path}", get(path), 400, "Error Command")
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "POST"):
        paths = ["/add=x", "/stats", "/healthz", "/metrics"]
        for path in paths + ["/add"] * (method in ("PUT", "DELETE", "PATCH")):
            raw = sent(method, path, "", host)
            request(f"method/{method}{path}", raw, 400, "Error Command")
    for path in ("/f/nosuch", "/f/nosuch/stats", "/f/nosuch/add=x", "/f/nosuch/contain=x"):
        request(f"missing{path}", get(path), 404)
    for verb in ("remove", "count"):
        for place in ("", "/f/default"):
            request(f"bits/{verb}{place}", get(f"{place}/{verb}=x"), 409)
            request(f"bits/{verb}-many{place}", sent("POST", f"{place}/{verb}", "x"), 409)
    for name in (".hidden", "a%2fb", "x" * 129, "a b", "ü", "..", "a\\b"):
        target = f"/f/{name.replace(' ', '%20')}?n=10&p=0.1"
        request(f"name/{name}", sent("PUT", target, "", host), 400)
    queries = """? ?n=10 ?p=0.1 ?n=0&p=0.1 ?n=-1&p=0.1 ?n=x&p=0.1 ?n=10&p=0 ?n=10&p=1 ?n=10&p=nan
        ?n=10&p=x ?n=1.5&p=0.1 ?m=0&k=3 ?m=1099511627777&k=3 ?m=100&k=0 ?m=100&k=4097
        ?n=10&p=0.1&scheme=nosuch ?n=10&p=0.1&nosuch=1 ?n=10&grow=2 ?m=1000&grow=2
        ?n=10&p=0.1&grow=0.5 ?n=10&p=0.1&grow=inf ?n=10&p=0.1&grow=2&window=60
        ?n=10&p=0.1&grow=2&parts=4 ?n=10&p=0.1&parts=4
        ?n=10&p=0.1&window=0 ?n=10&p=0.1&window=nan ?n=10&p=0.1&window=60&parts=0
        ?n=10&p=0.1&window=60&parts=256 ?n=10&p=0.1&window=60&counting=1 ?n=10&p=0.1&counting=x
        ?n=10&p=0.1&storage=rediss://h ?n=99999999999999999999&p=0.1 ?n=10&p=0.1&scheme="""
    for query in ["", *queries.split()]:
        request(f"put{query or '-nothing'}", sent("PUT", f"/f/new{query}", "", host), 400)
    chunked = "Transfer-Encoding: chunked\r\n\r\n"
    for name, raw in (
        ("length-x", "POST /add HTTP/1.1\r\nContent-Length: x\r\n\r\nab"),
        ("length-minus", "POST /add HTTP/1.1\r\nContent-Length: -1\r\n\r\nab"),
        ("two-lengths", "POST /add HTTP/1.1\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc"),
        (
            "length-and-chunked",
            f"POST /add HTTP/1.1\r\nContent-Length: 2\r\n{chunked}2\r\nab\r\n0\r\n\r\n",
        ),
        ("chunk-zz", f"POST /add HTTP/1.1\r\n{chunked}zz\r\nab\r\n0\r\n\r\n"),
        ("chunk-huge", f"POST /add HTTP/1.1\r\n{chunked}ffffffffffffffffff\r\nab"),
        ("length-huge", "POST /add HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\nab"),
        ("version-9", "GET /add=k HTTP/9.9\r\n\r\n"),
        ("version-2", "GET /add=k HTTP/2.0\r\n\r\n"),
        ("no-version", "GET /add=k\r\n\r\n"),
        ("method-alone", "GET\r\n\r\n"),
        ("lower-case", "get /add=k HTTP/1.1\r\n\r\n"),
        ("method-unknown", "FOO /add=k HTTP/1.1\r\n\r\n"),
        ("header-no-colon", "GET /add=k HTTP/1.1\r\nno colon\r\n\r\n"),
        ("header-no-name", "GET /add=k HTTP/1.1\r\n: x\r\n\r\n"),
        ("header-nul", "GET /add=k HTTP/1.1\r\nA\0: x\r\n\r\n"),
        ("target-nul", "GET /add=k\0 HTTP/1.1\r\n\r\n"),
        ("line-more", "GET /add=k HTTP/1.1 x\r\n\r\n"),
        ("tls", "\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03" + "x" * 200),
        ("http2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        ("zeros", "\0" * 100),
        ("ones", "\xff" * 100),
        ("json", "{}\n"),
    ):
        request(f"garbage/{name}", raw, 400)
    request("url-too-long", get("/contain=" + "x" * 20000), 414)
    request("header-too-long", "GET /contain=k HTTP/1.1\r\nA: " + "x" * 20000 + "\r\n\r\n", 431)
    request(
        "body-too-large", "POST /contain HTTP/1.1\r\nContent-Length: 99999999999999\r\n\r\n", 413
    )
    request(
        "packed",
        "POST /contain HTTP/1.1\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\nab",
        415,
    )
    keys = "Content-Type: application/x-bloomfilter-keys"
    for name, body in (
        ("1", "\1"),
        ("3", "\1\0\0"),
        ("no-bytes", "\1\0\0\0"),
        ("short", "\5\0\0\0abcd"),
        ("huge", "\xff\xff\xff\xffabc"),
        ("second", "\1\0\0\0a\2\0\0\0b"),
    ):
        request(f"framing/{name}", sent("POST", "/contain", body, keys), 400, "Error Command")
    for name, body in (("empty", ""), ("text", "hello"), ("zeros", "\0" * 5000)):
        request(f"merge/{name}", sent("POST", "/f/default/merge", body), 400)
    for name, target, says in (
        ("contain", "/contain=k", "false"),
        ("ampersand", "/contain=a&b?c/d=e", "false"),
        ("empty-key", "/contain=", "false"),
        ("nul-key", "/contain=%00", "false"),
        ("healthz", "/healthz", "ok"),
    ):
        request(f"sound/{name}", get(target), 200, says)
