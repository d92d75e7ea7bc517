/* murmur64a.c - MurmurHash64A (A. Appleby, 2008) as RedisBloom uses it: the first digest is the
 * hash with a fixed seed, the second one is the hash with the first one as its seed. */
#include "hash/hash.h"
#include "base/load.h"

static const uint64_t MULTIPLY = UINT64_C(0xc6a4a7935bd1e995); /* also the first seed */

static inline uint64_t shift_mix(uint64_t x) { return x ^ x >> 47; }

static uint64_t murmur64a(const uint8_t *p, size_t len, uint64_t seed)
{
    uint64_t h = seed ^ len * MULTIPLY, tail = 0;
    const uint8_t *const end = p + len / 8 * 8;
    for (; p < end; p += 8) h = (h ^ shift_mix(load_le64(p) * MULTIPLY) * MULTIPLY) * MULTIPLY;
    for (size_t i = len % 8; i-- > 0;) tail = tail << 8 | p[i];
    if (len % 8) h = (h ^ tail) * MULTIPLY;
    return shift_mix(shift_mix(h) * MULTIPLY);
}

static void redisbloom_one(const void *unused, const void *key, size_t len, uint64_t *digest)
{
    static const uint8_t none[1];
    const uint8_t *p = len ? key : none;
    (void)unused;
    digest[0] = murmur64a(p, len, MULTIPLY);
    digest[1] = murmur64a(p, len, digest[0]);
}

BF_RUN_BY_ONE(redisbloom_run, redisbloom_one, 2)

const bf_hash bf_hash_murmur64a = {
    .name = "murmur64a", .width = 2, .run = redisbloom_run, .one = redisbloom_one
};
