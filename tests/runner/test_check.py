"""tests/c/helpers/check.h: a program fails by its exit code, too, where a test fails, where it has
more tests than anybody thought of, and where it ends before its last test."""

import subprocess
from pathlib import Path

import pytest

HELPERS = Path(__file__).resolve().parents[1] / "c" / "helpers"
MANY = "\n".join(f"TEST(t{n}) {{ CHECK({n} >= 0); }}" for n in range(250))


@pytest.mark.parametrize(("tests", "code", "last"), [
    (MANY, 0, "250 passed, 0 failed"),
    (f"{MANY}\nTEST(bad) {{ CHECK(0); }}", 1, "250 passed, 1 failed"),
    ("TEST(bad) { CHECK_EQ(1, 2); }\nTEST(good) {}", 1, "1 passed, 1 failed"),
    ("TEST(good) {}\nTEST(ends) { exit(0); }", 1, "ok   good"),
    ("TEST(a_child_ends)\n{\n    int status;\n    if (fork() == 0) exit(0);\n    wait(&status);\n    CHECK_EQ(status, 0);\n}", 0, "1 passed, 0 failed"),
])  # fmt: skip
def test_exit_code_and_last_line(tmp_path, tests, code, last):
    (tmp_path / "test_x.c").write_text(
        f'#define _GNU_SOURCE\n#include "check.h"\n{tests}\nint main(void) {{ return main_of_tests(); }}\n'
    )
    program = tmp_path / "test_x"
    subprocess.run(
        [
            "cc",
            "-std=gnu11",
            "-Werror",
            f"-I{HELPERS}",
            tmp_path / "test_x.c",
            "-o",
            program,
            "-lm",
        ],
        check=True,
    )
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (code, last)
