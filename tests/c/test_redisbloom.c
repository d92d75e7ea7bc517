/* test_redisbloom.c - filters as RedisBloom's BF.SCANDUMP gives them
 * (tests/vectors/redisbloom.txt): both ways, in every home that has parts, and damaged. About
 * core/sets/redisbloom.c, core/size/sizing_redisbloom.c, core/parts/grow.c. argv[1] is the folder
 * of the vectors. */
#include "../../core/bloomfilter_host.h"
#include "check.h"
#include "folder.h"
#include "oracle_keys.h"
#include "sha256.h"

static bf_error e;
static const char *vectors;

/* A line of redisbloom.txt. */
typedef struct {
    char error[16], sha[65], head[4096], all[8192];
    unsigned long long capacity, growth, adds, new, probes, found, links;
} recorded;

static FILE *lines(void)
{
    char path[512];
    snprintf(path, sizeof path, "%s/redisbloom.txt", vectors);
    FILE *f = fopen(path, "r");
    CHECK(f != NULL);
    return f;
}

static bool next_line(FILE *f, recorded *r)
{
    return f && fscanf(f, "%llu %15s %llu %llu %llu %llu %llu %llu %64s %4095s %8191s",
                    &r->capacity, r->error, &r->growth, &r->adds, &r->new, &r->probes, &r->found,
                    &r->links, r->sha, r->head, r->all) == 11;
}

static uint8_t *bytes_of(bf_filter *f, int64_t *len, char sha[65])
{
    *len = bf_bytes_as(f, "redisbloom", &e);
    CHECK(*len > 0);
    uint8_t *bytes = malloc((size_t)*len + 1);
    CHECK_EQ(bf_to_bytes_as(f, "redisbloom", bytes, (uint64_t)*len, &e), 0);
    CHECK_EQ(bf_to_bytes_as(f, "redisbloom", bytes, (uint64_t)*len - 1, &e), BF_EINVAL);
    sha256_hex(bytes, (size_t)*len, sha);
    return bytes;
}

static void same_answers(bf_filter *f, const recorded *r)
{
    CHECK_EQ(each_url(f, bf_test_many, 13, 0, r->adds), r->adds);
    CHECK_EQ(each_url(f, bf_test_many, 14, 0, r->probes), r->found);
}

/* Built here: the same bytes, the same false positives. Read back: the same again. */
TEST(filters_of_the_module)
{
    recorded r;
    size_t rows = 0;
    FILE *file = lines();
    while (next_line(file, &r)) {
        char sha[65];
        int64_t len;
        rows++;
        bf_filter *f = bf_open(&(bf_spec){ .n = r.capacity,
                                   .p = strtod(r.error, NULL),
                                   .grow = r.growth <= 1024 ? (double)r.growth : 0,
                                   .scheme = "redisbloom" },
            &e);
        CHECK(f != NULL);
        CHECK_EQ(each_url(f, bf_add_many, 13, 0, r.adds), r.growth <= 1024 ? (int64_t)r.new : 11);
        uint8_t *bytes = bytes_of(f, &len, sha);
        if (r.growth && r.growth <= 1024) CHECK(!strcmp(sha, r.sha));
        if (r.growth <= 1024) same_answers(f, &r);
        free(bytes);
        if (strcmp(r.all, "-")) {
            uint8_t *data = malloc(strlen(r.all) / 2 + 1);
            const size_t n = from_hex(r.all, data);
            bf_filter *g = bf_from_bytes_as(data, n, "redisbloom", NULL, &e);
            CHECK(g != NULL);
            free(bytes_of(g, &len, sha));
            CHECK(!strcmp(sha, r.sha) && info_of(g).part_count == r.links);
            same_answers(g, &r);
            if (r.growth <= 1024) CHECK_EQ(bf_equal(f, g, &e), 1);
            bf_close(g);
            free(data);
        }
        bf_close(f);
    }
    if (file) fclose(file);
    CHECK_EQ(rows, 8);
}

/* Parts in a file, in an image, in a copy and in a union are those in memory; keys one by one. */
TEST(homes_of_a_chain)
{
    char sha[3][65];
    bf_spec spec = { .n = 100, .p = 0.01, .grow = 2, .scheme = "redisbloom" };
    bf_filter *near = bf_open(&spec, &e);
    spec.storage = path;
    bf_filter *far = bf_open(&spec, &e), *again;
    CHECK(near && far);
    for (uint64_t i = 0; i < 3000; i++) {
        url_text text;
        const bf_key key = make_url(&text, 13, i);
        CHECK_EQ(bf_add(near, key.ptr, key.len, &e), bf_add(far, key.ptr, key.len, &e));
        uint64_t pos[BF_K_MAX];
        CHECK(i || bf_hashcode(near, key.ptr, key.len, pos, BF_K_MAX, &e) == 8);
    }
    CHECK_EQ(bf_equal(near, far, &e), 1);
    bf_close(far);
    CHECK((far = bf_open(&(bf_spec){ .storage = path }, &e)) != NULL);
    CHECK_EQ(info_of(far).part_count, info_of(near).part_count);
    CHECK((again = bf_copy(far, &e)) != NULL);
    bf_filter *const each[] = { near, far, again };
    for (size_t i = 0; i < 3; i++) {
        int64_t len;
        free(bytes_of(each[i], &len, sha[i]));
    }
    CHECK(!strcmp(sha[0], sha[1]) && !strcmp(sha[0], sha[2]));
    const uint64_t len = info_of(near).image_bytes;
    uint8_t *image = malloc(len);
    CHECK_EQ(bf_to_bytes(near, image, len, &e), 0);
    bf_filter *read = bf_from_bytes(image, len, NULL, &e);
    CHECK(read && bf_equal(read, near, &e) == 1);
    free(image);
    bf_filter *other =
        bf_open(&(bf_spec){ .n = 100, .p = 0.01, .grow = 2, .scheme = "redisbloom" }, &e);
    each_url(other, bf_add_many, 15, 0, 100);
    CHECK_EQ(bf_unite(other, near, &e), 0);
    CHECK_EQ(each_url(other, bf_test_many, 15, 0, 100) + each_url(other, bf_test_many, 13, 0, 3000),
        3100);
    CHECK_EQ(bf_clear(far, &e), 0);
    CHECK_EQ(each_url(far, bf_test_many, 13, 0, 3000), 0);
    CLOSE(near, far, again, read, other);
    unlink(path);
}

/* Specs that are refused: test_refusals.c. */
TEST(filters_of_another_kind)
{
    static const bf_spec unlike[] = { { .m = 640, .k = 3, .scheme = "redisbloom" },
        { .n = 10, .p = 0.1 } };
    for (size_t i = 0; i < COUNT(unlike); i++) {
        bf_filter *f = bf_open(&unlike[i], &e);
        CHECK_EQ(bf_bytes_as(f, "redisbloom", &e), BF_EINVAL);
        bf_close(f);
    }
}

/* ---- damage: one field of a header of two links at a time ---- */
enum { HEAD = 20, LINK = 53 };
static uint8_t *good(size_t *len)
{
    bf_filter *f = bf_open(&(bf_spec){ .n = 10, .p = 0.1, .grow = 2, .scheme = "redisbloom" }, &e);
    char sha[65];
    int64_t n;
    each_url(f, bf_add_many, 13, 0, 20);
    CHECK_EQ(info_of(f).part_count, 2);
    uint8_t *bytes = bytes_of(f, &n, sha);
    bf_close(f);
    *len = (size_t)n;
    return bytes;
}

TEST(damaged_headers)
{
    static const struct {
        unsigned at, bytes;
        uint64_t value;
        int code;
    } row[] = { { 0, 8, 21, BF_EFORMAT }, { 0, 8, UINT64_MAX, BF_EFORMAT }, { 8, 4, 0, BF_EFORMAT },
        { 8, 4, 3, BF_EFORMAT }, { 8, 4, UINT32_MAX, BF_EFORMAT }, { 8, 4, 257, BF_EFORMAT },
        { 12, 4, 4, BF_ENOTSUP }, { 12, 4, 1, BF_ENOTSUP }, { 12, 4, 0, BF_ENOTSUP },
        { 12, 4, 7, BF_ENOTSUP }, { 12, 4, 16, BF_EFORMAT }, { 12, 4, 13, BF_EFORMAT },
        { 16, 4, 0, BF_EFORMAT }, { 16, 4, 3, BF_EFORMAT }, { 16, 4, UINT32_MAX, BF_EFORMAT },
        { 20, 8, 0, BF_EFORMAT }, { 20, 8, UINT64_MAX, BF_EFORMAT }, { 28, 8, 0, BF_EFORMAT },
        { 28, 8, 65, BF_EFORMAT }, { 28, 8, UINT64_C(1) << 63, BF_EFORMAT },
        { 36, 8, UINT64_MAX, BF_EFORMAT }, { 44, 8, 0, BF_EFORMAT },
        { 44, 8, UINT64_C(0x7FF8000000000000), BF_EFORMAT },
        { 44, 8, UINT64_C(0xBFF0000000000000), BF_EFORMAT },
        { 44, 8, UINT64_C(0x3FE0000000000000), BF_EFORMAT }, { 44, 8, 1, BF_EFORMAT },
        { 52, 8, 0, BF_EFORMAT }, { 52, 8, UINT64_C(0x7FF8000000000000), BF_EFORMAT },
        { 60, 4, 0, BF_EFORMAT }, { 60, 4, UINT32_MAX, BF_EFORMAT }, { 64, 8, 0, BF_EFORMAT },
        { 64, 8, UINT64_MAX, BF_EFORMAT }, { 64, 8, 11, BF_EFORMAT }, { 72, 1, 6, BF_EFORMAT },
        { HEAD + LINK + 44, 8, 21, BF_EFORMAT }, { HEAD + LINK + 40, 4, 5, BF_EFORMAT },
        { HEAD + LINK + 24, 8, UINT64_C(0x3FB0000000000000), BF_EFORMAT } };
    size_t len;
    uint8_t *bytes = good(&len), *copy = malloc(len + 8);
    for (size_t i = 0; i < COUNT(row); i++) {
        memcpy(copy, bytes, len);
        for (unsigned j = 0; j < row[i].bytes; j++)
            copy[row[i].at + j] = (uint8_t)(row[i].value >> (8 * j));
        e = (bf_error){ 0 };
        bf_filter *f = bf_from_bytes_as(copy, len, "redisbloom", NULL, &e);
        if (f || e.code != row[i].code) FAILED("row %zu: %d %s\n", i, e.code, e.msg);
        bf_close(f);
    }
    for (size_t n = 0; n <= len + 1; n += n < 130 || n + 2 > len ? 1 : 7) {
        uint8_t *part = malloc(n + !n); /* so that a sanitizer sees what is read past the end */
        memcpy(part, bytes, n < len ? n : len);
        bf_filter *f = n == len ? NULL : bf_from_bytes_as(part, n, "redisbloom", NULL, &e);
        CHECK(!f);
        CHECK(n == len || e.code == BF_EFORMAT);
        free(part);
    }
    free(bytes);
    free(copy);
}

TEST(other_parameters_are_refused)
{
    size_t len;
    uint8_t *bytes = good(&len);
    static const bf_spec other[] = { { .n = 11 }, { .p = 0.2 }, { .grow = 3 }, { .k = 4 },
        { .scheme = "classic" }, { .window = 5 }, { .counting = true } };
    for (size_t i = 0; i < COUNT(other); i++)
        CHECK_NO_FILTER(
            bf_from_bytes_as(bytes, len, "redisbloom", other + i, &e), BF_EMISMATCH, "the data");
    bf_filter *f = bf_from_bytes_as(bytes, len, "redisbloom",
        &(bf_spec){ .n = 10, .p = 0.1, .grow = 2, .scheme = "redisbloom" }, &e);
    CHECK(f != NULL);
    bf_close(f);
    free(bytes);
}

/* The pieces of BF.SCANDUMP, of links that are not longer than one. */
TEST(pieces)
{
    size_t len;
    uint8_t *bytes = good(&len);
    bf_range piece;
    uint64_t at = HEAD + 2 * LINK, iterator = 1;
    CHECK_EQ(bf_redisbloom_length(bytes, len, &e), len);
    CHECK_EQ(bf_redisbloom_length(bytes, HEAD + 2 * LINK, &e), len);
    CHECK(bf_redisbloom_piece(bytes, len, 0, &piece) == 1 && piece.from == 0 && piece.len == at);
    unsigned pieces = 0;
    for (; bf_redisbloom_piece(bytes, len, iterator, &piece) == 1;
        iterator += piece.len, pieces++) {
        CHECK_EQ(piece.from, at);
        at += piece.len;
    }
    CHECK(at == len && pieces == 2);
    CHECK_EQ(bf_redisbloom_piece(bytes, len, UINT64_MAX, &piece), 0);
    CHECK_EQ(bf_redisbloom_piece(bytes, HEAD, 0, &piece), BF_EFORMAT);
    free(bytes);
}

int main(int argc, char **argv)
{
    static char beside[512];
    of_tests(beside, sizeof beside, "vectors");
    vectors = argc > 1 ? argv[1] : beside;
    return main_in_folder();
}
