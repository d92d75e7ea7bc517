/* counters.c - operations on arrays of 4-bit counters (bf_cell_ops).
 *
 * A word has one hex digit per counter; on little-endian machines counter i is digit (i % 16) ^ 1.
 * If a position occurs several times in a key, adding the key increments its counter once. */
#include "bits/bits.h"
#include "bits/words.h"
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

#define EACH UINT64_C(0x1111111111111111) /* a 1 in every counter */
/* every other counter: the low half of each byte, so a counter has 4 free bits above it */
#define EVEN UINT64_C(0x0F0F0F0F0F0F0F0F)
#define OVER UINT64_C(0x1010101010101010) /* the bit above each counter of EVEN */

/* ---- operations on all 16 counters of a word ---- */
static inline uint64_t used(uint64_t w) { return (w | w >> 1 | w >> 2 | w >> 3) & EACH; }

/* Adds the counters of EVEN in a and b. A sum stops at 15. */
static inline uint64_t sum_8(uint64_t a, uint64_t b)
{
    uint64_t s = a + b, over = s & OVER;
    return (s | (over - (over >> 4))) & EVEN;
}
/* Compares the counters of EVEN: sets the bit above a counter (OVER) if a >= b. */
static inline uint64_t not_less(uint64_t a, uint64_t b) { return ((a | OVER) - b) & OVER; }
static inline uint64_t least_8(uint64_t a, uint64_t b)
{
    uint64_t high = not_less(a, b), mask = high - (high >> 4);
    return (b & mask) | (a & ~mask & EVEN);
}

static inline uint64_t sum(uint64_t a, uint64_t b)
{
    return sum_8(a & EVEN, b & EVEN) | sum_8(a >> 4 & EVEN, b >> 4 & EVEN) << 4;
}
static inline uint64_t least(uint64_t a, uint64_t b)
{
    return least_8(a & EVEN, b & EVEN) | least_8(a >> 4 & EVEN, b >> 4 & EVEN) << 4;
}

/* Returns 16 bits: bit i is set if counter i is not 0, in the bit order of a plain filter. */
static inline uint64_t as_bits(uint64_t w)
{
    uint64_t t = used(w);
    t = (t | t >> 3) & UINT64_C(0x0303030303030303);
    t = (t | t >> 6) & UINT64_C(0x000F000F000F000F);
    t = (t | t >> 12) & UINT64_C(0x000000FF000000FF);
    t = (t | t >> 24) & 0xFFFF;
#if BF_ORDER == 7
    /* on little-endian machines hex digit j becomes bit j ^ 6 */
    t = (t & 0xF0F0) >> 4 | (t & 0x0F0F) << 4;
    t = (t & 0xCCCC) >> 2 | (t & 0x3333) << 2;
#endif
    return t;
}

/* ---- arrays ---- */
static uint64_t used_of(const uint64_t *a, const uint64_t *b, uint64_t nwords)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < nwords; i++)
        n += (unsigned)__builtin_popcountll(used(bf_word(a + i) | bf_word(b + i)));
    return n;
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx2"))) static uint64_t used_of_avx2(
    const uint64_t *a, const uint64_t *b, uint64_t nwords)
{
    const __m256i one = _mm256_set1_epi8(1), low = _mm256_set1_epi8(15),
                  high = _mm256_set1_epi8((char)0xF0), none = _mm256_setzero_si256();
    __m256i sum = none;
    uint64_t i = 0, lanes[4];
    for (; i + 4 <= nwords; i += 4) {
        __m256i v = _mm256_or_si256(_mm256_loadu_si256((const __m256i *)(a + i)),
            _mm256_loadu_si256((const __m256i *)(b + i)));
        __m256i bytes = _mm256_add_epi8(_mm256_min_epu8(_mm256_and_si256(v, low), one),
            _mm256_min_epu8(_mm256_and_si256(v, high), one));
        sum = _mm256_add_epi64(sum, _mm256_sad_epu8(bytes, none));
    }
    _mm256_storeu_si256((__m256i *)lanes, sum);
    return lanes[0] + lanes[1] + lanes[2] + lanes[3] + used_of(a + i, b + i, nwords - i);
}
#else
#define used_of_avx2 used_of
#endif

static uint64_t used_of_both(const uint64_t *a, const uint64_t *b, uint64_t nwords)
{
    return bf_has_avx2() ? used_of_avx2(a, b, nwords) : used_of(a, b, nwords);
}
static uint64_t all_used(const uint64_t *w, uint64_t nwords) { return used_of_both(w, w, nwords); }

static bool within(const uint64_t *a, const uint64_t *b, uint64_t nwords)
{
    for (uint64_t i = 0; i < nwords; i++) {
        const uint64_t v = bf_word(a + i), w = bf_word(b + i);
        if ((not_less(w & EVEN, v & EVEN) & not_less(w >> 4 & EVEN, v >> 4 & EVEN)) != OVER)
            return false;
    }
    return true;
}

#define COMBINE(name, op)                                                                          \
    static void name(uint64_t *into, const uint64_t *from, uint64_t nwords, bool atomic)           \
    {                                                                                              \
        if (!atomic) {                                                                             \
            for (uint64_t i = 0; i < nwords; i++) into[i] = op(into[i], bf_word(from + i));        \
            return;                                                                                \
        }                                                                                          \
        for (uint64_t i = 0; i < nwords; i++) {                                                    \
            uint64_t old = bf_word(into + i), other = bf_word(from + i);                           \
            while (op(old, other) != old && !bf_word_cas(into + i, &old, op(old, other))) {}       \
        }                                                                                          \
    }
COMBINE(unite, sum)
COMBINE(intersect, least)

/* four words of counters become one word of bits */
static void to_bits(uint64_t *bits, const uint64_t *w, uint64_t nwords)
{
    for (uint64_t i = 0; i < nwords; i++) {
        const unsigned part = (unsigned)(i % 4),
                       shift = BF_ORDER == 7 ? 16 * part : 16 * (3 - part);
        bits[i / 4] |= as_bits(bf_word(w + i)) << shift;
    }
}

/* ---- lists of positions ---- */
static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

unsigned bf_counters_distinct(uint64_t *pos, unsigned k)
{
    enum { FEW = 24 };
    unsigned n = 0;
    if (k > FEW)
        qsort(pos, k, sizeof *pos, by_number);
    else
        for (unsigned i = 1, j; i < k; i++) {
            uint64_t p = pos[i];
            for (j = i; j > 0 && pos[j - 1] > p; j--) pos[j] = pos[j - 1];
            pos[j] = p;
        }
    for (unsigned i = 0; i < k; i++)
        if (n == 0 || pos[n - 1] != pos[i]) pos[n++] = pos[i];
    return n;
}

static unsigned least_of(const uint64_t *w, const uint64_t *pos, unsigned k)
{
    unsigned count = BF_CELL_MAX;
    for (unsigned j = 0; j < k && count; j++) {
        unsigned v = bf_cell(w, pos[j]);
        if (v < count) count = v;
    }
    return count;
}

static bool add_sorted(uint64_t *w, uint64_t *pos, unsigned k, bool atomic)
{
    bool present = true;
    k = bf_counters_distinct(pos, k);
    for (unsigned j = 0; j < k; j++) present &= bf_cell_up(w, pos[j], atomic) > 0;
    return present;
}

bool bf_counters_add_many(uint64_t *w, const uint64_t *pos, unsigned k, bool atomic)
{
    uint64_t copy[BF_K_MAX];
    memcpy(copy, pos, k * sizeof *copy);
    return add_sorted(w, copy, k, atomic);
}

/* Decrements the counters of a key. Returns false and changes nothing if the key is absent. If
 * another thread decrements one of the counters to 0 after they were read, this call undoes its
 * decrements and returns false. All calls use ascending positions, so if two calls remove the same
 * key, one of them succeeds. */
static bool remove_sorted(uint64_t *w, uint64_t *pos, unsigned k, bool atomic)
{
    uint64_t taken[BF_K_MAX];
    unsigned n = 0;
    if (least_of(w, pos, k) == 0) return false;
    k = bf_counters_distinct(pos, k);
    for (unsigned j = 0; j < k; j++) {
        unsigned v = bf_cell_down(w, pos[j], atomic);
        if (v == 0) {
            while (n) bf_cell_up(w, taken[--n], atomic);
            return false;
        }
        if (v < BF_CELL_MAX) taken[n++] = pos[j];
    }
    return true;
}

void bf_counters_apply(
    uint64_t *w, bool atomic, int op, uint64_t *pos, size_t nkeys, unsigned k, uint8_t *answer)
{
    for (size_t i = 0; i < nkeys * k; i++) bf_prefetch(w + (pos[i] >> 4));
    for (size_t i = 0; i < nkeys; i++, pos += k)
        answer[i] = op == BF_OP_ADD      ? add_sorted(w, pos, k, atomic)
                    : op == BF_OP_REMOVE ? remove_sorted(w, pos, k, atomic)
                    : op == BF_OP_COUNT  ? (uint8_t)least_of(w, pos, k)
                                         : least_of(w, pos, k) > 0;
}

const bf_cell_ops bf_cells_counters = { BF_CELL_BITS, "counters", "counting", all_used,
    used_of_both, within, unite, intersect, bf_counters_apply, to_bits };
