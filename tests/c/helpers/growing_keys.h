/* growing_keys.h - what the tests of growing filters share: a folder, keys of a letter and a
 * number, batches of them, rates. */
#ifndef GROWING_KEYS_H
#define GROWING_KEYS_H
#include "must.h"
#include <math.h>
#include <unistd.h>

static char folder[] = "/tmp/bf-grow-XXXXXX", path[64];
#define OPEN(...) must(bf_open(&(bf_spec){ __VA_ARGS__ }, &e), __LINE__)
static inline unsigned parts_of(const bf_filter *f)
{
    bf_info i;
    bf_get_info(f, &i);
    return i.part_count;
}

/* ---- keys: numbers with a letter before them ---- */
typedef struct {
    char text[24];
} name;
static bf_key key_of(name *t, char kind, uint64_t i)
{
    return (bf_key){ t->text, (size_t)sprintf(t->text, "%c%llu", kind, (unsigned long long)i) };
}
static inline int add(bf_filter *f, char kind, uint64_t i)
{
    name t;
    bf_key k = key_of(&t, kind, i);
    return bf_add(f, k.ptr, k.len, &e);
}
static inline int has(bf_filter *f, char kind, uint64_t i)
{
    name t;
    bf_key k = key_of(&t, kind, i);
    return bf_test(f, k.ptr, k.len, &e);
}

enum { BATCH = 777 };
static int64_t many(bf_filter *f, bool adds, char kind, uint64_t from, size_t n, uint8_t *each)
{
    static name t[BATCH];
    static bf_key k[BATCH];
    int64_t sum = 0;
    for (size_t at = 0, c; at < n; at += c) {
        c = n - at < BATCH ? n - at : BATCH;
        for (size_t i = 0; i < c; i++) k[i] = key_of(t + i, kind, from + at + i);
        int64_t rc = (adds ? bf_add_many : bf_test_many)(f, k, c, each ? each + at : NULL, &e);
        if (rc < 0) return rc;
        sum += rc;
    }
    return sum;
}
static void rate_is(bf_filter *f, double p, uint64_t probes)
{
    double hits = (double)many(f, false, 'x', 0, probes, NULL), mean = p * (double)probes;
    CHECK(hits <= mean + 5 * sqrt(mean) + 5);
    if (hits > mean + 5 * sqrt(mean) + 5)
        fprintf(stderr, "     rate %g, asked for %g\n", hits / (double)probes, p);
}
#endif
