/* test_nested_calls.c - calls inside calls: code of the host that runs in a call of one filter
 * uses another filter.  Threads that do so in a circle do not wait for each other, and hosts with
 * green threads are called before and after each call.  One thread, whose filter is in use:
 * test_lifetime.c.  About core/parts/handle.c. */
#define _GNU_SOURCE
#include "../../core/bloomfilter_host.h"
#include "check.h"
#include <pthread.h>

static bf_error e;

/* ---- circles ---- */
enum { THREADS_MOST = 3 };
typedef struct {
    bf_filter *own, *other;
    pthread_barrier_t *all_inside;
    bool armed;
    int inner, outer;
} walker;

static int apply(void *ctx, int op, const uint64_t *pos, size_t nkeys, unsigned k, uint8_t *present)
{
    walker *w = ctx;
    memset(present, 1, nkeys);
    if (!w->armed) return 0;
    w->armed = false;
    pthread_barrier_wait(w->all_inside);
    w->inner = bf_test(w->other, "x", 1, NULL);
    pthread_barrier_wait(w->all_inside);
    return 0;
}

static void *walk(void *p)
{
    walker *w = p;
    w->armed = true;
    w->outer = bf_test(w->own, "x", 1, NULL);
    return NULL;
}

TEST(no_circle)
{
    for (int n = 2; n <= THREADS_MOST; n++) {
        walker w[THREADS_MOST] = { 0 };
        bf_client client[THREADS_MOST];
        pthread_barrier_t all_inside;
        pthread_t t[THREADS_MOST];
        pthread_barrier_init(&all_inside, NULL, (unsigned)n);
        for (int i = 0; i < n; i++) {
            client[i] = (bf_client){ apply, &w[i] };
            w[i].own = bf_open(&(bf_spec){ .n = 100, .p = 0.01, .client = &client[i] }, &e);
            w[i].all_inside = &all_inside;
        }
        for (int i = 0; i < n; i++) w[i].other = w[(i + 1) % n].own;
        for (int i = 0; i < n; i++) pthread_create(&t[i], NULL, walk, &w[i]);
        for (int i = 0; i < n; i++) pthread_join(t[i], NULL);
        for (int i = 0; i < n; i++) {
            CHECK_EQ(w[i].inner, BF_EBUSY);
            CHECK_EQ(w[i].outer, 1);
            CHECK_EQ(bf_test(w[i].own, "x", 1, &e), 1);
        }
        for (int i = 0; i < n; i++) bf_close(w[i].own);
        pthread_barrier_destroy(&all_inside);
    }
}

/* ---- turns of green threads ---- */
typedef struct {
    int id, answer;
} turns;
static char history[64];
static void note(char what, int id)
{
    const size_t at = strlen(history);
    snprintf(history + at, sizeof history - at, "%c%d", what, id);
}
static int enter(void *ctx, bool second)
{
    const turns *t = ctx;
    note(t->answer != 0 ? '!' : second ? '*' : '+', t->id);
    return t->answer;
}
static void leave(void *ctx) { note('-', ((turns *)ctx)->id); }
static bf_filter *in_turns(turns *t)
{
    static walker idle;
    static const bf_client none = { apply, &idle };
    bf_filter *f = bf_open(&(bf_spec){ .n = 100, .p = 0.01, .client = &none }, &e);
    bf_set_turn_hooks(f, enter, leave, t);
    return f;
}

TEST(turns_of_one_filter)
{
    turns t = { .id = 1 };
    bf_filter *f = in_turns(&t);
    *history = 0;
    CHECK_EQ(bf_test(f, "x", 1, &e), 1);
    CHECK(!strcmp(history, "+1-1"));
    static const struct {
        int answer;
        const char *says;
    } rows[] = { { BF_EBUSY, "is in use" }, { BF_EIO, "for 120 seconds" },
        { BF_EHOST, "interrupted" } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        t.answer = rows[i].answer;
        *history = 0;
        CHECK_REFUSED(bf_test(f, "x", 1, &e), rows[i].answer, rows[i].says);
        CHECK(!strcmp(history, "!1"));
    }
    t.answer = 0;
    CHECK_EQ(bf_test(f, "x", 1, &e), 1);
    bf_close(f);
}

TEST(turns_of_two_filters_have_one_order)
{
    turns t[2];
    bf_filter *f[2];
    for (int i = 0; i < 2; i++) {
        t[i] = (turns){ .id = i };
        f[i] = in_turns(&t[i]);
    }
    char order[2][16];
    for (int i = 0; i < 2; i++) {
        *history = 0;
        bf_unite(f[i], f[!i], &e); /* refused: a callback has no bits to unite */
        CHECK_EQ(strlen(history), 8);
        memcpy(order[i], history, 4);
        order[i][4] = 0;
    }
    CHECK(!strcmp(order[0], order[1]) && order[0][0] == '+' && order[0][2] == '*');
    *history = 0;
    bf_unite(f[0], f[0], &e);
    CHECK(!strcmp(history, "+0-0"));
    const int second = order[0][3] - '0';
    t[second].answer = BF_EBUSY;
    *history = 0;
    CHECK_EQ(bf_unite(f[0], f[1], &e), BF_EBUSY);
    CHECK_EQ(strlen(history), 6);
    CHECK(history[0] == '+' && history[2] == '!' && history[4] == '-' && history[5] == history[1]);
    CLOSE(f[0], f[1]);
}

int main(void) { return main_of_tests(); }
