/* test_overfull.c - what follows once a filter holds more keys than it is sized for, by its
 * `overfull`: adds are refused until it is cleared or rebuilt, at the same check that warns. */
#define _GNU_SOURCE
#include "bloomfilter_host.h"
#include "check.h"

enum { N = 1000, ALL = 4 * N };
static bf_error e;
static char path[64], other_path[72];
static uint64_t number[ALL];
static bf_key keys[ALL];

static double now = 1000;
static double clock_of(void *ctx) { return (void)ctx, now; }

static const bf_spec specs[] = { { .n = N, .p = 0.01 }, { .n = N, .p = 0.01, .counting = true },
    { .n = N, .p = 0.01, .threads = true }, { .n = N, .p = 0.01, .scheme = "classic" },
    { .n = N, .p = 0.01, .storage = path },
    { .n = N, .p = 0.01, .storage = path, .counting = true },
    { .n = N, .p = 0.01, .window = 100, .clock = clock_of },
    { .n = N, .p = 0.01, .window = 100, .clock = clock_of, .storage = path } };

static bf_filter *opened(size_t row, unsigned overfull)
{
    bf_spec spec = specs[row];
    spec.overfull = overfull;
    bf_filter *f = bf_open(&spec, &e);
    if (!f) FAILED("row %zu: %s\n", row, e.msg);
    return f;
}
static void end(bf_filter *f)
{
    bf_close(f);
    unlink(path);
}
static unsigned present(bf_filter *f, size_t from, size_t to)
{
    return (unsigned)bf_test_many(f, keys + from, to - from, NULL, &e);
}

/* Returns the number of keys added before the first refusal: batches of so many keys, 0: singly. */
static size_t fill(bf_filter *f, size_t batch)
{
    for (size_t i = 0; i < ALL; i += batch ? batch : 1) {
        const int64_t rc = batch ? bf_add_many(f, keys + i, batch, NULL, &e)
                                 : bf_add(f, keys[i].ptr, keys[i].len, &e);
        if (rc >= 0) continue;
        CHECK_EQ(rc, BF_EFULL);
        CHECK_HAS(e.msg, "holds more than the n=1000 keys that it is sized for");
        CHECK((batch == 0) == (e.key == BF_NO_KEY));
        return batch ? i + e.key : i;
    }
    return ALL;
}

TEST(keys_past_the_check_are_refused)
{
    static const size_t batches[] = { 0, 1, 10, 500, ALL };
    for (size_t row = 0; row < COUNT(specs); row++)
        for (size_t b = 0; b < COUNT(batches); b++) {
            bf_filter *f = opened(row, BF_OVERFULL_RAISE);
            const size_t in = fill(f, batches[b]);
            if (in <= N || in > 2 * N) FAILED("row %zu, batch %zu: %zu\n", row, batches[b], in);
            CHECK_EQ(present(f, 0, in), in);
            CHECK(present(f, in, ALL) < (ALL - in) / 2);
            CHECK_EQ(bf_add(f, "x", 1, &e), BF_EFULL);
            CHECK(bf_add_many(f, keys + in, 1, NULL, &e) == BF_EFULL && e.key == 0);
            CHECK_EQ(bf_add_many(f, keys, 0, NULL, &e), 0);
            CHECK_EQ(bf_test(f, keys[0].ptr, keys[0].len, &e), 1);
            CHECK_EQ(bf_clear(f, &e), 0);
            CHECK_EQ(bf_add_many(f, keys, N / 2, NULL, &e) > N / 3, 1);
            end(f);
        }
}

TEST(a_warning_and_none)
{
    for (size_t row = 0; row < COUNT(specs); row++)
        for (unsigned how = 0; how <= BF_OVERFULL_IGNORE; how++) {
            char sentence[BF_SENTENCE_BYTES];
            int64_t left;
            bf_info info;
            bf_filter *f = opened(row, how);
            const size_t in = fill(f, 500);
            bf_get_info(f, &info);
            CHECK(info.overfull == how && (in < ALL) == (how == BF_OVERFULL_RAISE));
            CHECK_EQ(bf_check_fill(f, &left, sentence, sizeof sentence), how <= BF_OVERFULL_WARN);
            CHECK(left == INT64_MAX);
            end(f);
        }
}

/* Several processes add: each checks every n / 64 of its own keys. */
TEST(a_file_that_others_fill)
{
    bf_filter *f[8];
    size_t in = 0;
    int64_t rc = 0;
    for (size_t i = 0; i < COUNT(f); i++) f[i] = opened(4, BF_OVERFULL_RAISE);
    for (size_t i = 0; rc >= 0 && i < ALL; i++) {
        rc = bf_add(f[i % COUNT(f)], keys[i].ptr, keys[i].len, &e);
        in = i;
    }
    CHECK(rc == BF_EFULL && in > N && in < 3 * N / 2);
    bf_filter *other = opened(4, 0);
    CHECK(other && bf_clear(other, &e) == 0);
    for (size_t i = 0; i < COUNT(f); i++) CHECK(bf_add(f[i], keys[i].ptr, keys[i].len, &e) >= 0);
    bf_close(other);
    for (size_t i = 0; i < COUNT(f); i++) bf_close(f[i]);
    unlink(path);
}

/* Time makes room, though no add can move the newest epoch. */
TEST(a_window_forgets)
{
    for (size_t row = 6; row < COUNT(specs); row++) {
        bf_filter *f = opened(row, BF_OVERFULL_RAISE);
        CHECK(fill(f, 10) < ALL && bf_add(f, "x", 1, &e) == BF_EFULL);
        now += 300;
        CHECK_EQ(bf_add(f, "x", 1, &e), BF_ADDED);
        end(f);
    }
}

TEST(growing_is_room)
{
    bf_filter *f =
        bf_open(&(bf_spec){ .n = N, .p = 0.01, .grow = 2, .overfull = BF_OVERFULL_RAISE }, &e);
    CHECK_EQ(fill(f, 100), ALL);
    bf_close(f);
}

TEST(rebuilds_unions_and_copies)
{
    for (size_t row = 0; row < 6; row++) {
        bf_filter *f = opened(row, BF_OVERFULL_RAISE);
        const size_t in = fill(f, 10);
        bf_filter *copy = bf_copy(f, &e);
        CHECK(copy && bf_add(copy, "x", 1, &e) == BF_EFULL);
        bf_filter *fresh = bf_rebuild_begin(f, &e);
        CHECK(fresh && bf_add_many(fresh, keys, N / 2, NULL, &e) > 0);
        CHECK(bf_rebuild_end(f, fresh, &e) == 0 && bf_add(f, "x", 1, &e) == BF_ADDED);
        bf_close(fresh);
        CHECK((fresh = bf_rebuild_begin(f, &e)) && fill(fresh, 0) <= in + N / 4);
        CHECK_EQ(bf_rebuild_cancel(f, fresh, &e), 0);
        CHECK(bf_unite(f, copy, &e) >= 0 && bf_add(f, "y", 1, &e) == BF_EFULL);
        bf_close(fresh);
        bf_close(copy);
        end(f);
    }
}

/* It is not stored: what is read says what follows. */
TEST(filters_that_are_read)
{
    static uint8_t image[1 << 16];
    for (size_t row = 0; row < 6; row++) {
        bf_spec expect = { .counting = specs[row].counting };
        bf_filter *f = opened(row, BF_OVERFULL_RAISE);
        const size_t in = fill(f, 500);
        const int64_t len = bf_bytes_as(f, NULL, &e);
        CHECK(len > 0 && bf_to_bytes(f, image, sizeof image, &e) == 0);
        CHECK_EQ(bf_save(f, other_path, &e), 0);
        for (expect.overfull = 0; expect.overfull <= BF_OVERFULL_IGNORE; expect.overfull++) {
            bf_filter *read[] = { bf_from_bytes(image, (size_t)len, &expect, &e),
                bf_load(other_path, &expect, &e) };
            for (size_t i = 0; i < COUNT(read); i++) {
                CHECK(read[i] && present(read[i], 0, in) == in);
                const bool raises = expect.overfull == BF_OVERFULL_RAISE;
                CHECK_EQ(bf_add(read[i], "x", 1, &e), raises ? BF_EFULL : BF_ADDED);
                CHECK_EQ(bf_add_many(read[i], keys, ALL, NULL, &e) < 0, raises);
                bf_close(read[i]);
            }
        }
        expect.overfull = 4;
        CHECK(!bf_from_bytes(image, (size_t)len, &expect, &e) && e.code == BF_EINVAL);
        CHECK(!bf_load(other_path, &expect, &e) && e.code == BF_EINVAL);
        unlink(other_path);
        end(f);
    }
}

TEST(an_open_filter_changes)
{
    for (size_t row = 0; row < COUNT(specs); row++) {
        bf_filter *f = opened(row, 0);
        CHECK_EQ(fill(f, 500), ALL);
        CHECK_EQ(bf_add(f, "x", 1, &e) >= 0, 1);
        for (unsigned how = BF_OVERFULL_IGNORE; how > 0; how--) {
            bf_info info;
            bf_set_overfull(f, how);
            bf_get_info(f, &info);
            CHECK_EQ(info.overfull, how);
            CHECK_EQ(bf_add(f, "y", 1, &e) < 0, how == BF_OVERFULL_RAISE);
            CHECK_EQ(bf_add_many(f, keys, 9, NULL, &e) < 0, how == BF_OVERFULL_RAISE);
        }
        end(f);
    }
}

TEST(names_and_numbers)
{
    static const char *const names[] = { NULL, "warn", "raise", "ignore" };
    unsigned how;
    for (unsigned i = 1; i < COUNT(names); i++)
        CHECK(bf_read_overfull(names[i], &how, &e) == 0 && how == i &&
              strcmp(bf_overfull_name(i), names[i]) == 0);
    CHECK(!bf_overfull_name(0) && !bf_overfull_name(4));
    CHECK_EQ(bf_read_overfull("Raise", &how, &e), BF_EINVAL);
    CHECK_HAS(e.msg, "overfull must be warn, raise or ignore, got Raise");
    CHECK(!bf_open(&(bf_spec){ .n = N, .p = 0.1, .overfull = 4 }, &e) && e.code == BF_EINVAL);
}

/* A small filter is counted, not sampled: not one bit less than are set. */
TEST(the_check_agrees_with_the_state)
{
    uint64_t wait;
    bf_state st;
    bf_filter *f = bf_open(&(bf_spec){ .m = 5632, .k = 1, .n = 2000, .scheme = "classic" }, &e);
    CHECK(f != NULL);
    for (int i = 0; i < 6000; i++) {
        CHECK(bf_add(f, &i, sizeof i, &e) >= 0);
        CHECK(bf_get_state(f, &st, &e) == 0 && bf_saturated(f, &wait, &e) == st.saturated);
    }
    CHECK_EQ(st.saturated, BF_OVERFULL);
    bf_close(f);
}

int main(void)
{
    snprintf(path, sizeof path, "/tmp/bf-overfull-%d.bloom", getpid());
    snprintf(other_path, sizeof other_path, "%s.saved", path);
    for (size_t i = 0; i < ALL; i++) {
        number[i] = i * UINT64_C(0x9E3779B97F4A7C15);
        keys[i] = (bf_key){ &number[i], sizeof number[i] };
    }
    run_tests();
    FINISH();
}
