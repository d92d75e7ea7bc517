/* test_redis_failing_calls.c - every kind of filter in Redis, everything that can be asked of it,
 * with the 1st, 2nd, 3rd ... call to the system failing, until it goes through: what is told is
 * right or an error with its code, nothing leaks, and the next call works.  test_failing_calls.c
 * does the same in the other homes.  It starts its own server.  About core/redis/store.c,
 * core/redis/socket.c. */
/* wraps: malloc calloc realloc strdup strndup free open fsync ftruncate fstat rename msync */
/* wraps: linkat posix_fallocate mmap pread pwrite send recv poll getentropy */
/* wraps: setsockopt */
#define _GNU_SOURCE
#include "failing_calls.h"
#include "redis_worlds.h"

WRAP(int, setsockopt, (int fd, int level, int name, const void *v, socklen_t n),
    (fd, level, name, v, n), -1, ENOMEM)

enum { CALLS_MOST = 3000 };

/* A failure that does no harm, as of a temporary key that is not taken away, is not told. */
static void judge(const world *w, size_t what, int64_t rc)
{
    const int64_t want = asked[what].expected == ONES ? (int64_t)w->ones : asked[what].expected;
    if (rc < 0 ? failed && (!told || (rc == e.code && e.msg[0]))
               : rc == want || (failed && asked[what].run == do_fits))
        return;
    FAILED("%s, %s: call %ld, %s failed: %lld, %s\n", w->name, asked[what].name, fail_at,
        failed ? failed_call : "none", (long long)rc, rc < 0 ? e.msg : "");
}

static void each_call_fails(world *w, size_t what, bf_error *hears)
{
    long n = 0;
    const int before = failed_here;
    const bool closes =
        asked[what].run == do_open || asked[what].run == do_construct || asked[what].run == do_make;
    do {
        e = (bf_error){ 0 };
        calls = held = 0;
        fail_at = ++n;
        failed = false;
        armed = true;
        told = hears;
        int64_t rc = asked[what].run(w);
        armed = false;
        if (!failed && (rc == BF_ENOTSUP || rc == BF_EINVAL)) {
            told = &e;
            return;
        }
        judge(w, what, rc);
        told = &e;
        if (closes && held)
            FAILED("%s, %s: call %ld, %s failed: %ld allocations are left\n", w->name,
                asked[what].name, n, failed_call, held);
        if (!asked[what].stays)
            world_make(w);
        else if (bf_test_many(w->f, world_keys, WORLD_KEYS, NULL, &e) != WORLD_KEYS) {
            FAILED("%s, %s: call %ld, %s failed: afterwards %s\n", w->name, asked[what].name, n,
                failed_call, e.msg);
            world_make(w);
        }
    } while (failed && n < CALLS_MOST && failed_here < before + 5);
    CHECK(n < CALLS_MOST);
}

static void every_call(bool good, bf_error *hears)
{
    for_good = good;
    rs_command(&redis, "ACL SETUSER w on >pw ~* +@all");
    for (size_t i = 0; i < WORLDS; i++) {
        for (size_t what = 0; what < ASKED; what++)
            if (world_make(worlds + i)) each_call_fails(worlds + i, what, hears);
        world_forget(worlds + i);
    }
}

TEST(every_call_fails_once) { every_call(false, &e); }
TEST(every_call_fails_and_nobody_hears) { every_call(false, NULL); }
TEST(from_every_call_on_all_fail) { every_call(true, &e); }

int main(void) { return main_with_redis(&redis); }
