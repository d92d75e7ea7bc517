/* parts.c - the parts of a handle of a growing or forgetting filter in Redis: each is a range of
 * the string. Also decides which clock counts. span.c tests and adds keys. */
#include "parts/parts.h"
#include "redis/redis.h"

/* ---- a part as a store ---- */
typedef struct {
    bf_part part; /* first: bf_chain_free frees the part */
    bf_redis *of;
    uint64_t from; /* offset of the part in the string, in bytes */
} slice;

/* Returns true if the slice had the keys of an epoch that is over. It has later keys now, or zeros.
 */
static bool is_over(const slice *s)
{
    const bf_redis *r = s->of;
    const int64_t e = bf_live(s->part.live);
    return r->desc.kind == BF_WINDOW &&
           (e == BF_NEVER || e < r->epoch - (int64_t)r->desc.parts || e > r->epoch);
}

static int part_read(bf_store *store, uint64_t offset, void *buf, uint64_t len, bf_error *err)
{
    const slice *s = store->impl;
    BF_REDIS_LOCK(s->of);
    const int rc = is_over(s) ? 0 : bf_redis_read(s->of, s->from + offset, buf, len, err);
    if (rc == 0 && is_over(s)) memset(buf, 0, len);
    return rc;
}

static int part_count(bf_store *store, uint64_t *ones, uint64_t *slices, bf_error *err)
{
    const slice *s = store->impl;
    const uint64_t bits = bf_bits(&s->part.bitmap.g);
    BF_REDIS_LOCK(s->of);
    const int rc = is_over(s) ? 0 : bf_redis_count(s->of, s->from, bits, ones, slices, err);
    if (rc < 0 || !is_over(s)) return rc;
    *ones = 0;
    if (slices) memset(slices, 0, BF_SLICES * sizeof *slices);
    return 0;
}

static int part_sample(bf_store *store, uint64_t *ones, uint64_t *of, bf_error *err)
{
    const slice *s = store->impl;
    BF_REDIS_LOCK(s->of);
    return bf_redis_sample(s->of, s->from, bf_bits(&s->part.bitmap.g), ones, of, err);
}

static void part_close(bf_store *store) { (void)store; }

static const bf_store_ops store_part = { .name = "redis",
    .read = part_read,
    .count = part_count,
    .sample = part_sample,
    .close = part_close };

/* ---- the parts of a handle ---- */
/* A part is not freed before the filter is closed, because other threads may be using the part. */
static slice *slot(bf_filter *f, unsigned i, bf_error *err)
{
    slice *s = (slice *)f->part[i];
    if (s) return s;
    if (!(s = calloc(1, sizeof *s))) {
        bf_fail(err, BF_ENOMEM, "out of memory");
        return NULL;
    }
    s->of = bf_redis_of(f);
    s->part.bitmap.store =
        (bf_store){ .ops = &store_part, .impl = s, .read_only = f->bitmap.store.read_only };
    s->part.live = &s->part.own;
    bf_fence();
    f->part[i] = &s->part;
    return s;
}

/* Returns the epoch whose keys slice i has: one of the last parts + 1 epochs. */
static int64_t epoch_of_slice(const bf_redis *r, unsigned i)
{
    const int64_t ring = r->sizes->n, behind = (r->epoch - (int64_t)i) % ring;
    if (r->epoch == BF_NEVER) return BF_NEVER;
    return r->epoch - (behind < 0 ? behind + ring : behind);
}

/* A child may be forked at any moment: it finds a part complete, or without a start. */
int bf_redis_take_parts(bf_filter *f, bf_error *err)
{
    bf_redis *r = bf_redis_of(f);
    const bf_redis_sizes *sizes = r->sizes;
    const unsigned bits = bf_cell_ops_of(&r->desc.g)->bits;
    uint64_t start = 0;
    for (unsigned i = 0; i < sizes->n; start += sizes->part[i++].m) {
        slice *s = slot(f, i, err);
        if (!s) return BF_ENOMEM;
        const bf_redis_size *size = sizes->part + i;
        bf_geometry *g = &s->part.bitmap.g;
        if (g->m != size->m || g->n != size->n || s->part.start != start) {
            s->part.start = UINT64_MAX;
            bf_fence();
            *g = r->desc.g;
            g->m = size->m;
            g->n = size->n;
            g->p = size->p;
            g->k = bf_k_of_part(&r->desc, size->p);
            g->lines = g->m / r->desc.scheme->layout->line_bits;
            g->avx2 = bf_has_avx2();
            s->part.bitmap.store.nwords = bf_words_of(g);
            s->from = start * bits / 8;
            bf_fence();
            s->part.start = start;
        }
        bf_live_set(s->part.live, f->variant->grows ? (int64_t)size->keys : epoch_of_slice(r, i));
    }
    if (f->variant->forgets) bf_live_set(f->epoch, r->epoch);
    if (f->count != sizes->n) bf_flag_clear(&f->at_limit);
    bf_uint_store_release(&f->count, sizes->n);
    return bf_redis_cache_new(r, err);
}

int bf_redis_follow(bf_filter *f, bf_error *err)
{
    bf_redis *r = bf_redis_of(f);
    bool changed;
    BF_REDIS_LOCK(r);
    const int rc = f->count ? bf_redis_check_generation(r, 0, &changed, err) : 0;
    const int more = r->sizes ? bf_redis_take_parts(f, rc < 0 ? NULL : err) : 0;
    return rc < 0 ? rc : more;
}

/* ---- time ----
 * The time comes from Redis. A caller's clock must agree with Redis within one step. With a clock
 * that is ahead, keys would expire too early for all callers. With a clock that is behind, keys
 * would be added to expired slices. The caller's time is used only if the filter was created with a
 * caller's clock (K:meta has clock "own"). Such a clock may be behind, for example when a log is
 * replayed. */
int bf_redis_fail_clock(const bf_filter *f, double own, double redis, bf_error *err)
{
    return bf_fail(err, BF_EINVAL,
        "%.50s: clock gives %.17g, Redis has %.17g: %s by more than a part (%g s)",
        bf_redis_of(f)->label, own, redis, own > redis ? "ahead" : "behind", bf_window_step(f));
}

int bf_redis_has_clock(const bf_filter *f, bf_error *err)
{
    if (f->own_clock || !bf_redis_of(f)->users_clock) return 0;
    return bf_fail(err, BF_EINVAL,
        "%.80s was created with a clock, which gives its times: open it with that clock",
        bf_redis_of(f)->label);
}

int bf_redis_choose_time(const bf_filter *f, double redis, double *now, bf_error *err)
{
    const double step = bf_window_step(f), own = *now;
    const bool users = bf_redis_of(f)->users_clock;
    int rc = bf_redis_has_clock(f, err);
    if (rc < 0) return rc;
    if (f->own_clock && (own - redis > step || (!users && redis - own > step)))
        return bf_redis_fail_clock(f, own, redis, err);
    if (!users) *now = redis;
    return 0;
}

int bf_redis_server_time(bf_filter *f, double *now, bf_error *err)
{
    bf_redis *r = bf_redis_of(f);
    double redis = 0;
    BF_REDIS_LOCK(r);
    int rc = bf_conn_query(r->conn, err, "TIME");
    if (rc == 0) rc = bf_redis_take_time(r, &redis, err);
    return rc < 0 ? rc : bf_redis_choose_time(f, redis, now, err);
}
