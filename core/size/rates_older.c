/* rates_older.c - false-positive rates of all schemes. The positions of older systems are not
 * independent. A hash of 31 or 32 bits maps some keys to the same value. A generator reaches some
 * cells more often than others. Redisson's double hashing repeats positions. docs/migrate.md has
 * measurements. */
#include "size/size.h"
#include <math.h>

/* ---- a hash with few values: an absent key may have the value of an added key ---- */
static double same_value(const bf_scheme *s, double n)
{
    return s->values ? -expm1(-n / (double)s->values) : 0;
}

/* ---- k hashes, each with its own number of values. A position of an absent key is set if an added
 * key has the same value, or if another hash set the cell ---- */
/* Returns the fraction of cells that the hashes set. If but < k: the fraction that the hashes
 * except `but` set, among the cells that hash `but` reaches. */
static double fill_of_hashes(
    const bf_scheme *s, const void *argument, double m, double n, unsigned k, unsigned but)
{
    double clear = 0;
    for (unsigned i = 0; i < k; i++) {
        const double values = s->hash->values(argument, i);
        if (i != but && (but == k || !s->hash->apart(argument, i, but)))
            clear += log1p(-fmin(values * -expm1(-n / values) / m, 1));
    }
    return -expm1(clear);
}

static double rate_of_hashes(
    const bf_scheme *s, const void *argument, double m, double n, unsigned k)
{
    double rate = 1;
    for (unsigned i = 0; i < k; i++) {
        const double other = -expm1(-n / s->hash->values(argument, i));
        rate *= other + (1 - other) * fill_of_hashes(s, argument, m, n, k, i);
    }
    return rate;
}

/* ---- positions are numbers below `range`, modulo m ---- */
/* The first `more` cells belong to one number more than the other cells. Returns the fraction of
 * set cells, or if as_positions_fall the probability that a position is set. */
static double fill_of_range(double range, double m, double n, unsigned k, bool as_positions_fall)
{
    const double each = floor(range / m), more = range - each * m, keys = n * k / range;
    const double here = more * -expm1(-keys * (each + 1)),
                 there = (m - more) * -expm1(-keys * each);
    return as_positions_fall ? (here * (each + 1) + there * each) / range : (here + there) / m;
}

/* Positions that are masked with m - 1 have 2^b values; b is the number of 1 bits of m - 1. */
static double cells_of_mask(double m)
{
    return (double)(UINT64_C(1) << __builtin_popcountll((uint64_t)m - 1));
}

/* ---- Redisson's positions: with s = h1 + h2 they are h1, s, h1 + s, 2s, h1 + 2s, 3s ... in 63-bit
 * arithmetic, then modulo m. Two effects raise the rate.
 * Parities: if 2^i divides m, the last i bits of a position depend only on the last i bits of h1
 * and s, and cells whose index ends with zero bits are set more often. Multiples: let s belong to
 * an added key and s' to the tested key. If p s' = q s for small p and q, the keys share multiples
 * of that value: those for which both products have wrapped past 2^63 equally often ---- */
enum { PARITIES = 16, MULTIPLES = 24, INTERVALS = 256 };
typedef struct {
    unsigned parities, k;
    double fill[PARITIES]; /* fraction of set cells, for each value of the last bits of the index */
    /* for each value of the last bits of s: its probability, times the rate of keys with it */
    double odd[PARITIES];
} walk;

static unsigned cell_class(const walk *w, unsigned i, unsigned h1, unsigned h2)
{
    return ((i / 2 + 1) * h1 + (i + 1) / 2 * h2) % w->parities;
}

static double walk_begin(walk *w, double m, double n, unsigned k)
{
    double load[PARITIES] = { 0 }, all = 0;
    const uint64_t cells = (uint64_t)m;
    *w = (walk){ .parities = 1, .k = k };
    while (w->parities < PARITIES && cells % (2 * w->parities) == 0) w->parities *= 2;
    const unsigned d = w->parities;
    for (unsigned i = 0; i < k; i++)
        for (unsigned h = 0; h < d * d; h++) load[cell_class(w, i, h / d, h % d)] += 1;
    for (unsigned c = 0; c < d; c++) w->fill[c] = -expm1(-n / m * load[c] / d);
    for (unsigned h = 0; h < d * d; h++) {
        double rate = 1.0 / d / d;
        for (unsigned i = 0; i < k; i++) rate *= w->fill[cell_class(w, i, h / d, h % d)];
        w->odd[(h / d + h % d) % d] += rate;
        all += rate;
    }
    return all;
}

/* Computes the Farey intervals of order t. All s in one interval have the same number of wraps
 * in their first t multiples. */
static unsigned farey(unsigned t, double *middle, double *length)
{
    unsigned n = 0, a = 0, b = 1, c = 1, d = t;
    while (a < b) {
        const unsigned times = (t + b) / d, e = times * c - a, f = times * d - b;
        length[n] = (double)c / d - (double)a / b;
        middle[n++] = ((double)c / d + (double)a / b) / 2;
        a = c, b = d, c = e, d = f;
    }
    return n;
}

/* Returns what shared multiples add to the rate. Two keys may share up to `most` multiples:
 * t * step * s for t = 1 to `most`, with the s of the tested key. */
static double rate_of_shared_multiples(const walk *w, unsigned most, unsigned step)
{
    double middle[INTERVALS], length[INTERVALS], inverse[PARITIES][MULTIPLES + 1], sum = 0;
    uint8_t wraps[INTERVALS][MULTIPLES + 1];
    const unsigned n = farey(most, middle, length), d = w->parities;
    for (unsigned s = 0; s < d; s++)
        for (unsigned t = 1; t <= most; t++) inverse[s][t] = 1 / w->fill[t * step * s % d];
    for (unsigned i = 0; i < n; i++)
        for (unsigned t = 1; t <= most; t++) wraps[i][t] = (uint8_t)(t * middle[i]);
    for (unsigned i = 0; i < n; i++)
        for (unsigned j = i; j < n; j++) {
            const double chance = length[i] * length[j] * (i == j ? 1 : 2);
            for (unsigned s = 0; s < d; s++) {
                double all = 1, alone = 0;
                for (unsigned t = 1; t <= most; t++) {
                    if (wraps[i][t] != wraps[j][t]) continue;
                    all *= inverse[s][t];
                    alone += inverse[s][t] - 1;
                }
                sum += w->odd[s] * chance * (all - 1 - alone);
            }
        }
    return sum;
}

static unsigned common_divisor(unsigned a, unsigned b)
{
    while (b) {
        const unsigned rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

double bf_rate_redisson(double m, double n, unsigned k)
{
    walk w;
    double rate = walk_begin(&w, m, n, k), sum = 0;
    const unsigned last = k / 2 < MULTIPLES ? k / 2 : MULTIPLES;
    /* p s' = q s plus a multiple of m / divisor; large: the larger one of p and q */
    for (unsigned large = 1; 2 * large <= last; large++)
        for (unsigned divisor = 1; 2 * large * divisor <= last; divisor++) {
            if ((uint64_t)m % divisor) continue;
            const unsigned most = last / (large * divisor);
            unsigned ways = 0; /* Euler's phi of divisor */
            for (unsigned i = 1; i <= divisor; i++) ways += common_divisor(i, divisor) == 1;
            for (unsigned p = 1; p <= large; p++) {
                if (common_divisor(p, large) > 1) continue;
                sum += ways * rate_of_shared_multiples(&w, most, p * divisor);
                if (large > 1) sum += ways * rate_of_shared_multiples(&w, most, large * divisor);
            }
        }
    return fmin(rate + n / m * sum, 1);
}

double bf_fill_redisson(double m, double n, unsigned k)
{
    walk w;
    double sum = 0;
    walk_begin(&w, m, n, k);
    for (unsigned c = 0; c < w.parities; c++) sum += w.fill[c];
    return sum / w.parities;
}

/* ---- scrapy-redis-bloomfilter: the first position is the sum of the characters. For a fingerprint
 * of 40 hexadecimal digits the sum is nearly always between 2205 and 3405. Soon all of these cells
 * are set, and the first position then rejects no key ---- */
typedef struct {
    /* first: probability that the first position is set; all: fraction of set cells */
    double first, all;
} sums;

static sums of_sums(double m, double n, unsigned k)
{
    enum { REACH = 600, STEP = 8 };
    const double deviation = 144.77, root = deviation * sqrt(2 * acos(-1)),
                 others = n * (k - 1) / m, rest = -expm1(-others);
    sums s = { 0, rest };
    if (m < 2 * REACH) return (sums){ -expm1(-n * k / m), -expm1(-n * k / m) };
    for (int at = -REACH; at <= REACH; at += STEP) {
        const double chance = exp(-at * at / (2 * deviation * deviation)) / root,
                     set = -expm1(-n * chance - others);
        s.first += STEP * chance * set;
        s.all += STEP * (set - rest) / m;
    }
    return s;
}

double bf_rate_scrapy_redis(double m, double n, unsigned k)
{
    const sums s = of_sums(m, n, k);
    return s.first * pow(s.all, k - 1);
}

double bf_fill_scrapy_redis(double m, double n, unsigned k) { return of_sums(m, n, k).all; }

/* Returns the level for which the sum of min(bar, level) is `volume`. */
static double level_of(const double *bars, double volume)
{
    double low = 0, high = volume;
    for (int i = 0; i < 60; i++) {
        const double middle = (low + high) / 2;
        double held = 0;
        for (unsigned s = 0; s < BF_SLICES; s++) held += fmin(bars[s], middle);
        *(held < volume ? &low : &high) = middle;
    }
    return high;
}

/* Estimates the number of keys and the rate from the fill of each slice. The first hash reaches
 * only cells at the beginning of slice 0, so slice 0 is taken to be as full as slice 1. How evenly
 * the other hashes spread depends on the lengths of the keys, which are unknown; but each hash is
 * at least as even as the hash before it. Picture each slice as a bar as high as its number of
 * positions. Horizontal cuts divide the bars into k - 1 layers of one position per key. The lowest
 * layer is the most even one and belongs to the last hash, the next layer to the hash before it,
 * and so on. */
void bf_estimate_scrapy_redis(
    const bf_geometry *g, const uint64_t slices[BF_SLICES], bf_state *state)
{
    enum { REACHED_BY_FIRST = 1 << 14 };
    const double cells = (double)g->m / BF_SLICES;
    double positions[BF_SLICES], fill[BF_SLICES], all = 0;
    if (g->k < 2 || cells < REACHED_BY_FIRST) return;
    for (unsigned s = 0; s < BF_SLICES; s++) {
        fill[s] = (double)slices[s ? s : 1] / cells;
        positions[s] = cells * -log1p(-fmin(fill[s], 1 - 0.5 / cells));
        all += positions[s];
    }
    if (all == 0) return;
    state->count = all / (g->k - 1);
    state->fpr = of_sums((double)g->m, state->count, g->k).first;
    for (unsigned hash = 1; hash < g->k; hash++) {
        const double level = level_of(positions, state->count);
        double set = 0;
        for (unsigned s = 0; s < BF_SLICES; s++) {
            const double here = fmin(positions[s], level);
            set += here * fill[s];
            positions[s] -= here;
        }
        state->fpr *= set / state->count;
    }
}

/* ---- rates of a scheme ---- */
static bool near_range(const bf_scheme *s, double m)
{
    return s->range && m > (double)s->range / 64;
}

double bf_rate(const bf_scheme *s, const void *argument, double m, double n, unsigned k)
{
    double rate;
    if (!(n > 0)) return 0;
    if (s->hash->values)
        rate = rate_of_hashes(s, argument, m, n, k);
    else if (s->rate)
        rate = s->rate(m, n, k);
    else if (near_range(s, m))
        rate = pow(fill_of_range((double)s->range, m, n, k, true), k);
    else
        rate = s->layout->rate((s->power_of_two ? cells_of_mask(m) : m) / n, k);
    const double same = same_value(s, n);
    return same > 0 ? 1 - (1 - rate) * (1 - same) : rate;
}

double bf_fill_of(const bf_scheme *s, const void *argument, double m, double n, unsigned k)
{
    if (s->hash->values) return fill_of_hashes(s, argument, m, n, k, k);
    if (s->fill) return s->fill(m, n, k);
    if (near_range(s, m)) return fill_of_range((double)s->range, m, n, k, false);
    const double cells = s->power_of_two ? cells_of_mask(m) : m;
    return cells / m * -expm1(-n * s->layout->distinct(k) / cells);
}

double bf_keys_of(const bf_scheme *s, const void *argument, double m, double ones, unsigned k)
{
    double low = 0, high = 1;
    while (high < (double)BF_N_MAX && bf_fill_of(s, argument, m, high, k) * m < ones) high *= 2;
    for (int i = 0; i < 60 && high - low > 1e-9 * high; i++) {
        const double middle = (low + high) / 2;
        if (bf_fill_of(s, argument, m, middle, k) * m < ones)
            low = middle;
        else
            high = middle;
    }
    return high;
}

bool bf_rate_is_formula(const bf_scheme *s)
{
    return !s->hash->values && !s->rate && !s->range && !s->values && !s->power_of_two;
}

double bf_rate_floor(const bf_scheme *s, double n) { return same_value(s, n); }
double bf_rate_left(const bf_scheme *s, double p, double n)
{
    const double same = same_value(s, n);
    return same > 0 ? (p - same) / (1 - same) : p;
}
