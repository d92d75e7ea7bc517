/* what the core uses of <sys/statvfs.h>: base/windows/posix.h, which system.h includes */
