/* test_process.c - forked children that have their parent's process id: getpid() always answers
 * the same here, as in a new pid namespace.  Children of fork() and of a bare clone(), which runs
 * no handler of pthread_atfork.  About core/base/process.c, core/parts/lifetime.c. */
/* wraps: getpid */
#define _GNU_SOURCE
#include "optional.h"
#include "redis_filters.h"
#include <sys/syscall.h>

pid_t __wrap_getpid(void);
pid_t __wrap_getpid(void) { return 7; }

static pid_t by_fork(void) { return fork(); }
static pid_t by_clone(void) { return (pid_t)syscall(SYS_clone, SIGCHLD, 0L, 0L, 0L, 0L); }
static pid_t (*const ways[])(void) = { by_fork, by_clone };
enum { WAYS = COUNT(ways) };

static bool went_well(pid_t child)
{
    int status = -1;
    return waitpid(child, &status, 0) == child && status == 0;
}

TEST(every_generation_has_its_own_number)
{
    const int mine = bf_process();
    CHECK(mine > 0);
    for (int w = 0; w < 2 * WAYS; w++) {
        const pid_t child = ways[w % WAYS]();
        if (child == 0) {
            const int own = bf_process();
            const pid_t grandchild = ways[w / WAYS]();
            if (grandchild == 0) _exit(bf_process() == own || bf_process() == mine);
            _exit(!went_well(grandchild) || own == mine || bf_process() != own);
        }
        CHECK(went_well(child));
        CHECK_EQ(bf_process(), mine);
    }
}

/* Keys of the parent are in, those of nobody are not. */
static int wrong_answers(bf_filter *f)
{
    int wrong = 0;
    for (unsigned i = 0; i < 500; i++) {
        char in[16], out[16];
        wrong += bf_test(f, in, (size_t)sprintf(in, "n%u", i), &e) != 1;
        wrong += bf_test(f, out, (size_t)sprintf(out, "no%u", i), &e) != 0;
    }
    return wrong;
}

TEST(children_do_not_speak_on_their_parents_connection)
{
    rs_start(&redis, NULL);
    bf_filter *f = numbers(OPEN("f", .n = 1000, .p = 1e-6), 0, 500);
    for (int w = 0; w < WAYS; w++) {
        const pid_t child = ways[w]();
        if (child == 0) _exit(wrong_answers(f) != 0);
        CHECK_EQ(wrong_answers(f), 0);
        CHECK(went_well(child));
    }
    bf_close(f);
    rs_end(&redis);
}

/* A clock in which one thread waits. */
static pthread_barrier_t in, out;
static _Thread_local bool waits;
static double waiting_clock(void *unused)
{
    (void)unused;
    if (waits) pthread_barrier_wait(&in);
    if (waits) pthread_barrier_wait(&out);
    waits = false;
    return 1e9;
}
static void *test_and_wait(void *f)
{
    waits = true;
    CHECK_EQ(bf_test(f, "a", 1, NULL), 1);
    return NULL;
}
static bool nobody_is_inside(bf_filter *f)
{
    return bf_busy(f, &e) == 0 && bf_test(f, "a", 1, NULL) == 1 &&
           bf_add(f, "b", 1, NULL) == BF_ADDED && bf_busy(f, &e) == 0;
}

/* Another thread is in the clock: nobody closes, others ask; in a child nobody is in it. */
TEST(who_is_inside_is_counted_in_the_parent_alone)
{
    pthread_t thread;
    bf_filter *f =
        bf_open(&(bf_spec){ .n = 1000, .p = 0.01, .window = 60, .clock = waiting_clock }, &e);
    CHECK_EQ(bf_add(f, "a", 1, &e), BF_ADDED);
    pthread_barrier_init(&in, NULL, 2);
    pthread_barrier_init(&out, NULL, 2);
    pthread_create(&thread, NULL, test_and_wait, f);
    pthread_barrier_wait(&in);
    for (int w = 0; w < WAYS; w++) {
        const pid_t child = ways[w]();
        if (child == 0) _exit(!nobody_is_inside(f));
        CHECK(went_well(child));
        CHECK(bf_busy(f, &e) == BF_EBUSY && bf_test(f, "a", 1, &e) == 1);
    }
    pthread_barrier_wait(&out);
    pthread_join(thread, NULL);
    CHECK_EQ(bf_busy(f, &e), 0);
    bf_close(f);
}

int main(void) { return main_of_tests(); }
