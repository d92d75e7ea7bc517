/* test_rate.c - measured false-positive rates: at most 1.05 p for every n, scheme and kind of key.
 * All keys are fixed, so the outcome is too; the bound leaves 3.5 standard deviations of the
 * sample on top.  SHOW_RATES=1 prints the table.  About core/layout/rates.c, core/layout/sample.c,
 * core/size/rates_older.c. */
#include "../../core/bloomfilter.h"
#include "check.h"

enum { BATCH = 512 };
enum { COUNTED, PREFIXED, RANDOM, KINDS };
static const char *const kinds[] = { "1..n", "prefix", "random" };

static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static size_t text_of(char t[48], int kind, uint64_t i)
{
    if (kind == COUNTED) return (size_t)sprintf(t, "%llu", (unsigned long long)i + 1);
    if (kind == PREFIXED)
        return (size_t)sprintf(t, "https://example.org/a/b/c?id=%llu", (unsigned long long)i);
    uint64_t r[2] = { mix(i), mix(i ^ UINT64_C(0x5555555555555555)) };
    memcpy(t, r, 16);
    return 16;
}

/* Keys first .. first + count - 1 in batches; the sum of the answers. */
static int64_t each_batch(bf_filter *f, int kind, uint64_t first, uint64_t count,
    int64_t (*call)(bf_filter *, const bf_key *, size_t, uint8_t *, bf_error *))
{
    static char text[BATCH][48];
    bf_key keys[BATCH];
    int64_t sum = 0;
    for (uint64_t done = 0, c; done < count; done += c) {
        c = count - done < BATCH ? count - done : BATCH;
        for (uint64_t i = 0; i < c; i++)
            keys[i] = (bf_key){ text[i], text_of(text[i], kind, first + done + i) };
        sum += call(f, keys, c, NULL, NULL);
    }
    return sum;
}

static void measure(const char *scheme, uint64_t n, double p, int kind, uint64_t probes)
{
    bf_error e;
    probes = SHORT(probes, probes / 8); /* the bound below knows how many */
    unsigned filters =
        n < 1000 ? (unsigned)(2000 / n) + 1 : 1; /* small filters differ: many of them */
    uint64_t hits = 0, asked = 0, next = 0;
    for (unsigned i = 0; i < filters; i++) {
        bf_filter *f = bf_open(&(bf_spec){ .n = n, .p = p, .scheme = scheme }, &e);
        if (!f) {
            FAILED("%s\n", e.msg);
            return;
        }
        each_batch(f, kind, next, n, bf_add_many);
        next += n;
        CHECK_EQ(each_batch(f, kind, next - n, n, bf_test_many), n);
        uint64_t some = probes / filters + 1;
        hits += (uint64_t)each_batch(f, kind, next, some, bf_test_many);
        asked += some;
        next += some;
        bf_close(f);
    }
    double rate = (double)hits / (double)asked, bound = 1.05 * p + 3.5 * sqrt(p / (double)asked);
    if (getenv("SHOW_RATES"))
        printf("%-8s n=%-8llu p=%-7g %-7s %9.3g  %5.3f p\n", scheme ? scheme : "default",
            (unsigned long long)n, p, kinds[kind], rate, rate / p);
    if (rate > bound)
        FAILED("%s n=%llu p=%g %s: measured %g, %.3f p\n", scheme ? scheme : "default",
            (unsigned long long)n, p, kinds[kind], rate, rate / p);
}

TEST(by_number_of_keys)
{
    static const uint64_t n[] = { 1, 2, 7, 33, 101, 1000, 99999, 1000000 };
    static const double p[] = { 1e-1, 1e-2, 1e-3, 1e-4 };
    for (size_t i = 0; i < COUNT(n); i++)
        for (size_t j = 0; j < COUNT(p); j++)
            measure(NULL, n[i], p[j], (int)((i + j) % KINDS), p[j] < 1e-3 ? 4000000 : 1000000);
}

TEST(by_kind_of_key)
{
    static const char *const schemes[] = { "classic", "block", "block2" };
    for (size_t s = 0; s < 3; s++)
        for (int kind = 0; kind < KINDS; kind++) {
            measure(schemes[s], 1000000, 1e-2, kind, 4000000);
            measure(schemes[s], 50001, 1e-3, kind, 4000000);
        }
}

TEST(one_in_a_hundred_thousand)
{
    static const char *const schemes[] = { NULL, "classic", "block" };
    for (size_t s = 0; s < 3; s++) measure(schemes[s], 20000, 1e-5, COUNTED, 30000000);
}

int main(void) { return main_of_tests(); }
