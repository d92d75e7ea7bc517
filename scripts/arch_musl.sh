# shellcheck shell=bash disable=SC2034,SC2154
# arch_musl.sh - musl, for arch.sh: its libraries, and a PHP and a Python that are compiled with it from Debian's sources; the PHP extension
# and a wheel are compiled for them, and tests run.  Sourced by arch.sh.  Knows how to build them; knows nothing of what the tests hold.
musl=$out/arch/musl
musl_python='tests/python/contract tests/python/home_file tests/python/interpreter/test_threads.py tests/python/interpreter/test_gil.py'

musl_ready() {
    is_made "$musl" "$(debian_release)" || step 'libraries for musl' arch-musl musl_libraries
    made "$musl" "$(debian_release)"
}
# xxHash is all in its header; a library of it is for the tests.  The compiler names the machine as Python's configure expects it.
musl_libraries() (
    local name
    rm -rf "$musl" "$musl-hosts"
    mkdir -p "$musl/source" "$musl/bin" "$musl/include" "$musl/lib/pkgconfig"
    printf '#!/bin/sh\ncase $* in --print-multiarch | -print-multiarch) echo x86_64-linux-musl ;; *) exec musl-gcc "$@" ;; esac\n' >"$musl/bin/musl-cc"
    chmod +x "$musl/bin/musl-cc"
    cd "$musl/source"
    for name in libffi libsodium zlib; do
        debian_source "$name"
        dpkg-source -x "$name"_*.dsc
    done
    for name in libffi libsodium; do
        (cd "$name"-* && { [ -x configure ] || autoreconf -fi; } && ./configure -q --host=x86_64-linux-musl CC=musl-gcc CFLAGS='-O2 -fPIC -w' --disable-shared --disable-exec-static-tramp --prefix="$musl" --libdir="$musl/lib" && make -s -j "$jobs" && make -s install)
    done
    (cd zlib-* && CC=musl-gcc CFLAGS='-O2 -fPIC -w' ./configure --static --prefix="$musl" && make -s -j "$jobs" libz.a && make -s install)
    cp "$(pkg-config --variable=includedir libxxhash)"/xxh*.h "$musl/include"
    printf '#define XXH_STATIC_LINKING_ONLY\n#define XXH_IMPLEMENTATION\n#include <xxhash.h>\n' >xxhash.c
    musl-gcc -O2 -fPIC -I"$musl/include" -c xxhash.c
    ar rcs "$musl/lib/libxxhash.a" xxhash.o
    printf 'Name: libxxhash\nDescription: for musl\nVersion: 0.8.1\nCflags: -I%s/include\nLibs: -L%s/lib -lxxhash\n' "$musl" "$musl" >"$musl/lib/pkgconfig/libxxhash.pc"
)

arch_musl() {
    musl_ready
    local source c_only=(--target bloomfilterd)     # test_file_changed replaces statx, which musl 1.2.3 does not have
    for source in "$root"/tests/c/test_*.c; do
        ! chosen "$(basename "$source" .c)" "$arch_tests" || c_only+=("$(basename "$source" .c)")
    done
    CC=musl-gcc PKG_CONFIG_LIBDIR=$musl/lib/pkgconfig c_build musl -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS="-isystem $musl/include"
    c_run musl musl "$arch_tests" env BLOOMFILTER_SLOW=1
}

arch_musl_hosts() {
    local hosts=$musl-hosts
    provide needs_php needs_python needs_predis
    "$root/scripts/build" php
    make_venv
    local venv=$hosts/usr
    musl_ready
    is_made "$hosts" "$(debian_release)" || step 'PHP and Python with musl' arch-musl-hosts musl_interpreters
    made "$hosts" "$(debian_release)"
    step 'PHP extension for musl' arch-musl-php musl_extension
    PHP=$hosts/usr/bin/php run_phpt 'PHP with musl' phpt-musl "$hosts/extension/modules/bloomfilter.so"
    step 'wheel for musl' arch-musl-wheel musl_wheel
    # shellcheck disable=SC2086
    run_pytest 'Python with musl' python-musl $musl_python
}
musl_flags() {
    export PKG_CONFIG_LIBDIR=$musl/lib/pkgconfig CC=$musl/bin/musl-cc CFLAGS=-O1 CPPFLAGS="-I$musl/include" LDFLAGS="-L$musl/lib"
}
# The tools of the tests are PyPI's wheels for musl 1.1: newer ones hold relocations that musl 1.2.3 does not know.  Without redis-py, which
# needs a Python with ssl.
musl_interpreters() (
    musl_flags
    php_from_source "$hosts" CC="$CC"
    cd "$hosts"
    debian_source "python3.11/$(debian_release)"
    tar -xf python3.11_*.orig.tar.* --one-top-level=python --strip-components=1
    cd python
    ./configure -q --prefix="$hosts/usr" --without-ensurepip
    make -s -j "$jobs"
    make -s install
    ln -s python3 "$hosts/usr/bin/python"
    "$python" -m pip install -q --target "$hosts/usr/lib/python3.11/site-packages" --only-binary=:all: --platform musllinux_1_1_x86_64 \
        --python-version 3.11 pytest hypothesis==6.135.0 numpy tqdm xxhash greenlet 'setuptools>=77' wheel
)
musl_extension() (
    musl_flags
    mirror "$hosts/extension" config.m4 core php-ext
    cd "$hosts/extension"
    build_for_php "$hosts" --enable-bloomfilter
)
musl_wheel() (
    musl_flags
    mirror "$hosts/wheel" setup.py pyproject.toml MANIFEST.in README.md LICENSE CHANGELOG.md core python-ext docs/man
    cd "$hosts/wheel"
    rm -rf dist
    "$venv/bin/python" setup.py -q bdist_wheel --dist-dir dist
    "$python" -m zipfile -e dist/*.whl "$venv/lib/python3.11/site-packages"
)
