"""The man page, made from the parser: scripts/gen-man writes it to docs/man/bloomfilter.1."""

from __future__ import annotations

import argparse

from .. import __version__
from .completion import subparsers
from .parser import ABOUT, COMMANDS, build_parser

HEAD = f""".\\" Made by scripts/gen-man from python-ext/bloomfilter/cli/parser.py and manpage.py; do not edit.
.TH BLOOMFILTER 1 "" "bloomfilter {__version__}" "User Commands"
.SH NAME
bloomfilter \\- make, fill, ask and study Bloom filters
.SH SYNOPSIS
.B bloomfilter
.I COMMAND
.RI [ OPTION ]...
.RI [ ARGUMENT ]...
"""

DESCRIPTION = [
    ABOUT,
    (
        "A filter is a file that any number of processes use at once, or a bitmap in Redis. Each command that takes FILE also "
        "takes a Redis URL: redis://[user:password@]host[:6379][/db]?key=NAME or unix:///path?key=NAME."
    ),
    (
        "Keys are bytes, one per line: a key is the bytes before the line feed, UTF-8 or not. An empty line is the "
        "empty key. The last line may lack its line feed. With -0 keys end at NUL bytes instead."
    ),
    (
        '"New" means surely new: at least one bit changed. "Seen" and "present" are only probable: a key that was never added is '
        "reported present with probability p. A key that was added is never reported absent."
    ),
    "Numbers may be written as 1000000, 1_000_000 or 1e6.",
]

TAIL = [
    (
        "EXIT STATUS",
        [
            "0: success; check: all keys are present. bench and study return 0 whatever they measure.",
            "1: check: at least one key is absent.",
            "2: an error; one line on standard error names it.",
            "130, 143: interrupted, or terminated. The filter keeps what was added, and the message says how many keys those are.",
            "141: the reader of the output ended. The filter keeps what was added.",
        ],
    ),
    (
        "FILES",
        [
            (
                "create and add never empty an existing filter: with the same parameters it is used, with others the command fails and "
                "names both. convert and bench never write to an existing file. No unfinished file is left behind."
            ),
            (
                "An add is in the file at once and survives the death of any process. After add --sync it survives a power loss. "
            ),
        ],
    ),
    (
        "ENVIRONMENT",
        ["BLOOMFILTER_TRACEBACK=1 shows where in the program a fault came from."],
    ),
]

EXAMPLES = [
    (
        "A filter for a million keys of which one in a hundred absent ones is taken for present:",
        "bloomfilter create seen.bloom -n 1e6 -p 0.01",
    ),
    (
        "Only the URLs not seen before, today or earlier:",
        "cat urls | bloomfilter add seen.bloom --print new",
    ),
    ("Are all of them there?", "bloomfilter check seen.bloom urls && echo yes"),
    (
        "One filter of those of several machines:",
        "bloomfilter merge all.bloom a.bloom b.bloom c.bloom",
    ),
    (
        "Into Redis, and from a filter that Guava wrote:",
        "bloomfilter convert seen.bloom 'redis://127.0.0.1/0?key=seen'\nbloomfilter convert --from guava java.bin seen.bloom",
    ),
    ("The classic study, and its picture:", "bloomfilter study\nbloomfilter plot k -o k.png"),
    ("Completion in bash:", 'eval "$(bloomfilter completion bash)"'),
]


def text(words: str) -> str:
    """Roff takes a leading dot or quote for a request, and a plain minus for a hyphen."""
    escaped = words.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + escaped if escaped[:1] in (".", "'") else escaped


def bold(words: str) -> str:
    return f"\\fB{text(words)}\\fR"


def italic(words: str) -> str:
    return f"\\fI{text(words)}\\fR"


def value_of(action: argparse.Action) -> str:
    if action.choices:
        return "|".join(str(choice) for choice in action.choices)
    return str(action.metavar or action.dest.upper())


def option(action: argparse.Action) -> str:
    value = "" if action.nargs == 0 else " " + italic(value_of(action))
    return ", ".join(bold(flag) for flag in action.option_strings) + value


def operand(action: argparse.Action) -> str:
    name = str(action.metavar or value_of(action))
    return {"*": f"[{name}]...", "+": f"{name}...", "?": f"[{name}]"}.get(str(action.nargs), name)


def entry(action: argparse.Action) -> str:
    name = (
        option(action) if action.option_strings else italic(str(action.metavar or value_of(action)))
    )
    if action.choices and not action.option_strings:
        name += " (" + ", ".join(bold(str(choice)) for choice in action.choices) + ")"
    return f".TP\n{name}\n{text((action.help or '').replace('%%', '%'))}\n"


def command(name: str, parser: argparse.ArgumentParser) -> str:
    actions = [a for a in parser._actions if a.dest not in ("help", "json", "version")]
    operands = " ".join(italic(operand(a)) for a in actions if not a.option_strings)
    about = COMMANDS[name][2]
    head = f".SS {bold('bloomfilter ' + name)} [{italic('OPTION')}]... {operands}\n{text(about[0].upper() + about[1:])}.\n"
    return head + "".join(entry(a) for a in actions)


def page() -> str:
    parser = build_parser()
    parts = [
        HEAD,
        ".SH DESCRIPTION\n",
        ".PP\n".join(text(words) + "\n" for words in DESCRIPTION),
        ".SH OPTIONS OF ALL COMMANDS\n",
    ]
    parts += [entry(a) for a in parser._actions if a.option_strings]
    parts += [".SH COMMANDS\n", *(command(name, sub) for name, sub in subparsers(parser).items())]
    for title, paragraphs in TAIL:
        parts += [f".SH {title}\n", ".PP\n".join(text(words) + "\n" for words in paragraphs)]
    parts.append(".SH EXAMPLES\n")
    examples = [
        f"{text(about)}\n.PP\n.RS\n.nf\n"
        + "".join(text(line) + "\n" for line in code.split("\n"))
        + ".fi\n.RE\n"
        for about, code in EXAMPLES
    ]
    parts.append(".PP\n".join(examples))
    parts.append(".SH SEE ALSO\n.BR bloomfilterd (8)\n")
    return "".join(parts)
