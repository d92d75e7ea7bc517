"""The C library from other languages: the programs of examples/ffi/, which docs/ffi.md shows.

Each runs as its user would run it.  All of them print the same, and they share one file."""

import functools
import os
import re
import shutil
import sys
from pathlib import Path

import pytest
from products import OUT, PKG_CONFIG_PATH, ROOT, compile_c, run

FFI = ROOT / "examples" / "ffi"
DECLARATIONS = FFI / "bloomfilter_ffi.h"
PHP = ["php", "-d", "ffi.enable=1"]
TOOLS = {"php": "php", "python": sys.executable, "go": "go", "rust": "rustc", "node": "node"}
ENV = os.environ | {
    "LD_LIBRARY_PATH": f"{OUT}/lib",
    "PKG_CONFIG_PATH": PKG_CONFIG_PATH,
    "GOTOOLCHAIN": "local",
    "GOFLAGS": "",
}


def go(folder):
    run(["go", "build", "-o", folder / "seen-go", FFI / "seen.go"], env=ENV, cwd=folder)
    return [folder / "seen-go"]


def rust(folder):
    program = folder / "seen-rust"
    run(["rustc", "--edition", "2021", "-L", OUT / "lib", "-o", program, FFI / "seen.rs"], env=ENV)
    return [program]


def node(folder):
    shutil.copy(FFI / "seen.mjs", folder)
    (folder / "node_modules").symlink_to(OUT / "node" / "node_modules")
    return ["node", folder / "seen.mjs"]


COMMANDS = {
    "php": lambda _: [*PHP, FFI / "seen.php"],
    "python": lambda _: [sys.executable, "-S", "-I", FFI / "seen.py"],
    "go": go,
    "rust": rust,
    "node": node,
}


@pytest.fixture(scope="session")
def command(tmp_path_factory):
    """The command that runs the program in a language; compiled once."""

    @functools.cache
    def prepared(language):
        if not shutil.which(TOOLS[language]):
            pytest.skip(f"no {language} here")
        return COMMANDS[language](tmp_path_factory.mktemp(language))

    return prepared


@functools.cache
def expected():
    """What docs/ffi.md says: the output of the first run."""
    return re.search(r"(?s)```text\n(.*?)```", (ROOT / "docs/ffi.md").read_text())[1]


@pytest.mark.parametrize("language", COMMANDS)
def test_the_program(language, command, tmp_path):
    """In memory; with a file that Python fills and that is then asked in this language; and with a
    file that is no filter, where it ends with the library's sentence."""
    program, file = command(language), tmp_path / "seen.bloom"
    assert run(program, env=ENV, text=True) == expected()
    assert run([*command("python"), file], env=ENV, text=True) == expected()
    again = expected().replace("new", "present").replace("110", "000")
    assert run([*program, file], env=ENV, text=True) == again
    (tmp_path / "text").write_text("no filter")
    with pytest.raises(AssertionError, match="is not a filter file"):
        run([*program, tmp_path / "text"], env=ENV, text=True)


def test_php_reads_the_declarations(tmp_path):
    """FFI::cdef parses them, finds every function in the library, and has the compiler's sizes and
    constants."""
    text = DECLARATIONS.read_text()
    structs = re.findall(r"^struct (\w+) \{", text, re.M) + re.findall(r"^\} (\w+);", text, re.M)
    constants = re.findall(r"\b(BF_\w+) = ", text)
    functions = re.findall(r"\b(bf_\w+)\(", re.sub(r"(?m)^typedef .*$", "", text))
    assert {"bf_spec", "bf_error", "bf_info"} <= set(structs) and "BF_ADDED" in constants
    (tmp_path / "sizes.c").write_text(
        "#include <bloomfilter.h>\n#include <stdio.h>\n"
        + "typedef struct bf_spec bf_spec;\nint main(void)\n{\n"
        + "".join(f'printf("{name} %zu\\n", sizeof({name}));\n' for name in structs)
        + "".join(f'printf("{name} %d\\n", (int){name});\n' for name in constants)
        + "}\n"
    )
    script = (
        f"$bf = FFI::cdef(file_get_contents('{DECLARATIONS}'), 'libbloomfilter.so.1');"
        + "".join(f"echo '{name} ', FFI::sizeof($bf->type('{name}')), \"\\n\";" for name in structs)
        + "".join(f"echo '{name} ', $bf->{name}, \"\\n\";" for name in constants)
        + "".join(f"$bf->{name};" for name in functions)
    )
    wanted = run([compile_c(tmp_path / "sizes.c", tmp_path / "sizes")], text=True)
    assert run([*PHP, "-r", script], env=ENV, text=True) == wanted


def test_the_declarations_are_all_of_the_header():
    header = (ROOT / "core" / "bloomfilter.h").read_text()
    code = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    names = set(re.findall(r"\bbf_\w+\b", code))
    assert names == set(re.findall(r"\bbf_\w+\b", DECLARATIONS.read_text()))


def test_the_programs_load_this_library():
    """By the soname, because the layout of structs is that of a soname."""
    soname = Path(os.readlink(OUT / "lib" / "libbloomfilter.so")).name
    for suffix in ("php", "py", "mjs"):
        assert f"'{soname}'" in (FFI / f"seen.{suffix}").read_text().replace('"', "'")
    assert f"`{soname}`" in (ROOT / "docs/ffi.md").read_text()
