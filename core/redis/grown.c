/* grown.c - parts of a growing filter in Redis: part i is the string {K}:p<i> with its mark and its
 * companion hash, as a fixed filter has them.  K:meta has what the whole is and how many parts
 * there are; K itself is not used.
 *
 * A part is appended by one script, which also gives the part before it a new mark.  Every trip to
 * a part reads its mark last.  So whoever finds the newest part he knows with the mark he knows,
 * has seen that there was no later part at that moment; whoever finds another mark looks into
 * K:meta, and asks the new parts before he says "absent" or "new".
 *
 * The number of keys in a part is counted in its companion hash, by the script that adds: parts.c.
 */
#include "bits/bits.h"
#include "parts/parts.h"
#include "redis/attach.h"
#include "redis/bulk.h"
#include "redis/mark.h"
#include "redis/meta.h"
#include "redis/parts.h"
#include "redis/scripts.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char append_script[] = /* KEYS: K:meta temp new new:meta before before:meta; where
                                       there is none K, and the later parts of a lost filter, whose
                                       born is then what else would be the mark of the one before */
    "local n=tonumber(ARGV[1]) "
    "if n==0 then local was=redis.call('EXISTS',KEYS[1])==1 "
    "if redis.call('EXISTS',KEYS[5])==1 or (was and (redis.call('HGET',KEYS[1],'born') or '')~=ARGV[3]) then redis.call('DEL',KEYS[2]) return 0 end "
    "else if redis.call('HGET',KEYS[1],'parts')~=ARGV[1] then redis.call('DEL',KEYS[2]) return 0 end "
    "local m=redis.call('GETRANGE',KEYS[5],ARGV[2],ARGV[2]+3) "
    "m=#m==4 and string.format('%02x%02x%02x%02x',m:byte(1,4)) or '00000000' "
    "if m=='00000000' or m~=ARGV[3] then redis.call('DEL',KEYS[2]) return 2 end end " BF_NOT_OVER_OTHERS
    "redis.call('PERSIST',KEYS[2]) redis.call('RENAME',KEYS[2],KEYS[3]) redis.call('DEL',KEYS[4]) "
    "local k=tonumber(ARGV[6]) redis.call('HSET',KEYS[4],unpack(ARGV,7,6+k)) "
    "if n==0 then redis.call('DEL',KEYS[1],unpack(KEYS,6)) redis.call('HSET',KEYS[1],unpack(ARGV,7+k)) return 1 end "
    "local t=redis.call('PTTL',KEYS[1]) if t>0 then redis.call('PEXPIRE',KEYS[3],t) redis.call('PEXPIRE',KEYS[4],t) end "
    "redis.call('SETRANGE',KEYS[5],ARGV[2],ARGV[4]) if redis.call('HEXISTS',KEYS[6],'format')==1 then redis.call('HSET',KEYS[6],'mark',ARGV[5]) end "
    "redis.call('HSET',KEYS[1],'parts',n+1) return 1";

static bf_redis *whole_of(const bf_filter *f) { return f->part.store.impl; }
static bf_redis *redis_of(const bf_piece *p) { return p->part.store.impl; }

/* ---- a part as a store ---- */
static void free_piece(bf_piece *p)
{
    if (p && p->part.store.ops) p->part.store.ops->close(&p->part.store);
    free(p);
}

static bf_piece *new_piece(bf_filter *f, unsigned i, bf_error *err)
{
    bf_redis *whole = whole_of(f);
    bf_piece *p = calloc(1, sizeof *p);
    char *key = bf_redis_part_key(whole, 'p', i);
    if (p && key) {
        p->part.store =
            (bf_store){ .ops = f->part.store.ops, .read_only = f->part.store.read_only };
        p->live = &p->own;
        bf_live_set(p->live, 0);
        if (bf_redis_like(&p->part.store, whole, key, err) == 0) {
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
/* What a part's name leads to: read together with others, or alone. */
int bf_redis_attach_part(bf_filter *f, bf_piece *p, bf_desc *d, bf_error *err)
{
    bf_redis *r = redis_of(p);
    bf_spec spec = { .must_exist = true, .read_only = f->part.store.read_only };
    if (!r->peeked) return p->part.store.ops->attach(&p->part.store, &spec, d, err);
    r->peeked = false;
    *d = r->desc;
    return 1;
}

/* A piece of the filter before it was re-created stands for the new part of the same name: other
 * threads may be in it. */
static bf_piece *piece_of(bf_filter *f, unsigned i, bf_error *err)
{
    return i < f->chain->kept ? f->chain->piece[i] : new_piece(f, i, err);
}

static void put_away(bf_filter *f, unsigned i, bf_piece *p)
{
    if (i >= f->chain->kept) free_piece(p);
}

/* The piece opens part i. */
static int open_part(bf_filter *f, bf_piece *p, unsigned i, bf_desc *d, bf_error *err)
{
    const bf_desc *want = &f->chain->desc;
    int rc = bf_redis_attach_part(f, p, d, err);
    if (rc > 0 && (d->kind || strcmp(d->name, want->name) || d->g.k != want->g.k ||
                      d->secret_check != want->secret_check))
        rc = bf_fail(
            err, BF_EFORMAT, "%s: its part %u does not belong to it", whole_of(f)->label, i);
    d->index = i;
    if (rc > 0 && !bf_chain_part_possible(want, d))
        rc = bf_fail(err, BF_EFORMAT,
            "%s: its part %u has n=%llu, which does not fit m=%llu, p=%g, k=%u", whole_of(f)->label,
            i, (unsigned long long)d->g.n, (unsigned long long)d->g.m, d->g.p, d->g.k);
    if (rc < 0 || (rc = bf_redis_part_cache(redis_of(p), err)) < 0) return rc;
    bf_live_set(p->live, (int64_t)redis_of(p)->keys);
    return 0;
}

/* Parts from count on, all in one trip; those that are joined are the chain's. */
static int attach_parts(bf_filter *f, unsigned parts, bf_error *err)
{
    bf_piece *p[BF_PARTS_MAX];
    bf_redis *r[BF_PARTS_MAX];
    bf_chain *c = f->chain;
    const unsigned from = c->count;
    unsigned n = 0;
    int rc = 0;
    for (; rc == 0 && from + n < parts; n++) {
        if (!(p[n] = piece_of(f, from + n, err))) {
            rc = err ? err->code : BF_ENOMEM;
            break;
        }
        r[n] = redis_of(p[n]);
    }
    if (rc == 0) rc = bf_redis_peek(whole_of(f), r, n, err);
    for (unsigned i = 0; i < n; i++) {
        bf_desc d;
        if (rc == 0) rc = open_part(f, p[i], from + i, &d, err);
        if (rc < 0) {
            whole_of(f)->missing |= redis_of(p[i])->missing;
            put_away(f, from + i, p[i]);
        } else
            rc = join(f, p[i], &d.g);
    }
    return rc;
}

static uint32_t mark_of(const bf_piece *p)
{
    return __atomic_load_n(&redis_of(p)->mark, __ATOMIC_ACQUIRE);
}

/* How many parts K:meta says there are (-1: none), and with which mark the whole was born. */
static int fetch(bf_redis *whole, int64_t *parts, uint32_t *born, bf_error *err)
{
    bf_link *l = whole->link;
    bf_redis_lock(whole);
    int rc = bf_link_begin(l, true, err);
    if (rc == 0) {
        bf_link_count(l, 4);
        bf_link_word(l, "HMGET");
        bf_link_word(l, whole->meta);
        bf_link_word(l, "parts");
        bf_link_word(l, "born");
        rc = bf_link_finish(l, 1, err);
    }
    if (rc == 0 && l->reply.n != 2) rc = bf_redis_nonsense(whole, err);
    *parts = rc == 0 ? bf_reply_number(&l->reply, 0, 10) : -1;
    const int64_t mark = rc == 0 ? bf_reply_number(&l->reply, 1, 16) : 0;
    *born = mark > 0 && mark <= UINT32_MAX ? (uint32_t)mark : 0;
    bf_link_unlock(l);
    return rc;
}

static bool doubts(bf_filter *f, bool adding)
{
    unsigned n = 0;
    bool in = false, whole = whole_of(f)->fate != BF_FINE;
    whole_of(f)->fate = BF_FINE;
    for (unsigned i = 0; i < f->chain->count; i++) {
        bf_redis *r = f->chain->piece[i]->part.store.impl;
        if (!r || r->fate == BF_FINE) continue;
        n++;
        in |= r->fate == BF_ANEW_IN;
        r->fate = BF_FINE;
    }
    /* a call ends at the first: an earlier one was told by the other */
    if (n > 1) bf_raise(&whole_of(f)->told);
    whole_of(f)->note = !(n || whole) || !adding ? NULL : in ? BF_SENT_IN : BF_SENT_OUT;
    return n || whole;
}

/* Who was told of a loss and goes on all the same, because what was lost came back or is not asked,
 * is to be told of the next one. */
static void fine(bf_filter *f)
{
    if (bf_raised(&whole_of(f)->told)) bf_lower(&whole_of(f)->told);
}

/* The first part is always there; the other pieces wait for the new parts of the same names. */
static int begin_anew(bf_filter *f, bf_error *err)
{
    bf_chain *c = f->chain;
    bf_desc d;
    uint32_t born;
    int rc = bf_redis_whole_alike(f, &born, err);
    if (rc == 0 && born == whole_of(f)->born) return 0; /* it is as it was */
    if (rc == 0 && c->count == 0)
        whole_of(f)->born = born; /* while it is being opened: nobody knew the one before */
    if (rc < 0 || c->count == 0 || (rc = open_part(f, c->piece[0], 0, &d, err)) < 0) return rc;
    if (c->kept < c->count) c->kept = c->count;
    for (unsigned i = 0; i < c->kept; i++) { c->piece[i]->known = 0; }
    bf_tell(&c->count, 1);
    bf_lower(&c->full);
    return bf_redis_whole_anew(f, born, err);
}

/* The newest part's mark counts as known once K:meta has said after it was read that there is no
 * later part. */
static int follow(bf_filter *f, bf_error *err)
{
    bf_chain *c = f->chain;
    bf_redis *whole = whole_of(f);
    int64_t parts;
    uint32_t born;
    if (c->desc.kind == BF_WINDOW) return bf_redis_window_pieces(f, err);
    for (;;) { /* each time with more parts, of BF_PARTS_MAX at most */
        const uint32_t mark = c->count ? mark_of(c->piece[c->count - 1]) : 0;
        int rc = fetch(whole, &parts, &born, err);
        if (rc == 0 && parts >= 1 && born != whole->born) rc = begin_anew(f, err);
        if (rc < 0) return rc;
        if (parts < 1 || parts < (int64_t)c->count) {
            bf_raise(&whole->told);
            return bf_redis_lost(whole, err);
        }
        if (parts > BF_PARTS_MAX)
            return bf_fail(err, BF_EFORMAT,
                "%s: field parts of its companion hash (:meta) is missing or invalid",
                bf_redis_label(whole));
        if (parts == (int64_t)c->count) {
            c->piece[c->count - 1]->known = mark;
            return 0;
        }
        if ((rc = attach_parts(f, (unsigned)parts, err)) < 0) return rc;
    }
}

static bool news(const bf_filter *f)
{
    if (f->chain->desc.kind == BF_WINDOW) return false;
    const bf_piece *p = f->chain->piece[bf_chain_count(f->chain) - 1];
    return mark_of(p) != p->known;
}

/* ---- a new part ---- */
/* The later parts of the filter that this one takes the place of, and their companion hashes. */
static unsigned old_names(const bf_redis *whole, unsigned i)
{
    return i == 0 && whole->again && whole->old_parts > 1 ? 2 * (whole->old_parts - 1) : 0;
}

static void put_old_names(const bf_redis *whole)
{
    bf_link *l = whole->link;
    for (unsigned i = 1; i < whole->old_parts; i++) {
        char *key = bf_redis_part_key(whole, 'p', i);
        char *meta = key ? malloc(strlen(key) + 6) : NULL;
        l->no_memory |= !meta;
        if (meta) {
            sprintf(meta, "%s:meta", key);
            bf_link_word(l, key);
            bf_link_word(l, meta);
        }
        free(key);
        free(meta);
    }
}

static void put_append(bf_filter *f, bf_redis *r, const bf_redis *before, const char *temp,
    uint32_t mark, uint32_t next, const bf_desc *d)
{
    bf_link *l = r->link;
    const bf_redis *whole = whole_of(f);
    const unsigned i = f->chain->count, old = old_names(whole, i);
    const uint32_t was = i ? before->mark : whole->again ? whole->born : 0;
    char text[16];
    const uint8_t raw[4] = { (uint8_t)(next >> 24), (uint8_t)(next >> 16), (uint8_t)(next >> 8),
        (uint8_t)next };
    bf_link_count(
        l, 3 + (i ? 6 : 5) + old + 6 + (unsigned)bf_redis_meta_args(d) + (i ? 0 : BF_WHOLE_ARGS));
    bf_link_word(l, "EVAL");
    bf_link_word(l, append_script);
    bf_link_number(l, (i ? 6 : 5) + old);
    bf_link_word(l, whole->meta);
    bf_link_word(l, temp);
    bf_link_word(l, l->key);
    bf_link_word(l, r->meta);
    bf_link_word(l, i ? before->key : whole->key);
    if (i) bf_link_word(l, before->meta);
    if (old) put_old_names(whole);
    bf_link_number(l, i);
    bf_link_number(l, i ? before->mark_at : 0);
    snprintf(text, sizeof text, "%08lx", (unsigned long)was);
    bf_link_word(l, text);
    bf_link_arg(l, raw, sizeof raw);
    snprintf(text, sizeof text, "%08lx", (unsigned long)next);
    bf_link_word(l, text);
    bf_link_number(l, (unsigned)bf_redis_meta_args(d));
    bf_redis_meta_put(r, d, mark);
    if (i == 0) bf_redis_put_whole(whole_of(f), &f->chain->desc, f->secret_check);
}

int bf_redis_no_part(const bf_redis *r, bf_error *err)
{
    return bf_fail(err, BF_EFORMAT,
        "%s holds bytes that are not a part of a filter: delete them, or use another key",
        bf_redis_label(r));
}

/* 1 it is there, 0 somebody was faster, 2 the part before it has another mark by now. */
static int send_append(bf_filter *f, bf_piece *p, const bf_desc *d, bf_error *err)
{
    bf_chain *c = f->chain;
    bf_redis *r = redis_of(p), *before = c->count ? redis_of(c->piece[c->count - 1]) : NULL;
    const uint32_t mark = bf_redis_new_mark(), next = bf_redis_new_mark();
    long long v = -1;
    char *temp = bf_redis_temp_name(r);
    if (!temp) return bf_fail(err, BF_ENOMEM, "out of memory");
    bf_redis_place(r, d);
    int rc = bf_redis_zeros(r, temp, mark, err);
    if (rc == 0 && (rc = bf_link_begin(r->link, true, err)) == 0) {
        put_append(f, r, before, temp, mark, next, d);
        rc = bf_link_finish(r->link, 1, err);
    }
    if (rc < 0) bf_redis_discard(r, temp);
    free(temp);
    if (rc < 0) return rc;
    if (bf_reply_integer(&r->link->reply, 0, &v) && v == 3) return bf_redis_no_part(r, err);
    if (v < 0 || v > 2)
        return bf_fail(err, BF_EIO, "%s: unexpected reply to a script", bf_redis_label(r));
    if (v != 1) return (int)v;
    r->mark = r->born = mark;
    r->keys = 0;
    p->known = mark;
    if ((rc = bf_redis_part_cache(r, err)) < 0) return rc;
    if (before) __atomic_store_n(&before->mark, next, __ATOMIC_RELEASE);
    return 1;
}

static int append(bf_filter *f, const bf_desc *part, bf_error *err)
{
    bf_desc d = *part;
    bf_chain *c = f->chain;
    d.secret_check = f->secret_check;
    if (d.g.m > BF_REDIS_M_MAX)
        return bf_fail(err, BF_EINVAL,
            "%s cannot grow further: its next part has m=%llu bits, and one Redis key holds at most %llu",
            whole_of(f)->label, (unsigned long long)d.g.m, (unsigned long long)BF_REDIS_M_MAX);
    bf_piece *p = piece_of(f, c->count, err);
    if (!p) return err ? err->code : BF_ENOMEM;
    bf_redis_lock(redis_of(p));
    int rc = send_append(f, p, &d, err);
    bf_link_unlock(redis_of(p)->link);
    if (rc == 1) return join(f, p, &d.g);
    put_away(f, c->count, p);
    if (rc == 2) { /* cleared meanwhile, or lost: its next trip tells */
        bf_store *s = &c->piece[c->count - 1]->part.store;
        uint64_t ones;
        rc = s->ops->count(s, &ones, err);
    }
    return rc < 0 ? rc : c->count ? follow(f, err) : 0;
}

/* 0: somebody else's is there. */
static int create(bf_filter *f, const bf_desc *d, const bf_spec *spec, bf_error *err)
{
    bf_desc part;
    if (d->kind == BF_WINDOW) return bf_redis_window_create(f, d, spec, err);
    int rc = bf_chain_begin(f, d, spec, err);
    if (rc < 0 || (rc = bf_chain_part(d, 0, 0, &part, err)) < 0 || (rc = append(f, &part, err)) < 0)
        return rc;
    if (f->chain->count) return 1;
    bf_chain_free(f);
    return 0;
}

static bool lost(bf_filter *f)
{
    bf_redis *whole = whole_of(f);
    whole->again = f->chain->desc.kind == BF_GROW && whole->missing && whole->born;
    return whole->again;
}

/* ---- all of it: each part's own script, the hash of the whole last (expire) or first (delete)
 * ---- */
static int expire(bf_filter *f, double seconds, bf_error *err)
{
    if (f->chain->desc.kind == BF_WINDOW)
        return bf_fail(
            err, BF_ENOTSUP, "a forgetting filter expires part by part: expire() is not for it");
    int rc = follow(f, err);
    for (unsigned i = 0; rc >= 0 && i < f->chain->count; i++) {
        bf_store *s = &f->chain->piece[i]->part.store;
        rc = s->ops->expire(s, seconds, err);
    }
    return rc < 0 ? rc : bf_redis_expire_parts(whole_of(f), seconds, err);
}

/* Every part is removed; one that is lost is gone already.  The first error is the error. */
static int remove_parts(bf_filter *f, bf_error *err)
{
    int first = 0;
    for (unsigned i = f->chain->count; i-- > 0;) {
        bf_piece *p = f->chain->piece[i];
        if (!p->part.store.impl) continue;
        int rc = p->part.store.ops->remove(&p->part.store, first < 0 ? NULL : err);
        if (rc < 0 && redis_of(p)->fate == BF_MISSING) {
            redis_of(p)->fate = BF_FINE;
            rc = 0;
        }
        if (first == 0) first = rc;
    }
    return first;
}

static int remove_(bf_filter *f, bf_error *err)
{
    int64_t now = bf_live(f->chain->epoch);
    int rc = follow(f, err);
    if (rc == 0 && f->chain->desc.kind == BF_WINDOW) rc = bf_redis_window_look(f, &now, true, err);
    if (rc == 0) rc = bf_redis_delete_parts(whole_of(f), err);
    return rc < 0 ? rc : remove_parts(f, err);
}

const bf_chain_ops bf_chain_redis = { .create = create,
    .append = append,
    .follow = follow,
    .news = news,
    .doubts = doubts,
    .fine = fine,
    .lost = lost,
    .ask = bf_redis_parts_ask,
    .put = bf_redis_parts_put,
    .expire = expire,
    .remove = remove_,
    .look = bf_redis_window_look,
    .turn = bf_redis_window_turn,
    .past = bf_redis_window_past,
    .time = bf_redis_window_time,
    .stale = bf_redis_window_stale };
