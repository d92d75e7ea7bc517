/* counting.h - kernels for counters: read or increment the counters at a key's positions. A group
 * of 512 counters, the "line" of the block layouts, has 256 bytes: four cache lines. */
#ifndef BF_COUNTING_H
#define BF_COUNTING_H
#include "bits/bits.h"
#include "layout/layout.h"

enum { COUNTING_FEW = 32, CELL_LINE = 128 };

/* Returns true if all counters are above 0. The loop has no branch, because it is unpredictable
 * whether a counter is 0. */
static inline bool counters_all(const uint64_t *w, const uint64_t *pos, unsigned k)
{
    unsigned missing = 0;
    for (unsigned j = 0; j < k; j++) missing |= bf_cell(w, pos[j]) == 0;
    return !missing;
}

/* Increments the counters and returns true if all were above 0 before. once: no position occurs
 * twice. If not `once`, reads all counters before the first write: a position that occurs twice is
 * then written twice with the same value. */
static inline bool counters_add(
    uint64_t *w, const uint64_t *pos, unsigned k, bool atomic, bool once)
{
    unsigned v[COUNTING_FEW], missing = 0;
    if (k > COUNTING_FEW || (atomic && !once)) return bf_counters_add_many(w, pos, k, atomic);
    if (once) {
        for (unsigned j = 0; j < k; j++) missing |= bf_cell_up(w, pos[j], atomic) == 0;
        return !missing;
    }
    for (unsigned j = 0; j < k; j++) v[j] = bf_cell(w, pos[j]);
    for (unsigned j = 0; j < k; j++) {
        const unsigned shift = bf_cell_shift(pos[j]), now = v[j] + (v[j] < BF_CELL_MAX);
        uint64_t *word = w + (pos[j] >> 4);
        missing |= v[j] == 0;
        BF_STEP(word, true);
        *word = (*word & ~((uint64_t)BF_CELL_MAX << shift)) | (uint64_t)now << shift;
    }
    return !missing;
}

#if defined(LINE_VECTOR) && defined(__x86_64__)
#define AVX2 VECTOR
typedef uint32_t __attribute__((may_alias)) counter_word; /* 32 bits: 8 counters */
/* A key has at most one counter in each eighth of 512 counters. A vector has one 32-bit lane per
 * eighth, in the order 0 4 1 5 2 6 3 7. at: index of the key's counter_word; shift: shift of the
 * counter in that word; on: all ones if the key has a counter in this eighth; index: that of the
 * counter in the eighth. */
typedef struct {
    __m256i at, shift, on, index;
} counter_lanes;

AVX2 static inline counter_lanes counter_place(uint64_t g, unsigned first, unsigned k)
{
    const __m256i six = _mm256_set1_epi64x(63), vg = _mm256_set1_epi64x((long long)g),
                  bases = _mm256_setr_epi32(0, 32, 8, 40, 16, 48, 24, 56);
    const uint64_t *on = line_cycle[k] + ((8 - first) & 7);
    __m256i lo = _mm256_and_si256(_mm256_srlv_epi64(vg, _mm256_setr_epi64x(0, 6, 12, 18)), six);
    __m256i hi = _mm256_and_si256(_mm256_srlv_epi64(vg, _mm256_setr_epi64x(24, 30, 36, 42)), six);
    __m256i b = _mm256_or_si256(lo, _mm256_slli_epi64(hi, 32));
    return (counter_lanes){ _mm256_add_epi32(bases, _mm256_srli_epi32(b, 3)),
        _mm256_slli_epi32(
            _mm256_xor_si256(_mm256_and_si256(b, _mm256_set1_epi32(7)), _mm256_set1_epi32(6)),
            2), /* (b ^ 7) ^ 1 */
        _mm256_blend_epi32(_mm256_loadu_si256((const __m256i *)on),
            _mm256_loadu_si256((const __m256i *)(on + 4)), 0xAA),
        b };
}

AVX2 static inline __m256i counter_values(__m256i words, __m256i shift)
{
    return _mm256_and_si256(_mm256_srlv_epi32(words, shift), _mm256_set1_epi32(BF_CELL_MAX));
}

AVX2 static inline bool counters_above_0(const counter_word *line, counter_lanes p)
{
    __m256i v = counter_values(_mm256_i32gather_epi32((const int *)line, p.at, 4), p.shift);
    return _mm256_testz_si256(_mm256_cmpeq_epi32(v, _mm256_setzero_si256()), p.on);
}

AVX2 static inline bool counters_up(counter_word *line, counter_lanes p)
{
    uint32_t at[8], now[8];
    __m256i words = _mm256_i32gather_epi32((const int *)line, p.at, 4),
            v = counter_values(words, p.shift);
    __m256i full = _mm256_cmpeq_epi32(v, _mm256_set1_epi32(BF_CELL_MAX));
    __m256i one =
        _mm256_sllv_epi32(_mm256_andnot_si256(full, _mm256_srli_epi32(p.on, 31)), p.shift);
    _mm256_storeu_si256((__m256i *)at, p.at);
    _mm256_storeu_si256((__m256i *)now, _mm256_add_epi32(words, one));
    for (unsigned i = 0; i < 8; i++) line[at[i]] = now[i];
    return _mm256_testz_si256(_mm256_cmpeq_epi32(v, _mm256_setzero_si256()), p.on);
}

AVX2 static inline const uint64_t *counter_line(const uint64_t *w, uint64_t line)
{
    return w + line * (4 * 512 / 64);
}

AVX2 static inline bool counters_test_avx2(const uint64_t *w, uint64_t line, uint64_t g, unsigned k)
{
    const counter_word *at = (const counter_word *)counter_line(w, line);
    const unsigned first = (unsigned)(g >> 61);
    bool all = counters_above_0(at, counter_place(g, first, k < 8 ? k : 8));
    if (k > 8) all &= counters_above_0(at, counter_place(bf_mum(g, BF_MUM_2), first, k - 8));
    return all;
}

/* If k > 8, a key has two counters in some eighths. If both are the same counter, it is incremented
 * once. */
AVX2 static inline bool counters_add_avx2(uint64_t *w, uint64_t line, uint64_t g, unsigned k)
{
    counter_word *at = (counter_word *)(uint64_t *)counter_line(w, line);
    const unsigned first = (unsigned)(g >> 61);
    counter_lanes a = counter_place(g, first, k < 8 ? k : 8);
    bool all = counters_up(at, a);
    if (k <= 8) return all;
    counter_lanes b = counter_place(bf_mum(g, BF_MUM_2), first, k - 8);
    b.on = _mm256_andnot_si256(_mm256_cmpeq_epi32(a.index, b.index), b.on);
    return counters_up(at, b) & all;
}
#endif

/* Prefetches all four cache lines, even if the key does not need all of them. */
static inline void counters_fetch(const uint64_t *w, uint64_t line)
{
    const uint64_t *at = w + line * (4 * 512 / 64);
    for (unsigned i = 0; i < 4; i++) bf_prefetch(at + 8 * i);
}
#endif
