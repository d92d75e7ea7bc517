/* scalable.c - parts of a growing filter in Redis. Part i is the string {K}:p<i> with a mark and
 * a companion hash, stored like a fixed filter. K:meta has the parameters of the filter and the
 * number of parts; K itself is not used.
 *
 * The script that appends a part gives the part before it a new mark. So if a round trip reads the
 * known mark of the newest known part, there is no later part. If the round trip reads another
 * mark, the handle reads K:meta, and tests the new parts before it returns "absent" or "new".
 *
 * The companion hash of a part has the number of its keys, which the scripts of parts.c update. */
#include "redis/redis.h"

/* ---- opening ---- */
static int join(bf_filter *f, bf_part *p)
{
    p->bitmap.g = bf_redis_of(p)->desc.g;
    p->bitmap.store.nwords = bf_words_of(&p->bitmap.g);
    return bf_chain_add_part(f, p);
}

static int attach_parts(bf_filter *f, unsigned parts, bf_error *err)
{
    bf_part *p[BF_PARTS_MAX] = { NULL };
    int64_t index[BF_PARTS_MAX] = { 0 };
    unsigned n = 0;
    for (unsigned i = f->count; i < parts; index[n++] = i++)
        if (!(p[n] = bf_redis_part_slot(f, i, err))) return BF_ENOMEM;
    int rc = bf_redis_open_parts(f, p, index, n, err);
    for (unsigned i = 0; rc == 0 && i < n; i++) rc = join(f, p[i]);
    return rc;
}

/* Reads the number of parts. If the filter was re-created, calls bf_redis_follow_id. */
static int read_count(bf_filter *f, bool opening, int64_t *parts, bf_error *err)
{
    bf_redis *whole = bf_redis_whole(f);
    int rc;
    {
        BF_REDIS_LOCK(whole);
        bf_conn_begin(whole->conn, BF_READS);
        bf_conn_command(whole->conn, "HMGET %s born parts", whole->meta);
        rc = bf_redis_finish_fields(whole, 2, err);
        *parts = rc < 0 ? 0 : bf_reply_number(&whole->conn->reply, 1, 10);
    }
    if (rc == 1) rc = bf_redis_follow_id(f, opening, err);
    if (rc < 0) return rc;
    if (*parts < 1 || *parts < (int64_t)f->count) {
        bf_flag_set(&whole->loss_reported);
        return bf_redis_fail_lost(whole, err);
    }
    return *parts <= BF_PARTS_MAX ? 0 : bf_redis_fail_field(whole, "parts", err);
}

/* Opens new parts, then sets last_mark of the newest part. While that part has this mark, there is
 * no later part, because K:meta was read after the mark. */
static int refresh(bf_filter *f, bf_error *err)
{
    bf_redis *whole = bf_redis_whole(f);
    if (f->desc.kind == BF_WINDOW) return bf_redis_window_ring(f, err);
    const bool opening = f->count == 0;
    for (int tries = 0;;) { /* the loop ends, because there are at most BF_PARTS_MAX parts */
        const uint32_t mark = f->count ? bf_redis_mark_of(f->part[f->count - 1]) : 0;
        int64_t parts;
        int rc = read_count(f, opening, &parts, err);
        if (rc < 0) return rc;
        if (parts == (int64_t)f->count) {
            f->part[f->count - 1]->last_mark = mark;
            return 0;
        }
        if ((rc = attach_parts(f, (unsigned)parts, err)) == 0) continue;
        BF_REDIS_LOCK(whole); /* tries again if the filter was re-created between the two reads */
        if (!bf_redis_has_other_id(whole) || tries++ == BF_REDIS_TRIES) return rc;
    }
}

static bool has_new_parts(const bf_filter *f)
{
    if (f->desc.kind == BF_WINDOW) return false;
    const bf_part *p = f->part[bf_parts_count(f) - 1];
    return bf_redis_mark_of(p) != p->last_mark;
}

/* ---- appending a part ---- */
static int append_to_redis(bf_filter *f, const bf_params *part, bf_error *err)
{
    bf_params d = *part;
    const bf_cell_ops *cells = bf_cell_ops_of(&d.g);
    if (bf_bits(&d.g) > BF_REDIS_M_MAX)
        return bf_fail(err, BF_EINVAL,
            "%s cannot grow further: its next part has m=%llu %s, and one Redis key holds at "
            "most %llu",
            bf_redis_whole(f)->label, (unsigned long long)d.g.m, cells->names,
            (unsigned long long)(BF_REDIS_M_MAX / cells->bits));
    bf_part *p = bf_redis_part_slot(f, f->count, err);
    if (!p || (!bf_redis_of(p) && bf_redis_name_part(f, p, f->count, err) < 0)) return BF_ENOMEM;
    const bf_redis_new_part new = {
        .desc = &d, .number = f->count, .newest = f->count ? f->count - INT64_C(1) : BF_NEVER
    };
    int rc = bf_redis_make_part(f, p, &new, err);
    if (rc == 1) {
        bf_redis_of(p)->keys = 0;
        bf_live_set(p->live, 0);
        rc = bf_redis_cache_new(bf_redis_of(p), err);
        return rc < 0 ? rc : join(f, p);
    }
    if (rc == 2) { /* the newest part was cleared or lost; if lost, count() returns an error */
        bf_store *s = &f->part[f->count - 1]->bitmap.store;
        uint64_t ones;
        rc = s->ops->count(s, &ones, NULL, err);
    }
    return rc < 0 ? rc : f->count ? refresh(f, err) : 0;
}

static int create_filter(bf_filter *f, const bf_params *d, const bf_spec *spec, bf_error *err)
{
    bf_params part;
    if (d->kind == BF_WINDOW) return bf_redis_window_create(f, d, spec, err);
    int rc = bf_chain_begin(f, spec, err);
    if (rc < 0 || (rc = bf_chain_part(d, 0, 0, &part, err)) < 0 ||
        (rc = append_to_redis(f, &part, err)) < 0)
        return rc;
    if (f->count) return 1;
    bf_chain_free(f);
    return 0;
}

static bool can_recreate(bf_filter *f)
{
    const bf_redis *whole = bf_redis_whole(f);
    return f->variant->grows && whole->missing && whole->filter_id;
}

/* ---- expiring (first the parts, then K:meta) and deleting (first K:meta, then the parts) ---- */
static int expire_filter(bf_filter *f, double seconds, bf_error *err)
{
    if (f->desc.kind == BF_WINDOW)
        return bf_fail(
            err, BF_ENOTSUP, "a forgetting filter expires part by part: expire() is not for it");
    bf_redis *whole = bf_redis_whole(f);
    int rc = refresh(f, err);
    for (unsigned i = 0; rc >= 0 && i < f->count; i++) {
        bf_store *s = &f->part[i]->bitmap.store;
        rc = s->ops->expire(s, seconds, err);
    }
    if (rc < 0) return rc;
    uint64_t ms;
    const char *command = bf_redis_expiry(seconds, &ms);
    BF_REDIS_LOCK(whole);
    return bf_redis_run_meta(whole, command, ms, err);
}

/* Deletes every part. A lost part is not an error. Returns the first error. */
static int remove_parts(bf_filter *f, bf_error *err)
{
    int first = 0;
    for (unsigned i = f->count; i-- > 0;) {
        bf_part *p = f->part[i];
        if (!p->bitmap.store.impl) continue;
        bf_error e;
        if (p->bitmap.store.ops->remove(&p->bitmap.store, &e) == 0 || e.lost || first < 0) continue;
        first = e.code;
        if (err) *err = e;
    }
    bf_redis_whole(f)->doubt = false;
    return first;
}

static int remove_filter(bf_filter *f, bf_error *err)
{
    bf_redis *whole = bf_redis_whole(f);
    int64_t now = bf_live(f->epoch);
    int rc = refresh(f, err);
    if (rc == 0 && f->desc.kind == BF_WINDOW) rc = bf_redis_window_list(f, &now, true, err);
    if (rc == 0) {
        BF_REDIS_LOCK(whole);
        rc = bf_redis_run_meta(whole, "DEL", 0, err);
    }
    return rc < 0 ? rc : remove_parts(f, err);
}

const bf_chain_ops bf_chain_redis = { .create = create_filter,
    .append = append_to_redis,
    .follow = refresh,
    .has_new_parts = has_new_parts,
    .explain = bf_redis_parts_explain,
    .can_recreate = can_recreate,
    .ask = bf_redis_parts_ask,
    .put = bf_redis_parts_put,
    .expire = expire_filter,
    .remove = remove_filter,
    .list_parts = bf_redis_window_list,
    .open_current = bf_redis_window_open,
    .server_time = bf_redis_window_time,
    .is_stale = bf_redis_window_is_stale };
