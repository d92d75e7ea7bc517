"""The HTTP requests of the catalogue: scripts/gen-catalogue writes them out as cases.  Knows the
server's contract, docs/server.md."""

PUT_REFUSES = """? ?n ?n=10 ?p=0.1 ?n=0&p=0.1 ?n=-1&p=0.1 ?n=x&p=0.1 ?n=10&p=0 ?n=10&p=1 ?n=10&p=2
    ?n=10&p=nan ?n=10&p=x ?n=10&p= ?n=1.5&p=0.1 ?m=0&k=3 ?m=1099511627777&k=3 ?m=1e13&n=5 ?m=100&k=0
    ?m=100&k=4097 ?n=10&p=0.1&scheme=nosuch ?n=10&p=0.1&nosuch=1 ?n=10&grow=2 ?m=1000&grow=2
    ?n=10&p=0.1&window=nan ?n=10&p=0.1&grow=inf ?n=10&p=0.1&storage=rediss://h
    ?n=99999999999999999999&p=0.1 ?n=10&p=0.1&scheme= ?n=1%&p=0.1 ?n=1.0001k&p=0.1 ?n=k&p=0.1
    ?n=100&p=100% ?n=100&p=% ?n=100&p=1%2 ?n=1e&p=0.1 ?n=1e%205&p=0.1 ?n=18446744073709551615T&p=0.1
    ?n=1e99999999999999999999&p=0.1 ?n=10&p=0.1&scheme=guava%3
    ?n=10&p=0.1&scheme=guava%0d%0aX-New:+1 ?n=10&p=0.1&scheme=classic%00"""
GROW = "grow must be a factor from 1 to 1024, got "
WINDOW = "window must be a number of seconds above 0"
PARTS = "parts must be 1 to 255, got "
OVERFULL = "overfull must be warn, raise or ignore, got "
PUT_SAYS = {
    "n=10&p=0.1&grow=2&window=60": "grow=2 and window=60 must not be given together",
    "n=10&p=0.1&parts=4": "parts is for forgetting filters: give window",
    "n=10&p=0.1&grow=2&parts=4": "parts is for forgetting filters: give window",
    "n=10&p=0.1&counting=1&window=9": "a counting filter cannot forget: window must not be given",
    "m=1000&k=3&grow=2": "grow needs n and p, or m and n: sizes follow from the rate to keep",
    "n=+5&p=0.1": "n must be ",
    "n=10&p=+0.1": "p must be ",
    **{f"n=10&p=0.1&grow={v}": GROW + v for v in "+2 0.5 1025 0 x".split()},
    "n=10&p=0.1&grow=": GROW,
    **{f"n=10&p=0.1&window={v}": WINDOW for v in "0 -1 1e-9".split()},
    **{f"n=10&p=0.1&window=9&parts={v}": PARTS + v for v in "0 256 1.5".split()},
    **{f"n=10&p=0.1&overfull={v}": OVERFULL + v[:5] for v in ("", "Raise", "raise" * 4)},
    "n=10&p=0.1&counting=2": "counting must be 1 or 0, got 2",
    "n=10&p=0.1&counting=x": "counting must be 1 or 0, got x",
    "n=10&p=0.1&clock=1": "a parameter is m, n, k, p, scheme, grow, window, shards, parts, overfull, counting and its value",
    **{
        f"{rest}&{name}={values[0]}&{name}={values[1]}": f"{name} must be given once"
        for rest, name, *values in (
            ("p=0.1", "n", 10, 20),
            ("n=10", "p", 0.1, 0.1),
            ("n=10", "m", 99, 100),
            ("m=99", "k", 3, 4),
            ("n=10&p=0.1", "scheme", "block", "classic"),
            ("n=10&p=0.1", "overfull", "warn", "raise"),
            ("n=10&p=0.1", "counting", 1, 1),
            ("n=10&p=0.1", "grow", 2, 2),
        )
    },
}


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
            request(f"percent/{path[1:]}{key}", get(path + key), 400)
    paths = """/nosuch /add /contain /remove /count /adds=x /Add=x //add=x /add/ /add/k /add%3Dk
        /?add=x /f/ /f/default/ /f/default/nosuch /f/default/merge=1 /f/default/merge?a /stats/
        /stats/x /stats?x=1 /healthz/ /healthz? /metrics=x /index.html /favicon.ico /?x * x /.. //
        /remove/ /counts=k /flush"""
    for path in paths.split():
        request(f"path{path}", get(path), 400)
    request("path-options", sent("OPTIONS", "*", "", host), 400)
    for path in ("/f/nosuch", "/f/nosuch/stats", "/f/nosuch/add=x", "/f/nosuch/contain=x"):
        request(f"missing{path}", get(path), 404)
    request("missing-deleted", sent("DELETE", "/f/nosuch", "", host), 404)
    request("default-deleted", sent("DELETE", "/f/default", "", host), 409)
    for verb in ("remove", "count"):
        for place in ("", "/f/default"):
            request(f"bits/{verb}{place}", get(f"{place}/{verb}=x"), 409, "counting")
            for body in ("x", ""):
                raw = sent("POST", f"{place}/{verb}", body, host)
                request(f"bits/{verb}-many{place}{body}", raw, 409, "counting")
    for name in """.hidden %2ea a%2fb a/b a% a%00 a,b a%20b ü .. a\\b a=b a*""".split() + [
        "",
        "x" * 129,
    ]:
        shown = name[:40] + ".." if len(name) > 40 else name or "none"
        says = [] if name in ("ü", "a/b", "..") else [f"not a point; got {shown}"]
        request(f"name/{name or 'none'}", sent("PUT", f"/f/{name}?n=10&p=0.1", "", host), 400, says)
    for query in ["", *PUT_REFUSES.split()]:
        request(f"put{query or '-nothing'}", sent("PUT", f"/f/new{query}", "", host), 400)
    for query, says in PUT_SAYS.items():
        request(f"put?{query}", sent("PUT", f"/f/new?{query}", "", host), 400, says)
    chunked = "Transfer-Encoding: chunked\r\n\r\n"
    for name, raw in (
        ("length-x", "POST /add HTTP/1.1\r\nContent-Length: x\r\n\r\nab"),
        ("length-minus", "POST /add HTTP/1.1\r\nContent-Length: -1\r\n\r\nab"),
        ("chunk-zz", f"POST /add HTTP/1.1\r\n{chunked}zz\r\nab\r\n0\r\n\r\n"),
        ("length-huge", "POST /add HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\nab"),
        ("version-9", "GET /add=k HTTP/9.9\r\n\r\n"),
        ("method-alone", "GET\r\n\r\n"),
        ("lower-case", "get /add=k HTTP/1.1\r\n\r\n"),
        ("method-unknown", "FOO /add=k HTTP/1.1\r\n\r\n"),
        ("header-no-colon", "GET /add=k HTTP/1.1\r\nno colon\r\n\r\n"),
        ("header-no-name", "GET /add=k HTTP/1.1\r\n: x\r\n\r\n"),
        ("header-nul", "GET /add=k HTTP/1.1\r\nA\0: x\r\n\r\n"),
        ("target-nul", "GET /add=k\0 HTTP/1.1\r\n\r\n"),
        ("line-more", "GET /add=k HTTP/1.1 x\r\n\r\n"),
        ("tls", "\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03" + "x" * 200),
        ("percent-high", "GET /add=%\x80\x80 HTTP/1.1\r\n\r\n"),
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
        request(f"framing/{name}", sent("POST", "/add", body, keys), 400, "truncated")
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
