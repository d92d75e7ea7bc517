/* parent.c - what the parts of a filter in Redis have in common: K:meta, which says that there is a
 * filter of parts and which one, and the names of the parts.  A growing filter's are grown.c's, a
 * forgetting one's epochs.c's. */
#include "bits/bits.h"
#include "redis/bulk.h"
#include "redis/mark.h"
#include "redis/meta.h"
#include "redis/key_names.h"
#include "redis/parts.h"
#include "redis/scripts.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a new part ---- */
static void put_birth(bf_filter *f, bf_redis *r, const char *temp, const bf_redis_birth *b)
{
    bf_link *l = r->link;
    const bf_redis *whole = bf_redis_whole(f);
    const char *const names[] = { b->before ? b->before : whole->key,
        b->before ? b->before_meta : whole->meta, temp, l->key, r->meta, whole->meta };
    bf_link_eval(l, b->script, 6 + 2 * b->later);
    for (int i = 0; i < 6; i++) bf_link_word(l, names[i]);
    for (unsigned i = 1; i <= b->later; i++) {
        char *key = bf_redis_name(l, whole->key, BF_NAME_PART, i),
             *meta = key ? bf_redis_name(l, key, BF_NAME_META, 0) : NULL;
        l->no_memory |= !meta;
        if (meta) bf_link_more(l, "ss", key, meta);
        free(key);
        free(meta);
    }
    bf_link_more(l, "nxrx", b->mark_at, b->mark, b->next, b->next);
    b->rest(f, r, b);
}

int bf_redis_bear(bf_filter *f, bf_redis *r, const bf_redis_birth *b, bf_error *err)
{
    long long v = -1;
    char *temp = bf_redis_name(r->link, r->key, BF_NAME_TEMP, 0);
    if (!temp) return bf_fail(err, BF_ENOMEM, "out of memory");
    bf_redis_place(r, b->desc);
    int rc = bf_redis_zeros(r, temp, b->own_mark, err);
    if (rc == 0) {
        bf_link_begin(r->link, BF_CHANGES);
        put_birth(f, r, temp, b);
        rc = bf_link_run(r->link, &v, err);
    }
    if (rc < 0) bf_redis_discard(r, temp);
    free(temp);
    if (rc < 0 || (v >= 0 && v <= 2)) return rc < 0 ? rc : (int)v;
    if (v != 3) return bf_fail(err, BF_EIO, "%s: unexpected reply to a script", r->label);
    return bf_fail(err, BF_EFORMAT,
        "%s holds bytes that are not a part of this filter: use another key, or delete them",
        r->label);
}

/* ---- which filter it is ---- */
/* Is what is under the name of the filter now, one that the handle may go on with?  With another
 * one it may not.  *born: its own, as the whole hash has it, and nothing else. */
int bf_redis_whole_alike(bf_filter *f, uint32_t *born, bf_error *err)
{
    bf_redis *whole = bf_redis_whole(f);
    const bf_desc *have = &f->chain->desc;
    bf_desc d;
    uint32_t mark;
    bf_redis_lock(whole);
    int rc = bf_redis_fetch_meta(whole, err);
    if (rc == 0)
        rc = whole->link->reply.n ? bf_redis_meta_read(whole, &d, &mark, err)
                                  : bf_redis_lost(whole, err);
    *born = rc == 0 ? bf_redis_meta_born(whole) : 0;
    bf_link_unlock(whole->link);
    if (rc < 0) return rc;
    if (!bf_difference(&d, have, BF_SAME_FILTER) && d.g.n == have->g.n && d.g.p == have->g.p)
        return 0;
    return bf_fail(
        err, BF_EMISMATCH, "%s was re-created with other parameters: open it again", whole->label);
}

/* Said once, and not to whom the loss was told: from then on the handle is at home in the new one.
 */
int bf_redis_whole_anew(bf_filter *f, uint32_t born, bf_error *err)
{
    bf_redis *whole = bf_redis_whole(f);
    uint64_t gone = 0;
    for (unsigned i = 0; i < f->chain->count || i < f->chain->kept; i++) {
        bf_redis *r = f->chain->piece[i]->part.store.impl;
        if (!r) continue;
        gone += r->added + r->gone;
        r->added = r->gone = 0;
        /* by the part: doubts() takes that away where the whole is to tell */
        if (r->fate != BF_FINE) bf_flag_set(&whole->told);
        r->fate = BF_FINE;
    }
    const char *note = whole->note ? whole->note : "";
    const bool told = bf_flag_get(&whole->told) && strcmp(note, BF_SENT_IN) != 0;
    whole->note = NULL;
    whole->born = born;
    bf_flag_clear(&whole->told);
    if (told) bf_flag_set(&f->chain->moved);
    return told ? 0 : bf_redis_anew(whole->label, gone, note, err);
}

/* ---- the hash of the whole ---- */
int bf_redis_whole_command(bf_redis *r, const char *command, const char *argument, bf_error *err)
{
    bf_link *l = r->link;
    long long done = 0;
    bf_redis_select(r);
    bf_link_begin(l, BF_CHANGES);
    bf_link_eval(l, bf_script_whole, 1);
    bf_link_more(l, "sxs", r->meta, r->born, command);
    if (argument) bf_link_word(l, argument);
    const int rc = bf_link_run(l, &done, err);
    return rc < 0 || done == 1 ? rc : bf_redis_lost(r, err);
}

int bf_redis_whole_expire(bf_redis *r, double seconds, bf_error *err)
{
    char ms[24] = "";
    *bf_redis_digits(ms, bf_redis_ms(seconds)) = 0;
    return bf_redis_whole_command(
        r, seconds > 0 ? "PEXPIRE" : "PERSIST", seconds > 0 ? ms : NULL, err);
}
