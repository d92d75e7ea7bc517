"""The page for people, in a real browser: the numbers, the picture, no other file."""

import re
import shutil
import subprocess

import pytest
from conftest import PATIENCE

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


def test_table(daemon):
    """Numbers in groups; a filter that holds too many keys is seen at once."""
    daemon.ask("PUT", "/f/full?n=1000&p=0.01")
    daemon.ask("PUT", "/f/large?n=1234567&p=0.01")
    daemon.post("/f/full/add", b"\n".join(b"%d" % i for i in range(5000)))
    page = daemon.get("/").body.decode()
    rows = dict(re.findall(r"<tr><td>(\w+)<td>fixed<td>1<td>(.*?)(?=<tr>|</table>)", page))
    assert rows["large"] == "1,234,567<td>1 %<td>0<td>0 %<td>0 %"
    assert re.fullmatch(
        r"1,000<td>1 %<td>[45],\d{3}<td>\d\d.*class=\"over\".*>\d\d.* %", rows["full"]
    )


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
    assert percent(shown["fpr"]) == pytest.approx(100 * stats["fpr_now"], rel=0.01)
    assert int(shown["count"].replace(",", "")) == stats["count"]
    assert "," in shown["count"]  # so says the script, not the server
    assert int(shown["requests"].replace(",", "")) > 1
    assert shown["note"] == ""
    points = re.search(r'<polyline id="line"[^>]* points="([^"]+)"', dom)[1].split()
    assert len(points) >= 2
    assert all(re.fullmatch(r"\d+\.\d,\d+\.\d", point) for point in points)
