/* statvfs.h - what the core uses of <sys/statvfs.h>; base/windows/posix.h has it */
