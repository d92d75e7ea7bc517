"""bloomfilter.django and bloomfilter.flask, with the code of docs/frameworks.md."""

import json
import re

import pytest
from products import ROOT
from servers import free_port

from bloomfilter import BloomFilter, Error
from bloomfilter._gate import Gate, Gates

DJANGO, FLASK = re.findall(
    r"^```python\n(.*?)^```$", (ROOT / "docs" / "frameworks.md").read_text(), flags=re.S | re.M
)


class Broken:
    def __contains__(self, key):
        raise Error("away")


def filled(keys=()):
    filter = BloomFilter(n=1000, p=1e-6)
    filter.update(keys)
    return filter


@pytest.mark.parametrize("fail, answer", [("open", True), ("closed", False)])
def test_a_filter_that_fails(fail, answer):
    reports = []
    gate = Gate(Broken(), fail=fail, report=lambda what, key: reports.append((what, key)))
    assert gate.passes(gate.answer("a")) is answer
    assert reports == [("failed", "a")]
    assert gate.counts["failed"] == 1 and gate.counts["absent"] == 0


class ClientError(Exception):
    """As the exceptions of redis-py, which are no OSError."""


@pytest.mark.parametrize("fail", ["open", "closed"])
@pytest.mark.parametrize("error", [Error("away"), OSError("away"), ClientError("away")])
def test_a_filter_that_cannot_be_opened_yet(fail, error):
    calls = []

    def opened():
        calls.append(1)
        if len(calls) < 2:
            raise error
        return filled(["a"])

    gate = Gate(opened, fail=fail)
    assert gate.passes(gate.answer("a")) is (fail == "open")
    assert gate.answer("a") is True and gate.answer("b") is False and len(calls) == 2


def test_redis_away_at_the_start():
    away = {"arg": "id", "n": 10, "p": 0.1, "storage": f"redis://127.0.0.1:{free_port()}/0?key=k"}
    gates = Gates({"open": away, "closed": {**away, "fail": "closed"}})
    refused = [gates.ask("GET", name, {"id": "a"}).refused for name in ("open", "closed")]
    assert refused == [False, True]
    with pytest.raises(ValueError, match="p must be"):
        Gates({"user": {"arg": "id", "n": 10, "p": 2}})


def test_wrong_settings():
    for name in ("mode", "fail"):
        with pytest.raises(ValueError, match=f"{name} must be .* got 'x'"):
            Gates({"user": {"arg": "id", "filter": filled(), name: "x"}})


def test_shadow_counts_disagreements():
    gates = Gates({"user": {"arg": "id", "filter": filled(["a", "ghost"]), "mode": "shadow"}})
    gate = gates.of["user"][1]
    for key, status in [("a", 200), ("b", 304), ("x", 404), ("ghost", 404), ("y", 500), ("z", 302)]:
        asked = gates.ask("GET", "user", {"id": key})
        assert not asked.refused
        asked.responded(status)
    assert gate.counts == {"asked": 6, "absent": 4, "missing": 1, "false_positive": 1}
    assert gates.ask("GET", "other", {"id": "a"}) is None
    assert gates.ask("GET", "user", {}) is gates.ask("GET", None, {}) is None


def test_shadow_counts_no_failure():
    gates = Gates({"user": {"arg": "id", "filter": Broken(), "mode": "shadow", "fail": "closed"}})
    for status in (200, 404):
        asked = gates.ask("GET", "user", {"id": "a"})
        assert not asked.refused
        asked.responded(status)
    assert gates.of["user"][1].counts == {"asked": 2, "failed": 2}


def test_only_what_reads_is_refused():
    gates = Gates({"user": {"arg": "id", "filter": filled()}})
    assert gates.ask("GET", "user", {"id": "a"}).refused
    assert gates.ask("HEAD", "user", {"id": "a"}).refused
    for method in ("PUT", "POST", "DELETE", "PATCH", "OPTIONS"):
        assert gates.ask(method, "user", {"id": "a"}) is None


def test_flask(tmp_path, monkeypatch):
    pytest.importorskip("flask")
    monkeypatch.chdir(tmp_path)
    page = {"__name__": "page"}
    exec(FLASK, page)
    client, filters = page["app"].test_client(), page["filters"]
    assert [client.get(f"/users/{i}").status_code for i in (7, 8)] == [200, 404]
    assert filters["user"].counts == {"asked": 2, "absent": 1}
    filters["user"].filter.add(8)  # now the view answers
    assert client.get("/users/8").status_code == 404
    assert filters["user"].counts["false_positive"] == 1
    assert [client.get(f"/pages/{i}").status_code for i in ("home", "none")] == [200, 404]
    assert filters["page"].counts == {"asked": 2, "absent": 2, "missing": 1}
    assert client.get("/none").status_code == 404


def test_flask_applications_have_their_own_filters():
    flask = pytest.importorskip("flask")
    from bloomfilter.flask import BloomFilters

    filters, clients = BloomFilters(), []
    for key in ("a", "b"):
        app = flask.Flask(key)
        app.config["BLOOMFILTERS"] = {"it": {"arg": "key", "filter": filled([key])}}
        app.add_url_rule("/<key>", "it", lambda key: key)
        filters.init_app(app)
        clients.append(app.test_client())
        with app.app_context():
            assert key in filters["it"].filter
    status = [[client.get(f"/{key}").status_code for key in "ab"] for client in clients]
    assert status == [[200, 404], [404, 200]]


DJANGO_APP = """
import json, sys
from django.conf import settings
from django.http import Http404, HttpResponse
from django.urls import path
said = []
page = {}
exec(sys.stdin.read(), page)
settings.configure(
    SECRET_KEY="s", ROOT_URLCONF=__name__, ALLOWED_HOSTS=["*"], MIDDLEWARE=page["MIDDLEWARE"],
    BLOOMFILTERS=page["BLOOMFILTERS"], BLOOMFILTERS_REPORT=lambda *what: said.append(what))
import django
django.setup()
views = []
def user(request, user_id):
    views.append(user_id)
    if user_id != 7: raise Http404
    return HttpResponse("Ada")
def page(request, slug):
    if slug != "home": raise Http404
    return HttpResponse("hello")
urlpatterns = [path("users/<int:user_id>", user, name="user"), path("pages/<slug:slug>", page, name="page")]
from bloomfilter import BloomFilter
BloomFilter(n=1_000_000, p=0.001, storage="users.bloom").update([7, 9])
from django.test import Client
client = Client()
status = [client.get(url).status_code for url in ("/users/7", "/users/8", "/users/9", "/pages/home", "/pages/none", "/none")]
print(json.dumps([status, views, said]))
"""


def test_django(run_python, tmp_path, monkeypatch):
    pytest.importorskip("django")
    monkeypatch.chdir(tmp_path)
    code = DJANGO_APP.replace("sys.stdin.read()", repr(DJANGO))
    status, views, said = json.loads(run_python(code))
    assert status == [200, 404, 404, 200, 404, 404]
    assert views == [7, 9]
    assert said == [["false_positive", "9"], ["missing", "home"]]


@pytest.mark.parametrize("name, needs", [("django", "Django"), ("flask", "Flask")])
def test_without_the_framework(name, needs, run_python):
    code = f"""
import sys
sys.modules[{name!r}] = None
try: import bloomfilter.{name}
except ImportError as error: print(error)
"""
    assert f"bloomfilter.{name} needs {needs}: pip install {name}" in run_python(code)
