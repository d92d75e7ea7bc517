/* test_redis_bitfield.c - a batch that looks at many keys of a short string reads all of it by one
 * command, its mark included.  What is answered is what memory answers, on both sides of the size
 * where that begins.  Its own server.  About core/redis/bitfield.c. */
#define _GNU_SOURCE
#include "redis_filters.h"

enum { BATCH = 1000, FEW = 16 };
static char text[BATCH][16];
static bf_key keys[BATCH];

static const bf_key *some(char kind, unsigned from, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        keys[i] = (bf_key){ text[i], (size_t)sprintf(text[i], "%c%u", kind, from + i) };
    return keys;
}

static long calls(const char *command)
{
    char name[40];
    snprintf(name, sizeof name, "cmdstat_%s:calls=", command);
    const char *at = strstr(rs_command(&redis, "INFO commandstats"), name);
    return at ? atol(at + strlen(name)) : 0;
}

/* How often a look at so many keys sent this command. */
static long sent(bf_filter *f, const char *command, unsigned n)
{
    rs_command(&redis, "CONFIG RESETSTAT");
    CHECK(bf_test_many(f, some('n', 0, n), n, NULL, &e) >= 0);
    return calls(command);
}

static void same_answers(bf_filter *f, bf_filter *near)
{
    uint8_t a[BATCH], b[BATCH];
    for (unsigned from = 0; from < 3000; from += 700) {
        CHECK_EQ(bf_test_many(f, some('n', from, BATCH), BATCH, a, &e),
            bf_test_many(near, keys, BATCH, b, &e));
        CHECK(!memcmp(a, b, BATCH));
    }
}

TEST(as_in_memory_in_one_command)
{
    static const struct {
        bf_spec spec;
        unsigned names;
    } kinds[] = { { { .m = 20011, .k = 7, .scheme = "classic" }, 1 },
        { { .m = 20480, .k = 8, .scheme = "block" }, 1 },
        { { .m = 20480, .k = 9, .scheme = "block2" }, 1 },
        { { .m = 20480, .k = 7, .scheme = "classic", .shards = 4 }, 4 },
        { { .m = 9000, .k = 5, .scheme = "classic", .counting = true }, 1 },
        { { .m = 10240, .k = 6, .scheme = "block", .counting = true, .shards = 2 }, 2 } };
    for (size_t i = 0; i < COUNT(kinds); i++) {
        rs_command(&redis, "FLUSHALL");
        bf_filter *f = opened(kinds[i].spec, "w", "", __LINE__),
                  *near = bf_open(&kinds[i].spec, &e);
        if (!f || !near) return;
        same_answers(f, near);
        CHECK_EQ(bf_add_many(f, some('n', 0, BATCH), BATCH, NULL, &e),
            bf_add_many(near, keys, BATCH, NULL, &e));
        same_answers(f, near);
        CHECK_EQ(sent(f, "getrange", BATCH), kinds[i].names);
        CHECK_EQ(calls("bitfield_ro"), 0);
        CHECK(sent(f, "getrange", FEW - 1) + calls("bitfield_ro") >= FEW - 1); /* too few keys */
        CLOSE(f, near);
    }
}

/* Twice what the commands and their replies have: 2 * 35 bytes a position, or 2 * (72 + 64) a line.
 */
TEST(a_long_string_is_not_read)
{
    static const struct {
        const char *scheme, *other;
        uint64_t bytes;
    } limits[] = { { "classic", "bitfield_ro", 2 * 35 * 7 * 100 },
        { "block", "getrange", 2 * 136 * 100 } };
    for (int i = 0; i < 2; i++)
        for (int over = 0; over < 2; over++) {
            const uint64_t bytes =
                limits[i].bytes / 64 * 64 + (over ? 64 : -64); /* mark excluded */
            const bf_spec spec = { .m = bytes * 8, .k = 7, .scheme = limits[i].scheme };
            rs_command(&redis, "FLUSHALL");
            bf_filter *f = opened(spec, "w", "", __LINE__), *near = bf_open(&spec, &e);
            if (!f || !near) return;
            CHECK(bf_add_many(f, some('n', 0, BATCH), BATCH, NULL, &e) == BATCH);
            CHECK(bf_add_many(near, keys, BATCH, NULL, &e) == BATCH);
            same_answers(f, near);
            CHECK_EQ(sent(f, limits[i].other, 100), over ? 100 + i : i == 1);
            CLOSE(f, near);
        }
}

/* At most a MiB is asked for, however many positions there are. */
TEST(never_more_than_a_step)
{
    const bf_spec spec = { .m = 8 * ((1 << 20) + 64), .k = 60, .scheme = "classic" };
    rs_command(&redis, "FLUSHALL");
    bf_filter *f = opened(spec, "w", "", __LINE__);
    CHECK_EQ(sent(f, "bitfield_ro", BATCH), BATCH);
    bf_close(f);
}

int main(void) { return main_with_redis(&redis); }
