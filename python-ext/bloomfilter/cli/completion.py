"""The command completion: scripts for bash, zsh and fish, made from the parser.

eval "$(bloomfilter completion bash)"
"""

from __future__ import annotations

import argparse
from argparse import Namespace
from typing import NamedTuple

from .parser import COMMANDS, build_parser


class Option(NamedTuple):
    flags: list[str]
    help: str
    takes: bool  # a value
    choices: list[str]


def subparsers(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    (action,) = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    return dict(action.choices)


def options(parser: argparse.ArgumentParser) -> list[Option]:
    return [
        Option(
            list(a.option_strings),
            (a.help or "").replace("%%", "%"),
            a.nargs != 0,
            [str(c) for c in a.choices or []],
        )
        for a in parser._actions
        if a.option_strings
    ]


def words(parser: argparse.ArgumentParser) -> list[str]:
    """What its first argument may be, where that is a fixed set."""
    return [
        str(c)
        for a in parser._actions
        if not a.option_strings and a.choices and not isinstance(a, argparse._SubParsersAction)
        for c in a.choices
    ]


# ---- bash ----
def bash(parser: argparse.ArgumentParser) -> str:
    lines, cases, values = subparsers(parser), [], []
    for name, sub in lines.items():
        flags = [flag for option in options(sub) for flag in option.flags]
        cases.append(f"        {name}) words='{' '.join(flags)}' first='{' '.join(words(sub))}' ;;")
        values += [
            f"        {name}:{flag}) COMPREPLY=($(compgen -W '{' '.join(o.choices)}' -- \"$cur\")); return ;;"
            for o in options(sub)
            for flag in o.flags
            if o.choices
        ]
    free = sorted(
        {
            flag
            for sub in lines.values()
            for o in options(sub)
            for flag in o.flags
            if o.takes and not o.choices and not flag.endswith(("file", "filter", "output", "-o"))
        }
    )
    return BASH.format(
        commands=" ".join(lines),
        top=" ".join(f for o in options(parser) for f in o.flags),
        cases="\n".join(cases),
        values="\n".join(values),
        free=" | ".join(f"*:{flag}" for flag in free),
    )


BASH = """# bash completion for bloomfilter:  eval "$(bloomfilter completion bash)"
_bloomfilter() {{
    COMPREPLY=()
    local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} command= words= first= i
    for ((i = 1; i < COMP_CWORD; i++)); do
        [[ ${{COMP_WORDS[i]}} == -* ]] || {{ command=${{COMP_WORDS[i]}}; break; }}
    done
    if [[ -z $command ]]; then
        COMPREPLY=($(compgen -W '{commands} {top}' -- "$cur"))
        return
    fi
    case $command:$prev in
{values}
        {free}) return ;;
    esac
    case $command in
{cases}
    esac
    if [[ $cur == -* ]]; then
        COMPREPLY=($(compgen -W "$words" -- "$cur"))
    elif [[ -n $first && $prev == "$command" ]]; then
        COMPREPLY=($(compgen -W "$first" -- "$cur"))
    else
        COMPREPLY=($(compgen -f -- "$cur"))
    fi
}}
complete -o filenames -F _bloomfilter bloomfilter
"""


# ---- zsh ----
def quoted(text: str) -> str:
    """Inside a zsh _arguments specification within single quotes."""
    for special in ("\\", "[", "]", ":"):
        text = text.replace(special, "\\" + special)
    return text.replace("'", "'\\''")


def zsh_option(option: Option) -> list[str]:
    action = (
        f":value:({' '.join(option.choices)})"
        if option.choices
        else ":value:_files"
        if option.takes
        else ""
    )
    return [f"'{flag}[{quoted(option.help)}]{action}'" for flag in option.flags]


def zsh(parser: argparse.ArgumentParser) -> str:
    described = "\n".join(
        f"        '{name}:{quoted(about)}'" for name, (_, _, about) in COMMANDS.items()
    )
    cases = []
    for name, sub in subparsers(parser).items():
        specs = [spec for option in options(sub) for spec in zsh_option(option)]
        specs += [f"'1:what:({' '.join(words(sub))})'"] if words(sub) else []
        cases.append(f"        {name}) _arguments {' '.join(specs)} '*:file:_files' ;;")
    return ZSH.format(described=described, cases="\n".join(cases))


ZSH = """#compdef bloomfilter
# zsh completion for bloomfilter:  eval "$(bloomfilter completion zsh)", after compinit
_bloomfilter() {{
    local -a commands
    commands=(
{described}
    )
    if (( CURRENT == 2 )); then
        _describe command commands
        return
    fi
    local command=$words[2]
    shift words
    (( CURRENT-- ))
    case $command in
{cases}
    esac
}}
compdef _bloomfilter bloomfilter
"""


# ---- fish ----
def fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish_option(name: str, option: Option) -> str:
    flags = " ".join(
        f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in option.flags
    )
    value = (
        f" -x -a {fish_quoted(' '.join(option.choices))}"
        if option.choices
        else " -r"
        if option.takes
        else ""
    )
    return f"complete -c bloomfilter -n '__fish_seen_subcommand_from {name}' {flags}{value} -d {fish_quoted(option.help)}"


def fish(parser: argparse.ArgumentParser) -> str:
    lines = ["# fish completion for bloomfilter:  bloomfilter completion fish | source"]
    lines += [
        f"complete -c bloomfilter -n __fish_use_subcommand -f -a {name} -d {fish_quoted(about)}"
        for name, (_, _, about) in COMMANDS.items()
    ]
    for name, sub in subparsers(parser).items():
        lines += [fish_option(name, option) for option in options(sub)]
        lines += (
            [
                f"complete -c bloomfilter -n '__fish_seen_subcommand_from {name}' -a {fish_quoted(' '.join(words(sub)))}"
            ]
            if words(sub)
            else []
        )
    return "\n".join(lines) + "\n"


def completion(args: Namespace) -> int:
    print({"bash": bash, "zsh": zsh, "fish": fish}[args.shell](build_parser()), end="")
    return 0
