/* test_overfull.c - what follows when a filter is full, by its `overfull`: with RAISE it takes the
 * n keys that it is sized for and refuses further ones; with WARN it gives the host's warning
 * before something is added.  About core/keys/capacity.c, core/sets/saturated.c. */
#define _GNU_SOURCE
#include "bloomfilter_host.h"
#include "check.h"

enum { N = 1000, ALL = 4 * N, WINDOWS = 9 };
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
    { .n = N, .p = 0.01, .storage = path, .exclusive = true },
    { .n = N, .p = 0.01, .storage = path, .exclusive = true, .counting = true },
    { .n = N, .p = 0.01, .counting = true, .threads = true },
    { .n = N, .p = 0.01, .window = 100, .clock = clock_of },
    { .n = N, .p = 0.01, .window = 100, .clock = clock_of, .storage = path } };

static bf_filter *opened_for(size_t row, uint64_t n, unsigned overfull)
{
    bf_spec spec = specs[row];
    spec.n = n;
    spec.overfull = overfull;
    bf_filter *f = bf_open(&spec, &e);
    if (!f) FAILED("row %zu: %s\n", row, e.msg);
    return f;
}
static bf_filter *opened(size_t row, unsigned overfull) { return opened_for(row, N, overfull); }
static void end(bf_filter *f)
{
    bf_close(f);
    unlink(path);
}
static unsigned present(bf_filter *f, size_t from, size_t to)
{
    return (unsigned)bf_test_many(f, keys + from, to - from, NULL, &e);
}

static unsigned given; /* number of warnings */
static int answer;     /* what the host's function returns */
static char sentence[BF_SENTENCE_BYTES];
static int give(void *ctx, const char *text)
{
    given += *(unsigned *)ctx;
    CHECK(strlen(text) + 1 < sizeof sentence);
    snprintf(sentence, sizeof sentence, "%s", text);
    return answer;
}
static void watch(bf_filter *f)
{
    static unsigned one = 1;
    given = 0;
    bf_set_warning(f, give, &one);
}

static bool is_shared(size_t row) { return specs[row].storage && !specs[row].exclusive; }

static uint8_t each[ALL];
/* Adds all keys, in batches of so many (0: singly), until one is refused. Returns its index, or
 * ALL; *new: how many were new before. */
static size_t fill_new(bf_filter *f, size_t batch, size_t *new)
{
    *new = 0;
    for (size_t i = 0, c; i < ALL; i += c) {
        c = batch == 0 ? 1 : ALL - i < batch ? ALL - i : batch;
        int64_t rc = batch ? bf_begin_adds(f, &e) : 0;
        if (rc >= 0)
            rc = batch ? bf_add_many(f, keys + i, c, each, &e)
                       : bf_add(f, keys[i].ptr, keys[i].len, &e);
        if (rc >= 0) {
            *new += (size_t)rc;
            continue;
        }
        if (rc != BF_EFULL) return i;
        CHECK_HAS(e.msg, "is full: ");
        CHECK((batch == 0) == (e.key == BF_NO_KEY));
        for (size_t j = 0; batch && j < e.key; j++) *new += each[j];
        return batch ? i + e.key : i;
    }
    return ALL;
}
static size_t fill(bf_filter *f, size_t batch)
{
    size_t new;
    return fill_new(f, batch, &new);
}

/* A handle that alone writes takes exactly n keys; in a file the limit is the estimate. */
TEST(n_keys_and_not_one_more)
{
    static const size_t batches[] = { 0, 10, ALL };
    static const uint64_t sizes[] = { 1, 100, N };
    for (size_t row = 0; row < COUNT(specs); row++)
        for (size_t b = 0; b < COUNT(batches) * COUNT(sizes); b++) {
            const size_t n = sizes[b / COUNT(batches)], batch = batches[b % COUNT(batches)];
            size_t new;
            bf_filter *f = opened_for(row, n, BF_OVERFULL_RAISE);
            const size_t in = fill_new(f, batch, &new), slack = n / 8 + 2;
            /* time makes room in a forgetting filter, so it has no exact number either */
            const bool exact = !is_shared(row) && specs[row].window == 0;
            if (in >= ALL || (exact ? new != n : new + slack < n || new > n + slack))
                FAILED("row %zu, n=%zu, batch %zu: %zu new, key %zu\n", row, n, batch, new, in);
            CHECK_EQ(present(f, 0, in), in);
            CHECK_EQ(bf_add(f, keys[in].ptr, keys[in].len, &e), BF_EFULL);
            CHECK(bf_add_many(f, keys + in, 1, NULL, &e) == BF_EFULL && e.key == 0);
            CHECK_EQ(bf_add_many(f, keys, 0, NULL, &e), 0);
            /* an add is a test */
            CHECK_EQ(bf_add(f, keys[0].ptr, keys[0].len, &e), BF_PRESENT);
            memset(each, 7, sizeof each);
            CHECK(bf_add_many(f, keys, ALL, each, &e) == BF_EFULL && e.key == in);
            for (size_t i = 0; i < in; i++) CHECK_EQ(each[i], 0);
            CHECK_EQ(bf_add_many(f, keys, in, each, &e), 0);
            CHECK_EQ(bf_test(f, keys[in].ptr, keys[in].len, &e), 0);
            CHECK_EQ(bf_clear(f, &e), 0);
            const size_t again = fill_new(f, batch, &new);
            CHECK(again < ALL && (!exact || (new == n &&again == in)));
            end(f);
        }
}

/* Keys that are present before the limit, and keys twice in a batch, take no room. */
TEST(only_new_keys_take_room)
{
    for (size_t row = 0; row < COUNT(specs); row++) {
        if (is_shared(row) || specs[row].window > 0) continue;
        bf_filter *f = opened_for(row, 10, BF_OVERFULL_RAISE);
        bf_key twice[40];
        size_t n = 0, at = 0;
        for (; n < 10; at++)
            n += bf_test(f, keys[at].ptr, keys[at].len, &e) == 0 &&
                 bf_add(f, keys[at].ptr, keys[at].len, &e) == BF_ADDED;
        CHECK_EQ(bf_clear(f, &e), 0);
        for (size_t i = 0; i < 40; i++) twice[i] = keys[i / 4];
        for (int i = 0; i < 3; i++) CHECK(bf_add_many(f, twice, 20, NULL, &e) <= 5);
        for (size_t i = 0; i < at; i++) CHECK(bf_add(f, keys[i].ptr, keys[i].len, &e) >= 0);
        end(f);
    }
}

TEST(a_removed_key_makes_room)
{
    for (size_t row = 0; row < COUNT(specs); row++) {
        if (!specs[row].counting) continue;
        bf_filter *f = opened_for(row, 100, BF_OVERFULL_RAISE);
        size_t new, in = fill_new(f, 7, &new);
        /* a present key counts its adds */
        CHECK_EQ(bf_add(f, keys[0].ptr, keys[0].len, &e), BF_PRESENT);
        CHECK_EQ(bf_count_of(f, keys[0].ptr, keys[0].len, &e), 2);
        CHECK_EQ(bf_remove_many(f, (bf_key[]){ keys[0], keys[0], keys[0] }, 3, NULL, &e), 2);
        if (!is_shared(row)) {
            CHECK_EQ(bf_add(f, keys[in].ptr, keys[in].len, &e), BF_ADDED);
            do in++;
            while (bf_test(f, keys[in].ptr, keys[in].len, &e));
            CHECK_EQ(bf_add(f, keys[in].ptr, keys[in].len, &e), BF_EFULL);
        }
        for (int i = 1; i < 40; i++) CHECK_EQ(bf_remove(f, keys[i].ptr, keys[i].len, &e), 1);
        size_t more = 0;
        for (; in < ALL; in++) {
            const int rc = bf_add(f, keys[in].ptr, keys[in].len, &e);
            if (rc < 0) break;
            more += rc == BF_ADDED;
        }
        if (is_shared(row) ? more < 25 || more > 50 : more != 39)
            FAILED("row %zu: %zu\n", row, more);
        end(f);
    }
}

TEST(a_warning_and_none)
{
    for (size_t row = 0; row < COUNT(specs); row++)
        for (unsigned how = 0; how <= BF_OVERFULL_IGNORE; how++)
            for (size_t batch = 0; batch < 600; batch += 500) {
                bf_filter *f = opened(row, how);
                watch(f);
                const size_t in = fill(f, batch);
                const bf_info info = info_of(f);
                CHECK(info.overfull == how && (in < ALL) == (how == BF_OVERFULL_RAISE));
                CHECK_EQ(given, how <= BF_OVERFULL_WARN);
                if (given)
                    CHECK_HAS(sentence, specs[row].counting ? "more than half of the counters of"
                                                            : "more than half of the bits of");
                end(f);
            }
}

/* Where the host makes an exception of the warning, nothing of the call was added. */
TEST(a_warning_comes_before_the_add)
{
    for (size_t row = 0; row < COUNT(specs); row++)
        for (size_t batch = 0; batch < 600; batch += 100) {
            bf_state before, after;
            bf_filter *f = opened(row, 0);
            watch(f);
            answer = 1;
            size_t new, in = fill_new(f, batch, &new);
            answer = 0;
            if (given != 1 || in <= N || in > 2 * N || e.code != BF_EHOST)
                FAILED("row %zu, batch %zu: %zu, %s\n", row, batch, in, e.msg);
            CHECK(bf_get_state(f, &before, &e) == 0 && before.ones > 0);
            const size_t c = batch ? batch : 1;
            const unsigned were = present(f, in, in + c);
            CHECK_EQ(bf_begin_adds(f, &e), 0);
            CHECK_EQ(bf_add_many(f, keys + in, c, NULL, &e) > 0, were < c);
            CHECK(bf_get_state(f, &after, &e) == 0 && after.ones >= before.ones);
            CHECK_EQ(fill(f, batch), ALL);
            CHECK_EQ(given, 1);
            CHECK_EQ(bf_clear(f, &e), 0);
            CHECK_EQ(fill(f, batch), ALL);
            CHECK_EQ(given, 2);
            end(f);
        }
}

/* The host's function may use the filter. */
static int look_at(void *filter, const char *text)
{
    bf_state st;
    bf_filter *f = filter;
    CHECK(*text && bf_get_state(f, &st, &e) == 0 && st.saturated == BF_OVERFULL);
    CHECK(bf_add(f, "in the warning", 14, &e) >= 0 && bf_begin_adds(f, &e) == 0);
    given++;
    return 0;
}
TEST(the_warning_uses_the_filter)
{
    for (size_t row = 0; row < COUNT(specs); row++) {
        bf_filter *f = opened(row, 0);
        given = 0;
        bf_set_warning(f, look_at, f);
        CHECK_EQ(fill(f, 0), ALL);
        CHECK(given == 1 && bf_test(f, "in the warning", 14, &e) == 1);
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
    CHECK(rc == BF_EFULL && in > N - N / 16 && in < N + N / 8);
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
    for (size_t row = WINDOWS; row < COUNT(specs); row++) {
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

/* A growing filter has at most 256 parts. Then new keys are refused, whatever `overfull` is, but
 * with IGNORE, and its rate stays below p. */
TEST(growing_ends)
{
    enum { BATCH = 1000 };
    static uint64_t many[BATCH];
    static bf_key of[BATCH];
    static uint8_t new[BATCH];
    for (unsigned row = 0; row < 8; row++) {
        const bool counting = row & 1;
        const unsigned how = row < 4 ? 0 : row < 6 ? BF_OVERFULL_RAISE : BF_OVERFULL_IGNORE;
        bf_filter *f = bf_open(&(bf_spec){ .n = 1,
                                   .p = 0.01,
                                   .k = 1,
                                   .grow = 1,
                                   .counting = counting,
                                   .overfull = how,
                                   .storage = row & 4 ? path : NULL },
            &e);
        uint64_t next = 0;
        int64_t rc = 0;
        bf_part_info part;
        CHECK(f != NULL);
        do {
            for (size_t i = 0; i < BATCH; i++) {
                many[i] = (next + i) * UINT64_C(0x9E3779B97F4A7C15);
                of[i] = (bf_key){ &many[i], sizeof many[i] };
            }
            memset(new, 0, BATCH);
            rc = bf_add_many(f, of, BATCH, new, &e);
            if (rc >= 0) next += BATCH;
        } while (rc >= 0 && next < 10 * BATCH);
        CHECK(bf_get_part(f, 0, &part, &e) == 0);
        const bf_info info = info_of(f);
        if (how == BF_OVERFULL_IGNORE) {
            CHECK(next == 10 * BATCH && info.part_count == 256);
            bf_close(f);
            unlink(path);
            continue;
        }
        CHECK(rc == BF_EFULL && info.part_count == 256 && next > BATCH);
        CHECK_HAS(e.msg, "is full: with 256 parts of");
        const size_t in = e.key;
        CHECK(in < BATCH && new[in] == 0 && bf_test(f, of[in].ptr, of[in].len, &e) == 0);
        CHECK_EQ(bf_test_many(f, of, in, NULL, &e), in);
        CHECK(bf_test_many(f, of + in, BATCH - in, NULL, &e) < 50);
        /* an add is a test */
        memset(new, 7, BATCH);
        CHECK(bf_add_many(f, of, BATCH, new, &e) == BF_EFULL && e.key == in);
        for (size_t i = 0; i < in; i++) CHECK_EQ(new[i], 0);
        CHECK_EQ(bf_add(f, of[0].ptr, of[0].len, &e), BF_PRESENT);
        CHECK(bf_add(f, of[in].ptr, of[in].len, &e) == BF_EFULL && e.key == BF_NO_KEY);
        CHECK_EQ(bf_clear(f, &e), 0);
        CHECK_EQ(bf_add(f, of[in].ptr, of[in].len, &e), BF_ADDED);
        bf_close(f);
        unlink(path);
    }
}

TEST(rebuilds_unions_and_copies)
{
    for (size_t row = 0; row < WINDOWS; row++) {
        bf_filter *f = opened(row, BF_OVERFULL_RAISE);
        const size_t in = fill(f, 10);
        bf_filter *copy = bf_copy(f, &e);
        CHECK(copy && fill(copy, 10) <= in + N / 16); /* of a copy the keys are estimated */
        bf_filter *fresh = bf_rebuild_begin(f, &e);
        CHECK(fresh && bf_add_many(fresh, keys, N / 2, NULL, &e) > 0);
        CHECK(bf_rebuild_end(f, fresh, &e) == 0 && bf_add(f, "x", 1, &e) == BF_ADDED);
        bf_close(fresh);
        CHECK((fresh = bf_rebuild_begin(f, &e)) && fill(fresh, 0) <= in + N / 4);
        CHECK_EQ(bf_rebuild_cancel(f, fresh, &e), 0);
        CHECK(bf_unite(f, copy, &e) >= 0 && fill(f, 10) <= in + N / 16);
        bf_close(fresh);
        bf_close(copy);
        end(f);
    }
}

/* It is not stored: what is read says what follows. */
TEST(filters_that_are_read)
{
    static uint8_t image[1 << 16];
    for (size_t row = 0; row < WINDOWS; row++) {
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
            bf_set_overfull(f, how);
            const bf_info info = info_of(f);
            CHECK_EQ(info.overfull, how);
            for (uint64_t i = 0; i < 500; i++) number[i] += how; /* new keys */
            CHECK_EQ(bf_add_many(f, keys, 500, NULL, &e) < 0, how == BF_OVERFULL_RAISE);
            for (uint64_t i = 0; i < 500; i++) number[i] -= how;
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
    return FINISH();
}
