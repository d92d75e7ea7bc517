# shellcheck shell=bash disable=SC2154
# suites.sh - the suites: how each is run, and how its results are read: passed, failed, skipped.
# Sourced by scripts/test.  Knows the tools that run tests; knows nothing of what is built first, or of what runs beside it.
#
# A suite's log is out/log/NAME.  What it skipped stands in out/log/NAME.skips, one text line each: WHERE: WHY.
# Nothing is tried twice, but for what tests/skips calls flaky.
shopt -s extglob
total_passed=0 total_failed=0 total_skipped=0
logs=$out/log
around=()          # the environment that a suite is run in
where=$root        # and its folder

# ---- tests/skips: KIND PATTERN -- REASON ----
# listed KIND TEXT: a line of this kind has a pattern that matches.
listed() {
    local kind line pattern
    while read -r kind line; do
        pattern=${line%% -- *}
        # shellcheck disable=SC2053
        if [ "$kind" = "$1" ] && [[ $2 == $pattern ]]; then return 0; fi
    done <"$root/tests/skips"
    return 1
}
# Says what was skipped, and counts in its caller's unlisted what fails for it: in CI what is not listed.
judge_skips() {
    local what=$1 number line
    while read -r number line; do
        if listed skip "$what: $line"; then say "  skipped ($number): $line"
        else
            say "  skipped ($number), not in tests/skips: $line"
            [ -z "${CI:-}" ] || unlisted=$((unlisted + number))
        fi
    done < <(sort "$2" | uniq -c)
}

# note WHAT PASSED FAILED LOG: a suite's result.  No test at all is a failure.
note() {
    local what=$1 passed=$2 failed=$3 log=$4 skipped=0 unlisted=0
    if [ -s "$log.skips" ]; then
        skipped=$(wc -l <"$log.skips")
        judge_skips "$what" "$log.skips"
        failed=$((failed + unlisted)) skipped=$((skipped - unlisted))
    fi
    if [ $((passed + failed + skipped)) = 0 ]; then
        failed=1
        say "$what: no test ran"
    fi
    printf '%-42s %5d passed, %d failed%s\n' "$what" "$passed" "$failed" "$(and_skipped "$skipped")"
    total_passed=$((total_passed + passed))
    total_failed=$((total_failed + failed))
    total_skipped=$((total_skipped + skipped))
    [ "$failed" = 0 ] || { tail -n 60 "$log"; say "all of it: $log"; }
}
and_skipped() { [ "$1" = 0 ] || echo ", $1 skipped"; }
finish() {
    [ $((total_passed + total_failed + total_skipped)) != 0 ] || die 'no test ran'
    echo
    echo "$total_passed passed, $total_failed failed$(and_skipped "$total_skipped")"
    [ "$total_failed" = 0 ]
}

# failures COUNT CODE LOG: COUNT, or 1 where the command failed without naming a test.
failures() {
    [ "$1" != 0 ] || [ "$2" = 0 ] || { echo "exit code $2" >>"$3"; set -- 1; }
    echo "$1"
}

# run_noted WHAT LOG COMMAND...: one test, which is the command.
run_noted() {
    local what=$1 log=$logs/$2 code
    shift 2
    rm -f "$log.skips"
    strict "$@" >"$log" 2>&1
    if [ "$code" = 0 ]; then note "$what" 1 0 "$log"; else note "$what" 0 1 "$log"; fi
}

# run_counted WHAT LOG COMMAND...: a command that counts its own tests, in a last line as ours.  What it skips it says: "skip WHERE: WHY".
run_counted() {
    count "${@:2}"
    note_counted "$1" "$2"
}
count() {
    local log=$logs/$1 code
    shift
    strict cd_and "$where" "$@" >"$log" 2>&1
    echo "$code" >"$log.code"
}
cd_and() {
    cd "$1"
    "${@:2}"
}
note_counted() {
    local what=$1 log=$logs/$2 line passed=0 failed=0 skipped=0
    line=$(tail -n 1 "$log")
    [[ $line =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed(,\ ([0-9]+)\ skipped)?$ ]] && passed=${BASH_REMATCH[1]} failed=${BASH_REMATCH[2]} skipped=${BASH_REMATCH[4]:-0}
    sed -n 's/^ *skip //p' "$log" >"$log.skips"
    if [ "$(wc -l <"$log.skips")" != "$skipped" ]; then
        echo "$skipped counted as skipped, and $(wc -l <"$log.skips") named" >>"$log"
        failed=$((failed + 1))
    fi
    note "$what" "$passed" "$(failures "$failed" "$(cat "$log.code")" "$log")" "$log"
}

# ---- C: every program of tests/c and tests/model, built in several ways ----
# c_build NAME OPTION...: options of cmake, as --preset asan.  c_only: the programs to make, where not all are wanted.
c_only=()
c_build() {
    forget_old_programs "$1"
    step "C tests, $1" "build-$1" c_build_quiet "$@"
}
c_build_plain() {
    forget_old_programs c
    "$root/scripts/build" c
    step 'C tests' build-plain cmake --build "$out/stage/c" -j "$jobs" "${c_only[@]}"
}
# The model's coroutines are nothing for sanitizers: CMakeLists.txt leaves them out.
c_build_sanitized() {
    local name asked=("${c_only[@]:1}")
    local c_only=()
    for name in "${asked[@]}"; do [[ $name == test_model* ]] || c_only+=("$name"); done
    [ ${#asked[@]} = ${#c_only[@]} ] || [ ${#c_only[@]} -gt 0 ] || return 0
    [ ${#c_only[@]} = 0 ] || c_only=(--target "${c_only[@]}")
    c_build sanitized --preset asan
}
c_build_quiet() {
    cmake -S "$root" -B "$out/stage/$1" -DBUILD_TESTING=ON -DBLOOMFILTER_WERROR="${BLOOMFILTER_WERROR:-0}" -UBLOOMFILTER_SERVER "${@:2}"
    cmake --build "$out/stage/$1" -j "$jobs" "${c_only[@]}"
}
# A program that was deleted leaves its binary behind.
forget_old_programs() {
    local program
    for program in "$out/stage/$1"/tests/*; do
        [ -n "$(find "$root/tests" -name "${program##*/}.c")" ] || rm -f "$program"
    done
}

# c_run BUILD LABEL NAMES COMMAND...: runs the programs of a build, as many at once as there are cores, COMMAND before each,
# with a small disk to fill.
c_run() {
    local build=$1 label=$2 wanted=$3 program name log tmp names=() where=$out/stage/$1
    shift 3
    log=${label//[^A-Za-z]/}
    for program in "$out/stage/$build"/tests/*; do
        name=$(basename "$program")
        chosen "$name" "$wanted" || continue
        names+=("$name")
        while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n || true; done
        tmp=${c_tmp:-}
        ! grep -qs 'Needs a disk' "$root/tests/c/$name.c" || tmp=
        c_tmp=$tmp count "$name-$log" with_small_disk "$@" "$program" &
    done
    wait
    for name in "${names[@]}"; do note_counted "C $name ($label)" "$name-$log"; done
}
# In a mount namespace of its own: nothing stays mounted.  Without the right to mount, the test of a full disk says so.
# c_tmp=memory: /tmp, where the programs make their files, is in memory, and nobody waits for a disk.
with_small_disk() {
    local disk=$out/stage/small-disk
    mkdir -p "$disk" "$disk-tmp"    # mounted in each program's namespace
    if unshare -m mount -t tmpfs -o size=1m none "$disk" 2>/dev/null; then
        BF_SMALL_DISK=$disk BF_ROOT=${c_tmp:+$root} unshare -m sh -c "$mounts" sh "$@"
    else
        "$@"
    fi
}
# A tree below /tmp stays where it is.
# shellcheck disable=SC2016
mounts='set -e
here=$PWD
memory=$BF_SMALL_DISK-tmp
if [ -n "$BF_ROOT" ]; then
    mount -t tmpfs -o mode=1777 none "$memory"
    case $BF_ROOT in /tmp/*) mkdir -p "$memory/${BF_ROOT#/tmp/}" && mount --bind "$BF_ROOT" "$memory/${BF_ROOT#/tmp/}" ;; esac
    mount --move "$memory" /tmp
    cd "$here"
fi
mount -t tmpfs -o size=1m none "$BF_SMALL_DISK"
exec "$@"'
# chosen NAME PATTERNS: PATTERNS is empty (all) or names and globs.
chosen() {
    local pattern patterns
    [ -n "$2" ] || return 0
    read -ra patterns <<<"$2"
    for pattern in "${patterns[@]}"; do
        # shellcheck disable=SC2053
        [[ $1 == $pattern ]] && return 0
    done
    return 1
}
# The programs that check what a vector kernel and a portable one each do say so: the others would run the same code twice, or nearly.
both_kernels() {
    local source
    find "$root/tests" -name 'test_*.c' -exec grep -l 'Runs with both kernels' {} + | sort | while read -r source; do basename "$source" .c; done
}
# Beside all other parts, with other kernels and with sanitizers loops are short; with c_short empty they are not (nox -s c_long has these).
test_c_best() { c_run c 'best kernels' "$*" env BLOOMFILTER_SLOW="${c_short-}"; }
# Programs about Redis run with sanitizers only.  The model checker only computes, so it is another job.
test_c_programs() { c_short=1 test_c_best '!(test_model*|*redis*)'; }
test_models() { c_tmp=memory test_c_best 'test_model*'; }
test_c_portable() {
    local name names=()
    for name in $(both_kernels); do chosen "$name" "$*" && names+=("$name"); done
    [ ${#names[@]} = 0 ] || c_tmp=memory c_run c 'portable kernels' "${names[*]}" env BLOOMFILTER_CPU=portable BLOOMFILTER_SLOW="${c_short-1}"
}
test_c_sanitized() {
    c_tmp=memory c_run sanitized 'ASan, UBSan' "$*" env ASAN_OPTIONS=allocator_may_return_null=1 BLOOMFILTER_SANITIZED=1 BLOOMFILTER_SLOW="${c_short-1}"
}
test_c_sanitized_programs() { test_c_sanitized '!(*redis*)'; }
test_c_sanitized_redis() { test_c_sanitized '*redis*'; }
# Builds without an optional library: what needs it is refused with a sentence, all else works.  NAME... of: none, SODIUM, TLS, SERVER.
test_options() {
    # Without arguments only the tests that ask for a library (optional.h, TLS), and those of all schemes and of Redis: what a missing library
    # changes is seen there.  scripts/test --deep runs all.
    local without options names=() tests=("$root"/tests/c/test_*.c)
    [ $# -gt 0 ] || mapfile -t tests < <(grep -lE 'optional\.h|NEEDS_SODIUM|redis_tls' "${tests[@]}"; printf '%s\n' test_{schemes,vectors,host_interface,redis}.c)
    for without in "${tests[@]}"; do names+=("$(basename "$without" .c)"); done
    for without in "${@:-none}"; do
        options=("-DBLOOMFILTER_$without=OFF")
        [ "$without" != none ] || options=(-DBLOOMFILTER_{SODIUM,SSL,LLHTTP}=OFF)
        c_only=(--target "${names[@]}")
        c_build "without-$without" -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS=-O0 "${options[@]}"
        c_tmp=memory c_run "without-$without" "without $without" '!(test_rate)' env BLOOMFILTER_SLOW=1
    done
}

# ---- PHP: run-tests.php of the PHP that the extension was built for, in a copy of tests/php ----
test_php() { run_phpt PHP phpt "$out/php/bloomfilter.so" "$@"; }
phpt_options=()
# run_phpt WHAT LOG EXTENSION [NAME...]
run_phpt() {
    local what=$1 copy=$out/stage/$2 log=$logs/$2 extension=$3 name php tests=() phpredis=() code=0 failed=0 kind
    shift 3
    rm -rf "$copy"
    mkdir -p "$copy"
    cp -R "$root/tests/php" "$root/tests/vectors" "$copy/"
    for name in "$@"; do tests+=("$(find "$copy/php" -name "$(basename "$name" .phpt).phpt")"); done
    [ $# -gt 0 ] || tests=("$copy/php")
    php=$(php_binary)
    # Debian's phpredis needs igbinary.  Without it, its tests are skipped.
    for name in "extension=igbinary.so -d extension=redis.so" "extension=redis.so"; do
        # shellcheck disable=SC2086
        if [ "$("$php" -n -d $name -r 'echo class_exists("Redis", false);' 2>/dev/null)" = 1 ]; then read -ra phpredis <<<"-d $name"; break; fi
    done
    # After a minute run-tests would end a test, and a PHP that is ended so has leaks.
    (cd "$copy" && env TEST_TIMEOUT=1200 "${around[@]}" TEST_PHP_EXECUTABLE="$php" "$php" -n "$out/php/run-tests.php" -n -q -j"$jobs" --show-diff "${phpt_options[@]}" \
        "${phpredis[@]}" -d "extension=$extension" "${tests[@]}" >"$log" 2>&1) || code=$?
    tr '\r' '\n' <"$log" | sed -n "s:^SKIP .*\[$copy/\(.*\)\] reason\: \(.*\)\$:\1\: \2:p" >"$log.skips"
    for kind in failed leaked borked; do failed=$((failed + $(phpt_count "$log" $kind))); done
    phpt_warned "$log" "$copy"
    note "$what" "$(phpt_passed "$log")" "$(failures $((failed + $(wc -l <"$log.flaky"))) $code "$log")" "$log"
}
phpt_count() { awk -v what="$2" '$1 == "Tests" && $2 == what { sub(/.*: */, ""); n = $1 } END { print n + 0 }' "$1"; }
# run-tests tries a test twice that calls sleep() and the like, and calls it warned where it then passes: flaky.  LOG.flaky has those not listed.
phpt_warned() {
    local name
    : >"$1.flaky"
    tr '\r' '\n' <"$1" | sed -n "s:^WARN .*\[$2/\(.*\.phpt\)\].*passed on retry.*:\1:p" | sort -u | while read -r name; do
        if listed flaky "$name"; then echo "second try, as tests/skips has it: $name"
        else echo "passed at the second try only, and not in tests/skips: $name"; echo "$name" >>"$1.flaky"; fi
    done
}
phpt_passed() { echo $(($(phpt_count "$1" passed) + $(phpt_count "$1" warned) - $(wc -l <"$1.flaky"))); }

# ---- one mapped file under everything at once ----
test_fpm() { run_counted 'PHP-FPM, nginx, Python, C on one file' fpm env "PATH=$venv/bin:$PATH" "PHP=$(php_binary)" "$root/tests/fpm/run"; }

# ---- pytest, with the wheel just built ----
python_tests_ready() {
    install_wheel
    with_extra test,peers,lint xxhash pytest-xdist
    # What `pip install .` downloads: the README's command is run without a network.
    [ -d "$out/wheels" ] || step 'build requirements' wheels "$venv/bin/python" -m pip download -q -d "$out/wheels" "$(build_requirement)"
}
# with_extra EXTRAS [PACKAGE...]: asks the package index once for each pyproject.toml.
with_extra() {
    local extras=$1 stamp now
    shift
    stamp=$venv/with-${extras//,/-}
    now=$(fingerprint "$extras $*" pyproject.toml)
    is_made "$stamp" "$now" && return 0
    step "Python packages: $extras" "extra-${extras//,/-}" uv_install "$(echo "$out"/dist/*.whl)[$extras]" "$@"
    touch "$stamp"
    made "$stamp" "$now"
}
# run_pytest WHAT LOG FOLDER [ARG...]
run_pytest() {
    local what=$1 log=$logs/pytest-$2 folder=$3 line code=0 failed passed
    shift 3
    [[ " $*" == *" $folder"* ]] || set -- "$folder" "$@"
    pytest_once "$log" "$@" || code=$?
    line=$(tail -n 1 "$log")
    failed=$(($(pytest_count failed "$line") + $(pytest_count 'errors?' "$line"))) passed=$(pytest_count passed "$line")
    pytest_skips "$log"
    if [ "$failed" != 0 ]; then second_try "$log"; fi
    note "$what" "$passed" "$(failures $failed $code "$log")" "$log"
}
pytest_once() {
    local log=$1
    shift
    (cd "$root" && env "${around[@]}" HYPOTHESIS_STORAGE_DIRECTORY="$out/hypothesis" "$venv/bin/python" -m pytest -p no:cacheprovider -p no:rerunfailures -q -rfEs "$@" >"$log" 2>&1)
}
pytest_count() { [[ $2 =~ ([0-9]+)\ $1 ]] && echo "${BASH_REMATCH[1]}" || echo 0; }
pytest_skips() {
    local number rest
    sed -n 's/^SKIPPED \[\([0-9]*\)\] \([^:]*\):\([0-9]*:\)\{0,1\} */\1 \2: /p' "$1" | while read -r number rest; do
        while [ $((number--)) -gt 0 ]; do echo "$rest"; done
    done >"$1.skips"
}
# Where tests/skips calls all flaky that failed, they are run once more.  Changes its caller's failed, passed and code.
second_try() {
    local log=$1 name again=()
    while read -r name; do
        listed flaky "$name" || return 0
        again+=("$name")
    done < <(sed -n 's/^\(FAILED\|ERROR\) \([^ ]*\).*/\2/p' "$log")
    [ ${#again[@]} -gt 0 ] || return 0
    echo "second try, as tests/skips has it: ${again[*]}"
    if pytest_once "$log-again" "${again[@]}"; then failed=0 code=0 passed=$((passed + ${#again[@]})); fi
}
# Alone a part may use all cores; with others beside it, it has one.
spread() { [ "$jobs" = 1 ] || echo "-n $jobs --dist loadfile"; }
# shellcheck disable=SC2046
test_python() { run_pytest Python python tests/python $(spread) "$@"; }
# Beside each other, each with its own servers: what is about Redis, what has a front of its own, all else.
test_python_redis() { run_pytest 'Python: Redis' python-redis tests/python/home_redis; }
test_python_fronts() { run_pytest 'Python: command line, Scrapy, columns' python-fronts tests/python/cli tests/python/columns tests/python/frameworks --ignore=tests/python/frameworks/test_spark.py; }
test_python_rest() { run_pytest Python python tests/python --ignore=tests/python/home_redis --ignore=tests/python/cli --ignore=tests/python/columns --ignore=tests/python/frameworks; }
test_spark() { run_pytest 'Python with Spark' spark tests/python/frameworks/test_spark.py "$@"; }
test_server() {
    run_pytest bloomfilterd server tests/server "$@"
}
test_server_sanitized() {
    BLOOMFILTER_SANITIZED=1 BLOOMFILTERD=$out/stage/sanitized/bloomfilterd run_pytest 'bloomfilterd (ASan, UBSan)' server-sanitized tests/server "$@"
}
# What the memory model allows of the core's atomics.
test_litmus() { run_pytest 'memory that reorders' litmus tests/litmus "$@"; }
# Two beside each other also with one processor: it waits for servers half of the time.
test_polyfill() { run_pytest 'PHP without the extension' polyfill tests/polyfill -n 2 --dist worksteal "$@"; }
test_glue() { run_pytest 'PHP frameworks' glue tests/glue "$@"; }
test_ffi() { run_pytest 'other languages' ffi tests/ffi "$@"; }
test_attacks() { run_pytest 'attacks' attacks tests/attacks "$@"; }
test_catalogue() { run_pytest 'catalogue of bad input' catalogue tests/catalogue "$@"; }
test_fuzz() { run_counted 'fuzz targets' fuzz "$root/scripts/fuzz" "${1:-60}"; }
test_corpora() { run_counted 'inputs of fuzz targets' corpora "$root/scripts/fuzz" --replay; }
test_coverage() { run_noted 'lines and branches of core/' coverage "$root/scripts/coverage"; }
test_cross() {
    # The PHP class needs no network; the other systems of tests/live do.
    local care='tests/live/test_live.py::test_it_goes_on_while_it_is_cared_for'
    run_pytest 'across languages' cross tests/cross "${care}[php-Command]" "${care}[php-Daemon]" "$@"
}

# ---- packages and documentation ----
test_package() { run_pytest packages package tests/package "$@"; }
test_docs() {
    run_noted 'plots are what the library computes' gen-plots "$venv/bin/python" "$root/scripts/gen-plots" --check
    run_noted 'documentation site' site build_site
}
build_site() (
    cd "$root"
    NO_MKDOCS_2_WARNING=1 "$venv/bin/python" -m mkdocs build --strict
)

# ---- the tree itself ----
test_tree() {
    run_noted 'arginfo is what the stub says' gen-arginfo "$root/scripts/gen-arginfo" --check
    run_noted 'vectors are what the formulas say' gen-vectors "$venv/bin/python" "$root/scripts/gen-vectors" --check
    run_noted 'the man page and completions are what the parser says' gen-cli "$venv/bin/python" "$root/scripts/gen-cli" --check
    run_noted 'reference is what stubs and header say' gen-api "$root/scripts/gen-api" --check
    run_noted 'catalogue is what its generator says' gen-catalogue "$root/scripts/gen-catalogue" --check
    run_noted 'package.xml lists the files there are' gen-package "$root/scripts/gen-package" --check
    run_noted 'php-polyfill/lua has the scripts of the core' gen-polyfill "$root/scripts/gen-polyfill" --check
    run_noted 'declarations for FFI are those of the header' gen-ffi "$root/scripts/gen-ffi" --check
    run_noted 'lint' lint "$root/scripts/lint" --all
    run_pytest 'scripts/test itself' runner tests/runner
}

test_demo() { run_noted 'scripts/demo' demo "$root/scripts/demo"; }
