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

#define LINE_ALWAYS static inline __attribute__((always_inline))
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
    uint64_t mask[LINE_WORDS], missing = 0;
    bool present = true;
    line_masks(g, k, mask);
    for (unsigned w = 0; w < LINE_WORDS; w++) missing |= mask[w] & ~bf_word(line + w);
    if (!missing) return true; /* as line_add_vector: a present key is not written */
    for (unsigned w = 0; w < LINE_WORDS; w++) present &= bf_or(line + w, mask[w], atomic);
    return present;
}

/* Kernels with vectors, written once in the vector types of GCC and Clang: AVX2, or NEON, where a
 * vector of four words is two registers. Every word of a vector is loaded and stored whole, so a
 * test may read a line that other threads change. */
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define LINE_VECTOR 1
/* all machines with AVX2 have CMPXCHG16B */
#define VECTOR __attribute__((target("avx2,bmi2,cx16")))
#elif defined(__aarch64__) && defined(__GNUC__) && !defined(__AARCH64EB__)
#define LINE_VECTOR 1
#define VECTOR
#endif

#ifdef LINE_VECTOR
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

typedef uint64_t four __attribute__((vector_size(32), may_alias));
typedef four four_anywhere __attribute__((aligned(8)));
typedef struct {
    four lo, hi;
} line_vec; /* words 0..3, words 4..7 */

/* Returns true if a and b have no common bit. */
VECTOR LINE_ALWAYS bool line_apart(four a, four b)
{
#ifdef __x86_64__
    return _mm256_testz_si256((__m256i)a, (__m256i)b);
#else
    const four v = a & b;
    return !(v[0] | v[1] | v[2] | v[3]);
#endif
}
/* Returns true if `of` contains all bits of mask. */
VECTOR LINE_ALWAYS bool line_within(four mask, four of)
{
#ifdef __x86_64__
    return _mm256_testc_si256((__m256i)of, (__m256i)mask);
#else
    return line_apart(mask, ~of);
#endif
}

/* Returns a vector of four times g. For NEON, GCC 12 would build it in memory. */
VECTOR LINE_ALWAYS four line_all(uint64_t g)
{
#ifdef __x86_64__
    return (four){ g, g, g, g };
#else
    typedef uint64_t two __attribute__((vector_size(16)));
    const two half = { g, g };
    union {
        two halves[2];
        four all;
    } v = { { half, half } };
    return v.all;
#endif
}

VECTOR LINE_ALWAYS line_vec line_load(const uint64_t *line)
{
    const four *words = (const four *)line;
    return (line_vec){ words[0], words[1] };
}
VECTOR LINE_ALWAYS void line_store(uint64_t *line, line_vec v)
{
    four *words = (four *)line;
    words[0] = v.lo;
    words[1] = v.hi;
}

/* Returns the number of the bit in each word. */
VECTOR LINE_ALWAYS line_vec line_bits(uint64_t g)
{
    const four lo = { 0, 6, 12, 18 }, hi = { 24, 30, 36, 42 }, all = line_all(g);
    return (line_vec){ all >> lo & 63, all >> hi & 63 };
}

VECTOR LINE_ALWAYS line_vec line_among(unsigned first, unsigned k)
{
    const four_anywhere *on = (const four_anywhere *)(line_cycle[k] + ((8 - first) & 7));
    return (line_vec){ on[0], on[1] };
}

VECTOR static inline line_vec line_round(uint64_t g, unsigned first, unsigned k)
{
    const four one = { 1, 1, 1, 1 };
    const line_vec bit = line_bits(g), m = { one << bit.lo, one << bit.hi };
    if (k == LINE_WORDS) return m;
    const line_vec on = line_among(first, k);
    return (line_vec){ m.lo & on.lo, m.hi & on.hi };
}

VECTOR static inline line_vec line_masks_vector(uint64_t g, unsigned k)
{
    unsigned first = (unsigned)(g >> 61);
    if (k <= LINE_WORDS) return line_round(g, first, k);
    line_vec a = line_round(g, first, LINE_WORDS),
             b = line_round(bf_mum(g, BF_MUM_2), first, k - LINE_WORDS);
    return (line_vec){ a.lo | b.lo, a.hi | b.hi };
}

VECTOR LINE_ALWAYS bool line_has(line_vec line, line_vec mask)
{
    const four missing = (~line.lo & mask.lo) | (~line.hi & mask.hi);
    return line_apart(missing, missing);
}

/* Inverts the mask of a key that is tested in many lines. A line contains all bits of the mask if
 * (line OR inverted mask) has no 0 bit. */
VECTOR LINE_ALWAYS line_vec line_inverted(line_vec mask)
{
    return (line_vec){ ~mask.lo, ~mask.hi };
}
VECTOR LINE_ALWAYS bool line_has_inverted(const uint64_t *words, line_vec inverted)
{
    const line_vec line = line_load(words);
    return line_within(~(four){ 0 }, (line.lo | inverted.lo) & (line.hi | inverted.hi));
}

/* Digests of keys to test, and of keys whose lines are prefetched meanwhile. */
typedef struct {
    const uint64_t *d;
    size_t n;
    const uint64_t *ahead;
    size_t nahead;
} line_batch;

/* Returns true if a bit of words 0..3 is missing. Does not read words 4..7. */
VECTOR LINE_ALWAYS bool line_lacks(const uint64_t *line, line_vec mask)
{
    return !line_within(mask.lo, *(const four *)line);
}

/* Returns true if the line contains all bits of the key. With one bit per word (k <= 8), shifts
 * each word so that the key's bit becomes the lowest bit. */
VECTOR static inline bool line_test_vector(const uint64_t *line, uint64_t g, unsigned k)
{
    const line_vec words = line_load(line);
    if (k > LINE_WORDS) return line_has(words, line_masks_vector(g, k));
    const four one = { 1, 1, 1, 1 };
    const line_vec bit = line_bits(g);
    const four lo = words.lo >> bit.lo, hi = words.hi >> bit.hi;
    if (k == LINE_WORDS) return line_within(one, lo & hi);
    const line_vec on = line_among((unsigned)(g >> 61), k);
    return line_apart((~lo & on.lo) | (~hi & on.hi), one);
}

#ifdef __x86_64__
/* Sets the bits of two words by one locked instruction. Locked instructions take most of the time
 * of an atomic add. */
VECTOR static inline bool line_or_atomic(uint64_t *line, const uint64_t mask[LINE_WORDS])
{
    bool present = true;
    for (unsigned w = 0; w < LINE_WORDS; w += 2) {
        for (;;) { /* GCOVR_EXCL_LINE: again where another thread has changed the two words */
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
#else
static inline bool line_or_atomic(uint64_t *line, const uint64_t mask[LINE_WORDS])
{
    bool present = true;
    for (unsigned w = 0; w < LINE_WORDS; w++) present &= bf_or(line + w, mask[w], true);
    return present;
}
#endif

VECTOR static inline bool line_add_vector(uint64_t *line, uint64_t g, unsigned k, bool atomic)
{
    line_vec now = line_load(line), mask = line_masks_vector(g, k);
    if (line_has(now, mask)) return true;
    if (!atomic) {
        line_store(line, (line_vec){ now.lo | mask.lo, now.hi | mask.hi });
        return false;
    }
    _Alignas(32) uint64_t words[LINE_WORDS];
    line_store(words, mask);
    return line_or_atomic(line, words);
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
    VECTOR static uint64_t name(const bf_part_view *views, size_t nviews, const uint64_t *d,       \
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
/* bf_layout.kernels of a line layout. NEON cannot gather counters. */
#if defined(__x86_64__) && defined(LINE_VECTOR)
#define LINE_COUNTERS &kernels_cells, &kernels_cells_avx2
#else
#define LINE_COUNTERS &kernels_cells
#endif
#ifdef LINE_VECTOR
#define LINE_BITS_ROWS &kernels_portable, &kernels_vector, &kernels_far
#else
#define LINE_BITS_ROWS &kernels_portable
#endif
#define LINE_ROWS                                                                                  \
    {                                                                                              \
        { LINE_BITS_ROWS }, { LINE_COUNTERS }                                                      \
    }
#endif
