/* scalable.c - parts of a growing filter in Redis: part i is the string {K}:p<i> with its mark and
 * its companion hash, as a fixed filter has them.  K:meta has what the whole is and how many parts
 * there are; K itself is not used.
 *
 * One script appends a part and gives the part before it a new mark.  Every trip to a part reads
 * its mark last.  So a handle that finds the known mark in the newest part that it knows has seen
 * that there was no later part; a handle that finds another mark reads K:meta and asks the new
 * parts before it answers "absent" or "new".
 *
 * The number of keys in a part is counted in its companion hash, by the script that adds: parts.c.
 */
#include "bits/bits.h"
#include "parts/parts.h"
#include "redis/open.h"
#include "redis/bitmap.h"
#include "redis/generation.h"
#include "redis/meta.h"
#include "redis/names.h"
#include "redis/parts.h"
#include "redis/scripts.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a part as a store ---- */
static void free_piece(bf_piece *p)
{
    if (p && p->part.store.ops) p->part.store.ops->close(&p->part.store);
    free(p);
}

static bf_piece *new_piece(bf_filter *f, unsigned i, bf_error *err)
{
    bf_redis *whole = bf_redis_whole(f);
    bf_piece *p = calloc(1, sizeof *p);
    char *key = bf_redis_name(whole->conn, whole->key, BF_NAME_PART, i);
    if (p && key) {
        p->part.store =
            (bf_store){ .ops = f->part.store.ops, .read_only = f->part.store.read_only };
        p->live = &p->own;
        bf_live_set(p->live, 0);
        if (bf_redis_open_sibling(&p->part.store, whole, key, err) == 0) {
            free(key);
            return p;
        }
    } else
        bf_fail(err, BF_ENOMEM, "out of memory");
    free(key);
    free_piece(p);
    return NULL;
}

static int join(bf_filter *f, bf_piece *p, const bf_geometry *g)
{
    p->part.g = *g;
    p->part.store.nwords = (g->m + 63) / 64;
    return bf_chain_join(f->chain, p);
}

/* ---- taking in ---- */
/* After a re-creation the pieces of the earlier filter are used for the new parts of the same
 * names, because other threads may be using them. */
static bf_piece *piece_of(bf_filter *f, unsigned i, bf_error *err)
{
    return i < f->chain->kept ? f->chain->piece[i] : new_piece(f, i, err);
}

static void free_if_new(bf_filter *f, unsigned i, bf_piece *p)
{
    if (i >= f->chain->kept) free_piece(p);
}

/* The piece opens part i. */
static int open_part(bf_filter *f, bf_piece *p, unsigned i, bf_desc *d, bf_error *err)
{
    const bf_desc *want = &f->chain->desc;
    int rc = p->part.store.ops->attach(&p->part.store, &(bf_spec){ .must_exist = true }, d, err);
    if (rc > 0 && (d->kind || bf_difference(d, want, BF_SAME_HASH)))
        rc = bf_fail(
            err, BF_EFORMAT, "%s: its part %u does not belong to it", bf_redis_whole(f)->label, i);
    d->index = i;
    if (rc > 0 && !bf_chain_part_possible(want, d))
        rc = bf_fail(err, BF_EFORMAT,
            "%s: its part %u has n=%llu, which does not fit m=%llu, p=%g, k=%u",
            bf_redis_whole(f)->label, i, (unsigned long long)d->g.n, (unsigned long long)d->g.m,
            d->g.p, d->g.k);
    if (rc < 0 || (rc = bf_redis_part_cache(bf_redis_of(p), err)) < 0) return rc;
    bf_live_set(p->live, (int64_t)bf_redis_of(p)->keys);
    return 0;
}

/* Opens the parts from count on in one trip; the chain owns those that are joined. */
static int attach_parts(bf_filter *f, unsigned parts, bf_error *err)
{
    bf_piece *p[BF_PARTS_MAX];
    bf_redis *r[BF_PARTS_MAX] = { NULL };
    bf_chain *c = f->chain;
    const unsigned from = c->count;
    unsigned n = 0;
    int rc = 0;
    for (; rc == 0 && from + n < parts; n++) {
        if (!(p[n] = piece_of(f, from + n, err))) {
            rc = err ? err->code : BF_ENOMEM;
            break;
        }
        r[n] = bf_redis_of(p[n]);
    }
    if (rc == 0) rc = bf_redis_prefetch_keys(bf_redis_whole(f), r, n, err);
    for (unsigned i = 0; i < n; i++) {
        bf_desc d;
        if (rc == 0) rc = open_part(f, p[i], from + i, &d, err);
        if (rc < 0) {
            bf_redis_whole(f)->missing |= bf_redis_of(p[i])->missing;
            free_if_new(f, from + i, p[i]);
        } else
            rc = join(f, p[i], &d.g);
    }
    return rc;
}

static bool must_recheck(bf_filter *f)
{
    unsigned n = 0;
    const bool whole = bf_redis_whole(f)->outcome != BF_FINE;
    bf_redis_whole(f)->outcome = BF_FINE;
    for (unsigned i = 0; i < f->chain->count; i++) {
        bf_redis *r = f->chain->piece[i]->part.store.impl;
        if (!r || r->outcome == BF_FINE) continue;
        n++;
        r->outcome = BF_FINE;
    }
    /* a call ends at the first part that reports; a second one was found by an earlier call */
    if (n > 1) bf_flag_set(&bf_redis_whole(f)->loss_reported);
    return n || whole;
}

/* After a call that succeeded, the next loss is reported again. */
static void reset_reports(bf_filter *f)
{
    if (bf_flag_get(&bf_redis_whole(f)->loss_reported))
        bf_flag_clear(&bf_redis_whole(f)->loss_reported);
}

/* The filter was re-created: it has its first part, and the other pieces wait for the parts that
 * will have their names.  While the handle is being opened, no error is raised. */
static int begin_anew(bf_filter *f, bool opening, bf_error *err)
{
    bf_chain *c = f->chain;
    bf_desc d;
    uint32_t born;
    int rc = bf_redis_check_alike(f, &born, err);
    if (rc == 0 && born == bf_redis_whole(f)->filter_id) return 0; /* it is as it was */
    bf_redis *whole = bf_redis_whole(f);
    const uint32_t before = whole->filter_id;
    if (rc == 0) whole->filter_id = born;
    if (rc < 0 || c->count == 0) return rc;
    if ((rc = open_part(f, c->piece[0], 0, &d, err)) < 0) {
        if (!opening) whole->filter_id = before; /* the next call tells it */
        return rc;
    }
    if (c->kept < c->count) c->kept = c->count;
    for (unsigned i = 0; i < c->kept; i++) { c->piece[i]->known = 0; }
    bf_uint_store_release(&c->count, 1);
    bf_flag_clear(&c->full);
    return opening ? 0 : bf_redis_take_recreated(f, born, err);
}

/* The newest part's mark counts as known if K:meta, read after it, has no later part. */
static int refresh(bf_filter *f, bf_error *err)
{
    bf_chain *c = f->chain;
    bf_redis *whole = bf_redis_whole(f);
    bf_conn *l = whole->conn;
    const bool opening = c->count == 0;
    if (c->desc.kind == BF_WINDOW) return bf_redis_window_pieces(f, err);
    for (int tries = 0;;) { /* each time with more parts, of BF_PARTS_MAX at most */
        const uint32_t mark = c->count ? bf_redis_mark_of(c->piece[c->count - 1]) : 0;
        int64_t parts = -1, id = -1;
        bf_redis_lock(whole);
        int rc = bf_conn_ask(l, err, "HMGET %s parts born", whole->meta);
        if (rc == 0 && l->reply.n != 2) rc = bf_redis_fail_protocol(whole, err);
        if (rc == 0) parts = bf_reply_number(&l->reply, 0, 10);
        if (rc == 0) id = bf_reply_number(&l->reply, 1, 16);
        bf_conn_unlock(l);
        if (rc == 0 && parts >= 1 && id != whole->filter_id) rc = begin_anew(f, opening, err);
        if (rc < 0) return rc;
        if (parts < 1 || parts < (int64_t)c->count) {
            bf_flag_set(&whole->loss_reported);
            return bf_redis_fail_lost(whole, err);
        }
        if (parts > BF_PARTS_MAX)
            return bf_fail(err, BF_EFORMAT,
                "%s: field parts of its companion hash (:meta) is missing or invalid",
                whole->label);
        if (parts == (int64_t)c->count) {
            c->piece[c->count - 1]->known = mark;
            return 0;
        }
        rc = attach_parts(f, (unsigned)parts, err);
        if (rc < 0) { /* was the filter re-created between the two reads? */
            bf_redis_lock(whole);
            const bool other = bf_redis_has_other_id(whole);
            bf_conn_unlock(l);
            if (!other || tries++ == BF_REDIS_TRIES) return rc;
        }
    }
}

static bool has_new_parts(const bf_filter *f)
{
    if (f->chain->desc.kind == BF_WINDOW) return false;
    const bf_piece *p = f->chain->piece[bf_chain_count(f->chain) - 1];
    return bf_redis_mark_of(p) != p->known;
}

/* ---- a new part ---- */
/* 1 created, 0 another process was faster, 2 the newest part has another mark by now. */
static int send_append(bf_filter *f, bf_piece *p, const bf_desc *d, bf_error *err)
{
    const unsigned i = f->chain->count;
    bf_redis *r = bf_redis_of(p), *whole = bf_redis_whole(f),
             *before = i ? bf_redis_of(f->chain->piece[i - 1]) : NULL;
    bf_conn *l = r->conn;
    const uint32_t next = bf_redis_new_mark(), own_mark = bf_redis_new_mark(),
                   known = before            ? before->mark
                           : whole->recreate ? whole->filter_id
                                             : 0;
    char *temp = bf_redis_begin_part(r, d, own_mark, err);
    if (!temp) return err ? err->code : BF_EIO;
    bf_conn_eval(l, bf_script_append, 6 + (before ? 0 : 2 * (BF_PARTS_MAX - 1)));
    bf_conn_append(l, "%s %s %s %s %s %s", before ? before->key : whole->key,
        before ? before->meta : whole->meta, temp, r->key, r->meta, whole->meta);
    for (unsigned later = 1; !before && later < BF_PARTS_MAX; later++) {
        char *key = bf_redis_name(l, whole->key, BF_NAME_PART, later),
             *meta = key ? bf_redis_name(l, key, BF_NAME_META, 0) : NULL;
        l->no_memory |= !meta;
        if (meta) bf_conn_append(l, "%s %s", key, meta);
        free(key);
        free(meta);
    }
    bf_conn_append(l, "%n %x %r %x %n %n", before ? before->mark_at : 0, known, next, next,
        (uint64_t)i, (uint64_t)(before ? 0 : BF_WHOLE_ARGS));
    if (!before) bf_redis_put_whole(whole, &f->chain->desc, f->secret_check);
    bf_redis_meta_put(r, d, own_mark);
    int rc = bf_redis_end_part(r, temp, err);
    if (rc != 1) return rc;
    r->mark = r->filter_id = p->known = own_mark;
    r->keys = 0;
    if ((rc = bf_redis_part_cache(r, err)) < 0) return rc;
    if (before) __atomic_store_n(&before->mark, next, __ATOMIC_RELEASE);
    return 1;
}

static int append_part(bf_filter *f, const bf_desc *part, bf_error *err)
{
    bf_desc d = *part;
    bf_chain *c = f->chain;
    d.secret_check = f->secret_check;
    if (d.g.m > BF_REDIS_M_MAX)
        return bf_fail(err, BF_EINVAL,
            "%s cannot grow further: its next part has m=%llu bits, and one Redis key holds at "
            "most %llu",
            bf_redis_whole(f)->label, (unsigned long long)d.g.m,
            (unsigned long long)BF_REDIS_M_MAX);
    bf_piece *p = piece_of(f, c->count, err);
    if (!p) return err ? err->code : BF_ENOMEM;
    bf_redis_lock(bf_redis_of(p));
    int rc = send_append(f, p, &d, err);
    bf_conn_unlock(bf_redis_of(p)->conn);
    if (rc == 1) return join(f, p, &d.g);
    free_if_new(f, c->count, p);
    if (rc == 2) { /* cleared meanwhile, or lost: its next trip tells */
        bf_store *s = &c->piece[c->count - 1]->part.store;
        uint64_t ones;
        rc = s->ops->count(s, &ones, NULL, err);
    }
    return rc < 0 ? rc : c->count ? refresh(f, err) : 0;
}

/* 0: another process has created it. */
static int create_filter(bf_filter *f, const bf_desc *d, const bf_spec *spec, bf_error *err)
{
    bf_desc part;
    if (d->kind == BF_WINDOW) return bf_redis_window_create(f, d, spec, err);
    int rc = bf_chain_begin(f, d, spec, err);
    if (rc < 0 || (rc = bf_chain_part(d, 0, 0, &part, err)) < 0 ||
        (rc = append_part(f, &part, err)) < 0)
        return rc;
    if (f->chain->count) return 1;
    bf_chain_free(f);
    return 0;
}

static bool can_recreate(bf_filter *f)
{
    bf_redis *whole = bf_redis_whole(f);
    whole->recreate = f->chain->desc.kind == BF_GROW && whole->missing && whole->filter_id;
    return whole->recreate;
}

/* ---- expire: the parts, then K:meta; delete: K:meta, then the parts ---- */
static int expire_filter(bf_filter *f, double seconds, bf_error *err)
{
    if (f->chain->desc.kind == BF_WINDOW)
        return bf_fail(
            err, BF_ENOTSUP, "a forgetting filter expires part by part: expire() is not for it");
    bf_redis *whole = bf_redis_whole(f);
    int rc = refresh(f, err);
    for (unsigned i = 0; rc >= 0 && i < f->chain->count; i++) {
        bf_store *s = &f->chain->piece[i]->part.store;
        rc = s->ops->expire(s, seconds, err);
    }
    if (rc < 0) return rc;
    bf_redis_lock(whole);
    rc = bf_redis_whole_expire(whole, seconds, err);
    bf_conn_unlock(whole->conn);
    return rc;
}

/* Removes every part; a lost part is no error.  Returns the first error. */
static int remove_parts(bf_filter *f, bf_error *err)
{
    int first = 0;
    for (unsigned i = f->chain->count; i-- > 0;) {
        bf_piece *p = f->chain->piece[i];
        if (!p->part.store.impl) continue;
        int rc = p->part.store.ops->remove(&p->part.store, first < 0 ? NULL : err);
        if (rc < 0 && bf_redis_of(p)->outcome == BF_MISSING) {
            bf_redis_of(p)->outcome = BF_FINE;
            rc = 0;
        }
        if (first == 0) first = rc;
    }
    return first;
}

static int remove_filter(bf_filter *f, bf_error *err)
{
    bf_redis *whole = bf_redis_whole(f);
    int64_t now = bf_live(f->chain->epoch);
    int rc = refresh(f, err);
    if (rc == 0 && f->chain->desc.kind == BF_WINDOW) rc = bf_redis_window_look(f, &now, true, err);
    if (rc < 0) return rc;
    bf_redis_lock(whole);
    rc = bf_redis_whole_command(whole, "DEL", NULL, err);
    bf_conn_unlock(whole->conn);
    return rc < 0 ? rc : remove_parts(f, err);
}

const bf_chain_ops bf_chain_redis = { .create = create_filter,
    .append = append_part,
    .follow = refresh,
    .news = has_new_parts,
    .doubts = must_recheck,
    .fine = reset_reports,
    .lost = can_recreate,
    .ask = bf_redis_parts_ask,
    .put = bf_redis_parts_put,
    .expire = expire_filter,
    .remove = remove_filter,
    .look = bf_redis_window_look,
    .turn = bf_redis_window_turn,
    .past = bf_redis_window_past,
    .time = bf_redis_window_time,
    .stale = bf_redis_window_stale };
