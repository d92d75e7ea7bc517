/* test_same_bits.c - the same on every machine: sizes, positions and bytes, as sums that were
 * taken once on x86-64 and hold for 32 bits, for either order of bytes and for every libm.  What
 * is summed is text, so that a difference can be looked at:  BF_SAME_BITS=1 prints it.  And the
 * product of 128 bits where the compiler has none.  Runs with both kernels.  About
 * core/layout/classic.c, core/layout/block.c, core/layout/block2.c, core/base/number.c. */
#include "../../core/bits/bits.h"
#include "check.h"
#include "paged.h"
#include "native.h"
#include "sha256.h"

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

static void say_bytes(const char *what, const void *bytes, size_t len)
{
    char hex[65];
    sha256_hex(bytes, len, hex);
    say("%s %zu %s\n", what, len, hex);
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

/* ---- positions ---- */
static const char *const schemes[] = { "classic", "block", "block2", "sax-sdbm", "java7", "php-mt",
    "php-mt-legacy", "rs-rand", "rs-dotnet", "rs-dotnet-repo", "gozero",
    "php-hashes:JS,PJW,ELF,BKDR,SDBM,DJB,DEK,FNV", "guava", "guava32", "guava-31", "redisson" };
static size_t key_of(unsigned i, char to[400])
{
    static const char *const odd[] = { "", "a", "\xC3\xA9t\xC3\xA9", "\xF0\x9F\x8C\xB8",
        "with\0nul" };
    if (i < 5) {
        size_t len = i == 4 ? 8 : strlen(odd[i]);
        memcpy(to, odd[i], len);
        return len;
    }
    memset(to, 'x', 400);
    return i < 40 ? (size_t)i * 9
                  : (size_t)sprintf(to, "http://example.org/%u?q=%x", i, i * 2654435761u);
}

/* Older schemes fix k or m: theirs, where the one asked for is refused. */
static bf_filter *open_as(const char *scheme, uint64_t m, unsigned k, const void *secret)
{
    static const unsigned fixed[] = { 2, 7, 14, 8 };
    bf_error e;
    bf_spec s = {
        .m = m, .k = k, .scheme = scheme, .secret = secret, .secret_len = secret ? 16 : 0
    };
    bf_filter *f = NULL;
    if (!strncmp(scheme, "php-hashes", 10)) s.m = UINT64_C(1) << 32;
    if (!strcmp(scheme, "java7")) s.m = 65536;
    if (!strncmp(scheme, "rs-dotnet", 9)) s.k = 7; /* as that system has it */
    for (unsigned i = 0; i <= 4 && !(f = bf_open(&s, &e)); i++) s.k = fixed[i % 4];
    if (!f) FAILED("%s: %s\n", scheme, e.msg);
    return f;
}

TEST(positions)
{
    static const uint64_t ms[] = { 1, 1000, 99991 * 64, 2000000000 };
    bf_error e;
    char key[400];
    uint64_t pos[64];
    for (size_t s = 0; s < COUNT(schemes); s++)
        for (size_t m = 0; m < COUNT(ms); m++) {
            bf_filter *f = open_as(schemes[s], ms[m], 11, NULL);
            for (unsigned i = 0; f && i < 90; i++) {
                size_t len = key_of(i, key);
                int64_t k = bf_hashcode(f, key, len, pos, 64, &e);
                say("%s %u %lld:", schemes[s], i, (long long)k);
                for (int64_t j = 0; j < k; j++) say(" %llu", (unsigned long long)pos[j]);
                say("\n");
            }
            bf_close(f);
        }
    sum_is("537e311db2a8942aef627dc4e787a0ca697fb0ff05d9662dbb03aff3ede594c6");
}

/* ---- bytes ---- */
static double noon(void *ctx) { return 1700000000; }
static void say_filter(const char *what, const bf_spec *spec, unsigned keys)
{
    bf_error e;
    char key[400];
    bf_filter *f = bf_open(spec, &e);
    if (!f) {
        say("%s: %d\n", what, e.code);
        return;
    }
    for (unsigned n = 0; n < keys; n++) bf_add(f, key, key_of(n, key), &e);
    for (unsigned n = 0; spec->counting && n < keys; n += 3) bf_remove(f, key, key_of(n, key), &e);
    const bf_info i = info_of(f);
    uint8_t *bytes = malloc((size_t)i.image_bytes);
    CHECK_EQ(bf_read_bits(f, 0, bytes, (size_t)i.bitset_bytes, &e), 0);
    say_bytes(what, bytes, (size_t)i.bitset_bytes);
    if (spec->p != 0 && spec->grow == 0) { /* its p is the one asked for */
        uint64_t len;
        uint8_t *image = paged_bytes(f, &len);
        say_bytes("image", image, (size_t)len);
        free(image);
    }
    for (unsigned n = 0; n < i.part_count; n++) {
        bf_part_info part;
        CHECK_EQ(bf_get_part(f, n, &part, &e), 0);
        say("part %llu %llu %llu %llu %.9g\n", (unsigned long long)part.first_bit,
            (unsigned long long)part.m, (unsigned long long)part.n, (unsigned long long)part.keys,
            part.p);
    }
    free(bytes);
    if (strncmp(i.scheme, "guava", 5) == 0) {
        int64_t len = bf_bytes_as(f, "guava", &e);
        CHECK(len > 0 && (bytes = malloc((size_t)len)) != NULL);
        CHECK_EQ(bf_to_bytes_as(f, "guava", bytes, (uint64_t)len, &e), 0);
        say_bytes("writeTo", bytes, (size_t)len);
        free(bytes);
    }
    bf_close(f);
}

TEST(bytes)
{
    for (size_t s = 0; s < COUNT(schemes); s++)
        if (strncmp(schemes[s], "php-hashes", 10))
            say_filter(schemes[s], &(bf_spec){ .n = 1000, .p = 0.01, .scheme = schemes[s] }, 1000);
    for (int s = 0; s < 3; s++)
        for (int kind = 0; kind < 6; kind++) {
            bf_spec spec = { .n = 5000, .p = 1e-4, .scheme = schemes[s], .clock = noon };
            if (kind == 0) spec.k = 13;
            if (kind == 1) spec.counting = true;
            if (kind == 2) spec.shards = 3;
            if (kind == 3) spec.grow = 1.7;
            if (kind == 4) {
                spec.window = 3600;
                spec.parts = 3;
            }
            if (kind == 5) {
                spec.p = 0;
                spec.m = 99999;
                spec.threads = true;
            }
            say_filter(schemes[s], &spec, kind == 3 ? 60000 : 5000);
        }
    sum_is("bb4b83fd790443b0f8444c19bcae6aca2790c6b531afab376d3621e9332adaa5");
}

TEST(keyed_bytes)
{
    bf_error e;
    for (int s = 0; s < 3; s++) {
        bf_spec spec = { .n = 1000,
            .p = 0.01,
            .scheme = schemes[s],
            .secret = "0123456789abcdef",
            .secret_len = 16 };
        bf_filter *f = bf_open(&spec, &e);
        if (!f && e.code == BF_ENOTSUP) {
            printf("     (%s)\n", e.msg);
            length = 0;
            return;
        }
        bf_close(f);
        say_filter(schemes[s], &spec, 1000);
    }
    sum_is("216bb4a22b894523c212c15944b0586cd1f76dda44fcd21ba53aa116548b5f97");
}

/* ---- arithmetic ---- */
/* Schoolbook, bit by bit. */
static uint64_t high_slowly(uint64_t a, uint64_t b)
{
    uint64_t high = 0, low = 0;
    for (int i = 63; i >= 0; i--) {
        high = high << 1 | low >> 63;
        low <<= 1;
        if (!(b >> i & 1)) continue;
        low += a;
        high += low < a;
    }
    return high;
}

static uint64_t next(uint64_t *x)
{
    *x = *x * UINT64_C(6364136223846793005) + 1442695040888963407;
    return *x ^ *x >> 33;
}

TEST(products)
{
    static const uint64_t edge[] = { 0, 1, 2, 0xFFFFFFFF, UINT64_C(1) << 32,
        UINT64_C(0xFFFFFFFF00000000), UINT64_C(1) << 63, UINT64_MAX - 1, UINT64_MAX, BF_MUM_1,
        BF_MUM_2 };
    const size_t edges = COUNT(edge);
    uint64_t x = 1;
    for (size_t i = 0; i < 5000 + edges * edges; i++) {
        const uint64_t a = i < edges * edges ? edge[i / edges] : next(&x),
                       b = i < edges * edges ? edge[i % edges] : next(&x);
        CHECK(bf_mulhi_by_halves(a, b) == high_slowly(a, b));
        CHECK(bf_mulhi(a, b) == high_slowly(a, b));
        CHECK(bf_mum(a, b) == (high_slowly(a, b) ^ a * b));
    }
}

int main(void)
{
    run_tests();
    free(text);
    return FINISH();
}
