/* compact.c - converts a header page to the short header of a compact image (format version 2),
 * and back. A compact header is converted to a page before header.c checks its values.
 *
 *      0 magic 8      8 version u32   12 header bytes u32   16 sum of all bytes from 24 to the end
 *     24 scheme id   28 flags        32 m    40 n    48 k u32    52 bits per cell u32    56 p
 *     64 fields for the flags that are set, 8 bytes each; the scheme's name if it has an argument
 */
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "bits/bits.h"
#include "format/fields.h"

enum { SHARED = AT_BYTES - AT_SCHEME, FIELDS = AT_BYTES, FIELDS_MAX = 4 };
_Static_assert(BF_COMPACT_HEADER == FIELDS + 8 * FIELDS_MAX + BF_SCHEME_BYTES, "the longest");

/* The optional fields of a compact header, in their order. A field is present if one of its flags
 * is set. at, bytes: offset and length of the field in a header page. */
static const struct {
    unsigned flags, at, bytes;
} extra[] = { { FLAG_KEYED, AT_SECRET, 8 }, { FLAG_SHARDED, AT_SHARDS, 4 },
    { BF_FLAG_GROW, AT_GROW, 8 }, { BF_FLAG_WINDOW, AT_WINDOW, 8 },
    { BF_FLAG_WINDOW | BF_FLAG_PART, AT_PARTS, 4 }, { FLAGS_CHAIN, AT_LIVE, 8 } };
enum { EXTRA = sizeof extra / sizeof *extra };

static unsigned fields_bytes(unsigned flags)
{
    unsigned bytes = FIELDS;
    for (unsigned i = 0; i < EXTRA; i++) bytes += flags & extra[i].flags ? 8 : 0;
    return bytes;
}

/* Returns the length of the header. A compact header contains the scheme's name only if the name
 * has an argument. */
uint64_t bf_header_bytes(const bf_params *d, bool compact)
{
    if (!compact) return BF_HEADER;
    const bool own = d->scheme && strcmp(d->name, d->scheme->name) == 0;
    return fields_bytes(bf_header_flags(d)) + (own ? 0 : ((unsigned)strlen(d->name) + 7) / 8 * 8);
}

bool bf_compact_fits(uint64_t bytes) { return bytes < BF_COMPACT_BITS; }

/* Writes the header to `to`. The bits must follow already, because the checksum covers them. */
void bf_compact_pack(uint8_t *to, const uint8_t *page, const bf_params *d, uint64_t bits_bytes)
{
    const unsigned flags = bf_header_flags(d), head = (unsigned)bf_header_bytes(d, true);
    uint8_t *at = to + FIELDS;
    memset(to, 0, head);
    memcpy(to, page, sizeof bf_magic);
    bf_put(to + AT_VERSION, 4, VERSION_COMPACT);
    bf_put(to + AT_HEADER, 4, head);
    memcpy(to + AT_SCHEME, page + AT_SCHEME, SHARED);
    for (unsigned i = 0; i < EXTRA; i++) {
        if (!(flags & extra[i].flags)) continue;
        memcpy(at, page + extra[i].at, extra[i].bytes);
        at += 8;
    }
    if (at < to + head) memcpy(at, d->name, strlen(d->name));
    bf_put(to + AT_SUM, 8, XXH3_64bits(to + AT_SCHEME, head - AT_SCHEME + bits_bytes));
}

bool bf_is_compact(const uint8_t *bytes, uint64_t len)
{
    return len >= AT_HEADER && memcmp(bytes, bf_magic, sizeof bf_magic) == 0 &&
           bf_get(bytes + AT_VERSION, 4) == VERSION_COMPACT;
}

/* Sets *bytes to the number of bytes of bits after the header. The checksum is not checked yet, so
 * m may be any number: returns an error if m is too large for a compact image. */
static int bits_after(const uint8_t *raw, uint64_t *bytes, const char *where, bf_error *err)
{
    const uint64_t m = bf_get(raw + AT_M, 8), cell = bf_get(raw + AT_CELL, 4);
    const bool none = (bf_get(raw + AT_FLAGS, 4) & (BF_FLAG_GROW | BF_FLAG_WINDOW)) != 0;
    *bytes = 0;
    if (none) return 0;
    if (m > BF_COMPACT_BITS * 8 || cell > BF_CELL_BITS ||
        !bf_compact_fits(*bytes = bf_cells_bytes(m * cell)))
        return bf_damaged(err, where, "m is too large for a header without a page");
    return 0;
}

uint64_t bf_header_span(const uint8_t *raw, uint64_t len)
{
    uint64_t bits;
    if (len && memcmp(raw, bf_magic, len < sizeof bf_magic ? len : sizeof bf_magic) != 0) return 0;
    if (len < FIELDS) return FIELDS;
    if (!bf_is_compact(raw, len)) {
        const bool none = (bf_get(raw + AT_FLAGS, 4) & (BF_FLAG_GROW | BF_FLAG_WINDOW)) != 0;
        return len < BF_HEADER ? BF_HEADER : BF_HEADER + (none ? 0 : bf_get(raw + AT_BYTES, 8));
    }
    const uint64_t head = bf_get(raw + AT_HEADER, 4);
    const bool fits = head >= FIELDS && head <= BF_COMPACT_HEADER;
    return fits && bits_after(raw, &bits, "", NULL) == 0 ? head + bits : 0;
}

/* Copies the fields and the name to their offsets in a page. */
static int spread(
    const uint8_t *raw, unsigned head, uint8_t *page, const char *where, bf_error *err)
{
    const unsigned flags = (unsigned)bf_get(raw + AT_FLAGS, 4), fields = fields_bytes(flags);
    const uint8_t *at = raw + FIELDS;
    if (head < fields || head - fields > BF_SCHEME_BYTES || head % 8)
        return bf_damaged(err, where, "bad header size");
    memset(page, 0, BF_HEADER);
    memcpy(page + AT_SCHEME, raw + AT_SCHEME, SHARED);
    for (unsigned i = 0; i < EXTRA; i++) {
        if (!(flags & extra[i].flags)) continue;
        memcpy(page + extra[i].at, at, extra[i].bytes);
        if (bf_get(at, 8) != bf_get(page + extra[i].at, extra[i].bytes))
            return bf_damaged(err, where, "a reserved byte is set");
        at += 8;
    }
    const bf_scheme *s = bf_find_scheme_id((uint32_t)bf_get(raw + AT_SCHEME, 4));
    if (head > fields)
        memcpy(page + AT_NAME, at, head - fields);
    else if (s)
        memcpy(page + AT_NAME, s->name, strlen(s->name));
    bf_put(page + AT_BYTES, 8, bf_cells_bytes(bf_get(raw + AT_M, 8) * bf_get(raw + AT_CELL, 4)));
    return 0;
}

int bf_compact_unpack(const uint8_t *raw, uint64_t len, uint8_t *page, uint64_t *bits,
    const char *where, bf_error *err)
{
    const uint64_t head = len < FIELDS ? 0 : bf_get(raw + AT_HEADER, 4);
    if (len < FIELDS || len < head)
        return bf_fail(err, BF_EFORMAT, "%.80s is truncated: %llu bytes, its header has %llu",
            where, (ull)len, (ull)(head ? head : FIELDS));
    if (head < FIELDS || head > BF_COMPACT_HEADER)
        return bf_fail(err, BF_EFORMAT,
            "%.80s is damaged: a header of format version %d has %d to %d bytes, not %llu", where,
            VERSION_COMPACT, FIELDS, BF_COMPACT_HEADER, (ull)head);
    int rc = bits_after(raw, bits, where, err);
    if (rc < 0) return rc;
    if (len - head < *bits)
        return bf_fail(err, BF_EFORMAT, "%.80s is truncated: %llu bytes, m=%llu needs %llu", where,
            (ull)len, (ull)bf_get(raw + AT_M, 8), (ull)(head + *bits));
    if (bf_get(raw + AT_SUM, 8) != XXH3_64bits(raw + AT_SCHEME, head - AT_SCHEME + *bits))
        return bf_damaged(err, where, "its checksum does not match");
    if ((rc = spread(raw, (unsigned)head, page, where, err)) < 0) return rc;
    bf_header_seal(page, 0, XXH3_64bits(raw + head, *bits));
    return (int)head;
}
