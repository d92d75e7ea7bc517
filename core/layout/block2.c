/* block2.c - ceil(k/2) bits of a key are in one line of 512 bits, floor(k/2) in another: nearly the
 * textbook's rate with two cache misses. The first line is mulhi(h, lines); h2 = mum(h, BF_MUM_2)
 * selects the second from the other lines. In a small filter, keys with both halves in one crowded
 * line would increase the rate. */
#include "layout/line.h"
#include "layout/counting.h"

typedef struct {
    uint64_t line[2], g[2];
} pair;

static inline pair pair_of(const bf_geometry *g, uint64_t h)
{
    uint64_t h2 = bf_mum(h, BF_MUM_2), a = bf_mulhi(h, g->lines),
             b = a + 1 + bf_mulhi(h2, g->lines - 1);
    b -= g->lines & (0 - (uint64_t)(b >= g->lines));
    return (pair){ { a, b }, { bf_mum(h, BF_MUM_1), bf_mum(h2, BF_MUM_1) } };
}

static void block2_positions(const bf_geometry *g, const uint64_t *d, size_t n, uint64_t *pos)
{
    for (size_t i = 0; i < n; i++) {
        pair p = pair_of(g, d[i]);
        pos = line_positions(p.line[0], p.g[0], (g->k + 1) / 2, pos);
        pos = line_positions(p.line[1], p.g[1], g->k / 2, pos);
    }
}

static inline __attribute__((always_inline)) void fetch_one(
    const bf_geometry *g, const uint64_t *words, uint64_t h, bool far)
{
    pair p = pair_of(g, h);
    bf_fetch(words + p.line[0] * LINE_WORDS, far);
    bf_fetch(words + p.line[1] * LINE_WORDS, far);
}

/* & instead of && avoids a branch, so both lines are loaded at the same time. */
#define BOTH(attr, suffix, one_test, one_add)                                                      \
    attr static inline bool has##suffix(const bf_geometry *g, const uint64_t *words, uint64_t h)   \
    {                                                                                              \
        pair p = pair_of(g, h);                                                                    \
        return (int)one_test(words + p.line[0] * LINE_WORDS, p.g[0], (g->k + 1) / 2) &             \
               one_test(words + p.line[1] * LINE_WORDS, p.g[1], g->k / 2);                         \
    }                                                                                              \
    attr static inline bool put##suffix(                                                           \
        const bf_geometry *g, uint64_t *words, uint64_t h, bool atomic)                            \
    {                                                                                              \
        pair p = pair_of(g, h);                                                                    \
        return (int)one_add(words + p.line[0] * LINE_WORDS, p.g[0], (g->k + 1) / 2, atomic) &      \
               one_add(words + p.line[1] * LINE_WORDS, p.g[1], g->k / 2, atomic);                  \
    }

BOTH(, _portable, line_test, line_add)
LINE_SINGLES(, _portable)
LINE_ROW(, _portable, _portable, fetch_one, false, NULL)

/* ---- counters ---- */
static inline void pair_positions(const bf_geometry *g, pair p, uint64_t *pos)
{
    pos = line_positions(p.line[0], p.g[0], (g->k + 1) / 2, pos);
    line_positions(p.line[1], p.g[1], g->k / 2, pos);
}
static inline void fetch_line(const bf_geometry *g, const uint64_t *words, uint64_t h, bool far)
{
    (void)far;
    pair p = pair_of(g, h);
    counters_fetch(words, p.line[0]);
    counters_fetch(words, p.line[1]);
}
static inline bool has_cells(const bf_geometry *g, const uint64_t *words, uint64_t h)
{
    uint64_t pos[2 * LINE_K_MAX];
    pair_positions(g, pair_of(g, h), pos);
    return counters_all(words, pos, g->k);
}
static inline bool put_cells(const bf_geometry *g, uint64_t *words, uint64_t h, bool atomic)
{
    uint64_t pos[2 * LINE_K_MAX];
    pair_positions(g, pair_of(g, h), pos);
    return counters_add(words, pos, g->k, atomic, g->lines > 1 && g->k <= 2 * LINE_WORDS);
}
LINE_SINGLES(, _cells)
LINE_ROW(, _cells, _cells, fetch_line, false, NULL)

#ifdef LINE_VECTOR
/* A key has the same two masks in all parts, so the masks are computed once. Begins with the newest
 * part, because no part is larger. */
VECTOR LINE_ALWAYS uint64_t any_of(
    const bf_part_view *views, size_t nviews, line_batch keys, bool far)
{
    const unsigned k = views->g->k;
    const uint64_t *d = keys.d;
    const size_t large = keys.nahead ? line_large(views, nviews) : nviews;
    uint64_t present = 0;
    for (size_t i = 0; i < keys.n; i++) {
        const line_vec a = line_inverted(line_masks_vector(bf_mum(d[i], BF_MUM_1), (k + 1) / 2));
        const line_vec b =
            line_inverted(line_masks_vector(bf_mum(bf_mum(d[i], BF_MUM_2), BF_MUM_1), k / 2));
        for (size_t j = i < keys.nahead ? large : nviews; j < nviews; j++)
            fetch_one(views[j].g, views[j].words, keys.ahead[i], far);
        for (size_t j = nviews; j-- > 0;) {
            const pair p = pair_of(views[j].g, d[i]);
            if (!line_has_inverted(views[j].words + p.line[0] * LINE_WORDS, a)) continue;
            if (!line_has_inverted(views[j].words + p.line[1] * LINE_WORDS, b)) continue;
            present |= UINT64_C(1) << i;
            break;
        }
    }
    return present;
}

LINE_ANY(any_vector, false)
LINE_ANY(any_far, true)
BOTH(VECTOR, _vector, line_test_vector, line_add_vector)
LINE_SINGLES(VECTOR, _vector)
LINE_ROW(VECTOR, _vector, _vector, fetch_one, false, any_vector)
LINE_ROW(VECTOR, _far, _vector, fetch_one, true, any_far)
#endif

#ifdef AVX2
AVX2 static inline bool has_cells_avx2(const bf_geometry *g, const uint64_t *words, uint64_t h)
{
    pair p = pair_of(g, h);
    return (int)counters_test_avx2(words, p.line[0], p.g[0], (g->k + 1) / 2) &
           (int)counters_test_avx2(words, p.line[1], p.g[1], g->k / 2);
}
/* counters_add_avx2 needs two different lines, which a filter of one line does not have. */
AVX2 static inline bool put_cells_avx2(
    const bf_geometry *g, uint64_t *words, uint64_t h, bool atomic)
{
    if (atomic || g->lines == 1) return put_cells(g, words, h, atomic);
    pair p = pair_of(g, h);
    return (int)counters_add_avx2(words, p.line[0], p.g[0], (g->k + 1) / 2) &
           (int)counters_add_avx2(words, p.line[1], p.g[1], g->k / 2);
}
LINE_SINGLES(AVX2, _cells_avx2)
LINE_ROW(AVX2, _cells_avx2, _cells_avx2, fetch_line, false, NULL)
#endif

const bf_layout bf_layout_block2 = { "block2", 2 * LINE_K_MAX, LINE_BITS, bf_rate_block2,
    bf_distinct_block2, block2_positions, LINE_ROWS, BF_SHARDS_BY_HASH };
