/* match.c - is this filter what was asked for?  Compares, and names both values where it is not. */
#include "size/size.h"
#include <string.h>

static int differ_int(
    bf_error *err, const char *where, const char *name, uint64_t have, uint64_t want)
{
    return bf_fail(err, BF_EMISMATCH, "%.80s has %s=%llu, asked for %s=%llu", where, name,
        (ull)have, name, (ull)want);
}

/* Where it has none of it, "has grow=0" would say less. */
static int differ_real(
    bf_error *err, const char *where, const char *name, const char *kind, double have, double want)
{
    if (have == 0)
        return bf_fail(err, BF_EMISMATCH, "%.80s is not a %s filter, but %s=%g was asked for",
            where, kind, name, want);
    return bf_fail(
        err, BF_EMISMATCH, "%.80s has %s=%g, asked for %s=%g", where, name, have, name, want);
}

static int match_variant(const bf_desc *have, const bf_spec *want, const char *where, bf_error *err)
{
    if (want->grow != 0 && want->grow != have->grow)
        return differ_real(err, where, "grow", "growing", have->grow, want->grow);
    if (want->window != 0 && want->window != have->window)
        return differ_real(err, where, "window", "forgetting", have->window, want->window);
    if (want->parts && want->parts != have->parts)
        return differ_int(err, where, "parts", have->parts, want->parts);
    if (want->clock && have->window == 0)
        return bf_fail(
            err, BF_EINVAL, "%.80s is not a forgetting filter: clock must not be given", where);
    return 0;
}

static int match_given(const bf_desc *have, const bf_spec *want, const char *where, bf_error *err)
{
    const uint64_t step = bf_shard_step(have->scheme->layout, have->g.shards),
                   m = (want->m + step - 1) / step * step;
    const unsigned shards = have->g.shards ? have->g.shards : 1;
    int rc;
    if ((want->grow != 0 || want->window != 0 || want->parts || want->clock) &&
        (rc = match_variant(have, want, where, err)) < 0)
        return rc;
    if (bf_has_parts(have) && want->m)
        return bf_fail(err, BF_EMISMATCH,
            "%.80s %s: it has parts of many sizes, and m must not be given", where,
            bf_kind_of(have)->is);
    if (want->scheme && strcmp(want->scheme, have->name) != 0)
        return bf_fail(err, BF_EMISMATCH, "%.80s has scheme %s, asked for scheme %.24s", where,
            have->name, want->scheme);
    if (want->shards && want->shards != shards)
        return differ_int(err, where, "shards", shards, want->shards);
    if (want->counting != have->g.counting && !want->may_count)
        return bf_fail(err, BF_EMISMATCH, "%.80s %s", where,
            have->g.counting
                ? "is a counting filter, asked for a plain one: open it as CountingBloomFilter"
                : "is a plain filter, asked for a counting one: open it as BloomFilter");
    if (want->m && m != have->g.m) return differ_int(err, where, "m", have->g.m, want->m);
    if (want->n && want->n != have->g.n) return differ_int(err, where, "n", have->g.n, want->n);
    if (want->k && want->k != have->g.k) return differ_int(err, where, "k", have->g.k, want->k);
    if (want->p != 0 && want->p != have->g.p && want->p != bf_told_p(have)) /* asked, or said */
        return bf_fail(
            err, BF_EMISMATCH, "%.80s has p=%.10g, asked for p=%.10g", where, have->g.p, want->p);
    return 0;
}

/* What was asked for by name must be there; where that sizes a filter, so must what follows from
 * it. */
int bf_match(const bf_desc *have, const bf_spec *want, const char *where, bf_error *err)
{
    int rc = match_given(have, want, where, err);
    if (rc < 0 || bf_has_parts(have) || !bf_sufficient(want)) return rc;
    bool by_rate = !want->m && !want->k && want->n && want->p != 0;
    if (by_rate && !strcmp(want->scheme ? want->scheme : bf_default_scheme(want), have->name))
        return 0; /* n and p are as asked: m and k need no second derivation */
    bf_desc d;
    bf_spec as_cut = *want;
    as_cut.shards = have->g.shards;
    if ((rc = bf_size(&d, &as_cut, 0, err)) < 0) return rc;
    if (strcmp(d.name, have->name))
        return bf_fail(err, BF_EMISMATCH, "%.80s has scheme %s, asked for scheme %s", where,
            have->name, d.name);
    if (d.g.m != have->g.m) return differ_int(err, where, "m", have->g.m, d.g.m);
    return d.g.k == have->g.k ? 0 : differ_int(err, where, "k", have->g.k, d.g.k);
}
