/* numbers.h - numbers as keys, and filters as files: what tests share that look at what is left in
 * a filter after something went wrong. */
#ifndef NUMBERS_H
#define NUMBERS_H
#include "must.h"

static inline void add_numbers(bf_filter *f, int from, int n)
{
    for (int i = from; i < from + n; i++) CHECK(bf_add(f, &i, sizeof i, &e) >= 0);
}
static inline int found(bf_filter *f, int from, int n)
{
    int sum = 0;
    for (int i = from; i < from + n; i++) sum += bf_test(f, &i, sizeof i, &e) == 1;
    return sum;
}
/* Calls that write to a filter, each by a way of its own. */
static inline int64_t add_two(bf_filter *f)
{
    return bf_add_many(f, (bf_key[]){ { "new", 3 }, { "more", 4 } }, 2, NULL, &e);
}
static inline int64_t clear(bf_filter *f) { return bf_clear(f, &e); }
static inline int64_t unite(bf_filter *f)
{
    bf_filter *g = must(bf_copy(f, &e), __LINE__);
    add_numbers(g, 7000, 5);
    const int rc = bf_unite(f, g, &e);
    bf_close(g);
    return rc;
}
static inline void put_file(const char *path, const uint8_t *b, uint64_t len)
{
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    CHECK(write(fd, b, len) == (ssize_t)len);
    close(fd);
}
#endif
