/* cpu.c - detects the instruction sets of this machine and the best prefetch hint. Kernels are
 * chosen once, when a filter is opened. */
#include "base/base.h"
#include <stdlib.h>

/* Returns the first letter of "portable" or "avx2" (no AVX-512), the digit of the prefetch hint
 * "T0" or "T1", or 0. Only tests set the variable. */
static char wanted(void)
{
    const char *want = getenv("BLOOMFILTER_CPU");
    return want && want[0] == 'T' && want[1] ? want[1] : want ? want[0] : 0;
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>

/* AMD's Zen 3 and Zen 4 can load more lines at the same time if the lines are prefetched into
 * the second-level cache; Zen 5 cannot. */
enum { ZEN_3_AND_4 = 0x19 };
static bool far;
__attribute__((constructor)) static void detect_cpu(void)
{
    unsigned a, b, c, d;
    __builtin_cpu_init();
    if (!__builtin_cpu_is("amd") || !__get_cpuid(1, &a, &b, &c, &d)) return;
    far = (a >> 8 & 0xF) + (a >> 20 & 0xFF) == ZEN_3_AND_4;
}

static bool has_vectors(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("popcnt");
}
bool bf_has_avx2(void) { return bf_cpu() >= BF_CPU_VECTOR; }
bool bf_has_avx512(void)
{
    return wanted() != 'a' && bf_has_avx2() && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512vl");
}
#else
enum { far = false };
/* every aarch64 has NEON; line.h has no kernels for its big-endian mode */
static bool has_vectors(void)
{
#if defined(__aarch64__) && defined(__GNUC__) && !defined(__AARCH64EB__)
    return true;
#else
    return false;
#endif
}
bool bf_has_avx2(void) { return false; }
bool bf_has_avx512(void) { return false; }
#endif

bf_cpu_row bf_cpu(void)
{
    const char want = wanted();
    if (want == 'p' || !has_vectors()) return BF_CPU_PORTABLE;
    return want == '1' || (far && want != '0') ? BF_CPU_FAR : BF_CPU_VECTOR;
}
