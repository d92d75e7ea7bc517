/* meta.c - the names in Redis that are derived from a filter's key K, and K:meta, the companion
 * hash of the bits. The fields, all as text:
 *
 *   format "1"   scheme   m   n   k   p   secret (16 hex digits, 0 = not keyed)
 *   mark (8 hex digits)   by "bloomfilter"
 *   born       the id (redis.h); if K has bits, their first mark
 *   cell_bits  "4" for counters
 *   adopted    if another system created the bits and still writes them
 *   shards     if more than one; m in the hash of a shard is the m of the filter
 *   making     until all shards are created; no other filter may use the name
 *   owner      only in a shard: the key K of the filter
 *   filter     only in a shard: id of the filter and name of its K:meta ("1a2b3c4d K:meta")
 *
 * Growing and forgetting filters have format "2" and more fields:
 *
 *   kind       "grow" or "window"
 *   grow       growth factor; parts: number of parts; for each part: part<i> "m n p", keys<i>
 *   window     seconds; parts: number of parts of a window, the string has one slice more; epoch:
 *              the newest epoch, missing if no key was added; clock "own" if the callers give the
 *              time
 *
 * A filter `K:0` can have the name of a shard. Therefore the companion hash of a shard names its
 * filter. Shards of another filter are never opened or changed. All values are checked here before
 * they are used. */
#include "redis/redis.h"
#include <errno.h>

/* ---- names ---- */
bool bf_redis_tagged(const char *key)
{
    const char *open = strchr(key, '{'), *shut = open ? strchr(open, '}') : NULL;
    return shut && shut > open + 1;
}

/* Returns true if the key is a hash tag and nothing else. */
static bool is_tag(const char *key)
{
    return *key == '{' && bf_redis_tagged(key) && !strchr(key, '}')[1];
}

char *bf_redis_name(const bf_conn *l, const char *key, enum bf_redis_kind_of_name kind, int64_t i)
{
    char suffix[40];
    bool braces = !bf_redis_tagged(key);
    switch (kind) {
    /* Braces only in a cluster, where K and K:meta must be in one slot. There `seen` has the hash
     * {seen}:meta, so a key {seen} must have another one. */
    case BF_NAME_META:
        snprintf(suffix, sizeof suffix, is_tag(key) ? ":meta" : "meta");
        braces &= l->client->cluster;
        break;
    case BF_NAME_SHARD: /* no braces, because shards should be in different slots */
        snprintf(suffix, sizeof suffix, "%lld", (long long)i);
        braces = false;
        break;
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
/* Returns the number of bits in one Redis key. */
static uint64_t bits_of(const bf_params *d, const bf_redis_sizes *sizes)
{
    uint64_t cells = 0;
    if (d->kind == BF_FIXED) return bf_bits(&d->g) / (d->g.shards ? d->g.shards : 1);
    for (unsigned i = 0; i < sizes->n; i++) cells += sizes->part[i].m;
    return cells * bf_cell_ops_of(&d->g)->bits;
}

int bf_redis_set_params(bf_redis *r, const bf_params *d, const bf_redis_sizes *sizes, bf_error *err)
{
    if (d->kind && !r->sizes && !(r->sizes = malloc(sizeof *r->sizes)))
        return bf_fail(err, BF_ENOMEM, "out of memory");
    if (d->kind) *r->sizes = *sizes;
    r->desc = *d;
    if (r->desc.g.shards == 0) r->desc.g.shards = 1;
    r->bits = bits_of(&r->desc, r->sizes);
    r->mark_at = (r->bits + 31) / 32 * 4;
    return 0;
}

static void slices_of(const bf_params *d, bf_redis_sizes *sizes)
{
    sizes->n = d->parts + 1;
    for (unsigned i = 0; i < sizes->n; i++)
        sizes->part[i] = (bf_redis_size){ d->g.m, d->g.n, d->g.p / sizes->n, 0 };
}

int bf_redis_first_parts(
    const bf_params *d, const bf_filter *contents, bf_redis_sizes *sizes, bf_error *err)
{
    bf_params part;
    uint64_t cells = 0;
    const int rc = bf_chain_part(d, 0, 0, &part, err);
    if (rc < 0) return rc;
    sizes->n = 1;
    sizes->part[0] = (bf_redis_size){ part.g.m, part.g.n, part.g.p, 0 };
    if (d->kind == BF_WINDOW) slices_of(d, sizes);
    if (contents) sizes->n = bf_parts_count(contents);
    for (unsigned i = 0; contents && d->kind == BF_GROW && i < sizes->n; i++) {
        const bf_part *p = contents->part[i];
        const bf_geometry *g = &p->bitmap.g;
        sizes->part[i] = (bf_redis_size){ g->m, g->n, g->p, (uint64_t)bf_live(p->live) };
    }
    for (unsigned i = 0; i < sizes->n; i++) cells += sizes->part[i].m;
    const bf_cell_ops *ops = bf_cell_ops_of(&d->g);
    if (rc > 0 && cells <= BF_REDIS_M_MAX / ops->bits) return 0;
    return bf_fail(err, BF_EINVAL,
        "%u part%s of m=%llu %s do not fit one Redis key of at most %llu: use a file, or a larger "
        "p or smaller n",
        sizes->n, sizes->n > 1 ? "s" : "", (unsigned long long)part.g.m, ops->names,
        (unsigned long long)(BF_REDIS_M_MAX / ops->bits));
}

/* If the scheme cannot have shards, the bits of a filter without counters may fill the longest
 * string. Otherwise there must be space for the mark. */
uint64_t bf_redis_most_bits(const bf_layout *l, const bf_geometry *g)
{
    return l->sharding == BF_WHOLE && !g->counting ? BF_REDIS_BITS : BF_REDIS_M_MAX;
}

/* ---- writing ---- */
/* Names the filter in the companion hash of a shard. */
static void append_filter(const bf_redis *whole)
{
    const size_t len = strlen(whole->meta) + 9;
    bf_conn_append(whole->conn, "owner %s filter", whole->key);
    char *at = bf_conn_begin_arg(whole->conn, len);
    if (!at) return;
    snprintf(at, len + 1, "%08lx %s", (unsigned long)whole->filter_id, whole->meta);
    bf_conn_end_arg(whole->conn, len);
}

void bf_redis_size_text(const bf_redis_size *s, char text[BF_SIZE_TEXT])
{
    bf_print(text, BF_SIZE_TEXT, "%llu %llu %.17g", (unsigned long long)s->m,
        (unsigned long long)s->n, s->p);
}

static void append_grow(const bf_redis *r, const bf_params *d)
{
    char name[16], text[BF_SIZE_TEXT];
    bf_conn_append(r->conn, "kind grow grow %g parts %n", d->grow, (uint64_t)r->sizes->n);
    for (unsigned i = 0; i < r->sizes->n; i++) {
        snprintf(name, sizeof name, "part%u", i);
        bf_redis_size_text(r->sizes->part + i, text);
        bf_conn_append(r->conn, "%s %s", name, text);
    }
    bf_redis_append_keys(r);
}

void bf_redis_append_keys(const bf_redis *r)
{
    char name[16];
    for (unsigned i = 0; r->desc.kind == BF_GROW && i < r->sizes->n; i++) {
        snprintf(name, sizeof name, "keys%u", i);
        bf_conn_append(r->conn, "%s %n", name, r->sizes->part[i].keys);
    }
}

void bf_redis_meta_put(bf_redis *r, const bf_params *d, uint32_t mark)
{
    char secret[17];
    bf_conn *l = r->conn;
    if (r->whole != r) append_filter(r->whole);
    snprintf(secret, sizeof secret, "%016llx", (unsigned long long)d->secret_check);
    bf_conn_append(l, "format %s scheme %s m %n n %n k %n p %g secret %s", d->kind ? "2" : "1",
        d->name, d->g.m, d->g.n, (uint64_t)d->g.k, d->g.p, secret);
    bf_conn_append(l, "mark %x born %x by bloomfilter", mark, mark);
    if (d->g.counting) bf_conn_append(l, "cell_bits %n", (uint64_t)BF_CELL_BITS);
    if (d->g.shards > 1) bf_conn_append(l, "shards %n", (uint64_t)d->g.shards);
    if (d->kind == BF_GROW) append_grow(r, d);
    if (d->kind != BF_WINDOW) return;
    bf_conn_append(l, "kind window window %g parts %n", d->window, (uint64_t)d->parts);
    if (r->users_clock) bf_conn_append(l, "clock own");
    if (r->epoch != BF_NEVER) bf_conn_append(l, "epoch %i", r->epoch);
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

/* Reads a field "m n p" into *d and *size. */
static bool read_part(const bf_redis *r, bf_params *d, bf_redis_size *size)
{
    char name[16], text[BF_SIZE_TEXT], *at = text;
    uint64_t *const numbers[] = { &size->m, &size->n };
    snprintf(name, sizeof name, "part%u", d->index);
    if (!text_field(r, name, text, sizeof text)) return false;
    for (size_t i = 0; i < 2; i++, at++) {
        if (*at < '1' || *at > '9') return false;
        *numbers[i] = strtoull(at, &at, 10);
        if (*at != ' ') return false;
    }
    size->p = bf_real(at, &at);
    d->g.m = size->m;
    d->g.n = size->n;
    d->g.p = size->p;
    d->g.k = bf_k_of_part(d, size->p);
    size->keys = 0;
    return *at == 0 && size->m <= BF_M_MAX && size->n <= BF_N_MAX;
}

static int read_sizes_of_parts(const bf_redis *r, bf_redis_meta *m, bf_error *err)
{
    char name[16];
    for (unsigned i = 0; i < m->sizes.n; i++) {
        bf_redis_size *size = m->sizes.part + i;
        bf_params d = bf_part_of(&m->desc, i);
        snprintf(name, sizeof name, "part%u", i);
        if (!read_part(r, &d, size)) return bf_redis_fail_field(r, name, err);
        if (!bf_chain_part_possible(&m->desc, &d))
            return bf_fail(err, BF_EFORMAT,
                "%s: its part %u has n=%llu, which does not fit m=%llu, p=%g, k=%u", r->label, i,
                (unsigned long long)d.g.n, (unsigned long long)d.g.m, d.g.p, d.g.k);
        snprintf(name, sizeof name, "keys%u", i);
        if (bf_redis_has_field(r, name) && !number_field(r, name, 10, 0, BF_N_MAX, &size->keys))
            return bf_redis_fail_field(r, name, err);
    }
    return 0;
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
    if (!bf_variants[d->kind][d->g.counting]) return bf_redis_fail_field(r, "cell_bits", err);
    const bool grows = d->kind == BF_GROW;
    const char *name = grows ? "grow" : "window";
    if (!text_field(r, name, text, sizeof text)) return bf_redis_fail_field(r, name, err);
    *(grows ? &d->grow : &d->window) = bf_real(text, &end);
    if (*end) return bf_redis_fail_field(r, name, err);
    if (!number_field(r, "parts", 10, 1, BF_PARTS_MAX - !grows, &parts))
        return bf_redis_fail_field(r, "parts", err);
    if (!bf_may_have_parts(d)) return bf_redis_fail_field(r, "scheme", err);
    if (!grows) d->parts = (unsigned)parts;
    if (grows ? !bf_grow_stored(d->grow) : !bf_window_valid(d->window, d->parts))
        return bf_redis_fail_field(r, name, err);
    d->live = grows ? (int64_t)parts : BF_NEVER;
    if (!bf_chain_possible(d)) return bf_redis_fail_field(r, "m for its n, p and k", err);
    m->sizes.n = (unsigned)parts;
    if (grows && read_sizes_of_parts(r, m, err) < 0) return BF_EFORMAT;
    if (!grows) slices_of(d, &m->sizes);
    if (bits_of(d, &m->sizes) > BF_REDIS_M_MAX) return bf_redis_fail_field(r, "m or parts", err);
    m->users_clock = text_field(r, "clock", text, sizeof text) && !strcmp(text, "own");
    if (grows || !bf_redis_has_field(r, "epoch")) return 0;
    const bf_redis_reply *from = &r->conn->reply;
    m->epoch = bf_reply_number(from, bf_redis_field(from, "epoch"), 10);
    return m->epoch > BF_NEVER / 2 && m->epoch < -BF_NEVER / 2
               ? 0
               : bf_redis_fail_field(r, "epoch", err);
}

uint64_t bf_redis_mark_at(const bf_redis_meta *m)
{
    return (bits_of(&m->desc, &m->sizes) + 31) / 32 * 4;
}

static int fail_other_owner(const bf_redis *r, const char *name, size_t len, bf_error *err)
{
    char text[40];
    snprintf(text, sizeof text, "%.*s%s", len > 32 ? 32 : (int)len, name, len > 32 ? ".." : "");
    bf_reply_clean(text);
    return bf_fail(err, BF_EFORMAT,
        "%s belongs to the filter %s: open that one, or use another key", r->label, text);
}

/* Only the hash of a shard has an owner. Checks that it belongs to the filter. A client for a
 * cluster and any other client have the same name for a shard of the filter `s`, but different
 * names for K:meta. */
static int read_owner(const bf_redis *r, bf_redis_meta *m, bf_error *err)
{
    size_t len;
    const bf_redis_reply *from = &r->conn->reply;
    const bf_redis *whole = r->whole;
    const char *owner = bf_reply_text(from, bf_redis_field(from, "owner"), &len);
    if (whole == r && !bf_redis_has_field(r, "filter")) return 0;
    if (whole == r && owner) return fail_other_owner(r, owner, len, err);
    if (!owner) return bf_redis_fail_field(r, "owner", err);
    if (len != strlen(whole->key) || memcmp(owner, whole->key, len) != 0)
        return fail_other_owner(r, owner, len, err);
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
    m->adopted = bf_redis_has_field(r, "adopted");
    m->making = bf_redis_has_field(r, "making");
    m->users_clock = false;
    m->whole_id = m->id = 0;
    m->epoch = BF_NEVER;
    m->sizes.n = 0;
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
    if (!read_sizes(r, l, &d->g) || (many && d->g.shards > 1))
        return bf_redis_fail_field(r, "m or shards", err);
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
    if (many && !m->id) return bf_redis_fail_field(r, "born", err);
    if (!number_field(r, "mark", 16, 1, UINT32_MAX, &v)) return bf_redis_fail_field(r, "mark", err);
    m->mark = (uint32_t)v;
    return many ? read_many(r, m, err) : 0;
}
