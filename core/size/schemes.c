/* schemes.c - finds the rows of tables.c by name and by id, and checks m and k against the
 * limits of a scheme. */
#include "size/size.h"
#include <string.h>

static size_t common_prefix(const char *a, const char *b)
{
    size_t n = 0;
    while (a[n] && a[n] == b[n]) n++;
    return n;
}

/* Names the scheme that begins like this one, if two or more characters are the same. */
static int unknown_scheme(const char *name, bf_error *err)
{
    size_t longest = 1;
    const char *alike = NULL;
    for (const bf_scheme *s = bf_schemes; s->name; s++) {
        const size_t same = common_prefix(s->name, name);
        if (same <= longest) continue;
        longest = same;
        alike = s->name;
    }
    return bf_fail(err, BF_EINVAL,
        "scheme must be classic, block, block2 or that of an older system, got %.40s%s%s%s", name,
        alike ? "; did you mean " : "", alike ? alike : "", alike ? "?" : "");
}

int bf_find_scheme(bf_params *d, const char *name, const bf_functions *functions, bf_error *err)
{
    const size_t len = strlen(name), row = strcspn(name, ":");
    const char *text = row < len ? name + row + 1 : NULL;
    const bf_scheme *s = bf_schemes;
    while (s->name && (strlen(s->name) != row || memcmp(s->name, name, row) != 0)) s++;
    if (!s->name || (len >= BF_SCHEME_BYTES && !s->hash->spell)) return unknown_scheme(name, err);
    *d = (bf_params){ .scheme = s,
        .argument = { .scheme = s->name, .k = s->k, .functions = functions } };
    if (s->hash->spell) {
        const int rc = s->hash->prepare(&d->argument, text, err);
        memcpy(d->name, name, row + 1);
        if (rc == 0)
            s->hash->spell(d->argument.bytes, d->name + row + 1, BF_SCHEME_BYTES - row - 1);
        return rc;
    }
    memcpy(d->name, name, len);
    if (s->hash->prepare) return s->hash->prepare(&d->argument, text, err);
    return text ? bf_fail(err, BF_EINVAL, "scheme %s takes nothing after its name, got %.40s",
                      s->name, name)
                : 0;
}

int bf_check_limits(const bf_params *d, bf_error *err)
{
    const bf_scheme *s = d->scheme;
    const unsigned long long m = d->g.m;
    if (d->argument.k && d->g.k != d->argument.k)
        return bf_fail(
            err, BF_EINVAL, "k must be %u for scheme %s, got %u", d->argument.k, d->name, d->g.k);
    /* No row of today's table gets here: a k that is given was refused before, and no formula makes
     * a larger one. GCOVR_EXCL_START */
    if (d->g.k > s->layout->k_max)
        return bf_fail(err, BF_EINVAL, "k must be 1 to %u for scheme %s, got %u", s->layout->k_max,
            d->name, d->g.k);
    /* GCOVR_EXCL_STOP */
    if (s->m && m != s->m)
        return bf_fail(
            err, BF_EINVAL, "m must be %llu for scheme %s, got %llu", (ull)s->m, d->name, m);
    if (s->m_max && m > s->m_max)
        return bf_fail(err, BF_EINVAL, "m must be 1 to %llu for scheme %s, got %llu", (ull)s->m_max,
            d->name, m);
    return 0;
}

const bf_scheme *bf_find_scheme_id(uint32_t id)
{
    for (const bf_scheme *s = bf_schemes; s->name; s++)
        if (s->id == id) return s;
    return NULL;
}

const char *bf_scheme_name(size_t i)
{
    for (size_t at = 0; bf_schemes[at].name; at++)
        if (at == i) return bf_schemes[at].name;
    return NULL;
}
