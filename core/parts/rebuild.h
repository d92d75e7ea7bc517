/* rebuild.h - other contents for a filter of fixed size, under those who use it.  Private.
 *
 * The bits stay where they are.  A rebuild has a draft, a second bitmap of the same size: what is
 * added while the rebuild is open goes to the bits and to the draft.  At its end the new keys' bits
 * join the draft; then the draft is united into the bits, and then each word becomes the draft's.
 * So a key that is in the old and in the new contents is present at every moment, and a test looks
 * at nothing but the bits.
 *
 * The edition says how far it is (format/edition.c); its word is shared as the bits are.  Whoever
 * adds looks at it before and after.  If it was settled and has not moved, the add is done, before
 * any rebuild.  If not, the key is added once more under the hold, which excludes whoever moves the
 * edition.  A counter that is taken back cannot be taken back once more: removers take the hold
 * from the start. */
#ifndef BF_REBUILD_H
#define BF_REBUILD_H
#include "bits/bits.h"
#include "parts/filter.h"

/* How a home keeps a draft.  All but edition and hold under the hold. */
typedef enum { BF_KEEP_DRAFT, BF_KEEP_BITS, BF_KEEP_EDITION } bf_keep;
typedef struct bf_draft_ops {
    uint64_t *(*edition)(bf_filter *f); /* its word */
    int (*hold)(bf_filter *f, int *token, bf_error *err);
    void (*let)(bf_filter *f, int token);
    int (*make)(bf_filter *f, bf_error *err); /* an empty draft, for everybody; its maker is here */
    int (*words)(bf_filter *f, uint64_t **draft, bf_error *err); /* 1, or 0: there is none */
    /* Has the maker of the draft not ended?  1, 0, -1 not known.  NULL: it has not. */
    int (*made_by_living)(const bf_filter *f);
    int (*drop)(bf_filter *f, bf_error *err);               /* for everybody */
    int (*keep)(bf_filter *f, bf_keep what, bf_error *err); /* on disk; NULL: nothing to do */
} bf_draft_ops;
extern const bf_draft_ops bf_draft_memory, bf_draft_file;

/* The hold: what a rebuild that died left behind is mended first. */
typedef struct {
    int token;
    uint32_t edition;
    uint64_t *draft; /* NULL: no rebuild is open */
} bf_held;
int bf_edition_hold(bf_filter *f, bf_held *h, bf_error *err);
void bf_edition_let(bf_filter *f, const bf_held *h);

/* What was done when the edition was `then` is in the bits still: no draft has taken their place
 * since. */
static inline bool bf_edition_stands(const bf_held *h, uint32_t then)
{
    return h->edition >> 2 == then >> 2;
}
/* Can it be rebuilt in its words?  Else its edition is its own, and settled for ever. */
static inline bool bf_has_draft(const bf_filter *f)
{
    return f->part.store.words && f->part.store.ops->draft;
}
/* The edition's word; what it is while the filter is settled, as far as this handle knows. */
static inline uint64_t bf_edition_now(const bf_filter *f) { return bf_word(f->edition); }
static inline uint64_t bf_edition_known(const bf_filter *f) { return bf_word(&f->settled); }
/* It may have become dirty, which is no news. */
static inline void bf_edition_note(bf_filter *f)
{
    if (bf_edition_settled(bf_edition(f->edition))) bf_word_set(&f->settled, bf_edition_now(f));
}

/* begin: *number tells this rebuild from others.  end: words are the new keys'; number 0: of no
 * rebuild that began before.  cancel: nothing where it is over. */
int bf_draft_begin(bf_filter *f, uint32_t *number, bf_error *err);
int bf_draft_end(bf_filter *f, uint32_t number, const uint64_t *words, bf_error *err);
int bf_draft_cancel(bf_filter *f, uint32_t number, bf_error *err);
#endif
