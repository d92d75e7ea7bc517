/* gather.c - batches of keys that are gathered from a column, a few at a time. */
#include "base/base.h"
#include "keys/keys.h"

bf_batch bf_gather(const bf_batch *b, size_t from, size_t n, bf_gathered *room)
{
    bf_batch some = bf_batch_slice(b, from, n);
    if (!b->column) return some;
    some.column = NULL;
    some.keys = room->keys;
    some.n = b->column->gather(b->column->ctx, some.from, n, room->keys, room->text);
    return some;
}

static int refuse_damaged(bf_error *err, size_t key)
{
    const int rc = bf_fail(err, BF_EHOST, "a key of the column is damaged");
    err->key = key;
    return rc;
}

int64_t bf_run_gathered(
    const bf_batch *b, int64_t (*run)(const bf_batch *some, void *ctx), void *ctx)
{
    bf_gathered room;
    int64_t total = 0, rc;
    if (!b->column) return run(b, ctx);
    for (size_t done = 0, c; done < b->n; done += c, total += rc) {
        c = b->n - done < BF_COLUMN_KEYS ? b->n - done : BF_COLUMN_KEYS;
        const bf_batch some = bf_gather(b, done, c, &room);
        rc = some.n ? run(&some, ctx) : 0;
        if (rc >= 0 && some.n < c) rc = refuse_damaged(b->err, some.n);
        if (rc < 0 && b->err->key != BF_NO_KEY) b->err->key += done;
        if (rc < 0) return rc;
    }
    return total;
}
