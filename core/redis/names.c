/* names.c - every name in Redis that is derived from a filter's key K.  Knows nothing of what
 * is stored there.
 *
 * A derived name is K with a suffix.  Where both must lie in one slot of a cluster, and K has no
 * hash tag of its own, it is {K} with the suffix.  Different keys can so have the same derived
 * name ({seen}:p0 is a part of `seen` and of `{seen}`), and any derived name can be the key of a
 * filter too.  That is why every companion hash says which filter it belongs to, by key and id
 * (meta.c); what belongs to another filter is left alone. */
#include "redis/names.h"
#include "redis/generation.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool bf_redis_tagged(const char *key)
{
    const char *open = strchr(key, '{'), *shut = open ? strchr(open, '}') : NULL;
    return shut && shut > open + 1;
}

char *bf_redis_name(const bf_conn *l, const char *key, enum bf_redis_kind_of_name kind, int64_t i)
{
    char suffix[40];
    bool braces = !bf_redis_tagged(key);
    switch (kind) {
    case BF_NAME_META: /* other clients look for K:meta; only a cluster needs the same slot */
        snprintf(suffix, sizeof suffix, "meta");
        braces &= l->client->cluster;
        break;
    case BF_NAME_SHARD: /* shards should be in different slots */
        snprintf(suffix, sizeof suffix, "%lld", (long long)i);
        braces = false;
        break;
    case BF_NAME_PART: snprintf(suffix, sizeof suffix, "p%lld", (long long)i); break;
    case BF_NAME_EPOCH: snprintf(suffix, sizeof suffix, "w%lld", (long long)i); break;
    case BF_NAME_TEMP:
        snprintf(suffix, sizeof suffix, "tmp:%08lx%08lx", (unsigned long)bf_random(),
            (unsigned long)bf_random());
        break;
    case BF_NAME_CONFIG: /* named as Redisson names it */
        snprintf(suffix, sizeof suffix, "config");
        braces = !strchr(key, '{');
    }
    const size_t cap = strlen(key) + sizeof suffix + 4;
    char *name = malloc(cap);
    if (name) snprintf(name, cap, braces ? "{%s}:%s" : "%s:%s", key, suffix);
    return name;
}
