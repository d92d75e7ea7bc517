# shellcheck shell=bash disable=SC2034,SC2154,SC2164
# other_php.sh - parts "debian13" and "zts" of scripts/test --deep: PHPs that this machine does not have.  Sourced by scripts/deep.sh.
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
deep_debian13() {
    local venv=$out/inside
    provide needs_chroot
    step 'a chroot of Debian 13' debian13 chroot_of trixie "$debian13" "${debian13_packages[@]}"
    step 'the extensions in it' build-debian13 build_in_debian13
    run_counted 'PHP, Debian 13' phpt-debian13 inside_with_proc "$debian13" /bloomfilter/scripts/test php
    python_inside "$debian13" 'env PYTHONPATH=/bloomfilter/python-ext python3'
    run_pytest 'PHP frameworks, Debian 13' glue-debian13 tests/glue
    run_pytest 'Laravel, Debian 13' laravel-debian13 tests/glue/laravel_application.py
    # phpredis 6 forgets the commands of an object that closes itself.
    run_pytest 'PHP without the extension, Debian 13' polyfill-debian13 tests/polyfill \
        --deselect "tests/polyfill/test_phpt.py::test_does_not_apply[storage_phpredis_closed_in_pipeline]"
}

# ---- a PHP with threads ----
zts=$out/zts
needs_zts() {
    want dpkg-dev have dpkg-source
    want libxxhash-dev library 'libxxhash >= 0.8'
    want zlib1g-dev library zlib
}
# Debian's release as its authors made it: with Debian's patches, phpize would look where only Debian's packages are.
build_zts() (
    rm -rf "$zts"
    mkdir -p "$zts"
    cd "$zts"
    debian_source "php$(php -r 'echo PHP_MAJOR_VERSION, ".", PHP_MINOR_VERSION;')/$(debian_release)"
    debian_source php-redis
    tar -xf php8*.orig.tar.xz --one-top-level=php --strip-components=1
    tar -xf php-redis_*.orig.tar.xz --one-top-level=redis
    cd php
    ./configure -q --prefix="$zts/usr" --disable-all --disable-cgi --disable-phpdbg --enable-zts --enable-embed=shared --enable-ctype --enable-filter --enable-pcntl --enable-posix \
        --enable-session --enable-tokenizer --with-sodium --with-zlib CFLAGS='-O1 -g1'
    make -s -j "$jobs"
    make -s install
    # Debian has one version of phpredis for each PHP.
    cd "$(ls -d ../redis/redis-* | sort -V | tail -n 1)"
    build_for_zts --enable-redis
    make -s install
)
build_for_zts() {
    "$zts/usr/bin/phpize"
    ./configure -q --with-php-config="$zts/usr/bin/php-config" "$@"
    make -s -j "$jobs"
}
# build_extension_zts FOLDER [SED_SCRIPT]: the extension, and the program that runs threads; changed by the script.
build_extension_zts() (
    rm -rf "$1"
    mkdir -p "$1"
    cp -R "$root/config.m4" "$root/core" "$root/php-ext" "$1"
    cd "$1"
    [ $# = 1 ] || sed -i "$2" php-ext/php_bloomfilter.[hc]
    build_for_zts --enable-bloomfilter
    read -ra flags < <("$zts/usr/bin/php-config" --includes)
    cc -O1 -g -Wall "${flags[@]}" "$root/tests/php/threads.c" -o threads -L"$zts/usr/lib" -lphp -lpthread -Wl,-rpath,"$zts/usr/lib"
    printf 'extension=redis.so\nextension=%s\n' "$1/modules/bloomfilter.so" >php.ini
)
run_threads() { "$(php_binary)" -n "$root/tests/php/threads_run.inc" "$1/threads" "$1/php.ini"; }
# The same with one state for all threads, which must be noticed.
threads_notice() { ! run_threads "$1"; }
deep_zts() {
    local extension=$zts/bloomfilter shared=$zts/shared
    provide needs_c needs_php needs_redis needs_predis needs_zts
    "$root/scripts/build" php
    is_made "$zts" "$(debian_release)" || step 'PHP with threads' build-zts build_zts
    made "$zts" "$(debian_release)"
    step 'the extension for it' build-extension-zts build_extension_zts "$extension"
    PHP=$zts/usr/bin/php run_phpt 'PHP with threads' phpt-zts "$extension/modules/bloomfilter.so"
    run_noted 'eight threads' zts-threads run_threads "$extension"
    step 'the extension with one state for all threads' build-shared-zts build_extension_zts "$shared" '
        s/^#define BF_G(v).*/extern zend_bloomfilter_globals *first;\n#define BF_G(v) (first->v)/
        s/^static PHP_GINIT_FUNCTION.*/zend_bloomfilter_globals *first;\n&/
        s/^    memset(bloomfilter_globals/    if (!first) first = bloomfilter_globals;\n&/'
    run_noted 'one state for all threads is noticed' zts-shared threads_notice "$shared"
}
