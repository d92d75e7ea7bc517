/* words.c - operations on bitmaps in addressable memory (bf_cell_ops). */
#include "bits/bits.h"
#include "bits/words.h"
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define AVX2 __attribute__((target("avx2,popcnt")))
#endif

/* ---- counting the bits of one bitmap, or of the union of two ---- */
static uint64_t count_ones(const uint64_t *a, const uint64_t *b, uint64_t nwords)
{
    uint64_t ones = 0;
    for (uint64_t i = 0; i < nwords; i++)
        ones += (unsigned)__builtin_popcountll(bf_word(a + i) | bf_word(b + i));
    return ones;
}

#ifdef AVX2
/* Counts the bits of each byte: two lookups in a table of 16 counts, one per half byte (W. Mula,
 * 2008). */
AVX2 static inline __m256i byte_counts(__m256i v)
{
    const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1,
        2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    const __m256i low = _mm256_set1_epi8(15);
    return _mm256_add_epi8(_mm256_shuffle_epi8(table, _mm256_and_si256(v, low)),
        _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(v, 4), low)));
}

AVX2 static inline __m256i pair_at(const uint64_t *a, const uint64_t *b, uint64_t i)
{
    __m256i v = _mm256_loadu_si256((const __m256i *)(a + i));
    return a == b ? v : _mm256_or_si256(v, _mm256_loadu_si256((const __m256i *)(b + i)));
}

AVX2 static uint64_t count_ones_avx2(const uint64_t *a, const uint64_t *b, uint64_t nwords)
{
    __m256i sum = _mm256_setzero_si256();
    uint64_t i = 0, lanes[4];
    for (; i + 16 <= nwords; i += 16) { /* the sum of four counts of at most 8 fits in a byte */
        __m256i bytes = _mm256_add_epi8(
            _mm256_add_epi8(byte_counts(pair_at(a, b, i)), byte_counts(pair_at(a, b, i + 4))),
            _mm256_add_epi8(byte_counts(pair_at(a, b, i + 8)), byte_counts(pair_at(a, b, i + 12))));
        sum = _mm256_add_epi64(sum, _mm256_sad_epu8(bytes, _mm256_setzero_si256()));
    }
    _mm256_storeu_si256((__m256i *)lanes, sum);
    return lanes[0] + lanes[1] + lanes[2] + lanes[3] + count_ones(a + i, b + i, nwords - i);
}
#else
#define count_ones_avx2 count_ones
#endif

static uint64_t count_of_both(const uint64_t *a, const uint64_t *b, uint64_t nwords)
{
    return bf_has_avx2() ? count_ones_avx2(a, b, nwords) : count_ones(a, b, nwords);
}
uint64_t bf_words_count(const uint64_t *w, uint64_t nwords) { return count_of_both(w, w, nwords); }

uint64_t *bf_words_new(uint64_t nwords)
{
    return nwords > SIZE_MAX / 8 ? NULL : calloc((size_t)nwords, 8);
}

void bf_words_copy(uint64_t *to, const uint64_t *from, uint64_t nwords)
{
    for (uint64_t i = 0; i < nwords; i++) to[i] = bf_word(from + i);
}

static bool within(const uint64_t *a, const uint64_t *b, uint64_t nwords)
{
    enum { AT_ONCE = 64 }; /* the inner loop has no branch, so it is vectorized */
    for (uint64_t i = 0; i < nwords;) {
        uint64_t end = nwords - i < AT_ONCE ? nwords : i + AT_ONCE, more = 0;
        for (; i < end; i++) more |= a[i] & ~b[i];
        if (more) return false;
    }
    return true;
}

void bf_words_or(uint64_t *into, const uint64_t *from, uint64_t nwords, bool atomic)
{
    if (atomic)
        for (uint64_t i = 0; i < nwords; i++) bf_or(into + i, bf_word(from + i), true);
    else
        for (uint64_t i = 0; i < nwords; i++) into[i] |= from[i];
}

static void intersect(uint64_t *into, const uint64_t *from, uint64_t nwords, bool atomic)
{
    if (atomic)
        for (uint64_t i = 0; i < nwords; i++) bf_and(into + i, bf_word(from + i));
    else
        for (uint64_t i = 0; i < nwords; i++) into[i] &= from[i];
}

void bf_words_apply(uint64_t *w, bool atomic, int op, const uint64_t *pos, size_t nkeys, unsigned k,
    uint8_t *present)
{
    for (size_t i = 0; i < nkeys * k; i++) bf_prefetch(w + (pos[i] >> 6));
    for (size_t i = 0; i < nkeys; i++, pos += k) {
        bool all = true;
        for (unsigned j = 0; j < k && (all || op == BF_OP_ADD); j++) {
            uint64_t *word = w + (pos[j] >> 6), mask = bf_mask_of(pos[j]);
            all &= op == BF_OP_ADD ? bf_or(word, mask, atomic) : (bf_word(word) & mask) != 0;
        }
        present[i] = all;
    }
}

static void apply(
    uint64_t *w, bool atomic, int op, uint64_t *pos, size_t nkeys, unsigned k, uint8_t *present)
{
    bf_words_apply(w, atomic, op, pos, nkeys, k, present);
}

const bf_cell_ops bf_cells_bits = { 1, "bits", "plain", bf_words_count, count_of_both, within,
    bf_words_or, intersect, apply, NULL };
