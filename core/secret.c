/* secret.c - keyed filters: takes the secret in, derives the check value that stored filters carry, wipes it.
 * The secret itself is never stored. */
#include "seams.h"
#include <stdio.h>
#include <string.h>

int bf_secret_set(bf_filter *f, const bf_spec *spec, bf_error *err)
{
    if (!spec->secret) return 0;
    if (spec->secret_len != BF_SECRET_BYTES) {
        char got[40];
        snprintf(got, sizeof got, "%zu bytes", spec->secret_len);
        return bf_refuse(err, "secret", got);
    }
    if (!f->scheme->keyed) return bf_fail(err, BF_EINVAL, "scheme %s cannot be keyed: secret must not be given", f->scheme->name);
    if (!f->scheme->keyed->run) return bf_fail(err, BF_ENOTSUP, "secret needs libsodium, which this build lacks");
    memcpy(f->secret, spec->secret, BF_SECRET_BYTES);
    f->hash = f->scheme->keyed;
    static const char label[] = "bloomfilter secret check v1";
    f->hash->one(f->secret, label, sizeof label - 1, &f->secret_check);
    if (f->secret_check == 0) f->secret_check = 1;         /* 0 means "not keyed" */
    return 0;
}

void bf_secret_wipe(bf_filter *f)
{
    volatile uint8_t *s = f->secret;
    for (size_t i = 0; i < BF_SECRET_BYTES; i++) s[i] = 0;
}
