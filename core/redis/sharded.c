/* sharded.c - a filter of several keys: K:0, K:1, ... hold the bits, K:meta says how many they are.
 * Each is a key as that of a filter without shards, with a mark and a companion hash of its own, so
 * that making, following, clearing one is what it is there: whoever selects a shard works on it.
 * Here is what concerns all of them: opening, making, and a batch.
 *
 * K:meta comes first and goes last.  Who dies in between leaves a filter of which shards are
 * missing: an error for those who only open it, and whoever constructs it makes them. */
#include "parts/filter.h"
#include "redis/attach.h"
#include "redis/bulk.h"
#include "redis/mark.h"
#include "redis/meta.h"
#include "redis/key_names.h"
#include "redis/parts.h"
#include "redis/scripts.h"
#include "redis/sharded.h"
#include "redis/trip.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void bf_redis_free_shards(bf_redis *r)
{
    for (unsigned i = 0; r->shard && i < r->shards; i++) {
        free(r->shard[i].key);
        free(r->shard[i].meta);
    }
    free(r->shard);
    r->shard = NULL;
    r->shards = 1;
}

static int take_shards(bf_redis *r, const bf_desc *d, bf_error *err)
{
    bool fine = (r->shard = calloc(d->g.shards, sizeof *r->shard)) != NULL;
    r->shards = fine ? d->g.shards : 1;
    bf_redis_place(r, d);
    for (unsigned i = 0; fine && i < r->shards; i++) {
        bf_redis *one = r->shard + i;
        *one = (bf_redis){ .link = r->link,
            .of = r,
            .owner = r->key,
            .shards = 1,
            .wait_replicas = r->wait_replicas };
        bf_redis_place(one, d);
        one->key = bf_redis_name(r->link, r->key, BF_NAME_SHARD, i);
        one->meta = one->key ? bf_redis_name(r->link, one->key, BF_NAME_META, 0) : NULL;
        if ((fine = one->meta != NULL)) bf_link_label(r->link, one->key, one->label);
    }
    if (fine) return 0;
    bf_redis_free_shards(r);
    return bf_fail(err, BF_ENOMEM, "out of memory");
}

/* ---- opening and making ---- */
/* Shard i as the filter d has it: 1 opened, 2 made. */
static int attach_shard(bf_redis *all, const bf_desc *d, unsigned i, bool make, bf_error *err)
{
    const bf_spec spec = {
        .m = make, .k = make, .must_exist = !make
    }; /* sufficient or not, nothing else */
    bf_desc have;
    int rc = 0;
    bf_redis *r = bf_redis_key(all, i);
    for (int tries = 0; rc == 0 && tries < 100; tries++) {
        rc = bf_redis_attach_key(r, &spec, &have, err);
        if (rc == 0 && (rc = bf_redis_make(r, d, err)) == 1) return 2;
        if (rc == 1 && bf_difference(&have, d, BF_SAME_BITS))
            return bf_fail(err, BF_EMISMATCH,
                "%s is a shard of another filter: %s m=%llu k=%u shards=%u", r->label, have.name,
                (unsigned long long)have.g.m, have.g.k, have.g.shards);
    }
    return rc ? rc
              : bf_fail(err, BF_EIO,
                    "%s is created and deleted all the time: it could neither be opened nor "
                    "created",
                    r->label);
}

static bool any_shard(bf_redis *r)
{
    bf_link *l = r->link;
    long long n = 1;
    for (unsigned i = 0; i < r->shards; i++) {
        if (bf_link_look(l, NULL, "EXISTS", bf_redis_key(r, i)->key) < 0 ||
            !bf_reply_integer(&l->reply, 0, &n) || n)
            return true;
    }
    return false;
}

/* From now on the name is free once all shards are lost.  Where K:meta is another filter's by now,
 * the next call finds out. */
static int all_made(bf_redis *r, bf_error *err)
{
    bf_error unheard;
    const int rc = bf_redis_whole_command(r, "HDEL", "making", &unheard);
    if (rc == 0 || unheard.lost) return 0;
    if (err) *err = unheard;
    return rc;
}

/* K:meta says d.  Of a filter that has lost all its shards another one may be made, as of one that
 * lost its only key. */
int bf_redis_attach_shards(
    bf_redis *r, const bf_spec *spec, const bf_desc *d, uint32_t mark, bf_error *err)
{
    const bool make = !spec->read_only && !spec->must_exist && bf_sufficient(spec);
    int rc = take_shards(r, d, err);
    if (rc < 0) return rc;
    r->mark = mark;
    if ((rc = bf_match(d, spec, r->label, err)) < 0 && make && !r->making && !any_shard(r)) rc = 1;
    for (unsigned i = 0; rc == 0 && i < r->shards; i++) {
        int one = attach_shard(r, d, i, make, err);
        if (one < 0) rc = one;
        r->made |= one == 2;
    }
    if (rc == 0 && make && r->making) rc = all_made(r, err);
    bf_redis_select(r);
    if (rc == 0) return 1;
    bf_redis_free_shards(r);
    return rc < 0 ? rc : 0;
}

/* Over the one that was seen, whose filter is gone, or over none; not beside a string that has the
 * name. */
static int make_whole(bf_redis *r, const bf_desc *d, bf_error *err)
{
    const uint32_t mark = bf_redis_new_mark();
    long long made = 0;
    bf_redis_select(r);
    bf_link_begin(r->link, BF_CHANGES);
    bf_link_eval(r->link, bf_script_create, 2);
    bf_link_more(r->link, "ssxss", r->key, r->meta, r->seen, "making", "1");
    bf_redis_meta_put(r, d, mark);
    const int rc = bf_link_run(r->link, &made, err);
    if (rc == 0 && made) r->mark = r->born = mark;
    return rc < 0 ? rc : made != 0;
}

/* A creation that failed leaves nothing of its own. */
static void take_back(bf_redis *r, const bool *mine)
{
    for (unsigned i = 0; i < r->shards; i++)
        if (mine[i]) bf_redis_remove(bf_redis_key(r, i), NULL);
    bf_redis_whole_command(r, "DEL", NULL, NULL);
}

int bf_redis_make_shards(bf_redis *r, const bf_desc *d, bf_error *err)
{
    bool mine[BF_SHARDS_MAX] = { false };
    int rc = take_shards(r, d, err);
    if (rc < 0) return rc;
    if ((rc = make_whole(r, d, err)) == 1) {
        for (unsigned i = 0; rc > 0 && i < r->shards; i++)
            if ((rc = attach_shard(r, d, i, true, err)) > 0) mine[i] = rc == 2;
        if (rc > 0) {
            const int done = all_made(r, err);
            rc = done < 0 ? done : 1;
        }
        if (rc < 0) take_back(r, mine);
    }
    bf_redis_select(r);
    if (rc > 0) return 1;
    bf_redis_free_shards(r);
    return rc;
}

/* ---- a batch ---- */
void *bf_redis_room(bf_redis *r, size_t bytes)
{
    if (bytes <= r->room_cap) return r->room;
    char *more = realloc(r->room, bytes + 64);
    if (!more) return NULL;
    r->room = more;
    r->room_cap = bytes + 64;
    return more;
}

/* old: a byte a position of an add to bits, or NULL. */
static int ask_groups(bf_redis *r, bf_redis_group *g, size_t n, uint8_t *old, bf_error *err)
{
    for (size_t i = 0; old && i < n; old += g[i].nkeys * g[i].k, i++) {
        g[i].old = old;
        memset(old, 1, g[i].nkeys * g[i].k); /* what no reply told is not undone */
    }
    return bf_redis_ask(r, g, n, err);
}

/* A group a shard.  The order of keys within a shard stays: it decides which is new. */
static int apply_sorted(const bf_redis_group *all, size_t old, bf_error *err)
{
    bf_redis *r = all->of;
    const size_t s = r->shards, nkeys = all->nkeys, positions = nkeys * all->k;
    const unsigned k = all->k;
    const uint64_t cells = bf_redis_cells(r);
    char *room = bf_redis_room(r, positions * sizeof *all->pos +
                                      s * (sizeof(bf_redis_group) + sizeof(size_t)) +
                                      nkeys * (sizeof(uint32_t) + 1) + old);
    if (!room) return bf_fail(err, BF_ENOMEM, "out of memory");
    uint64_t *sorted = (uint64_t *)(void *)room;
    bf_redis_group *g = (bf_redis_group *)(void *)(sorted + positions);
    size_t *next = (size_t *)(void *)(g + s), n = 0, at = 0;
    uint32_t *from = (uint32_t *)(void *)(next + s);
    uint8_t *answer = (uint8_t *)(from + nkeys);
    memset(next, 0, s * sizeof *next);
    for (size_t i = 0; i < nkeys; i++) next[all->pos[i * k] / cells]++;
    for (size_t i = 0; i < s; i++) { /* the groups that have keys, and where each begins */
        const size_t c = next[i];
        next[i] = at;
        if (c) {
            g[n] = *all;
            g[n].of = r->shard + i;
            g[n].pos = sorted + at * k;
            g[n].nkeys = c;
            g[n++].present = answer + at;
        }
        at += c;
    }
    for (size_t i = 0; i < nkeys; i++) {
        const uint64_t shard = all->pos[i * k] / cells;
        at = next[shard]++;
        from[at] = (uint32_t)i;
        for (unsigned j = 0; j < k; j++) sorted[at * k + j] = all->pos[i * k + j] - shard * cells;
    }
    const int rc = ask_groups(r, g, n, old ? answer + nkeys : NULL, err);
    for (size_t i = 0; i < nkeys; i++) all->present[from[i]] = answer[i];
    return rc;
}

int bf_redis_apply(const bf_redis_group *g, bf_error *err)
{
    const size_t old = g->op == BF_OP_ADD && !g->of->desc.g.counting ? g->nkeys * g->k : 0;
    bf_redis_group one = *g;
    if (g->of->shard) return apply_sorted(g, old, err);
    uint8_t *room = bf_redis_room(g->of, old);
    if (old && !room) return bf_fail(err, BF_ENOMEM, "out of memory");
    return ask_groups(g->of, &one, 1, old ? room : NULL, err);
}
