/* warning.c - what all hosts decide in the same way: the size of a batch, when to check whether a
 * filter is overfull, and the warnings. */
#include "base/base.h"
#include "bits/bits.h"
#include "keys/keys.h"
#include "parts/parts.h"
#include "sets/sets.h"
#include <string.h>

/* Keys per batch in memory: their host objects still fit the first-level caches when the keys are
 * hashed. Batches in a file are larger, because each batch also checks the file's name. */
enum { NEAR = 256 };

size_t bf_batch_size(const bf_filter *f)
{
    const unsigned batch = f->bitmap.store.ops->batch, k = f->bitmap.g.k;
    const size_t most = batch > BF_BATCH_SIZE_MAX ? BF_BATCH_SIZE_MAX : batch;
    if (most == 0) return f->bitmap.store.ops->has_name ? BF_BATCH_SIZE_MAX : NEAR;
    return BF_TRIP_POSITIONS / k < most ? BF_TRIP_POSITIONS / k : most;
}

/* Where a check reads the bits: nowhere, in addressable memory, or in Redis (a round trip). */
enum { NEVER, NEAR_BY, REMOTE };

static int where(const bf_filter *f)
{
    return f->part[0]->bitmap.store.words ? NEAR_BY : f->bitmap.store.ops->sample ? REMOTE : NEVER;
}

/* Returns the number of new keys of this handle until the next check, if the last check found that
 * `wait` more keys fit. Other processes add keys to files and to Redis too: there the next check is
 * after n / 64 new keys at the latest. */
static int64_t until_check(const bf_filter *f, uint64_t wait)
{
    enum { OFTEN = 64 };
    const bool shared = where(f) == REMOTE || f->bitmap.store.ops->has_name;
    const uint64_t most = shared ? bf_parts_newest(f)->bitmap.g.n / OFTEN + 1 : INT64_MAX;
    return (int64_t)(wait < 1 ? 1 : wait < most ? wait : most);
}

int bf_check_fill(bf_filter *f, int64_t *left, char *sentence, size_t cap)
{
    bf_info info;
    uint64_t wait = INT64_MAX;
    const int home = f->overfull > BF_OVERFULL_WARN ? NEVER : where(f);
    *left = INT64_MAX;
    if (home == NEVER) return 0;
    const int now =
        home == REMOTE ? bf_sample_saturated(f, &wait, NULL) : bf_saturated(f, &wait, NULL);
    if (now != BF_OVERFULL) {
        /* a failed check is not repeated earlier, because it only warns */
        *left = now == BF_EBUSY ? 0 : until_check(f, wait);
        return 0;
    }
    bf_get_info(f, &info);
    bf_print(sentence, cap,
        "more than half of the %s of a filter sized for n=%llu keys are set: it holds more keys, "
        "and false positives are rising; create a larger one",
        bf_cell_ops_of(&f->bitmap.g)->names, (ull)info.n);
    return 1;
}

/* A failed check is repeated by the next call. */
int64_t bf_room(bf_filter *f, bf_error *err)
{
    int64_t left = bf_hint_load(&f->adds_until_check);
    if (left > 0) return left;
    uint64_t wait = 0;
    const int full = bf_saturated_for_next(f, where(f) == REMOTE, &wait, err);
    if (full < 0) return full;
    if (full == BF_OVERFULL) {
        bf_check_soon(f);
        return bf_fail(err, BF_EFULL,
            "%.40s holds more than the n=%llu keys that it is sized for: clear it, rebuild it or "
            "create a larger one",
            bf_where(f), (ull)f->desc.g.n);
    }
    left = until_check(f, wait);
    bf_hint_store(&f->adds_until_check, left);
    return left;
}

const char *bf_overfull_name(unsigned overfull)
{
    static const char *const names[] = { NULL, "warn", "raise", "ignore" };
    return overfull <= BF_OVERFULL_IGNORE ? names[overfull] : NULL;
}

int bf_read_overfull(const char *text, unsigned *overfull, bf_error *err)
{
    for (unsigned i = BF_OVERFULL_WARN; i <= BF_OVERFULL_IGNORE; i++)
        if (strcmp(text, bf_overfull_name(i)) == 0) {
            *overfull = i;
            return 0;
        }
    return bf_refuse(err, "overfull", text);
}

void bf_set_overfull(bf_filter *f, unsigned overfull)
{
    int written = BF_WRITABLE;
    f->overfull = (uint8_t)overfull;
    bf_check_soon(f);
    /* in state BF_WRITABLE, bf_add would skip the check for room */
    if (overfull == BF_OVERFULL_RAISE) bf_int_cas(&f->state, &written, BF_NAMED);
}

/* shards, bytes: of the filter */
static int warn_large_keys(
    const bf_layout *l, unsigned shards, uint64_t bytes, char *sentence, size_t cap)
{
    const uint64_t most = UINT64_C(64) << 20, want = bytes / most + (bytes % most != 0);
    const unsigned have = shards > 1 ? shards : 1,
                   advice = want < BF_SHARDS_MAX ? (unsigned)want : BF_SHARDS_MAX;
    if (advice <= have || l->sharding == BF_WHOLE) return 0;
    bf_print(sentence, cap,
        "Redis stops all clients while it creates or clears a key of %llu MiB; shards=%u keeps "
        "each stop below 50 ms",
        (ull)(bytes / have >> 20), advice);
    return 1;
}

int bf_plan_warning(const bf_spec *spec, char *sentence, size_t cap)
{
    bf_params d;
    const bf_store_ops *home = bf_find_store(spec, NULL);
    if (!home || !home->sample || spec->grow > 0 || spec->window > 0 ||
        spec->overfull == BF_OVERFULL_IGNORE ||
        bf_find_scheme(&d, spec->scheme, spec->functions, NULL) < 0)
        return 0;
    return warn_large_keys(
        d.scheme->layout, spec->shards, spec->counting ? spec->m / 2 : spec->m / 8, sentence, cap);
}

int bf_open_warning(const bf_filter *f, char *sentence, size_t cap)
{
    char names[64] = "";
    if (f->overfull == BF_OVERFULL_IGNORE) return 0;
    if (!f->hash->weak || f->hash->weak(f->secret, names, sizeof names) == 0)
        return f->created && !f->variant->many && f->bitmap.store.ops->sample
                   ? warn_large_keys(f->desc.scheme->layout, f->bitmap.g.shards,
                         bf_bits(&f->bitmap.g) / 8, sentence, cap)
                   : 0;
    bf_print(sentence, cap,
        "scheme %s: many URLs or numbers have the same value of %s, so the rate of false positives "
        "is far above p; use it only for a bitmap that another system fills",
        f->desc.scheme->name, names);
    return 1;
}
