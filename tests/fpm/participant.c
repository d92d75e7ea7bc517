/* participant.c - C beside the workers.  The same commands as participant.php. */
#include "bloomfilter.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fail(const bf_error *err)
{
    fprintf(stderr, "%s\n", err->msg);
    return 1;
}

static int add(const char *path, const char *name, long from, long to)
{
    bf_spec spec = { .n = 1000000, .p = 0.0001, .storage = path };
    bf_error err;
    char key[64];
    bf_filter *f = bf_open(&spec, &err);
    if (!f) return fail(&err);
    for (long i = from; i < to; i++) {
        int len = snprintf(key, sizeof key, "%s:%ld", name, i);
        if (bf_add(f, key, (size_t)len, &err) < 0) return fail(&err);
        if (i % 1000 == 0) usleep(5000);
    }
    bf_close(f);
    printf("%s %ld %ld\n", name, from, to);
    return 0;
}

static int check(const char *path)
{
    bf_spec spec = { .storage = path };
    bf_error err;
    char name[32], key[64];
    long from, to, missing = 0;
    bf_filter *f = bf_open(&spec, &err);
    if (!f) return fail(&err);
    while (scanf("%31s %ld %ld", name, &from, &to) == 3)
        for (long i = from; i < to; i++)
            missing +=
                bf_test(f, key, (size_t)snprintf(key, sizeof key, "%s:%ld", name, i), &err) != 1;
    bf_close(f);
    printf("%ld\n", missing);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 6 && !strcmp(argv[1], "add"))
        return add(argv[2], argv[3], atol(argv[4]), atol(argv[5]));
    return argc == 3 ? check(argv[2]) : 2;
}
