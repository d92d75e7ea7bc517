/* test_redis_together.c - several processes on one filter in Redis, with and without shards:
 * creators that race or are killed, bits that are exchanged under readers and adders, forks.  It
 * starts its own server.  About core/redis/scripts.c, core/redis/shards.c. */
#define _GNU_SOURCE
#include "redis_filters.h"

/* ---- several at once ---- */
TEST(racing_creators_and_adders)
{
    enum { WORKERS = 5, KEYS = 300 };
    for (int round = 0; round < 5; round++) {
        const unsigned shards = round ? 12 : 1;
        int pipes[2], sum = 0, one;
        pid_t child[WORKERS];
        rs_command(&redis, "FLUSHALL");
        if (pipe(pipes)) return;
        for (int w = 0; w < WORKERS; w++)
            if ((child[w] = fork()) == 0) {
                int fresh = 0;
                bf_filter *f = OPEN("race", .n = 10000, .p = 1e-4, .shards = shards);
                for (unsigned i = 0; f && i < KEYS; i++) {
                    char t[16];
                    fresh += bf_add(f, t, (size_t)sprintf(t, "r%u", i), &e);
                }
                if (!f) fresh = -100000;
                _exit(write(pipes[1], &fresh, sizeof fresh) != sizeof fresh);
            }
        for (int w = 0; w < WORKERS; w++)
            if (read(pipes[0], &one, sizeof one) == sizeof one) {
                CHECK(one >= 0);
                sum += one;
            }
        for (int w = 0; w < WORKERS; w++) waitpid(child[w], NULL, 0);
        CHECK_EQ(sum, KEYS); /* exactly one is told new */
        CHECK_EQ(rs_number(&redis, "DBSIZE"), round ? 25 : 2);
        close(pipes[0]);
        close(pipes[1]);
    }
}

/* Whatever is there when a creator dies, the next constructor copes with it. */
TEST(a_creator_is_killed)
{
    const bf_spec spec = { .m = 4000000, .k = 4, .shards = 40 };
    int unfinished = 0;
    for (int round = 0; round < 30; round++) {
        rs_command(&redis, "FLUSHALL");
        pid_t child = fork();
        if (child == 0) {
            opened(spec, "kill", "", __LINE__);
            pause();
        }
        for (int i = 0; i < 3000 && rs_number(&redis, "DBSIZE") < 1 + round * 2; i++) {}
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        int rc = code_of((bf_spec){ 0 }, "kill");
        CHECK(rc == 0 || rc == BF_EIO || rc == BF_ENOENT);
        unfinished += rc != 0;
        bf_filter *f = numbers(opened(spec, "kill", "", __LINE__), 0, 100);
        if (!f) return;
        CHECK_EQ(missing(f, 0, 100), 0);
        long temps =
            rs_number(&redis, "DBSIZE") - 81; /* what the dead one was at expires by itself */
        CHECK(temps == 0 || temps == 1);
        bf_close(f);
    }
    CHECK(unfinished > 5);
}

/* Somebody rebuilds again and again from keys that include these: at no moment is one of them
 * absent. */
TEST(rebuilt_under_readers_and_adders)
{
    rs_command(&redis, "FLUSHALL");
    bf_filter *f = numbers(OPEN("re", .n = 20000, .p = 1e-4, .shards = 4), 0, 400);
    int pipes[2], late = 0;
    if (pipe(pipes)) return;
    pid_t child = fork();
    if (child == 0) {
        int failed = 0;
        for (int round = 0; round < 25; round++) {
            bf_filter *fresh = bf_rebuild_begin(f, &e);
            numbers(fresh, 0, 400);
            failed += bf_rebuild_end(f, fresh, &e) < 0;
            bf_close(fresh);
        }
        _exit(write(pipes[1], &failed, sizeof failed) != sizeof failed);
    }
    unsigned rounds = 0, i = 400;
    fcntl(pipes[0], F_SETFL, O_NONBLOCK);
    while (read(pipes[0], &late, sizeof late) != sizeof late) {
        rounds++;
        CHECK_EQ(missing(f, 0, 400), 0);
        for (int end = (int)i + 50; (int)i < end; i++) {
            char t[16];
            CHECK(bf_add(f, t, (size_t)sprintf(t, "n%u", i), &e) >= 0);
        } /* may be lost again, not fail */
    }
    waitpid(child, NULL, 0);
    CHECK(rounds > 0 && late == 0);
    numbers(f, 20000, 20100);
    CHECK_EQ(missing(f, 20000, 20100), 0);
    bf_close(f);
    close(pipes[0]);
    close(pipes[1]);
}

/* Several exchange the bits of one filter all the time: nobody is told that it is lost, and no
 * command fails. */
static void exchanged_by_several(unsigned shards)
{
    enum { WORKERS = 4, ROUNDS = 40 };
    rs_command(&redis, "FLUSHALL");
    bf_filter *f = OPEN("several", .m = 60000, .k = 5, .shards = shards),
              *near =
                  numbers(bf_open(&(bf_spec){ .m = 60000, .k = 5, .shards = shards }, &e), 0, 50);
    pid_t child[WORKERS];
    for (int w = 0; w < WORKERS; w++)
        if ((child[w] = fork()) == 0) {
            int failed = 0;
            for (int round = 0; round < ROUNDS; round++) {
                int rc = w == 0   ? bf_clear(f, &e)
                         : w == 1 ? bf_unite(f, near, &e)
                         : w == 2 ? bf_intersect(f, near, &e)
                                  : bf_expire(f, 1000, &e);
                if (rc == 0) rc = bf_add(f, "x", 1, &e);
                if (rc >= 0) rc = bf_test(f, "n7", 2, &e);
                if (rc < 0) {
                    failed++;
                    fprintf(stderr, "worker %d: %s\n", w, e.msg);
                }
            }
            _exit(failed != 0);
        }
    for (int w = 0; w < WORKERS; w++) {
        int status;
        waitpid(child[w], &status, 0);
        CHECK_EQ(status, 0);
    }
    CHECK_EQ(rs_number(&redis, "DBSIZE"), shards > 1 ? 2 * shards + 1 : 2);
    CLOSE(f, near);
}
TEST(exchanged_at_once)
{
    exchanged_by_several(1);
    exchanged_by_several(3);
}

TEST(forks_and_idle_connections)
{
    bf_filter *f = numbers(OPEN("fork", .n = 10000, .p = 1e-4, .shards = 6), 0, 100);
    int status;
    pid_t child = fork();
    if (child == 0) _exit(missing(numbers(f, 100, 300), 0, 300) != 0);
    CHECK_EQ(missing(numbers(f, 300, 500), 300, 500), 0);
    waitpid(child, &status, 0);
    CHECK_EQ(status, 0);
    CHECK_EQ(missing(f, 0, 500), 0);
    rs_command(&redis, "CLIENT KILL TYPE normal SKIPME yes");
    CHECK_EQ(missing(f, 0, 500), 0);
    bf_close(f);
}

int main(void) { return main_with_redis(&redis); }
