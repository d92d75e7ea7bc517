/* native.h - the schemes of this library, which come first in the table: any m, any k, a secret.
 * Those of older systems have limits of their own; test_vectors.c and the last part of
 * test_schemes.c are about them.  And a path for a filter. */
#ifndef NATIVE_H
#define NATIVE_H
#include "../../../core/bloomfilter.h"

static inline const char *native_scheme(size_t i)
{
    const char *name = bf_scheme_name(i);
    return name && strcmp(name, "sax-sdbm") ? name : NULL;
}

/* Nothing is there; the next call's is another. */
static inline char *temp_path(void)
{
    static char path[40];
    strcpy(path, "/tmp/bf-test-XXXXXX.bloom");
    int fd = mkstemps(path, 6);
    if (fd >= 0) {
        close(fd);
        unlink(path);
    }
    return path;
}
#endif
