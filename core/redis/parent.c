/* parent.c - what the parts of a filter in Redis have in common: K:meta, which says that there is a
 * filter of parts and which one, and the names of the parts.  A growing filter's are grown.c's, a
 * forgetting one's epochs.c's. */
#include "bits/bits.h"
#include "redis/bulk.h"
#include "redis/mark.h"
#include "redis/meta.h"
#include "redis/parts.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bf_redis *whole_of(const bf_filter *f) { return f->part.store.impl; }

/* ---- names and numbers ---- */
char *bf_redis_part_key(const bf_redis *whole, char letter, int64_t i)
{
    const char *key = whole->key;
    const bool tagged = bf_redis_tagged(key);
    size_t cap = strlen(key) + 32;
    char *name = malloc(cap);
    if (name) snprintf(name, cap, tagged ? "%s:%c%lld" : "{%s}:%c%lld", key, letter, (long long)i);
    return name;
}

/* One command, its words ended by NULL; its number, or -1 where there is none. */
static int number(bf_redis *r, const char *const *words, int64_t *out, bf_error *err)
{
    unsigned n = 0;
    bf_link *l = r->link;
    bf_redis_lock(r);
    int rc = bf_link_begin(l, true, err);
    if (rc == 0) {
        while (words[n]) n++;
        bf_link_count(l, n);
        for (unsigned i = 0; i < n; i++) bf_link_word(l, words[i]);
        rc = bf_link_finish(l, 1, err);
    }
    *out = rc == 0 ? bf_reply_number(&l->reply, 0, 10) : -1;
    bf_link_unlock(l);
    return rc;
}

/* ---- which filter it is ---- */
/* Is what is under the name of the filter now, one that the handle may go on with?  With another
 * one it may not.  *born: its own, as the whole hash has it, and nothing else. */
int bf_redis_whole_alike(bf_filter *f, uint32_t *born, bf_error *err)
{
    bf_redis *whole = whole_of(f);
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
    if (d.kind == have->kind && !strcmp(d.name, have->name) && d.g.m == have->g.m &&
        d.g.n == have->g.n && d.g.k == have->g.k && d.g.p == have->g.p && d.grow == have->grow &&
        d.window == have->window && d.parts == have->parts && d.secret_check == f->secret_check)
        return 0;
    return bf_fail(err, BF_EMISMATCH, "%s was re-created with other parameters: open it again",
        bf_redis_label(whole));
}

/* Said once, and not to whom the loss was told: from then on the handle is at home in the new one.
 */
int bf_redis_whole_anew(bf_filter *f, uint32_t born, bf_error *err)
{
    bf_redis *whole = whole_of(f);
    uint64_t gone = 0;
    for (unsigned i = 0; i < f->chain->count || i < f->chain->kept; i++) {
        bf_redis *r = f->chain->piece[i]->part.store.impl;
        if (!r) continue;
        gone += r->added + r->gone;
        r->added = r->gone = 0;
        /* by the part: doubts() takes that away where the whole is to tell */
        if (r->fate != BF_FINE) bf_raise(&whole->told);
        r->fate = BF_FINE;
    }
    const char *note = whole->note ? whole->note : "";
    const bool told = bf_raised(&whole->told) && strcmp(note, BF_SENT_IN) != 0;
    whole->note = NULL;
    whole->born = born;
    bf_lower(&whole->told);
    if (told) bf_raise(&f->chain->moved);
    return told ? 0 : bf_redis_anew(whole->label, gone, note, err);
}

/* ---- deleting and expiring: the hash of the whole; parts have scripts of their own ---- */
#define MINE                                                                                       \
    "if redis.call('HEXISTS',KEYS[1],'kind')==0 "                                                  \
    "or (redis.call('HGET',KEYS[1],'born') or '')~=ARGV[1] then return 0 end "
static const char delete_meta[] = MINE "redis.call('DEL',KEYS[1]) return 1";
static const char expire_meta[] = MINE
    "if ARGV[2]=='0' then redis.call('PERSIST',KEYS[1]) else redis.call('PEXPIRE',KEYS[1],ARGV[2]) end return 1";

/* As K:meta has it; empty where it has none. */
void bf_redis_born_text(const bf_redis *whole, char text[16])
{
    *text = 0;
    if (whole->born) snprintf(text, 16, "%08lx", (unsigned long)whole->born);
}

/* Not what somebody else has made there meanwhile. */
static int about_meta(bf_redis *r, const char *script, const char *argument, bf_error *err)
{
    char born[16];
    int64_t done;
    bf_redis_born_text(r, born);
    int rc = number(
        r, (const char *const[]){ "EVAL", script, "1", r->meta, born, argument, NULL }, &done, err);
    return rc < 0 || done == 1 ? rc : bf_redis_lost(r, err);
}

int bf_redis_delete_parts(bf_redis *whole, bf_error *err)
{
    return about_meta(whole, delete_meta, NULL, err);
}

int bf_redis_expire_parts(bf_redis *whole, double seconds, bf_error *err)
{
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)bf_redis_ms(seconds));
    return about_meta(whole, expire_meta, text, err);
}
