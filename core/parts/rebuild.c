/* rebuild.c - rebuilds, step by step: opening one, ending it, giving it up, and mending what one
 * that died left behind.  Knows editions, drafts and words; where they are is the home's business
 * (bf_draft_ops), and the keys are during.c's.
 *
 * An edition q is 4 q + its phase.  Whoever dies leaves the old contents or the new ones.  A draft
 * is there only while the edition says so, on disk too: the edition goes first when a draft is
 * made, and last when it is dropped. Until the edition says that the draft is complete, the bits
 * are the old ones; from then on whoever comes next puts the draft into their place once more. */
#include "parts/rebuild.h"

enum { SETTLED = 1, OPEN = 2, COMPLETE = 3 };
static unsigned phase(uint32_t edition) { return edition & 3; }
/* The bits of a later one are others; the phases of one count up in its last two bits. */
static uint32_t in_phase(uint32_t edition, uint32_t phase, bool later)
{
    return ((edition >> 2) + later) << 2 | phase;
}

static const bf_draft_ops *ops_of(const bf_filter *f) { return f->part.store.ops->draft; }

static int keep(bf_filter *f, bf_keep what, bf_error *err)
{
    return ops_of(f)->keep ? ops_of(f)->keep(f, what, err) : 0;
}

/* ---- steps under the hold ---- */
static int move_to(bf_filter *f, bf_held *h, uint32_t edition, bf_error *err)
{
    h->edition = edition;
    bf_edition_set(f->edition, edition);
    return keep(f, BF_KEEP_EDITION, err);
}

static int settle(bf_filter *f, bf_held *h, bf_error *err)
{
    h->draft = NULL;
    int rc = ops_of(f)->drop(f, err);
    if (rc < 0) return rc;
    return move_to(f, h, in_phase(h->edition, SETTLED, phase(h->edition) == COMPLETE), err);
}

/* First all of both, then the draft alone: no bit that both have is ever 0. */
static int replace(bf_filter *f, bf_held *h, bf_error *err)
{
    bf_store *s = &f->part.store;
    bf_cells_of(&f->part.g)->unite(s->words, h->draft, s->nwords, true);
    int rc = keep(f, BF_KEEP_BITS, err);
    if (rc < 0) return rc;
    for (uint64_t i = 0; i < s->nwords; i++) bf_word_set(s->words + i, bf_word(h->draft + i));
    rc = keep(f, BF_KEEP_BITS, err);
    return rc < 0 ? rc : settle(f, h, err);
}

static int mend(bf_filter *f, bf_held *h, bf_error *err)
{
    const bf_draft_ops *ops = ops_of(f);
    h->draft = NULL;
    h->edition = bf_edition(f->edition);
    if (bf_edition_settled(h->edition)) return 0;
    int rc = ops->words(f, &h->draft, err);
    if (rc < 0) return rc;
    if (rc == 0) return settle(f, h, err);
    if (phase(h->edition) == COMPLETE) return replace(f, h, err);
    return ops->made_by_living && ops->made_by_living(f) == 0 ? settle(f, h, err) : 0;
}

int bf_edition_hold(bf_filter *f, bf_held *h, bf_error *err)
{
    int rc = ops_of(f)->hold(f, &h->token, err);
    if (rc < 0) return rc;
    if ((rc = mend(f, h, err)) < 0)
        ops_of(f)->let(f, h->token);
    else
        bf_edition_note(f);
    return rc;
}

void bf_edition_let(bf_filter *f, const bf_held *h)
{
    bf_edition_note(f);
    ops_of(f)->let(f, h->token);
}

/* ---- a rebuild ---- */
static int busy(const bf_filter *f, bf_error *err)
{
    return bf_fail(err, BF_EBUSY,
        "%.80s is being rebuilt by another process or handle: wait until that has ended",
        bf_where(f, NULL));
}

/* One that this handle began before is over; so is one whose maker may have died, who finds a later
 * edition if he lives. */
static int open_draft(bf_filter *f, bf_held *h, bf_error *err)
{
    const bf_draft_ops *ops = ops_of(f);
    const bool others = h->draft && f->began != h->edition;
    if (others && (!ops->made_by_living || ops->made_by_living(f) >= 0)) return busy(f, err);
    int rc = h->draft ? ops->drop(f, err) : 0;
    h->draft = NULL;
    if (rc == 0) rc = move_to(f, h, in_phase(h->edition, OPEN, others), err);
    if (rc == 0) rc = ops->make(f, err);
    if (rc == 0 && (rc = ops->words(f, &h->draft, err)) == 0)
        rc = bf_fail(err, BF_EFORMAT, "%.80s was truncated while it was open", bf_where(f, NULL));
    if (rc < 0)
        settle(f, h, NULL);
    else {
        f->began = h->edition;
        f->rebuilds++;
    }
    return rc < 0 ? rc : 0;
}

int bf_draft_begin(bf_filter *f, uint32_t *number, bf_error *err)
{
    bf_held h;
    int rc = bf_edition_hold(f, &h, err);
    if (rc < 0) return rc;
    rc = open_draft(f, &h, err);
    *number = f->rebuilds;
    bf_edition_let(f, &h);
    return rc;
}

static int end_held(bf_filter *f, bf_held *h, const uint64_t *words, bf_error *err)
{
    f->began = 0;
    bf_cells_of(&f->part.g)->unite(h->draft, words, f->part.store.nwords, true);
    int rc = keep(f, BF_KEEP_DRAFT, err);
    if (rc < 0) {
        settle(f, h, NULL);
        return rc;
    }
    rc = move_to(f, h, h->edition | COMPLETE, err);
    return rc < 0 ? rc : replace(f, h, err);
}

static bool is_open(const bf_filter *f, const bf_held *h, uint32_t number)
{
    return h->draft && f->began == h->edition && f->rebuilds == number;
}

int bf_draft_end(bf_filter *f, uint32_t number, const uint64_t *words, bf_error *err)
{
    bf_held h;
    int rc = bf_edition_hold(f, &h, err);
    if (rc < 0) return rc;
    if (number == 0)
        rc = h.draft ? busy(f, err) : open_draft(f, &h, err);
    else if (!is_open(f, &h, number))
        rc = bf_fail(err, BF_EBUSY, "%.80s: this rebuild is over, another one began after it%s",
            bf_where(f, NULL),
            ops_of(f)->made_by_living ? " or it is the parent process's: nothing was changed"
                                      : ": nothing was changed");
    if (rc == 0) rc = end_held(f, &h, words, err);
    bf_edition_let(f, &h);
    return rc;
}

int bf_draft_cancel(bf_filter *f, uint32_t number, bf_error *err)
{
    bf_held h;
    int rc = number ? bf_edition_hold(f, &h, err) : 0;
    if (rc < 0 || !number) return rc;
    if (is_open(f, &h, number)) {
        f->began = 0;
        rc = settle(f, &h, err);
    }
    bf_edition_let(f, &h);
    return rc;
}
