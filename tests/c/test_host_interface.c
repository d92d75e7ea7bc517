/* test_host_interface.c - what the core decides for its hosts: keys a call, lines, the watch and
 * its sentence, storages in words, files of secrets, "nothing is there".  About
 * core/keys/warning.c, core/keys/text_lines.c, core/base/storage.c, core/base/secret_file.c. */
#define _GNU_SOURCE
#include "bloomfilter_host.h"
#include "check.h"

static bf_filter *made(uint64_t n) { return bf_open(&(bf_spec){ .n = n, .p = 1e-6 }, NULL); }

/* ---- lines ---- */
/* Each line of text by itself, the naive way; in pieces of `step` bytes as a file is read. */
static void check_lines(const char *text, size_t len, size_t step, bool add, int keep)
{
    bf_filter *f = made(10000), *naive = made(10000);
    char *kept = malloc(len + 1), *wanted = malloc(len + 1), *w = wanted;
    uint8_t *each = malloc(len + 1), *answers = malloc(len + 1);
    uint64_t keys = 0, hits = 0;
    bf_add(f, "seen", 4, NULL);
    bf_add(naive, "seen", 4, NULL);
    for (const char *at = text, *end = text + len; at < end;) {
        const char *stop = memchr(at, ';', (size_t)(end - at));
        const size_t n = (size_t)((stop ? stop : end) - at);
        answers[keys] = (uint8_t)(add ? bf_add : bf_test)(naive, at, n, NULL);
        hits += answers[keys];
        if (answers[keys++] == keep) {
            memcpy(w, at, n);
            w += n;
            *w++ = ';';
        }
        at = stop ? stop + 1 : end;
    }
    bf_lines l = { .at = text, .sep = ';', .each = each, .kept = kept, .keep = (uint8_t)keep };
    int rc = 1;
    for (size_t have = 0; rc >= 0 && have < len;) {
        have = have + step < len ? have + step : len;
        l.end = text + have;
        l.last = have == len;
        do rc = (add ? bf_add_lines : bf_test_lines)(f, &l, NULL);
        while (rc > 0);
    }
    CHECK(rc == 0 && l.at == text + len);
    CHECK_EQ(l.keys, keys);
    CHECK_EQ(l.hits, hits);
    CHECK(l.each == each + keys && memcmp(each, answers, keys) == 0);
    CHECK(l.kept - kept == w - wanted && memcmp(kept, wanted, (size_t)(w - wanted)) == 0);
    CHECK_EQ(bf_equal(f, naive, NULL), 1);
    CLOSE(f, naive);
    free(kept);
    free(wanted);
    free(each);
    free(answers);
}

TEST(lines_are_keys)
{
    static char text[60000];
    size_t len = 0;
    for (int i = 0; i < 4000; i++)
        len += (size_t)sprintf(text + len, "%.*d%s;", i % 90 ? 0 : i % 900, 7, i % 7 ? "seen" : "");
    for (int i = 0; i < 1500; i++) len += (size_t)sprintf(text + len, "%d;", i % 1400);
    CHECK(len < sizeof text);
    for (int add = 0; add < 2; add++)
        for (int keep = 0; keep < 2; keep++) {
            check_lines(text, len, len, add, keep);
            check_lines(text, len - 1, len, add, keep); /* the last one lacks its separator */
            check_lines(text, len, 61, add, keep);
            check_lines(text, 1, 1, add, keep);
            check_lines("no separator at all", 19, 19, add, keep);
            check_lines(";;", 2, 2, add, keep);
        }
}

TEST(what_follows_the_last_separator_waits)
{
    const char *text = "one;two;thr";
    bf_filter *f = made(100);
    bf_lines l = { .at = text, .end = text + 11, .sep = ';' };
    CHECK_EQ(bf_add_lines(f, &l, NULL), 1);
    CHECK(l.keys == 2 && l.at == text + 8);
    CHECK_EQ(bf_add_lines(f, &l, NULL), 0);
    CHECK(l.keys == 2 && l.at == text + 8 && bf_test(f, "thr", 3, NULL) == 0);
    bf_close(f);
}

TEST(a_refused_line_is_counted_from_the_first)
{
    bf_error e;
    static char text[9000];
    char *end = text;
    bf_filter *f = bf_open(&(bf_spec){ .m = 65536, .scheme = "java7" }, &e);
    for (int i = 0; i < 1234; i++) end += sprintf(end, "k%d\n", i);
    end += sprintf(end, "\xff\nafter\n");
    bf_lines l = { .at = text, .end = end, .sep = '\n' };
    int rc;
    do rc = bf_add_lines(f, &l, &e);
    while (rc > 0);
    CHECK_EQ(rc, BF_EINVAL);
    CHECK_EQ(e.key, 1234);
    CHECK(bf_test(f, "k1233", 5, &e) == 1 && bf_test(f, "after", 5, &e) == 0);
    bf_close(f);
}

/* A host may write to its text during the call. What is kept fits the buffer all the same. */
enum { LONG_LINE = 100000, LONG_LINES = 60, IN_A_CALL = 41 };
typedef struct {
    char *text;
    uint64_t calls;
    int from, to; /* these text lines lose their separators */
} changing;
static int changes_the_text(void *ctx, const void *key, size_t len, uint64_t *digests)
{
    changing *c = ctx;
    (void)key, (void)len;
    for (int i = c->from; i < c->to; i++) c->text[(i + 1) * LONG_LINE - 1] = 'x';
    *digests = ++c->calls * UINT64_C(0x9E3779B97F4A7C15);
    return 0;
}

TEST(lines_that_change_during_the_call)
{
    enum { LEN = LONG_LINE * LONG_LINES };
    char *text = malloc(LEN), *kept = malloc(2 * LEN);
    static const struct {
        int from, to, kept;
    } rows[] = { { IN_A_CALL - 1, IN_A_CALL, LONG_LINES - 1 }, { 0, LONG_LINES, 0 } };
    bf_use_threads(2);
    for (size_t i = 0; i < COUNT(rows); i++) {
        changing c = { text, 0, rows[i].from, rows[i].to };
        const bf_functions functions = { .count = 1, .call = changes_the_text, .ctx = &c };
        bf_filter *f = bf_open(&(bf_spec){ .m = 1 << 20, .functions = &functions }, NULL);
        memset(text, 'x', LEN);
        for (int j = 1; j <= LONG_LINES; j++) text[j * LONG_LINE - 1] = ';';
        bf_lines l = { .at = text, .end = text + LEN, .sep = ';', .kept = kept, .keep = 1 };
        while (bf_add_lines(f, &l, NULL) > 0) {}
        CHECK_EQ(l.kept - kept, rows[i].kept * LONG_LINE);
        bf_close(f);
    }
    bf_use_threads(1);
    free(text);
    free(kept);
}

TEST(lines_without_a_filter)
{
    const char *text = "a;;bcd;e";
    bf_key keys[3];
    bf_lines l = { .at = text, .end = text + 8, .sep = ';', .last = true };
    CHECK_EQ(bf_next_lines(&l, keys, 0), 0);
    CHECK_EQ(bf_next_lines(&l, keys, 3), 3);
    CHECK(keys[0].len == 1 && keys[1].len == 0 && keys[2].len == 3 && keys[2].ptr == text + 3);
    CHECK_EQ(bf_next_lines(&l, keys, 3), 1);
    CHECK(keys[0].ptr == text + 7 && keys[0].len == 1);
    CHECK_EQ(bf_next_lines(&l, keys, 3), 0);
}

/* ---- keys a call, the watch ---- */
static int callback(void *ctx, int op, const uint64_t *pos, size_t n, unsigned k, uint8_t *present)
{
    (void)ctx, (void)op, (void)pos, (void)k;
    memset(present, 0, n);
    return 0;
}

static int given(void *count, const char *text)
{
    ++*(int *)count;
    return 0;
}

TEST(keys_a_call_and_the_watch)
{
    int count = 0;
    bf_error e;
    bf_filter *f = bf_open(&(bf_spec){ .n = 1000, .p = 0.01 }, &e);
    CHECK(bf_batch_size(f) >= 1 && bf_batch_size(f) <= BF_BATCH_SIZE_MAX);
    bf_close(f);
    const bf_client client = { .apply = callback };
    f = bf_open(&(bf_spec){ .m = 100, .k = 2, .client = &client }, &e);
    CHECK(f != NULL);
    bf_set_warning(f, given, &count);
    for (int i = 0; i < 3000; i++) CHECK(bf_add(f, &i, sizeof i, NULL) >= 0);
    CHECK_EQ(count, 0); /* nobody can look at its bits */
    bf_close(f);
}

/* ---- storages in words ---- */
TEST(passwords_are_hidden)
{
    static const char *const rows[][2] = { { "/a/path", "/a/path" }, { "", "" },
        { "redis://h/0?key=k", "redis://h/0?key=k" }, { "redis://:pw@h?key=k", "redis://h?key=k" },
        { "redis://u:p@w@h?key=a@b", "redis://h?key=a@b" },
        { "redis://u:p w@h?key=k", "redis://h?key=k" },
        { "unix://:pw/x@/sock?key=k", "unix:///sock?key=k" },
        { "cannot open redis://u:pw@h, nor x@y", "cannot open redis://h, nor x@y" },
        { "a redis://u:pw@h?key=k and rediss://:q@i x@", "a redis://h?key=k and rediss://i x@" },
        { "://u:pw@h", "://u:pw@h" }, { "u:pw@h", "u:pw@h" }, { "x://", "x://" } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char out[100], few[8];
        CHECK_EQ(bf_hide_passwords(rows[i][0], out, sizeof out), strlen(rows[i][1]));
        if (strcmp(out, rows[i][1])) fprintf(stderr, "%s gives %s\n", rows[i][0], out);
        CHECK(strcmp(out, rows[i][1]) == 0);
        CHECK_EQ(bf_hide_passwords(rows[i][0], few, sizeof few), strlen(rows[i][1]));
        CHECK(strlen(few) < sizeof few && !strncmp(few, rows[i][1], strlen(few)));
        CHECK_EQ(bf_hide_passwords(rows[i][0], NULL, 0), strlen(rows[i][1]));
    }
}

TEST(beside)
{
    static const char *const rows[][2] = { { "redis://h?key=k", "redis://h?key=k:f:x" },
        { "redis://h?timeout=1&key=k&db=2", "redis://h?timeout=1&key=k:f:x&db=2" },
        { "redis://h?nokey=k&key=a%20b", "redis://h?nokey=k&key=a%20b:f:x" } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char out[100];
        CHECK_EQ(bf_url_beside(rows[i][0], ":f:x", out, sizeof out), strlen(rows[i][1]));
        CHECK(strcmp(out, rows[i][1]) == 0);
    }
}

TEST(files_of_urls)
{
    static const struct {
        const char *url, *files[3];
        int end;
    } rows[] = { { "redis://u:p@h:1/0?key=k", { NULL }, 0 },
        { "unix://:p@/a/b%20c?key=k", { "/a/b c" }, 0 },
        { "rediss://h?cert=/c.pem&ca=/ca%2fx", { "/ca/x", "/c.pem" }, 0 },
        { "rediss://h?cert=/c.pem", { "/c.pem" }, 0 }, { "unix://a/b?key=k", { NULL }, BF_EINVAL },
        { "unix:///a%00b", { NULL }, BF_EINVAL } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        bf_error e;
        char *path;
        unsigned n = 0;
        int rc;
        for (; (rc = bf_url_file(rows[i].url, n, &path, &e)) > 0; n++) {
            CHECK(n < 3 && rows[i].files[n] && !strcmp(path, rows[i].files[n]));
            free(path);
        }
        CHECK_EQ(rc, rows[i].end);
        CHECK(n == 3 || !rows[i].files[n]);
        CHECK(path == NULL);
    }
}

/* ---- files ---- */
static int read_back(const char *path, const void *bytes, size_t len, uint8_t *secret, bf_error *e)
{
    FILE *f = fopen(path, "w");
    fwrite(bytes, 1, len, f);
    fclose(f);
    return bf_read_secret(path, secret, e);
}

TEST(secrets_in_files)
{
    static const char raw[] = "\0\1\2\3\4\5\6\7\x80\x81\x82\x83\x84\xfd\n\n";
    static const char *const bad[] = { "", "short", "g0010203040506078081828384fd0a0a",
        "00010203040506078081828384fd0a0", "00010203040506078081828384fd0a0a0",
        "00010203040506078081828384fd0a0a x", " 00010203040506078081828384fd0a0a",
        "17 bytes, 1 more." };
    char path[] = "/tmp/bf-secret-XXXXXX", many[200];
    uint8_t secret[BF_SECRET_BYTES];
    bf_error e;
    close(mkstemp(path));
    CHECK_EQ(read_back(path, raw, 16, secret, &e), 0);
    CHECK(memcmp(secret, raw, 16) == 0);
    const char *ends[] = { "", "\n", "\r\n", " \t\n\n" };
    for (size_t i = 0; i < 4; i++) {
        memset(secret, 0, sizeof secret);
        snprintf(many, sizeof many, "00010203040506078081828384Fd0a0A%s", ends[i]);
        CHECK_EQ(read_back(path, many, strlen(many), secret, &e), 0);
        CHECK(memcmp(secret, raw, 16) == 0);
    }
    memset(secret, 7, sizeof secret);
    for (size_t i = 0; i < COUNT(bad); i++) {
        CHECK_EQ(read_back(path, bad[i], strlen(bad[i]), secret, &e), BF_EINVAL);
        CHECK_HAS(e.msg, "a secret is 16 bytes, or 32 hexadecimal digits; this file has ");
        CHECK(!*bad[i] || !strstr(e.msg, bad[i]));
    }
    memset(many, '0', sizeof many);
    CHECK_REFUSED(read_back(path, many, sizeof many, secret, &e), BF_EINVAL, "100 bytes or more");
    CHECK(secret[0] == 7 && secret[15] == 7);
    unlink(path);
    CHECK_EQ(bf_read_secret(path, secret, &e), BF_ENOENT);
    CHECK(e.code == BF_ENOENT && e.sys_errno == ENOENT);
    CHECK_EQ(bf_read_secret("/", secret, &e), BF_EIO);
}

TEST(nothing_is_there)
{
    bf_error e;
    const char *none = "/tmp/no-such-folder-of-ours/x";
    CHECK(!bf_open(&(bf_spec){ .storage = none }, &e));
    CHECK(e.code == BF_ENOENT && e.sys_errno == ENOENT);
    CHECK(!bf_load(none, NULL, &e));
    CHECK(e.code == BF_ENOENT && e.sys_errno == ENOENT);
    CHECK_HAS(e.msg, none);
}

int main(void) { return main_of_tests(); }
