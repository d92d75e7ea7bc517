/* layout_block.c - k bits of a key in one 512-bit line: one cache miss a key.
 * Line = mulhi(h, lines); the bits by g = mum(h, BF_MUM_1), see line.h. */
#include "line.h"
#include "counting.h"

static inline uint64_t line_of(const bf_geometry *g, uint64_t h) { return bf_mulhi(h, g->lines); }

static void positions(const bf_geometry *g, const uint64_t *d, size_t n, uint64_t *pos)
{
    for (size_t i = 0; i < n; i++) pos = line_positions(line_of(g, d[i]), bf_mum(d[i], BF_MUM_1), g->k, pos);
}

static inline void fetch_one(const bf_geometry *g, const uint64_t *words, uint64_t h)
{
    bf_prefetch(words + line_of(g, h) * LINE_WORDS);
}

static inline bool has_portable(const bf_geometry *g, const uint64_t *words, uint64_t h)
{
    return line_test(words + line_of(g, h) * LINE_WORDS, bf_mum(h, BF_MUM_1), g->k);
}
static inline bool put_portable(const bf_geometry *g, uint64_t *words, uint64_t h, bool atomic)
{
    return line_add(words + line_of(g, h) * LINE_WORDS, bf_mum(h, BF_MUM_1), g->k, atomic);
}
LINE_KERNELS(, _portable)

#ifdef LINE_AVX2
AVX2 static inline bool has_avx2(const bf_geometry *g, const uint64_t *words, uint64_t h)
{
    return line_test_avx2(words + line_of(g, h) * LINE_WORDS, bf_mum(h, BF_MUM_1), g->k);
}
AVX2 static inline bool put_avx2(const bf_geometry *g, uint64_t *words, uint64_t h, bool atomic)
{
    return line_add_avx2(words + line_of(g, h) * LINE_WORDS, bf_mum(h, BF_MUM_1), g->k, atomic);
}
LINE_KERNELS(AVX2, _avx2)
#define KERNELS_AVX2 &kernels_avx2
#else
#define KERNELS_AVX2 NULL
#endif

/* ---- the same with counters ---- */
static inline void fetch_line(const bf_geometry *g, const uint64_t *words, uint64_t h) { counters_fetch(words, line_of(g, h)); }
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
LINE_COUNTING(, _cells)

#ifdef LINE_AVX2
AVX2 static inline bool has_cells_avx2(const bf_geometry *g, const uint64_t *words, uint64_t h)
{
    return counters_test_avx2(words, line_of(g, h), bf_mum(h, BF_MUM_1), g->k);
}
AVX2 static inline bool put_cells_avx2(const bf_geometry *g, uint64_t *words, uint64_t h, bool atomic)
{
    return atomic ? put_cells(g, words, h, true) : counters_add_avx2(words, line_of(g, h), bf_mum(h, BF_MUM_1), g->k);
}
LINE_COUNTING(AVX2, _cells_avx2)
#define COUNTING_AVX2 &kernels_cells_avx2
#else
#define COUNTING_AVX2 NULL
#endif

const bf_layout bf_layout_block = { "block", LINE_K_MAX, LINE_BITS, bf_rate_block, bf_distinct_block, positions,
                                    &kernels_portable, KERNELS_AVX2, { &kernels_cells, COUNTING_AVX2 }, BF_SHARDS_OF_LINES };
