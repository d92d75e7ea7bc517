# shellcheck shell=bash disable=SC2034,SC2154,SC2164
# other_python.sh - parts "pythons" and "freethreaded" of scripts/test --deep: Pythons that this machine's tests do not run on.
# Sourced by scripts/deep.sh.  Knows how to get such a Python and how to run tests in it; knows nothing of what the tests hold.

# ---- each other Python from 3.10 on that is here, Debian's and pyenv's ----
# What is not here is named: docs/tested.md has what ran elsewhere.
pythons_wanted='3.10 3.11 3.12 3.13 3.14 3.15'
pythons_here() {
    local one
    for one in /usr/bin/python3.?? "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.*/bin/python3; do
        [ ! -x "$one" ] || "$one" -c 'import sys, sysconfig, venv, ensurepip
print("%d.%d%s" % (*sys.version_info[:2], "t" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""), sys.executable)' 2>/dev/null || true
    done | sort -u -k1,1 -V
}
tools_of_tests=(pytest pytest-xdist hypothesis numpy tqdm xxhash mypy redis)
build_for_python() {
    local folder=$1 interpreter=$2
    rm -rf "$folder"
    "$interpreter" -m venv "$folder"
    "$folder/bin/python" -m pip install -q --only-binary=:all: "${tools_of_tests[@]}"     # the newest that need no compiler there
    mirror "$folder/source" setup.py pyproject.toml MANIFEST.in README.md LICENSE CHANGELOG.md core python-ext docs/man
    "$folder/bin/python" -m pip install -q "$folder/source"
}
deep_pythons() {
    local one name interpreter absent=" $pythons_wanted " venv=$venv here
    provide needs_c needs_python needs_redis needs_chroot
    mapfile -t here < <(pythons_here)
    for one in "${here[@]}"; do
        read -r name interpreter <<<"$one"
        [[ $absent == *" $name "* ]] || continue
        absent=${absent/ $name / }
        step "the package for Python $name" "build-python-$name" build_for_python "$out/pythons/$name" "$interpreter"
        venv=$out/pythons/$name
        # shellcheck disable=SC2046
        run_pytest "Python $name" "python-$name" tests/python/contract $(spread)
    done
    pythons_of_sid
    say "not here, so not tested:$absent"
}

# ---- those of Debian sid, in a chroot.  Changes its caller's absent ----
sid=$chroots/sid
sid_versions=(3.14 3.15)
make_sid() {
    local version packages=(build-essential pkg-config libxxhash-dev libsodium-dev libssl-dev openssl redis-server)
    for version in "${sid_versions[@]}"; do packages+=("python$version-venv" "python$version-dev"); done
    # A copy of sid that is some weeks old is good enough.
    local chroot_options=(--aptopt='Acquire::Check-Valid-Until "false"')
    chroot_of sid "$sid" "${packages[@]}"
}
# The tools of the tests are downloaded by the pip of this machine, which compares its own Python with what a package requires.
build_in_sid() {
    local version=$1 folder=/venv-$1
    as_root rm -rf "$sid/bloomfilter" "$sid$folder"
    as_root install -d -o "$(id -u)" "$sid/bloomfilter"
    copy_tree "$sid/bloomfilter"
    inside "$sid" "python$version" -m venv "$folder"
    as_root "$venv/bin/python" -m pip install -q --target "$sid$folder/lib/python$version/site-packages" --only-binary=:all: --ignore-requires-python --python-version "$version" \
        --platform manylinux_2_28_x86_64 --platform manylinux2014_x86_64 "${tools_of_tests[@]}" greenlet pandas 'setuptools>=77' wheel
    inside "$sid" "$folder/bin/python" -m pip install -q --no-index --no-deps --no-build-isolation /bloomfilter
}
pythons_of_sid() {
    local version tests
    make_venv
    is_made "$sid" "${sid_versions[*]}" || step 'a chroot of Debian sid' sid make_sid
    made "$sid" "${sid_versions[*]}"
    for version in "${sid_versions[@]}"; do
        step "the package for Python $version" "build-python-$version" build_in_sid "$version"
        python_inside "$sid" "/venv-$version/bin/python"
        # The newest runs more than the contract.
        tests=(tests/python/contract)
        [ "$version" != "${sid_versions[-1]}" ] || tests=(tests/python --ignore=tests/python/frameworks)
        # shellcheck disable=SC2046
        venv=$out/inside run_pytest "Python $version" "python-$version" "${tests[@]}" $(spread)
        absent=${absent/ $version / }
    done
}

# ---- a Python without the GIL, from the source of Debian 13's: as it is in $ft/usr, with TSan in $ft/tsan ----
ft=$out/freethreaded
needs_freethreaded() {
    needs_c
    needs_python
    want dpkg-dev have dpkg-source
    want libffi-dev library libffi
    want zlib1g-dev library zlib
    want libsqlite3-dev library sqlite3
}
# As its authors made it: Debian's patches look for packages where a venv without the GIL has none.
freethreaded_source() (
    rm -rf "$ft"
    mkdir -p "$ft"
    cd "$ft"
    debian_source python3.13 trixie
    tar -xf python3.13_*.orig.tar.xz --one-top-level=python --strip-components=1
)
# make_freethreaded FOLDER OPTION...: of configure.
make_freethreaded() (
    mkdir -p "$ft/build"
    cd "$ft/build"
    ../python/configure -q --disable-gil --disable-test-modules --with-ensurepip=no --prefix="$ft/$1" "${@:2}"
    make -s -j "$jobs"
    make -s install
    ln -s python3.13t "$ft/$1/bin/python"
    rm -rf "$ft/build"
)
# Two threads write to one buffer.
python_control() {
    env "${around[@]}" "$ft/tsan/bin/python" -c 'import ctypes, threading
room, both = ctypes.create_string_buffer(64), threading.Barrier(2)
def fill():
    both.wait()
    for _ in range(30_000): ctypes.memset(room, 1, 64)
threads = [threading.Thread(target=fill) for _ in range(2)]
for thread in threads: thread.start()
for thread in threads: thread.join()' || true
    cat "$reports"/tsan.*
    grep -q 'data race' "$reports"/tsan.*
    rm "$reports"/tsan.*
}
threads_sanitized='-O1 -g -fno-omit-frame-pointer -fsanitize=thread'
deep_freethreaded() {
    local venv=$ft/venv around=()
    provide needs_freethreaded needs_redis
    if ! is_made "$ft/tsan" 3.13t; then
        step 'the source of Python 3.13' freethreaded-source freethreaded_source
        step 'Python 3.13 without the GIL' freethreaded make_freethreaded usr
        # configure does not tell make this flag.
        LDFLAGS=-fsanitize=thread step 'the same with TSan' freethreaded-tsan make_freethreaded tsan --with-thread-sanitizer
    fi
    made "$ft/tsan" 3.13t
    step 'the package for Python 3.13t' build-python-3.13t build_for_python "$venv" "$ft/usr/bin/python3.13t"
    # Newer ones of hypothesis have a compiled part that 3.13t does not load.
    step 'more tools of the tests' tools-3.13t pip_install --only-binary=:all: "$(build_requirement)" greenlet pandas hypothesis==6.135.0
    # shellcheck disable=SC2046
    run_pytest 'Python 3.13t' python-3.13t tests/python --ignore=tests/python/frameworks $(spread)
    step 'the extension for it with TSan' build-python-3.13t-tsan build_python_with "$out/stage/python-3.13t-tsan" "$threads_sanitized"
    # Tools that are not compiled are the same for both.
    around=("PYTHONPATH=$out/stage/python-3.13t-tsan/python-ext:$root/tests/helpers:$(echo "$venv"/lib/python3.13t/site-packages)"
        BLOOMFILTER_SANITIZED=1 BLOOMFILTER_CPU=portable)
    sanitizers_say ''
    around+=("TSAN_OPTIONS=history_size=7:log_path=$reports/tsan:suppressions=$ft/python/Tools/tsan/suppressions_free_threading.txt")
    run_noted 'Python 3.13t: TSan sees a race' python-3.13t-control python_control
    venv=$ft/tsan run_pytest 'Python 3.13t (TSan)' python-3.13t-tsan tests/python/interpreter/test_free_threading.py -p no:faulthandler
    no_reports 'Python 3.13t (TSan)' python-3.13t-tsan
}
