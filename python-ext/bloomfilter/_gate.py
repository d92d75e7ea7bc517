"""A filter in front of an authority, such as a database, for web frameworks: modes, failures and
counts. Knows nothing of a framework."""

import logging
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Literal

from . import BloomFilter, CountingBloomFilter, Error

logger = logging.getLogger("bloomfilter")
Report = Callable[[str, str], object]


class Gate:
    """Answers whether a key may be in the authority.

    mode "trust": a key that the filter calls absent is not looked up. mode "shadow": every key is
    looked up, and the answers are compared. If the filter raises, its answer is "perhaps present"
    with fail "open" and "absent" with fail "closed".

    counts has asked, absent, missing (the authority has a key that the filter calls absent),
    false_positive and failed. report is called with the name of one of the last three and the
    key."""

    def __init__(
        self,
        filter: BloomFilter,
        mode: Literal["trust", "shadow"] = "trust",
        fail: Literal["open", "closed"] = "open",
        report: Report | None = None,
    ) -> None:
        if mode not in ("trust", "shadow"):
            raise ValueError(f"mode must be 'trust' or 'shadow', got {mode!r}")
        if fail not in ("open", "closed"):
            raise ValueError(f"fail must be 'open' or 'closed', got {fail!r}")
        self.filter, self.mode, self.fail, self.report = filter, mode, fail, report
        self.counts: Counter[str] = Counter()

    def answer(self, key: str | int | bytes) -> bool:
        """Returns the filter's answer, or that of fail if the filter raises."""
        self.counts["asked"] += 1
        try:
            answer = key in self.filter
        except (Error, OSError) as error:
            logger.warning("the filter did not answer: %s", error)
            self.count("failed", key)
            answer = self.fail == "open"
        self.counts["absent"] += not answer
        return answer

    def compare(self, key: str | int | bytes, answer: bool, there: bool) -> None:
        """Compares an answer with what the authority has."""
        if answer != there:
            self.count("missing" if there else "false_positive", key)

    def count(self, what: str, key: str | int | bytes) -> None:
        self.counts[what] += 1
        if self.report:
            self.report(what, str(key))


class Gates:
    """The gates of a configuration: endpoint -> settings.

    Settings: arg (the name of the URL's parameter that is the key), mode, fail, counting; all
    others are arguments of the filter."""

    def __init__(
        self, settings: Mapping[str, Mapping[str, Any]], report: Report | None = None
    ) -> None:
        self.of: dict[str, tuple[str, Gate]] = {}
        for endpoint, given in settings.items():
            own = dict(given)
            arg = own.pop("arg")
            mode, fail = own.pop("mode", "trust"), own.pop("fail", "open")
            kind = CountingBloomFilter if own.pop("counting", False) else BloomFilter
            filter = own.pop("filter", None)
            self.of[endpoint] = (
                arg,
                Gate(kind(**own) if filter is None else filter, mode, fail, report),
            )

    def ask(self, endpoint: str | None, args: Mapping[str, Any]) -> "Asked | None":
        """Returns the answer for a request; None if no gate is concerned."""
        arg, gate = self.of.get(endpoint or "", ("", None))
        if gate is None or args.get(arg) is None:
            return None
        key = args[arg] if isinstance(args[arg], (int, bytes)) else str(args[arg])
        return Asked(gate, key, gate.answer(key))


class Asked:
    """One answer, until the response is there."""

    def __init__(self, gate: Gate, key: str | int | bytes, answer: bool) -> None:
        self.gate, self.key, self.answer = gate, key, answer
        self.refused = not answer and gate.mode == "trust"

    def responded(self, status: int) -> None:
        """404: the authority has no such key; 200 to 399: it has the key; others say nothing."""
        if not self.refused and (status == 404 or 200 <= status < 400):
            self.gate.compare(self.key, self.answer, status != 404)
