/* memory_parts.c - parts in process memory: each a bitmap of its own. */
#include "parts/parts.h"
#include <stdlib.h>

extern const bf_store_ops bf_store_memory;

static int append(bf_filter *f, const bf_desc *part, bf_error *err)
{
    bf_piece *p = calloc(1, sizeof *p);
    if (!p) return bf_fail(err, BF_ENOMEM, "out of memory");
    p->part.g = part->g;
    p->part.store = (bf_store){ .ops = &bf_store_memory, .nwords = (part->g.m + 63) / 64 };
    p->live = &p->own;
    bf_live_set(p->live, part->live);
    int rc = bf_store_memory.create(&p->part.store, part, NULL, err);
    if (rc < 0) {
        free(p);
        return rc;
    }
    return bf_chain_join(f->chain, p);
}

static int create(bf_filter *f, const bf_desc *d, const bf_spec *spec, bf_error *err)
{
    const uint64_t n = bf_whole_parts(d);
    bf_desc part;
    uint64_t before = 0;
    int rc = bf_chain_begin(f, d, spec, err);
    for (unsigned i = 0; rc >= 0 && i < n; i++, before += part.g.m) {
        if ((rc = bf_chain_part(d, i, before, &part, err)) == 0)
            rc = bf_fail(err, BF_EINVAL, "its parts have more bits than the largest m");
        if (rc > 0) rc = append(f, &part, err);
    }
    return rc < 0 ? rc : 1;
}

const bf_chain_ops bf_chain_memory = { .create = create, .append = append };
