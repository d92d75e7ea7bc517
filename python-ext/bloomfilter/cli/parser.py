"""Commands, options and their help.  scripts/gen-cli makes the completion scripts and the manual page
from it.

Knows which module runs a command; knows nothing of what it does.
"""

from __future__ import annotations

import argparse
import sys
import re
from typing import IO, Any, NoReturn

from .. import __version__
from .faults import shown, visible

ABOUT = 'Bloom filters: sets that answer "surely not" or "probably" in a few bits per key, in a file that processes share, or in Redis.'
EPILOG = "bloomfilter COMMAND --help explains a command; man bloomfilter all of them.  A name that begins with - follows --: bloomfilter check FILE -- -keys.txt"
FORMATS = ["native", "guava", "bits", "bits-lsb"]
Options = argparse._ActionsContainer  # a parser, or a group of its options
PLOTS = ["k", "fill", "bits", "growth", "all"]


class Parser(argparse.ArgumentParser):
    """Errors are one line."""

    leaf = False  # the parser of a command: options and operands in any order
    tail = False  # bloomfilterd gets the arguments after --

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def]
        if not self.leaf:
            return super().parse_known_args(args, namespace)
        at = args.index("--") if "--" in args else len(args)
        args, rest = args[:at], args[at + 1 :]
        if not self.tail:  # ./-name is the file -name, and no option
            args += ["./" + name if name[:1] == "-" and name != "-" else name for name in rest]
        self.leaf = False  # the next call calls this function
        try:
            found, unknown = self.parse_known_intermixed_args(args, namespace)
        finally:
            self.leaf = True
        if self.tail:
            found.more = rest
        return found, unknown

    def _print_message(self, message: str, file: IO[str] | None = None) -> None:  # type: ignore[override]
        """argparse takes no notice of a disk that is full."""
        (file or sys.stderr).write(message)

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"bloomfilter: {visible(shown(message))} (see {self.prog} --help)\n")


def whole(text: str) -> int:
    """1000000, 1_000_000, 1e6 or 2.5e6; its range is the library's business."""
    if re.fullmatch(r"[+-]?\d[\d_]*", text):
        return int(text)
    found = re.fullmatch(r"(\d+)(?:\.(\d+))?[eE]\+?(\d{1,3})", text)
    if found and len(found[2] or "") <= int(found[3]):
        return int(found[1] + (found[2] or "") + "0" * (int(found[3]) - len(found[2] or "")))
    raise argparse.ArgumentTypeError(
        f"a whole number is like 1000000, 1_000_000 or 1e6, got {text}"
    )


def real(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"a number is like 0.01 or 1e-6, got {text}") from None


def names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


# ---- the options: how each is written, what it takes ("": nothing, or its choices), its help, what argparse needs beside ----
# fmt: off
OPTIONS: dict[str, tuple[str, str, str, dict[str, Any]]] = {
    "file": ("file", "FILE", "path or Redis URL of the filter", {}),
    "new file": ("file", "FILE", "path of the new filter, or redis://host/0?key=NAME", {}),
    "served": ("file", "FILE", "path or Redis URL of the filter to serve (default: memory)", {"nargs": "?"}),
    "keyfiles": ("keyfiles", "KEYFILE", "files of keys, one per line, unchanged bytes; - or no file: standard input", {"nargs": "*"}),
    "studied": ("keyfile", "KEYFILE", "keys, one per line; - or no file: standard input; 30,558 generated URLs if that is a terminal or empty", {"nargs": "?"}),
    "plotted": ("keyfile", "KEYFILE", "keys, one per line (default: generated URLs)", {"nargs": "?"}),
    "in": ("input", "IN", "path, Redis URL, or - for standard input", {}),
    "out": ("output", "OUT", "path, Redis URL, or - for standard output; it must not exist", {}),
    "union": ("out", "OUT", "the filter that gets the keys of all others; created if it does not exist", {}),
    "united": ("inputs", "IN", "filters of the same kind, m, k, scheme and secret", {"nargs": "+"}),
    "plots": ("what", "WHAT", "k: rate against k; fill: rate against fill; bits: bits per key against p; growth: a real filter while it fills up; all (default): the four",
              {"nargs": "?", "default": "all", "choices": PLOTS}),
    "shell": ("shell", "", "the shell whose script to print", {"choices": ["bash", "zsh", "fish"]}),
    "more": ("more", "-- OPTION", "everything after -- is passed to bloomfilterd unchanged", {"nargs": "*"}),
    "0": ("-0 --null", "", "keys end at a NUL byte instead of a line feed", {}),
    "0 both": ("-0 --null", "", "keys end at a NUL byte instead of a line feed, also in the output", {}),
    "quiet": ("-q --quiet", "", "no summary and no progress bar", {}),
    "sync": ("--sync", "", "return only when everything is on disk and survives a power loss", {}),
    "exclusive": ("--exclusive", "", "be the only writer of a file while the command runs, which is faster; fails if another process writes to it", {}),
    "overfull": ("--overfull", "", "with more keys than the filter is sized for: warn (the default), raise (refuse keys, exit code 2) or ignore", {"choices": ["warn", "raise", "ignore"]}),
    "print new": ("--print", "", "print the keys that were surely new, or those seen before", {"choices": ["new", "seen"], "dest": "show"}),
    "print present": ("--print", "", "print the keys that are probably there, or surely not", {"choices": ["present", "absent"], "dest": "show"}),
    "print removed": ("--print", "", "print the keys that were removed, or those that were not there", {"choices": ["removed", "absent"], "dest": "show"}),
    "key": ("--key", "NAME", "the filter's name in Redis, if the URL does not contain it (?key=NAME)", {}),
    "secret": ("--secret-file", "FILE", "the secret of a keyed filter: a file of 16 bytes, or of 32 hexadecimal digits", {}),
    "n": ("-n", "KEYS", "keys it is sized for", {"type": whole}),
    "p": ("-p", "RATE", "rate of false positives at that many keys, such as 0.01", {"type": real}),
    "m": ("-m", "BITS", "bits", {"type": whole}),
    "k": ("-k", "COUNT", "positions per key (default: the best number)", {"type": whole}),
    "scheme": ("--scheme", "NAME", "how a key becomes positions: classic, block, block2, or an older system's", {}),
    "counting": ("--counting", "", "4-bit counters instead of bits: keys can be removed and counted", {}),
    "grow": ("--grow", "FACTOR", "grow past -n keys: each part is this many times as large as the one before, such as 2", {"type": real}),
    "window": ("--window", "SECONDS", "forget keys after this many seconds", {"type": real}),
    "parts": ("--parts", "COUNT", "steps in which a window forgets (default 4)", {"type": whole}),
    "from": ("--from", "", "format of IN's bytes (default native)", {"choices": [*FORMATS, "cells"], "dest": "source", "default": "native"}),
    "to": ("--to", "", "format of OUT's bytes (default native)", {"choices": FORMATS, "dest": "target", "default": "native"}),
    "seed": ("--seed", "NUMBER", "seed for generated URLs (default 0)", {"type": whole, "default": 0}),
    "schemes": ("--schemes", "NAME,...", "default classic,block,block2", {"type": names, "default": ["classic", "block", "block2"]}),
    "confidence": ("--confidence", "SHARE", "confidence level of the intervals (default 0.95)", {"type": real, "default": 0.95}),
    "picture": ("-o --output", "FILE", "picture to write: .png, .svg or .pdf", {"required": True}),
    "filter": ("--filter", "FILE", "growth: take the parameters of this filter and mark its present state", {}),
    "dpi": ("--dpi", "DOTS", "dots per inch of a .png (default 150)", {"type": whole, "default": 150}),
    "timed n": ("-n", "KEYS", "keys per measurement (default 1000000)", {"type": whole, "default": 1_000_000}),
    "timed p": ("-p", "RATE", "rate of false positives that the filters are sized for (default 0.01)", {"type": real, "default": 0.01}),
    "k-best": ("--k-best", "K", "smallest measurements that must agree (default 3)", {"type": whole, "default": 3}),
    "tolerance": ("--tolerance", "SHARE", "by how much the K-th may exceed the smallest (default 0.02)", {"type": real, "default": 0.02}),
    "max": ("--max", "COUNT", "measurements after which it gives up (default 60)", {"type": whole, "default": 60, "dest": "most"}),
    "timed file": ("--file", "FILE", "also measure a mapped file, created under this name and removed again", {}),
    "host": ("--host", "HOST", "address to listen on (default 127.0.0.1)", {}),
    "port": ("--port", "PORT", "port to listen on (default 6381)", {"type": whole}),
    "token": ("--token", "TOKEN", "ask for Authorization: Bearer TOKEN", {}),
    "threads": ("--threads", "COUNT", "threads that answer", {"type": whole}),
}
# fmt: on
SIZES = "n, p, m, k, scheme"
KINDS = "counting, grow, window, parts"
KEYS = "file, keyfiles, 0 both, quiet"
# Options of a command that stand under a heading of their own.
GROUPS = {
    "add": ("to create FILE if it does not exist", f"{SIZES}, {KINDS}"),
    "convert": ("what bare bits do not tell, or what IN must be", SIZES),
}


# ---- the commands: MODULE:FUNCTION, help, options ----
# fmt: off
COMMANDS = {
    "create": ("filters:create", "create a filter; an existing one is never emptied", f"new file, {SIZES}, {KINDS}, key, secret"),
    "add": ("keys:add", "add keys from files or standard input", f"{KEYS}, print new, sync, overfull, exclusive, key, secret"),
    "check": ("keys:check", "look up keys; exit code 0: all present, 1: some absent, 2: error", f"{KEYS}, print present, key, secret"),
    "remove": ("keys:remove", "remove keys from a counting filter; remove only keys that were added", f"{KEYS}, print removed, sync, key, secret"),
    "count": ("keys:count", "print how often keys are in a counting filter: KEY, a tab, 0 to 15 (15 or more)", f"{KEYS}, key, secret"),
    "rebuild": ("rebuild:rebuild", "make a filter hold these keys and no others, at once, for everybody who uses it", f"{KEYS}, overfull, exclusive, key, secret"),
    "info": ("filters:info", "print a filter's parameters and how full it is", "file, key, secret"),
    "merge": ("filters:merge", "unite filters into one", "union, united, exclusive, secret"),
    "convert": ("convert:convert", "copy a filter to another home, or to and from another system's format", "in, out, from, to, key, secret"),
    "study": ("study:study", "compare measured false positives with theory, over m, n and k", "studied, 0, seed, schemes, confidence"),
    "plot": ("plot:plot", "plot what study measures (needs matplotlib)", "plots, plotted, 0, seed, picture, filter, dpi, confidence, key, secret"),
    "bench": ("bench:bench", "measure the time per key on this machine (K-best method)", "timed n, timed p, schemes, k-best, tolerance, max, timed file"),
    "serve": ("serve:serve", "serve filters over HTTP: starts bloomfilterd", "served, host, port, token, threads, secret, n, p, m, more"),
    "completion": ("report:completion", "print a completion script for a shell", "shell"),
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
    commands = parser.add_subparsers(
        metavar="COMMAND", dest="command", required=True, parser_class=Parser
    )
    for name, (run, about, options) in COMMANDS.items():
        sub = commands.add_parser(name, help=about, description=about[0].upper() + about[1:] + ".")
        put(sub, options)
        if name in GROUPS:
            heading, grouped = GROUPS[name]
            put(sub.add_argument_group(heading), grouped)
        common(sub)
        sub.set_defaults(run=run, exclusive=False)
        sub.leaf, sub.tail = True, name == "serve"
    return parser
