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

Options = argparse._ActionsContainer  # a parser, or a group of its options
ABOUT = 'Bloom filters: sets that answer "surely not" or "probably" in a few bits per key, in a file that processes share, or in Redis.'
EPILOG = "bloomfilter COMMAND --help explains a command; man bloomfilter all of them.  A name that begins with - follows --: bloomfilter check FILE -- -keys.txt"

# A row is an argument of a command:
#
#     --max most=COUNT whole 60 | its help     an option with its attribute, type and default
#     -q --quiet                | its help     a flag
#     keyfiles=KEYFILE*         | its help     an operand; ?, * and + as in argparse
#     [heading]                                the heading of the following rows
#     @name                                    the rows of that name
ROWS = {
    "json": "--json    | answer in JSON, for programs",
    "secret": "--secret-file FILE   | the secret of a keyed filter: a file of 16 bytes, or of 32 hexadecimal digits",
    "place": """
        --key NAME           | the filter's name in Redis, if the URL does not contain it (?key=NAME)
        @secret""",
    "sizes": """
        -n KEYS whole        | keys it is sized for
        -p RATE real         | rate of false positives at that many keys, such as 0.01
        -m BITS whole        | bits
        -k COUNT whole       | positions per key (default: the best number)
        --scheme NAME        | how a key becomes positions: classic, block, block2, or an older system's""",
    "kinds": """
        --counting           | 4-bit counters instead of bits: keys can be removed and counted
        --grow FACTOR real   | grow past -n keys: each part is this many times as large as the one before, such as 2
        --window SECONDS real | forget keys after this many seconds
        --parts COUNT whole  | steps in which a window forgets (default 4)""",
    "keys": """
        file=FILE            | path or Redis URL of the filter
        keyfiles=KEYFILE*    | files of keys, one per line, unchanged bytes; - or no file: standard input
        -0 --null            | keys end at a NUL byte instead of a line feed, also in the output
        -q --quiet           | no summary and no progress bar""",
    "sync": "--sync    | return only when everything is on disk and survives a power loss",
    "exclusive": "--exclusive    | be the only writer of a file while the command runs, which is faster; fails if another process writes to it",
    "sample": """
        -0 --null            | keys end at a NUL byte instead of a line feed
        --seed NUMBER whole 0 | seed for generated URLs (default 0)""",
    "schemes": "--schemes NAME,... names classic,block,block2    | default classic,block,block2",
    "confidence": "--confidence SHARE real 0.95    | confidence level of the intervals (default 0.95)",
}

# Of each command: the function that runs it, what it does, its rows.
COMMANDS = {
    "create": (
        "filters:create",
        "create a filter; an existing one is never emptied",
        """
        file=FILE            | path of the new filter, or redis://host/0?key=NAME
        @sizes @kinds @place""",
    ),
    "add": (
        "keys:add",
        "add keys from files or standard input",
        """
        @keys
        --print show={new,seen} | print the keys that were surely new, or those seen before
        @sync @exclusive
        [to create FILE if it does not exist]
        @sizes @kinds
        []
        @place""",
    ),
    "check": (
        "keys:check",
        "look up keys; exit code 0: all present, 1: some absent, 2: error",
        """
        @keys
        --print show={present,absent} | print the keys that are probably there, or surely not
        @place""",
    ),
    "remove": (
        "keys:remove",
        "remove keys from a counting filter; remove only keys that were added",
        """
        @keys
        --print show={removed,absent} | print the keys that were removed, or those that were not there
        @sync @place""",
    ),
    "count": (
        "keys:count",
        "print how often keys are in a counting filter: KEY, a tab, 0 to 15 (15 or more)",
        "@keys @place",
    ),
    "rebuild": (
        "rebuild:rebuild",
        "make a filter hold these keys and no others, at once, for everybody who uses it",
        "@keys @exclusive @place",
    ),
    "info": (
        "filters:info",
        "print a filter's parameters and how full it is",
        """
        file=FILE            | path or Redis URL of the filter
        @place""",
    ),
    "merge": (
        "filters:merge",
        "unite filters into one",
        """
        out=OUT              | the filter that gets the keys of all others; created if it does not exist
        inputs=IN+           | filters of the same kind, m, k, scheme and secret
        @exclusive @secret""",
    ),
    "convert": (
        "convert:convert",
        "copy a filter to another home, or to and from another system's format",
        """
        input=IN             | path, Redis URL, or - for standard input
        output=OUT           | path, Redis URL, or - for standard output; it must not exist
        --from source={native,guava,bits,bits-lsb,cells} native | format of IN's bytes (default native)
        --to target={native,guava,bits,bits-lsb} native | format of OUT's bytes (default native)
        [what bare bits do not tell, or what IN must be]
        @sizes
        []
        @place""",
    ),
    "study": (
        "study:study",
        "compare measured false positives with theory, over m, n and k",
        """
        keyfile=KEYFILE?     | keys, one per line; - or no file: standard input; 30,558 generated URLs if that is a terminal or empty
        @sample @schemes @confidence""",
    ),
    "plot": (
        "plot:plot",
        "plot what study measures (needs matplotlib)",
        """
        what={k,fill,bits,growth,all}? all | k: rate against k; fill: rate against fill; bits: bits per key against p; growth: a real filter while it fills up; all (default): the four
        keyfile=KEYFILE?     | keys, one per line (default: generated URLs)
        @sample
        -o --output FILE!    | picture to write: .png, .svg or .pdf
        --filter FILE        | growth: take the parameters of this filter and mark its present state
        --dpi DOTS whole 150 | dots per inch of a .png (default 150)
        @confidence @place""",
    ),
    "bench": (
        "bench:bench",
        "measure the time per key on this machine (K-best method)",
        """
        -n KEYS whole 1000000 | keys per measurement (default 1000000)
        -p RATE real 0.01    | rate of false positives that the filters are sized for (default 0.01)
        @schemes
        --k-best K whole 3   | smallest measurements that must agree (default 3)
        --tolerance SHARE real 0.02 | by how much the K-th may exceed the smallest (default 0.02)
        --max most=COUNT whole 60 | measurements after which it gives up (default 60)
        --file FILE          | also measure a mapped file, created under this name and removed again""",
    ),
    "serve": (
        "serve:serve",
        "serve filters over HTTP: starts bloomfilterd",
        """
        file=FILE?           | path or Redis URL of the filter to serve (default: memory)
        --host HOST          | address to listen on (default 127.0.0.1)
        --port PORT whole    | port to listen on (default 6381)
        --token TOKEN        | ask for Authorization: Bearer TOKEN
        --threads COUNT whole | threads that answer
        @secret
        -n KEYS whole        | keys it is sized for
        -p RATE real         | rate of false positives at that many keys
        -m BITS whole        | bits
        more=--_OPTION*      | everything after -- is passed to bloomfilterd unchanged""",
    ),
    "completion": (
        "report:completion",
        "print a completion script for a shell",
        "shell={bash,zsh,fish} | the shell whose script to print",
    ),
}


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


TYPES = {"whole": whole, "real": real, "names": names}


# ---- rows as argparse's arguments ----
def add_row(parser: Options, row: str, **more: Any) -> None:
    spec, _, about = row.partition(" | ")
    words = spec.split()
    flags = [word for word in words if word[0] == "-"]
    value, kind, default = [*words[len(flags) :], "", "", ""][:3]
    if not value:
        parser.add_argument(*flags, action="store_true", help=about.strip(), **more)
        return
    if kind not in TYPES:
        kind, default = "", kind
    name, _, shown = value.rpartition("=")
    if shown[-1] in "?*+":
        more["nargs"] = shown[-1]
    if shown[-1] == "!":
        more["required"] = True
    shown = shown.rstrip("?*+!").replace("_", " ")
    if shown[0] == "{":
        more["choices"] = shown[1:-1].split(",")
    else:
        more["metavar"] = shown
    if name and flags:
        more["dest"] = name
    if kind:
        more["type"] = TYPES[kind]
    if default:
        more["default"] = default
    parser.add_argument(*flags or [name], help=about.strip(), **more)


def add_rows(parser: Options, rows: str) -> None:
    group = parser
    for row in rows.strip().splitlines():
        row = row.strip()
        if row[0] == "[":
            group = parser.add_argument_group(row[1:-1]) if row != "[]" else parser
        elif row[0] == "@":
            for name in row.split():
                add_rows(group, ROWS[name[1:]])
        else:
            add_row(group, row)


def add_common(parser: Options, **default: Any) -> None:
    add_row(parser, ROWS["json"], **default)
    version = f"bloomfilter {__version__}"
    parser.add_argument(
        "--version", action="version", version=version, help="print the version and exit"
    )


def build_parser() -> Parser:
    parser = Parser(prog="bloomfilter", description=ABOUT, epilog=EPILOG)
    add_common(parser)
    commands = parser.add_subparsers(
        metavar="COMMAND", dest="command", required=True, parser_class=Parser
    )
    for name, (run, about, rows) in COMMANDS.items():
        sub = commands.add_parser(name, help=about, description=about[0].upper() + about[1:] + ".")
        add_rows(sub, rows)
        add_common(sub, default=argparse.SUPPRESS)
        sub.set_defaults(run=run)
        sub.leaf, sub.tail = True, name == "serve"
    return parser
