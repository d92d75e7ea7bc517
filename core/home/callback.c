/* callback.c - the home "client": the host stores the bits. Its callback gets only positions. */
#include "parts/filter.h"

static int create(bf_store *s, const bf_params *d, const bf_spec *spec, bf_error *err)
{
    (void)d;
    if (!spec->client->apply)
        return bf_fail(err, BF_EINVAL, "client must have an apply callback, got NULL");
    s->impl = (void *)spec->client;
    return 1;
}

static int apply(bf_store *s, int op, const uint64_t *pos, size_t nkeys, unsigned k,
    uint8_t *present, bf_error *err)
{
    const bf_client *c = s->impl;
    return c->apply(c->ctx, op, pos, nkeys, k, present)
               ? bf_fail(err, BF_EHOST, "client callback failed")
               : 0;
}

const bf_store_ops bf_store_client = { .name = "client", .create = create, .apply = apply };
