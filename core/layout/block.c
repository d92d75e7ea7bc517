/* block.c - all k bits of a key are in one line of 512 bits: one cache miss per key. The line is
 * mulhi(h, lines); the bits come from g = mum(h, BF_MUM_1), see line.h. */
#include "layout/line.h"
#include "layout/counting.h"

static inline uint64_t line_of(const bf_geometry *g, uint64_t h) { return bf_mulhi(h, g->lines); }

static void block_positions(const bf_geometry *g, const uint64_t *d, size_t n, uint64_t *pos)
{
    for (size_t i = 0; i < n; i++)
        pos = line_positions(line_of(g, d[i]), bf_mum(d[i], BF_MUM_1), g->k, pos);
}

static inline __attribute__((always_inline)) void fetch_one(
    const bf_geometry *g, const uint64_t *words, uint64_t h, bool far)
{
    bf_fetch(words + line_of(g, h) * LINE_WORDS, far);
}

static inline bool has_portable(const bf_geometry *g, const uint64_t *words, uint64_t h)
{
    return line_test(words + line_of(g, h) * LINE_WORDS, bf_mum(h, BF_MUM_1), g->k);
}
static inline bool put_portable(const bf_geometry *g, uint64_t *words, uint64_t h, bool atomic)
{
    return line_add(words + line_of(g, h) * LINE_WORDS, bf_mum(h, BF_MUM_1), g->k, atomic);
}
LINE_SINGLES(, _portable)
LINE_ROW(, _portable, _portable, fetch_one, false, NULL)

/* ---- counters ---- */
static inline void fetch_line(const bf_geometry *g, const uint64_t *words, uint64_t h, bool far)
{
    (void)far;
    counters_fetch(words, line_of(g, h));
}
static inline bool has_cells(const bf_geometry *g, const uint64_t *words, uint64_t h)
{
    uint64_t pos[LINE_K_MAX];
    line_positions(line_of(g, h), bf_mum(h, BF_MUM_1), g->k, pos);
    return counters_all(words, pos, g->k);
}
static inline bool put_cells(const bf_geometry *g, uint64_t *words, uint64_t h, bool atomic)
{
    uint64_t pos[LINE_K_MAX];
    line_positions(line_of(g, h), bf_mum(h, BF_MUM_1), g->k, pos);
    return counters_add(words, pos, g->k, atomic, g->k <= LINE_WORDS);
}
LINE_SINGLES(, _cells)
LINE_ROW(, _cells, _cells, fetch_line, false, NULL)

#ifdef LINE_VECTOR
VECTOR static inline bool has_vector(const bf_geometry *g, const uint64_t *words, uint64_t h)
{
    return line_test_vector(words + line_of(g, h) * LINE_WORDS, bf_mum(h, BF_MUM_1), g->k);
}
VECTOR static inline bool put_vector(const bf_geometry *g, uint64_t *words, uint64_t h, bool atomic)
{
    return line_add_vector(words + line_of(g, h) * LINE_WORDS, bf_mum(h, BF_MUM_1), g->k, atomic);
}
/* A key has the same mask in all parts, so the mask is computed once. any_few, for few keys, first
 * tests half of each line, which rejects nearly all absent keys. any_of begins with the newest
 * part, because no part is larger. */
VECTOR static inline uint64_t any_few(
    const bf_part_view *views, size_t nviews, const uint64_t *d, size_t n)
{
    uint64_t present = 0;
    for (size_t i = 0; i < n; i++) {
        const line_vec mask = line_masks_vector(bf_mum(d[i], BF_MUM_1), views->g->k);
        for (size_t j = 0; j < nviews; j++) {
            const uint64_t *line = views[j].words + bf_mulhi(d[i], views[j].lines) * LINE_WORDS;
            if (!line_lacks(line, mask)) present |= (uint64_t)line_has(line_load(line), mask) << i;
        }
    }
    return present;
}

VECTOR LINE_ALWAYS uint64_t any_of(
    const bf_part_view *views, size_t nviews, line_batch keys, bool far)
{
    enum { FEW = 4 };
    const uint64_t *d = keys.d;
    if (keys.n <= FEW) return any_few(views, nviews, d, keys.n);
    const unsigned k = views->g->k;
    const size_t large = line_large(views, nviews);
    uint64_t present = 0;
    for (size_t i = 0; i < keys.n; i++) {
        const line_vec mask = line_inverted(line_masks_vector(bf_mum(d[i], BF_MUM_1), k));
        for (size_t j = i < keys.nahead ? large : nviews; j < nviews; j++)
            bf_fetch(views[j].words + bf_mulhi(keys.ahead[i], views[j].lines) * LINE_WORDS, far);
        for (size_t j = nviews; j-- > 0;) {
            const uint64_t *line = views[j].words + bf_mulhi(d[i], views[j].lines) * LINE_WORDS;
            if (!line_has_inverted(line, mask)) continue;
            present |= UINT64_C(1) << i;
            break;
        }
    }
    return present;
}
LINE_ANY(any_vector, false)
LINE_ANY(any_far, true)
LINE_SINGLES(VECTOR, _vector)
LINE_ROW(VECTOR, _vector, _vector, fetch_one, false, any_vector)
LINE_ROW(VECTOR, _far, _vector, fetch_one, true, any_far)
#endif

#ifdef AVX2
AVX2 static inline bool has_cells_avx2(const bf_geometry *g, const uint64_t *words, uint64_t h)
{
    return counters_test_avx2(words, line_of(g, h), bf_mum(h, BF_MUM_1), g->k);
}
AVX2 static inline bool put_cells_avx2(
    const bf_geometry *g, uint64_t *words, uint64_t h, bool atomic)
{
    return atomic ? put_cells(g, words, h, true)
                  : counters_add_avx2(words, line_of(g, h), bf_mum(h, BF_MUM_1), g->k);
}
LINE_SINGLES(AVX2, _cells_avx2)
LINE_ROW(AVX2, _cells_avx2, _cells_avx2, fetch_line, false, NULL)
#endif

const bf_layout bf_layout_block = { "block", LINE_K_MAX, LINE_BITS, bf_rate_block,
    bf_distinct_block, block_positions, LINE_ROWS, BF_SHARDS_OF_LINES };
