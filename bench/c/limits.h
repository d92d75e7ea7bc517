/* limits.h - the machine's own limits for bench_core.c: hashing the keys, one random line a key,
 * and both in one loop by hand. */
#ifndef BENCH_LIMITS_H
#define BENCH_LIMITS_H
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "keys.h"
#include <sys/mman.h>

static volatile uint64_t sink;
typedef void run(void *subject, const bf_key *keys, size_t n);
typedef struct {
    uint64_t *words, lines;
} memory;

static memory *touch_memory(uint64_t m)
{
    const size_t huge = 2 << 20, bytes = (m / 8 + huge - 1) / huge * huge;
    memory *a = need(malloc(sizeof *a));
    a->words = need(aligned_alloc(huge, bytes));
    a->lines = m / 512;
    madvise(a->words, bytes, MADV_HUGEPAGE);
    memset(a->words, 1, bytes);
    return a;
}

static inline uint64_t line_of(const memory *m, uint64_t h)
{
    return (uint64_t)(((unsigned __int128)h * m->lines) >> 64);
}

static inline void hash_only(const bf_key *keys, size_t n, int fetched)
{
    uint64_t s = 0;
    for (size_t i = 0; i < n; i++) {
        if (fetched) __builtin_prefetch(keys[i + AHEAD].ptr);
        s += XXH3_64bits(keys[i].ptr, keys[i].len);
    }
    sink += s;
}
static void hash_plain(void *m, const bf_key *keys, size_t n)
{
    (void)m;
    hash_only(keys, n, 0);
}
static void hash_ahead(void *m, const bf_key *keys, size_t n)
{
    (void)m;
    hash_only(keys, n, 1);
}

/* One word of a random line a key, `far` lines asked for ahead; with_hash: of a line that the key's
 * hash chooses.  Hints: x86 has T0, T1, T2 as GCC's 3, 2, 1. */
#define LINES(name, far, hint, with_hash)                                                          \
    static void name(void *subject, const bf_key *keys, size_t n)                                  \
    {                                                                                              \
        const memory *m = subject;                                                                 \
        uint64_t s = 0, at[far];                                                                   \
        for (size_t i = 0; i < n + (far); i++) {                                                   \
            if (i >= (far)) s += m->words[at[i % (far)] * 8];                                      \
            if (i >= n) continue;                                                                  \
            if (with_hash) __builtin_prefetch(keys[i + AHEAD].ptr);                                \
            at[i % (far)] =                                                                        \
                line_of(m, (with_hash) ? XXH3_64bits(keys[i].ptr, keys[i].len) : scramble(i));     \
            __builtin_prefetch(m->words + at[i % (far)] * 8, 0, hint);                             \
        }                                                                                          \
        sink += s;                                                                                 \
    }
LINES(line_32_t0, 32, 3, 0)
LINES(line_64_t0, 64, 3, 0)
LINES(line_128_t0, 128, 3, 0)
LINES(line_64_t1, 64, 2, 0)
LINES(line_128_t1, 128, 2, 0)
LINES(line_64_t2, 64, 1, 0)
LINES(line_128_t2, 128, 1, 0)
LINES(both_32_t0, 32, 3, 1)
LINES(both_64_t0, 64, 3, 1)
LINES(both_64_t1, 64, 2, 1)

static const struct {
    const char *name;
    run *run;
} limits[] = {
    { "limit: XXH3", hash_plain },
    { "limit: XXH3, text fetched", hash_ahead },
    { "limit: line, 32 ahead", line_32_t0 },
    { "limit: line, 64 ahead", line_64_t0 },
    { "limit: line, 128 ahead", line_128_t0 },
    { "limit: line, 64 ahead, T1", line_64_t1 },
    { "limit: line, 128 ahead, T1", line_128_t1 },
    { "limit: line, 64 ahead, T2", line_64_t2 },
    { "limit: line, 128 ahead, T2", line_128_t2 },
    { "limit: both in one loop, 32", both_32_t0 },
    { "limit: both in one loop, 64", both_64_t0 },
    { "limit: both in one loop, 64, T1", both_64_t1 },
};
#endif
