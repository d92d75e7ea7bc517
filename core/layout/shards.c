/* shards.c - divides a filter into equal slices (shards), so that all bits of a key are in one
 * shard. Position q is bit q % (m / shards) of shard q / (m / shards).
 *
 * If all bits of a key are in one line (block), a shard is a sequence of lines, and the positions
 * do not depend on the number of shards. In other layouts digest h selects the shard
 * mulhi(h, shards), and h * shards mod 2^64 is the digest in a filter of one shard's size. */
#include "bits/bits.h"
#include "layout/layout.h"

enum { WORD = 64 }; /* a shard begins at a word boundary */

uint64_t bf_shard_step(const bf_layout *l, unsigned shards)
{
    uint64_t unit = shards > 1 && l->line_bits < WORD ? WORD : l->line_bits;
    return shards > 1 ? unit * shards : unit;
}

void bf_positions(
    const bf_layout *l, const bf_geometry *g, const uint64_t *d, size_t n, uint64_t *pos)
{
    if (bf_shards_that_matter(l, g) == 1) {
        l->positions(g, d, n, pos);
        return;
    }
    bf_geometry part = *g;
    part.shards = 1;
    part.m /= g->shards;
    part.lines /= g->shards;
    for (size_t i = 0; i < n; i++, pos += g->k) {
        uint64_t start = bf_mulhi(d[i], g->shards) * part.m, rest = d[i] * g->shards;
        l->positions(&part, &rest, 1, pos);
        for (unsigned j = 0; j < g->k; j++) pos[j] += start;
    }
}

bool bf_shards_fit(const bf_layout *l, const bf_geometry *g)
{
    return g->shards <= 1 || (g->shards <= BF_SHARDS_MAX && l->sharding != BF_WHOLE &&
                                 g->m % bf_shard_step(l, g->shards) == 0);
}

unsigned bf_shards_that_matter(const bf_layout *l, const bf_geometry *g)
{
    return g->shards > 1 && l->sharding == BF_SHARDS_BY_HASH ? g->shards : 1;
}
