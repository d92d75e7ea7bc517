/* rebuilt.h - the filters of tests of rebuild, in memory and in a file: keys of ranges, and which
 * are there. */
#ifndef REBUILT_H
#define REBUILT_H
#include "one_folder.h"

static bf_error e;
static int counting, in_file;
static inline bf_filter *open_(bool file)
{
    bf_filter *f = bf_open(&(bf_spec){ .n = 2000,
                               .p = 0.001,
                               .threads = true,
                               .counting = counting,
                               .storage = file ? path : NULL },
        &e);
    CHECK(f != NULL);
    return f;
}
static inline void add(bf_filter *f, int from, int to)
{
    char t[16];
    for (int i = from; i < to; i++) CHECK(bf_add(f, t, (size_t)sprintf(t, "k%d", i), &e) >= 0);
}
static inline int has(bf_filter *f, int from, int to)
{
    char t[16];
    int n = 0;
    for (int i = from; i < to; i++) n += bf_test(f, t, (size_t)sprintf(t, "k%d", i), &e) == 1;
    return n;
}
static inline bool same(bf_filter *f, bf_filter *g)
{
    if (!counting) return bf_equal(f, g, &e) == 1;
    return bf_subset(f, g, &e) == 1 && bf_subset(g, f, &e) == 1;
}
/* A new filter in memory of the keys of up to two ranges. */
static inline bf_filter *of(int from, int to, int more, int less)
{
    bf_filter *f = open_(false);
    add(f, from, to);
    add(f, more, less);
    return f;
}
static inline bool is(bf_filter *f, int from, int to, int more, int less)
{
    bf_filter *twin = of(from, to, more, less);
    const bool yes = same(f, twin);
    bf_close(twin);
    return yes;
}
#define EACH                                                                                       \
    for (in_file = 0; in_file < 2; in_file++)                                                      \
        for (counting = 0; counting < 2; counting++)
#endif
