/* mark.c - the mark after the last bit: asked for, read, compared with K:meta, followed where
 * somebody exchanged the bits.  A lost key is an error, never "absent".  Also which of several keys
 * is selected, because each has its mark. */
#include "bits/bits.h"
#include "redis/cache.h"
#include "redis/mark.h"
#include "redis/meta.h"
#include "redis/redisson.h"
#include <stdio.h>
#include <string.h>

/* ---- which key ---- */
void bf_redis_select(bf_redis *r)
{
    r->conn->key = r->key;
    r->conn->label = r->label;
}

bf_redis *bf_redis_key(bf_redis *r, unsigned i)
{
    bf_redis *one = r->shard ? r->shard + i : r;
    bf_redis_select(one);
    return one;
}

void bf_redis_lock(bf_redis *r)
{
    bf_conn_lock(r->conn);
    bf_redis_select(r);
}

/* ---- as a command of its own ---- */
void bf_redis_append_range(bf_redis *r, uint64_t from, uint64_t bytes)
{
    bf_conn *l = r->conn;
    bf_conn_command(l, "GETRANGE %s %n %n", l->key, from, from + bytes - 1);
    bf_conn_expect(l, 0, (size_t)bytes);
}

bool bf_redis_marked(const bf_redis *r) { return !r->foreign || r->redisson; }

/* Apart from the bits: they were all there before this mark was, or it is not theirs any more. */
static void put_apart(bf_redis *r)
{
    bf_conn_command(r->conn, "STRLEN %s", r->conn->key);
    bf_conn_command(r->conn, "HGET %s mark", r->meta);
}

void bf_redis_append_mark(bf_redis *r)
{
    if (r->redisson)
        bf_redisson_put_mark(r);
    else if (bf_redis_mark_apart(r))
        put_apart(r);
    else
        bf_redis_append_range(r, r->mark_at, BF_REDIS_MARK);
}

/* Of several replies: the first error reply is kept in a, and the others are read. */
bool bf_redis_next(bf_redis *r, bf_redis_outcome *a)
{
    char text[32];
    bf_conn_next(r->conn);
    if (!a->refused && bf_reply_error(&r->conn->reply, text, sizeof text)) {
        a->unknown = a->looks && !strncmp(text, "ERR unknown command", 19);
        a->refused = bf_conn_refusal(r->conn, a->err);
    }
    return !a->refused;
}

uint32_t bf_redis_take_mark(bf_redis *r, bf_redis_outcome *a)
{
    size_t len;
    long long bytes = -1;
    const bool apart = !r->redisson && bf_redis_mark_apart(r);
    bool fine = bf_redis_next(r, a);
    if (apart && fine) bf_reply_integer(&r->conn->reply, 0, &bytes);
    if (apart) fine = bf_redis_next(r, a);
    if (!fine) return 0;
    if (apart) {
        const int64_t said = bf_reply_number(&r->conn->reply, 0, 16);
        return (uint64_t)bytes == bf_redis_length(r) && said <= UINT32_MAX && said > 0
                   ? (uint32_t)said
                   : 0;
    }
    const char *text = bf_reply_only_text(&r->conn->reply, &len);
    return r->redisson ? bf_redisson_mark(r) : bf_redis_mark_in(text, text ? len : 0);
}

int bf_redis_fail_protocol(bf_redis *r, bf_error *err)
{
    bf_conn_drop(r->conn);
    return bf_fail(err, BF_EIO, "%s: unexpected reply", r->label);
}

int bf_redis_mark(bf_redis *r, uint32_t *mark, bf_error *err)
{
    bf_redis_outcome a = { .err = err };
    bf_conn_begin(r->conn, BF_READS);
    bf_redis_append_mark(r);
    const int rc = bf_conn_send(r->conn, err);
    if (rc == 0) *mark = bf_redis_take_mark(r, &a);
    return rc < 0 ? rc : a.refused;
}

/* ---- what it says ---- */
int bf_redis_fail_lost(const bf_redis *r, bf_error *err)
{
    bf_fail(err, BF_EIO, "%s is lost (deleted, expired, evicted or overwritten): create it again",
        r->label);
    if (err) err->lost = true;
    return BF_EIO;
}

int bf_redis_fetch_meta(bf_redis *r, bf_error *err)
{
    bf_conn_begin(r->conn, BF_READS);
    bf_conn_command(r->conn, "HGETALL %s", r->meta);
    bf_conn_expect(r->conn, BF_HASH_LEAVES, BF_HASH_BYTES);
    return bf_conn_finish(r->conn, err);
}

static int made_differently(const bf_redis *r, const bf_desc *d, bf_error *err)
{
    char shards[24] = "";
    if (d->g.shards != r->desc.g.shards) snprintf(shards, sizeof shards, " shards=%u", d->g.shards);
    return bf_fail(err, BF_EMISMATCH,
        "%s was re-created as %s m=%llu k=%u%s, here it is %s m=%llu k=%u", r->label, d->name,
        (unsigned long long)d->g.m, d->g.k, shards, r->desc.name, (unsigned long long)r->desc.g.m,
        r->desc.g.k);
}

/* What K:meta says now: 1 the mark seen is this filter's, 0 it is not, or no longer. */
static int meta_agrees(bf_redis *r, uint32_t seen, uint32_t *born, bf_error *err)
{
    bf_desc d;
    uint32_t mark;
    int rc = bf_redis_fetch_meta(r, err);
    if (rc < 0) return rc;
    if (!bf_redis_meta_whole(r)) return bf_redis_fail_lost(r, err);
    *born = bf_redis_meta_filter_id(r);
    r->keys = bf_redis_meta_keys(r);
    if ((rc = bf_redis_meta_read(r, &d, &mark, err)) < 0) return rc;
    if (bf_difference(&d, &r->desc, BF_SAME_BITS)) return made_differently(r, &d, err);
    return mark == seen;
}

int bf_redis_fail_recreated(const char *label, uint64_t gone, const char *note, bf_error *err)
{
    return bf_fail(err, BF_EIO,
        "%s was re-created: keys added before are gone (%llu by this object)%s", label,
        (unsigned long long)gone, note);
}

/* Losing and re-creating go shard by shard, and are said once for the filter: of the others those
 * that are gone as well count as told, and where it was re-created, what they are now is taken in
 * silence. */
static void update_other_shards(bf_redis *r, bool anew)
{
    bf_desc d;
    uint32_t mark;
    bf_redis *all = r->whole;
    for (unsigned i = 0; bf_redis_is_shard(r) && i <= all->shards; i++) {
        bf_redis *one = i < all->shards ? all->shard + i : all;
        if (one == r) continue;
        bf_redis_select(one);
        if (bf_redis_fetch_meta(one, NULL) < 0) break;
        const uint32_t born = one->conn->reply.n ? bf_redis_meta_filter_id(one) : 0;
        if (one->conn->reply.n == 0)
            one->loss_reported = true;
        else if (anew && born != one->filter_id && bf_redis_meta_read(one, &d, &mark, NULL) == 0 &&
                 !bf_difference(&d, &one->desc, BF_SAME_BITS)) {
            one->mark = mark;
            one->filter_id = born;
        }
    }
    bf_redis_select(r);
}

/* A born of 0 on both sides is two filters of older versions, or one: nobody can tell. */
static int take_generation(bf_redis *r, uint32_t seen, uint32_t born, bf_error *err)
{
    const bool anew = born != r->filter_id && !r->loss_reported;
    r->mark = seen;
    r->loss_reported &= born == r->filter_id;
    r->filter_id = born;
    if (!anew) return 0;
    update_other_shards(r, true);
    r->outcome = r->add_outcome ? BF_ANEW_IN : BF_ANEW;
    bf_redis *all = bf_redis_is_shard(r) ? r->whole : r;
    const uint64_t gone = all->keys_lost = all->added;
    all->added = 0;
    bf_redis_cache_forget(all->cache);
    return bf_redis_fail_recreated(all->label, gone, r->add_outcome ? r->add_outcome : "", err);
}

/* Between the mark and K:meta somebody may have exchanged the bits once more: then both are asked
 * again.  No mark at all is a lost key at once. */
int bf_redis_check_generation(bf_redis *r, uint32_t seen, bool *changed, bf_error *err)
{
    int rc = 0;
    uint32_t born = 0;
    *changed = false;
    if (seen == r->mark) {
        r->loss_reported = false;
        return 0;
    }
    if (r->redisson) return bf_redisson_changed(r, seen, err);
    for (int i = 0; rc == 0 && i < BF_REDIS_TRIES; i++) {
        if (i > 0 && (rc = bf_redis_mark(r, &seen, err)) < 0) return rc;
        rc = meta_agrees(r, seen, &born, err);
        if (seen == 0) break;
    }
    if (rc == 0) rc = bf_redis_fail_lost(r, err);
    r->outcome =
        rc < 0 && r->conn->healthy ? BF_MISSING : BF_FINE; /* not after a fault of the connection */
    if (rc == BF_EIO && r->conn->healthy &&
        !r->loss_reported) { /* who heard of it needs no second word */
        r->loss_reported = true;
        update_other_shards(r, false);
    }
    if (rc < 0) return rc;
    *changed = true;
    return take_generation(r, seen, born, err);
}
