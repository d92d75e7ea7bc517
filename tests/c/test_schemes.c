/* test_schemes.c - every scheme x home x kernels x batch size, of bits and of counters, against the
 * oracle: each answer, each bit.  Runs with both kernels.  About core/tables.c,
 * core/layout/classic.c, core/layout/block.c, core/layout/block2.c, core/layout/shards.c,
 * core/keys/ring.c,
 * core/keys/loop.c, core/keys/hashcode.c, core/hash/ready.c, core/home/callback.c, core/base/cpu.c.
 */
#include "../../core/sets/sets.h"
#include "check.h"
#include "native.h"
#include "oracle_counting.h"

enum { MOST = 600 };
static const size_t sizes[] = { 0, 1, 2, 7, 8, 9, 63, 64, 65, 200, MOST };
static const struct {
    uint64_t m;
    unsigned k;
} shapes[] = { { 40000, 7 }, { 20480, 1 }, { 20480, 16 }, { 100, 3 }, { 1, 1 }, { 99991, 2 } };
enum { MEMORY, ATOMIC, CLIENT, POSITIONS, MAPPED, HOMES };
static const char *const homes[] = { "memory", "memory, atomic", "client", "memory by positions",
    "file" };

static uint64_t ours(const void *key, size_t len) { return XXH3_64bits(key, len); }
static uint64_t length(const void *key, size_t len) { return len; }
static bf_function *const three[] = { ours, length, ours };
static const bf_functions functions = { .count = 3, .function = three };

/* The filters of now. */
static bool counting;
static unsigned shards = 1;

static bf_filter *make(
    const char *scheme, uint64_t m, unsigned k, int home, bf_client *client, const char *path)
{
    bf_error e;
    bf_spec spec = { .m = m,
        .k = k,
        .scheme = scheme,
        .functions = strcmp(scheme, "functions") ? NULL : &functions,
        .threads = home == ATOMIC,
        .counting = counting,
        .shards = shards > 1 ? shards : 0,
        .client = home == CLIENT ? client : NULL,
        .storage = home == MAPPED ? path : NULL };
    bf_filter *f = bf_open(&spec, &e);
    if (!f) {
        FAILED("%s m=%llu k=%u %s: %s\n", scheme, (unsigned long long)m, k, homes[home], e.msg);
        return NULL;
    }
    if (home == POSITIONS) f->bitmap.kernels = f->single = NULL;
    return f;
}

/* ---- what a batch does ---- */
enum { ASK, ADD, TAKE, HOW_MANY };
static const int of_bits[] = { ASK, ADD, ASK },
                 of_counters[] = { HOW_MANY, ADD, ASK, TAKE, ADD, ASK };

static unsigned wanted(oracle *o, int op, bf_key k)
{
    if (op == ASK) return (unsigned)o_test(o, k.ptr, k.len);
    if (op == ADD) return (unsigned)(counting ? oc_add(o, k) : o_add(o, k.ptr, k.len));
    return op == TAKE ? (unsigned)oc_remove(o, k) : oc_count(o, k);
}
/* If the scheme takes hashes, the XXH3 of the keys. */
static int64_t run(bf_filter *f, int op, const bf_key *keys, size_t n, uint8_t *each, bf_error *e)
{
    uint64_t hash[MOST];
    for (size_t i = 0; bf_takes_hashes(f) && i < n; i++)
        hash[i] = XXH3_64bits(keys[i].ptr, keys[i].len);
    if (bf_takes_hashes(f))
        return (op == ADD ? bf_add_hashes : bf_test_hashes)(f, n ? hash : NULL, n, each, e);
    if (n != 1 || !each)
        return (op == ADD    ? bf_add_many
                : op == TAKE ? bf_remove_many
                : op == ASK  ? bf_test_many
                             : bf_count_many)(f, keys, n, each, e);
    const int rc = (op == ADD    ? bf_add
                    : op == TAKE ? bf_remove
                    : op == ASK  ? bf_test
                                 : bf_count_of)(f, keys->ptr, keys->len, e);
    if (rc >= 0) each[0] = (uint8_t)rc;
    return rc < 0 ? rc : rc > 0;
}

static void batch(bf_filter *f, oracle *o, uint32_t *seed, size_t n, const char *home)
{
    static o_key text[MOST];
    static bf_key keys[MOST];
    uint8_t each[MOST], want[MOST];
    bf_error e;
    for (size_t step = 0; step < (counting ? COUNT(of_counters) : COUNT(of_bits)); step++) {
        const int op = counting ? of_counters[step] : of_bits[step];
        int64_t sum = 0;
        for (size_t i = 0; i < n; i++)
            keys[i] = o_make(
                text + i, (o_random(seed) >> 8) % (counting ? 600 : 3000), f->hash->accept != NULL);
        for (size_t i = 0; i < n; i++) sum += (want[i] = (uint8_t)wanted(o, op, keys[i])) > 0;
        CHECK_EQ(run(f, op, keys, n, each, &e), sum);
        if (memcmp(each, want, n))
            FAILED("%s %s: operation %d on %zu keys differs\n", o->scheme, home, op, n);
        if (op == ASK) CHECK_EQ(run(f, op, keys, n, NULL, &e), sum);
    }
}

static void against_oracle(const char *scheme, uint64_t m, unsigned k, int home)
{
    const char *path = temp_path();
    uint8_t *client_cells = calloc(1, m + 512);
    bf_client client = { o_apply, client_cells };
    bf_filter *f = make(scheme, m, k, home, &client, path);
    if (f) {
        const bf_info i = info_of(f);
        oracle o = { f->desc.scheme->layout->name, i.m, k, calloc(1, i.m),
            bf_is_native(f->desc.scheme) ? NULL : f, shards };
        if (shards > 1)
            CHECK(i.shards == shards && i.m >= m && i.m < m + 512 * shards &&
                  i.m % (64 * shards) == 0);
        uint32_t seed = (uint32_t)(m + k);
        /* most of 3000 keys, or of 600, are there after three */
        const int rounds = SHORT(5, counting ? 1 : 2);
        for (int r = 0; r < rounds; r++)
            for (size_t s = 0; s < COUNT(sizes) - counting; s++)
                batch(f, &o, &seed, sizes[s], homes[home]);
        if (counting)
            oc_same(f, &o, homes[home]);
        else if (home == CLIENT)
            CHECK(!memcmp(client_cells, o.cells, i.m));
        else
            free(o_same_bits(f, &o, homes[home]));
        free(o.cells);
    }
    bf_close(f);
    unlink(path);
    free(client_cells);
}

TEST(every_scheme_in_every_home)
{
    for (size_t s = 0; native_scheme(s); s++)
        for (size_t i = 0; i < COUNT(shapes); i++)
            for (int home = 0; home < HOMES; home++)
                for (counting = false;; counting = true) {
                    against_oracle(native_scheme(s), shapes[i].m, shapes[i].k, home);
                    if (counting || home == CLIENT) break;
                }
    counting = false;
}

TEST(cut_into_shards)
{
    static const struct {
        uint64_t m;
        unsigned k, shards;
    } cut[] = { { 40000, 7, 2 }, { 40000, 8, 3 }, { 20480, 1, 5 }, { 20480, 16, 40 }, { 100, 3, 2 },
        { 99991, 2, 7 }, { 1, 1, 3 }, { 200000, 7, 64 } };
    for (size_t s = 0; native_scheme(s); s++)
        for (size_t i = 0; i < COUNT(cut); i++) {
            shards = cut[i].shards;
            against_oracle(native_scheme(s), cut[i].m, cut[i].k, MEMORY);
        }
    shards = 3;
    against_oracle("classic", 300000, 1000, MEMORY);
    shards = 1;
}

TEST(every_k)
{
    for (const bf_scheme *s = bf_schemes; s->keyed; s++)
        for (unsigned k = 1; k <= s->layout->k_max && k <= 40; k++) {
            against_oracle(s->name, 3000, k, MEMORY);
            counting = true;
            if (k >= 20 && s->layout->k_max > 16)
                against_oracle(s->name, 3000, k, k % 2 ? MEMORY : ATOMIC);
            counting = false;
        }
    against_oracle("classic", 100000, 347, MEMORY);
    against_oracle("classic", 100000, BF_K_MAX, CLIENT);
    counting = true;
    against_oracle("classic", 50000, 700, MEMORY);
    counting = false;
}

TEST(kernels_of_the_cpu)
{
    static const char *const rows[BF_CPUS] = { "portable", "vectors", "vectors, far" };
    printf("     kernels: %s\n", rows[bf_cpu()]);
    for (const bf_scheme *s = bf_schemes; s->name; s++) {
        CHECK(s->layout->k_max <= BF_K_MAX && strlen(s->name) < BF_SCHEME_BYTES &&
              s->hash->width <= BF_WIDTH_MAX);
        CHECK(!s->hash->accept ||
              !s->layout->kernels[0][0]); /* single keys of kernels go past accept() */
        CHECK_EQ(s - bf_schemes < 3, s->keyed != NULL); /* native.h */
        for (int i = 0; i < 2 * BF_CPUS; i++) {
            const bf_kernels *one = s->layout->kernels[i / BF_CPUS][i % BF_CPUS];
            CHECK(!one || (one->step % 8 == 0 && one->lag + one->step <= BF_RING &&
                              BF_RING % one->step == 0 && one->lag % one->step == 0));
        }
    }
}

/* A growing filter of some keys, as a sum of its answers to these and to others. */
static uint64_t grown_answers(const char *scheme)
{
    enum { KEYS = 3000 };
    static uint64_t number[KEYS];
    static bf_key keys[KEYS];
    uint8_t each[KEYS];
    uint64_t sum = 0;
    bf_error e;
    bf_filter *f = bf_open(&(bf_spec){ .n = 100, .p = 0.01, .scheme = scheme, .grow = 2 }, &e);
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < KEYS; i++)
            keys[i] = (bf_key){ &number[i], 8 }, number[i] = KEYS * (uint64_t)(round % 2) + i;
        if (round != 1) CHECK(bf_add_many(f, keys, KEYS, each, &e) >= 0);
        if (round == 1) CHECK(bf_test_many(f, keys, KEYS, each, &e) >= 0);
        for (size_t i = 0; i < KEYS; i++) sum = sum * 31 + each[i];
    }
    bf_close(f);
    return sum;
}

/* Each row by name, whichever is this machine's; without vectors all names are the portable one. */
TEST(every_row_of_kernels)
{
    static const char *const names[BF_CPUS] = { "portable", "T0", "T1" };
    const char *was = getenv("BLOOMFILTER_CPU");
    char *const keep = was ? strdup(was) : NULL;
    uint64_t answers[BF_CPUS] = { 0 };
    unsetenv("BLOOMFILTER_CPU");
    const bool more = bf_cpu() != BF_CPU_PORTABLE;
    for (int row = 0; row < BF_CPUS; row++) {
        setenv("BLOOMFILTER_CPU", names[row], 1);
        CHECK_EQ(bf_cpu(), more ? row : BF_CPU_PORTABLE);
        for (const bf_scheme *s = bf_schemes; s->keyed; s++) {
            const bf_kernels *const *of = s->layout->kernels[0];
            bf_error e;
            bf_filter *f = bf_open(&(bf_spec){ .m = 3000, .k = 5, .scheme = s->name }, &e);
            CHECK(f->bitmap.kernels == (of[bf_cpu()] ? of[bf_cpu()] : of[BF_CPU_PORTABLE]));
            bf_close(f);
            for (unsigned k = 6; k <= 9; k++) {
                against_oracle(s->name, 30000, k, MEMORY);
                against_oracle(s->name, 30000, k, ATOMIC);
            }
            answers[row] = answers[row] * 31 + grown_answers(s->name);
        }
        CHECK_EQ(answers[row], answers[0]);
    }
    if (keep)
        setenv("BLOOMFILTER_CPU", keep, 1);
    else
        unsetenv("BLOOMFILTER_CPU");
    free(keep);
}

TEST(hashcode_is_the_bits)
{
    static const uint64_t ms[] = { 5000, 1, 99991 * 64, 2000000000, BF_M_MAX };
    bf_client none = { o_apply, NULL };
    bf_error e;
    for (size_t s = 0; native_scheme(s); s++)
        for (size_t i = 0; i < COUNT(ms); i++) {
            bf_filter *f = make(native_scheme(s), ms[i], 7, CLIENT, &none, NULL);
            oracle o = { native_scheme(s), info_of(f).m, 7, NULL, NULL, 1 };
            for (uint32_t n = 0; n < 300; n++) {
                o_key text;
                const bf_key key = o_make(&text, n, false);
                uint64_t pos[7], want[7], few[2] = { 0, 77 };
                o_positions(&o, key.ptr, key.len, want);
                CHECK_EQ(bf_hashcode(f, key.ptr, key.len, pos, 7, &e), 7);
                CHECK(!memcmp(pos, want, sizeof pos));
                CHECK_EQ(bf_hashcode(f, key.ptr, key.len, few, 1, &e), 7);
                CHECK(few[0] == want[0] && few[1] == 77);
            }
            bf_close(f);
        }
}

/* ---- schemes of older systems: their positions are test_vectors.c's business; here, that every
 * home and every size of batch does with these positions what the naive cells do ---- */
TEST(older_schemes_in_every_home)
{
    for (const bf_scheme *s = bf_schemes + 3; s->name; s++) {
        if (s->m) continue; /* 2^32 cells, nothing else: see below */
        for (unsigned k = s->k ? s->k : s->hash->width ? 5 : 3, i = 0; i < 3; i++)
            for (int home = 0; home < HOMES; home++) {
                against_oracle(s->name, (uint64_t[]){ 40000, 64, 65536 }[i], k, home);
                counting = i == 2 && home != CLIENT && !bf_is_native(s) && s->layout->k_max > 0 &&
                           strcmp(s->name, "functions");
                if (counting) against_oracle(s->name, 8192, k, home);
                counting = false;
            }
    }
}

TEST(hashes_and_keys_do_not_mix)
{
    static const bf_spec of_hashes[] = { { .n = 1000, .p = 0.01 }, { .n = 1000, .p = 1e-4 },
        { .m = 5000, .k = 3 }, { .n = 1000, .p = 0.01, .grow = 2 },
        { .n = 1000, .p = 0.01, .window = 60 }, { .n = 1000, .p = 0.01, .counting = true },
        { .n = 1000, .p = 0.01, .overfull = BF_OVERFULL_RAISE } };
    const uint64_t hashes[] = { 1, 2, 1 };
    const bf_key key = { "key", 3 };
    uint8_t each[3];
    uint64_t pos[16];
    bf_error e;
    for (size_t i = 0; i < COUNT(of_hashes); i++) {
        bf_spec spec = of_hashes[i];
        spec.scheme = "hashes64";
        bf_filter *f = bf_open(&spec, &e);
        const char *suffix = i == 1 ? "block2" : i == 2 ? "classic" : "block";
        CHECK(!strcmp(info_of(f).scheme + strlen("hashes64-"), suffix));
        CHECK(bf_add_hashes(f, hashes, 3, each, &e) == 2 && each[0] && each[1] && !each[2]);
        CHECK(bf_test_hashes(f, hashes, 3, NULL, NULL) == 3);
        CHECK_REFUSED(bf_add(f, "key", 3, &e), BF_EINVAL, "add_hashes");
        CHECK_REFUSED(bf_test(f, "key", 3, &e), BF_EINVAL, "add_hashes");
        CHECK_REFUSED(bf_add_many(f, &key, 1, NULL, &e), BF_EINVAL, "add_hashes");
        CHECK_REFUSED(bf_test_many(f, &key, 0, NULL, &e), BF_EINVAL, "add_hashes");
        CHECK_REFUSED(bf_hashcode(f, "key", 3, pos, 16, &e), BF_EINVAL, "add_hashes");
        if (spec.counting) {
            CHECK_EQ(bf_remove(f, "key", 3, NULL), BF_EINVAL);
            CHECK_EQ(bf_count_of(f, "key", 3, &e), BF_EINVAL);
        }
        uint8_t *image = malloc(info_of(f).image_bytes);
        CHECK_EQ(bf_to_bytes(f, image, info_of(f).image_bytes, &e), 0);
        bf_filter *g = bf_from_bytes(image, info_of(f).image_bytes, &spec, &e);
        CHECK(g && bf_test_hashes(g, hashes, 3, NULL, &e) == 3);
        bf_close(g);
        bf_close(f);
        free(image);
        bf_spec keys = of_hashes[i];
        f = bf_open(&keys, &e);
        CHECK_REFUSED(bf_add_hashes(f, hashes, 1, NULL, &e), BF_EINVAL, "hashes64");
        CHECK_REFUSED(bf_test_hashes(f, NULL, 0, NULL, &e), BF_EINVAL, "hashes64");
        bf_close(f);
    }
}

TEST(fixed_values_are_fixed)
{
    bf_error e;
    for (const bf_scheme *s = bf_schemes; s->name; s++) {
        bf_spec spec = { .scheme = s->name, .m = s->m ? s->m : 1 << 20, .k = s->k ? s->k + 1 : 3 };
        if (s->k) {
            CHECK_REFUSED(bf_plan(&spec, &e), BF_EINVAL, "k must be");
            CHECK_HAS(e.msg, s->name);
        }
        spec.k = s->k ? s->k : 3;
        spec.m = s->m_max + 1;
        if (s->m_max) {
            CHECK_REFUSED(bf_plan(&spec, &e), BF_EINVAL, "m must be");
            CHECK_HAS(e.msg, s->name);
        }
        bf_spec by_n = { .scheme = s->name, .n = 1000 };
        if (s->bits_per_key) {
            CHECK_EQ(bf_plan(&by_n, &e), 0);
            CHECK_EQ(by_n.m, 1000 * s->bits_per_key);
            CHECK_EQ(by_n.k, s->k ? s->k : s->usual_k);
        }
        if (!s->keyed)
            CHECK(!bf_open(&(bf_spec){ .scheme = s->name,
                               .m = s->m ? s->m : 6400,
                               .k = s->k ? s->k : 3,
                               .secret = "0123456789abcdef",
                               .secret_len = 16 },
                &e));
    }
    bf_spec java = { .scheme = "java7", .n = 1000, .p = 0.01 },
            odd = { .scheme = "java7", .m = 1000 };
    CHECK(bf_plan(&java, &e) == 0 && java.m == 16384 && java.k == 7 && bf_plan(&odd, &e) == 0 &&
          odd.m == 1000);
    CHECK_EQ(bf_plan(&(bf_spec){ .scheme = "rs-rand", .n = UINT64_C(1) << 62 }, &e), BF_EINVAL);
    CHECK_EQ(bf_plan(&(bf_spec){ .scheme = "rs-rand", .n = 214748365 }, &e), BF_EINVAL);
}

/* 75 characters, more than a stored name has */
#define EIGHT "php-hashes:JSHash,PJWHash,ELFHash,BKDRHash,SDBMHash,DJBHash,DEKHash,FNVHash"

TEST(names_of_older_code)
{
    static const char *const names[][2] = { { EIGHT,
                                                "php-hashes:JS,PJW,ELF,BKDR,SDBM,DJB,DEK,FNV" },
        { EIGHT ",RSHash,APHash", "php-hashes:JS,PJW,ELF,BKDR,SDBM,DJB,DEK,FNV,RS,AP" },
        { "php-hashes:BKDRHash", "php-hashes:BKDR" },
        { "php-hashes:FNV,JSHash", "php-hashes:FNV,JS" } };
    bf_error e;
    for (size_t i = 0; i < COUNT(names); i++)
        for (unsigned way = 0; way < 2; way++) {
            bf_spec older = { .scheme = names[i][0], .m = UINT64_C(1) << 32 }, ours = older;
            ours.scheme = names[i][1];
            bf_spec plan = older;
            CHECK(bf_plan(&plan, &e) == 0 && bf_plan(&plan, &e) == 0);
            bf_filter *f =
                way ? bf_open(&older, &e) : bf_from_bytes_as("\x80", 1, "bits", &older, &e);
            bf_filter *g = bf_from_bytes_as("\x80", 1, "bits", &ours, &e);
            CHECK(f && g);
            if (!f || !g) continue;
            CHECK(!strcmp(info_of(f).scheme, names[i][1]) && info_of(f).k == plan.k);
            CHECK_EQ(bf_add(f, "key", 3, &e), BF_ADDED);
            if (i + way == 0) /* reads a gigabyte */
                CHECK(bf_unite(g, f, &e) >= 0 && bf_test(g, "key", 3, &e) == 1);
            bf_close(f);
            bf_close(g);
        }
}

TEST(arguments_of_schemes)
{
    static const char *const bad[] = { "php-hashes", "php-hashes:", "php-hashes:JS,",
        "php-hashes:js", "php-hashes:JS,JS", "php-hashes:JS,JSHash", "php-hashes:Hash",
        "php-hashes:JSHashHash", "php-hashes:JSHash,", "php-hashes:JShash", EIGHT ",JSHash",
        EIGHT ",XHash", EIGHT "Hash", "php-hashes:JS,,FNV", "guava:", "guava:text",
        "classic:", "block:8", "java7:x", ":", "", "nosuch", "functions:x",
        "guava:chars_______________________________________________________________" };
    bf_error e;
    for (size_t i = 0; i < COUNT(bad); i++) {
        bf_spec spec = { .scheme = bad[i], .n = 1000, .p = 0.01 };
        e.msg[0] = 0;
        if (bf_plan(&spec, &e) != BF_EINVAL || !e.msg[0])
            FAILED("scheme \"%s\" is taken\n", bad[i]);
    }
    bf_spec spec = { .scheme = "php-hashes:FNV,DJB" };
    CHECK_EQ(bf_plan(&spec, &e), 0);
    CHECK(spec.m == UINT64_C(1) << 32 && spec.k == 2 && spec.n > 0 &&
          !strcmp(spec.scheme, "php-hashes:FNV,DJB"));
    bf_filter *a = bf_open(&(bf_spec){ .scheme = "guava:long", .n = 100, .p = 0.01 }, &e),
              *b = bf_open(&(bf_spec){ .scheme = "guava:int", .n = 100, .p = 0.01 }, &e);
    const bf_info i = info_of(a);
    CHECK(!strcmp(i.scheme, "guava:long") && i.m == 960 && i.k == 7 && i.p == 0.01 && !i.keyed);
    CHECK_REFUSED(bf_unite(a, b, &e), BF_EINVAL, "guava:int");
    uint8_t *bytes = malloc(i.image_bytes);
    CHECK_EQ(bf_to_bytes(a, bytes, i.image_bytes, &e), 0);
    CHECK(!bf_from_bytes(bytes, i.image_bytes, &(bf_spec){ .scheme = "guava" }, &e));
    CHECK_EQ(e.code, BF_EMISMATCH);
    bf_filter *c = bf_from_bytes(bytes, i.image_bytes, NULL, &e), *d = bf_copy(a, &e);
    CHECK_EQ(bf_equal(a, c, &e) & bf_equal(a, d, &e), 1);
    CHECK_EQ(bf_add(c, "12a", 3, &e), BF_EINVAL); /* the funnel survived */
    CLOSE(a, b, c, d);
    free(bytes);
}

TEST(keys_that_a_scheme_cannot_hold)
{
    static const struct {
        const char *scheme, *good, *bad;
    } cases[] = { { "java7", "\xf0\x9f\x98\x80", "\xed\xa0\x80" },
        { "java7", "\xc2\x80", "\xc1\x80" }, { "java7", "\xe0\xa0\x80", "\xe0\x80\x80" },
        { "java7", "\xf4\x8f\xbf\xbf", "\xf4\x90\x80\x80" },
        { "rs-dotnet", "\xef\xbf\xbf", "\xff" }, { "rs-dotnet-repo", "a", "\x80" },
        { "guava:chars", "\xe4\xb8\xad", "\xe4\xb8" },
        { "guava32:chars", "", "a\xf8\x80\x80\x80\x80" },
        { "guava:long", "9223372036854775807", "9223372036854775808" },
        { "guava:long", "-9223372036854775808", "-9223372036854775809" },
        { "guava:int", "2147483647", "2147483648" },
        { "guava-31:int", "-2147483648", "-2147483649" }, { "guava:int", "0", "" },
        { "guava:int", "-1", "-" }, { "guava:int", "10", "010" }, { "guava:long", "1", "+1" },
        { "guava:long", "1", "-0" }, { "guava:long", "1", "99999999999999999999" } };
    for (size_t i = 0; i < COUNT(cases); i++) {
        bf_error e;
        uint8_t each[3] = { 9, 9, 9 };
        uint64_t pos[16];
        const char *good = cases[i].good, *bad = cases[i].bad;
        bf_key keys[3] = { { good, strlen(good) }, { bad, strlen(bad) }, { "7", 1 } };
        bf_filter *f = bf_open(&(bf_spec){ .scheme = cases[i].scheme, .m = 6400, .k = 7 }, &e);
        CHECK_EQ(bf_add(f, bad, strlen(bad), &e), BF_EINVAL);
        CHECK_EQ(e.key, 0);
        CHECK_EQ(bf_test(f, bad, strlen(bad), NULL), BF_EINVAL);
        CHECK_EQ(bf_hashcode(f, bad, strlen(bad), pos, 16, &e), BF_EINVAL);
        CHECK_EQ(bf_add_many(f, keys, 3, each, &e), BF_EINVAL);
        CHECK(e.key == 1 && each[0] == 1 && each[1] == 9 && each[2] == 9);
        CHECK_EQ(bf_test(f, good, strlen(good), &e),
            1); /* what came before is added, what came after is not */
        CHECK_EQ(bf_test(f, "7", 1, &e), 0);
        bf_close(f);
    }
    bf_error e;
    CHECK_EQ(bf_plan(&(bf_spec){ .m = 1 }, &e), BF_EINVAL);
    CHECK(e.key == BF_NO_KEY);
}

TEST(functions_of_the_user)
{
    static bf_function *const others[] = { ours, length, length }, *const hole[] = { ours, NULL };
    static const bf_functions two = { .count = 2, .function = three },
                              other = { .count = 3, .function = others },
                              holes = { .count = 2, .function = hole },
                              none = { .count = 0, .function = three },
                              many = { .count = 17, .function = three };
    bf_error e;
    bf_functions mine = functions; /* the filter has its own copy */
    bf_filter *f = bf_open(&(bf_spec){ .m = 1000, .n = 100, .functions = &mine }, &e);
    mine = holes;
    const bf_info i = info_of(f);
    CHECK(i.k == 3 && !strcmp(i.scheme, "functions"));
    CHECK_EQ(bf_add(f, "abc", 3, &e), BF_ADDED);
    uint8_t *bytes = malloc(i.image_bytes);
    CHECK_EQ(bf_to_bytes(f, bytes, i.image_bytes, &e), 0);
    bf_filter *c = bf_copy(f, &e),
              *g = bf_from_bytes(bytes, i.image_bytes, &(bf_spec){ .functions = &functions }, &e);
    CHECK(c && g && bf_equal(f, c, &e) == 1 && bf_equal(f, g, &e) == 1 &&
          bf_test(g, "abc", 3, &e) == 1 && bf_test(c, "abd", 3, &e) == 0);
    CHECK(!bf_from_bytes(bytes, i.image_bytes, NULL, &e));
    CHECK_HAS(e.msg, "functions");
    CHECK(!bf_from_bytes(bytes, i.image_bytes, &(bf_spec){ .functions = &two }, &e));
    CHECK(!bf_from_bytes(bytes, i.image_bytes, &(bf_spec){ .functions = &other }, &e));
    CHECK_HAS(e.msg, "other functions");
    const bf_functions *bad[] = { &holes, &none, &many };
    for (size_t b = 0; b < 3; b++)
        CHECK(!bf_open(&(bf_spec){ .m = 1000, .n = 100, .functions = bad[b] }, &e) &&
              e.code == BF_EINVAL);
    CHECK(!bf_open(&(bf_spec){ .m = 1000, .k = 3, .scheme = "functions" }, &e) &&
          e.code == BF_EINVAL);
    CHECK(!bf_open(&(bf_spec){ .m = 1000, .n = 3, .scheme = "classic", .functions = &two }, &e) &&
          e.code == BF_EINVAL);
    CHECK(!bf_open(&(bf_spec){ .m = 1000, .k = 2, .functions = &functions }, &e) &&
          e.code == BF_EINVAL);
    CLOSE(f, c, g);
    free(bytes);
    /* in a file m alone sizes one, too: k is their number */
    const char *path = temp_path();
    const bf_spec there = { .m = 1000, .functions = &functions, .storage = path };
    CHECK((f = bf_open(&there, &e)) && bf_add(f, "abc", 3, &e) == BF_ADDED);
    CHECK((g = bf_open(&there, &e)) && bf_test(g, "abc", 3, &e) == 1);
    CLOSE(f, g);
    CHECK(!bf_open(&(bf_spec){ .m = 999, .functions = &functions, .storage = path }, &e));
    CHECK_NO_FILTER(bf_open(&(bf_spec){ .m = 1000, .functions = &other, .storage = path }, &e),
        BF_EMISMATCH, "other functions");
    unlink(path);
}

static int broken(void *c, int op, const uint64_t *p, size_t n, unsigned k, uint8_t *h)
{
    return 1;
}
TEST(a_failing_client_is_an_error)
{
    bf_error e;
    bf_client c = { broken, NULL };
    bf_filter *f = make("classic", 1000, 3, CLIENT, &c, NULL);
    CHECK_EQ(bf_add(f, "a", 1, &e), BF_EHOST);
    CHECK_EQ(e.code, BF_EHOST);
    CHECK_EQ(bf_test(f, "a", 1, NULL), BF_EHOST);
    bf_state st;
    CHECK_EQ(bf_get_state(f, &st, &e), BF_ENOTSUP);
    CHECK(!bf_copy(f, &e));
    bf_close(f);
}

/* ---- functions that may fail: a host's ---- */
typedef struct {
    unsigned calls, fails_at; /* the call that fails, counted from 1; 0: none */
    bf_filter *f;
} host;
static int host_call(void *ctx, const void *key, size_t len, uint64_t *digests)
{
    host *h = ctx;
    bf_error why;
    uint64_t sum = 5381;
    for (size_t i = 0; i < len; i++) sum = sum * 33 + ((const uint8_t *)key)[i];
    digests[0] = sum * UINT64_C(0x9E3779B97F4A7C15);
    digests[1] = sum ^ len;
    if (h->f) CHECK_EQ(bf_add(h->f, "inner", 5, &why), BF_EBUSY); /* its own filter is in use */
    return ++h->calls == h->fails_at;
}

TEST(functions_of_a_host_may_fail)
{
    enum { KEYS = 200 };
    host h = { 0 };
    const bf_functions functions = { .count = 2, .call = host_call, .ctx = &h };
    bf_error e;
    bf_key keys[KEYS];
    uint8_t each[KEYS];
    int number[KEYS];
    for (int i = 0; i < KEYS; i++) {
        number[i] = i;
        keys[i] = (bf_key){ number + i, sizeof *number };
    }
    for (unsigned at = 0; at < KEYS; at += at < 66 ? 1 : 31) {
        h = (host){ 0 };
        bf_filter *f = bf_open(&(bf_spec){ .m = 1000003, .n = 100, .functions = &functions }, &e);
        CHECK(f != NULL);
        h = (host){ .fails_at = at + 1, .f = f };
        CHECK_EQ(bf_add_many(f, keys, KEYS, each, &e), BF_EHOST);
        CHECK_EQ(e.key, at);
        h = (host){ 0 };
        CHECK_EQ(bf_test_many(f, keys, at, NULL, &e), at);
        CHECK_EQ(bf_test_many(f, keys + at, KEYS - at, NULL, &e), 0);
        h = (host){ .fails_at = 1 };
        CHECK_EQ(bf_add(f, "x", 1, &e), BF_EHOST);
        h = (host){ .fails_at = 1 };
        CHECK_EQ(bf_hashcode(f, "x", 1, NULL, 0, &e), BF_EHOST);
        bf_close(f);
    }
    h = (host){ .fails_at = 1 };
    CHECK(!bf_open(&(bf_spec){ .m = 1000, .n = 100, .functions = &functions }, &e) &&
          e.code == BF_EHOST);
}

int main(void) { return main_of_tests(); }
