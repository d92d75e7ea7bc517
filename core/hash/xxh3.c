/* xxh3.c - XXH3-64 of libxxhash, inlined. Not keyed: an attacker can create collisions.
 *
 * XXH3 hashes a key of 17 to 128 bytes with pairs of products: 1 pair up to 32 bytes, 4 pairs
 * above 96 bytes. libxxhash selects the number of pairs by branches, which are often mispredicted
 * in a batch of keys of different lengths. This file computes the pairs of the longest key for all
 * keys of the batch and masks the pairs that a shorter key does not have. The digests are the same
 * (tests/c/test_xxh3.c). */
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "base/load.h"
#include "bits/bits.h"
#include "hash/hash.h"

enum { PAIRS = 4, PAIR_BYTES = 32, LEAST = 17, HALF = 4, WORD = 8, MOST = PAIRS * PAIR_BYTES };

/* The beginning of XXH3's default secret: four words for each pair. */
static const uint64_t words_of_secret[4 * PAIRS] = { UINT64_C(0xBE4BA423396CFEB8),
    UINT64_C(0x1CAD21F72C81017C), UINT64_C(0xDB979083E96DD4DE), UINT64_C(0x1F67B3B7A4A44072),
    UINT64_C(0x78E5C0CC4EE679CB), UINT64_C(0x2172FFCC7DD05A82), UINT64_C(0x8E2443F7744608B8),
    UINT64_C(0x4C263A81E69035E0), UINT64_C(0xCB00C391BB52283C), UINT64_C(0xA32E531B8B65D088),
    UINT64_C(0x4EF90DA297486471), UINT64_C(0xD8ACDEA946EF1938), UINT64_C(0x3F349CE33F76FAA8),
    UINT64_C(0x1D4F0BC7C7BBDCF9), UINT64_C(0x3159B4CD4BE0518A), UINT64_C(0x647378D9C97E9FC8) };

#define ALWAYS static inline __attribute__((always_inline))
#define APART static __attribute__((noinline))
ALWAYS uint64_t product(const uint8_t *p, const uint64_t *s)
{
    return bf_mum(load_le64(p) ^ s[0], load_le64(p + 8) ^ s[1]);
}

/* Makes GCC 12 compute one product after the other. Without this, GCC keeps the halves of all
 * products on the stack. */
#define IN_TURN(sum) __asm__("" : "+r"(sum))
ALWAYS uint64_t pair(const uint8_t *p, const uint8_t *end, const uint64_t *s)
{
    uint64_t sum = product(p, s);
    IN_TURN(sum);
    return sum + product(end, s + 2);
}

/* Hashes a key of LEAST to MOST bytes by `pairs` pairs of products. Pair i reads the 16 bytes at
 * 16 * i and the 16 bytes that end 16 * i before the key's end. If `all` is false, the key may be
 * too short for pair i; then the bytes of pair 0 are read and the result is masked. The first asm
 * makes GCC read the secret from memory; as immediate operands its words would need too many
 * registers. */
ALWAYS uint64_t middle(const uint8_t *p, size_t len, int pairs, bool all)
{
    const uint64_t *s = words_of_secret;
    const uint8_t *end = p + len - 16;
    __asm__("" : "+r"(s));
    uint64_t sum = len * UINT64_C(0x9E3779B185EBCA87) + pair(p, end, s);
    for (int i = 1; i < pairs; i++) {
        const uint64_t has = all ? ~UINT64_C(0) : (uint64_t)((PAIR_BYTES * i - (int64_t)len) >> 63);
        const size_t at = (size_t)has & (size_t)(16 * i);
        IN_TURN(sum);
        sum += has & pair(p + at, end - at, s + 4 * i);
    }
    sum = (sum ^ sum >> 37) * UINT64_C(0x165667919E3779F9);
    return sum ^ sum >> 32;
}

#define MIDDLE(name, pairs, all)                                                                   \
    APART void name(const bf_key *keys, size_t n, uint64_t *digests)                               \
    {                                                                                              \
        for (size_t i = 0; i < n; i++) digests[i] = middle(keys[i].ptr, keys[i].len, pairs, all);  \
    }
MIDDLE(one_pair, 1, true)
MIDDLE(two_pairs, 2, true)
MIDDLE(three_pairs, 3, true)
MIDDLE(four_pairs, 4, true)
MIDDLE(up_to_2, 2, false)
MIDDLE(up_to_3, 3, false)
MIDDLE(up_to_4, 4, false)

/* Calls the library's function. The compiler removes its branches for other lengths. */
#define LIBRARY(name, shortest, longest)                                                           \
    APART void name(const bf_key *keys, size_t n, uint64_t *digests)                               \
    {                                                                                              \
        for (size_t i = 0; i < n; i++) {                                                           \
            const size_t len = keys[i].len;                                                        \
            if (len < (size_t)(shortest) || len > (size_t)(longest)) __builtin_unreachable();      \
            digests[i] = XXH3_64bits(keys[i].ptr, len);                                            \
        }                                                                                          \
    }
LIBRARY(of_a_word, HALF, WORD)
LIBRARY(of_short, 1, LEAST - 1)
APART void of_any(const bf_key *keys, size_t n, uint64_t *digests)
{
    for (size_t i = 0; i < n; i++) digests[i] = XXH3_64bits(keys[i].ptr, keys[i].len);
}

static void xxh3_run(const void *secret, const bf_key *keys, size_t n, uint64_t *digests)
{
    typedef void many(const bf_key *keys, size_t n, uint64_t *digests);
    static many *const same[PAIRS] = { one_pair, two_pairs, three_pairs, four_pairs },
                       *const up_to[PAIRS] = { one_pair, up_to_2, up_to_3, up_to_4 };
    size_t least = SIZE_MAX, most = 0;
    (void)secret;
#pragma GCC unroll 8
    for (size_t i = 0; i < n; i++) {
        least = keys[i].len < least ? keys[i].len : least;
        most = keys[i].len > most ? keys[i].len : most;
    }
    if (least >= LEAST && most <= MOST && n) {
        const size_t pairs = (most - 1) / PAIR_BYTES;
        ((least - 1) / PAIR_BYTES == pairs ? same : up_to)[pairs](keys, n, digests);
    } else if (least >= HALF && most <= WORD)
        of_a_word(keys, n, digests);
    else
        (least && most < LEAST ? of_short : of_any)(keys, n, digests);
}

/* Not inlined, because the library's code for long keys would make xxh3_one save registers for keys
 * of every length. */
APART void one_outside(const void *key, size_t len, uint64_t *digest)
{
    *digest = XXH3_64bits(key, len);
}

static void xxh3_one(const void *secret, const void *key, size_t len, uint64_t *digest)
{
    (void)secret;
    if (len < LEAST || len > MOST)
        one_outside(key, len, digest);
    else if (len <= PAIR_BYTES)
        *digest = middle(key, len, 1, true);
    else if (len <= 2 * PAIR_BYTES)
        *digest = middle(key, len, 2, true);
    else if (len <= 3 * PAIR_BYTES)
        *digest = middle(key, len, 3, true);
    else
        *digest = middle(key, len, 4, true);
}

const bf_hash bf_hash_xxh3 = { .name = "xxh3", .width = 1, .run = xxh3_run, .one = xxh3_one };
