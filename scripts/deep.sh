# shellcheck shell=bash disable=SC2034,SC2154,SC2164
# deep.sh - the parts of scripts/test --deep: suites once more under what watches memory and threads, and long runs of kill -9.
# Sourced by scripts/test, whose functions build, run and count.  Knows how a watcher gets into an interpreter that was not
# built for it; knows nothing of the tests but which of them cannot be watched.
deep_parts=(valgrind tsan python pythons freethreaded php zts phps kill coverage arch macos windows packages image fuzz options server c asan bench)
reports=$out/reports
# shellcheck source=scripts/arch.sh
. "$root/scripts/arch.sh"
# shellcheck source=scripts/macos.sh
. "$root/scripts/macos.sh"
# shellcheck source=scripts/windows.sh
. "$root/scripts/windows.sh"
# shellcheck source=scripts/packages.sh
. "$root/scripts/packages.sh"
# shellcheck source=scripts/other_php.sh
. "$root/scripts/other_php.sh"
# shellcheck source=scripts/other_python.sh
. "$root/scripts/other_python.sh"

test_deep() {
    local part begun
    for part in "$@"; do
        begun=$SECONDS
        "deep_$part"
        say "--deep $part: $(((SECONDS - begun + 30) / 60)) minutes"
    done
}

# ---- C ----
# Not under valgrind: test_rate, which is arithmetic, ten million keys of it; test_model*, whose coroutines it cannot follow.
deep_valgrind() {
    provide needs_c needs_redis needs_deep
    c_build_plain
    c_run c valgrind '!(test_rate|test_model*)' env BLOOMFILTER_SLOW=1 BLOOMFILTER_SANITIZED=1 valgrind -q --error-exitcode=99
}

# Every C program that starts threads.  Portable kernels: the sanitizer does not know that a 32-byte load is four 8-byte ones.
deep_tsan() {
    local threaded
    provide needs_c needs_redis needs_server_tests needs_python
    "$root/scripts/build" c python
    python_tests_ready
    c_build tsan --preset tsan
    threaded=$(cd "$root/tests/c" && grep -lE 'pthread_create|at_once[.]h' test_*.c | sed 's/\.c$//' | tr '\n' ' ')
    c_run tsan TSan "$threaded" env BLOOMFILTER_SLOW=1 BLOOMFILTER_CPU=portable BLOOMFILTER_SANITIZED=1 TSAN_OPTIONS=history_size=7
    around=(BLOOMFILTER_SANITIZED=1 BLOOMFILTER_CPU=portable "BLOOMFILTERD=$out/stage/tsan/bloomfilterd")
    run_pytest 'bloomfilterd (TSan)' server-tsan tests/server
    step 'Python extension with TSan' build-python-tsan build_python_with "$out/stage/python-tsan" '-O1 -g -fno-omit-frame-pointer -fsanitize=thread'
    around=("$(preload libtsan.so libstdc++.so.6)" "PYTHONPATH=$out/stage/python-tsan/python-ext" BLOOMFILTER_SANITIZED=1 BLOOMFILTER_CPU=portable)
    sanitizers_say ''
    run_pytest 'Python threads (TSan)' python-tsan tests/python/interpreter/test_threads.py -p no:faulthandler
    no_reports 'Python threads (TSan)' python-tsan
}

deep_coverage() { test_coverage; }
deep_fuzz() {
    provide needs_php needs_fuzz_hosts
    test_fuzz 60
}
# The loops of tests/c in full length, and programs about Redis without sanitizers: everything runs neither.
deep_c() {
    provide needs_c needs_redis
    c_build_plain
    test_c_best '!(test_model*)'
}
deep_asan() {
    provide needs_c needs_redis
    c_build_plain
    c_build_sanitized
    c_short='' test_c_portable
    c_short='' test_c_sanitized
}
deep_options() {
    provide needs_c needs_redis
    test_options none SODIUM TLS SERVER
}
# Fails where a ratio is more than 10 % above that of bench/ratios.tsv; wants a machine that does nothing else.
deep_bench() {
    run_counted 'speed, beside bench/ratios.tsv' bench "$root/scripts/bench" --held
}
# Everything runs most of these tests with the sanitized daemon only.
deep_server() {
    provide needs_c needs_redis needs_server_tests
    "$root/scripts/build" c python
    python_tests_ready
    test_server
}

deep_kill() {
    provide needs_c needs_redis needs_php needs_python needs_fpm
    "$root/scripts/build"
    install_wheel
    c_build_plain
    c_run c 'a thousand kills' 'test_file test_grow_together' env BF_KILLS=1000
    c_run c 'a minute of rebuilds' 'test_rebuild_stress' env BF_STRESS_SECONDS=60
    BLOOMFILTER_KILL_ROUNDS=1000 test_fpm
    grep -h 'acknowledged' "$logs"/test_*-athousandkills "$logs/fpm" | sed 's/^ */    /'
}

# ---- sanitizers in an interpreter: their libraries come before all others ----
sanitized='-g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all'
preload() {
    local name path paths=()
    for name in "$@"; do
        path=$([[ $name == /* ]] && echo "$name" || cc -print-file-name="$name")
        [[ $path == /* ]] || die "cc has no $name: the sanitizers in an interpreter need gcc"
        paths+=("$path")
    done
    echo "LD_PRELOAD=${paths[*]}"
}
# sanitizers_say OPTIONS: where and how.  To files: tests read what the processes that they start print.
sanitizers_say() {
    rm -rf "$reports"
    mkdir -p "$reports"
    around+=("ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=1:log_path=$reports/asan:$1"
        "UBSAN_OPTIONS=print_stacktrace=1:log_path=$reports/ubsan" "TSAN_OPTIONS=history_size=7:log_path=$reports/tsan")
}
# Whatever a process has said is a failure, also that of a child whose end nobody looked at.
no_reports() {
    local what=$1 log=$logs/reports-$2 files=("$reports"/*)
    around=()
    : >"$log"
    [ -e "${files[0]}" ] || { note "$what: no report" 1 0 "$log"; return; }
    cat "${files[@]}" >"$log"
    note "$what: reports" 0 ${#files[@]} "$log"
}

# ---- Python ----
# Its sources, built in place with other flags; PYTHONPATH comes before what is installed.
build_python_with() {
    local stage=$1 inputs=(setup.py pyproject.toml MANIFEST.in README.md LICENSE CHANGELOG.md core python-ext docs/man)
    rm -rf "$stage"
    mkdir -p "$stage"
    (cd "$root" && cp -R --parents "${inputs[@]}" "$stage")
    (cd "$stage" && CFLAGS=$2 "$venv/bin/python" setup.py -q build_ext --inplace)
}
deep_python() {
    local stage=$out/stage/python-sanitized
    provide needs_redis
    "$root/scripts/build" python
    python_tests_ready
    # greenlet copies parts of the stack: it reads the red zones between variables, and leaves them to other frames.
    step 'Python extension with ASan and UBSan' build-python-sanitized build_python_with "$stage" "$sanitized --param asan-stack=0"
    # Compiled parts of other packages throw through libstdc++, which has to be there when ASan starts.
    around=("$(preload libasan.so libubsan.so libstdc++.so.6)" PYTHONMALLOC=malloc "PYTHONPATH=$stage/python-ext:$root/tests/helpers"
        BLOOMFILTER_SANITIZED=1 "BLOOMFILTER_REPORTS=$reports/asan")
    sanitizers_say 'leak_check_at_exit=0:stack_trace_format="#%n %m %f %S"'
    run_pytest 'Python (ASan, UBSan)' python-sanitized tests/python -p sanitized -p no:faulthandler --ignore=tests/python/frameworks/test_spark.py
    no_reports 'Python (ASan, UBSan)' python
    around=(PYTHONDEVMODE=1 PYTHONMALLOC=debug BLOOMFILTER_HALF_GIB=1)
    run_pytest 'Python (debug allocator, -X dev)' python-debug tests/python --ignore=tests/python/frameworks/test_spark.py
    around=()
}

# ---- PHP ----
build_php_sanitized() (
    rm -rf "$1"
    mkdir -p "$1"
    cp -R "$root/config.m4" "$root/core" "$root/php-ext" "$1"
    cd "$1"
    cc -Wall -Wextra -shared -fPIC "$root/tests/php/no_deepbind.c" -o no_deepbind.so
    phpize
    ./configure --enable-bloomfilter CFLAGS="-O1 $sanitized"
    make -j "$jobs"
)
# The interpreter's own allocator is off, its libraries stay loaded: a leak at the end of a PHP is seen, and has names.
deep_php() {
    local stage=$out/stage/php-sanitized
    provide needs_redis needs_phpredis needs_deep
    "$root/scripts/build" php
    step 'PHP extension with ASan and UBSan' build-php-sanitized build_php_sanitized "$stage"
    around=("$(preload "$stage/no_deepbind.so" libasan.so libubsan.so libstdc++.so.6)" USE_ZEND_ALLOC=0 ZEND_DONT_UNLOAD_MODULES=1 BLOOMFILTER_SANITIZED=1)
    sanitizers_say verify_asan_link_order=0
    run_noted 'PHP: the sanitizer sees a leak' php-control php_control
    run_phpt 'PHP (ASan, UBSan)' phpt-sanitized "$stage/modules/bloomfilter.so"
    no_reports 'PHP (ASan, UBSan)' php
    phpt_options=(-m)
    run_phpt 'PHP (valgrind)' phpt-valgrind "$out/php/bloomfilter.so" memory_is_given_back batch_holes_and_types key_text \
        construct_refuses serialize unserialize_refuses_damage save_and_load sets counting storage_open storage_redis
    phpt_options=()
}
# 4321 bytes, ten times because a stale register may still hold one of the addresses.
php_control() {
    env "${around[@]}" "$(php_binary)" -n -d extension=ffi.so -r '$c = FFI::cdef("void *malloc(size_t);"); for ($i = 0; $i < 10; $i++) $c->malloc(4321);' || true
    cat "$reports"/asan.*
    grep -q 'leak of .* byte' "$reports"/asan.*
    rm "$reports"/asan.*
}
