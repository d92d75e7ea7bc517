/* side.c - the C side of the catalogue: one request a line on standard input, one answer a line.
 * side.php speaks the same.
 *
 *   request  op TAB name=VALUE TAB ...    VALUE: i123 an integer, f0.5 a number, b6162 bytes or
 *             text in hex, p6162 a path, t1 true; oNAME PORT a client (clients.py)
 *   answer   outcome TAB text in hex        outcome: ok, or the code of bf_error; "setup" where an
 *             earlier step failed
 *
 * For what each op does see README.md.  Names with a. and b. before them are of the two filters of
 * a set operation. */
#define _POSIX_C_SOURCE 200809L
#include <arpa/inet.h>
#include <bloomfilter_host.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

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

/* ---- clients: a connection for each trip ---- */
static bool turned; /* the client "turns" fails from now on */

static int client_failed(bf_reply_sink *sink, int sys_errno, const char *why)
{
    bf_reply_fault(sink, sys_errno, why, strlen(why));
    return BF_CLIENT_UNSENT;
}

static int exchange(
    void *ctx, const bf_redis_part *parts, size_t nparts, bool report, bf_reply_sink *sink)
{
    const field *f = ctx;
    int port = 0, fd;
    char name[20], data[1 << 16];
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int64_t commands = 0, done = 0;
    (void)report;
    sscanf(f->value, "%19s %d", name, &port);
    if (!strcmp(name, "raises") || (!strcmp(name, "turns") && turned))
        return client_failed(sink, 0, "no way");
    to.sin_port = htons((uint16_t)port);
    if ((fd = socket(AF_INET, SOCK_STREAM, 0)) < 0) return client_failed(sink, errno, "socket");
    if (connect(fd, (struct sockaddr *)&to, sizeof to) < 0) {
        close(fd);
        return client_failed(sink, errno, "connect");
    }
    for (size_t i = 0; i < nparts; i++) {
        commands += (int64_t)parts[i].commands;
        if (write(fd, parts[i].bytes, parts[i].len) != (ssize_t)parts[i].len) exit(2);
    }
    while (done >= 0 && done < commands) {
        ssize_t n = read(fd, data, sizeof data);
        if (n <= 0) exit(2);
        done = bf_reply_feed(sink, data, (size_t)n);
    }
    close(fd);
    return BF_CLIENT_ANSWERED;
}

static void use_client(bf_spec *s, const field *f)
{
    static bf_redis_client client;
    client = (bf_redis_client){ .exchange = exchange, .name = "the client", .ctx = (void *)f };
    s->redis_client = &client;
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
    if ((f = given(prefix, "storage")) && f->value[-1] == 'o')
        use_client(&s, f);
    else if (f)
        s.storage = f->value;
    if ((f = given(prefix, "key"))) s.key = f->value;
    if ((f = given(prefix, "secret"))) {
        s.secret = f->value;
        s.secret_len = f->len;
    }
    return s;
}

/* ---- what a filter is ---- */
static void describe(bf_filter *f)
{
    bf_info i;
    char text[160];
    bf_get_info(f, &i);
    snprintf(text, sizeof text, "%llu %llu %u %s", (unsigned long long)i.m, (unsigned long long)i.n,
        i.k, i.scheme);
    answer("ok", text);
}

static void opened(bf_filter *f, const bf_error *e)
{
    if (f)
        describe(f);
    else
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
    char text[160];
    if (bf_plan(&s, &e) < 0) {
        failed(&e, "");
        return;
    }
    snprintf(text, sizeof text, "%llu %llu %u %s", (unsigned long long)s.m, (unsigned long long)s.n,
        s.k, s.scheme);
    answer("ok", text);
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

static void keys(bf_filter *f, const char *op)
{
    bf_error e;
    const field *arg = given("", "arg");
    static const char good[] = "good";
    bf_key many[] = { { good, 4 }, { arg ? arg->value : good, arg ? arg->len : 4 },
        { "after", 5 } };
    uint64_t pos[BF_K_MAX];
    char text[2000] = "";
    int64_t rc;
    const bf_key *one = many + 1;
    if (!strcmp(op, "add") || !strcmp(op, "addto"))
        rc = bf_add(f, one->ptr, one->len, &e);
    else if (!strcmp(op, "test"))
        rc = bf_test(f, one->ptr, one->len, &e);
    else if (!strcmp(op, "batch"))
        rc = bf_add_many(f, many, 3, NULL, &e);
    else if (!strcmp(op, "testbatch"))
        rc = bf_test_many(f, many, 3, NULL, &e);
    else if (!strcmp(op, "remove"))
        rc = bf_remove(f, one->ptr, one->len, &e);
    else if (!strcmp(op, "count"))
        rc = bf_count_of(f, one->ptr, one->len, &e);
    else if (!strcmp(op, "removebatch"))
        rc = bf_remove_many(f, many, 3, NULL, &e);
    else if (!strcmp(op, "hashcode"))
        rc = bf_hashcode(f, one->ptr, one->len, pos, BF_K_MAX, &e);
    else { /* key: everything at once */
        int new = bf_add(f, one->ptr, one->len, &e), again = bf_add(f, one->ptr, one->len, &e),
            there = bf_test(f, one->ptr, one->len, &e);
        int64_t k = bf_hashcode(f, one->ptr, one->len, pos, BF_K_MAX, &e),
                many_new = bf_add_many(f, many + 1, 2, NULL, &e);
        size_t n =
            (size_t)snprintf(text, sizeof text, "%d %d %d %d", new, again, there, (int)many_new);
        for (int64_t i = 0; i < k && n < sizeof text - 30; i++)
            n += (size_t)snprintf(text + n, sizeof text - n, " %llu", (unsigned long long)pos[i]);
        answer("ok", text);
        return;
    }
    if (rc < 0 && !strcmp(op, "batch"))
        snprintf(text, sizeof text, "; before %d after %d", bf_test(f, good, 4, NULL),
            bf_test(f, "after", 5, NULL));
    if (rc < 0)
        failed(&e, text);
    else {
        snprintf(text, sizeof text, "%lld", (long long)rc);
        answer("ok", !strcmp(op, "hashcode") ? "" : text);
    }
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
    turned = false;
    bf_filter *f = bf_open(&s, &e);
    turned = true;
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
    turned = false;
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
