"""What is said in two places is the same: the tests of every file of core/ can be found by its name;
the workflow for what is slow names rows and sessions that there are."""

import re
import tomllib
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


def test_the_workflow_names_rows_and_sessions():
    asked = (ROOT / ".github/workflows/deep.yml").read_text()
    rows, sessions = (
        set(re.search(rf"{name}: \[(.*)\]", asked)[1].split(", ")) for name in ("row", "session")
    )
    table = tomllib.loads((ROOT / "packaging/machines.toml").read_text())
    assert rows and rows <= set(table) - {"words"}
    there = re.findall(r"^def (\w+)\(session\)", (ROOT / "noxfile.py").read_text(), re.M)
    assert sessions and sessions <= set(there)
