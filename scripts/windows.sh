# shellcheck shell=bash disable=SC2034,SC2154,SC2164
# windows.sh - part "windows" of scripts/test --deep: core/ is compiled for Windows on x86-64 by Debian's MinGW, and run by Wine;
# the Python extension is compiled and linked.  Sourced by scripts/deep.sh.
# Of tests/c those in which nothing forks.
windows_tests=(test_{windows,counting,data,grow,header,rate,refusals,same_bits,schemes,sizing,vectors})

needs_windows() {
    needs_c
    needs_python
    needs_redis
    want gcc-mingw-w64-x86-64-posix have x86_64-w64-mingw32-gcc-posix
    want wine64 test -x /usr/lib/wine/wine64
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
    run_noted 'Windows: Python extension, compiled and linked' windows-python windows_extension
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

# A server on a free port; the keys of Windows are read by Linux.
windows_redis() (
    set -e
    port=$("$python" -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])')
    redis-server --bind 127.0.0.1 --port "$port" --save '' >"$out/windows/redis.log" &
    # shellcheck disable=SC2064
    trap "kill $!" EXIT
    until redis-cli -p "$port" ping 2>/dev/null; do sleep 0.1; done
    url=redis://localhost:$port?key=w
    windows_keys add "$url" one 500
    "$out/windows/keys" test "$url" one 500
    "$out/windows/keys" add "$url" linux 500
    windows_keys test "$url" linux 500
    redis-cli -p "$port" client pause 60000
    [[ $(windows_keys test "$url&timeout=0.5" linux 1) == *'timed out'* ]]
    [[ $(windows_keys test 'redis://127.0.0.1:1?key=w' linux 1) == *refused* ]]
)

# Headers of this machine's CPython with the settings of Windows; the import library has the names that are asked for.
windows_extension() (
    set -e
    objects=$out/windows/extension headers=$out/windows/python
    rm -rf "$objects" "$headers"
    mkdir -p "$objects"
    cp -RL "$("$python" -c 'import sysconfig; print(sysconfig.get_paths()["include"])')" "$headers"
    printf '#define %s\n' MS_WIN32 MS_WIN64 MS_WINDOWS NT_THREADS WITH_THREAD Py_ENABLE_SHARED HAVE_DECLSPEC_DLL 'PLATLIBDIR "lib"' 'SIZEOF_SHORT 2' 'SIZEOF_INT 4' \
        'SIZEOF_LONG 4' 'SIZEOF_LONG_LONG 8' 'SIZEOF_SIZE_T 8' 'SIZEOF_VOID_P 8' 'SIZEOF_WCHAR_T 2' 'SIZEOF_TIME_T 8' 'SIZEOF_DOUBLE 8' 'SIZEOF_FLOAT 4' \
        'ALIGNOF_MAX_ALIGN_T 8' 'HAVE_INTTYPES_H 1' 'HAVE_STDINT_H 1' 'HAVE_SYS_STAT_H 1' 'HAVE_SYS_TYPES_H 1' 'HAVE_WCHAR_H 1' >"$headers/pyconfig.h"
    for source in "$root"/python-ext/*.c; do
        x86_64-w64-mingw32-gcc-posix -std=gnu11 -O3 -ffp-contract=off -Wall -Wextra -Werror -Wno-format -Wa,-muse-unaligned-vector-move -I"$root/core" \
            -isystem "$out/windows/tools/include" -isystem "$headers" -c "$source" -o "$objects/$(basename "$source").o"
    done
    {
        printf 'LIBRARY "python.dll"\nEXPORTS\n'
        x86_64-w64-mingw32-nm "$objects"/*.o | sed -nE 's/.* U (__imp_)?(_?Py.*)/\2/p' | sort -u
    } >"$objects/python.def"
    x86_64-w64-mingw32-dlltool -d "$objects/python.def" -l "$objects/libpython.a"
    x86_64-w64-mingw32-gcc-posix -shared -static -o "$objects/_bloomfilter.pyd" "$objects"/*.o "$out/stage/windows/libbloomfilter.a" "$objects/libpython.a" -lws2_32 -lpthread
    x86_64-w64-mingw32-objdump -p "$objects/_bloomfilter.pyd" | grep PyInit__bloomfilter
)
