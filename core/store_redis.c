/* store_redis.c - bits in strings of Redis, by URL or client: opening, the mark, and what the home offers.  A lost key is an error, never
 * "absent".  Knows keys and marks; batches are redis_trip.c's, whole bitmaps redis_bulk.c's, shards redis_shards.c's. */
#include "chain.h"
#include "bits.h"
#include "redis.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TRIP_KEYS = 1000, STUB_TRIES = 5, FOLLOW_TRIES = 20 };

/* ---- the mark ---- */
int bf_redis_lost(const bf_redis *r, bf_error *err)
{
    return bf_fail(err, BF_EIO, "%s is lost (deleted, expired, evicted or overwritten): create it again", r->link.label);
}

static int fetch_meta(bf_redis *r, bf_error *err)
{
    int rc = bf_link_begin(&r->link, true, err);
    if (rc < 0) return rc;
    bf_link_count(&r->link, 2);
    bf_link_word(&r->link, "HGETALL");
    bf_link_word(&r->link, r->meta);
    return bf_link_finish(&r->link, 1, err);
}

bool bf_redis_same_shape(const bf_desc *a, const bf_desc *b)
{
    return !strcmp(a->name, b->name) && a->g.m == b->g.m && a->g.k == b->g.k && a->g.shards == b->g.shards && a->g.counting == b->g.counting
        && a->secret_check == b->secret_check;
}

static int made_anew(const bf_redis *r, const bf_desc *d, bf_error *err)
{
    char shards[24] = "";
    if (d->g.shards != r->desc.g.shards) snprintf(shards, sizeof shards, " shards=%u", d->g.shards);
    return bf_fail(err, BF_EMISMATCH, "%s was made anew as %s m=%llu k=%u%s, here it is %s m=%llu k=%u", r->link.label, d->name,
                   (unsigned long long)d->g.m, d->g.k, shards, r->desc.name, (unsigned long long)r->desc.g.m, r->desc.g.k);
}

/* What K:meta says now: 1 the mark seen is this filter's, 0 it is not, or no longer. */
static int meta_agrees(bf_redis *r, uint32_t seen, bf_error *err)
{
    bf_desc d;
    uint32_t mark;
    int rc = fetch_meta(r, err);
    if (rc < 0) return rc;
    if (r->link.reply.n == 0) return bf_redis_lost(r, err);
    if ((rc = bf_redis_meta_read(r, &d, &mark, err)) < 0) return rc;
    if (!bf_redis_same_shape(&d, &r->desc)) return made_anew(r, &d, err);
    return mark == seen;
}

/* Between the mark and K:meta somebody may have exchanged the bits once more: then both are asked again.  No mark at all is a
 * lost key at once. */
int bf_redis_follow(bf_redis *r, uint32_t seen, bool *changed, bf_error *err)
{
    int rc = 0;
    *changed = false;
    if (seen == r->mark) return 0;
    if (r->redisson) return bf_redisson_changed(r, seen, err);
    for (int i = 0; rc == 0 && i < FOLLOW_TRIES; i++) {
        if (i > 0 && (rc = bf_redis_mark(r, &seen, err)) < 0) return rc;
        rc = meta_agrees(r, seen, err);
        if (seen == 0) break;
    }
    if (rc < 0) return rc;
    if (rc == 0) return bf_redis_lost(r, err);
    r->mark = seen;
    *changed = true;
    return 0;
}

/* ---- opening ---- */
static int name_config(bf_redis *r, bf_error *err)
{
    char *name = bf_redisson_config(r->link.url.key);
    if (!name) return bf_fail(err, BF_ENOMEM, "out of memory");
    free(r->meta);
    r->meta = name;
    return 0;
}

/* Nodes of a cluster do nothing with keys of two slots: there the companion hash is {K}:meta, unless K has a hash tag itself. */
static int name_meta(bf_redis *r, bf_error *err)
{
    const char *key = r->link.url.key;
    const bool braces = r->link.client && r->link.client->cluster && !bf_redis_tagged(key);
    if (braces && strchr(key, '}'))
        return bf_fail(err, BF_EINVAL, "key %.60s: with a } in it a key of a cluster needs a hash tag, as in {seen}:1", key);
    size_t cap = strlen(key) + 8;
    if (!(r->meta = malloc(cap))) return bf_fail(err, BF_ENOMEM, "out of memory");
    snprintf(r->meta, cap, braces ? "{%s}:meta" : "%s:meta", key);
    return 0;
}

int bf_redis_like(bf_store *s, const bf_redis *of, const char *key, bf_error *err)
{
    bf_redis *r = s->impl = calloc(1, sizeof *r);
    if (!r) return bf_fail(err, BF_ENOMEM, "out of memory");
    int rc = bf_link_like(&r->link, &of->link, key, err);
    r->shards = 1;
    r->wait_replicas = of->wait_replicas;
    s->label = r->link.label;
    return rc < 0 ? rc : name_meta(r, err);
}

static bf_redis *start(bf_store *s, const bf_spec *spec, bf_error *err)
{
    bf_redis *r = s->impl;
    if (r) return r;                                        /* another try of the same opening */
    if (!(s->impl = r = calloc(1, sizeof *r))) { bf_fail(err, BF_ENOMEM, "out of memory"); return NULL; }
    if (bf_link_init(&r->link, spec, err) < 0 || name_meta(r, err) < 0) return NULL;
    r->link.one_slot = r->link.client && r->link.client->cluster && spec->wait_replicas;    /* WAIT asks one node */
    if (spec->timeout > 0) r->link.url.timeout = spec->timeout;
    r->shards = 1;
    r->wait_replicas = spec->wait_replicas;
    s->label = r->link.label;
    return !bf_is_redisson(spec->scheme) || name_config(r, err) == 0 ? r : NULL;
}

/* The same as one command: a node of a cluster may send a part of a transaction elsewhere. */
static void put_look(bf_redis *r)
{
    bf_link *l = &r->link;
    bf_link_count(l, 5);
    bf_link_word(l, "EVAL");
    bf_link_word(l, "return {redis.call('HGETALL',KEYS[2]),redis.call('STRLEN',KEYS[1])}");
    bf_link_word(l, "2");
    bf_link_word(l, l->url.key);
    bf_link_word(l, r->meta);
}

/* K:meta and how long K is, both of one moment: the reply's leaves, the last of them being the length. */
static int look(bf_redis *r, long long *bytes, bf_error *err)
{
    bf_link *l = &r->link;
    static const char *const words[] = { "MULTI", "HGETALL", "STRLEN", "EXEC" };
    int rc = bf_link_begin(l, true, err);
    if (rc < 0) return rc;
    if (l->client) put_look(r);
    else for (int i = 0; i < 4; i++) {
        bf_link_count(l, i % 3 ? 2 : 1);
        bf_link_word(l, words[i]);
        if (i % 3) bf_link_word(l, i == 1 ? r->meta : l->url.key);
    }
    if ((rc = bf_link_finish(l, l->client ? 1 : 4, err)) < 0) return rc;
    if (l->reply.n && bf_reply_integer(&l->reply, l->reply.n - 1, bytes)) return 0;
    return bf_fail(err, BF_EIO, "%s: no length in the answer to STRLEN", l->label);
}

int bf_redis_mark(bf_redis *r, uint32_t *mark, bf_error *err)
{
    size_t len;
    int rc = bf_link_begin(&r->link, true, err);
    if (rc < 0) return rc;
    bf_redis_put_range(r, r->mark_at, BF_REDIS_MARK);
    if ((rc = bf_link_finish(&r->link, 1, err)) < 0) return rc;
    const char *bytes = bf_reply_text(&r->link.reply, 0, &len);
    *mark = bf_redis_mark_in(bytes, bytes ? len : 0);
    return 0;
}

static bool may_create(const bf_spec *spec) { return !spec->read_only && !spec->must_exist && bf_sufficient(spec); }

static int no_cache(const bf_redis *r, bf_error *err)
{
    return bf_fail(err, BF_ENOTSUP, "%s is no filter of ours: it has no mark, and without one nothing can be cached", r->link.label);
}

static int none_past(bf_redis *r, uint64_t m, bf_error *err)
{
    size_t len;
    int rc;
    if (m % 8 == 0) return 0;
    if ((rc = bf_link_begin(&r->link, true, err)) < 0) return rc;
    bf_redis_put_range(r, m / 8, 1);
    if ((rc = bf_link_finish(&r->link, 1, err)) < 0) return rc;
    const char *last = bf_reply_text(&r->link.reply, 0, &len);
    if (!last || len == 0 || !(*last & 0xFF >> m % 8)) return 0;
    return bf_fail(err, BF_EMISMATCH, "%s has bits set past m=%llu: it has another m", r->link.label, (unsigned long long)m);
}

/* Shorter than m is how Redis keeps zeros; longer, m is not theirs, and keys that are there would read as absent.  Our own
 * bits are longer by their mark: opened so when the companion hash was lost. */
static int long_as_m(bf_redis *r, uint64_t m, uint64_t bytes, bf_error *err)
{
    if (bytes <= (m + 7) / 8 || bytes == r->mark_at + BF_REDIS_MARK) return none_past(r, m, err);
    return bf_fail(err, BF_EMISMATCH, "%s holds %llu bytes, m=%llu bits take %llu: it has another m", r->link.label, (unsigned long long)bytes,
                   (unsigned long long)m, (unsigned long long)((m + 7) / 8));
}

/* A bitmap that another system made: no companion hash, no mark, and never longer than it is. */
static int attach_foreign(bf_redis *r, const bf_spec *spec, bf_desc *d, long long bytes, bf_error *err)
{
    if (!(spec->must_exist || spec->read_only) || !spec->scheme)
        return bf_fail(err, BF_EFORMAT, "%s holds %lld bytes that are no filter of ours: open() them with scheme, m and k, or take another key", r->link.label, bytes);
    if (spec->shards > 1) return bf_fail(err, BF_ENOTSUP, "%s is no filter of ours: it has no shards", r->link.label);
    if (spec->cache) return no_cache(r, err);
    if (spec->counting) return bf_fail(err, BF_ENOTSUP, "%s holds bytes of another system: they are opened as bits, not as counters", r->link.label);
    int rc = bf_size(d, spec, err);
    if (rc < 0 || (rc = bf_secret_check(d->scheme, spec, &d->secret_check, err)) < 0) return rc;
    bf_redis_place(r, d);
    if ((rc = long_as_m(r, d->g.m, (uint64_t)bytes, err)) < 0) return rc;
    r->foreign = true;
    return 1;
}

static int nothing_there(const bf_redis *r, const bf_spec *spec, bool meta, bf_error *err)
{
    if (may_create(spec)) return 0;
    if (meta) return bf_redis_lost(r, err);
    return bf_fail(err, BF_EIO, "%s does not exist", r->link.label);
}

/* As Redisson keeps it; without its hash a bitmap like any other that is not ours. */
static int attach_redisson(bf_redis *r, const bf_spec *spec, bf_desc *d, bf_error *err)
{
    long long bytes;
    int rc = look(r, &bytes, err);
    if (rc < 0) return rc;
    if (!bf_redisson_found(r)) return bytes ? attach_foreign(r, spec, d, bytes, err) : nothing_there(r, spec, false, err);
    if (spec->cache) return no_cache(r, err);
    if ((rc = bf_redisson_read(r, d, err)) < 0) return rc;
    bf_redisson_place(r, d);
    return 1;
}

/* The URL alone may also lead to one of Redisson's. */
static int attach_unnamed(bf_redis *r, const bf_spec *spec, bf_desc *d, bf_error *err)
{
    long long bytes;
    char *meta = r->meta;
    r->meta = NULL;
    int rc = name_config(r, err);
    if (rc == 0 && (rc = look(r, &bytes, err)) == 0 && bf_redisson_found(r)) { free(meta); return attach_redisson(r, spec, d, err); }
    free(r->meta);
    r->meta = meta;
    return rc;
}

static int attach_once(bf_redis *r, const bf_spec *spec, bf_desc *d, bool *stub, bf_error *err)
{
    long long bytes;
    uint32_t mark, want = 0;
    *stub = false;
    int rc = look(r, &bytes, err);
    if (rc < 0) return rc;
    bool meta = r->link.reply.n > 1;
    if (meta && (rc = bf_redis_meta_read(r, d, &want, err)) < 0) return rc;
    if (meta && d->kind && (r->link.client || spec->cache))
        return bf_fail(err, BF_ENOTSUP, "%s %s: it is opened by URL and without a cache", r->link.label, d->kind == BF_GROW ? "grows" : "forgets");
    if (meta && d->kind) return 1;                          /* its parts are chain_redis.c's */
    if (meta && d->g.shards > 1 && !r->slot) return bf_redis_attach_shards(r, spec, d, want, err);
    if (!r->slot) r->whole = want;                          /* a lost filter may be made anew with shards */
    if (!meta && !spec->scheme && !r->slot && !may_create(spec) && (rc = attach_unnamed(r, spec, d, err)) != 0) return rc;
    if (bytes == 0) return nothing_there(r, spec, meta, err);
    if (!meta) return attach_foreign(r, spec, d, bytes, err);
    bf_redis_place(r, d);
    if ((rc = bf_redis_mark(r, &mark, err)) < 0) return rc;
    if (mark == want) { r->mark = mark; return 1; }
    *stub = true;
    return bf_fail(err, BF_EFORMAT, "%s holds %lld bytes, but not the mark of its :meta: delete both to start anew", r->link.label, bytes);
}

/* A key that was just lost may for a moment be the stub of an add, and one may be exchanged between the two trips: looked
 * at again before it is an error. */
int bf_redis_attach_key(bf_redis *r, const bf_spec *spec, bf_desc *d, bf_error *err)
{
    bool stub = false;
    int rc = attach_once(r, spec, d, &stub, err);
    for (int i = 0; stub && i < STUB_TRIES; i++) {
        nanosleep(&(struct timespec){ 0, 4000000 }, NULL);
        rc = attach_once(r, spec, d, &stub, err);
    }
    return rc;
}

static int cached(bf_redis *r, const bf_spec *spec, int rc, bf_error *err)
{
    return rc == 1 && spec->cache && bf_redis_cache_new(r, spec->cache_max_age, err) < 0 ? BF_ENOMEM : rc;
}

static int attach(bf_store *s, const bf_spec *spec, bf_desc *desc, bf_error *err)
{
    bf_redis *r = start(s, spec, err);
    if (!r) return err ? err->code : BF_EINVAL;
    bf_link_lock(&r->link);
    int rc = bf_is_redisson(spec->scheme) ? attach_redisson(r, spec, desc, err) : bf_redis_attach_key(r, spec, desc, err);
    rc = cached(r, spec, rc, err);
    bf_link_unlock(&r->link);
    return rc;
}

static int make_redisson(bf_redis *r, const bf_desc *d, const bf_spec *spec, bf_error *err)
{
    if (spec->cache) return no_cache(r, err);
    bf_link_lock(&r->link);
    int rc = bf_redisson_make(r, d, err);
    bf_link_unlock(&r->link);
    return rc;
}

static int create(bf_store *s, const bf_desc *d, const bf_spec *spec, bf_error *err)
{
    bf_redis *r = s->impl;
    const unsigned shards = d->g.shards > 1 ? d->g.shards : 1;
    if (d->g.counting && bf_bits(&d->g) > BF_REDIS_M_MAX)
        return bf_fail(err, BF_EINVAL, "m=%llu counters do not fit one Redis key (at most %llu)", (unsigned long long)d->g.m,
                       (unsigned long long)(BF_REDIS_M_MAX / BF_CELL_BITS));
    if (d->g.m / shards > BF_REDIS_M_MAX)
        return bf_fail(err, BF_EINVAL, "m=%llu bits do not fit %u Redis key%s of at most %llu: larger filters need %s shards", (unsigned long long)d->g.m,
                       shards, shards > 1 ? "s" : "", (unsigned long long)BF_REDIS_M_MAX, d->scheme->layout->sharding == BF_WHOLE ? "a scheme with" : "more");
    if (bf_is_redisson(d->name)) return make_redisson(r, d, spec, err);
    bf_link_lock(&r->link);
    int rc = shards > 1 ? bf_redis_make_shards(r, d, err) : bf_redis_make(r, d, err);
    rc = cached(r, spec, rc, err);
    bf_link_unlock(&r->link);
    return rc;
}

/* ---- what it offers: each with the connection to itself ---- */
static bf_redis *enter(bf_store *s)
{
    bf_redis *r = s->impl;
    bf_link_lock(&r->link);
    return r;
}

static int leave(bf_redis *r, int rc)
{
    bf_redis_select(r, r->shards);
    bf_link_unlock(&r->link);
    return rc;
}

static int apply(bf_store *s, int op, const uint64_t *pos, size_t nkeys, unsigned k, uint8_t *present, bf_error *err)
{
    bf_redis *r = enter(s);
    int (*how)(bf_redis *, int, const uint64_t *, size_t, unsigned, uint8_t *, bf_error *) =
        r->desc.g.counting ? bf_redis_count_apply : r->cache ? bf_redis_cache_apply : bf_redis_apply;
    return leave(r, how(r, op, pos, nkeys, k, present, err));
}

static int own(const bf_redis *r, const char *what, bf_error *err)
{
    return r->foreign ? bf_fail(err, BF_ENOTSUP, "%s has no :meta and no mark: it cannot %s", r->link.label, what) : 0;
}

/* One shard after the other, up to the first error. */
static int replace_all(bf_redis *r, const uint8_t *bytes, int (*one)(bf_redis *, const void *, bf_error *), bf_error *err)
{
    int rc = 0;
    for (unsigned i = 0; rc == 0 && i < r->shards; i++) {
        bf_redis_select(r, i);
        rc = one(r, bytes ? bytes + i * (r->bits / 8) : NULL, err);
    }
    return rc;
}

static int whole(bf_store *s, const char *what, const void *bytes, int (*one)(bf_redis *, const void *, bf_error *), bf_error *err)
{
    bf_redis *r = enter(s);
    int rc = own(r, what, err);
    return leave(r, rc < 0 ? rc : replace_all(r, bytes, one, err));
}

static int clear(bf_store *s, bf_error *err) { return whole(s, "be cleared", NULL, bf_redis_replace, err); }
static int replace(bf_store *s, const uint64_t *words, bf_error *err) { return whole(s, "be rebuilt", words, bf_redis_replace, err); }
static int add_up(bf_redis *r, const void *bytes, bf_error *err)
{ return r->desc.g.counting ? bf_redis_count_unite(r, bytes, err) : bf_redis_unite(r, bytes, err); }
static int unite(bf_store *s, const uint64_t *words, bf_error *err) { return whole(s, "be united", words, add_up, err); }
static int intersect(bf_store *s, const uint64_t *words, bf_error *err) { return whole(s, "be intersected", words, bf_redis_intersect, err); }

static int read_(bf_store *s, uint64_t offset, void *buf, uint64_t len, bf_error *err)
{
    bf_redis *r = enter(s);
    const uint64_t size = r->shards > 1 ? r->bits / 8 : UINT64_MAX;
    uint8_t *to = buf;
    int rc = 0;
    for (uint64_t c; rc == 0 && len; offset += c, to += c, len -= c) {
        c = size - offset % size < len ? size - offset % size : len;
        bf_redis_select(r, (unsigned)(offset / size));
        rc = bf_redis_read(r, offset % size, to, c, err);
    }
    return leave(r, rc);
}

static int count(bf_store *s, uint64_t *ones, bf_error *err)
{
    bf_redis *r = enter(s);
    int rc = 0;
    *ones = 0;
    for (unsigned i = 0; rc == 0 && i < r->shards; i++) {
        uint64_t here = 0;
        bf_redis_select(r, i);
        rc = bf_redis_count(r, &here, err);
        *ones += here;
    }
    return leave(r, rc);
}

/* All shards get their turn, whatever became of the others; the first error is the error. */
static int expire(bf_store *s, double seconds, bf_error *err)
{
    bf_redis *r = enter(s);
    int first = own(r, "expire", err), rc = first;
    for (unsigned i = 0; rc >= 0 && i < r->shards; i++) {
        bf_redis_select(r, i);
        int here = bf_redis_expire(r, seconds, first < 0 ? NULL : err);
        if (first == 0) first = here;
    }
    if (rc >= 0 && first == 0 && r->slot) first = bf_redis_expire_whole(r, seconds, err);
    return leave(r, first);
}

static int remove_(bf_store *s, bf_error *err)
{
    bf_redis *r = enter(s);
    int first = own(r, "be deleted", err), rc = first;
    for (unsigned i = 0; rc >= 0 && i < r->shards; i++) {
        bf_redis_select(r, i);
        int here = bf_redis_remove(r, first < 0 ? NULL : err);
        if (first == 0) first = here;
    }
    if (rc >= 0 && r->slot) {
        int here = bf_redis_remove_whole(r, first < 0 ? NULL : err);
        if (first == 0) first = here;
    }
    bf_redis_cache_forget(r->cache);
    return leave(r, first);
}

static bool current(const bf_store *s)
{
    bf_redis *r = enter((bf_store *)s);
    long long bytes = 0;
    if (r->mark_at == 0 && !r->foreign && !r->redisson) return leave(r, true);    /* a filter of parts looks for itself */
    if (!bf_redis_marked(r)) return leave(r, look(r, &bytes, NULL) == 0 && r->link.reply.n == 1 && bytes > 0);
    bf_redis_group *g = bf_redis_room(r, r->shards * sizeof *g);
    bool same = g != NULL;
    for (unsigned i = 0; g && i < r->shards; i++) g[i] = (bf_redis_group){ .shard = i, .pending = true };
    if (g) same = bf_redis_marks(r, g, r->shards, NULL) == 0;
    for (unsigned i = 0; g && same && i < r->shards; i++) { bf_redis_select(r, i); same = g[i].mark == r->mark; }
    return leave(r, same);
}

static void close_(bf_store *s)
{
    bf_redis *r = s->impl;
    if (!r) return;
    bf_redis_free_shards(r);
    bf_redis_cache_free(r->cache);
    bf_link_free(&r->link);
    free(r->meta);
    free(r->old);
    free(r->room);
    free(r);
}

const bf_store_ops bf_store_redis = { .name = "redis", .batch = TRIP_KEYS, .most_bits = BF_REDIS_M_MAX, .attach = attach, .create = create,
                                      .apply = apply, .current = current, .read = read_, .count = count, .clear = clear,
                                      .replace = replace, .unite = unite, .intersect = intersect, .expire = expire, .remove = remove_,
                                      .close = close_, .chain = &bf_chain_redis };
