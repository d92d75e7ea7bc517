/* chain.h - filters of many parts: growing and forgetting ones.  Private.
 *
 *   bf_filter { part: no bits, only the store of the whole }
 *      `- bf_chain { piece[0] piece[1] ... piece[count - 1] }      each a bf_part as a fixed filter has one, and a live word
 *
 *   chain.c         batches and single keys over the parts      chain_state.c   the same as a set of bits
 *   grow.c          when a part is full, and the next one       chain_image.c   as bytes
 *   window.c        which part is whose time                    chain_file.c, chain_memory.c   where parts live
 *
 * All parts have one scheme and one k: a key is hashed once for all of them. */
#ifndef BF_CHAIN_H
#define BF_CHAIN_H
#include "bits.h"
#include "seams.h"

typedef struct {
    bf_part part;
    uint64_t start;            /* bits of the parts before it                                             */
    uint64_t *live;            /* keys in it (grow), its epoch (window); see bf_live                       */
    _Alignas(8) uint64_t own;  /* what live points to where it is nobody else's                           */
    uint8_t *page;             /* its header page in a mapped file, or NULL                               */
    uint32_t known;            /* Redis: its mark, when it was last sure that no part follows it           */
    uint64_t unsent;           /* Redis: keys added from here that Redis has not counted yet              */
} bf_piece;

struct bf_chain {
    bf_desc desc;              /* as stored; desc.live is of the moment of opening                        */
    unsigned count;            /* pieces there are; grows under the lock, read by bf_chain_count          */
    bf_piece *piece[BF_PARTS_MAX];
    bf_plane plane[BF_PARTS_MAX];              /* the same for the kernels, where parts are in addressable memory */
    unsigned marked;           /* pieces whose page says that it is written in place                      */
    bool full;                 /* m has reached its limit: the last part takes all                        */
    _Alignas(8) uint64_t own;
    uint64_t *epoch;           /* window: the newest epoch that anybody added in                          */
    int64_t newest;            /* Redis, window: the newest epoch that has a part, as K:meta said it last */
    int holder;                /* of the lock within the process: its pid, or 0                           */
    double (*clock)(void *);
    void *clock_ctx;
};

/* How a home keeps parts. */
typedef struct bf_chain_ops {
    /* A new filter: 1 made and open, with its first parts; 0 it is there now, whoever made it; or an error. */
    int (*create)(bf_filter *f, const bf_desc *d, const bf_spec *spec, bf_error *err);
    /* One more part at the end, under the lock.  It is there for everybody once this returned. */
    int (*append)(bf_filter *f, const bf_desc *part, bf_error *err);
    /* Takes in the parts that others appended; NULL: there are no others.  news: is there anything to take in? */
    int (*follow)(bf_filter *f, bf_error *err);
    bool (*news)(const bf_filter *f);
    /* Among the processes that share it; NULL: it is not shared. */
    int (*lock)(bf_filter *f, int *token, bf_error *err);
    void (*unlock)(bf_filter *f, int token);
    /* So many keys more are in the piece: where that is told to others by a command.  now: and nothing is held back. */
    int (*count)(bf_filter *f, bf_piece *p, uint64_t more, bool now, bf_error *err);
    void (*leave)(bf_filter *f);             /* before it is closed */
    /* Windows whose parts are not always there.  Both under the lock, both may move *now on to what others have published.
     * look: takes in which living parts there are; anyway: even if nothing has shown that there are more.  turn: makes the
     * part of now, or takes it in.  past: the same of an epoch that others may have been later than; does nothing where its
     * time is over. */
    int (*look)(bf_filter *f, int64_t *now, bool anyway, bf_error *err);
    int (*turn)(bf_filter *f, int64_t *now, bf_error *err);
    int (*past)(bf_filter *f, int64_t epoch, bf_error *err);
    bool (*stale)(const bf_filter *f, int64_t now);          /* has the last trip shown that there is a part more? */
    int (*expire)(bf_filter *f, double seconds, bf_error *err);      /* as of a store */
    int (*remove)(bf_filter *f, bf_error *err);
} bf_chain_ops;
extern const bf_chain_ops bf_chain_memory, bf_chain_file, bf_chain_redis;

#define BF_NEVER (-(INT64_C(1) << 47))                       /* the epoch of a piece that nobody has used */
static inline bool bf_piece_there(const bf_piece *p) { return p->part.store.words || p->part.store.impl; }
static inline unsigned bf_chain_count(const bf_chain *c) { return bf_told(&c->count); }

/* chain.c */
int bf_chain_begin(bf_filter *f, const bf_desc *d, const bf_spec *spec, bf_error *err);    /* no parts yet */
void bf_chain_free(bf_filter *f);
int bf_chain_join(bf_chain *c, bf_piece *p);                 /* takes p over as the last piece, under the lock */
int bf_chain_follow(bf_filter *f, bf_error *err);
int bf_chain_writable(bf_filter *f, bf_error *err);          /* bf_writable, and every part's page marked */
int bf_chain_lock(bf_filter *f, int *token, bf_error *err);
void bf_chain_unlock(bf_filter *f, int token);
int64_t bf_chain_run(bf_filter *f, int op, const bf_key *keys, size_t n, uint8_t *each, bf_error *err);
int bf_chain_test(bf_filter *f, const void *key, size_t len, bf_error *err);
int bf_chain_add(bf_filter *f, const void *key, size_t len, bf_error *err);
bf_desc bf_chain_describe(const bf_filter *f, const bf_piece *p, unsigned index);

/* A run of keys, hashed, of which some are not decided yet. */
enum { BF_SPAN = 512 };
typedef struct {
    uint64_t d[BF_SPAN];
    uint16_t key[BF_SPAN];     /* whose digest that is, as an index into the run */
    size_t n;
    uint8_t present[BF_SPAN];  /* the answers of the last probe                   */
} bf_span;
bool bf_chain_any(const bf_filter *f, const bf_plane *planes, unsigned n, const uint64_t *digest);
/* How many of the first n are present in the part (and adds them); span->present says which, if any.  Parts with kernels:
 * BF_OP_ADD only. */
int64_t bf_chain_probe(bf_filter *f, bf_piece *p, int op, bf_span *span, size_t n, bf_error *err);
/* Asks all these pieces; whoever has a key in one of them gets that answer and leaves the span. */
int bf_chain_sift(bf_filter *f, bf_piece *const *pieces, unsigned n, bf_span *span, uint8_t *answer, uint8_t value, bf_error *err);
/* Is any key in one of these pieces, of parts in addressable memory?  Then span->present says which. */
bool bf_chain_mark(bf_piece *const *pieces, unsigned n, bf_span *span);
/* Takes those present out of the span, and sets their answer. */
void bf_chain_settle(bf_span *span, uint8_t *answer, uint8_t value);
void bf_chain_drop(bf_span *span, size_t n);                 /* the first n: their answers stand */
/* Both work on one span; answer is 0 or 1 for each key: present (test), new (add), and is zero before. */
int bf_grow_test(bf_filter *f, bf_span *span, uint8_t *answer, bf_error *err);
int bf_grow_add(bf_filter *f, bf_span *span, uint8_t *answer, bf_error *err);
int bf_window_test(bf_filter *f, bf_span *span, uint8_t *answer, bf_error *err);
int bf_window_add(bf_filter *f, bf_span *span, uint8_t *answer, bf_error *err);

/* One key, of parts in addressable memory. */
int bf_grow_add_one(bf_filter *f, const uint64_t *digest, bf_error *err);
int bf_window_test_one(bf_filter *f, const uint64_t *digest, bf_error *err);

/* window.c */
int bf_window_now(bf_filter *f, int64_t *epoch, bf_error *err);
bf_piece *bf_window_piece(const bf_chain *c, int64_t epoch);                    /* whose turn it is; maybe it is another epoch's still */
bool bf_window_lives(const bf_chain *c, const bf_piece *p, int64_t now);
int bf_window_turn(bf_filter *f, int64_t epoch, bf_piece **p, bf_error *err);   /* that piece, emptied and of that epoch; *p NULL: too late */
void bf_window_empty(bf_filter *f, bf_piece *p, int64_t epoch);                /* under the lock; nothing where it is of that epoch, or a later one */
double bf_window_step(const bf_chain *c);                                       /* seconds an epoch takes */

/* chain_memory.c */
bf_filter *bf_chain_new_memory(const bf_desc *d, const bf_spec *spec, bf_error *err);      /* without parts */
int bf_chain_append_memory(bf_filter *f, const bf_desc *part, bf_error *err);

/* chain_state.c, called by state.c */
void bf_chain_info(const bf_filter *f, bf_info *info);
int bf_chain_state(bf_filter *f, bf_state *state, bf_error *err);
int bf_chain_refresh(bf_filter *f, bf_error *err);           /* knows then all that others did before */
int bf_chain_read_bits(bf_filter *f, uint64_t offset, uint8_t *buf, size_t len, bf_error *err);
int bf_chain_sync(bf_filter *f, bf_error *err);
int bf_chain_clear(bf_filter *f, bf_error *err);
bf_filter *bf_chain_copy(bf_filter *f, bf_error *err);
int bf_chain_unite(bf_filter *into, bf_filter *from, bf_error *err);
int bf_chain_equal(bf_filter *a, bf_filter *b, bf_error *err);
int bf_chain_alike(const bf_filter *a, const bf_filter *b, bf_error *err);      /* BF_EINVAL naming what differs */
int64_t bf_chain_hashcode(bf_filter *f, const uint64_t *digest, uint64_t *pos, bf_error *err);     /* in the newest part */

/* chain_image.c, called by image.c */
uint64_t bf_chain_bytes(const bf_filter *f);
int bf_chain_write(bf_filter *f, unsigned parts, bf_sink *sink, void *ctx, bf_error *err);      /* 0, a negative code, or the sink's */
typedef int bf_source(void *ctx, uint64_t offset, void *buf, uint64_t len, bf_error *err);
bf_filter *bf_chain_read(const bf_desc *d, uint64_t len, bf_source *source, void *ctx, const bf_spec *expect, const char *where, bf_error *err);
#endif
