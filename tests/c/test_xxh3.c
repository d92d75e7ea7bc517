/* test_xxh3.c - XXH3 of whole runs of keys, which masks what texts of several lengths do not have,
 * against the library's own function: every length alone, every mixture, nothing read beyond a
 * key's ends.  About core/hash/xxh3.c. */
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "hash_runs.h"

extern const bf_hash bf_hash_xxh3;
static void own(const void *secret, const void *key, size_t len, uint64_t *digest)
{
    uint64_t alone;
    bf_hash_xxh3.one(NULL, key, len, &alone);
    *digest = XXH3_64bits(key, len);
    CHECK_EQ(alone, *digest);
}

TEST(every_length_beside_every_other)
{
    static const bf_hash library = { .one = own };
    run_hash = &bf_hash_xxh3;
    run_alone = &library;
    fill_text();
    for (size_t a = 0; a <= RUN_LONGEST; a++)
        for (size_t b = a < 140 ? 0 : a - 1; b <= 140 || b <= a; b++)
            agree((bf_key[]){ { run_text, a }, { run_text + 3, b } }, 2);
}
TEST(mixtures) { random_mixtures(SHORT(20000, 500), RUN_MOST); }
TEST(ends) { nothing_beyond_the_ends(); }

int main(void) { return main_of_tests(); }
