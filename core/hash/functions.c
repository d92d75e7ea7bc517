/* functions.c - scheme functions: the host passes hash functions, one for each position of a key. A
 * stored filter contains a check value of its functions, because other functions would not find its
 * keys. */
#include "bits/bits.h"
#include "hash/hash.h"
#include <string.h>

static const bf_functions *functions_of(const void *argument)
{
    const bf_functions *f;
    memcpy(&f, argument, sizeof f);
    return f;
}

static int compute(
    const bf_functions *f, const void *key, size_t len, uint64_t *digest, bf_error *err)
{
    if (!f->call)
        for (unsigned i = 0; i < f->count; i++) digest[i] = f->function[i](key, len);
    else if (f->call(f->ctx, len ? key : "", len, digest))
        return bf_fail(err, BF_EHOST, "a hash function failed");
    return 0;
}

static void user_one(const void *argument, const void *key, size_t len, uint64_t *digest)
{
    compute(functions_of(argument), key, len, digest, NULL);
}

BF_RUN_BY_ONE(user_run, user_one, functions_of(secret)->count)

static size_t try(
    const void *argument, const bf_key *keys, size_t n, uint64_t *digests, bf_error *err)
{
    const bf_functions *f = functions_of(argument);
    size_t i = 0;
    while (i < n && compute(f, keys[i].ptr, keys[i].len, digests + i * f->count, err) == 0) i++;
    return i;
}

static int user_prepare(bf_argument *a, const char *text, bf_error *err)
{
    uint64_t check;
    if (text)
        return bf_fail(err, BF_EINVAL,
            "scheme functions takes nothing after its name, got functions:%.40s", text);
    if (!a->functions) return 0; /* a stored filter is checked later by bf_functions_check */
    a->k = a->functions->count;
    return bf_functions_check(a->functions, &check, err);
}

int bf_functions_check(const bf_functions *f, uint64_t *check, bf_error *err)
{
    static const char label[] = "bloomfilter functions check v1";
    if (!f)
        return bf_fail(
            err, BF_EINVAL, "scheme functions needs the hash functions it was created with");
    if (f->count < 1 || f->count > BF_FUNCTIONS_MAX)
        return bf_fail(
            err, BF_EINVAL, "hash functions must be 1 to %d, got %u", BF_FUNCTIONS_MAX, f->count);
    for (unsigned i = 0; !f->call && i < f->count; i++)
        if (!f->function[i])
            return bf_fail(err, BF_EINVAL, "function %u must be given, got NULL", i);
    uint64_t digests[BF_FUNCTIONS_MAX];
    int rc = compute(f, label, sizeof label - 1, digests, err);
    *check = f->count;
    for (unsigned i = 0; rc == 0 && i < f->count; i++)
        *check = bf_mum(*check ^ digests[i], BF_MUM_1) + i;
    if (*check == 0) *check = 1;
    return rc;
}

const bf_hash bf_hash_functions = { .name = "functions",
    .width = 0,
    .run = user_run,
    .one = user_one,
    .prepare = user_prepare,
    .try = try };
