/* attach.c - opening what is under a key: a filter of ours, Redisson's, or a bitmap of another
 * system.  Writes nothing. */
#include "redis/attach.h"
#include "redis/mark.h"
#include "redis/meta.h"
#include "redis/key_names.h"
#include "redis/redisson.h"
#include "redis/keyset.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STUB_TRIES = 5 }; /* with a pause before each */

/* ---- opening ---- */
static int name_config(bf_redis *r, bf_error *err)
{
    char *name = bf_redis_name(r->conn, r->key, BF_NAME_CONFIG, 0);
    if (!name) return bf_fail(err, BF_ENOMEM, "out of memory");
    free(r->meta);
    r->meta = name;
    return 0;
}

static int name_meta(bf_redis *r, bf_error *err)
{
    const char *key = r->key;
    const bool cluster = r->conn->client->cluster;
    if (cluster && !bf_redis_tagged(key) && strchr(key, '}'))
        return bf_fail(err, BF_EINVAL,
            "key %.60s has a } in it, so in a cluster it needs a hash tag, as in {seen}:1", key);
    if (!(r->meta = bf_redis_name(r->conn, key, BF_NAME_META, 0)))
        return bf_fail(err, BF_ENOMEM, "out of memory");
    return 0;
}

int bf_redis_open_sibling(bf_store *s, const bf_redis *of, const char *key, bf_error *err)
{
    bf_redis *r = s->impl = calloc(1, sizeof *r);
    if (!r) return bf_fail(err, BF_ENOMEM, "out of memory");
    r->conn = of->conn;
    r->shares_connection = true;
    r->whole = of->whole;
    r->shards = 1;
    r->wait_replicas = of->wait_replicas;
    r->caches = of->caches;
    r->cache_max_age = of->cache_max_age;
    bf_conn_label(r->conn, key, r->label);
    s->label = r->label;
    if ((r->key = strdup(key)) && (r->meta = bf_redis_name(r->conn, key, BF_NAME_META, 0)))
        return 0;
    return bf_fail(err, BF_ENOMEM, "out of memory");
}

static int name_key(bf_redis *r, bf_error *err)
{
    memcpy(r->label, r->conn->own_label, sizeof r->label);
    if (!(r->key = strdup(r->conn->url.key))) return bf_fail(err, BF_ENOMEM, "out of memory");
    r->whole = r;
    return name_meta(r, err);
}

bf_redis *bf_redis_start(bf_store *s, const bf_spec *spec, bf_error *err)
{
    bf_redis *r = s->impl;
    if (r) return r; /* another try of the same opening */
    if (!(s->impl = r = calloc(1, sizeof *r)) || !(r->conn = calloc(1, sizeof *r->conn))) {
        bf_fail(err, BF_ENOMEM, "out of memory");
        return NULL;
    }
    if (bf_conn_open(r->conn, spec, err) < 0 || name_key(r, err) < 0) return NULL;
    r->conn->one_slot = r->conn->client->cluster && spec->wait_replicas; /* WAIT asks one node */
    r->shards = 1;
    r->wait_replicas = spec->wait_replicas;
    r->caches = spec->cache;
    r->cache_max_age = spec->cache_max_age;
    s->label = r->label;
    return !bf_is_redisson(spec->scheme) || name_config(r, err) == 0 ? r : NULL;
}

/* K:meta, how long K is, and its end: the mark is read last, so if it is the one that K:meta has,
 * all is of one generation. */
static void put_look(bf_redis *r)
{
    bf_conn *l = r->conn;
    bf_conn_command(l, "HGETALL %s", r->meta);
    bf_conn_expect(l, BF_HASH_LEAVES, BF_HASH_BYTES);
    bf_conn_command(l, "STRLEN %s", r->key);
    bf_conn_command(l, "GETRANGE %s -4 -1", r->key);
}

/* The next three replies; the first of them stays. */
static int take_look(bf_redis *r, bf_redis_key_snapshot *s, bf_error *err)
{
    size_t len;
    bf_conn *l = r->conn;
    *s = (bf_redis_key_snapshot){ .bytes = -1 };
    bf_conn_next(l);
    const bf_redis_reply hash = l->reply;
    int rc = bf_conn_refusal(l, err);
    bf_conn_next(l);
    s->refused = bf_conn_refusal(l, rc < 0 ? NULL : err);
    bf_reply_integer(&l->reply, 0, &s->bytes);
    bf_conn_next(l);
    if (!s->refused) s->refused = bf_conn_refusal(l, rc < 0 ? NULL : err);
    const char *end = bf_reply_only_text(&l->reply, &len);
    s->end = end ? bf_redis_mark_in(end, len) : 0;
    l->reply = hash;
    if (rc < 0 || s->refused || s->bytes >= 0) return rc;
    return bf_fail(err, BF_EIO, "%s: unexpected reply to STRLEN", r->label);
}

static int look_once(bf_redis *r, bf_redis_key_snapshot *s, bf_error *err)
{
    bf_conn_begin(r->conn, BF_READS);
    put_look(r);
    const int rc = bf_conn_send(r->conn, err);
    return rc < 0 ? rc : take_look(r, s, err);
}

/* Bits without a companion hash may have been made after it was looked for: they are without one
 * if they are the same before and after it was looked for again. */
int bf_redis_read_key(bf_redis *r, bf_redis_key_snapshot *s, bf_error *err)
{
    bf_redis_key_snapshot before = { .bytes = -1 };
    for (int i = 0; i < BF_REDIS_TRIES; i++, before = *s) {
        const int rc = look_once(r, s, err);
        if (rc < 0 || r->conn->reply.n || s->bytes == 0 || s->refused ||
            (s->bytes == before.bytes && s->end == before.end))
            return rc;
    }
    return bf_fail(err, BF_EIO, "%s changes too fast to be opened", r->label);
}

static bool may_create(const bf_spec *spec)
{
    return !spec->read_only && !spec->must_exist && bf_sufficient(spec);
}

int bf_redis_no_cache(const bf_redis *r, bf_error *err)
{
    return bf_fail(
        err, BF_ENOTSUP, "%s is a foreign bitmap: it has no mark, and cache needs one", r->label);
}

static int none_past(bf_redis *r, uint64_t m, bf_error *err)
{
    size_t len;
    int rc;
    if (m % 8 == 0) return 0;
    bf_conn_begin(r->conn, BF_READS);
    bf_redis_append_range(r, m / 8, 1);
    if ((rc = bf_conn_finish(r->conn, err)) < 0) return rc;
    const char *last = bf_reply_text(&r->conn->reply, 0, &len);
    if (!last || len == 0 || !(*last & 0xFF >> m % 8)) return 0;
    return bf_fail(err, BF_EMISMATCH, "%s has bits set past m=%llu: it has another m", r->label,
        (unsigned long long)m);
}

/* Shorter than m is how Redis keeps zeros; longer, m is not theirs, and keys that are there would
 * read as absent.  Our own bits are longer by their mark: opened so when the companion hash was
 * lost. */
static int long_as_m(bf_redis *r, uint64_t m, uint64_t bytes, bf_error *err)
{
    if (bytes <= (m + 7) / 8 || bytes == bf_redis_length(r)) return none_past(r, m, err);
    return bf_fail(err, BF_EMISMATCH,
        "%s holds %llu bytes, m=%llu bits take %llu: it has another m", r->label,
        (unsigned long long)bytes, (unsigned long long)m, (unsigned long long)((m + 7) / 8));
}

/* A bitmap that another system made: no companion hash, no mark, and never longer than it is. */
static int attach_foreign(
    bf_redis *r, const bf_spec *spec, bf_desc *d, long long bytes, bf_error *err)
{
    if (!(spec->must_exist || spec->read_only || spec->adopt) || !spec->scheme)
        return bf_fail(err, BF_EFORMAT,
            "%s holds %lld bytes that are not our filter: to take over a bitmap of another system, "
            "give scheme, m, k and adopt",
            r->label, bytes);
    if (spec->shards > 1)
        return bf_fail(err, BF_ENOTSUP, "%s is a foreign bitmap: it has no shards", r->label);
    if (spec->cache && !spec->adopt) return bf_redis_no_cache(r, err);
    if (spec->counting)
        return bf_fail(err, BF_ENOTSUP,
            "%s holds bytes of another system, which are bits and not counters", r->label);
    int rc = bf_size(d, spec, BF_REDIS_M_MAX, err);
    if (rc < 0 || (rc = bf_secret_check(d->scheme, spec, &d->secret_check, err)) < 0) return rc;
    bf_redis_place(r, d);
    if ((rc = long_as_m(r, d->g.m, (uint64_t)bytes, err)) < 0) return rc;
    if (spec->adopt && (uint64_t)bytes > (d->g.m + 7) / 8 && !bf_redis_mark_apart(r))
        return bf_fail(err, BF_EMISMATCH,
            "%s holds %lld bytes, more than m=%llu needs: adopt would overwrite the last 4; pass "
            "its true m, "
            "or rebuild it without adopt",
            r->label, bytes, (unsigned long long)d->g.m);
    if (spec->adopt) return bf_redis_adopt(r, d, err);
    r->foreign = true;
    return 1;
}

/* Bits without a companion hash: another system's, or the stub of an add to a filter that was just
 * deleted, or what is too long by the mark that another adopter has just written. */
static int attach_bare(
    bf_redis *r, const bf_spec *spec, bf_desc *d, long long bytes, bool *stub, bf_error *err)
{
    const int rc = attach_foreign(r, spec, d, bytes, err);
    *stub = rc == BF_EFORMAT || rc == BF_EMISMATCH || (spec->adopt && rc == 0);
    return rc;
}

static int nothing_there(bf_redis *r, const bf_spec *spec, bool meta, bf_error *err)
{
    if (may_create(spec)) return 0;
    r->missing = true;
    if (meta) return bf_redis_fail_lost(r, err);
    return bf_fail(err, BF_ENOENT, "%s does not exist", r->label);
}

/* As Redisson keeps it.  Bits without Redisson's hash are opened as any other bits are: they may be
 * another system's, or belong to a filter of ours. */
int bf_redis_attach_redisson(bf_redis *r, const bf_spec *spec, bf_desc *d, bf_error *err)
{
    bf_redis_key_snapshot s;
    int rc = bf_redis_read_key(r, &s, err);
    if (rc < 0 || (rc = s.refused) < 0) return rc;
    if (spec->adopt)
        return bf_fail(err, BF_ENOTSUP,
            "%s: a filter of Redisson has a companion hash already: open it without adopt",
            r->label);
    if (bf_redisson_found(r)) {
        if (spec->cache) return bf_redis_no_cache(r, err);
        if ((rc = bf_redisson_read(r, d, err)) < 0) return rc;
        bf_redisson_place(r, d);
        return 1;
    }
    if (s.bytes == 0) return nothing_there(r, spec, false, err);
    free(r->meta);
    r->meta = NULL;
    if ((rc = name_meta(r, err)) == 0 && (rc = bf_redis_attach_key(r, spec, d, err)) == 0)
        rc = name_config(r, err);
    return rc;
}

/* The URL alone may also lead to one of Redisson's. */
static int attach_unnamed(bf_redis *r, const bf_spec *spec, bf_desc *d, bf_error *err)
{
    bf_redis_key_snapshot s;
    char *meta = r->meta;
    r->meta = NULL;
    int rc = name_config(r, err);
    if (rc == 0 && (rc = bf_redis_read_key(r, &s, err)) == 0 && bf_redisson_found(r)) {
        free(meta);
        return bf_redis_attach_redisson(r, spec, d, err);
    }
    free(r->meta);
    r->meta = meta;
    return rc;
}

/* A part or a shard that the filter must have: is it there, but not what its companion hash said?
 */
static bool bereft(const bf_redis *r, bool meta, long long bytes)
{
    if (meta && bf_redis_meta_whole(r)) return false;
    return r->shares_connection ? meta || bytes
                                : bf_redis_is_shard(r) && (uint64_t)bytes == bf_redis_length(r);
}

static int companion_lost(bf_redis *r, bf_error *err)
{
    r->missing = true;
    return bf_fail(err, BF_EIO,
        "%s is lost: its companion hash (with :meta) is gone; delete the key, create it again",
        r->label);
}

static bool has_id(const bf_redis *r)
{
    return r->whole == r || bf_redis_meta_id(r) == r->whole->filter_id;
}

/* A part or a shard of another filter that had the same key, or has it by now. */
static int left_over(bf_redis *r, bf_error *err)
{
    r->missing = true;
    return bf_fail(err, BF_EIO,
        "%s is lost: the key is left over from another filter of that name; delete it, create it "
        "again",
        r->label);
}

static int attach_once(bf_redis *r, const bf_spec *spec, bf_desc *d, bool *stub, bf_error *err)
{
    bf_redis_key_snapshot s;
    uint32_t want = 0;
    *stub = false;
    int rc = bf_redis_read_key(r, &s, err);
    if (rc < 0) return rc;
    const long long bytes = s.bytes;
    bool meta = r->conn->reply.n > 1;
    const uint32_t born = meta ? bf_redis_meta_filter_id(r) : 0;
    const bool making = meta && bf_redis_meta_making(r);
    r->keys = meta ? bf_redis_meta_keys(r) : 0;
    r->adopted = meta && bf_redis_meta_adopted(r);
    r->seen = 0;
    if (bereft(r, meta, bytes)) return companion_lost(r, err);
    if (meta && (rc = bf_redis_meta_read(r, d, &want, err)) < 0) return rc;
    if (meta && bytes && !has_id(r)) return left_over(r, err);
    r->seen = want;
    if (meta && d->kind) { /* its parts are grown.c's */
        r->filter_id = born;
        r->recreate = r->missing = false;
        return 1;
    }
    r->making = making;
    if (meta && d->g.shards > 1 && !bf_redis_is_shard(r)) {
        r->filter_id = born;
        rc = bf_redis_attach_shards(r, spec, d, want, err);
        *stub = rc < 0 && bf_redis_has_other_id(r);
        return rc;
    }
    if (s.refused) return s.refused;
    if (!meta && !spec->scheme && !bf_redis_is_shard(r) && !may_create(spec) &&
        (rc = attach_unnamed(r, spec, d, err)) != 0)
        return rc;
    if (bytes == 0) return nothing_there(r, spec, meta, err);
    if (!meta) return attach_bare(r, spec, d, bytes, stub, err);
    bf_redis_place(r, d);
    if (((uint64_t)bytes != bf_redis_length(r) || bf_redis_mark_apart(r)) &&
        (rc = bf_redis_mark(r, &s.end, err)) < 0)
        return rc;
    if (s.end == want) {
        r->mark = want;
        r->filter_id = born;
        return 1;
    }
    *stub = true;
    if (r->adopted && spec->adopt) { /* theirs, begun after the one that was adopted was lost */
        if ((rc = bf_match(d, spec, r->label, err)) < 0 ||
            (rc = long_as_m(r, d->g.m, (uint64_t)bytes, err)) < 0)
            return rc;
        return bf_redis_adopt(r, d, err);
    }
    return bf_fail(err, BF_EFORMAT,
        "%s holds %lld bytes, but not the mark of its :meta: delete both keys to start again",
        r->label, bytes);
}

/* A key that was just lost may for a moment be the stub of an add, and one may be exchanged between
 * the two trips: looked at again before it is an error. */
int bf_redis_attach_key(bf_redis *r, const bf_spec *spec, bf_desc *d, bf_error *err)
{
    bool stub = false;
    int rc = attach_once(r, spec, d, &stub, err);
    for (int i = 0; stub && i < STUB_TRIES; i++) {
        nanosleep(&(struct timespec){ 0, 4000000 }, NULL);
        rc = attach_once(r, spec, d, &stub, err);
    }
    if (stub && rc == 0) return bf_fail(err, BF_EIO, "%s changes too fast to be adopted", r->label);
    return rc;
}

/* ---- several at once ---- */
static void take_peek(bf_redis *r)
{
    bf_desc d;
    bf_redis_key_snapshot s;
    uint32_t want;
    if (take_look(r, &s, NULL) < 0 || r->conn->reply.n < 2 ||
        bf_redis_meta_read(r, &d, &want, NULL) < 0 || !has_id(r) || d.kind || d.g.shards > 1 ||
        s.end != want)
        return;
    bf_redis_place(r, &d);
    if ((uint64_t)s.bytes != bf_redis_length(r)) return;
    r->mark = want;
    r->filter_id = bf_redis_meta_filter_id(r);
    r->keys = bf_redis_meta_keys(r);
    r->prefetched = true;
}

int bf_redis_prefetch_keys(bf_redis *whole, bf_redis *const *r, unsigned n, bf_error *err)
{
    if (n == 0) return 0;
    bf_redis_lock(whole);
    bf_conn_begin(whole->conn, BF_READS);
    for (unsigned i = 0; i < n; i++) put_look(r[i]);
    const int rc = bf_conn_send(whole->conn, err);
    for (unsigned i = 0; rc == 0 && i < n; i++) take_peek(r[i]);
    bf_conn_unlock(whole->conn);
    return rc;
}
