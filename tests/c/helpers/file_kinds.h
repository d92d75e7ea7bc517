/* file_kinds.h - a file of every kind of filter, opened by one of several writers or by an
 * exclusive one. */
#ifndef FILE_KINDS_H
#define FILE_KINDS_H
#include "one_folder.h"

static const bf_spec kinds[] = { { .n = 2000, .p = 0.01 }, { .m = 30000, .n = 2000 },
    { .n = 2000, .p = 0.01, .counting = true }, { .n = 100, .p = 0.01, .grow = 2 },
    { .n = 1000, .p = 0.01, .window = 1e9 }, { .n = 2000, .p = 0.01, .scheme = "guava" } };
enum { KINDS = COUNT(kinds) };

static inline bf_spec spec_of(size_t kind, bool exclusive)
{
    bf_spec s = kinds[kind];
    s.storage = path;
    s.exclusive = exclusive;
    return s;
}
static inline bf_filter *open_it(size_t kind, bool exclusive)
{
    const bf_spec s = spec_of(kind, exclusive);
    return bf_open(&s, &e);
}
static inline bf_filter *sure(size_t kind, bool exclusive)
{
    return must(open_it(kind, exclusive), __LINE__);
}
#endif
