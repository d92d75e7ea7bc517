/* xorshift.h - numbers that look random, the same in every run (G. Marsaglia, 2003). */
#ifndef XORSHIFT_H
#define XORSHIFT_H
#include <stdint.h>

static uint64_t state = 88172645463325252u;
static inline uint64_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}
#endif
