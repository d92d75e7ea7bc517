"""The code blocks and tables of the documents, for the tests that run them.

An answer beside an expression must hold: `expression   # answer: why` in Python, `expression;   //
answer: why` in PHP; in a translation the colon may be a Chinese one."""

import ast
import re

from products import ROOT, run


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(name, language):
    """The fenced blocks of one language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text_of(name), flags=re.S | re.M)


def languages(name):
    return re.findall(r"^```(\w+)$", text_of(name), flags=re.M)


def table_rows(name, heading):
    """The rows of the first table that has this column heading, as lists of cells."""
    lines = text_of(name).splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("|") and heading in line)
    rows = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def all_blocks(name):
    """(language, code) of every fenced block, in order."""
    return re.findall(r"^```(\w+)\n(.*?)^```$", text_of(name), flags=re.S | re.M)


# ---- answers ----
PHP_ANSWER = re.compile(r"^(.+);\s+// (true|false|\d+|\[.*\])(?:[:：].*)?$")
PHP_CHECK = """<?php
function check(mixed $got, mixed $expected): void {
    if ($got !== $expected) throw new Exception('says ' . json_encode($expected) . ', got ' . json_encode($got));
}
"""


def php_with_checks(code):
    return "\n".join(PHP_ANSWER.sub(r"check(\1, \2);", line) for line in code.splitlines())


def python_with_checks(code):
    """Bare expressions with a comment that begins with a literal become comparisons: pairs in the
    list `answers`."""
    lines = code.splitlines()
    for node in ast.parse(code).body:
        comment = lines[node.end_lineno - 1][node.end_col_offset :].strip()
        answer = re.match(r'# (True|False|\d+|"\w+")(?=\W|$)', comment)
        if isinstance(node, ast.Expr) and answer:
            lines[node.lineno - 1] = f"answers.append(({ast.unparse(node)}, {answer[1]}))"
    return "answers = []\n" + "\n".join(lines)


FILE = re.compile(r"(?:<\?php )?(?://|#|/\*) (\w+\.(?:py|php|c))\b")
CHECKED = {
    "php": php_with_checks,
    "python": python_with_checks,
    "sh": lambda code: re.sub(r"# (ok|true|false|\d+)\b.*", r"; \1", code),
}


def same_code(original, translation):
    """A translation leaves all that runs or is compared: the name of a file, code, answers.  So it is
    enough to run the original."""
    here, there = all_blocks(original), all_blocks(translation)
    assert [language for language, _ in here] == [language for language, _ in there]
    for (language, code), (_, other) in zip(here, there):
        names = [found and found[1] for found in map(FILE.match, (code, other))]
        assert names[0] == names[1]
        checked = CHECKED.get(language, str)
        assert without_comments(checked(code)) == without_comments(checked(other)), language


def without_comments(code):
    """Everything but comments and blanks."""
    lines = (re.sub(r"(?:^|\s+)(?:#|//|/\*).*$", "", line) for line in code.splitlines())
    return [" ".join(line.split()) for line in lines if line.strip()]


def run_python(code, names):
    """Runs a block in names; how many answers were compared."""
    exec(compile(python_with_checks(code), "a block", "exec"), names)
    for got, expected in names["answers"]:
        assert (type(got), got) == (type(expected), expected)
    return len(names["answers"])


def shell(script, cwd, env=None):
    """What commands print, which must succeed; they have no input."""
    return run(["bash", "-euo", "pipefail", "-c", script], cwd=cwd, env=env, text=True)
