/* store.c - the operations of the home Redis, by URL or client.  Each locks the connection. open.c
 * opens filters, batch.c sends batches, bitmap.c has complete bitmaps, keyset.c shards. */
#include "parts/parts.h"
#include "bits/bits.h"
#include "redis/open.h"
#include "redis/bitmap.h"
#include "redis/cache.h"
#include "redis/generation.h"
#include "redis/meta.h"
#include "redis/keyset.h"
#include "redis/foreign.h"
#include "redis/batch.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TRIP_KEYS = 1000 };

/* In a growing or forgetting filter each part has its own cache. */
static int with_cache(bf_redis *r, int rc, bf_error *err)
{
    const bool parts = !r->redisson && r->mark_at == 0;
    return rc == 1 && !parts && bf_redis_part_cache(r, err) < 0 ? BF_ENOMEM : rc;
}

static int redis_attach(bf_store *s, const bf_spec *spec, bf_params *desc, bf_error *err)
{
    bf_redis *r = bf_redis_start(s, spec, err);
    if (!r) return err ? err->code : BF_EINVAL;
    bf_redis_lock(r);
    int rc = bf_is_redisson(spec->scheme) ? bf_redis_attach_redisson(r, spec, desc, err)
                                          : bf_redis_attach_key(r, spec, desc, err);
    rc = with_cache(r, rc, err);
    s->made |= r->made;
    bf_conn_unlock(r->conn);
    return rc;
}

static int redis_create(bf_store *s, const bf_params *d, const bf_spec *spec, bf_error *err)
{
    bf_redis *r = s->impl;
    const unsigned shards = d->g.shards > 1 ? d->g.shards : 1;
    const bf_cell_ops *cells = bf_cell_ops_of(&d->g);
    const bool redisson = bf_is_redisson(d->name);
    if (bf_bits(&d->g) / shards > bf_redis_most_bits(d->scheme->layout, &d->g))
        return bf_fail(err, BF_EINVAL,
            "m=%llu %s do not fit %u Redis key%s of at most %llu: larger filters need %s shards",
            (unsigned long long)d->g.m, cells->names, shards, shards > 1 ? "s" : "",
            (unsigned long long)(BF_REDIS_M_MAX / cells->bits),
            d->scheme->layout->sharding == BF_WHOLE ? "a scheme with" : "more");
    if (redisson && d->g.counting)
        return bf_fail(
            err, BF_ENOTSUP, "%s: filters of scheme redisson hold bits, not counters", r->label);
    if (redisson && spec->cache) return bf_redis_no_cache(r, err);
    bf_redis_lock(r);
    int rc = redisson     ? bf_redisson_make(r, d, err)
             : shards > 1 ? bf_redis_make_shards(r, d, err)
                          : bf_redis_make(r, d, err);
    rc = with_cache(r, rc, err);
    bf_conn_unlock(r->conn);
    return rc;
}

/* ---- what it offers: each with the connection to itself ---- */
static bf_redis *enter(bf_store *s)
{
    bf_redis *r = s->impl;
    bf_redis_lock(r);
    return r;
}

static int leave(bf_redis *r, int rc)
{
    bf_conn_unlock(r->conn);
    return rc;
}

static int redis_apply(bf_store *s, int op, const uint64_t *pos, size_t nkeys, unsigned k,
    uint8_t *present, bf_error *err)
{
    bf_redis *r = enter(s);
    bf_redis_request all = {
        .of = r, .op = op, .pos = pos, .nkeys = nkeys, .k = k, .present = present, .pending = true
    };
    bf_redis_request rest = all; /* the keys that the cache does not know */
    int rc = r->cache ? bf_redis_cache_split(&all, &rest, err) : 0;
    if (rc == 0 && rest.nkeys) rc = bf_redis_apply(&rest, err);
    if (r->cache) bf_redis_cache_join(&all, &rest, rc);
    for (size_t i = 0; rc == 0 && op == BF_OP_ADD && i < nkeys; i++) r->added += !present[i];
    return leave(r, rc);
}

static int require_own(const bf_redis *r, const char *what, bf_error *err)
{
    return r->foreign ? bf_fail(err, BF_ENOTSUP, "%s has no :meta and no mark: it cannot %s",
                            r->label, what)
                      : 0;
}

/* One shard after the other, until the first error. */
static int redis_change(bf_store *s, bf_change how, const uint64_t *words, bf_error *err)
{
    bf_redis *r = enter(s);
    const uint8_t *from = (const uint8_t *)words;
    int rc = require_own(r, bf_change_names[how], err);
    int (*one)(bf_redis *, const void *, bf_error *) = how == BF_INTERSECT  ? bf_redis_intersect
                                                       : how != BF_UNITE    ? bf_redis_replace
                                                       : r->desc.g.counting ? bf_redis_count_unite
                                                                            : bf_redis_unite;
    for (unsigned i = 0; rc == 0 && i < r->shards; i++)
        rc = one(bf_redis_key(r, i), from ? from + i * (r->bits / 8) : NULL, err);
    return leave(r, rc);
}

static int redis_read(bf_store *s, uint64_t offset, void *buf, uint64_t len, bf_error *err)
{
    bf_redis *r = enter(s);
    const uint64_t size = r->shards > 1 ? r->bits / 8 : UINT64_MAX;
    uint8_t *to = buf;
    int rc = 0;
    for (uint64_t c; rc == 0 && len; offset += c, to += c, len -= c) {
        c = size - offset % size < len ? size - offset % size : len;
        rc = bf_redis_read(bf_redis_key(r, (unsigned)(offset / size)), offset % size, to, c, err);
    }
    return leave(r, rc);
}

static int redis_count(bf_store *s, uint64_t *ones, uint64_t *slices, bf_error *err)
{
    bf_redis *r = enter(s);
    int rc = 0;
    *ones = 0;
    for (unsigned i = 0; rc == 0 && i < r->shards; i++) {
        uint64_t here = 0;
        rc = bf_redis_count(bf_redis_key(r, i), &here, slices, err);
        *ones += here;
    }
    return leave(r, rc);
}

/* All shards are equally full, so one is sampled. */
static int redis_sample(bf_store *s, uint64_t *ones, uint64_t *of, bf_error *err)
{
    bf_redis *r = enter(s);
    return leave(r, bf_redis_sample(bf_redis_key(r, 0), ones, of, err));
}

/* Runs a command on every key, also after an error; returns the first error.  With shards, K:meta
 * is last, and expires only if all shards did. */
static int each_key(
    bf_store *s, const char *what, const char *command, const char *argument, bf_error *err)
{
    bf_redis *r = enter(s);
    const bool removes = !strcmp(command, "DEL");
    int first = require_own(r, what, err);
    for (unsigned i = 0, n = first < 0 ? 0 : r->shards + (r->shard != NULL); i < n; i++) {
        bf_error *e = first < 0 ? NULL : err;
        if (i == r->shards && first < 0 && !removes) break;
        const int rc = i < r->shards
                           ? bf_redis_run_if_marked(bf_redis_key(r, i), command, argument, e)
                           : bf_redis_whole_command(r, command, argument, e);
        if (first == 0) first = rc;
    }
    if (removes) bf_redis_cache_forget(r->cache);
    return leave(r, first);
}

static int redis_expire(bf_store *s, double seconds, bf_error *err)
{
    char ms[BF_REDIS_MS];
    const char *command = bf_redis_expiry(seconds, ms);
    return each_key(s, "expire", command, seconds > 0 ? ms : NULL, err);
}
static int redis_remove(bf_store *s, bf_error *err)
{
    return each_key(s, "be deleted", "DEL", NULL, err);
}

static bool redis_current(const bf_store *s)
{
    bf_redis *r = enter((bf_store *)s);
    bf_redis_key_snapshot seen;
    uint32_t now;
    const bool parts = r->mark_at == 0 && !r->foreign;
    bool same = true;
    if (r->redisson)
        same = bf_redis_mark(r, &now, NULL) == 0 && now == r->mark;
    else if (r->foreign)
        same = bf_redis_read_key(r, &seen, NULL) == 0 && r->conn->reply.n == 0 && seen.bytes > 0;
    else if (!parts)
        same = bf_redis_keys_current(r);
    bf_redis_select(r);
    if (same && (parts || r->shard))
        same = bf_redis_fetch_id(r, &now, NULL) == 0 && now == r->filter_id;
    return leave(r, same);
}

static void redis_close(bf_store *s)
{
    bf_redis *r = s->impl;
    if (!r) return;
    bf_redis_free_shards(r);
    bf_redis_cache_free(r->cache);
    if (r->conn && r->whole == r) {
        bf_conn_free(r->conn);
        free(r->conn);
    }
    free(r->key);
    free(r->meta);
    free(r->room.at);
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
    .remove = redis_remove,
    .close = redis_close,
    .chain = &bf_chain_redis };
