/* cpu.c - which instructions this machine has, and which hint fetches its memory best.  Kernels are
 * chosen once, when a filter is opened. */
#include "base/base.h"
#include <stdlib.h>

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>

/* AMD's Zen 3 and Zen 4 have more lines of memory under way at once where they are fetched into the
 * second cache; Zen 5 has not. */
enum { ZEN_3_AND_4 = 0x19 };
static bool far;
__attribute__((constructor)) static void look_at_it(void)
{
    unsigned a, b, c, d;
    __builtin_cpu_init();
    if (!__builtin_cpu_is("amd") || !__get_cpuid(1, &a, &b, &c, &d)) return;
    far = (a >> 8 & 0xF) + (a >> 20 & 0xFF) == ZEN_3_AND_4;
}

/* BLOOMFILTER_CPU is "portable", "T0" or "T1" for the tests, which compare them. */
bf_cpu_row bf_cpu(void)
{
    const char *want = getenv("BLOOMFILTER_CPU");
    if (want && want[0] == 'p') return BF_CPU_PORTABLE;
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi2") ||
        !__builtin_cpu_supports("popcnt"))
        return BF_CPU_PORTABLE;
    if (want && want[0] == 'T') return want[1] == '1' ? BF_CPU_FAR : BF_CPU_AVX2;
    return far ? BF_CPU_FAR : BF_CPU_AVX2;
}
#else
bf_cpu_row bf_cpu(void) { return BF_CPU_PORTABLE; }
#endif

bool bf_has_avx2(void) { return bf_cpu() >= BF_CPU_AVX2; }
