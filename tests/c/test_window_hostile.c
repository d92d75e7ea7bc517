/* test_window_hostile.c - forgetting and growing filters that strangers wrote: live words later
 * than any clock, in bytes and under the map (which are refused: test_header.c); filters of the
 * future united; descriptions that no spec makes, and that would make gigabytes of one add.
 * Whatever is opened answers: an alarm ends what does not.  About core/parts/window.c,
 * core/format/header.c. */
#define _GNU_SOURCE
#include "../../core/bits/bits.h"
#include "../../core/parts/parts.h"
#include "folder.h"
#include "chain_bytes.h"
#include "numbers.h"
#include "paged.h"

static double now_is;
static double clock_of(void *p) { return p ? *(double *)p : now_is; }
#define CLOCKED(...) OPEN(.clock = clock_of, __VA_ARGS__)
#define FORGETS .n = 200, .p = 0.01, .window = 40, .parts = 3

/* ---- live words ---- */
enum { RING = 4, NOW = 300 }; /* 40 s of window in 3 parts; epoch NOW at 4000 s */
#define EPOCH_SECONDS (40.0 / 3)

/* Refused, or it does what a filter does. */
static void lives(bf_filter *f)
{
    bf_error why = { 0 };
    bf_state state;
    if (!f) {
        CHECK_EQ(e.code, BF_EFORMAT);
        return;
    }
    bf_filter *other = CLOCKED(FORGETS);
    int rc = bf_add(f, "x", 1, &why);
    CHECK(rc >= 0 || why.code == BF_EFORMAT);
    CHECK(rc < 0 || bf_test(f, "x", 1, &why) == 1);
    CHECK(bf_add_many(f, (bf_key[]){ { "y", 1 }, { "z", 1 } }, 2, NULL, &why) >= 0 ||
          why.code == BF_EFORMAT);
    CHECK_EQ(bf_get_state(f, &state, &why), 0);
    add_numbers(other, 0, 10);
    CHECK(bf_unite(f, other, &why) == 0 || why.code == BF_EFORMAT);
    CHECK(bf_unite(other, f, &why) == 0 || why.code == BF_EFORMAT);
    CHECK_EQ(found(other, 0, 10), 10);
    CLOSE(other, f);
}

static const int64_t words[] = { BF_NEVER, 0, -5, NOW - 4, NOW - 1, NOW, NOW + 1, NOW + 4,
    NOW + 1000000, INT64_C(1) << 45, INT64_C(1) << 46, (INT64_C(1) << 47) - 1, BF_NEVER + 1,
    -(INT64_C(1) << 46) };
enum { WORDS = COUNT(words) };

TEST(any_live_words)
{
    uint64_t len;
    now_is = NOW * EPOCH_SECONDS + 1;
    bf_filter *f = CLOCKED(FORGETS);
    uint8_t *b = paged_bytes(f, &len);
    const bf_spec mine = { .clock = clock_of };
    for (int whole = 0; whole < WORDS; whole++)
        for (int part = 0; part < WORDS; part++)
            for (unsigned which = 0; which <= RING; which++) { /* one part, or all of them */
                set_live(b, words[whole]);
                for (unsigned i = 0; i < RING; i++)
                    set_live(page_of(b, i), which == RING || which == i ? words[part] : BF_NEVER);
                lives(bf_from_bytes(b, len, &mine, &e));
                if (which < RING && which != (unsigned)(NOW % RING)) continue;
                put_file(path, b, len);
                lives(bf_load(path, &mine, &e));
                lives(bf_open(&(bf_spec){ .storage = path, .clock = clock_of }, &e));
            }
    bf_close(f);
    free(b);
    unlink(path);
}

/* A power loss, or a copy made while others add: the whole's page may be older than a part's.  No
 * key is lost by it. */
TEST(a_whole_that_is_older_than_its_parts)
{
    uint64_t len;
    now_is = NOW * EPOCH_SECONDS + 1;
    bf_filter *f = CLOCKED(FORGETS), *g;
    add_numbers(f, 0, 50);
    uint8_t *b = paged_bytes(f, &len);
    set_live(b, NOW - 9);
    for (int home = 0; home < 4; home++) {
        put_file(path, b, len);
        if (home == 0)
            g = bf_from_bytes(b, len, &(bf_spec){ .clock = clock_of }, &e);
        else if (home == 1)
            g = bf_load(path, &(bf_spec){ .clock = clock_of }, &e);
        else
            g = bf_open(
                &(bf_spec){ .storage = path, .clock = clock_of, .read_only = home == 3 }, &e);
        CHECK_EQ(found(must(g, __LINE__), 0, 50), 50);
        CHECK(home == 3 || bf_live(g->epoch) == NOW);
        CHECK(home == 3 ? bf_add(g, "x", 1, &e) == BF_ENOTSUP : bf_add(g, "x", 1, &e) == BF_ADDED);
        bf_close(g);
    }
    bf_close(f);
    free(b);
    unlink(path);
}

TEST(live_words_that_change_under_the_map)
{
    now_is = NOW * EPOCH_SECONDS + 1;
    for (int part = 0; part < WORDS; part++)
        for (int whole = 0; whole < WORDS; whole++) {
            bf_filter *f = CLOCKED(FORGETS, .storage = path);
            bf_state state;
            add_numbers(f, 0, 5);
            for (unsigned i = 0; i < RING; i++) bf_live_set(f->part[i]->live, words[part]);
            bf_live_set(f->epoch, words[whole]);
            int rc = bf_add(f, "x", 1, &e);
            CHECK(rc >= 0 ||
                  (rc == BF_EFORMAT && strstr(e.msg, "is damaged") && strstr(e.msg, path)));
            CHECK(bf_test(f, "x", 1, &e) >= 0 && bf_get_state(f, &state, &e) == 0);
            bf_filter *copy = bf_copy(f, &e);
            CHECK(copy && bf_unite(copy, copy, NULL) != BF_EIO);
            CLOSE(copy, f);
            unlink(path);
        }
    bf_filter *f = CLOCKED(FORGETS, .storage = path);
    memset(f->part[NOW % RING]->live, 0xFF, 8); /* no sound word at all */
    CHECK(bf_add(f, "x", 1, &e) >= 0);
    bf_close(f);
    unlink(path);
}

/* ---- unions ---- */
/* From any distance in the future: our keys stay for their time, the others are in, and count from
 * now. */
TEST(unions_with_the_future)
{
    static const double ahead[] = { 5, 14, 60, 3600, 3e8, 4e11 };
    for (size_t i = 0; i < COUNT(ahead); i++)
        for (int file = 0; file < 2; file++) {
            double theirs = 4000 + ahead[i];
            now_is = 4000;
            bf_filter *f = CLOCKED(FORGETS, .storage = file ? path : NULL),
                      *other = CLOCKED(FORGETS, .clock_ctx = &theirs);
            add_numbers(f, 0, 100);
            add_numbers(other, 1000, 50);
            theirs += 14;
            add_numbers(other, 2000, 50);
            CHECK_EQ(bf_unite(f, other, &e), 0);
            CHECK(found(f, 0, 100) == 100 && found(f, 1000, 50) == 50 && found(f, 2000, 50) == 50);
            CHECK(bf_live(f->epoch) <= (int64_t)(4000 / EPOCH_SECONDS));
            now_is += 40;
            CHECK(found(f, 0, 100) == 100 && found(f, 2000, 50) == 50);
            now_is += 14;
            CHECK(found(f, 0, 100) <= 3 && found(f, 2000, 50) <= 3);
            CLOSE(f, other);
            unlink(path);
        }
}

/* ---- sizes ---- */
TEST(small_images_stay_small)
{
    static const double factors[] = { 1.0000001, 2, 16, 17, 1000, 1024 };
    for (size_t i = 0; i < COUNT(factors); i++)
        for (int file = 0; file < 2; file++) {
            uint64_t len;
            bf_filter *f = OPEN(.n = 1, .p = 0.5, .grow = factors[i]), *g;
            uint8_t *b = paged_bytes(f, &len);
            set_live(page_of(b, 0), 1 << 30); /* it says that it is full */
            put_file(path, b, len);
            g = must(
                file ? bf_open(&(bf_spec){ .storage = path }, &e) : bf_from_bytes(b, len, NULL, &e),
                __LINE__);
            add_numbers(g, 0, 200);
            CHECK_EQ(found(g, 0, 200), 200);
            const bf_info info = info_of(g);
            CHECK(info.m >= 512 && info.m <= 1 << 23); /* a MiB */
            CLOSE(g, f);
            free(b);
            unlink(path);
        }
    bf_filter *f = OPEN(.n = 100000, .p = 0.01, .grow = 1024);
    bf_info first, second;
    bf_get_info(f, &first);
    add_numbers(f, 0, 120000);
    bf_get_info(f, &second);
    CHECK(second.part_count == 2 && second.m <= 17 * first.m && second.m >= 4 * first.m);
    bf_close(f);
}

/* Parts of a size that is near the right one, but ends within a byte: bits of the whole that are no
 * part's. */
TEST(parts_that_are_no_whole_lines)
{
    uint64_t len;
    bf_filter *f = CLOCKED(.n = 1000, .p = 0.01, .window = 60, .parts = 3, .scheme = "classic");
    uint8_t *b = paged_bytes(f, &len), *page = b;
    const uint64_t m = get(b + 32, 8) - 505, bytes = (m + 63) / 64 * 8;
    for (unsigned i = 0; i <= RING; page = b + PAGE + i++ * (PAGE + bytes)) {
        if (i) memmove(page, page_of(b, 0), PAGE);
        put(page + 32, 8, m);
        put(page + 64, 8, bytes);
        if (i) put(page + 160, 4, i - 1);
        if (i) put(page + 2072, 8, 0);
        if (i) put(page + 2048, 8, UINT64_C(0xFFFFFFFE00000001)); /* written in place */
        mend(page);
    }
    put_file(path, b, PAGE + RING * (PAGE + bytes));
    for (int how = 0; how < 3; how++) {
        e = (bf_error){ 0 };
        bf_filter *g = how == 0   ? bf_from_bytes(b, PAGE + RING * (PAGE + bytes), NULL, &e)
                       : how == 1 ? bf_load(path, NULL, &e)
                                  : bf_open(&(bf_spec){ .storage = path }, &e);
        CHECK(!g && e.code == BF_EFORMAT);
        CHECK_HAS(e.msg, "its part 0 has n=1000");
        bf_close(g);
    }
    bf_close(f);
    free(b);
    unlink(path);
}

/* ---- more keys than it was sized for ---- */
TEST(overfull_windows_say_so)
{
    uint64_t wait = 0;
    now_is = 4000;
    bf_filter *f = CLOCKED(FORGETS);
    CHECK(bf_saturated(f, &wait, &e) == 0 && wait == 200);
    for (int i = 0; i < 4;
        i++, now_is += EPOCH_SECONDS) { /* a window's keys in each part: what it is sized for */
        add_numbers(f, 0, 200);
        CHECK_EQ(bf_saturated(f, &wait, &e), 0);
        CHECK(wait >= 1 && wait <= 200);
    }
    now_is -= EPOCH_SECONDS;
    add_numbers(f, 200, 5000);
    bf_state state;
    CHECK_EQ(bf_get_state(f, &state, &e), 0);
    CHECK(state.fpr > 0.9);
    CHECK_EQ(bf_saturated(f, &wait, &e), BF_OVERFULL);
    now_is += 200; /* all of that is forgotten, once somebody adds */
    add_numbers(f, 0, 1);
    CHECK_EQ(bf_saturated(f, &wait, &e), 0);
    bf_close(f);
}

TEST(unions_that_overfill_grown_filters_say_so)
{
    uint64_t wait = 0;
    bf_filter *f = OPEN(.n = 1000, .p = 0.01, .grow = 2), *g = must(bf_copy(f, &e), __LINE__);
    for (int at = 0; at < 30000; at += 500) {
        add_numbers(f, at, 500);
        add_numbers(g, 1000000 + at, 500);
        CHECK(bf_saturated(f, &wait, &e) == 0 && wait >= 1);
    }
    for (int i = 0; i < 3; i++, add_numbers(g, i * 100000 + 2000000, 100))
        CHECK_EQ(bf_unite(f, g, &e), 0);
    bf_state state;
    CHECK_EQ(bf_get_state(f, &state, &e), 0);
    CHECK(state.fpr > 0.015);
    CHECK_EQ(bf_saturated(f, &wait, &e), BF_OVERFULL);
    CLOSE(f, g);
}

int main(void)
{
    alarm(600); /* what spins is ended, and fails */
    return main_in_folder();
}
