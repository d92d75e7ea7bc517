/* line.h - the k bits of a key in one line of 512 bits, for block and block2.
 *
 *   word     0        1        2     ...     7
 *        +--------+--------+--------+     +--------+
 *        |.1......|........|......1.| ... |...1....|
 *        +--------+--------+--------+     +--------+
 *
 * A key has one bit in each of k words: word g >> 61 and, cyclically, the words after it. In word w
 * the bit has number (g >> 6w) & 63. If k > 8, the first k - 8 of these words have a second bit,
 * for which mum(g, BF_MUM_2) replaces g. Bit number b of a word is its position b ^ 7 (bits.h). */
#ifndef BF_LINE_H
#define BF_LINE_H
#include "bits/bits.h"
#include "layout/layout.h"

enum { LINE_BITS = 512, LINE_WORDS = 8, LINE_K_MAX = 16, LINE_STEP = 8, LINE_LAG = 48 };

static inline unsigned line_bit(uint64_t g, unsigned word)
{
    return (unsigned)(g >> (6 * word)) & 63;
}

static inline uint64_t *line_positions(uint64_t line, uint64_t g, unsigned k, uint64_t *pos)
{
    unsigned first = (unsigned)(g >> 61);
    for (unsigned j = 0; j < k; j++) {
        if (j == LINE_WORDS) g = bf_mum(g, BF_MUM_2);
        unsigned word = (first + j) & 7;
        *pos++ = line * LINE_BITS + 64 * word + (line_bit(g, word) ^ 7);
    }
    return pos;
}

static inline void line_masks(uint64_t g, unsigned k, uint64_t mask[LINE_WORDS])
{
    unsigned first = (unsigned)(g >> 61);
    for (unsigned w = 0; w < LINE_WORDS; w++) mask[w] = 0;
    for (unsigned j = 0; j < k; j++) {
        if (j == LINE_WORDS) g = bf_mum(g, BF_MUM_2);
        unsigned word = (first + j) & 7;
        mask[word] |= UINT64_C(1) << (line_bit(g, word) ^ 7 ^ BF_ORDER);
    }
}

static inline bool line_test(const uint64_t *line, uint64_t g, unsigned k)
{
    uint64_t mask[LINE_WORDS], missing = 0;
    line_masks(g, k, mask);
    for (unsigned w = 0; w < LINE_WORDS; w++) missing |= mask[w] & ~bf_word(line + w);
    return missing == 0;
}

static inline bool line_add(uint64_t *line, uint64_t g, unsigned k, bool atomic)
{
    uint64_t mask[LINE_WORDS];
    bool present = true;
    line_masks(g, k, mask);
    for (unsigned w = 0; w < LINE_WORDS; w++) present &= bf_or(line + w, mask[w], atomic);
    return present;
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define LINE_AVX2 1
/* all machines with AVX2 have CMPXCHG16B */
#define AVX2 __attribute__((target("avx2,bmi2,cx16")))

/* The eight values from line_cycle[k][8 - first] on are masks of words 0..7: all ones for `first`
 * and the k - 1 words that follow it cyclically. */
#define ON ~UINT64_C(0)
static const uint64_t line_cycle[9][16] = { { 0 },
    { ON, 0, 0, 0, 0, 0, 0, 0, ON, 0, 0, 0, 0, 0, 0, 0 },
    { ON, ON, 0, 0, 0, 0, 0, 0, ON, ON, 0, 0, 0, 0, 0, 0 },
    { ON, ON, ON, 0, 0, 0, 0, 0, ON, ON, ON, 0, 0, 0, 0, 0 },
    { ON, ON, ON, ON, 0, 0, 0, 0, ON, ON, ON, ON, 0, 0, 0, 0 },
    { ON, ON, ON, ON, ON, 0, 0, 0, ON, ON, ON, ON, ON, 0, 0, 0 },
    { ON, ON, ON, ON, ON, ON, 0, 0, ON, ON, ON, ON, ON, ON, 0, 0 },
    { ON, ON, ON, ON, ON, ON, ON, 0, ON, ON, ON, ON, ON, ON, ON, 0 },
    { ON, ON, ON, ON, ON, ON, ON, ON, ON, ON, ON, ON, ON, ON, ON, ON } };
#undef ON

typedef struct {
    __m256i lo, hi;
} line_vec; /* words 0..3, words 4..7 */

AVX2 static inline line_vec line_load(const uint64_t *line)
{
    return (line_vec){ _mm256_load_si256((const __m256i *)line),
        _mm256_load_si256((const __m256i *)(line + 4)) };
}

/* Returns the number of the bit in each word. */
AVX2 static inline line_vec line_bits(uint64_t g)
{
    const __m256i six = _mm256_set1_epi64x(63), vg = _mm256_set1_epi64x((long long)g);
    return (
        line_vec){ _mm256_and_si256(_mm256_srlv_epi64(vg, _mm256_setr_epi64x(0, 6, 12, 18)), six),
        _mm256_and_si256(_mm256_srlv_epi64(vg, _mm256_setr_epi64x(24, 30, 36, 42)), six) };
}

AVX2 static inline line_vec line_among(unsigned first, unsigned k)
{
    const __m256i *on = (const __m256i *)(line_cycle[k] + ((8 - first) & 7));
    return (line_vec){ _mm256_loadu_si256(on), _mm256_loadu_si256(on + 1) };
}

AVX2 static inline line_vec line_round(uint64_t g, unsigned first, unsigned k)
{
    const __m256i one = _mm256_set1_epi64x(1);
    const line_vec bit = line_bits(g);
    line_vec m = { _mm256_sllv_epi64(one, bit.lo), _mm256_sllv_epi64(one, bit.hi) };
    if (k == LINE_WORDS) return m;
    const line_vec on = line_among(first, k);
    return (line_vec){ _mm256_and_si256(m.lo, on.lo), _mm256_and_si256(m.hi, on.hi) };
}

AVX2 static inline line_vec line_masks_avx2(uint64_t g, unsigned k)
{
    unsigned first = (unsigned)(g >> 61);
    if (k <= LINE_WORDS) return line_round(g, first, k);
    line_vec a = line_round(g, first, LINE_WORDS),
             b = line_round(bf_mum(g, BF_MUM_2), first, k - LINE_WORDS);
    return (line_vec){ _mm256_or_si256(a.lo, b.lo), _mm256_or_si256(a.hi, b.hi) };
}

AVX2 static inline bool line_has(line_vec line, line_vec mask)
{
    const __m256i missing = _mm256_or_si256(
        _mm256_andnot_si256(line.lo, mask.lo), _mm256_andnot_si256(line.hi, mask.hi));
    return _mm256_testz_si256(missing, missing);
}

/* Inverts the mask of a key that is tested in many lines. A line contains all bits of the mask if
 * (line OR inverted mask) has no 0 bit. */
AVX2 static inline line_vec line_inverted(line_vec mask)
{
    const __m256i ones = _mm256_set1_epi64x(-1);
    return (line_vec){ _mm256_xor_si256(mask.lo, ones), _mm256_xor_si256(mask.hi, ones) };
}
AVX2 static inline bool line_has_inverted(const uint64_t *words, line_vec inverted)
{
    const line_vec line = line_load(words);
    const __m256i all = _mm256_and_si256(
        _mm256_or_si256(line.lo, inverted.lo), _mm256_or_si256(line.hi, inverted.hi));
    return _mm256_testc_si256(all, _mm256_set1_epi64x(-1));
}

/* Digests of keys to test, and of keys whose lines are prefetched meanwhile. */
typedef struct {
    const uint64_t *d;
    size_t n;
    const uint64_t *ahead;
    size_t nahead;
} line_batch;

/* Returns true if a bit of words 0..3 is missing. Does not read words 4..7. */
AVX2 static inline bool line_lacks(const uint64_t *line, line_vec mask)
{
    return !_mm256_testc_si256(_mm256_load_si256((const __m256i *)line), mask.lo);
}

/* Returns true if the line contains all bits of the key. With one bit per word (k <= 8), shifts
 * each word so that the key's bit becomes the lowest bit. */
AVX2 static inline bool line_test_avx2(const uint64_t *line, uint64_t g, unsigned k)
{
    const line_vec words = line_load(line);
    if (k > LINE_WORDS) return line_has(words, line_masks_avx2(g, k));
    const __m256i one = _mm256_set1_epi64x(1);
    const line_vec bit = line_bits(g);
    const __m256i lo = _mm256_srlv_epi64(words.lo, bit.lo),
                  hi = _mm256_srlv_epi64(words.hi, bit.hi);
    if (k == LINE_WORDS) return _mm256_testc_si256(_mm256_and_si256(lo, hi), one);
    const line_vec on = line_among((unsigned)(g >> 61), k);
    return _mm256_testz_si256(
        _mm256_or_si256(_mm256_andnot_si256(lo, on.lo), _mm256_andnot_si256(hi, on.hi)), one);
}

/* Sets the bits of two words by one locked instruction. Locked instructions take most of the time
 * of an atomic add. */
AVX2 static inline bool line_or_pairs(uint64_t *line, const uint64_t mask[LINE_WORDS])
{
    bool present = true;
    for (unsigned w = 0; w < LINE_WORDS; w += 2) {
        for (;;) {
            uint64_t lo = bf_word(line + w), hi = bf_word(line + w + 1);
            if (!(mask[w] & ~lo) && !(mask[w + 1] & ~hi)) break;
            if (bf_swap_pair(line + w, lo, hi, lo | mask[w], hi | mask[w + 1])) {
                present = false;
                break;
            }
        }
    }
    return present;
}

AVX2 static inline bool line_add_avx2(uint64_t *line, uint64_t g, unsigned k, bool atomic)
{
    line_vec now = line_load(line), mask = line_masks_avx2(g, k);
    if (line_has(now, mask)) return true;
    if (!atomic) {
        _mm256_store_si256((__m256i *)line, _mm256_or_si256(now.lo, mask.lo));
        _mm256_store_si256((__m256i *)(line + 4), _mm256_or_si256(now.hi, mask.hi));
        return false;
    }
    uint64_t words[LINE_WORDS];
    _mm256_storeu_si256((__m256i *)words, mask.lo);
    _mm256_storeu_si256((__m256i *)(words + 4), mask.hi);
    return line_or_pairs(line, words);
}
#endif

/* Returns the index of the first part that is large enough for prefetching. */
static inline size_t line_large(const bf_part_view *views, size_t n)
{
    size_t first = 0;
    while (first < n && views[first].lines < BF_LARGE / LINE_WORDS) first++;
    return first;
}

/* LINE_KERNEL defines a kernel that calls the layout's one-key function `one` and `fetch_it`. There
 * is a copy of the loop for k == 8 and one for k < 8, both for LINE_STEP keys, and one for all
 * other calls. LINE_SINGLES defines the one-key functions from has##suffix and put##suffix, which
 * return true if the key was present. */
#define LINE_ALWAYS static inline __attribute__((always_inline))
#define LINE_APART static __attribute__((noinline))
#define LINE_KERNEL(attr, name, type, one, fetch_it, far)                                          \
    attr LINE_ALWAYS uint64_t name##_of(const bf_geometry *g, type *words, const uint64_t *d,      \
        size_t n, const uint64_t *ahead, size_t nahead)                                            \
    {                                                                                              \
        uint64_t present = 0;                                                                      \
        for (size_t i = 0; i < nahead; i++) {                                                      \
            fetch_it(g, words, ahead[i], far);                                                     \
            present |= (uint64_t)one(g, words, d + i) << i;                                        \
        }                                                                                          \
        for (size_t i = nahead; i < n; i++) present |= (uint64_t)one(g, words, d + i) << i;        \
        return present;                                                                            \
    }                                                                                              \
    attr LINE_APART uint64_t name##_eight(                                                         \
        const bf_geometry *g, type *words, const uint64_t *d, const uint64_t *ahead)               \
    {                                                                                              \
        bf_geometry own = *g;                                                                      \
        own.k = LINE_WORDS;                                                                        \
        return name##_of(&own, words, d, LINE_STEP, ahead, LINE_STEP);                             \
    }                                                                                              \
    attr LINE_APART uint64_t name##_few(                                                           \
        const bf_geometry *g, type *words, const uint64_t *d, const uint64_t *ahead)               \
    {                                                                                              \
        const bf_geometry own = *g;                                                                \
        if (own.k >= LINE_WORDS) __builtin_unreachable();                                          \
        return name##_of(&own, words, d, LINE_STEP, ahead, LINE_STEP);                             \
    }                                                                                              \
    attr LINE_APART uint64_t name##_any(const bf_geometry *g, type *words, const uint64_t *d,      \
        size_t n, const uint64_t *ahead, size_t nahead)                                            \
    {                                                                                              \
        return name##_of(g, words, d, n, ahead, nahead);                                           \
    }                                                                                              \
    static uint64_t name(const bf_geometry *g, type *words, const uint64_t *d, size_t n,           \
        const uint64_t *ahead, size_t nahead)                                                      \
    {                                                                                              \
        if (g->k > LINE_WORDS || n != LINE_STEP || nahead != LINE_STEP)                            \
            return name##_any(g, words, d, n, ahead, nahead);                                      \
        return (g->k == LINE_WORDS ? name##_eight : name##_few)(g, words, d, ahead);               \
    }
#define LINE_SINGLES(attr, suffix)                                                                 \
    attr static inline bool test_one##suffix(                                                      \
        const bf_geometry *g, const uint64_t *words, const uint64_t *d)                            \
    {                                                                                              \
        return has##suffix(g, words, *d);                                                          \
    }                                                                                              \
    attr static inline bool add_one##suffix(                                                       \
        const bf_geometry *g, uint64_t *words, const uint64_t *d)                                  \
    {                                                                                              \
        return put##suffix(g, words, *d, false);                                                   \
    }                                                                                              \
    attr static inline bool or_one##suffix(                                                        \
        const bf_geometry *g, uint64_t *words, const uint64_t *d)                                  \
    {                                                                                              \
        return put##suffix(g, words, *d, true);                                                    \
    }
#define LINE_ANY(name, far)                                                                        \
    AVX2 static uint64_t name(const bf_part_view *views, size_t nviews, const uint64_t *d,         \
        size_t n, const uint64_t *ahead, size_t nahead)                                            \
    {                                                                                              \
        return any_of(views, nviews, (line_batch){ d, n, ahead, nahead }, far);                    \
    }
/* Defines a bf_kernels. far: prefetches lines into the second-level cache. */
#define LINE_ROW(attr, row, suffix, fetch_it, far, any)                                            \
    static void fetch##row(                                                                        \
        const bf_geometry *g, const uint64_t *words, const uint64_t *d, size_t n)                  \
    {                                                                                              \
        for (size_t i = 0; i < n; i++) fetch_it(g, words, d[i], far);                              \
    }                                                                                              \
    LINE_KERNEL(attr, test##row, const uint64_t, test_one##suffix, fetch_it, far)                  \
    LINE_KERNEL(attr, add##row, uint64_t, add_one##suffix, fetch_it, far)                          \
    LINE_KERNEL(attr, or ##row, uint64_t, or_one##suffix, fetch_it, far)                           \
    static const bf_kernels kernels##row = { LINE_STEP, LINE_LAG, fetch##row, test##row,           \
        { add##row, or ##row, add##row }, test_one##suffix,                                        \
        { add_one##suffix, or_one##suffix, add_one##suffix }, any };
/* bf_layout.kernels of a line layout */
#ifdef LINE_AVX2
#define LINE_ROWS                                                                                  \
    {                                                                                              \
        { &kernels_portable, &kernels_avx2, &kernels_far },                                        \
        {                                                                                          \
            &kernels_cells, &kernels_cells_avx2                                                    \
        }                                                                                          \
    }
#else
#define LINE_ROWS                                                                                  \
    {                                                                                              \
        { &kernels_portable }, { &kernels_cells }                                                  \
    }
#endif
#endif
