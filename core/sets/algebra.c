/* algebra.c - set operations on two filters: union, intersection, equality, inclusion, and
 * estimates of sizes. Combines part i of one filter with part i of the other; in forgetting filters
 * the parts of the same epoch. */
#include "bits/bits.h"
#include "sets/rebuild.h"
#include "parts/parts.h"
#include "sets/sets.h"
#include <math.h>
#include <stdlib.h>

/* ---- union and intersection, into one of the two filters ---- */
/* Compares the sizes of the parts that both filters have. */
static int same_parts(bf_filter *a, bf_filter *b, bf_error *err)
{
    const unsigned n = bf_parts_count(a), o = bf_parts_count(b);
    for (unsigned i = 0; i < n && i < o; i++) {
        const uint64_t m = a->part[i]->bitmap.g.m, other = b->part[i]->bitmap.g.m;
        if (m != other)
            return bf_fail(err, BF_EINVAL,
                "filters that grow must have parts of equal sizes: part %u has m=%llu here and "
                "m=%llu there",
                i, (ull)m, (ull)other);
    }
    return 0;
}

/* A union or an intersection; words: its function for words in addressable memory. */
typedef struct {
    bf_change how;
    void (*words)(uint64_t *into, const uint64_t *from, uint64_t nwords, bool atomic);
} op;

/* After a union: raises the number of keys of a growing filter's part. */
static int raise_keys(bf_filter *into, bf_part *to, bf_error *err)
{
    uint64_t ones;
    bf_state st;
    if (!into->variant->grows) return 0;
    const int rc = bf_part_ones(to, &ones, NULL, err);
    if (rc < 0) return rc;
    bf_estimate(into->desc.scheme, into->secret, &to->bitmap.g, ones, &st);
    bf_live_raise(to->live, (int64_t)fmin(st.count, (double)to->bitmap.g.m));
    return 0;
}

static int combine_part(bf_filter *into, bf_part *to, bf_part *from, op o, bf_error *err)
{
    bf_block_reader v;
    const uint64_t *w;
    int rc = bf_reader_open(&v, from, err);
    while ((w = bf_reader_next(&v, &rc)))
        o.words(to->bitmap.store.words + v.at, w, v.n, into->atomic);
    bf_reader_close(&v);
    return rc < 0 ? rc : raise_keys(into, to, err);
}

/* Appends the parts that `into` lacks of the first n of `from`, as if it had grown to them. */
static int grow_equally(bf_filter *into, bf_filter *from, unsigned n, bf_error *err)
{
    int rc = same_parts(into, from, err);
    for (unsigned have; rc >= 0 && (have = bf_parts_count(into)) < n;)
        if ((rc = bf_chain_next(into, have, err)) >= 0) rc = same_parts(into, from, err);
    return rc < 0 ? rc : 0;
}

static int combine_parts(bf_filter *into, bf_filter *from, op o, bf_error *err)
{
    const unsigned n = bf_parts_count(from); /* a filter may grow during the loop */
    int rc = grow_equally(into, from, n, err);
    for (unsigned i = 0; rc >= 0 && i < n; i++)
        rc = combine_part(into, into->part[i], from->part[i], o, err);
    return rc;
}

typedef struct {
    bf_filter *into;
    bf_part *from;
    op o;
} epoch_pair;
static int combine_epoch(void *ctx, bf_part *to, bf_error *err)
{
    const epoch_pair *m = ctx;
    return combine_part(m->into, to, m->from, m->o, err);
}

/* Combines each living part of `from` with the part of the same epoch. If the clocks of two
 * machines differ, `from` may have a part of a future epoch. That part is combined with the present
 * one: with a future epoch `into` would forget other keys, and without the part its keys would be
 * lost. */
static int combine_epochs(bf_filter *into, bf_filter *from, op o, bf_error *err)
{
    int64_t now = 0;
    int rc = bf_parts_now(into, &now, err);
    for (unsigned i = 0; rc >= 0 && i < bf_parts_count(from); i++) {
        epoch_pair m = { into, from->part[i], o };
        const int64_t e = bf_live(m.from->live);
        if (e == BF_NEVER || e < bf_oldest_epoch(into, now)) continue;
        rc = bf_window_with_part(into, e < now ? e : now, combine_epoch, &m, err);
    }
    return rc;
}

static bool is_remote(const bf_filter *f) { return !f->part[0]->bitmap.store.words; }

/* Returns f, or if f is in Redis, where an epoch may begin at any time, a copy in memory. Sets
 * *copy to the copy, which the caller closes, or to NULL. */
static bf_filter *snapshot(bf_filter *f, bf_filter **copy, bf_error *err)
{
    *copy = NULL;
    return is_remote(f) ? (*copy = bf_copy_entered(f, err)) : f;
}

/* ---- into a filter whose bits are not in addressable memory: all parts in one bitmap ---- */
/* Returns the part of `into` with which part i of `from` is combined, or NULL. A part of a future
 * epoch is combined with the present one, see combine_epochs. */
static bf_part *counterpart(const bf_filter *into, const bf_filter *from, unsigned i)
{
    if (!into->variant->forgets) return into->part[i];
    const int64_t e = bf_live(from->part[i]->live), now = bf_live(into->epoch);
    return e == BF_NEVER || e < bf_oldest_epoch(into, now)
               ? NULL
               : bf_window_part(into, e < now ? e : now);
}

static int change(bf_filter *into, bf_filter *from, bf_change how, uint64_t *words, uint64_t nwords,
    bf_error *err)
{
    bf_store *s = &into->bitmap.store;
    if (how == BF_REPLACE && into->variant->grows) s->contents = from; /* `into` is locked */
    const int rc = s->ops->change(s, how, words, nwords, err);
    s->contents = NULL;
    for (unsigned i = 0; rc == 0 && how == BF_REPLACE && i < bf_parts_count(into); i++)
        bf_live_set(
            into->part[i]->live, i < bf_parts_count(from) ? bf_live(from->part[i]->live) : 0);
    return rc;
}

/* The caller has locked `into`. Returns 1 if its parts or its epoch have changed. */
static int combine_once(bf_filter *into, bf_filter *from, bf_change how, bf_error *err)
{
    const unsigned bits = bf_cell_ops_of(&into->bitmap.g)->bits;
    const bool one = bf_parts_count(into) == 1;
    const uint64_t nwords =
        one ? into->part[0]->bitmap.store.nwords : bf_parts_cells(into) * bits / 64;
    uint64_t *w, *copy, *all = one ? NULL : bf_words_new(nwords);
    if (!one && !all) return bf_fail(err, BF_ENOMEM, "out of memory");
    int rc = one ? bf_part_words(from->part[0], &w, &copy, err) : 0;
    if (one) {
        if (rc == 0) rc = change(into, from, how, w, nwords, err);
        free(copy);
        return rc;
    }
    for (unsigned i = 0; rc == 0 && i < bf_parts_count(from); i++) {
        const bf_part *to = counterpart(into, from, i);
        if (!to || (rc = bf_part_words(from->part[i], &w, &copy, err)) < 0) continue;
        bf_words_or(all + to->start * bits / 64, w, to->bitmap.store.nwords, false);
        free(copy);
    }
    if (rc == 0) rc = change(into, from, how, all, nwords, err);
    free(all);
    return rc;
}

int bf_combine_remote(bf_filter *into, bf_filter *from, bf_change how, bf_error *err)
{
    enum { TRIES = 8 };
    bf_span *s = calloc(1, sizeof *s);
    if (!s) return bf_fail(err, BF_ENOMEM, "out of memory");
    s->op = BF_OP_ADD; /* adding no keys begins a new epoch, or stores the number of keys */
    int rc = 1;
    for (int tries = 0; rc == 1 && tries < TRIES; tries++) {
        rc = into->variant->forgets ? into->bitmap.store.ops->chain->run(into, s, err)
                                    : grow_equally(into, from, bf_parts_count(from), err);
        if (rc == 0 && (rc = bf_parts_lock_all(into, err)) == 0) {
            if (!into->variant->forgets) rc = same_parts(into, from, err);
            if (rc == 0) rc = combine_once(into, from, how, err);
            bf_parts_unlock(into);
        }
    }
    for (unsigned i = 0; rc == 0 && how == BF_UNITE && i < bf_parts_count(into); i++)
        rc = raise_keys(into, into->part[i], err);
    if (rc == 0 && how == BF_UNITE && into->variant->grows)
        rc = into->bitmap.store.ops->chain->run(into, s, err);
    free(s);
    return rc == 1 ? bf_fail(err, BF_EIO, "%.80s changes too fast to %s", bf_where(into),
                         bf_change_names[how])
                   : rc;
}

static int combine_all(bf_filter *into, bf_filter *from, op o, bf_error *err)
{
    if (!into->variant->forgets && !is_remote(into)) return combine_parts(into, from, o, err);
    bf_filter *copy, *still = snapshot(from, &copy, err);
    int rc = !still            ? bf_code_of(err)
             : is_remote(into) ? bf_combine_remote(into, still, o.how, err)
                               : combine_epochs(into, still, o, err);
    bf_close(copy);
    return rc;
}

/* Unites `from` into the bits and the shadow of `into`, which another thread or process may be
 * rebuilding. before: NULL, or if the caller has already united the bits, the generation before
 * that; then unites the bits again only if a rebuild has replaced them since. */
static int unite_with_shadow(
    bf_filter *into, bf_filter *from, op o, const uint64_t *before, bf_error *err)
{
    const uint64_t n = into->bitmap.store.nwords;
    uint64_t *w, *copy;
    bf_guard g;
    int rc = bf_fixed_words(from, bf_change_names[o.how], &w, &copy, err);
    if (rc == 0 && (rc = bf_guard_lock(into, &g, err)) == 0) {
        if (!before || !bf_same_bits(&g, *before)) o.words(into->bitmap.store.words, w, n, true);
        if (g.shadow) o.words(g.shadow, w, n, true);
        bf_unlock(into);
    }
    free(copy);
    return rc;
}

static int combine(bf_filter *into, bf_filter *from, bf_change how, bf_error *err)
{
    const bf_cell_ops *cells = bf_cell_ops_of(&into->bitmap.g);
    const op o = { how, how == BF_UNITE ? cells->unite : cells->intersect };
    const char *what = bf_change_names[how];
    int rc = bf_alike(into, from, err);
    if (rc < 0) return rc;
    if (how == BF_INTERSECT && into->variant->many)
        return bf_fail(err, BF_EINVAL,
            "filters that grow or forget cannot be intersected: a key may be in different parts of "
            "them");
    if (into->variant->count)
        return bf_fail(err, BF_EINVAL,
            "filters that count and grow cannot be united: a key may be counted in different parts "
            "of them");
    bf_flag_clear(&into->never_written);
    /* a warning that was given is not repeated */
    if (!bf_flag_get(&into->checked) || into->overfull == BF_OVERFULL_RAISE) bf_check_soon(into);
    rc = bf_require_readable(
        into, into->bitmap.store.ops->change && (how == BF_UNITE || cells->bits == 1), what, err);
    if (rc < 0 || (rc = bf_parts_check(into, err)) < 0 || (rc = bf_parts_writable(into, err)) < 0 ||
        (rc = bf_require_readable(from, from->bitmap.store.ops->read, what, err)) < 0 ||
        (rc = bf_parts_refresh(into, err)) < 0 || (rc = bf_parts_refresh(from, err)) < 0)
        return rc;
    const bool beside_rebuild = how == BF_UNITE && bf_rebuilds_in_place(into);
    const uint64_t before = beside_rebuild ? bf_generation(into) : 0;
    if (beside_rebuild && !bf_settled(before))
        rc = unite_with_shadow(into, from, o, NULL, err);
    else if ((rc = combine_all(into, from, o, err)) >= 0 && beside_rebuild &&
             !bf_unchanged(into, before))
        rc = unite_with_shadow(into, from, o, &before, err);
    return rc < 0 ? rc : bf_check_named(into, err);
}

int bf_unite(bf_filter *into, bf_filter *from, bf_error *err)
{
    BF_CALL(into, from, entered);
    return combine(into, from, BF_UNITE, err);
}

int bf_intersect(bf_filter *into, bf_filter *from, bf_error *err)
{
    BF_CALL(into, from, entered);
    return combine(into, from, BF_INTERSECT, err);
}

/* ---- union and intersection, into a new filter in memory ---- */
static bf_filter *combined(bf_filter *a, bf_filter *b, bf_change how, bf_error *err)
{
    bf_filter *result = bf_alike(a, b, err) < 0 ? NULL : bf_copy_entered(a, err);
    if (!result || combine(result, b, how, err) >= 0) return result;
    bf_close(result);
    return NULL;
}

bf_filter *bf_union(bf_filter *a, bf_filter *b, bf_error *err)
{
    BF_CALL(a, b, NULL);
    return combined(a, b, BF_UNITE, err);
}

bf_filter *bf_intersection(bf_filter *a, bf_filter *b, bf_error *err)
{
    BF_CALL(a, b, NULL);
    return combined(a, b, BF_INTERSECT, err);
}

/* ---- equality ---- */
/* not memcmp: other threads may set bits */
static bool equal_words(const uint64_t *a, const uint64_t *b, uint64_t n)
{
    uint64_t i = 0;
    while (i < n && bf_word(a + i) == bf_word(b + i)) i++;
    return i == n;
}

static int equal_part(bf_part *a, bf_part *b, bf_error *err)
{
    bf_block_reader x, y = { .copy = NULL };
    bool equal = true;
    const uint64_t *w, *other;
    int rc = bf_reader_open(&x, a, err);
    if (rc == 0) rc = bf_reader_open(&y, b, err);
    while (equal && (w = bf_reader_next(&x, &rc)) && (other = bf_reader_next(&y, &rc)))
        equal = equal_words(w, other, x.n);
    bf_reader_close(&x);
    bf_reader_close(&y);
    return rc < 0 ? rc : equal;
}

static int equal_parts(bf_filter *a, bf_filter *b, bf_error *err)
{
    int rc = bf_parts_refresh(a, err);
    if (rc < 0 || (rc = bf_parts_refresh(b, err)) < 0) return rc;
    const unsigned n = bf_parts_count(a); /* the filters may grow during the loop */
    rc = n == bf_parts_count(b) && same_parts(a, b, NULL) == 0;
    for (unsigned i = 0; rc == 1 && i < n; i++) rc = equal_part(a->part[i], b->part[i], err);
    return rc;
}

/* Compares the epochs that are living in both filters. Ignores older parts: either filter may have
 * freed them. A missing part equals an empty one. */
static int equal_epochs(bf_filter *a, bf_filter *b, int64_t now, bf_error *err)
{
    int rc = 1;
    uint64_t ones;
    for (int64_t e = bf_oldest_epoch(a, now); rc == 1 && e <= now; e++) {
        bf_part *p = bf_part_of_epoch(a, e), *q = bf_part_of_epoch(b, e);
        if (p && q)
            rc = equal_part(p, q, err);
        else if ((p || q) && (rc = bf_part_ones(p ? p : q, &ones, NULL, err)) == 0)
            rc = ones == 0;
    }
    return rc;
}

static int equal_windows(bf_filter *a, bf_filter *b, bf_error *err)
{
    int64_t now = 0, then = 0;
    bf_filter *copies[2] = { NULL, NULL }, *x = snapshot(a, &copies[0], err),
              *y = x ? snapshot(b, &copies[1], err) : NULL;
    int rc = y ? bf_parts_check(x, err) : bf_code_of(err);
    if (rc == 0) rc = bf_parts_check(y, err);
    if (rc == 0 && (rc = bf_parts_now(x, &now, err)) == 0 &&
        (rc = bf_parts_now(y, &then, err)) == 0)
        rc = equal_epochs(x, y, then > now ? then : now, err);
    bf_close(copies[0]);
    bf_close(copies[1]);
    return rc;
}

int bf_equal(bf_filter *a, bf_filter *b, bf_error *err)
{
    BF_CALL(a, b, entered);
    static const char what[] = "be compared";
    int rc;
    if (bf_alike(a, b, NULL) < 0) return 0;
    if ((rc = bf_require_readable(a, a->bitmap.store.ops->read, what, err)) < 0 ||
        (rc = bf_require_readable(b, b->bitmap.store.ops->read, what, err)) < 0)
        return rc;
    return a->variant->forgets ? equal_windows(a, b, err) : equal_parts(a, b, err);
}

/* ---- inclusion and sizes ---- */
/* Sets *within to true if every bit of a is set in b, and *count to the estimated number of keys in
 * the union. within and count may be NULL. */
static int compare(bf_filter *a, bf_filter *b, bool *within, double *count, bf_error *err)
{
    const uint64_t n = a->bitmap.store.nwords;
    const bf_cell_ops *cells = bf_cell_ops_of(&a->bitmap.g);
    uint64_t *v, *w, *copies[2] = { NULL, NULL };
    bf_state state;
    int rc = bf_alike(a, b, err);
    if (rc == 0) rc = bf_fixed_words(a, "be compared", &v, &copies[0], err);
    if (rc == 0) rc = bf_fixed_words(b, "be compared", &w, &copies[1], err);
    if (rc == 0 && within) *within = cells->within(v, w, n);
    if (rc == 0 && count) {
        bf_estimate(a->desc.scheme, a->secret, &a->bitmap.g, cells->count_of_both(v, w, n), &state);
        *count = state.count;
    }
    free(copies[0]);
    free(copies[1]);
    return rc;
}

int bf_subset(bf_filter *a, bf_filter *b, bf_error *err)
{
    BF_CALL(a, b, entered);
    bool within = false;
    const int rc = compare(a, b, &within, NULL, err);
    return rc < 0 ? rc : within;
}

int bf_union_count(bf_filter *a, bf_filter *b, double *count, bf_error *err)
{
    BF_CALL(a, b, entered);
    return compare(a, b, NULL, count, err);
}

/* Estimates |A| + |B| - |A or B|. An estimate from the bits that are set in both filters would be
 * too high, because different keys may have set the same bit. */
int bf_intersection_count(bf_filter *a, bf_filter *b, double *count, bf_error *err)
{
    BF_CALL(a, b, entered);
    bf_state x, y;
    double both;
    int rc = compare(a, b, NULL, &both, err);
    if (rc < 0 || (rc = bf_state_entered(a, &x, err)) < 0 ||
        (rc = bf_state_entered(b, &y, err)) < 0)
        return rc;
    *count = fmax(0, fmin(x.count + y.count - both, fmin(x.count, y.count)));
    return 0;
}
