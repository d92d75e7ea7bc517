/* quota.c - limits the size of all filters together (--max-total).
 *
 * Before a filter is created or grows, a claim reserves its new size.  Until the claim is dropped,
 * the claimed bytes are counted instead of the filter's size.  So two simultaneous requests
 * together never exceed --max-total. */
#include "filters.h"
#include <stdint.h>

typedef unsigned long long ull;

static uint64_t size_of(const bf_filter *f)
{
    bf_info i;
    bf_get_info(f, &i);
    return i.image_bytes;
}

static uint64_t plus(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

typedef struct {
    const filters *fs;
    uint64_t bytes;
} sum;

static int count_file(void *ctx, text name, uint64_t bytes, bf_error *err)
{
    sum *s = ctx;
    const claim *c = s->fs->claims;
    (void)err;
    while (c && !text_is(c->name, name)) c = c->next;
    if (!c) s->bytes = plus(s->bytes, bytes);
    return 0;
}

/* Adds up the sizes of all filters without a claim, in a folder also those of other programs. */
static int sum_up(filters *fs, sum *s, bf_error *err)
{
    if (fs->folder) return stored_each(fs, count_file, s, err);
    pthread_rwlock_rdlock(&fs->lock);
    for (size_t i = 0; i < fs->count; i++)
        count_file(s, name_of(fs->all[i]), size_of(fs->all[i]->f), err);
    pthread_rwlock_unlock(&fs->lock);
    return 0;
}

int claim_make(filters *fs, claim *c, text name, uint64_t bytes, bf_error *err)
{
    sum all = { .fs = fs };
    const ull most = fs->o->max_total;
    *c = (claim){ .name = name, .bytes = bytes };
    pthread_mutex_lock(&fs->claiming);
    int rc = sum_up(fs, &all, err);
    for (const claim *other = fs->claims; other; other = other->next)
        all.bytes = plus(all.bytes, other->bytes);
    if (rc == 0 && plus(all.bytes, bytes) > most)
        rc = stored_fail(err, FILTER_LARGE,
            "it would take %llu bytes, the other filters take %llu, and --max-total is %llu",
            (ull)bytes, (ull)all.bytes, most);
    if (rc == 0) {
        c->next = fs->claims;
        fs->claims = c;
    }
    pthread_mutex_unlock(&fs->claiming);
    return rc;
}

void claim_drop(filters *fs, claim *c)
{
    pthread_mutex_lock(&fs->claiming);
    claim **at = &fs->claims;
    while (*at && *at != c) at = &(*at)->next;
    if (*at) *at = c->next;
    pthread_mutex_unlock(&fs->claiming);
}

int filters_grow(filters *fs, served *s, uint64_t keys, claim *c, bf_error *err)
{
    uint64_t bytes;
    c->bytes = 0;
    const int rc = s->grows ? bf_size_after(s->f, keys, &bytes, err) : 0;
    return rc > 0 ? claim_make(fs, c, name_of(s), bytes, err) : rc;
}
