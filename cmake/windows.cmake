# windows.cmake - toolchain file: Windows on x86-64 by MinGW (Debian: gcc-mingw-w64-x86-64-posix), also from Linux.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
