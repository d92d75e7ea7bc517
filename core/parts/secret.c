/* secret.c - secrets of keyed filters. A stored filter never contains its secret, only a check
 * value that is computed from the secret. */
#include "base/system.h"
#include "base/os.h"
#include "parts/filter.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int bf_random_secret(void *secret, bf_error *err)
{
    if (bf_os_random(secret, BF_SECRET_BYTES) == 0) return 0;
    return bf_fail_sys(err, errno, "read random bytes from", "the kernel");
}

/* Computes the check value of spec's secret (or functions) for this scheme; 0 if there is
 * neither. */
int bf_secret_check(const bf_scheme *scheme, const bf_spec *spec, uint64_t *check, bf_error *err)
{
    static const char label[] = "bloomfilter secret check v1";
    *check = 0;
    if (scheme->hash == &bf_hash_functions && !spec->secret)
        return bf_functions_check(spec->functions, check, err);
    if (spec->functions && scheme->hash != &bf_hash_functions)
        return bf_fail(err, BF_EINVAL,
            "hash functions of your own are scheme functions, got scheme %s", scheme->name);
    if (!spec->secret) return 0;
    if (spec->secret_len != BF_SECRET_BYTES) {
        char got[40];
        snprintf(got, sizeof got, "%zu bytes", spec->secret_len);
        return bf_refuse(err, "secret", got);
    }
    if (!scheme->keyed)
        return bf_fail(
            err, BF_EINVAL, "scheme %s cannot be keyed: secret must not be given", scheme->name);
    if (!scheme->keyed->run)
        return bf_fail(err, BF_ENOTSUP, "secret needs libsodium, which this build lacks");
    scheme->keyed->one(spec->secret, label, sizeof label - 1, check);
    if (*check == 0) *check = 1; /* 0 means "not keyed" */
    return 0;
}

int bf_secret_match(uint64_t stored, uint64_t given, const char *where, bf_error *err)
{
    if (stored == given) return 0;
    return bf_fail(err, BF_EMISMATCH, "%.80s %s", where,
        !stored  ? "is not keyed, but a secret was given"
        : !given ? "is keyed: its secret must be given"
                 : "is keyed with another secret, or has other functions");
}

int bf_secret_set(bf_filter *f, const bf_spec *spec, bf_error *err)
{
    int rc = bf_secret_check(f->desc.scheme, spec, &f->desc.secret_check, err);
    if (rc == 0 && spec->functions) memcpy(f->secret, &spec->functions, sizeof spec->functions);
    if (rc < 0 || !f->desc.scheme->keyed || !spec->secret) return rc;
    memcpy(f->secret, spec->secret, BF_SECRET_BYTES);
    f->hash = f->desc.scheme->keyed;
    return 0;
}

void bf_secret_wipe(bf_filter *f) { bf_os_wipe(f->secret, sizeof f->secret); }
