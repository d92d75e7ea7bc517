# shellcheck shell=bash disable=SC2034
# lib.sh - what the scripts share: where things are, progress and failure, installing what is missing, what is stale.
# Sourced.  Knows packages and tools; knows nothing of how a part is built or tested.
#
# A command that fails ends the script (set -e); a step that fails shows the end of its log first.
# Never call strict, step or provide in a condition: bash would switch set -e off inside.
set -euo pipefail
# What a shell may have set: cd would go elsewhere and print it; another bloomfilter would be imported, and asserts of the tests' helpers
# left out; what is built would be installed elsewhere, and what was there before be tested; make would not say what failed.
unset CDPATH PYTHONPATH PYTHONOPTIMIZE DESTDIR MAKEFLAGS
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
out=$root/out
venv=$out/venv
python=${PYTHON:-python3}
jobs=${BLOOMFILTER_JOBS:-$(getconf _NPROCESSORS_ONLN)}      # how much of one thing runs at once
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore PYTHONDONTWRITEBYTECODE=1 NO_INTERACTION=1
mkdir -p "$out/log"
# CMake's folders and virtual environments do not survive a move.
if [ "$(cat "$out/root" 2>/dev/null)" != "$root" ]; then
    rm -rf "$out/stage" "$out/venv"
    echo "$root" >"$out/root"
fi

# ---- progress and failure ----
have() { command -v "$1" >/dev/null 2>&1; }
say() { printf '%s\n' "$*" >&2; }
die() { say "$(basename "$0"): $*"; exit 1; }
[[ $jobs =~ ^[1-9][0-9]*$ ]] || die "BLOOMFILTER_JOBS is a number from 1 on, got $jobs"
[[ $root != *[[:space:]]* ]] || die "phpize works in no folder with a space in its path, and this is $root"

# strict COMMAND...: runs it in a subshell in which a command that fails ends it, and sets code.  After "if", or before "||", functions go on.
strict() {
    set +e
    (set -e; "$@")
    code=$?
    set -e
}

# step WHAT LOG COMMAND...: one line on the screen when it ends, and a compiler's warnings; all output in out/log/LOG.  Ends the script if it fails.
step() {
    local what=$1 log=$out/log/$2 start=$SECONDS code
    shift 2
    strict "$@" >"$log" 2>&1 </dev/null
    if [ "$code" != 0 ]; then
        say "$what FAILED; the end of its output:"
        tail -n 40 "$log" >&2
        say "$(basename "$0"): all of it is in $log"
        exit "$code"
    fi
    printf '%-60s %4d s\n' "$what" $((SECONDS - start)) >&2
    grep ': warning: .*\[-W' "$log" >&2 || true
}

# side_by_side FUNCTION...: what uses one processor, or waits for a network, beside what compiles.  Ends the script if one fails.
# Each is a process group: bash lets what it starts in the background ignore Ctrl-C, which is handed on here, as the end of the terminal is.
side_by_side() {
    local one sent='' code=0 begun=()
    trap 'sent=INT; hand_on' INT
    trap 'sent=TERM; hand_on' TERM HUP      # a run in the background of a script ignores INT, and Redis HUP
    set -m
    for one in "$@"; do
        "$one" </dev/null &
        begun+=("$!")
    done
    set +m
    hand_on # what came before the last had begun
    for one in "${begun[@]}"; do
        wait "$one" || code=$?
        while kill -0 "$one" 2>/dev/null; do wait "$one" || true; done    # a trap ends a wait
    done
    trap - INT TERM HUP
    [ "$code$sent" = 0 ] || exit $((code ? code : 130))
}
hand_on() { [ -z "$sent" ] || kill -s "$sent" -- "${begun[@]/#/-}" 2>/dev/null || true; }

# ---- what the machine lacks ----
missing=()
# want PACKAGE TEST...: PACKAGE, by its Debian name, is missing where the test fails.  One|another: the first that this Debian has.
want() {
    local package=$1
    shift
    "$@" >/dev/null 2>&1 || missing+=("$package")
}
library() { pkg-config --exists "$1"; }
python_is_new() { "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))'; }
python_has_headers() { "$python" -c 'import os, sysconfig; os.stat(sysconfig.get_paths()["include"] + "/Python.h")'; }

needs_c() {
    want build-essential eval 'have cc && have make'
    want cmake have cmake
    want pkg-config have pkg-config
    want libxxhash-dev library 'libxxhash >= 0.8'
    want libsodium-dev library 'libsodium >= 1.0.9'
    want libssl-dev library 'openssl >= 1.1.1'
}
# bloomfilterd: llhttp is a library from Debian 13 on; Debian 12 has it as C files, in the second package.
needs_server() {
    want 'libllhttp-dev|node-llhttp' eval 'library libllhttp || [ -f /usr/share/llhttp/llhttp.c ]'
}
needs_server_tests() { want chromium have chromium; }
needs_server_bench() {
    want wrk have wrk
    want nginx-light env "PATH=$PATH:/usr/sbin" nginx -v
    want libmicrohttpd-dev library libmicrohttpd
    want libevent-dev library libevent
}
needs_php() {
    want php-cli have php
    want php-dev eval 'have phpize && have php-config'
}
needs_python() {
    want python3 python_is_new
    want python3-venv "$python" -c 'import ensurepip, venv'
    want python3-dev python_has_headers
}
needs_redis() {
    want redis-server have redis-server
    want redis-tools have redis-cli
    want openssl have openssl           # the certificates of the tests
}
php_module() { compgen -G "$(php-config --extension-dir)/$1.so"; }
needs_phpredis() { want php-redis php_module redis; }
needs_predis() { want 'php-nrk-predis|php-predis' test -f /usr/share/php/Predis/autoload.php; }
# The frameworks of tests/glue, as far as Debian has them.
needs_glue() {
    local name
    for name in mbstring psr-cache psr-simple-cache symfony-{cache,console,framework-bundle,http-kernel,yaml} \
        illuminate-{config,console,container,support,translation,validation}; do
        want "php-$name" dpkg -s "php-$name"
    done
}
needs_spark() { want 'openjdk-17-jre-headless|openjdk-21-jre-headless' have java; }
needs_tests() {
    want php-parser test -d /usr/share/php/PhpParser    # scripts/gen-arginfo --check
    want shellcheck have shellcheck
    want mandoc have mandoc
    want php-sqlite3 php_module pdo_sqlite              # docs/howto-database.md
    want git have git                                   # tests/runner makes a repository of the tree
}
needs_locale() { want locales test -f /usr/share/i18n/locales/de_DE; }   # tests/cross/test_decimals.py compiles it
needs_package() {
    want php-pear have pear
    want php-xml php -r 'exit((int)!extension_loaded("xml"));'
}
needs_fpm() {
    want php-fpm compgen -G '/usr/sbin/php-fpm*'
    want nginx-light env "PATH=$PATH:/usr/sbin" nginx -v
    want curl have curl
}
# Interpreters to put fuzz targets into; scripts/fuzz skips a target without.
needs_fuzz_hosts() {
    want python3-dev library python3-embed
    want libphp-embed compgen -G '/usr/lib/libphp*.so'
}
needs_ffi() {
    want golang-go have go
    want rustc have rustc
    want nodejs have node
    want npm have npm
    want php-ffi php -r 'exit((int)!class_exists("FFI"));'
}
needs_words() { want wamerican test -s /usr/share/dict/words; }

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# one_of NAME|NAME...: the first that can be installed here.
one_of() {
    local name names
    IFS='|' read -ra names <<<"$1"
    for name in "${names[@]}"; do
        if [[ $(apt-cache madison "$name" 2>/dev/null) == *' Packages'* ]]; then echo "$name"; return; fi
    done
    echo "${names[0]}"
}

apt_install() {
    local name names=()
    as_root apt-get -q -o DPkg::Lock::Timeout=300 update || echo 'apt-get update failed: going on with the lists there are'
    for name in "$@"; do names+=("$(one_of "$name")"); done
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -qy -o DPkg::Lock::Timeout=300 install --no-install-recommends "${names[@]}"
}

# provide NEEDS...: functions of wants.  Installs what is missing; touches neither apt nor network where nothing is.
provide() {
    look_for "$@"
    [ ${#missing[@]} -gt 0 ] || return 0
    may_install
    step "installing ${#missing[@]} Debian packages" apt apt_install "${missing[@]}"
    hash -r
    look_for "$@"
    [ ${#missing[@]} = 0 ] || die "installed, and still not usable: ${missing[*]}"
}

# Ends the script where nothing can be installed; sudo asks for the password.
may_install() {
    have apt-get || die "missing here, and no apt-get to install it with (Debian's names): ${missing[*]}"
    [ "$(id -u)" = 0 ] || have sudo || die "run as root or install sudo first; missing: ${missing[*]}"
    as_root true
}

look_for() {
    local needs
    missing=()
    for needs in "$@"; do "$needs"; done
}

# ---- what is stale ----
# What a product is made of: the sources (files or folders below the root) and any words on the tools.
fingerprint() {
    local words=$1
    shift
    (cd "$root" && echo "$words" && find "$@" -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum) | sha256sum
}
# mirror STAGE INPUT...: STAGE has the files of INPUT (below the root) and none of older ones.  What has not changed keeps its date, so that make sees
# what has; what was built there stays.
mirror() {
    local stage=$1 file
    shift
    mkdir -p "$stage"
    (cd "$root" && find "$@" -type f | LC_ALL=C sort) >"$stage/.mirrored.new"
    [ ! -f "$stage/.mirrored" ] || LC_ALL=C comm -23 "$stage/.mirrored" "$stage/.mirrored.new" | (cd "$stage" && xargs -r rm -f)
    mv "$stage/.mirrored.new" "$stage/.mirrored"
    while read -r file; do
        cmp -s "$root/$file" "$stage/$file" || (cd "$root" && cp --parents "$file" "$stage")
    done <"$stage/.mirrored"
}
is_made() { [ -e "$1" ] && [ "$(cat "$1.made" 2>/dev/null)" = "$2" ]; }    # is_made PRODUCT FINGERPRINT
made() { echo "$2" >"$1.made"; }

# ---- Python ----
# The virtual environment of build and tests, made anew where its interpreter is not the one asked for.
# With out/venv/bin in PATH, python3 is the one in there: asked for is what that was made from.
make_venv() {
    local base want_version
    base=$("$python" -c 'import sys; print(sys._base_executable)')
    want_version=$("$base" -c 'import sys; print(sys.version, sys.prefix)')
    is_made "$venv" "$want_version" && "$venv/bin/python" -m pip --version >/dev/null 2>&1 && return 0
    rm -rf "$venv"
    step 'making a virtual environment' venv "$base" -m venv "$venv"
    made "$venv" "$want_version"
}
# Asks the package index only for what is not there yet.
pip_install() { "$venv/bin/python" -m pip install -q "$@"; }
# The same by uv, which resolves the hundred packages of the tests in seconds; pip takes minutes.
uv_install() {
    [ -x "$venv/bin/uv" ] || pip_install uv
    "$venv/bin/uv" pip install -q --python "$venv/bin/python" "$@"
}
build_requirement() { sed -n 's/^requires = \["\(.*\)"\]$/\1/p' "$root/pyproject.toml"; }

# What it takes to test the wheel: python_packages EXTRAS of pyproject.toml.  Asks the package index once for each pyproject.toml.
python_packages() {
    local stamp=$venv/with-${1//,/-} now extras
    make_venv
    now=$(fingerprint "$1" pyproject.toml)
    is_made "$stamp" "$now" && return 0
    IFS=, read -ra extras <<<"$1"
    step "Python packages: $1" python-packages uv_install -r "$root/pyproject.toml" "${extras[@]/#/--extra=}"
    # What `pip install .` downloads: the README's command is run without a network.
    [ -d "$out/wheels" ] || step 'build requirements' wheels "$venv/bin/python" -m pip download -q -d "$out/wheels" "$(build_requirement)"
    touch "$stamp"
    made "$stamp" "$now"
}
install_wheel() {
    is_made "$venv/wheel" "$(cat "$out/dist.made")" && return 0
    step 'installing the wheel' install-wheel pip_install --no-index --no-deps --force-reinstall "$out"/dist/*.whl
    touch "$venv/wheel"
    made "$venv/wheel" "$(cat "$out/dist.made")"
}

# The PHP that phpize builds for.
php_binary() { echo "${PHP:-$(php-config --php-binary)}"; }
