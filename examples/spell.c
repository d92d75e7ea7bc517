/* spell.c - a spell checker in 300 KB: prints each word of standard input that is not in a word
 * list.
 *
 *   gcc spell.c $(pkg-config --cflags --libs bloomfilter) -o spell
 *   ./spell /usr/share/dict/words < text
 *
 * The filter has 2,500,000 bits and the hash functions sax and sdbm, which the program passes as
 * pointers.  A printed word is surely not in the list.  With a list of 100,000 words, 1 in 150 of
 * the unknown words is not printed.  Exit status: 0 if all words are known, 1 if not, 2 on an
 * error. */
#define _GNU_SOURCE
#include <bloomfilter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BITS = 2500000, MANY = 512 };

static uint64_t sax(const void *key, size_t len)
{
    const unsigned char *c = key;
    uint32_t h = 0;
    for (size_t i = 0; i < len; i++) h ^= (h << 5) + (h >> 2) + c[i];
    return h;
}

static uint64_t sdbm(const void *key, size_t len)
{
    const unsigned char *c = key;
    uint32_t h = 0;
    for (size_t i = 0; i < len; i++) h = c[i] + (h << 6) + (h << 16) - h;
    return h;
}

static bf_function *const hashes[] = { sax, sdbm };
static const bf_functions functions = { .count = 2, .function = hashes };

/* A line of the list is a word. */
static int learn(bf_filter *f, FILE *list, bf_error *err)
{
    char *line = NULL;
    size_t room = 0;
    int rc = 0;
    while (rc >= 0 && getline(&line, &room, list) >= 0) {
        size_t len = strcspn(line, "\r\n");
        if (len) rc = bf_add(f, line, len, err);
    }
    free(line);
    return rc < 0 ? rc : 0;
}

/* The words of one line, MANY at a time; how many are unknown. */
static int64_t check_line(bf_filter *f, char *line, bf_error *err)
{
    static const char between[] = " \t,.;:\r\n?!-/()";
    int64_t unknown = 0;
    char *word = strtok(line, between);
    while (word) {
        bf_key key[MANY];
        uint8_t known[MANY];
        size_t n = 0;
        for (; word && n < MANY; word = strtok(NULL, between))
            key[n++] = (bf_key){ word, strlen(word) };
        if (bf_test_many(f, key, n, known, err) < 0) return -1;
        for (size_t i = 0; i < n; i++) {
            if (known[i]) continue;
            puts(key[i].ptr);
            unknown++;
        }
    }
    return unknown;
}

static int64_t check(bf_filter *f, FILE *text, bf_error *err)
{
    char *line = NULL;
    size_t room = 0;
    int64_t unknown = 0, more = 0;
    while (more >= 0 && getline(&line, &room, text) >= 0) {
        more = check_line(f, line, err);
        unknown += more;
    }
    free(line);
    return more < 0 ? more : unknown;
}

int main(int argc, char **argv)
{
    bf_error err = { .msg = "" };
    int64_t unknown = -1;
    if (argc != 2) {
        fprintf(stderr, "usage: %s WORDLIST < TEXT\n", argv[0]);
        return 2;
    }
    FILE *list = fopen(argv[1], "r");
    if (!list) {
        perror(argv[1]);
        return 2;
    }
    bf_filter *f =
        bf_open(&(bf_spec){ .m = BITS, .k = functions.count, .functions = &functions }, &err);
    if (f && learn(f, list, &err) == 0) unknown = check(f, stdin, &err);
    if (unknown < 0) fprintf(stderr, "%s: %s\n", argv[0], err.msg);
    bf_close(f);
    fclose(list);
    return unknown < 0 ? 2 : unknown > 0;
}
