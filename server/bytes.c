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

bool text_is_nocase(text t, text lower)
{
    if (t.len != lower.len) return false;
    for (size_t i = 0; i < t.len; i++) {
        char c = t.ptr[i];
        if ((c >= 'A' && c <= 'Z' ? c + 32 : c) != lower.ptr[i]) return false;
    }
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

static bool number(text t, double *out)
{
    char copy[64], *end;
    if (t.len == 0 || t.len >= sizeof copy || t.ptr[0] == '+')
        return false; /* a blank in a query */
    for (size_t i = 0; i < t.len; i++)
        if (!memchr("0123456789.eE+-", t.ptr[i], 15)) return false;
    memcpy(copy, t.ptr, t.len);
    copy[t.len] = 0;
    *out = strtod(copy, &end);
    return *end == 0 && isfinite(*out);
}

bool parse_number(text t, double *out) { return number(t, out); }

static uint64_t unit(text *t)
{
    if (t->len == 0) return 1;
    switch (t->ptr[t->len - 1]) {
    case 'k':
    case 'K': t->len--; return UINT64_C(1) << 10;
    case 'm':
    case 'M': t->len--; return UINT64_C(1) << 20;
    case 'g':
    case 'G': t->len--; return UINT64_C(1) << 30;
    default: return 1;
    }
}

bool parse_whole(text t, bool units, uint64_t *out)
{
    uint64_t v = 0, by = units ? unit(&t) : 1;
    double d;
    size_t i = 0;
    for (; i < t.len && t.ptr[i] >= '0' && t.ptr[i] <= '9'; i++) {
        if (v > (UINT64_MAX - 9) / 10) return false;
        v = v * 10 + (uint64_t)(t.ptr[i] - '0');
    }
    if (t.len == 0) return false;
    if (i < t.len) {
        if (!number(t, &d) || d < 0 || d > 9e15 || d != floor(d)) return false;
        v = (uint64_t)d;
    }
    if (v > UINT64_MAX / by) return false;
    *out = v * by;
    return true;
}
