/* parts.c - growing filters in Redis beside fixed ones; and builds of the library beside each other
 * in one interleaved run, on the same filters of one redis-server.
 * Usage: parts PORT PID LIBRARY...; the server, which has that process id, must be the caller's
 * own: keys that begin with "bench" are written and deleted.  Each LIBRARY is a libbloomfilter.so.
 * Prints of each the time a call or a key takes, the processors' time of client and server
 * together, and the ratio of this one to that of the fixed filter of the same library: medians of
 * the rounds, in us. On a machine that does other things, too, go by the processors' time. cc -O2
 * bench/redis/parts.c -o parts -ldl */
#define _GNU_SOURCE
#include "../../core/bloomfilter.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 21, SINGLE = 300, BATCH = 1000, BATCHES = 3, KEY = 52, LIBS = 4, WIDE = 100000 };

typedef struct {
    const char *name;
    bf_filter *(*open)(const bf_spec *, bf_error *);
    void (*close)(bf_filter *);
    int (*add)(bf_filter *, const void *, size_t, bf_error *);
    int (*test)(bf_filter *, const void *, size_t, bf_error *);
    int64_t (*add_many)(bf_filter *, const bf_key *, size_t, uint8_t *, bf_error *);
    int64_t (*test_many)(bf_filter *, const bf_key *, size_t, uint8_t *, bf_error *);
    int (*delete)(bf_filter *, bf_error *);
} library;

/* n: what it begins with, and how many keys it has: so many parts, the last a fifth full. */
static const struct {
    unsigned parts;
    uint64_t n, keys;
} sizes[] = { { 1, 1000000, 200000 }, { 5, 20000, 364000 }, { 8, 4000, 610000 } };
static const char *const schemes[] = { "block", "classic" };
enum { SIZES = sizeof sizes / sizeof *sizes, SCHEMES = 2, OPS = 6 };
static const char *const ops[OPS] = { "test 1, absent", "test 1, present", "add 1, new",
    "test 1000, absent", "test 1000, present", "add 1000, new" };

static bf_error e;
static uint64_t serial = 1 << 30;

static clockid_t server;

static double clock_us(clockid_t clock)
{
    struct timespec t;
    if (clock_gettime(clock, &t) < 0) {
        perror("clock of the server");
        exit(1);
    }
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v)
{
    qsort(v, ROUNDS, sizeof *v, by_size);
    return v[ROUNDS / 2];
}

static void die(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, e.msg);
    exit(1);
}

static void *symbol(void *lib, const char *name)
{
    void *at = dlsym(lib, name);
    if (!at) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return at;
}

static library load(const char *path)
{
    void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    library l = { .name = path };
    if (!lib) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    *(void **)&l.open = symbol(lib, "bf_open");
    *(void **)&l.close = symbol(lib, "bf_close");
    *(void **)&l.add = symbol(lib, "bf_add");
    *(void **)&l.test = symbol(lib, "bf_test");
    *(void **)&l.add_many = symbol(lib, "bf_add_many");
    *(void **)&l.test_many = symbol(lib, "bf_test_many");
    *(void **)&l.delete = symbol(lib, "bf_delete");
    return l;
}

static size_t key(char *t, uint64_t i)
{
    return (size_t)snprintf(t, KEY + 1, "https://www.example.com/shop/item/%018llu",
        (unsigned long long)(i * 0x9E3779B97F4A7C15u % 1000000000000000000u));
}

static void singles(const library *l, bf_filter *f, int op)
{
    char t[KEY + 1];
    const uint64_t from = op == 1 ? serial % WIDE : (serial += SINGLE);
    for (uint64_t i = 0; i < SINGLE; i++) {
        size_t n = key(t, from + i);
        if ((op == 2 ? l->add(f, t, n, &e) : l->test(f, t, n, &e)) < 0) die("single");
    }
}

static void batch(const library *l, bf_filter *f, bool add, uint64_t from)
{
    static char text[BATCH][KEY + 1];
    bf_key keys[BATCH];
    for (uint64_t i = 0; i < BATCH; i++) keys[i] = (bf_key){ text[i], key(text[i], from + i) };
    if ((add ? l->add_many : l->test_many)(f, keys, BATCH, NULL, &e) < 0) die("batch");
}

typedef struct {
    double all, busy;
} took;

static took now(void)
{
    return (
        took){ clock_us(CLOCK_MONOTONIC), clock_us(CLOCK_PROCESS_CPUTIME_ID) + clock_us(server) };
}

static took timed(const library *l, bf_filter *f, int op)
{
    const took start = now();
    const double n = op < 3 ? SINGLE : BATCHES * BATCH;
    if (op < 3) singles(l, f, op);
    for (int i = 0; op >= 3 && i < BATCHES; i++)
        batch(l, f, op == 5, op == 4 ? serial % WIDE : (serial += BATCH));
    const took end = now();
    return (took){ (end.all - start.all) / n, (end.busy - start.busy) / n };
}

static bf_filter *make(const library *l, const char *url, int s, int size, bool fill)
{
    char name[40];
    snprintf(name, sizeof name, "bench-%s-%u", schemes[s], sizes[size].parts);
    bf_filter *f = l->open(&(bf_spec){ .n = sizes[size].n,
                               .p = 0.01,
                               .scheme = schemes[s],
                               .grow = sizes[size].parts > 1 ? 2 : 0,
                               .storage = url,
                               .key = name },
        &e);
    if (!f) die(name);
    for (uint64_t i = 0; fill && i < sizes[size].keys; i += BATCH) batch(l, f, true, i);
    return f;
}

static void table(const library *l, int libs, bf_filter *f[SCHEMES][SIZES][LIBS])
{
    static took us[SCHEMES][OPS][SIZES][LIBS][ROUNDS];
    for (int r = -1; r < ROUNDS; r++) /* one round to warm up */
        for (int s = 0; s < SCHEMES; s++)
            for (int op = 0; op < OPS; op++)
                for (int size = 0; size < SIZES; size++)
                    for (int i = 0; i < libs; i++) {
                        const took t = timed(l + i, f[s][size][i], op);
                        if (r >= 0) us[s][op][size][i][r] = t;
                    }
    for (int s = 0; s < SCHEMES; s++)
        for (int op = 0; op < OPS; op++)
            for (int size = 0; size < SIZES; size++) {
                printf("%-8s %-18s %u part%s", schemes[s], ops[op], sizes[size].parts,
                    size ? "s" : " ");
                for (int i = 0; i < libs; i++) {
                    double ratio[ROUNDS], all[ROUNDS], busy[ROUNDS];
                    for (int r = 0; r < ROUNDS; r++) {
                        const took *t = &us[s][op][size][i][r];
                        all[r] = t->all;
                        busy[r] = t->busy;
                        ratio[r] = t->busy / us[s][op][0][i][r].busy;
                    }
                    printf("  %7.2f %7.2f %5.2f x", median(all), median(busy), median(ratio));
                }
                printf("\n");
            }
}

int main(int argc, char **argv)
{
    static bf_filter *f[SCHEMES][SIZES][LIBS];
    library l[LIBS];
    char url[64];
    const int libs = argc - 3;
    if (libs < 1 || libs > LIBS) {
        fprintf(stderr, "usage: parts PORT PID LIBRARY...\n");
        return 2;
    }
    if (clock_getcpuclockid(atoi(argv[2]), &server) != 0) {
        fprintf(stderr, "no process %s\n", argv[2]);
        return 1;
    }
    snprintf(url, sizeof url, "redis://127.0.0.1:%s", argv[1]);
    for (int i = 0; i < libs; i++) l[i] = load(argv[3 + i]);
    for (int s = 0; s < SCHEMES; s++)
        for (int size = 0; size < SIZES; size++)
            for (int i = 0; i < libs; i++) f[s][size][i] = make(l + i, url, s, size, i == 0);
    table(l, libs, f);
    for (int s = 0; s < SCHEMES; s++)
        for (int size = 0; size < SIZES; size++) {
            if (l->delete(f[s][size][0], &e) < 0) die("delete");
            for (int i = 0; i < libs; i++) l[i].close(f[s][size][i]);
        }
    return 0;
}
