/* test_redis_failing_calls.c - every kind of filter in Redis, every call of it, with the 1st, 2nd,
 * 3rd ... call to the system failing, until it goes through: what is told is right or an error with
 * its code, nothing leaks, and the next call works.  test_failing_calls.c does the same in the
 * other homes.  Its own server.  About core/redis/store.c, core/redis/socket.c. */
/* wraps: malloc calloc realloc strdup strndup free open fsync ftruncate fstat rename msync */
/* wraps: linkat posix_fallocate mmap pread pwrite send recv poll getentropy */
/* wraps: setsockopt */
#define _GNU_SOURCE
#include "failing_calls.h"
#include "redis_worlds.h"

WRAP(int, setsockopt, (int fd, int level, int name, const void *v, socklen_t n),
    (fd, level, name, v, n), -1, ENOMEM)

enum { CALLS_MOST = 3000 };
static bf_error *hears; /* the caller's bf_error, or NULL */

static void wrong(const world *w, size_t call, const char *what, int64_t rc)
{
    FAILED("%s, %s: call %ld, %s failed: %s: %lld, %s\n", w->name, calls_of[call].name, fail_at,
        failed ? failed_call : "none", what, (long long)rc, rc < 0 ? e.msg : "");
}

/* A failure that costs nothing, as of a temporary key that stays, is no error. */
static void each_call_fails(world *w, size_t call)
{
    for (long n = 1; failed || n == 1; n++) {
        e = (bf_error){ 0 };
        calls = held = 0;
        fail_at = n;
        failed = false;
        armed = true;
        heard = hears;
        const int64_t rc = calls_of[call].run(w);
        armed = false;
        heard = &e;
        if (!failed && has_none(rc)) break;
        if (rc < 0 ? !failed || (hears && (rc != e.code || !e.msg[0]))
                   : rc != expected(w, call) && !(failed && calls_of[call].run == do_fits))
            wrong(w, call, "told", rc);
        if (calls_of[call].is & OWN && held) wrong(w, call, "allocations are left", held);
        bool fine = (calls_of[call].is & STAYS) != 0;
        if (fine && bf_test_many(w->f, world_keys, WORLD_KEYS, NULL, &e) != WORLD_KEYS) {
            wrong(w, call, "afterwards", e.code);
            fine = false;
        }
        if (!fine) world_make(w);
        if (n == CALLS_MOST) wrong(w, call, "without an end", rc);
        if (n == CALLS_MOST || failed_here > 20) break;
    }
    failed = false;
}

/* Errors are made by the same functions for all kinds. */
static bool is_alike(const world *w)
{
    return hears == NULL && (w->login || w->client || w->spec.cache || w->spec.counting);
}
static void every_call(bool good, bf_error *err)
{
    for_good = good;
    hears = err;
    failed = false;
    each_call(is_alike, each_call_fails);
}

TEST(every_call_fails_once) { every_call(false, &e); }
TEST(every_call_fails_and_nobody_hears) { every_call(false, NULL); }
TEST(from_every_call_on_all_fail) { every_call(true, &e); }

int main(void) { return main_with_redis(&redis); }
