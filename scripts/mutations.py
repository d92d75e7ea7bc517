"""mutations.py - the changes that scripts/mutate makes to a C source.  Knows tokens; knows neither
builds nor tests."""

import hashlib
import re

SKIPPED = re.compile(
    r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|^[ \t]*\#(?:[^\n\\]|\\.|\\\n)*""",
    re.S | re.M,
)
# What only prefetches, with the loop around it, and alignment.
SPEED = re.compile(
    r"""(?:^[ \t]*(?:for|if)\ \(.*\)\n)?^[ \t]*bf_prefetch\b.*;$
    |^.*\b(?:bf_prefetch|__builtin_prefetch|_Alignas|_Static_assert)\b.*$""",
    re.M | re.X,
)
OPERATORS = {
    "==": ["!="], "!=": ["=="], "<=": ["<"], ">=": [">"], "<": ["<=", ">="], ">": [">=", "<="], "&&": ["||"], "||": ["&&"],
    "+": ["-"], "-": ["+"], "*": ["+"], "/": ["*"], "%": ["/"], "<<": [">>"], ">>": ["<<"], "&": ["|"], "|": ["&"], "^": ["|"],
    "++": ["--"], "--": ["++"], "+=": ["-="], "-=": ["+="], "|=": ["&="], "&=": ["|="], "^=": ["|="], "<<=": [">>="], ">>=": ["<<="], "*=": ["+="],
}  # fmt: skip
OPERATOR = re.compile(r"<<=|>>=|->|\+\+|--|&&|\|\||[=!<>+\-*|&^]=|<<|>>|[-+*/%<>&|^]")
NUMBER = re.compile(r"(?<![\w.])(0[xX][0-9a-fA-F]+|\d+)(?=[uUlL]*\b)(?![\w.]*[.])")
CONDITION = re.compile(r"\b(if|while) \(")
STATEMENT = re.compile(
    r"^[ \t]+(?!return\b|goto\b|break\b|continue\b|case\b|else\b|default\b)(?:[\w>.()*\[\]+-]+ (?:[-+*|&^]|<<|>>)?= [^;{}]*|[\w.>-]+\([^;{}]*\)|[\w.>()\[\]-]+(?:\+\+|--));",
    re.M,
)
RETURN = re.compile(r"\breturn ([^;{}]+);")


def blank(text):
    """The same length, without comments, texts and what the preprocessor reads."""
    return SKIPPED.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)


def closing(text, at):
    depth = 0
    for i in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if not depth:
            return i
    return None


def changes(text):
    """(start, end, instead) of every change, but where only speed could tell."""
    code = SPEED.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), blank(text))
    for m in OPERATOR.finditer(code):
        before, after = code[: m.start()], code[m.end() :]
        binary = re.search(r"[\w)\]] $", before) and after.startswith(" ")
        if m[0] in ("++", "--") or binary or len(m[0]) > 1:
            yield from ((m.start(), m.end(), other) for other in OPERATORS.get(m[0], []))
    for m in NUMBER.finditer(code):
        value = int(m[1], 0) if not re.fullmatch(r"0\d+", m[1]) else int(m[1], 8)
        yield from ((m.start(), m.end(), str(n)) for n in {value + 1, max(value - 1, 0)} - {value})
    for m in CONDITION.finditer(code):
        end = closing(code, m.end() - 1)
        if end:
            yield m.end() - 1, end + 1, f"(!({text[m.end() : end]}))"
            yield m.end() - 1, end + 1, "(0)"
            if m[1] == "if":
                yield m.end() - 1, end + 1, "(1)"
    for m in re.finditer(r"(?<![\w)\]] )!(?=[\w(])", code):
        yield m.start(), m.end(), ""
    for m in re.finditer(r"\b(true|false)\b", code):
        yield m.start(), m.end(), {"true": "false", "false": "true"}[m[1]]
    for m in STATEMENT.finditer(code):
        start = m.start() + len(m[0]) - len(m[0].lstrip())
        yield start, m.end(), ";"
    for m in RETURN.finditer(code):
        yield from ((m.start(1), m.end(1), other) for other in ("0", "1") if m[1].strip() != other)


def code_of(text):
    """What stays the same where only comments change."""
    return hashlib.sha256(" ".join(blank(text).split()).encode()).hexdigest()[:16]


# How long a waiter sleeps, and what is fetched ahead of its use: lines, and whole functions.
WAITS = re.compile(r"\b(?:nanosleep|sched_yield)\(|\bfetch_(?:all|one|it)\(|[.>]fetch\(")
AHEAD = re.compile(
    r"\b(?:\w*fetch\w*|word_of|line_large)\("
)  # word_of is asked by prefetches alone
HEAD = re.compile(r"^(?!#)[A-Za-z][^;{}]*\)\n\{\n", re.M)


def only_speed(text, start):
    """No test could tell: not drawn again in its place, so that a sample stays the same."""
    first, last = text.rfind("\n", 0, start) + 1, text.find("\n", start)
    line, after = text[first:last], text[last + 1 :].partition("\n")[0]
    if WAITS.search(line) or (re.match(r"\s*(?:if|for) \(.*\{$", line) and WAITS.search(after)):
        return True
    head = next((m for m in reversed(list(HEAD.finditer(text, 0, start)))), None)
    inside = head and "\n}\n" not in text[head.end() : start]
    return bool(inside and AHEAD.search(head[0]))
