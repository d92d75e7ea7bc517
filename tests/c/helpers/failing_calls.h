/* failing_calls.h - every call to the system fails once.  The linker sends the calls named below
 * (see "wraps:" in the test, which CMakeLists.txt reads) here; while `armed`, call number `fail_at`
 * fails in the way that is usual for it. Also counts what the library holds: allocations, to find
 * what a failure leaks. */
#ifndef ONCE_H
#define ONCE_H
#include "check.h"
#include <sys/socket.h>
#include <sys/types.h>

static volatile bool armed, failed; /* failed: it came to call number fail_at.  volatile: compilers
                                       know that malloc reads no variable */
static volatile long calls, fail_at, held;
static const char *failed_call;
/* A call that reads or writes may also be interrupted, or do a part: then nobody may notice, and
 * only such calls are counted. */
static volatile enum { FAILS, IS_INTERRUPTED, DOES_A_PART } what_happens;
static bool for_good; /* every later call fails too */

static inline bool now(const char *name)
{
    if (!armed || what_happens != FAILS || ++calls < fail_at || (calls > fail_at && !for_good))
        return false;
    if (!failed) failed_call = name;
    return failed = true;
}

#define WRAP(type, name, params, args, fault, code)                                                \
    type __real_##name params;                                                                     \
    type __wrap_##name params;                                                                     \
    type __wrap_##name params                                                                      \
    {                                                                                              \
        if (now(#name)) {                                                                          \
            errno = code;                                                                          \
            return fault;                                                                          \
        }                                                                                          \
        return __real_##name args;                                                                 \
    }
static inline bool now_partly(const char *name)
{
    if (!armed || what_happens == FAILS || ++calls != fail_at) return false;
    failed_call = name;
    return failed = true;
}
/* size: how much it is asked to do. */
#define WRAP_PARTLY(type, name, size, params, args, code)                                          \
    type __real_##name params;                                                                     \
    type __wrap_##name params;                                                                     \
    type __wrap_##name params                                                                      \
    {                                                                                              \
        if (now(#name)) {                                                                          \
            errno = code;                                                                          \
            return -1;                                                                             \
        }                                                                                          \
        if (now_partly(#name)) {                                                                   \
            if (what_happens == IS_INTERRUPTED) {                                                  \
                errno = EINTR;                                                                     \
                return -1;                                                                         \
            }                                                                                      \
            if (size > 1) size /= 2;                                                               \
        }                                                                                          \
        return __real_##name args;                                                                 \
    }
#define WRAP_ALLOC(name, params, args)                                                             \
    void *__real_##name params;                                                                    \
    void *__wrap_##name params;                                                                    \
    void *__wrap_##name params                                                                     \
    {                                                                                              \
        if (now(#name)) {                                                                          \
            errno = ENOMEM;                                                                        \
            return NULL;                                                                           \
        }                                                                                          \
        void *p = __real_##name args;                                                              \
        if (armed && p) held++;                                                                    \
        return p;                                                                                  \
    }

WRAP_ALLOC(malloc, (size_t n), (n))
WRAP_ALLOC(calloc, (size_t n, size_t size), (n, size))
void *__wrap_strdup(const char *s);
void *__wrap_strdup(const char *s)
{
    size_t n = strlen(s) + 1;
    char *p = __wrap_malloc(n);
    return p ? memcpy(p, s, n) : NULL;
}
void *__wrap_strndup(const char *s, size_t most);
void *__wrap_strndup(const char *s, size_t most)
{
    size_t n = strnlen(s, most);
    char *p = __wrap_malloc(n + 1);
    if (p) {
        memcpy(p, s, n);
        p[n] = 0;
    }
    return p;
}
REPLACED(void *, realloc, (void *old, size_t n))
{
    if (now("realloc")) {
        errno = ENOMEM;
        return NULL;
    }
    if (armed && !old) held++;
    return __real_realloc(old, n);
}
REPLACED(void, free, (void *p))
{
    if (armed && p) held--;
    __real_free(p);
}

WRAP(int, fsync, (int fd), (fd), -1, EIO)
WRAP(int, ftruncate, (int fd, off_t n), (fd, n), -1, EIO)
WRAP(int, fstat, (int fd, struct stat *st), (fd, st), -1, ENOMEM) /* a code other than BF_EIO */
WRAP(int, rename, (const char *a, const char *b), (a, b), -1, EIO)
WRAP(int, msync, (void *p, size_t n, int flags), (p, n, flags), -1, EIO)
WRAP(int, linkat, (int d, const char *a, int e, const char *b, int flags), (d, a, e, b, flags), -1,
    EIO)
WRAP(int, posix_fallocate, (int fd, off_t at, off_t n), (fd, at, n), ENOSPC, 0)
WRAP(void *, mmap, (void *at, size_t n, int prot, int flags, int fd, off_t off),
    (at, n, prot, flags, fd, off), MAP_FAILED, ENOMEM)
WRAP_PARTLY(ssize_t, pread, n, (int fd, void *buf, size_t n, off_t at), (fd, buf, n, at), EIO)
WRAP_PARTLY(
    ssize_t, pwrite, n, (int fd, const void *buf, size_t n, off_t at), (fd, buf, n, at), ENOSPC)
WRAP_PARTLY(ssize_t, send, n, (int fd, const void *buf, size_t n, int flags), (fd, buf, n, flags),
    ECONNRESET)
WRAP_PARTLY(
    ssize_t, recv, n, (int fd, void *buf, size_t n, int flags), (fd, buf, n, flags), ECONNRESET)
WRAP(int, poll, (struct pollfd * fds, nfds_t n, int ms), (fds, n, ms), 0, 0)
WRAP(int, getentropy, (void *p, size_t n), (p, n), -1, EIO)
HOOKED_OPEN(now("open") ? ENOMEM : 0)
#endif
