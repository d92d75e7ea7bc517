# shellcheck shell=bash disable=SC2034,SC2154,SC2164
# arch.sh - part "arch" of scripts/test --deep: the C tests on machines that this one is not.  Sourced by scripts/deep.sh.
# Other machines' libraries are unpacked below out/arch and nothing is installed of them; their programs run by qemu's user mode, i386 as
# it is.  Knows how to build for a machine and which tests cannot run on it; knows nothing of the tests but that.
#
#   arm64, s390x   Debian's cross compilers and packages; s390x has the other order of bytes
#   arm64_hosts    a wheel and a PHP extension for Debian's Python and PHP of arm64 (arch_hosts.sh)
#   i386           32 bits, where longs, size_t and file offsets are short
#   musl           another C library; libsodium is compiled for it from Debian's sources (arch_musl.sh)
#   musl_hosts     PHP and Python compiled with musl, the extension and a wheel for them, and their tests
#   nehalem        this machine's own build on a processor without AVX2
#   native, clang  -O3 -march=native; clang does it with -fsanitize=undefined,alignment
#
# BLOOMFILTER_ARCH='i386 musl' runs those alone.
# shellcheck source=scripts/arch_hosts.sh
. "$root/scripts/arch_hosts.sh"
# shellcheck source=scripts/arch_musl.sh
. "$root/scripts/arch_musl.sh"
read -ra arch_machines <<<"${BLOOMFILTER_ARCH:-arm64 arm64_hosts s390x i386 musl musl_hosts nehalem native clang}"
arch_tests='test_image test_chain test_counting test_counting_race test_file test_grow test_grow_together test_failing_calls* test_race test_redis test_redis_client test_redis_edges'
arch_tests+=' test_redis_foreign test_redis_failing_calls test_refusals test_same_bits test_schemes test_sizing test_system test_vectors test_window test_model*'
# glibc calls open64, mmap64 ... on a machine of 32 bits: the tests that put their own in the place of open and mmap do not reach them.
arch_tests_32=${arch_tests//test_failing_calls\* /}
arch_tests_32=${arch_tests_32//test_redis_failing_calls /}
arch_tests_32=${arch_tests_32//test_system /}
arch_tests_32=${arch_tests_32//test_model\*/test_model test_model_counting test_model_grow test_model_grow_counting test_model_window}

needs_arch() {
    want mmdebstrap have mmdebstrap
    want qemu-user-static have qemu-aarch64-static
    want gcc-aarch64-linux-gnu have aarch64-linux-gnu-gcc
    want gcc-s390x-linux-gnu have s390x-linux-gnu-gcc
    want gcc-i686-linux-gnu have i686-linux-gnu-gcc
    want musl-tools have musl-gcc
    want clang have clang
    want autoconf have autoreconf
    want automake have automake
    want libtool have libtoolize
    want dpkg-dev have dpkg-source
}

deep_arch() {
    local machine
    provide needs_c needs_redis needs_arch
    mkdir -p "$out/arch"
    for machine in "${arch_machines[@]}"; do "arch_$machine"; done
}

# ---- machines of Debian's ----
# Sets suite and mirror: this Debian's name and where it is.
arch_mirror() {
    # shellcheck source=/dev/null
    suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
    # shellcheck disable=SC2016
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Codename: $suite" | sed -n 1p)
}
# The libraries, unpacked and not configured: programs are only linked with them.
arch_root() {
    local root_of=$out/arch/$1 suite mirror
    [ ! -e "$root_of.made" ] || return 0
    arch_mirror
    rm -rf "$root_of"
    step "libraries for $1" "arch-$1" mmdebstrap --variant=extract --architectures="$1" --include=libc6-dev,libxxhash-dev,libsodium-dev \
        --skip=check/qemu "$suite" "$root_of" "$mirror"
    touch "$root_of.made"
}

# arch_build DEBIAN'S_NAME TRIPLE FLAGS [LINKER_FLAGS]
arch_build() {
    local root_of=$out/arch/$1 libraries=$out/arch/$1/usr/lib/$2
    [ -d "$libraries" ] || libraries=$out/arch/$1/usr/lib/${2/i686/i386}
    cat >"$root_of.cmake" <<END
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR $1)
set(CMAKE_C_COMPILER /usr/bin/$2-gcc)
set(CMAKE_SYSROOT $root_of)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_EXE_LINKER_FLAGS_INIT "-L$libraries -Wl,-rpath-link,$libraries $4")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "-L$libraries")
END
    CMAKE_TOOLCHAIN_FILE=$root_of.cmake PKG_CONFIG_SYSROOT_DIR=$root_of PKG_CONFIG_LIBDIR=$libraries/pkgconfig c_build "$1" -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS="-isystem $root_of/usr/include/$(basename "$libraries") $3"
}

# Under qemu as under valgrind: what has no second thread is short.
arch_by_qemu() {
    arch_root "$1"
    arch_build "$1" "$2-linux-gnu" '' ''
    c_run "$1" "$2 by qemu" "$arch_tests" env BLOOMFILTER_SLOW=1 "qemu-$2-static" -L "$out/arch/$1"
}
arch_arm64() {
    arch_by_qemu arm64 aarch64
    run_noted 'NEON: at most half the instructions of the portable kernels' arm64-instructions arch_instructions
}
# qemu logs every instruction with the function that it is in, one instruction a block.
arch_instructions() (
    root_of=$out/arch/arm64 program=$out/arch/kernels trace=$out/arch/kernels.trace
    aarch64-linux-gnu-gcc --sysroot="$root_of" -isystem "$root_of/usr/include/aarch64-linux-gnu" -O2 -w -static -I"$root/core" "$root/bench/arm/kernels.c" \
        "$out/stage/arm64/libbloomfilter.a" -L"$root_of/usr/lib/aarch64-linux-gnu" -lsodium -lm -lpthread -o "$program"
    for shape in 'block 7' 'block 8' 'block 12' 'block2 14' 'block2 16' 'classic 7'; do
        for row in portable T0; do
            # shellcheck disable=SC2086
            BLOOMFILTER_CPU=$row qemu-aarch64-static -singlestep -d exec,nochain -D "$trace" "$program" $shape
            awk -v shape="$shape" -v row="${row/T0/NEON}" '$NF ~ /^(test_|round|has|line_test)/ { test++ } $NF ~ /^(add_|put|line_add|line_m|spare)/ { add++ }
                END { printf "%s %s %.1f %.1f\n", shape, row, test / 1280, add / 640 }' "$trace"
        done
    done >"$program.txt"
    awk '{ printf "%-6s k=%-2d %-8s %6.1f instructions to test a key, %6.1f to add one\n", $1, $2, $3, $4, $5 }' "$program.txt"
    awk '$3 == "portable" { test = $4; add = $5 } $3 == "NEON" && $1 != "classic" && (test == 0 || 2 * $4 > test || 2 * $5 > add) { bad = 1 } END { exit bad || NR != 12 }' "$program.txt"
    rm "$trace"
)
arch_s390x() { arch_by_qemu s390x s390x; }

# Runs as it is, with its own loader.
arch_i386() {
    local root_of=$out/arch/i386
    arch_root i386
    arch_build i386 i686-linux-gnu '' "-Wl,--dynamic-linker=$root_of/lib/ld-linux.so.2 -Wl,-rpath,$root_of/lib/i386-linux-gnu:$root_of/usr/lib/i386-linux-gnu"
    c_run i386 'i386, 32 bits' "$arch_tests_32" env BLOOMFILTER_SLOW=1
}

# debian_source PACKAGE [RELEASE]: downloads its Debian source into this folder; does not unpack it.
debian_source() (
    mkdir -p lists/partial
    sed 's/^Types: .*/Types: deb-src/' /etc/apt/sources.list.d/*.sources >sources.sources 2>/dev/null || true
    sed -n 's/^deb /deb-src /p' /etc/apt/sources.list >sources.list 2>/dev/null || true
    [ -s sources.sources ] && rm -f sources.list
    from=("$PWD"/sources.*)
    [ $# = 1 ] || sed -i "s/$(. /etc/os-release && echo "$VERSION_CODENAME")/$2/g" "${from[0]}"
    options=(-o "Dir::Etc::sourcelist=${from[0]}" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$PWD/lists" -o APT::Sandbox::User=root)
    apt-get -q "${options[@]}" update
    apt-get -q "${options[@]}" source --download-only "$1"
)

# ---- this machine otherwise ----
arch_nehalem() {
    c_build_plain
    c_run c 'no AVX two, by qemu' 'test_same_bits test_schemes test_counting test_grow test_vectors' env BLOOMFILTER_SLOW=1 qemu-x86_64-static -cpu Nehalem
}
arch_native() {
    c_build native -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS=-march=native
    c_run native 'O three, march native' "$arch_tests" env BLOOMFILTER_SLOW=1
}
# What is undefined traps: clang's reports would need a library that it does not link into a shared one.
arch_clang() {
    CC=clang c_build clang -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS='-O3 -march=native -fsanitize=undefined,alignment -fsanitize-trap=undefined,alignment'
    c_run clang 'clang, UBSan' "$arch_tests" env BLOOMFILTER_SLOW=1 BLOOMFILTER_SANITIZED=1
}
