/* fields.h - offsets of the fields of a header page, and functions that read and write fields.
 * Private to header.c and compact.c; docs/format.md describes the fields. */
#ifndef BF_FIELDS_H
#define BF_FIELDS_H
#include "format/format.h"
#include <string.h>

enum {
    AT_VERSION = 8,
    AT_HEADER = 12,
    AT_SUM = 16,
    AT_SCHEME = 24,
    AT_FLAGS = 28,
    AT_M = 32,
    AT_N = 40,
    AT_K = 48,
    AT_CELL = 52,
    AT_P = 56,
    AT_BYTES = 64,
    AT_SECRET = 72,
    AT_NAME = 80,
    AT_GAP = AT_NAME + BF_SCHEME_BYTES,
    AT_SHARDS = 192,
    AT_REST = 196,
    AT_GROW = AT_GAP,
    AT_WINDOW = AT_GROW + 8,
    AT_PARTS = AT_WINDOW + 8,
    AT_CHAIN_REST = AT_PARTS + 4,
    AT_DIRTY = 2048,
    AT_CLEAN = 2056,
    AT_ONES = 2064,
    AT_BITS_SUM = 2072,
    AT_LIVE = 2080,
    AT_PAGE_SUM = 4088,
    VERSION = 1,
    VERSION_COMPACT = 2,
    FLAG_KEYED = 1,
    FLAG_SHARDED = 16,
    FLAGS_CHAIN = BF_FLAG_GROW | BF_FLAG_WINDOW | BF_FLAG_PART
};
/* As in PNG: the first byte is not ASCII, CR LF and LF detect a conversion of line ends, and 0x1A
 * stops the command `type` of Windows. */
static const uint8_t bf_magic[8] = { 0x8B, 'B', 'L', 'M', '\r', '\n', 0x1A, '\n' };

static inline int bf_damaged(bf_error *err, const char *where, const char *what)
{
    return bf_fail(err, BF_EFORMAT, "%.80s is damaged: %s", where, what);
}
static inline void bf_put(uint8_t *p, unsigned bytes, uint64_t v)
{
    for (unsigned i = 0; i < bytes; i++) p[i] = (uint8_t)(v >> (8 * i));
}
static inline uint64_t bf_get(const uint8_t *p, unsigned bytes)
{
    uint64_t v = 0;
    for (unsigned i = bytes; i-- > 0;) v = v << 8 | p[i];
    return v;
}
static inline uint64_t bf_double_bits(double d)
{
    uint64_t v;
    memcpy(&v, &d, sizeof v);
    return v;
}
static inline double bf_double_of(uint64_t v)
{
    double d;
    memcpy(&d, &v, sizeof d);
    return d;
}
static inline uint64_t bf_cells_bytes(uint64_t bits) { return (bits + 63) / 64 * 8; }
/* Encodes sequence number n with ~n as a check. One flipped bit makes the code invalid, so it never
 * makes a dirty page appear clean. */
static inline uint64_t bf_sequence(uint32_t n) { return (uint64_t)~n << 32 | n; }

#endif
