/* test_lifetime.c - who has a handle and who is inside it: owners, calls, and host's code that
 * calls back in their middle.  About core/parts/lifetime.c. */
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

static bf_filter *forgetting(host *h)
{
    return bf_open(
        &(bf_spec){
            .n = 1000, .p = 0.01, .window = 60, .clock = h ? clock_of : NULL, .clock_ctx = h },
        NULL);
}

TEST(a_clock_is_refused_its_filter)
{
    for (int i = 0; i < CALLS; i++) {
        host h = { .call = -1, .now = 1e9 };
        bf_filter *f = forgetting(&h), *g = plain();
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
        bf_filter *a = forgetting(&h), *b = forgetting(order == 2 ? &still : NULL);
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
            bf_filter *f = bf_open(&spec, NULL), *g = forgetting(NULL);
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

/* ---- threads, forks, longjmp ---- */
typedef struct {
    bf_filter *f;
    pthread_barrier_t in, out;
    pthread_t who;
} meeting;
static double meets(void *context)
{
    meeting *m = context;
    if (!m->f || !pthread_equal(pthread_self(), m->who)) return 1e9;
    pthread_barrier_wait(&m->in);
    pthread_barrier_wait(&m->out);
    return 1e9;
}

static void *asks(void *context)
{
    meeting *m = context;
    m->who = pthread_self();
    CHECK_EQ(bf_test(m->f, "a", 1, NULL), 1);
    return NULL;
}

static int in_child(bf_filter *f)
{
    bf_error err = { 0 };
    if (bf_test(f, "a", 1, NULL) != 1 || bf_add(f, "b", 1, NULL) != BF_ADDED) return 1;
    return bf_busy(f, &err) == 0 ? 0 : 2;
}

/* Another thread is in the clock: nobody closes, others ask; in a fork's child nobody is in it. */
TEST(another_thread_is_inside)
{
    meeting m = { 0 };
    pthread_t thread;
    int status = -1;
    pthread_barrier_init(&m.in, NULL, 2);
    pthread_barrier_init(&m.out, NULL, 2);
    bf_filter *f = bf_open(
        &(bf_spec){ .n = 1000, .p = 0.01, .window = 60, .clock = meets, .clock_ctx = &m }, NULL);
    bf_add(f, "a", 1, NULL);
    m.f = f;
    pthread_create(&thread, NULL, asks, &m);
    pthread_barrier_wait(&m.in);
    CHECK_EQ(bf_test(f, "a", 1, NULL), 1);
    CHECK_EQ(bf_busy(f, NULL), BF_EBUSY);
    pid_t child = fork();
    if (child == 0) _exit(in_child(f));
    waitpid(child, &status, 0);
    CHECK_EQ(status, 0);
    pthread_barrier_wait(&m.out);
    pthread_join(thread, NULL);
    CHECK_EQ(bf_busy(f, NULL), 0);
    pthread_barrier_destroy(&m.in);
    pthread_barrier_destroy(&m.out);
    bf_close(f);
}

/* The thread that is inside forks: it is inside in the child, too. */
static double forks(void *context)
{
    host *h = context;
    if (h->f && h->asked++ == 0) {
        pid_t child = fork();
        if (child == 0)
            _exit(bf_busy(h->f, NULL) - BF_EBUSY || bf_test(h->f, "a", 1, NULL) - BF_EBUSY);
        waitpid(child, &h->code, 0);
    }
    return 1e9;
}

TEST(a_fork_inside)
{
    host h = { 0 };
    bf_filter *f = bf_open(
        &(bf_spec){ .n = 1000, .p = 0.01, .window = 60, .clock = forks, .clock_ctx = &h }, NULL);
    h = (host){ .f = f, .code = -1 };
    CHECK_EQ(bf_add(f, "a", 1, NULL), BF_ADDED);
    CHECK_EQ(h.code, 0);
    bf_close(f);
}

/* A fork of a process in which nobody is inside goes on as if it had opened the handle. */
TEST(a_fork_counts_its_own)
{
    int status = -1;
    host h = { .call = -1, .now = 1e9 };
    bf_filter *f = forgetting(&h);
    pid_t child = fork();
    if (child == 0) {
        int before = bf_busy(f, NULL);
        h = (host){ .f = f, .call = BUSY, .now = 1e9 };
        bf_add(f, "a", 1, NULL);
        _exit(before == 0 && h.code == BF_EBUSY && bf_busy(f, NULL) == 0 ? 0 : 1);
    }
    waitpid(child, &status, 0);
    CHECK_EQ(status, 0);
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
    bf_filter *f = bf_open(
        &(bf_spec){ .n = 1000, .p = 0.01, .window = 60, .clock = jumps, .clock_ctx = &jump }, NULL);
    bf_filter *g = bf_open(&(bf_spec){ .n = 1000, .p = 0.01, .window = 60 }, NULL);
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
    for (int i = 0; i < 3; i++)
        f[i] = bf_open(
            &(bf_spec){
                .n = 1000, .p = 0.01, .window = 60, .clock = asks_next, .clock_ctx = &h[i] },
            NULL);
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
