"""The documents as a whole: links, and that CONTRIBUTING's map has every file."""

import re

import pytest
from products import ROOT, php_command, run
from documents import PHP_CHECK, blocks, php_with_checks, text_of

DOCUMENTS = [
    str(path.relative_to(ROOT))
    for pattern in ("*.md", "docs/*.md", "docs/zh/*.md")
    for path in sorted(ROOT.glob(pattern))
]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_lead_somewhere(name):
    text = re.sub(r"^```.*?^```", "", text_of(name), flags=re.M | re.S)
    for link in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
        assert "://" in link or (ROOT / name).parent.joinpath(link).exists(), link


def test_the_map_has_every_file():
    text = text_of("CONTRIBUTING.md")
    files = [
        path.name
        for folder in ("php-ext", "python-ext")
        for path in sorted((ROOT / folder).glob("*.c"))
    ]
    assert len(files) > 20
    assert [name for name in files if f"`{name}`" not in text] == []


def test_the_map_has_every_room_of_the_core_and_every_file_says_what_it_is():
    text = text_of("CONTRIBUTING.md")
    rooms = {path.relative_to(ROOT).parts[1] for path in (ROOT / "core").rglob("*.c")}
    assert len(rooms) > 9
    assert [room for room in rooms if f"`core/{room}" not in text] == []
    silent = [
        path.name
        for path in (ROOT / "core").rglob("*.[ch]")
        if not path.read_text().startswith(f"/* {path.name} - ")
    ]
    assert silent == []


def test_the_map_has_no_file_that_is_gone():
    named = re.findall(
        r"`((?:core|tests|scripts|docs|cmake)/[\w./-]+|\w+\.(?:c|h|php|py|pyi|sh))`",
        text_of("CONTRIBUTING.md"),
    )
    tops = [path for path in ROOT.iterdir() if path.name not in ("out", ".git")]
    there = {path.name for top in tops for path in (top, *top.rglob("*"))}
    assert [name for name in named if name.rstrip("/").rsplit("/", 1)[-1] not in there] == []


def test_php_without_the_extension(tmp_path):
    """docs/php-without-extension.md, from the top of the tree."""
    (code,) = blocks("docs/php-without-extension.md", "php")
    script = tmp_path / "example.php"
    script.write_text(PHP_CHECK + php_with_checks(code) + "echo 'end';")
    assert run([php_command()[0], "-n", "-d", f"include_path={ROOT}", script], text=True) == "end"
