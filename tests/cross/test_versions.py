"""What a release needs: one version everywhere, and a changelog in the form it names."""

import json
import pickle
import re
from datetime import date

import bloomfilter
import redis as redis_py
from products import (
    NUMBER,
    OUT,
    PHP_VERSION,
    PYTHON_VERSION,
    ROOT,
    VERSION,
    compile_c,
    run,
)

CHANGELOG = (ROOT / "CHANGELOG.md").read_text()
SEMANTIC = r"(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2}(?:-rc[1-9]\d*)?"


def test_the_version_is_semantic():
    assert re.fullmatch(SEMANTIC, VERSION)


def test_every_product_has_the_version(php, tmp_path):
    (tmp_path / "version.c").write_text(
        '#include <bloomfilter.h>\n#include <stdio.h>\nint main(void) { printf("%s %s", BF_VERSION, bf_version()); }\n'
    )
    assert {
        "C": run([compile_c(tmp_path / "version.c", tmp_path / "version")], text=True),
        "bloomfilterd": run([OUT / "bin" / "bloomfilterd", "--version"], text=True),
        "PHP": run([*php, "-r", "echo phpversion('bloomfilter');"], text=True),
        "Python": bloomfilter.__version__,
        "wheel": next((OUT / "dist").glob("*.whl")).name.split("-")[1],
        "pkg-config": re.search(
            r"(?m)^Version: (.*)$", (OUT / "lib" / "pkgconfig" / "bloomfilter.pc").read_text()
        )[1],
        "package.xml": set(
            re.findall(r"<(?:release|api)>(.*\d.*)<", (ROOT / "package.xml").read_text())
        ),
    } == {
        "C": f"{VERSION} {VERSION}",
        "bloomfilterd": f"bloomfilterd {VERSION}\n",
        "PHP": PHP_VERSION,
        "Python": PYTHON_VERSION,
        "wheel": PYTHON_VERSION,
        "pkg-config": NUMBER,
        "package.xml": {PHP_VERSION},
    }


def test_no_file_has_a_version_of_its_own():
    assert "version" not in json.loads((ROOT / "composer.json").read_text())
    assert re.search(r'(?m)^dynamic = \[.*"version"', (ROOT / "pyproject.toml").read_text())
    assert not re.search(r"project\([^)]*VERSION \d", (ROOT / "CMakeLists.txt").read_text())


def test_no_stored_form_has_the_version(php, tmp_path, redis_port):
    """A new release must not change what is stored."""
    seen = bloomfilter.BloomFilter(n=10, p=0.01)
    seen.save(tmp_path / "seen.bloom")
    url = f"redis://127.0.0.1:{redis_port}/0?timeout=60&key=seen"
    bloomfilter.BloomFilter(n=10, p=0.01, storage=url).close()
    code = f"echo serialize(new BloomFilter(n: 10, p: 0.01)); new BloomFilter(n: 10, p: 0.01, storage: '{url[:-4]}php');"
    client = redis_py.Redis(port=redis_port)
    stored = [seen.to_bytes(), pickle.dumps(seen), (tmp_path / "seen.bloom").read_bytes()]
    stored += [run([*php, "-r", code]), *client.hvals("seen:meta"), *client.hvals("php:meta")]
    assert len(stored) > 20
    for form in {VERSION, NUMBER, PYTHON_VERSION, PHP_VERSION}:
        assert not [data for data in stored if form.encode() in data]


def sections():
    """(heading, text) of each version."""
    return [part.split("\n", 1) for part in re.split(r"(?m)^## ", CHANGELOG)[1:]]


def in_order(version):
    """A candidate comes before its version."""
    number, _, candidate = version.partition("-rc")
    return (*map(int, number.split(".")), not candidate, int(candidate or 0))


def test_changelog_is_kept():
    assert "keepachangelog.com" in CHANGELOG and "semver.org" in CHANGELOG
    first, *released = [heading for heading, _ in sections()]
    assert first == "[Unreleased]"
    parsed = [
        re.fullmatch(rf"\[({SEMANTIC})\] - (\d{{4}}-\d\d-\d\d)", heading) for heading in released
    ]
    assert all(parsed), released
    numbers = [in_order(found[1]) for found in parsed]
    days = [date.fromisoformat(found[2]) for found in parsed]
    assert numbers == sorted(set(numbers), reverse=True) and days == sorted(days, reverse=True)
    assert not numbers or numbers[0] <= in_order(VERSION)


def test_changes_are_of_the_six_kinds():
    for heading, text in sections():
        kinds = re.findall(r"(?m)^### (.*)$", text)
        assert set(kinds) <= {
            "Added",
            "Changed",
            "Deprecated",
            "Removed",
            "Fixed",
            "Security",
        } and len(kinds) == len(set(kinds)), heading
        for part in re.split(r"(?m)^### .*$", text)[1:]:  # lists, each perhaps below a caption
            assert re.match(r"(?:[A-Z][^\n]*:\n\n)?- ", part.strip()), heading
