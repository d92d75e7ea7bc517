"""Django middleware: 404 for objects that are surely not in the database, without a query.

    MIDDLEWARE = [..., "bloomfilter.django.BloomFilterMiddleware"]
    BLOOMFILTERS = {
        "user-detail": {                  # name of the view, with its namespace
            "arg": "pk",                  # the parameter of the URL that is the key
            "n": 1_000_000, "p": 0.001, "storage": "/var/lib/app/users.bloom",
            "mode": "shadow",             # ask both and count disagreements; then "trust" (default)
            "fail": "open",               # if the filter fails: ask the database (default), or "closed"
            "trust": False,               # True: the program fills a new filter by itself
        },
    }
    BLOOMFILTERS_REPORT = "app.metrics.bloom"    # called with a count's name and the key (optional)

docs/frameworks.md has the details."""

from collections.abc import Callable
from typing import Any

try:
    from django.conf import settings
    from django.http import Http404, HttpRequest, HttpResponse
    from django.utils.module_loading import import_string
except ImportError as error:
    raise ImportError("bloomfilter.django needs Django: pip install django") from error

from ._gate import Asked, Gates

__all__ = ["BloomFilterMiddleware"]


class BloomFilterMiddleware:
    """gates.of[view] is (arg, gate): the filter is gate.filter, the counts are gate.counts."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        report = getattr(settings, "BLOOMFILTERS_REPORT", None)
        self.get_response = get_response
        self.gates = Gates(
            getattr(settings, "BLOOMFILTERS", {}),
            import_string(report) if isinstance(report, str) else report,
        )

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        asked: Asked | None = getattr(request, "_bloomfilter", None)
        if asked is not None:
            asked.responded(response.status_code)
        return response

    def process_view(
        self, request: HttpRequest, view: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        match = request.resolver_match
        asked = self.gates.ask(request.method or "", match.view_name if match else None, kwargs)
        request._bloomfilter = asked
        if asked is not None and asked.refused:
            raise Http404("not in the filter")
