/* foreign.c - reads and writes filters in the formats of other systems: Guava's writeTo, bits alone
 * in either order, one byte per cell; redisbloom.c has RedisBloom's. The caller gives the
 * parameters that the data lacks.
 *
 *   guava   1 byte strategy (0 = MITZ_32, 1 = MITZ_64), 1 byte k, 4 bytes number of longs, then the
 *           longs; all big-endian. Bit i is long i/64 >> (i % 64) & 1: byte b of our word is byte
 *           7-b of the long, with its bits in reverse order */
#include "parts/parts.h"
#include "sets/sets.h"
#include <stdlib.h>
#include <string.h>

enum { GUAVA_HEAD = 6, LONG = 8 };
typedef struct {
    const char *name;
    unsigned head;  /* bytes before the bits */
    unsigned flip;  /* byte i in our format is byte i ^ flip in that format */
    bool lsb_first; /* bit i is 1 << (i % 8) of its byte                      */
    bool cells;     /* one byte per cell, which may be a count; can only be read */
} format;
static const format formats[] = { { "guava", GUAVA_HEAD, LONG - 1, true, false },
    { "bits", 0, 0, false, false }, { "bits-lsb", 0, 0, true, false },
    { "cells", 0, 0, false, true }, { NULL, 0, 0, false, false } };

static uint8_t reversed_bits(uint8_t b)
{
    b = (uint8_t)((b & 0xF0) >> 4 | (b & 0x0F) << 4);
    b = (uint8_t)((b & 0xCC) >> 2 | (b & 0x33) << 2);
    return (uint8_t)((b & 0xAA) >> 1 | (b & 0x55) << 1);
}

void bf_reverse_bytes(const void *from, void *to, size_t len)
{
    const uint8_t *f = from;
    uint8_t *t = to;
    for (size_t i = 0; i < len; i++) t[i] = reversed_bits(f[i]);
}

/* Converts bits from a format to ours, or back. */
static void copy_bits(const format *as, const uint8_t *from, uint8_t *to, size_t len)
{
    if (as->lsb_first && !as->flip)
        bf_reverse_bytes(from, to, len);
    else if (as->lsb_first)
        for (size_t i = 0; i < len; i++) to[i ^ as->flip] = reversed_bits(from[i]);
    else if (len)
        memcpy(to, from, len);
}

/* ---- Guava ---- */
/* Checks the header, and sets scheme, m and k of spec from the header. */
static int read_guava_head(const uint8_t *from, size_t len, bf_spec *spec, bf_error *err)
{
    bf_params d;
    if (len < GUAVA_HEAD)
        return bf_fail(
            err, BF_EFORMAT, "the data is not a Guava filter: %zu bytes, its header has 6", len);
    const uint64_t longs = (uint64_t)from[2] << 24 | from[3] << 16 | from[4] << 8 | from[5];
    if (from[0] > 1)
        return bf_fail(err, BF_EFORMAT,
            "the data is not a Guava filter: its strategy must be 0 or 1, got %u", from[0]);
    if (from[1] < 1 || longs < 1 || longs > INT32_MAX)
        return bf_fail(err, BF_EFORMAT, "the data is not a Guava filter: k=%u, %llu longs", from[1],
            (ull)longs);
    if (len != GUAVA_HEAD + longs * LONG)
        return bf_fail(err, BF_EFORMAT, "wrong length: %zu bytes, %llu longs need %llu", len,
            (ull)longs, (ull)(GUAVA_HEAD + longs * LONG));
    if (!spec->scheme) spec->scheme = from[0] ? "guava" : "guava32";
    int rc = bf_find_scheme(&d, spec->scheme, NULL, err);
    if (rc < 0) return rc;
    if (strcmp(d.scheme->layout->name, from[0] ? "mitz64" : "mitz32"))
        return bf_fail(err, BF_EMISMATCH,
            "the data has Guava's strategy MITZ_%d, asked for scheme %s", from[0] ? 64 : 32,
            d.name);
    if (spec->m && (spec->m + 63) / 64 != longs)
        return bf_fail(err, BF_EMISMATCH, "the data has m=%llu, asked for m=%llu", (ull)longs * 64,
            (ull)spec->m);
    if (spec->k && spec->k != from[1])
        return bf_fail(err, BF_EMISMATCH, "the data has k=%u, asked for k=%u", from[1], spec->k);
    spec->m = longs * 64;
    spec->k = from[1];
    return 0;
}

/* Converts len cells; `bits` is all zeros before. Counts above 15 become 15. */
static void copy_cells(const bf_filter *f, const uint8_t *from, size_t len, uint8_t *bits)
{
    for (size_t i = 0; i < len; i++)
        if (f->bitmap.g.counting)
            bits[i / 2] |=
                (uint8_t)((from[i] < BF_CELL_MAX ? from[i] : BF_CELL_MAX) << (i % 2 ? 0 : 4));
        else if (from[i])
            bits[i / 8] |= (uint8_t)(0x80 >> (i % 8));
}

/* ---- all formats ---- */
static bool is_redisbloom(const char *name) { return !strcmp(name, "redisbloom"); }

static const format *find_format(const char *name, bool write, bf_error *err)
{
    const format *f = formats;
    while (f->name && strcmp(f->name, name)) f++;
    if (f->name && !(f->cells && write)) return f;
    bf_fail(err, BF_EINVAL, "format must be one of guava, redisbloom, bits, bits-lsb%s, got %.40s",
        write ? "" : ", cells", name);
    return NULL;
}

static int refuse_counters(bool counting, bf_error *err)
{
    if (!counting) return 0;
    return bf_fail(err, BF_ENOTSUP,
        "other systems' formats hold bits, not counters: convert to a plain filter first");
}

static int refuse_parts(const bf_spec *spec, const char *name, bf_error *err)
{
    if (spec->grow == 0 && spec->window == 0 && !spec->clock) return 0;
    return bf_fail(err, BF_EINVAL,
        "format %.20s is for filters of fixed size: %s must not be given", name,
        spec->grow != 0     ? "grow"
        : spec->window != 0 ? "window"
                            : "clock");
}

static int64_t bytes_as(bf_filter *f, const char *name, bf_error *err)
{
    if (!name) return bf_image_length(f, err);
    if (is_redisbloom(name)) return bf_redisbloom_bytes(f, err);
    const format *as = find_format(name, true, err);
    if (!as) return BF_EINVAL;
    if (f->variant->many)
        return bf_fail(err, BF_EINVAL,
            "format %.20s is for filters of fixed size: "
            "a filter that grows or forgets has only its own format",
            name);
    if (refuse_counters(f->bitmap.g.counting, err) < 0) return BF_ENOTSUP;
    if (as->head && strcmp(f->desc.scheme->layout->name, "mitz64") &&
        strcmp(f->desc.scheme->layout->name, "mitz32"))
        return bf_fail(err, BF_EINVAL,
            "format guava is for the schemes guava, guava-31 and guava32, got a filter of scheme "
            "%s",
            f->desc.name);
    return (int64_t)(as->head + (f->bitmap.g.m + 7) / 8);
}

int64_t bf_bytes_as(bf_filter *f, const char *format, bf_error *err)
{
    BF_CALL(f, NULL, entered);
    return bytes_as(f, format, err);
}

int bf_to_bytes_as(bf_filter *f, const char *name, void *buf, uint64_t cap, bf_error *err)
{
    BF_CALL(f, NULL, entered);
    uint64_t *w, *copy;
    if (!name) return bf_image_to(f, buf, cap, err);
    if (is_redisbloom(name)) return bf_redisbloom_write(f, buf, cap, err);
    const int64_t need = bytes_as(f, name, err);
    if (need < 0) return (int)need;
    if (cap < (uint64_t)need)
        return bf_fail(
            err, BF_EINVAL, "cap must be at least %lld bytes, got %llu", (long long)need, (ull)cap);
    int rc = bf_fixed_words(f, "be written out", &w, &copy, err);
    if (rc < 0) return rc;
    const format *as = find_format(name, true, NULL);
    if (as->head) {
        uint8_t *head = buf;
        head[0] = !strcmp(f->desc.scheme->layout->name, "mitz64");
        head[1] = (uint8_t)f->bitmap.g.k;
        for (unsigned i = 0; i < 4; i++)
            head[2 + i] = (uint8_t)(f->bitmap.g.m / 64 >> (24 - 8 * i));
    }
    copy_bits(as, (const uint8_t *)w, (uint8_t *)buf + as->head, (size_t)need - as->head);
    free(copy);
    return 0;
}

/* Refuses data with bits set after bit m - 1. */
static int check_tail(const bf_filter *f, bf_error *err)
{
    const uint64_t m = f->bitmap.g.m;
    if (f->bitmap.g.counting || m % 8 == 0 ||
        !(((const uint8_t *)f->bitmap.store.words)[m / 8] & (0xFF >> m % 8)))
        return 0;
    return bf_fail(err, BF_EFORMAT, "the data has a bit set past m=%llu", (ull)m);
}

bf_filter *bf_from_bytes_as(
    const void *data, size_t len, const char *name, const bf_spec *expect, bf_error *err)
{
    if (!name) return bf_from_bytes(data, len, expect, err);
    if (is_redisbloom(name)) return bf_redisbloom_read(data, len, expect, err);
    const format *as = find_format(name, false, err);
    bf_spec spec = expect ? *expect : (bf_spec){ 0 };
    spec.storage = NULL;
    bf_params d;
    if (!as || refuse_parts(&spec, name, err) < 0 ||
        refuse_counters(spec.counting && !as->cells, err) < 0)
        return NULL;
    if (as->head && read_guava_head(data, len, &spec, err) < 0) return NULL;
    if (!spec.scheme && !spec.functions) {
        bf_fail(err, BF_EINVAL, "raw bits do not contain their scheme: scheme must be given");
        return NULL;
    }
    if (bf_size(&d, &spec, 0, err) < 0) return NULL;
    const uint64_t needs = as->cells ? d.g.m : as->head + (d.g.m + 7) / 8;
    if (len > needs || (as->cells && len < needs)) {
        bf_fail(err, BF_EFORMAT, "wrong length: %zu bytes, m=%llu needs %llu", len, (ull)d.g.m,
            (ull)needs);
        return NULL;
    }
    bf_filter *f = bf_new_like(&d, &spec, err);
    if (!f) return NULL;
    uint8_t *bits = (uint8_t *)f->bitmap.store.words;
    if (as->cells)
        copy_cells(f, data, len, bits);
    else
        copy_bits(as, len ? (const uint8_t *)data + as->head : NULL, bits, len - as->head);
    if (check_tail(f, err) == 0) return f;
    bf_close(f);
    return NULL;
}
