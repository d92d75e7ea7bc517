/* alike.c - may these two filters be united, compared, cut?  Names both values where not. */
#include "parts/parts.h"
#include "sets/sets.h"
#include <string.h>

static int alike_parts(const bf_filter *a, const bf_filter *b, bf_error *err)
{
    const bf_desc one = bf_describe(a), two = bf_describe(b), *x = &one, *y = &two;
    if (a->variant != b->variant)
        return bf_fail(err, BF_EINVAL, "filters must be of one kind: one %s and the other %s",
            a->variant->stored->is, b->variant->stored->is);
    if (x->grow != y->grow)
        return bf_fail(
            err, BF_EINVAL, "filters must have the same grow, got %g and %g", x->grow, y->grow);
    if (x->window != y->window)
        return bf_fail(err, BF_EINVAL, "filters must have the same window, got %g and %g",
            x->window, y->window);
    if (x->parts != y->parts)
        return bf_fail(
            err, BF_EINVAL, "filters must have the same parts, got %u and %u", x->parts, y->parts);
    return 0;
}

int bf_alike(const bf_filter *a, const bf_filter *b, bf_error *err)
{
    const bf_geometry *x = &a->part.g, *y = &b->part.g;
    if (strcmp(a->name, b->name))
        return bf_fail(
            err, BF_EINVAL, "filters must have the same scheme, got %s and %s", a->name, b->name);
    int rc = alike_parts(a, b, err);
    if (rc < 0) return rc;
    if (bf_cells_of(x) != bf_cells_of(y))
        return bf_fail(err, BF_EINVAL,
            "filters must be of the same kind, got a %s one and a %s one: convert the counting one "
            "to a plain one",
            bf_cells_of(x)->filter, bf_cells_of(y)->filter);
    if (x->m != y->m)
        return bf_fail(err, BF_EINVAL, "filters must have the same m, got %llu and %llu", (ull)x->m,
            (ull)y->m);
    if (x->k != y->k)
        return bf_fail(err, BF_EINVAL, "filters must have the same k, got %u and %u", x->k, y->k);
    const unsigned s = bf_shards_that_matter(a->scheme->layout, x),
                   t = bf_shards_that_matter(b->scheme->layout, y);
    if (s != t)
        return bf_fail(err, BF_EINVAL, "filters must have the same shards, got %u and %u", s, t);
    if (a->secret_check != b->secret_check)
        return bf_fail(err, BF_EINVAL, "filters must have the same secret: %s",
            !a->secret_check || !b->secret_check ? "one is keyed and the other is not"
                                                 : "got two different ones");
    return 0;
}
