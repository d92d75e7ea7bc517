"""A filter in front of an authority, such as a database, for web frameworks: modes, failures and
counts. Knows nothing of a framework."""

import logging
import time
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal

from . import BloomFilter, CountingBloomFilter, Error
from ._bloomfilter import _path_of

logger = logging.getLogger("bloomfilter")
Report = Callable[[str, str], object]
LOOK = 1.0  # seconds between two looks at the name of a file


def is_misuse(error: Exception) -> bool:
    """Returns true for a wrong setting or key. All else is a filter that does not answer: clients
    of Redis raise their own exceptions."""
    return isinstance(error, (TypeError, ValueError)) and not isinstance(error, Error)


def was_replaced(filter: BloomFilter) -> bool:
    """Returns true if the filter's file was replaced or deleted.  A filter in Redis notices that
    itself."""
    storage = filter.storage
    return isinstance(storage, str) and _path_of(storage) is not None and not filter.is_current


class Gate:
    """Answers whether a key may be in the authority.

    mode "trust": a key that the filter calls absent is not looked up. mode "shadow": every key is
    looked up, and the answers are compared. If the filter raises or cannot be opened, a key may be
    in the authority with fail "open", and may not with fail "closed".

    filter may be a function that opens it: it is called until it succeeds, and again after the
    filter's file was replaced or deleted, which is looked at once a second.

    A filter that is empty, or that this process has created, knows no keys.  It counts as failed
    until rebuild() has filled it.  If the program fills the filter by other means, it calls trust()
    after that, or passes trust=True.

    counts has asked, absent, missing (the authority has a key that the filter calls absent),
    false_positive and failed. report is called with the name of one of the last three and the
    key."""

    clock = staticmethod(time.monotonic)

    def __init__(
        self,
        filter: BloomFilter | Callable[[], BloomFilter],
        mode: Literal["trust", "shadow"] = "trust",
        fail: Literal["open", "closed"] = "open",
        report: Report | None = None,
        trust: bool = False,
    ) -> None:
        if mode not in ("trust", "shadow"):
            raise ValueError(f"mode must be 'trust' or 'shadow', got {mode!r}")
        if fail not in ("open", "closed"):
            raise ValueError(f"fail must be 'open' or 'closed', got {fail!r}")
        self.mode, self.fail, self.report = mode, fail, report
        self._open = filter if callable(filter) else None
        self._filter = None if callable(filter) else filter
        self._filled = self._trust = trust
        self._next_look = self._next_count = 0.0  # times of the clock
        self.counts: Counter[str] = Counter()

    @property
    def filter(self) -> BloomFilter:
        """Raises if the filter cannot be opened; the next use tries again."""
        if self._filter is None and self._open:
            self._filter = self._open()
        elif self._filter is None:
            raise Error("the filter's file was replaced or deleted: open it again")
        return self._filter

    def trust(self) -> None:
        """The program has filled the filter: its answers count."""
        self._filled = self._trust = True

    def _ready(self) -> BloomFilter:
        """Returns the filter if its answers count, else raises."""
        now = self.clock()
        if now >= self._next_look and self._filter is not None:
            self._next_look = now + LOOK
            if was_replaced(self._filter):
                self._filter, self._filled = None, self._trust
        filter = self.filter
        if not self._filled and not filter.created and now >= self._next_count:
            self._next_count = now + LOOK  # an empty filter reads all its bits
            self._filled = bool(filter)
        if not self._filled:
            raise Error("the filter is empty, or was just created and not filled: see Gate.trust()")
        return filter

    def answer(self, key: str | int | bytes) -> bool | None:
        """Returns the filter's answer; None if it raises."""
        self.counts["asked"] += 1
        try:
            answer = key in self._ready()
        except Exception as error:
            if is_misuse(error):
                raise
            logger.warning("the filter did not answer: %s", error)
            self.count("failed", key)
            return None
        self.counts["absent"] += not answer
        return answer

    def passes(self, answer: bool | None) -> bool:
        """Returns true if the authority is to be asked after this answer."""
        return self.mode == "shadow" or (self.fail == "open" if answer is None else answer)

    def compare(self, key: str | int | bytes, answer: bool | None, there: bool) -> None:
        """Compares an answer with what the authority has."""
        if answer is not None and answer != there:
            self.count("missing" if there else "false_positive", key)

    def count(self, what: str, key: str | int | bytes) -> None:
        self.counts[what] += 1
        if self.report:
            self.report(what, str(key))


class Opener:
    """Opens the filter of the settings, or creates it.  After its file was replaced, opens the new
    file, of any size; a file that was deleted is not created again."""

    def __init__(self, kind: type[BloomFilter], settings: dict[str, Any]) -> None:
        self.call = partial(kind, **settings)
        self.later = partial(
            kind.open,
            **{name: settings[name] for name in settings if name not in ("m", "n", "k", "p")},
        )

    def __call__(self) -> BloomFilter:
        filter = self.call()
        self.call = self.later
        return filter


class Gates:
    """The gates of a configuration: endpoint -> settings.

    Settings: arg (the name of the URL's parameter that is the key), mode, fail, trust, counting;
    all others are arguments of the filter."""

    def __init__(
        self, settings: Mapping[str, Mapping[str, Any]], report: Report | None = None
    ) -> None:
        self.of: dict[str, tuple[str, Gate]] = {}
        for endpoint, given in settings.items():
            own = dict(given)
            arg = own.pop("arg", None)
            if not isinstance(arg, str):
                raise ValueError(
                    f"BLOOMFILTERS[{endpoint!r}]['arg'] must be the name of the URL's parameter that is the key, got {arg!r}"
                )
            mode, fail = own.pop("mode", "trust"), own.pop("fail", "open")
            trust = own.pop("trust", False)
            kind = CountingBloomFilter if own.pop("counting", False) else BloomFilter
            filter = own.pop("filter", None)
            source = Opener(kind, own) if filter is None else filter
            gate = Gate(source, mode, fail, report, trust)
            self.of[endpoint] = (arg, gate)
            try:
                gate.filter  # noqa: B018  wrong settings raise now, not in the first request
            except Exception as error:
                if is_misuse(error):
                    raise
                logger.warning("the filter of %s cannot be opened yet: %s", endpoint, error)

    def ask(self, method: str, endpoint: str | None, args: Mapping[str, Any]) -> "Asked | None":
        """Returns the answer for a request; None if no gate is concerned. Methods other than GET and
        HEAD may create the object, so they are never refused."""
        arg, gate = self.of.get(endpoint or "", ("", None))
        if gate is None or method not in ("GET", "HEAD") or args.get(arg) is None:
            return None
        key = args[arg] if isinstance(args[arg], (int, bytes)) else str(args[arg])
        return Asked(gate, key, gate.answer(key))


class Asked:
    """One answer, until the response is there."""

    def __init__(self, gate: Gate, key: str | int | bytes, answer: bool | None) -> None:
        self.gate, self.key, self.answer = gate, key, answer
        self.refused = not gate.passes(answer)

    def responded(self, status: int) -> None:
        """404: the authority has no such key; 200 to 299 and 304: it has the key; others, such as a
        redirect to a login page, say nothing."""
        if not self.refused and (status in (304, 404) or 200 <= status < 300):
            self.gate.compare(self.key, self.answer, status != 404)
