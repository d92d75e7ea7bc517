/* sizing_parts.c - computes the parts of growing and forgetting filters: m, n and p of each part.
 * docs/design.md has the reasons and the resulting numbers.
 *
 * The total size of a growing filter follows a grid. The grid points are first * grow^j, and
 * at last the largest m; `first` is the size of a fixed filter with the same n and p. Each grid
 * point has a share of p. A part gets the shares of all grid points that the filter reaches with
 * it. The shares sum to one, so the rate stays below p however far the filter grows. The share is
 * largest at a total size of SUMMIT bits and decreases on both sides: a low rate in small parts
 * costs little memory, and most filters never reach the parts far above SUMMIT. */
#include "size/size.h"
#include <math.h>

/* factors of the share: UP per halving below SUMMIT, DOWN per doubling above SUMMIT */
static const double SUMMIT = 0x1p26, UP = 0.7, DOWN = 0.75;
/* 2^(1/8): at most 8 parts per doubling, so that BF_PARTS_MAX is sufficient */
static const double LEAST_STEP = 1.0905;
/* maximum of grow in the computation of sizes */
static const double MOST_STEP = 16;
/* LEAST_BITS: minimum size of a part after the first; a key is tested in every part. */
enum { LEAST_BITS = 1 << 18, LINE = 512 };

/* The share of part i if all parts have the same size: proportional to 1 / (i + 1). With equal
 * shares, filters of few parts would need more memory. */
static double equal_share(unsigned i)
{
    double sum = 0;
    for (unsigned j = 1; j <= BF_PARTS_MAX; j++) sum += 1.0 / j;
    return 1 / sum / (i + 1);
}

static double factor_of(const bf_params *d) { return fmin(fmax(d->grow, LEAST_STEP), MOST_STEP); }

static double weight(double total)
{
    double doublings = log2(total / SUMMIT);
    return pow(doublings < 0 ? UP : DOWN, fabs(doublings));
}

static double all_weights(double first, double factor)
{
    double sum = weight((double)BF_M_MAX);
    for (double at = first; at <= (double)BF_M_MAX; at *= factor) sum += weight(at);
    return sum;
}

/* Returns the first grid point that is far enough above `have` for a part of the minimum size, or 0
 * if the filter cannot grow. Sets *share to the shares of the grid points that the part reaches.
 * Parts are rounded down to lines, so the last reached grid point may be less than a line above
 * `have`. */
static double next_total(const bf_params *d, double have, double *share)
{
    double factor = factor_of(d), first = (double)d->g.m, sum = all_weights(first, factor),
           step = sqrt(factor), at = first;
    double least = fmax(have + LEAST_BITS, have * (step > LEAST_STEP ? step : LEAST_STEP));
    *share = 0;
    for (; at <= (double)BF_M_MAX; at *= factor) {
        if (at >= have + LINE) *share += weight(at) / sum;
        if (at >= least) return at;
    }
    if (have + LEAST_BITS > (double)BF_M_MAX) return 0;
    *share += weight((double)BF_M_MAX) / sum; /* the last part gets the remaining share */
    return (double)BF_M_MAX;
}

static int first_part(const bf_params *d, bf_geometry *g, bf_error *err)
{
    double share = d->grow == 1
                       ? equal_share(0)
                       : weight((double)d->g.m) / all_weights((double)d->g.m, factor_of(d));
    bf_spec spec = {
        .n = d->g.n, .p = d->g.p * share, .k = d->g.k, .scheme = d->name, .counting = d->g.counting
    };
    bf_params part;
    if (bf_size(&part, &spec, 0, err) < 0) return BF_EINVAL;
    *g = part.g;
    return 1;
}

static int part_of_grow(
    const bf_params *d, unsigned i, uint64_t before, bf_geometry *g, bf_error *err)
{
    if (d->scheme->parts) return d->scheme->parts->part(d, i, g);
    if (i == 0) return first_part(d, g, err);
    const bool equal = d->grow == 1;
    double share = equal_share(i),
           total = equal ? (double)before + fmax((double)(before / i), LEAST_BITS)
                         : next_total(d, (double)before, &share);
    uint64_t m = ((uint64_t)total - before) / LINE * LINE;
    if (total == 0) return 0;
    double p = d->g.p * share, n = floor((double)m / bf_bits_for(d->scheme->layout, p, d->g.k));
    *g = (bf_geometry){
        .m = m, .n = n < 1 ? 1 : (uint64_t)n, .k = d->g.k, .p = p, .counting = d->g.counting
    };
    return 1;
}

static int part_of_window(
    const bf_params *d, unsigned i, uint64_t before, bf_geometry *g, bf_error *err)
{
    (void)i;
    (void)before;
    (void)err;
    g->p = d->g.p / (d->parts + 1);
    return 1;
}

bf_params bf_part_of(const bf_params *d, unsigned i)
{
    bf_params p = *d;
    if (!bf_has_parts(d)) return p;
    p.kind = BF_PART;
    p.index = i;
    p.live = bf_format_of(d)->least_live;
    p.grow = p.window = p.parts = 0;
    return p;
}

int bf_chain_part(const bf_params *d, unsigned i, uint64_t before, bf_params *part, bf_error *err)
{
    bf_params p = bf_part_of(d, i);
    const int rc = bf_format_of(d)->part(d, i, before, &p.g, err);
    if (rc <= 0) return rc;
    /* parts begin at word boundaries, and at line boundaries if there are kernels */
    if (!p.scheme->parts) p.g.m = (p.g.m + LINE - 1) / LINE * LINE;
    p.g.lines = p.g.m / p.scheme->layout->line_bits;
    *part = p;
    return p.g.m + before <= BF_M_MAX ? 1 : 0;
}

/* ---- checks of stored parameters ---- */
/* Compares with a tolerance: logarithms may differ in the last bit on other machines, and sizes are
 * rounded up to lines. */
static bool near(double have, double want, double slack)
{
    return fabs(have - want) <= slack + 1e-6 * want;
}

static bool follows_from(const bf_params *d, unsigned k)
{
    bf_params want;
    bf_spec spec = { .n = d->g.n,
        .p = d->g.p,
        .k = k,
        .scheme = d->name,
        .counting = d->g.counting,
        .grow = d->grow,
        .window = d->window,
        .parts = d->parts };
    return bf_size_any(&want, &spec, 0, NULL) == 0 && want.g.k == d->g.k &&
           near((double)d->g.m, (double)want.g.m, LINE);
}

bool bf_chain_possible(const bf_params *d)
{
    if (!(d->g.p > 0 && d->g.p < 1)) return false;
    return follows_from(d, d->g.k) || follows_from(d, 0);
}

static bool possible_in_window(const bf_params *of, const bf_params *part)
{
    const bf_geometry *g = &part->g;
    return g->m == of->g.m && g->n == of->g.n && near(g->p, of->g.p / (of->parts + 1), 0);
}

/* Does not compare m, which other versions may choose differently. But n must follow from m, p and
 * k; otherwise a part would be full too early or too late. */
static bool possible_in_grow(const bf_params *of, const bf_params *part)
{
    const bf_geometry *g = &part->g;
    if (!(g->p > 0 && g->p <= of->g.p)) return false;
    if (part->index == 0 && g->n != of->g.n) return false;
    const double bits = bf_bits_for(of->scheme->layout, g->p, g->k), keys = (double)g->m / bits;
    if (part->index) return near((double)g->n, fmax(floor(keys), 1), 1);
    return (double)g->n <= keys * (1 + 1e-6) + 1 &&
           (double)g->m <= 1.13 * (double)g->n * bits + 2 * LINE;
}

bool bf_chain_part_possible(const bf_params *of, const bf_params *part)
{
    if (of->scheme->parts) return of->scheme->parts->possible(of, part);
    return part->g.m % LINE == 0 /* parts begin and end at line boundaries */
           && bf_format_of(of)->part_possible(of, part);
}

static const char *wrong_grow(const bf_params *d)
{
    return !bf_grow_stored(d->grow)                ? "grow is out of range"
           : d->window != 0                        ? "window is out of range"
           : d->parts                              ? "parts is out of range"
           : d->live < 1 || d->live > BF_PARTS_MAX ? "its number of parts is out of range"
                                                   : NULL;
}

static const char *wrong_window(const bf_params *d)
{
    return d->grow != 0                               ? "grow is out of range"
           : d->parts < 1 || d->parts >= BF_PARTS_MAX ? "parts is out of range"
           : !bf_window_valid(d->window, d->parts)    ? "window is out of range"
                                                      : NULL;
}

static const char *wrong_part(const bf_params *d)
{
    return d->grow != 0               ? "grow is out of range"
           : d->index >= BF_PARTS_MAX ? "parts is out of range"
           : d->window != 0           ? "window is out of range"
                                      : NULL;
}

/* ---- sizes from a spec ---- */
static int check_parts_spec(const bf_spec *s, bf_error *err)
{
    const char *what = s->grow != 0 ? "grow" : "window";
    if (s->grow != 0 && s->window != 0)
        return bf_fail(
            err, BF_EINVAL, "grow=%g and window=%g must not be given together", s->grow, s->window);
    if (!s->n || (s->p == 0) != (s->m && s->grow != 0) || (s->m && s->window != 0))
        return bf_fail(err, BF_EINVAL, "%s needs n and p, %s: sizes follow from the rate to keep",
            what, s->grow != 0 ? "or m and n" : "and no m");
    if (s->parts > BF_PARTS_MAX - 1)
        return bf_fail(err, BF_EINVAL, "parts must be 1 to %d, got %u", BF_PARTS_MAX - 1, s->parts);
    /* checks p itself: a part's p may be in range although p is not */
    return bf_check_ranges(s, err);
}

/* An older system: m and k of the filter are those of its first part. */
static int size_first(bf_params *d, bf_error *err)
{
    const char *must = d->scheme->parts->wrong(d->grow);
    bf_geometry g;
    if (must)
        return bf_fail(
            err, BF_EINVAL, "grow must be %s for scheme %s, got %g", must, d->name, d->grow);
    if (d->g.counting)
        return bf_fail(
            err, BF_EINVAL, "scheme %s cannot count and grow: counting must not be given", d->name);
    if (d->scheme->parts->part(d, 0, &g) <= 0) return bf_refuse_real(err, "p", d->g.p);
    d->g.m = g.m;
    d->g.k = g.k;
    return 0;
}

/* All parts have the same k, so a key is hashed, and its bits in a line are computed, only once. k
 * is the best one for the rate of the large parts, but 8 in place of 9 and 10: kernels compute 8
 * bits of a line in one step, and further bits in a second step. */
static int size_grow(bf_params *d, const bf_spec *spec, uint64_t most_bits, bf_error *err)
{
    int rc = bf_size(d, spec, most_bits, err);
    if (rc == 0 && spec->m) { /* m and n give the rate, from which all sizes follow */
        bf_spec by_rate = *spec;
        by_rate.m = 0;
        by_rate.p = d->g.p;
        by_rate.scheme = bf_scheme_of(spec);
        rc = bf_size(d, &by_rate, most_bits, err);
    }
    if (rc < 0) return rc;
    d->kind = BF_GROW;
    d->grow = spec->grow;
    d->live = 1;
    if (d->scheme->parts) return size_first(d, err);
    if (spec->k) return 0;
    const bf_layout *l = d->scheme->layout;
    bf_best_k(l, d->g.p / 8, &d->g.k);
    if (l->line_bits > 1 && l->k_max <= 16 && d->g.k > 8 && d->g.k <= 10) d->g.k = 8;
    return 0;
}

/* Every part is sized for the keys of a full window, at the rate p / (parts + 1). So it does not
 * matter when keys arrive, or how often they are added again. */
static int size_window(bf_params *d, const bf_spec *spec, uint64_t most_bits, bf_error *err)
{
    bf_spec one = *spec;
    unsigned parts = spec->parts ? spec->parts : BF_WINDOW_PARTS;
    if (!bf_window_valid(spec->window, parts)) return bf_refuse_real(err, "window", spec->window);
    one.p = spec->p / (parts + 1);
    one.scheme = bf_scheme_of(spec);
    int rc = bf_size(d, &one, most_bits, err);
    if (rc < 0) return rc;
    d->kind = BF_WINDOW;
    d->window = spec->window;
    d->parts = parts;
    d->g.p = spec->p;
    d->g.m = (d->g.m + LINE - 1) / LINE * LINE;
    d->g.lines = d->g.m / d->scheme->layout->line_bits;
    d->live = BF_NEVER;
    if (d->g.m > BF_M_MAX / (parts + 1))
        return bf_fail(err, BF_EINVAL, "%u parts of %llu bits are more than 1099511627776",
            parts + 1, (ull)d->g.m);
    return 0;
}

int bf_size_any(bf_params *d, const bf_spec *spec, uint64_t most_bits, bf_error *err)
{
    if (spec->clock && spec->window == 0)
        return bf_fail(err, BF_EINVAL, "clock is for forgetting filters: give window");
    if (spec->grow == 0 && spec->window == 0) return bf_size(d, spec, most_bits, err);
    int rc = check_parts_spec(spec, err);
    if (rc < 0 || (rc = spec->grow != 0 ? size_grow(d, spec, most_bits, err)
                                        : size_window(d, spec, most_bits, err)) < 0)
        return rc;
    if (d->kind == BF_WINDOW && d->scheme->parts)
        return bf_fail(
            err, BF_EINVAL, "scheme %s cannot forget: classic, block and block2 can", d->name);
    if (!bf_may_have_parts(d))
        return bf_fail(err, BF_EINVAL,
            "scheme %s can neither grow nor forget: classic, block and block2 can", d->name);
    return 0;
}

const bf_variant_format bf_format_fixed = { .is = "is of fixed size" };
const bf_variant_format bf_format_grow = { .is = "grows",
    .flag = BF_FLAG_GROW,
    .wrong = wrong_grow,
    .part = part_of_grow,
    .part_possible = possible_in_grow };
const bf_variant_format bf_format_window = { .is = "forgets",
    .flag = BF_FLAG_WINDOW,
    .even = true,
    .least_live = BF_NEVER,
    .wrong = wrong_window,
    .part = part_of_window,
    .part_possible = possible_in_window };
const bf_variant_format bf_format_part = {
    .flag = BF_FLAG_PART, .is_part = true, .wrong = wrong_part
};
