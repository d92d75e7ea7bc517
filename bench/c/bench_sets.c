/* bench_sets.c - whole filters beside memcpy, and counting filters beside plain ones, interleaved
 * in one process. Knows bloomfilter.h as any user does; prints raw times as "ns <table> <subject>
 * <op> <round> <ns>" lines for report.py.
 *
 *     bench_sets ROUNDS
 *
 * Table sets: ns a KiB of memory traffic (read and written: memcpy 2 bytes a byte, a count 1, a
 * union 3), so 60 % of memcpy's bandwidth is 1.67 times its figure. Table counting: ns a key,
 * filters for 1,000,000 keys at 1 %. */
#define _GNU_SOURCE
#include "../../core/bloomfilter.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static volatile uint64_t sink;
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}
static void *need(void *p)
{
    if (!p) {
        fprintf(stderr, "bench_sets: not enough memory\n");
        exit(1);
    }
    return p;
}

/* ---- whole filters ---- */
typedef struct {
    bf_filter *a, *b, *counts, *others;
    char *from, *to;
    size_t bytes;
} whole;

static void copy(whole *w)
{
    memcpy(w->to, w->from, w->bytes);
    sink += (unsigned char)w->to[w->bytes / 2];
}
static void count(whole *w)
{
    bf_state s;
    bf_get_state(w->a, &s, NULL);
    sink += s.ones;
}
static void unite(whole *w) { bf_unite(w->a, w->b, NULL); }
static void union_count(whole *w)
{
    double count;
    bf_union_count(w->a, w->b, &count, NULL);
    sink += (uint64_t)count;
}
static void subset(whole *w) { sink += (uint64_t)bf_subset(w->b, w->a, NULL); }
static void count_counters(whole *w)
{
    bf_state s;
    bf_get_state(w->counts, &s, NULL);
    sink += s.ones;
}
static void add_counters(whole *w) { bf_unite(w->counts, w->others, NULL); }
static const struct {
    const char *name;
    void (*run)(whole *);
    unsigned traffic;
} tasks[] = {
    { "memcpy", copy, 2 },
    { "popcount", count, 1 },
    { "union in place", unite, 3 },
    { "union_count", union_count, 2 },
    { "subset", subset, 2 },
    { "counters above 0", count_counters, 1 },
    { "sum of counters", add_counters, 3 },
};

static bf_filter *filled(uint64_t m, bool counting, unsigned seed)
{
    bf_filter *f = need(
        bf_open(&(bf_spec){ .m = m, .k = 7, .scheme = "classic", .counting = counting }, NULL));
    for (uint64_t i = 0; i < m / 64; i++) {
        uint64_t key = i * 2 + seed;
        bf_add(f, &key, sizeof key, NULL);
    }
    return f;
}

static void sets(size_t bytes, unsigned rounds)
{
    whole w = { filled(bytes * 8, false, 0), filled(bytes * 8, false, 1),
        filled(bytes * 2, true, 0), filled(bytes * 2, true, 1), need(malloc(bytes)),
        need(malloc(bytes)), bytes };
    const size_t often = bytes < 8 << 20 ? (8 << 20) / bytes : 1;
    memset(w.from, 1, bytes);
    memset(w.to, 2, bytes);
    bf_unite(w.a, w.b, NULL); /* all of b in a from now on: subset reads to the end */
    for (unsigned r = 0; r < rounds; r++)
        for (size_t t = 0; t < sizeof tasks / sizeof *tasks; t++) {
            double start = now();
            for (size_t i = 0; i < often; i++) tasks[t].run(&w);
            printf("ns\tsets\t%s\t%zu KiB\t%u\t%.4f\n", tasks[t].name, bytes >> 10, r,
                (now() - start) / (double)(often * (bytes >> 10) * tasks[t].traffic));
        }
    bf_close(w.a);
    bf_close(w.b);
    bf_close(w.counts);
    bf_close(w.others);
    free(w.from);
    free(w.to);
}

/* ---- counting beside plain ---- */
enum { KEYS = 200000, TEXT = 52, SIZE = 1000000 };
typedef struct {
    bf_key *present, *absent;
    char *text;
} keys;

static keys make_keys(unsigned round)
{
    static keys k;
    if (!k.text)
        k = (keys){ need(malloc(KEYS * sizeof(bf_key))), need(malloc(KEYS * sizeof(bf_key))),
            need(malloc(2 * KEYS * TEXT + 1)) };
    for (size_t i = 0; i < 2 * KEYS; i++) {
        char one[64];
        snprintf(one, sizeof one, "https://www.example.com/%06u/item/%017llu", round,
            (unsigned long long)((i + 1) * UINT64_C(0x9E3779B97F4A7C15) %
                                 UINT64_C(100000000000000000)));
        memcpy(k.text + i * TEXT, one, TEXT);
        (i < KEYS ? k.present : k.absent)[i % KEYS] = (bf_key){ k.text + i * TEXT, TEXT };
    }
    return k;
}

static double timed(bf_filter *f, int op, const bf_key *k)
{
    uint64_t sum = 0;
    double start = now();
    if (op == 0)
        sum += (uint64_t)bf_add_many(f, k, KEYS, NULL, NULL);
    else if (op == 1)
        sum += (uint64_t)bf_test_many(f, k, KEYS, NULL, NULL);
    else if (op == 2)
        for (size_t i = 0; i < KEYS; i++) sum += (uint64_t)bf_add(f, k[i].ptr, k[i].len, NULL);
    else
        for (size_t i = 0; i < KEYS; i++) sum += (uint64_t)bf_test(f, k[i].ptr, k[i].len, NULL);
    sink += sum;
    return (now() - start) / KEYS;
}

static bf_filter *half_full(const char *scheme, bool counting)
{
    bf_filter *f = need(
        bf_open(&(bf_spec){ .n = SIZE, .p = 0.01, .scheme = scheme, .counting = counting }, NULL));
    for (uint64_t i = 0; i < SIZE * 3 / 4; i++) bf_add(f, &i, sizeof i, NULL);
    return f;
}

static void counting(const char *scheme, unsigned rounds)
{
    static const struct {
        const char *name;
        int op;
        bool absent;
    } ops[] = { { "batch fresh", 0, false }, { "batch present", 1, false },
        { "batch absent", 1, true }, { "test present", 3, false }, { "test absent", 3, true },
        { "add fresh", 2, false } };
    for (unsigned r = 0; r < rounds; r++)
        for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
            for (int c = 0; c < 2; c++) { /* a filter of its own: new keys are new in every round */
                keys k = make_keys(r);
                bf_filter *f = half_full(scheme, c);
                if (ops[o].op == 1 || ops[o].op == 3) bf_add_many(f, k.present, KEYS, NULL, NULL);
                double ns = timed(f, ops[o].op, ops[o].absent ? k.absent : k.present);
                printf("ns\tcounting\t%s%s\t%s\t%u\t%.3f\n", scheme, c ? " counting" : "",
                    ops[o].name, r, ns);
                bf_close(f);
            }
}

int main(int argc, char **argv)
{
    unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 9;
    printf("table\tsets\tns\tC: whole filters in memory, ns a KiB read or written\n");
    sets(64 << 20, rounds);
    sets(512 << 10, rounds);
    printf("table\tcounting\tns\tC: filters for 1,000,000 keys at 1 %%, ns a key of 52 B\n");
    counting("block", rounds);
    counting("block2", rounds);
    counting("classic", rounds);
    return 0;
}
