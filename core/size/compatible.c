/* compatible.c - compares the parameters of two filters, or of a filter and a spec. Messages
 * contain both values. */
#include "size/size.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- two filters ---- */
/* Returns the number of shards to compare. BF_SAME_FILTER ignores shards that change no position;
 * BF_SAME_BITS compares the number as it is stored. */
static unsigned shards_of(const bf_params *d, bf_scope scope)
{
    if (scope == BF_SAME_FILTER) return bf_shards_that_matter(d->scheme->layout, &d->g);
    return d->g.shards ? d->g.shards : 1;
}

const char *bf_difference(const bf_params *a, const bf_params *b, bf_scope scope)
{
    const bf_geometry *g = &a->g, *h = &b->g;
    if (strcmp(a->name, b->name)) return "scheme";
    if (scope == BF_SAME_FILTER) {
        if (a->kind != b->kind) return "kind";
        if (a->grow != b->grow) return "grow";
        if (a->window != b->window) return "window";
        if (a->parts != b->parts) return "parts";
    }
    if (g->counting != h->counting) return "counting";
    if (scope >= BF_SAME_BITS && g->m != h->m) return "m";
    if (g->k != h->k && !(a->kind == BF_PART && a->scheme->parts)) return "k";
    if (scope >= BF_SAME_BITS && shards_of(a, scope) != shards_of(b, scope)) return "shards";
    return a->secret_check != b->secret_check ? "secret" : NULL;
}

/* Returns the parameter with this name as text; `text` is a buffer. */
static const char *value_of(const bf_params *d, const char *name, char text[BF_SCHEME_BYTES])
{
    const double real = !strcmp(name, "grow") ? d->grow : d->window;
    const uint64_t number = !strcmp(name, "parts")    ? d->parts
                            : !strcmp(name, "m")      ? d->g.m
                            : !strcmp(name, "k")      ? d->g.k
                            : !strcmp(name, "shards") ? shards_of(d, BF_SAME_FILTER)
                                                      : 0;
    if (!strcmp(name, "scheme")) return d->name;
    if (number)
        snprintf(text, BF_SCHEME_BYTES, "%llu", (ull)number);
    else
        bf_print(text, BF_SCHEME_BYTES, "%g", real);
    return text;
}

int bf_check_same(const bf_params *a, const bf_params *b, bf_error *err)
{
    char text[BF_SCHEME_BYTES], other[BF_SCHEME_BYTES];
    const char *name = bf_difference(a, b, BF_SAME_FILTER);
    if (!name) return 0;
    if (!strcmp(name, "kind"))
        return bf_fail(err, BF_EINVAL, "filters must be of one kind: one %s and the other %s",
            bf_format_of(a)->is, bf_format_of(b)->is);
    if (!strcmp(name, "counting"))
        return bf_fail(err, BF_EINVAL,
            "filters must be of the same kind, got a %s one and a %s one: convert the counting one "
            "to a plain one",
            bf_cell_ops_of(&a->g)->filter, bf_cell_ops_of(&b->g)->filter);
    if (!strcmp(name, "secret"))
        return bf_fail(err, BF_EINVAL, "filters must have the same secret: %s",
            !a->secret_check || !b->secret_check ? "one is keyed and the other is not"
                                                 : "got two different ones");
    return bf_fail(err, BF_EINVAL, "filters must have the same %s, got %s and %s", name,
        value_of(a, name, text), value_of(b, name, other));
}

/* ---- a filter and a spec ---- */
static int differ_int(
    bf_error *err, const char *where, const char *name, uint64_t have, uint64_t want)
{
    return bf_fail(err, BF_EMISMATCH, "%.80s has %s=%llu, asked for %s=%llu", where, name,
        (ull)have, name, (ull)want);
}

/* have is 0 in a filter of another kind; the message then contains the kind. */
static int differ_real(
    bf_error *err, const char *where, const char *name, const char *kind, double have, double want)
{
    if (have == 0)
        return bf_fail(err, BF_EMISMATCH, "%.80s is not a %s filter, but %s=%g was asked for",
            where, kind, name, want);
    return bf_fail(
        err, BF_EMISMATCH, "%.80s has %s=%g, asked for %s=%g", where, name, have, name, want);
}

static int match_variant(
    const bf_params *have, const bf_spec *want, const char *where, bf_error *err)
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

/* A scheme may have several spellings. */
static bool is_scheme(const bf_params *have, const char *name)
{
    bf_params d;
    return !strcmp(name, have->name) ||
           (!strcmp(name, BF_HASHES64) && have->scheme->hash == &bf_hash_ready) ||
           (bf_find_scheme(&d, name, NULL, NULL) == 0 && !strcmp(d.name, have->name));
}

static int match_given(const bf_params *have, const bf_spec *want, const char *where, bf_error *err)
{
    const uint64_t step = bf_shard_step(have->scheme->layout, have->g.shards),
                   m = (want->m + step - 1) / step * step;
    const unsigned shards = have->g.shards ? have->g.shards : 1;
    int rc;
    if ((want->grow != 0 || want->window != 0 || want->parts || want->clock) &&
        (rc = match_variant(have, want, where, err)) < 0)
        return rc;
    if (bf_has_parts(have) && want->m && !(have->kind == BF_GROW && want->n))
        return bf_fail(err, BF_EMISMATCH,
            "%.80s %s: it has parts of many sizes, and m must not be given", where,
            bf_format_of(have)->is);
    if (want->scheme && !is_scheme(have, want->scheme))
        return bf_fail(err, BF_EMISMATCH, "%.80s has scheme %s, asked for scheme %.24s", where,
            have->name, want->scheme);
    if (want->shards && want->shards != shards)
        return differ_int(err, where, "shards", shards, want->shards);
    if (want->counting != have->g.counting && !want->may_count)
        return bf_fail(err, BF_EMISMATCH, "%.80s is a %s filter, asked for a %s one", where,
            bf_cell_ops_of(&have->g)->filter, have->g.counting ? "plain" : "counting");
    if (want->m && !bf_has_parts(have) && m != have->g.m)
        return differ_int(err, where, "m", have->g.m, want->m);
    if (want->n && want->n != have->g.n) return differ_int(err, where, "n", have->g.n, want->n);
    if (want->k && want->k != have->g.k) return differ_int(err, where, "k", have->g.k, want->k);
    if (want->p != 0 && want->p != have->g.p &&
        want->p != bf_effective_p(have)) /* p may be given as stored or as bf_info shows it */
        return bf_fail(
            err, BF_EMISMATCH, "%.80s has p=%.10g, asked for p=%.10g", where, have->g.p, want->p);
    return 0;
}

/* For a growing filter m and n only give the rate p, so the rates are compared. */
static int match_rate(const bf_params *have, const bf_spec *want, const char *where, bf_error *err)
{
    bf_params d;
    bf_spec spec = *want;
    spec.grow = have->grow;
    const int rc = bf_size_any(&d, &spec, 0, err);
    if (rc < 0 || fabs(d.g.p - have->g.p) <= 1e-6 * have->g.p) return rc;
    return bf_fail(err, BF_EMISMATCH, "%.80s has p=%.10g, asked for m=%llu and n=%llu: p=%.10g",
        where, have->g.p, (ull)want->m, (ull)want->n, d.g.p);
}

/* All parameters that spec gives must match. If they are sufficient to size a filter, the derived m
 * and k must match, too. */
int bf_check_match(const bf_params *have, const bf_spec *want, const char *where, bf_error *err)
{
    int rc = match_given(have, want, where, err);
    if (rc == 0 && have->kind == BF_GROW && want->m) return match_rate(have, want, where, err);
    if (rc < 0 || bf_has_parts(have) || !bf_sufficient(want)) return rc;
    bool by_rate = !want->m && !want->k && want->n && want->p != 0;
    if (by_rate && !strcmp(bf_scheme_of(want), have->name))
        return 0; /* the same n, p and scheme give the same m and k */
    bf_params d;
    bf_spec as_cut = *want;
    as_cut.shards = have->g.shards;
    if ((rc = bf_size(&d, &as_cut, 0, err)) < 0) return rc;
    if (strcmp(d.name, have->name))
        return bf_fail(err, BF_EMISMATCH, "%.80s has scheme %s, asked for scheme %s", where,
            have->name, d.name);
    if (d.g.m != have->g.m) return differ_int(err, where, "m", have->g.m, d.g.m);
    return d.g.k == have->g.k ? 0 : differ_int(err, where, "k", have->g.k, d.g.k);
}
