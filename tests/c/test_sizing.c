/* test_sizing.c - m, n, k, p: every sufficient set, every range, the figures of the literature and
 * of independent sums.  About core/size/sizing.c, core/layout/rates.c. */
#define _GNU_SOURCE
#include "../../core/sets/sets.h"
#include "check.h"
#include "optional.h"
#include "native.h"

static bf_spec plan(bf_spec s)
{
    bf_error e;
    if (bf_plan(&s, &e) < 0) FAILED("unexpected: %s\n", e.msg);
    return s;
}

static const char *refusal(bf_spec s)
{
    static bf_error e;
    e.msg[0] = 0;
    CHECK_EQ(bf_plan(&s, &e), BF_EINVAL);
    CHECK(!bf_open(&s, NULL));
    return e.msg;
}

TEST(classic_constructor)
{
    static const struct {
        uint64_t m, n;
        unsigned k;
    } rows[] = { { 10, 2, 4 }, { 1000, 2, 347 }, { 1, 1, 1 }, { 1, 1000, 1 }, { 152790, 15279, 7 },
        { 5000000000, 600000000, 6 }, { BF_M_MAX, BF_N_MAX, 1 }, { 4294967296, 1000000000, 3 },
        { 5909, 1, 4096 } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        bf_spec s = plan((bf_spec){ .m = rows[i].m, .n = rows[i].n });
        CHECK_EQ(s.k, rows[i].k);
        CHECK(s.m == rows[i].m && s.n == rows[i].n && !strcmp(s.scheme, "classic"));
        CHECK(fabs(s.p - pow(1 - exp(-(double)s.k * (double)s.n / (double)s.m), s.k)) <= 1e-12);
    }
}

TEST(every_sufficient_set)
{
    bf_spec s = plan((bf_spec){ .m = 1000, .k = 7 });
    CHECK_EQ(s.n, 99); /* floor(1000 / 7 * ln 2) */
    s = plan((bf_spec){ .m = 1, .k = 4096 });
    CHECK_EQ(s.n, 1);
    s = plan((bf_spec){ .m = 1000, .n = 100, .k = 3 });
    CHECK(s.m == 1000 && s.n == 100 && s.k == 3);
    CHECK(fabs(s.p - pow(1 - exp(-0.3), 3)) <= 1e-12);
    s = plan((bf_spec){ .m = 1000000, .p = 0.01 });
    CHECK(s.n > 104000 && s.n < 104400 && s.k == 7 && s.p == 0.01);
    s = plan((bf_spec){ .n = 1000, .p = 0.01, .k = 4 });
    CHECK(s.k == 4 && s.p == 0.01);
    s = plan((bf_spec){ .m = 1000, .n = 50, .p = 0.001 });
    CHECK(s.p == 0.001);
    s = plan((bf_spec){ .n = 1000, .p = 0.01 });
    bf_spec again = plan(s); /* what a plan says can be asked for */
    CHECK(again.m == s.m && again.k == s.k && again.p == s.p && again.n == s.n);
    const bf_spec extremes[] = { { .m = 1, .k = 4096 }, { .m = 645, .n = 901720 },
        { .m = 16474, .n = 7 }, { .m = BF_M_MAX, .k = 4096 } };
    for (size_t i = 0; i < COUNT(extremes); i++) { /* whose formula is 0 or 1 as a double */
        s = plan(extremes[i]);
        CHECK(s.p > 0 && s.p < 1);
        again = plan(s);
        CHECK(again.m == s.m && again.k == s.k && again.p == s.p && again.n == s.n);
    }
    CHECK_HAS(refusal((bf_spec){ 0 }), "give m and n");
}

/* More of them: test_refusals.c. */
TEST(ranges_name_the_value)
{
    CHECK_HAS(refusal((bf_spec){ .m = 6400, .k = 256, .scheme = "guava" }),
        "k must be 1 to 255 for scheme guava, got 256");
    CHECK_EQ(bf_plan(&(bf_spec){ .m = 6400, .k = 255, .scheme = "guava" }, NULL), 0);
    static const double wrong[] = { 1, 2, -0.5, NAN, INFINITY, -INFINITY };
    for (size_t i = 0; i < COUNT(wrong); i++)
        CHECK_HAS(
            refusal((bf_spec){ .n = 10, .p = wrong[i] }), "p must be above 0 and below 1, got ");
    CHECK_HAS(refusal((bf_spec){ .n = BF_N_MAX, .p = 0.01 }),
        "n=9223372036854775807 at p=0.01 needs m=9.1");
    CHECK_HAS(refusal((bf_spec){ .m = 10, .n = 2, .scheme = "clasic" }),
        "scheme must be classic, block, block2 or that of an older system, got clasic; "
        "did you mean classic?");
    CHECK_HAS(refusal((bf_spec){ .m = 10, .n = 2, .scheme = "redis" }), "did you mean redisson?");
    CHECK_HAS(refusal((bf_spec){ .m = 10, .n = 2, .scheme = "cuckoo" }), "system, got cuckoo");
    CHECK(!strstr(refusal((bf_spec){ .m = 10, .n = 2, .scheme = "murmur" }), "mean"));
    static const double odd[] = { 5e-324, 1e-300, 1e-15, 0.5, 0.9, 0.999999, 0.9999999999999999 };
    for (size_t i = 0; i < COUNT(odd); i++) {
        bf_spec s = plan((bf_spec){ .n = 1000, .p = odd[i], .scheme = "classic" });
        CHECK(s.m >= 1 && s.k >= 1 && s.k <= 4096);
    }
}

/* The rate of one or two lines as a plain double sum, terms by lgamma. */
static double line_sum(double lambda, double share, unsigned bits)
{
    double sum = 0;
    for (int i = 0; i < 5000; i++)
        sum += exp(i * log(lambda) - lambda - lgamma(i + 1.0)) * pow(1 - pow(1 - share, i), bits);
    return sum;
}

TEST(rates_are_the_formulas)
{
    for (double c = 2; c < 60; c *= 1.37)
        for (unsigned k = 1; k <= 16; k++) {
            double block = line_sum(512 / c, k / 512.0, k),
                   two = line_sum(1024 / c, k / 1024.0, (k + 1) / 2) *
                         line_sum(1024 / c, k / 1024.0, k / 2);
            CHECK(fabs(bf_rate_block(c, k) / block - 1) < 1e-9);
            CHECK(fabs(bf_rate_block2(c, k) / two - 1) < 1e-9);
            CHECK(fabs(bf_rate_classic(c, k) / pow(1 - exp(-(double)k / c), k) - 1) < 1e-9);
        }
    CHECK(bf_rate_block(1e-9, 8) == 1 && bf_rate_block2(1e-9, 8) == 1 &&
          bf_rate_block(1e9, 8) < 1e-15);
    for (double c = 0.5; c < 3; c *= 1.01)
        CHECK(bf_rate_block(c, 8) >
              bf_rate_block(c * 1.01, 8)); /* also where sums give way to means */
}

TEST(bits_a_key)
{
    static const double p[] = { 1e-2, 1e-3, 1e-4, 1e-6 };
    static const struct {
        const char *scheme;
        double bits[4];
    } rows[] = { { "classic", { 9.59, 14.38, 19.17, 28.8 } },
        { "block", { 9.95, 15.62, 22.18, 39.2 } }, { "block2", { 9.68, 14.66, 19.89, 31.2 } } };
    for (size_t r = 0; r < 3; r++)
        for (size_t i = 0; i < 4; i++) {
            bf_spec s = plan((bf_spec){ .n = 10000000, .p = p[i], .scheme = rows[r].scheme });
            double c = (double)s.m / (double)s.n;
            if (fabs(c / rows[r].bits[i] - 1) > 0.006)
                FAILED("%s p=%g: %.3f bits a key\n", s.scheme, p[i], c);
        }
    CHECK(!strcmp(plan((bf_spec){ .n = 10, .p = 1e-3 }).scheme, "block"));
    CHECK(!strcmp(plan((bf_spec){ .n = 10, .p = 0.999e-3 }).scheme, "block2"));
    CHECK(!strcmp(plan((bf_spec){ .n = 10, .p = 0.01, .k = 17 }).scheme, "classic"));
}

/* The exact expected rate of a classic filter of independent positions: how many of m cells k*n
 * throws fill. */
static double exact_classic(unsigned m, unsigned n, unsigned k)
{
    double *at = calloc(m + 1, sizeof *at), rate = 0;
    at[0] = 1;
    for (unsigned t = 0; t < k * n; t++)
        for (unsigned x = m; x-- > 0;) {
            at[x + 1] += at[x] * (m - x) / m;
            at[x] *= (double)x / m;
        }
    for (unsigned x = 0; x <= m; x++) rate += at[x] * pow((double)x / m, k);
    free(at);
    return rate;
}

TEST(small_classic_filters_keep_p)
{
    static const double p[] = { 0.5, 0.1, 0.03, 0.01, 1e-3, 1e-4, 1e-5 };
    for (size_t i = 0; i < COUNT(p); i++)
        for (unsigned n = 1; n <= 40; n = n * 3 / 2 + 1) {
            bf_spec s = plan((bf_spec){ .n = n, .p = p[i], .scheme = "classic" });
            double rate = exact_classic((unsigned)s.m, n, s.k);
            if (rate > 1.03 * p[i])
                FAILED("n=%u p=%g: m=%llu k=%u has rate %g\n", n, p[i], (unsigned long long)s.m,
                    s.k, rate);
        }
}

TEST(estimates)
{
    bf_error e;
    bf_state st;
    for (size_t s = 0; native_scheme(s); s++)
        for (unsigned k = 4; k <= 16; k += 6) {
            bf_filter *f =
                bf_open(&(bf_spec){ .m = 512 * 400, .k = k, .scheme = native_scheme(s) }, &e);
            bf_get_state(f, &st, &e);
            CHECK(st.ones == 0 && st.count == 0 && st.fpr == 0 && st.fill == 0);
            for (unsigned i = 0; i < 15000; i++) {
                char t[16];
                bf_add(f, t, (size_t)sprintf(t, "k%u", i), &e);
            }
            bf_get_state(f, &st, &e);
            if (fabs(st.count / 15000 - 1) > 0.02)
                FAILED("%s k=%u: counts %g of 15000\n", native_scheme(s), k, st.count);
            long hits = 0;
            for (unsigned i = 0; i < 200000; i++) {
                char t[16];
                hits += bf_test(f, t, (size_t)sprintf(t, "x%u", i), &e);
            }
            double measured = hits / 200000.0, sd = sqrt(st.fpr / 200000);
            if (fabs(measured - st.fpr) > 0.06 * st.fpr + 4 * sd)
                FAILED("%s k=%u: fpr %g, measured %g\n", native_scheme(s), k, st.fpr, measured);
            bf_close(f);
        }
    bf_filter *full = bf_open(&(bf_spec){ .m = 1, .k = 1 }, &e);
    bf_add(full, "", 0, &e);
    bf_get_state(full, &st, &e);
    CHECK(st.ones == 1 && st.fill == 1 && st.fpr == 1 && st.count > 0 && st.count < 2);
    bf_close(full);
}

/* By size and rate where an older system has a formula of its own; n at its limits. */
TEST(sizes_of_older_systems)
{
    static const struct {
        bf_spec spec;
        uint64_t m, n;
    } rows[] = {
        { { .m = 1000, .p = 0.01, .scheme = "guava" }, 1024,
            106 }, /* floor(1024 (ln 2)^2 / -ln 0.01) */
        { { .m = 64, .p = 1e-300, .scheme = "redisson" }, 64, 1 },
        { { .m = UINT64_C(1) << 36, .p = 0.9999999999999999, .scheme = "guava" }, UINT64_C(1) << 36,
            BF_N_MAX },
        { { .m = 1000, .p = 0.01, .scheme = "redisson" }, 1000, 104 },
        { { .m = 1000, .n = 100, .scheme = "redisson" }, 1000, 100 },
        { { .m = 1000, .n = 100, .k = 3, .scheme = "guava-31" }, 1024, 100 },
        { { .n = 1000, .scheme = "rs-rand" }, 10000, 1000 },
    };
    bf_error e;
    for (size_t i = 0; i < COUNT(rows); i++) {
        bf_spec s = rows[i].spec;
        CHECK_EQ(bf_plan(&s, &e), 0);
        CHECK_EQ(s.m, rows[i].m);
        CHECK_EQ(s.n, rows[i].n);
        CHECK(s.k >= 1 && s.p > 0 && s.p < 1);
    }
}

/* What one key of Redis cannot hold is cut into 2, 4, 8 ... shards; a plan needs no Redis. */
TEST(sizes_that_are_cut)
{
    bf_error e;
    for (uint64_t n = 100000000; n <= UINT64_C(51200000000); n *= 2)
        for (int block = 0; block < 2; block++) {
            bf_spec here = { .n = n, .p = 0.01, .scheme = block ? "block" : "classic" },
                    there = here, one = here;
            there.storage = one.storage = "redis://127.0.0.1:1/0?key=k";
            one.shards = 1;
            CHECK_EQ(bf_plan(&here, &e), 0);
            int rc = bf_plan(&there, &e);
            CHECK_EQ(rc, 0);
            CHECK(here.shards == 1 && (there.shards & (there.shards - 1)) == 0);
            CHECK_EQ(there.shards > 1, here.m > (UINT64_C(1) << 32) - 64);
            CHECK(there.m >= here.m && there.m < here.m + UINT64_C(512) * there.shards &&
                  there.m % there.shards == 0);
            CHECK(there.m / there.shards <= (UINT64_C(1) << 32) - 64);
            CHECK(
                there.shards == 1 || there.m / (there.shards / 2) > (UINT64_C(1) << 32) - 64 - 512);
            CHECK_EQ(bf_plan(&one, &e), 0);
            CHECK_EQ(one.shards, 1);
        }
}

/* Which parameters make a file that is not there: those that size a filter, by themselves or by
 * what their scheme fixes. */
TEST(what_makes_a_file)
{
    char path[] = "/tmp/bf-sizing-XXXXXX";
    close(mkstemp(path));
    unlink(path);
    const struct {
        bf_spec spec;
        int code;
        const char *says;
    } rows[] = {
        { { .n = 1000, .scheme = "rs-rand" }, 0, NULL },
        { { .n = 1000, .p = 0.01 }, 0, NULL },
        { { .m = 1000, .scheme = "classic" }, BF_ENOENT, "No such file" },
        { { .n = 1000 }, BF_ENOENT, "No such file" },
        { { .scheme = "nosuch" }, BF_EINVAL, "scheme must be classic" },
        { { .p = 2, .must_exist = true }, BF_EINVAL, "p must be" },
        { { .n = UINT64_C(1) << 62, .scheme = "rs-rand" }, BF_EINVAL, "m must be" },
        { { .n = BF_N_MAX, .scheme = "gozero" }, BF_EINVAL,
            "m must be 1 to 1099511627776 bits, got 18446744073709551615" },
        { { .n = 1000, .p = 0.01, .must_exist = true }, BF_ENOENT, "No such file" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        bf_spec s = rows[i].spec;
        bf_error e = { 0 };
        s.storage = path;
        bf_filter *f = bf_open(&s, &e);
        CHECK_EQ(f != NULL, rows[i].code == 0);
        CHECK_EQ(e.code, rows[i].code);
        if (rows[i].says) CHECK_HAS(e.msg, rows[i].says);
        CHECK_EQ(access(path, F_OK) == 0, rows[i].code == 0);
        bf_close(f);
        unlink(path);
    }
    CHECK(!bf_scheme_name(1000));
}

/* A scheme with few positions would need more bits than a double counts one by one. */
TEST(a_size_beyond_every_m)
{
    bf_error e;
    CHECK_REFUSED(
        bf_plan(&(bf_spec){ .n = UINT64_C(22305731397), .p = 9.1e-12, .scheme = "sax-sdbm" }, &e),
        BF_EINVAL, "is not possible");
}

/* bf_create is bf_open without a struct. */
TEST(create)
{
    bf_error e;
    bf_filter *f = bf_create(0, 1000, 0, 0.01, NULL, NULL, &e), *g;
    CHECK(f && bf_add(f, "a", 1, &e) == BF_ADDED && bf_test(f, "a", 1, &e) == 1);
    CHECK((g = bf_open(&(bf_spec){ .n = 1000, .p = 0.01 }, &e)) && bf_add(g, "a", 1, &e) == 1);
    CHECK_EQ(bf_equal(f, g, &e), 1);
    bf_close(f);
    bf_close(g);
    CHECK((f = bf_create(1024, 0, 5, 0, "guava", NULL, &e)));
    const bf_info info = info_of(f);
    CHECK(info.m == 1024 && info.k == 5 && !strcmp(info.scheme, "guava") && !info.storage);
    bf_close(f);
    CHECK_NO_FILTER(bf_create(0, 0, 0, 0, NULL, NULL, &e), BF_EINVAL, "m and n");
    CHECK_NO_FILTER(bf_create(0, 9, 0, 0.1, NULL, "/no/such/folder/f", &e), BF_EIO, "/no/such");
}

int main(void) { return main_of_tests(); }
