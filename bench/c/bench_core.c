/* bench_core.c - the core beside the machine's own limits and beside libbloom, interleaved in one
 * process. Knows bloomfilter.h as any user does; prints raw times as "ns <table> <subject> <op>
 * <round> <ns>" lines, separated by tabs: medians, ratios and targets are report.py's business.
 *
 *     bench_core TABLE M KEYS ROUNDS FOLDER...
 *
 * A round takes one operation after the other, and in each of them all subjects in turn, every
 * other round backwards. All filters hold about M / 10 keys (a rate of 1 %), or all of KEYS where
 * that is more.  A folder is a home of mapped files. */
#define _GNU_SOURCE
#define XXH_INLINE_ALL
#include <xxhash.h>
#include "../../core/bloomfilter.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>
#if defined(__has_include)
#if __has_include(<bloom.h>)
#include <bloom.h>
#define HAVE_LIBBLOOM 1
#endif
#endif

enum { SUBJECTS_MAX = 24, CHUNK = 4096, CALL = 128, TMPFS = 0x01021994 };

static volatile uint64_t sink;

static void die(const char *what, const char *why)
{
    fprintf(stderr, "bench_core: %s: %s\n", what, why);
    exit(1);
}
static void *need(void *p)
{
    if (!p) die("memory", "not enough");
    return p;
}
/* CPU time: what others take from a shared machine meanwhile does not count. */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ---- keys: one text after the other, as a list that was just read ---- */
static const char pattern[] =
    "https://www.example.com/----/item/"; /* the stamp at STAMP_AT tells lists apart */
enum { STAMP_AT = 24, STAMP = 4, DIGITS = 18, TEXT = sizeof pattern - 1 + DIGITS };
typedef struct {
    bf_key *keys;
    char *text;
    size_t n;
} list;

static void stamp(list l, unsigned number)
{
    char digits[STAMP + 1];
    snprintf(digits, sizeof digits, "%04u", number % 10000);
    for (size_t i = 0; i < l.n; i++) memcpy(l.text + i * TEXT + STAMP_AT, digits, STAMP);
}

static list make_list(size_t n, unsigned number)
{
    list l = { need(malloc(n * sizeof *l.keys)), need(malloc(n * TEXT + 1)), n };
    for (size_t i = 0; i < n; i++) {
        unsigned long long scrambled =
            (i + 1) * UINT64_C(0x9E3779B97F4A7C15) % UINT64_C(1000000000000000000);
        snprintf(l.text + i * TEXT, TEXT + 1, "%s%018llu", pattern, scrambled);
        l.keys[i] = (bf_key){ l.text + i * TEXT, TEXT };
    }
    stamp(l, number);
    return l;
}

/* ---- what is called ---- */
typedef enum { TEST_ONE, ADD_ONE, TEST_MANY, ADD_MANY, CALLS } call;
typedef void run(void *subject, const bf_key *keys, size_t n);

static void checked(int64_t got, const bf_error *e)
{
    if (got < 0) die("filter", e->msg);
    sink += (uint64_t)got;
}
static void test_one(void *f, const bf_key *keys, size_t n)
{
    uint64_t s = 0;
    for (size_t i = 0; i < n; i++) s += (uint64_t)bf_test(f, keys[i].ptr, keys[i].len, NULL);
    sink += s;
}
static void add_one(void *f, const bf_key *keys, size_t n)
{
    uint64_t s = 0;
    for (size_t i = 0; i < n; i++) s += (uint64_t)bf_add(f, keys[i].ptr, keys[i].len, NULL);
    sink += s;
}
static void test_many(void *f, const bf_key *keys, size_t n)
{
    bf_error e;
    checked(bf_test_many(f, keys, n, NULL, &e), &e);
}
static void add_many(void *f, const bf_key *keys, size_t n)
{
    bf_error e;
    checked(bf_add_many(f, keys, n, NULL, &e), &e);
}

/* As a binding does: a few at a time. */
static void test_128(void *f, const bf_key *keys, size_t n)
{
    for (size_t i = 0; i < n; i += CALL) test_many(f, keys + i, n - i < CALL ? n - i : CALL);
}
static void add_128(void *f, const bf_key *keys, size_t n)
{
    for (size_t i = 0; i < n; i += CALL) add_many(f, keys + i, n - i < CALL ? n - i : CALL);
}

static void empty(void *f)
{
    bf_error e;
    checked(bf_clear(f, &e), &e);
}

#ifdef HAVE_LIBBLOOM
static void lib_test(void *b, const bf_key *keys, size_t n)
{
    uint64_t s = 0;
    for (size_t i = 0; i < n; i++) s += (uint64_t)bloom_check(b, keys[i].ptr, (int)keys[i].len);
    sink += s;
}
static void lib_add(void *b, const bf_key *keys, size_t n)
{
    uint64_t s = 0;
    for (size_t i = 0; i < n; i++) s += (uint64_t)bloom_add(b, keys[i].ptr, (int)keys[i].len);
    sink += s;
}
static void lib_empty(void *b) { bloom_reset(b); }
#endif

/* ---- the machine's limits ---- */
typedef struct {
    uint64_t *words, lines;
} memory;

static inline uint64_t scramble(uint64_t i)
{
    i *= UINT64_C(0x9E3779B97F4A7C15);
    return (i ^ i >> 32) * UINT64_C(0xD6E8FEB86659FD93);
}
static inline uint64_t line_of(const memory *m, uint64_t h)
{
    return (uint64_t)(((unsigned __int128)h * m->lines) >> 64);
}

static inline void hash_only(const bf_key *keys, size_t n, size_t ahead)
{
    uint64_t s = 0;
    for (size_t i = 0; i < n; i++) {
        if (ahead) __builtin_prefetch((const char *)keys[i].ptr + ahead);
        s += XXH3_64bits(keys[i].ptr, keys[i].len);
    }
    sink += s;
}
static void hash_plain(void *m, const bf_key *keys, size_t n)
{
    (void)m;
    hash_only(keys, n, 0);
}
static void hash_ahead(void *m, const bf_key *keys, size_t n)
{
    (void)m;
    hash_only(keys, n, 32 * TEXT);
}

/* One word of a random line a key, `far` lines asked for ahead; with_hash: of a line that the key's
 * hash chooses. */
static inline __attribute__((always_inline)) void lines(
    const memory *m, const bf_key *keys, size_t n, size_t far, int with_hash)
{
    uint64_t s = 0, at[128];
    for (size_t i = 0; i < n + far; i++) {
        if (i >= far) s += m->words[at[i % far] * 8];
        if (i >= n) continue;
        if (with_hash) __builtin_prefetch((const char *)keys[i].ptr + 32 * TEXT);
        at[i % far] = line_of(m, with_hash ? XXH3_64bits(keys[i].ptr, keys[i].len) : scramble(i));
        __builtin_prefetch(m->words + at[i % far] * 8);
    }
    sink += s;
}
static void line_32(void *m, const bf_key *keys, size_t n) { lines(m, keys, n, 32, 0); }
static void line_48(void *m, const bf_key *keys, size_t n) { lines(m, keys, n, 48, 0); }
static void line_64(void *m, const bf_key *keys, size_t n) { lines(m, keys, n, 64, 0); }
static void both_32(void *m, const bf_key *keys, size_t n) { lines(m, keys, n, 32, 1); }
static void both_64(void *m, const bf_key *keys, size_t n) { lines(m, keys, n, 64, 1); }

static memory *touch_memory(uint64_t m)
{
    const size_t huge = 2 << 20, bytes = (m / 8 + huge - 1) / huge * huge;
    memory *a = need(malloc(sizeof *a));
    a->words = need(aligned_alloc(huge, bytes));
    a->lines = m / 512;
    madvise(a->words, bytes, MADV_HUGEPAGE);
    memset(a->words, 1, bytes);
    return a;
}

/* ---- subjects ---- */
typedef struct {
    char name[64];
    void *filled, *fresh; /* fresh: where new keys go; another filter, emptied before, where they
                             would overfill it */
    void (*empty)(void *);
    run *calls[CALLS]; /* NULL: it has no such call */
} subject;
static subject subjects[SUBJECTS_MAX];
static size_t nsubjects;

typedef struct {
    uint64_t m, design, prefill;
    bool refill;
    list present, absent, fresh;
    unsigned rounds;
    const char *table;
} plan;

static void fill(const subject *s, const plan *p)
{
    static uint64_t counter[CHUNK];
    static bf_key keys[CHUNK];
    fprintf(stderr, "%s: filling %s\n", p->table, s->name);
    run *add = s->calls[ADD_MANY] ? s->calls[ADD_MANY] : s->calls[ADD_ONE];
    for (uint64_t done = 0; done < p->prefill; done += CHUNK) {
        for (size_t i = 0; i < CHUNK; i++) {
            counter[i] = done + i;
            keys[i] = (bf_key){ counter + i, sizeof *counter };
        }
        add(s->filled, keys, CHUNK);
    }
    add(s->filled, p->present.keys, p->present.n);
}

static subject *start_subject(const char *name)
{
    if (nsubjects == SUBJECTS_MAX) die(name, "too many subjects");
    subject *s = &subjects[nsubjects++];
    snprintf(s->name, sizeof s->name, "%s", name);
    return s;
}

static void add_limit(const char *name, memory *m, run *r)
{
    subject *s = start_subject(name);
    s->filled = s->fresh = m;
    s->calls[TEST_MANY] = s->calls[ADD_MANY] = r;
}

typedef struct {
    const char *name, *scheme;
    unsigned k;
    bool threads;
    run *calls[CALLS];
} kind;
#define ALL_CALLS { test_one, add_one, test_many, add_many }
static const kind kinds[] = {
    { "block k=8", "block", 8, false, ALL_CALLS },
    { "block k=8, 128 a call", "block", 8, false, { NULL, NULL, test_128, add_128 } },
    { "block k=8 threads", "block", 8, true, ALL_CALLS },
    { "block2 k=8", "block2", 8, false, ALL_CALLS },
    { "block2 k=8 threads", "block2", 8, true, ALL_CALLS },
    { "classic k=7", "classic", 7, false, ALL_CALLS },
    { "classic k=7 threads", "classic", 7, true, ALL_CALLS },
};

static const char *home_of(const char *folder)
{
    struct statfs s;
    return !folder                                        ? ""
           : statfs(folder, &s) == 0 && s.f_type == TMPFS ? " file on tmpfs"
                                                          : " file on disk";
}

/* The file has no name any more once it is open: nothing stays behind. */
static bf_filter *open_filter(const kind *d, uint64_t m, const char *folder)
{
    char path[4096] = "";
    bf_error e;
    if (folder) snprintf(path, sizeof path, "%s/bench-%ld.bloom", folder, (long)getpid());
    bf_filter *f = bf_open(&(bf_spec){ .m = m,
                               .k = d->k,
                               .scheme = d->scheme,
                               .threads = d->threads,
                               .storage = folder ? path : NULL },
        &e);
    if (!f)
        fprintf(stderr, "bench_core: without %s in %s: %s\n", d->name, folder ? folder : "memory",
            e.msg);
    if (folder) unlink(path);
    return f;
}

static void add_filter(const kind *d, const plan *p, const char *folder)
{
    char name[64];
    bf_filter *f = open_filter(d, p->m, folder),
              *g = p->refill && f ? open_filter(d, p->m, folder) : f;
    if (!f || !g) {
        bf_close(f);
        return;
    }
    snprintf(name, sizeof name, "%s%s", d->name, home_of(folder));
    subject *s = start_subject(name);
    s->filled = f;
    s->fresh = g;
    s->empty = empty;
    memcpy(s->calls, d->calls, sizeof s->calls);
    fill(s, p);
}

#ifdef HAVE_LIBBLOOM
static struct bloom *open_libbloom(const plan *p)
{
    struct bloom *b = need(malloc(sizeof *b));
    if (p->m > INT32_MAX + UINT64_C(1) || bloom_init(b, (int)((double)p->m * 0.999 / 9.585), 0.01))
        die("libbloom", "cannot make it");
    return b;
}
static void add_libbloom(const plan *p)
{
    subject *s = start_subject("libbloom k=7");
    s->filled = open_libbloom(p);
    s->fresh = p->refill ? open_libbloom(p) : s->filled;
    s->empty = lib_empty;
    s->calls[TEST_ONE] = lib_test;
    s->calls[ADD_ONE] = lib_add;
    fill(s, p);
    printf("fact\tlibbloom\t%s\n", bloom_version());
}
#endif

/* ---- rounds ---- */
static const struct {
    const char *name;
    call call;
    enum { ABSENT, PRESENT, FRESH } keys;
} ops[] = {
    { "test absent", TEST_ONE, ABSENT },
    { "test present", TEST_ONE, PRESENT },
    { "add fresh", ADD_ONE, FRESH },
    { "add again", ADD_ONE, PRESENT },
    { "batch absent", TEST_MANY, ABSENT },
    { "batch present", TEST_MANY, PRESENT },
    { "batch fresh", ADD_MANY, FRESH },
    { "batch again", ADD_MANY, PRESENT },
};
enum { OPS = sizeof ops / sizeof *ops };

static void measure(const plan *p, const subject *s, size_t op, const list *l, unsigned round)
{
    void *f = ops[op].keys == FRESH ? s->fresh : s->filled;
    run *r = s->calls[ops[op].call];
    if (!r) return;
    if (ops[op].keys == FRESH && p->refill && s->empty) s->empty(f);
    double start = now();
    r(f, l->keys, l->n);
    printf("ns\t%s\t%s\t%s\t%u\t%.3f\n", p->table, s->name, ops[op].name, round,
        (now() - start) / (double)l->n);
}

static void run_round(const plan *p, unsigned round)
{
    for (size_t op = 0; op < OPS; op++) {
        const list *l = ops[op].keys == ABSENT    ? &p->absent
                        : ops[op].keys == PRESENT ? &p->present
                                                  : &p->fresh;
        if (ops[op].keys == FRESH) stamp(p->fresh, 2 + 2 * round + (ops[op].call == ADD_MANY));
        for (size_t i = 0; i < nsubjects; i++)
            measure(p, &subjects[round % 2 ? nsubjects - 1 - i : i], op, l, round);
    }
    fflush(stdout);
}

int main(int argc, char **argv)
{
    if (argc < 5) die("usage", "bench_core TABLE M KEYS ROUNDS FOLDER...");
    plan p = { .table = argv[1],
        .m = strtoull(argv[2], NULL, 0),
        .rounds = (unsigned)strtoul(argv[4], NULL, 0) };
    const uint64_t n = strtoull(argv[3], NULL, 0), fresh = 2 * p.rounds * n;
    p.design = p.m / 10;
    p.refill = p.design < fresh + n;
    p.prefill = p.refill ? 0 : p.design - fresh - n;
    p.present = make_list(n, 0);
    p.absent = make_list(n, 1);
    p.fresh = make_list(n, 2);
    memory *m = touch_memory(p.m);
    add_limit("limit: XXH3", m, hash_plain);
    add_limit("limit: XXH3, text fetched", m, hash_ahead);
    add_limit("limit: line, 32 ahead", m, line_32);
    add_limit("limit: line, 48 ahead", m, line_48);
    add_limit("limit: line, 64 ahead", m, line_64);
    add_limit("limit: both in one loop, 32", m, both_32);
    add_limit("limit: both in one loop, 64", m, both_64);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) add_filter(&kinds[i], &p, NULL);
    for (int i = 5; i < argc; i++) add_filter(&kinds[0], &p, argv[i]);
#ifdef HAVE_LIBBLOOM
    add_libbloom(&p);
#endif
    printf("fact\tcompiler\t%s\nfact\txxHash\t%d\n", __VERSION__, XXH_VERSION_NUMBER);
    for (unsigned round = 0; round < p.rounds; round++) {
        fprintf(stderr, "%s: round %u of %u\n", p.table, round + 1, p.rounds);
        run_round(&p, round);
    }
    return 0;
}
