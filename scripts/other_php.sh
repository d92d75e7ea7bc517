# shellcheck shell=bash disable=SC2034,SC2154,SC2164
# other_php.sh - part "debian13" of scripts/test --deep: a PHP that this machine does not have.  Sourced by scripts/deep.sh.
# debian13: a chroot of Debian 13 with its PHP, phpredis, Predis 2 and all of Laravel, in which the tests of the extension, of the glue and of the polyfill run.
# Knows how to get such a PHP and how to run tests in it; knows nothing of what the tests hold.

# ---- Debian 13 ----
debian13=$chroots/debian13
debian13_packages=(build-essential pkg-config libxxhash-dev libsodium-dev libssl-dev redis-server redis-tools procps cmake
    php-{cli,dev,redis,predis,laravel-framework,mbstring,xml,symfony-cache,symfony-console,symfony-framework-bundle,symfony-http-kernel,symfony-yaml}
    python3-{dev,setuptools,pytest,hypothesis,xxhash})
# The extension for both languages: the polyfill's tests compare with Python's.
build_in_debian13() {
    as_root install -d -o "$(id -u)" "$debian13/bloomfilter"
    copy_tree "$debian13/bloomfilter"
    inside "$debian13" sh -ec 'cd /bloomfilter; scripts/build php; python3 setup.py -q build_ext --inplace'
}
# inside, with /proc, which tests read: mounted for these processes alone.
inside_with_proc() {
    local folder=$1
    shift
    # shellcheck disable=SC2016
    as_root unshare --mount sh -ec 'mount -t proc proc "$0/proc"; exec chroot "$0" /usr/bin/env -i "$@"' "$folder" \
        PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root ${CI:+CI="$CI"} "$@"
}
# A folder bin/python for run_pytest: Python and the tests in the chroot.
python_in_debian13() {
    mkdir -p "$out/debian13/bin"
    declare -f as_root inside_with_proc >"$out/debian13/inside.sh"
    printf '#!/bin/bash\n. %q\ninside_with_proc %q sh -ec %q sh "$@"\n' "$out/debian13/inside.sh" "$debian13" \
        'cd /bloomfilter; export PYTHONPATH=/bloomfilter/python-ext; exec python3 "$@"' >"$out/debian13/bin/python"
    chmod +x "$out/debian13/bin/python"
}
deep_debian13() {
    local venv=$out/debian13
    provide needs_chroot
    step 'a chroot of Debian 13' debian13 chroot_of trixie "$debian13" "${debian13_packages[@]}"
    step 'the extensions in it' build-debian13 build_in_debian13
    run_counted 'PHP, Debian 13' phpt-debian13 inside_with_proc "$debian13" /bloomfilter/scripts/test php
    python_in_debian13
    run_pytest 'PHP frameworks, Debian 13' glue-debian13 tests/glue
    run_pytest 'Laravel, Debian 13' laravel-debian13 tests/glue/laravel_application.py
    # phpredis 6 forgets the commands of an object that closes itself.
    run_pytest 'PHP without the extension, Debian 13' polyfill-debian13 tests/polyfill \
        --deselect "tests/polyfill/test_phpt.py::test_does_not_apply[storage_phpredis_closed_in_pipeline]"
}
