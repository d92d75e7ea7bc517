/* test_nowait.c - calls of a thread that must not wait (bf_set_nowait):  BF_EBUSY in place of a
 * wait, and what another thread then has to repeat.  About core/base/wait.c. */
/* wraps: flock nanosleep clock_gettime */
#include "bloomfilter_host.h"
#include "own_clock.h"

enum { KEYS = 200 };
static char path[] = "/tmp/bf-nowait-XXXXXX";
static bf_error e;
static bf_key keys[KEYS];
static uint32_t numbers[KEYS];
static double now_is = 1000;
static double clock_of(void *unused) { return now_is; }

/* After so many locks the next one is held by another process, once; below 0: none is. */
static int free_locks = -1;
REPLACED(int, flock, (int fd, int how))
{
    if (free_locks < 0 || how == LOCK_UN || free_locks-- > 0) return __real_flock(fd, how);
    errno = EWOULDBLOCK;
    return -1;
}

static bf_filter *open_(bf_spec spec)
{
    unlink(path);
    spec.storage = path;
    spec.threads = true;
    bf_filter *f = bf_open(&spec, &e);
    CHECK(f != NULL);
    return f;
}

/* As often as the repetitions of a host: what was new in any of them is new. */
static int64_t add_in_two_threads(bf_filter *f, int lock, unsigned from, unsigned n)
{
    uint8_t each[KEYS] = { 0 }, before[KEYS];
    e = (bf_error){ 0 };
    bf_set_nowait(true);
    const int64_t rc = bf_add_many(f, keys + from, n, each, &e);
    bf_set_nowait(false);
    if (lock >= 0) flock(lock, LOCK_UN);
    CHECK_EQ(rc, BF_EBUSY);
    CHECK_HAS(e.msg, "this call does not wait");
    CHECK(e.key <= n);
    const size_t done = e.key <= n ? e.key : n;
    memcpy(before, each, sizeof each);
    CHECK(bf_add_many(f, keys + from + done, n - done, each + done, &e) >= 0);
    int64_t fresh = 0;
    for (unsigned i = 0; i < n; i++) fresh += each[i] | (i >= done && before[i]);
    return fresh;
}

static int locked(void)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    CHECK(fd >= 0 && flock(fd, LOCK_EX) == 0);
    return fd;
}

TEST(the_first_write_waits_for_the_disk)
{
    const bf_spec kinds[] = { { .n = 1000, .p = 1e-6 }, { .n = 1000, .p = 1e-6, .counting = true },
        { .n = 1000, .p = 1e-6, .grow = 2 },
        { .n = 1000, .p = 1e-6, .window = 10, .clock = clock_of } };
    for (size_t i = 0; i < COUNT(kinds); i++) {
        bf_filter *f = open_(kinds[i]);
        CHECK_EQ(add_in_two_threads(f, -1, 0, KEYS), KEYS);
        bf_set_nowait(true);
        uint8_t each[KEYS];
        CHECK_EQ(bf_add_many(f, keys, KEYS, each, &e), 0);
        CHECK_EQ(bf_test_many(f, keys, KEYS, each, &e), KEYS);
        CHECK_EQ(bf_sync(f, &e), BF_EBUSY);
        bf_set_nowait(false);
        bf_close(f);
    }
}

TEST(a_filter_grows_in_a_thread_that_may_wait)
{
    for (int in_file = 0; in_file < 2; in_file++) {
        const bf_spec spec = { .n = 50, .p = 1e-6, .grow = 2, .threads = true };
        bf_filter *f = in_file ? open_(spec) : bf_open(&spec, &e);
        CHECK_EQ(bf_add_many(f, keys, 30, NULL, &e), 30);
        CHECK_EQ(add_in_two_threads(f, -1, 0, KEYS), KEYS - 30);
        CHECK_EQ(bf_test_many(f, keys, KEYS, NULL, &e), KEYS);
        bf_close(f);
    }
}

TEST(a_step_of_a_window_takes_the_lock)
{
    bf_filter *f = open_((bf_spec){ .n = 1000, .p = 1e-6, .window = 10, .clock = clock_of });
    CHECK_EQ(bf_add_many(f, keys, 50, NULL, &e), 50);
    now_is += 5;
    const int fd = locked();
    CHECK_EQ(add_in_two_threads(f, fd, 0, KEYS), KEYS - 50);
    close(fd);
    bf_close(f);
}

TEST(a_rebuild_takes_the_lock)
{
    for (int counting = 0; counting < 2; counting++) {
        bf_filter *f = open_((bf_spec){ .n = 1000, .p = 1e-6, .counting = counting });
        CHECK_EQ(bf_add_many(f, keys, 50, NULL, &e), 50);
        bf_filter *fresh = bf_rebuild_begin(f, &e);
        const int fd = locked();
        CHECK_EQ(add_in_two_threads(f, fd, 0, KEYS), KEYS - 50);
        CHECK_EQ(bf_rebuild_end(f, fresh, &e), 0);
        CHECK_EQ(bf_test_many(f, keys, KEYS, NULL, &e), KEYS);
        close(fd);
        CLOSE(fresh, f);
    }
}

/* The deadline is one for all waits of the thread: the second call does not wait any more. */
TEST(a_deadline_ends_all_waits)
{
    enum { PAUSE = 2 }; /* ms, or less: how late a wait may end */
    static const struct {
        unsigned ms;
        const char *says;
    } rows[] = { { 400, "waited 0 seconds" }, { 600, "waited 1 seconds" },
        { 1400, "waited 1 seconds" }, { 1600, "waited 2 seconds" } };
    bf_filter *f = open_((bf_spec){ .n = 1000, .p = 1e-6, .counting = true });
    CHECK_EQ(bf_add_many(f, keys, KEYS, NULL, &e), KEYS);
    const int fd = locked();
    own_clock(true);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const uint64_t until = own_ms() + rows[i].ms;
        bf_set_deadline(until);
        CHECK_REFUSED(bf_remove(f, keys[0].ptr, keys[0].len, &e), BF_EIO, rows[i].says);
        const uint64_t ended = own_ms();
        CHECK(ended >= until && ended <= until + PAUSE);
        CHECK_REFUSED(bf_remove(f, keys[0].ptr, keys[0].len, &e), BF_EIO, "waited 0 seconds");
        CHECK_EQ(own_ms(), ended);
    }
    own_clock(false);
    flock(fd, LOCK_UN);
    CHECK_EQ(bf_remove(f, keys[0].ptr, keys[0].len, &e), 1);
    bf_set_deadline(0);
    close(fd);
    bf_close(f);
}

TEST(a_removal_is_done_or_not)
{
    uint8_t each[KEYS], counts[KEYS];
    bf_filter *f = open_((bf_spec){ .n = 1000, .p = 1e-6, .counting = true });
    CHECK_EQ(bf_add_many(f, keys, KEYS, NULL, &e), KEYS);
    const int fd = locked();
    own_clock(true);
    const uint64_t began = own_ms();
    bf_set_nowait(true);
    CHECK_EQ(bf_remove_many(f, keys, KEYS, each, &e), BF_EBUSY);
    CHECK_EQ(e.key, 0);
    CHECK_EQ(bf_remove(f, keys[0].ptr, keys[0].len, &e), BF_EBUSY);
    CHECK_EQ(bf_test_many(f, keys, KEYS, each, &e), KEYS);
    CHECK_EQ(bf_count_many(f, keys, KEYS, counts, &e), KEYS);
    bf_set_nowait(false);
    CHECK_EQ(own_ms(), began); /* none of them waited */
    own_clock(false);
    flock(fd, LOCK_UN);
    CHECK_EQ(bf_remove_many(f, keys, KEYS, each, &e), KEYS);
    CHECK_EQ(bf_test_many(f, keys, KEYS, each, &e), 0);
    close(fd);
    bf_close(f);
}

/* A key that is removed twice takes another one's counters. */
TEST(a_removal_stops_in_the_middle_of_a_batch)
{
    uint8_t each[KEYS];
    bf_filter *f = open_((bf_spec){ .n = 1000, .p = 1e-6, .counting = true });
    for (int twice = 0; twice < 2; twice++) CHECK(bf_add_many(f, keys, KEYS, NULL, &e) >= 0);
    free_locks = 2;
    bf_set_nowait(true);
    CHECK_EQ(bf_remove_many(f, keys, KEYS, each, &e), BF_EBUSY);
    bf_set_nowait(false);
    const size_t done = e.key;
    CHECK(done > 0 && done < KEYS && free_locks < 0);
    CHECK_EQ(bf_remove_many(f, keys + done, KEYS - done, each + done, &e), KEYS - done);
    CHECK_EQ(bf_count_many(f, keys, KEYS, each, &e), KEYS);
    for (unsigned i = 0; i < KEYS; i++) CHECK_EQ(each[i], 1);
    bf_close(f);
}

int main(void)
{
    close(mkstemp(path));
    for (unsigned i = 0; i < KEYS; i++) {
        numbers[i] = i;
        keys[i] = (bf_key){ numbers + i, sizeof *numbers };
    }
    run_tests();
    unlink(path);
    return FINISH();
}
