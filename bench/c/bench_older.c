/* bench_older.c - ns a key of every scheme of an older system, batches and single keys, on URLs of
 * ~52 bytes. Build it like bench_core.c, with every C file of core; an argument is the one scheme
 * to run. */
#define _GNU_SOURCE
#include "../../core/sets/sets.h"
#include "../../tests/c/helpers/oracle_keys.h"
#include <time.h>

enum { KEYS = 1 << 18, ROUNDS = 5 };
static url_text *text;
static bf_key *key;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double best_many(bf_filter *f,
    int64_t (*call)(bf_filter *, const bf_key *, size_t, uint8_t *, bf_error *), size_t n)
{
    double best = 1e18;
    for (int r = 0; r < ROUNDS; r++) {
        double t = now();
        if (call(f, key, n, NULL, NULL) < 0) return -1;
        t = (now() - t) / (double)n;
        if (t < best) best = t;
    }
    return best;
}

static double best_one(bf_filter *f, size_t n)
{
    double best = 1e18;
    for (int r = 0; r < ROUNDS; r++) {
        double t = now();
        for (size_t i = 0; i < n; i++)
            if (bf_test(f, key[i].ptr, key[i].len, NULL) < 0) return -1;
        t = (now() - t) / (double)n;
        if (t < best) best = t;
    }
    return best;
}

int main(int argc, char **argv)
{
    static const char *const schemes[] = { "sax-sdbm", "java7", "php-mt", "php-mt-legacy",
        "rs-rand", "rs-dotnet", "rs-dotnet-repo", "gozero", "php-hashes:BKDR,SDBM,JS", "guava",
        "guava32", "guava:chars", "redisson" };
    text = malloc(sizeof *text * KEYS);
    key = malloc(sizeof *key * KEYS);
    for (size_t i = 0; i < KEYS; i++) key[i] = make_url(text + i, 11, i);
    printf("%-26s %4s %10s %10s %10s   (%s)\n", "scheme", "k", "add batch", "test batch", "test 1",
        bf_has_avx2() ? "avx2" : "portable");
    for (size_t s = 0; s < sizeof schemes / sizeof *schemes; s++) {
        if (argc > 1 && strcmp(argv[1], schemes[s])) continue;
        bf_error e;
        bf_params d;
        if (bf_find_scheme(&d, schemes[s], NULL, &e) < 0) return 1;
        bf_filter *f = bf_open(&(bf_spec){ .scheme = schemes[s],
                                   .m = d.scheme->m ? d.scheme->m : KEYS * 10,
                                   .k = d.argument.k ? d.argument.k : 7 },
            &e);
        if (!f) {
            fprintf(stderr, "%s: %s\n", schemes[s], e.msg);
            return 1;
        }
        double add = best_many(f, bf_add_many, KEYS), test = best_many(f, bf_test_many, KEYS);
        printf("%-26s %4u %10.1f %10.1f %10.1f\n", schemes[s], f->bitmap.g.k, add, test,
            best_one(f, KEYS));
        bf_close(f);
    }
    return 0;
}
