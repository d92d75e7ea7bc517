/* test_counting_race.c - counters that several threads and processes count up and down at once: no
 * step is lost, and of those who take one key out one gets it.  About core/bits/counters.c. */
#define _GNU_SOURCE
#include "at_once.h"
#include "native.h"

static bf_error e;

static bf_filter *make(bf_spec spec)
{
    spec.counting = true;
    bf_filter *f = bf_open(&spec, &e);
    if (!f) {
        fprintf(stderr, "%s\n", e.msg);
        exit(1);
    }
    return f;
}

enum { KEYS = 4000 };

static size_t text_of(char t[32], int id, unsigned i)
{
    return (size_t)sprintf(t, "w%d-%u", id, i);
}

/* Keys of its own come and go and come, while the others do the same. */
static void come_and_go(const job *j)
{
    char t[32];
    unsigned bad = 0;
    for (unsigned i = 0; i < KEYS; i++) {
        size_t n = text_of(t, j->id, i);
        bad += bf_add(j->f, t, n, NULL) < 0;
        bad += bf_test(j->f, t, n, NULL) != 1;
        if (i % 2) {
            bad += bf_remove(j->f, t, n, NULL) != 1;
            if (i % 4 == 1) bad += bf_add(j->f, t, n, NULL) < 0;
        }
    }
    j->won[0] = bad == 0;
}

/* All want the same keys out. */
static void take(const job *j)
{
    char t[32];
    for (unsigned i = 0; i < KEYS; i++) {
        size_t n = text_of(t, 0, i);
        j->won[i] = bf_remove(j->f, t, n, NULL) == 1;
    }
}

static void race(const char *scheme, bool file, bool processes)
{
    const char *path = temp_path();
    bf_filter *f = make((bf_spec){
        .m = 1 << 19, .k = 8, .scheme = scheme, .storage = file ? path : NULL, .threads = true });
    bf_filter *serial = make((bf_spec){ .m = 1 << 19, .k = 8, .scheme = scheme });
    uint8_t *won = won_bytes(KEYS);
    char t[32];
    unsigned once = 0;
    at_once(f, processes, won, KEYS, come_and_go);
    for (int w = 0; w < WORKERS; w++) {
        CHECK_EQ(won[w * KEYS], 1);
        for (unsigned i = 0; i < KEYS; i++)
            if (i % 4 != 3) bf_add(serial, t, text_of(t, w, i), &e);
    }
    CHECK_EQ(bf_equal(f, serial, &e), 1); /* no step of any counter is lost */
    bf_clear(f, &e);
    for (unsigned i = 0; i < KEYS; i++) bf_add(f, t, text_of(t, 0, i), &e);
    at_once(f, processes, won, KEYS, take);
    for (unsigned i = 0; i < KEYS; i++)
        once += won[i] + won[KEYS + i] + won[2 * KEYS + i] + won[3 * KEYS + i] == 1;
    bf_state st;
    bf_get_state(f, &st, &e);
    CHECK_EQ(once, KEYS); /* one of the four had it, and the others put back what they took */
    CHECK_EQ(st.ones, 0);
    munmap(won, WORKERS * KEYS);
    CLOSE(serial, f);
    unlink(path);
}

TEST(threads_and_processes)
{
    for (size_t s = 0; native_scheme(s); s++)
        for (int i = 0; i < 3; i++) race(native_scheme(s), i > 0, i == 2);
}

/* Two removers of one key that has one counter to itself: one gets it, every time. */
static bf_filter *duel_filter;
static void *duel(void *won)
{
    *(int *)won = bf_remove(duel_filter, "x", 1, NULL);
    return NULL;
}
TEST(a_duel)
{
    duel_filter = make((bf_spec){ .m = 5120, .k = 8, .threads = true });
    unsigned odd = 0;
    for (int i = 0; i < 300; i++) {
        pthread_t t;
        int a = 0, b = 0;
        bf_add(duel_filter, "x", 1, &e);
        pthread_create(&t, NULL, duel, &a);
        duel(&b);
        pthread_join(t, NULL);
        odd += a + b != 1;
    }
    CHECK_EQ(odd, 0);
    bf_state st;
    bf_get_state(duel_filter, &st, &e);
    CHECK_EQ(st.ones, 0);
    bf_close(duel_filter);
}

int main(void) { return main_of_tests(); }
