/* dedup.c - prints each line once, and takes only a few bits per line.
 *
 *     cc dedup.c $(pkg-config --cflags --libs bloomfilter) -o dedup
 *     crawler | dedup seen.bloom
 *
 * With a file it remembers the lines from run to run.  Any number of dedup.c, dedup.py and
 * dedup.php can use the file at the same time.  A repeated line is never printed; a new line is
 * dropped with a probability of one in a million. */
#define _POSIX_C_SOURCE 200809L
#include <bloomfilter.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

static int dedup(bf_filter *seen, FILE *in, FILE *out, unsigned long long *total,
    unsigned long long *fresh, bf_error *err)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t len;
    int answer = 0;
    while (answer >= 0 && (len = getline(&line, &room, in)) >= 0) {
        if (len && line[len - 1] == '\n') len--;
        answer = bf_add(seen, line, (size_t)len, err);
        ++*total;
        if (answer != BF_ADDED) continue;
        ++*fresh;
        fwrite(line, 1, (size_t)len, out);
        putc('\n', out);
    }
    free(line);
    return answer < 0 ? answer : 0;
}

int main(int argc, char **argv)
{
    bf_spec spec = {
        .n = 1000000, .p = 1e-6, .storage = argc > 1 ? argv[1] : NULL
    }; /* NULL: memory of this process */
    unsigned long long total = 0, fresh = 0;
    bf_error err;
    bf_filter *seen = bf_open(&spec, &err);
    if (!seen || dedup(seen, stdin, stdout, &total, &fresh, &err) < 0 || bf_sync(seen, &err) < 0) {
        fprintf(stderr, "dedup: %s\n", err.msg);
        bf_close(seen);
        return 2;
    }
    fprintf(stderr, "dedup: %llu lines, %llu new, %llu seen before\n", total, fresh, total - fresh);
    bf_close(seen);
    return 0;
}
