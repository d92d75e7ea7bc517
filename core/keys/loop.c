/* loop.c - adds, tests, counts and removes keys: batches, single keys, and keys during a rebuild
 * (sets/rebuild.h). Calls the variant for filters with many parts. */
#include "bits/bits.h"
#include "keys/keys.h"
#include "sets/rebuild.h"
#include "parts/parts.h"
#include <stdlib.h>
#include <string.h>

/* ---- keys as positions ---- */
/* The number of keys that have this many positions, at most `most`. */
static size_t keys_at_once(size_t positions, unsigned k, size_t most)
{
    return positions / k < most ? positions / k : most;
}

/* Returns the number of keys before the first key that the scheme refuses, and sets *err; if the
 * scheme refuses none, returns b->n. */
static size_t acceptable(const bf_batch *b)
{
    const bf_filter *f = b->f;
    for (size_t i = 0; f->hash->accept && i < b->n; i++) {
        if (f->hash->accept(f->secret, b->keys[i].ptr, b->keys[i].len, b->err) == 0) continue;
        b->err->key = i;
        return i;
    }
    return b->n;
}

/* Computes the positions of n keys, starting with key number `from`. Returns n, or the number of
 * keys before the key whose hash failed. Hashes and layouts get at most BF_CHUNK keys per call. */
static size_t compute_positions(const bf_batch *b, size_t from, size_t n, uint64_t *pos)
{
    uint64_t d[BF_CHUNK * BF_WIDTH_MAX];
    const bf_filter *f = b->f;
    const unsigned k = f->bitmap.g.k;
    const size_t few = keys_at_once(BF_POSITIONS, k, BF_CHUNK);
    size_t good = 0;
    for (size_t done = 0, c; done < n && good == done; done += c) {
        c = n - done < few ? n - done : few;
        good += f->hash->try ? f->hash->try(f->secret, b->keys + from + done, c, d, b->err) : c;
        if (!f->hash->try) bf_batch_digests(b, from + done, c, d);
        bf_positions(f->desc.scheme->layout, &f->bitmap.g, d, good - done, pos + done * k);
    }
    return good;
}

/* A pass that applies keys under the lock: the only pass, or a second pass because the generation
 * changed during the first pass. before: the generation before the first pass; NULL: the only pass.
 * A second pass adds the keys to the shadow, and to the filter only if its bits were replaced. */
typedef struct {
    const uint64_t *before;
    bool to_bits; /* the keys of the last chunk were applied to the filter */
} locked_pass;

static int apply_locked(
    const bf_batch *b, locked_pass *p, uint64_t *pos, size_t n, uint8_t *present)
{
    bf_filter *f = b->f;
    const bf_cell_ops *cells = bf_cell_ops_of(&f->bitmap.g);
    const unsigned k = f->bitmap.g.k;
    bf_guard g;
    bf_error why; /* *err may already have the error of a key whose hash failed */
    const int rc = bf_guard_lock(f, &g, &why);
    if (rc < 0) {
        *b->err = why;
        return rc;
    }
    p->to_bits = !p->before || !bf_same_bits(&g, *p->before);
    if (p->to_bits) cells->apply(f->bitmap.store.words, f->atomic, b->op, pos, n, k, present);
    if (g.shadow && b->op == BF_OP_ADD) {
        uint8_t unused[BF_CHUNK];
        cells->apply(g.shadow, true, BF_OP_ADD, pos, n, k, unused);
    }
    bf_unlock(f);
    return 0;
}

static int apply(const bf_batch *b, uint64_t *pos, size_t n, uint8_t *present)
{
    bf_bitmap *p = &b->f->bitmap;
    if (!p->store.words)
        return p->store.ops->apply(&p->store, b->op, pos, n, p->g.k, present, b->err);
    bf_cell_ops_of(&p->g)->apply(p->store.words, b->f->atomic, b->op, pos, n, p->g.k, present);
    return 0;
}

/* Stores the answers of n keys, and returns how many keys are new (add) or present. After two
 * passes a key is new if it was new in either pass. */
static inline __attribute__((always_inline)) int64_t answer(
    const bf_batch *b, const locked_pass *p, size_t from, size_t n, const uint8_t *present)
{
    const bool again = p && p->before, counts = b->op == BF_OP_COUNT;
    const uint8_t flip = b->op == BF_OP_ADD; /* the answer of an add is "new", not "present" */
    uint8_t *each = b->each ? b->each + from : NULL;
    int64_t hits = 0;
    if (again && !p->to_bits) return 0;
    for (size_t i = 0; i < n; i++) {
        const uint8_t hit = (present[i] != 0) ^ flip;
        if (again && each && each[i]) continue;
        hits += hit;
        if (each) each[i] = counts ? present[i] : hit;
    }
    return hits;
}

/* Handles a batch in chunks of at most `most` keys. pos and present have space for one chunk. */
static int64_t run_chunks(
    const bf_batch *b, locked_pass *p, size_t most, uint64_t *pos, uint8_t *present)
{
    int64_t total = 0;
    for (size_t done = 0, c; done < b->n; done += c) {
        c = b->n - done < most ? b->n - done : most;
        const size_t good = compute_positions(b, done, c, pos);
        int rc = 0;
        if (good) rc = p ? apply_locked(b, p, pos, good, present) : apply(b, pos, good, present);
        if (rc < 0 && p && b->err->key != BF_NO_KEY) b->err->key += done;
        if (rc < 0) return rc;
        total += p ? answer(b, p, done, good, present) : answer(b, NULL, done, good, present);
        if (good == c) continue;
        b->err->key = done + good;
        return BF_EHOST;
    }
    return total;
}

/* Handles a batch by positions. p: the pass under the lock; NULL: no lock. More than FEW_POSITIONS
 * positions are not on the stack, because greenlets that switch during the store's call copy the
 * stack. If malloc fails, calls the store with fewer keys. */
static int64_t run_positions(const bf_batch *b, locked_pass *p)
{
    enum { FEW_POSITIONS = 128 };
    uint64_t few_pos[FEW_POSITIONS], *pos = few_pos;
    uint8_t few_present[BF_CHUNK], *present = few_present;
    const unsigned k = b->f->bitmap.g.k;
    const size_t few = keys_at_once(BF_POSITIONS, k, BF_CHUNK),
                 trip = keys_at_once(BF_TRIP_POSITIONS, k, b->f->bitmap.store.ops->batch),
                 largest = trip > few ? trip : few;
    size_t most = b->n < largest ? b->n : largest;
    if (most > BF_CHUNK || most * k > FEW_POSITIONS) {
        if ((pos = malloc(most * (k * sizeof *pos + 1))))
            present = (uint8_t *)(pos + most * k);
        else if (k > FEW_POSITIONS)
            return bf_fail(b->err, BF_ENOMEM, "out of memory");
        else {
            pos = few_pos;
            most = keys_at_once(FEW_POSITIONS, k, BF_CHUNK);
        }
    }
    const int64_t total = run_chunks(b, p, most, pos, present);
    if (pos != few_pos) free(pos);
    return total;
}

static int64_t run_alone(const bf_batch *b)
{
    return b->f->bitmap.kernels && b->op <= BF_OP_ADD ? bf_ring_fixed(b) : run_positions(b, NULL);
}

static int64_t run_fixed(const bf_batch *b)
{
    return b->threads > 1 ? bf_run_parallel(b, run_alone) : run_alone(b);
}

/* ---- adds during a rebuild ---- */
static int64_t run_pass(const bf_batch *b, void *pass) { return run_positions(b, pass); }

/* Adds the keys in a second pass. rc: the result of the first pass. If the first pass failed at a
 * key, adds only the keys before that key. */
static int64_t add_again(const bf_batch *first, uint64_t before, int64_t rc)
{
    bf_batch b = *first;
    bf_error why;
    b.err = &why;
    if (rc < 0) b.n = first->err->key < b.n ? first->err->key : 0;
    const int64_t more = bf_run_gathered(&b, run_pass, &(locked_pass){ &before, false });
    if (more < 0) {
        *first->err = why;
        return more;
    }
    return rc < 0 ? rc : rc + more < (int64_t)b.n ? rc + more : (int64_t)b.n;
}

/* Adds or removes keys. A rebuild may begin or end during the call. */
static int64_t change(const bf_batch *b)
{
    const uint64_t before = bf_generation(b->f);
    if ((b->op == BF_OP_REMOVE && b->f->atomic) || !bf_settled(before))
        return bf_run_gathered(b, run_pass, &(locked_pass){ NULL, false });
    const int64_t rc = run_fixed(b);
    return b->op == BF_OP_REMOVE || bf_unchanged(b->f, before) ? rc : add_again(b, before, rc);
}

/* The second pass for a single key. before: the generation before the first pass. present: the
 * first pass found the key. */
static __attribute__((noinline)) int add_one_again(
    bf_filter *f, const void *key, size_t len, uint64_t before, bool present, bf_error *err)
{
    bf_error own;
    uint8_t new = !present;
    const bf_key one = { key, len };
    const int64_t rc =
        add_again(&(bf_batch){ f, BF_OP_ADD, &one, 1, &new, err ? err : &own, NULL, 1, NULL, 0 },
            before, new);
    return rc < 0 ? (int)rc : rc > 0 ? BF_ADDED : BF_PRESENT;
}

/* ---- parts that are not in addressable memory, and parts of counters ---- */
static int64_t run_spans(const bf_batch *b)
{
    bf_span s;
    uint8_t own[BF_SPAN];
    bf_filter *f = b->f;
    const bf_chain_ops *ops = f->bitmap.store.ops->chain;
    int (*const here)(bf_filter *, bf_span *, bf_error *) =
        f->variant->run ? f->variant->run : f->variant->count;
    const size_t width = f->hash->width, most = BF_SPAN / width;
    int64_t total = 0;
    s.width = (unsigned)width;
    s.layout = f->desc.scheme->layout;
    for (size_t done = 0, c; done < b->n; done += c) {
        c = b->n - done < most ? b->n - done : most;
        int rc = bf_chain_follow(f, b->err);
        if (rc < 0) return rc;
        s.answer = memset(b->each ? b->each + done : own, 0, c);
        bf_batch_digests(b, done, c, s.d);
        for (s.n = 0; s.n < c; s.n++) s.key[s.n] = (uint16_t)s.n;
        s.asked = 0;
        s.op = b->op;
        rc = (ops->run ? ops->run : here)(f, &s, b->err);
        if (rc < 0 && b->err->key != BF_NO_KEY) b->err->key += done;
        if (rc < 0) return rc;
        for (size_t i = 0; i < c; i++) total += s.answer[i] != 0;
    }
    return total;
}

/* ---- all filters ---- */
/* Not inlined, because its callees' large buffers would slow down single keys. */
static __attribute__((noinline)) int64_t run_some(bf_batch *b, bool changes)
{
    bf_filter *f = b->f;
    if (bf_takes_hashes(f) && !b->hashes) return bf_refuse_keys(f, b->err);
    int rc = bf_parts_check(f, b->err);
    if (rc < 0 || (changes && (rc = bf_writable(f, b->err)) < 0)) return rc;
    const size_t n = b->n;
    int64_t total = 0;
    if (n == 0) return 0;
    if ((b->n = acceptable(b)) == 0) return BF_EINVAL;
    if (!f->variant->many)
        total = changes && bf_rebuilds_in_place(f) ? change(b) : run_fixed(b);
    else if (f->part[0]->bitmap.kernels && (b->op == BF_OP_TEST || !f->variant->count))
        total = b->threads > 1 ? bf_run_parallel(b, bf_ring_chain) : bf_ring_chain(b);
    else
        total = run_spans(b);
    return total < 0 || b->n == n ? total : BF_EINVAL;
}

static int64_t run_array(const bf_batch *b, void *changes)
{
    bf_batch some = *b;
    return run_some(&some, *(const bool *)changes);
}

/* In memory and in files, changes are split: after each chunk the file's name is checked and, for
 * adds to a fixed filter, the generation. */
int64_t bf_run_batch(const bf_batch *whole)
{
    bf_filter *f = whole->f;
    bf_error *err = whole->err;
    bool changes = whole->op == BF_OP_ADD || whole->op == BF_OP_REMOVE;
    const unsigned threads = bf_threads_of(whole);
    const size_t n = whole->n, most = changes && f->bitmap.store.ops->shadow
                                          ? bf_keys_per_check(f, threads)
                                          : SIZE_MAX;
    int64_t total = 0, rc;
    BF_CALL(f, NULL, entered);
    size_t done = 0, c;
    do {
        c = n - done < most ? n - done : most;
        bf_batch b = bf_batch_slice(whole, done, c);
        b.threads = bf_threads_for(c, threads);
        rc = b.column && b.threads == 1 ? bf_run_gathered(&b, run_array, &changes)
                                        : run_some(&b, changes);
        if (rc < 0 && err->key != BF_NO_KEY) err->key += done;
        if (rc < 0) return rc;
        total += rc;
        if (changes && (rc = bf_check_named(f, err)) < 0) return rc;
        done += c;
    } while (done < n);
    return total;
}

static inline bool has_parts_here(const bf_filter *f)
{
    return f->variant->many && f->part[0]->bitmap.kernels && !bf_takes_hashes(f);
}

/* Handles a single key of a filter without kernels, with host code, or during a rebuild. */
static __attribute__((noinline)) int run_one(
    bf_filter *f, int op, const void *key, size_t len, bf_error *err)
{
    const bf_key one = { key, len };
    uint64_t d;
    bf_error own;
    if (!err) err = &own;
    BF_CALL(f, NULL, entered);
    if (has_parts_here(f))
        return op == BF_OP_ADD ? bf_chain_add_one(f, key, len, err)
                               : bf_chain_test_one(f, key, len, err);
    const int rc =
        (int)run_some(&(bf_batch){ f, op, &one, 1, NULL, err, NULL, 1, NULL, 0 }, op == BF_OP_ADD);
    if (op != BF_OP_ADD || !f->bitmap.store.ops->has_name) return rc;
    bf_hash_xxh3.one(NULL, key, len, &d);
    return bf_check_named_sometimes(f, d, rc, err);
}

/* added: the number of new keys, or an error */
static inline int64_t count_new(bf_filter *f, int64_t added)
{
    if (added > 0 && !bf_flag_get(&f->checked)) bf_hint_subtract(&f->left, added);
    return added;
}

int64_t bf_ask_batch(bf_batch b)
{
    bf_error own;
    if (!b.err) b.err = &own;
    return bf_run_batch(&b);
}

int64_t bf_add_batch(bf_batch b)
{
    bf_error own;
    BF_KEEP(b.f);
    if (!b.err) b.err = &own;
    if (b.f->overfull == BF_OVERFULL_RAISE && b.n > 0) return bf_add_while_room(&b);
    return count_new(b.f, bf_run_batch(&b));
}

int64_t bf_add_many(bf_filter *f, const bf_key *keys, size_t n, uint8_t *each, bf_error *err)
{
    return bf_add_batch((bf_batch){ f, BF_OP_ADD, keys, n, each, err, NULL, 1, NULL, 0 });
}
int64_t bf_test_many(bf_filter *f, const bf_key *keys, size_t n, uint8_t *each, bf_error *err)
{
    return bf_ask_batch((bf_batch){ f, BF_OP_TEST, keys, n, each, err, NULL, 1, NULL, 0 });
}

static inline __attribute__((always_inline)) int add_one(
    bf_filter *f, const void *key, size_t len, uint64_t *d, bf_error *err)
{
    const bf_bitmap *p = &f->bitmap;
    f->hash->one(f->secret, key, len, d);
    const uint64_t before = bf_generation(f);
    if (!bf_settled(before)) return run_one(f, BF_OP_ADD, key, len, err);
    const bool present = f->single->add_one[f->add_mode](&p->g, p->store.words, d);
    if (!bf_unchanged(f, before)) return add_one_again(f, key, len, before, present, err);
    return present ? BF_PRESENT : BF_ADDED;
}

/* Adds a single key if f->state is not BF_WRITABLE, for example the first key, or in a file. */
static __attribute__((noinline)) int add_checked(
    bf_filter *f, const void *key, size_t len, bf_error *err)
{
    uint64_t d[BF_WIDTH_MAX];
    const bool known = bf_int_load_acquire(&f->state) == BF_NAMED &&
                       (!f->exclusive || f->opened_by == bf_process());
    int rc = known ? 0 : bf_writable(f, err);
    if (rc == 0) rc = add_one(f, key, len, d, err);
    return rc < 0 ? rc : bf_check_named_sometimes(f, d[0], rc, err);
}

int bf_add_one(bf_filter *f, const void *key, size_t len, bf_error *err)
{
    if (f->single) return add_checked(f, key, len, err);
    return !f->runs_host_code && has_parts_here(f) ? bf_chain_add_one(f, key, len, err)
                                                   : run_one(f, BF_OP_ADD, key, len, err);
}

/* Adds a single key if host code may run, or if a check is due before the key. */
static __attribute__((noinline)) int add_kept(
    bf_filter *f, const void *key, size_t len, bf_error *err)
{
    BF_KEEP(f);
    if (f->overfull == BF_OVERFULL_RAISE) return bf_add_one_while_room(f, key, len, err);
    const int rc = bf_begin_adds(f, err);
    return rc < 0 ? rc : (int)count_new(f, bf_add_one(f, key, len, err));
}

static __attribute__((noinline)) int add_slowly(
    bf_filter *f, const void *key, size_t len, bf_error *err)
{
    return f->runs_host_code || bf_hint_load(&f->left) <= 0 || f->overfull == BF_OVERFULL_RAISE
               ? add_kept(f, key, len, err)
               : (int)count_new(f, bf_add_one(f, key, len, err));
}

int bf_add(bf_filter *f, const void *key, size_t len, bf_error *err)
{
    uint64_t d[BF_WIDTH_MAX];
    return f->single && bf_int_load_acquire(&f->state) == BF_WRITABLE && bf_hint_load(&f->left) > 0
               ? (int)count_new(f, add_one(f, key, len, d, err))
               : add_slowly(f, key, len, err);
}

int bf_test(bf_filter *f, const void *key, size_t len, bf_error *err)
{
    const bf_bitmap *p = &f->bitmap;
    uint64_t d[BF_WIDTH_MAX];
    if (!f->single)
        return !f->runs_host_code && has_parts_here(f) ? bf_chain_test_one(f, key, len, err)
                                                       : run_one(f, BF_OP_TEST, key, len, err);
    f->hash->one(f->secret, key, len, d);
    return f->single->test_one(&p->g, p->store.words, d);
}

/* ---- counters ---- */
static int require_counting(const bf_filter *f, const char *what, bf_error *err)
{
    if (f->bitmap.g.counting) return 0;
    return bf_fail(err, BF_ENOTSUP, "%.80s has bits, not counters: only counting filters can %s",
        bf_where(f), what);
}

/* For BF_OVERFULL_RAISE: a key that is gone makes room. Removes keys one by one, because a key may
 * occur twice. */
static int64_t remove_and_give_room(
    bf_filter *f, const bf_key *keys, size_t n, uint8_t *each, bf_error *err)
{
    int64_t total = 0;
    for (size_t i = 0; i < n; i++) {
        const int64_t rc = bf_ask_batch((bf_batch){
            f, BF_OP_REMOVE, keys + i, 1, each ? each + i : NULL, err, NULL, 1, NULL, 0 });
        if (rc < 0 && err && err->key != BF_NO_KEY) err->key += i;
        if (rc < 0) return rc;
        if (rc > 0 && bf_test(f, keys[i].ptr, keys[i].len, NULL) == 0) bf_give_room(f, 1);
        total += rc;
    }
    return total;
}

int64_t bf_remove_many(bf_filter *f, const bf_key *keys, size_t n, uint8_t *each, bf_error *err)
{
    BF_KEEP(f);
    int rc = require_counting(f, "remove keys", err);
    if (rc < 0) return rc;
    return bf_counts_room(f)
               ? remove_and_give_room(f, keys, n, each, err)
               : bf_ask_batch((bf_batch){ f, BF_OP_REMOVE, keys, n, each, err, NULL, 1, NULL, 0 });
}

int64_t bf_count_many(bf_filter *f, const bf_key *keys, size_t n, uint8_t *each, bf_error *err)
{
    int rc = require_counting(f, "count keys", err);
    return rc < 0
               ? rc
               : bf_ask_batch((bf_batch){ f, BF_OP_COUNT, keys, n, each, err, NULL, 1, NULL, 0 });
}

/* Counts or removes a single key in addressable memory. A remove must have no concurrent writer. */
static int one_counted(bf_filter *f, int op, const void *key, size_t len, bf_error *err)
{
    uint64_t d[BF_WIDTH_MAX], pos[BF_POSITIONS];
    uint8_t answer;
    f->hash->one(f->secret, key, len, d);
    f->desc.scheme->layout->positions(&f->bitmap.g, d, 1, pos);
    bf_counters_apply(f->bitmap.store.words, f->atomic, op, pos, 1, f->bitmap.g.k, &answer);
    return op == BF_OP_REMOVE ? bf_check_named_sometimes(f, d[0], answer, err) : answer;
}

int bf_remove(bf_filter *f, const void *key, size_t len, bf_error *err)
{
    if (!f->bitmap.g.counting || !f->single || f->atomic || bf_counts_room(f))
        return (int)bf_remove_many(f, &(bf_key){ key, len }, 1, NULL, err);
    const int rc = bf_writable(f, err);
    return rc < 0 ? rc : one_counted(f, BF_OP_REMOVE, key, len, err);
}

int bf_count_of(bf_filter *f, const void *key, size_t len, bf_error *err)
{
    uint8_t count = 0;
    if (f->bitmap.g.counting && f->single) return one_counted(f, BF_OP_COUNT, key, len, err);
    int rc = (int)bf_count_many(f, &(bf_key){ key, len }, 1, &count, err);
    return rc < 0 ? rc : count;
}
