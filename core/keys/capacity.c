/* capacity.c - counts the new keys of a handle. After enough new keys it checks whether the filter
 * is overfull. Then it gives the host's warning or, with BF_OVERFULL_RAISE, refuses new keys.
 *
 * f->left is the number of new keys until the next check. With BF_OVERFULL_RAISE it is also the
 * number of new keys that may be added until then, and calls reserve these keys before they add. */
#include "bits/bits.h"
#include "keys/keys.h"
#include "parts/parts.h"
#include "sets/sets.h"
#include <string.h>

/* Where a check reads the bits: nowhere, in addressable memory, or in Redis (a round trip). */
enum { NEVER, NEAR_BY, REMOTE };

static int where(const bf_filter *f)
{
    return f->part[0]->bitmap.store.words ? NEAR_BY : f->bitmap.store.ops->sample ? REMOTE : NEVER;
}

/* Other processes may add keys to a file or to Redis. There the next check is after n / 64 new keys
 * of this handle at the latest. */
static bool is_shared(const bf_filter *f)
{
    return !f->exclusive && (where(f) == REMOTE || f->bitmap.store.ops->has_name);
}

/* Returns the number of new keys until the next check, if the last check found that `most` more
 * keys fit. */
static int64_t until_check(const bf_filter *f, uint64_t most)
{
    enum { OFTEN = 64 };
    const uint64_t n = bf_parts_newest(f)->bitmap.g.n, limit = !is_shared(f) ? INT64_MAX
                                                               : n < OFTEN   ? 1
                                                                             : n / OFTEN;
    return (int64_t)(most < limit ? most : limit);
}

/* ---- the warning ---- */
void bf_set_warning(bf_filter *f, int (*give)(void *ctx, const char *sentence), void *ctx)
{
    f->give_warning = give;
    f->warning_ctx = ctx;
    bf_check_soon(f);
    if (f->overfull == BF_OVERFULL_RAISE) return;
    /* an earlier check in Redis would be a round trip of a handle that may add no new key */
    bf_hint_store(&f->left, f->created ? (int64_t)f->desc.g.n : where(f) == REMOTE);
}

bool bf_check_is_due(const bf_filter *f)
{
    return bf_hint_load(&f->left) <= 0 && f->overfull != BF_OVERFULL_RAISE;
}

int bf_begin_adds(bf_filter *f, bf_error *err)
{
    char sentence[BF_SENTENCE_BYTES];
    uint64_t wait = INT64_MAX;
    bf_info info;
    BF_KEEP(f);
    if (!bf_check_is_due(f)) return 0;
    bf_hint_store(&f->left, INT64_MAX);
    if (bf_flag_taken(&f->checked) || !f->give_warning || f->overfull > BF_OVERFULL_WARN ||
        where(f) == NEVER)
        return 0;
    const int now =
        where(f) == REMOTE ? bf_sample_saturated(f, &wait, NULL) : bf_saturated(f, &wait, NULL);
    if (now != BF_OVERFULL) {
        /* after other errors the next check is not earlier, because it only warns */
        const bool again = now == BF_EBUSY || now == BF_EHOST;
        bf_hint_store(&f->left, again ? 0 : until_check(f, wait + !wait));
        bf_flag_clear(&f->checked);
        return now == BF_EHOST ? bf_fail(err, BF_EHOST, "the host's code failed") : 0;
    }
    bf_get_info(f, &info);
    bf_print(sentence, sizeof sentence,
        "more than half of the %s of a filter sized for n=%llu keys are set: it holds more keys, "
        "and false positives are rising; create a larger one",
        bf_cell_ops_of(&f->bitmap.g)->names, (ull)info.n);
    return f->give_warning(f->warning_ctx, sentence) == 0
               ? 0
               : bf_fail(err, BF_EHOST, "the host's warning failed");
}

void bf_set_overfull(bf_filter *f, unsigned overfull)
{
    int written = BF_WRITABLE;
    f->overfull = (uint8_t)overfull;
    bf_check_soon(f);
    /* in state BF_WRITABLE, bf_add would skip the check for room */
    if (overfull == BF_OVERFULL_RAISE) bf_int_cas(&f->state, &written, BF_NAMED);
}

/* ---- the limit of BF_OVERFULL_RAISE ---- */
/* Returns true if only this handle adds keys to the filter, and only removals and bf_check_soon
 * make room: then f->left is exact until the filter is full, and needs no further estimate. */
bool bf_counts_room(const bf_filter *f)
{
    return f->overfull == BF_OVERFULL_RAISE && !is_shared(f) && !f->variant->many;
}

/* Returns the new value of f->left. */
static int64_t move(bf_filter *f, int64_t keys)
{
    return f->atomic ? (int64_t)bf_add_fetch((uint64_t *)&f->left, (uint64_t)keys)
                     : (f->left += keys);
}

void bf_give_room(bf_filter *f, int64_t keys) { move(f, keys); }

/* Takes room for up to n keys. Returns for how many. */
static int64_t take_room(bf_filter *f, int64_t n)
{
    if (bf_hint_load(&f->left) <= 0) return 0;
    const int64_t left = move(f, -n), lacks = left >= 0 ? 0 : -left < n ? -left : n;
    if (lacks) move(f, lacks);
    return n - lacks;
}

static int64_t reserve(bf_filter *f, size_t n, bf_error *err)
{
    uint64_t room = 0;
    int64_t taken = take_room(f, (int64_t)n);
    if (taken > 0 || (bf_counts_room(f) && bf_flag_get(&f->checked))) return taken;
    const int rc = bf_room_left(f, where(f) == REMOTE, &room, err);
    if (rc < 0) return rc; /* the next call repeats the check */
    bf_hint_store(&f->left, until_check(f, room));
    bf_flag_set(&f->checked);
    return take_room(f, (int64_t)n);
}

/* Returns how many of the first n keys can be added if at most `room` of them are new. Sets *new to
 * the number of these keys that are absent now. */
static int64_t fitting(const bf_batch *b, size_t n, int64_t room, int64_t *new)
{
    uint8_t present[BF_BATCH_SIZE_MAX];
    bf_batch test = bf_batch_slice(b, 0, n);
    size_t fit = 0;
    test.op = BF_OP_TEST;
    test.each = present;
    const int64_t rc = bf_run_batch(&test);
    if (rc < 0 && (b->err->key == BF_NO_KEY || b->err->key == 0)) return rc;
    if (rc < 0) n = b->err->key; /* the keys before it have answers; the next call reports it */
    for (*new = 0; fit < n && (present[fit] || *new < room); fit++) *new += !present[fit];
    return (int64_t)fit;
}

/* When the filter is full, an add is a test. But adding a key that is present changes counters and
 * the times of a forgetting filter. */
static bool add_is_test(const bf_filter *f)
{
    return !f->bitmap.g.counting && !f->variant->forgets;
}

/* Adds the next keys of a batch. Returns how many; *new: how many of them were new. */
static int64_t add_some(const bf_batch *b, int64_t *new)
{
    bf_filter *f = b->f;
    int64_t room = reserve(f, b->n, b->err), fit = (int64_t)b->n, absent = room;
    *new = 0;
    if (room < 0) return room;
    if ((size_t)room < b->n) {
        const size_t few = b->n < BF_BATCH_SIZE_MAX ? b->n : BF_BATCH_SIZE_MAX;
        fit = fitting(b, few, room, &absent);
        bf_give_room(f, room - (fit > 0 ? absent : 0));
        if (fit <= 0) return fit < 0 ? fit : bf_refuse_full(f, b->err);
    }
    if (absent == 0 && add_is_test(f)) {
        if (b->each) memset(b->each, 0, (size_t)fit);
        return fit;
    }
    const bf_batch some = bf_batch_slice(b, 0, (size_t)fit);
    *new = bf_run_batch(&some);
    if (*new < 0) {
        bf_check_soon(f); /* it is unknown how many keys are new */
        return *new;
    }
    bf_give_room(f, absent - *new);
    return fit;
}

int64_t bf_add_while_room(const bf_batch *b)
{
    int64_t total = 0, new, rc;
    bf_error *err = b->err;
    for (size_t done = 0; done < b->n; done += (size_t)rc, total += new) {
        const bf_batch rest = bf_batch_slice(b, done, b->n - done);
        rc = add_some(&rest, &new);
        if ((rc == BF_EFULL || rc == BF_EBUSY) && err->key == BF_NO_KEY) err->key = 0;
        if (rc < 0 && err->key != BF_NO_KEY) err->key += done;
        if (rc < 0) return rc;
    }
    return total;
}

int bf_add_one_while_room(bf_filter *f, const void *key, size_t len, bf_error *err)
{
    const int64_t room = reserve(f, 1, err);
    if (room < 0) return (int)room;
    if (room == 0) {
        const int present = bf_test(f, key, len, err);
        if (present == 0) return bf_refuse_full(f, err);
        if (present < 0 || add_is_test(f)) return present < 0 ? present : BF_PRESENT;
    }
    const int rc = bf_add_one(f, key, len, err);
    if (room && rc != BF_ADDED) bf_give_room(f, 1);
    return rc;
}
