/* own_clock.h - a clock of the test's own, which stands still but for the sleeps of the library:
 * what a wait takes is known to the millisecond, however long the machine stalls.  The program
 * wraps nanosleep and clock_gettime (see "wraps:" in the test, which CMakeLists.txt reads). */
#ifndef OWN_CLOCK_H
#define OWN_CLOCK_H
#include "check.h"
#include <time.h>

static long long own_ns; /* 0: the clock is the machine's */
static inline uint64_t own_ms(void) { return (uint64_t)own_ns / 1000000; }
static inline void own_clock(bool own) { own_ns = own ? 1000000000000 : 0; }

REPLACED(int, nanosleep, (const struct timespec *t, struct timespec *left))
{
    if (!own_ns) return __real_nanosleep(t, left);
    own_ns += t->tv_sec * 1000000000LL + t->tv_nsec;
    return 0;
}
REPLACED(int, clock_gettime, (clockid_t which, struct timespec *t))
{
    if (!own_ns) return __real_clock_gettime(which, t);
    *t = (struct timespec){ own_ns / 1000000000, own_ns % 1000000000 };
    return 0;
}
#endif
