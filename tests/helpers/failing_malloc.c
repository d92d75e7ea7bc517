/* failing_malloc.c - for LD_PRELOAD: malloc and its kin, of which one call fails on demand. */
#include <errno.h>
#include <stddef.h>

void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

/* The allocation with this number fails, counted down from now on; 0: none, or it has failed. */
long failing_malloc_left;

static int fails(void)
{
    if (failing_malloc_left == 0 || --failing_malloc_left != 0) return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size) { return fails() ? NULL : __libc_malloc(size); }
void *calloc(size_t n, size_t size) { return fails() ? NULL : __libc_calloc(n, size); }
void *realloc(void *old, size_t size) { return fails() ? NULL : __libc_realloc(old, size); }
void *aligned_alloc(size_t to, size_t size) { return fails() ? NULL : __libc_memalign(to, size); }
int posix_memalign(void **out, size_t to, size_t size)
{
    void *p = fails() ? NULL : __libc_memalign(to, size);
    if (p) *out = p;
    return p ? 0 : ENOMEM;
}

void failing_malloc_nothing(void *thing) { (void)thing; }
