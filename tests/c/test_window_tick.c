/* test_window_tick.c - filters that forget by the system's clock.  Tests read the time of its last
 * tick, adds the exact time: here both are of the test's making, the tick up to 10 ms behind.  A
 * key is found from its add until `window` later at least, and is gone a step and a tick after
 * that; where a part lasts less than a second no tick is read, and none is added.
 * wraps: clock_gettime
 *
 * Runs with both kernels.  About core/parts/window.c. */
#define _GNU_SOURCE
#include "folder.h"
#include "must.h"
#include "native.h"
#include "xorshift.h"

static double now, tick = 0.01, phase; /* seconds; a tick is at phase + i * tick */
static unsigned ticks_read, times_read;

int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
    double s = now;
#ifdef CLOCK_REALTIME_COARSE
    if (clock == CLOCK_REALTIME_COARSE) {
        ticks_read++;
        s = floor((now - phase) / tick) * tick + phase;
    }
#endif
    times_read += clock == CLOCK_REALTIME;
    t->tv_sec = (time_t)floor(s);
    t->tv_nsec = (long)((s - floor(s)) * 1e9);
    return 0;
}

static int add(bf_filter *f, uint64_t key) { return bf_add(f, &key, sizeof key, &e); }
static int has(bf_filter *f, uint64_t key) { return bf_test(f, &key, sizeof key, &e); }
static int has_of_many(bf_filter *f, uint64_t key)
{
    return (int)bf_test_many(f, &(bf_key){ &key, sizeof key }, 1, NULL, &e);
}

/* ---- against an exact memory of when each key was added ---- */
enum { KEYS = 200 };
static double part_of(double whole) { return whole * (double)(next() % 1000) / 1000; }

/* On to somewhere close to a bound of a part, a tick before it or after it, or anywhere. */
static void let_time_pass(double step)
{
    const double bound = (floor(now / step) + (double)(next() % 3)) * step;
    const double to = bound + part_of(4 * tick) - 2 * tick;
    if (to > now)
        now = to;
    else
        now += part_of(tick);
}

static double own_clock(void *unused) { return now; }

static void against_exact_times(
    double window, unsigned parts, bool file, const char *scheme, bool own)
{
    const double step = window / parts, late = !own && step >= 1 ? tick : 0, slack = 1e-6;
    double added[KEYS];
    unsigned gone = 0, kept = 0, close = 0;
    bf_filter *f = OPEN(.n = KEYS, .p = 1e-6, .window = window, .parts = parts, .scheme = scheme,
        .storage = file ? path : NULL, .clock = own ? own_clock : NULL);
    for (int i = 0; i < KEYS; i++) added[i] = -INFINITY;
    for (int i = 0; i < (own ? 6000 : 20000); i++) {
        const uint64_t key = next() % KEYS;
        const double age = now - added[key];
        const int found = next() % 8 ? has(f, key) : has_of_many(f, key);
        CHECK(found == 1 || age > window - slack);
        close += found == 1 && age > window - tick;
        /* its part's time is over: that of the epoch in which it was added, and of `parts` more */
        if (now > (floor((added[key] + slack) / step) + parts + 1) * step + late + slack) {
            gone++;
            kept += found == 1;
        }
        if (next() % 4 == 0) {
            const int rc = add(f, key);
            CHECK(rc >= 0 && (rc == BF_ADDED || found == 1 || kept));
            added[key] = now;
            CHECK_EQ(has(f, key), 1);
        }
        if (next() % 4 == 0) let_time_pass(step);
        if (own && next() % 500 == 0) now += window * (double)(next() % 300) / 100;
        if (next() % 1000) continue;
        bf_filter *again = file ? NULL : must(bf_copy(f, &e), __LINE__);
        CHECK(file || bf_equal(again, f, &e) == 1);
        bf_close(f);
        f = file ? OPEN(.storage = path, .clock = own ? own_clock : NULL) : again;
    }
    CHECK(own ? gone > 100 : gone > 1000 && close > 10);
    CHECK(kept <= 1); /* p is 1e-6 */
    bf_close(f);
    if (file) unlink(path);
}

TEST(every_tick)
{
    static const double ticks[] = { 0.004, 0.0067, 0.0093 }; /* not all divide the window */
    for (size_t i = 0; i < COUNT(ticks); i++)
        for (unsigned parts = 1; parts <= 7; parts += 3)
            for (int file = 0; file < 2; file++) {
                tick = ticks[i];
                phase = part_of(tick);
                now = 1.7e9 + part_of(1000);
                against_exact_times(parts, parts, file, NULL, false); /* parts of a second */
                against_exact_times(60, parts, file, NULL, false);
                /* too short for ticks */
                against_exact_times(0.05 * parts, parts, file, NULL, false);
            }
}

/* By a clock of the program's. */
TEST(every_window)
{
    static const unsigned parts[] = { 1, 2, 3, 4, 7, 24, 255 };
    for (size_t i = 0; i < COUNT(parts); i++)
        for (int file = 0; file < 2; file++) {
            now = 0;
            against_exact_times(60, parts[i], file, "block", true);
            now = 1.7e9 + 1234.5;
            against_exact_times(86400, parts[i], file, "classic", true);
            against_exact_times(25, parts[i], file, "block2", true);
        }
    now = -5000; /* before the epoch's epoch */
    against_exact_times(10, 3, false, "block", true);
}

/* ---- who reads which ---- */
TEST(tests_alone_read_the_tick)
{
#ifndef CLOCK_REALTIME_COARSE
    SKIP("no coarse clock here");
#endif
    bf_filter *f = OPEN(.n = KEYS, .p = 1e-6, .window = 60),
              *g = OPEN(.n = KEYS, .p = 1e-6, .window = 6, .parts = 7);
    ticks_read = times_read = 0;
    CHECK_EQ(add(f, 1), BF_ADDED);
    CHECK_EQ(ticks_read, 0);
    CHECK(times_read > 0);
    times_read = 0;
    CHECK_EQ(has(f, 1), 1);
    CHECK_EQ(has_of_many(f, 1), 1);
    CHECK_EQ(ticks_read, 2);
    CHECK_EQ(times_read, 0);
    CHECK_EQ(has(g, 1), 0); /* its parts last less than a second */
    CHECK_EQ(ticks_read, 2);
    CHECK(times_read > 0);
    CLOSE(f, g);
}

int main(void) { return main_in_folder(); }
