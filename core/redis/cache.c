/* cache.c - a cache of the cells of one Redis key that are known not to be 0. If all cells of a key
 * are in the cache, the key is reported as present without a round trip. The cache stores cells,
 * not keys, so false positives are the same as in Redis. The caller holds the connection's lock.
 *
 * Bits become 0 only when the bitmap gets a new mark, and each test or add reads the mark. The
 * cache is used until cache_max_age after the mark was last read.
 *
 * Counters become 0 without a new mark, when other processes remove keys. So a cache of counters is
 * emptied cache_max_age after its first cell was stored. Such a cache answers tests only. The cells
 * of a key that this handle removes or finds absent leave the cache immediately.
 *
 * A server that was restarted or replaced may have older bits with the same mark. So a new
 * connection empties the cache. */
#include "redis/redis.h"
#include <time.h>

struct bf_redis_cache {
    uint64_t *words; /* one bit per cell; the system allocates pages when they are first written */
    uint64_t nwords;
    uint32_t mark; /* the mark of the bits; 0: the cache is invalid */
    bool used;     /* some words are not 0 */
    /* monotonic time in s when the mark was last read; for counters, when the first cell was
     * stored; below 0: never */
    double seen;
    uint64_t connection_id; /* the connection for which the cache is valid */
};

double bf_redis_cache_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void free_cache(bf_redis_cache *c)
{
    if (c) free(c->words);
    free(c);
}

/* Clears the pointer first: a child forked at any moment finds a valid cache or NULL. */
void bf_redis_cache_free(bf_redis *r)
{
    bf_redis_cache *old = r->cache;
    r->cache = NULL;
    bf_fence();
    free_cache(old);
}

int bf_redis_cache_new(bf_redis *r, bf_error *err)
{
    const uint64_t words = (bf_redis_cells(r) + 63) / 64;
    if (!r->caches || (r->desc.kind && r->desc.g.counting) ||
        (r->cache && r->cache->nwords == words))
        return 0;
    bf_redis_cache_free(r);
    bf_redis_cache *c = calloc(1, sizeof *c);
    if (c && words < SIZE_MAX / 8) c->words = calloc((size_t)words, 8);
    if (!c || !c->words) {
        free_cache(c);
        return bf_fail(err, BF_ENOMEM, "memory cannot hold the cache of m=%llu",
            (unsigned long long)r->desc.g.m);
    }
    c->nwords = words;
    c->connection_id = r->conn->connection_id;
    bf_fence();
    r->cache = c;
    return 0;
}

/* Makes the caches invalid; restart() sets the words to 0 before the next use. */
void bf_redis_cache_forget(bf_redis *r)
{
    for (unsigned i = 0; i < r->shards; i++) {
        bf_redis_cache *c = r->shard ? r->shard[i].cache : r->cache;
        if (c) c->mark = 0;
    }
}

static void restart(bf_redis *r)
{
    bf_redis_cache *c = r->cache;
    if (c->used) memset(c->words, 0, (size_t)c->nwords * 8);
    c->mark = r->mark;
    c->used = false;
    c->seen = -1;
}

static bool is_over(const bf_redis *r, double at)
{
    const double max_age = r->cache_max_age > 0 ? r->cache_max_age : 1;
    return r->cache->seen < 0 || at - r->cache->seen > max_age;
}

static void forget_other_connection(bf_redis *r)
{
    if (r->conn->connection_id == r->cache->connection_id) return;
    r->cache->mark = 0;
    r->cache->connection_id = r->conn->connection_id;
}

/* Checks the connection first, because a call that does not use the cache may have opened a new
 * connection. */
bool bf_redis_cache_knows(bf_redis *r, const uint64_t *pos, unsigned k, double at)
{
    uint8_t yes = 0;
    if (!r->cache) return false;
    forget_other_connection(r);
    if (r->cache->mark != r->mark) restart(r); /* the bits were replaced */
    if (!is_over(r, at)) bf_words_apply(r->cache->words, false, BF_OP_TEST, pos, 1, k, &yes);
    return yes;
}

void bf_redis_cache_unlearn(bf_redis *r, const uint64_t *pos, unsigned k)
{
    for (unsigned j = 0; r->cache && j < k; j++)
        r->cache->words[pos[j] / 64] &= ~bf_mask_of(pos[j]);
}

void bf_redis_cache_learn(const bf_redis_request *g, double at)
{
    bf_redis *r = g->of;
    bf_redis_cache *c = r->cache;
    const uint64_t *pos = g->pos;
    const bool counting = r->desc.g.counting;
    uint8_t was;
    if (!c) return;
    forget_other_connection(r);
    if (c->mark != r->mark) restart(r);
    if (counting && is_over(r, at)) restart(r);
    if (!counting || c->seen < 0) c->seen = at;
    c->used = true;
    for (size_t n = 0; n < g->nkeys; n++, pos += g->k)
        if (g->op == BF_OP_ADD || g->present[n])
            bf_words_apply(c->words, false, BF_OP_ADD, pos, 1, g->k, &was);
        else if (counting)
            bf_redis_cache_unlearn(r, pos, g->k);
}
