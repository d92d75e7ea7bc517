/* bench_core.c - the core beside the machine's own limits, beside Boost.Bloom and libbloom,
 * interleaved in one process. Knows bloomfilter.h as any user does; prints raw times as "ns <table>
 * <subject> <op> <round> <ns>" lines, separated by tabs: medians, ratios and targets are
 * report.py's business.
 *
 *     bench_core TABLE M KEYS ROUNDS LENGTH all|few|block FOLDER...
 *
 * A round takes one operation after the other, and in each of them all subjects in turn, every
 * other round backwards. An operation is done again, at most REPEATS times, where the control (XXH3
 * of the same keys) tells that others slowed the machine down.  All filters hold about M / 10 keys
 * (a rate of 1 %), or all of KEYS where that is more; at most PREFILL_MAX of them are added before.
 * LENGTH: "52", or "20-79", of a key in bytes.  A folder is a home of mapped files. */
#define _GNU_SOURCE
#include "keys.h"
#include "limits.h"
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>
#if defined(__has_include)
#if __has_include(<bloom.h>)
#include <bloom.h>
#define HAVE_LIBBLOOM 1
#endif
#endif
#ifdef HAVE_BOOST_BLOOM
#include "peer_boost.h"
#endif

enum {
    SUBJECTS_MAX = 32,
    CHUNK = 4096,
    CALL = 128,
    TMPFS = 0x01021994,
    REPEATS = 2,
    PREFILL_MAX = 1 << 28
};

/* CPU time: what others take from a shared machine meanwhile does not count. */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ---- what is called ---- */
typedef enum { TEST_ONE, ADD_ONE, TEST_MANY, ADD_MANY, CALLS } call;

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
    bool refill, all;
    size_t few; /* kinds of filters where not all are asked for: of ours, of Boost's */
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
enum { FEW = 2 };
static const kind kinds[] = {
    { "block k=8", "block", 8, false, ALL_CALLS },
    { "classic k=7", "classic", 7, false, ALL_CALLS },
    { "block k=8, 128 a call", "block", 8, false, { NULL, NULL, test_128, add_128 } },
    { "block k=8 threads", "block", 8, true, ALL_CALLS },
    { "block2 k=8", "block2", 8, false, ALL_CALLS },
    { "block2 k=8 threads", "block2", 8, true, ALL_CALLS },
    { "classic k=7 threads", "classic", 7, true, ALL_CALLS },
};

static const char *home_of(const char *folder)
{
    struct statfs s;
    return !folder                                        ? ""
           : statfs(folder, &s) == 0 && s.f_type == TMPFS ? " file on tmpfs"
                                                          : " file on disk";
}

/* A filter whose file has no name takes no keys: all names go at the end. */
enum { FILES = 64, PATH = 4096 };
static char made[FILES][PATH];
static unsigned made_count;
static void remove_files(void)
{
    for (unsigned i = 0; i < made_count && i < FILES; i++) unlink(made[i]);
}

static bf_filter *open_filter(const kind *d, uint64_t m, const char *folder)
{
    char *const path = made[made_count % FILES];
    bf_error e;
    if (folder && made_count == 0) atexit(remove_files);
    if (folder) snprintf(path, PATH, "%s/bench-%ld-%u.bloom", folder, (long)getpid(), made_count++);
    bf_filter *f = bf_open(&(bf_spec){ .m = m,
                               .k = d->k,
                               .scheme = d->scheme,
                               .threads = d->threads,
                               .storage = folder ? path : NULL },
        &e);
    if (!f)
        fprintf(stderr, "bench_core: without %s in %s: %s\n", d->name, folder ? folder : "memory",
            e.msg);
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

#ifdef HAVE_BOOST_BLOOM
static void add_boost(const peer_boost *b, const plan *p)
{
    subject *s = start_subject(b->name);
    s->filled = b->make(p->m);
    s->fresh = p->refill ? b->make(p->m) : s->filled;
    s->empty = b->empty;
    s->calls[TEST_ONE] = b->calls[0];
    s->calls[ADD_ONE] = b->calls[1];
    s->calls[TEST_MANY] = b->calls[2];
    s->calls[ADD_MANY] = b->calls[3];
    fill(s, p);
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

static double timed(run *r, void *subject, const list *l)
{
    double start = now();
    r(subject, l->keys, l->n);
    return (now() - start) / (double)l->n;
}

static double measure(const plan *p, const subject *s, size_t op, const list *l)
{
    void *f = ops[op].keys == FRESH ? s->fresh : s->filled;
    run *r = s->calls[ops[op].call];
    if (!r) return 0;
    if (ops[op].keys == FRESH && p->refill && s->empty) s->empty(f);
    return timed(r, f, l);
}

/* One operation of all subjects; false: the machine was slower at its end, or has been faster. */
static bool run_op(const plan *p, size_t op, unsigned round, const list *l, double ns[SUBJECTS_MAX])
{
    static double least;
    const double before = timed(hash_plain, NULL, l);
    for (size_t i = 0; i < nsubjects; i++) {
        const size_t at = round % 2 ? nsubjects - 1 - i : i;
        ns[at] = measure(p, &subjects[at], op, l);
    }
    const double after = timed(hash_plain, NULL, l);
    if (least == 0 || before < least) least = before;
    if (after < least) least = after;
    return before < least * 1.25 && after < least * 1.25;
}

static void run_round(const plan *p, unsigned round, unsigned *again)
{
    static unsigned lists = 2;
    double ns[SUBJECTS_MAX];
    for (size_t op = 0; op < OPS; op++) {
        const list *l = ops[op].keys == ABSENT    ? &p->absent
                        : ops[op].keys == PRESENT ? &p->present
                                                  : &p->fresh;
        for (unsigned tries = 0; tries <= REPEATS; tries++) {
            *again += tries > 0;
            if (ops[op].keys == FRESH) stamp(p->fresh, lists++);
            if (run_op(p, op, round, l, ns)) break;
        }
        for (size_t i = 0; i < nsubjects; i++)
            if (ns[i] > 0)
                printf("ns\t%s\t%s\t%s\t%u\t%.3f\n", p->table, subjects[i].name, ops[op].name,
                    round, ns[i]);
    }
    fflush(stdout);
}

static void add_subjects(const plan *p, char **folders, int nfolders)
{
    memory *m = touch_memory(p->m);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        add_limit(limits[i].name, m, limits[i].run);
    for (size_t i = 0; i < (p->all ? sizeof kinds / sizeof *kinds : p->few); i++)
        add_filter(&kinds[i], p, NULL);
    for (int i = 0; i < nfolders; i++) add_filter(&kinds[0], p, folders[i]);
#ifdef HAVE_BOOST_BLOOM
    for (size_t i = 0; i < peer_boost_count && i < p->few; i++) add_boost(&peer_boost_kinds[i], p);
#endif
#ifdef HAVE_LIBBLOOM
    if (p->all) add_libbloom(p);
#endif
}

int main(int argc, char **argv)
{
    if (argc < 7) die("usage", "bench_core TABLE M KEYS ROUNDS LENGTH all|few|block FOLDER...");
    plan p = { .table = argv[1],
        .m = strtoull(argv[2], NULL, 0),
        .rounds = (unsigned)strtoul(argv[4], NULL, 0),
        .all = strcmp(argv[6], "all") == 0,
        .few = strcmp(argv[6], "block") == 0 ? 1 : FEW };
    const uint64_t n = strtoull(argv[3], NULL, 0), fresh = 2 * (REPEATS + 1) * p.rounds * n;
    const lengths of = read_lengths(argv[5]);
    unsigned again = 0;
    p.design = p.m / 10;
    p.refill = p.design < fresh + n;
    p.prefill = p.refill ? 0 : p.design - fresh - n;
    if (p.prefill > PREFILL_MAX) p.prefill = PREFILL_MAX;
    p.present = make_list(n, of, 0);
    p.absent = make_list(n, of, 1);
    p.fresh = make_list(n, of, 2);
    add_subjects(&p, argv + 7, argc - 7);
    printf("fact\tcompiler\t%s\nfact\txxHash\t%d\n", __VERSION__, XXH_VERSION_NUMBER);
    for (unsigned round = 0; round < p.rounds; round++) {
        fprintf(stderr, "%s: round %u of %u\n", p.table, round + 1, p.rounds);
        run_round(&p, round, &again);
    }
    printf("fact\t%s: done again\t%u of %u operations, because the machine was slow\n", p.table,
        again, p.rounds * (unsigned)OPS);
    return 0;
}
