/* bias.h - plain words for the only writer of a mapped file.  Private to home/ and to who writes
 * keys.  bias.c has the protocol. */
#ifndef BF_BIAS_H
#define BF_BIAS_H
#include "bits/bits.h"
#include "base/base.h"

enum { BF_EVERYBODY = 1 }; /* as owner; no thread is known by that number */
typedef struct bf_bias {
    uint64_t owner;        /* 0 nobody wrote through this handle, a thread, BF_EVERYBODY          */
    uint64_t others;       /* another thread wants to write                                       */
    bool on;               /* the owner's: the file is its alone, until `turns` says otherwise    */
    bool hopeless;         /* the owner's: it never will be                                       */
    uint64_t keys, next;   /* the owner's: added, and when to try                             */
    uint64_t sole, within; /* what `turns` is while it is on, and `inside` while it writes */
    uint64_t *turns, *inside; /* in the page                                               */
    uint64_t *alive, *family; /* not 0 in the process that opened it; a fork of it wrote   */
    void *witness; /* a map whose description has the lock                                  */
    int fd;
    uint64_t device, inode; /* what fd leads to, unless the host closed it */
    const char *path;
} bf_bias;

/* Of a file whose page is mapped there, to be written.  What a dead writer left is settled, if it
 * is dead. */
void bf_bias_init(bf_bias *b, uint8_t *page, int fd, const char *path);
/* Before anything else than keys is written, and before the first keys: 0, or an error, and then
 * nothing may be written. */
int bf_bias_settle(bf_bias *b, bf_error *err);
void bf_bias_end(bf_bias *b);
int bf_bias_slow(bf_bias *b, bf_error *err);

/* Around keys, few at once, and no code of others in between.  begin: 0 plain words, 1 locked ones,
 * or an error, and then nothing may be written. */
static inline void bf_bias_let(bf_bias *b) { bf_say(b->inside, 0); }
static inline int bf_bias_begin(bf_bias *b, unsigned keys, bf_error *err)
{
    const uint64_t owner = bf_seen(&b->owner);
    if (owner == BF_EVERYBODY) return 1;
    if (owner == bf_self() && *b->alive) {
        if (!b->on) {
            if ((b->keys += keys) < b->next) return 1;
        } else {
            bf_word_set(b->inside, b->within);
            bf_in_order(); /* others see to the rest: membarrier */
            if (bf_seen(b->turns) == b->sole) return 0;
            bf_bias_let(b);
        }
    }
    return bf_bias_slow(b, err);
}
#endif
