/* words.c - whole bitmaps in addressable memory: counting, OR, AND, position lists. */
#include "bits.h"
#include "seams.h"
#include <string.h>

#define COUNT(name, attr) \
    attr static uint64_t name(const uint64_t *w, uint64_t nwords) \
    { \
        uint64_t ones = 0; \
        for (uint64_t i = 0; i < nwords; i++) ones += (unsigned)__builtin_popcountll(bf_word(w + i)); \
        return ones; \
    }
COUNT(count_portable, )
#if defined(__x86_64__) && defined(__GNUC__)
COUNT(count_popcnt, __attribute__((target("popcnt"))))
#else
#define count_popcnt count_portable
#endif

uint64_t bf_words_count(const uint64_t *w, uint64_t nwords)
{
    return bf_has_avx2() ? count_popcnt(w, nwords) : count_portable(w, nwords);
}

void bf_words_copy(uint64_t *to, const uint64_t *from, uint64_t nwords)
{
    for (uint64_t i = 0; i < nwords; i++) to[i] = bf_word(from + i);
}

uint64_t bf_words_count_of_both(const uint64_t *a, const uint64_t *b, uint64_t nwords)
{
    uint64_t ones = 0;
    for (uint64_t i = 0; i < nwords; i++) ones += (unsigned)__builtin_popcountll(bf_word(a + i) | bf_word(b + i));
    return ones;
}

bool bf_words_within(const uint64_t *a, const uint64_t *b, uint64_t nwords)
{
    for (uint64_t i = 0; i < nwords; i++) if (bf_word(a + i) & ~bf_word(b + i)) return false;
    return true;
}

bool bf_words_equal(const uint64_t *a, const uint64_t *b, uint64_t nwords)
{
    return memcmp(a, b, nwords * 8) == 0;
}

void bf_words_or(uint64_t *into, const uint64_t *from, uint64_t nwords, bool atomic)
{
    if (atomic) for (uint64_t i = 0; i < nwords; i++) bf_or(into + i, bf_word(from + i), true);
    else for (uint64_t i = 0; i < nwords; i++) into[i] |= from[i];
}

void bf_words_and(uint64_t *into, const uint64_t *from, uint64_t nwords, bool atomic)
{
    if (atomic) for (uint64_t i = 0; i < nwords; i++) bf_and(into + i, bf_word(from + i), true);
    else for (uint64_t i = 0; i < nwords; i++) into[i] &= from[i];
}

void bf_words_apply(uint64_t *w, bool atomic, int op, const uint64_t *pos, size_t nkeys, unsigned k, uint8_t *present)
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
