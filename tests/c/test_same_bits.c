/* test_same_bits.c - the same on every machine: sizes and bits, as sums that were taken once on
 * x86-64 and hold for 32 bits, for either order of bytes and for every libm.  What is summed is
 * text, so that a difference can be looked at:  BF_SAME_BITS=1 prints it.  And the product of 128
 * bits where the compiler has none.  Positions and bytes of older systems: test_vectors.c; bytes of
 * files: test_data.c, test_image.c.  Runs with both kernels.  About core/layout/classic.c,
 * core/layout/block.c, core/layout/block2.c, core/base/number.c. */
#include "../../core/bits/bits.h"
#include "check.h"
#include "native.h"
#include "oracle.h"
#include "sha256.h"
#include "xorshift.h"

static char *text;
static size_t length, room;
static void say(const char *format, ...)
{
    va_list a;
    if (room - length < 4096 && !(text = realloc(text, room = 2 * room + 8192))) abort();
    va_start(a, format);
    length += (size_t)vsnprintf(text + length, room - length, format, a);
    va_end(a);
}

static void sum_is(const char *expected)
{
    char hex[65];
    sha256_hex((const uint8_t *)text, length, hex);
    if (getenv("BF_SAME_BITS")) printf("%s%s\n", text, hex);
    if (strcmp(hex, expected)) FAILED("the sum is %s, expected %s\n", hex, expected);
    length = 0;
}

/* ---- sizes: p is what the formula gives, which may differ in its last bits from one libm to the
 * next ---- */
static void say_plan(bf_spec s)
{
    bf_error e;
    int rc = bf_plan(&s, &e);
    if (rc < 0)
        say("%d\n", rc);
    else
        say("%s m=%llu n=%llu k=%u p=%.9g\n", s.scheme, (unsigned long long)s.m,
            (unsigned long long)s.n, s.k, s.p);
}

static const char *const sized[] = { NULL, "classic", "block", "block2", "sax-sdbm", "java7",
    "php-mt", "rs-rand", "gozero", "guava", "guava-31", "redisson" };
static const uint64_t ns[] = { 1, 2, 10, 997, 65536, 1000000, 123456789, UINT64_C(5000000000),
    UINT64_C(30000000000) };
static const double ps[] = { 0.5, 0.1, 0.03, 0.01, 0.001, 1e-4, 3e-6, 1e-9, 1e-15 };
TEST(sizes)
{
    for (size_t s = 0; s < COUNT(sized); s++)
        for (size_t n = 0; n < COUNT(ns); n++)
            for (size_t p = 0; p < COUNT(ps); p++) {
                say_plan((bf_spec){ .n = ns[n], .p = ps[p], .scheme = sized[s] });
                say_plan((bf_spec){ .m = ns[n] * (p + 1), .n = ns[n], .scheme = sized[s] });
                say_plan((bf_spec){ .m = ns[n] * 11, .p = ps[p], .scheme = sized[s] });
                say_plan(
                    (bf_spec){ .m = ns[n] * 11, .k = (unsigned)p * 2 + 1, .scheme = sized[s] });
            }
    sum_is("72f02dcf840a9a06ccd3d3684099a0c3543396bf73b9e8772c8b3e16a814f550");
}

/* ---- bits, and the sizes of parts ---- */
static double noon(void *ctx) { return 1700000000; }
static void say_filter(bf_spec spec, unsigned keys)
{
    bf_error e;
    char key[24], hex[65];
    bf_filter *f = bf_open(&spec, &e);
    CHECK(f != NULL);
    for (unsigned n = 0; n < keys; n++) bf_add(f, key, (size_t)sprintf(key, "key %u", n), &e);
    for (unsigned n = 0; spec.counting && n < keys; n += 3)
        bf_remove(f, key, (size_t)sprintf(key, "key %u", n), &e);
    const bf_info i = info_of(f);
    uint8_t *bytes = malloc((size_t)i.bitset_bytes);
    CHECK_EQ(bf_read_bits(f, 0, bytes, (size_t)i.bitset_bytes, &e), 0);
    sha256_hex(bytes, (size_t)i.bitset_bytes, hex);
    say("%s %llu %s\n", i.scheme, (unsigned long long)i.bitset_bytes, hex);
    for (unsigned n = 0; n < i.part_count; n++) {
        bf_part_info part;
        CHECK_EQ(bf_get_part(f, n, &part, &e), 0);
        say("part %llu %llu %llu %llu %.9g\n", (unsigned long long)part.first_bit,
            (unsigned long long)part.m, (unsigned long long)part.n, (unsigned long long)part.keys,
            part.p);
    }
    free(bytes);
    bf_close(f);
}

TEST(bits)
{
    for (size_t s = 0; native_scheme(s); s++) {
        const char *scheme = native_scheme(s);
        say_filter((bf_spec){ .n = 5000, .p = 1e-4, .k = 13, .scheme = scheme }, 5000);
        say_filter((bf_spec){ .n = 5000, .p = 1e-4, .counting = true, .scheme = scheme }, 5000);
        say_filter((bf_spec){ .n = 5000, .p = 1e-4, .shards = 3, .scheme = scheme }, 5000);
        say_filter((bf_spec){ .n = 5000, .p = 1e-4, .grow = 1.7, .scheme = scheme }, 60000);
        say_filter(
            (bf_spec){ .n = 5000, .p = 1e-4, .window = 60, .clock = noon, .scheme = scheme }, 5000);
    }
    sum_is("5eb80470f689ccad47012b9ecd35bde8c5cad6ea2bcb062de598d7d05b9cfb63");
}

/* ---- arithmetic ---- */
TEST(products)
{
    static const uint64_t edge[] = { 0, 1, 2, 0xFFFFFFFF, UINT64_C(1) << 32,
        UINT64_C(0xFFFFFFFF00000000), UINT64_C(1) << 63, UINT64_MAX - 1, UINT64_MAX, BF_MUM_1,
        BF_MUM_2 };
    const size_t edges = COUNT(edge);
    for (size_t i = 0; i < 5000 + edges * edges; i++) {
        const uint64_t a = i < edges * edges ? edge[i / edges] : next(),
                       b = i < edges * edges ? edge[i % edges] : next();
        CHECK(bf_mulhi_by_halves(a, b) == o_hi(a, b));
        CHECK(bf_mulhi(a, b) == o_hi(a, b));
        CHECK(bf_mum(a, b) == (o_hi(a, b) ^ a * b));
    }
}

int main(void)
{
    run_tests();
    free(text);
    return FINISH();
}
