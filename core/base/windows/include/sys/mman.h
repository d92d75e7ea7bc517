/* mman.h - what the core uses of <sys/mman.h>; base/windows/posix.h has it */
