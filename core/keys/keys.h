/* keys.h - batches of keys. Private to this folder. */
#ifndef BF_KEYS_H
#define BF_KEYS_H
#include "base/load.h"
#include "bloomfilter_host.h"
#include "bits/bits.h"
#include "parts/filter.h"
#include <string.h>

typedef struct {
    bf_filter *f;
    int op; /* BF_OP_TEST, BF_OP_ADD, BF_OP_REMOVE or BF_OP_COUNT */
    const bf_key *keys;
    size_t n;
    uint8_t *each; /* one answer for each key, or NULL */
    bf_error *err; /* not NULL */
    /* the digests of the keys, for scheme hashes64; NULL: keys are hashed */
    const uint64_t *hashes;
    unsigned threads; /* above 1: so many threads may work on the batch (parallel.c) */
    /* not NULL: the keys are those of the column from key number `from` on (gather.c) */
    const bf_column *column;
    size_t from;
} bf_batch;

/* Returns n keys of the batch, starting with key number `from`. */
static inline bf_batch bf_batch_slice(const bf_batch *b, size_t from, size_t n)
{
    bf_batch s = *b;
    s.n = n;
    s.from += from;
    if (s.keys) s.keys += from;
    if (s.hashes) s.hashes += from;
    if (s.each) s.each += from;
    return s;
}

/* Computes the digests of these keys. */
static inline void bf_batch_digests(const bf_batch *b, size_t from, size_t n, uint64_t *d)
{
    if (b->hashes)
        memcpy(d, b->hashes + from, n * sizeof *d);
    else
        b->f->hash->run(b->f->secret, b->keys + from, n, d);
}

/* Prefetches the bytes of a key. The processor prefetches the second line of a key by itself. */
static inline void bf_fetch_key(const bf_key *key)
{
    enum { LINE = 64, LONG = 2 * LINE, MOST = 1024 };
    const char *text = key->ptr;
    bf_prefetch(text);
    if (key->len <= LONG) return;
    for (size_t at = LINE; at < key->len && at < MOST; at += LINE) bf_prefetch(text + at);
}

/* Returns how many of n bits are 1. Stores the bits as bytes in `each`, unless that is NULL. */
static inline int64_t bf_answer(uint8_t *each, uint64_t bits, size_t n)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    int64_t hits = 0;
    for (size_t i = 0; i < n; i += 8, bits >>= 8) {
        /* bit i becomes byte i in memory, 0 or 1 */
        const uint64_t each_bit = (bits & 0xFF) * ones & UINT64_C(0x8040201008040201);
        uint64_t bytes = (each_bit + UINT64_C(0x7F7F7F7F7F7F7F7F)) >> 7 & ones;
        hits += (int64_t)(bytes * ones >> 56);
        if (each && n - i >= 8)
            store_le64(each + i, bytes);
        else if (each)
            for (size_t j = i; j < n; j++, bytes >>= 8) each[j] = (uint8_t)bytes;
    }
    return hits;
}

/* ring.c: test or add a batch in a fixed filter, or in a filter with many parts. Return the number
 * of keys that were present (test) or new (add). bf_ring_known: tests a growing filter, but does
 * not open the parts that other processes appended; cannot fail. */
int64_t bf_ring_fixed(const bf_batch *b);
int64_t bf_ring_chain(const bf_batch *b);
int64_t bf_ring_known(const bf_batch *b);

/* gather.c. Returns at most BF_COLUMN_KEYS keys of a batch as a batch whose keys are in an array:
 * keys of a column are gathered into `room`. If a key is damaged, returns only those before it. */
typedef struct {
    bf_key keys[BF_COLUMN_KEYS];
    char text[BF_COLUMN_KEYS * BF_COLUMN_ROOM];
} bf_gathered;
bf_batch bf_gather(const bf_batch *b, size_t from, size_t n, bf_gathered *room);
/* Calls run(batch, ctx) for all keys of the batch, as one batch or, if they are those of a column,
 * as several. Returns the sum of the results, or the first error. A damaged key is an error after
 * the keys before it. */
int64_t bf_run_gathered(
    const bf_batch *b, int64_t (*run)(const bf_batch *some, void *ctx), void *ctx);

/* parallel.c. Batches of fewer than BF_PARALLEL_LEAST keys are not worth a second thread. Adds use
 * 12 bytes of memory per key, so they are split into batches of BF_PARALLEL_MOST keys. */
enum { BF_PARALLEL_LEAST = 1 << 14, BF_PARALLEL_MOST = 1 << 17 };
/* the number of threads for n keys, at most `most` */
static inline unsigned bf_threads_for(size_t n, unsigned most)
{
    const size_t worth = n / (BF_PARALLEL_LEAST / 2);
    return worth < 2 ? 1 : worth < most ? (unsigned)worth : most;
}
unsigned bf_threads_of(const bf_batch *b); /* the number of threads that may work on the batch */
/* the number of keys after which bf_run_batch splits changes */
size_t bf_keys_per_check(const bf_filter *f, unsigned threads);
typedef int64_t bf_run_slice(const bf_batch *b);
/* Tests, counts or adds the keys in b->threads threads. run: does the same in one thread. */
int64_t bf_run_parallel(const bf_batch *b, bf_run_slice *run);

/* loop.c: bf_add and batches without a check of the fill */
int bf_add_one(bf_filter *f, const void *key, size_t len, bf_error *err);
int64_t bf_run_batch(const bf_batch *b);
/* batches of public functions, whose err may be NULL; bf_ask_batch: all operations but adds */
int64_t bf_add_batch(bf_batch b);
int64_t bf_ask_batch(bf_batch b);

/* capacity.c, for BF_OVERFULL_RAISE: bf_add and bf_add_many. They add keys until the filter is
 * full. Then a key that is present gets its answer, and an absent key is BF_EFULL. */
int bf_add_one_while_room(bf_filter *f, const void *key, size_t len, bf_error *err);
int64_t bf_add_while_room(const bf_batch *b);
/* Returns true if f->left is the number of keys for which the filter has room, and bf_give_room
 * must be called when a key is gone. */
bool bf_counts_room(const bf_filter *f);
void bf_give_room(bf_filter *f, int64_t keys);
#endif
