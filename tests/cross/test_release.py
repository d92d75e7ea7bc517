"""What a release needs: one version everywhere, and a changelog in the form it names."""

import json
import re
from datetime import date

import bloomfilter
from products import OUT, ROOT, compile_c, run

VERSION = re.search(r'#define BF_VERSION "(.*)"', (ROOT / "core" / "bloomfilter.h").read_text())[1]
CHANGELOG = (ROOT / "CHANGELOG.md").read_text()
SEMANTIC = r"(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2}"


def test_the_version_is_semantic():
    assert re.fullmatch(SEMANTIC, VERSION)


def test_every_product_has_the_version(php, tmp_path):
    (tmp_path / "version.c").write_text(
        '#include <bloomfilter.h>\n#include <stdio.h>\nint main(void) { printf("%s %s", BF_VERSION, bf_version()); }\n'
    )
    found = {
        "C": run([compile_c(tmp_path / "version.c", tmp_path / "version")], text=True),
        "PHP": run([*php, "-r", "echo phpversion('bloomfilter');"], text=True),
        "Python": bloomfilter.__version__,
        "wheel": next((OUT / "dist").glob("*.whl")).name.split("-")[1],
        "pkg-config": re.search(
            r"(?m)^Version: (.*)$", (OUT / "lib" / "pkgconfig" / "bloomfilter.pc").read_text()
        )[1],
        "package.xml": " ".join(
            re.findall(r"<(?:release|api)>([\d.]+)<", (ROOT / "package.xml").read_text())
        ),
    }
    assert {name: set(text.split()) for name, text in found.items()} == dict.fromkeys(
        found, {VERSION}
    )


def test_no_file_has_a_version_of_its_own():
    assert "version" not in json.loads((ROOT / "composer.json").read_text())
    assert re.search(r'(?m)^dynamic = \[.*"version"', (ROOT / "pyproject.toml").read_text())
    assert not re.search(r"project\([^)]*VERSION \d", (ROOT / "CMakeLists.txt").read_text())


def sections():
    """(heading, text) of each version."""
    return [part.split("\n", 1) for part in re.split(r"(?m)^## ", CHANGELOG)[1:]]


def test_changelog_is_kept():
    assert "keepachangelog.com" in CHANGELOG and "semver.org" in CHANGELOG
    first, *released = [heading for heading, _ in sections()]
    assert first == "[Unreleased]"
    parsed = [
        re.fullmatch(rf"\[({SEMANTIC})\] - (\d{{4}}-\d\d-\d\d)", heading) for heading in released
    ]
    assert all(parsed), released
    numbers = [tuple(map(int, found[1].split("."))) for found in parsed]
    days = [date.fromisoformat(found[2]) for found in parsed]
    assert numbers == sorted(set(numbers), reverse=True) and days == sorted(days, reverse=True)
    assert not numbers or numbers[0] <= tuple(map(int, VERSION.split(".")))


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
