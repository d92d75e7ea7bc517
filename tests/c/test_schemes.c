/* test_schemes.c - every scheme x home x kernels x batch size against the oracle: each answer, each bit. */
#include "../../core/seams.h"
#include "check.h"
#include "oracle.h"
#include <unistd.h>

enum { MOST = 1000, ROUNDS = 12 };
static const size_t sizes[] = { 0, 1, 2, 7, 8, 9, 63, 64, 65, 127, 200, MOST };
static const struct { uint64_t m; unsigned k; } shapes[] = { { 40000, 7 }, { 40000, 8 }, { 20480, 1 }, { 20480, 16 }, { 65536, 11 }, { 100, 3 }, { 1, 1 }, { 64, 5 }, { 99991, 2 } };
enum { MEMORY, ATOMIC, CLIENT, POSITIONS, MAPPED, HOMES };
static const char *const homes[] = { "memory", "memory, atomic", "client", "memory by positions", "file" };

static bf_filter *make(const char *scheme, uint64_t m, unsigned k, int home, bf_client *client, const char *path)
{
    bf_error e;
    bf_spec spec = { .m = m, .k = k, .scheme = scheme, .threads = home == ATOMIC, .client = home == CLIENT ? client : NULL,
                     .storage = home == MAPPED ? path : NULL };
    bf_filter *f = bf_open(&spec, &e);
    if (!f) { failed_here++; fprintf(stderr, "%s m=%llu k=%u %s: %s\n", scheme, (unsigned long long)m, k, homes[home], e.msg); return NULL; }
    if (home == POSITIONS) f->part.kernels = NULL;
    return f;
}

static void same_bits(bf_filter *f, const oracle *o, const char *home)
{
    bf_info i;
    bf_error e;
    bf_get_info(f, &i);
    uint8_t *bits = calloc(1, i.bitset_bytes);
    CHECK_EQ(bf_read_bits(f, 0, bits, i.bitset_bytes, &e), 0);
    for (uint64_t q = 0; q < i.m; q++)
        if ((bits[q / 8] >> (7 - q % 8) & 1) != o->cells[q]) { failed_here++; fprintf(stderr, "%s %s: bit %llu differs\n", o->scheme, home, (unsigned long long)q); break; }
    free(bits);
}

static void batch(bf_filter *f, oracle *o, uint32_t *seed, size_t n, const char *home)
{
    static o_key text[MOST];
    static bf_key keys[MOST];
    uint8_t each[MOST], want[MOST];
    bf_error e;
    int64_t present = 0, fresh = 0;
    for (size_t i = 0; i < n; i++) keys[i] = o_make(text + i, (o_random(seed) >> 8) % 3000);
    for (size_t i = 0; i < n; i++) present += want[i] = (uint8_t)o_test(o, keys[i].ptr, keys[i].len);
    CHECK_EQ(bf_test_many(f, keys, n, each, &e), present);
    if (memcmp(each, want, n)) { failed_here++; fprintf(stderr, "%s %s: test of %zu keys differs\n", o->scheme, home, n); }
    CHECK_EQ(bf_test_many(f, keys, n, NULL, &e), present);
    for (size_t i = 0; i < n; i++) fresh += want[i] = (uint8_t)o_add(o, keys[i].ptr, keys[i].len);
    if (n == 1) CHECK_EQ(each[0] = (uint8_t)bf_add(f, keys[0].ptr, keys[0].len, &e), fresh);
    else CHECK_EQ(bf_add_many(f, keys, n, each, &e), fresh);
    if (memcmp(each, want, n)) { failed_here++; fprintf(stderr, "%s %s: add of %zu keys differs\n", o->scheme, home, n); }
    for (size_t i = 0; i < n; i++) CHECK_EQ(bf_test(f, keys[i].ptr, keys[i].len, &e), 1);
}

static void against_oracle(const char *scheme, uint64_t m, unsigned k, int home)
{
    char path[] = "/tmp/bf-schemes-XXXXXX.bloom";
    int fd = mkstemps(path, 6);
    if (fd >= 0) { close(fd); unlink(path); }
    uint8_t *client_cells = calloc(1, m + 512);
    bf_client client = { o_apply, client_cells };
    bf_filter *f = make(scheme, m, k, home, &client, path);
    if (f) {
        bf_info i;
        bf_get_info(f, &i);
        oracle o = { scheme, i.m, k, calloc(1, i.m) };
        uint32_t seed = (uint32_t)(m + k);
        for (int r = 0; r < ROUNDS; r++) for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) batch(f, &o, &seed, sizes[s], homes[home]);
        if (home == CLIENT) CHECK(!memcmp(client_cells, o.cells, i.m));
        else same_bits(f, &o, homes[home]);
        free(o.cells);
    }
    bf_close(f);
    unlink(path);
    free(client_cells);
}

static void every_scheme_in_every_home(void)
{
    for (size_t s = 0; bf_scheme_name(s); s++)
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
            for (int home = 0; home < HOMES; home++) against_oracle(bf_scheme_name(s), shapes[i].m, shapes[i].k, home);
}

static void every_k(void)
{
    for (const bf_scheme *s = bf_schemes; s->name; s++)
        for (unsigned k = 1; k <= s->layout->k_max && k <= 40; k++) against_oracle(s->name, 3000, k, MEMORY);
    against_oracle("classic", 100000, 347, MEMORY);
    against_oracle("classic", 100000, BF_K_MAX, CLIENT);
}

static void kernels_of_the_cpu(void)
{
    printf("     kernels: %s\n", bf_has_avx2() ? "avx2" : "portable");
    for (const bf_scheme *s = bf_schemes; s->name; s++) {
        CHECK(s->layout->k_max <= BF_K_MAX);
        const bf_kernels *both[2] = { s->layout->portable, s->layout->avx2 };
        for (int i = 0; i < 2; i++)
            if (both[i]) CHECK(both[i]->lag + both[i]->step <= BF_RING && BF_RING % both[i]->step == 0 && both[i]->lag % both[i]->step == 0);
    }
}

static void hashcode_is_the_bits(void)
{
    bf_error e;
    for (size_t s = 0; bf_scheme_name(s); s++) {
        bf_filter *f = make(bf_scheme_name(s), 5000, 7, MEMORY, NULL, NULL);
        bf_info i;
        bf_get_info(f, &i);
        oracle o = { bf_scheme_name(s), i.m, 7, NULL };
        uint64_t pos[7], want[7], few[2] = { 0, 77 };
        CHECK_EQ(bf_hashcode(f, "Hello", 5, pos, 7, &e), 7);
        o_positions(&o, "Hello", 5, want);
        CHECK(!memcmp(pos, want, sizeof pos));
        CHECK_EQ(bf_hashcode(f, "Hello", 5, few, 1, &e), 7);
        CHECK(few[0] == want[0] && few[1] == 77);
        bf_close(f);
    }
}

static int broken(void *c, int op, const uint64_t *p, size_t n, unsigned k, uint8_t *h) { (void)c; (void)op; (void)p; (void)n; (void)k; (void)h; return 1; }
static void a_failing_client_is_an_error(void)
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

int main(void)
{
    RUN(kernels_of_the_cpu);
    RUN(every_scheme_in_every_home);
    RUN(every_k);
    RUN(hashcode_is_the_bits);
    RUN(a_failing_client_is_an_error);
    return FINISH();
}
