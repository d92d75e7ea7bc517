/* meta.c - the names in Redis that are derived from a filter's key K, and K:meta, the companion
 * hash of the bits.
 *
 * A derived name is K with a suffix. If K has no hash tag and both keys must be in one slot of a
 * cluster, the derived name is {K} with the suffix. So two filters can have the same derived name:
 * {seen}:p0 is a part of `seen` or of `{seen}`. Therefore every companion hash names its filter.
 * Keys of another filter are never opened or changed. The fields, all as text:
 *
 *   owner   the key K of the filter
 *   filter  only in a part or shard: id of the filter and name of its K:meta ("1a2b3c4d K:meta")
 *   format "1"   scheme   m   n   k   p   secret (16 hex digits, 0 = not keyed)
 *   mark (8 hex digits)   by "bloomfilter"
 *   born       the id (redis.h); if K has bits, their first mark
 *   shards     if more than one; m in the hash of a shard is the m of the filter
 *   adopted    if another system created the bits and still writes them
 *   making     until all shards are created; no other filter may use the name
 *   clock      "own" if the callers of a forgetting filter give the time
 *   cell_bits  "4" for counters
 *
 * Growing and forgetting filters have format "2" (bf_redis_append_params). All values are checked
 * here before they are used. */
#include "redis/redis.h"
#include <errno.h>

/* ---- names ---- */
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
    /* braces only in a cluster, where K and K:meta must be in one slot */
    case BF_NAME_META:
        snprintf(suffix, sizeof suffix, "meta");
        braces &= l->client->cluster;
        break;
    case BF_NAME_SHARD: /* no braces, because shards should be in different slots */
        snprintf(suffix, sizeof suffix, "%lld", (long long)i);
        braces = false;
        break;
    case BF_NAME_PART: snprintf(suffix, sizeof suffix, "p%lld", (long long)i); break;
    case BF_NAME_EPOCH: snprintf(suffix, sizeof suffix, "w%lld", (long long)i); break;
    case BF_NAME_TEMP:
        snprintf(suffix, sizeof suffix, "tmp:%08lx%08lx", (unsigned long)bf_random(),
            (unsigned long)bf_random());
        break;
    case BF_NAME_CONFIG: /* the name that Redisson uses */
        snprintf(suffix, sizeof suffix, "config");
        braces = !strchr(key, '{');
    }
    const size_t cap = strlen(key) + sizeof suffix + 4;
    char *name = malloc(cap);
    if (name) snprintf(name, cap, braces ? "{%s}:%s" : "%s:%s", key, suffix);
    return name;
}

/* ---- parameters ---- */
void bf_redis_set_params(bf_redis *r, const bf_params *d)
{
    r->desc = *d;
    /* the companion hash of a part has no field shards */
    if (r->desc.g.shards == 0) r->desc.g.shards = 1;
    r->bits = bf_bits(&d->g) / r->desc.g.shards;
    r->mark_at = (r->bits + 31) / 32 * 4;
}

/* If the scheme cannot have shards, the bits of a filter without counters may fill the longest
 * string. Otherwise there must be space for the mark. */
uint64_t bf_redis_most_bits(const bf_layout *l, const bf_geometry *g)
{
    return l->sharding == BF_WHOLE && !g->counting ? BF_REDIS_BITS : BF_REDIS_M_MAX;
}

/* ---- writing ---- */
static void append_shape(bf_conn *l, const char *format, const bf_params *d, uint64_t secret_check)
{
    char secret[17];
    snprintf(secret, sizeof secret, "%016llx", (unsigned long long)secret_check);
    bf_conn_append(l, "format %s scheme %s m %n n %n k %n p %g secret %s", format, d->name, d->g.m,
        d->g.n, (uint64_t)d->g.k, d->g.p, secret);
    if (d->g.counting) bf_conn_append(l, "cell_bits %n", (uint64_t)BF_CELL_BITS);
}

static void append_filter_field(const bf_redis *whole)
{
    const size_t len = strlen(whole->meta) + 9;
    bf_conn_append(whole->conn, "filter");
    char *at = bf_conn_begin_arg(whole->conn, len);
    if (!at) return;
    snprintf(at, len + 1, "%08lx %s", (unsigned long)whole->filter_id, whole->meta);
    bf_conn_end_arg(whole->conn, len);
}

void bf_redis_meta_put(bf_redis *r, const bf_params *d, uint32_t mark)
{
    bf_conn *l = r->conn;
    bf_conn_append(l, "owner %s", r->whole->key);
    if (r->whole != r) append_filter_field(r->whole);
    append_shape(l, "1", d, d->secret_check);
    bf_conn_append(l, "mark %x born %x", mark, mark);
    bf_conn_append(l, "by %s", "bloomfilter");
    if (d->g.shards > 1) bf_conn_append(l, "shards %n", (uint64_t)d->g.shards);
}

void bf_redis_append_params(bf_redis *whole, const bf_params *d, uint64_t secret_check)
{
    bf_conn *l = whole->conn;
    const bool grow = d->kind == BF_GROW;
    whole->filter_id = bf_random();
    bf_conn_append(l, "owner %s", whole->key);
    append_shape(l, "2", d, secret_check);
    const char *kind = grow ? "grow" : "window";
    bf_conn_append(l, "kind %s %s %g parts %n born %x", kind, kind, grow ? d->grow : d->window,
        (uint64_t)(grow ? 1 : d->parts), whole->filter_id);
}

/* ---- reading ---- */
size_t bf_redis_field(const bf_redis_reply *r, const char *name)
{
    size_t len, size = strlen(name);
    for (size_t i = 0; i + 1 < r->n; i += 2) {
        const char *have = bf_reply_text(r, i, &len);
        if (have && len == size && memcmp(have, name, size) == 0) return i + 1;
    }
    return r->n;
}

bool bf_redis_has_field(const bf_redis *r, const char *name)
{
    return bf_redis_field(&r->conn->reply, name) < r->conn->reply.n;
}

static bool leaf_text(const bf_redis_reply *r, size_t leaf, char *out, size_t cap)
{
    size_t len;
    const char *value = bf_reply_text(r, leaf, &len);
    if (!value || len == 0 || len >= cap || memchr(value, 0, len)) return false;
    memcpy(out, value, len);
    out[len] = 0;
    return true;
}

bool bf_redis_whole_number(
    const bf_redis_reply *r, size_t leaf, int base, uint64_t least, uint64_t most, uint64_t *out)
{
    char text[32], *end;
    if (!leaf_text(r, leaf, text, sizeof text) || !strchr("0123456789abcdef", *text)) return false;
    errno = 0;
    *out = strtoull(text, &end, base);
    return *end == 0 && errno == 0 && *out >= least && *out <= most;
}

bool bf_redis_share(const bf_redis_reply *r, size_t leaf, double *out)
{
    char text[48], *end;
    if (!leaf_text(r, leaf, text, sizeof text)) return false;
    *out = bf_real(text, &end);
    return *end == 0 && *out >= 0 && *out <= 1;
}

static bool text_field(const bf_redis *r, const char *name, char *out, size_t cap)
{
    return leaf_text(&r->conn->reply, bf_redis_field(&r->conn->reply, name), out, cap);
}

static bool number_field(
    const bf_redis *r, const char *name, int base, uint64_t least, uint64_t most, uint64_t *out)
{
    const bf_redis_reply *from = &r->conn->reply;
    return bf_redis_whole_number(from, bf_redis_field(from, name), base, least, most, out);
}

int bf_redis_fail_field(const bf_redis *r, const char *what, bf_error *err)
{
    return bf_fail(err, BF_EFORMAT,
        "%s: field %s of its companion hash (:meta) is missing or invalid", r->label, what);
}

/* Reads m and shards. Returns false if they are invalid, or if a shard does not fit one key. */
static bool read_sizes(const bf_redis *r, const bf_layout *l, bf_geometry *g)
{
    uint64_t shards = 1;
    if ((bf_redis_has_field(r, "shards") &&
            !number_field(r, "shards", 10, 1, BF_SHARDS_MAX, &shards)) ||
        !number_field(r, "m", 10, 1, BF_M_MAX, &g->m) || g->m % l->line_bits)
        return false;
    g->shards = (unsigned)shards;
    return bf_shards_fit(l, g) && bf_bits(g) / shards <= bf_redis_most_bits(l, g);
}

/* Reads the fields that only format 2 has. */
static int read_many(const bf_redis *r, bf_redis_meta *m, bf_error *err)
{
    bf_params *d = &m->desc;
    char text[48], *end;
    uint64_t parts;
    if (!text_field(r, "kind", text, sizeof text)) return bf_redis_fail_field(r, "kind", err);
    d->kind = !strcmp(text, "grow") ? BF_GROW : !strcmp(text, "window") ? BF_WINDOW : BF_FIXED;
    if (!d->kind) return bf_redis_fail_field(r, "kind", err);
    const char *name = d->kind == BF_GROW ? "grow" : "window";
    if (!text_field(r, name, text, sizeof text)) return bf_redis_fail_field(r, name, err);
    *(d->kind == BF_GROW ? &d->grow : &d->window) = bf_real(text, &end);
    if (*end) return bf_redis_fail_field(r, name, err);
    if (!number_field(r, "parts", 10, 1, BF_PARTS_MAX - (d->kind == BF_WINDOW), &parts))
        return bf_redis_fail_field(r, "parts", err);
    if (!d->scheme->keyed) return bf_redis_fail_field(r, "scheme", err);
    if (d->kind == BF_WINDOW) d->parts = (unsigned)parts;
    if (d->kind == BF_GROW ? !bf_grow_stored(d->grow) : !bf_window_valid(d->window, d->parts))
        return bf_redis_fail_field(r, name, err);
    d->live = d->kind == BF_GROW ? (int64_t)parts : BF_NEVER;
    m->users_clock = text_field(r, "clock", text, sizeof text) && !strcmp(text, "own");
    return bf_chain_possible(d) ? 0 : bf_redis_fail_field(r, "m for its n, p and k", err);
}

static int fail_other_owner(const bf_redis *r, const char *name, size_t len, bf_error *err)
{
    char text[40];
    snprintf(text, sizeof text, "%.*s%s", len > 32 ? 32 : (int)len, name, len > 32 ? ".." : "");
    bf_reply_clean(text);
    return bf_fail(err, BF_EFORMAT,
        "%s belongs to the filter %s: open that one, or use another key", r->label, text);
}

/* Checks that the hash belongs to the filter: the field owner and, in a part or shard, the name of
 * K:meta. A client for a cluster and any other client have the same name for a part of the filter
 * `s`, but different names for K:meta. */
static int read_owner(const bf_redis *r, bf_redis_meta *m, bf_error *err)
{
    size_t len;
    const bf_redis_reply *from = &r->conn->reply;
    const bf_redis *whole = r->whole;
    const char *owner = bf_reply_text(from, bf_redis_field(from, "owner"), &len);
    if (!owner) return bf_redis_fail_field(r, "owner", err);
    if (len != strlen(whole->key) || memcmp(owner, whole->key, len) != 0)
        return fail_other_owner(r, owner, len, err);
    if (whole == r) return 0;
    char id[9] = "", *end;
    const char *filter = bf_reply_text(from, bf_redis_field(from, "filter"), &len);
    if (filter && len > 9) memcpy(id, filter, 8);
    m->whole_id = (uint32_t)strtoul(id, &end, 16);
    if (end != id + 8) return bf_redis_fail_field(r, "filter", err);
    if (len - 9 != strlen(whole->meta) || memcmp(filter + 9, whole->meta, len - 9) != 0)
        return fail_other_owner(r, filter + 9, len - 9, err);
    return 0;
}

int bf_redis_meta_read(const bf_redis *r, bf_redis_meta *m, bf_error *err)
{
    char text[BF_SCHEME_BYTES];
    uint64_t v;
    bf_params *d = &m->desc;
    *m = (bf_redis_meta){ .adopted = bf_redis_has_field(r, "adopted"),
        .making = bf_redis_has_field(r, "making") };
    if (read_owner(r, m, err) < 0) return BF_EFORMAT;
    if (!text_field(r, "format", text, sizeof text)) return bf_redis_fail_field(r, "format", err);
    const bool many = !strcmp(text, "2");
    if (!many && strcmp(text, "1") != 0)
        return bf_fail(
            err, BF_EFORMAT, "%s has format %.8s, this build reads up to 2", r->label, text);
    if (!text_field(r, "scheme", text, sizeof text)) return bf_redis_fail_field(r, "scheme", err);
    if (bf_find_scheme(d, text, NULL, NULL) < 0)
        return bf_fail(
            err, BF_EFORMAT, "%s has scheme %.24s, which this build does not know", r->label, text);
    const bf_layout *l = d->scheme->layout;
    d->g = (bf_geometry){ .counting = text_field(r, "cell_bits", text, sizeof text) };
    if (d->g.counting && strcmp(text, "4") != 0)
        return bf_fail(err, BF_EFORMAT, "%s has %.8s bits per position, this build knows 1 and 4",
            r->label, text);
    if (!read_sizes(r, l, &d->g)) return bf_redis_fail_field(r, "m or shards", err);
    if (!number_field(r, "n", 10, 1, BF_N_MAX, &d->g.n)) return bf_redis_fail_field(r, "n", err);
    if (!number_field(r, "k", 10, 1, l->k_max, &v)) return bf_redis_fail_field(r, "k", err);
    d->g.k = (unsigned)v;
    d->g.lines = d->g.m / l->line_bits;
    if (bf_check_limits(d, NULL) < 0) return bf_redis_fail_field(r, "m or k", err);
    const bf_redis_reply *from = &r->conn->reply;
    if (!bf_redis_share(from, bf_redis_field(from, "p"), &d->g.p))
        return bf_redis_fail_field(r, "p", err);
    if (!number_field(r, "secret", 16, 0, UINT64_MAX, &d->secret_check))
        return bf_redis_fail_field(r, "secret", err);
    if (number_field(r, "born", 16, 0, UINT32_MAX, &v)) m->id = (uint32_t)v;
    if (bf_redis_has_field(r, "keys") && !number_field(r, "keys", 10, 0, UINT64_MAX, &m->keys))
        return bf_redis_fail_field(r, "keys", err);
    if (many) return read_many(r, m, err);
    if (!number_field(r, "mark", 16, 1, UINT32_MAX, &v)) return bf_redis_fail_field(r, "mark", err);
    m->mark = (uint32_t)v;
    return 0;
}
