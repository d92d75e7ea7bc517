/* generation.c - reads the mark after the last bit (redis.h). If the mark has changed, finds out if
 * the bits were replaced or lost. Lost bits are an error, never "absent". Also selects the Redis
 * key for the next commands. */
#include "redis/redis.h"

/* ---- selecting a key ---- */
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

bf_conn *bf_redis_lock(bf_redis *r, bf_error *err)
{
    if (bf_conn_lock(r->conn, err) < 0) return NULL;
    bf_redis_select(r);
    return r->conn;
}

/* ---- values of a mark ---- */
uint32_t bf_redis_id_in(const bf_redis_reply *reply, size_t leaf)
{
    const int64_t v = bf_reply_number(reply, leaf, 16);
    return v > 0 && v <= UINT32_MAX ? (uint32_t)v : 0;
}

/* A mark is big-endian, as a u32 of BITFIELD. Returns 0 if len is not 4. */
uint32_t bf_redis_mark_in(const char *bytes, size_t len)
{
    const uint8_t *b = (const uint8_t *)bytes;
    return len != BF_REDIS_MARK
               ? 0
               : (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/* ---- commands that read the mark ---- */
void bf_redis_append_range(bf_redis *r, uint64_t from, uint64_t bytes)
{
    bf_conn *l = r->conn;
    bf_conn_command(l, "GETRANGE %s %n %n", l->key, from, from + bytes - 1);
    bf_conn_expect(l, 0, (size_t)bytes);
}

bool bf_redis_marked(const bf_redis *r) { return !r->foreign || r->redisson; }

void bf_redis_append_mark(bf_redis *r)
{
    if (r->redisson)
        bf_conn_command(r->conn, "HMGET %s size hashIterations", r->meta);
    else if (bf_redis_mark_apart(r)) {
        bf_conn_command(r->conn, "STRLEN %s", r->conn->key);
        bf_conn_command(r->conn, "HGET %s mark", r->meta);
    } else
        bf_redis_append_range(r, r->mark_at, BF_REDIS_MARK);
}

/* Stores the first error reply in *a. The caller must still read the other replies. */
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

static uint32_t redisson_mark(const bf_redis *r, const bf_redis_reply *reply)
{
    uint64_t m = 0, k = 0;
    if (reply->n != 2 || !bf_redis_whole_number(reply, 0, 10, 1, UINT64_MAX, &m) ||
        !bf_redis_whole_number(reply, 1, 10, 1, UINT64_MAX, &k))
        return 0;
    return m == r->desc.g.m && k == r->desc.g.k ? BF_REDISSON_SAME : BF_REDISSON_CHANGED;
}

uint32_t bf_redis_take_mark(bf_redis *r, bf_redis_outcome *a)
{
    size_t len;
    long long bytes = -1;
    const bf_redis_reply *reply = &r->conn->reply;
    bool fine = bf_redis_next(r, a);
    if (fine && r->redisson) return redisson_mark(r, reply);
    if (!r->redisson && bf_redis_mark_apart(r)) {
        if (fine) bf_reply_integer(reply, 0, &bytes);
        fine = bf_redis_next(r, a) && (uint64_t)bytes == bf_redis_length(r);
        return fine ? bf_redis_id_in(reply, 0) : 0;
    }
    const char *text = fine ? bf_reply_only_text(reply, &len) : NULL;
    return text ? bf_redis_mark_in(text, len) : 0;
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
    const int rc = bf_conn_exchange(r->conn, err);
    if (rc == 0) *mark = bf_redis_take_mark(r, &a);
    return rc < 0 ? rc : a.refused;
}

/* ---- what a mark shows ---- */
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

int bf_redis_fetch_id(bf_redis *r, uint32_t *id, bf_error *err)
{
    int rc = bf_conn_query(r->conn, err, "HGET %s born", r->meta);
    *id = rc == 0 ? bf_redis_id_in(&r->conn->reply, 0) : 0;
    return rc;
}

int bf_redis_fail_recreated(const char *label, uint64_t gone, bf_error *err)
{
    return bf_fail(err, BF_EIO,
        "%s was re-created: keys added before are gone (%llu by this object)", label,
        (unsigned long long)gone);
}

int bf_redis_reread_meta(bf_redis *r, bf_redis_meta *m, bf_error *err)
{
    const int rc = bf_redis_fetch_meta(r, err);
    if (rc < 0) return rc;
    return bf_redis_has_field(r, "format") ? bf_redis_meta_read(r, m, err)
                                           : bf_redis_fail_lost(r, err);
}

/* Reads the companion hash into *m. Returns an error if its parameters are not those of r. */
static int read_same(bf_redis *r, bf_redis_meta *m, bf_error *err)
{
    char shards[24] = "";
    const bf_geometry *here = &r->desc.g, *there = &m->desc.g;
    const int rc = bf_redis_reread_meta(r, m, err);
    if (rc < 0) return rc;
    r->keys = m->keys;
    if (!bf_difference(&m->desc, &r->desc, BF_SAME_BITS)) return 0;
    if (there->shards != here->shards) snprintf(shards, sizeof shards, " shards=%u", there->shards);
    return bf_fail(err, BF_EMISMATCH,
        "%s was re-created as %s m=%llu k=%u%s, here it is %s m=%llu k=%u", r->label, m->desc.name,
        (unsigned long long)there->m, there->k, shards, r->desc.name, (unsigned long long)here->m,
        here->k);
}

/* Takes mark and ids from m. Returns an error if the filter or a shard was re-created. There is one
 * such error per filter: the other shards then take the new id without an error. */
static int take_generation(bf_redis *r, const bf_redis_meta *m, bf_error *err)
{
    if (bf_redis_is_part(r) && m->whole_id != r->whole->filter_id) {
        r->whole->doubt = true; /* bf_redis_parts_explain finds the reason */
        return bf_redis_fail_lost(r, err);
    }
    bf_redis *all = bf_redis_is_shard(r) ? r->whole : r;
    const bool other = all != r && m->whole_id != all->filter_id;
    const bool reported = other ? all->loss_reported
                                : r->loss_reported || (all != r && r->whole_id != all->filter_id);
    const bool anew = (other || m->id != r->filter_id) && !reported;
    if (other) all->filter_id = m->whole_id;
    r->mark = m->mark;
    r->filter_id = m->id;
    r->whole_id = m->whole_id;
    r->loss_reported = all->loss_reported = false;
    if (!anew) return 0;
    const uint64_t gone = all->added;
    all->added = 0;
    bf_redis_cache_forget(all);
    return bf_redis_fail_recreated(all->label, gone, err);
}

/* If the bits are replaced between the reads of the mark and of K:meta, reads both again. A key
 * without a mark is lost. */
int bf_redis_check_generation(bf_redis *r, uint32_t seen, bool *changed, bf_error *err)
{
    bf_redis_meta m;
    bf_redis *all = bf_redis_is_shard(r) ? r->whole : r;
    int rc = 0;
    *changed = false;
    if (seen == r->mark) {
        r->loss_reported = all->loss_reported = false;
        return 0;
    }
    if (r->redisson && seen)
        return bf_fail(err, BF_EMISMATCH,
            "%s was re-created by Redisson: its :config is no longer m=%llu k=%u", r->label,
            (unsigned long long)r->desc.g.m, r->desc.g.k);
    if (r->redisson) return bf_redis_fail_lost(r, err);
    for (int i = 0; rc == 0 && !*changed && i < BF_REDIS_TRIES; i++) {
        if (i > 0 && (rc = bf_redis_mark(r, &seen, err)) < 0) return rc;
        rc = read_same(r, &m, err);
        *changed = rc == 0 && m.mark == seen;
        if (seen == 0) break;
    }
    if (*changed) return take_generation(r, &m, err);
    if (rc == 0) rc = bf_redis_fail_lost(r, err);
    if (!r->conn->healthy) return rc;
    if (bf_redis_is_part(r)) r->whole->doubt = true;
    if (rc == BF_EIO) r->loss_reported = all->loss_reported = true;
    return rc;
}
