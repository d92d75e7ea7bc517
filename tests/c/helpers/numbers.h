/* numbers.h - numbers as keys, and filters as files: what tests share that look at what is left in
 * a filter after something went wrong. */
#ifndef NUMBERS_H
#define NUMBERS_H
#include "must.h"
#include <fcntl.h>
#include <unistd.h>

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
static inline void put_file(const char *path, const uint8_t *b, uint64_t len)
{
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    CHECK(write(fd, b, len) == (ssize_t)len);
    close(fd);
}
#endif
