/* tables.c - the tables of schemes, filter variants and homes. A new scheme, variant or home is
 * a new file and a row here. */
#include "parts/parts.h"
#include <string.h>

extern const bf_hash bf_hash_siphash;
extern const bf_hash bf_hash_sax_sdbm, bf_hash_java7, bf_hash_crc32, bf_hash_rs, bf_hash_rs_utf16,
    bf_hash_murmur3, bf_hash_murmur3_14, bf_hash_php, bf_hash_highway, bf_hash_scrapy_redis,
    bf_hash_murmur64a;
extern const bf_layout bf_layout_classic, bf_layout_block, bf_layout_block2;
extern const bf_layout bf_layout_words, bf_layout_mask, bf_layout_mt, bf_layout_mt_legacy,
    bf_layout_glibc, bf_layout_dotnet, bf_layout_dotnet_repo, bf_layout_mitz64, bf_layout_mitz32,
    bf_layout_redisson, bf_layout_first, bf_layout_redisbloom;
extern const bf_variant_ops bf_variant_fixed, bf_variant_grow, bf_variant_grow_counting,
    bf_variant_scalable, bf_variant_window;
extern const bf_store_ops bf_store_memory, bf_store_file, bf_store_client, bf_store_redis;

#define REDIS_BITS (UINT64_C(1) << 32) /* size of the largest Redis string, in bits */
#define SEEDS_31 (UINT64_C(1) << 31)
#define SEEDS_32 (UINT64_C(1) << 32)
#define GUAVA_BITS (UINT64_C(64) * INT32_MAX) /* largest Java array of longs, in bits */

/* Ids are stored: an id never changes its meaning; a changed encoding gets a new id. */
/* clang-format off */
const bf_scheme bf_schemes[] = {
    { .id = 1, .name = "classic", .hash = &bf_hash_xxh3, .keyed = &bf_hash_siphash,
      .layout = &bf_layout_classic },
    { .id = 2, .name = "block", .hash = &bf_hash_xxh3, .keyed = &bf_hash_siphash,
      .layout = &bf_layout_block },
    { .id = 3, .name = "block2", .hash = &bf_hash_xxh3, .keyed = &bf_hash_siphash,
      .layout = &bf_layout_block2 },
    /* schemes of older systems: docs/migrate.md */
    { .id = 16, .name = "sax-sdbm", .hash = &bf_hash_sax_sdbm, .layout = &bf_layout_words,
      .k = 2, .range = SEEDS_32 },
    { .id = 17, .name = "java7", .hash = &bf_hash_java7, .layout = &bf_layout_mask, .k = 7,
      .power_of_two = true, .m_max = INT32_MAX },
    { .id = 18, .name = "php-mt", .hash = &bf_hash_crc32, .layout = &bf_layout_mt,
      .values = SEEDS_32 },
    { .id = 19, .name = "php-mt-legacy", .hash = &bf_hash_crc32, .layout = &bf_layout_mt_legacy,
      .values = SEEDS_32,
      .range = SEEDS_31 },
    { .id = 20, .name = "rs-rand", .hash = &bf_hash_rs, .layout = &bf_layout_glibc, .k = 7,
      .bits_per_key = 10, .m_max = INT32_MAX, .values = SEEDS_31,
      .range = SEEDS_31 },
    { .id = 21, .name = "rs-dotnet", .hash = &bf_hash_rs_utf16, .layout = &bf_layout_dotnet,
      .bits_per_key = 10, .m_max = INT32_MAX, .usual_k = 7, .values = SEEDS_31,
      .range = INT32_MAX },
    { .id = 22, .name = "rs-dotnet-repo", .hash = &bf_hash_rs_utf16,
      .layout = &bf_layout_dotnet_repo, .bits_per_key = 10, .m_max = INT32_MAX, .usual_k = 7,
      .values = SEEDS_31, .range = INT32_MAX },
    { .id = 23, .name = "gozero", .hash = &bf_hash_murmur3_14, .layout = &bf_layout_words,
      .k = 14, .bits_per_key = 20, .m_max = REDIS_BITS },
    { .id = 24, .name = "php-hashes", .hash = &bf_hash_php, .layout = &bf_layout_words,
      .m = REDIS_BITS },
    { .id = 25, .name = "guava", .hash = &bf_hash_murmur3, .layout = &bf_layout_mitz64,
      .m_max = GUAVA_BITS, .size = bf_size_guava },
    { .id = 26, .name = "guava32", .hash = &bf_hash_murmur3, .layout = &bf_layout_mitz32,
      .m_max = GUAVA_BITS, .size = bf_size_guava, .range = SEEDS_31 },
    { .id = 27, .name = "guava-31", .hash = &bf_hash_murmur3, .layout = &bf_layout_mitz64,
      .m_max = GUAVA_BITS, .size = bf_size_guava_31 },
    { .id = 28, .name = "redisson", .hash = &bf_hash_highway, .layout = &bf_layout_redisson,
      .m_max = REDIS_BITS - 2, .size = bf_size_redisson,
      .rate = bf_rate_redisson, .fill = bf_fill_redisson },
    { .id = 29, .name = "functions", .hash = &bf_hash_functions, .layout = &bf_layout_words },
    { .id = 30, .name = "scrapy-redis-bloomfilter", .hash = &bf_hash_scrapy_redis,
      .layout = &bf_layout_first, .usual_k = 6, .power_of_two = true, .m_max = REDIS_BITS,
      .rate = bf_rate_scrapy_redis, .fill = bf_fill_scrapy_redis,
      .estimate = bf_estimate_scrapy_redis },
    /* keys that are hashed already: bf_scheme_of chooses one of these for the name hashes64 */
    { .id = 31, .name = "hashes64-classic", .hash = &bf_hash_ready,
      .layout = &bf_layout_classic },
    { .id = 32, .name = "hashes64-block", .hash = &bf_hash_ready, .layout = &bf_layout_block },
    { .id = 33, .name = "hashes64-block2", .hash = &bf_hash_ready, .layout = &bf_layout_block2 },
    { .id = 34, .name = "redisbloom", .hash = &bf_hash_murmur64a,
      .layout = &bf_layout_redisbloom, .size = bf_size_redisbloom,
      .parts = &bf_sizes_redisbloom },
    { .id = 0 }
};
/* clang-format on */

/* Formats and operations of each variant, by kind. bf_variants has a second index: 1 for counting
 * filters. */
const bf_variant_format *const bf_variant_formats[] = { [BF_FIXED] = &bf_format_fixed,
    [BF_GROW] = &bf_format_grow,
    [BF_WINDOW] = &bf_format_window,
    [BF_PART] = &bf_format_part };
const bf_variant_ops *const bf_variants[][2] = { [BF_FIXED] = { &bf_variant_fixed,
                                                     &bf_variant_fixed },
    [BF_GROW] = { &bf_variant_grow, &bf_variant_grow_counting },
    [BF_WINDOW] = { &bf_variant_window, NULL } };

const bf_variant_ops *bf_variant_of(const bf_params *d)
{
    return d->kind == BF_GROW && d->scheme->parts ? &bf_variant_scalable
                                                  : bf_variants[d->kind][d->g.counting];
}

/* The home of a storage, by its prefix; the empty prefix is a path. missing: why this build lacks
 * the home, or NULL. */
#ifdef BF_HAVE_OPENSSL
#define REDIS_TLS &bf_store_redis, NULL
#else
#define REDIS_TLS NULL, "needs OpenSSL for TLS, and this build lacks it"
#endif
static const struct {
    const char *prefix;
    const bf_store_ops *ops;
    const char *missing;
} homes[] = { { "redis://", &bf_store_redis, NULL }, { "unix://", &bf_store_redis, NULL },
    { "rediss://", REDIS_TLS }, { "", &bf_store_file, NULL } };

const bf_store_ops *bf_find_store(const bf_spec *spec, bf_error *err)
{
    if (spec->client && spec->storage) {
        bf_fail(err, BF_EINVAL, "give storage or a client, not both");
        return NULL;
    }
    if (spec->redis_client && (spec->client || spec->storage)) {
        bf_fail(err, BF_EINVAL, "give storage or a Redis client, not both");
        return NULL;
    }
    if (spec->redis_client) return &bf_store_redis;
    if (spec->client) return &bf_store_client;
    if (!spec->storage) return &bf_store_memory;
    size_t i = 0;
    while (strncmp(spec->storage, homes[i].prefix, strlen(homes[i].prefix)) != 0) i++;
    if (homes[i].missing)
        bf_fail(err, BF_ENOTSUP, "storage %s...: %s", homes[i].prefix, homes[i].missing);
    return homes[i].ops;
}

bool bf_is_url(const char *storage)
{
    for (size_t i = 0; *homes[i].prefix; i++)
        if (!strncmp(storage, homes[i].prefix, strlen(homes[i].prefix))) return true;
    return false;
}

int bf_storage_path(const char *storage, const char **path, bf_error *err)
{
    *path = NULL;
    if (bf_is_url(storage)) return 0;
    const int rc = bf_path_of(storage, path, err);
    return rc < 0 ? rc : 1;
}
