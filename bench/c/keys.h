/* keys.h - lists of keys for bench_core.c: texts one after the other, as a list that was just read,
 * all of one length or of lengths that nobody can foretell. */
#ifndef BENCH_KEYS_H
#define BENCH_KEYS_H
#include "../../core/bloomfilter.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AHEAD = 32, STAMP = 8, LENGTH_MAX = 1000 };
typedef struct {
    bf_key *keys; /* n of them, and AHEAD more that may be fetched */
    size_t n;
} list;
typedef struct {
    size_t least, most; /* bytes a key */
} lengths;

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

static inline uint64_t scramble(uint64_t i)
{
    i *= UINT64_C(0x9E3779B97F4A7C15);
    return (i ^ i >> 32) * UINT64_C(0xD6E8FEB86659FD93);
}

/* The last bytes of a key are what no other key of any list has. */
static void stamp(list l, unsigned number)
{
    for (size_t i = 0; i < l.n; i++) {
        const uint64_t own = scramble((uint64_t)number << 40 | i);
        memcpy((char *)(uintptr_t)l.keys[i].ptr + l.keys[i].len - STAMP, &own, STAMP);
    }
}

static list make_list(size_t n, lengths of, unsigned number)
{
    static const char pattern[] = "https://www.example.com/----/item/";
    list l = { need(malloc((n + AHEAD) * sizeof *l.keys)), n };
    char *text = need(malloc(n * of.most + 1));
    for (size_t i = 0; i < n + AHEAD; i++) {
        const size_t len = of.least + scramble(i) % (of.most - of.least + 1);
        l.keys[i] = (bf_key){ text, len };
        if (i >= n) continue;
        for (size_t j = 0; j < len; j++) text[j] = pattern[j % (sizeof pattern - 1)];
        text += len;
    }
    stamp(l, number);
    return l;
}

/* "52", or "20-79" */
static lengths read_lengths(const char *text)
{
    char *end;
    lengths of = { strtoul(text, &end, 10), 0 };
    of.most = *end == '-' ? strtoul(end + 1, &end, 10) : of.least;
    if (*end || of.least < STAMP || of.most < of.least || of.most > LENGTH_MAX)
        die(text, "a length is 8 to 1000 bytes, or a range of them");
    return of;
}
#endif
