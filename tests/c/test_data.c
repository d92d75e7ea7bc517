/* test_data.c - filters that an earlier build stored, in tests/data: each is opened in every way
 * and has its keys.  Files of a version are never written again; a new version adds its own.
 *
 *     test_data write FOLDER      stores them anew, as the version that runs would
 *
 * About core/format/header.c, core/format/compact.c, core/redis/meta.c. */
#include "../../core/bloomfilter.h"
#include "check.h"
#include "paged.h"
#include "optional.h"

enum { MOST = 1 << 18 };
static const uint8_t secret[16] = "sixteen bytes 1";
static bf_error e;
static char folder[4096];

static double noon(void *unused) { return 1.8e9; }

/* What it was made from, how many keys it has, and how many parts. */
#define KEYED .secret = secret, .secret_len = sizeof secret
#define CLOCK .clock = noon
static const struct {
    const char *name;
    bf_spec spec;
    unsigned keys, parts;
} stored[] = { { "classic", { .m = 2003, .k = 5, .scheme = "classic" }, 200, 1 },
    { "block", { .m = 4096, .k = 7, .scheme = "block" }, 300, 1 },
    { "block2", { .m = 4096, .k = 9, .scheme = "block2" }, 300, 1 },
    { "keyed", { .m = 4096, .k = 7, .scheme = "block", KEYED }, 300, 1 },
    { "counting", { .m = 1024, .k = 5, .scheme = "classic", .counting = true }, 100, 1 },
    { "growing", { .n = 1000, .p = 0.01, .grow = 2 }, 20000, 3 },
    { "forgetting", { .n = 100, .p = 0.01, .window = 3600, .parts = 3, CLOCK }, 100, 4 } };
enum { STORED = COUNT(stored) };

static const char *path_of(unsigned i)
{
    static char path[sizeof folder + 64];
    snprintf(path, sizeof path, "%s/%s.bloom", folder, stored[i].name);
    return path;
}

/* How it is asked for: what is stored says the rest. */
static bf_spec as_asked(unsigned i)
{
    const bf_spec *s = &stored[i].spec;
    return (bf_spec){ .secret = s->secret,
        .secret_len = s->secret_len,
        .counting = s->counting,
        .clock = s->window > 0 ? noon : NULL };
}

static int64_t keys_in(bf_filter *f, unsigned from, unsigned n)
{
    int64_t found = 0;
    char key[24];
    for (unsigned i = from; i < from + n; i++)
        found += bf_test(f, key, (size_t)sprintf(key, "key %u", i), &e) == 1;
    return found;
}

static bf_filter *made(unsigned i)
{
    char key[24];
    bf_filter *f = bf_open(&stored[i].spec, &e);
    for (unsigned n = 0; f && n < stored[i].keys; n++)
        CHECK(bf_add(f, key, (size_t)sprintf(key, "key %u", n), &e) >= 0);
    return f;
}

/* Takes f over. */
static void is_whole(bf_filter *f, unsigned i)
{
    CHECK(f != NULL);
    if (!f) {
        fprintf(stderr, "%s: %s\n", stored[i].name, e.msg);
        return;
    }
    const bf_info info = info_of(f);
    CHECK_EQ(keys_in(f, 0, stored[i].keys), stored[i].keys);
    CHECK(keys_in(f, 1000000, 10000) < 700); /* and not everything */
    CHECK_EQ(info.part_count, stored[i].parts);
    CHECK_EQ(info.counting, stored[i].spec.counting);
    CHECK_EQ(info.keyed, stored[i].spec.secret != NULL);
    CHECK(info.grow == stored[i].spec.grow && info.window == stored[i].spec.window);
    if (stored[i].spec.k) CHECK_EQ(info.k, stored[i].spec.k);
    bf_close(f);
}

static size_t bytes_of(const char *path, uint8_t *to)
{
    FILE *in = fopen(path, "rb");
    const size_t n = in ? fread(to, 1, MOST, in) : 0;
    if (in) fclose(in);
    return n;
}

static bool can(unsigned i) { return !stored[i].spec.secret || !lacks_sodium(); }

TEST(stored_filters_have_their_keys)
{
    static uint8_t bytes[MOST];
    for (unsigned i = 0; i < STORED; i++) {
        bf_spec spec = as_asked(i);
        if (!can(i)) continue;
        is_whole(bf_load(path_of(i), &spec, &e), i);
        is_whole(bf_from_bytes(bytes, bytes_of(path_of(i), bytes), &spec, &e), i);
        spec.storage = path_of(i);
        spec.read_only = spec.must_exist = true;
        is_whole(bf_open(&spec, &e), i);
    }
}

/* Bit for bit what is made of the same keys today, and its bytes go out as they came in. */
TEST(stored_bytes_are_todays)
{
    static uint8_t old[MOST];
    for (unsigned i = 0; i < STORED; i++) {
        const bf_spec spec = as_asked(i);
        if (!can(i)) continue;
        const size_t n = bytes_of(path_of(i), old);
        bf_filter *f = bf_load(path_of(i), &spec, &e), *fresh = made(i);
        uint64_t len = 0;
        uint8_t *now = f ? paged_bytes(f, &len) : NULL;
        CHECK(now && len == n && memcmp(now, old, n) == 0);
        free(now);
        CHECK(f && fresh && bf_equal(f, fresh, &e) == 1);
        CLOSE(f, fresh);
    }
}

static int store_all(void)
{
    for (unsigned i = 0; i < STORED; i++) {
        bf_filter *f = made(i);
        if (!f || bf_save(f, path_of(i), &e) < 0) return fprintf(stderr, "%s\n", e.msg), 1;
        const bf_info info = info_of(f);
        printf("%s: %u parts, %llu bytes\n", stored[i].name, info.part_count,
            (unsigned long long)info.image_bytes);
        bf_close(f);
    }
    return 0;
}

int main(int argc, char **argv)
{
    of_tests(folder, sizeof folder, "data");
    if (argc == 3 && !strcmp(argv[1], "write")) {
        snprintf(folder, sizeof folder, "%s", argv[2]);
        checks_ended = true;
        return store_all();
    }
    run_tests();
    return FINISH();
}
