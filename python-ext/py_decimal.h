/* py_decimal.h - whole numbers as decimal text, eight digits at a time: a column of integers spends
 * most of its time here.  Knows no Python. */
#ifndef PY_DECIMAL_H
#define PY_DECIMAL_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { DECIMAL_MAX = 20 }; /* bytes of any 64-bit number */

/* The digits of a number below 10^8, a byte each, the first in the lowest byte.  It is halved three
 * times, in all lanes at once: the product with a rounded-up reciprocal is exact for so few digits.
 */
static inline uint64_t decimal_digits(uint64_t v)
{
    const uint64_t thousands = v / 10000;
    const uint64_t fours = (v << 32) - thousands * ((UINT64_C(10000) << 32) - 1);
    const uint64_t hundreds = fours * 10486 >> 20 & UINT64_C(0x0000007F0000007F);
    const uint64_t twos = (fours << 16) - hundreds * ((100u << 16) - 1);
    const uint64_t tens = twos * 103 >> 10 & UINT64_C(0x000F000F000F000F);
    return (twos << 8) - tens * ((10u << 8) - 1);
}

static inline void decimal_store(char *out, uint64_t bytes)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    bytes = __builtin_bswap64(bytes);
#endif
    memcpy(out, &bytes, sizeof bytes);
}

#define DECIMAL_ZEROS UINT64_C(0x3030303030303030)
static inline char *decimal_eight(char *out, uint64_t v)
{
    decimal_store(out, decimal_digits(v) + DECIMAL_ZEROS);
    return out + 8;
}

/* Without zeros in front, but for 0 itself. */
static inline char *decimal_first(char *out, uint64_t v)
{
    const uint64_t digits = decimal_digits(v);
    const unsigned zeros = (unsigned)__builtin_ctzll(digits | UINT64_C(1) << 56) / 8;
    decimal_store(out, (digits + DECIMAL_ZEROS) >> 8 * zeros);
    return out + 8 - zeros;
}

/* Writes up to DECIMAL_MAX bytes, also where the text is shorter, and no NUL; returns the length.
 */
static inline size_t decimal(char *out, uint64_t magnitude, bool negative)
{
    const uint64_t eight = 100000000, high = magnitude / eight;
    char *p = out + negative;
    *out = '-';
    if (high == 0) return (size_t)(decimal_first(p, magnitude) - out);
    if (high < eight)
        p = decimal_first(p, high);
    else
        p = decimal_eight(decimal_first(p, high / eight), high % eight);
    return (size_t)(decimal_eight(p, magnitude % eight) - out);
}
#endif
