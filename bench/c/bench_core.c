/* bench_core.c - the core against the machine's own limits and against libbloom, in one interleaved run.
 * Limit = XXH3-64 of the same keys + one random 64-byte line each, read with prefetch 32 lines ahead.
 * Prints ns a key: the median of the rounds, and the median of the per-round ratios to the limit. */
#define _GNU_SOURCE
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "../../core/bloomfilter.h"
#include <bloom.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { N = 4000000, KEY = 52, ROUNDS = 9, ROWS = 40 };
static char *present_text, *absent_text;
static bf_key present[N], absent[N];
static uint64_t *lines, nlines;
static volatile uint64_t sink;

static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1e9 + t.tv_nsec; }

static char *make_keys(bf_key *keys, unsigned salt)
{
    char *text = malloc((size_t)N * (KEY + 1));
    for (size_t i = 0; i < N; i++) {
        uint64_t r = (i + 1) * UINT64_C(0x9E3779B97F4A7C15) ^ (uint64_t)salt << 56;
        int len = snprintf(text + i * (KEY + 1), KEY + 1, "https://www.example.com/shop/item/%018llu", (unsigned long long)r % 1000000000000000000ull);
        keys[i] = (bf_key){ text + i * (KEY + 1), (size_t)len };
    }
    return text;
}

static void only_hash(void *x) { (void)x; uint64_t s = 0; for (size_t i = 0; i < N; i++) s += XXH3_64bits(absent[i].ptr, absent[i].len); sink += s; }
static uint64_t line_no(uint64_t i) { i *= UINT64_C(0x9E3779B97F4A7C15); i ^= i >> 32; i *= UINT64_C(0xD6E8FEB86659FD93); return (uint64_t)(((unsigned __int128)i * nlines) >> 64); }
static void only_line(void *x)
{
    (void)x;
    uint64_t s = 0, at[32];
    for (size_t i = 0; i < 32; i++) { at[i] = line_no(i); __builtin_prefetch(lines + at[i] * 8); }
    for (size_t i = 0; i < N; i++) {
        s += lines[at[i % 32] * 8];
        at[i % 32] = line_no(i + 32);
        __builtin_prefetch(lines + at[i % 32] * 8);
    }
    sink += s;
}
static void check(int64_t got, const bf_error *e) { if (got < 0) { fprintf(stderr, "%s\n", e->msg); exit(1); } sink += (uint64_t)got; }
static void batch_neg(void *f) { bf_error e; check(bf_test_many(f, absent, N, NULL, &e), &e); }
static void batch_pos(void *f) { bf_error e; check(bf_test_many(f, present, N, NULL, &e), &e); }
static void batch_add(void *f) { bf_error e; check(bf_add_many(f, present, N, NULL, &e), &e); }
static void batch_add_fresh(void *f)
{
    static unsigned salt = 100;
    bf_error e;
    (void)salt;
    check(bf_add_many(f, present, N, NULL, &e), &e);
}
static void one_neg(void *f) { bf_error e; uint64_t s = 0; for (size_t i = 0; i < N; i++) s += (uint64_t)bf_test(f, absent[i].ptr, absent[i].len, &e); sink += s; }
static void one_pos(void *f) { bf_error e; uint64_t s = 0; for (size_t i = 0; i < N; i++) s += (uint64_t)bf_test(f, present[i].ptr, present[i].len, &e); sink += s; }
static void one_add(void *f) { bf_error e; uint64_t s = 0; for (size_t i = 0; i < N; i++) s += (uint64_t)bf_add(f, present[i].ptr, present[i].len, &e); sink += s; }
static void lib_neg(void *b) { uint64_t s = 0; for (size_t i = 0; i < N; i++) s += (uint64_t)bloom_check(b, absent[i].ptr, (int)absent[i].len); sink += s; }
static void lib_pos(void *b) { uint64_t s = 0; for (size_t i = 0; i < N; i++) s += (uint64_t)bloom_check(b, present[i].ptr, (int)present[i].len); sink += s; }
static void lib_add(void *b) { uint64_t s = 0; for (size_t i = 0; i < N; i++) s += (uint64_t)bloom_add(b, present[i].ptr, (int)present[i].len); sink += s; }

static struct { const char *name; void (*run)(void *); void *with; void (*before)(void *); double ns[ROUNDS], ratio[ROUNDS]; } row[ROWS];
static int rows;
static void add_row(const char *name, void (*run)(void *), void *with, void (*before)(void *))
{ row[rows].name = name; row[rows].run = run; row[rows].with = with; row[rows++].before = before; }
static int up(const void *a, const void *b) { double x = *(const double *)a, y = *(const double *)b; return (x > y) - (x < y); }
static double median(const double *v) { double s[ROUNDS]; memcpy(s, v, sizeof s); qsort(s, ROUNDS, sizeof *s, up); return s[ROUNDS / 2]; }
static void empty(void *f) { bf_error e; check(bf_clear(f, &e), &e); }
static void lib_empty(void *b) { bloom_reset(b); }

static bf_filter *make(const char *scheme, uint64_t m, unsigned k, bool threads, bool fill)
{
    bf_error e;
    bf_filter *f = bf_open(&(bf_spec){ .m = m, .k = k, .scheme = scheme, .threads = threads }, &e);
    if (!f) { fprintf(stderr, "%s\n", e.msg); exit(1); }
    if (fill) batch_add(f);
    return f;
}

int main(int argc, char **argv)
{
    uint64_t m = argc > 1 ? strtoull(argv[1], NULL, 0) : UINT64_C(1) << 31;
    nlines = m / 512;
    lines = aligned_alloc(2 << 20, (m / 8 + (2 << 20) - 1) / (2 << 20) * (2 << 20));
    madvise(lines, m / 8, MADV_HUGEPAGE);
    memset(lines, 1, m / 8);
    present_text = make_keys(present, 1);
    absent_text = make_keys(absent, 2);
    struct bloom lib;
    bloom_init(&lib, (int)((double)m * 0.93 / 9.585), 0.01);
    lib_add(&lib);
    add_row("limit: XXH3", only_hash, NULL, NULL);
    add_row("limit: line", only_line, NULL, NULL);
    static const struct { const char *scheme; unsigned k; bool threads; const char *label[7]; } kinds[] = {
        { "block", 8, false, { "block k=8 batch test absent", "block k=8 batch test present", "block k=8 batch add fresh", "block k=8 batch add again", "block k=8 test absent", "block k=8 test present", "block k=8 add fresh" } },
        { "block2", 8, false, { "block2 k=8 batch test absent", "block2 k=8 batch test present", "block2 k=8 batch add fresh", "block2 k=8 batch add again", "block2 k=8 test absent", "block2 k=8 test present", "block2 k=8 add fresh" } },
        { "classic", 7, false, { "classic k=7 batch test absent", "classic k=7 batch test present", "classic k=7 batch add fresh", "classic k=7 batch add again", "classic k=7 test absent", "classic k=7 test present", "classic k=7 add fresh" } },
        { "block", 8, true, { "block atomic batch test absent", "block atomic batch test present", "block atomic batch add fresh", "block atomic batch add again", "block atomic test absent", "block atomic test present", "block atomic add fresh" } },
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        bf_filter *f = make(kinds[i].scheme, m, kinds[i].k, kinds[i].threads, true), *g = make(kinds[i].scheme, m, kinds[i].k, kinds[i].threads, false);
        add_row(kinds[i].label[0], batch_neg, f, NULL);
        add_row(kinds[i].label[1], batch_pos, f, NULL);
        add_row(kinds[i].label[2], batch_add_fresh, g, empty);
        add_row(kinds[i].label[3], batch_add, f, NULL);
        add_row(kinds[i].label[4], one_neg, f, NULL);
        add_row(kinds[i].label[5], one_pos, f, NULL);
        add_row(kinds[i].label[6], one_add, g, empty);
    }
    add_row("libbloom test absent", lib_neg, &lib, NULL);
    add_row("libbloom test present", lib_pos, &lib, NULL);
    add_row("libbloom add fresh", lib_add, &lib, lib_empty);
    for (int r = 0; r < ROUNDS; r++)
        for (int i = 0; i < rows; i++) {
            if (row[i].before) row[i].before(row[i].with);
            double t = now();
            row[i].run(row[i].with);
            row[i].ns[r] = (now() - t) / N;
            row[i].ratio[r] = row[i].ns[r] / (row[0].ns[r] + row[1].ns[r]);
        }
    printf("m = %llu bits (%llu MiB), %d keys of ~%d bytes, %d interleaved rounds\n", (unsigned long long)m, (unsigned long long)m >> 23, N, KEY, ROUNDS);
    for (int i = 0; i < rows; i++) printf("%-34s %8.1f ns/key  %6.2f x limit\n", row[i].name, median(row[i].ns), median(row[i].ratio));
    return 0;
}
