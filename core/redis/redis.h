/* redis.h - a filter in Redis as the files of this room know it.  Private.  What a file offers to
 * the others is declared in the header of its name:
 *
 *   url.c         storage text: where Redis is     resp.c        the protocol, both ways
 *   connection.c  commands and their replies       breaker.c     servers that do not answer
 *   socket.c      the client of a URL              tls.c         the same through TLS
 *   names.c       names derived from K             meta.c        K:meta, the companion hash
 *   scripts.c     the Lua scripts                  generation.c  the mark: read and compared
 *   keyset.c      shards or parts of one filter    open.c        opening what is there
 *   foreign.c     bitmaps of others, Redisson      batch.c       a batch in one round trip
 *   bitfield.c    tests of bits and counters       changes.c     adds and removes; sums of counters
 *   cache.c       keys known to be present         bitmap.c      complete bitmaps; samples
 *   parts.c       a batch over all parts           store.c       what the home offers
 *   scalable.c    parts of growing filters         window.c      parts of forgetting filters
 *
 * A filter under key K:
 *   K        the bits, byte i/8 mask 0x80 >> (i % 8), zeros up to a multiple of 4 bytes, then the
 *            mark
 *   K:meta   its parameters as text, and the mark
 * With shards:
 *   K:meta   the same, for all of them; its mark belongs to no bitmap
 *   K:i      a shard, as K above; K:i:meta beside it
 * How names are derived from K: names.c.  K:meta says which mark the filter was made with
 * (born), the filter's id: clearing and rebuilding keep it, re-creating does not.  The field
 * `owner` of every companion hash is K; that of a part or a shard also has `filter`, the id and the
 * name of the K:meta that has it as its born.  The mark is a random number other than 0, new for
 * every generation of the bits.  Every trip ends by reading it: as it never comes back once it is
 * gone, finding it says that everything earlier in the trip met the same bits. */
#ifndef BF_REDIS_H
#define BF_REDIS_H
#include "parts/parts.h"
#include "redis/connection.h"
#include <stdlib.h>

enum { BF_REDIS_STEP = 1 << 20, BF_REDIS_MARK = 4 }; /* bytes */
/* The most bits of a key that has a mark after them, and of any key. */
#define BF_REDIS_M_MAX ((UINT64_C(1) << 32) - 64)
#define BF_REDIS_BITS (UINT64_C(1) << 32)

/* How often a call reads again if other clients change the keys meanwhile, before it is an error.
 */
enum { BF_REDIS_TRIES = 8 };

typedef struct bf_redis_cache bf_redis_cache;
typedef struct bf_redis {
    bf_conn *conn;              /* one per filter, shared by its parts and shards */
    struct bf_redis *whole;     /* the filter that it is a part or shard of; otherwise itself */
    char *key, label[BF_LABEL]; /* K; for a part {K}:p0 or {K}:w0, for a shard K:0 */
    char *meta;                 /* name of its companion hash */
    bf_params desc;
    uint64_t bits;      /* bits of one key: m, or m / shards */
    uint64_t mark_at;   /* byte offset */
    uint32_t mark;      /* 0: a foreign bitmap without mark.  With shards: the mark in K:meta */
    uint32_t filter_id; /* the mark that it was created with; clearing and rebuilding keep it */
    uint32_t whole_id;  /* in a part or shard: the filter_id of its filter */
    uint32_t seen;      /* the mark in K:meta when it was opened; 0: there was no K:meta */
    bool loss_reported; /* the caller knows that the keys are lost: no second error */
    bool making;        /* K:meta says that some shards do not exist yet */
    /* forgetting filter: every round trip to its parts ends by reading born of K:meta */
    bool by_born;
    bool users_clock; /* forgetting filter: its users' clocks decide, not Redis's */
    bool made;        /* opening it created a missing shard */
    bool doubt;       /* a round trip found a part that is lost or another filter's */
    uint64_t added;   /* new keys added since it was opened or re-created */
    bool foreign;
    bool adopted;           /* another system writes the bits too */
    bool redisson;          /* foreign, and meta is Redisson's {K}:config */
    unsigned shards;        /* number of keys that hold bits */
    struct bf_redis *shard; /* those keys; NULL: only its own */
    bf_redis_buffer room;   /* buffer for the current batch (batch.c, parts.c) */
    unsigned wait_replicas;
    bool caches; /* the caller asked for a cache; also set in parts */
    double cache_max_age;
    bf_redis_cache *cache; /* or NULL */
    uint64_t keys;         /* part of a growing filter: number of keys that K:meta counted */
    bool prefetched;       /* bf_redis_prefetch_keys opened it */
    bool missing; /* opening found that a part is missing: create() may replace filter_id */
} bf_redis;

static inline bool bf_redis_is_shard(const bf_redis *r) { return r->whole != r && r->whole->shard; }
static inline bool bf_redis_is_part(const bf_redis *r) { return r->whole != r && !r->whole->shard; }
static inline uint64_t bf_redis_cells(const bf_redis *r) /* of a key */
{
    return r->desc.g.counting ? r->bits / BF_CELL_BITS : r->bits;
}
/* If the bits take up the longest possible string, there is no room for the mark.  Then only K:meta
 * has it, and the bits count as present while the string has its full length. */
static inline bool bf_redis_mark_apart(const bf_redis *r)
{
    return r->mark_at > BF_REDIS_M_MAX / 8;
}
static inline uint64_t bf_redis_length(const bf_redis *r) /* of the string, in bytes */
{
    return r->mark_at + (bf_redis_mark_apart(r) ? 0 : BF_REDIS_MARK);
}
#endif
