/* test_redis_overfull.c - a filter in Redis that holds more keys than it is sized for gives the
 * warning that one in memory gives: its fill is estimated from a few places of it, after n / 64 new
 * keys; a check that fails takes no error away from the next call.  Its own server.  About
 * core/keys/capacity.c, core/sets/saturated.c, core/redis/bitmap.c. */
#include "redis_filters.h"

static char sentence[BF_SENTENCE_BYTES];
static int given;
static int give(void *ctx, const char *text)
{
    (void)ctx;
    given++;
    snprintf(sentence, sizeof sentence, "%s", text);
    return 0;
}

/* Makes the next add check the fill, and checks it. Returns 1 if a warning was given. */
static int check_fill(bf_filter *f)
{
    given = 0;
    bf_set_warning(f, give, NULL);
    bf_set_overfull(f, BF_OVERFULL_WARN);
    return bf_begin_adds(f, &e) < 0 ? -1 : given;
}

/* Returns how many keys are added before the one that gives the warning, or `to`. */
static unsigned until_warned(bf_filter *f, unsigned from, unsigned to)
{
    given = 0;
    bf_set_warning(f, give, NULL);
    for (; from < to; from++) {
        char t[16];
        CHECK(bf_add(f, t, (size_t)sprintf(t, "n%u", from), &e) >= 0);
        if (given) break;
    }
    return from;
}

static long counted(void)
{
    const char *s = rs_command(&redis, "INFO commandstats"),
               *at = strstr(s, "cmdstat_bitcount:calls=");
    return at ? atol(at + strlen("cmdstat_bitcount:calls=")) : 0;
}

TEST(warned_once_it_is_overfull)
{
    static const bf_spec specs[] = { { .n = 1000, .p = 0.01 },
        { .n = 1000, .p = 0.01, .shards = 3 }, { .n = 1000, .p = 0.01, .scheme = "classic" },
        { .m = 10000, .n = 1000, .scheme = "gozero" } };
    for (size_t i = 0; i < COUNT(specs); i++) {
        rs_command(&redis, "FLUSHALL");
        bf_filter *f = opened(specs[i], "k", "", __LINE__);
        const unsigned at = until_warned(f, 0, 4000);
        CHECK(at > 1000 && at < 1300);
        CHECK_HAS(sentence, "more than half of the bits of a filter sized for n=1000 keys are set");
        CHECK_EQ(bf_clear(f, &e), 0);
        CHECK_EQ(check_fill(f), 0);
        bf_close(f);
    }
}

TEST(refused_once_it_is_overfull)
{
    static const bf_spec specs[] = { { .n = 1000, .p = 0.01 },
        { .n = 1000, .p = 0.01, .shards = 3 }, { .n = 1000, .p = 0.01, .counting = true } };
    for (size_t i = 0; i < COUNT(specs); i++) {
        bf_spec spec = specs[i];
        rs_command(&redis, "FLUSHALL");
        bf_filter *warns = opened(spec, "k", "", __LINE__);
        spec.overfull = BF_OVERFULL_RAISE;
        bf_filter *f = opened(spec, "k", "", __LINE__);
        unsigned in = 0;
        while (in < 4000 && numbers(f, in, in + 1) && e.code != BF_EFULL) in++;
        CHECK(in > 930 && in < 1100 && present_of(f, 0, in) == in);
        e = (bf_error){ 0 };
        CHECK(numbers(f, 0, in) && !e.code); /* an add is a test */
        CHECK_EQ(bf_clear(warns, &e), 0);
        CHECK_EQ(bf_add(f, "x", 1, &e), BF_ADDED);
        numbers(warns, 0, 2000); /* by another handle: noticed after n / 64 of its own */
        if (!spec.counting) rs_command(&redis, "ACL SETUSER default -bitcount");
        e = (bf_error){ 0 };
        unsigned more = 2000;
        while (more < 2100 && numbers(f, more, more + 1) && !e.code) more++;
        CHECK(more - 2000 < 40); /* some seem present */
        CHECK(spec.counting || strstr(e.msg, "NOPERM"));
        rs_command(&redis, "ACL SETUSER default +@all"); /* a check that failed is repeated */
        CHECK_EQ(bf_add(f, "y", 1, &e), BF_EFULL);
        bf_close(f);
        bf_close(warns);
    }
}

TEST(a_trip_after_a_64th_of_the_keys)
{
    rs_command(&redis, "FLUSHALL");
    bf_filter *f = OPEN("k", .n = 6400, .p = 0.01);
    long before = counted();
    CHECK_EQ(until_warned(f, 0, 1010), 1010);
    CHECK_EQ(counted(), before); /* created: after n keys */
    bf_close(f);
    f = OPEN("k", .n = 6400, .p = 0.01);
    CHECK_EQ(until_warned(f, 1010, 2010), 2010);
    CHECK(counted() - before >= 9 && counted() - before <= 10);
    rs_command(&redis, "ACL SETUSER default -bitcount");
    CHECK_EQ(check_fill(f), 0);
    CHECK(numbers(f, 3000, 3090) && !e.code); /* a failure is not told, nor soon repeated */
    rs_command(&redis, "ACL SETUSER default +@all");
    before = counted();
    CHECK(numbers(f, 4000, 4200) && counted() - before >= 1 && counted() - before <= 2);
    bf_close(f);
    before = counted();
    f = OPEN("large", .m = 1 << 26, .k = 3, .scheme = "classic");
    check_fill(f);
    CHECK_EQ(counted(), before + 16);
    rs_command(&redis, "SETRANGE large 0 x");
    bf_close(f);
}

/* A large one is judged by places that are spread over all of it. */
TEST(from_all_of_it)
{
    for (int half = 0; half < 2; half++) {
        rs_command(&redis, "FLUSHALL");
        const bf_spec spec = { .m = 1 << 20, .k = 1, .n = 1 << 18, .scheme = "classic" };
        bf_filter *f = opened(spec, "k", "", __LINE__), *g = bf_open(&spec, &e);
        const unsigned keys = half ? 800000 : 650000;
        for (unsigned i = 0; i < keys; i++) bf_add(g, &i, sizeof i, &e);
        CHECK_EQ(bf_unite(f, g, &e), 0);
        CHECK_EQ(check_fill(f), half); /* ln 2 of 2^20 are 727,000 */
        CLOSE(f, g);
    }
}

/* Of theirs too, adopted or not; of what is lost nothing is said, and the next call tells it. */
TEST(of_other_systems_and_lost)
{
    rs_command(&redis, "FLUSHALL");
    const bf_spec theirs = { .scheme = "gozero", .m = 4000, .n = 100, .must_exist = true };
    for (int i = 0; i < 300; i++) rs_command(&redis, "SETBIT t %d 1", i * 13 % 4000);
    bf_filter *f = opened(theirs, "t", "", __LINE__);
    CHECK_EQ(check_fill(f), 0);
    for (int i = 0; i < 2400; i++) rs_command(&redis, "SETBIT t %d 1", i * 13 % 4000);
    CHECK_EQ(check_fill(f), 1);
    bf_close(f);
    f = OPEN("k", .n = 1000, .p = 0.01);
    numbers(f, 0, 10);
    rs_command(&redis, "DEL k k:meta");
    bf_close(OPEN("k", .n = 1000, .p = 0.01));
    CHECK(check_fill(f) == 0);
    CHECK(bf_test(f, "n1", 2, &e) == BF_EIO && strstr(e.msg, "was re-created"));
    rs_command(&redis, "DEL k k:meta");
    CHECK_EQ(check_fill(f), 0);
    CHECK(bf_test(f, "n1", 2, &e) == BF_EIO && strstr(e.msg, "is lost"));
    rs_command(&redis, "HSET k a b");
    CHECK(check_fill(f) == 0);
    bf_close(f);
}

/* Five times the keys that its only part is for, by unions. */
static void filled_by_unions(bf_filter *f, bf_spec spec)
{
    for (unsigned i = 0; i < 5; i++) {
        bf_filter *g = bf_open(&spec, &e);
        numbers(g, i * 1000, i * 1000 + 1000);
        CHECK_EQ(bf_unite(f, g, &e), 0);
        bf_close(g);
    }
}

/* Counters are read in a few places; parts one by one, those that this process knows of. */
TEST(of_every_kind)
{
    static const bf_spec specs[] = { { .n = 1000, .p = 0.01, .counting = true },
        { .n = 1000, .p = 0.01, .window = 1e9 } };
    for (size_t i = 0; i < COUNT(specs); i++) {
        rs_command(&redis, "FLUSHALL");
        bf_filter *f = opened(specs[i], "k", "", __LINE__);
        const unsigned at = until_warned(f, 0, 2000);
        /* a forgetting filter is overfull by its rate, not by its keys */
        CHECK(at > 1050 && at < (specs[i].window > 0 ? 1600 : 1250));
        CHECK_HAS(sentence, specs[i].counting ? "half of the counters of" : "half of the bits of");
        CHECK(bf_clear(f, &e) == 0 && check_fill(f) == 0);
        bf_close(f);
    }
    rs_command(&redis, "FLUSHALL");
    const bf_spec large = {
        .n = 300000, .p = 0.01, .counting = true
    }; /* 1.5 MB: not all is read */
    bf_filter *f = opened(large, "k", "", __LINE__);
    for (unsigned i = 0; i < 2; i++) {
        bf_filter *g = numbers(bf_open(&large, &e), 0, i ? 400000 : 200000);
        CHECK(bf_rebuild_end(f, g, &e) == 0 && check_fill(f) == (i == 1));
        bf_close(g);
    }
    bf_close(f);
    rs_command(&redis, "FLUSHALL");
    const bf_spec grows = { .n = 1000, .p = 0.01, .grow = 2 };
    f = opened(grows, "k", "", __LINE__);
    numbers(f, 1000, 9000);
    const long before = counted();
    CHECK(check_fill(f) == 0 && counted() == before); /* its keys are counted anyhow */
    bf_close(f);
    rs_command(&redis, "FLUSHALL");
    f = opened(grows, "k", "", __LINE__);
    filled_by_unions(f, grows);
    CHECK_EQ(check_fill(f), 1);
    CHECK(counted() > before);
    bf_close(f);
}

/* A key above 64 MiB, once, when it is created. */
TEST(large_keys_are_warned_of)
{
    enum { LIMIT = 1 << 29 };
    static const struct {
        bf_spec spec;
        const char *warns;
    } rows[] = { { { .m = LIMIT, .k = 1, .scheme = "classic" }, NULL },
        { { .m = LIMIT / 4 + 512, .k = 1, .scheme = "classic", .counting = true }, "shards=2" } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        rs_command(&redis, "FLUSHALL");
        bf_filter *f = opened(rows[i].spec, "large", "", __LINE__);
        CHECK_EQ(bf_open_warning(f, sentence, sizeof sentence), rows[i].warns != NULL);
        if (rows[i].warns) CHECK_HAS(sentence, rows[i].warns);
        bf_close(f);
        f = opened(rows[i].spec, "large", "", __LINE__); /* not when it is opened */
        CHECK_EQ(bf_open_warning(f, sentence, sizeof sentence), 0);
        bf_close(f);
    }
    rs_command(&redis, "FLUSHALL");
    static const struct {
        bf_spec spec;
        const char *warns;
    } plans[] = { { { .n = 1000000000, .p = 0.01 }, "296 MiB; shards=19 keeps" },
        { { .n = 1000000000, .p = 0.01, .shards = 3 }, "395 MiB; shards=19 keeps" },
        { { .n = 1000000000, .p = 0.01, .shards = 19 }, NULL },
        { { .n = 1000000000, .p = 0.01, .grow = 2 }, NULL },
        { { .n = 1000000000, .p = 0.01, .window = 9 }, NULL },
        { { .n = 1000000000, .p = 0.01, .overfull = BF_OVERFULL_IGNORE }, NULL },
        { { .n = 100000000, .p = 0.01, .counting = true }, "474 MiB; shards=8 keeps" },
        { { .n = 100000000, .p = 0.01, .scheme = "redisson" }, NULL },
        { { .m = LIMIT + 512, .k = 1, .scheme = "classic" }, "64 MiB; shards=2 keeps" },
        { { .m = LIMIT + 1024, .k = 1, .scheme = "classic", .shards = 2 }, NULL },
        { { .n = 1000000, .p = 0.01 }, NULL } };
    for (size_t i = 0; i < COUNT(plans); i++)
        for (int near = 0; near < 2; near++) {
            bf_error e;
            bf_spec s = plans[i].spec;
            s.storage = near ? "a.bloom" : "redis://127.0.0.1/0?key=k";
            CHECK_EQ(bf_plan(&s, &e), 0);
            CHECK_EQ(bf_plan_warning(&s, sentence, sizeof sentence), plans[i].warns && !near);
            if (plans[i].warns) CHECK_HAS(sentence, plans[i].warns);
        }
}

int main(void) { return main_with_redis(&redis); }
