/* column.c - public functions for columns of keys and of hashes. */
#include "base/base.h"
#include "keys/keys.h"
#include "parts/parts.h"

int64_t bf_add_column(bf_filter *f, const bf_column *column, size_t n, uint8_t *each, bf_error *err)
{
    return bf_add_batch((bf_batch){ f, BF_OP_ADD, NULL, n, each, err, NULL, 1, column, 0 });
}
int64_t bf_test_column(
    bf_filter *f, const bf_column *column, size_t n, uint8_t *each, bf_error *err)
{
    return bf_ask_batch((bf_batch){ f, BF_OP_TEST, NULL, n, each, err, NULL, 1, column, 0 });
}

/* An empty batch of hashes, whose pointer may be NULL, is not a batch of keys. */
static const uint64_t no_hashes;

static int refuse_hashes(const bf_filter *f, bf_error *err)
{
    return bf_fail(err, BF_EINVAL,
        "a filter of scheme %s takes keys: hashes need a filter of scheme hashes64", f->desc.name);
}
int64_t bf_add_hashes(bf_filter *f, const uint64_t *hashes, size_t n, uint8_t *each, bf_error *err)
{
    if (!bf_takes_hashes(f)) return refuse_hashes(f, err);
    return bf_add_batch(
        (bf_batch){ f, BF_OP_ADD, NULL, n, each, err, n ? hashes : &no_hashes, 1, NULL, 0 });
}
int64_t bf_test_hashes(bf_filter *f, const uint64_t *hashes, size_t n, uint8_t *each, bf_error *err)
{
    if (!bf_takes_hashes(f)) return refuse_hashes(f, err);
    return bf_ask_batch(
        (bf_batch){ f, BF_OP_TEST, NULL, n, each, err, n ? hashes : &no_hashes, 1, NULL, 0 });
}
