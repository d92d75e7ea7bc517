/* side.c - the C side of the cross-language tests; side.php and side.py are the same program.  What
 * all three print must be the same text, and what they write the same bytes.
 *
 *   side make CASES KEYS FOLDER    for each case: makes a filter, adds keys one by one and in a
 *                                  batch, prints every answer, every position, the state; writes
 *                                  FOLDER/CASE.c.{saved,bytes} and .mapped
 *   side read CASES KEYS FOLDER    opens what all three wrote, by every way there is, prints what
 *                                  it finds
 *   side positions CASES KEYS FOLDER    only prints every position
 *
 * CASES: a line each: name, home, scheme, m, n, k, p, secret in hex; tabs between, "-" for not
 * given. KEYS: records of one byte, uint32 little-endian length, bytes.  The byte is b, s, i:
 * bytes, UTF-8 text, an integer's decimal text; B, S, I: the same, never added. */
#define _POSIX_C_SOURCE 200809L
#include <bloomfilter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096 };
static bf_key keys[MOST];
static size_t nkeys, nadded; /* all; those to add, which come first */
static const char *folder;
typedef struct {
    char *name, *home;
    bf_spec spec;
    uint8_t secret[BF_SECRET_BYTES];
} test_case;

static void stop(const char *what, const char *why)
{
    fprintf(stderr, "side.c: %s: %s\n", what, why);
    exit(1);
}

/* ---- input ---- */
static uint8_t *read_all(const char *path, size_t *len)
{
    FILE *in = fopen(path, "rb");
    if (!in || fseek(in, 0, SEEK_END)) stop(path, "cannot be read");
    *len = (size_t)ftell(in);
    uint8_t *bytes = malloc(*len + 1);
    rewind(in);
    if (!bytes || fread(bytes, 1, *len, in) != *len) stop(path, "cannot be read");
    bytes[*len] = 0;
    fclose(in);
    return bytes;
}

static void read_keys(const char *path)
{
    size_t len;
    for (uint8_t *p = read_all(path, &len), *end = p + len; p < end && nkeys < MOST; nkeys++) {
        if (strchr("bsi", p[0])) nadded = nkeys + 1;
        keys[nkeys].len = p[1] | (size_t)p[2] << 8 | (size_t)p[3] << 16 | (size_t)p[4] << 24;
        keys[nkeys].ptr = p + 5;
        p += 5 + keys[nkeys].len;
    }
}

static void parse(char *line, test_case *c)
{
    char *field[8];
    for (int i = 0; i < 8; i++) field[i] = strtok(i ? NULL : line, "\t");
    *c = (test_case){ .name = field[0], .home = field[1] };
    bf_spec *s = &c->spec;
    if (field[2][0] != '-') s->scheme = field[2];
    if (field[3][0] != '-') s->m = strtoull(field[3], NULL, 10);
    if (field[4][0] != '-') s->n = strtoull(field[4], NULL, 10);
    if (field[5][0] != '-') s->k = (unsigned)strtoul(field[5], NULL, 10);
    if (field[6][0] != '-') s->p = strtod(field[6], NULL);
    if (field[7][0] == '-') return;
    for (size_t i = 0; i < BF_SECRET_BYTES; i++)
        c->secret[i] =
            (uint8_t)strtoul((char[]){ field[7][2 * i], field[7][2 * i + 1], 0 }, NULL, 16);
    s->secret = c->secret;
    s->secret_len = BF_SECRET_BYTES;
}

/* ---- output ---- */
static const char *path_of(const test_case *c, const char *side, const char *kind)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s.%s.%s", folder, c->name, side, kind);
    return path;
}

static void print_real(double d)
{
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    printf(" %016llx", (unsigned long long)bits);
}

static void print_answers(const char *label, const uint8_t *each, size_t n)
{
    printf("%s ", label);
    for (size_t i = 0; i < n; i++) putchar('0' + each[i]);
    putchar('\n');
}

static void print_parameters(bf_filter *f)
{
    bf_info i;
    bf_get_info(f, &i);
    printf("parameters %llu %llu %u", (unsigned long long)i.m, (unsigned long long)i.n, i.k);
    print_real(i.p);
    printf(" %s\n", i.scheme);
}

static void print_state(bf_filter *f)
{
    bf_state s;
    if (bf_get_state(f, &s, NULL) < 0) stop("bf_get_state", "failed");
    printf("state %.0f", (double)(uint64_t)(s.count + 0.5));
    print_real(s.fill);
    print_real(s.fpr);
    putchar('\n');
}

static void print_presence(bf_filter *f)
{
    uint8_t each[MOST];
    for (size_t i = 0; i < nkeys; i++)
        each[i] = (uint8_t)bf_test(f, keys[i].ptr, keys[i].len, NULL);
    print_answers("single", each, nkeys);
    bf_test_many(f, keys, nkeys, each, NULL);
    print_answers("batch", each, nkeys);
}

static void print_positions(bf_filter *f)
{
    uint64_t pos[BF_K_MAX];
    for (size_t i = 0; i < nkeys; i++) {
        int64_t k = bf_hashcode(f, keys[i].ptr, keys[i].len, pos, BF_K_MAX, NULL);
        printf("positions %zu", i);
        for (int64_t j = 0; j < k; j++) printf(" %llu", (unsigned long long)pos[j]);
        putchar('\n');
    }
}

/* ---- the two halves ---- */
static void write_bytes(const test_case *c, bf_filter *f)
{
    bf_info i;
    bf_get_info(f, &i);
    uint8_t *bytes = malloc(i.image_bytes);
    bf_error e;
    if (!bytes || bf_to_bytes(f, bytes, i.image_bytes, &e) < 0) stop(c->name, "no bytes");
    FILE *to = fopen(path_of(c, "c", "bytes"), "wb");
    if (!to || fwrite(bytes, 1, i.image_bytes, to) != i.image_bytes || fclose(to))
        stop(c->name, "cannot write");
    free(bytes);
}

static bf_filter *open_new(test_case *c)
{
    bf_error e;
    if (!strcmp(c->home, "file")) c->spec.storage = path_of(c, "c", "mapped");
    bf_filter *f = bf_open(&c->spec, &e);
    if (!f) stop(c->name, e.msg);
    return f;
}

static void make(test_case *c)
{
    uint8_t each[MOST];
    bf_error e;
    bf_filter *f = open_new(c);
    print_parameters(f);
    for (size_t i = 0; i < nadded; i += 2)
        each[i / 2] = (uint8_t)bf_add(f, keys[i].ptr, keys[i].len, NULL);
    print_answers("add", each, (nadded + 1) / 2);
    bf_add_many(f, keys, nadded, each, NULL);
    print_answers("update", each, nadded);
    print_presence(f);
    print_positions(f);
    print_state(f);
    if (bf_save(f, path_of(c, "c", "saved"), &e) < 0) stop(c->name, e.msg);
    write_bytes(c, f);
    bf_close(f);
}

static void positions(test_case *c)
{
    bf_filter *f = open_new(c);
    print_positions(f);
    bf_close(f);
}

static void read_one(const test_case *c, const char *side, const char *how)
{
    bf_error e;
    bf_filter *f;
    size_t len = 0;
    bf_spec expect = { .secret = c->spec.secret, .secret_len = c->spec.secret_len };
    uint8_t *bytes = strcmp(how, "bytes") ? NULL : read_all(path_of(c, side, how), &len);
    if (bytes)
        f = bf_from_bytes(bytes, len, &expect, &e);
    else if (!strcmp(how, "saved"))
        f = bf_load(path_of(c, side, how), &expect, &e);
    else {
        expect.storage = path_of(c, side, how);
        f = bf_open(&expect, &e);
    }
    if (!f) stop(path_of(c, side, how), e.msg);
    printf("read %s %s\n", side, how);
    print_parameters(f);
    print_presence(f);
    print_state(f);
    bf_close(f);
    free(bytes);
}

static void read_others(test_case *c)
{
    static const char *const sides[] = { "c", "php", "py" }, *const ways[] = { "saved", "bytes",
        "mapped" };
    for (int s = 0; s < 3; s++)
        for (int w = 0; w < 2 + !strcmp(c->home, "file"); w++) read_one(c, sides[s], ways[w]);
}

int main(int argc, char **argv)
{
    if (argc != 5) stop("usage", "side make|read|positions CASES KEYS FOLDER");
    size_t len;
    char *next = (char *)read_all(argv[2], &len);
    read_keys(argv[3]);
    folder = argv[4];
    for (char *line = next; *line; line = next) {
        test_case c;
        next = line + strcspn(line, "\n");
        if (*next) *next++ = 0;
        parse(line, &c);
        printf("case %s\n", c.name);
        if (!strcmp(argv[1], "make"))
            make(&c);
        else if (!strcmp(argv[1], "read"))
            read_others(&c);
        else
            positions(&c);
    }
    return 0;
}
