/* xxh3.c - XXH3-64 of libxxhash, inlined.  Unkeyed: whoever can choose keys can forge collisions.
 *
 * Keys of 17 to 128 bytes are hashed by 1 to 4 pairs of products, a pair for each 32 bytes begun.
 * The library asks for the number of pairs by branches: a batch of texts of many lengths spends a
 * quarter of its time on mispredicted ones.  Here such texts all take the pairs that the longest
 * needs, and what a key does not have is masked.  Same bits: tests/c/test_xxh3.c. */
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "base/load.h"
#include "bits/bits.h"
#include "hash/hash.h"

enum { PAIRS = 4, PAIR_BYTES = 32, LEAST = 17, MOST = PAIRS * PAIR_BYTES };

/* The beginning of XXH3's secret, as words: four to a pair. */
static const uint64_t words_of_secret[4 * PAIRS] = { UINT64_C(0xBE4BA423396CFEB8),
    UINT64_C(0x1CAD21F72C81017C), UINT64_C(0xDB979083E96DD4DE), UINT64_C(0x1F67B3B7A4A44072),
    UINT64_C(0x78E5C0CC4EE679CB), UINT64_C(0x2172FFCC7DD05A82), UINT64_C(0x8E2443F7744608B8),
    UINT64_C(0x4C263A81E69035E0), UINT64_C(0xCB00C391BB52283C), UINT64_C(0xA32E531B8B65D088),
    UINT64_C(0x4EF90DA297486471), UINT64_C(0xD8ACDEA946EF1938), UINT64_C(0x3F349CE33F76FAA8),
    UINT64_C(0x1D4F0BC7C7BBDCF9), UINT64_C(0x3159B4CD4BE0518A), UINT64_C(0x647378D9C97E9FC8) };

#define ALWAYS static inline __attribute__((always_inline))
ALWAYS uint64_t product(const uint8_t *p, const uint64_t *s)
{
    return bf_mum(load_le64(p) ^ s[0], load_le64(p + 8) ^ s[1]);
}

/* Pair i: 16 bytes from 16 i on and 16 bytes that end 16 i before the end.  All have pair 0; a key
 * that has no pair i has the bytes of pair 0 read instead. */
ALWAYS uint64_t middle(const uint64_t *s, const uint8_t *p, size_t len, int pairs)
{
    const uint8_t *end = p + len - 16;
    uint64_t sum = len * UINT64_C(0x9E3779B185EBCA87) + product(p, s) + product(end, s + 2);
    for (int i = 1; i < pairs; i++) {
        const uint64_t has = (uint64_t)((PAIR_BYTES * i - (int64_t)len) >> 63);
        const size_t at = (size_t)has & (size_t)(16 * i);
        sum += has & (product(p + at, s + 4 * i) + product(end - at, s + 4 * i + 2));
    }
    sum = (sum ^ sum >> 37) * UINT64_C(0x165667919E3779F9);
    return sum ^ sum >> 32;
}

/* The empty asm has the secret's words read from memory: as numbers in the code they are long
 * instructions of their own, for which too few registers are left. */
#define MIDDLE(name, pairs)                                                                        \
    static __attribute__((noinline)) void name(const bf_key *keys, size_t n, uint64_t *digests)    \
    {                                                                                              \
        const uint64_t *s = words_of_secret;                                                       \
        __asm__("" : "+r"(s));                                                                     \
        for (size_t i = 0; i < n; i++) digests[i] = middle(s, keys[i].ptr, keys[i].len, pairs);    \
    }
MIDDLE(two_pairs, 2)
MIDDLE(three_pairs, 3)
MIDDLE(four_pairs, 4)

/* Texts of different numbers of pairs; false: one of them is shorter or longer than the range. */
static __attribute__((noinline)) bool run_mixed(const bf_key *keys, size_t n, uint64_t *digests)
{
    size_t least = keys[0].len, most = least;
    for (size_t i = 1; i < n; i++) {
        least = keys[i].len < least ? keys[i].len : least;
        most = keys[i].len > most ? keys[i].len : most;
    }
    if (least < LEAST || most > MOST) return false;
    if (most <= 2 * PAIR_BYTES)
        two_pairs(keys, n, digests);
    else if (most <= 3 * PAIR_BYTES)
        three_pairs(keys, n, digests);
    else
        four_pairs(keys, n, digests);
    return true;
}

/* Keys of one number of pairs have branches that are foretold. */
static void run(const void *secret, const bf_key *keys, size_t n, uint64_t *digests)
{
    (void)secret;
    size_t differ = 0;
    for (size_t i = 1; i < n; i++) differ |= (keys[i].len - 1) ^ (keys[0].len - 1);
    if (differ >= PAIR_BYTES && run_mixed(keys, n, digests)) return;
    for (size_t i = 0; i < n; i++) digests[i] = XXH3_64bits(keys[i].ptr, keys[i].len);
}

static void one(const void *secret, const void *key, size_t len, uint64_t *digest)
{
    (void)secret;
    *digest = XXH3_64bits(key, len);
}

const bf_hash bf_hash_xxh3 = { .name = "xxh3", .width = 1, .run = run, .one = one };
