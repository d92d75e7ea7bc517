/* digests.c - one position per digest, for the schemes that hash k times: digest % m (sax-sdbm,
 * gozero, php-hashes, functions) or digest & (m - 1) (java7, scrapy-redis-bloomfilter). If m is not
 * a power of two, java7 never uses some bits, as in the original. */
#include "layout/layout.h"

static void digests_positions(const bf_geometry *g, const uint64_t *d, size_t n, uint64_t *pos)
{
    for (size_t i = 0; i < n * g->k; i++) pos[i] = d[i] % g->m;
}

static void positions_masked(const bf_geometry *g, const uint64_t *d, size_t n, uint64_t *pos)
{
    for (size_t i = 0; i < n * g->k; i++) pos[i] = d[i] & (g->m - 1);
}

/* scrapy-redis-bloomfilter: a key has BF_WIDTH_MAX digests; uses the first k */
static void positions_of_first_k(const bf_geometry *g, const uint64_t *d, size_t n, uint64_t *pos)
{
    for (size_t i = 0; i < n; i++, d += BF_WIDTH_MAX)
        for (unsigned j = 0; j < g->k; j++) *pos++ = d[j] & (g->m - 1);
}

const bf_layout bf_layout_words = BF_LAYOUT_OLDER("words", BF_WIDTH_MAX, 1, digests_positions);
const bf_layout bf_layout_mask = BF_LAYOUT_OLDER("mask", BF_WIDTH_MAX, 1, positions_masked);
const bf_layout bf_layout_first = BF_LAYOUT_OLDER("first", BF_WIDTH_MAX, 1, positions_of_first_k);
