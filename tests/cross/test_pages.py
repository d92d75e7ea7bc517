"""docs/*.md: every code block is run, in its page's order, and every answer that stands beside it
or below it compared.

In a page, Python's blocks share their names and PHP's are one script.  A block whose first line is
a comment with a file's name is that file; a `sh` block is run where these files are, and a `text`
block is what the block before it printed. 127.0.0.1:6379 is the tests' own Redis."""

import json
import os
import re
import socket
import sys
from pathlib import Path

import pytest
from bloomfilter import BloomFilter
from bloomfilter.cli import urls
from products import OUT, PKG_CONFIG_PATH, ROOT, compile_c, php_command, phpredis, run
from documents import (
    FILE,
    PHP_ANSWER,
    PHP_CHECK,
    all_blocks,
    languages,
    php_with_checks,
    run_python,
    same_code,
    shell,
)

PAGES = """index.md tutorial-python.md tutorial-php.md tutorial-c.md choosing.md storage.md howto-rebuild.md deploy-php.md
    mapped-files.md migrate.md security.md arrow.md dataframes.md crawlers.md asyncio.md howto-crawl.md howto-database.md
    howto-redis.md howto-move.md redis.md trouble.md howto-dedup.md howto-signup.md
    howto-php-eight-hashes.md growing.md counting.md""".split()
# What a page takes for granted.
BEFORE = {
    (
        "crawlers.md",
        "python",
    ): "",  # settings, and a move from one Redis key to another: nothing to compare
    (
        "migrate.md",
        "python",
    ): "open('bits.bin', 'wb').write(bytes(10))\nopen('keys.txt', 'w').write('a\\nb\\n')\n",
    ("howto-dedup.md", "python"): "open('access.log', 'w').write('GET /a\\nGET /b\\nGET /a\\n')\n",
    (
        "howto-dedup.md",
        "php",
    ): "file_put_contents('access.log', \"GET /a\\nGET /b\\nGET /a\\n\");\n",
    ("migrate.md", "php"): "file_put_contents('bits.bin', str_repeat(chr(0), 10));\n",
}
# A fragment of C, where the page shows no program.
C_AROUND = """#include <bloomfilter.h>
int main(void)
{{
    static const char data[10];
    size_t len = sizeof data;
    bf_error err;
    {}
    bf_close(f);
    return !f;
}}
"""


def generated(name):
    return (ROOT / "docs" / name).read_text().startswith("<!-- Generated")


def test_no_page_is_left_out():
    """A page with code is run here, or by a test that names it, or is generated from what others
    check."""
    tests = "".join(
        path.read_text()
        for path in Path(__file__).parents[1].glob("*/test_*.py")
        if path.name != Path(__file__).name
    )
    pages = [
        path.name for path in sorted((ROOT / "docs").glob("*.md")) if languages(f"docs/{path.name}")
    ]
    assert [
        name
        for name in pages
        if name not in PAGES and f"docs/{name}" not in tests and not generated(name)
    ] == []


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder to be in, and the commands that a reader has."""
    (tmp_path / "bin").mkdir()
    commands = {
        "php": php_command(),
        "python": [sys.executable],
        "bloomfilter": [sys.executable, "-m", "bloomfilter"],
    }
    for name, command in commands.items():
        (tmp_path / "bin" / name).write_text("#!/bin/sh\nexec " + " ".join(command) + ' "$@"\n')
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{OUT}/bin:{os.environ['PATH']}")
    monkeypatch.setenv("PKG_CONFIG_PATH", PKG_CONFIG_PATH)
    monkeypatch.setenv("LD_LIBRARY_PATH", f"{OUT}/lib")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


def empty(port):
    """Pages use the same keys."""
    with socket.create_connection(("127.0.0.1", port), 5) as redis:
        redis.sendall(b"FLUSHALL\r\n")
        assert redis.recv(100) == b"+OK\r\n"


def of_page(name, request, *wanted):
    """Its blocks of some languages: [(code, what it prints or None)]; those that are files are
    written."""
    out, blocks = [], all_blocks(f"docs/{name}")
    port = 0
    if any("127.0.0.1:6379" in code for _, code in blocks):
        port = request.getfixturevalue("redis_port")
        empty(port)
    following = [*blocks[1:], ("", "")]
    for (language, code), (after, printed) in zip(blocks, following, strict=True):
        code = code.replace("127.0.0.1:6379", f"127.0.0.1:{port}")
        code = code.replace("'127.0.0.1', 6379", f"'127.0.0.1', {port}")
        file = FILE.match(code)
        if file:
            Path(file[1]).write_text(code)
        elif language in wanted:
            out.append((code, printed if after == "text" else None))
    return out


def pages_with(language):
    return [
        name
        for name in PAGES
        if any(
            code
            for found, code in all_blocks(f"docs/{name}")
            if found == language and not FILE.match(code)
        )
    ]


def test_a_translation_has_the_code_of_its_original():
    translations = {path.name for path in (ROOT / "docs" / "zh").glob("*.md")} - {"glossary.md"}
    assert len(translations) > 15
    for name in translations:
        same_code(f"docs/{name}", f"docs/zh/{name}")


def test_languages():
    """A block in a language that nothing below runs."""
    for name in PAGES:
        assert set(languages(f"docs/{name}")) <= {"python", "php", "c", "sh", "ini", "text"}, name


@pytest.mark.parametrize("name", pages_with("python"))
def test_python(name, place, request, capsys):
    names, answers = {}, 0
    exec(BEFORE.get((name, "python"), ""), names)
    for code, printed in of_page(name, request, "python"):
        capsys.readouterr()
        answers += run_python(code, names) + code.count("assert ") + (printed is not None)
        assert printed in (None, capsys.readouterr().out)
    assert answers or (name, "python") in BEFORE


@pytest.mark.parametrize("name", pages_with("php"))
def test_php(name, place, request):
    code = ""
    for block, printed in of_page(name, request, "php"):
        code += block
        if printed is not None:
            wanted = json.dumps(printed, ensure_ascii=False).replace("$", r"\$")
            code = f"{code[: -len(block)]}ob_start();\n{block}check(ob_get_clean(), {wanted});\n"
    assert (
        (name, "php") in BEFORE
        or "throw" in code
        or "ob_get_clean()" in code
        or any(PHP_ANSWER.match(line) for line in code.splitlines())
    )
    Path("page.php").write_text(
        PHP_CHECK + BEFORE.get((name, "php"), "") + php_with_checks(code) + "\necho 'end';\n"
    )
    options = ["-d", "zend.assertions=1"]
    if "new PDO" in code:
        options += ["-d", "extension=pdo.so", "-d", "extension=pdo_sqlite.so"]
    if "new Redis" in code:
        options += phpredis(php_command())
    command = [*php_command()[:2], *options, *php_command()[2:], "page.php"]
    assert run(command, text=True) == "end"


def test_the_adapter_returns_what_the_old_class_returned(place, request):
    """docs/howto-php-eight-hashes.md."""
    of_page("howto-php-eight-hashes.md", request)
    php = [*php_command(), *phpredis(php_command())]
    command = [*php, ROOT / "tests/cross/eight_hashes.php"]
    port = request.getfixturevalue("redis_port")
    assert run([*command, "adapter.php", port], text=True) == "same"


@pytest.mark.parametrize("name", pages_with("c"))
def test_c_fragments(name, place, request):
    for number, (code, _) in enumerate(of_page(name, request, "c")):
        source = place / f"fragment{number}.c"
        source.write_text(C_AROUND.format(code))
        run([compile_c(source, place / "fragment")])


@pytest.mark.parametrize("name", pages_with("sh"))
def test_commands(name, place, request):
    compared = 0
    for code, printed in of_page(name, request, "sh"):
        assert shell(code, place) == printed or printed is None
        compared += printed is not None
    assert compared


def test_what_migrate_says_of_rates():
    """docs/migrate.md: the rates and the numbers of values, which are computed here."""
    text = " ".join((ROOT / "docs" / "migrate.md").read_text().split())
    (said,) = re.findall(r"the rate of its formula: (0\.\d+) instead of 0\.01", text)
    assert f"{BloomFilter.plan(n=10**6, p=0.01, scheme='redisson')['p']:.4f}" == said
    with pytest.raises(ValueError, match="is not possible.* at a rate of"):
        BloomFilter.plan(n=10**6, p=1e-7, scheme="php-mt")
    for scheme, rate in [("gozero", "6.7e-05"), ("block2", "9.7e-05")]:
        assert f"{BloomFilter.plan(n=10**6, m=2 * 10**7, scheme=scheme)['p']:.1e}" == rate
        assert rate in text
    for scheme, one_in in [("sax-sdbm", "169;"), ("classic", "164,000.")]:
        p = BloomFilter.plan(n=10**6, m=25 * 10**6, scheme=scheme)["p"]
        assert f"1 in {float(f'{1 / p:.3g}'):,.0f}" == f"1 in {one_in[:-1]}"
        assert f"1 in {one_in}" in text
    for n, values, one_in in [(10**6, 2**32, "4,300"), (10**6, 2**31, "2,100")]:
        assert f"(1 in {one_in} with a million keys)" in text
        assert f"{float(f'{values / n:.2g}'):,.0f}" == one_in
    bf = BloomFilter(scheme="php-hashes:BKDR,RS", n=100, overfull="ignore")
    bkdr, rs = (len({*of}) for of in zip(*map(bf.hashcode, urls.made()), strict=True))
    assert f"BKDR has {bkdr} different values and RS {rs}." in text
