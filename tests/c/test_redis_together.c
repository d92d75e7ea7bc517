/* test_redis_together.c - several processes on one filter in Redis, with and without shards:
 * creators that race or are killed.  What others do between two commands:
 * test_redis_other_clients.c.  Its own server.  About core/redis/scripts.c, core/redis/shards.c. */
/* wraps: send */
#define _GNU_SOURCE
#include "redis_filters.h"

/* So many times this process sends something more, then it is killed; 0: any number. */
static int dies_after;
REPLACED(ssize_t, send, (int fd, const void *bytes, size_t n, int flags))
{
    const ssize_t sent = __real_send(fd, bytes, n, flags);
    if (dies_after && --dies_after == 0) kill(getpid(), SIGKILL);
    return sent;
}

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
    enum { SHARDS = 8 };
    const bf_spec spec = { .m = 4000000, .k = 4, .shards = SHARDS };
    int unfinished = 0, status = -1;
    for (int round = 1; round < 100 && status != 0; round++) {
        rs_command(&redis, "FLUSHALL");
        pid_t child = fork();
        if (child == 0) {
            dies_after = round;
            _exit(!opened(spec, "kill", "", __LINE__));
        }
        CHECK(waitpid(child, &status, 0) == child && (status == 0 || WIFSIGNALED(status)));
        int rc = code_of((bf_spec){ 0 }, "kill");
        CHECK(rc == 0 || rc == BF_EIO || rc == BF_ENOENT);
        unfinished += rc != 0;
        bf_filter *f = numbers(opened(spec, "kill", "", __LINE__), 0, 100);
        if (!f) return;
        CHECK_EQ(missing(f, 0, 100), 0);
        /* what the dead one was at expires by itself */
        const long temps = rs_number(&redis, "DBSIZE") - 1 - 2 * SHARDS;
        CHECK(temps == 0 || temps == 1);
        bf_close(f);
    }
    CHECK(status == 0 && unfinished > 2 * SHARDS);
}

int main(void) { return main_with_redis(&redis); }
