/* redis_oracle.h - a filter in Redis and the oracle are given the same keys: every answer must be
 * the same. */
#ifndef REDIS_ORACLE_H
#define REDIS_ORACLE_H
#include "oracle.h"
#include "redis_filters.h"

enum { MOST = 2100 };

static void batch(bf_filter *f, oracle *o, uint32_t *seed, size_t n)
{
    static o_key text[MOST];
    static bf_key keys[MOST];
    static uint8_t each[MOST], want[MOST];
    int64_t present = 0, fresh = 0;
    for (size_t i = 0; i < n; i++) keys[i] = o_make(text + i, (o_random(seed) >> 8) % 3000, 0);
    for (size_t i = 0; i < n; i++)
        present += want[i] = (uint8_t)o_test(o, keys[i].ptr, keys[i].len);
    CHECK_EQ(bf_test_many(f, keys, n, each, &e), present);
    CHECK(!memcmp(each, want, n));
    for (size_t i = 0; i < n; i++) fresh += want[i] = (uint8_t)o_add(o, keys[i].ptr, keys[i].len);
    if (n == 1)
        CHECK_EQ(each[0] = (uint8_t)bf_add(f, keys[0].ptr, keys[0].len, &e), fresh);
    else
        CHECK_EQ(bf_add_many(f, keys, n, each, &e), fresh);
    CHECK(!memcmp(each, want, n));
    for (size_t i = 0; i < n && i < 20; i++) CHECK_EQ(bf_test(f, keys[i].ptr, keys[i].len, &e), 1);
}
#endif
