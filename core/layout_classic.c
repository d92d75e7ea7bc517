/* layout_classic.c - k positions anywhere in 0..m-1, exact m: the textbook filter.
 * Enhanced double hashing (Dillinger and Manolios, 2004) on 64-bit states: q = mulhi(h, m); h += g; g += (j+1) * c. */
#include "bits.h"
#include "seams.h"

typedef struct { uint64_t h, g; } cursor;

static inline cursor start(uint64_t h) { return (cursor){ h, bf_mum(h, BF_MUM_1) }; }
static inline cursor step(cursor c, unsigned j) { return (cursor){ c.h + c.g, c.g + (j + 1) * BF_MUM_2 }; }
static inline uint64_t here(const bf_geometry *g, cursor c) { return bf_mulhi(c.h, g->m); }

static void positions(const bf_geometry *g, const uint64_t *d, size_t n, uint64_t *pos)
{
    for (size_t i = 0; i < n; i++) {
        cursor c = start(d[i]);
        for (unsigned j = 0; j < g->k; c = step(c, j++)) *pos++ = here(g, c);
    }
}

static void fetch(const bf_geometry *g, const uint64_t *words, const uint64_t *d, size_t n)
{
    for (size_t i = 0; i < n; i++) bf_prefetch(words + (bf_mulhi(d[i], g->m) >> 6));
}

static inline bool is_set(const uint64_t *words, uint64_t q) { return (bf_word(words + (q >> 6)) & bf_mask_of(q)) != 0; }

static bool test_one(const bf_geometry *g, const uint64_t *words, const uint64_t *d)
{
    cursor c = start(*d);
    for (unsigned j = 0; j < g->k; c = step(c, j++)) if (!is_set(words, here(g, c))) return false;
    return true;
}

/* Rounds of survivors: round j looks at position j of every key that passed the rounds before and fetches the next
 * one of those that pass again, a whole round ahead.  Compacting without a branch: half of the answers are "no". */
static uint64_t test(const bf_geometry *g, const uint64_t *words, const uint64_t *d, size_t n, const uint64_t *ahead, size_t nahead)
{
    cursor c[BF_CHUNK];
    uint8_t key[BF_CHUNK];
    size_t alive = n;
    fetch(g, words, ahead, nahead);
    for (size_t i = 0; i < n; i++) { c[i] = start(d[i]); key[i] = (uint8_t)i; }
    for (unsigned j = 0; j < g->k && alive; j++) {
        size_t kept = 0;
        for (size_t i = 0; i < alive; i++) {
            bool set = is_set(words, here(g, c[i]));
            c[kept] = step(c[i], j);
            key[kept] = key[i];
            bf_prefetch(words + (here(g, c[kept]) >> 6));
            kept += set;
        }
        alive = kept;
    }
    uint64_t present = 0;
    for (size_t i = 0; i < alive; i++) present |= UINT64_C(1) << key[i];
    return present;
}

static inline void fetch_all(const bf_geometry *g, const uint64_t *words, uint64_t d)
{
    cursor c = start(d);
    for (unsigned j = 0; j < g->k; c = step(c, j++)) bf_prefetch(words + (here(g, c) >> 6));
}

static inline bool put(const bf_geometry *g, uint64_t *words, uint64_t d, bool atomic)
{
    cursor c = start(d);
    bool present = true;
    for (unsigned j = 0; j < g->k; c = step(c, j++)) {
        uint64_t q = here(g, c);
        present &= bf_or(words + (q >> 6), bf_mask_of(q), atomic);
    }
    return present;
}

/* One key after the other, not in rounds: where keys of a batch share bits their order decides which of them was new,
 * and the answers must not depend on the size of the batch.  All positions of a few keys ahead are fetched meanwhile. */
static inline uint64_t put_all(const bf_geometry *g, uint64_t *words, const uint64_t *d, size_t n, bool atomic)
{
    enum { NEAR = 8 };
    uint64_t present = 0;
    for (size_t i = 0; i < n && i < NEAR; i++) fetch_all(g, words, d[i]);
    for (size_t i = 0; i < n; i++) {
        if (i + NEAR < n) fetch_all(g, words, d[i + NEAR]);
        present |= (uint64_t)put(g, words, d[i], atomic) << i;
    }
    return present;
}

static uint64_t add(const bf_geometry *g, uint64_t *words, const uint64_t *d, size_t n, const uint64_t *ahead, size_t nahead)
{ fetch(g, words, ahead, nahead); return put_all(g, words, d, n, false); }
static uint64_t or(const bf_geometry *g, uint64_t *words, const uint64_t *d, size_t n, const uint64_t *ahead, size_t nahead)
{ fetch(g, words, ahead, nahead); return put_all(g, words, d, n, true); }
static bool add_one(const bf_geometry *g, uint64_t *words, const uint64_t *d) { return put(g, words, *d, false); }
static bool or_one(const bf_geometry *g, uint64_t *words, const uint64_t *d) { return put(g, words, *d, true); }

static const bf_kernels kernels = { BF_CHUNK, BF_CHUNK, fetch, test, { add, or }, test_one, { add_one, or_one } };

const bf_layout bf_layout_classic = { "classic", BF_K_MAX, 1, bf_rate_classic, bf_distinct_classic, positions,
                                      &kernels, NULL, BF_SHARDS_BY_HASH };
