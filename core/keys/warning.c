/* warning.c - what all hosts decide in the same way: the size of a batch, the names of
 * BF_OVERFULL_..., and the warnings about a filter that was opened or planned. */
#include "base/base.h"
#include "keys/keys.h"
#include "parts/parts.h"
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

bool bf_takes_any_key(const bf_filter *f)
{
    return !f->hash->accept && !f->hash->try && !bf_takes_hashes(f);
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
