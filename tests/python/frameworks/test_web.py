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


def filled(keys=("other",)):
    filter = BloomFilter(n=1000, p=1e-6)
    filter.rebuild(keys)
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


def created(path=None, **more):
    return BloomFilter(n=1000, p=1e-6, **({} if path is None else {"storage": path}), **more)


@pytest.mark.parametrize("fail", ["open", "closed"])
@pytest.mark.parametrize("home", ["memory", "file"])
def test_a_filter_that_was_just_created_knows_nothing(fail, home, tmp_path):
    """It counts as failed until it is filled; else each row of the database would be missing."""
    now = iter(range(1000))
    path = tmp_path / "f" if home == "file" else None
    gate = Gate(lambda: created(path), fail=fail)
    gate.clock = lambda: next(now)
    for _ in range(3):
        assert gate.answer("a") is None and gate.passes(None) is (fail == "open")
    gate.filter.add("b")  # a row that was created: no answer about all others
    assert gate.answer("a") is gate.answer("b") is None and gate.counts["failed"] == 5
    (gate.filter if path is None else BloomFilter.open(path)).rebuild(["a"])
    assert gate.answer("a") is True and gate.answer("c") is False and gate.counts["failed"] == 5


def test_an_empty_filter_of_another_process_knows_nothing(tmp_path):
    now = iter(range(1000))
    first, gate = created(tmp_path / "f"), Gate(lambda: created(tmp_path / "f"))
    gate.clock = lambda: next(now)
    assert gate.filter.created is False and gate.answer("a") is None
    first.rebuild(["a"])
    assert gate.answer("a") is True and gate.answer("b") is False


def test_a_program_that_fills_the_filter_itself_is_trusted():
    gate = Gate(created(), trust=True)
    assert gate.answer("a") is False
    gate = Gate(created())
    assert gate.answer("a") is None
    gate.filter.add("a")
    gate.trust()
    assert gate.answer("a") is True and gate.answer("b") is False
    assert not Gates({"it": {"arg": "id", "n": 9, "p": 0.1}}).ask("GET", "it", {"id": 1}).refused
    trusted = {"it": {"arg": "id", "n": 9, "p": 0.1, "trust": True}}
    assert Gates(trusted).ask("GET", "it", {"id": 1}).refused


def replace(path, keys, n=5000):
    new = BloomFilter(n=n, p=1e-6)
    new.update(keys)
    new.save(path)  # by rename


def test_a_file_that_was_replaced_is_opened_again(tmp_path):
    """Within a second of the clock, also a larger file; never 'absent' by the old one after that."""
    path, time = str(tmp_path / "f"), [0.0]
    replace(path, ["a"], 1000)
    gates = Gates({"it": {"arg": "id", "n": 1000, "p": 1e-6, "storage": path}})
    gate = gates.of["it"][1]
    gate.clock = lambda: time[0]
    assert gates.ask("GET", "it", {"id": "b"}).refused
    replace(tmp_path / "new", ["a", "b"])
    (tmp_path / "new").rename(path)
    time[0] += 0.9
    assert gate.answer("b") is False
    time[0] += 0.2
    assert gate.answer("b") is True and gate.answer("c") is False and gate.filter.n == 5000
    (tmp_path / "f").unlink()
    time[0] += 1
    for _ in range(3):
        assert gate.answer("b") is gate.answer("c") is None
    assert not (tmp_path / "f").exists()  # an empty one would be created
    replace(path, ["c"])
    assert gate.answer("c") is True and gate.answer("b") is False


def test_a_filter_object_cannot_be_opened_again(tmp_path):
    time = [0.0]
    replace(tmp_path / "f", ["a"])
    gate = Gate(BloomFilter.open(tmp_path / "f"))
    gate.clock = lambda: time[0]
    assert gate.answer("a") is True
    replace(tmp_path / "new", ["b"])
    (tmp_path / "new").rename(tmp_path / "f")
    time[0] += 1
    assert gate.answer("a") is gate.answer("b") is None and gate.counts["failed"] == 2


@pytest.mark.parametrize("arg", [{}, {"arg": None}, {"arg": 5}])
def test_the_parameter_must_be_named(arg):
    with pytest.raises(ValueError, match=r"BLOOMFILTERS\['user'\]\['arg'\] must be the name of"):
        Gates({"user": {"n": 10, "p": 0.1, **arg}})


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
    assert said == [["false_positive", "9"], ["failed", "home"], ["failed", "none"]]
