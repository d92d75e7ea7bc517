/* redisbloom.c - the positions of RedisBloom: (a + i * b) modulo m, in 64-bit arithmetic. */
#include "bits/bits.h"
#include "layout/layout.h"

/* x - mulhi(x, UINT64_MAX / m) * m is x modulo m, or m more. */
static void redisbloom(const bf_geometry *g, const uint64_t *d, size_t n, uint64_t *pos)
{
    const uint64_t m = g->m, inverse = UINT64_MAX / m;
    for (size_t i = 0; i < n; i++, d += 2) {
        uint64_t c = d[0];
        for (unsigned j = 0; j < g->k; j++, c += d[1]) {
            const uint64_t rest = c - bf_mulhi(c, inverse) * m;
            *pos++ = rest < m ? rest : rest - m;
        }
    }
}

const bf_layout bf_layout_redisbloom = BF_LAYOUT_OLDER("redisbloom", BF_K_MAX, 64, redisbloom);
