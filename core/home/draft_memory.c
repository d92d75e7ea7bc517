/* draft_memory.c - the draft of a filter in process memory, and its hold: a lock among threads. */
#include "base/system.h"
#include "parts/rebuild.h"
#include <sched.h>
#include <stdlib.h>
#include <time.h>

enum { YIELDS = 1000 }; /* tries, then tries with a ms between: as long as BF_PATIENCE */

static uint64_t *edition(bf_filter *f) { return &f->own_edition; }

/* A child of fork that finds the lock held by its parent takes it: nobody in the child will ever
 * give it back. */
static bool held(bf_filter *f, int me)
{
    int was = 0;
    BF_WAIT(&f->holder);
    return bf_int_swap(&f->holder, &was, me) || (was != me && bf_int_swap(&f->holder, &was, me));
}

static int wait_for(bf_filter *f, int me, bf_error *err)
{
    for (unsigned tries = 0; tries < YIELDS + BF_PATIENCE * 1000u; tries++) {
        if (held(f, me)) return 0;
        if (tries < YIELDS)
            sched_yield();
        else
            nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
    }
    return bf_fail(err, BF_EIO,
        "the filter is in use: another thread has been rebuilding it for %d seconds", BF_PATIENCE);
}

static int hold(bf_filter *f, int *token, bf_error *err)
{
    const int me = *token = bf_process();
    if (held(f, me)) return 0;
    void *began = bf_wait_begin(f);
    const int rc = wait_for(f, me, err);
    bf_wait_end(f, began);
    return rc;
}

static void let(bf_filter *f, int token)
{
    (void)token;
    bf_int_set(&f->holder, 0);
}

/* A fork of any moment finds a draft or none, never one that is freed. */
static int drop(bf_filter *f, bf_error *err)
{
    uint64_t *old = f->draft;
    (void)err;
    f->draft = NULL;
    bf_fence();
    free(old);
    return 0;
}

static int make(bf_filter *f, bf_error *err)
{
    drop(f, NULL);
    f->draft = bf_words_new(f->part.store.nwords);
    return f->draft ? 0
                    : bf_fail(err, BF_ENOMEM, "memory cannot hold %llu bytes to rebuild it",
                          (unsigned long long)f->part.store.nwords * 8);
}

static int words(bf_filter *f, uint64_t **draft, bf_error *err)
{
    (void)err;
    *draft = f->draft;
    return f->draft != NULL;
}

const bf_draft_ops bf_draft_memory = {
    .edition = edition, .hold = hold, .let = let, .make = make, .words = words, .drop = drop
};
