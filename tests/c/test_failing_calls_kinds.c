/* test_failing_calls_kinds.c - what test_failing_calls.c does, for filters that count, grow and
 * forget, for whole filters as sets and as bytes of other systems, and with calls that are
 * interrupted or do a part.  Runs with both kernels.  About core/sets/copy.c, core/sets/foreign.c,
 * core/home/file_parts.c. */
/* wraps: malloc calloc realloc strdup strndup free open fsync ftruncate fstat rename msync */
/* wraps: linkat posix_fallocate mmap pread pwrite send recv poll getentropy flock */
#include "../../core/bloomfilter.h"
#include "check.h"
#include "optional.h"
#include "each_call_fails.h"

static const uint8_t secret[] = "0123456789abcdef";
static const bf_spec kinds[] = {
    { .n = 1000, .p = 0.01, .counting = true, .secret = secret, .secret_len = BF_SECRET_BYTES },
    { .n = 20, .p = 0.01, .grow = 2, .secret = secret, .secret_len = BF_SECRET_BYTES },
    { .n = 500, .p = 0.01, .window = 3600, .secret = secret, .secret_len = BF_SECRET_BYTES },
    { .n = 1000, .p = 0.01, .shards = 3, .scheme = "classic" },
    { .m = 6400, .k = 5, .scheme = "guava" },
};
enum { NKINDS = COUNT(kinds) };
static const bf_spec *kind;

/* ---- memory: everything that allocates ---- */
static bool refused(const bf_filter *f, const bf_error *e)
{
    if (f) return false;
    CHECK(failed && e->code == BF_ENOMEM && e->msg[0]);
    return true;
}

static bool both_agree(bf_filter *a, bf_filter *b)
{
    bf_error e = { 0 };
    int equal = bf_equal(a, b, &e);
    if (equal < 0) {
        CHECK(failed && e.code == equal);
        return false;
    }
    CHECK_EQ(equal, 1);
    return true;
}

static bool as_bytes(bf_filter *f)
{
    bf_error e = { 0 };
    bf_info info;
    const bf_spec expect = {
        .secret = kind->secret, .secret_len = kind->secret_len, .counting = kind->counting
    };
    bf_get_info(f, &info);
    armed = false;
    uint8_t *bytes = malloc(info.image_bytes);
    armed = true;
    bf_filter *back = NULL;
    bool good = try(bf_to_bytes(f, bytes, info.image_bytes, &e), &e);
    if (good && (good = !refused(back = bf_from_bytes(bytes, info.image_bytes, &expect, &e), &e)))
        good = both_agree(f, back);
    bf_close(back);
    armed = false;
    free(bytes);
    armed = true;
    return good;
}

static void in_memory(void)
{
    bf_error e = { 0 };
    bf_state state;
    bf_filter *copy = NULL, *plain = NULL, *f = bf_open(kind, &e);
    if (refused(f, &e)) return;
    if (!try(bf_add_many(f, keys, KEYS, NULL, &e), &e) || refused(copy = bf_copy(f, &e), &e) ||
        !both_agree(f, copy))
        goto done;
    if (!try(bf_unite(f, copy, &e), &e) || !try(bf_get_state(f, &state, &e), &e) || !as_bytes(f))
        goto done;
    if (kind->counting && refused(plain = bf_to_plain(f, &e), &e)) goto done;
    CHECK_EQ(bf_test_many(plain ? plain : f, keys, KEYS, NULL, &e), KEYS);
done:
    CLOSE(f, copy, plain);
}

TEST(every_kind_in_memory)
{
    NEEDS_SODIUM;
    for (kind = kinds; kind < kinds + NKINDS; kind++) each_fails(in_memory, NULL, true);
}

/* ---- files ---- */
static bf_spec of_storage(const char *storage)
{
    bf_spec spec = *kind;
    spec.secret = NULL; /* whole() opens it without one */
    spec.secret_len = 0;
    spec.storage = storage;
    return spec;
}
static void in_a_file(void)
{
    bf_spec spec = of_storage(path);
    use_storage(&spec);
}

static void saved_and_loaded(void)
{
    bf_error e = { 0 };
    bf_spec spec = of_storage(NULL);
    bf_filter *back = NULL, *f = bf_open(&spec, &e);
    if (refused(f, &e)) return;
    if (!try(bf_add_many(f, keys, KEYS, NULL, &e), &e) || !try(bf_save(f, other, &e), &e))
        goto done;
    acknowledged = true;
    if (!(back = bf_load(other, NULL, &e))) {
        CHECK(failed && e.msg[0]);
        if (what_happens != FAILS) cut_went_wrong = true;
    } else
        both_agree(f, back);
done:
    CLOSE(f, back);
}

TEST(every_kind_in_a_file)
{
    for (kind = kinds; kind < kinds + NKINDS; kind++) {
        if (kind->counting) continue; /* whole() looks for bits */
        each_fails(in_a_file, path, true);
        each_fails(in_a_file, path, false);
        each_fails(saved_and_loaded, other, true);
        each_is_cut(in_a_file, path);
        each_is_cut(saved_and_loaded, other);
    }
}

/* Another handle has grown the file: who finds that out may fail at it, and then goes on. */
static void follows(void)
{
    bf_error e = { 0 };
    bf_spec spec = of_storage(path);
    bf_part_info part;
    bf_state state;
    armed = false;
    bf_filter *grower = bf_open(&spec, &e);
    armed = true;
    bf_filter *f = bf_open(&spec, &e);
    if (!f) {
        CHECK(failed && e.msg[0]);
        goto done;
    }
    armed = false;
    CHECK(bf_add_many(grower, keys, KEYS, NULL, &e) > 0);
    acknowledged = true;
    armed = true;
    int64_t n = bf_test_many(f, keys, KEYS, NULL, &e);
    if (try(n, &e)) CHECK_EQ(n, KEYS);
    try(bf_test(f, keys[0].ptr, keys[0].len, &e), &e);
    try(bf_get_part(f, 0, &part, &e), &e);
    try(bf_get_state(f, &state, &e), &e);
    try(bf_save(f, other, &e), &e);
    n = bf_test_many(f, keys, KEYS, NULL, &e);
    if (try(n, &e)) CHECK_EQ(n, KEYS);
done:
    bf_close(f);
    armed = false;
    bf_close(grower);
    unlink(other);
    armed = true;
}

TEST(a_file_that_another_has_grown)
{
    kind = kinds + 1;
    each_fails(follows, path, true);
    each_is_cut(follows, path);
}

/* ---- as sets, between homes ---- */
static void sets(void)
{
    bf_error e = { 0 };
    double count;
    bf_spec spec = of_storage(path), here = of_storage(NULL);
    bf_filter *file = bf_open(&spec, &e), *memory = NULL;
    if (!file) {
        CHECK(failed && e.msg[0]);
        return;
    }
    if (refused(memory = bf_open(&here, &e), &e)) goto done;
    if (!try(bf_add_many(memory, keys, KEYS, NULL, &e), &e)) goto done;
    if (!try(bf_unite(file, memory, &e), &e)) goto done;
    acknowledged = true;
    if (!both_agree(file, memory)) goto done;
    if (!kind->grow && !kind->window) {
        if (!try(bf_subset(memory, file, &e), &e) ||
            !try(bf_union_count(memory, file, &count, &e), &e))
            goto done;
        if (!try(bf_intersection_count(file, memory, &count, &e), &e) ||
            !try(bf_intersect(file, memory, &e), &e))
            goto done;
    }
    if (!try(bf_clear(memory, &e), &e)) goto done;
    CHECK_EQ(bf_test_many(memory, keys, KEYS, NULL, &e), 0);
done:
    CLOSE(file, memory);
}

TEST(sets_of_every_kind)
{
    for (kind = kinds + 1; kind < kinds + NKINDS; kind++) each_fails(sets, path, true);
}

/* ---- bytes of other systems ---- */
static void foreign_bytes(void)
{
    static const char *const formats[] = { "guava", "bits", "bits-lsb" };
    bf_error e = { 0 };
    uint8_t bytes[1000];
    bf_spec spec = { .m = 6400, .k = 5, .scheme = "guava" };
    bf_filter *f = bf_open(&spec, &e), *back = NULL;
    if (refused(f, &e) || !try(bf_add_many(f, keys, KEYS, NULL, &e), &e)) goto done;
    for (int i = 0; i < 3; i++) {
        int64_t n = bf_bytes_as(f, formats[i], &e);
        CHECK_EQ(n, 800 + (i == 0 ? 6 : 0));
        if (!try(bf_to_bytes_as(f, formats[i], bytes, sizeof bytes, &e), &e)) break;
        if (refused(back = bf_from_bytes_as(bytes, (size_t)n, formats[i], &spec, &e), &e)) break;
        if (!both_agree(f, back)) break;
        bf_close(back);
        back = NULL;
    }
done:
    CLOSE(f, back);
}
TEST(bytes_of_other_systems) { each_fails(foreign_bytes, NULL, true); }

int main(void) { return main_once(); }
