/* sample.c - estimates how full a bitmap is from runs of words at equal distances. Reads more runs
 * if about half of the cells or more are set, because "more than half" leads to a warning. */
#include "layout/layout.h"

/* RUN: words of a run; FIRST_RUNS, MORE_RUNS: runs read; TOGETHER: runs counted by one call */
enum { RUN = 8, FIRST_RUNS = 1024, MORE_RUNS = 1 << 17, TOGETHER = 64 };
static const double NEARLY = 0.49;

/* Returns the fraction of set cells in `runs` runs; counts smaller bitmaps completely. */
static double share(const uint64_t *w, uint64_t nwords, const bf_geometry *g, uint64_t runs)
{
    const uint64_t all = nwords / RUN;
    const bf_cell_ops *cells = bf_cell_ops_of(g);
    if (all <= runs) return (double)cells->count(w, nwords) / (double)g->m;
    uint64_t set = 0, some[TOGETHER * RUN];
    for (uint64_t i = 0; i < runs; i++) {
        bf_words_copy(some + i % TOGETHER * RUN, w + all / runs * i * RUN, RUN);
        if (i % TOGETHER == TOGETHER - 1) set += cells->count(some, TOGETHER * RUN);
    }
    return (double)set / (double)(runs * RUN * (64 / cells->bits));
}

double bf_fill(const uint64_t *w, uint64_t nwords, const bf_geometry *g)
{
    double fill = share(w, nwords, g, FIRST_RUNS);
    return fill > NEARLY ? share(w, nwords, g, MORE_RUNS) : fill;
}

uint64_t bf_sample(const uint64_t *w, uint64_t nwords, const bf_geometry *g)
{
    /* rounded: (double)2817 / 5632 * 5632 is less than 2817 */
    return (uint64_t)(bf_fill(w, nwords, g) * (double)g->m + 0.5);
}
