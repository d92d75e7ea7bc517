/* side.c - the C side of the catalogue: one request a line on standard input, one answer a line.
 * side.php speaks the same.
 *
 *   request  op TAB name=VALUE TAB ...    VALUE: i123 an integer, f0.5 a number, b6162 bytes or
 *             text in hex, p6162 a path, t1 true
 *   answer   outcome TAB text in hex        outcome: ok, or the code of bf_error; "setup" where an
 *             earlier step failed
 *
 * For what each op does see README.md.  Names with a. and b. before them are of the two filters of
 * a set operation. */
#define _POSIX_C_SOURCE 200809L
#include <bloomfilter_host.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 24 };
typedef struct {
    char *name, *value;
    size_t len;
} field;
static field fields[FIELDS];
static int nfields;

static void answer(const char *outcome, const char *text)
{
    printf("%s\t", outcome);
    for (; *text; text++) printf("%02x", (unsigned char)*text);
    putchar('\n');
    fflush(stdout);
}

static void failed(const bf_error *e, const char *more)
{
    char code[12], text[300], key[40] = "";
    snprintf(code, sizeof code, "%d", e->code);
    if (e->key != BF_NO_KEY) snprintf(key, sizeof key, ", key %zu", e->key);
    snprintf(text, sizeof text, "%s%s%s", e->msg, key, more);
    answer(code, text);
}

/* ---- requests ---- */
static size_t unhex(char *text)
{
    size_t n = 0;
    for (char *p = text; p[0] && p[1]; p += 2)
        text[n++] = (char)strtoul((char[]){ p[0], p[1], 0 }, NULL, 16);
    text[n] = 0;
    return n;
}

static void parse(char *line)
{
    nfields = 0;
    for (char *at = line; (at = strchr(at, '\t')) && nfields < FIELDS;) {
        *at++ = 0;
        char *equal = strchr(at, '='), *end = strchr(at, '\t'), keep = end ? '\t' : 0;
        if (end) *end = 0;
        *equal = 0;
        field *f = &fields[nfields++];
        *f = (field){ at, equal + 2, 0 };
        f->len = equal[1] == 'b' || equal[1] == 'p' ? unhex(f->value) : strlen(f->value);
        if (end) {
            at = end;
            *end = keep;
        } else
            break;
    }
}

static const field *given(const char *prefix, const char *name)
{
    size_t n = strlen(prefix);
    for (int i = 0; i < nfields; i++)
        if (!strncmp(fields[i].name, prefix, n) && !strcmp(fields[i].name + n, name))
            return fields + i;
    return NULL;
}

static bf_spec spec_of(const char *prefix)
{
    bf_spec s = { 0 };
    const field *f;
    s.counting = given(prefix, "counting") != NULL;
    if ((f = given(prefix, "parts"))) s.parts = (unsigned)strtoull(f->value, NULL, 10);
    if ((f = given(prefix, "m"))) s.m = strtoull(f->value, NULL, 10);
    if ((f = given(prefix, "n"))) s.n = strtoull(f->value, NULL, 10);
    if ((f = given(prefix, "k"))) s.k = (unsigned)strtoull(f->value, NULL, 10);
    if ((f = given(prefix, "p"))) s.p = strtod(f->value, NULL);
    if ((f = given(prefix, "grow"))) s.grow = strtod(f->value, NULL);
    if ((f = given(prefix, "window"))) s.window = strtod(f->value, NULL);
    if ((f = given(prefix, "timeout"))) s.timeout = strtod(f->value, NULL);
    if ((f = given(prefix, "cache_max_age"))) s.cache_max_age = strtod(f->value, NULL);
    if ((f = given(prefix, "shards"))) s.shards = (unsigned)strtoull(f->value, NULL, 10);
    if ((f = given(prefix, "scheme"))) s.scheme = f->value;
    if ((f = given(prefix, "storage"))) s.storage = f->value;
    if ((f = given(prefix, "key"))) s.key = f->value;
    if ((f = given(prefix, "secret"))) {
        s.secret = f->value;
        s.secret_len = f->len;
    }
    return s;
}

/* ---- what a filter is ---- */
static void describe(uint64_t m, uint64_t n, unsigned k, const char *scheme)
{
    char text[160];
    snprintf(text, sizeof text, "%llu %llu %u %s", (unsigned long long)m, (unsigned long long)n, k,
        scheme);
    answer("ok", text);
}

static void opened(bf_filter *f, const bf_error *e)
{
    bf_info i;
    if (f) {
        bf_get_info(f, &i);
        describe(i.m, i.n, i.k, i.scheme);
    } else
        failed(e, "");
    bf_close(f);
}

static uint8_t *read_all(const char *path, size_t *len)
{
    FILE *in = fopen(path, "rb");
    if (!in) exit(2);
    fseek(in, 0, SEEK_END);
    *len = (size_t)ftell(in);
    rewind(in);
    uint8_t *bytes = malloc(*len ? *len : 1); /* to the byte: a sanitizer sees every one too many */
    if (!bytes || fread(bytes, 1, *len, in) != *len) exit(2);
    fclose(in);
    return bytes;
}

/* ---- many keys, for tests/cross: records of one byte, uint32 little-endian length, bytes.  The
 * byte is b, s, i: bytes, UTF-8 text, an integer's decimal text; B, S, I: the same, never added,
 * which come last.  What is printed must be the same text in all languages. ---- */
enum { MOST = 4096 };
static bf_key many[MOST];
static size_t nmany, nadded;
static FILE *lines;

static uint8_t *read_keys(void)
{
    size_t len;
    uint8_t *bytes = read_all(given("", "keys")->value, &len);
    nmany = nadded = 0;
    for (uint8_t *p = bytes, *end = p + len; p < end && nmany < MOST; nmany++) {
        if (strchr("bsi", p[0])) nadded = nmany + 1;
        many[nmany].len = p[1] | (size_t)p[2] << 8 | (size_t)p[3] << 16 | (size_t)p[4] << 24;
        many[nmany].ptr = p + 5;
        p += 5 + many[nmany].len;
    }
    return bytes;
}

static void print_real(double d)
{
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    fprintf(lines, " %016llx", (unsigned long long)bits);
}

static void print_answers(const char *label, const uint8_t *each, size_t n)
{
    fprintf(lines, "%s ", label);
    for (size_t i = 0; i < n; i++) putc('0' + each[i], lines);
    putc('\n', lines);
}

static void print_parameters(bf_filter *f)
{
    bf_info i;
    bf_get_info(f, &i);
    fprintf(
        lines, "parameters %llu %llu %u", (unsigned long long)i.m, (unsigned long long)i.n, i.k);
    print_real(i.p);
    fprintf(lines, " %s\n", i.scheme);
}

static void print_found(bf_filter *f)
{
    uint8_t each[MOST];
    bf_state s;
    for (size_t i = 0; i < nmany; i++)
        each[i] = (uint8_t)bf_test(f, many[i].ptr, many[i].len, NULL);
    print_answers("single", each, nmany);
    bf_test_many(f, many, nmany, each, NULL);
    print_answers("batch", each, nmany);
    if (bf_get_state(f, &s, NULL) < 0) exit(2);
    fprintf(lines, "state %.0f", (double)(uint64_t)(s.count + 0.5));
    print_real(s.fill);
    print_real(s.fpr);
    putc('\n', lines);
}

static void print_positions(bf_filter *f)
{
    uint64_t pos[BF_K_MAX];
    for (size_t i = 0; i < nmany; i++) {
        int64_t k = bf_hashcode(f, many[i].ptr, many[i].len, pos, BF_K_MAX, NULL);
        fprintf(lines, "positions %zu", i);
        for (int64_t j = 0; j < k; j++) fprintf(lines, " %llu", (unsigned long long)pos[j]);
        putc('\n', lines);
    }
}

/* Adds all, one by one and in a batch, and writes what to_bytes and save make of it. */
static bool fill(bf_filter *f, bf_error *e)
{
    uint8_t each[MOST];
    bf_info i;
    for (size_t k = 0; k < nadded; k += 2)
        each[k / 2] = (uint8_t)bf_add(f, many[k].ptr, many[k].len, NULL);
    print_answers("add", each, (nadded + 1) / 2);
    bf_add_many(f, many, nadded, each, NULL);
    print_answers("update", each, nadded);
    bf_get_info(f, &i);
    uint8_t *bytes = malloc(i.image_bytes);
    FILE *to = fopen(given("", "bytes")->value, "wb");
    const bool made = bytes && to && bf_to_bytes(f, bytes, i.image_bytes, e) >= 0 &&
                      fwrite(bytes, 1, i.image_bytes, to) == i.image_bytes && !fclose(to);
    free(bytes);
    return made && bf_save(f, given("", "saved")->value, e) >= 0;
}

/* make, positions: of a new filter; read: of one that is there, opened as `how` says. */
static void with_many_keys(const char *op, bf_spec *s)
{
    bf_error e;
    char *text = NULL;
    size_t len, size;
    const field *how = given("", "how");
    uint8_t *keys = read_keys(), *bytes = NULL;
    bf_filter *f;
    if (how && !strcmp(how->value, "bytes")) {
        bytes = read_all(s->storage, &len);
        s->storage = NULL;
        f = bf_from_bytes(bytes, len, s, &e);
    } else
        f = how && !strcmp(how->value, "saved") ? bf_load(s->storage, s, &e) : bf_open(s, &e);
    lines = open_memstream(&text, &size);
    bool right = f != NULL;
    if (right && strcmp(op, "positions")) print_parameters(f);
    if (right && !strcmp(op, "make")) right = fill(f, &e);
    if (right && strcmp(op, "read")) print_positions(f);
    if (right && strcmp(op, "positions")) print_found(f);
    fclose(lines);
    if (right)
        answer("ok", text);
    else
        failed(&e, "");
    bf_close(f);
    free(text);
    free(bytes);
    free(keys);
}

/* ---- ops ---- */
static void plan(void)
{
    bf_error e;
    bf_spec s = spec_of("");
    if (bf_plan(&s, &e) < 0)
        failed(&e, "");
    else
        describe(s.m, s.n, s.k, s.scheme);
}

static void from_bytes(void)
{
    bf_error e;
    size_t len;
    bf_spec expect = spec_of("");
    uint8_t *bytes = read_all(given("", "data")->value, &len);
    const field *format = given("", "format");
    opened(format ? bf_from_bytes_as(bytes, len, format->value, &expect, &e)
                  : bf_from_bytes(bytes, len, &expect, &e),
        &e);
    free(bytes);
}

/* All at once: added, added again, there, in a batch with another one, its positions. */
static void one_key(bf_filter *f, const bf_key *keys)
{
    char text[2000];
    uint64_t pos[BF_K_MAX];
    const int new = bf_add(f, keys->ptr, keys->len, NULL);
    const int again = bf_add(f, keys->ptr, keys->len, NULL);
    const int there = bf_test(f, keys->ptr, keys->len, NULL);
    const int64_t k = bf_hashcode(f, keys->ptr, keys->len, pos, BF_K_MAX, NULL);
    const int many = (int)bf_add_many(f, keys, 2, NULL, NULL);
    size_t n = (size_t)snprintf(text, sizeof text, "%d %d %d %d", new, again, there, many);
    for (int64_t i = 0; i < k && n < sizeof text - 30; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, " %llu", (unsigned long long)pos[i]);
    answer("ok", text);
}

static void keys(bf_filter *f, const char *op)
{
    static const struct {
        const char *op;
        int (*one)(bf_filter *, const void *, size_t, bf_error *);
        int64_t (*many)(bf_filter *, const bf_key *, size_t, uint8_t *, bf_error *);
    } ops[] = { { "add", bf_add, NULL }, { "addto", bf_add, NULL }, { "test", bf_test, NULL },
        { "remove", bf_remove, NULL }, { "count", bf_count_of, NULL },
        { "batch", NULL, bf_add_many }, { "testbatch", NULL, bf_test_many },
        { "removebatch", NULL, bf_remove_many } };
    enum { OPS = sizeof ops / sizeof *ops };
    const field *arg = given("", "arg");
    const bf_key many[] = { { "good", 4 }, { arg ? arg->value : "good", arg ? arg->len : 4 },
        { "after", 5 } };
    char text[40] = "";
    uint64_t pos[BF_K_MAX];
    bf_error e;
    int64_t rc;
    size_t i = 0;
    while (i < OPS && strcmp(op, ops[i].op)) i++;
    if (!strcmp(op, "key")) {
        one_key(f, many + 1);
        return;
    }
    if (i == OPS)
        rc = bf_hashcode(f, many[1].ptr, many[1].len, pos, BF_K_MAX, &e);
    else
        rc = ops[i].one ? ops[i].one(f, many[1].ptr, many[1].len, &e)
                        : ops[i].many(f, many, 3, NULL, &e);
    if (rc >= 0 && i < OPS)
        snprintf(text, sizeof text, "%lld", (long long)rc);
    else if (rc < 0 && !strcmp(op, "batch"))
        snprintf(text, sizeof text, "; before %d after %d", bf_test(f, "good", 4, NULL),
            bf_test(f, "after", 5, NULL));
    if (rc < 0)
        failed(&e, text);
    else
        answer("ok", text);
}

static void sets(bf_filter *a, const char *op)
{
    bf_error e;
    bf_spec s = spec_of("b.");
    bf_filter *b = bf_open(&s, &e);
    if (!b) {
        answer("setup", e.msg);
        return;
    }
    int rc = !strcmp(op, "union")       ? bf_unite(a, b, &e)
             : !strcmp(op, "intersect") ? bf_intersect(a, b, &e)
                                        : bf_equal(a, b, &e);
    if (rc < 0)
        failed(&e, "");
    else
        answer("ok", !strcmp(op, "equal") ? rc ? "1" : "0" : "");
    bf_close(b);
}

static void with_filter(const char *op)
{
    bf_error e;
    bool two = !strcmp(op, "union") || !strcmp(op, "intersect") || !strcmp(op, "equal");
    bf_spec s = spec_of(two ? "a." : "");
    s.must_exist = !strcmp(op, "addto");
    bf_filter *f = bf_open(&s, &e);
    if (!f)
        answer("setup", e.msg);
    else if (two)
        sets(f, op);
    else if (strcmp(op, "save"))
        keys(f, op);
    else if (bf_save(f, given("", "arg")->value, &e) < 0)
        failed(&e, "");
    else
        answer("ok", "");
    bf_close(f);
}

static void serve(const char *op)
{
    bf_error e;
    bf_spec s = spec_of("");
    if (!strcmp(op, "plan"))
        plan();
    else if (!strcmp(op, "new"))
        opened(bf_open(&s, &e), &e);
    else if (!strcmp(op, "from_bytes"))
        from_bytes();
    else if (!strcmp(op, "load"))
        opened(bf_load(s.storage, &s, &e), &e);
    else if (!strcmp(op, "open") || !strcmp(op, "openro")) {
        s.must_exist = true;
        s.read_only = !strcmp(op, "openro");
        opened(bf_open(&s, &e), &e);
    } else if (!strcmp(op, "make") || !strcmp(op, "read") || !strcmp(op, "positions"))
        with_many_keys(op, &s);
    else
        with_filter(op);
}

int main(void)
{
    char *line = NULL;
    size_t cap = 0;
    for (ssize_t n; (n = getline(&line, &cap, stdin)) > 0;) {
        if (line[n - 1] == '\n') line[n - 1] = 0;
        parse(line);
        serve(line);
    }
    free(line);
    return 0;
}
