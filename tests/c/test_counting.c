/* test_counting.c - filters of counters (each answer of each scheme in each home:
 * test_schemes.c): counters in parts, saturation, sets, conversion, files.  Races: test_race.c,
 * Redis: test_redis_counting.c.  Runs with both kernels.  About core/bits/counters.c,
 * core/layout/shards.c, core/sets/copy.c. */
#define _GNU_SOURCE
#include "../../core/bits/bits.h"
#include "../../core/sets/sets.h"
#include "check.h"
#include "optional.h"
#include "native.h"
#include "oracle_counting.h"

static bf_error e;

static bf_filter *make(bf_spec spec)
{
    spec.counting = true;
    bf_filter *f = bf_open(&spec, &e);
    if (!f) FAILED("%s m=%llu k=%u: %s\n", spec.scheme, (unsigned long long)spec.m, spec.k, e.msg);
    return f;
}

/* ---- one key ---- */
/* In parts; filters of one part are test_schemes.c's. */
TEST(counters_stick_at_15)
{
    for (size_t s = 0; native_scheme(s); s++) {
        bf_filter *f = make((bf_spec){ .n = 10, .p = 1e-6, .grow = 2, .scheme = native_scheme(s) });
        for (int i = 1; i <= 20; i++) {
            CHECK_EQ(bf_add(f, "x", 1, &e), i == 1 ? BF_ADDED : BF_PRESENT);
            CHECK_EQ(bf_count_of(f, "x", 1, &e), i < 15 ? i : 15);
        }
        for (int i = 0; i < 100; i++) /* then x is in an older part */
            CHECK(bf_add(f, &i, sizeof i, &e) >= 0);
        for (int i = 0; i < 30; i++) CHECK_EQ(bf_remove(f, "x", 1, &e), 1);
        CHECK(bf_count_of(f, "x", 1, &e) == 15 && bf_test(f, "x", 1, &e) == 1);
        for (int i = 0; i < 14; i++) bf_add(f, "y", 1, &e);
        for (int i = 14; i > 0; i--) {
            CHECK_EQ(bf_count_of(f, "y", 1, &e), i);
            CHECK_EQ(bf_remove(f, "y", 1, &e), 1);
        }
        CHECK(bf_test(f, "y", 1, &e) == 0 && bf_remove(f, "y", 1, &e) == 0);
        CHECK_EQ(bf_clear(f, &e), 0);
        CHECK_EQ(bf_count_of(f, "x", 1, &e), 0);
        bf_close(f);
    }
}

/* ---- whole filters ---- */
static bf_filter *numbers(const char *scheme, unsigned from, unsigned to, bool counting)
{
    bf_filter *f =
        bf_open(&(bf_spec){ .m = 10240, .k = 6, .scheme = scheme, .counting = counting }, &e);
    for (unsigned i = from; i < to; i++) bf_add(f, &i, sizeof i, &e);
    return f;
}

TEST(as_plain_filter)
{
    static const char secret[17] = "0123456789abcdef";
    for (const bf_scheme *s = bf_schemes; s->name; s++) {
        bf_spec spec = { .m = 10240, .k = s->k ? s->k : s->hash->width ? 6 : 3, .scheme = s->name };
        if (s->m || !s->keyed) {
            if (strcmp(s->name, "guava") && strcmp(s->name, "rs-rand")) continue;
        }
        bf_filter *want = bf_open(&spec, &e), *f = make(spec), *got;
        for (unsigned i = 0; i < 700; i++) {
            char t[12];
            size_t n = (size_t)sprintf(t, "%u", i);
            bf_add(want, t, n, &e);
            bf_add(f, t, n, &e);
            bf_add(f, t, n, &e);
        }
        CHECK((got = bf_to_plain(f, &e)) != NULL);
        const bf_info i = info_of(got);
        CHECK(!i.counting && bf_equal(got, want, &e) == 1);
        bf_state a, b;
        bf_get_state(f, &a, &e);
        bf_get_state(want, &b, &e);
        CHECK(a.ones == b.ones && a.count == b.count && a.fpr == b.fpr);
        CHECK_EQ(bf_equal(f, want, &e), 0);
        CLOSE(want, f, got);
    }
    if (lacks_sodium()) return;
    bf_filter *f = make((bf_spec){ .m = 1000, .k = 3, .secret = secret, .secret_len = 16 }), *p;
    bf_add(f, "x", 1, &e);
    CHECK((p = bf_to_plain(f, &e)) && bf_test(p, "x", 1, &e) == 1 && bf_test(p, "y", 1, &e) == 0);
    CLOSE(f, p);
}

TEST(sums_and_minima)
{
    for (int threads = 0; threads < 2; threads++) {
        bf_filter *a =
                      make((bf_spec){ .m = 3001, .k = 5, .scheme = "classic", .threads = threads }),
                  *b = make((bf_spec){ .m = 3001, .k = 5, .scheme = "classic" });
        bf_info i;
        for (unsigned n = 0; n < 2500; n++) {
            unsigned v = n % 700;
            bf_add(n % 3 ? a : b, &v, sizeof v, &e);
        }
        bf_filter *sum = bf_copy(a, &e), *min = bf_copy(a, &e);
        CHECK_EQ(bf_unite(sum, b, &e), 0);
        CHECK_EQ(bf_intersect(min, b, &e), 0);
        uint8_t *x = oc_read(a, &i), *y = oc_read(b, &i), *s = oc_read(sum, &i),
                *l = oc_read(min, &i);
        unsigned wrong = 0, full = 0, used = 0;
        bool within = true;
        for (uint64_t q = 0; q < i.m; q++) {
            unsigned p = oc_at(x, q), r = oc_at(y, q);
            wrong += oc_at(s, q) != (p + r > 15 ? 15 : p + r) || oc_at(l, q) != (p < r ? p : r);
            full += p + r > 15;
            used += p + r > 0;
            within &= p <= r;
        }
        CHECK_EQ(wrong, 0);
        CHECK(full > 10 && !within);
        CHECK_EQ(bf_subset(a, b, &e), 0);
        CHECK(bf_subset(a, sum, &e) == 1 && bf_subset(min, a, &e) == 1 &&
              bf_subset(min, b, &e) == 1 && bf_subset(sum, a, &e) == 0 && bf_subset(a, a, &e) == 1);
        bf_state st;
        double either;
        bf_filter *united = bf_union(a, b, &e), *common = bf_intersection(a, b, &e);
        CHECK(bf_equal(united, sum, &e) == 1 && bf_equal(common, min, &e) == 1);
        CHECK(bf_get_state(united, &st, &e) == 0 && st.ones == used);
        CHECK(bf_union_count(a, b, &either, &e) == 0 && either == st.count);
        CLOSE(a, b, sum, min, united, common);
        free(x);
        free(y);
        free(s);
        free(l);
    }
}

/* Each of the 16 x 16 pairs at each of the 16 places of a word. */
TEST(every_pair_of_counters)
{
    for (unsigned pair = 0; pair < 256; pair++)
        for (unsigned at = 0; at < 16; at++) {
            unsigned x = pair / 16, y = pair % 16;
            uint64_t noise = UINT64_C(0x9E3779B97F4A7C15) * (pair * 16 + at + 1),
                     clear = ~(UINT64_C(15) << bf_cell_shift(at));
            uint64_t a = (noise & clear) | (uint64_t)x << bf_cell_shift(at),
                     b = (~noise & clear) | (uint64_t)y << bf_cell_shift(at), v[2], bit = 0;
            for (int atomic = 0; atomic < 2; atomic++) {
                v[0] = v[1] = a;
                bf_cells_counters.unite(v, &b, 1, atomic);
                bf_cells_counters.intersect(v + 1, &b, 1, atomic);
                for (unsigned q = 0; q < 16; q++) {
                    unsigned p = bf_cell(&a, q), r = bf_cell(&b, q);
                    CHECK_EQ(bf_cell(v, q), p + r > 15 ? 15 : p + r);
                    CHECK_EQ(bf_cell(v + 1, q), p < r ? p : r);
                }
            }
            bf_cells_counters.to_bits(&bit, &a, 1);
            for (unsigned q = 0; q < 16; q++)
                CHECK_EQ((bit & bf_mask_of(q)) != 0, bf_cell(&a, q) != 0);
            uint64_t only_x = (uint64_t)x << bf_cell_shift(at),
                     only_y = (uint64_t)y << bf_cell_shift(at);
            CHECK_EQ(bf_cells_counters.within(&only_x, &only_y, 1), x <= y);
            CHECK_EQ(bf_cells_counters.count(&only_x, 1), x > 0);
        }
}

TEST(subsets_and_estimates_of_plain_filters)
{
    for (size_t s = 0; native_scheme(s); s++) {
        bf_filter *a = numbers(native_scheme(s), 0, 800, false),
                  *b = numbers(native_scheme(s), 500, 1300, false),
                  *part = numbers(native_scheme(s), 100, 300, false), *both = bf_copy(a, &e),
                  *in_both = bf_copy(a, &e), *all = numbers(native_scheme(s), 0, 1300, false);
        CHECK(bf_unite(both, b, &e) == 0 && bf_equal(both, all, &e) == 1);
        CHECK(bf_unite(both, both, &e) == 0 && bf_equal(both, all, &e) == 1);
        CHECK_EQ(bf_intersect(in_both, b, &e), 0);
        uint8_t x, y, z;
        for (uint64_t at = 0; at < 10240 / 8; at++)
            CHECK(!bf_read_bits(a, at, &x, 1, &e) && !bf_read_bits(b, at, &y, 1, &e) &&
                  !bf_read_bits(in_both, at, &z, 1, &e) && z == (x & y));
        CHECK(bf_subset(part, a, &e) == 1 && bf_subset(a, part, &e) == 0 &&
              bf_subset(a, b, &e) == 0 && bf_subset(a, both, &e) == 1);
        bf_state want;
        double either, common;
        bf_get_state(both, &want, &e);
        CHECK_EQ(bf_union_count(a, b, &either, &e), 0);
        CHECK(either == want.count && either > 1200 && either < 1400);
        CHECK_EQ(bf_intersection_count(a, b, &common, &e), 0);
        CHECK(common > 240 && common < 360);
        CHECK_EQ(bf_intersection_count(a, part, &common, &e), 0);
        CHECK(common > 180 && common < 220);
        bf_filter *other =
                      bf_open(&(bf_spec){ .m = 20480, .k = 6, .scheme = native_scheme(s) }, &e),
                  *count = numbers(native_scheme(s), 0, 10, true);
        CHECK(bf_subset(a, other, &e) == BF_EINVAL &&
              bf_union_count(a, other, &either, &e) == BF_EINVAL &&
              bf_intersection_count(other, a, &common, &e) == BF_EINVAL);
        CHECK_HAS(e.msg, "20480");
        for (int i = 0; i < 4; i++) {
            CHECK_EQ(i == 0   ? bf_subset(a, count, &e)
                     : i == 1 ? bf_unite(a, count, &e)
                     : i == 2 ? bf_unite(count, a, &e)
                              : bf_intersect(a, count, &e),
                BF_EINVAL);
            CHECK_HAS(e.msg, "counting");
            CHECK_HAS(e.msg, "plain");
        }
        CHECK(bf_clear(a, &e) == 0 && bf_get_state(a, &want, &e) == 0 && want.ones == 0);
        CLOSE(a, b, part, both, in_both, all, other, count);
    }
}

TEST(plain_filters_do_not_count)
{
    bf_filter *f = numbers("block", 0, 3, false);
    CHECK_REFUSED(bf_remove(f, "a", 1, &e), BF_ENOTSUP, "only counting filters can remove");
    CHECK_EQ(bf_count_of(f, "a", 1, &e), BF_ENOTSUP);
    CHECK_EQ(bf_remove_many(f, NULL, 0, NULL, &e), BF_ENOTSUP);
    bf_close(f);
    f = make((bf_spec){ .m = 64, .k = 2, .scheme = "guava" });
    uint8_t bytes[8];
    CHECK(bf_bytes_as(f, "guava", &e) == BF_ENOTSUP &&
          bf_to_bytes_as(f, "bits", bytes, sizeof bytes, &e) == BF_ENOTSUP);
    bf_close(f);
    bf_spec plan = { .n = 1000, .p = 0.01, .counting = true }, same = { .n = 1000, .p = 0.01 };
    CHECK(
        bf_plan(&plan, &e) == 0 && bf_plan(&same, &e) == 0 && plan.m == same.m && plan.k == same.k);
}

/* Arrays of every length about the steps of the wide loops. */
TEST(counts_of_every_length)
{
    uint64_t a[70], b[70];
    uint32_t seed = 7;
    for (int i = 0; i < 70; i++) {
        a[i] = (uint64_t)o_random(&seed) << 32 ^ o_random(&seed);
        b[i] = i % 3 ? (uint64_t)o_random(&seed) << 29 ^ o_random(&seed) : UINT64_MAX;
    }
    for (uint64_t n = 0; n <= 70; n++) {
        uint64_t ones = 0, both = 0, used = 0, used_both = 0;
        for (uint64_t i = 0; i < n; i++) {
            for (unsigned j = 0; j < 64; j++) {
                ones += a[i] >> j & 1;
                both += (a[i] | b[i]) >> j & 1;
            }
            for (unsigned q = 0; q < 16; q++) {
                used += bf_cell(a + i, q) > 0;
                used_both += bf_cell(a + i, q) > 0 || bf_cell(b + i, q) > 0;
            }
        }
        CHECK_EQ(bf_words_count(a, n), ones);
        CHECK_EQ(bf_cells_bits.count_of_both(a, b, n), both);
        CHECK_EQ(bf_cells_counters.count(a, n), used);
        CHECK_EQ(bf_cells_counters.count_of_both(a, b, n), used_both);
        CHECK_EQ(bf_cells_counters.count(b, n) <= used_both, 1);
        uint64_t sum[70];
        memcpy(sum, a, sizeof sum);
        bf_words_or(sum, b, n, false);
        CHECK(bf_cells_bits.within(a, sum, n) && bf_cells_bits.within(b, sum, n));
        if (n) {
            sum[n - 1] ^= a[n - 1] & -a[n - 1];
            CHECK_EQ(bf_cells_bits.within(a, sum, n), 0);
        }
    }
}

/* ---- more than half full? ---- */
TEST(saturation)
{
    static const uint64_t sizes[] = { 100, 5000, 3000000, 200000000 };
    const char *path = temp_path();
    for (size_t i = 0; i < 4; i++)
        for (int kind = 0; kind < 4; kind++) {
            bf_spec spec = { .m = sizes[i],
                .k = 5,
                .scheme = kind % 2 ? "block" : "classic",
                .counting = kind / 2,
                .storage = i == 2 ? path : NULL };
            bf_filter *f = bf_open(&spec, &e);
            bf_state st;
            const bf_info info = info_of(f);
            uint64_t wait = 0, wrong = 0, looks = 0, keys = info.m / 5;
            int full = bf_saturated(f, &wait, &e);
            CHECK(full == 0 && wait >= keys / 4);
            if (i < 3) {
                for (uint64_t n = 0; n < keys * 3 && full != BF_OVERFULL; looks++) {
                    for (uint64_t j = 0; j < wait + 1; j++, n++) bf_add(f, &n, sizeof n, &e);
                    full = bf_saturated(f, &wait, &e);
                    bf_get_state(f, &st, &e);
                    wrong += (full > 0) != (st.fill > 0.5) && (st.fill < 0.499 || st.fill > 0.501);
                    wrong += full == BF_OVERFULL && st.count < 1.05 * (double)info.n;
                }
                CHECK_EQ(wrong, 0);
                CHECK(full == BF_OVERFULL && looks < 60 && st.count < 1.2 * (double)info.n + 40);
            }
            bf_close(f);
            unlink(path);
        }
}

/* ---- bytes and files ---- */
/* What it is asked to be: counters, bits, or nothing said.  Its bytes: test_image.c. */
TEST(bytes_and_files)
{
    const char *path = temp_path();
    bf_filter *f = make((bf_spec){ .m = 1001, .k = 3, .scheme = "classic" }), *g;
    for (int i = 0; i < 3; i++) bf_add(f, "x", 1, &e);
    const uint64_t len = info_of(f).image_bytes;
    uint8_t *bytes = malloc(len);
    CHECK_EQ(bf_to_bytes(f, bytes, len, &e), 0);
    CHECK_EQ(bytes[52], 4);
    for (int kind = 0; kind < 2; kind++) {
        g = bf_from_bytes(bytes, len, kind ? NULL : &(bf_spec){ .counting = true }, &e);
        CHECK(g && bf_count_of(g, "x", 1, &e) == 3);
        bf_close(g);
    }
    CHECK_NO_FILTER(bf_from_bytes(bytes, len, &(bf_spec){ 0 }, &e), BF_EMISMATCH,
        "is a counting filter, asked for a plain one");
    CHECK_EQ(bf_save(f, path, &e), 0);
    CHECK((g = make((bf_spec){ .storage = path, .m = 1001, .k = 3 })) &&
          bf_count_of(g, "x", 1, &e) == 3 && bf_remove(g, "x", 1, &e) == 1);
    CHECK(info_of(g).counting && bf_sync(g, &e) == 0);
    bf_close(g);
    bf_spec reads = { .storage = path, .read_only = true, .counting = true };
    CHECK((g = make(reads)) && bf_count_of(g, "x", 1, &e) == 2 &&
          bf_remove(g, "x", 1, &e) == BF_ENOTSUP && bf_is_current(g, &reads, &e) == 1);
    reads.counting = false;
    CHECK_EQ(bf_is_current(g, &reads, &e), BF_EMISMATCH);
    bf_close(g);
    CHECK_NO_FILTER(bf_open(&(bf_spec){ .storage = path }, &e), BF_EMISMATCH, path);
    CHECK(
        (g = bf_load(path, &(bf_spec){ .counting = true }, &e)) && bf_count_of(g, "x", 1, &e) == 2);
    CLOSE(g, f);
    unlink(path);
    bf_close(bf_open(&(bf_spec){ .m = 1001, .k = 3, .storage = path }, &e));
    CHECK_NO_FILTER(
        bf_open(&(bf_spec){ .storage = path, .counting = true }, &e), BF_EMISMATCH, "plain");
    unlink(path);
    free(bytes);
}

int main(void) { return main_of_tests(); }
