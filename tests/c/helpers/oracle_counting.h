/* oracle_counting.h - a naive counting filter: a byte a counter, a key's positions once each; and
 * an exact multiset with random adds and removes in it. */
#ifndef ORACLE_COUNTING_H
#define ORACLE_COUNTING_H
#include "check.h"
#include "oracle.h"

/* A key's positions, each once; how many. */
static unsigned oc_positions(const oracle *o, bf_key key, uint64_t *pos)
{
    unsigned n = 0;
    o_positions(o, key.ptr, key.len, pos);
    for (unsigned i = 0, j; i < o->k; i++) {
        for (j = 0; j < n && pos[j] != pos[i]; j++) {}
        if (j == n) pos[n++] = pos[i];
    }
    return n;
}

static inline unsigned oc_count(const oracle *o, bf_key key)
{
    uint64_t pos[BF_K_MAX];
    unsigned n = oc_positions(o, key, pos), least = 15;
    for (unsigned j = 0; j < n; j++)
        if (o->cells[pos[j]] < least) least = o->cells[pos[j]];
    return least;
}

static inline int oc_add(oracle *o, bf_key key)
{
    uint64_t pos[BF_K_MAX];
    int fresh = oc_count(o, key) == 0;
    for (unsigned n = oc_positions(o, key, pos), j = 0; j < n; j++)
        o->cells[pos[j]] += o->cells[pos[j]] < 15;
    return fresh;
}

static inline int oc_remove(oracle *o, bf_key key)
{
    uint64_t pos[BF_K_MAX];
    if (oc_count(o, key) == 0) return 0;
    for (unsigned n = oc_positions(o, key, pos), j = 0; j < n; j++)
        o->cells[pos[j]] -= o->cells[pos[j]] < 15;
    return 1;
}

static inline uint8_t *oc_read(bf_filter *f, bf_info *i)
{
    bf_get_info(f, i);
    uint8_t *bytes = calloc(1, i->bitset_bytes);
    if (bf_read_bits(f, 0, bytes, i->bitset_bytes, NULL) < 0) failed_here++;
    return bytes;
}
static inline unsigned oc_at(const uint8_t *bytes, uint64_t q)
{
    return q % 2 ? bytes[q / 2] & 15 : bytes[q / 2] >> 4;
}

static inline void oc_same(bf_filter *f, const oracle *o, const char *home)
{
    bf_info i;
    uint8_t *bytes = oc_read(f, &i);
    CHECK_EQ(i.bitset_bytes, (i.m + 1) / 2);
    for (uint64_t q = 0; q < i.m; q++)
        if (oc_at(bytes, q) != o->cells[q]) {
            FAILED("%s %s: counter %llu is %u, expected %u\n", o->scheme, home,
                (unsigned long long)q, oc_at(bytes, q), o->cells[q]);
            break;
        }
    free(bytes);
}

/* `steps` adds and removes of random keys, one by one or `batch` at a time, against how often each
 * was really added.  Keys that were not are removed as well: the filter must be so large that none
 * of them looks as if. */
static inline void oc_multiset(bf_filter *f, unsigned steps, unsigned batch, uint32_t seed)
{
    enum { KEYS = 2000, BATCH = 500 };
    static unsigned exact[KEYS];
    static char text[BATCH][16];
    unsigned numbers[BATCH], wrong = 0, missed = 0, low = 0;
    uint8_t each[BATCH];
    bf_key keys[BATCH];
    bf_error e = { 0 };
    memset(exact, 0, sizeof exact);
    for (unsigned s = 0; s < steps && wrong == 0; s += batch) {
        /* More removes in every second stretch: keys come and go. */
        bool add = o_random(&seed) >> 16 & 1 || (s / 5000 % 2 == 0 && o_random(&seed) >> 16 & 1);
        for (unsigned i = 0; i < batch; i++) {
            numbers[i] = (o_random(&seed) >> 8) % KEYS;
            keys[i] = (bf_key){ text[i], (size_t)sprintf(text[i], "m%u", numbers[i]) };
        }
        if (batch == 1)
            each[0] = (uint8_t)(add ? bf_add(f, keys[0].ptr, keys[0].len, &e)
                                    : bf_remove(f, keys[0].ptr, keys[0].len, &e));
        else if ((add ? bf_add_many(f, keys, batch, each, &e)
                      : bf_remove_many(f, keys, batch, each, &e)) < 0)
            wrong++;
        for (unsigned i = 0; i < batch; i++) {
            unsigned *n = exact + numbers[i];
            if (each[i] != (add ? *n == 0 : *n > 0)) wrong++;
            if (add) {
                if (*n < 15) ++*n;
            } else if (*n > 0 && *n < 15)
                --*n;
            if (batch == 1) low += bf_count_of(f, keys[i].ptr, keys[i].len, &e) < (int)*n;
        }
    }
    for (unsigned i = 0; i < KEYS; i++) {
        char t[16];
        size_t len = (size_t)sprintf(t, "m%u", i);
        missed += exact[i] > 0 && bf_test(f, t, len, &e) != 1;
        low += bf_count_of(f, t, len, &e) < (int)exact[i];
    }
    CHECK_EQ(wrong, 0);
    CHECK_EQ(missed, 0);
    CHECK_EQ(low, 0);
    if (wrong) fprintf(stderr, "%s\n", e.msg);
}
#endif
