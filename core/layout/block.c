/* block.c - k bits of a key in one 512-bit line: one cache miss a key.
 * Line = mulhi(h, lines); the bits by g = mum(h, BF_MUM_1), see line.h. */
#include "layout/line.h"
#include "layout/counting.h"

static inline uint64_t line_of(const bf_geometry *g, uint64_t h) { return bf_mulhi(h, g->lines); }

static void positions(const bf_geometry *g, const uint64_t *d, size_t n, uint64_t *pos)
{
    for (size_t i = 0; i < n; i++)
        pos = line_positions(line_of(g, d[i]), bf_mum(d[i], BF_MUM_1), g->k, pos);
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
LINE_KERNELS(, _portable, NULL, false)

#ifdef LINE_AVX2
AVX2 static inline bool has_avx2(const bf_geometry *g, const uint64_t *words, uint64_t h)
{
    return line_test_avx2(words + line_of(g, h) * LINE_WORDS, bf_mum(h, BF_MUM_1), g->k);
}
AVX2 static inline bool put_avx2(const bf_geometry *g, uint64_t *words, uint64_t h, bool atomic)
{
    return line_add_avx2(words + line_of(g, h) * LINE_WORDS, bf_mum(h, BF_MUM_1), g->k, atomic);
}
/* A key's bits in a line are the same in all parts and made once.  Half a line says "no" for nearly
 * all. Many keys: part after part, and while one is asked the lines of the next are fetched. */
typedef struct {
    _Alignas(32) uint64_t mask[BF_CHUNK][LINE_WORDS];
    const uint64_t *line[2][BF_CHUNK];
} many;

AVX2 static void place(const bf_plane *plane, many *m, const uint64_t *d, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        line_vec mask = line_masks_avx2(bf_mum(d[i], BF_MUM_1), plane->g->k);
        _mm256_store_si256((__m256i *)m->mask[i], mask.lo);
        _mm256_store_si256((__m256i *)(m->mask[i] + 4), mask.hi);
        m->line[0][i] = plane->words + line_of(plane->g, d[i]) * LINE_WORDS;
        bf_prefetch(m->line[0][i]);
    }
}

AVX2 static uint64_t any_many(const bf_plane *planes, size_t nplanes, const uint64_t *d, size_t n)
{
    many m;
    uint64_t present = 0;
    place(planes + nplanes - 1, &m, d, n); /* the newest first: it is the largest */
    for (size_t j = nplanes; j-- > 0;) {
        const bf_plane *next = planes + (j ? j - 1 : 0);
        const uint64_t lines = next->g->lines, *words = next->words,
                       **here = m.line[(nplanes - 1 - j) & 1], **then = m.line[(nplanes - j) & 1];
        uint64_t half = 0;
        for (size_t i = 0; i < n; i++) {
            then[i] = words + bf_mulhi(d[i], lines) * LINE_WORDS;
            bf_prefetch(then[i]);
            half |= (uint64_t)_mm256_testc_si256(_mm256_load_si256((const __m256i *)here[i]),
                        _mm256_load_si256((const __m256i *)m.mask[i]))
                    << i;
        }
        for (half &= ~present; half; half &= half - 1) {
            const size_t i = (size_t)__builtin_ctzll(half);
            present |=
                (uint64_t)_mm256_testc_si256(_mm256_load_si256((const __m256i *)(here[i] + 4)),
                    _mm256_load_si256((const __m256i *)(m.mask[i] + 4)))
                << i;
        }
    }
    return present;
}

AVX2 static uint64_t any_avx2(const bf_plane *planes, size_t nplanes, const uint64_t *d, size_t n)
{
    const unsigned k = planes->g->k;
    uint64_t present = 0;
    if (n > 4) return any_many(planes, nplanes, d, n);
    for (size_t i = 0; i < n; i++) {
        line_vec mask = line_masks_avx2(bf_mum(d[i], BF_MUM_1), k);
        for (size_t j = 0; j < nplanes; j++) {
            const uint64_t *line = planes[j].words + line_of(planes[j].g, d[i]) * LINE_WORDS;
            if (!line_lacks(line, mask)) present |= (uint64_t)line_has(line_load(line), mask) << i;
        }
    }
    return present;
}
LINE_KERNELS(AVX2, _avx2, any_avx2, true)
#define KERNELS_AVX2 &kernels_avx2
#else
#define KERNELS_AVX2 NULL
#endif

/* ---- the same with counters ---- */
static inline void fetch_line(const bf_geometry *g, const uint64_t *words, uint64_t h)
{
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
LINE_COUNTING(, _cells)

#ifdef LINE_AVX2
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
LINE_COUNTING(AVX2, _cells_avx2)
#define COUNTING_AVX2 &kernels_cells_avx2
#else
#define COUNTING_AVX2 NULL
#endif

const bf_layout bf_layout_block = { "block", LINE_K_MAX, LINE_BITS, bf_rate_block,
    bf_distinct_block, positions, &kernels_portable, KERNELS_AVX2,
    { &kernels_cells, COUNTING_AVX2 }, BF_SHARDS_OF_LINES };
