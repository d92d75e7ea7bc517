/* dotnet.c - schemes rs-dotnet and rs-dotnet-repo: new System.Random(digest), then Next(m) or
 * Next() % m for each position. .NET's seeded generator is Knuth's subtractive one
 * (Seminumerical Algorithms, 3.2.2): differences modulo 2^31-1 in a ring of 55 numbers. */
#include "layout/layout.h"

enum { RING = 55, LAG = 21, BIG = INT32_MAX, SEED = 161803398 };

typedef struct {
    int32_t a[RING + 1];
    unsigned at, behind;
} dotnet_random; /* a[0] is not used */

static int32_t wrapping_minus(int32_t x, int32_t y) { return (int32_t)((uint32_t)x - (uint32_t)y); }
/* Adds BIG to a negative number. Has no branch, because half of the predictions would be wrong. */
static int32_t fold(int32_t x) { return (int32_t)((uint32_t)x + ((uint32_t)(x >> 31) & BIG)); }

static void dotnet_seed(dotnet_random *r, int32_t s)
{
    int32_t j = wrapping_minus(SEED, s == INT32_MIN ? BIG : s < 0 ? -s : s), k = 1;
    r->a[RING] = j;
    for (unsigned i = 1; i < RING; i++) {
        unsigned to = LAG * i % RING;
        r->a[to] = k;
        k = fold(wrapping_minus(j, k));
        j = r->a[to];
    }
    /* subtracts the number that is 31 places later in the ring */
    for (unsigned round = 0; round < 4; round++) {
        for (unsigned i = 1; i <= RING - 31; i++)
            r->a[i] = fold(wrapping_minus(r->a[i], r->a[i + 31]));
        for (unsigned i = RING - 30; i <= RING; i++)
            r->a[i] = fold(wrapping_minus(r->a[i], r->a[i + 31 - RING]));
    }
    r->at = 0;
    r->behind = LAG;
}

static int32_t dotnet_next(dotnet_random *r)
{
    if (++r->at > RING) r->at = 1;
    if (++r->behind > RING) r->behind = 1;
    int32_t x = wrapping_minus(r->a[r->at], r->a[r->behind]);
    if (x == BIG) x--;
    return r->a[r->at] = fold(x);
}

static inline void draw_dotnet(
    const bf_geometry *g, const uint64_t *d, size_t n, uint64_t *pos, bool modulo)
{
    dotnet_random r;
    for (size_t i = 0; i < n; i++) {
        dotnet_seed(&r, (int32_t)d[i]);
        for (unsigned j = 0; j < g->k; j++) {
            const int32_t x = dotnet_next(&r);
            *pos++ =
                modulo ? (uint32_t)x % g->m : (uint64_t)((double)x * (1.0 / BIG) * (double)g->m);
        }
    }
}

static void dotnet_positions(const bf_geometry *g, const uint64_t *d, size_t n, uint64_t *pos)
{
    draw_dotnet(g, d, n, pos, false);
}
static void dotnet_repo_positions(const bf_geometry *g, const uint64_t *d, size_t n, uint64_t *pos)
{
    draw_dotnet(g, d, n, pos, true);
}

const bf_layout bf_layout_dotnet = BF_LAYOUT_OLDER("dotnet", BF_K_MAX, 1, dotnet_positions);
const bf_layout bf_layout_dotnet_repo =
    BF_LAYOUT_OLDER("dotnet-repo", BF_K_MAX, 1, dotnet_repo_positions);
