/* guava.c - positions from the two halves of a 128-bit hash: Guava's two strategies, Redisson. */
#include "layout/layout.h"

enum { GUAVA_K_MAX = 255 }; /* Guava's file format has one byte for k */

static void mitz64(const bf_geometry *g, const uint64_t *d, size_t n, uint64_t *pos)
{
    for (size_t i = 0; i < n; i++, d += 2) {
        uint64_t c = d[0];
        for (unsigned j = 0; j < g->k; j++, c += d[1]) *pos++ = (c & INT64_MAX) % g->m;
    }
}

/* Uses the two halves of the first 64 bits as signed 32-bit numbers. A negative sum is
 * complemented (~). */
static void mitz32(const bf_geometry *g, const uint64_t *d, size_t n, uint64_t *pos)
{
    for (size_t i = 0; i < n; i++, d += 2) {
        uint32_t c = (uint32_t)d[0], step = (uint32_t)(d[0] >> 32);
        for (unsigned j = 0; j < g->k; j++) {
            c += step;
            *pos++ = (c > INT32_MAX ? ~c : c) % g->m;
        }
    }
}

/* Adds the halves alternately, which raises the false-positive rate (bf_rate_redisson). */
static void redisson(const bf_geometry *g, const uint64_t *d, size_t n, uint64_t *pos)
{
    for (size_t i = 0; i < n; i++, d += 2) {
        uint64_t c = d[0];
        for (unsigned j = 0; j < g->k; j++) {
            *pos++ = (c & INT64_MAX) % g->m;
            c += j % 2 ? d[0] : d[1];
        }
    }
}

const bf_layout bf_layout_mitz64 = BF_LAYOUT_OLDER("mitz64", GUAVA_K_MAX, 64, mitz64);
const bf_layout bf_layout_mitz32 = BF_LAYOUT_OLDER("mitz32", GUAVA_K_MAX, 64, mitz32);
const bf_layout bf_layout_redisson = BF_LAYOUT_OLDER("redisson", BF_K_MAX, 1, redisson);
