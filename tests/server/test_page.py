"""The page for people, in a real browser: the numbers, the picture, no other file."""

import re
import shutil
import subprocess

import pytest
from daemons import PATIENCE

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)


def percent(text):
    return float(text.removesuffix(" %"))


def browse(url, folder, *args):
    command = [
        CHROMIUM,
        *"--headless --no-sandbox --disable-gpu --disable-dev-shm-usage".split(),
        f"--user-data-dir={folder}/profile",
        "--virtual-time-budget=5000",
        *args,
        url,
    ]
    return subprocess.run(command, capture_output=True, text=True, timeout=4 * PATIENCE).stdout


def test_page(daemon):
    got = daemon.get("/")
    assert got.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in got.headers["content-security-policy"]
    assert not re.search(rb'https?://|src=|<link(?! rel="icon" href="data:)', got.body)


def rows_of(page):
    """Name of a filter -> (class of its row, heading -> cell)."""
    rows = {}
    for name, style, cells in re.findall(
        r'<tr id="f-([^"]+)"( class="over")?>(.*?)(?=<tr |</table>)', page
    ):
        found = re.findall(r'<td data-name="([^"]+)">(?:<a href="[^"]+">)?([^<]*)', cells)
        rows[name] = bool(style), dict(found)
    return rows


def test_table(daemon):
    """Numbers in groups; a filter that holds too many keys is seen at once."""
    assert '<p id="alarm">1 filter, none over capacity</p>' in daemon.get("/").body.decode()
    daemon.ask("PUT", "/f/full?n=1000&p=0.01")
    daemon.ask("PUT", "/f/large?n=1234567&p=0.01")
    daemon.post("/f/full/add", b"\n".join(b"%d" % i for i in range(5000)))
    daemon.post("/f/large/contain", b"a\nb")
    page = daemon.get("/").body.decode()
    rows = rows_of(page)
    assert rows["large"] == (
        False,
        {
            "filter": "large",
            "kind": "fixed",
            "keys (estimated)": "0",
            "planned keys (n)": "1,234,567",
            "fill": "0 %",
            "false positives now": "0 %",
            "false positives planned (p)": "1 %",
            "hits": "0",
            "misses": "2",
        },
    )
    assert next(iter(rows)) == "full"  # before default, which is not over capacity
    over, full = rows["full"]
    assert over and re.fullmatch(r"[45],\d{3}", full["keys (estimated)"])
    assert re.fullmatch(r"\d\d.* %", full["false positives now"])
    assert rows["default"][0] is False
    alarm = re.search(r'<p id="alarm" class="over">(.*?)</p>', page)[1]
    assert alarm == '1 filter over capacity: <a href="#f-full">full</a>'
    assert page.index('id="alarm"') < page.index("<h1>")


def test_the_worst_come_first(daemon):
    """The alarm names three of them; rates that are chosen have no exponent."""
    keys = [b"%d" % i for i in range(20_000)]
    for number in range(5):
        daemon.ask("PUT", f"/f/over{number}?n=1000&p=0.001")
        daemon.post(f"/f/over{number}/add", b"\n".join(keys[: 3000 + 1500 * number]))
    daemon.ask("PUT", "/f/small?n=1000&p=1e-9")
    daemon.post("/f/small/add", b"a")
    page = daemon.get("/").body.decode()
    rows = rows_of(page)
    assert [*rows][:5] == ["over4", "over3", "over2", "over1", "over0"]
    alarm = re.sub("<[^>]*>", "", re.search(r'<p id="alarm" class="over">.*?</p>', page)[0])
    assert alarm == "5 filters over capacity: over4, over3, over2 and 2 more"
    assert rows["small"][1]["false positives now"] == "under 0.001 %"
    assert rows["small"][1]["false positives planned (p)"] == "0.0000001 %"


def test_links_lead_somewhere(start):
    daemon = start("-n", 1000, "-p", 0.01)
    for name in ("a:b", "x@{y}"):
        daemon.ask("PUT", f"/f/{name}?n=10&p=0.1")
    page = daemon.get("/").body.decode()
    links = re.findall(r'href="([^"#][^"]*)"', page.replace('rel="icon" href="data:', ""))
    assert {"metrics", "f", "stats", "f/a:b/stats", "f/x@{y}/stats"} <= set(links)
    for link in links:
        assert daemon.get("/" + link).status == 200, link


@pytest.mark.skipif(not CHROMIUM, reason="no chromium here")
def test_the_time_axis_has_hours_and_days(daemon, tmp_path):
    """The page as the daemon sends it, with other points."""
    page = daemon.get("/").body.decode()
    for seconds, marks in [
        (3 * 86400, {"now", "12 h ago", "1 d ago", "1 d 12 h ago", "2 d ago", "3 d ago"}),
        (90, {"now", "30 s ago", "1 min ago"}),
    ]:
        points = [[seconds * i / 100, 0.004 * i] for i in range(101)]
        file = tmp_path / "page.html"
        file.write_text(re.sub(r"(?<=id=\"points\">)\[.*?\](?=</script>)", repr(points), page))
        dom = browse(file.as_uri(), tmp_path, "--dump-dom")
        shown = set(re.findall(r">([^<>]*ago|now)</text>", dom))
        assert marks <= shown and len(shown) <= 8, shown
        plan = re.search(r'<line id="plan"[^>]* y1="([^"]+)"', dom)
        assert 10 < float(plan[1]) < 194 and "planned fill " in dom


@pytest.mark.skipif(not CHROMIUM, reason="no chromium here")
@pytest.mark.parametrize("width", [500, 1200])
def test_nothing_is_cut_off(daemon, tmp_path, width):
    """The document is as wide as the window, and each cell lies within it; a usual name is not broken."""
    daemon.ask("PUT", f"/f/{'name.' * 25}?n=123456789&p=0.0001")
    daemon.ask("PUT", "/f/customer-1.example.org?n=1000&p=0.01")
    page = daemon.get("/").body.decode()
    measure = """<script>const wide=[...document.querySelectorAll('td,th,dd,svg,#alarm')]
        .filter(e=>e.getBoundingClientRect().right>innerWidth||e.scrollWidth>e.clientWidth+1).length
        +(document.querySelector('[id="f-customer-1.example.org"] a').getClientRects().length-1);
        document.title='over '+(document.documentElement.scrollWidth-innerWidth)+' '+wide</script>"""
    file = tmp_path / "page.html"
    file.write_text(page.replace("</html>", measure + "</html>"))
    dom = browse(
        file.as_uri(), tmp_path, "--dump-dom", f"--window-size={width},900", "--hide-scrollbars"
    )
    over, wide = map(int, re.search(r"<title>over (-?\d+) (\d+)<", dom).groups())
    assert over <= 0 and wide == 0


@pytest.mark.skipif(not CHROMIUM, reason="no chromium here")
def test_in_a_browser(daemon, tmp_path):
    keys = [b"%d" % i for i in range(50_000)]
    daemon.post("/add", b"\n".join(keys))
    while not re.search(
        rb"\[\d+\.\d,0\.[1-9]", daemon.get("/").body
    ):  # until the fill has been looked at
        pass
    dom = browse(f"http://127.0.0.1:{daemon.port}/", tmp_path, "--dump-dom")
    shown = dict(re.findall(r'id="(\w+)">([^<]*)<', dom))
    stats = daemon.stats()
    assert percent(shown["fill"]) == pytest.approx(100 * stats["fill"], rel=0.01)
    assert shown["fpr"] == "under 0.001 %" and stats["fpr_now"] < 1e-5
    assert int(shown["count"].replace(",", "")) == stats["count"]
    assert "," in shown["count"]  # so says the script, not the server
    assert int(shown["requests"].replace(",", "")) > 1
    assert shown["note"] == ""
    points = re.search(r'<polyline id="line"[^>]* points="([^"]+)"', dom)[1].split()
    assert len(points) >= 2
    assert all(re.fullmatch(r"\d+\.\d,\d+\.\d", point) for point in points)
