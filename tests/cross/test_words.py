"""scripts/prose: each fault that it looks for is found, and good text is left alone."""

import importlib.machinery
import importlib.util
import re

import bloomfilter
import pytest
from products import ROOT

LOADER = importlib.machinery.SourceFileLoader("prose", str(ROOT / "scripts" / "prose"))
prose = importlib.util.module_from_spec(importlib.util.spec_from_loader("prose", LOADER))
LOADER.exec_module(prose)

SECTIONS = prose.read_words()
WORDS = SECTIONS[0][1]


@pytest.mark.parametrize(
    "row", [row for _, rows in SECTIONS for row in rows], ids=lambda row: row[2]
)
def test_a_row_finds_its_example(row):
    assert prose.words_in(f"x\n{row[2]}\n", [row]), "the example is not found"
    assert prose.words_in(row[1], [row]) == [], "what to say is itself found"


def test_a_phrase_that_is_broken_over_lines_is_found_where_it_begins():
    assert [number for number, *_ in prose.words_in("x\nkeys, one\na line\n", WORDS)] == [2]


C_FILE = """/* x.c - files that are made
 * anew, bits of the same
 * width. */
int anew; /* one int */
char c = '"', *such = "of"; // how it looks
const char *t = "%s is "
                "no filter", *u = "%s cannot", *v = "be had";
"""


def test_words_in_comments_and_messages_of_c():
    assert [
        (number, said) for number, said, _ in prose.words_in(prose.said_in_c(C_FILE), WORDS)
    ] == [
        (2, "anew"),
        (6, "is no filter"),
    ]


@pytest.mark.parametrize("text", ["keys of a line", "all bits of a key", "Which key is it?"])
def test_other_words_are_left_alone(text):
    assert prose.words_in(text, WORDS) == []


def docstrings():
    """(name, text) of what help(bloomfilter) shows; its own module is read as a file."""
    for kind in (bloomfilter.BloomFilter, bloomfilter.CountingBloomFilter):
        yield kind.__name__, kind.__doc__
        for name, member in vars(kind).items():
            yield f"{kind.__name__}.{name}", getattr(member, "__doc__", None) or ""


def test_docstrings():
    texts = list(docstrings())
    assert len(texts) > 60
    assert [found for _, text in texts if (found := prose.words_in(text, WORDS))] == []


# ---- lines ----
def test_long_lines_are_those_that_can_be_broken():
    long = " ".join(["word"] * 40)
    kept = f"# {long}\n| {long} |\n<!-- {long} -->\n\n    {long}\n\n```sh\n{long}\n```\n"
    assert prose.long_lines(kept) == []
    assert prose.long_lines(f"{long}\n- {long}\n") == [(1, 199), (2, 201)]


# ---- translations ----
@pytest.fixture
def two_pages(tmp_path, monkeypatch):
    monkeypatch.setattr(prose, "ROOT", tmp_path)
    (tmp_path / "docs" / "zh").mkdir(parents=True)
    (tmp_path / "README.md").write_text("text\n")
    (tmp_path / "README.zh-CN.md").write_text("<!-- translates README.md new -->\n\u6587\n")
    return tmp_path


def test_a_translation_is_stale_until_it_is_stamped(two_pages):
    translation = two_pages / "README.zh-CN.md"
    assert "is older than README.md" in prose.stale(translation)
    prose.stamp_all()
    assert prose.stale(translation) is None and translation.read_text().endswith("\n\u6587\n")
    (two_pages / "README.md").write_text("text.\n")
    assert "is older than README.md" in prose.stale(translation)


def test_a_translation_names_its_original(two_pages):
    (two_pages / "README.zh-CN.md").write_text("\u6587\n")
    assert "must begin with" in prose.stale(two_pages / "README.zh-CN.md")


def test_a_long_line_of_a_translation_is_named_but_not_one_of_code(two_pages):
    translation, long = two_pages / "README.zh-CN.md", "\u6587" * 101
    translation.write_text(
        f"<!-- translates README.md new -->\n{long}\n\n```sh\n{long}\n```\n\n| {long} |\n"
    )
    prose.stamp_all()
    assert list(prose.faults()) == ["README.zh-CN.md:2: 101 characters, at most 100"]


def test_there_are_translations():
    """The tutorials and the how-tos, all of them, and the README."""
    wanted = {
        path.name for kind in ("tutorial", "howto") for path in (ROOT / "docs").glob(f"{kind}-*.md")
    }
    wanted |= {f"{page}.md" for page in "redis migrate choosing counting growing".split()}
    there = {path.name for path in prose.translations()}
    assert wanted | {"README.zh-CN.md"} <= there and len(wanted) == 16


def test_translations_use_the_words_of_the_glossary():
    """docs/zh/glossary.md: no page has a word of its last column."""
    rows = re.findall(r"^\|(.*)\|$", (ROOT / "docs/zh/glossary.md").read_text(), re.M)[2:]
    unused = [word for row in rows for word in row.split("|")[3].strip().split("、") if word]
    assert len(rows) > 30 and len(unused) > 30
    assert [
        (path.name, word)
        for path in prose.translations()
        for word in unused
        if word in path.read_text()
    ] == []
