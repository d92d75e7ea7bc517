# shellcheck shell=bash disable=SC2034,SC2154,SC2164
# other_php.sh - parts "phps" and "zts" of scripts/test --deep: PHPs that this machine does not have.  Sourced by scripts/deep.sh.
# phps: chroots of other Debians with their PHP, phpredis, Predis and all of Laravel, in which the tests of the extension, of the glue and of the polyfill run.
# Knows how to get such a PHP and how to run tests in it; knows nothing of what the tests hold.

# ---- chroots: NAME | Debian's releases | their PHPs | what they have beyond php_packages.  BLOOMFILTER_PHPS='debian13' runs that alone ----
php_chroots='
debian13     | trixie           | 8.4     | php-redis php-predis php-laravel-framework php-symfony-cache php-symfony-console php-symfony-framework-bundle php-symfony-http-kernel php-symfony-yaml
experimental | sid experimental | 8.5 8.6 | php-predis/experimental
'
php_rows=${BLOOMFILTER_PHPS:-debian13 experimental}
php_packages=(build-essential pkg-config cmake libxxhash-dev libsodium-dev libssl-dev libllhttp-dev redis-server redis-tools procps python3-{dev,setuptools,pytest,hypothesis,xxhash})
make_php_chroot() {
    local releases version packages=("${php_packages[@]}") chroot_options=()
    read -ra releases <<<"$1"
    for version in $2; do packages+=("php$version-"{cli,dev,mbstring,xml}); done
    # shellcheck disable=SC2016
    [ ${#releases[@]} = 1 ] || chroot_options=(--aptopt='Acquire::Check-Valid-Until "false"'
        --setup-hook="sed 's/ ${releases[0]} / ${releases[1]} /' "'"$1/etc/apt/sources.list" >"$1/etc/apt/sources.list.d/more.list"')
    # shellcheck disable=SC2086
    chroot_of "${releases[0]}" "$folder" "${packages[@]}" $3
    [[ " $2 " != *" 8.5 "* ]] || phpredis_in_chroot 8.5
}
build_in_php_chroot() {
    as_root install -d -o "$(id -u)" "$folder/bloomfilter"
    copy_tree "$folder/bloomfilter"
    as_php "$1" 'cd /bloomfilter; scripts/build php'
}
# as_php VERSION COMMANDS: in the chroot, where this is the PHP.
as_php() {
    inside_with_proc "$folder" BLOOMFILTER_JOBS="$jobs" bash -ec 'for tool in php phpize php-config; do update-alternatives --set $tool /usr/bin/${tool}'"$1"'; done >/dev/null
        '"$2"
}
# Debian has no phpredis for PHP 8.5.  That of Debian 13 looks for a header which has another name now; PHP 8.6 does not compile it.
phpredis_in_chroot() (
    as_root rm -rf "$folder/redis"
    as_root install -d -o "$(id -u)" "$folder/redis"
    cd "$folder/redis"
    debian_source php-redis trixie || true    # its authors' archive is enough
    tar -xf php-redis_*.orig.tar.[gx]z --strip-components=1
    mkdir -p ext/standard
    echo '#include <Zend/zend_smart_string.h>' >ext/standard/php_smart_string.h
    as_php "$1" 'cd /redis; phpize; ./configure -q --enable-redis --disable-redis-session; make -s -j '"$jobs"'; make -s install'
)
run_php_chroot() {
    local name=$1 folder=$chroots/$1 version venv=$out/inside
    is_made "$folder" "$2 $3 $4" || step "a chroot of Debian $2" "$name" make_php_chroot "$2" "$3" "$4"
    made "$folder" "$2 $3 $4"
    for version in $3; do
        step "the extension for PHP $version" "build-php-$version" build_in_php_chroot "$version"
        run_counted "PHP $version" "phpt-$version" as_php "$version" "cd /bloomfilter; . scripts/lib.sh; . scripts/suites.sh
            run_phpt 'PHP $version' phpt \$out/php/bloomfilter.so; sed 's/^/skip /' \$logs/phpt.skips; finish"
    done
    [[ $4 == *laravel* ]] || return 0
    # The polyfill's tests compare with Python's filters.
    step 'the Python extension there' "build-python-$name" as_php "$version" 'cd /bloomfilter; python3 setup.py -q build_ext --inplace'
    python_inside "$folder" 'env PYTHONPATH=/bloomfilter/python-ext python3'
    run_pytest "PHP frameworks, PHP $version" "glue-$version" tests/glue
    run_pytest "Laravel, PHP $version" "laravel-$version" tests/glue/laravel_application.py
    # phpredis 6 forgets the commands of an object that closes itself.
    run_pytest "PHP without the extension, PHP $version" "polyfill-$version" tests/polyfill \
        '--deselect=tests/polyfill/test_phpt.py::test_does_not_apply[storage_phpredis_closed_in_pipeline]'
}
deep_phps() {
    local name releases versions packages
    provide needs_chroot
    while IFS='|' read -r name releases versions packages; do
        read -r name <<<"$name"
        [[ -n $name && " $php_rows " == *" $name "* ]] || continue
        run_php_chroot "$name" "$(echo $releases)" "$(echo $versions)" "$(echo $packages)" </dev/null
    done <<<"$php_chroots"
}

# ---- a PHP with threads ----
zts=$out/zts
needs_zts() {
    want dpkg-dev have dpkg-source
    want libxxhash-dev library 'libxxhash >= 0.8'
    want zlib1g-dev library zlib
}
# php_from_source FOLDER OPTION...: PHP in FOLDER/usr, with phpredis.  Debian's release as its authors made it: with Debian's patches,
# phpize would look where only Debian's packages are.
php_from_source() (
    folder=$1
    shift
    rm -rf "$folder"
    mkdir -p "$folder"
    cd "$folder"
    debian_source "php$(php -r 'echo PHP_MAJOR_VERSION, ".", PHP_MINOR_VERSION;')/$(debian_release)"
    debian_source php-redis
    tar -xf php8*.orig.tar.xz --one-top-level=php --strip-components=1
    tar -xf php-redis_*.orig.tar.xz --one-top-level=redis
    cd php
    ./configure -q --prefix="$folder/usr" --disable-all --disable-cgi --disable-phpdbg --enable-ctype --enable-filter --enable-pcntl --enable-posix \
        --enable-session --enable-tokenizer --with-sodium --with-zlib CFLAGS='-O1 -g1' "$@"
    make -s -j "$jobs"
    make -s install
    # Debian has one version of phpredis for each PHP.
    cd "$(ls -d ../redis/redis-* | sort -V | tail -n 1)"
    build_for_php "$folder" --enable-redis
    make -s install
)
# build_for_php FOLDER OPTION...: the extension in this folder, for the PHP in that one.
build_for_php() {
    "$1/usr/bin/phpize"
    ./configure -q --with-php-config="$1/usr/bin/php-config" "${@:2}"
    make -s -j "$jobs"
}
# build_extension_zts FOLDER [SED_SCRIPT]: the extension, and the program that runs threads; changed by the script.
build_extension_zts() (
    rm -rf "$1"
    mkdir -p "$1"
    cp -R "$root/config.m4" "$root/core" "$root/php-ext" "$1"
    cd "$1"
    [ $# = 1 ] || sed -i "$2" php-ext/php_bloomfilter.[hc]
    build_for_php "$zts" --enable-bloomfilter
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
    is_made "$zts" "$(debian_release)" || step 'PHP with threads' build-zts php_from_source "$zts" --enable-zts --enable-embed=shared
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
