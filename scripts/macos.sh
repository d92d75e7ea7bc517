# shellcheck shell=bash disable=SC2034,SC2154
# macos.sh - part "macos" of scripts/test --deep: core/, tests/c and the Python extension are compiled and linked for macOS by zig, which
# has the headers and the list of symbols of macOS.  Sourced by scripts/deep.sh.  Nothing of it runs: this machine has no macOS.
# Of tests/c what uses no call of Linux: no Redis, whose helper stops its server by prctl.
macos_tests=(test_{bytes,chain_edges,compact,counting,counting_race,cut_short,data,descriptor,file,grow,grow_together,header,hosts,kept,nowait,once_more}
    test_{overfull,overtaken,race,rate,rebuild,rebuild_stress,refusals,same_bits,schemes,siphash,sizing,vectors,wants,window,window_hostile}
    test_{window_tick,writer,xxh3})

needs_macos() {
    needs_python
    want cmake have cmake
    want pkg-config have pkg-config
    want libxxhash-dev library 'libxxhash >= 0.8'
}

deep_macos() {
    local machine
    provide needs_macos
    [ -d "$out/macos/zig/ziglang" ] || step 'zig' macos-zig "$python" -m pip install -q --target "$out/macos/zig" ziglang
    for machine in aarch64 x86_64; do
        run_noted "macOS $machine: C library and its tests, compiled and linked" "macos-$machine" macos_library "$machine"
        run_noted "macOS $machine: Python extension, compiled and linked" "macos-$machine-python" macos_extension "$machine"
    done
}

# Only xxHash's headers, which are the same everywhere: no other header of this machine is for macOS.
macos_tools() {
    local tools=$out/macos/tools tool
    mkdir -p "$tools/include"
    cp "$(pkg-config --variable=includedir libxxhash)"/xxh*.h "$tools/include"
    printf 'Name: libxxhash\nDescription: header\nVersion: 0.8.1\nCflags: -I%s/include\n' "$tools" >"$tools/libxxhash.pc"
    export ZIG_GLOBAL_CACHE_DIR=$out/macos/cache ZIG_LOCAL_CACHE_DIR=$out/macos/cache PYTHONPATH=$out/macos/zig
    for tool in "cc -target $1-macos" ar ranlib; do
        printf '#!/bin/sh\nexec %s -m ziglang %s "$@"\n' "$python" "$tool" >"$tools/${tool%% *}-$1"
        chmod +x "$tools/${tool%% *}-$1"
    done
}

macos_library() (
    tools=$out/macos/tools
    macos_tools "$1"
    PKG_CONFIG_LIBDIR=$tools cmake -S "$root" -B "$out/macos/$1" -DCMAKE_SYSTEM_NAME=Darwin -DCMAKE_SYSTEM_PROCESSOR="$1" \
        -DCMAKE_C_COMPILER="$tools/cc-$1" -DCMAKE_AR="$tools/ar-$1" -DCMAKE_RANLIB="$tools/ranlib-$1" -DCMAKE_C_FLAGS='-Werror -DXXH_INLINE_ALL=' -DBUILD_TESTING=ON
    cmake --build "$out/macos/$1" -j "$jobs" --target bloomfilter bloomfilter_static "${macos_tests[@]}"
)

# Headers of this machine's CPython; of its names those of macOS are the same.
macos_extension() (
    tools=$out/macos/tools objects=$out/macos/$1/extension
    macos_tools "$1"
    mkdir -p "$objects"
    include=$("$python" -c 'import sysconfig; print(sysconfig.get_paths()["include"])')
    config=$("$python" -c 'import os, sysconfig; print(os.path.dirname(sysconfig.get_config_h_filename()))')
    for source in "$root"/python-ext/*.c; do
        "$tools/cc-$1" -std=gnu11 -O3 -fvisibility=hidden -ffp-contract=off -Wall -Wextra -Werror -I"$root/core" -isystem "$tools/include" \
            -isystem "$config" -isystem "$include" -c "$source" -o "$objects/$(basename "$source").o"
    done
    "$tools/cc-$1" -shared -undefined dynamic_lookup -o "$objects/_bloomfilter.so" "$objects"/*.o "$out/macos/$1/libbloomfilter.a"
)
