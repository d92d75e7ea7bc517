/* classic.c - the textbook filter: k positions anywhere in 0..m-1, for any m. Positions come from
 * enhanced double hashing (Dillinger and Manolios, 2004): position j = mulhi(h, m), then h += g and
 * g += (j+1) * BF_MUM_2. */
#include "layout/counting.h"

typedef struct {
    uint64_t h, g;
} cursor;

static inline cursor cursor_of(uint64_t h) { return (cursor){ h, bf_mum(h, BF_MUM_1) }; }
static inline cursor step(cursor c, unsigned j)
{
    return (cursor){ c.h + c.g, c.g + (j + 1) * BF_MUM_2 };
}
static inline uint64_t position_at(const bf_geometry *g, cursor c) { return bf_mulhi(c.h, g->m); }

static void classic_positions(const bf_geometry *g, const uint64_t *d, size_t n, uint64_t *pos)
{
    for (size_t i = 0; i < n; i++) {
        cursor c = cursor_of(d[i]);
        for (unsigned j = 0; j < g->k; c = step(c, j++)) *pos++ = position_at(g, c);
    }
}

/* The kernels are written once for bits and counters, and for prefetches into the first or second
 * level cache. `row`, a constant at compile time, selects the variant. */
#define KIND static inline __attribute__((always_inline))
typedef struct {
    bool counting, far;
} kernel_row;
/* Digests of keys to test or add, and of keys whose first word is prefetched meanwhile. */
typedef struct {
    const uint64_t *d;
    size_t n;
    const uint64_t *ahead;
    size_t nahead;
} batch;
KIND const uint64_t *word_of(const uint64_t *words, uint64_t q, bool counting)
{
    return words + (q >> (6 - 2 * counting));
}
KIND bool is_set(const uint64_t *words, uint64_t q, bool counting)
{
    return counting ? bf_cell(words, q) != 0 : (bf_word(words + (q >> 6)) & bf_mask_of(q)) != 0;
}

KIND void fetch_first(
    const bf_geometry *g, const uint64_t *words, const uint64_t *d, size_t n, kernel_row row)
{
    for (size_t i = 0; i < n; i++)
        bf_fetch(word_of(words, bf_mulhi(d[i], g->m), row.counting), row.far);
}

KIND bool has(const bf_geometry *g, const uint64_t *words, uint64_t d, bool counting)
{
    cursor c = cursor_of(d);
    for (unsigned j = 0; j < g->k; c = step(c, j++))
        if (!is_set(words, position_at(g, c), counting)) return false;
    return true;
}

/* The keys of a batch that may be present: n cursors, and the indexes of the keys in the batch. */
typedef struct {
    cursor c[BF_CHUNK];
    uint8_t key[BF_CHUNK];
    size_t n;
} survivors;
/* Tests positions j to j + count - 1 of the survivors, removes the absent keys, and prefetches the
 * next two positions of the others. A branch per key would often be mispredicted. */
KIND void round_of(const bf_geometry *g, const uint64_t *words, survivors *s, unsigned j,
    unsigned count, kernel_row row)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->n; i++) {
        cursor c = s->c[i];
        bool set = true;
        for (unsigned more = 0; more < count; c = step(c, j + more++))
            set &= is_set(words, position_at(g, c), row.counting);
        s->c[kept] = c;
        s->key[kept] = s->key[i];
        bf_fetch(word_of(words, position_at(g, c), row.counting), row.far);
        bf_fetch(word_of(words, position_at(g, step(c, j + count)), row.counting), row.far);
        kept += set;
    }
    s->n = kept;
}

/* Tests keys in rounds: first one position, then two per round. The first position alone rejects
 * half of the absent keys in a filter with n keys. */
KIND uint64_t rounds(const bf_geometry *g, const uint64_t *words, batch b, kernel_row row)
{
    survivors s;
    s.n = b.n;
    unsigned j = 1;
    fetch_first(g, words, b.ahead, b.nahead, row);
    for (size_t i = 0; i < b.n; i++) {
        s.c[i] = cursor_of(b.d[i]);
        s.key[i] = (uint8_t)i;
    }
    round_of(g, words, &s, 0, 1, row);
    for (; j + 1 < g->k && s.n; j += 2) round_of(g, words, &s, j, 2, row);
    if (j < g->k && s.n) round_of(g, words, &s, j, 1, row);
    uint64_t present = 0;
    for (size_t i = 0; i < s.n; i++) present |= UINT64_C(1) << s.key[i];
    return present;
}

KIND void fetch_all(const bf_geometry *g, const uint64_t *words, uint64_t d, kernel_row row)
{
    cursor c = cursor_of(d);
    for (unsigned j = 0; j < g->k; c = step(c, j++))
        bf_fetch(word_of(words, position_at(g, c), row.counting), row.far);
}

enum { KEPT = 16 };
/* Adds a key with given positions; returns true if the key was present. Has no branch per bit,
 * because a single bit is unpredictable, while all bits together are often predictable. */
KIND bool put_at(uint64_t *words, const uint64_t *pos, unsigned k, bf_add_mode how)
{
    bool all = true;
    for (unsigned j = 0; how == BF_ADD_IF_ABSENT && j < k; j++)
        all &= (bf_word(words + (pos[j] >> 6)) & bf_mask_of(pos[j])) != 0;
    if (how == BF_ADD_IF_ABSENT && all) return true;
    for (unsigned j = 0; j < k; j++)
        all &= bf_or(words + (pos[j] >> 6), bf_mask_of(pos[j]), how == BF_ADD_ATOMIC);
    return all;
}

static __attribute__((noinline)) bool spare_many(const bf_geometry *g, uint64_t *words, uint64_t d)
{
    uint64_t pos[BF_POSITIONS];
    classic_positions(g, &d, 1, pos);
    return put_at(words, pos, g->k, BF_ADD_IF_ABSENT);
}

static inline bool spare_key(const bf_geometry *g, uint64_t *words, uint64_t d)
{
    uint64_t few[KEPT];
    cursor c = cursor_of(d);
    if (g->k > KEPT) return spare_many(g, words, d);
    for (unsigned j = 0; j < g->k; c = step(c, j++)) few[j] = position_at(g, c);
    return put_at(words, few, g->k, BF_ADD_IF_ABSENT);
}

KIND bool put_bits(const bf_geometry *g, uint64_t *words, uint64_t d, bf_add_mode how)
{
    if (how == BF_ADD_IF_ABSENT) return spare_key(g, words, d);
    cursor c = cursor_of(d);
    bool present = true;
    for (unsigned j = 0; j < g->k; c = step(c, j++)) {
        uint64_t q = position_at(g, c);
        present &= bf_or(words + (q >> 6), bf_mask_of(q), how == BF_ADD_ATOMIC);
    }
    return present;
}

static __attribute__((noinline)) bool put_counters_of_many(
    const bf_geometry *g, uint64_t *words, uint64_t d, bool atomic)
{
    uint64_t pos[BF_POSITIONS];
    classic_positions(g, &d, 1, pos);
    return bf_counters_add_many(words, pos, g->k, atomic);
}

static inline bool put_counters(const bf_geometry *g, uint64_t *words, uint64_t d, bool atomic)
{
    uint64_t pos[COUNTING_FEW];
    if (g->k > COUNTING_FEW) return put_counters_of_many(g, words, d, atomic);
    classic_positions(g, &d, 1, pos);
    return counters_add(words, pos, g->k, atomic, false);
}

KIND bool put(const bf_geometry *g, uint64_t *words, uint64_t d, bf_add_mode how, bool counting)
{
    return counting ? put_counters(g, words, d, how == BF_ADD_ATOMIC) : put_bits(g, words, d, how);
}

enum { NEAR = 16 }; /* while a key is added, the words of this many next keys are prefetched */
KIND void place(
    const bf_geometry *g, const uint64_t *words, uint64_t d, uint64_t pos[KEPT], bool far)
{
    cursor c = cursor_of(d);
    for (unsigned j = 0; j < g->k; c = step(c, j++)) {
        pos[j] = position_at(g, c);
        bf_fetch(words + (pos[j] >> 6), far);
    }
}

/* for small k: computes the positions once, for the prefetch and for the add */
KIND uint64_t put_kept(
    const bf_geometry *g, uint64_t *words, const uint64_t *d, size_t n, bf_add_mode how, bool far)
{
    uint64_t at[NEAR][KEPT], present = 0;
    const bf_geometry own = *g;
    for (size_t i = 0; i < n && i < NEAR; i++) place(&own, words, d[i], at[i], far);
    for (size_t i = 0; i < n; i++) {
        uint64_t *pos = at[i % NEAR];
        present |= (uint64_t)put_at(words, pos, own.k, how) << i;
        if (i + NEAR < n) place(&own, words, d[i + NEAR], pos, far);
    }
    return present;
}

/* Adds one key after the other, not in rounds: if keys of a batch have a bit in common, the order
 * of the adds decides which key is new, and the answers must not depend on the batch size. */
KIND uint64_t put_all(
    const bf_geometry *g, uint64_t *words, batch b, bf_add_mode how, kernel_row row)
{
    uint64_t present = 0;
    fetch_first(g, words, b.ahead, b.nahead, row);
    if (!row.counting && g->k <= KEPT) return put_kept(g, words, b.d, b.n, how, row.far);
    for (size_t i = 0; i < b.n && i < NEAR; i++) fetch_all(g, words, b.d[i], row);
    for (size_t i = 0; i < b.n; i++) {
        if (i + NEAR < b.n) fetch_all(g, words, b.d[i + NEAR], row);
        present |= (uint64_t)put(g, words, b.d[i], how, row.counting) << i;
    }
    return present;
}

#define TEST(row, ...)                                                                             \
    static uint64_t test_##row(const bf_geometry *g, const uint64_t *words, const uint64_t *d,     \
        size_t n, const uint64_t *ahead, size_t nahead)                                            \
    {                                                                                              \
        return rounds(g, words, (batch){ d, n, ahead, nahead }, (kernel_row){ __VA_ARGS__ });      \
    }
#define ADD(name, how, ...)                                                                        \
    static uint64_t name(const bf_geometry *g, uint64_t *words, const uint64_t *d, size_t n,       \
        const uint64_t *ahead, size_t nahead)                                                      \
    {                                                                                              \
        const batch keys = { d, n, ahead, nahead };                                                \
        return put_all(g, words, keys, how, (kernel_row){ __VA_ARGS__ });                          \
    }
#define ADD_ONE(name, how, counting)                                                               \
    static bool name(const bf_geometry *g, uint64_t *words, const uint64_t *d)                     \
    {                                                                                              \
        return put(g, words, *d, how, counting);                                                   \
    }
#define SINGLES(name, counting)                                                                    \
    static bool test_one_##name(const bf_geometry *g, const uint64_t *words, const uint64_t *d)    \
    {                                                                                              \
        return has(g, words, *d, counting);                                                        \
    }                                                                                              \
    ADD_ONE(add_one_##name, BF_ADD_PLAIN, counting)                                                \
    ADD_ONE(or_one_##name, BF_ADD_ATOMIC, counting)                                                \
    ADD_ONE(spare_one_##name, BF_ADD_IF_ABSENT, counting)
#define ROW(row, name, counting, far)                                                              \
    static void fetch_##row(                                                                       \
        const bf_geometry *g, const uint64_t *words, const uint64_t *d, size_t n)                  \
    {                                                                                              \
        fetch_first(g, words, d, n, (kernel_row){ counting, far });                                \
    }                                                                                              \
    TEST(row, counting, far)                                                                       \
    ADD(add_##row, BF_ADD_PLAIN, counting, far)                                                    \
    ADD(or_##row, BF_ADD_ATOMIC, counting, far)                                                    \
    ADD(spare_##row, BF_ADD_IF_ABSENT, counting, far)                                              \
    static const bf_kernels kernels_##row = { BF_CHUNK, BF_CHUNK, fetch_##row, test_##row,         \
        { add_##row, or_##row, spare_##row }, test_one_##name,                                     \
        { add_one_##name, or_one_##name, spare_one_##name }, NULL };
SINGLES(bits, false)
SINGLES(counters, true)
ROW(bits, bits, false, false)
ROW(far, bits, false, true)
ROW(counters, counters, true, false)

const bf_layout bf_layout_classic = { "classic", BF_K_MAX, 1, bf_rate_classic, bf_distinct_classic,
    classic_positions, { { &kernels_bits, NULL, &kernels_far }, { &kernels_counters } },
    BF_SHARDS_BY_HASH };
