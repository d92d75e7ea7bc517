/* no_deepbind.c - loaded into a PHP before the address sanitizer's library: takes RTLD_DEEPBIND
 * from the flags of dlopen. PHP opens extensions with it, and the sanitizer ends every process that
 * does, since such a library could have an allocator of its own.  Knows nothing of PHP. */
#define _GNU_SOURCE
#include <dlfcn.h>

void *dlopen(const char *file, int flags)
{
    void *(*next)(const char *, int);
    *(void **)&next = dlsym(RTLD_NEXT, "dlopen");
    return next(file, flags & ~RTLD_DEEPBIND);
}
