/* cache.c - a mirror, in this process, of the cells in Redis that were found or made other than 0.
 * A key whose cells are all in the mirror is present, so its test needs no round trip.  Bits become
 * 0 again only when the bitmap gets a new mark.  Each round trip reads the marks of the shards that
 * it uses; a shard's mirror is used until cache_max_age after its mark was last read.  The caller
 * holds the connection's lock.
 *
 * Counters become 0 again when others remove keys, without a new mark.  So a shard's mirror of
 * counters is emptied cache_max_age after its first cell was entered, and cells of keys that this
 * handle removes or finds absent leave it at once.  It serves tests only: adds are always sent.
 *
 * A Redis that was restarted or replaced may have older bits with the same mark.  So the mirror is
 * emptied when the connection is a new one.
 *
 * It holds cells and not keys, because its answers must be those of the bits, false positives
 * included. */
#include "bits/bits.h"
#include "parts/filter.h"
#include "redis/open.h"
#include "redis/cache.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
    uint32_t mark; /* 0: the mirror is empty */
    bool used;     /* some words are not 0 */
    double seen;   /* monotonic time in s when the mark was last read, < 0: never; of counters, when
                      the first cell was entered */
} sight;
struct bf_redis_cache {
    uint64_t *words; /* one bit per cell; the kernel allocates pages when they are written */
    sight *shard;
    unsigned shards;
    uint64_t m;
    double max_age;
    uint64_t connection_id; /* connection when something was last learned */
    bf_redis_buffer room;   /* positions of the keys of a batch that are not in the mirror */
    uint32_t *from;         /* index in the whole batch of each key of rest */
    double at;              /* when that batch was split */
};

double bf_redis_cache_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void bf_redis_cache_free(bf_redis_cache *c)
{
    if (!c) return;
    free(c->words);
    free(c->shard);
    free(c->room.at);
    free(c);
}

void bf_redis_cache_forget(bf_redis_cache *c)
{
    for (unsigned i = 0; c && i < c->shards; i++) c->shard[i].seen = -1;
}

/* Only marks the shards as empty; their words are cleared when they are used again. */
static void forget_all(bf_redis_cache *c)
{
    bf_redis_cache_forget(c);
    for (unsigned i = 0; i < c->shards; i++) c->shard[i].mark = 0;
}

int bf_redis_cache_new(bf_redis *r, double max_age, bf_error *err)
{
    const uint64_t m = r->desc.g.m, words = (m + 63) / 64;
    bf_redis_cache *c = calloc(1, sizeof *c);
    if (c && (c->shard = calloc(r->shards, sizeof *c->shard)) != NULL && words < SIZE_MAX / 8)
        c->words = calloc((size_t)words, 8);
    if (!c || !c->words) {
        bf_redis_cache_free(c);
        return bf_fail(
            err, BF_ENOMEM, "memory cannot hold the cache of m=%llu", (unsigned long long)m);
    }
    c->shards = r->shards;
    c->m = m;
    c->max_age = max_age > 0 ? max_age : 1;
    c->connection_id = r->conn->connection_id;
    bf_redis_cache_forget(c);
    r->cache = c;
    return 0;
}

int bf_redis_part_cache(bf_redis *r, bf_error *err)
{
    if (!r->caches || (r->cache && r->cache->m == r->desc.g.m)) return 0;
    bf_redis_cache_free(r->cache);
    r->cache = NULL;
    return bf_redis_cache_new(r, r->cache_max_age, err);
}

static uint32_t mark_of(const bf_redis *r, unsigned i)
{
    return r->shard ? r->shard[i].mark : r->mark;
}

static void forget_shard(bf_redis *r, unsigned i)
{
    bf_redis_cache *c = r->cache;
    const uint64_t each = (bf_redis_cells(r) + 63) / 64; /* whole words per shard */
    if (c->shard[i].used) memset(c->words + i * each, 0, (size_t)each * 8);
    c->shard[i] = (sight){ .mark = mark_of(r, i), .seen = -1 };
}

static bool is_over(const bf_redis_cache *c, unsigned i, double at)
{
    return c->shard[i].seen < 0 || at - c->shard[i].seen > c->max_age;
}

static unsigned shard_of(const bf_redis *r, const uint64_t *pos)
{
    return (unsigned)(pos[0] / bf_redis_cells(r));
}

/* Forgets what was learned on an earlier connection. */
static void forget_other_connection(bf_redis *r)
{
    if (r->conn->connection_id == r->cache->connection_id) return;
    forget_all(r->cache);
    r->cache->connection_id = r->conn->connection_id;
}

/* The connection may be new since the last batch, made by a count or a read of K:meta. */
bool bf_redis_cache_knows(bf_redis *r, const uint64_t *pos, unsigned k, double at)
{
    const bf_redis_cache *c = r->cache;
    if (!c) return false;
    const unsigned i = shard_of(r, pos);
    uint8_t yes = 0;
    forget_other_connection(r);
    if (c->shard[i].mark != mark_of(r, i)) forget_shard(r, i); /* the bits were replaced */
    if (is_over(c, i, at)) return false;
    bf_words_apply(c->words, false, BF_OP_TEST, pos, 1, k, &yes);
    return yes;
}

/* Forgets cells of a key, because its counters may be 0 now. */
static void unlearn(bf_redis *r, const uint64_t *pos, unsigned k)
{
    for (unsigned j = 0; j < k; j++) r->cache->words[pos[j] / 64] &= ~bf_mask_of(pos[j]);
}

/* Learns the cells that a round trip found set under an unchanged mark. */
void bf_redis_cache_learn(const bf_redis_request *g, double at)
{
    bf_redis *r = g->of;
    bf_redis_cache *c = r->cache;
    const uint64_t *pos = g->pos;
    const unsigned k = g->k;
    uint8_t was;
    for (size_t n = 0; c && n < g->nkeys; n++, pos += k) {
        const unsigned i = shard_of(r, pos);
        if (c->shard[i].mark != mark_of(r, i)) continue;
        if (r->desc.g.counting && is_over(c, i, at)) forget_shard(r, i);
        if (!r->desc.g.counting || c->shard[i].seen < 0) c->shard[i].seen = at;
        c->shard[i].used = true;
        if (g->op == BF_OP_ADD || g->present[n])
            bf_words_apply(c->words, false, BF_OP_ADD, pos, 1, k, &was);
        else if (r->desc.g.counting)
            unlearn(r, pos, k);
    }
}

/* ---- a part ---- */
/* Called after a round trip with its result; after an error empties the mirror. */
bool bf_redis_cache_heard(bf_redis *r, int rc)
{
    if (!r->cache) return false;
    forget_other_connection(r);
    if (rc < 0 && !r->conn->healthy) forget_all(r->cache);
    if (rc < 0) bf_redis_cache_forget(r->cache);
    return rc == 0;
}

/* ---- a filter ---- */
/* Removed keys are forgotten, whatever the result.  With wait_replicas every add is sent: that a
 * bit is set does not say that the replicas have it. */
int bf_redis_cache_split(const bf_redis_request *all, bf_redis_request *rest, bf_error *err)
{
    bf_redis *r = all->of;
    bf_redis_cache *c = r->cache;
    const unsigned k = all->k;
    const size_t nkeys = all->nkeys;
    const bool spared =
        all->op == BF_OP_TEST || (all->op == BF_OP_ADD && !r->desc.g.counting && !r->wait_replicas);
    for (size_t i = 0; all->op == BF_OP_REMOVE && i < nkeys; i++) unlearn(r, all->pos + i * k, k);
    if (all->op == BF_OP_REMOVE) return 0;
    char *space = bf_redis_room(&c->room, nkeys * (k * sizeof *all->pos + sizeof(uint32_t) + 1));
    if (!space) return bf_fail(err, BF_ENOMEM, "out of memory");
    uint64_t *pos = (uint64_t *)(void *)space;
    c->from = (uint32_t *)(void *)(pos + nkeys * k);
    c->at = bf_redis_cache_now();
    rest->pos = pos;
    rest->present = (uint8_t *)(c->from + nkeys);
    rest->nkeys = 0;
    for (size_t i = 0; i < nkeys; i++) {
        if ((all->present[i] = bf_redis_cache_knows(r, all->pos + i * k, k, c->at) && spared))
            continue;
        memcpy(pos + rest->nkeys * k, all->pos + i * k, k * sizeof *pos);
        c->from[rest->nkeys++] = (uint32_t)i;
    }
    return 0;
}

void bf_redis_cache_join(const bf_redis_request *all, const bf_redis_request *rest, int rc)
{
    const bf_redis_cache *c = all->of->cache;
    if (!bf_redis_cache_heard(all->of, rc) || all->op == BF_OP_REMOVE) return;
    bf_redis_cache_learn(rest, c->at);
    for (size_t i = 0; i < rest->nkeys; i++) all->present[c->from[i]] = rest->present[i];
}
