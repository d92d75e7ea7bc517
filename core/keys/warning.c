/* warning.c - what all hosts decide in the same way: the size of a batch, when to check whether a
 * filter is overfull, and the warnings. */
#include "base/base.h"
#include "bits/bits.h"
#include "keys/keys.h"
#include "parts/parts.h"
#include "sets/sets.h"
#include <string.h>
#include <time.h>

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

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Returns true if the last check was at least a minute ago, or there was none. */
static bool is_due(const bf_filter *f)
{
    enum { MINUTE = 60000 };
    const int64_t last = bf_hint_load(&f->fill_checked_at);
    return !last || now_ms() - last >= MINUTE;
}

static int where(const bf_filter *f)
{
    return f->part[0]->bitmap.store.words ? NEAR_BY : f->bitmap.store.ops->sample ? REMOTE : NEVER;
}

int bf_check_fill(bf_filter *f, int64_t *left, char *sentence, size_t cap)
{
    bf_info info;
    uint64_t wait = INT64_MAX;
    bool full = false;
    const int home = f->overfull > BF_OVERFULL_WARN ? NEVER : where(f);
    *left = INT64_MAX;
    if (home == REMOTE) {
        if (is_due(f)) { /* a failed check is not repeated earlier, because it only warns */
            bf_hint_store(&f->fill_checked_at, now_ms());
            full = bf_sample_saturated(f, &wait, NULL) == BF_OVERFULL;
        }
        if (!full) *left = 0;
    } else if (home == NEAR_BY) {
        const int now = bf_saturated(f, &wait, NULL);
        full = now == BF_OVERFULL;
        if (now >= 0 && !full && wait < INT64_MAX) *left = (int64_t)wait;
        if (now == BF_EBUSY) *left = 0; /* check again at the next new key */
    }
    if (!full) return 0;
    bf_get_info(f, &info);
    bf_print(sentence, cap,
        "more than half of the %s of a filter sized for n=%llu keys are set: it holds more keys, "
        "and false positives are rising; create a larger one",
        bf_cell_ops_of(&f->bitmap.g)->names, (ull)info.n);
    return 1;
}

/* Other processes add keys too. So a filter in a file or in Redis is checked at the latest after
 * n / 64 new keys of this process, in Redis also after a minute. A failed check is repeated by the
 * next call. */
int64_t bf_room(bf_filter *f, bf_error *err)
{
    enum { OFTEN = 64 };
    const bool remote = where(f) == REMOTE, shared = remote || f->bitmap.store.ops->has_name;
    int64_t left = bf_hint_load(&f->adds_until_check);
    if (left > 0 && !(remote && is_due(f))) return left;
    uint64_t wait = 0;
    const int full = bf_saturated_for_next(f, remote, &wait, err);
    if (full < 0) return full;
    if (full == BF_OVERFULL) {
        bf_check_soon(f);
        return bf_fail(err, BF_EFULL,
            "%.40s holds more than the n=%llu keys that it is sized for: clear it, rebuild it or "
            "create a larger one",
            bf_where(f), (ull)f->desc.g.n);
    }
    const uint64_t most = shared ? f->desc.g.n / OFTEN + 1 : INT64_MAX;
    left = (int64_t)(wait < 1 ? 1 : wait < most ? wait : most);
    bf_hint_store(&f->adds_until_check, left);
    if (remote) bf_hint_store(&f->fill_checked_at, now_ms());
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
