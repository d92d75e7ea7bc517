/* resource.h - what the core uses of <sys/resource.h>; base/windows/posix.h has it */
