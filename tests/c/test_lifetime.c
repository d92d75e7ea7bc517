/* test_lifetime.c - who has a handle and who is inside it: owners, calls, and host's code that
 * calls back in their middle.  Another thread inside, and its forks: test_process.c.  About
 * core/parts/lifetime.c. */
#include "bloomfilter_host.h"
#include "check.h"
#include "every_call.h"
#include <setjmp.h>

static bf_filter *plain(void) { return bf_open(&(bf_spec){ .n = 1000, .p = 0.01 }, NULL); }

/* ---- owners ---- */
TEST(every_owner_closes)
{
    bf_filter *f = plain();
    CHECK(bf_retain(f) == f);
    CHECK(bf_retain(NULL) == NULL);
    bf_close(f);
    CHECK_EQ(bf_add(f, "a", 1, NULL), BF_ADDED);
    bf_close(f);
}

/* ---- the host's code calls back ---- */
enum { BUSY = EVERY_CALL, CALLS };
static int call(int i, bf_filter *f, bf_filter *g)
{
    return i == BUSY ? bf_busy(f, heard) : (int)every_call[i].run(f, g);
}

/* A clock, and what it does once. */
typedef struct {
    bf_filter *f, *other;
    int call, asked;
    double now;
    int code;
    char msg[160];
} host;
static double clock_of(void *context)
{
    host *h = context;
    if (h->f && h->call >= 0 && h->asked++ == 0) {
        h->code = call(h->call, h->f, h->other);
        memcpy(h->msg, e.msg, sizeof h->msg);
    }
    return h->now;
}

static bf_filter *under(double (*clock)(void *), void *ctx)
{
    return OPEN(.n = 1000, .p = 0.01, .window = 60, .clock = clock, .clock_ctx = ctx);
}

TEST(a_clock_is_refused_its_filter)
{
    for (int i = 0; i < CALLS; i++) {
        host h = { .call = -1, .now = 1e9 };
        bf_filter *f = under(clock_of, &h), *g = plain();
        CHECK_EQ(bf_add(f, "a", 1, NULL), BF_ADDED);
        h = (host){ .f = f, .other = g, .call = i, .now = 1e9 };
        CHECK_EQ(bf_test(f, "a", 1, NULL), 1);
        CHECK_EQ(h.code, BF_EBUSY);
        CHECK_HAS(h.msg, "in use");
        h.f = NULL;
        CHECK_EQ(bf_test(f, "a", 1, NULL), 1);
        CHECK_EQ(bf_busy(f, NULL), 0);
        CLOSE(f, g);
    }
}

/* Both operands, in both orders, whichever has the clock. */
TEST(a_clock_is_refused_the_other_operand)
{
    for (int order = 0; order < 3; order++) {
        host h = { .call = -1, .now = 1e9 }, still = { .call = -1, .now = 1e9 };
        bf_filter *a = under(clock_of, &h),
                  *b = order == 2 ? under(clock_of, &still) : under(NULL, NULL);
        bf_add(a, "a", 1, NULL);
        h = (host){ .f = b, .call = BUSY, .now = 1e9 };
        bf_error err = { 0 };
        int rc = order == 1 ? bf_equal(b, a, &err) : bf_unite(a, b, &err);
        CHECK(rc >= 0);
        CHECK_EQ(h.code, BF_EBUSY);
        h.f = NULL;
        CHECK_EQ(bf_busy(b, NULL), 0);
        CHECK_EQ(bf_equal(a, a, NULL), 1);
        CHECK_EQ(bf_unite(a, a, NULL), 0);
        CLOSE(a, b);
    }
}

static double closes(void *context)
{
    host *h = context;
    if (h->f) bf_close(h->f);
    h->f = NULL;
    return h->now;
}

/* What bf_busy would have refused: the memory stays until the call is over. */
TEST(a_clock_that_closes_all_the_same)
{
    heard = NULL;
    for (unsigned overfull = BF_OVERFULL_WARN; overfull <= BF_OVERFULL_IGNORE; overfull++)
        for (int i = 0; i < CALLS; i++) {
            host h = { .now = 1e9 };
            bf_spec spec = { .n = 1000, .p = 0.01, .window = 60, .overfull = overfull };
            spec.clock = closes;
            spec.clock_ctx = &h;
            bf_filter *f = bf_open(&spec, NULL), *g = under(NULL, NULL);
            h.f = f;
            const int rc = call(i, f, g);
            if (i == 0) CHECK_EQ(rc, BF_ADDED);
            CLOSE(h.f, g); /* not all calls ask the clock */
        }
    heard = &e;
}

static int closes_too(void *context, const char *sentence)
{
    (void)sentence;
    closes(context);
    return 0;
}

TEST(a_warning_that_closes)
{
    host h = { .now = 1 };
    bf_filter *f = plain(), *all = plain();
    bf_error err;
    char key[8];
    for (int i = 0; i < 5000; i++)
        bf_add(all, key, (size_t)snprintf(key, sizeof key, "%d", i), NULL);
    bf_set_warning(f, closes_too, &h);
    CHECK_EQ(bf_unite(f, all, NULL), 0);
    h.f = f;
    for (int i = 0; h.f && i < 2000; i++)
        CHECK(bf_add(f, key, (size_t)snprintf(key, sizeof key, "%d", 90000 + i), &err) >= 0);
    CHECK(h.f == NULL);
    CLOSE(all);
}

static int apply(
    void *context, int op, const uint64_t *pos, size_t nkeys, unsigned k, uint8_t *present)
{
    memset(present, 0, nkeys);
    return isnan(clock_of(context));
}

TEST(a_client_is_refused_its_filter)
{
    for (int i = 0; i < CALLS; i++) {
        host h = { .call = -1 };
        const bf_client client = { apply, &h };
        bf_filter *f = bf_open(&(bf_spec){ .n = 1000, .p = 0.01, .client = &client }, NULL),
                  *g = plain();
        h = (host){ .f = f, .other = g, .call = i };
        CHECK_EQ(bf_add(f, "a", 1, NULL), BF_ADDED);
        CHECK_EQ(h.code, BF_EBUSY);
        CLOSE(f, g);
    }
}

/* ---- forks, longjmp ---- */
/* The thread that is inside forks: it is inside in the child, too. */
static double forks(void *context)
{
    host *h = context;
    if (h->f && h->asked++ == 0)
        IN_A_CHILD CHECK(
            bf_busy(h->f, NULL) == BF_EBUSY && bf_test(h->f, "a", 1, NULL) == BF_EBUSY);
    return 1e9;
}

TEST(a_fork_inside)
{
    host h = { 0 };
    bf_filter *f = under(forks, &h);
    h = (host){ .f = f };
    CHECK(bf_add(f, "a", 1, NULL) == BF_ADDED && h.asked == 1);
    bf_close(f);
}

/* A fork of a process in which nobody is inside goes on as if it had opened the handle. */
TEST(a_fork_counts_its_own)
{
    host h = { .call = -1, .now = 1e9 };
    bf_filter *f = under(clock_of, &h);
    IN_A_CHILD
    {
        CHECK_EQ(bf_busy(f, NULL), 0);
        h = (host){ .f = f, .call = BUSY, .now = 1e9 };
        bf_add(f, "a", 1, NULL);
        CHECK(h.code == BF_EBUSY && bf_busy(f, NULL) == 0);
    }
    bf_close(f);
}

static jmp_buf out;
static double jumps(void *context)
{
    if (*(bool *)context) longjmp(out, 1);
    return 1e9;
}

TEST(calls_left_by_longjmp)
{
    bool jump = false;
    bf_filter *f = under(jumps, &jump), *g = under(NULL, NULL);
    jump = true;
    if (setjmp(out) == 0) bf_unite(f, g, NULL);
    CHECK_EQ(bf_busy(f, NULL), BF_EBUSY);
    CHECK_EQ(bf_busy(g, NULL), BF_EBUSY);
    bf_abandon_calls();
    bf_abandon_calls();
    CHECK_EQ(bf_busy(f, NULL), 0);
    CHECK_EQ(bf_busy(g, NULL), 0);
    CLOSE(f, g);
}

/* Filters within filters: the clock of one asks another one, whose clock asks a third. */
static double asks_next(void *context)
{
    host *h = context;
    if (h->f) h->code = bf_test(h->f, "a", 1, NULL);
    return 1e9;
}

TEST(one_inside_the_other)
{
    host h[3] = { { 0 } };
    bf_filter *f[3];
    for (int i = 0; i < 3; i++) f[i] = under(asks_next, &h[i]);
    for (int i = 0; i < 3; i++) h[i].f = f[(i + 1) % 3];
    CHECK_EQ(bf_add(f[0], "a", 1, NULL), BF_ADDED);
    CHECK_EQ(h[0].code, 0);
    CHECK_EQ(h[1].code, 0);
    CHECK_EQ(h[2].code, BF_EBUSY); /* f[0] waits for all of them */
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(bf_busy(f[i], NULL), 0);
        bf_close(f[i]);
    }
}

int main(void) { return main_of_tests(); }
