/* glibc.c - scheme rs-rand: srand(digest), then rand() % m for each position. Implements glibc's
 * additive generator (TYPE_3); calling rand() would change the host's generator.
 *
 * r[0] = seed; r[i] = 16807 r[i-1] mod 2^31-1 for i < 31; r[i] = r[i-31] for i < 34; then r[i] =
 * r[i-31] + r[i-3]. The first 310 sums are discarded. An output is a sum without its lowest bit. */
#include "layout/layout.h"

enum { DEGREE = 31, SEPARATION = 3, DISCARD = 310 };

typedef struct {
    uint32_t r[DEGREE];
    unsigned at;
} glibc_random;

static uint32_t glibc_next(glibc_random *g)
{
    unsigned back = g->at < SEPARATION ? g->at + DEGREE - SEPARATION : g->at - SEPARATION;
    uint32_t sum = g->r[g->at] += g->r[back];
    if (++g->at == DEGREE) g->at = 0;
    return sum >> 1;
}

static void glibc_seed(glibc_random *g, uint32_t s)
{
    int32_t r = s ? (int32_t)s : 1;
    g->r[0] = (uint32_t)r;
    for (unsigned i = 1; i < DEGREE; i++) {
        /* the remainder has the sign of the dividend, as in Schrage's method */
        r = (int32_t)((int64_t)16807 * r % INT32_MAX);
        if (r < 0) r += INT32_MAX;
        g->r[i] = (uint32_t)r;
    }
    g->at = SEPARATION;
    for (unsigned i = 0; i < DISCARD; i++) glibc_next(g);
}

static void glibc_positions(const bf_geometry *g, const uint64_t *d, size_t n, uint64_t *pos)
{
    glibc_random r;
    for (size_t i = 0; i < n; i++) {
        glibc_seed(&r, (uint32_t)d[i]);
        for (unsigned j = 0; j < g->k; j++) *pos++ = glibc_next(&r) % g->m;
    }
}

const bf_layout bf_layout_glibc = BF_LAYOUT_OLDER("glibc", BF_K_MAX, 1, glibc_positions);
