/* tests.h - what the programs of tests/c that run on Windows use beyond base/windows/posix.h:
 * included before every other header. Text is written as everywhere, with no \r. */
#ifndef WINDOWS_TESTS_H
#define WINDOWS_TESTS_H
#include "../../../core/base/system.h"
#define XXH_INLINE_ALL
#include <stdlib.h>
__attribute__((constructor)) static void binary(void)
{
    _fmode = _O_BINARY;
    _setmode(1, _O_BINARY);
}
/* Writes a number over the X's, which `after` bytes follow. */
static inline char *named(char *name, int after)
{
    static int used;
    char *at = name + strlen(name) - after - 6, kept = at[6];
    do {
        sprintf(at, "%06d", (_getpid() * 100 + used++) % 1000000);
        at[6] = kept;
    } while (_access(name, 0) == 0);
    return name;
}
/* unlink() works while it is open */
static inline int mkstemps_(char *name, int after)
{
    return open(named(name, after), O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW, 0600);
}
static inline char *mkdtemp_(char *name) { return _mkdir(named(name, 0)) == 0 ? name : NULL; }
#define mkdtemp mkdtemp_
#define mkstemps mkstemps_
#define mkstemp(name) mkstemps_(name, 0)
#define setenv(name, value, replace) _putenv_s(name, value)
#define unsetenv(name) _putenv_s(name, "")
#define symlink(to, name) (errno = ENOSYS, -1)
#define alarm(seconds) 0
#define pthread_atfork(before, parent, child) 0
#define fork() (-1)
#define waitpid(child, status, how) (-1)
#endif
