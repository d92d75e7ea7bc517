/* test_grow_counting.c - filters of counters that grow: a multiset in every home that has words,
 * growing all the time; the part of a key stays; plain filters; sizes from
 * m and n, equal parts.  Threads and processes: test_race.c, test_killed.c.  In Redis:
 * test_redis_counting.c.  About core/parts/grow.c, core/parts/span.c,
 * core/size/sizing_parts.c. */
#define _GNU_SOURCE
#include "growing_keys.h"
#include "oracle_counting.h"

static const double factors[] = { 1, 2, 1024 };
#define COUNTING(...) OPEN(.counting = true, __VA_ARGS__)
static int taken(bf_filter *f, char kind, uint64_t i)
{
    name t;
    bf_key k = key_of(&t, kind, i);
    return bf_remove(f, k.ptr, k.len, &e);
}
static int counted(bf_filter *f, char kind, uint64_t i)
{
    name t;
    bf_key k = key_of(&t, kind, i);
    return bf_count_of(f, k.ptr, k.len, &e);
}

/* Parts of 7 keys: one more with every few adds. */
TEST(a_multiset)
{
    static const char *const schemes[] = { "classic", "block", "block2" };
    for (int s = 0; s < 3; s++)
        for (size_t g = 0; g < COUNT(factors); g++)
            for (int home = 0; home < 4; home += g == 1 ? 1 : 2) {
                /* memory, threads, file, exclusive file */
                unlink(path);
                bf_filter *f = COUNTING(.n = g ? 7 : 700, .p = 1e-9, .grow = factors[g],
                    .scheme = schemes[s], .threads = home == 1, .storage = home < 2 ? NULL : path,
                    .exclusive = home == 3);
                oc_multiset(f, SHORT(8000, 3000), home % 2 ? 1 : 50, (uint32_t)home);
                CHECK(parts_of(f) >= 2);
                bf_filter *again = bf_copy(f, &e);
                CHECK_EQ(bf_equal(f, again, &e), 1);
                CLOSE(f, again);
            }
    unlink(path);
}

/* A key that an older part seems to have lives there; once removed it is gone, and nothing else. */
TEST(the_oldest_part_that_has_it)
{
    bf_filter *f = COUNTING(.n = 600, .p = 0.3, .k = 1, .grow = 1, .scheme = "classic");
    many(f, true, 'k', 0, 20000, NULL);
    CHECK(parts_of(f) > 4);
    for (uint64_t i = 0; i < 2000; i++) { /* many of them seem to be in some part */
        const int before = counted(f, 'x', i);
        CHECK_EQ(add(f, 'x', i), before == 0);
        CHECK(counted(f, 'x', i) > before || before == 15);
        CHECK_EQ(taken(f, 'x', i), 1);
        CHECK_EQ(counted(f, 'x', i), before);
    }
    CHECK_EQ(many(f, false, 'k', 0, 20000, NULL), 20000);
    for (uint64_t i = 0; i < 20000; i++) CHECK(taken(f, 'k', i) == 1);
    bf_state st;
    CHECK(bf_get_state(f, &st, &e) == 0 && st.ones == 0);
    bf_close(f);
}

/* Room that removals free in the newest part is used again; a cleared filter begins anew. */
TEST(removed_keys_make_room)
{
    bf_filter *f = COUNTING(.n = 50, .p = 1e-9, .grow = 2);
    for (uint64_t i = 0; i < 5000; i++) CHECK(add(f, 'k', i) == 1 && taken(f, 'k', i) == 1);
    CHECK_EQ(parts_of(f), 1);
    many(f, true, 'k', 0, 200, NULL);
    CHECK_EQ(parts_of(f), 2);
    CHECK(bf_clear(f, &e) == 0 && has(f, 'k', 1) == 0 && add(f, 'k', 1) == 1);
    CHECK_EQ(taken(f, 'k', 1), 1);
    bf_close(f);
}

TEST(sets_and_plain_filters)
{
    bf_filter *f = COUNTING(.n = 20, .p = 1e-6, .grow = 2), *g = bf_copy(f, &e);
    many(f, true, 'k', 0, 500, NULL);
    CHECK_REFUSED(bf_unite(f, g, &e), BF_EINVAL, "filters that count and grow cannot be united");
    CHECK(!bf_union(f, f, &e) && e.code == BF_EINVAL);
    CHECK_REFUSED(bf_intersect(f, g, &e), BF_EINVAL, "cannot be");
    bf_filter *plain = bf_to_plain(f, &e), *bits = OPEN(.n = 20, .p = 1e-6, .grow = 2);
    many(bits, true, 'k', 0, 500, NULL);
    CHECK_EQ(bf_equal(plain, bits, &e), 1);
    const bf_info i = info_of(plain);
    CHECK(i.grow == 2 && !i.counting && i.part_count == parts_of(f));
    many(plain, true, 'l', 0, 50000, NULL); /* it goes on growing */
    CHECK_EQ(many(plain, false, 'k', 0, 500, NULL), 500);
    CHECK_REFUSED(bf_remove(plain, "x", 1, &e), BF_ENOTSUP, "only counting filters");
    CHECK_REFUSED(bf_unite(plain, f, &e), BF_EINVAL, "filters must be of the same kind");
    CLOSE(f, g, plain, bits);
}

/* ---- sizes, of bits too ---- */
TEST(m_and_n)
{
    for (int counting = 0; counting < 2; counting++) {
        const bf_spec s = { .m = 10000, .n = 1000, .grow = 2, .counting = counting };
        bf_spec plan = s, on_disk = s, other = s;
        on_disk.storage = other.storage = path;
        bf_filter *f = MADE(&s);
        const bf_info i = info_of(f);
        CHECK(i.n == 1000 && i.p > 0.008 && i.p < 0.0083 && !strcmp(i.scheme, "classic"));
        CHECK(bf_plan(&plan, &e) == 0 && plan.m == i.m && plan.p == i.p && plan.k == i.k);
        many(f, true, 'k', 0, 30000, NULL);
        rate_is(f, i.p, 100000);
        bf_close(f);
        f = MADE(&on_disk);
        bf_close(f);
        f = MADE(&on_disk); /* asked for by m and n again */
        bf_close(f);
        other.m = 11000;
        CHECK(!bf_open(&other, &e) && e.code == BF_EMISMATCH);
        CHECK_HAS(e.msg, "asked for m=11000 and n=1000: p=");
        other.n = 0;
        CHECK(!bf_open(&other, &e) && e.code == BF_EMISMATCH);
        CHECK_HAS(e.msg, "m must not be given");
        unlink(path);
    }
}

/* The parts after the first have at least 32 KiB, as with other factors. */
TEST(equal_parts)
{
    for (int row = 0; row < 4; row++) {
        const bool counting = row & 1, small = row & 2;
        bf_filter *f = small ? OPEN(.n = 10, .p = 0.01, .k = 1, .grow = 1, .counting = counting)
                             : OPEN(.n = 20000, .p = 0.01, .grow = 1, .counting = counting);
        bf_part_info first, part;
        many(f, true, 'k', 0, small ? 1500 : 60000, NULL);
        CHECK(parts_of(f) > (small ? 15 : 2));
        bf_get_part(f, 0, &first, &e);
        double sum = 0;
        for (unsigned i = 0; i < parts_of(f); i++) {
            CHECK_EQ(bf_get_part(f, i, &part, &e), 0);
            CHECK_EQ(part.m, small && i ? 1 << 18 : first.m);
            sum += part.p;
        }
        CHECK(sum < 0.01);
        rate_is(f, 0.01, 100000);
        bf_close(f);
    }
    bf_filter *f = OPEN(.n = 10, .p = 0.01, .k = 1, .grow = 1, .overfull = BF_OVERFULL_IGNORE);
    /* 256 parts; then the last takes all */
    many(f, true, 'k', 0, 20000, NULL);
    CHECK(parts_of(f) == 256 && many(f, false, 'k', 0, 20000, NULL) == 20000);
    bf_state st;
    CHECK(bf_get_state(f, &st, &e) == 0 && st.saturated == BF_OVERFULL);
    bf_close(f);
}

int main(void) { return main_in_folder(); }
