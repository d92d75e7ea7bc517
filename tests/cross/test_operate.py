"""docs/operate.md: its commands are run, its rules and the dashboard name metrics that exist, its
configurations are accepted by the programs they are for."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from bloomfilter import BloomFilter
from daemons import PLAIN, Daemon
from documents import blocks, shell, text_of
from products import OUT, ROOT

PAGE = "docs/operate.md"
DASHBOARD = ROOT / "docs/grafana-bloomfilterd.json"


@pytest.fixture
def daemon(tmp_path):
    """It serves a folder that has a filter `users`."""
    BloomFilter(n=1000, p=0.01, storage=str(tmp_path / "users.bloom")).add("ann")
    daemon = Daemon(tmp_path, "--storage", f"{tmp_path}/", binary=PLAIN)
    yield daemon
    daemon.stop()


def metrics_in(text):
    return set(re.findall(r"\bbloomfilter_[a-z_]+", text))


def test_backup(daemon, tmp_path):
    for block in blocks(PAGE, "sh"):
        shell(block.replace(":6381", f":{daemon.port}"), tmp_path)
    assert daemon.get("/f/restored/contain=ann").body == b"true"
    assert "ann" in BloomFilter.load(str(tmp_path / "users.image"))


def test_rules_and_dashboard_name_metrics_that_exist(daemon):
    known = metrics_in(daemon.get("/metrics").body.decode())
    dashboard = json.loads(DASHBOARD.read_text())
    asked = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    (rules,) = blocks(PAGE, "yaml")
    expressions = re.findall(r"expr: (.*)", rules)
    assert len(asked) >= 12 and len(expressions) == 5
    for expression in asked + expressions[1:]:
        assert metrics_in(expression) and metrics_in(expression) <= known, expression
    panels = [panel["id"] for panel in dashboard["panels"]]
    assert len(set(panels)) == len(panels)


def test_nginx_accepts_the_server(tmp_path):
    """Where there is no nginx, its text is only looked at."""
    (server,) = blocks(PAGE, "nginx")
    assert "proxy_pass http://127.0.0.1:6381;" in server
    if not shutil.which("nginx"):
        return
    key, cert = tmp_path / "filters.key", tmp_path / "filters.pem"
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=x"]
    subprocess.run([*make, "-keyout", key, "-out", cert], check=True, capture_output=True)
    server = server.replace("/etc/ssl/", f"{tmp_path}/")
    config = f"pid {tmp_path}/pid;\nerror_log stderr;\nevents {{}}\nhttp {{\naccess_log off;\n{server}}}\n"
    (tmp_path / "nginx.conf").write_text(config)
    command = ["nginx", "-t", "-p", tmp_path, "-c", tmp_path / "nginx.conf"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_override_fits_the_unit():
    """Options of the unit's own command line, a credential it can read."""
    (override,) = blocks(PAGE, "ini")
    unit = Path(ROOT / "server/bloomfilterd.service").read_text()
    assert re.search(r"^ExecStart=(\S+)", unit, flags=re.M)[1] in override
    help_text = subprocess.run(
        [OUT / "bin/bloomfilterd", "--help"], capture_output=True, text=True
    ).stdout
    for option in re.findall(r"--[a-z-]+", override):
        assert option in help_text, option


def test_the_page_names_what_is_installed():
    """cmake --install --prefix: the unit starts the program that was installed with it."""
    unit = (OUT / "lib/systemd/system/bloomfilterd.service").read_text()
    assert f"\nExecStart={OUT}/bin/bloomfilterd " in unit
    assert "lib/systemd/system/bloomfilterd.service" in text_of(PAGE)
