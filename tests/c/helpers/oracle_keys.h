/* oracle_keys.h - the keys of tests/vectors: the recorded ones, and url(salt, i), the keys of whole
 * filters. */
#ifndef ORACLE_KEYS_H
#define ORACLE_KEYS_H
#include "../../../core/bloomfilter.h"
#include "check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t mix(uint64_t z) /* the finaliser of splitmix64 */
{
    z += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

typedef struct {
    char text[112];
} url_text;

static bf_key make_url(url_text *to, uint64_t salt, uint64_t i)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    uint64_t r = mix((salt << 32) + i), q = mix(r ^ UINT64_C(0x5555555555555555));
    char name[12] = "";
    int len = 0;
    if (q % 4 == 0) {
        for (int j = 0; j < 11; j++, r /= 62) name[j] = digits[r % 62];
        len = sprintf(to->text,
            "http://v.youku.com/v_show/id_X%s.html?from=y1.2-1-89.%d.%d-1.1-1-1-%d-0", name,
            (int)((q >> 16) % 5 + 1), (int)((q >> 8) % 20 + 1), (int)((q >> 24) % 20));
    } else {
        static const char *const form[] = { NULL, "http://tieba.baidu.com/p/%llu",
            "http://www.youxicheng.net/thyj/xinwen_%llu.html",
            "http://zhidao.baidu.com/question/%llu.html" };
        len = sprintf(to->text, form[q % 4], (unsigned long long)r);
    }
    return (bf_key){ to->text, (size_t)len };
}

/* The sum of what a call answers of the keys from, from + 1 ...; below 0: its error. */
static inline int64_t each_url(bf_filter *f,
    int64_t (*call)(bf_filter *, const bf_key *, size_t, uint8_t *, bf_error *), uint64_t salt,
    uint64_t from, uint64_t count)
{
    enum { AT_ONCE = 1000 };
    static url_text text[AT_ONCE];
    static bf_key key[AT_ONCE];
    int64_t total = 0, hits = 0;
    bf_error e;
    for (uint64_t at = 0, c; at < count && hits >= 0; at += c, total += hits) {
        c = count - at < AT_ONCE ? count - at : AT_ONCE;
        for (uint64_t i = 0; i < c; i++) key[i] = make_url(text + i, salt, from + at + i);
        if ((hits = call(f, key, c, NULL, &e)) < 0) FAILED("%s\n", e.msg);
    }
    return hits < 0 ? hits : total;
}

static size_t from_hex(const char *hex, uint8_t *to)
{
    size_t n = strcmp(hex, "-") ? strlen(hex) / 2 : 0;
    for (size_t i = 0; i < n; i++) {
        unsigned v;
        sscanf(hex + 2 * i, "%2x", &v);
        to[i] = (uint8_t)v;
    }
    return n;
}

/* what = "hex", "rep" or "words"; the bytes are malloc'ed. */
static inline bf_key make_recorded(const char *what, const char *arg, size_t len)
{
    size_t unit = strlen(arg) / 2;
    uint8_t *bytes = malloc((strcmp(what, "hex") ? len : unit) + 8);
    if (!strcmp(what, "hex")) return (bf_key){ bytes, from_hex(arg, bytes) };
    if (!strcmp(what, "rep")) {
        uint8_t *u = malloc(unit + 1);
        from_hex(arg, u);
        for (size_t i = 0; i < len; i++) bytes[i] = u[i % unit];
        free(u);
    } else {
        uint64_t seed = strtoull(arg, NULL, 10);
        for (size_t i = 0; i < len; i++) bytes[i] = (uint8_t)(mix(seed + i / 8) >> (8 * (i % 8)));
    }
    return (bf_key){ bytes, len };
}
#endif
