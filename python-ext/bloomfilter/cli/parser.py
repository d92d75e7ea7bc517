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
FORMATS = ["native", "guava", "bits", "bits-lsb"]
Options = argparse._ActionsContainer  # a parser, or a group of its options
PLOTS = ["k", "fill", "bits", "growth", "all"]


class Parser(argparse.ArgumentParser):
    """A fault is one line."""

    leaf = False  # a command: options after the first KEYFILE, KEYFILEs after an option
    tail = False  # what follows -- is somebody else's

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def]
        if not self.leaf:
            return super().parse_known_args(args, namespace)
        rest = args[args.index("--") + 1 :] if self.tail and "--" in args else None
        self.leaf = False  # the next call calls this function
        try:
            found, unknown = self.parse_known_intermixed_args(
                args if rest is None else args[: -len(rest) - 1], namespace
            )
        finally:
            self.leaf = True
        if rest is not None:
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


# ---- options that several commands have ----
def flag(parser: Options, *names: str, about: str, **more: Any) -> None:
    parser.add_argument(*names, action="store_true", help=about, **more)


def common(parser: Options, *, top: bool = False) -> None:
    default = False if top else argparse.SUPPRESS
    flag(parser, "--json", about="answer in JSON, for programs", default=default)
    version = f"bloomfilter {__version__}"
    parser.add_argument(
        "--version", action="version", version=version, help="print the version and exit"
    )


def place(parser: Options) -> None:
    parser.add_argument(
        "--key",
        metavar="NAME",
        help="the filter's name in Redis, if the URL does not contain it (?key=NAME)",
    )
    secret(parser)


def secret(parser: Options) -> None:
    parser.add_argument(
        "--secret-file",
        metavar="FILE",
        help="the secret of a keyed filter: a file of 16 bytes, or of 32 hexadecimal digits",
    )


def keys_and_rate(parser: Options, rate: str) -> None:
    parser.add_argument("-n", type=whole, metavar="KEYS", help="keys it is sized for")
    parser.add_argument("-p", type=real, metavar="RATE", help=rate)
    parser.add_argument("-m", type=whole, metavar="BITS", help="bits")


def sizes(parser: Options) -> None:
    keys_and_rate(parser, "rate of false positives at that many keys, such as 0.01")
    parser.add_argument(
        "-k", type=whole, metavar="COUNT", help="positions per key (default: the best number)"
    )
    parser.add_argument(
        "--scheme",
        metavar="NAME",
        help="how a key becomes positions: classic, block, block2, or an older system's",
    )


def kinds(parser: Options) -> None:
    about = "4-bit counters instead of bits: keys can be removed and counted"
    flag(parser, "--counting", about=about)
    parser.add_argument(
        "--grow",
        type=real,
        metavar="FACTOR",
        help="grow past -n keys: each part is this many times as large as the one before, such as 2",
    )
    parser.add_argument(
        "--window", type=real, metavar="SECONDS", help="forget keys after this many seconds"
    )
    parser.add_argument(
        "--parts", type=whole, metavar="COUNT", help="steps in which a window forgets (default 4)"
    )


def separator(parser: Options, more: str = "") -> None:
    flag(parser, "-0", "--null", about="keys end at a NUL byte instead of a line feed" + more)


def sample(parser: Options, about: str) -> None:
    """One file of keys, or generated URLs."""
    parser.add_argument("keyfile", nargs="?", metavar="KEYFILE", help=about)
    separator(parser)
    about = "seed for generated URLs (default 0)"
    parser.add_argument("--seed", type=whole, default=0, metavar="NUMBER", help=about)


def schemes(parser: Options) -> None:
    parser.add_argument(
        "--schemes",
        type=names,
        default=["classic", "block", "block2"],
        metavar="NAME,...",
        help="default classic,block,block2",
    )


def keys_of(parser: Options) -> None:
    """What the commands that go through keys begin with."""
    stored(parser)
    parser.add_argument(
        "keyfiles",
        nargs="*",
        metavar="KEYFILE",
        help="files of keys, one per line, unchanged bytes; - or no file: standard input",
    )
    separator(parser, ", also in the output")
    flag(parser, "-q", "--quiet", about="no summary and no progress bar")


def stored(parser: Options) -> None:
    parser.add_argument("file", metavar="FILE", help="path or Redis URL of the filter")


def show(parser: Options, one: str, other: str, about: str) -> None:
    parser.add_argument("--print", choices=[one, other], dest="show", help=about)


def sync(parser: Options) -> None:
    about = "return only when everything is on disk and survives a power loss"
    flag(parser, "--sync", about=about)


def exclusive(parser: Options) -> None:
    flag(
        parser,
        "--exclusive",
        about="be the only writer of a file while the command runs, which is faster; fails if another process writes to it",
    )


def confidence(parser: Options) -> None:
    about = "confidence level of the intervals (default 0.95)"
    parser.add_argument("--confidence", type=real, default=0.95, metavar="SHARE", help=about)


# ---- the commands ----
def create(p: Options) -> None:
    p.set_defaults(exclusive=False)
    p.add_argument(
        "file", metavar="FILE", help="path of the new filter, or redis://host/0?key=NAME"
    )
    sizes(p)
    kinds(p)
    place(p)


def add(p: Options) -> None:
    keys_of(p)
    show(p, "new", "seen", "print the keys that were surely new, or those seen before")
    sync(p)
    exclusive(p)
    new = p.add_argument_group("to create FILE if it does not exist")
    sizes(new)
    kinds(new)
    place(p)


def check(p: Options) -> None:
    keys_of(p)
    show(p, "present", "absent", "print the keys that are probably there, or surely not")
    place(p)


def remove(p: Options) -> None:
    keys_of(p)
    show(p, "removed", "absent", "print the keys that were removed, or those that were not there")
    sync(p)
    place(p)


def count(p: Options) -> None:
    keys_of(p)
    place(p)


def rebuild(p: Options) -> None:
    keys_of(p)
    exclusive(p)
    place(p)


def info(p: Options) -> None:
    stored(p)
    place(p)


def merge(p: Options) -> None:
    p.add_argument(
        "out",
        metavar="OUT",
        help="the filter that gets the keys of all others; created if it does not exist",
    )
    p.add_argument(
        "inputs", nargs="+", metavar="IN", help="filters of the same kind, m, k, scheme and secret"
    )
    exclusive(p)
    secret(p)


def convert(p: Options) -> None:
    p.add_argument("input", metavar="IN", help="path, Redis URL, or - for standard input")
    p.add_argument(
        "output",
        metavar="OUT",
        help="path, Redis URL, or - for standard output; it must not exist",
    )
    p.add_argument(
        "--from",
        choices=[*FORMATS, "cells"],
        dest="source",
        default="native",
        help="format of IN's bytes (default native)",
    )
    p.add_argument(
        "--to",
        choices=FORMATS,
        dest="target",
        default="native",
        help="format of OUT's bytes (default native)",
    )
    sizes(p.add_argument_group("what bare bits do not tell, or what IN must be"))
    place(p)


def study(p: Options) -> None:
    sample(
        p,
        "keys, one per line; - or no file: standard input; 30,558 generated URLs if that is a terminal or empty",
    )
    schemes(p)
    confidence(p)


def plot(p: Options) -> None:
    p.add_argument(
        "what",
        nargs="?",
        default="all",
        choices=PLOTS,
        metavar="WHAT",
        help="k: rate against k; fill: rate against fill; bits: bits per key against p; growth: a real filter while it fills up; all (default): the four",
    )
    sample(p, "keys, one per line (default: generated URLs)")
    p.add_argument(
        "-o", "--output", required=True, metavar="FILE", help="picture to write: .png, .svg or .pdf"
    )
    p.add_argument(
        "--filter",
        metavar="FILE",
        help="growth: take the parameters of this filter and mark its present state",
    )
    p.add_argument(
        "--dpi",
        type=whole,
        default=150,
        metavar="DOTS",
        help="dots per inch of a .png (default 150)",
    )
    confidence(p)
    place(p)


def bench(p: Options) -> None:
    p.add_argument(
        "-n",
        type=whole,
        default=1_000_000,
        metavar="KEYS",
        help="keys per measurement (default 1000000)",
    )
    p.add_argument(
        "-p",
        type=real,
        default=0.01,
        metavar="RATE",
        help="rate of false positives that the filters are sized for (default 0.01)",
    )
    schemes(p)
    p.add_argument(
        "--k-best",
        type=whole,
        default=3,
        metavar="K",
        help="smallest measurements that must agree (default 3)",
    )
    p.add_argument(
        "--tolerance",
        type=real,
        default=0.02,
        metavar="SHARE",
        help="by how much the K-th may exceed the smallest (default 0.02)",
    )
    p.add_argument(
        "--max",
        type=whole,
        default=60,
        dest="most",
        metavar="COUNT",
        help="measurements after which it gives up (default 60)",
    )
    p.add_argument(
        "--file",
        metavar="FILE",
        help="also measure a mapped file, created under this name and removed again",
    )


def serve(p: Options) -> None:
    p.add_argument(
        "file",
        nargs="?",
        metavar="FILE",
        help="path or Redis URL of the filter to serve (default: memory)",
    )
    p.add_argument("--host", help="address to listen on (default 127.0.0.1)")
    p.add_argument("--port", type=whole, help="port to listen on (default 6381)")
    p.add_argument("--token", help="ask for Authorization: Bearer TOKEN")
    p.add_argument("--threads", type=whole, metavar="COUNT", help="threads that answer")
    secret(p)
    keys_and_rate(p, "rate of false positives at that many keys")
    p.add_argument(
        "more",
        nargs="*",
        metavar="-- OPTION",
        help="everything after -- is passed to bloomfilterd unchanged",
    )


def completion(p: Options) -> None:
    p.add_argument("shell", choices=["bash", "zsh", "fish"], help="the shell whose script to print")


COMMANDS = {
    "create": (create, "filters:create", "create a filter; an existing one is never emptied"),
    "add": (add, "keys:add", "add keys from files or standard input"),
    "check": (
        check,
        "keys:check",
        "look up keys; exit code 0: all present, 1: some absent, 2: error",
    ),
    "remove": (
        remove,
        "keys:remove",
        "remove keys from a counting filter; remove only keys that were added",
    ),
    "count": (
        count,
        "keys:count",
        "print how often keys are in a counting filter: KEY, a tab, 0 to 15 (15 or more)",
    ),
    "rebuild": (
        rebuild,
        "rebuild:rebuild",
        "make a filter hold these keys and no others, at once, for everybody who uses it",
    ),
    "info": (info, "filters:info", "print a filter's parameters and how full it is"),
    "merge": (merge, "filters:merge", "unite filters into one"),
    "convert": (
        convert,
        "convert:convert",
        "copy a filter to another home, or to and from another system's format",
    ),
    "study": (
        study,
        "study:study",
        "compare measured false positives with theory, over m, n and k",
    ),
    "plot": (plot, "plot:plot", "plot what study measures (needs matplotlib)"),
    "bench": (bench, "bench:bench", "measure the time per key on this machine (K-best method)"),
    "serve": (serve, "serve:serve", "serve filters over HTTP: starts bloomfilterd"),
    "completion": (completion, "report:completion", "print a completion script for a shell"),
}


def build_parser() -> Parser:
    parser = Parser(
        prog="bloomfilter",
        description=ABOUT,
        epilog="bloomfilter COMMAND --help explains a command; man bloomfilter all of them.",
    )
    common(parser, top=True)
    commands = parser.add_subparsers(
        metavar="COMMAND", dest="command", required=True, parser_class=Parser
    )
    for name, (options, run, about) in COMMANDS.items():
        sub = commands.add_parser(name, help=about, description=about[0].upper() + about[1:] + ".")
        options(sub)
        common(sub)
        sub.set_defaults(run=run)
        sub.leaf, sub.tail = True, name == "serve"
    return parser
