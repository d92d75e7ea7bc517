/* sizing.c - derives m, n, k and p from each other. Sources: A. Broder, M. Mitzenmacher, 2004
 * (optimal k); S. J. Swamidass, P. Baldi, 2007 (estimate of the number of keys). */
#include "size/size.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double LN2 = 0.69314718055994530942;

static double rate_of(const bf_params *d, double m, double n)
{
    return bf_rate(d->scheme, d->argument.bytes, m, n, d->g.k);
}

/* ---- bits per key that give a rate ---- */
double bf_bits_for(const bf_layout *l, double p, unsigned k)
{
    double low = 1e-3, high = k / LN2; /* the rate decreases with more bits per key */
    while (l->rate(high, k) > p && high < (double)BF_M_MAX) {
        low = high;
        high *= 2;
    }
    for (int i = 0; i < 60 && high - low > 1e-9 * high; i++) {
        double c = (low + high) / 2;
        if (l->rate(c, k) > p)
            low = c;
        else
            high = c;
    }
    return high;
}

/* The number of bits has one minimum over k, so the search starts at log2(1/p) and goes down, then
 * up. */
double bf_best_k(const bf_layout *l, double p, unsigned *k)
{
    double guess = round(-log2(p));
    unsigned at = guess < 1 ? 1 : guess > l->k_max ? l->k_max : (unsigned)guess;
    double c = bf_bits_for(l, p, at), other;
    for (int way = -1; way <= 1; way += 2)
        while (at + way >= 1 && at + way <= l->k_max && (other = bf_bits_for(l, p, at + way)) < c) {
            c = other;
            at += way;
        }
    *k = at;
    return c;
}

/* ---- ranges ---- */
int bf_check_ranges(const bf_spec *spec, bf_error *err)
{
    if (spec->m > BF_M_MAX) return bf_refuse_u64(err, "m", spec->m);
    if (spec->n > BF_N_MAX) return bf_refuse_u64(err, "n", spec->n);
    if (spec->k > BF_K_MAX) return bf_refuse_u64(err, "k", spec->k);
    if (spec->p != 0 && !(spec->p > 0 && spec->p < 1)) return bf_refuse_real(err, "p", spec->p);
    if (spec->overfull > BF_OVERFULL_IGNORE) return bf_refuse_u64(err, "overfull", spec->overfull);
    return spec->shards > BF_SHARDS_MAX ? bf_refuse_u64(err, "shards", spec->shards) : 0;
}

int bf_check_before_open(const bf_spec *spec, bf_error *err)
{
    bf_params d;
    const int rc = bf_check_ranges(spec, err);
    return rc < 0 || !spec->scheme ? rc : bf_find_scheme(&d, bf_scheme_of(spec), NULL, err);
}

static int check_ranges(const bf_scheme *s, const bf_spec *spec, bf_error *err)
{
    int rc = bf_check_ranges(spec, err);
    if (rc < 0) return rc;
    if (spec->k > s->layout->k_max && !s->k)
        return bf_fail(err, BF_EINVAL, "k must be 1 to %u for scheme %s, got %u", s->layout->k_max,
            s->name, spec->k);
    if (spec->shards > 1 && s->layout->sharding == BF_WHOLE)
        return bf_fail(
            err, BF_EINVAL, "shards must be 1 for scheme %s, got %u", s->name, spec->shards);
    return 0;
}

/* ---- deriving what is not given ---- */
static int k_from_m_n(const bf_layout *l, bf_geometry *g, bf_error *err)
{
    double k = ceil((double)g->m / (double)g->n * LN2);
    if (k > l->k_max && l->line_bits > 1) k = l->k_max; /* more positions do not fit in a line */
    if (k > BF_K_MAX)
        return bf_fail(err, BF_EINVAL,
            "k must be 1 to %d, got %.0f from m=%llu, n=%llu (m/n ln 2): give k, or a smaller m",
            BF_K_MAX, k, (ull)g->m, (ull)g->n);
    g->k = (unsigned)k;
    return 0;
}

/* Returns the smallest number of cells, at least m, with a rate of at most p. Returns more than
 * BF_M_MAX if there is none. */
static double cells_for(const bf_params *d, double m)
{
    const double n = (double)d->g.n, p = d->g.p;
    double low = m - 1, high = m;
    while (high <= (double)BF_M_MAX && rate_of(d, high, n) > p) {
        low = high;
        high = ceil(high * 1.01);
    }
    for (double middle; (middle = floor((low + high) / 2)) > low && middle < high;) {
        if (rate_of(d, middle, n) > p)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* Returns the largest m that is possible for the scheme. */
static uint64_t most_cells(const bf_scheme *s)
{
    uint64_t most = s->m_max ? s->m_max : BF_M_MAX;
    while (s->power_of_two && most & (most - 1)) most &= most - 1;
    return most;
}

/* Returns the lowest rate at n keys with the largest m. If k is not given, sets it to the best k:
 * tries k from 1 up, until two more positions do not decrease the rate, or the rate reaches p. */
static double lowest_rate(bf_params *d)
{
    const double most = (double)most_cells(d->scheme), n = (double)d->g.n;
    const unsigned last = d->g.k ? d->g.k : d->scheme->layout->k_max;
    double best = 2;
    unsigned best_k = 0;
    for (unsigned k = d->g.k ? d->g.k : 1;
        k <= last && (best > 1 || k <= best_k + 2) && best > d->g.p; k++) {
        d->g.k = k;
        const double rate = rate_of(d, most, n);
        if (rate >= best) continue;
        best = rate;
        best_k = k;
    }
    d->g.k = best_k;
    return best;
}

static int below_floor(const bf_params *d, bf_error *err)
{
    bf_params best = *d;
    const double lowest = lowest_rate(&best);
    return bf_fail(err, BF_EINVAL,
        "p=%g is not possible: scheme %s confuses keys at a rate of %.4g at n=%llu, its hash has "
        "%llu values: give a larger p, or fewer keys",
        d->g.p, d->scheme->name, lowest, (ull)d->g.n, (ull)d->scheme->values);
}

static int beyond_most(bf_params *d, double m, bf_error *err)
{
    const bf_scheme *s = d->scheme;
    const bf_geometry *g = &d->g;
    const uint64_t most = most_cells(s);
    if (bf_rate_is_formula(s) && !s->m_max)
        return bf_fail(err, BF_EINVAL,
            "n=%llu at p=%g needs m=%.4g bits as scheme %s: m must be 1 to %llu", (ull)g->n, g->p,
            m, s->name, (ull)most);
    const double lowest = lowest_rate(d);
    return bf_fail(err, BF_EINVAL,
        "p=%g is not possible: scheme %s with k=%u has a rate of %.4g at n=%llu even with its "
        "largest m=%llu: give a larger p",
        g->p, s->name, g->k, lowest, (ull)g->n, (ull)most);
}

static int m_from_n_p(bf_params *d, bf_error *err)
{
    const bf_scheme *s = d->scheme;
    bf_geometry *g = &d->g;
    const double n = (double)g->n, p = bf_rate_left(s, g->p, n);
    if (!(p > 0)) return below_floor(d, err);
    const bool any_k = !g->k;
    double c = g->k ? bf_bits_for(s->layout, p, g->k) : bf_best_k(s->layout, p, &g->k);
    double m = ceil(c * n);
    if (s->rate || (!bf_rate_is_formula(s) && !s->power_of_two)) m = cells_for(d, m);
    if (s->layout->line_bits == 1 && m < BF_RATE_SMALL)
        while (bf_rate_small(m, (double)g->n, g->k) > g->p) m++;
    if (!(m <= (double)most_cells(s))) {
        if (any_k) g->k = 0;
        return beyond_most(d, m, err);
    }
    g->m = (uint64_t)m;
    while (s->power_of_two && g->m & (g->m - 1)) g->m += g->m & -g->m;
    return 0;
}

/* Returns the largest number of keys, at most n, with a rate of p or less; 0 if there is none. */
static double keys_at(const bf_params *d, double n)
{
    const double m = (double)d->g.m, p = d->g.p;
    double low = 0, high = n + 1;
    if (n >= 1 && rate_of(d, m, n) <= p) return n;
    for (double middle; (middle = floor((low + high) / 2)) > low && middle < high;) {
        if (rate_of(d, m, middle) <= p)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static int n_from_m_p(bf_params *d, bf_error *err)
{
    const bf_scheme *s = d->scheme;
    bf_geometry *g = &d->g;
    double c = g->k ? bf_bits_for(s->layout, g->p, g->k) : bf_best_k(s->layout, g->p, &g->k);
    double n = floor((double)g->m / c);
    if (!bf_rate_is_formula(s)) n = keys_at(d, n);
    if (n < 1)
        return bf_fail(err, BF_EINVAL,
            "m=%llu bits are too few for p=%g: one key needs %.0f as scheme %s", (ull)g->m, g->p,
            ceil(c), s->name);
    g->n = (uint64_t)n;
    return 0;
}

static int round_to_lines(const bf_layout *l, bf_geometry *g, bf_error *err)
{
    uint64_t step = bf_shard_step(l, g->shards);
    g->m = (g->m + step - 1) / step * step;
    g->lines = g->m / l->line_bits;
    return g->m > BF_M_MAX ? bf_refuse_u64(err, "m", g->m) : 0;
}

/* If m is given: classic, which uses exactly m bits. If n and p are given: block or block2, unless
 * k is too large for their lines. */
const char *bf_scheme_of(const bf_spec *spec)
{
    static const char *const names[2][3] = { { "classic", "block", "block2" },
        { "hashes64-classic", "hashes64-block", "hashes64-block2" } };
    const bool hashes = spec->scheme && !strcmp(spec->scheme, BF_HASHES64);
    if (spec->scheme && !hashes) return spec->scheme;
    if (spec->functions && !hashes) return "functions";
    const unsigned lines = spec->m || !spec->n || !(spec->p > 0) ? 0 : spec->p >= 1e-3 ? 1 : 2;
    return names[hashes][spec->k <= 16 * lines ? lines : 0];
}

static bool enough(const bf_spec *spec)
{
    bool p = spec->p != 0;
    return (spec->m && spec->n) || (spec->n && p) || (spec->m && p) || (spec->m && spec->k);
}

/* Computes the size as the older system does; the rate may be a little above p. Refuses a p that
 * the hash cannot reach. */
static int size_of_system(bf_params *d, bf_error *err)
{
    const bool any_rate = bf_rate_is_formula(d->scheme) && !d->scheme->m_max;
    if (!d->g.m && d->g.p != 0 && !d->scheme->rate && !any_rate) {
        bf_params best = *d;
        if (lowest_rate(&best) > d->g.p) return beyond_most(&best, 0, err);
    }
    return d->scheme->size(&d->g, d->name, err);
}

static int derive(bf_params *d, bf_error *err)
{
    const bf_scheme *s = d->scheme;
    bf_geometry *g = &d->g;
    if (s->size && !(g->m && g->k)) return size_of_system(d, err);
    if (g->m && g->n) return g->k ? 0 : k_from_m_n(s->layout, g, err);
    if (g->n) return m_from_n_p(d, err);
    if (g->p != 0) return n_from_m_p(d, err);
    double n = floor((double)g->m / g->k * LN2);
    g->n = n < 1 ? 1 : (uint64_t)n;
    return 0;
}

static int settle_p(bf_params *d, bf_error *err)
{
    const bf_scheme *s = d->scheme;
    bf_geometry *g = &d->g;
    const double p = rate_of(d, (double)g->m, (double)g->n);
    if (g->p == 0) {
        /* inside (0, 1), because bf_open must accept the p that bf_plan returned */
        g->p = fmin(fmax(p, DBL_MIN), 1 - DBL_EPSILON / 2);
        return 0;
    }
    if (p <= g->p * (1 + 1e-6)) return 0;
    if (s->size) return 0; /* see size_of_system */
    if (g->p < bf_rate_floor(s, (double)g->n)) return below_floor(d, err);
    return bf_fail(err, BF_EINVAL,
        "p=%g is not possible: m=%llu, n=%llu, k=%u give a rate of %.4g as scheme %s", g->p,
        (ull)g->m, (ull)g->n, g->k, p, s->name);
}

/* Completes spec with the values that the scheme fixes or has as defaults. */
static int given(const bf_params *d, const bf_spec *spec, bf_spec *all, bf_error *err)
{
    const bf_scheme *s = d->scheme;
    uint64_t check;
    *all = *spec;
    if (s->hash == &bf_hash_functions && !spec->functions)
        return bf_functions_check(NULL, &check, err);
    if (!all->k) all->k = d->argument.k;
    if (!all->k) all->k = s->usual_k;
    if (!all->m) all->m = s->m;
    if (!all->m && all->n && all->p == 0 && s->bits_per_key) {
        if (all->n > BF_M_MAX / s->bits_per_key)
            return bf_refuse_u64(err, "m",
                all->n > UINT64_MAX / s->bits_per_key ? UINT64_MAX : all->n * s->bits_per_key);
        all->m = all->n * s->bits_per_key;
    }
    return check_ranges(s, all, err);
}

enum { STEP_MOST = 512 }; /* rounding adds at most this many cells to a shard */
/* Divides a filter of more than most_bits bits into 2, 4, 8... shards, unless spec gives a number
 * of shards. */
static int split_into_shards(
    const bf_layout *l, bf_geometry *g, const bf_spec *spec, uint64_t most_bits, bf_error *err)
{
    const unsigned cell = bf_cell_ops_of(g)->bits;
    if (!most_bits || spec->shards || l->sharding == BF_WHOLE || bf_bits(g) <= most_bits) return 0;
    while (bf_bits(g) / g->shards > most_bits - STEP_MOST * cell) g->shards *= 2;
    return round_to_lines(l, g, err);
}

/* Values that the scheme fixes count as given. Also returns true for values that bf_size refuses,
 * because the user then gets the message of bf_size. */
bool bf_sufficient(const bf_spec *spec)
{
    bf_params d;
    bf_spec all;
    if (enough(spec)) return true;
    if (!spec->scheme) return spec->functions && spec->m; /* k is the number of functions */
    return bf_find_scheme(&d, bf_scheme_of(spec), spec->functions, NULL) == 0 &&
           (given(&d, spec, &all, NULL) < 0 || enough(&all));
}

int bf_size(bf_params *out, const bf_spec *wanted, uint64_t most_bits, bf_error *err)
{
    bf_spec all, *spec = &all;
    int rc = bf_find_scheme(out, bf_scheme_of(wanted), wanted->functions, err);
    if (rc < 0 || (rc = given(out, wanted, &all, err)) < 0) return rc;
    const bf_scheme *s = out->scheme;
    bf_geometry *g = &out->g;
    *g = (bf_geometry){ .m = spec->m,
        .n = spec->n,
        .k = spec->k,
        .p = spec->p,
        .shards = spec->shards ? spec->shards : 1,
        .counting = spec->counting };
    if (!enough(spec))
        return bf_fail(
            err, BF_EINVAL, "the size is not known: give m and n, n and p, m and k, or m and p");
    if (g->m && (rc = round_to_lines(s->layout, g, err)) < 0) return rc;
    if ((rc = derive(out, err)) < 0 || (rc = round_to_lines(s->layout, g, err)) < 0) return rc;
    if ((rc = split_into_shards(s->layout, g, spec, most_bits, err)) < 0) return rc;
    if ((rc = bf_check_limits(out, err)) < 0) return rc;
    return settle_p(out, err);
}

/* ---- estimates ---- */
double bf_effective_p(const bf_params *d)
{
    if (bf_rate_is_formula(d->scheme)) return d->g.p;
    const double m = (double)d->g.m, n = (double)d->g.n, p = rate_of(d, m, n);
    const double formula = d->scheme->layout->rate(m / n, d->g.k);
    return p > fmax(d->g.p, formula) * 1.001 ? fmin(p, 1 - DBL_EPSILON / 2) : d->g.p;
}

void bf_estimate(
    const bf_scheme *s, const void *argument, const bf_geometry *g, uint64_t ones, bf_state *out)
{
    /* counts a full filter as if half a cell were 0, because log(0) is infinite */
    double m = (double)g->m, zeros = ones < g->m ? (double)(g->m - ones) : 0.5;
    *out = (bf_state){ .ones = ones };
    out->fill = (double)ones / m;
    out->count = -m / s->layout->distinct(g->k) * log(zeros / m);
    if (ones == 0)
        out->count = 0;
    else if (!bf_rate_is_formula(s))
        out->count = bf_keys_of(s, argument, m, fmin((double)ones, m - zeros), g->k);
    out->fpr = ones == g->m ? 1 : ones == 0 ? 0 : bf_rate(s, argument, m, out->count, g->k);
}
