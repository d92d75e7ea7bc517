/* filter.c - opening, closing, and the one batch loop.  Knows the seams, no formula, no file byte,
 * no hash. */
#include "bits/bits.h"
#include "parts/span.h"
#include "sets/sets.h"
#include "spec.h"
#include <stdlib.h>
#include <string.h>

/* ---- life ---- */
int bf_check_variants(const bf_spec *spec, bf_error *err)
{
    bool in_redis = spec->redis_client || (spec->storage && bf_is_url(spec->storage));
    if (spec->counting && (spec->grow != 0 || spec->window != 0))
        return bf_fail(
            err, BF_EINVAL, "counting filters neither grow nor forget: no grow, no window");
    if (spec->counting && (spec->shards > 1 || spec->cache || spec->wait_replicas))
        return bf_fail(err, BF_EINVAL,
            "counting filters have neither shards nor a cache, and wait for no replicas");
    if (spec->counting && spec->client)
        return bf_fail(err, BF_ENOTSUP, "a client callback cannot count");
    if (spec->grow != 0 && !bf_grow_valid(spec->grow))
        return bf_refuse_real(err, "grow", spec->grow);
    if (spec->window != 0 && !bf_window_valid(spec->window, 1))
        return bf_refuse_real(err, "window", spec->window);
    const bool many = spec->grow != 0 || spec->window != 0;
    if (many && spec->shards > 1)
        return bf_fail(err, BF_EINVAL, "shards=%u: a filter of shards can neither grow nor forget",
            spec->shards);
    if (many && spec->cache)
        return bf_fail(err, BF_EINVAL, "cache: a filter that grows or forgets has none");
    if (many && spec->redis_client)
        return bf_fail(err, BF_ENOTSUP,
            "a filter that grows or forgets is opened in Redis by URL, not through a client");
    if ((spec->parts || spec->clock) && spec->window == 0 && !spec->storage)
        return bf_fail(err, BF_EINVAL, "%s is for filters that forget: give window",
            spec->parts ? "parts" : "clock");
    if (spec->timeout != 0 && !(spec->timeout >= 0.001 && spec->timeout <= 86400))
        return bf_refuse_real(err, "timeout", spec->timeout);
    if (spec->cache_max_age != 0 && !(spec->cache_max_age > 0))
        return bf_refuse_real(err, "cache_max_age", spec->cache_max_age);
    if ((spec->timeout != 0 || spec->wait_replicas || spec->cache || spec->cache_max_age != 0) &&
        !in_redis)
        return bf_fail(err, BF_EINVAL,
            "timeout, wait_replicas, cache and cache_max_age are for filters in Redis, but no Redis is given");
    if (spec->cache_max_age != 0 && !spec->cache)
        return bf_fail(err, BF_EINVAL, "cache_max_age=%g without cache", spec->cache_max_age);
    if (spec->key && !spec->client && !in_redis)
        return bf_fail(err, BF_EINVAL,
            "key=%.60s names a filter inside Redis, but no Redis is given", spec->key);
    if ((spec->read_only || spec->must_exist) && !spec->storage && !spec->client &&
        !spec->redis_client)
        return bf_fail(err, BF_EINVAL, "%s needs a storage to open",
            spec->read_only ? "read_only" : "must_exist");
    return 0;
}

static int no_chains(const bf_filter *f, bf_error *err)
{
    return bf_fail(
        err, BF_ENOTSUP, "home %s has no filters that grow or forget", f->part.store.ops->name);
}

/* A filter of many parts was opened: all that are there. */
static int attach_parts(bf_filter *f, const bf_desc *d, const bf_spec *spec, bf_error *err)
{
    const bf_chain_ops *ops = f->part.store.ops->chain;
    int rc = ops ? bf_chain_begin(f, d, spec, err) : no_chains(f, err);
    return rc < 0 || (rc = ops->follow(f, err)) < 0 ? rc : 1;
}

static int attach(bf_filter *f, const bf_spec *spec, bf_error *err)
{
    bf_desc d;
    bf_store *s = &f->part.store;
    int rc = s->ops->attach ? s->ops->attach(s, spec, &d, err) : 0;
    if (rc <= 0) return rc;
    if ((rc = bf_match(&d, spec, bf_where(f, spec), err)) < 0 ||
        (rc = bf_adopt(f, &d, spec, err)) < 0)
        return rc;
    if ((rc = bf_secret_match(d.secret_check, f->secret_check, bf_where(f, spec), err)) < 0)
        return rc;
    return d.kind ? attach_parts(f, &d, spec, err) : 1;
}

static int create(bf_filter *f, const bf_spec *spec, bf_error *err)
{
    bf_desc d;
    int rc = bf_size_any(&d, spec, f->part.store.ops->most_bits, err);
    if (rc < 0 || (rc = bf_adopt(f, &d, spec, err)) < 0) return rc;
    d.secret_check = f->secret_check;
    if (d.kind)
        return f->part.store.ops->chain ? f->part.store.ops->chain->create(f, &d, spec, err)
                                        : no_chains(f, err);
    return f->part.store.ops->create(&f->part.store, &d, spec, err);
}

static int keep_names(bf_filter *f, const bf_spec *spec, bf_error *err)
{
    const bool named = spec->storage || spec->redis_client;
    if ((spec->storage && !(f->storage = strdup(spec->storage))) ||
        (named && spec->key && !(f->key = strdup(spec->key))))
        return bf_fail(err, BF_ENOMEM, "out of memory");
    return 0;
}

bf_filter *bf_open(const bf_spec *spec, bf_error *err)
{
    bf_filter *f = NULL;
    int rc = 0;
    bool made = false;
    if (bf_check_variants(spec, err) < 0) return NULL;
    const bf_store_ops *ops = bf_find_store(spec, err);
    if (!ops) return NULL;
    if (!(f = bf_handle_new(ops, err))) return NULL;
    f->hosted = spec->client || spec->redis_client;
    f->read_only = f->part.store.read_only = spec->read_only;
    for (int tries = 0; rc == 0 && tries < 100; tries++) /* lost races of creators end in attach */
        if ((rc = attach(f, spec, err)) == 0) made = (rc = create(f, spec, err)) > 0;
    if (rc == 0)
        rc = bf_fail(err, BF_EIO, "%.80s comes and goes: it could neither be opened nor created",
            bf_where(f, spec));
    if (rc < 0 || keep_names(f, spec, err) < 0) goto fail;
    bf_settle(f, spec->threads);
    f->untouched = !ops->attach && f->part.store.words;
    f->created = (made || f->part.store.made) && !spec->client;
    return f;
fail:
    bf_close(f);
    return NULL;
}

int bf_plan(bf_spec *spec, bf_error *err)
{
    bf_desc d, first;
    uint64_t check;
    int rc = bf_check_variants(spec, err); /* what bf_open would refuse */
    const bf_store_ops *home = bf_find_store(spec, NULL);
    if (rc < 0 || (rc = bf_size_any(&d, spec, home ? home->most_bits : 0, err)) < 0 ||
        (rc = bf_secret_check(d.scheme, spec, &check, err)) < 0)
        return rc;
    if (d.kind && (rc = bf_chain_part(&d, 0, 0, &first, err)) < 0) return rc;
    if (d.kind) d.g.m = first.g.m * (d.kind == BF_WINDOW ? d.parts + 1 : 1);
    spec->m = d.g.m;
    spec->n = d.g.n;
    spec->k = d.g.k;
    spec->p = bf_told_p(&d);
    spec->shards = d.g.shards;
    if (!spec->scheme) spec->scheme = d.scheme->name;
    return 0;
}

int bf_do_fits(const bf_filter *f, const bf_spec *spec, bf_error *err)
{
    const bf_store *s = &f->part.store;
    uint64_t given;
    if (bf_check_variants(spec, err) < 0) return err ? err->code : BF_EINVAL;
    if (!spec->storage || !f->storage || strcmp(spec->storage, f->storage) != 0) return 0;
    if ((spec->key || f->key) && (!spec->key || !f->key || strcmp(spec->key, f->key) != 0))
        return 0;
    if (f->read_only != spec->read_only || !s->ops->current || !s->ops->current(s)) return 0;
    bf_desc have = bf_describe(f);
    int rc = bf_match(&have, spec, bf_where(f, spec), err);
    if (rc < 0 || (rc = bf_secret_check(f->scheme, spec, &given, err)) < 0) return rc;
    return (rc = bf_secret_match(f->secret_check, given, bf_where(f, spec), err)) < 0 ? rc : 1;
}

/* ---- keys ---- */
static void spread(uint8_t *each, uint64_t bits, size_t n)
{
    for (size_t i = 0; i < n; i++) each[i] = bits >> i & 1;
}

/* Bits in addressable memory: a ring of digests.  Keys are hashed `lag` keys before they are
 * probed, and their lines are fetched meanwhile; the bytes of keys further on are fetched too,
 * because hashing comes in bursts. */
static int64_t run_direct(bf_filter *f, int op, const bf_key *keys, size_t n, uint8_t *each)
{
    enum { TEXT_AHEAD = 32 };
    const bf_part *p = &f->part;
    const bf_kernels *K = p->kernels;
    const unsigned width = f->hash->width;
    uint64_t ring[BF_RING * BF_WIDTH_MAX],
        flip = op == BF_OP_ADD ? ~UINT64_C(0) : 0; /* add answers "new" */
    int64_t total = 0;
    for (size_t hashed = 0, done = 0; done < n;) {
        uint64_t *ahead = ring + hashed % BF_RING * width, hits;
        size_t fresh = n - hashed < K->step ? n - hashed : K->step;
        for (size_t i = hashed + TEXT_AHEAD; i < hashed + TEXT_AHEAD + fresh && i < n; i++)
            bf_prefetch(keys[i].ptr);
        f->hash->run(f->secret, keys + hashed, fresh, ahead);
        hashed += fresh;
        if (fresh && hashed - done <= K->lag) {
            K->fetch(&p->g, p->store.words, ahead, fresh);
            continue;
        }
        const uint64_t *d = ring + done % BF_RING * width;
        size_t c = n - done < K->step ? n - done : K->step;
        if (op == BF_OP_ADD)
            hits = K->add[f->atomic](&p->g, p->store.words, d, c, ahead, fresh);
        else
            hits = K->test(&p->g, p->store.words, d, c, ahead, fresh);
        hits = (hits ^ flip) & (~UINT64_C(0) >> (64 - c));
        total += __builtin_popcountll(hits);
        if (each) spread(each + done, hits, c);
        done += c;
    }
    return total;
}

static size_t keys_at_once(size_t positions, unsigned k, size_t most)
{
    return positions / k < most ? positions / k : most;
}

/* Hashes and layouts see no more keys at once than ever, however large the store's batch is. */
static void place(const bf_filter *f, const bf_key *keys, size_t n, uint64_t *pos)
{
    uint64_t d[BF_CHUNK * BF_WIDTH_MAX];
    const unsigned k = f->part.g.k;
    const size_t few = keys_at_once(BF_POSITIONS, k, BF_CHUNK);
    for (size_t done = 0, c; done < n; done += c) {
        c = n - done < few ? n - done : few;
        f->hash->run(f->secret, keys + done, c, d);
        bf_positions(f->scheme->layout, &f->part.g, d, c, pos + done * k);
    }
}

/* Bits elsewhere, or a layout without kernels: positions of at most `most` keys at once, through
 * the buffers given. */
static int64_t run_through(bf_filter *f, int op, const bf_key *keys, size_t n, uint8_t *each,
    size_t most, uint64_t *pos, uint8_t *present, bf_error *err)
{
    bf_part *p = &f->part;
    int64_t total = 0;
    for (size_t done = 0, c; done < n; done += c) {
        c = n - done < most ? n - done : most;
        place(f, keys + done, c, pos);
        int rc = 0;
        if (p->store.words && p->g.counting)
            bf_counters_apply(p->store.words, f->atomic, op, pos, c, p->g.k, present);
        else if (p->store.words)
            bf_words_apply(p->store.words, f->atomic, op, pos, c, p->g.k, present);
        else
            rc = p->store.ops->apply(&p->store, op, pos, c, p->g.k, present, err);
        if (rc < 0) return rc;
        for (size_t i = 0; i < c; i++) {
            uint8_t hit = (present[i] != 0) ^ (op == BF_OP_ADD);
            total += hit;
            if (each) each[done + i] = op == BF_OP_COUNT ? present[i] : hit;
        }
    }
    return total;
}

/* A batch of a store that likes larger ones than the stack holds. */
static int64_t run_trips(
    bf_filter *f, int op, const bf_key *keys, size_t n, uint8_t *each, size_t most, bf_error *err)
{
    uint64_t *pos = malloc(most * f->part.g.k * sizeof *pos);
    uint8_t *present = malloc(most);
    int64_t total = pos && present ? run_through(f, op, keys, n, each, most, pos, present, err)
                                   : bf_fail(err, BF_ENOMEM, "out of memory");
    free(pos);
    free(present);
    return total;
}

static int64_t run_positions(
    bf_filter *f, int op, const bf_key *keys, size_t n, uint8_t *each, bf_error *err)
{
    uint64_t pos[BF_POSITIONS];
    uint8_t present[BF_CHUNK];
    unsigned k = f->part.g.k, batch = f->part.store.ops->batch;
    size_t few = keys_at_once(BF_POSITIONS, k, BF_CHUNK),
           most = keys_at_once(BF_TRIP_POSITIONS, k, batch);
    if (batch && n > few && most > few)
        return run_trips(f, op, keys, n, each, n < most ? n : most, err);
    return run_through(f, op, keys, n, each, few, pos, present, err);
}

/* How many keys come before the first that the scheme cannot hold; then *err names that one. */
static size_t acceptable(const bf_filter *f, const bf_key *keys, size_t n, bf_error *err)
{
    for (size_t i = 0; i < n; i++) {
        if (f->hash->accept(f->secret, keys[i].ptr, keys[i].len, err) == 0) continue;
        if (err) err->key = i;
        return i;
    }
    return n;
}

static int64_t run_accepted(
    bf_filter *f, int op, const bf_key *keys, size_t n, uint8_t *each, bf_error *err)
{
    size_t good = acceptable(f, keys, n, err);
    int64_t total = good ? run_positions(f, op, keys, good, each, err) : 0;
    return total < 0 || good == n ? total : BF_EINVAL;
}

static int64_t run_inside(
    bf_filter *f, int op, const bf_key *keys, size_t n, uint8_t *each, bf_error *err)
{
    const bf_store_ops *ops = f->part.store.ops;
    int rc = f->chain ? bf_chain_check(f, err) : ops->check ? ops->check(&f->part.store, err) : 0;
    if (rc < 0 || ((op == BF_OP_ADD || op == BF_OP_REMOVE) && (rc = bf_writable(f, err)) < 0))
        return rc;
    if (n == 0) return 0;
    if (f->chain) return bf_chain_run(f, op, keys, n, each, err);
    if (f->hash->accept) return run_accepted(f, op, keys, n, each, err);
    return f->part.kernels && op <= BF_OP_ADD ? run_direct(f, op, keys, n, each)
                                              : run_positions(f, op, keys, n, each, err);
}

/* Not inlined: their large buffers must not burden the single key. */
static __attribute__((noinline)) int64_t run(
    bf_filter *f, int op, const bf_key *keys, size_t n, uint8_t *each, bf_error *err)
{
    bf_calls in;
    const int rc = bf_begin(&in, f, NULL, err);
    if (rc < 0) return rc;
    const int64_t answer = run_inside(f, op, keys, n, each, err);
    bf_end(&in);
    return answer;
}

/* The single key of a filter without kernels: no chain, or one whose clock is the host's. */
static __attribute__((noinline)) int run_one(
    bf_filter *f, int op, const void *key, size_t len, bf_error *err)
{
    bf_calls in;
    if (!f->chain) return (int)run(f, op, &(bf_key){ key, len }, 1, NULL, err);
    int rc = bf_begin(&in, f, NULL, err);
    if (rc < 0) return rc;
    rc = op == BF_OP_ADD ? bf_chain_add(f, key, len, err) : bf_chain_test(f, key, len, err);
    bf_end(&in);
    return rc;
}

static inline bool is_plain_chain(const bf_filter *f) { return f->chain && !f->hosted; }

int64_t bf_add_many(bf_filter *f, const bf_key *keys, size_t n, uint8_t *each, bf_error *err)
{
    return run(f, BF_OP_ADD, keys, n, each, err);
}
int64_t bf_test_many(bf_filter *f, const bf_key *keys, size_t n, uint8_t *each, bf_error *err)
{
    return run(f, BF_OP_TEST, keys, n, each, err);
}

/* A single key: the same hash and kernel without the ring. */
int bf_add(bf_filter *f, const void *key, size_t len, bf_error *err)
{
    bf_part *p = &f->part;
    uint64_t d[BF_WIDTH_MAX];
    if (!p->kernels)
        return is_plain_chain(f) ? bf_chain_add(f, key, len, err)
                                 : run_one(f, BF_OP_ADD, key, len, err);
    if (!bf_raised(&f->may_write)) {
        int rc = bf_writable(f, err);
        if (rc < 0) return rc;
    }
    f->hash->one(f->secret, key, len, d);
    return p->kernels->add_one[f->atomic](&p->g, p->store.words, d) ? BF_PRESENT : BF_ADDED;
}

int bf_test(bf_filter *f, const void *key, size_t len, bf_error *err)
{
    const bf_part *p = &f->part;
    uint64_t d[BF_WIDTH_MAX];
    if (!p->kernels)
        return is_plain_chain(f) ? bf_chain_test(f, key, len, err)
                                 : run_one(f, BF_OP_TEST, key, len, err);
    f->hash->one(f->secret, key, len, d);
    return p->kernels->test_one(&p->g, p->store.words, d);
}

/* ---- counters ---- */
static int counts(const bf_filter *f, const char *what, bf_error *err)
{
    if (f->part.g.counting) return 0;
    return bf_fail(err, BF_ENOTSUP, "%.80s has bits, not counters: only counting filters can %s",
        bf_where(f, NULL), what);
}

int64_t bf_remove_many(bf_filter *f, const bf_key *keys, size_t n, uint8_t *each, bf_error *err)
{
    int rc = counts(f, "remove keys", err);
    return rc < 0 ? rc : run(f, BF_OP_REMOVE, keys, n, each, err);
}

int64_t bf_count_many(bf_filter *f, const bf_key *keys, size_t n, uint8_t *each, bf_error *err)
{
    int rc = counts(f, "count keys", err);
    return rc < 0 ? rc : run(f, BF_OP_COUNT, keys, n, each, err);
}

/* A single key: no look at the file, as with a single add. */
static int one_counted(bf_filter *f, int op, const void *key, size_t len)
{
    uint64_t d[BF_WIDTH_MAX], pos[BF_POSITIONS];
    uint8_t answer;
    f->hash->one(f->secret, key, len, d);
    f->scheme->layout->positions(&f->part.g, d, 1, pos);
    bf_counters_apply(f->part.store.words, f->atomic, op, pos, 1, f->part.g.k, &answer);
    return answer;
}

int bf_remove(bf_filter *f, const void *key, size_t len, bf_error *err)
{
    if (!f->part.g.counting || !f->part.kernels)
        return (int)bf_remove_many(f, &(bf_key){ key, len }, 1, NULL, err);
    if (!bf_raised(&f->may_write)) {
        int rc = bf_writable(f, err);
        if (rc < 0) return rc;
    }
    return one_counted(f, BF_OP_REMOVE, key, len);
}

int bf_count_of(bf_filter *f, const void *key, size_t len, bf_error *err)
{
    uint8_t count = 0;
    if (f->part.g.counting && f->part.kernels) return one_counted(f, BF_OP_COUNT, key, len);
    int rc = (int)bf_count_many(f, &(bf_key){ key, len }, 1, &count, err);
    return rc < 0 ? rc : count;
}

int64_t bf_do_hashcode(
    const bf_filter *f, const void *key, size_t len, uint64_t *pos, size_t cap, bf_error *err)
{
    uint64_t d[BF_WIDTH_MAX], all[BF_POSITIONS];
    unsigned k = f->part.g.k;
    if (f->hash->accept && f->hash->accept(f->secret, key, len, err) < 0) return BF_EINVAL;
    f->hash->one(f->secret, key, len, d);
    if (f->chain) {
        int64_t rc = bf_chain_hashcode((bf_filter *)f, d, all, err);
        if (rc < 0) return rc;
    } else
        bf_positions(f->scheme->layout, &f->part.g, d, 1, all);
    if (cap) memcpy(pos, all, (cap < k ? cap : k) * sizeof *pos);
    return k;
}
