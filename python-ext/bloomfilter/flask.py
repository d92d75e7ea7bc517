"""Flask extension: 404 for objects that are surely not in the database, without a query.

    app.config["BLOOMFILTERS"] = {
        "user": {                         # the endpoint
            "arg": "user_id",             # the parameter of the URL that is the key
            "n": 1_000_000, "p": 0.001, "storage": "/var/lib/app/users.bloom",
            "mode": "shadow",             # ask both and count disagreements; then "trust" (default)
            "fail": "open",               # if the filter fails: ask the database (default), or "closed"
            "trust": False,               # True: the program fills a new filter by itself
        },
    }
    app.config["BLOOMFILTERS_REPORT"] = count    # called with a count's name and the key (optional)
    filters = BloomFilters(app)

docs/frameworks.md has the details."""

try:
    from flask import Flask, Response, abort, current_app, g, request
except ImportError as error:
    raise ImportError("bloomfilter.flask needs Flask: pip install flask") from error

from ._gate import Gate, Gates

__all__ = ["BloomFilters"]


class BloomFilters:
    """filters["endpoint"] is the endpoint's gate: the filter is gate.filter, the counts are
    gate.counts."""

    def __init__(self, app: Flask | None = None) -> None:
        if app is not None:
            self.init_app(app)

    def init_app(self, app: Flask) -> None:
        app.extensions["bloomfilter"] = self
        app.extensions["bloomfilter.gates"] = self.gates = Gates(
            app.config.get("BLOOMFILTERS", {}), app.config.get("BLOOMFILTERS_REPORT")
        )
        app.before_request(self.before)
        app.after_request(self.after)

    def __getitem__(self, endpoint: str) -> Gate:
        """Returns the gate of the current application, or else of the last one."""
        gates = current_app.extensions["bloomfilter.gates"] if current_app else self.gates
        return gates.of[endpoint][1]

    def before(self) -> None:
        gates: Gates = current_app.extensions["bloomfilter.gates"]
        g._bloomfilter = gates.ask(request.method, request.endpoint, request.view_args or {})
        if g._bloomfilter is not None and g._bloomfilter.refused:
            abort(404)

    def after(self, response: Response) -> Response:
        asked = g.get("_bloomfilter")
        if asked is not None:
            asked.responded(response.status_code)
        return response
