"""The C package: configured without the optional libraries, installed below a prefix, used from
there."""

import os
import re

import pytest
from packages import JOBS, run
from products import NUMBER, ROOT


@pytest.fixture(scope="session")
def prefix(source, tmp_path_factory, quick):
    folder, env = tmp_path_factory.mktemp("cmake"), os.environ | quick
    run(
        "cmake",
        "-S",
        source,
        "-B",
        folder / "build",
        *"-DBUILD_TESTING=OFF -DBLOOMFILTER_TLS=OFF -DBLOOMFILTER_SODIUM=OFF".split(),
        *"-DCMAKE_INSTALL_LIBDIR=lib".split(),
        env=env,
    )
    run("cmake", "--build", folder / "build", JOBS, env=env)
    run("cmake", "--install", folder / "build", "--prefix", folder / "prefix")
    return folder / "prefix"


@pytest.fixture(scope="session")
def env(prefix):
    return os.environ | {
        "PKG_CONFIG_PATH": f"{prefix}/lib/pkgconfig",
        "LD_LIBRARY_PATH": f"{prefix}/lib",
    }


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


def test_embed_with_the_shared_library(prefix, env, tmp_path):
    flags = run("pkg-config", "--cflags", "--libs", "bloomfilter", env=env).split()
    run("cc", "-Wall", "-Wextra", ROOT / "examples" / "embed.c", "-o", tmp_path / "embed", *flags)
    first = run(tmp_path / "embed", tmp_path / "seen.bloom", env=env)
    again = run(tmp_path / "embed", tmp_path / "seen.bloom", env=env)
    assert "https://example.org/ is new\nof 3 urls 2 were new\nabout 3 keys" in first
    assert "https://example.org/ is a repeat\nof 3 urls 0 were new\nabout 3 keys" in again


def test_the_header_is_valid_cpp(prefix, env, tmp_path):
    flags = run("pkg-config", "--cflags", "--libs", "bloomfilter", env=env).split()
    strict = ["-std=c++11", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    source = ROOT / "tests" / "package" / "header.cpp"
    run("g++", *strict, source, "-o", tmp_path / "header", *flags)
    assert (
        run(tmp_path / "header", env=env).strip() in (ROOT / "core" / "bloomfilter.h").read_text()
    )


def test_embed_with_the_static_library(prefix, env, tmp_path):
    flags = run("pkg-config", "--cflags", "--static", "--libs", "bloomfilter", env=env).split()
    assert "-lsodium" not in flags
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


def test_what_a_build_without_the_libraries_says(env, tmp_path):
    (tmp_path / "ask.c").write_text("""#include <bloomfilter.h>
    #include <stdio.h>
    int main(void) {
        bf_error err;
        bf_spec specs[] = { { .m = 1000, .k = 3, .secret = "0123456789abcdef", .secret_len = 16 }, { .m = 1000, .k = 3, .storage = "rediss://127.0.0.1:1/0?key=x" } };
        for (int i = 0; i < 2; i++) {
            if (bf_open(&specs[i], &err)) return 1;
            printf("%s %d\\n", err.msg, err.code == BF_ENOTSUP);
        }
    }""")
    run(
        "cc",
        tmp_path / "ask.c",
        "-o",
        tmp_path / "ask",
        *run("pkg-config", "--cflags", "--libs", "bloomfilter", env=env).split(),
    )
    secret, tls = run(tmp_path / "ask", env=env).splitlines()
    assert secret == "secret needs libsodium, which this build lacks 1"
    assert "OpenSSL for TLS" in tls and tls.endswith(" 1")


def test_the_man_page_names_every_function():
    page = (ROOT / "docs" / "man" / "bloomfilter.3").read_text()
    headers = "".join(path.read_text() for path in (ROOT / "core").glob("bloomfilter*.h"))
    header = re.sub(r"/\*.*?\*/", "", headers, flags=re.S)
    declared = set(re.findall(r"\b(bf_\w+)\(", re.sub(r"(?m)^typedef .*;$", "", header)))
    assert declared == set(re.findall(r"^\.Fn (bf_\w+)", page, flags=re.M))


def test_the_man_pages_program(env, tmp_path):
    page = (ROOT / "docs" / "man" / "bloomfilter.3").read_text()
    (tmp_path / "page.c").write_text(
        re.search(r"(?s)\.Bd -literal\n(.*?)\.Ed", page)[1].replace("\\e", "\\")
    )
    run(
        "cc",
        tmp_path / "page.c",
        "-o",
        tmp_path / "page",
        *run("pkg-config", "--cflags", "--libs", "bloomfilter", env=env).split(),
    )
    assert run(tmp_path / "page", env=env) == "1\n"
