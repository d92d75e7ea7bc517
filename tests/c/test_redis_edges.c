/* test_redis_edges.c - filters in Redis at their edges: odd names, companion hashes that are
 * damaged field by field, replies of no form, connections that stutter, forks in the middle of a
 * trip, clocks and creators that run for ever, bitmaps that take several trips.  It starts its own
 * server.  About core/redis/meta.c, core/redis/resp.c, core/redis/generation.c. */
/* wraps: send recv poll */
#define _GNU_SOURCE
#include "../../core/parts/filter.h"
#include "redis_steps.h"
#include "redis_worlds.h"

/* ---- names ---- */
TEST(labels)
{
    static const struct {
        const char *format, *says;
    } rows[] = { { "redis://127.0.0.1:1?key=0123456789012345678901234567890123456789",
                     "Redis key 012345678901234567890123456789.. at 127.0.0.1:1" },
        { "redis://127.0.0.1:1?&key=a%0Ab%7f&&", "Redis key a?b? at 127" },
        { "redis://127.0.0.1:1/0?key=%6B%6b%4a", "Redis key kkJ at" },
        { "unix:///nowhere?key=k", "Redis key k at /nowhere" },
        { "unix:///nowhere/0123456789012345678901234567890123456789?key=k",
            "Redis key k at ..89012345678901234567890123456789" } };
    for (size_t i = 0; i < COUNT(rows); i++) {
        CHECK_NO_FILTER(bf_open(&(bf_spec){ .m = 1000, .k = 3, .storage = rows[i].format }, &e),
            BF_EIO, rows[i].says);
    }
    char url[160];
    snprintf(url, sizeof url, "unix://%s/socket?key=twice", redis.folder);
    bf_filter *f = bf_open(&(bf_spec){ .m = 1000, .k = 3, .storage = url, .key = "twice" }, &e);
    CHECK(f && bf_add(f, "x", 1, &e) == BF_ADDED);
    bf_close(f);
}

TEST(keys_with_braces)
{
    static const char *const keys[] = { "{}x", "{x", "x}{y}", "{a}b", "}" };
    for (size_t i = 0; i < COUNT(keys); i++)
        for (int kind = 0; kind < 4; kind++) {
            static const bf_spec specs[] = { { .m = 900, .k = 3 },
                { .m = 9000, .k = 3, .shards = 2 }, { .n = 10, .p = 0.01, .grow = 2 },
                { .n = 100, .p = 0.01, .scheme = "redisson" } };
            rs_command(&redis, "FLUSHALL");
            bf_filter *f = numbers(opened(specs[kind], keys[i], "", __LINE__), 0, 30),
                      *g = kind == 3
                               ? opened((bf_spec){ .scheme = "redisson" }, keys[i], "", __LINE__)
                               : OPEN(keys[i], 0);
            CHECK_EQ(missing(f, 0, 30) + missing(g, 0, 30), 0);
            CHECK_EQ(bf_clear(f, &e), kind == 3 ? BF_ENOTSUP : 0); /* the temporary key's name */
            CLOSE(f, g);
        }
}

/* ---- what is refused ---- */
static int never(void *ctx, int op, const uint64_t *pos, size_t nkeys, unsigned k, uint8_t *present)
{
    return 1;
}

TEST(refusals)
{
    const bf_client none = { 0 }, fails = { .apply = never };
    CHECK(!bf_open(&(bf_spec){ .m = 100, .k = 2, .client = &none }, &e) && e.code == BF_EINVAL &&
          strstr(e.msg, "apply callback, got NULL"));
    bf_filter *unwilling = bf_open(&(bf_spec){ .m = 100, .k = 2, .client = &fails }, &e);
    CHECK(bf_test(unwilling, "x", 1, &e) == BF_EHOST && bf_add(unwilling, "x", 1, &e) == BF_EHOST);
    bf_close(unwilling);
    bf_redis_client host = { .exchange = world_exchange };
    static const char secret[17] = "0123456789abcdef";
    rs_command(&redis, "FLUSHALL");
    CHECK(!bf_open(&(bf_spec){ .m = 100, .k = 2, .redis_client = &host, .key = "k", .timeout = 1 },
              &e) &&
          strstr(e.msg, "has its own"));
    CHECK(!bf_open(&(bf_spec){ .m = 100, .k = 2, .redis_client = &host, .key = "" }, &e) &&
          strstr(e.msg, "needs key"));
    CHECK(!bf_open(&(bf_spec){ .m = 100, .k = 2, .redis_client = &host }, &e) &&
          strstr(e.msg, "needs key"));
    bf_filter *f = bf_open(&(bf_spec){ .m = 100, .k = 2, .redis_client = &host, .key = "k" }, &e);
    rs_command(&redis, "DEL k k:meta");
    CHECK(bf_test(f, "x", 1, &e) == BF_EIO && strstr(e.msg, "Redis key k at the client's server"));
    bf_close(f);
    host.cluster = true;
    f = bf_open(&(bf_spec){ .m = 900,
                    .k = 2,
                    .redis_client = &host,
                    .key = "{c}",
                    .wait_replicas = 1,
                    .shards = 3 },
        &e);
    CHECK(f && bf_test(f, "x", 1, &e) == 0);
    CHECK(bf_add(f, "x", 1, &e) == BF_EIO && strstr(e.msg, "only 0 of wait_replicas=1"));
    bf_close(f);
    host.cluster = false;
    CHECK_EQ(code_of((bf_spec){ .n = 1000, .p = 0.01, .scheme = "redisson", .cache = true }, "r"),
        BF_ENOTSUP);
    CHECK_EQ(code_of((bf_spec){ .n = 1 << 30, .p = 1e-6, .window = 60, .parts = 1 }, "forgets2"),
        BF_EINVAL);
    CHECK_HAS(e.msg, "2 parts of m=35530448896 bits do not fit one Redis key");
    CHECK_REFUSED(code_of((bf_spec){ .n = 1 << 30, .p = 1e-6, .grow = 2 }, "grows2"), BF_EINVAL,
        "1 part of m=37235670528 bits do not fit one Redis key");
    CHECK_REFUSED(code_of((bf_spec){ .m = UINT64_C(1) << 34, .k = 3, .shards = 2 }, "large"),
        BF_EINVAL, "do not fit 2 Redis keys of at most");
    rs_command(&redis, "SETBIT foreign 7 1");
    CHECK_EQ(
        code_of(
            (bf_spec){ .m = 1000, .k = 3, .scheme = "classic", .shards = 2, .must_exist = true },
            "foreign"),
        BF_ENOTSUP);
    CHECK_EQ(code_of((bf_spec){ .m = 1000, .k = 3, .must_exist = true }, "foreign"), BF_EFORMAT);
    CHECK_EQ(code_of((bf_spec){ .scheme = "classic", .must_exist = true }, "foreign"), BF_EINVAL);
    CHECK_EQ(code_of((bf_spec){ .m = 1000,
                         .scheme = "gozero",
                         .read_only = true,
                         .secret = secret,
                         .secret_len = 16 },
                 "foreign"),
        BF_EINVAL);
    CHECK_EQ(code_of((bf_spec){ .m = 1000, .scheme = "gozero", .read_only = true }, "foreign"), 0);
    CHECK_EQ(code_of((bf_spec){ .m = 1000, .k = 3, .read_only = true }, "nothing"), BF_ENOENT);
    CHECK_EQ(code_of((bf_spec){ .m = 1000, .k = 3, .shards = 2, .read_only = true }, "nothing"),
        BF_ENOENT);
    CHECK_EQ(
        rs_number(&redis, "EXISTS nothing nothing:meta grows2 forgets2 large large:0 large:meta"),
        0);
}

/* ---- companion hashes ---- */
typedef struct {
    const char *kind, *key, *set;
} damage;
static void damaged(const damage *d, bf_spec spec)
{
    rs_command(&redis, "FLUSHALL");
    bf_close(numbers(opened(spec, "d", "", __LINE__), 0, 5));
    rs_command(&redis, "%s %s %s", strchr(d->set, ' ') ? "HSET" : "HDEL", d->key, d->set);
    const int code = code_of((bf_spec){ .counting = spec.counting, .clock = spec.clock }, "d");
    if (code != BF_EFORMAT || !strstr(e.msg, "Redis key d"))
        FAILED("%s: %s %s: %d, %s\n", d->kind, d->key, d->set, code, e.msg);
}

TEST(damaged_hashes)
{
    static const bf_spec specs[] = { { .m = 9000, .k = 3 },
        { .m = 9216, .k = 3, .scheme = "block", .counting = true },
        { .m = 9000, .k = 3, .shards = 2 }, { .n = 10, .p = 0.01, .grow = 2 },
        { .n = 10, .p = 0.01, .window = 60, .clock = world_clock } };
    static const char *const kinds[] = { "plain", "counting", "shards", "grow", "window" };
    static const damage rows[] = { { "plain", "d:meta", "m \"\"" }, { "plain", "d:meta", "m 12x" },
        { "plain", "d:meta", "m 99999999999999999999" }, { "plain", "d:meta", "m 1099511627777" },
        { "plain", "d:meta", "m 4294967296" },
        { "plain", "d:meta", "m 111111111111111111111111111111111111111111" },
        { "plain", "d:meta", "m \"1\\x00\"" }, { "plain", "d:meta", "m -1" },
        { "plain", "d:meta", "m" }, { "plain", "d:meta", "n" }, { "plain", "d:meta", "shards 0" },
        { "plain", "d:meta", "shards 5000" }, { "plain", "d:meta", "shards x" },
        { "plain", "d:meta", "n 0" }, { "plain", "d:meta", "n 9223372036854775808" },
        { "plain", "d:meta", "scheme php-hashes:BKDR,SDBM,JS" }, { "plain", "d:meta", "p -1" },
        { "plain", "d:meta", "p 0.1x" }, { "plain", "d:meta", "p" },
        { "plain", "d:meta", "format 3" }, { "plain", "d:meta", "cell_bits 8" },
        { "plain", "d:meta", "mark 100000000" }, { "plain", "d:meta", "mark" },
        { "plain", "d:meta", "k" }, { "plain", "d:meta", "scheme" },
        { "counting", "d:meta", "shards 7" }, { "grow", "d:meta", "shards 2" },
        { "window", "d:meta", "shards 2" }, { "window", "d:meta", "cell_bits 4" },
        { "grow", "d:meta", "born" }, { "window", "d:meta", "born x" },
        { "counting", "d:meta", "m 9217" }, { "counting", "d:meta", "m 4294967296" },
        { "shards", "d:meta", "m 9001" }, { "shards", "d:meta", "shards 7" },
        { "grow", "d:meta", "kind x" }, { "grow", "d:meta", "kind" }, { "grow", "d:meta", "grow" },
        { "grow", "d:meta", "grow 0.5" }, { "grow", "d:meta", "grow 2x" },
        { "grow", "d:meta", "grow 1e301" }, { "grow", "d:meta", "grow nan" },
        { "grow", "d:meta", "parts 257" }, { "grow", "d:meta", "parts" },
        { "grow", "d:meta", "scheme gozero k 14" }, { "grow", "d:meta", "part0" },
        { "grow", "d:meta", "part0 \"\"" }, { "grow", "d:meta", "part0 512" },
        { "grow", "d:meta", "part0 \"512 10\"" }, { "grow", "d:meta", "part0 \"512 10 x\"" },
        { "grow", "d:meta", "part0 \" 512 10 0.01\"" },
        { "grow", "d:meta", "part0 \"-512 10 0.01\"" },
        { "grow", "d:meta", "part0 \"513 10 0.01\"" },
        { "grow", "d:meta", "part0 \"99999999999999999999 10 0.01\"" },
        { "grow", "d:meta", "keys0 x" }, { "grow", "d:meta", "keys0 -1" },
        { "grow", "d:meta", "parts 2" }, { "window", "d:meta", "kind x" },
        { "window", "d:meta", "window 0" }, { "window", "d:meta", "window" },
        { "window", "d:meta", "parts 256" }, { "window", "d:meta", "parts 0" },
        { "window", "d:meta", "epoch x" }, { "window", "d:meta", "epoch \"\"" },
        { "window", "d:meta", "epoch 5x" }, { "window", "d:meta", "epoch 9999999999999999999999" },
        { "window", "d:meta", "epoch 140737488355328" },
        { "window", "d:meta", "epoch -140737488355328" } };
    for (size_t i = 0; i < COUNT(rows); i++)
        for (size_t k = 0; k < 5; k++)
            if (!strcmp(rows[i].kind, kinds[k])) damaged(rows + i, specs[k]);
}

TEST(redissons_hashes)
{
    static const char *const bad[] = { "size \"\"", "size 111111111111111111111111", "size \" 9\"",
        "hashIterations 1x" };
    static const char *const fine[] = { "falseProbability \"\"", "falseProbability 0",
        "falseProbability 1", "falseProbability x", "falseProbability 0.1x", "expectedInsertions 0",
        "expectedInsertions 99999999999999999999999" };
    bf_info i;
    for (size_t n = 0; n < 4 + 7; n++) {
        rs_command(&redis, "FLUSHALL");
        rs_command(&redis, "HSET {r}:config size 958 hashIterations 7 expectedInsertions 100 "
                           "falseProbability 0.01 sizf 1");
        rs_command(&redis, "HSET {r}:config %s", n < 4 ? bad[n] : fine[n - 4]);
        bf_filter *f = bf_open(
            &(bf_spec){
                .storage = rs_url(&redis, "r", ""), .scheme = "redisson", .must_exist = true },
            &e);
        CHECK_EQ(f != NULL, n >= 4);
        if (f) {
            bf_get_info(f, &i);
            CHECK(i.m == 958 && i.k == 7 && i.p > 0 && i.p < 1 && i.n > 0);
        }
        bf_close(f);
    }
    char text[420];
    memset(text, '1', sizeof text);
    text[sizeof text - 1] = 0;
    rs_command(&redis, "HSET {r}:config size 5 hashIterations 7 falseProbability %s", text);
    rs_command(&redis, "HDEL {r}:config expectedInsertions");
    bf_filter *f = OPEN("r", .scheme = "redisson", .must_exist = true);
    bf_get_info(f, &i);
    CHECK(i.m == 5 && i.k == 7 && i.n == 1);
    bf_close(f);
}

/* ---- connections ---- */
/* Signals at every call, a few bytes at a time: as if nothing had happened. */
TEST(stutter)
{
    rs_command(&redis, "ACL SETUSER w on >pw ~* +@all");
    for (world *w = worlds; w < worlds + WORLDS; w++) {
        if (w->client) continue;
        for (size_t what = 0; what < ASKED; what++) {
            if (!world_make(w)) break;
            const int64_t want =
                asked[what].expected == ONES ? (int64_t)w->ones : asked[what].expected;
            steps.stutter = true;
            steps_begin(0);
            int64_t rc = asked[what].run(w);
            steps_stop();
            steps.stutter = false;
            if (rc != want && rc != BF_ENOTSUP && rc != BF_EINVAL)
                FAILED("%s, %s: %lld, %s\n", w->name, asked[what].name, (long long)rc, e.msg);
        }
        world_forget(w);
    }
}

static bf_filter *forked;
static int child_fails;
static bool in_host; /* the trip is the host's code: whoever forks in it is inside the call */
static void forks(void)
{
    pid_t child = fork();
    if (child == 0) { /* the lock is held by a thread that is not here */
        steps.on = false;
        world_fd = -1;
        int bad = in_host ? bf_test(forked, "n0", 2, &e) != BF_EBUSY
                          : bf_test(forked, "n0", 2, &e) != 1 ||
                                bf_add(forked, "n0", 2, &e) != BF_PRESENT ||
                                bf_add(forked, "child", 5, &e) != BF_ADDED;
        bf_close(forked);
        _exit(bad);
    }
    int status = 0;
    waitpid(child, &status, 0);
    child_fails = status;
}

TEST(a_fork_in_the_middle_of_a_trip)
{
    for (world *w = worlds; w < worlds + WORLDS; w++) {
        if (w->login || !world_make(w)) continue;
        forked = w->f;
        in_host = w->f->runs_host_code;
        steps.before = forks;
        steps.after = false;
        steps.instead = NULL;
        steps_begin(1);
        CHECK_EQ(bf_test_many(w->f, world_keys, WORLD_KEYS, NULL, &e), WORLD_KEYS);
        steps_stop();
        if (!steps.happened && w->spec.cache) {
            world_forget(w);
            continue;
        } /* it made no trip */
        CHECK(steps.happened);
        if (child_fails) FAILED("%s: the child fails\n", w->name);
        CHECK_EQ(bf_test(w->f, "child", 5, &e), !in_host);
        pid_t child = fork(); /* while nobody holds it */
        if (child == 0) {
            forks();
            _exit(child_fails != 0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        CHECK_EQ(bf_test(w->f, "n0", 2, &e), 1);
        world_forget(w);
    }
}

/* ---- for ever ---- */
static void mark_moves_on(void)
{
    static int n;
    rs_command(&redis,
        "EVAL \"redis.call('SETRANGE', 'w', redis.call('STRLEN', 'w') - 4, ARGV[1]) "
        "redis.call('HSET', 'w:meta', 'mark', (ARGV[1]:gsub('.', function(c) return "
        "string.format('%%02x', c:byte()) end)))\" 0 %04d",
        ++n % 10000);
}

TEST(no_call_lasts_for_ever)
{
    for (world *w = worlds; w < worlds + WORLDS; w++) {
        if ((strcmp(w->name, "window") && strcmp(w->name, "grow")) || !world_make(w)) continue;
        steps.before = mark_moves_on;
        steps.after = true;
        steps.instead = NULL;
        steps_begin(1);
        const int rc = bf_test(w->f, "new", 3, &e);
        steps_stop();
        CHECK_EQ(rc, BF_EIO);
        CHECK_HAS(e.msg, "not all keys were handled");
        CHECK_EQ(bf_test(w->f, "n1", 2, &e), 1);
        world_forget(w);
    }
    bf_close(OPEN("slow", .n = 100, .p = 0.01, .window = 1e12, .parts = 1));
    bf_filter *f = OPEN("slow", 0);
    CHECK(bf_add(f, "x", 1, &e) == BF_ADDED && bf_test(f, "x", 1, &e) == 1);
    bf_close(f);
}

/* Cleared before every trip but those that look into its hash: nobody gets anywhere, and is told
 * so. */
static bf_filter *clearer;
static bool goes_out(const char *word)
{
    return memmem(steps.out, steps.out_len, word, strlen(word)) != NULL;
}
static void clears_again(void)
{
    bf_error unheard;
    if (!goes_out("HGETALL")) bf_clear(clearer, &unheard);
}

TEST(cleared_for_ever)
{
    for (world *w = worlds; w < worlds + WORLDS; w++) {
        if (strcmp(w->name, "classic") && strcmp(w->name, "counting") && strcmp(w->name, "client"))
            continue;
        for (size_t what = 0; what < ASKED; what++) {
            int64_t (*run)(world *) = asked[what].run;
            if (run == do_open || run == do_construct || run == do_make || run == do_fits ||
                run == do_saturated || !world_make(w))
                continue;
            if (run == do_add || run == do_add_many || run == do_add_new)
                continue; /* they are there, if only for a moment */
            clearer = world_open(w, false);
            steps.before = clears_again;
            steps.instead = NULL;
            steps.after = true;
            e = (bf_error){ 0 };
            steps_begin(1);
            int64_t rc = run(w);
            steps_stop();
            const bool sums = run == do_unite && w->spec.counting;
            if (rc != BF_ENOTSUP && !sums && (rc != BF_EIO || !strstr(e.msg, "Redis key w at")))
                FAILED("%s, %s: %lld, %s\n", w->name, asked[what].name, (long long)rc, e.msg);
            CHECK(bf_add(w->f, "n0", 2, &e) >= 0 && bf_test(w->f, "n0", 2, &e) == 1);
            bf_close(clearer);
        }
        world_forget(w);
    }
}

static void comes_and_goes(void)
{
    if (goes_out("HGETALL"))
        rs_command(&redis, "DEL c:0 c");
    else if (goes_out("EVAL"))
        rs_command(&redis, "MSET c:0 text c text");
}

TEST(a_key_that_comes_and_goes)
{
    for (unsigned shards = 1; shards < 3; shards++) {
        rs_command(&redis, "FLUSHALL");
        steps.before = comes_and_goes;
        steps.after = true;
        steps_begin(1);
        const int code = code_of((bf_spec){ .m = 9000, .k = 3, .shards = shards }, "c");
        steps_stop();
        CHECK_EQ(code, BF_EIO);
        CHECK_HAS(
            e.msg, "is created and deleted all the time: it could neither be opened nor created");
    }
}

/* Made between the look at its hash and the look at its bits: it is a filter with a mark, not a
 * bitmap of another system, in which a loss reads as "absent". */
TEST(made_between_two_looks)
{
    for (int adopt = 0; adopt < 2; adopt++) {
        rs_command(&redis, "FLUSHALL");
        bf_close(numbers(OPEN("late", .m = 9000, .k = 3, .scheme = "classic"), 0, 3));
        steps.before = NULL;
        steps.after = steps.cut = false;
        steps.instead = "*0\r\n"; /* the hash, as it was a moment before */
        steps.node = 0;
        steps_begin(1);
        bf_filter *f = OPEN(
            "late", .m = 9000, .k = 3, .scheme = "classic", .must_exist = true, .adopt = adopt);
        steps_stop();
        CHECK(f && steps.happened && missing(f, 0, 3) == 0);
        rs_command(&redis, "DEL late");
        CHECK(f && bf_test(f, "n1", 2, &e) == BF_EIO && strstr(e.msg, "is lost"));
        bf_close(f);
        steps.instead = NULL;
    }
}

/* What an add to a filter that was just deleted leaves for a moment is not taken for another
 * system's bitmap. */
static int looks;
static void stub_goes(void)
{
    if (goes_out("HGETALL") && ++looks == 3) rs_command(&redis, "DEL stub");
}

TEST(a_stub_without_a_hash)
{
    for (int open = 0; open < 2; open++) {
        rs_command(&redis, "FLUSHALL");
        rs_command(&redis, "SETBIT stub 7001 1");
        looks = 0;
        steps.before = stub_goes;
        steps.after = true;
        steps_begin(1);
        const int code = code_of(
            open ? (bf_spec){ .must_exist = true } : (bf_spec){ .m = 9000, .k = 3 }, "stub");
        steps_stop();
        CHECK_EQ(code, open ? BF_ENOENT : 0);
        if (open) CHECK_HAS(e.msg, "does not exist");
    }
    rs_command(&redis, "SETBIT foreign 7001 1"); /* one that stays is one */
    CHECK_EQ(code_of((bf_spec){ .m = 9000, .k = 3 }, "foreign"), BF_EFORMAT);
}

/* An add met a lost key, and the connection goes before that is known: an error, and the next one
 * takes the stub away. */
static int met;
static void deletes_and_ends(void)
{
    if (met++ == 0) {
        rs_command(&redis, "FLUSHALL");
        return;
    }
    steps.instead = "";
    steps.cut = true;
    steps.node = 0;
}

TEST(lost_twice)
{
    for (world *w = worlds; w < worlds + WORLDS; w++) {
        if (w->foreign || w->login || w->spec.cache || w->spec.window > 0 || !world_make(w))
            continue;
        met = 0;
        steps.before = deletes_and_ends;
        steps.instead = NULL;
        steps.after = true;
        steps_begin(1);
        CHECK(bf_add(w->f, "new", 3, &e) < 0);
        steps_stop();
        steps.instead = NULL;
        steps.cut = false;
        CHECK(bf_add(w->f, "new", 3, &e) < 0 && bf_test(w->f, "n0", 2, &e) < 0);
        world_forget(w);
    }
}

/* ---- bitmaps of several trips ---- */
TEST(large_ones)
{
    bf_redis_client host = world_host;
    const bf_spec spec = { .m = 40000001, .k = 3, .scheme = "classic" };
    for (int client = 0; client < 2; client++) {
        rs_command(&redis, "FLUSHALL");
        bf_spec far = spec;
        far.key = "large";
        if (client)
            far.redis_client = &host;
        else
            far.storage = rs_url(&redis, "large", "");
        bf_filter *f = numbers(bf_open(&far, &e), 0, 50),
                  *near = numbers(bf_open(&spec, &e), 0, 90), *copy;
        uint8_t a[7], b[7];
        CHECK(f && bf_unite(f, near, &e) == 0 && missing(f, 0, 90) == 0);
        CHECK((copy = bf_copy(f, &e)) && bf_equal(copy, near, &e) == 1);
        CHECK(bf_read_bits(f, 5000000 - 6, a, 7, &e) == 0 &&
              bf_read_bits(near, 5000000 - 6, b, 7, &e) == 0 && !memcmp(a, b, 7));
        CHECK(bf_read_bits(f, 100, a, 7, &e) == 0 && bf_read_bits(f, 100, a, 0, &e) == 0);
        rs_command(&redis, "DEL large");
        rs_command(&redis, "RPUSH large a");
        CHECK(!bf_copy(f, &e) && e.code == BF_EFORMAT && strstr(e.msg, "WRONGTYPE"));
        CLOSE(f, near, copy);
    }
    bf_filter *f = numbers(
        bf_open(&(bf_spec){ .m = 90000, .k = 3, .shards = 9, .redis_client = &host, .key = "nine" },
            &e),
        0, 100);
    char text[100][8];
    bf_key keys[100];
    for (int i = 0; i < 100; i++) keys[i] = (bf_key){ text[i], (size_t)sprintf(text[i], "n%d", i) };
    CHECK_EQ(bf_test_many(f, keys, 100, NULL, &e), 100); /* in nine parts */
    CHECK_EQ(bf_expire(f, 0.0001, &e), 0);
    rs_pause(20);
    CHECK_EQ(bf_test(f, "n0", 2, &e), BF_EIO);
    bf_close(f);
    for (int client = 0; client < 2; client++) { /* a trip of some MiB, whose buffer is not kept */
        enum { MANY = 1000 };
        static char t[MANY][8];
        static bf_key many[MANY];
        bf_spec wide = { .m = UINT64_C(1) << 27, .k = 65, .scheme = "classic", .key = "wide" };
        if (client)
            wide.redis_client = &host;
        else
            wide.storage = rs_url(&redis, "wide", "&timeout=60");
        rs_command(&redis, "FLUSHALL");
        f = bf_open(&wide, &e);
        for (int i = 0; i < MANY; i++) many[i] = (bf_key){ t[i], (size_t)sprintf(t[i], "w%d", i) };
        CHECK(f && bf_add_many(f, many, MANY, NULL, &e) == MANY &&
              bf_test_many(f, many, MANY, NULL, &e) == MANY);
        bf_close(f);
    }
    f = OPEN("soon", .n = 10, .p = 0.01, .grow = 2);
    CHECK(bf_expire(f, 0, &e) == 0 && bf_expire(f, 0.0001, &e) == 0);
    rs_pause(20);
    CHECK_EQ(bf_test(f, "n0", 2, &e), BF_EIO);
    bf_close(f);
}

int main(void) { return main_with_redis(&redis); }
