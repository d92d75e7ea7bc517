"""The C package: built and installed by the commands of docs/install.md, used from there.  What a
build without the optional libraries says: the preset bare."""

import os
import re
from pathlib import Path

import pytest
from documents import blocks
from packages import run
from products import NUMBER, ROOT

MAN_PAGE = ROOT / "docs/man/bloomfilter.3"


@pytest.fixture(scope="session")
def prefix(source, follow, machine):
    follow("docs/install.md", "cmake -B", source, CMAKE_BUILD_PARALLEL_LEVEL=str(os.cpu_count()))
    return Path(machine["DESTDIR"]) / "usr/local"


@pytest.fixture(scope="session")
def env(prefix):
    return os.environ | {
        "PKG_CONFIG_PATH": f"{prefix}/lib/pkgconfig",
        "LD_LIBRARY_PATH": f"{prefix}/lib",
    }


@pytest.fixture(scope="session")
def compiled(env, tmp_path_factory):
    """compiled(source, compiler...): the program."""

    def compiled(source, *compiler):
        program = tmp_path_factory.mktemp("program") / "program"
        flags = run("pkg-config", "--cflags", "--libs", "bloomfilter", env=env).split()
        run(*compiler or ("cc", "-Wall", "-Wextra"), source, "-o", program, *flags)
        return program

    return compiled


def test_everything_is_installed(prefix):
    found = {str(path.relative_to(prefix)) for path in prefix.rglob("*") if not path.is_dir()}
    wanted = {
        "include/bloomfilter.h",
        "include/bloomfilter_ffi.h",
        "include/bloomfilter_host.h",
        "lib/cmake/bloomfilter/bloomfilterConfig.cmake",
        "lib/cmake/bloomfilter/bloomfilterConfigVersion.cmake",
        "lib/cmake/bloomfilter/bloomfilterTargets.cmake",
        "lib/libbloomfilter.a",
        "lib/libbloomfilter.so",
        f"lib/libbloomfilter.so.{NUMBER}",
        "lib/pkgconfig/bloomfilter.pc",
        "share/man/man3/bloomfilter.3",
    }
    assert wanted <= found, wanted - found


def test_embed_with_the_shared_library(compiled, env, tmp_path):
    embed = compiled(ROOT / "examples/embed.c")
    first, again = (run(embed, tmp_path / "seen.bloom", env=env) for _ in range(2))
    assert "https://example.org/ is new\nof 3 urls 2 were new\nabout 3 keys" in first
    assert "https://example.org/ is a repeat\nof 3 urls 0 were new\nabout 3 keys" in again


def test_the_header_is_valid_cpp(compiled, env):
    strict = "g++ -std=c++11 -Wall -Wextra -Wpedantic -Werror".split()
    said = run(compiled(ROOT / "tests/package/header.cpp", *strict), env=env)
    assert said.strip() in (ROOT / "core/bloomfilter.h").read_text()


def test_embed_with_the_static_library(prefix, env, tmp_path):
    flags = run("pkg-config", "--cflags", "--static", "--libs", "bloomfilter", env=env).split()
    assert "-lsodium" in flags
    static = [
        f"{prefix}/lib/libbloomfilter.a" if flag == "-lbloomfilter" else flag for flag in flags
    ]
    run("cc", ROOT / "examples" / "embed.c", "-o", tmp_path / "embed", *static)
    assert "libbloomfilter" not in run("ldd", tmp_path / "embed")
    assert "of 3 urls 2 were new" in run(tmp_path / "embed", env={})


def test_find_package(prefix, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(f"""cmake_minimum_required(VERSION 3.20)
    project(embed C)
    find_package(bloomfilter {NUMBER} REQUIRED)
    foreach(library bloomfilter bloomfilter_static)
      add_executable(by_${{library}} {ROOT}/examples/embed.c)
      target_link_libraries(by_${{library}} bloomfilter::${{library}})
    endforeach()""")
    run("cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", tmp_path / "build")
    for library in ("bloomfilter", "bloomfilter_static"):
        program = tmp_path / "build" / f"by_{library}"
        assert "of 3 urls 2 were new" in run(program, env={})
        assert ("libbloomfilter" in run("ldd", program)) == (library == "bloomfilter")


def test_the_man_page_names_every_function():
    headers = "".join(path.read_text() for path in (ROOT / "core").glob("bloomfilter*.h"))
    header = re.sub(r"/\*.*?\*/", "", headers, flags=re.S)
    declared = set(re.findall(r"\b(bf_\w+)\(", re.sub(r"(?m)^typedef .*;$", "", header)))
    assert declared == set(re.findall(r"^\.Fn (bf_\w+)", MAN_PAGE.read_text(), flags=re.M))


def test_the_documents_programs(compiled, env, tmp_path):
    shown = re.search(r"(?s)\.Bd -literal\n(.*?)\.Ed", MAN_PAGE.read_text())[1]
    (tmp_path / "page.c").write_text(shown.replace("\\e", "\\"))
    assert run(compiled(tmp_path / "page.c"), env=env) == "1\n"
    (tmp_path / "first.c").write_text(blocks("docs/tutorial-c.md", "c")[0])
    (command, *_) = blocks("docs/tutorial-c.md", "sh")
    said = run("bash", "-euo", "pipefail", "-c", command, cwd=tmp_path, env=env)
    assert said == "surely new\nwas there\n1 0\n"
