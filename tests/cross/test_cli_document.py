"""docs/cli.md: its commands are run, its table has every command, its tables of exit codes and
options are the program's."""

import os
import sys

import pytest
from documents import blocks, shell, table_rows, text_of

DOCUMENT = "docs/cli.md"


@pytest.fixture
def environment():
    return os.environ | {"PATH": f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"}


def quiet(script, folder, environment):
    """What it prints; nothing on standard error."""
    said = shell(f"exec 2>errors\n{script}", folder, environment)
    assert (folder / "errors").read_text() == ""
    return said


def test_the_first_block(tmp_path, environment):
    lines = quiet(blocks(DOCUMENT, "sh")[0], tmp_path, environment).splitlines()
    assert lines[1:9] == [
        "2,000 keys: 2,000 new, 0 seen",
        "2001",
        "2002",
        "2,000 keys: 2,000 present, 0 absent",
        "all there",
        "3000",
        "3001",
        "3002",
    ]
    assert lines[9:11] == ["3003", "some absent"] and any("2,002" in line for line in lines)


def test_the_other_blocks(environment, tmp_path, redis_port):
    (tmp_path / "keys").write_text("ann\nbob\n")
    for block in blocks(DOCUMENT, "sh")[1:]:
        block = block.replace("127.0.0.1:6379", f"127.0.0.1:{redis_port}")
        said = "\ncomplete -p bloomfilter" if "completion" in block else ""
        quiet(block + said, tmp_path, environment)


def test_every_command_is_in_the_table():
    from bloomfilter.cli.parser import COMMANDS

    named = [row[0].strip("`").split()[0] for row in table_rows(DOCUMENT, "what it does")]
    assert named == list(COMMANDS)
    assert "docs/cli.md" in text_of("README.md")
