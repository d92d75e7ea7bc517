/* rates.c - false-positive rates of the native layouts. Sources: B. Bloom, 1970, and A. Broder, M.
 * Mitzenmacher, 2004 (classic); F. Putze, P. Sanders, J. Singler, 2007 (blocked filters as a
 * Poisson mixture); P. Bose et al., 2008 (small classic filters). */
#include "layout/layout.h"
#include <math.h>

/* ---- rates at c = m/n bits per key ---- */
static double power(double x, unsigned k)
{
    double r = 1;
    for (; k; k >>= 1, x *= x)
        if (k & 1) r *= x;
    return r;
}

double bf_rate_classic(double c, unsigned k) { return power(-expm1(-(double)k / c), k); }

/* Returns the probability that `bits` given bits of a line are set. A line contains i keys with
 * probability Poisson(i; lambda), and each key sets a given bit with probability `share`. Above
 * lambda = 700 the mean load of a line is accurate enough. */
static double line_rate(double lambda, double share, unsigned bits)
{
    if (lambda > 700) return power(-expm1(lambda * log1p(-share)), bits);
    double chance = exp(-lambda), clear = 1, sum = 0;
    for (unsigned i = 0; i < 4096; i++) {
        sum += chance * power(1 - clear, bits);
        if (i > lambda && chance < 1e-16 * sum) break;
        chance *= lambda / (i + 1);
        clear *= 1 - share;
    }
    return sum;
}

double bf_rate_block(double c, unsigned k) { return line_rate(512 / c, k / 512.0, k); }

double bf_rate_block2(double c, unsigned k)
{
    double share = k / 2.0 / 512, a = line_rate(1024 / c, share, (k + 1) / 2);
    return k % 2 ? a * line_rate(1024 / c, share, k / 2) : a * a;
}

/* The first 8 bits of a key in a line are in different words. Each further bit shares a word with
 * an earlier bit and is the same bit with probability 1/64. */
double bf_distinct_classic(unsigned k) { return k; }
double bf_distinct_block(unsigned k) { return k <= 8 ? k : k - (k - 8) / 64.0; }
double bf_distinct_block2(unsigned k)
{
    return bf_distinct_block((k + 1) / 2) + bf_distinct_block(k / 2);
}

enum { EXACT = 256 };
/* Returns the expected value of (fraction of set bits)^k after `throws` random positions. at[x] is
 * the probability that x of m bits are set. */
static double exact_rate(unsigned m, unsigned throws, unsigned k)
{
    double at[EXACT + 2] = { 1 }, rate = 0;
    for (unsigned t = 0; t < throws; t++)
        for (unsigned x = (t < m ? t : m) + 1; x-- > 0;) {
            at[x + 1] += at[x] * (m - x) / m;
            at[x] *= (double)x / m;
        }
    for (unsigned x = 1; x <= m; x++) rate += at[x] * power((double)x / m, k);
    return rate;
}

/* Returns the rate of a small filter: the exact rate for few bits, else a second-order expansion
 * from the mean and variance of the fraction of set bits. */
double bf_rate_small(double m, double n, unsigned k)
{
    if (m <= EXACT && n * k < 4 * EXACT) return exact_rate((unsigned)m, (unsigned)n * k, k);
    double one = pow(1 - 1 / m, k * n), two = pow(1 - 2 / m, k * n), f = 1 - one;
    double var = ((m - 1) * two + one - m * one * one) / m;
    return power(f, k) * (1 + k * (k - 1.0) / 2 * (var > 0 ? var : 0) / (f * f));
}
