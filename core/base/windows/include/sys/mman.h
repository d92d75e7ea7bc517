/* what the core uses of <sys/mman.h>: base/windows/posix.h, which system.h includes */
