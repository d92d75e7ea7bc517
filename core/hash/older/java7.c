/* java7.c - scheme java7: r = seed * r + unit mod 2^32 over the UTF-16 code units, for seven
 * seeds. */
#include "hash/hash.h"
#include "base/utf16.h"

enum { SEEDS = 7 };

static void java7_one(const void *secret, const void *key, size_t len, uint64_t *digest)
{
    static const uint32_t seed[SEEDS] = { 5, 7, 11, 13, 31, 37, 61 };
    const uint8_t *at = key, *end = utf16_end(key, len);
    uint32_t r[SEEDS] = { 0 };
    uint16_t u[2];
    (void)secret;
    for (unsigned units; at < end && (units = utf16_next(&at, end, u));)
        for (unsigned i = 0; i < units; i++)
            for (unsigned s = 0; s < SEEDS; s++) r[s] = seed[s] * r[s] + u[i];
    for (unsigned s = 0; s < SEEDS; s++) digest[s] = r[s];
}

BF_RUN_BY_ONE(java7_run, java7_one, SEEDS)

const bf_hash bf_hash_java7 = {
    .name = "java7", .width = SEEDS, .run = java7_run, .one = java7_one, .accept = utf16_accept
};
