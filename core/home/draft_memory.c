/* draft_memory.c - the draft of a filter in process memory, and its hold: a lock among threads. */
#include "base/system.h"
#include "parts/rebuild.h"
#include <stdlib.h>

static uint64_t *edition(bf_filter *f) { return &f->own_edition; }

static int hold(bf_filter *f, int *token, bf_error *err)
{
    *token = 0;
    return bf_lock_threads(f, &f->holder, err);
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
