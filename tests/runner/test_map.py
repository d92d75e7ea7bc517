"""tests/c: the tests of every file of core/ can be found by its name."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ELSEWHERE = (
    "core/base/os_macos.c",
    "core/base/os_windows.c",
    "core/base/windows/",
)  # other systems


def test_every_file_of_the_core_is_named_by_its_tests():
    first = [p.read_text().split("*/", 1)[0] for p in (ROOT / "tests/c").glob("test_*.c")]
    said = " ".join(first).replace("\n *", "")
    files = sorted(str(p.relative_to(ROOT)) for p in (ROOT / "core").rglob("*.c"))
    unnamed = [
        one
        for one in files
        if not one.startswith(ELSEWHERE)
        and one not in said
        and not ("/older/" in one and one.rsplit("/", 1)[0] + "/" in said)
    ]
    assert unnamed == []
