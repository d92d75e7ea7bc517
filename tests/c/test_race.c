/* test_race.c - several threads and processes in one filter: nothing lost, somebody always told
 * "new", tests meanwhile.  Runs under TSan too.  Runs with both kernels.
 * About core/bits/words.c. */
#define _GNU_SOURCE
#include "at_once.h"
#include "native.h"

enum { KEYS = 20000, BATCH = 100 };
static bool same, one_by_one; /* the keys of all; not in batches */

static size_t text_of(char t[32], int id, unsigned i)
{
    return (size_t)(same ? sprintf(t, "k%u", i) : sprintf(t, "w%d-%u", id, i));
}

static void work(const job *j)
{
    static _Thread_local char text[BATCH][32];
    bf_key keys[BATCH];
    for (unsigned i = 0; i < KEYS; i += BATCH) {
        for (unsigned b = 0; b < BATCH; b++)
            keys[b] = (bf_key){ text[b], text_of(text[b], j->id, i + b) };
        if (one_by_one)
            for (unsigned b = 0; b < BATCH; b++)
                j->won[i + b] = bf_add(j->f, keys[b].ptr, keys[b].len, NULL) == BF_ADDED;
        else
            bf_add_many(j->f, keys, BATCH, j->won + i, NULL);
        if (bf_test_many(j->f, keys, BATCH, NULL, NULL) != BATCH)
            j->won[0] = 77; /* my own keys are there at once */
    }
}

static void all_there(bf_filter *f, const uint8_t *won)
{
    unsigned lost = 0, nobody = 0;
    for (int w = 0; w < WORKERS; w++)
        for (unsigned i = 0; i < KEYS; i++) {
            char t[32];
            size_t n = text_of(t, w, i);
            lost += bf_test(f, t, n, NULL) != 1;
        }
    CHECK_EQ(lost, 0);
    for (int w = 0; w < WORKERS; w++) CHECK(won[w * KEYS] != 77);
    if (!same) return;
    const bf_info in = info_of(f);
    bf_filter *serial = bf_open(&(bf_spec){ .m = in.m, .k = in.k, .scheme = in.scheme }, NULL);
    for (unsigned i = 0; i < KEYS; i++) { /* "new" to nobody only where all its bits were others' */
        char t[32];
        int wins = 0;
        for (int w = 0; w < WORKERS; w++) wins += won[w * KEYS + i];
        nobody += wins == 0;
        bf_add(serial, t, text_of(t, 0, i), NULL);
    }
    bf_state st;
    bf_get_state(serial, &st, NULL);
    CHECK_EQ(bf_equal(serial, f, NULL), 1);
    CHECK(nobody <= KEYS * st.fpr + 5);
    bf_close(serial);
}

static void race(const char *scheme, bool file, bool processes)
{
    const char *path = temp_path();
    bf_error e;
    bf_filter *f = bf_open(&(bf_spec){ .m = 1 << 21,
                               .k = 7,
                               .scheme = scheme,
                               .storage = file ? path : NULL,
                               .threads = true },
        &e);
    CHECK(f != NULL);
    uint8_t *won = won_bytes(KEYS);
    at_once(f, processes, won, KEYS, work);
    all_there(f, won);
    munmap(won, WORKERS * KEYS);
    bf_close(f);
    unlink(path);
}

static void every_way(bool file, bool processes)
{
    for (size_t s = 0; native_scheme(s); s++)
        for (int i = 0; i < 4; i++) {
            same = i & 1;
            one_by_one = i & 2;
            race(native_scheme(s), file, processes);
        }
}
TEST(threads_in_memory) { every_way(false, false); }
TEST(threads_on_a_file) { every_way(true, false); }
TEST(processes_on_a_file) { every_way(true, true); }

int main(void) { return main_of_tests(); }
