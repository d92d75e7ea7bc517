# clang.cmake - toolchain file: the newest clang, by Debian's names.
find_program(CMAKE_C_COMPILER NAMES clang-21 clang-20 clang-19 clang-18 clang-17 clang-16 clang)
