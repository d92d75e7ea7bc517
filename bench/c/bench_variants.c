/* bench_variants.c - a filter that grew from 10^3 keys to KEYS, and one that forgets, beside one of
 * fixed size that was made for as many: interleaved in one process.  Knows bloomfilter.h as any
 * user does; prints raw times for report.py, and sizes and rates as facts.
 *
 *     bench_variants KEYS ROUNDS */
#define _GNU_SOURCE
#include "../../core/bloomfilter.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TEXT = 52 };
static volatile int64_t sink;
static bf_error e;

static void die(const char *what)
{
    fprintf(stderr, "bench_variants: %s\n", what);
    exit(1);
}
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}
static bf_filter *made(bf_spec spec)
{
    bf_filter *f = bf_open(&spec, &e);
    if (!f) die(e.msg);
    return f;
}

static bf_key *make_keys(size_t n, unsigned list)
{
    char *text = malloc(n * (TEXT + 1) + 1);
    bf_key *keys = malloc(n * sizeof *keys);
    if (!text || !keys) die("not enough memory");
    for (size_t i = 0; i < n; i++, text += TEXT)
        keys[i] =
            (bf_key){ text, (size_t)sprintf(text, "https://www.example.com/%04u/item/%018llu", list,
                                (unsigned long long)((i + 1) * UINT64_C(0x9E3779B97F4A7C15) %
                                                     UINT64_C(1000000000000000000))) };
    return keys;
}

typedef void run(bf_filter *f, const bf_key *keys, size_t n);
static void test_one(bf_filter *f, const bf_key *k, size_t n)
{
    int64_t s = 0;
    for (size_t i = 0; i < n; i++) s += bf_test(f, k[i].ptr, k[i].len, NULL);
    sink += s;
}
static void test_many(bf_filter *f, const bf_key *k, size_t n)
{
    sink += bf_test_many(f, k, n, NULL, &e);
}
static void add_one(bf_filter *f, const bf_key *k, size_t n)
{
    int64_t s = 0;
    for (size_t i = 0; i < n; i++) s += bf_add(f, k[i].ptr, k[i].len, NULL);
    sink += s;
}
static void add_many(bf_filter *f, const bf_key *k, size_t n)
{
    sink += bf_add_many(f, k, n, NULL, &e);
}
static const struct {
    const char *name;
    run *call;
    bool here;
} ops[] = { { "test absent", test_one, false }, { "test present", test_one, true },
    { "batch absent", test_many, false }, { "batch present", test_many, true },
    { "add again", add_one, true }, { "batch again", add_many, true } };

static void facts(
    const char *name, bf_filter *f, const bf_filter *right, const bf_key *other, size_t n)
{
    bf_info i, r;
    bf_get_info(f, &i);
    bf_get_info(right, &r);
    printf("fact\t%s\t%u parts, %.3f of its m, %.5f of %zu absent keys present\n", name,
        i.part_count, (double)i.m / (double)r.m,
        (double)bf_test_many(f, other, n, NULL, &e) / (double)n, n);
}

int main(int argc, char **argv)
{
    if (argc != 3) die("usage: bench_variants KEYS ROUNDS");
    const size_t n = strtoull(argv[1], NULL, 10);
    const int rounds = atoi(argv[2]);
    const bf_key *here = make_keys(n, 1), *other = make_keys(n, 2);
    const struct {
        const char *name;
        bf_filter *f;
    } subjects[] = { { "right-sized", made((bf_spec){ .n = n, .p = 0.01 }) },
        { "grown from 1000", made((bf_spec){ .n = 1000, .p = 0.01, .grow = 2 }) },
        { "window, 4 parts", made((bf_spec){ .n = n, .p = 0.01, .window = 86400 }) } };
    const size_t count = sizeof subjects / sizeof *subjects;
    for (size_t s = 0; s < count; s++)
        if (bf_add_many(subjects[s].f, here, n, NULL, &e) < 0) die(e.msg);
    for (size_t s = 0; s < count; s++)
        facts(subjects[s].name, subjects[s].f, subjects[0].f, other, n);
    for (int r = 0; r < rounds; r++)
        for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
            for (size_t s = 0; s < count; s++) {
                const size_t at = r % 2 ? count - 1 - s : s;
                double start = now();
                ops[o].call(subjects[at].f, ops[o].here ? here : other, n);
                printf("ns\tvariants\t%s\t%s\t%d\t%.3f\n", subjects[at].name, ops[o].name, r,
                    (now() - start) / (double)n);
            }
    for (size_t s = 0; s < count; s++) bf_close(subjects[s].f);
    return 0;
}
