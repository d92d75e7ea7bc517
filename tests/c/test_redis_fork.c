/* test_redis_fork.c - a thread works with a filter in Redis, and at each of its allocations and
 * frees another thread forks.  The child takes over the handle as it is at that moment, with what
 * is half done in it.  Memory has a pattern before its first write and after it is freed, so a
 * child that follows a pointer to either crashes.  About core/redis/connection.c,
 * core/redis/socket.c. */
/* wraps: malloc calloc realloc free */
#define _GNU_SOURCE
#include "optional.h"
#include "redis_filters.h"
#include <malloc.h>
#include <semaphore.h>

enum { PATTERN = 0xDB, ROUNDS = 6, KEYS = 50 };

static sem_t at_point, go_on;
static _Thread_local bool stops; /* this thread stops at each point */
static bool finished;

static void await(sem_t *s)
{
    while (sem_wait(s)) {}
}
static void point(void)
{
    if (!stops) return;
    sem_post(&at_point);
    await(&go_on);
}

REPLACED(void *, malloc, (size_t n))
{
    void *p = __real_malloc(n);
    if (p) memset(p, PATTERN, n);
    point();
    return p;
}
REPLACED(void *, calloc, (size_t n, size_t size))
{
    void *p = __real_calloc(n, size);
    point();
    return p;
}
REPLACED(void, free, (void *p))
{
    if (p) memset(p, PATTERN, malloc_usable_size(p));
    __real_free(p);
    point();
}
void *__real_realloc(void *old, size_t n);
void *__wrap_realloc(void *old, size_t n);
void *__wrap_realloc(void *old, size_t n)
{
    void *p = __wrap_malloc(n);
    const size_t had = old ? malloc_usable_size(old) : 0;
    if (!p) return NULL;
    if (had) memcpy(p, old, had < n ? had : n);
    __wrap_free(old);
    return p;
}

/* ---- the thread that works ---- */
static bf_filter *filter;
static double time_now;
static unsigned acknowledged, refused;
static double own_clock(void *unused)
{
    (void)unused;
    return time_now;
}

static size_t name_of(char name[24], unsigned round, unsigned i)
{
    return (size_t)sprintf(name, "n%u-%u", round, i);
}

static void *work(void *unused)
{
    static char names[ROUNDS * KEYS][24];
    static bf_key keys[ROUNDS * KEYS];
    bf_error why;
    stops = true;
    for (unsigned round = 0; round < ROUNDS; round++, time_now += 0.3) {
        const unsigned n = KEYS * (round + 1);
        for (unsigned i = 0; i < n; i++)
            keys[i] = (bf_key){ names[i], name_of(names[i], round, i) };
        if (bf_add_many(filter, keys, n, NULL, &why) < 0) refused++;
        if (bf_test_many(filter, keys, n, NULL, &why) != n) refused++;
        acknowledged = round + 1;
    }
    stops = false;
    finished = true;
    sem_post(&at_point);
    return unused;
}

/* ---- the children ---- */
static int use(bool forgets)
{
    char name[24];
    alarm(PATIENCE);
    if (bf_add(filter, "child", 5, &e) < 0) return 1;
    for (unsigned round = 0; !forgets && round < acknowledged; round++)
        for (unsigned i = 0; i < KEYS; i += 25)
            if (bf_test(filter, name, name_of(name, round, i), &e) != 1) return 2;
    if (bf_test(filter, "child", 5, &e) != 1) return 3;
    bf_close(filter);
    return 0;
}

static unsigned fork_at_each_point(bool forgets)
{
    pthread_t t;
    unsigned points = 0;
    finished = false;
    acknowledged = refused = 0;
    pthread_create(&t, NULL, work, NULL);
    for (await(&at_point); !finished; await(&at_point), points++) {
        int status = -1;
        const pid_t child = fork();
        if (child == 0) {
            const int rc = use(forgets);
            if (rc) fprintf(stderr, "point %u: %d: %s\n", points, rc, e.msg);
            _exit(rc);
        }
        CHECK_EQ(waitpid(child, &status, 0), child);
        CHECK_EQ(status, 0);
        sem_post(&go_on);
    }
    pthread_join(t, NULL);
    CHECK_EQ(refused, 0);
    return points;
}

TEST(a_child_finds_no_freed_memory)
{
    const bf_spec kinds[] = { { .n = 5000, .p = 0.01, .window = 1, .parts = 2, .clock = own_clock },
        { .n = 20, .p = 0.01, .grow = 1.5 }, { .n = 5000, .p = 0.01, .cache = true },
        { .n = 20, .p = 0.01, .grow = 1.5, .cache = true },
        { .n = 5000, .p = 0.01, .shards = 4, .cache = true }, { .n = 5000, .p = 0.01 },
        { .n = 5000, .p = 0.01, .counting = true } };
    for (size_t i = 0; i < COUNT(kinds); i++) {
        char key[8];
        bf_spec spec = kinds[i];
        spec.threads = true;
        snprintf(key, sizeof key, "k%zu", i);
        time_now = 1000;
        filter = opened(spec, key, "", __LINE__);
        if (!filter) continue;
        CHECK(fork_at_each_point(spec.window > 0) > 0);
        bf_close(filter);
    }
}

int main(void)
{
    sem_init(&at_point, 0, 0);
    sem_init(&go_on, 0, 0);
    rs_start(&redis, NULL);
    run_tests();
    rs_stop(&redis, SIGTERM);
    return FINISH();
}
