"""Commands, options and their help.  scripts/gen-cli makes the completion scripts and the manual page
from it.

Knows which module runs a command; knows nothing of what it does.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable
from fractions import Fraction
from typing import IO, Any, NoReturn

from .. import __version__
from .faults import shown, visible

ABOUT = 'Bloom filters: sets that answer "surely not" or "probably" in a few bits per key, in a file that processes share, or in Redis.'
EPILOG = "bloomfilter COMMAND --help shows the options of a command; man bloomfilter has all of them.  Put a name that begins with - after --: bloomfilter check FILE -- -keys.txt"
FORMATS = ["native", "guava", "redisbloom", "bits", "bits-lsb"]
Options = argparse._ActionsContainer  # a parser, or a group of its options
PLOTS = ["k", "fill", "bits", "growth", "all"]


class Parser(argparse.ArgumentParser):
    """Errors are one line, with the name that was meant."""

    leaf = False  # the parser of a command: options and operands in any order
    tail = False  # bloomfilterd gets the arguments after --

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        # so that -1% is a number that is refused, and not an option
        self._negative_number_matcher = re.compile(r"-\.?\d[\d_.]*([eE][+-]?\d+)?[%kMGT]?$")

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def]
        if not self.leaf:
            found, unknown = super().parse_known_args(args, namespace)
            if self._subparsers:
                self.refuse(unknown)
            return found, unknown
        at = args.index("--") if "--" in args else len(args)
        args, rest = args[:at], args[at + 1 :]
        if not self.tail:  # ./-name is the file -name, and no option
            args += ["./" + name if name[:1] == "-" and name != "-" else name for name in rest]
        self.leaf = False  # the next call calls this function
        try:
            found, unknown = self.parse_known_intermixed_args(args, namespace)
        finally:
            self.leaf = True
        self.refuse(unknown)
        if self.tail:
            found.more = rest
        return found, unknown

    def refuse(self, unknown: list[str]) -> None:
        for word in unknown:
            hint = did_you_mean(word.partition("=")[0], self._option_string_actions)
            self.error(f"unrecognized argument {word}{hint}")

    def _check_value(self, action, value):  # type: ignore[no-untyped-def]
        """Names the choice that is alike, or all of them; of the commands, none: they are too many."""
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as fault:
            word, known = brief(str(value)), list(action.choices)
            hint = did_you_mean(word, known)
            fault.message = (
                f"{word} is unknown{hint}"
                if hint or len(known) > 9
                else f"it must be {', '.join(known[:-1])} or {known[-1]}, got {word}"
            )
            raise

    def _print_message(self, message: str, file: IO[str] | None = None) -> None:  # type: ignore[override]
        """argparse takes no notice of a disk that is full."""
        (file or sys.stderr).write(message)

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"bloomfilter: {visible(shown(message))} (see {self.prog} --help)\n")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches  # only where something is wrong

    near = get_close_matches(word, list(known), 1)
    return f"; did you mean {near[0]}?" if near else ""


# ---- numbers ----
SUFFIXES = {"": 0, "%": -2, "k": 3, "M": 6, "G": 9, "T": 12}  # powers of ten


def number(text: str) -> Fraction | None:
    """1000000, 1_000_000, 1e6, 2.5e6, 100M, 1k or 1%."""
    found = re.fullmatch(r"([+-]?(?!_)[\d_]*\.?\d+)(?:[eE]([+-]?\d{1,3}))?([%kMGT]?)", text)
    if not found:
        return None
    power = int(found[2] or 0) + SUFFIXES[found[3]]
    return Fraction(f"{found[1].replace('_', '')}e{power}")


def brief(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:40]}..."


def whole(text: str) -> int:
    """Its range is the library's business."""
    value = number(text)
    if value is None or value.denominator != 1 or "%" in text:
        raise argparse.ArgumentTypeError(
            f"a whole number is like 1000000, 1_000_000, 1e6, 100M or 1k, got {brief(text)}"
        )
    return value.numerator


def threads(text: str) -> int:
    """Refused here, before a command creates a filter."""
    value = whole(text)
    if not 0 <= value < 1 << 31:
        raise argparse.ArgumentTypeError(
            f"it must be 0 (one per processor) or a number of threads, got {brief(text)}"
        )
    return value


def real(text: str) -> float:
    value = number(text)
    try:
        return float(text) if value is None else float(value)
    except (ValueError, OverflowError):
        raise argparse.ArgumentTypeError(
            f"a number is like 0.01, 1e-6, 1% or 1k, got {brief(text)}"
        ) from None


def names(text: str) -> list[str]:
    found = [name for name in text.split(",") if name]
    if not found:
        raise argparse.ArgumentTypeError("names are like classic,block, got none")
    return found


# ---- the options: names, metavar ("": none), help, further arguments of add_argument ----
# fmt: off
OPTIONS: dict[str, tuple[str, str, str, dict[str, Any]]] = {
    "file": ("file", "FILE", "path or Redis URL of the filter", {}),
    "new file": ("file", "FILE", "path of the new filter, or redis://host/0?key=NAME", {}),
    "served": ("file", "FILE", "path or Redis URL of the filter to serve, or FOLDER/ (default: memory)", {"nargs": "?"}),
    "keyfiles": ("keyfiles", "KEYFILE", "files of keys, one per line, unchanged bytes; - or no file: standard input", {"nargs": "*", "default": []}),
    "studied": ("keyfile", "KEYFILE", "keys, one per line; - or no file: standard input; 30,558 generated URLs if that is a terminal or empty", {"nargs": "?"}),
    "plotted": ("keyfile", "KEYFILE", "keys, one per line (default: generated URLs)", {"nargs": "?"}),
    "in": ("input", "IN", "path, Redis URL, or - for standard input", {}),
    "out": ("output", "OUT", "path, Redis URL, or - for standard output; it must not exist", {}),
    "union": ("out", "OUT", "the filter that gets the keys of all others; created if it does not exist", {}),
    "target": ("file", "TARGET", "path or Redis URL of the filter", {}),
    "url": ("file", "URL", "Redis URL of the filter: redis://host/0?key=NAME", {}),
    "seconds": ("seconds", "SECONDS", "seconds until Redis deletes it; 0: never", {"type": real}),
    "united": ("inputs", "IN", "filters of the same kind, m, k, scheme and secret", {"nargs": "+"}),
    "plots": ("what", "WHAT", "k: rate against k; fill: rate against fill; bits: bits per key against p; growth: a filter while keys are added; all (default): all four",
              {"nargs": "?", "default": "all", "choices": PLOTS}),
    "shell": ("shell", "", "the shell whose script to print", {"choices": ["bash", "zsh", "fish"]}),
    "more": ("more", "-- OPTION", "everything after -- is passed to bloomfilterd unchanged", {"nargs": "*", "default": []}),
    "0": ("-0 --null", "", "keys end at a NUL byte instead of a line feed", {}),
    "0 both": ("-0 --null", "", "keys end at a NUL byte instead of a line feed, also in the output", {}),
    "hashes": ("--hashes", "", "the keys are hashed already: 16 hexadecimal digits per line, for a filter of scheme hashes64", {}),
    "binary": ("--binary", "", "with --hashes: 8 bytes per hash, little-endian, without separators", {}),
    "key threads": ("--threads", "COUNT", "threads that work on the keys; 0: one per processor (default 1)", {"type": threads, "default": 1}),
    "quiet": ("-q --quiet", "", "no summary and no progress bar", {}),
    "sync": ("--sync", "", "return only when everything is on disk and survives a power loss", {}),
    "exclusive": ("--exclusive", "", "be the only writer of the file while the command runs (faster); fails if another process writes to it", {}),
    "overfull": ("--overfull", "", "with more keys than the filter is sized for: warn (the default), raise (refuse keys, exit code 2) or ignore", {"choices": ["warn", "raise", "ignore"]}),
    "print new": ("--print", "", "print the keys that were surely new, or those seen before", {"choices": ["new", "seen"], "dest": "show"}),
    "print present": ("--print", "", "print the keys that are probably there, or surely not", {"choices": ["present", "absent"], "dest": "show"}),
    "print removed": ("--print", "", "print the keys that were removed, or the absent ones", {"choices": ["removed", "absent"], "dest": "show"}),
    "key": ("--key", "NAME", "the filter's name in Redis, if the URL does not contain it (?key=NAME)", {}),
    "secret": ("--secret-file", "FILE", "the secret of a keyed filter: a file of 16 bytes, or of 32 hexadecimal digits", {}),
    "n": ("-n", "KEYS", "number of keys that the filter is sized for", {"type": whole}),
    "p": ("-p", "RATE", "rate of false positives with that many keys, such as 0.01", {"type": real}),
    "m": ("-m", "BITS", "bits", {"type": whole}),
    "k": ("-k", "COUNT", "positions per key (default: the best number)", {"type": whole}),
    "scheme": ("--scheme", "NAME", "how a key becomes positions: classic, block, block2, hashes64 (keys are hashes), or an older system's", {}),
    "counting": ("--counting", "", "4-bit counters instead of bits: keys can be removed and counted", {}),
    "grow": ("--grow", "FACTOR", "grow past -n keys: each step multiplies the size by about this factor, such as 2", {"type": real}),
    "window": ("--window", "SECONDS", "forget keys after this many seconds", {"type": real}),
    "parts": ("--parts", "COUNT", "with --window: number of steps in which the filter forgets (default 4)", {"type": whole}),
    "shards": ("--shards", "COUNT", "equal slices, each a Redis key of its own (default 1, or as many as m needs)", {"type": whole}),
    "yes": ("-y --yes", "", "do not ask", {}),
    "plan picture": ("--plot", "FILE", "also draw the rate against the keys: .png, .svg or .pdf (needs matplotlib)", {"dest": "picture"}),
    "from": ("--from", "", "format of IN's bytes (default native)", {"choices": [*FORMATS, "cells"], "dest": "source", "default": "native"}),
    "to": ("--to", "", "format of OUT's bytes (default native)", {"choices": FORMATS, "dest": "target", "default": "native"}),
    "seed": ("--seed", "NUMBER", "seed for generated URLs (default 0)", {"type": whole, "default": 0}),
    "schemes": ("--schemes", "NAME,...", "schemes to compare, older systems' included (default classic,block,block2)", {"type": names, "default": ["classic", "block", "block2"]}),
    "confidence": ("--confidence", "SHARE", "confidence level of the intervals (default 0.95)", {"type": real, "default": 0.95}),
    "picture": ("-o --output", "FILE", "picture to write: .png, .svg or .pdf", {"required": True, "dest": "picture"}),
    "filter": ("--filter", "FILE", "growth: take the parameters of this filter and mark its present state", {}),
    "dpi": ("--dpi", "DOTS", "dots per inch of a .png (default 150)", {"type": whole, "default": 150}),
    "timed n": ("-n", "KEYS", "keys per measurement (default 1000000)", {"type": whole, "default": 1_000_000}),
    "timed p": ("-p", "RATE", "rate of false positives that the filters are sized for (default 0.01)", {"type": real, "default": 0.01}),
    "k-best": ("--k-best", "K", "smallest measurements that must agree (default 3)", {"type": whole, "default": 3}),
    "tolerance": ("--tolerance", "SHARE", "allowed difference between the smallest and the K-th measurement (default 0.02)", {"type": real, "default": 0.02}),
    "max": ("--max", "COUNT", "measurements after which it gives up (default 60)", {"type": whole, "default": 60, "dest": "most"}),
    "cold": ("--cold", "", "evict the processor's caches before each measurement", {}),
    "timed file": ("--file", "FILE", "also measure a mapped file, created under this name and removed again", {}),
    "host": ("--host", "HOST", "address to listen on (default 127.0.0.1)", {}),
    "port": ("--port", "PORT", "port to listen on (default 6381)", {"type": whole}),
    "token": ("--token", "TOKEN", "require the header Authorization: Bearer TOKEN", {}),
    "threads": ("--threads", "COUNT", "number of threads", {"type": whole}),
}
# fmt: on
SIZES = "n, p, m, k, scheme"
KINDS = "counting, grow, window, parts, shards"
FOREIGN = ("to open another system's bitmap in Redis", "scheme, m, k")
KEYS = "file, keyfiles, 0 both, quiet"
# Options of a command that stand under a heading of their own.
GROUPS = {
    "add": (
        "to create FILE, or (--scheme, -m, -k) to open another system's bitmap in Redis",
        f"{SIZES}, {KINDS}",
    ),
    "convert": ("parameters of raw bits; otherwise IN is checked against them", SIZES),
    **dict.fromkeys(["check", "remove", "count", "rebuild", "info", "merge"], FOREIGN),
}


# ---- the commands: MODULE:FUNCTION, help, options ----
# fmt: off
COMMANDS = {
    "create": ("filters:create", "create a filter; an existing one is never emptied", f"new file, {SIZES}, {KINDS}, key, secret"),
    "add": ("keys:add", "add keys from files or standard input", f"{KEYS}, print new, hashes, binary, key threads, sync, overfull, exclusive, key, secret"),
    "check": ("keys:check", "look up keys; exit code 0: all present, 1: some absent, 2: error", f"{KEYS}, print present, hashes, binary, key threads, key, secret"),
    "remove": ("keys:remove", "remove keys from a counting filter; remove only keys that were added", f"{KEYS}, print removed, sync, key, secret"),
    "count": ("keys:count", "print each key, a tab, and its count in a counting filter; 15 means 15 or more", f"{KEYS}, key, secret"),
    "rebuild": ("rebuild:rebuild", "replace all keys of a filter with these, in one step for every process that uses it", f"{KEYS}, overfull, exclusive, key, secret"),
    "info": ("filters:info", "print a filter's parameters and how full it is", "file, key, secret"),
    "merge": ("filters:merge", "unite filters into one", "union, united, exclusive, secret"),
    "convert": ("convert:convert", "copy a filter to another home, or to and from another system's format", "in, out, from, to, key, secret"),
    "adopt": ("care:adopt", "take over another system's bitmap in Redis; that system can continue to use it", "url, scheme, m, k, key"),
    "clear": ("care:clear", "remove all keys from a filter", "target, yes, key, secret"),
    "expire": ("care:expire", "let Redis delete a filter after some time", "url, seconds, key, secret"),
    "delete": ("care:delete", "delete a filter: its file, or its keys in Redis", "target, yes, key, secret"),
    "plan": ("plan:plan", "compute size and rates of a filter without creating it", f"{SIZES}, {KINDS}, plan picture"),
    "study": ("study:study", "compare measured false positives with theory, over m, n and k", "studied, 0, seed, schemes, confidence"),
    "plot": ("plot:plot", "plot what study measures (needs matplotlib)", "plots, plotted, 0, seed, picture, filter, dpi, confidence, key, secret"),
    "bench": ("bench:bench", "measure the time per key on this machine (K-best method)", "timed n, timed p, schemes, k-best, tolerance, max, cold, timed file"),
    "serve": ("serve:serve", "serve filters over HTTP: starts bloomfilterd", "served, host, port, token, threads, secret, n, p, m, more"),
    "completion": ("report:completion", "print a completion script for a shell", "shell"),
}
# What stands below a command's help; the tests run these, in this order.
EXAMPLES = {
    "create": ["create seen.bloom -n 1M -p 1%", "create online.bloom -n 1e5 -p 0.01 --counting", "create urls.bloom -n 1k -p 0.01 --grow 2", "create 'redis://127.0.0.1:6379/0?key=seen' -n 1M -p 1%"],
    "add": ["add seen.bloom keys.txt", "add seen.bloom --print new < keys.txt", "add new.bloom -n 1M -p 1% keys.txt", "add online.bloom keys.txt"],
    "check": ["check seen.bloom keys.txt", "check seen.bloom --print absent < keys.txt"],
    "remove": ["remove online.bloom keys.txt"],
    "count": ["count online.bloom keys.txt"],
    "rebuild": ["rebuild seen.bloom keys.txt"],
    "info": ["info seen.bloom", "info 'redis://127.0.0.1:6379/0?key=seen' --json"],
    "merge": ["merge all.bloom seen.bloom new.bloom"],
    "convert": ["convert seen.bloom copy.bloom", "convert seen.bloom seen.bits --to bits", "convert seen.bloom 'redis://127.0.0.1:6379/0?key=copy'"],
    "adopt": ["adopt 'redis://127.0.0.1:6379/0?key=old' --scheme gozero -m 20000"],
    "clear": ["clear seen.bloom --yes"],
    "expire": ["expire 'redis://127.0.0.1:6379/0?key=seen' 86400"],
    "delete": ["delete seen.bloom --yes", "delete 'redis://127.0.0.1:6379/0?key=seen' --yes"],
    "plan": ["plan -n 100M -p 1e-6", "plan -m 1G -n 100M --scheme classic", "plan -n 1M -p 1% --window 86400 --json"],
    "study": ["study keys.txt", "study --schemes classic,gozero,php-mt"],
    "plot": ["plot k -o k.png", "plot growth -o growth.svg --filter new.bloom"],
    "bench": ["bench -n 10k --schemes block", "bench -n 10k --schemes block --cold"],
    "serve": ["serve seen.bloom --port 6381", "serve filters/ -- --create"],
    "completion": ["completion bash"],
}
# fmt: on


def put(parser: Options, wanted: str) -> None:
    for name in wanted.split(", "):
        written, value, about, more = OPTIONS[name]
        if value:
            more = {"metavar": value, **more}
        elif "choices" not in more:
            more = {"action": "store_true"}
        parser.add_argument(*written.split(), help=about, **more)


def common(parser: Options, *, top: bool = False) -> None:
    default = False if top else argparse.SUPPRESS
    parser.add_argument(
        "--json", action="store_true", help="answer in JSON, for programs", default=default
    )
    version = f"bloomfilter {__version__}"
    parser.add_argument(
        "--version", action="version", version=version, help="print the version and exit"
    )


def build_parser() -> Parser:
    parser = Parser(
        prog="bloomfilter",
        description=ABOUT,
        epilog=EPILOG,
    )
    common(parser, top=True)
    commands = parser.add_subparsers(metavar="COMMAND", dest="command", parser_class=Parser)
    for name, (run, about, options) in COMMANDS.items():
        sub = commands.add_parser(
            name,
            help=about,
            description=about[0].upper() + about[1:] + ".",
            epilog="\n  bloomfilter ".join(["examples:", *EXAMPLES[name]]),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        put(sub, options)
        if name in GROUPS:
            heading, grouped = GROUPS[name]
            put(sub.add_argument_group(heading), grouped)
        common(sub)
        sub.set_defaults(run=run, exclusive=False)
        sub.leaf, sub.tail = True, name == "serve"
    parser.set_defaults(run=None)
    return parser
