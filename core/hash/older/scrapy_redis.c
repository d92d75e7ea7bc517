/* scrapy_redis.c - scheme scrapy-redis-bloomfilter: h = h + seed * h + character for the seeds 0 to
 * 15. Modulo 2^64 is sufficient, because a position is h & (m - 1) with m a power of two. */
#include "base/utf16.h"
#include "hash/hash.h"

static void scrapy_one(const void *secret, const void *key, size_t len, uint64_t *digest)
{
    const uint8_t *at = key, *end = utf16_end(key, len);
    uint64_t h[BF_WIDTH_MAX] = { 0 };
    uint16_t u[2];
    (void)secret;
    for (unsigned units; at < end && (units = utf16_next(&at, end, u));) {
        const uint32_t c =
            units == 2 ? 0x10000 + ((u[0] - 0xD800u) << 10) + (u[1] - 0xDC00u) : u[0];
        for (unsigned seed = 0; seed < BF_WIDTH_MAX; seed++) h[seed] = h[seed] * (seed + 1) + c;
    }
    for (unsigned seed = 0; seed < BF_WIDTH_MAX; seed++) digest[seed] = h[seed];
}

BF_RUN_BY_ONE(scrapy_run, scrapy_one, BF_WIDTH_MAX)

static int accept(const void *secret, const void *key, size_t len, bf_error *err)
{
    (void)secret;
    return utf16_check(key, len, "the characters of text", err);
}

const bf_hash bf_hash_scrapy_redis = { .name = "scrapy-redis",
    .width = BF_WIDTH_MAX,
    .run = scrapy_run,
    .one = scrapy_one,
    .accept = accept };
