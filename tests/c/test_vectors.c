/* test_vectors.c - the schemes of older systems against what those systems answered:
 * tests/vectors, every file of it. argv[1] is that folder, where it lies elsewhere.  Runs with both
 * kernels.  About core/hash/functions.c, core/size/schemes.c,
 * core/size/sizing_older.c, core/size/sizing_redisbloom.c, core/hash/older/,
 * core/layout/older/. */
#include "../../core/sets/sets.h"
#include "check.h"
#include "oracle_keys.h"
#include "sha256.h"

enum { KEYS_MAX = 400, WORDS_MAX = 64 };
static const char *folder;
static bf_key keys[KEYS_MAX];
static size_t nkeys;

/* ---- lines of words ---- */
static char *content;
static char *line_end(char *at) { return at + strcspn(at, "\n"); }

static bool read_file(const char *name)
{
    char path[512];
    long len = 0;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "rb");
    free(content);
    content = NULL;
    if (f && !fseek(f, 0, SEEK_END) && (len = ftell(f)) > 0 && !fseek(f, 0, SEEK_SET)) {
        content = malloc((size_t)len + 1);
        content[fread(content, 1, (size_t)len, f)] = 0;
    }
    if (f) fclose(f);
    CHECK(content != NULL);
    return content != NULL;
}

/* Splits the line at *at, moves on; how many words. */
static size_t split(char **at, char *word[WORDS_MAX])
{
    char *p = *at, *end = line_end(p);
    size_t n = 0;
    *at = *end ? end + 1 : end;
    *end = 0;
    while (*p && n < WORDS_MAX) {
        word[n++] = p;
        p += strcspn(p, " ");
        if (*p) *p++ = 0;
    }
    return n;
}
#define EACH_LINE(file)                                                                            \
    char *at_ = read_file(file) ? content : NULL, *w[WORDS_MAX];                                   \
    size_t n;                                                                                      \
    while (at_ && *at_ && (n = split(&at_, w)) > 0)
static uint64_t num(const char *s) { return strtoull(s, NULL, 10); }

static void wrong(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (failed_here++ < 20) {
        vfprintf(stderr, fmt, ap);
        fputc('\n', stderr);
    }
    va_end(ap);
}

static bf_key key_of(const char *word)
{
    if (*word == '\'') return (bf_key){ word + 1, strlen(word + 1) };
    uint64_t id = num(word);
    CHECK(id < nkeys);
    return keys[id % KEYS_MAX];
}

/* The bits of all hashes of a block. */
TEST(hashes64)
{
    bf_filter *f = NULL;
    uint8_t *want = NULL, *bits = NULL;
    bf_info i = { 0 };
    bf_error e;
    EACH_LINE("hashes64.txt")
    {
        uint8_t fresh = 0, got;
        if (*w[0] == '=') {
            bf_close(f);
            f = bf_open(&(bf_spec){ .scheme = w[1], .m = num(w[2]), .k = (unsigned)num(w[3]) }, &e);
            bf_get_info(f, &i);
            free(want);
            want = calloc(2, i.bitset_bytes);
            bits = want + i.bitset_bytes;
            continue;
        }
        const uint64_t hash = strtoull(w[0], NULL, 16);
        for (size_t j = 1; j < n; j++) {
            const uint64_t at = num(w[j]);
            fresh |= !(want[at / 8] & 0x80 >> at % 8);
            want[at / 8] |= (uint8_t)(0x80 >> at % 8);
        }
        CHECK(bf_add_hashes(f, &hash, 1, &got, &e) == fresh && got == fresh);
        CHECK_EQ(bf_read_bits(f, 0, bits, i.bitset_bytes, &e), 0);
        if (memcmp(bits, want, i.bitset_bytes)) wrong("%s m=%llu: %s", i.scheme, i.m, w[0]);
    }
    CHECK(f != NULL);
    bf_close(f);
    free(want);
}

TEST(keys_are_there)
{
    EACH_LINE("keys.txt")
    {
        CHECK_EQ(num(w[0]), nkeys);
        keys[nkeys++] = make_recorded(w[1], w[2], n > 3 ? num(w[3]) : 0);
    }
    CHECK_EQ(nkeys, 285);
}

/* ---- positions ---- */
static int nothing(void *c, int op, const uint64_t *p, size_t n, unsigned k, uint8_t *present)
{
    return 0;
}

static bf_filter *open_without_bits(const char *scheme, uint64_t m, unsigned k)
{
    static const bf_client client = { nothing, NULL };
    bf_error e;
    bf_filter *f = bf_open(&(bf_spec){ .m = m, .k = k, .scheme = scheme, .client = &client }, &e);
    if (!f) wrong("%s m=%llu k=%u: %s", scheme, (unsigned long long)m, k, e.msg);
    return f;
}

static size_t compared;
static void same_positions(bf_filter *f, char *w[], size_t n)
{
    bf_error e;
    uint64_t d[BF_WIDTH_MAX], pos[BF_POSITIONS];
    bf_key key = key_of(w[0]);
    compared++;
    if (w[1][0] == '!') {
        if (bf_hashcode(f, key.ptr, key.len, pos, 1, &e) != BF_EINVAL)
            wrong("%s takes key %s, which must be refused", f->desc.name, w[0]);
        return;
    }
    if (bf_hashcode(f, key.ptr, key.len, pos, BF_POSITIONS, &e) < 0) {
        wrong("%s key %s: %s", f->desc.name, w[0], e.msg);
        return;
    }
    if (n - 1 > f->bitmap.g.k) { /* more draws than the scheme's k */
        bf_geometry g = f->bitmap.g;
        g.k = (unsigned)(n - 1);
        f->hash->one(f->secret, key.ptr, key.len, d);
        f->desc.scheme->layout->positions(&g, d, 1, pos);
    }
    for (size_t j = 0; j < n - 1; j++)
        if (pos[j] != num(w[1 + j])) {
            wrong("%s m=%llu key %s: position %zu is %llu, expected %s", f->desc.name,
                (unsigned long long)f->bitmap.g.m, w[0], j, (unsigned long long)pos[j], w[1 + j]);
            return;
        }
}

TEST(positions)
{
    bf_filter *f = NULL;
    EACH_LINE("positions.txt")
    {
        if (w[0][0] != '=') {
            if (f) same_positions(f, w, n);
            continue;
        }
        bf_close(f);
        f = open_without_bits(w[1], num(w[2]), (unsigned)num(w[3]));
    }
    bf_close(f);
    printf("     %zu lists of positions\n", compared);
}

/* The same keys in batches: 1 to 64 at once, where wide code takes over, give the same positions as
 * one at a time. */
TEST(batches_draw_the_same)
{
    static const struct {
        const char *scheme;
        uint64_t m;
        unsigned k;
    } shape[] = { { "php-mt", 152790, 7 }, { "php-mt", 4294967296, 3 }, { "php-mt", 3000000000, 7 },
        { "php-mt", 65536, 12 }, { "php-mt", 1, 2 }, { "php-mt", 2, 64 }, { "php-mt", 99991, 64 },
        { "php-mt", 99991, 65 }, { "php-mt", 99991, 300 }, { "php-mt", 4294967295, 5 },
        { "php-mt", 5000000000, 3 }, { "php-mt-legacy", 152790, 7 },
        { "php-mt-legacy", 5000000000, 6 }, { "php-mt-legacy", 4294967296, 64 },
        { "sax-sdbm", 1000, 2 }, { "rs-rand", 1000, 7 }, { "gozero", 1000, 14 },
        { "redisson", 958, 7 }, { "guava", 960, 7 }, { "guava32", 960, 7 },
        { "redisbloom", 960, 7 }, { "redisbloom", 4294967296, 70 },
        { "php-hashes:FNV,DEK", 4294967296, 2 } };
    for (size_t s = 0; s < COUNT(shape); s++) {
        bf_filter *f = open_without_bits(shape[s].scheme, shape[s].m, shape[s].k);
        if (!f) continue;
        const unsigned k = f->bitmap.g.k;
        uint64_t d[BF_CHUNK * BF_WIDTH_MAX], *pos = malloc(sizeof *pos * BF_CHUNK * k),
                                             one[BF_POSITIONS];
        for (size_t n = 1; n <= BF_CHUNK; n++) {
            size_t from = n * 3 % (nkeys - BF_CHUNK);
            f->hash->run(f->secret, keys + from, n, d);
            f->desc.scheme->layout->positions(&f->bitmap.g, d, n, pos);
            for (size_t i = 0; i < n; i++) {
                bf_hashcode(f, keys[from + i].ptr, keys[from + i].len, one, k, NULL);
                if (memcmp(one, pos + i * k, k * sizeof *pos))
                    wrong("%s m=%llu k=%u: key %zu of %zu differs", shape[s].scheme,
                        (unsigned long long)shape[s].m, k, i, n);
            }
        }
        free(pos);
        bf_close(f);
    }
}

TEST(digests)
{
    bf_params d = { 0 };
    size_t lists = 0;
    EACH_LINE("digests.txt")
    {
        if (w[0][0] == '=') {
            CHECK_EQ(bf_find_scheme(&d, w[1], NULL, NULL), 0);
            continue;
        }
        uint64_t got[BF_WIDTH_MAX];
        bf_key key = key_of(w[0]);
        if (d.scheme->hash->accept &&
            d.scheme->hash->accept(d.argument.bytes, key.ptr, key.len, NULL) < 0) {
            wrong("%s refuses key %s", d.name, w[0]);
            continue;
        }
        d.scheme->hash->one(d.argument.bytes, key.ptr, key.len, got);
        CHECK_EQ(n - 1, d.scheme->hash->width);
        for (size_t j = 0; j < n - 1; j++)
            if (got[j] != strtoull(w[1 + j], NULL, 16)) {
                wrong("%s key %s: word %zu is %llx, expected %s", d.name, w[0], j,
                    (unsigned long long)got[j], w[1 + j]);
                break;
            }
        lists++;
    }
    printf("     %zu digests\n", lists);
}

/* ---- whole filters ---- */
static void same_bytes(bf_filter *f, const char *format, const char *sha, const char *hex)
{
    char got[65];
    bf_error e;
    int64_t len = bf_bytes_as(f, format, &e);
    if (len < 0) {
        wrong("%s as %s: %s", f->desc.name, format, e.msg);
        return;
    }
    uint8_t *bytes = malloc((size_t)len), *want = malloc(strlen(hex) / 2 + 1);
    CHECK_EQ(bf_to_bytes_as(f, format, bytes, (uint64_t)len, &e), 0);
    CHECK_EQ(bf_to_bytes_as(f, format, bytes, (uint64_t)len - 1, &e), BF_EINVAL);
    sha256_hex(bytes, (size_t)len, got);
    if (strcmp(got, sha))
        wrong("%s m=%llu as %s: SHA-256 is %s, expected %s", f->desc.name,
            (unsigned long long)f->bitmap.g.m, format, got, sha);
    if (strcmp(hex, "-")) {
        CHECK_EQ(from_hex(hex, want), len);
        CHECK(!memcmp(bytes, want, (size_t)len));
    }
    bf_spec expect = { .m = f->bitmap.g.m, .k = f->bitmap.g.k, .scheme = f->desc.name };
    bf_filter *back = bf_from_bytes_as(bytes, (size_t)len, format, &expect, &e);
    if (!back)
        wrong("%s back from %s: %s", f->desc.name, format, e.msg);
    else
        CHECK_EQ(bf_equal(f, back, &e), 1);
    bf_close(back);
    free(bytes);
    free(want);
}

TEST(whole_filters)
{
    size_t filters = 0;
    EACH_LINE("filters.txt")
    {
        bf_error e;
        bf_state state;
        bf_filter *f =
            bf_open(&(bf_spec){ .scheme = w[0], .m = num(w[1]), .k = (unsigned)num(w[2]) }, &e);
        if (!f) {
            wrong("%s: %s", w[0], e.msg);
            continue;
        }
        each_url(f, bf_add_many, num(w[3]), num(w[4]), num(w[5]));
        CHECK_EQ(each_url(f, bf_test_many, num(w[3]), num(w[4]), num(w[5])), num(w[5]));
        CHECK_EQ(each_url(f, bf_test_many, num(w[6]), num(w[7]), num(w[8])), num(w[9]));
        CHECK_EQ(bf_get_state(f, &state, &e), 0);
        CHECK_EQ(state.ones, num(w[10]));
        same_bytes(f, "bits", w[11], w[14]);
        if (strcmp(w[12], "-")) same_bytes(f, "bits-lsb", w[12], "-");
        if (strcmp(w[13], "-")) same_bytes(f, "guava", w[13], w[15]);
        bf_close(f);
        filters++;
    }
    CHECK_EQ(filters, 29);
}

TEST(study)
{
    size_t series = 0;
    EACH_LINE("study.txt")
    {
        unsigned k = (unsigned)num(w[1]);
        bf_params d;
        if (series++ % SHORT(1, 8)) continue;
        CHECK_EQ(bf_find_scheme(&d, w[0], NULL, NULL), 0);
        bf_filter *f = bf_open(
            &(bf_spec){ .scheme = w[0], .m = 152790, .k = d.argument.k ? d.argument.k : k }, NULL);
        if (!f) {
            wrong("%s k=%u cannot be opened", w[0], k);
            continue;
        }
        f->bitmap.g.k = k; /* the study varied even a fixed k */
        each_url(f, bf_add_many, 6, 0, 15279);
        int64_t found = each_url(f, bf_test_many, 6, 15279, 15279);
        if (found != (int64_t)num(w[2]))
            wrong("%s k=%u: %lld of 15279 found, expected %s", w[0], k, (long long)found, w[2]);
        bf_close(f);
    }
    CHECK_EQ(series, 95);
}

/* ---- sizes ---- */
TEST(sizes)
{
    size_t rows = 0, below = 0;
    EACH_LINE("sizing.txt")
    {
        bf_error e;
        bf_spec spec = { .scheme = w[0], .n = num(w[1]), .p = strtod(w[2], NULL) };
        int rc = bf_plan(&spec, &e);
        const double asked = strtod(w[2], NULL), p = spec.p; /* walks and generators cost */
        rows++;
        if (w[3][0] == '!') {
            if (rc != BF_EINVAL) wrong("%s n=%s p=%s must be refused", w[0], w[1], w[2]);
            continue;
        }
        if (rc < 0 && spec.n >= 448089130 && strstr(e.msg, "is not possible: scheme "))
            below++; /* the floor */
        else if (rc < 0)
            wrong("%s n=%s p=%s: %s", w[0], w[1], w[2], e.msg);
        else if (spec.m != num(w[3]) || spec.k != num(w[4]) || spec.n != num(w[1]) ||
                 (p < asked ||
                     (p > asked && strncmp(w[0], "redisson", 8) && strcmp(w[0], "guava32"))))
            wrong("%s n=%s p=%s: m=%llu k=%u, expected m=%s k=%s", w[0], w[1], w[2],
                (unsigned long long)spec.m, spec.k, w[3], w[4]);
    }
    CHECK_EQ(rows, 292);
    CHECK_EQ(below, 2);
}

TEST(php_k)
{
    size_t rows = 0;
    EACH_LINE("php_k.txt")
    {
        static const char *const schemes[] = { "php-mt", "php-mt-legacy", "classic" };
        uint64_t k = num(w[2]);
        for (size_t s = 0; s < 3; s++) {
            bf_spec spec = { .scheme = schemes[s], .m = num(w[0]), .n = num(w[1]) };
            int rc = bf_plan(&spec, NULL);
            if (k > BF_K_MAX ? rc != BF_EINVAL : rc < 0 || spec.k != k)
                wrong("%s m=%s n=%s: k=%u, expected %s", schemes[s], w[0], w[1], spec.k, w[2]);
        }
        rows++;
    }
    CHECK_EQ(rows, 125);
}

/* ---- generators: through the layouts, at the m that shows a draw as it is ---- */
TEST(generators)
{
    enum { DRAWS = 1250 };
    size_t draws = 0;
    EACH_LINE("prng.txt")
    {
        static uint64_t pos[DRAWS];
        bf_params d;
        CHECK_EQ(bf_find_scheme(&d, w[0], NULL, NULL), 0);
        bool php = !strcmp(w[0], "php-mt");
        bf_geometry g = { .m = UINT64_C(1) << (php ? 32 : 31), .k = DRAWS };
        int64_t start = strtoll(w[1], NULL, 10);
        if (!strncmp(w[0], "rs-dotnet", 9)) start = (int32_t)start;
        d.scheme->layout->positions(&g, &(uint64_t){ (uint64_t)start }, 1, pos);
        for (size_t i = 2; i < n; i++, draws++) {
            char *value;
            uint64_t index = strtoull(w[i], &value, 10), got = pos[index % DRAWS] >> php;
            if (got != num(value + 1)) {
                wrong("%s seed %s: draw %llu is %llu, expected %s", w[0], w[1],
                    (unsigned long long)index, (unsigned long long)got, value + 1);
                break;
            }
        }
    }
    printf("     %zu draws\n", draws);
}

int main(int argc, char **argv)
{
    static char beside[512];
    of_tests(beside, sizeof beside, "vectors");
    folder = argc > 1 ? argv[1] : beside;
    run_tests();
    for (size_t i = 0; i < nkeys; i++) free((void *)keys[i].ptr);
    free(content);
    return FINISH();
}
