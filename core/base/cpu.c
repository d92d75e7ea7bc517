/* cpu.c - which instructions this machine has.  Kernels are chosen once, when a filter is opened.
 */
#include "base/base.h"
#include <stdlib.h>

bool bf_has_avx2(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
    const char *want = getenv("BLOOMFILTER_CPU"); /* "portable": the tests compare both */
    if (want && want[0] == 'p') return false;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt");
#else
    return false;
#endif
}
