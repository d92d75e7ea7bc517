/* test_redis_shards.c - filters cut into shards, in memory, in bytes and in Redis: against the
 * oracle; what is stored; lost shards.  As in memory: test_redis_as_memory.c.  Its own server.
 * About core/redis/shards.c, core/layout/shards.c. */
#define _GNU_SOURCE
#include "../../core/sets/sets.h"
#include "oracle.h"
#include "redis_filters.h"

/* ---- against the oracle ---- */
enum { MOST = 2100 };

static void batch(bf_filter *f, oracle *o, uint32_t *seed, size_t n)
{
    static o_key text[MOST];
    static bf_key keys[MOST];
    static uint8_t each[MOST], want[MOST];
    int64_t present = 0, fresh = 0;
    for (size_t i = 0; i < n; i++) keys[i] = o_make(text + i, (o_random(seed) >> 8) % 3000, 0);
    for (size_t i = 0; i < n; i++)
        present += want[i] = (uint8_t)o_test(o, keys[i].ptr, keys[i].len);
    CHECK_EQ(bf_test_many(f, keys, n, each, &e), present);
    CHECK(!memcmp(each, want, n));
    for (size_t i = 0; i < n; i++) fresh += want[i] = (uint8_t)o_add(o, keys[i].ptr, keys[i].len);
    if (n == 1)
        CHECK_EQ(each[0] = (uint8_t)bf_add(f, keys[0].ptr, keys[0].len, &e), fresh);
    else
        CHECK_EQ(bf_add_many(f, keys, n, each, &e), fresh);
    CHECK(!memcmp(each, want, n));
    for (size_t i = 0; i < n && i < 20; i++) CHECK_EQ(bf_test(f, keys[i].ptr, keys[i].len, &e), 1);
}

static void same_bits(bf_filter *f, const oracle *o)
{
    const bf_info i = info_of(f);
    uint8_t *bits = o_same_bits(f, o, "memory"), *some = malloc(i.bitset_bytes);
    const uint64_t each = i.m / i.shards / 8;
    CHECK_EQ(bf_read_bits(f, each - 3, some, 11, &e), 0); /* across a border */
    CHECK(!memcmp(some, bits + each - 3, 11));
    free(bits);
    free(some);
}

static void against_oracle(const char *scheme, uint64_t m, unsigned k, unsigned shards)
{
    static const size_t sizes[] = { 0, 1, 2, 65, 200, 1001, MOST };
    bf_filter *f = OPEN(NULL, .m = m, .k = k, .scheme = scheme, .shards = shards);
    if (!f) return;
    const bf_info i = info_of(f);
    CHECK_EQ(i.shards, shards);
    CHECK(i.m >= m && i.m < m + 512 * shards && i.m % (64 * shards) == 0);
    oracle o = { scheme, i.m, k, calloc(1, i.m), NULL, shards };
    uint32_t seed = (uint32_t)(m + k + shards);
    for (int r = 0; r < 2; r++)
        for (size_t s = 0; s < COUNT(sizes); s++) batch(f, &o, &seed, sizes[s]);
    same_bits(f, &o);
    free(o.cells);
    bf_close(f);
}

static const char *const schemes[] = { "classic", "block", "block2" };
static const struct {
    uint64_t m;
    unsigned k, shards;
} shapes[] = { { 40000, 7, 2 }, { 40000, 8, 3 }, { 20480, 1, 5 }, { 20480, 16, 40 }, { 100, 3, 2 },
    { 99991, 2, 7 }, { 1, 1, 3 }, { 200000, 7, 64 } };

TEST(in_memory_against_the_oracle)
{
    for (size_t s = 0; s < 3; s++)
        for (size_t i = 0; i < COUNT(shapes); i++)
            against_oracle(schemes[s], shapes[i].m, shapes[i].k, shapes[i].shards);
    against_oracle("classic", 300000, 1000, 3);
}

TEST(the_rate_is_kept)
{
    enum { KEYS = 100000, OTHERS = 300000 };
    for (size_t s = 0; s < 3; s++) {
        bf_filter *f = OPEN(NULL, .n = KEYS, .p = 0.01, .scheme = schemes[s], .shards = 16);
        CHECK_EQ(present_of(numbers(f, 0, KEYS), 0, KEYS), KEYS);
        unsigned wrong = present_of(f, KEYS, KEYS + OTHERS);
        CHECK(wrong > 0.008 * OTHERS && wrong < 0.0108 * OTHERS);
        bf_close(f);
    }
}

TEST(block_has_the_bits_of_the_filter_without_shards)
{
    bf_filter *cut =
                  numbers(OPEN("cut", .m = 50000, .k = 6, .scheme = "block", .shards = 7), 0, 900),
              *whole, *back;
    const bf_info i = info_of(cut);
    whole = numbers(OPEN(NULL, .m = i.m, .k = 6, .scheme = "block"), 0, 900);
    CHECK_EQ(bf_equal(cut, whole, &e), 1);
    CHECK_EQ(bf_unite(cut, whole, &e), 0);
    CHECK((back = bf_copy(cut, &e)) != NULL);
    CHECK_EQ(bf_equal(back, whole, &e), 1);
    CLOSE(back, whole, cut);
    cut = OPEN(NULL, .m = 50048, .k = 6, .shards = 2);
    whole = OPEN(NULL, .m = 50048, .k = 6);
    CHECK_EQ(bf_equal(cut, whole, &e), 0); /* classic: other positions */
    CHECK_REFUSED(bf_unite(cut, whole, &e), BF_EINVAL, "same shards, got 2 and 1");
    CLOSE(cut, whole);
}

/* ---- bytes and files ---- */
TEST(bytes_and_files_know_their_shards)
{
    char path[] = "/tmp/bf-shards-XXXXXX";
    for (size_t s = 0; s < 3; s++) {
        bf_filter *far = numbers(
                      OPEN("bytes", .m = 30000, .k = 7, .scheme = schemes[s], .shards = 5), 0, 500),
                  *twin, *mapped;
        bf_info i, j;
        bf_get_info(far, &i);
        uint8_t *bytes = malloc(i.image_bytes);
        CHECK_EQ(bf_to_bytes(far, bytes, i.image_bytes, &e), 0);
        CHECK((twin = bf_from_bytes(bytes, i.image_bytes, NULL, &e)) != NULL);
        if (!twin) return;
        bf_get_info(twin, &j);
        CHECK(j.shards == 5 && j.m == i.m && bf_equal(twin, far, &e) == 1 &&
              missing(twin, 0, 500) == 0);
        CHECK(!bf_from_bytes(bytes, i.image_bytes, &(bf_spec){ .shards = 4 }, &e) &&
              strstr(e.msg, "has shards=5, asked for shards=4"));
        bf_close(twin);
        int fd = mkstemp(path);
        close(fd);
        CHECK_EQ(bf_save(far, path, &e), 0);
        CHECK((mapped = bf_open(
                   &(bf_spec){ .storage = path, .m = 30000, .k = 7, .scheme = schemes[s] }, &e)) !=
              NULL); /* as many as there are */
        if (mapped) {
            bf_get_info(mapped, &j);
            CHECK(j.shards == 5 && missing(numbers(mapped, 500, 600), 0, 600) == 0);
        }
        CHECK_EQ(bf_unite(far, mapped, &e), 0);
        CHECK_EQ(missing(far, 0, 600), 0);
        bf_close(mapped);
        unlink(path);
        memcpy(path + sizeof path - 7, "XXXXXX", 6);
        CHECK_EQ(bf_delete(far, &e), 0);
        bf_close(far);
        free(bytes);
    }
    CHECK_EQ(rs_number(&redis, "EXISTS bytes:0 bytes:meta"), 0);
}

TEST(refused)
{
    static const struct {
        bf_spec spec;
        int code;
        const char *says;
    } rows[] = { { { .m = 1000, .k = 3, .shards = 4097 }, BF_EINVAL,
                     "shards must be 1 to 4096, got 4097" },
        { { .m = 1000, .k = 7, .scheme = "php-mt", .shards = 2 }, BF_EINVAL,
            "shards must be 1 for scheme php-mt, got 2" },
        { { .m = 1000, .scheme = "gozero", .shards = 2 }, BF_EINVAL, "scheme gozero" } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        CHECK(!bf_open(&rows[i].spec, &e));
        CHECK_EQ(e.code, rows[i].code);
        CHECK_HAS(e.msg, rows[i].says);
        CHECK_EQ(code_of(rows[i].spec, "refused"), rows[i].code);
    }
    CHECK_EQ(rs_number(&redis, "EXISTS refused:meta refused:0 refused"), 0);
}

/* ---- what is stored ---- */
TEST(what_is_stored)
{
    rs_command(&redis, "FLUSHALL");
    bf_filter *f = numbers(OPEN("st", .n = 1000, .p = 0.01, .shards = 4), 0, 300), *g;
    CHECK_EQ(rs_number(&redis, "DBSIZE"), 9);
    CHECK_EQ(rs_number(&redis,
                 "EXISTS st:0 st:1 st:2 st:3 st:0:meta st:1:meta st:2:meta st:3:meta st:meta"),
        9);
    CHECK_HAS(rs_command(&redis, "HGET st:meta shards"), "4");
    CHECK_EQ(
        atol(rs_command(&redis, "HGET st:2:meta m")), atol(rs_command(&redis, "HGET st:meta m")));
    CHECK((g = OPEN("st", 0)) != NULL); /* the URL alone */
    const bf_info i = info_of(g);
    CHECK(i.shards == 4 && i.n == 1000 && i.p == 0.01 && !strcmp(i.scheme, "block"));
    CHECK_EQ(missing(g, 0, 300), 0);
    CHECK_EQ(bf_is_current(g, &(bf_spec){ .storage = i.storage }, &e), 1);
    bf_close(g);
    CHECK((g = OPEN("st", .n = 1000, .p = 0.01)) != NULL); /* not said how many */
    bf_close(g);
    CHECK_REFUSED(code_of((bf_spec){ .n = 1000, .p = 0.01, .shards = 2 }, "st"), BF_EMISMATCH,
        "Redis key st at 127.0.0.1");
    CHECK_HAS(e.msg, "has shards=4, asked for shards=2");
    CHECK_EQ(code_of((bf_spec){ .n = 1000, .p = 0.01, .shards = 1 }, "st"), BF_EMISMATCH);
    CHECK_EQ(code_of((bf_spec){ .n = 1000, .p = 0.001, .shards = 4 }, "st"), BF_EMISMATCH);
    CHECK_EQ(bf_expire(f, 1000, &e), 0);
    for (int s = 0; s < 4; s++)
        CHECK(rs_number(&redis, "PTTL st:%d", s) > 900000 &&
              rs_number(&redis, "PTTL st:%d:meta", s) > 900000);
    CHECK(rs_number(&redis, "PTTL st:meta") > 900000);
    CHECK_EQ(bf_clear(f, &e), 0);
    CHECK(rs_number(&redis, "PTTL st:3") > 900000);
    bf_state st;
    CHECK(bf_get_state(f, &st, &e) == 0 && st.ones == 0);
    CHECK_EQ(bf_expire(f, 0, &e), 0);
    CHECK(rs_number(&redis, "PTTL st:3") == -1 && rs_number(&redis, "PTTL st:meta") == -1);
    CHECK_EQ(bf_delete(f, &e), 0);
    CHECK_EQ(rs_number(&redis, "DBSIZE"), 0);
    CHECK_REFUSED(bf_add(f, "x", 1, &e), BF_EIO, "is lost");
    CHECK_EQ(rs_number(&redis, "DBSIZE"), 0); /* no stub */
    CHECK_EQ(bf_delete(f, &e), BF_EIO);
    bf_close(f);
}

TEST(sets)
{
    const bf_spec spec = { .m = 60000, .k = 5, .shards = 3 };
    bf_filter *far = numbers(opened(spec, "set", "", __LINE__), 0, 300),
              *near = numbers(bf_open(&spec, &e), 200, 400),
              *want = numbers(bf_open(&spec, &e), 0, 300);
    bf_state a, b;
    CHECK_EQ(bf_equal(far, want, &e), 1);
    CHECK(bf_get_state(far, &a, &e) == 0 && bf_get_state(want, &b, &e) == 0 && a.ones == b.ones &&
          a.count == b.count);
    CHECK_EQ(bf_unite(far, near, &e), 0);
    CHECK_EQ(bf_unite(want, near, &e), 0);
    CHECK_EQ(bf_equal(far, want, &e), 1);
    CHECK_EQ(bf_intersect(far, near, &e), 0);
    CHECK_EQ(bf_equal(far, near, &e), 1);
    CHECK_EQ(bf_unite(near, far, &e), 0);
    bf_filter *fresh = bf_rebuild_begin(far, &e);
    numbers(fresh, 1000, 1100);
    CHECK_EQ(bf_rebuild_end(far, fresh, &e), 0);
    CHECK_EQ(bf_equal(far, fresh, &e), 1);
    CHECK_EQ(rs_number(&redis, "DBSIZE"), 7); /* no temporary key */
    bf_delete(far, &e);
    CLOSE(fresh, far, near, want);
}

/* ---- lost ---- */
TEST(lost_shards)
{
    rs_command(&redis, "FLUSHALL");
    const bf_spec spec = { .m = 60000, .k = 5, .shards = 3 };
    bf_filter *f = numbers(opened(spec, "lost", "", __LINE__), 0, 300), *g;
    unsigned in[3] = { 0 }, failed = 0, key_in_1 = 0;
    for (unsigned i = 0; i < 300; i++) {
        char t[16];
        uint64_t pos[5];
        bf_hashcode(f, t, (size_t)sprintf(t, "n%u", i), pos, 5, &e);
        in[pos[0] / 20032]++;
        if (pos[0] / 20032 == 1) key_in_1 = i;
    }
    CHECK(in[0] > 50 && in[1] > 50 && in[2] > 50);
    rs_command(&redis, "DEL lost:1");
    for (unsigned i = 0; i < 300; i++) {
        char t[16];
        int rc = bf_test(f, t, (size_t)sprintf(t, "n%u", i), &e);
        CHECK(rc == 1 || rc == BF_EIO); /* never absent */
        if (rc == BF_EIO && !strstr(e.msg, "Redis key lost:1 at")) failed_here++;
        failed += rc == BF_EIO;
    }
    CHECK_EQ(failed, in[1]);
    bf_key keys[300];
    char text[300][16];
    for (unsigned i = 0; i < 300; i++)
        keys[i] = (bf_key){ text[i], (size_t)sprintf(text[i], "n%u", i) };
    CHECK_EQ(bf_test_many(f, keys, 300, NULL, &e), BF_EIO);
    CHECK_REFUSED(bf_add_many(f, keys, 300, NULL, &e), BF_EIO, "is lost");
    CHECK_EQ(rs_number(&redis, "EXISTS lost:1"), 0); /* its stub was taken away */
    bf_state st;
    CHECK(bf_get_state(f, &st, &e) == BF_EIO && !bf_copy(f, &e));
    CHECK_REFUSED(code_of((bf_spec){ 0 }, "lost"), BF_EIO, "is lost");
    rs_command(&redis, "DEL lost:1:meta");
    CHECK_REFUSED(code_of((bf_spec){ 0 }, "lost"), BF_EIO, "lost:1 at");
    CHECK_EQ(code_of((bf_spec){ .m = 60000, .k = 4, .shards = 3 }, "lost"), BF_EMISMATCH);
    CHECK_EQ(
        rs_number(&redis, "EXISTS lost:1"), 0); /* nothing is made for who asks for another one */
    CHECK((g = opened(spec, "lost", "", __LINE__)) != NULL);
    CHECK_EQ(missing(g, 0, 300), in[1]);             /* re-created, the others kept */
    CHECK_EQ(missing(f, key_in_1, key_in_1 + 1), 1); /* followed */
    numbers(f, 0, 300);
    CHECK_EQ(missing(g, 0, 300), 0);
    rs_command(&redis, "DEL lost:meta"); /* the sign alone: who has it open goes on */
    CHECK_EQ(missing(g, 0, 300), 0);
    CHECK_REFUSED(code_of((bf_spec){ 0 }, "lost"), BF_ENOENT, "does not exist");
    CHECK_REFUSED(code_of((bf_spec){ .m = 60000, .k = 4, .shards = 3 }, "lost"), BF_EMISMATCH,
        "is a shard of another filter");
    CHECK_EQ(rs_number(&redis, "EXISTS lost:meta"), 0); /* that failed: nothing of it is left */
    bf_close(g);
    CHECK((g = opened(spec, "lost", "", __LINE__)) != NULL);
    CHECK_EQ(missing(g, 0, 300), 0);
    rs_command(
        &redis, "DEL lost:0 lost:1 lost:2"); /* all of the bits: another filter may be made */
    CHECK_EQ(code_of((bf_spec){ 0 }, "lost"), BF_EIO);
    CHECK_EQ(code_of((bf_spec){ .m = 70000, .k = 4, .shards = 5 }, "lost"), 0);
    CHECK_REFUSED(
        bf_test(g, "n1", 2, &e), BF_EMISMATCH, "was re-created as classic m=70080 k=4 shards=5");
    rs_command(&redis, "DEL lost:0 lost:1 lost:2 lost:3 lost:4");
    CHECK_EQ(code_of((bf_spec){ .m = 9000, .k = 4, .shards = 1 }, "lost"), 0);
    CHECK_EQ(rs_number(&redis, "EXISTS lost"), 1);
    rs_command(&redis, "DEL lost");
    CHECK_EQ(code_of(spec, "lost"), 0);
    rs_command(&redis, "FLUSHALL");
    rs_command(&redis, "SET lost:2 text");
    CHECK_EQ(code_of(spec, "lost"), BF_EFORMAT);
    CHECK_EQ(rs_number(&redis, "DBSIZE"), 1); /* a creation that failed leaves nothing */
    CHECK(!strcmp(rs_command(&redis, "GET lost:2"), "text"));
    rs_command(&redis, "FLUSHALL");
    rs_command(&redis, "CONFIG SET maxmemory 3mb");
    CHECK_EQ(code_of((bf_spec){ .m = 400000000, .k = 4, .shards = 4 }, "lost"), BF_EIO);
    rs_command(&redis, "CONFIG SET maxmemory 0");
    CHECK_EQ(rs_number(&redis, "DBSIZE"), 0);
    CLOSE(g, f);
}

int main(void) { return main_with_redis(&redis); }
