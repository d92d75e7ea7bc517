/* generation.c - reads the mark after the last bit (redis.h). If it is not the known mark, finds
 * out if the bits were replaced, the filter has grown or has a new epoch, or is lost. Lost bits are
 * an error, never "absent". Also selects the Redis key for the next commands. */
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
        bf_redis_append_range(r, r->mark_at, bf_redis_mark_bytes(r));
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
static int lost(bf_error *err)
{
    if (err) err->lost = true;
    return BF_EIO;
}

int bf_redis_fail_lost(const bf_redis *r, bf_error *err)
{
    bf_fail(err, BF_EIO, "%s is lost (deleted, expired, evicted or overwritten): create it again",
        r->label);
    return lost(err);
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
    bf_fail(err, BF_EIO, "%s was re-created: keys added before are gone (%llu by this object)",
        label, (unsigned long long)gone);
    return lost(err);
}

/* ---- K:meta and the end of K ---- */
void bf_redis_append_key_reads(bf_redis *r)
{
    bf_conn *l = r->conn;
    bf_conn_command(l, "HGETALL %s", r->meta);
    bf_conn_expect(l, BF_HASH_LEAVES, BF_HASH_BYTES);
    bf_conn_command(l, "STRLEN %s", r->key);
    bf_conn_command(l, "GETRANGE %s -4 -1", r->key);
}

int bf_redis_take_key_reads(bf_redis *r, bf_redis_key_snapshot *s, bf_error *err)
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
    return bf_redis_fail_protocol(r, err);
}

/* If there is no companion hash, reads again, because another process may be creating the hash. If
 * two reads find the same bits and no hash, there is none. */
int bf_redis_read_key(bf_redis *r, bf_redis_key_snapshot *s, bf_error *err)
{
    bf_redis_key_snapshot before = { .bytes = -1 };
    for (int i = 0; i < BF_REDIS_TRIES; i++, before = *s) {
        bf_conn_begin(r->conn, BF_READS);
        bf_redis_append_key_reads(r);
        int rc = bf_conn_exchange(r->conn, err);
        if (rc == 0) rc = bf_redis_take_key_reads(r, s, err);
        if (rc < 0 || r->conn->reply.n || s->bytes == 0 || s->refused ||
            (s->bytes == before.bytes && s->end == before.end))
            return rc;
    }
    return bf_fail(err, BF_EIO, "%s changes too fast to be opened", r->label);
}

/* Only a fixed filter may have its mark elsewhere: in K:meta alone, or before another system's
 * bytes. r has the parameters of m. */
int bf_redis_is_complete(
    bf_redis *r, const bf_redis_meta *m, const bf_redis_key_snapshot *s, bf_error *err)
{
    const uint64_t at = bf_redis_mark_at(m);
    uint32_t end = s->end;
    if (((uint64_t)s->bytes != at + BF_REDIS_MARK || at > BF_REDIS_M_MAX / 8)) {
        const int rc = m->desc.kind ? 0 : bf_redis_mark(r, &end, err);
        if (m->desc.kind || rc < 0) return rc;
    }
    return end == m->mark;
}

int bf_redis_take_meta(bf_redis *r, const bf_redis_meta *m, bf_error *err)
{
    if (m->desc.g.m && bf_redis_set_params(r, &m->desc, &m->sizes, err) < 0) return BF_ENOMEM;
    r->mark = m->mark;
    r->filter_id = m->id;
    r->whole_id = m->whole_id;
    r->adopted = m->adopted;
    r->making = m->making;
    r->users_clock = m->users_clock;
    r->epoch = m->epoch;
    return 0;
}

/* Reads the companion hash in conn->reply into *m. Returns an error if there is none, or if its
 * parameters are not those of r. */
static int read_same(bf_redis *r, bf_redis_meta *m, bf_error *err)
{
    char shards[24] = "";
    const bf_geometry *here = &r->desc.g, *there = &m->desc.g;
    if (!bf_redis_has_field(r, "format")) return bf_redis_fail_lost(r, err);
    const int rc = bf_redis_meta_read(r, m, err);
    if (rc < 0) return rc;
    const bool many = r->desc.kind != BF_FIXED;
    if (!bf_difference(&m->desc, &r->desc, BF_SAME_FILTER) &&
        (!many || (here->n == there->n && here->p == there->p)))
        return 0;
    if (many || m->desc.kind)
        return bf_fail(
            err, BF_EMISMATCH, "%s was re-created with other parameters: open it again", r->label);
    if (there->shards != here->shards) snprintf(shards, sizeof shards, " shards=%u", there->shards);
    return bf_fail(err, BF_EMISMATCH,
        "%s was re-created as %s m=%llu k=%u%s, here it is %s m=%llu k=%u", r->label, m->desc.name,
        (unsigned long long)there->m, there->k, shards, r->desc.name, (unsigned long long)here->m,
        here->k);
}

/* Takes mark, ids and parts from m. Returns an error if the filter or a shard was re-created. There
 * is one such error per filter: the other shards then take the new id without an error. */
static int take_generation(bf_redis *r, const bf_redis_meta *m, bf_error *err)
{
    bf_redis *all = r->whole;
    const bool other = all != r && m->whole_id != all->filter_id;
    const bool reported = other ? all->loss_reported
                                : r->loss_reported || (all != r && r->whole_id != all->filter_id);
    const bool anew = (other || m->id != r->filter_id) && !reported;
    if (other) all->filter_id = m->whole_id;
    const int rc = bf_redis_take_meta(r, m, err);
    if (rc < 0) return rc;
    r->loss_reported = all->loss_reported = false;
    if (!anew) return 0;
    const uint64_t gone = all->added;
    all->added = 0;
    bf_redis_cache_forget(all);
    return bf_redis_fail_recreated(all->label, gone, err);
}

static int fail_redisson(const bf_redis *r, uint32_t seen, bf_error *err)
{
    if (!seen) return bf_redis_fail_lost(r, err);
    return bf_fail(err, BF_EMISMATCH,
        "%s was re-created by Redisson: its :config is no longer m=%llu k=%u", r->label,
        (unsigned long long)r->desc.g.m, r->desc.g.k);
}

/* Reads again while K and K:meta do not match, because others may be changing both. If two reads
 * find the same, the filter is lost. */
int bf_redis_check_generation(bf_redis *r, uint32_t seen, bool *changed, bf_error *err)
{
    bf_redis_meta m;
    bf_redis_key_snapshot s = { .bytes = -1 }, before = s;
    bf_redis *all = r->whole;
    uint32_t mark = 0;
    int rc = 0;
    m.mark = 0;
    *changed = false;
    if (seen == r->mark) {
        r->loss_reported = all->loss_reported = false;
        return 0;
    }
    if (r->redisson) return fail_redisson(r, seen, err);
    for (int i = 0; rc == 0 && i < BF_REDIS_TRIES; i++, before = s, mark = m.mark) {
        rc = bf_redis_read_key(r, &s, err);
        if (rc == 0 && (rc = s.refused) == 0) rc = read_same(r, &m, err);
        if (rc == 0 && (rc = bf_redis_is_complete(r, &m, &s, err)) > 0) {
            /* a filter keeps its kind of clock, and an epoch its mark: the reply is damaged */
            if (m.id == r->filter_id &&
                (m.users_clock != r->users_clock || (m.mark == r->mark && m.epoch != r->epoch)))
                return bf_redis_fail_protocol(r, err);
            *changed = true;
            return take_generation(r, &m, err);
        }
        if (s.bytes == 0 || (s.bytes == before.bytes && s.end == before.end && m.mark == mark))
            break;
    }
    if (rc == 0) rc = bf_redis_fail_lost(r, err);
    if (r->conn->healthy && rc == BF_EIO) r->loss_reported = all->loss_reported = true;
    return rc;
}
