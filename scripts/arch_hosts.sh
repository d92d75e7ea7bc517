# shellcheck shell=bash disable=SC2034,SC2154
# arch_hosts.sh - Python and PHP of another machine, for arch.sh: a wheel and a PHP extension are cross compiled for Debian's Python and
# PHP of ARM64 and some of their tests run, by qemu.  Sourced by arch.sh.  Knows how to build for them; the interpreters are only unpacked.
hosts_python='contract/test_keys contract/test_batches contract/test_constructor contract/test_sets contract/test_bytes contract/test_hashes contract/test_old_schemes'
hosts_php='add_is_true_for_new batch_sizes clone_is_independent counting grow hashcode hashcode_keyed hashes key_text old_schemes_filters plan save_and_load serialize sets storage_same_bits toBytes_round_trip'

arch_arm64_hosts() {
    provide needs_python needs_php
    root_of=$out/arch/arm64-hosts
    [ -e "$root_of.made" ] || step 'Python and PHP for arm64' arch-arm64-hosts hosts_unpack
    step 'wheel for arm64' arch-arm64-wheel hosts_wheel
    step 'PHP extension for arm64' arch-arm64-php hosts_extension
    run_noted 'Python, aarch64 by qemu' arm64-python hosts_pytest
    run_noted 'PHP, aarch64 by qemu' arm64-phpt hosts_phpt
}

# Debian's names of the versions that the suite has, and the tools of the tests from PyPI.
hosts_unpack() {
    local suite mirror php version
    arch_mirror
    php=$(apt-cache depends php-cli | sed -n 's/.*Depends: php\([0-9.]*\)-cli/\1/p')
    rm -rf "$root_of"
    mmdebstrap --variant=extract --architectures=arm64 --include="libc6-dev,libxxhash-dev,libsodium-dev,python3-dev,php$php-cli,php$php-dev" \
        --skip=check/qemu "$suite" "$root_of" "$mirror"
    version=$(basename "$(readlink -f "$root_of/usr/bin/python3")")
    "$python" -m pip install -q --target "$root_of/tools" --only-binary=:all: --platform manylinux2014_aarch64 --platform manylinux_2_28_aarch64 \
        --python-version "${version#python}" pytest hypothesis numpy 'setuptools>=77' wheel
    touch "$root_of.made"
}

hosts_flags() {
    libraries=$root_of/usr/lib/aarch64-linux-gnu
    export PKG_CONFIG_SYSROOT_DIR=$root_of PKG_CONFIG_LIBDIR=$libraries/pkgconfig CC=aarch64-linux-gnu-gcc
    export CFLAGS="-O2 --sysroot=$root_of -isystem $root_of/usr/include/aarch64-linux-gnu" LDFLAGS="--sysroot=$root_of -L$libraries -Wl,-rpath-link,$libraries"
}
hosts_run() { qemu-aarch64-static -L "$root_of" "$root_of/usr/bin/$1" "${@:2}"; }

# The other machine's Python runs setup.py, by qemu; the compiler that it calls is one of this machine.
hosts_wheel() {
    local stage=$out/stage/arm64-wheel
    hosts_flags
    rm -rf "$stage"
    mkdir -p "$stage/tree"
    (cd "$root" && cp -R --parents setup.py pyproject.toml MANIFEST.in README.md LICENSE CHANGELOG.md core python-ext docs/man "$stage")
    (cd "$stage" && LDSHARED="$CC -shared" PYTHONPATH=$root_of/tools hosts_run python3 setup.py -q bdist_wheel --dist-dir "$out/arch")
    "$python" -m zipfile -e "$out/arch"/bloomfilter_shared-*_aarch64.whl "$stage/tree"
}
# Without two tests that start a Python by themselves, which the kernel cannot do without qemu.
hosts_pytest() {
    local name files=()
    for name in $hosts_python; do files+=("tests/python/$name.py"); done
    cd "$root"
    env BLOOMFILTER_SLOW=1 PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 PYTHONPATH="$out/stage/arm64-wheel/tree:$root_of/tools:$root/tests/helpers" \
        qemu-aarch64-static -L "$root_of" "$root_of/usr/bin/python3" -m pytest -q -p no:cacheprovider \
        -k 'not nothing_holds_does_not_end and not study_reproduces' "${files[@]}"
}

hosts_extension() {
    local stage=$out/stage/arm64-php config
    hosts_flags
    rm -rf "$stage"
    mkdir -p "$stage"
    cp -R "$root/config.m4" "$root/core" "$root/php-ext" "$root/tests/php" "$root/tests/vectors" "$stage"
    config=("$root_of"/usr/bin/php-config?*)
    sed "s|^prefix=\"/usr\"|prefix=\"$root_of/usr\"|" "${config[0]}" >"$stage/php-config"
    printf '#!/bin/sh\nexec qemu-aarch64-static -L %s %s "$@"\n' "$root_of" "$root_of/usr/bin/php${config[0]##*php-config}" >"$stage/php-arm64"
    chmod +x "$stage/php-config" "$stage/php-arm64"
    (cd "$stage" && phpize && ./configure -q --host=aarch64-linux-gnu --enable-bloomfilter --with-php-config="$stage/php-config" && make -s -j "$jobs")
}
hosts_phpt() {
    local stage=$out/stage/arm64-php name files=()
    for name in $hosts_php; do files+=("php/$name.phpt"); done
    cd "$stage"
    TEST_TIMEOUT=1200 TEST_PHP_EXECUTABLE=$stage/php-arm64 "$(php_binary)" -n run-tests.php -n -q -j"$jobs" --show-diff \
        -d "extension=$stage/modules/bloomfilter.so" "${files[@]}"
}
