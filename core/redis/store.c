/* store.c - the operations of the home "redis". Each operation locks the connection. */
#include "redis/redis.h"
#include <time.h>

enum { TRIP_KEYS = 1000 };

/* If rc is 1, creates the caches. Returns rc or an error. */
static int with_cache(bf_redis *r, int rc, bf_error *err)
{
    for (unsigned i = 0; rc == 1 && i < r->shards; i++)
        if (bf_redis_cache_new(r->shard ? r->shard + i : r, err) < 0) return BF_ENOMEM;
    return rc;
}

static int redis_attach(bf_store *s, const bf_spec *spec, bf_params *desc, bf_error *err)
{
    bf_redis *r = bf_redis_start(s, spec, err);
    if (!r) return err ? err->code : BF_EINVAL;
    BF_REDIS_LOCK(r);
    const int rc = bf_redis_attach_key(r, spec, desc, err);
    s->made |= r->made;
    return with_cache(r, rc, err);
}

static int redis_create(bf_store *s, const bf_params *d, const bf_spec *spec, bf_error *err)
{
    bf_redis *r = s->impl;
    const unsigned shards = d->g.shards > 1 && !d->kind ? d->g.shards : 1;
    const bf_cell_ops *cells = bf_cell_ops_of(&d->g);
    const bool redisson = bf_is_redisson(d->name);
    if (!d->kind && bf_bits(&d->g) / shards > bf_redis_most_bits(d->scheme->layout, &d->g))
        return bf_fail(err, BF_EINVAL,
            "m=%llu %s are too many for %u Redis key%s of at most %llu: %s shards",
            (unsigned long long)d->g.m, cells->names, shards, shards > 1 ? "s" : "",
            (unsigned long long)(BF_REDIS_M_MAX / cells->bits),
            d->scheme->layout->sharding == BF_WHOLE ? "use a scheme with" : "pass more");
    if (redisson && d->g.counting)
        return bf_fail(
            err, BF_ENOTSUP, "%s: filters of scheme redisson hold bits, not counters", r->label);
    if (redisson && spec->cache) return bf_redis_no_cache(r, err);
    if (redisson && s->contents)
        return bf_fail(err, BF_ENOTSUP, "%s: Redisson's filters are not uploaded", r->label);
    BF_REDIS_LOCK(r);
    r->users_clock = d->kind == BF_WINDOW && spec->clock;
    const int rc = (redisson     ? bf_redisson_make
                    : shards > 1 ? bf_redis_make_shards
                                 : bf_redis_make)(r, d, err);
    return with_cache(r, rc, err);
}

/* ---- operations ---- */
static int redis_apply(bf_store *s, int op, const uint64_t *pos, size_t nkeys, unsigned k,
    uint8_t *present, bf_error *err)
{
    bf_redis *r = s->impl;
    const bf_redis_request all = {
        .of = r, .op = op, .pos = pos, .nkeys = nkeys, .k = k, .present = present, .pending = true
    };
    BF_REDIS_LOCK(r);
    const int rc = bf_redis_apply(&all, err);
    for (size_t i = 0; rc == 0 && op == BF_OP_ADD && i < nkeys; i++) r->added += !present[i];
    return rc;
}

static int require_own(const bf_redis *r, const char *what, bf_error *err)
{
    return r->foreign ? bf_fail(err, BF_ENOTSUP, "%s has no :meta and no mark: it cannot %s",
                            r->label, what)
                      : 0;
}

/* Changes one shard after the other, until the first error. */
static int redis_change(
    bf_store *s, bf_change how, const uint64_t *words, uint64_t nwords, bf_error *err)
{
    bf_redis *r = s->impl;
    BF_REDIS_LOCK(r);
    /* another thread of this handle may have found a new part */
    if (words && r->sizes && nwords != r->bits / 64) return 1;
    int rc = require_own(r, bf_change_names[how], err);
    for (unsigned i = 0; rc == 0 && i < r->shards; i++) {
        const void *from = words ? (const uint8_t *)words + i * (r->bits / 8) : NULL;
        bf_redis *one = bf_redis_key(r, i);
        rc = how == BF_UNITE && r->desc.g.counting ? bf_redis_count_unite(one, from, err)
                                                   : bf_redis_change(one, how, from, err);
    }
    return rc;
}

static int redis_read(bf_store *s, uint64_t offset, void *buf, uint64_t len, bf_error *err)
{
    bf_redis *r = s->impl;
    const uint64_t size = r->shards > 1 ? r->bits / 8 : UINT64_MAX;
    uint8_t *to = buf;
    int rc = 0;
    BF_REDIS_LOCK(r);
    for (uint64_t c; rc == 0 && len; offset += c, to += c, len -= c) {
        c = size - offset % size < len ? size - offset % size : len;
        rc = bf_redis_read(bf_redis_key(r, (unsigned)(offset / size)), offset % size, to, c, err);
    }
    return rc;
}

static int redis_count(bf_store *s, uint64_t *ones, uint64_t *slices, bf_error *err)
{
    bf_redis *r = s->impl;
    int rc = 0;
    BF_REDIS_LOCK(r);
    *ones = 0;
    for (unsigned i = 0; rc == 0 && i < r->shards; i++) {
        uint64_t here = 0;
        rc = bf_redis_count(bf_redis_key(r, i), 0, r->bits, &here, slices, err);
        *ones += here;
    }
    return rc;
}

/* Samples one shard, because all shards are about equally full. */
static int redis_sample(bf_store *s, uint64_t *ones, uint64_t *of, bf_error *err)
{
    bf_redis *r = s->impl;
    BF_REDIS_LOCK(r);
    return bf_redis_sample(bf_redis_key(r, 0), 0, r->bits, ones, of, err);
}

/* Runs a command on every Redis key of the filter. Continues after an error, unless another filter
 * has taken the place of this one, and returns the first error. With shards, K:meta comes last; if
 * a shard failed, K:meta does not expire. */
static int each_key(
    bf_store *s, const char *what, const char *command, uint64_t argument, bf_error *err)
{
    bf_redis *r = s->impl;
    BF_REDIS_LOCK(r);
    const bool removes = !strcmp(command, "DEL");
    bool replaced = false;
    int first = require_own(r, what, err), rc;
    if (first < 0) return first;
    for (unsigned i = 0; i < r->shards && !replaced; i++) {
        bf_redis *shard = bf_redis_key(r, i);
        const uint32_t mark = shard->mark;
        rc = bf_redis_run(shard, command, argument, first < 0 ? NULL : err);
        if (first == 0) first = rc;
        replaced = rc < 0 && shard->mark != mark;
    }
    if (r->shard && !replaced && (first == 0 || removes)) {
        rc = bf_redis_run_meta(r, command, argument, first < 0 ? NULL : err);
        if (first == 0) first = rc;
    }
    if (removes) bf_redis_cache_forget(r);
    return first;
}

static int redis_expire(bf_store *s, double seconds, bf_error *err)
{
    uint64_t ms;
    const char *command = bf_redis_expiry(seconds, &ms);
    return each_key(s, "expire", command, ms, err);
}
/* Reads both keys, because redis-cli may have changed one of them. */
static int redis_expires_in(bf_store *s, double *seconds, bf_error *err)
{
    bf_redis *r = s->impl;
    BF_REDIS_LOCK(r);
    const char *const keys[] = { bf_redis_key(r, 0)->key, r->meta };
    for (size_t i = 0; i < 2; i++) {
        long long left = -1;
        const int rc = keys[i] ? bf_conn_query(r->conn, err, "PTTL %s", keys[i]) : 0;
        if (rc < 0) return rc;
        if (!keys[i] || !bf_reply_integer(&r->conn->reply, 0, &left) || left < 0) continue;
        if (*seconds == 0 || (double)left / 1000 < *seconds) *seconds = (double)(left + 1) / 1000;
    }
    return 0;
}
static int redis_remove(bf_store *s, bf_error *err)
{
    return each_key(s, "be deleted", "DEL", 0, err);
}

static int redis_current(const bf_store *s, bf_error *err)
{
    bf_redis *r = s->impl;
    bf_redis_key_snapshot seen;
    uint32_t now;
    int rc;
    BF_REDIS_LOCK(r);
    if (r->redisson) return (rc = bf_redis_mark(r, &now, err)) < 0 ? rc : now == r->mark;
    if (r->foreign)
        return (rc = bf_redis_read_key(r, &seen, err)) < 0 || (rc = seen.refused) < 0
                   ? rc
                   : r->conn->reply.n == 0 && seen.bytes > 0;
    if ((rc = bf_redis_keys_current(r, err)) <= 0 || !r->shard) return rc;
    bf_redis_select(r);
    return (rc = bf_redis_fetch_id(r, &now, err)) < 0 ? rc : now == r->filter_id;
}

static void redis_close(bf_store *s)
{
    bf_redis *r = s->impl;
    if (!r) return;
    bf_redis_free_shards(r);
    bf_redis_cache_free(r);
    if (r->conn && r->whole == r) {
        bf_conn_free(r->conn);
        free(r->conn);
    }
    free(r->key);
    free(r->meta);
    free(r->room.at);
    free(r->sizes);
    free(r);
}

const bf_store_ops bf_store_redis = { .name = "redis",
    .batch = TRIP_KEYS,
    .most_bits = BF_REDIS_M_MAX,
    .attach = redis_attach,
    .create = redis_create,
    .apply = redis_apply,
    .current = redis_current,
    .read = redis_read,
    .count = redis_count,
    .sample = redis_sample,
    .change = redis_change,
    .expire = redis_expire,
    .expires_in = redis_expires_in,
    .remove = redis_remove,
    .close = redis_close,
    .chain = &bf_chain_redis };
