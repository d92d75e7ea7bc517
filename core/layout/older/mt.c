/* mt.c - schemes php-mt (PHP since 7.1) and php-mt-legacy (PHP 5, MT_RAND_PHP): mt_srand(digest),
 * then mt_rand(0, m - 1) for each position. The generator is MT19937 (M. Matsumoto, T. Nishimura,
 * 1998). Seeding takes most of the time, because each word of the state depends on the word before.
 * So only the first 397 + k words are computed, and AVX2 seeds 32 keys in parallel. */
#include "bits/bits.h"
#include "layout/layout.h"
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define AVX2 __attribute__((target("avx2")))
#endif

enum { N = 624, M = 397 };
static const uint32_t MULTIPLY = 1812433253, TWIST = 0x9908b0df;

/* ---- one key ---- */
typedef struct {
    uint32_t s[N];
    unsigned seeded, at;
    bool legacy;
} twister;

static uint32_t mt_next(twister *t)
{
    const unsigned i = t->at, after = i + 1 < N ? i + 1 : 0, far = i + M < N ? i + M : i + M - N;
    unsigned at = t->seeded;
    for (; at < N && at <= i + M; at++)
        t->s[at] = MULTIPLY * (t->s[at - 1] ^ t->s[at - 1] >> 30) + at;
    t->seeded = at;
    uint32_t u = t->s[i], v = t->s[after], low = (t->legacy ? u : v) & 1;
    uint32_t y = t->s[i] =
        t->s[far] ^ ((u & 0x80000000) | (v & 0x7fffffff)) >> 1 ^ (low ? TWIST : 0);
    t->at = after;
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680;
    y ^= y << 15 & 0xefc60000;
    return y ^ y >> 18;
}

static uint64_t below_32(twister *t, uint64_t m)
{
    uint32_t r = mt_next(t);
    if ((m & (m - 1)) == 0) return r & (m - 1);
    const uint32_t last = (uint32_t)(UINT32_MAX - UINT32_MAX % m - 1);
    while (r > last) r = mt_next(t);
    return r % m;
}

/* draws the low half first, as PHP 8.2 does */
static uint64_t next_64(twister *t)
{
    uint64_t low = mt_next(t);
    return (uint64_t)mt_next(t) << 32 | low;
}

static uint64_t below_64(twister *t, uint64_t m)
{
    uint64_t r = next_64(t);
    if ((m & (m - 1)) == 0) return r & (m - 1);
    const uint64_t last = UINT64_MAX - UINT64_MAX % m - 1;
    while (r > last) r = next_64(t);
    return r % m;
}

static inline uint64_t scaled(uint32_t r, uint64_t m)
{
    return (uint64_t)((double)m * ((r >> 1) / 2147483648.0));
}

static void draw(const bf_geometry *g, uint64_t digest, bool legacy, uint64_t *pos)
{
    twister t; /* not set to zero, because it has 2.5 KB */
    t.s[0] = (uint32_t)digest;
    t.seeded = 1;
    t.at = 0;
    t.legacy = legacy;
    for (unsigned j = 0; j < g->k; j++)
        pos[j] = legacy                      ? scaled(mt_next(&t), g->m)
                 : g->m <= UINT64_C(1) << 32 ? below_32(&t, g->m)
                                             : below_64(&t, g->m);
}

/* ---- many keys ---- */
#ifdef AVX2
/* The four vectors of eight keys are independent. With a single vector, each step would wait for
 * the product of the step before. */
enum { LANES = 32, VECTORS = LANES / 8, WIDE_K = 64 };
typedef struct {
    __m256i near[WIDE_K + 1][VECTORS], far[WIDE_K][VECTORS];
} seeds;

AVX2 static void seed_wide(seeds *s, const uint32_t *start, unsigned k)
{
    const __m256i multiply = _mm256_set1_epi32((int)MULTIPLY), one = _mm256_set1_epi32(1);
    __m256i x[VECTORS], i = one;
    for (unsigned v = 0; v < VECTORS; v++)
        s->near[0][v] = x[v] = _mm256_loadu_si256((const __m256i *)start + v);
    for (unsigned at = 1; at < M + k; at++, i = _mm256_add_epi32(i, one)) {
        for (unsigned v = 0; v < VECTORS; v++)
            x[v] = _mm256_add_epi32(
                _mm256_mullo_epi32(multiply, _mm256_xor_si256(x[v], _mm256_srli_epi32(x[v], 30))),
                i);
        __m256i *keep = at <= k ? s->near[at] : at >= M ? s->far[at - M] : NULL;
        for (unsigned v = 0; keep && v < VECTORS; v++) keep[v] = x[v];
    }
}

AVX2 static __m256i temper(__m256i y)
{
    y = _mm256_xor_si256(y, _mm256_srli_epi32(y, 11));
    y = _mm256_xor_si256(
        y, _mm256_and_si256(_mm256_slli_epi32(y, 7), _mm256_set1_epi32((int)0x9d2c5680)));
    y = _mm256_xor_si256(
        y, _mm256_and_si256(_mm256_slli_epi32(y, 15), _mm256_set1_epi32((int)0xefc60000)));
    return _mm256_xor_si256(y, _mm256_srli_epi32(y, 18));
}

AVX2 static __m256i draw_8(__m256i u, __m256i v, __m256i far, bool legacy)
{
    const __m256i one = _mm256_set1_epi32(1), high = _mm256_set1_epi32((int)0x80000000);
    __m256i odd = _mm256_cmpeq_epi32(_mm256_and_si256(legacy ? u : v, one), one);
    __m256i mixed = _mm256_or_si256(_mm256_and_si256(u, high), _mm256_andnot_si256(high, v));
    __m256i y = _mm256_xor_si256(far, _mm256_srli_epi32(mixed, 1));
    return temper(_mm256_xor_si256(y, _mm256_and_si256(odd, _mm256_set1_epi32((int)TWIST))));
}

/* Draws the positions of at most LANES keys. If a number of a key is above `last`, draw() draws all
 * positions of that key again. mulhi(c * r, m) is r % m for 32-bit r and m, where c = 2^64/m
 * rounded up (D. Lemire, O. Kaser, N. Kurz, 2019). */
AVX2 static void draw_wide(
    const bf_geometry *g, const uint64_t *d, size_t n, bool legacy, uint64_t *pos)
{
    uint32_t start[LANES], drawn[WIDE_K][LANES];
    const uint64_t m = g->m, mask = (m & (m - 1)) == 0 ? m - 1 : 0,
                   c = mask || m == 1 ? 0 : UINT64_MAX / m + 1;
    const uint32_t last = c && !legacy ? (uint32_t)(UINT32_MAX - UINT32_MAX % m - 1) : UINT32_MAX;
    seeds s;
    for (size_t i = 0; i < LANES; i++) start[i] = (uint32_t)d[i < n ? i : 0];
    seed_wide(&s, start, g->k);
    for (unsigned j = 0; j < g->k; j++)
        for (unsigned v = 0; v < VECTORS; v++)
            _mm256_storeu_si256((__m256i *)drawn[j] + v,
                draw_8(s.near[j][v], s.near[j + 1][v], s.far[j][v], legacy));
    for (size_t i = 0; i < n; i++, pos += g->k) {
        bool again = false;
        for (unsigned j = 0; j < g->k; j++) {
            uint32_t r = drawn[j][i];
            again |= r > last;
            pos[j] = legacy ? scaled(r, m) : c ? bf_mulhi(c * r, m) : r & mask;
        }
        if (again) draw(g, d[i], legacy, pos);
    }
}

static size_t draw_most(
    const bf_geometry *g, const uint64_t *d, size_t n, bool legacy, uint64_t *pos)
{
    size_t done = 0;
    if (g->k > WIDE_K || (g->m > UINT64_C(1) << 32 && !legacy) || n < 4 || !g->avx2) return 0;
    for (size_t c; n - done >= 4; done += c) {
        c = n - done < LANES ? n - done : LANES;
        draw_wide(g, d + done, c, legacy, pos + done * g->k);
    }
    return done;
}
#else
static size_t draw_most(
    const bf_geometry *g, const uint64_t *d, size_t n, bool legacy, uint64_t *pos)
{
    (void)g;
    (void)d;
    (void)n;
    (void)legacy;
    (void)pos;
    return 0;
}
#endif

static void draw_all(const bf_geometry *g, const uint64_t *d, size_t n, bool legacy, uint64_t *pos)
{
    for (size_t i = draw_most(g, d, n, legacy, pos); i < n; i++)
        draw(g, d[i], legacy, pos + i * g->k);
}

static void mt_positions(const bf_geometry *g, const uint64_t *d, size_t n, uint64_t *pos)
{
    draw_all(g, d, n, false, pos);
}
static void mt_legacy_positions(const bf_geometry *g, const uint64_t *d, size_t n, uint64_t *pos)
{
    draw_all(g, d, n, true, pos);
}

const bf_layout bf_layout_mt = BF_LAYOUT_OLDER("mt", BF_K_MAX, 1, mt_positions);
const bf_layout bf_layout_mt_legacy =
    BF_LAYOUT_OLDER("mt-legacy", BF_K_MAX, 1, mt_legacy_positions);
