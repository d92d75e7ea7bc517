/* hashcode.c - the positions of a key. */
#include "parts/parts.h"
#include <string.h>

int64_t bf_hashcode(
    const bf_filter *f, const void *key, size_t len, uint64_t *pos, size_t cap, bf_error *err)
{
    BF_CALL((bf_filter *)f, NULL, entered);
    uint64_t d[BF_WIDTH_MAX], all[BF_POSITIONS];
    const bf_part *p;
    if (bf_takes_hashes(f)) return bf_refuse_keys(f, err);
    if (f->hash->accept && f->hash->accept(f->secret, key, len, err) < 0) return BF_EINVAL;
    if (!f->hash->try)
        f->hash->one(f->secret, key, len, d);
    else if (f->hash->try(f->secret, &(bf_key){ key, len }, 1, d, err) < 1)
        return BF_EHOST;
    int rc = bf_parts_target((bf_filter *)f, &p, err);
    if (rc < 0) return rc;
    const unsigned k = p->bitmap.g.k;
    bf_positions(f->desc.scheme->layout, &p->bitmap.g, d, 1, all);
    for (unsigned j = 0; j < k; j++) all[j] += p->start;
    if (cap) memcpy(pos, all, (cap < k ? cap : k) * sizeof *pos);
    return k;
}
