/* sizing_older.c - computes the same m and k as Guava and Redisson, and refuses the same values.
 * Each function fills the fields of a geometry that are 0. */
#include "size/size.h"
#include <math.h>

static const double LN2 = 0.69314718055994530942;

static unsigned at_least_1(double k)
{
    return k < 1 ? 1 : k > BF_K_MAX ? BF_K_MAX + 1 : (unsigned)k;
}
static double java_round(double x) { return floor(x + 0.5); }

static unsigned optimal_k(double n, double m) { return at_least_1(java_round(m / n * LN2)); }

static int m_and_n(bf_geometry *g, const char *name, uint64_t most, bf_error *err)
{
    double m = (double)g->m;
    if (!g->m) {
        m = floor(-(double)g->n * log(g->p) / (LN2 * LN2));
        if (m < 1)
            return bf_fail(err, BF_EINVAL,
                "n=%llu at p=%.10g makes a filter of 0 bits: %s refuses it", (ull)g->n, g->p, name);
        if (m > (double)most)
            return bf_fail(err, BF_EINVAL,
                "n=%llu at p=%.10g needs m=%.0f bits: %s takes at most %llu", (ull)g->n, g->p, m,
                name, (ull)most);
        g->m = (uint64_t)m;
    }
    if (!g->n) {
        double n = floor(m * LN2 * LN2 / -log(g->p));
        g->n = n < 1 ? 1 : n >= (double)BF_N_MAX ? BF_N_MAX : (uint64_t)n;
    }
    return 0;
}

static int k_fits(const bf_geometry *g, const char *name, unsigned most, bf_error *err)
{
    if (g->k <= most) return 0;
    return bf_fail(err, BF_EINVAL,
        "n=%llu keys in m=%llu bits need more than k=%u positions: %s refuses it", (ull)g->n,
        (ull)g->m, most, name);
}

static int guava(bf_geometry *g, const char *name, bool k_of_p, bf_error *err)
{
    int rc = m_and_n(g, name, UINT64_C(64) * INT32_MAX, err);
    if (rc < 0) return rc;
    if (!g->k)
        g->k = k_of_p && g->p != 0 ? at_least_1(java_round(-log(g->p) / LN2))
                                   : optimal_k((double)g->n, (double)g->m);
    return k_fits(g, name, 255, err);
}

int bf_size_guava(bf_geometry *g, const char *name, bf_error *err)
{
    return guava(g, name, true, err);
}
int bf_size_guava_31(bf_geometry *g, const char *name, bf_error *err)
{
    return guava(g, name, false, err);
}

int bf_size_redisson(bf_geometry *g, const char *name, bf_error *err)
{
    int rc = m_and_n(g, name, UINT64_C(4294967294), err);
    if (rc < 0) return rc;
    if (!g->k) g->k = optimal_k((double)g->n, (double)g->m);
    return k_fits(g, name, BF_K_MAX, err);
}
