/* test_grow.c - filters that grow: against an exact set, at every moment of growing, in memory and
 * in a mapped file; rates and sizes; sets.  Bytes and keyed ones: test_image.c; several at once:
 * test_race.c.  Runs with both kernels.  About core/parts/grow.c, core/parts/span.c,
 * core/size/sizing_parts.c. */
#define _GNU_SOURCE
#include "../../core/sets/sets.h"
#include "growing_keys.h"
#include "native.h"

/* ---- the oracle: keys and nothing else.  "new" may be wrong only as "not new", and no oftener
 * than p. ---- */
static void grows(bf_spec spec, uint64_t keys, bool file)
{
    if (file) { spec.storage = path; }
    keys = SHORT(keys, keys / 10);
    bf_filter *f = MADE(&spec);
    uint64_t fresh = 0, at = 0;
    unsigned most = 0;
    while (at < keys) { /* singles and batches of every size, and back again */
        const size_t n = at % 5 == 0 ? 1 : at % 1500 + 1;
        uint8_t each[1501];
        if (n == 1) {
            int rc = add(f, 'k', at);
            CHECK(rc >= 0);
            fresh += (uint64_t)rc;
        } else {
            int64_t rc = many(f, true, 'k', at, n, each);
            CHECK(rc >= 0);
            fresh += (uint64_t)rc;
        }
        at += n;
        if (parts_of(f) == most) continue;
        most = parts_of(f); /* it has just grown */
        CHECK_EQ(many(f, false, 'k', 0, at, NULL), at);
        CHECK_EQ(many(f, true, 'k', 0, at, NULL), 0);
    }
    CHECK_EQ(many(f, false, 'k', 0, at, NULL), at);
    CHECK(most >= 2);
    CHECK(fresh <= at &&
          (double)(at - fresh) <= spec.p * (double)at + 5 * sqrt(spec.p * (double)at) + 5);
    rate_is(f, spec.p, SHORT(200000, 20000));
    bf_state st;
    CHECK_EQ(bf_get_state(f, &st, &e), 0);
    CHECK(fabs(st.count - (double)fresh) < 0.05 * (double)fresh + 50);
    CHECK(st.fpr <= spec.p);
    bf_filter *again = file ? OPEN(.storage = path) : must(bf_copy(f, &e), __LINE__);
    CHECK_EQ(bf_equal(again, f, &e), 1);
    CHECK_EQ(many(again, false, 'k', 0, at, NULL), at);
    CHECK_EQ(parts_of(again), most);
    if (spec.grow == 2 && spec.p == 0.01) { /* and grows on, part for part */
        bf_filter *copy = must(bf_copy(f, &e), __LINE__);
        uint64_t more = 0;
        for (; parts_of(again) == most && more < 20 * at; more += at)
            CHECK(many(again, true, 'l', more, at, NULL) >= 0);
        CHECK(parts_of(again) > most && bf_equal(again, copy, &e) == 0);
        CHECK(many(copy, true, 'l', 0, more, NULL) >= 0 && bf_equal(again, copy, &e) == 1);
        CHECK_EQ(many(again, false, 'k', 0, at, NULL), at);
        bf_close(copy);
    }
    CLOSE(again, f);
    if (file) unlink(path);
}

TEST(against_an_exact_set)
{
    for (size_t s = 0; native_scheme(s); s++)
        for (int file = 0; file < 2; file++) {
            grows((bf_spec){ .n = 100, .p = 0.01, .grow = 2, .scheme = native_scheme(s) }, 60000,
                file);
            grows((bf_spec){ .n = 1000, .p = 0.001, .grow = 1.5, .scheme = native_scheme(s) },
                60000, file);
            grows((bf_spec){ .n = 1, .p = 0.05, .grow = 10, .scheme = native_scheme(s) }, 60000,
                file);
        }
    grows((bf_spec){ .n = 5000, .p = 0.01, .grow = 1.0001 }, 60000, false);
    grows((bf_spec){ .n = 1000, .p = 1e-5, .grow = 2 }, 60000, false);
    grows((bf_spec){ .n = 1000, .p = 0.3, .grow = 2 }, 60000, false);
    grows((bf_spec){ .n = 1000, .p = 0.01, .grow = 2, .k = 5 }, 60000, false);
    grows((bf_spec){ .n = 1000, .p = 0.01, .grow = 2, .threads = true }, 60000, false);
}

/* What the issue asks: 10^3 -> 10^7 keys (10^6 under a sanitizer, an eighth of that under a slow
 * one). */
TEST(a_thousand_to_ten_million)
{
    const uint64_t keys = SHORT(getenv("BLOOMFILTER_SANITIZED") ? 1000000 : 10000000, 125000);
    static const double rates[] = { 0.01, 0.001 };
    for (int r = 0; r < 2; r++) {
        bf_spec right = { .n = keys, .p = rates[r] };
        bf_filter *f = OPEN(.n = 1000, .p = rates[r], .grow = 2);
        CHECK(many(f, true, 'k', 0, keys, NULL) > 0);
        CHECK_EQ(many(f, false, 'k', 0, keys, NULL), keys);
        rate_is(f, 1.1 * rates[r], SHORT(1000000, 100000));
        const bf_info i = info_of(f);
        CHECK_EQ(bf_plan(&right, &e), 0);
        CHECK((double)i.m <= 2.2 * (double)right.m);
        printf("     p=%g: %u parts, m %.3f of a right-sized one's\n", rates[r], i.part_count,
            (double)i.m / (double)right.m);
        bf_close(f);
    }
}

TEST(parts_follow_each_other)
{
    bf_filter *f = OPEN(.n = 1000, .p = 0.01, .grow = 2);
    many(f, true, 'k', 0, 300000, NULL);
    bf_part_info p;
    uint64_t bits = 0, keys = 0, pos[64];
    double sum = 0;
    const bf_info i = info_of(f);
    CHECK(i.grow == 2 && i.n == 1000 && i.p == 0.01 && i.part_count > 4);
    for (unsigned q = 0; q < i.part_count; q++) {
        CHECK_EQ(bf_get_part(f, q, &p, &e), 0);
        CHECK_EQ(p.first_bit, bits);
        CHECK(q + 1 == i.part_count ? p.keys <= p.n : p.keys == p.n);
        bits += p.m;
        keys += p.keys;
        sum += p.p;
    }
    CHECK_EQ(bits, i.m);
    CHECK(sum <= 0.01 && keys > 299000 && keys <= 300000);
    CHECK_EQ(bf_get_part(f, i.part_count, &p, &e), BF_EINVAL);
    CHECK_EQ(bf_hashcode(f, "new", 3, pos, 64, &e), i.k); /* in the newest part: what an add sets */
    CHECK_EQ(bf_test(f, "new", 3, &e), 0);
    uint8_t *bitset = malloc(i.bitset_bytes);
    for (int round = 0; round < 2; round++) {
        CHECK_EQ(bf_read_bits(f, 0, bitset, i.bitset_bytes, &e), 0);
        unsigned set = 0;
        for (unsigned j = 0; j < i.k; j++) {
            CHECK(pos[j] >= i.m - p.m && pos[j] < i.m);
            set += bitset[pos[j] / 8] >> (7 - pos[j] % 8) & 1;
        }
        CHECK(round ? set == i.k : set < i.k);
        bf_add(f, "new", 3, &e);
    }
    uint8_t some[100];
    CHECK_EQ(
        bf_read_bits(f, p.first_bit / 8 - 50, some, 100, &e), 0); /* over the seam of two parts */
    CHECK(!memcmp(some, bitset + p.first_bit / 8 - 50, 100));
    CHECK_EQ(bf_read_bits(f, i.bitset_bytes - 10, some, 11, &e), BF_EINVAL);
    free(bitset);
    bf_close(f);
}

/* ---- sets ---- */
/* In batches or one by one: the same parts with the same bits, also where a batch ends a part, with
 * keys that it names twice. */
TEST(batches_are_single_keys)
{
    for (size_t size = 1; size <= 600; size = size * 7 / 3 + 1) {
        bf_filter *a = OPEN(.n = 50, .p = 0.01, .grow = 2),
                  *b = OPEN(.n = 50, .p = 0.01, .grow = 2);
        bf_key keys[600];
        name t[600];
        for (uint64_t i = 0; i < 60000; i += size) {
            int64_t sum = 0;
            for (size_t j = 0; j < size; j++) {
                keys[j] = key_of(t + j, 'k', (i + j) / 2);
                sum += bf_add(b, keys[j].ptr, keys[j].len, &e);
            }
            if (bf_add_many(a, keys, size, NULL, &e) != sum || parts_of(a) != parts_of(b)) {
                failed_here++;
                break;
            }
        }
        CHECK(parts_of(a) > 1 && bf_equal(a, b, &e) == 1);
        CLOSE(a, b);
    }
}

/* A handle that does not know yet what another one made of the file: its whole filter has all parts
 * all the same. */
TEST(whole_ones_know_all_parts)
{
    char saved[80];
    snprintf(saved, sizeof saved, "%s.saved", path);
    for (int how = 0; how < 5; how++) {
        unlink(path);
        bf_filter *a = OPEN(.n = 100, .p = 1e-6, .grow = 2, .storage = path),
                  *b = OPEN(.storage = path), *got = NULL;
        const bf_info i = info_of(b);
        many(a, true, 'k', 0, 5000, NULL);
        CHECK(parts_of(a) == 2 && parts_of(b) == 1);
        uint8_t *few = malloc(i.image_bytes), *all;
        if (how == 0) {
            int64_t n = bf_bytes_as(b, NULL, &e);
            all = malloc((size_t)n);
            CHECK_EQ(bf_to_bytes_as(b, NULL, all, (uint64_t)n, &e), 0);
            got = bf_from_bytes(all, (size_t)n, NULL, &e);
            free(all);
        } else if (how == 1) { /* a length that is too short by now is refused, not cut to */
            CHECK_REFUSED(
                bf_to_bytes(b, few, i.image_bytes, &e), BF_EINVAL, "cap must be at least");
            CHECK_EQ(bf_to_bytes_as(b, NULL, few, i.image_bytes, &e),
                0); /* as it was when that was asked for */
            CHECK_EQ(bf_to_bytes_as(b, NULL, few, i.image_bytes - 1, &e), BF_EINVAL);
            got = bf_from_bytes(few, i.image_bytes, NULL, &e);
            CHECK(got && parts_of(got) == 1 && many(got, false, 'k', 0, 100, NULL) == 100);
        } else if (how == 2)
            CHECK(bf_save(b, saved, &e) == 0 && (got = bf_load(saved, NULL, &e)));
        else if (how == 3)
            got = bf_copy(b, &e);
        else
            CHECK_EQ(bf_equal(b, a, &e), 1);
        if (got && how != 1) CHECK_EQ(many(got, false, 'k', 0, 5000, NULL), 5000);
        CHECK(got || how == 4);
        free(few);
        CLOSE(a, b, got);
    }
    unlink(saved);
    unlink(path);
}

TEST(sets)
{
    bf_filter *a = OPEN(.n = 100, .p = 0.01, .grow = 2), *b = OPEN(.n = 100, .p = 0.01, .grow = 2),
              *fixed = OPEN(.n = 100, .p = 0.01);
    many(a, true, 'a', 0, 5000, NULL);
    many(b, true, 'b', 0, 5000, NULL);
    CHECK_EQ(parts_of(a), parts_of(b));
    CHECK_EQ(bf_unite(a, b, &e), 0);
    CHECK_EQ(many(a, false, 'a', 0, 5000, NULL) + many(a, false, 'b', 0, 5000, NULL), 10000);
    CHECK_EQ(bf_unite(a, a, &e), 0);
    many(a, true, 'c', 0, 5000, NULL); /* full ones are not filled further */
    CHECK_REFUSED(bf_intersect(a, b, &e), BF_EINVAL, "cannot be intersected");
    CHECK_REFUSED(bf_unite(a, fixed, &e), BF_EINVAL, "one grows and the other is of fixed size");
    CHECK_EQ(bf_equal(b, fixed, &e), 0);
    many(b, true, 'b', 5000, 50000, NULL);
    const unsigned most = parts_of(b);
    CHECK(parts_of(a) < most);
    for (int order = 0; order < 2; order++) { /* parts that one lacks are empty */
        bf_filter *both = order ? bf_union(a, b, &e) : bf_union(b, a, &e);
        CHECK(both && parts_of(both) == most);
        CHECK_EQ(many(both, false, 'a', 0, 5000, NULL) + many(both, false, 'b', 0, 55000, NULL) +
                     many(both, false, 'c', 0, 5000, NULL),
            65000);
        rate_is(both, 0.05, 20000);
        CHECK_EQ(many(both, true, 'd', 0, 5000, NULL) > 4800, 1);
        bf_close(both);
    }
    unlink(path);
    bf_filter *file = OPEN(.n = 100, .p = 0.01, .grow = 2, .storage = path);
    CHECK(file && bf_unite(file, b, &e) == 0 && bf_equal(file, b, &e) == 1);
    CHECK_EQ(bf_unite(a, file, &e), 0);
    CHECK(parts_of(a) == most && many(a, false, 'b', 0, 55000, NULL) == 55000);
    bf_close(file);
    unlink(path);
    CHECK_EQ(bf_clear(a, &e), 0);
    CHECK_EQ(many(a, false, 'a', 0, 5000, NULL), 0);
    CHECK_EQ(many(a, true, 'a', 0, 5000, NULL), 5000);
    CLOSE(a, b, fixed);
}

/* A look at a sample of the parts gives back the lock that it takes. */
TEST(a_sample_holds_no_lock)
{
    bf_error e;
    uint64_t wait;
    bf_filter *f = bf_open(&(bf_spec){ .n = 10, .p = 0.01, .grow = 2, .threads = true }, &e);
    CHECK(f && bf_sample_saturated(f, &wait, &e) == 0);
    CHECK_EQ(bf_int_load_acquire(&f->lock_holder), 0);
    bf_close(f);
}

int main(void) { return main_in_folder(); }
