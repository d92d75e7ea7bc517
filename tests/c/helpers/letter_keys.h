/* letter_keys.h - keys of a letter and a number, and batches of them, for who has a bf_error e. */
#ifndef LETTER_KEYS_H
#define LETTER_KEYS_H
#include "../../../core/bloomfilter.h"

static inline unsigned parts_of(const bf_filter *f)
{
    const bf_info i = info_of(f);
    return i.part_count;
}

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

enum { BATCH = 1777 }; /* several spans, and no multiple of one */
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
#endif
