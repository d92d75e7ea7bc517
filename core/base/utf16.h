/* utf16.h - reads UTF-8 as UTF-16 code units, for systems that hash UTF-16 (Java, C#). Refuses
 * overlong forms, surrogates and code points above U+10FFFF. */
#ifndef BF_UTF16_H
#define BF_UTF16_H
#include "base/base.h"

/* Reads the character at *p, stores it in u as 1 or 2 code units, returns their number and
 * advances *p. Returns 0 if the bytes are not UTF-8. */
static inline unsigned utf16_next(const uint8_t **p, const uint8_t *end, uint16_t u[2])
{
    static const uint32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
    const uint8_t *s = *p;
    unsigned len = *s < 0x80                 ? 1
                   : *s >= 0xF0 && *s < 0xF8 ? 4
                   : *s >= 0xE0 && *s < 0xF0 ? 3
                   : *s >= 0xC0 && *s < 0xE0 ? 2
                                             : 0;
    if (len == 0 || (size_t)(end - s) < len) return 0;
    uint32_t c = len == 1 ? *s : *s & (0x7Fu >> len);
    for (unsigned i = 1; i < len; i++) {
        if ((s[i] & 0xC0) != 0x80) return 0;
        c = c << 6 | (s[i] & 0x3F);
    }
    if (c < least[len] || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) return 0;
    *p = s + len;
    if (c < 0x10000) {
        u[0] = (uint16_t)c;
        return 1;
    }
    u[0] = (uint16_t)(0xD800 + ((c - 0x10000) >> 10));
    u[1] = (uint16_t)(0xDC00 + ((c - 0x10000) & 0x3FF));
    return 2;
}

/* An empty key may be NULL, and in C even NULL + 0 is undefined. */
static inline const uint8_t *utf16_end(const void *key, size_t len)
{
    return len ? (const uint8_t *)key + len : key;
}

static inline int utf16_check(const void *key, size_t len, const char *hashed, bf_error *err)
{
    const uint8_t *at = key, *end = utf16_end(key, len);
    uint16_t u[2];
    while (at < end)
        if (!utf16_next(&at, end, u))
            return bf_fail(err, BF_EINVAL,
                "the key is not valid UTF-8 at byte %zu: its scheme hashes %s",
                (size_t)(at - (const uint8_t *)key), hashed);
    return 0;
}

static inline int utf16_accept(const void *secret, const void *key, size_t len, bf_error *err)
{
    (void)secret;
    return utf16_check(key, len, "UTF-16 text", err);
}
#endif
