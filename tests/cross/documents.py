"""The code blocks and tables of the documents, for the tests that run them."""

import re

from conftest import ROOT


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
