/* test_siphash.c - SipHash of eight keys at once against libsodium's, a key a call: every length
 * beside every other, and mixtures.  About core/hash/siphash.c. */
#include "hash_runs.h"
#include "optional.h"

enum { LONGEST = 300 };
extern const bf_hash bf_hash_siphash;

static void every_length_in_every_lane(void)
{
    for (size_t len = 0; len <= LONGEST; len++)
        for (size_t lane = 0; lane < 8; lane++) {
            bf_key keys[8];
            for (size_t i = 0; i < 8; i++)
                keys[i] = (bf_key){ run_text + i, i == lane ? len : 8 + next() % 80 };
            agree(keys, 8);
            for (size_t i = 0; i < 8; i++) keys[i].len = len;
            agree(keys, 8);
        }
}

/* As the machine has it, and with less of it: three different functions where it has AVX-512. */
TEST(each_of_them)
{
    static const char *const less[] = { "best", "avx2", "portable" };
    const bf_hash *was = NULL;
    NEEDS_SODIUM;
    run_alone = &bf_hash_siphash;
    setenv("BLOOMFILTER_CPU", less[0], 1);
    const bool avx512 = bf_has_avx512(), avx2 = bf_has_avx2();
    for (size_t i = 0; i < COUNT(less); i++) {
        setenv("BLOOMFILTER_CPU", less[i], 1);
        fill_text();
        run_hash = bf_hash_siphash.best ? bf_hash_siphash.best() : &bf_hash_siphash;
        CHECK_EQ(run_hash != was, i == 0 ? true : i == 1 ? avx512 : avx2);
        was = run_hash;
        every_length_in_every_lane();
        random_mixtures(SHORT(5000, 200), 40);
        nothing_beyond_the_ends();
    }
}

int main(void) { return main_of_tests(); }
