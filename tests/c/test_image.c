/* test_image.c - the bytes format: round trips, and every way it can be wrong.  Sets and copies
 * too.  About core/sets/image.c, core/format/header.c, core/sets/algebra.c, core/sets/stats.c,
 * core/parts/secret.c. */
#include "../../core/sets/sets.h"
#include "check.h"
#include "paged.h"
#include "optional.h"
#include "native.h"

static const uint8_t secret[] = "0123456789abcdef", other[] = "fedcba9876543210";

static bf_filter *filled(
    const char *scheme, uint64_t m, unsigned k, const void *key, unsigned from, unsigned count)
{
    bf_error e;
    bf_filter *f = bf_open(
        &(bf_spec){ .m = m, .k = k, .scheme = scheme, .secret = key, .secret_len = key ? 16 : 0 },
        &e);
    if (!f) {
        FAILED("%s\n", e.msg);
        exit(1);
    }
    for (unsigned i = from; i < from + count; i++) {
        char t[16];
        bf_add(f, t, (size_t)sprintf(t, "k%u", i), &e);
    }
    return f;
}

static uint8_t *bytes_of(bf_filter *f, uint64_t *len)
{
    bf_info i;
    bf_error e;
    bf_get_info(f, &i);
    uint8_t *b = malloc(*len = i.image_bytes);
    CHECK_EQ(bf_to_bytes(f, b, *len - 1, &e), BF_EINVAL);
    CHECK_EQ(bf_to_bytes(f, b, *len, &e), 0);
    return b;
}

TEST(round_trips)
{
    static const struct {
        uint64_t m;
        unsigned k;
    } shapes[] = { { 1, 1 }, { 63, 2 }, { 64, 3 }, { 65, 4 }, { 512, 8 }, { 100000, 7 } };
    for (size_t s = 0; native_scheme(s); s++)
        for (size_t i = 0; i < COUNT(shapes); i++)
            for (int keyed = 0; keyed < 2 - lacks_sodium(); keyed++) {
                uint64_t len, len2;
                bf_error e;
                bf_filter *f = filled(
                    native_scheme(s), shapes[i].m, shapes[i].k, keyed ? secret : NULL, 0, 50);
                uint8_t *b = bytes_of(f, &len), *at = malloc(len + 1), *b2;
                memcpy(at + 1, b, len); /* bytes may lie at any address */
                bf_filter *g = bf_from_bytes(at + 1, len,
                    &(bf_spec){ .secret = keyed ? secret : NULL, .secret_len = 16 }, &e);
                CHECK(g != NULL);
                if (g) {
                    b2 = bytes_of(g, &len2);
                    CHECK(len == len2 && !memcmp(b, b2, len));
                    CHECK_EQ(bf_equal(f, g, &e), 1);
                    for (unsigned j = 0; j < 50; j++) {
                        char t[16];
                        CHECK_EQ(bf_test(g, t, (size_t)sprintf(t, "k%u", j), &e), 1);
                    }
                    free(b2);
                }
                CLOSE(g, f);
                free(at);
                free(b);
            }
}

static const char *wrong(const uint8_t *b, size_t len, const bf_spec *spec, int code)
{
    static bf_error e;
    memset(&e, 0, sizeof e);
    bf_filter *f = bf_from_bytes(b, len, spec, &e);
    if (f) {
        FAILED("accepted\n");
        bf_close(f);
    }
    CHECK_EQ(e.code, code);
    return e.msg;
}

TEST(every_changed_byte_is_found)
{
    uint64_t len;
    bf_filter *f = filled("classic", 1000, 7, NULL, 0, 60);
    uint8_t *b = paged_bytes(f, &len);
    bf_error e;
    for (size_t i = 0; i < len; i++)
        for (int bit = 0; bit < 8; bit++) {
            b[i] ^= (uint8_t)(1 << bit);
            bf_filter *g = bf_from_bytes(b, len, NULL, &e);
            if (g || e.code != BF_EFORMAT) {
                FAILED("byte %zu bit %d accepted or code %d\n", i, bit, e.code);
                bf_close(g);
            }
            b[i] ^= (uint8_t)(1 << bit);
        }
    free(b);
    bf_close(f);
}

TEST(wrong_lengths_and_foreign_bytes)
{
    uint64_t len;
    bf_filter *f = filled("block", 1024, 7, NULL, 0, 60);
    uint8_t *b = paged_bytes(f, &len), *longer = calloc(1, len + 8);
    memcpy(longer, b, len);
    for (uint64_t l = 0; l < len; l += l < 4200 ? 1 : 7) {
        uint8_t *part = malloc(l ? l : 1); /* exactly that long: ASan sees a byte too far */
        memcpy(part, b, l);
        wrong(part, l, NULL, BF_EFORMAT);
        free(part);
    }
    CHECK_HAS(wrong(b, 5, NULL, BF_EFORMAT), "only 5 bytes");
    CHECK_HAS(wrong(b, 100, NULL, BF_EFORMAT), "truncated: 100 bytes");
    CHECK_HAS(wrong(b, len - 1, NULL, BF_EFORMAT), "truncated: 4223 bytes, m=1024 needs 4224");
    CHECK_HAS(wrong(longer, len + 8, NULL, BF_EFORMAT), "too long");
    memcpy(longer, "#!/bin/sh\n", 10);
    CHECK_HAS(wrong(longer, len, NULL, BF_EFORMAT), "magic");
    memcpy(longer, b, len);
    longer[8] = 3; /* the version is looked at before any sum */
    CHECK_HAS(wrong(longer, len, NULL, BF_EFORMAT), "format version 3, this build reads up to 2");
    free(longer);
    free(b);
    bf_close(f);
}

TEST(other_parameters_are_named)
{
    NEEDS_SODIUM;
    uint64_t len, keyed_len;
    bf_filter *f = filled("classic", 1000, 7, NULL, 0, 60),
              *keyed = filled("classic", 1000, 7, secret, 0, 60);
    uint8_t *b = bytes_of(f, &len), *kb = bytes_of(keyed, &keyed_len);
    CHECK_HAS(wrong(b, len, &(bf_spec){ .m = 1001 }, BF_EMISMATCH), "has m=1000, asked for m=1001");
    CHECK_HAS(wrong(b, len, &(bf_spec){ .n = 5 }, BF_EMISMATCH), "has n=99, asked for n=5");
    CHECK_HAS(wrong(b, len, &(bf_spec){ .k = 8 }, BF_EMISMATCH), "has k=7, asked for k=8");
    CHECK_HAS(wrong(b, len, &(bf_spec){ .p = 0.5 }, BF_EMISMATCH), "asked for p=0.5");
    CHECK_HAS(wrong(b, len, &(bf_spec){ .scheme = "block" }, BF_EMISMATCH),
        "has scheme classic, asked for scheme block");
    CHECK_HAS(wrong(b, len, &(bf_spec){ .n = 99, .p = 0.001 }, BF_EMISMATCH), "asked for p=0.001");
    CHECK_HAS(wrong(b, len, &(bf_spec){ .secret = secret, .secret_len = 16 }, BF_EMISMATCH),
        "is not keyed");
    CHECK_HAS(wrong(b, len, &(bf_spec){ .secret = secret, .secret_len = 15 }, BF_EINVAL),
        "secret must be 16 bytes, got 15 bytes");
    CHECK_HAS(wrong(kb, keyed_len, NULL, BF_EMISMATCH), "its secret must be given");
    CHECK_HAS(wrong(kb, keyed_len, &(bf_spec){ .secret = other, .secret_len = 16 }, BF_EMISMATCH),
        "another secret");
    bf_filter *same =
        bf_from_bytes(b, len, &(bf_spec){ .m = 1000, .k = 7, .scheme = "classic" }, NULL);
    CHECK(same != NULL);
    for (size_t i = 0; i + 16 <= keyed_len; i++)
        CHECK(memcmp(kb + i, secret, 16)); /* never stored */
    CLOSE(same, f, keyed);
    free(b);
    free(kb);
}

TEST(saved_files)
{
    char folder[] = "/tmp/bf-bytes-XXXXXX", path[64], link[64];
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/a.bloom", folder);
    snprintf(link, sizeof link, "%s/nothing", folder);
    uint64_t len;
    bf_error e;
    bf_filter *f = filled("block2", 100000, 9, NULL, 0, 600);
    CHECK_EQ(bf_save(f, path, &e), 0);
    uint8_t *b = bytes_of(f, &len), *read_back = malloc(len);
    FILE *in = fopen(path, "rb");
    CHECK(in && fread(read_back, 1, len, in) == len && fgetc(in) == EOF &&
          !memcmp(b, read_back, len));
    if (in) fclose(in);
    bf_filter *g = bf_load(path, NULL, &e);
    CHECK(g && bf_equal(f, g, &e) == 1);
    bf_close(g);
    CHECK(truncate(path, (off_t)len - 8) == 0);
    CHECK_NO_FILTER(bf_load(path, NULL, &e), BF_EFORMAT, "truncated");
    CHECK(!bf_load("/nonexistent/x.bloom", NULL, &e) && e.code == BF_ENOENT && e.sys_errno == 2);
    CHECK_HAS(e.msg, "cannot open /nonexistent/x.bloom: No such file or directory");
    CHECK_NO_FILTER(bf_load(folder, NULL, &e), BF_EIO, "is a directory");
    CHECK_EQ(bf_save(f, "/nonexistent/x.bloom", &e), BF_EIO);
    CHECK_EQ(bf_save(f, folder, &e), BF_EIO); /* a rename over a folder fails, and leaves nothing */
    CHECK(symlink("/nonexistent/y", link) == 0);
    CHECK(!bf_load(link, NULL, &e));
    unlink(link);
    unlink(path);
    CHECK(rmdir(folder) == 0); /* no partial file stayed */
    free(b);
    free(read_back);
    bf_close(f);
}

/* Format NULL is our own, there and back; nothing at all is no filter. */
TEST(format_null_is_ours)
{
    bf_error e;
    const uint8_t *given = lacks_sodium() ? NULL : secret;
    bf_filter *all[] = { filled("classic", 1000, 7, NULL, 0, 60),
        filled("block", 1024, 7, given, 0, 60),
        bf_open(&(bf_spec){ .n = 100, .p = 0.01, .grow = 2 }, &e),
        bf_open(&(bf_spec){ .n = 100, .p = 0.01, .window = 60 }, &e) };
    for (size_t i = 0; i < COUNT(all); i++) {
        const bf_spec keyed = { .secret = given, .secret_len = 16 };
        int64_t len = bf_bytes_as(all[i], NULL, &e);
        uint8_t *b = malloc((size_t)len), byte = 0;
        uint64_t pos;
        CHECK_EQ(bf_to_bytes_as(all[i], NULL, b, (uint64_t)len, &e), 0);
        bf_filter *g = bf_from_bytes_as(b, (size_t)len, NULL, i == 1 ? &keyed : NULL, &e);
        CHECK(g && bf_equal(all[i], g, &e) == 1);
        CHECK(!bf_from_bytes_as(b, (size_t)len - 1, NULL, NULL, NULL));
        CHECK(
            bf_bytes_as(all[i], "tar", &e) == BF_EINVAL && strstr(e.msg, "format must be one of"));
        CHECK(bf_read_bits(all[i], 0, NULL, 0, &e) == 0 &&
              bf_hashcode(all[i], NULL, 0, NULL, 0, &e) > 0);
        CHECK(bf_add_many(all[i], NULL, 0, NULL, NULL) == 0 &&
              bf_test_many(all[i], NULL, 0, NULL, NULL) == 0);
        CHECK(bf_add(all[i], NULL, 0, NULL) >= 0 && bf_test(all[i], NULL, 0, NULL) == 1 &&
              bf_get_part(all[i], 99, NULL, NULL) < 0);
        CHECK(bf_read_bits(all[i], 0, &byte, 1, NULL) == 0 &&
              bf_hashcode(all[i], "x", 1, &pos, 1, NULL) > 0);
        free(b);
        CLOSE(g, all[i]);
    }
    static const char *const formats[] = { NULL, "guava", "bits", "bits-lsb", "cells" };
    for (size_t i = 0; i < 5; i++) {
        bf_filter *f = bf_from_bytes_as(NULL, 0, formats[i], NULL, &e);
        CHECK(!f && e.code < 0);
    }
    CHECK(!bf_from_bytes(NULL, 0, NULL, NULL));
}

TEST(sets)
{
    for (size_t s = 0; native_scheme(s); s++) {
        bf_error e;
        const char *scheme = native_scheme(s);
        bf_filter *a = filled(scheme, 20000, 7, NULL, 0, 300),
                  *b = filled(scheme, 20000, 7, NULL, 200, 300), *u = bf_copy(a, &e),
                  *i = bf_copy(a, &e);
        bf_filter *both = filled(scheme, 20000, 7, NULL, 0, 500);
        CHECK_EQ(bf_equal(a, u, &e), 1);
        CHECK_EQ(bf_equal(a, b, &e), 0);
        CHECK_EQ(bf_unite(u, b, &e), 0);
        CHECK_EQ(bf_equal(u, both, &e), 1);
        CHECK_EQ(bf_intersect(i, b, &e), 0);
        for (unsigned j = 200; j < 300; j++) {
            char t[16];
            CHECK_EQ(bf_test(i, t, (size_t)sprintf(t, "k%u", j), &e), 1);
        }
        uint8_t x, y, z;
        for (uint64_t at = 0; at < 2500; at++) {
            CHECK(!bf_read_bits(a, at, &x, 1, &e) && !bf_read_bits(b, at, &y, 1, &e) &&
                  !bf_read_bits(i, at, &z, 1, &e) && z == (x & y));
        }
        CHECK_EQ(bf_read_bits(a, 2560, &x, 1, &e), BF_EINVAL);
        CHECK_EQ(bf_unite(a, a, &e), 0);
        CHECK_EQ(bf_clear(a, &e), 0);
        bf_state st;
        CHECK_EQ(bf_get_state(a, &st, &e), 0);
        CHECK_EQ(st.ones, 0);
        CLOSE(a, b, u, i, both);
    }
}

TEST(unlike_sets)
{
    NEEDS_SODIUM;
    bf_error e;
    bf_filter *a = filled("classic", 20000, 7, NULL, 0, 1),
              *rows[] = { filled("classic", 20001, 7, NULL, 0, 1),
                  filled("classic", 20000, 8, NULL, 0, 1), filled("block", 20000, 7, NULL, 0, 1),
                  filled("classic", 20000, 7, secret, 0, 1) };
    static const char *const says[] = { "same m, got 20000 and 20001", "same k, got 7 and 8",
        "same scheme, got classic and block", "one is keyed and the other is not" };
    for (size_t i = 0; i < 4; i++) {
        CHECK_REFUSED(bf_unite(a, rows[i], &e), BF_EINVAL, says[i]);
        CHECK_EQ(bf_intersect(a, rows[i], &e), BF_EINVAL);
        CHECK_EQ(bf_equal(a, rows[i], &e), 0);
        bf_close(rows[i]);
    }
    bf_close(a);
}

TEST(variants_and_misuse_are_refused)
{
    bf_error e;
    static const struct {
        bf_spec spec;
        int code;
        const char *says;
    } rows[] = { { { .m = 10, .k = 2, .grow = 2 }, BF_EINVAL, "grow needs n and p" },
        { { .m = 10, .n = 2, .grow = 0.5 }, BF_EINVAL,
            "grow must be a factor from 1 to 1024, got 0.5" },
        { { .m = 10, .n = 2, .window = 60 }, BF_EINVAL, "window needs n and p" },
        { { .m = 10, .n = 2, .window = -1 }, BF_EINVAL, "got -1" },
        { { .m = 10, .n = 2, .shards = 5000 }, BF_EINVAL, "shards must be 1 to 4096, got 5000" },
        { { .m = 10, .n = 2, .key = "k" }, BF_EINVAL, "key=k" },
        { { .m = 10, .n = 2, .read_only = true }, BF_EINVAL, "read_only" },
        { { .m = 10, .n = 2, .storage = "" }, BF_EINVAL, "empty" },
        { { .m = BF_M_MAX, .k = 1 }, BF_ENOMEM, "137438953472 bytes" },
        { { .m = 10, .n = 2, .secret = "short", .secret_len = 5 }, BF_EINVAL, "got 5 bytes" } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        memset(&e, 0, sizeof e);
        CHECK(!bf_open(&rows[i].spec, &e));
        CHECK_EQ(e.code, rows[i].code);
        CHECK_HAS(e.msg, rows[i].says);
        CHECK(!strstr(e.msg, "pw"));
    }
    bf_close(NULL);
}

int main(void) { return main_of_tests(); }
