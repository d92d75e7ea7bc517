/* bytes.c - texts, growing buffers, and numbers as text. */
#include "bytes.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

bool text_starts(text t, text prefix)
{
    return t.len >= prefix.len && memcmp(t.ptr, prefix.ptr, prefix.len) == 0;
}
text text_after(text t, size_t n) { return (text){ t.ptr + n, t.len - n }; }

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

bool text_is_nocase(text t, text other)
{
    if (t.len != other.len) return false;
    for (size_t i = 0; i < t.len; i++)
        if (lower(t.ptr[i]) != lower(other.ptr[i])) return false;
    return true;
}

void bytes_clear(void *to, size_t len) { memset(to, 0, len); }

bool buffer_reserve(buffer *b, size_t more)
{
    if (more <= b->cap - b->len && b->cap) return true;
    size_t want = b->len + more, cap = b->cap ? b->cap * 2 : 256;
    if (want < more || want > SIZE_MAX / 4) return false;
    if (cap < want) cap = want;
    char *p = realloc(b->cap ? b->ptr : NULL, cap);
    if (!p) return false;
    if (!b->cap && b->len) memcpy(p, b->ptr, b->len);
    b->ptr = p;
    b->cap = cap;
    return true;
}

bool buffer_add(buffer *b, const void *bytes, size_t len)
{
    if (!buffer_reserve(b, len + !len)) return false;
    if (len) memcpy(b->ptr + b->len, bytes, len);
    b->len += len;
    return true;
}

bool buffer_print(buffer *b, const char *format, ...)
{
    for (size_t room = 256;; room *= 2) {
        va_list args;
        if (!buffer_reserve(b, room)) return false;
        va_start(args, format);
        int n = vsnprintf(b->ptr + b->len, room, format, args);
        va_end(args);
        if (n < 0) return false;
        if ((size_t)n < room) {
            b->len += (size_t)n;
            return true;
        }
    }
}

/* Returns the length in bytes of the UTF-8 sequence at p, or 0 if it is invalid or incomplete. */
static size_t utf8(const unsigned char *p, size_t left)
{
    size_t n = *p < 0x80                 ? 1
               : *p >= 0xC2 && *p < 0xE0 ? 2
               : *p >= 0xE0 && *p < 0xF0 ? 3
               : *p >= 0xF0 && *p < 0xF5 ? 4
                                         : 0;
    if (n == 0 || n > left) return 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xC0) != 0x80) return 0;
    if ((*p == 0xE0 && p[1] < 0xA0) || (*p == 0xED && p[1] > 0x9F)) return 0;
    return (*p == 0xF0 && p[1] < 0x90) || (*p == 0xF4 && p[1] > 0x8F) ? 0 : n;
}

bool buffer_json(buffer *b, text t)
{
    const unsigned char *p = (const unsigned char *)t.ptr, *end = p + t.len;
    bool ok = buffer_add(b, "\"", 1);
    while (ok && p < end) {
        size_t n = utf8(p, (size_t)(end - p));
        if (n == 0) ok = buffer_add(b, "\xEF\xBF\xBD", 3);
        /* terminals execute the C1 control characters, too */
        else if (n == 2 && *p == 0xC2 && p[1] < 0xA0)
            ok = buffer_print(b, "\\u%04x", p[1]);
        else if (*p < 0x20 || *p == '"' || *p == '\\' || *p == 0x7F)
            ok = buffer_print(b, "\\u%04x", *p);
        else
            ok = buffer_add(b, p, n);
        p += n ? n : 1;
    }
    return ok && buffer_add(b, "\"", 1);
}

bool buffer_extend(buffer *b, const char *at, size_t len)
{
    if (!b->cap && !b->len) {
        b->ptr = (char *)at;
        b->len = len;
        return true;
    }
    if (!b->cap && b->ptr + b->len == at) {
        b->len += len;
        return true;
    }
    if (b->cap && b->ptr + b->len == at) { /* received into the free end of this buffer */
        b->len += len;
        return true;
    }
    return buffer_add(b, at, len);
}

bool buffer_own(buffer *b) { return b->cap || !b->len || buffer_reserve(b, 1); }

void buffer_trim(buffer *b)
{
    char *p = b->cap - b->len > (64 << 10) && b->len ? realloc(b->ptr, b->len) : NULL;
    if (p) *b = (buffer){ p, b->len, b->len };
}

void buffer_drop(buffer *b)
{
    if (b->cap) free(b->ptr);
    *b = (buffer){ 0 };
}

/* Removes a suffix from the end of the number, and returns the power of ten that it stands for. */
static int suffix(text *t)
{
    static const struct {
        char letters[3];
        int power;
    } all[] = { { "%%", -2 }, { "kK", 3 }, { "mM", 6 }, { "gG", 9 }, { "tT", 12 } };
    for (size_t i = 0; t->len && i < sizeof all / sizeof *all; i++)
        if (memchr(all[i].letters, t->ptr[t->len - 1], 2)) {
            t->len--;
            return all[i].power;
        }
    return 0;
}

/* strtod() reads the power, too: 0.7 / 100 would not be the number nearest to 0.7 %. */
bool parse_number(text t, double *out)
{
    char copy[64], *end;
    const int power = suffix(&t);
    size_t digits = 0;
    long e = 0;
    if (t.len == 0 || t.len > 40 || t.ptr[0] == '+') return false; /* a blank in a query */
    while (digits < t.len && memchr("0123456789.-", t.ptr[digits], 12)) digits++;
    if (digits < t.len) {
        snprintf(copy, sizeof copy, "%.*s", (int)(t.len - digits - 1), t.ptr + digits + 1);
        e = strtol(copy, &end, 10);
        if ((t.ptr[digits] | 32) != 'e' || !memchr("0123456789+-", *copy, 12) || *end ||
            labs(e) > 999)
            return false;
    }
    snprintf(copy, sizeof copy, "%.*se%ld", (int)digits, t.ptr, e + power);
    *out = strtod(copy, &end);
    return *end == 0 && isfinite(*out);
}

bool parse_whole(text t, uint64_t thousand, uint64_t *out)
{
    const text all = t;
    const int power = suffix(&t);
    uint64_t v = 0, by = 1;
    double d;
    size_t i = 0;
    for (int p = 0; p < power; p += 3) by *= thousand;
    for (; i < t.len && t.ptr[i] >= '0' && t.ptr[i] <= '9'; i++) {
        if (v > (UINT64_MAX - 9) / 10) return false;
        v = v * 10 + (uint64_t)(t.ptr[i] - '0');
    }
    if (t.len == 0 || power < 0) return false;
    if (i < t.len) { /* a fraction or an exponent */
        if (!parse_number(thousand == 1000 ? all : t, &d)) return false;
        if (thousand != 1000) d *= (double)by;
        if (d < 0 || d > 9e15 || d != floor(d)) return false;
        *out = (uint64_t)d;
        return true;
    }
    if (v > UINT64_MAX / by) return false;
    *out = v * by;
    return true;
}
