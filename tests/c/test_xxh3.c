/* test_xxh3.c - XXH3 of whole runs of keys, which masks what texts of several lengths do not have,
 * against the library's own function: every length alone, every mixture, nothing read beyond a
 * key's ends.  About core/hash/xxh3.c. */
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "../../core/hash/hash.h"
#include "check.h"
#include "xorshift.h"

enum { LONGEST = 1100, KEYS = 64 };
extern const bf_hash bf_hash_xxh3;
static uint8_t text[LONGEST + KEYS];

static void agree(const bf_key *keys, size_t n)
{
    uint64_t digests[KEYS + 1], alone;
    digests[n] = 42;
    bf_hash_xxh3.run(NULL, keys, n, digests);
    for (size_t i = 0; i < n; i++) {
        CHECK_EQ(digests[i], XXH3_64bits(keys[i].ptr, keys[i].len));
        bf_hash_xxh3.one(NULL, keys[i].ptr, keys[i].len, &alone);
        CHECK_EQ(alone, digests[i]);
    }
    CHECK_EQ(digests[n], 42);
}

static void fill(void)
{
    for (size_t i = 0; i < sizeof text; i++) text[i] = (uint8_t)(next() >> 32);
}

TEST(every_length_beside_every_other)
{
    fill();
    for (size_t a = 0; a <= LONGEST; a++)
        for (size_t b = a < 140 ? 0 : a - 1; b <= 140 || b <= a; b++)
            agree((bf_key[]){ { text, a }, { text + 3, b } }, 2);
}

TEST(random_mixtures)
{
    static const size_t ranges[][2] = { { 17, 64 }, { 17, 96 }, { 17, 128 }, { 20, 79 }, { 0, 140 },
        { 16, 129 }, { 33, 64 }, { 0, LONGEST } };
    for (int round = 0; round < SHORT(20000, 500); round++) {
        const size_t *of = ranges[next() % (COUNT(ranges))];
        bf_key keys[KEYS];
        size_t n = next() % (KEYS + 1);
        if (round % 100 == 0) fill();
        for (size_t i = 0; i < n; i++)
            keys[i] = (bf_key){ text + next() % KEYS, of[0] + next() % (of[1] - of[0] + 1) };
        agree(keys, n);
    }
}

/* A page that may not be touched lies right before and right behind the keys. */
TEST(nothing_beyond_the_ends)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *pages = mmap(NULL, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED);
    CHECK_EQ(mprotect(pages + page, page, PROT_READ | PROT_WRITE), 0);
    for (size_t len = 17; len <= 128; len++)
        for (size_t other = 17; other <= 128; other += 37)
            agree((bf_key[]){ { pages + page, len }, { pages + 2 * page - len, len },
                      { pages + page, other } },
                3);
    munmap(pages, 3 * page);
}

int main(void) { return main_of_tests(); }
