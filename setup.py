"""setup.py - builds the extension: every .c file of core/ and python-ext/, no list.

The rest of the package's data is in pyproject.toml.  Knows where headers are looked for; knows
nothing of the code."""

import os
import re
import shutil
import subprocess
import tempfile
from glob import glob
from multiprocessing.pool import ThreadPool
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

HERE = Path(__file__).resolve().parent
FLAGS = ["-O3", "-std=gnu11", "-fvisibility=hidden", "-ffp-contract=off"]
# The interpreter's own flags often hold -g, which makes the wheel six times larger; who sets CFLAGS
# has the last word.
if "CFLAGS" not in os.environ:
    FLAGS.append("-g0")
# By MinGW, never by MSVC: core/base/windows has POSIX's headers; GCC takes the stack for aligned to
# 32 bytes, and Windows aligns it to 16 (CMakeLists.txt). -static: no DLL of MinGW's is needed.
WINDOWS = os.name == "nt"
if WINDOWS:
    FLAGS += ["-Wno-format", "-Wa,-muse-unaligned-vector-move"]


def version():
    """The one place that holds it is the core's header; 1.2.3-rc4 is 1.2.3rc4 in Python."""
    header = (HERE / "core" / "bloomfilter.h").read_text(encoding="utf-8")
    return re.search(r'#define BF_VERSION "([^"]+)"', header).group(1).replace("-", "")


def pkg_config(package):
    """The compiler's and the linker's arguments, or None where the package is missing."""
    tool = shutil.which(os.environ.get("PKG_CONFIG", "pkg-config"))
    if not tool:
        return None
    found = []
    for what in ("--cflags", "--libs"):
        run = subprocess.run([tool, what, package], capture_output=True, text=True, check=False)
        if run.returncode:
            return None
        found.append(run.stdout.split())
    return found


# pkg-config's name, a header, what the core knows it by, what a build without it refuses, what to
# link instead of the library. Of OpenSSL only the headers are used: the first rediss:// loads it,
# by libdl (in the C library itself from glibc 2.34 on).
OPTIONAL = [
    ("libsodium >= 1.0.9", "sodium.h", "BF_HAVE_SODIUM", "filters with secret=", None),
    (
        "openssl >= 1.1.1",
        "openssl/ssl.h",
        "BF_HAVE_OPENSSL",
        "filters in Redis over TLS (rediss://)",
        ["-ldl"],
    ),
]
if WINDOWS:  # which has no libdl
    del OPTIONAL[1]


def up_to_date(made, command):
    """Was this object made by the same command, after everything that it includes?  The compiler's
    list of that (-MMD) is beside it."""
    try:
        if made.with_suffix(".command").read_text() != command:
            return False
        names = made.with_suffix(".d").read_text().replace("\\\n", " ").split(": ", 1)[1].split()
        return all(os.stat(name).st_mtime_ns < made.stat().st_mtime_ns for name in names)
    except OSError:
        return False


class BuildExt(build_ext):
    """Looks at what the machine has before the first file is compiled."""

    def finalize_options(self):
        super().finalize_options()
        self.force = (
            True  # objects of an earlier build may have been made with other flags or headers
        )

    def build_extensions(self):
        for ext in self.extensions:
            self.add_doubles(ext)
            self.add_xxhash(ext)
            self.add_optional(ext)
        if self.compiler.compiler_type in ("unix", "mingw32"):
            self.compiler.compile = self.compile_side_by_side
        super().build_extensions()

    def compile_side_by_side(
        self,
        sources,
        output_dir=None,
        macros=None,
        include_dirs=None,
        debug=0,
        extra_preargs=None,
        extra_postargs=None,
        depends=None,
    ):
        """As the compiler's own, but for the loop: a thread for each processor.  With
        BLOOMFILTER_KEEP_OBJECTS (scripts/build) what is up to date stays."""
        compiler = self.compiler
        macros, objects, extra, options, build = compiler._setup_compile(
            output_dir, macros, include_dirs, sources, depends, extra_postargs
        )
        arguments = compiler._get_cc_args(options, debug, extra_preargs)
        keep = os.environ.get("BLOOMFILTER_KEEP_OBJECTS")

        def one(name):
            command = " ".join([*compiler.compiler_so, *arguments, *extra])
            if keep and up_to_date(Path(name), command):
                return
            source, suffix = build[name]
            compiler._compile(
                name, source, suffix, arguments, [*extra, "-MMD"] if keep else extra, options
            )
            if keep:
                Path(name).with_suffix(".command").write_text(command)

        with ThreadPool(os.cpu_count()) as pool:
            pool.map(one, objects, chunksize=1)
        return objects

    def add_doubles(self, ext):
        # The x87 of 32-bit x86 rounds otherwise than every other machine: core/base/base.h.
        if not self.compiles(
            "#include <float.h>\n#if FLT_EVAL_METHOD == 2 || FLT_EVAL_METHOD < 0\n#error\n#endif\n",
            [],
        ):
            ext.extra_compile_args += ["-msse2", "-mfpmath=sse"]

    def add_xxhash(self, ext):
        # Only the header: the hash is inlined, no library is linked.
        cflags = (pkg_config("libxxhash >= 0.8") or [[]])[0]
        ext.extra_compile_args += cflags
        if not self.compiles("#include <xxhash.h>\n", cflags):
            raise SystemExit(
                "bloomfilter: the header xxhash.h (0.8 or newer) was not found; install it first "
                "(Debian/Ubuntu: apt-get install libxxhash-dev; Fedora: dnf install xxhash-devel; "
                "macOS: brew install xxhash)"
            )

    def add_optional(self, ext):
        for package, header, macro, without, link in OPTIONAL:
            found = pkg_config(package)
            if not found or not self.compiles(f"#include <{header}>\n", found[0]):
                print(
                    f"bloomfilter: {package} was not found: {without} will be refused by this build"
                )
                continue
            ext.define_macros.append((macro, "1"))
            ext.extra_compile_args += found[0]
            ext.extra_link_args += found[1] if link is None else link

    def compiles(self, source, cflags):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "probe.c")
            path.write_text(source)
            try:
                self.compiler.compile([str(path)], output_dir=folder, extra_postargs=cflags)
            except Exception:  # each compiler class has its own
                return False
        return True


def relative(*patterns):
    return sorted(
        os.path.relpath(p, HERE)
        for pattern in patterns
        for p in glob(str(HERE / pattern), recursive=True)
    )


README = HERE / "README.md"

setup(
    version=version(),
    long_description=README.read_text(encoding="utf-8") if README.exists() else "",
    long_description_content_type="text/markdown",
    ext_modules=[
        Extension(
            "bloomfilter._bloomfilter",
            sources=relative("core/**/*.c", "python-ext/*.c"),
            depends=relative("core/**/*.h", "python-ext/*.h"),
            include_dirs=["core", *(["core/base/windows/include"] if WINDOWS else [])],
            libraries=["m", *(["ws2_32", "pthread"] if WINDOWS else [])],
            extra_compile_args=list(FLAGS),
            extra_link_args=["-static"] if WINDOWS else [],
        )
    ],
    cmdclass={"build_ext": BuildExt},
    options={
        # not build/: phpize writes and deletes that folder
        "build": {"build_base": "out/python-build", **({"compiler": "mingw32"} if WINDOWS else {})}
    },
)
