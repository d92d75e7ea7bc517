/* tables.c - the rows: which schemes and which homes there are.  A new one is its file and a row here. */
#include "seams.h"
#include <string.h>

extern const bf_hash bf_hash_xxh3, bf_hash_siphash;
extern const bf_layout bf_layout_classic, bf_layout_block, bf_layout_block2;
extern const bf_store_ops bf_store_memory, bf_store_file, bf_store_client, bf_store_redis;

/* The id is stored: it never changes its meaning, and a changed encoding gets a new one. */
const bf_scheme bf_schemes[] = {
    { 1, "classic", &bf_hash_xxh3, &bf_hash_siphash, &bf_layout_classic },
    { 2, "block", &bf_hash_xxh3, &bf_hash_siphash, &bf_layout_block },
    { 3, "block2", &bf_hash_xxh3, &bf_hash_siphash, &bf_layout_block2 },
    { 0, NULL, NULL, NULL, NULL }
};

const bf_scheme *bf_find_scheme(const char *name, bf_error *err)
{
    for (const bf_scheme *s = bf_schemes; s->name; s++) if (!strcmp(s->name, name)) return s;
    char known[80] = "";
    for (const bf_scheme *s = bf_schemes; s->name; s++) {
        if (strlen(known) + strlen(s->name) + 3 > sizeof known) break;
        if (s != bf_schemes) strcat(known, ", ");
        strcat(known, s->name);
    }
    bf_fail(err, BF_EINVAL, "scheme must be one of %s, got %.40s", known, name);
    return NULL;
}

const bf_scheme *bf_find_scheme_id(uint32_t id)
{
    for (const bf_scheme *s = bf_schemes; s->name; s++) if (s->id == id) return s;
    return NULL;
}

const char *bf_scheme_name(size_t i)
{
    for (size_t at = 0; bf_schemes[at].name; at++) if (at == i) return bf_schemes[at].name;
    return NULL;
}

/* A home is chosen by what is given: a client, a URL by its beginning, any other storage is a path, none is memory. */
#ifdef BF_HAVE_HIREDIS
#define REDIS &bf_store_redis, NULL
#else
#define REDIS NULL, "this build lacks hiredis"
#endif
static const struct { const char *prefix; const bf_store_ops *ops; const char *missing; } homes[] = {
    { "redis://", REDIS },
    { "unix://", REDIS },
    { "rediss://", NULL, "needs a hiredis with TLS, which this build lacks" },
    { "", &bf_store_file, NULL }
};

const bf_store_ops *bf_find_store(const bf_spec *spec, bf_error *err)
{
    if (spec->client && spec->storage) { bf_fail(err, BF_EINVAL, "give storage or a client, not both"); return NULL; }
    if (spec->client) return &bf_store_client;
    if (!spec->storage) return &bf_store_memory;
    if (!*spec->storage) { bf_fail(err, BF_EINVAL, "storage must be a path or a URL, got an empty one"); return NULL; }
    size_t i = 0;
    while (strncmp(spec->storage, homes[i].prefix, strlen(homes[i].prefix)) != 0) i++;
    if (homes[i].missing) bf_fail(err, BF_ENOTSUP, "storage %s...: %s", homes[i].prefix, homes[i].missing);
    return homes[i].ops;
}

bool bf_is_url(const char *storage)
{
    for (size_t i = 0; *homes[i].prefix; i++) if (!strncmp(storage, homes[i].prefix, strlen(homes[i].prefix))) return true;
    return false;
}
