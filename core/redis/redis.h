/* redis.h - a filter in Redis as the files of this room know it.  Private.  What a file offers the
 * others is in the header of its name, or in the one beside it here:
 *
 *   url.c       storage text -> where and as whom      reply.c     what a reply is made of
 *   link.c      commands into a buffer, a trip, fork   meta.c      K:meta, the companion hash
 *   transport.h   socket.c    a connection of our own (hiredis), with tls.c; breaker.c
 *                 client.c    the host's client instead
 *   key_names.c  names derived from K
 *   mark.c      the mark, and following it; which key is selected
 *   trip.h      trip.c      a batch of positions as one trip
 *               cells.c     what is asked of bits and counters
 *               counting.c  counters down; sums of them
 *   bulk.h      bulk.c      whole bitmaps: making, reading, uniting
 *               glance.c    about how full it is
 *   sharded.c   a filter of several keys: K:0, K:1     cache.c     keys known to be present
 *   attach.h    attach.c    opening what is there
 *               adopt.c     making another system's bits ours
 *   parts.h     parts.c     a batch over all parts, one trip
 *               parent.c    what parts have in common
 *               grown.c     parts of growing filters
 *               epochs.c    parts of forgetting ones
 *   redisson.c  filters that Redisson keeps            store.c     what the home offers
 *   scripts.h   scripts.c   the Lua scripts
 *
 * A filter under key K:
 *   K        the bits, byte i/8 mask 0x80 >> (i % 8), zeros up to a multiple of 4 bytes, then the
 *            mark
 *   K:meta   its parameters as text, and the mark
 * With shards:
 *   K:meta   the same, for all of them; its mark is nobody's bits'
 *   K:i      a shard, as K above; K:i:meta beside it
 * How names are derived from K: key_names.c.  The field `owner` of every companion hash is the key
 * K of the filter that it belongs to. K:meta says too which mark the filter was made with (born):
 * clearing and rebuilding keep that, re-creating does not. The mark is a random number other than
 * 0, new for every generation of the bits.  Every trip ends by reading it: as it never comes back
 * once it is gone, finding it says that everything earlier in the trip met the same bits. */
#ifndef BF_REDIS_H
#define BF_REDIS_H
#include "parts/parts.h"
#include "redis/link.h"

enum { BF_REDIS_STEP = 1 << 20, BF_REDIS_MARK = 4 }; /* bytes */
/* The bits of one key: with the mark after them, and at most. */
#define BF_REDIS_M_MAX ((UINT64_C(1) << 32) - 64)
#define BF_REDIS_BITS (UINT64_C(1) << 32)

typedef struct bf_redis_cache bf_redis_cache;
typedef struct bf_redis {
    bf_link *link;              /* one a filter: its parts and shards share it */
    bool guest;                 /* a part: the link is its filter's */
    struct bf_redis *of;        /* a shard: the filter it is of */
    const char *owner;          /* K, also of a part or a shard; borrowed */
    char *key, label[BF_LABEL]; /* K; of a part {K}:p0 or {K}:w0, of a shard K:0 */
    char *meta;                 /* its companion hash */
    bf_desc desc;
    uint64_t bits;    /* of a key: m, or m / shards */
    uint64_t mark_at; /* byte */
    uint32_t mark;    /* 0: a foreign bitmap, which has none; with shards K:meta's own */
    uint32_t born; /* the mark it was made with, the same for all its life; 0: by a version that did
                      not note it */
    uint32_t seen; /* the mark K:meta had when it was looked at, 0 = there was none */
    bool told;     /* that its keys are gone: it was lost, or re-created together with others */
    bool making;   /* K:meta said so when it was looked at */
    bool
        by_born; /* a filter that forgets: every trip to its parts ends by reading born of K:meta */
    bool made;   /* attach made a shard that was missing */
    enum {
        BF_FINE,
        BF_MISSING,
        BF_ANEW,
        BF_ANEW_IN
    } fate;           /* how the last trip found it; IN: and what was added is in it */
    const char *note; /* for bf_redis_anew; NULL = nothing */
    uint64_t added,
        gone; /* keys that were new, since it was opened or re-created; before that, of a part */
    bool foreign;
    bool adopted;           /* another system goes on writing bits */
    bool redisson;          /* foreign, and meta is Redisson's {K}:config */
    unsigned shards;        /* how many keys hold bits */
    struct bf_redis *shard; /* those keys, or NULL: it is its own */
    char *room;             /* of a batch: sharded.c, parts.c */
    size_t room_cap;
    unsigned wait_replicas;
    bool caches; /* as asked, also of parts */
    double cache_max_age;
    bf_redis_cache *cache; /* or NULL */
    uint64_t keys;         /* a part that grows: how many K:meta said there are */
    bool peeked;           /* bf_redis_peek found it sound and opened it */
    bool missing;          /* it, or a part of it, was not there when it was to be opened */
    bool again;            /* so it is to be made again in place of the one that was born so */
} bf_redis;

static inline uint64_t bf_redis_cells(const bf_redis *r) /* of a key */
{
    return r->desc.g.counting ? r->bits / BF_CELL_BITS : r->bits;
}
/* Where bits go up to the last one that a string can have, there is no room for the mark: only
 * K:meta has it, and the bits are there as long as their string is at its full length. */
static inline bool bf_redis_mark_apart(const bf_redis *r)
{
    return r->mark_at > BF_REDIS_M_MAX / 8;
}
static inline uint64_t bf_redis_length(const bf_redis *r) /* of the string, in bytes */
{
    return r->mark_at + (bf_redis_mark_apart(r) ? 0 : BF_REDIS_MARK);
}
#endif
