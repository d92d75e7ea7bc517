/* chain_bytes.h - the pages of filters of many parts, for tests that write what no filter would.
 * docs/format.md has the offsets. */
#ifndef CHAIN_BYTES_H
#define CHAIN_BYTES_H
#include <stdint.h>
#include <string.h>
#include <xxhash.h>

enum { PAGE = 4096 };
static inline void put(uint8_t *p, unsigned bytes, uint64_t v)
{
    for (unsigned i = 0; i < bytes; i++) p[i] = (uint8_t)(v >> (8 * i));
}
static inline uint64_t real(double d)
{
    uint64_t v;
    memcpy(&v, &d, 8);
    return v;
}
static inline uint64_t live(int64_t value)
{
    uint64_t v = (uint64_t)value & UINT64_C(0xFFFFFFFFFFFF),
             check = ~(v ^ v >> 16 ^ v >> 32) & 0xFFFF;
    return check << 48 | v;
}
/* The page's sums, as they must be for what it says; those of the bits stay. */
static inline void mend(uint8_t *page)
{
    uint8_t copy[PAGE];
    put(page + 16, 8, XXH3_64bits(page + 24, 2048 - 24));
    memcpy(copy, page, PAGE);
    memcpy(copy + 2048, copy + 2056, 8);
    if (copy[29] & 7) memset(copy + 2080, 0, 8);
    put(page + 4088, 8, XXH3_64bits(copy, 4088));
}
static inline uint64_t get(const uint8_t *p, unsigned bytes)
{
    uint64_t v = 0;
    while (bytes--) v = v << 8 | p[bytes];
    return v;
}
/* The page of part i. */
static inline uint8_t *page_of(uint8_t *image, unsigned i)
{
    uint8_t *page = image + PAGE;
    while (i--) page += PAGE + get(page + 64, 8);
    return page;
}
static inline void set_live(uint8_t *page, int64_t value) { put(page + 2080, 8, live(value)); }
#endif
