/* test_siphash.c - SipHash of eight keys at once against libsodium's, a key a call: every length
 * beside every other, and mixtures.  About core/hash/siphash.c. */
#include "../../core/hash/hash.h"
#include "check.h"
#include "optional.h"
#include "xorshift.h"

enum { LONGEST = 300, KEYS = 40 };
extern const bf_hash bf_hash_siphash;
static const bf_hash *hash;
static uint8_t text[LONGEST + KEYS], secret[BF_SECRET_BYTES];

static void agree(const bf_key *keys, size_t n)
{
    uint64_t digests[KEYS + 1], alone;
    digests[n] = 42;
    hash->run(secret, keys, n, digests);
    for (size_t i = 0; i < n; i++) {
        bf_hash_siphash.one(secret, keys[i].ptr, keys[i].len, &alone);
        CHECK_EQ(digests[i], alone);
    }
    CHECK_EQ(digests[n], 42);
}

/* What this machine has not is another's: that agrees too. */
static void begin(void)
{
    for (size_t i = 0; i < sizeof text; i++) text[i] = (uint8_t)(next() >> 32);
    for (size_t i = 0; i < sizeof secret; i++) secret[i] = (uint8_t)(next() >> 32);
    hash = bf_hash_siphash.best ? bf_hash_siphash.best() : &bf_hash_siphash;
}

TEST(every_length_in_every_lane)
{
    NEEDS_SODIUM;
    begin();
    for (size_t len = 0; len <= LONGEST; len++)
        for (size_t lane = 0; lane < 8; lane++) {
            bf_key keys[8];
            for (size_t i = 0; i < 8; i++)
                keys[i] = (bf_key){ text + i, i == lane ? len : 8 + next() % 80 };
            agree(keys, 8);
            for (size_t i = 0; i < 8; i++) keys[i].len = len;
            agree(keys, 8);
        }
}

TEST(random_mixtures)
{
    NEEDS_SODIUM;
    begin();
    for (int round = 0; round < SHORT(5000, 200); round++) {
        bf_key keys[KEYS];
        const size_t n = next() % (KEYS + 1), most = 1 + next() % (LONGEST - 8);
        for (size_t i = 0; i < n; i++)
            keys[i] = (bf_key){ text + next() % KEYS, (round % 2 ? 8 : 0) + next() % most };
        agree(keys, n);
    }
}

/* A page that may not be touched lies right before and right behind the keys. */
TEST(nothing_beyond_the_ends)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    NEEDS_SODIUM;
    begin();
    uint8_t *pages = mmap(NULL, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED);
    CHECK_EQ(mprotect(pages + page, page, PROT_READ | PROT_WRITE), 0);
    for (size_t len = 0; len < 64; len++) {
        bf_key keys[8];
        for (size_t i = 0; i < 8; i++)
            keys[i] = (bf_key){ i % 2 ? pages + page : pages + 2 * page - (len + i), len + i };
        agree(keys, 8);
        for (size_t i = 0; i < 8; i++)
            keys[i] = (bf_key){ i % 2 ? pages + page : pages + 2 * page - len, len };
        agree(keys, 8);
    }
    munmap(pages, 3 * page);
}

/* As the machine has it, and with less of it: three different functions where it has AVX-512. */
TEST(each_of_them)
{
    static const char *const less[] = { "best", "avx2", "portable" };
    const bf_hash *was = NULL;
    NEEDS_SODIUM;
    setenv("BLOOMFILTER_CPU", less[0], 1);
    const bool avx512 = bf_has_avx512(), avx2 = bf_has_avx2();
    for (size_t i = 0; i < COUNT(less); i++) {
        setenv("BLOOMFILTER_CPU", less[i], 1);
        const bool news = i == 0 ? true : i == 1 ? avx512 : avx2;
        begin();
        CHECK_EQ(hash != was, news);
        was = hash;
        every_length_in_every_lane();
        random_mixtures();
        nothing_beyond_the_ends();
    }
}

int main(void) { return main_of_tests(); }
