/* bench_redis.c - the Redis home beside PING and beside a hand-written BITFIELD pipeline, in one
 * interleaved run. And what the cache saves where 8 of 10 keys were seen before, and what shards
 * cost. Usage: bench_redis PORT [UNIX-SOCKET]; the server must be the caller's own: keys that begin
 * with "bench" are written and deleted. Prints microseconds a call or a key, the median of the
 * rounds, and the median of the per-round ratios to its yardstick. */
#define _GNU_SOURCE
#include "../../core/bloomfilter.h"
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 31, SINGLE = 1000, BATCH = 1000, BATCHES = 5, KEY = 52 };
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
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

static redisContext *c;
static bf_filter *classic, *block, *cut, *plain[2], *cached[2]; /* [batches?] */
static bf_error e;
static uint64_t serial;

static void die(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, e.msg);
    exit(1);
}
static size_t key(char *t, uint64_t i)
{
    return (size_t)snprintf(t, KEY + 1, "https://www.example.com/shop/item/%018llu",
        (unsigned long long)(i * 0x9E3779B97F4A7C15u % 1000000000000000000u));
}

static void ping(void)
{
    for (int i = 0; i < SINGLE; i++) freeReplyObject(redisCommand(c, "PING"));
}
static void singles(bf_filter *f, bool add, uint64_t from)
{
    char t[KEY + 1];
    for (uint64_t i = 0; i < SINGLE; i++) {
        size_t n = key(t, from + i);
        if ((add ? bf_add(f, t, n, &e) : bf_test(f, t, n, &e)) < 0) die("single");
    }
}
static void add_1(void) { singles(classic, true, serial += SINGLE); }
static void test_1(void) { singles(classic, false, serial - SINGLE); }
static void block_add_1(void) { singles(block, true, serial += SINGLE); }
static void block_test_1(void) { singles(block, false, serial - SINGLE); }

static void batches(bf_filter *f, bool add, uint64_t from)
{
    static char text[BATCH][KEY + 1];
    static bf_key keys[BATCH];
    for (int b = 0; b < BATCHES; b++) {
        for (uint64_t i = 0; i < BATCH; i++)
            keys[i] = (bf_key){ text[i], key(text[i], from + (uint64_t)b * BATCH + i) };
        if ((add ? bf_add_many(f, keys, BATCH, NULL, &e) : bf_test_many(f, keys, BATCH, NULL, &e)) <
            0)
            die("batch");
    }
}
static void add_n(void) { batches(classic, true, serial += BATCH * BATCHES); }
static void test_n(void) { batches(classic, false, serial - BATCH * BATCHES); }
static void block_add_n(void) { batches(block, true, serial += BATCH * BATCHES); }
static void block_test_n(void) { batches(block, false, serial - BATCH * BATCHES); }

static void cut_add_n(void) { batches(cut, true, serial += BATCH * BATCHES); }
static void cut_test_n(void) { batches(cut, false, serial - BATCH * BATCHES); }

/* A stream of which 8 of 10 keys are repeats of older ones; two filters see the same stream, a
 * round after the other. */
static void repeats(bf_filter *f, bool in_batches, uint64_t *at)
{
    static char text[BATCH][KEY + 1];
    static bf_key keys[BATCH];
    const int n = in_batches ? BATCH * BATCHES : SINGLE;
    for (int i = 0; i < n; i++, ++*at) {
        uint64_t fresh = *at / 5 + 1, number = *at % 5 ? *at * 0x9E3779B97F4A7C15u % fresh : fresh;
        bf_key *k = keys + i % BATCH;
        *k = (bf_key){ text[i % BATCH], key(text[i % BATCH], number) };
        if (!in_batches) {
            if (bf_add(f, k->ptr, k->len, &e) < 0) die("repeats");
        } else if (i % BATCH == BATCH - 1 && bf_add_many(f, keys, BATCH, NULL, &e) < 0)
            die("repeats");
    }
}
static uint64_t stream[4];
static void plain_1(void) { repeats(plain[0], false, stream); }
static void cached_1(void) { repeats(cached[0], false, stream + 1); }
static void plain_n(void) { repeats(plain[1], true, stream + 2); }
static void cached_n(void) { repeats(cached[1], true, stream + 3); }

/* What one would write by hand: positions of the same filter, one BITFIELD a key, hiredis's own
 * pipeline. */
static void by_hand(void)
{
    char t[KEY + 1], digits[16][24];
    const char *argv[2 + 4 * 16] = { "BITFIELD", "bench" };
    size_t len[2 + 4 * 16] = { 8, 5 };
    uint64_t pos[16], from = serial += BATCH * BATCHES;
    for (int b = 0; b < BATCHES; b++) {
        for (uint64_t i = 0; i < BATCH; i++) {
            int k =
                (int)bf_hashcode(classic, t, key(t, from + (uint64_t)b * BATCH + i), pos, 16, &e);
            for (int j = 0; j < k; j++) {
                argv[2 + 4 * j] = "SET";
                len[2 + 4 * j] = 3;
                argv[3 + 4 * j] = "u1";
                len[3 + 4 * j] = 2;
                argv[4 + 4 * j] = digits[j];
                len[4 + 4 * j] = (size_t)sprintf(digits[j], "%llu", (unsigned long long)pos[j]);
                argv[5 + 4 * j] = "1";
                len[5 + 4 * j] = 1;
            }
            redisAppendCommandArgv(c, 2 + 4 * k, argv, len);
        }
        for (int i = 0; i < BATCH; i++) {
            void *r;
            if (redisGetReply(c, &r) != REDIS_OK) die("by hand");
            freeReplyObject(r);
        }
    }
}

static const struct {
    const char *name;
    void (*run)(void);
    int ops, yardstick;
} rows[] = { { "PING (hiredis)", ping, SINGLE, 0 }, { "classic k=7 add 1, new", add_1, SINGLE, 0 },
    { "classic k=7 test 1, hit", test_1, SINGLE, 0 },
    { "block k=7 add 1, new", block_add_1, SINGLE, 0 },
    { "block k=7 test 1, hit", block_test_1, SINGLE, 0 },
    { "by hand: BITFIELD pipeline of 1000, new", by_hand, BATCH *BATCHES, 5 },
    { "classic k=7 add 1000, new", add_n, BATCH *BATCHES, 5 },
    { "classic k=7 test 1000, hit", test_n, BATCH *BATCHES, 5 },
    { "block k=7 add 1000, new", block_add_n, BATCH *BATCHES, 5 },
    { "block k=7 test 1000, hit", block_test_n, BATCH *BATCHES, 5 },
    { "classic k=7, 4 shards, add 1000, new", cut_add_n, BATCH *BATCHES, 6 },
    { "classic k=7, 4 shards, test 1000, hit", cut_test_n, BATCH *BATCHES, 7 },
    { "8 of 10 repeats, add 1, no cache", plain_1, SINGLE, 0 },
    { "8 of 10 repeats, add 1, cache", cached_1, SINGLE, 12 },
    { "8 of 10 repeats, add 1000, no cache", plain_n, BATCH *BATCHES, 5 },
    { "8 of 10 repeats, add 1000, cache", cached_n, BATCH *BATCHES, 14 } };
enum { N = sizeof rows / sizeof *rows };

static bf_filter *make(
    const char *url, const char *name, const char *scheme, unsigned shards, bool cache)
{
    bf_filter *f = bf_open(&(bf_spec){ .m = 80000384,
                               .k = 7,
                               .scheme = scheme,
                               .storage = url,
                               .key = name,
                               .shards = shards,
                               .cache = cache },
        &e);
    if (!f) die("open");
    return f;
}

int main(int argc, char **argv)
{
    static double us[N][ROUNDS], ratio[N][ROUNDS];
    char url[200];
    if (argc < 2) {
        fprintf(stderr, "usage: bench_redis PORT [UNIX-SOCKET]\n");
        return 2;
    }
    if (argc > 2)
        snprintf(url, sizeof url, "unix://%s", argv[2]);
    else
        snprintf(url, sizeof url, "redis://127.0.0.1:%s", argv[1]);
    c = argc > 2 ? redisConnectUnix(argv[2]) : redisConnect("127.0.0.1", atoi(argv[1]));
    if (!c || c->err) {
        fprintf(stderr, "%s\n", c ? c->errstr : "memory");
        return 1;
    }
    bf_filter *all[7] = { classic = make(url, "bench", "classic", 1, false),
        block = make(url, "bench-block", "block", 1, false),
        cut = make(url, "bench-cut", "classic", 4, false),
        plain[0] = make(url, "bench-plain", "classic", 1, false),
        plain[1] = make(url, "bench-plain-n", "classic", 1, false),
        cached[0] = make(url, "bench-cached", "classic", 1, true),
        cached[1] = make(url, "bench-cached-n", "classic", 1, true) };
    for (int r = -1; r < ROUNDS; r++) /* one round to warm up */
        for (int i = 0; i < N; i++) {
            double start = now();
            rows[i].run();
            if (r >= 0) us[i][r] = (now() - start) / rows[i].ops;
        }
    for (int i = 0; i < N; i++)
        for (int r = 0; r < ROUNDS; r++) ratio[i][r] = us[i][r] / us[rows[i].yardstick][r];
    for (int i = 0; i < N; i++)
        printf("%-42s %7.2f us   %5.2f x %s\n", rows[i].name, median(us[i]), median(ratio[i]),
            rows[rows[i].yardstick].name);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (bf_delete(all[i], &e) < 0) die("delete");
        bf_close(all[i]);
    }
    redisFree(c);
    return 0;
}
