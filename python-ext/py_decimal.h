/* py_decimal.h - integers as decimal text, eight or sixteen digits at a time. A batch over a column
 * of integers takes most of its time here. */
#ifndef PY_DECIMAL_H
#define PY_DECIMAL_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { DECIMAL_MAX = 20 }; /* length of the longest 64-bit number */

/* Returns the eight digits of a number below 10^8, one per byte, the first digit in the lowest
 * byte. Divides by 10000, then in 2 lanes by 100, then in 4 lanes by 10. A lane is divided by a
 * product with a reciprocal rounded up, which is exact for so few digits. */
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

/* Writes a number below 10^8 without leading zeros; 0 becomes "0". */
static inline char *decimal_first(char *out, uint64_t v)
{
    const uint64_t digits = decimal_digits(v);
    const unsigned zeros = (unsigned)__builtin_ctzll(digits | UINT64_C(1) << 56) / 8;
    decimal_store(out, (digits + DECIMAL_ZEROS) >> 8 * zeros);
    return out + 8 - zeros;
}

#ifdef __SSE2__
/* Writes the sixteen digits of two numbers below 10^8, by the same three divisions. */
static inline char *decimal_sixteen(char *out, uint64_t first, uint64_t second)
{
    const __m128i numbers = _mm_unpacklo_epi64(
        _mm_cvtsi64_si128((long long)first), _mm_cvtsi64_si128((long long)second));
    const __m128i thousands =
        _mm_srli_epi64(_mm_mul_epu32(numbers, _mm_set1_epi64x(109951163)), 40);
    const __m128i fours = _mm_or_si128(thousands,
        _mm_slli_epi64(
            _mm_sub_epi64(numbers, _mm_mul_epu32(thousands, _mm_set1_epi64x(10000))), 32));
    const __m128i hundreds = _mm_srli_epi16(_mm_mulhi_epu16(fours, _mm_set1_epi16(10486)), 4);
    const __m128i twos = _mm_or_si128(hundreds,
        _mm_slli_epi32(_mm_sub_epi16(fours, _mm_mullo_epi16(hundreds, _mm_set1_epi16(100))), 16));
    const __m128i tens = _mm_mulhi_epu16(twos, _mm_set1_epi16(6554));
    const __m128i digits = _mm_or_si128(
        tens, _mm_slli_epi16(_mm_sub_epi16(twos, _mm_mullo_epi16(tens, _mm_set1_epi16(10))), 8));
    _mm_storeu_si128((__m128i *)(void *)out, _mm_add_epi8(digits, _mm_set1_epi8('0')));
    return out + 16;
}
#else
static inline char *decimal_sixteen(char *out, uint64_t first, uint64_t second)
{
    return decimal_eight(decimal_eight(out, first), second);
}
#endif

/* Writes a number from 1 to 9999 without leading zeros. Always writes 4 bytes. */
static inline char *decimal_first_four(char *out, uint32_t v)
{
    const uint32_t hundreds = v * 10486 >> 20;
    const uint32_t twos = (v << 16) - hundreds * ((100u << 16) - 1);
    const uint32_t tens = twos * 103 >> 10 & 0x000F000F;
    const uint32_t digits = (twos << 8) - tens * ((10u << 8) - 1);
    const unsigned zeros = (unsigned)__builtin_ctz(digits) / 8;
    uint32_t bytes = (digits + (uint32_t)DECIMAL_ZEROS) >> 8 * zeros;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    bytes = __builtin_bswap32(bytes);
#endif
    memcpy(out, &bytes, sizeof bytes);
    return out + 4 - zeros;
}

/* Writes a number and returns its length. Writes up to DECIMAL_MAX bytes even if the text is
 * shorter, and no NUL. */
static inline size_t decimal(char *out, uint64_t magnitude, bool negative)
{
    const uint64_t eight = 100000000, high = magnitude / eight;
    char *p = out + negative;
    *out = '-';
    if (high == 0) return (size_t)(decimal_first(p, magnitude) - out);
    const uint64_t low = magnitude - high * eight;
    if (high < eight) return (size_t)(decimal_eight(decimal_first(p, high), low) - out);
    /* does not depend on `high`, so both divisions run at the same time */
    const uint64_t top = magnitude / (eight * eight);
    p = decimal_first_four(p, (uint32_t)top);
    return (size_t)(decimal_sixteen(p, high - top * eight, low) - out);
}
#endif
