/* sizing_redisbloom.c - the sizes of RedisBloom (in its 64-bit mode, without rounding to powers of
 * two). A filter that does not scale has the rate p. In a scaling filter, part i takes n * grow^i
 * keys at the rate p / 2^(i + 1), so each part has its own k. Source: P. Almeida et al., 2007. */
#include "size/size.h"
#include <math.h>

/* the constants of the module, with its digits: others would give other sizes */
static const double LN2 = 0.693147180559945, LN2_SQUARED = 0.480453013918201;
enum { WORD = 64 };

double bf_redisbloom_bits_per_key(double p) { return fabs(-(log(p) / LN2_SQUARED)); }

unsigned bf_redisbloom_k(double p) { return (unsigned)ceil(LN2 * bf_redisbloom_bits_per_key(p)); }

/* Returns the bits of a part, which fill whole words; more than BF_M_MAX if they are too many. */
static double bits_for(double n, double p)
{
    const double bits = floor(n * bf_redisbloom_bits_per_key(p));
    return ceil(fmax(bits, 1) / WORD) * WORD;
}

int bf_size_redisbloom(bf_geometry *g, const char *name, bf_error *err)
{
    if (g->p == 0 && g->n) g->p = fmax(exp(-(double)g->m / (double)g->n * LN2_SQUARED), DBL_MIN);
    const double bits = bf_redisbloom_bits_per_key(g->p);
    if (!g->m) {
        const double m = bits_for((double)g->n, g->p);
        if (m > (double)BF_M_MAX)
            return bf_fail(err, BF_EINVAL,
                "n=%llu at p=%.10g needs m=%.0f bits: %s takes at most %llu", (ull)g->n, g->p, m,
                name, (ull)BF_M_MAX);
        g->m = (uint64_t)m;
    }
    if (!g->n) g->n = (uint64_t)fmin(fmax(floor((double)g->m / bits), 1), (double)(BF_N_MAX / 2));
    if (!g->k) g->k = bf_redisbloom_k(g->p);
    return 0;
}

static int part_of_redisbloom(const bf_params *d, unsigned i, bf_geometry *g)
{
    const double p = ldexp(d->g.p, -(int)i - 1);
    uint64_t n = d->g.n;
    for (unsigned j = 0; j < i; j++) {
        if (n > BF_N_MAX / (uint64_t)d->grow) return 0;
        n *= (uint64_t)d->grow;
    }
    if (!(p >= DBL_MIN) || bits_for((double)n, p) > (double)BF_M_MAX) return 0;
    *g = (bf_geometry){
        .m = (uint64_t)bits_for((double)n, p), .n = n, .k = bf_redisbloom_k(p), .p = p
    };
    return 1;
}

static const char *wrong(double grow)
{
    return grow >= 1 && grow <= UINT32_MAX && grow == floor(grow) ? NULL : "a whole number";
}

/* Other machines may compute a logarithm whose last bit differs, so m may be a word more or less.
 */
static bool part_possible(const bf_params *of, const bf_params *part)
{
    bf_geometry g;
    return part->index < BF_PARTS_MAX && part_of_redisbloom(of, part->index, &g) &&
           part->g.n == g.n && part->g.p == g.p && part->g.k == g.k &&
           fabs((double)part->g.m - (double)g.m) <= WORD;
}

bool bf_redisbloom_possible(const bf_geometry *g)
{
    return g->k == bf_redisbloom_k(g->p) &&
           fabs((double)g->m - bits_for((double)g->n, g->p)) <= WORD;
}

const bf_part_sizes bf_sizes_redisbloom = {
    .part = part_of_redisbloom, .k = bf_redisbloom_k, .wrong = wrong, .possible = part_possible
};
