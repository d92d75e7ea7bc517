/* hash_runs.h - a hash of runs of keys, which has a way of its own for several keys at once,
 * against the same one key a call: mixtures, and keys beside pages that may not be touched. */
#ifndef HASH_RUNS_H
#define HASH_RUNS_H
#include "../../../core/hash/hash.h"
#include "check.h"
#include "xorshift.h"

enum { RUN_LONGEST = 1100, RUN_MOST = 64 };
static uint8_t run_text[RUN_LONGEST + RUN_MOST], run_secret[BF_SECRET_BYTES];
static const bf_hash *run_hash, *run_alone;

static inline void fill_text(void)
{
    for (size_t i = 0; i < sizeof run_text; i++) run_text[i] = (uint8_t)(next() >> 32);
    for (size_t i = 0; i < sizeof run_secret; i++) run_secret[i] = (uint8_t)(next() >> 32);
}
static inline void agree(const bf_key *keys, size_t n)
{
    uint64_t digests[RUN_MOST + 1], alone;
    digests[n] = 42;
    run_hash->run(run_secret, keys, n, digests);
    for (size_t i = 0; i < n; i++) {
        run_alone->one(run_secret, keys[i].ptr, keys[i].len, &alone);
        CHECK_EQ(digests[i], alone);
    }
    CHECK_EQ(digests[n], 42);
}
static inline void random_mixtures(int rounds, size_t most)
{
    static const size_t ranges[][2] = { { 17, 64 }, { 17, 96 }, { 17, 128 }, { 20, 79 }, { 0, 140 },
        { 16, 129 }, { 33, 64 }, { 8, 300 }, { 0, RUN_LONGEST } };
    for (int round = 0; round < rounds; round++) {
        const size_t *of = ranges[next() % COUNT(ranges)], n = next() % (most + 1);
        bf_key keys[RUN_MOST];
        if (round % 100 == 0) fill_text();
        for (size_t i = 0; i < n; i++)
            keys[i] =
                (bf_key){ run_text + next() % RUN_MOST, of[0] + next() % (of[1] - of[0] + 1) };
        agree(keys, n);
    }
}
/* A page that may not be touched lies right before and right behind the keys. */
static inline void nothing_beyond_the_ends(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *pages = mmap(NULL, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED);
    CHECK_EQ(mprotect(pages + page, page, PROT_READ | PROT_WRITE), 0);
    for (size_t len = 0; len <= 128; len++)
        for (size_t step = 0; step <= 37; step += step ? 36 : 1) {
            bf_key keys[8];
            for (size_t i = 0; i < 8; i++) {
                const size_t l = (len + i * step) % 192;
                keys[i] = (bf_key){ i % 2 ? pages + page : pages + 2 * page - l, l };
            }
            agree(keys, 8);
            agree(keys, 3);
        }
    munmap(pages, 3 * page);
}
#endif
