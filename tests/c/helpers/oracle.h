/* oracle.h - a naive filter: one byte a cell, positions by the formulas of docs/design.md written a
 * second time, no batches, no words, no masks.  And keys: "u<number>" with a few awkward ones
 * between. */
#ifndef ORACLE_H
#define ORACLE_H
#include "../../../core/bloomfilter_host.h"
#include "check.h"
#include <xxhash.h>

typedef struct {
    const char *scheme;
    uint64_t m;
    unsigned k;
    uint8_t *cells;
    const bf_filter *older; /* a scheme of an older system: positions from its hashcode, which
                               test_vectors.c checks */
    unsigned shards;        /* 0 is 1 */
} oracle;

#ifdef __SIZEOF_INT128__
static uint64_t o_hi(uint64_t a, uint64_t b)
{
    return (uint64_t)(((unsigned __int128)a * b) >> 64);
}
#else /* as it is learnt at school, bit by bit */
static uint64_t o_hi(uint64_t a, uint64_t b)
{
    uint64_t high = 0, low = 0;
    for (int i = 63; i >= 0; i--) {
        high = high << 1 | low >> 63;
        low <<= 1;
        if (b >> i & 1) {
            low += a;
            high += low < a;
        }
    }
    return high;
}
#endif
static uint64_t o_mum(uint64_t a, uint64_t b) { return o_hi(a, b) ^ (a * b); }
static const uint64_t O_1 = UINT64_C(0x9E3779B97F4A7C15), O_2 = UINT64_C(0xE7037ED1A0B428DB);

static unsigned o_line(uint64_t line, uint64_t g, unsigned k, uint64_t *pos)
{
    uint64_t second = o_mum(g, O_2);
    for (unsigned j = 0; j < k; j++) {
        uint64_t word = ((g >> 61) + j) % 8, bits = j < 8 ? g : second;
        pos[j] = line * 512 + ((word * 64 + (bits >> (6 * word)) % 64) ^ 7);
    }
    return k;
}

static void o_unsharded(
    const oracle *o, uint64_t h, uint64_t g, uint64_t m, uint64_t lines, uint64_t *pos)
{
    if (!strcmp(o->scheme, "block2")) {
        uint64_t h2 = o_mum(h, O_2), a = o_hi(h, lines), b = (a + 1 + o_hi(h2, lines - 1)) % lines;
        unsigned half = o_line(a, g, (o->k + 1) / 2, pos);
        o_line(b, o_mum(h2, O_1), o->k / 2, pos + half);
        return;
    }
    for (unsigned j = 0; j < o->k; j++) {
        pos[j] = o_hi(h, m);
        h += g;
        g += (j + 1) * O_2;
    }
}

static void o_positions(const oracle *o, const void *key, size_t len, uint64_t *pos)
{
    if (o->older) {
        bf_hashcode(o->older, key, len, pos, o->k, NULL);
        return;
    }
    uint64_t h = XXH3_64bits(key, len), g = o_mum(h, O_1), lines = o->m / 512, m = o->m;
    if (!strcmp(o->scheme, "block")) {
        o_line(o_hi(h, lines), g, o->k, pos);
        return;
    }
    if (o->shards > 1) {
        m /= o->shards;
        lines /= o->shards;
        uint64_t start = o_hi(h, o->shards) * m;
        h *= o->shards;
        g = o_mum(h, O_1);
        o_unsharded(o, h, g, m, lines, pos);
        for (unsigned j = 0; j < o->k; j++) pos[j] += start;
        return;
    }
    o_unsharded(o, h, g, m, lines, pos);
}

static inline int o_test(const oracle *o, const void *key, size_t len)
{
    uint64_t pos[BF_K_MAX];
    o_positions(o, key, len, pos);
    for (unsigned j = 0; j < o->k; j++)
        if (!o->cells[pos[j]]) return 0;
    return 1;
}

static inline int o_add(oracle *o, const void *key, size_t len)
{
    uint64_t pos[BF_K_MAX];
    int fresh = !o_test(o, key, len);
    o_positions(o, key, len, pos);
    for (unsigned j = 0; j < o->k; j++) o->cells[pos[j]] = 1;
    return fresh;
}

/* The same cells behind the core's client callback. */
static inline int o_apply(
    void *ctx, int op, const uint64_t *pos, size_t nkeys, unsigned k, uint8_t *present)
{
    uint8_t *cells = ctx;
    for (size_t i = 0; i < nkeys; i++, pos += k) {
        present[i] = 1;
        for (unsigned j = 0; j < k; j++) present[i] &= cells[pos[j]];
        if (op == BF_OP_ADD)
            for (unsigned j = 0; j < k; j++) cells[pos[j]] = 1;
    }
    return 0;
}

typedef struct {
    char text[1100];
    size_t len;
} o_key;
static inline uint32_t o_random(uint32_t *s) { return *s = *s * 1103515245 + 12345; }
static inline bf_key o_make(o_key *k, uint32_t number, int text)
{
    if (number % 97 == 0) {
        k->len = number % 1024;
        memset(k->text, (int)number & (text ? 127 : 255), k->len);
    } /* 0 to 1023 equal bytes */
    else if (number % 89 == 0)
        k->len = (size_t)sprintf(k->text, "a%cb%u", 0, number);
    else
        k->len = (size_t)sprintf(k->text, "u%u", number);
    return (bf_key){ k->len ? k->text : NULL, k->len };
}
/* The filter's bits, to be freed; each must be the oracle's. */
static inline uint8_t *o_same_bits(bf_filter *f, const oracle *o, const char *where)
{
    bf_info i;
    bf_error e;
    bf_get_info(f, &i);
    uint8_t *bits = calloc(1, i.bitset_bytes);
    CHECK_EQ(bf_read_bits(f, 0, bits, i.bitset_bytes, &e), 0);
    for (uint64_t q = 0; q < i.m; q++)
        if ((bits[q / 8] >> (7 - q % 8) & 1) != o->cells[q]) {
            FAILED(
                "%s/%u %s: bit %llu differs\n", o->scheme, i.shards, where, (unsigned long long)q);
            break;
        }
    return bits;
}
#endif
