/* paged.h - the bytes of a filter with header pages, as a saved file has them, for tests that
 * change them: to_bytes of a small filter has none. */
#ifndef PAGED_H
#define PAGED_H
#include "../../../core/bloomfilter.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline uint8_t *paged_bytes(bf_filter *f, uint64_t *len)
{
    char path[] = "/tmp/bf-paged-XXXXXX";
    bf_error e;
    const int fd = mkstemp(path);
    if (fd >= 0) close(fd);
    FILE *in = fd < 0 || bf_save(f, path, &e) < 0 ? NULL : fopen(path, "rb");
    if (!in) abort();
    fseek(in, 0, SEEK_END);
    uint8_t *b = malloc(*len = (uint64_t)ftell(in));
    rewind(in);
    if (!b || fread(b, 1, *len, in) != *len) abort();
    fclose(in);
    unlink(path);
    return b;
}
#endif
