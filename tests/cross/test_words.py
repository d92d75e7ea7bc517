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

# What the style names as bad, and what to write.
PAIRS = [
    ("whoever opens it gives it again", "whoever opens it must pass it again"),
    ("parts: 4 as it comes", "parts: 4 by default"),
    ("a file made anew", "a file that was re-created"),
    ("ten bits a key", "ten bits per key"),
    ("keys, one\na line", "keys, one\nper line"),
    ("batches a key", "batches, per key"),
    ("what a filter costs a key", "what a filter costs per key"),
    ("with the chance p, it looks as if", "false positive with probability p"),
    ("may also be given by place", "Positional order: m, n, k, p"),
    ("What the builds need, by Debian's names", "Build dependencies (Debian packages)"),
    ("Keys that go again need", "To remove keys, use"),
    ("it cannot be had", "it is not possible"),
    ("two things cannot be had away", "two things cannot be avoided"),
    ("it goes before the URL's", "it overrides the URL's"),
    ("the answer is not one", "unexpected reply"),
    ("x is no filter", "x is not a filter file"),
    ("bytes that are no filter", "bytes that are not a filter"),
    ("lacks a sound m", "field m is missing or invalid"),
    ("the data is cut short: 2 bytes", "wrong length: 3 bytes, m=10 needs 2"),
    ("has no window, window=0", "is not a forgetting filter"),
    ("has no growth, grow=0", "is not a growing filter"),
    ("%s is cut short: %llu bytes", "%s is truncated: %llu bytes"),
    ("it comes and goes", "it is created and deleted all the time"),
    ("no answer from Redis", "no reply from Redis"),
    ("an answer has too much", "unexpected reply"),
    ("other made URLs", "seed for generated URLs"),
    ("pictures of the same", "plot what `study` measures"),
    ("Others get their turn", "other threads run"),
    ("makes its lost pages deadly", "access to the missing pages raises SIGBUS"),
    ("the same of every URL", "every URL"),
    ("shards: equal parts of it", "shards: equal slices of the bits"),
    ("Who knows the hash forges", "Anyone who knows the hash forges"),
    ("Not found out is that K was lost", "Nobody finds out that K was lost"),
]


def test_every_pattern_has_an_example():
    found = {
        id(pattern) for bad, _ in PAIRS for pattern, _ in prose.PATTERNS if pattern.search(bad)
    }
    assert len(found) == len(prose.PATTERNS)


USER_PAIRS = [
    ("one is told True", "one gets True"),
    ("for everybody", "for all its users"),
    ("others see it at once", "others see it immediately"),
    ("beside this package", "in addition to this package"),
    ("it works as ever", "it still works"),
    ("guava:chars and its kin", "guava:chars and similar ones"),
    ("it goes on using it", "it continues to use it"),
    ("a wrong type is a TypeError", "a wrong type raises TypeError"),
    ("takes an add back, takes back", "removes one add"),
    ("a fault that was mended", "a fault that was fixed"),
    ("keys that others add meanwhile", "keys that others add during the call"),
    ("after so many seconds", "after this many seconds"),
    ("returns those that were new", "returns the new keys"),
    ("bytes in the place of the secret", "bytes instead of the secret"),
    ("Swoole was not at hand", "Swoole was not tested"),
    ("give or take 512 bits", "a difference of 512 bits is accepted"),
    ("a writer counts `dirty` up", "a writer increments `dirty`"),
]


def test_words_for_users():
    assert len(USER_PAIRS) == len(prose.USER_PATTERNS)
    for (bad, good), (pattern, _) in zip(USER_PAIRS, prose.USER_PATTERNS):
        assert pattern.search(bad), bad
        assert prose.words_in(good, prose.USER_PATTERNS) == []


@pytest.mark.parametrize("bad, good", PAIRS)
def test_words(bad, good):
    assert {number for number, _, _ in prose.words_in(f"x\n{bad}\n")} == {2}
    assert prose.words_in(good) == []


C_FILE = """/* x.c - files that are made
 * anew, bits of the same
 * width. */
int anew; /* one int */
char c = '"', *such = "of"; // how it looks
const char *t = "%s is "
                "no filter", *u = "%s cannot", *v = "be had";
"""


def test_words_in_comments_and_messages_of_c():
    assert [(number, said) for number, said, _ in prose.words_in(prose.said_in_c(C_FILE))] == [
        (2, "anew"),
        (6, "is no filter"),
    ]


@pytest.mark.parametrize("text", ["keys of a line", "all bits of a key", "Which key is it?"])
def test_other_words_are_left_alone(text):
    assert prose.words_in(text) == []


def docstrings():
    """(name, text) of what help(bloomfilter) shows; its own module is read as a file."""
    for kind in (bloomfilter.BloomFilter, bloomfilter.CountingBloomFilter):
        yield kind.__name__, kind.__doc__
        for name, member in vars(kind).items():
            yield f"{kind.__name__}.{name}", getattr(member, "__doc__", None) or ""


def test_docstrings():
    texts = list(docstrings())
    assert len(texts) > 60
    assert [(name, prose.words_in(text)) for name, text in texts if prose.words_in(text)] == []


# ---- lines ----
LONG = " ".join(["word"] * 40)


def test_paragraphs_and_items_are_wrapped_and_nothing_else():
    out = prose.wrapped(
        f"# {LONG}\n{LONG}\n\n- {LONG}\n| {LONG} |\n\n    {LONG}\n\n```sh\n{LONG}\n```\n"
    )
    lines = out.splitlines()
    assert [line for line in lines if len(line) > 100] == [
        f"# {LONG}",
        f"| {LONG} |",
        f"    {LONG}",
        LONG,
    ]
    assert " ".join(out.split()).count("word") == 6 * 40
    item = lines.index("- " + " ".join(["word"] * 19))
    assert lines[item + 1].startswith("  word")
    assert prose.wrapped(out) == out


def test_no_line_begins_with_what_markdown_takes_for_a_list():
    out = prose.wrapped("word " * 19 + "12345 - 3. # > x\n")
    assert not [line for line in out.splitlines() if line.startswith(("-", "3.", "#", ">"))]


def test_the_marks_of_a_merge_stay_where_they_are():
    text = "<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> main\n"
    assert prose.wrapped(text) == text


def test_code_in_a_line_is_not_broken():
    assert "`a b c d`" in prose.wrapped("word " * 19 + "`a b c d`\n")


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
    assert wanted | {"README.zh-CN.md"} <= there and len(wanted) == 14


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
