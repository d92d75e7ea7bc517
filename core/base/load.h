/* load.h - loads and stores little-endian words at any address. */
#ifndef BF_LOAD_H
#define BF_LOAD_H
#include <stdint.h>
#include <string.h>

static inline uint64_t load_le64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    return v;
}

static inline void store_le64(uint8_t *p, uint64_t v)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    memcpy(p, &v, sizeof v);
}

static inline uint64_t rotl64(uint64_t x, unsigned r) { return x << r | x >> (64 - r); }
#endif
