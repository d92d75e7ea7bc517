/* what the core uses of <sys/resource.h>: base/windows/posix.h, which system.h includes */
