"""The C library as installed: what it exports, what its files promise."""

import re

from products import NUMBER, OUT, ROOT, run

HEADERS = ["bloomfilter.h", "bloomfilter_host.h"]
HEADER = "".join((ROOT / "core" / name).read_text() for name in HEADERS)
LIBRARY = OUT / "lib" / "libbloomfilter.so"


def declared():
    code = re.sub(r"/\*.*?\*/", "", HEADER, flags=re.S)
    code = re.sub(r"(?m)^typedef .*;$", "", code)
    return set(re.findall(r"\b(bf_\w+)\(", code))


def defined_in(library, *options):
    names = [
        line.split()[-1]
        for line in run(["nm", "--defined-only", *options, library], text=True).splitlines()
        if " T " in line
    ]
    return {name.split("@")[0] for name in names}


def test_shared_library_exports_the_header_and_nothing_else():
    assert defined_in(LIBRARY, "-D") == declared()


def test_static_library_defines_the_header():
    assert declared() <= defined_in(OUT / "lib" / "libbloomfilter.a")


def test_soname_and_versions():
    pc = (OUT / "lib" / "pkgconfig" / "bloomfilter.pc").read_text()
    assert f"Version: {NUMBER}\n" in pc
    assert str(ROOT) not in pc  # the prefix is found from where the file is
    short = ".".join(NUMBER.split(".")[:2] if NUMBER.startswith("0.") else NUMBER.split(".")[:1])
    assert f"[libbloomfilter.so.{short}]" in run(["readelf", "-d", LIBRARY], text=True)
    assert LIBRARY.resolve().name == f"libbloomfilter.so.{NUMBER}"


def test_installed_headers_are_the_headers():
    assert "".join((OUT / "include" / name).read_text() for name in HEADERS) == HEADER
