/* open.c - opens the bits under a Redis key: our filter, a filter of Redisson, or a bitmap of
 * another system. Also adopts such bitmaps and creates filters of Redisson. */
#include "redis/redis.h"
#include <time.h>

/* number of further tries, each after a pause, if the key seems to change */
enum { STUB_TRIES = 5 };

/* ---- a bitmap of another system ---- */
/* Sets the name of the companion hash: K:meta, or Redisson's {K}:config. */
static int name_hash(bf_redis *r, enum bf_redis_kind_of_name kind, bf_error *err)
{
    char *name = bf_redis_name(r->conn, r->key, kind, 0);
    if (!name) return bf_fail(err, BF_ENOMEM, "out of memory");
    char *old = r->meta;
    r->meta = name;
    bf_fence();
    free(old);
    return 0;
}

int bf_redis_no_cache(const bf_redis *r, bf_error *err)
{
    return bf_fail(
        err, BF_ENOTSUP, "%s is a foreign bitmap: it has no mark, and cache needs one", r->label);
}

static int check_tail(bf_redis *r, uint64_t m, bf_error *err)
{
    size_t len;
    int rc;
    if (m % 8 == 0) return 0;
    bf_conn_begin(r->conn, BF_READS);
    bf_redis_append_range(r, m / 8, 1);
    if ((rc = bf_conn_finish(r->conn, err)) < 0) return rc;
    const char *last = bf_reply_text(&r->conn->reply, 0, &len);
    if (!last || len == 0 || !(*last & 0xFF >> m % 8)) return 0;
    return bf_fail(err, BF_EMISMATCH, "%s has bits set past m=%llu: it has another m", r->label,
        (unsigned long long)m);
}

/* Checks the length of a string that has no companion hash. A shorter string is valid: Redis ends a
 * string after the last byte that was written. If the string is longer, m is wrong, and present
 * keys would read as absent. A string with our mark is valid: only the companion hash is lost. */
static int check_length(bf_redis *r, uint64_t m, uint64_t bytes, bf_error *err)
{
    if (bytes <= (m + 7) / 8 || bytes == bf_redis_length(r)) return check_tail(r, m, err);
    return bf_fail(err, BF_EMISMATCH,
        "%s holds %llu bytes, m=%llu bits take %llu: it has another m", r->label,
        (unsigned long long)bytes, (unsigned long long)m, (unsigned long long)((m + 7) / 8));
}

/* ---- adopting a bitmap that another system created and still writes ----
 * The bitmap gets a companion hash and, after its last bit, the mark. If the mark does not fit,
 * only the companion hash has the mark. All bits stay at their offsets, which are before the mark.
 * A long string is lengthened in steps. Each step is a script that writes only after the end of the
 * string, so no bit of the other system is overwritten. */
/* Returns 1 if the string was adopted, 0 if it has changed since it was read, or an error. */
static int adopt(bf_redis *r, const bf_params *d, bf_error *err)
{
    /* a run of the script lengthens the string by at most STEPS * BF_REDIS_STEP bytes */
    enum { STEPS = 8 };
    bf_conn *l = r->conn;
    const uint32_t mark = bf_random();
    long long done = 2;
    if (d->g.m > bf_redis_most_bits(d->scheme->layout, &d->g))
        return bf_fail(err, BF_ENOTSUP,
            "%s: adopt needs room for the mark after m=%llu bits of scheme %s, one Redis key has "
            "it up to m=%llu",
            r->label, (unsigned long long)d->g.m, d->name, (unsigned long long)BF_REDIS_M_MAX);
    for (int rc; done == 2;) {
        bf_conn_begin(l, BF_WRITES);
        bf_conn_eval(l, bf_script_adopt, 2);
        bf_conn_append(l, "%s %s %n %n %n %x %r", r->key, r->meta, r->mark_at, (r->bits + 7) / 8,
            (uint64_t)STEPS * BF_REDIS_STEP, r->mark, mark);
        bf_redis_meta_put(r, d, mark);
        bf_conn_append(l, "adopted 1");
        if ((rc = bf_conn_run_script(l, &done, err)) < 0) return rc;
    }
    if (done != 1) return 0;
    r->mark = r->filter_id = mark;
    r->adopted = true;
    return 1;
}

/* Opens another system's bitmap, which has no companion hash and no mark; adopts the bitmap if
 * spec->adopt is set. Returns the same as adopt(). */
static int attach_foreign(
    bf_redis *r, const bf_spec *spec, bf_params *d, long long bytes, bf_error *err)
{
    if (!(spec->must_exist || spec->read_only || spec->adopt) || !spec->scheme)
        return bf_fail(err, BF_EFORMAT,
            "%s holds %lld bytes that are not our filter: to take over a bitmap of another system, "
            "give scheme, m, k and adopt",
            r->label, bytes);
    if (spec->shards > 1)
        return bf_fail(err, BF_ENOTSUP, "%s is a foreign bitmap: it has no shards", r->label);
    if (spec->cache && !spec->adopt) return bf_redis_no_cache(r, err);
    if (spec->counting)
        return bf_fail(err, BF_ENOTSUP,
            "%s holds bytes of another system, which are bits and not counters", r->label);
    int rc = bf_size(d, spec, BF_REDIS_M_MAX, err);
    if (rc < 0 || (rc = bf_secret_check(d->scheme, spec, &d->secret_check, err)) < 0) return rc;
    bf_redis_set_params(r, d, NULL, NULL);
    if ((rc = check_length(r, d->g.m, (uint64_t)bytes, err)) < 0) return rc;
    if (spec->adopt && (uint64_t)bytes > (d->g.m + 7) / 8 && !bf_redis_mark_apart(r))
        return bf_fail(err, BF_EMISMATCH,
            "%s holds %lld bytes, more than m=%llu needs: adopt would overwrite the last 4; pass "
            "its true m, "
            "or rebuild it without adopt",
            r->label, bytes, (unsigned long long)d->g.m);
    if (spec->adopt) return adopt(r, d, err);
    r->foreign = true;
    return 1;
}

/* ---- Redisson ----
 * Redisson 3.45.1 has the bits in K, which the first add creates, and the parameters in the hash
 * {K}:config:
 *   size   hashIterations   expectedInsertions   falseProbability
 * This library writes the same hash, so both can create and use the filter. There is no mark.
 * Instead, every round trip reads size and hashIterations, as Redisson's own scripts do. The fields
 * show that the filter was deleted or has other parameters. They do not show that only K was lost,
 * or that another filter with the same parameters has replaced the filter. */
enum { REAL = 48 }; /* bytes of a double as text, with NUL */

bool bf_is_redisson(const char *scheme) { return scheme && !strcmp(scheme, "redisson"); }

/* ---- reading Redisson's hash ---- */
static int redisson_read(const bf_redis *r, bf_params *d, bf_error *err)
{
    const bf_redis_reply *from = &r->conn->reply;
    uint64_t k, n;
    bf_find_scheme(d, "redisson", NULL, NULL); /* cannot fail, because the table has this row */
    d->g = (bf_geometry){ .shards = 1 };
    if (!bf_redis_whole_number(
            from, bf_redis_field(from, "size"), 10, 1, d->scheme->m_max, &d->g.m) ||
        !bf_redis_whole_number(from, bf_redis_field(from, "hashIterations"), 10, 1, BF_K_MAX, &k))
        return bf_fail(err, BF_EFORMAT,
            "%s: Redisson's hash (the key with :config) has no valid size or "
            "hashIterations",
            r->label);
    d->g.k = (unsigned)k;
    d->g.lines = d->g.m;
    d->g.n =
        bf_redis_whole_number(from, bf_redis_field(from, "expectedInsertions"), 10, 1, BF_N_MAX, &n)
            ? n
        : d->g.m / k ? d->g.m / k
                     : 1;
    if (!bf_redis_share(from, bf_redis_field(from, "falseProbability"), &d->g.p) || d->g.p == 0 ||
        d->g.p == 1)
        d->g.p = d->scheme->layout->rate((double)d->g.m / (double)d->g.n, d->g.k);
    return 0;
}

static void set_redisson(bf_redis *r, const bf_params *d)
{
    bf_redis_set_params(r, d, NULL, NULL);
    r->foreign = r->redisson = true;
    r->mark = BF_REDISSON_SAME;
}

/* ---- creating a filter of Redisson ---- */
/* Formats p like Java's Double.toString: the shortest digits that give p when read; below 0.001
 * like 1.0E-4. */
static void as_java(char out[REAL], double p)
{
    char e[REAL], *power;
    int places = 0;
    bf_print(e, sizeof e, "%.0e", p);
    /* 17 significant digits are always sufficient */
    while (bf_real(e, NULL) != p) bf_print(e, sizeof e, "%.*e", ++places, p);
    power = strchr(e, 'e');
    *power++ = 0;
    if (p >= 1e-3)
        bf_print(out, REAL, "%.*f", places - atoi(power), p);
    else
        snprintf(out, REAL, "%.24s%sE%d", e, places ? "" : ".0", atoi(power));
}

int bf_redisson_make(bf_redis *r, const bf_params *d, bf_error *err)
{
    bf_conn *l = r->conn;
    char p[REAL];
    long long made = 0;
    if (name_hash(r, BF_NAME_CONFIG, err) < 0) return BF_ENOMEM;
    as_java(p, d->g.p);
    bf_conn_begin(l, BF_WRITES);
    bf_conn_eval(l, bf_script_create, 2);
    bf_conn_append(l,
        "%s %s %s %s size %n hashIterations %n expectedInsertions %n falseProbability %s", r->key,
        r->meta, "", "", d->g.m, (uint64_t)d->g.k, d->g.n, p);
    const int rc = bf_conn_run_script(l, &made, err);
    if (rc < 0) return rc;
    if (made) set_redisson(r, d);
    return made != 0;
}

/* ---- opening a key ---- */
static int set_key_names(bf_redis *r, bf_error *err)
{
    const char *key = r->conn->url.key;
    memcpy(r->label, r->conn->own_label, sizeof r->label);
    if (!(r->key = strdup(key))) return bf_fail(err, BF_ENOMEM, "out of memory");
    if (r->conn->client->cluster && !bf_redis_tagged(key) && strchr(key, '}'))
        return bf_fail(err, BF_EINVAL,
            "key %.60s has a } in it, so in a cluster it needs a hash tag, as in {seen}:1", key);
    return name_hash(r, BF_NAME_META, err);
}

bf_redis *bf_redis_start(bf_store *s, const bf_spec *spec, bf_error *err)
{
    bf_redis *r = s->impl;
    if (r) return r;
    s->impl = r = calloc(1, sizeof *r);
    if (!r || !(r->conn = calloc(1, sizeof *r->conn))) {
        bf_fail(err, BF_ENOMEM, "out of memory");
        return NULL;
    }
    r->whole = r;
    r->store = s;
    if (bf_conn_open(r->conn, spec, err) < 0 || set_key_names(r, err) < 0) return NULL;
    /* a cluster answers WAIT for one node only, so all keys must be in one slot */
    r->conn->one_slot = r->conn->client->cluster && spec->wait_replicas;
    r->shards = 1;
    r->epoch = r->now = BF_NEVER;
    r->wait_replicas = spec->wait_replicas;
    r->caches = spec->cache;
    r->cache_max_age = spec->cache_max_age;
    s->label = r->label;
    return r;
}

/* Opens a filter of Redisson. Returns 0 if there is no hash of Redisson: bits under K are then
 * another system's or ours. */
static int attach_redisson(bf_redis *r, const bf_spec *spec, bf_params *d, bf_error *err)
{
    bf_redis_key_snapshot s;
    int rc = name_hash(r, BF_NAME_CONFIG, err);
    if (rc < 0 || (rc = bf_redis_read_key(r, &s, err)) < 0 || (rc = s.refused) < 0) return rc;
    const bool found = bf_redis_field(&r->conn->reply, "size") < r->conn->reply.n;
    if (spec->adopt && (found || spec->scheme))
        return bf_fail(err, BF_ENOTSUP,
            "%s: a filter of Redisson has a companion hash already: open it without adopt",
            r->label);
    if (!found) return name_hash(r, BF_NAME_META, err);
    if (spec->cache) return bf_redis_no_cache(r, err);
    if ((rc = redisson_read(r, d, err)) < 0) return rc;
    set_redisson(r, d);
    return 1;
}

static int fail_shard_lost(bf_redis *r, const char *why, bf_error *err)
{
    return bf_fail(err, BF_EIO, "%s is lost: %s; delete the key, create it again", r->label, why);
}

/* One try of bf_redis_attach_key. Sets *stub if another try may have another result. */
static int attach_once(bf_redis *r, const bf_spec *spec, bf_params *d, bool *stub, bf_error *err)
{
    bf_redis_key_snapshot s;
    bf_redis_meta m;
    *stub = false;
    int rc = bf_is_redisson(spec->scheme) ? attach_redisson(r, spec, d, err) : 0;
    if (rc != 0 || (rc = bf_redis_read_key(r, &s, err)) < 0) return rc;
    const bool there = r->conn->reply.n > 1, shard = bf_redis_is_shard(r);
    if (shard && !(there && bf_redis_has_field(r, "format")) &&
        (uint64_t)s.bytes == bf_redis_length(r))
        return fail_shard_lost(r, "its companion hash (with :meta) is gone", err);
    if (!there)
        m = (bf_redis_meta){ .epoch = BF_NEVER };
    else if ((rc = bf_redis_meta_read(r, &m, err)) < 0)
        return rc;
    if (there && s.bytes && shard && m.whole_id != r->whole->filter_id)
        return fail_shard_lost(r, "the key is left over from another filter of that name", err);
    *d = m.desc;
    if (bf_redis_take_meta(r, &m, err) < 0) return BF_ENOMEM;
    if (d->g.shards > 1 && !shard) {
        rc = bf_redis_attach_shards(r, spec, d, err);
        *stub = rc < 0 && bf_redis_has_other_id(r);
        return rc;
    }
    if (s.refused) return s.refused;
    if (!there && !spec->scheme && !shard && !bf_may_create(spec) &&
        (rc = attach_redisson(r, spec, d, err)) != 0)
        return rc;
    if (s.bytes == 0) {
        if (bf_may_create(spec)) return 0;
        return there || (shard && !r->whole->making)
                   ? bf_redis_fail_lost(r, err)
                   : bf_fail(err, BF_ENOENT, "%s does not exist", r->label);
    }
    /* Another system created the bits, perhaps by an add after the filter was deleted. Or another
     * process is adopting them. */
    if (!there) {
        rc = attach_foreign(r, spec, d, s.bytes, err);
        *stub = rc == BF_EFORMAT || rc == BF_EMISMATCH || (spec->adopt && rc == 0);
        return rc;
    }
    if ((rc = bf_redis_is_complete(r, &m, &s, err)) != 0) return rc;
    *stub = true;
    if (r->adopted && spec->adopt) { /* the other system has created a new bitmap */
        rc = bf_check_match(d, spec, r->label, err);
        if (rc == 0) rc = check_length(r, d->g.m, (uint64_t)s.bytes, err);
        return rc < 0 ? rc : adopt(r, d, err);
    }
    return bf_fail(err, BF_EFORMAT,
        "%s holds %lld bytes, but not the mark of its :meta: delete both keys to start again",
        r->label, s.bytes);
}

/* Tries again after an error that may be temporary: the key may change between two round trips, and
 * a deleted filter may leave a short string for a moment. */
int bf_redis_attach_key(bf_redis *r, const bf_spec *spec, bf_params *d, bf_error *err)
{
    bool stub = false;
    if (r->prefetched) {
        r->prefetched = false;
        *d = r->desc;
        return 1;
    }
    int rc = attach_once(r, spec, d, &stub, err);
    for (int i = 0; stub && i < STUB_TRIES; i++) {
        nanosleep(&(struct timespec){ 0, 4000000 }, NULL);
        rc = attach_once(r, spec, d, &stub, err);
    }
    if (stub && rc == 0) return bf_fail(err, BF_EIO, "%s changes too fast to be adopted", r->label);
    return rc;
}

/* ---- several keys in one round trip ---- */
/* Reads the shards, or the only key: in one round trip, or in one per shard if one_slot is set.
 * Calls take() for each key until take() returns false. The snapshot is NULL if the key could not
 * be read. Returns 1, 0 if take() returned false, or an error. */
static int read_keys(
    bf_redis *whole, bool (*take)(bf_redis *, const bf_redis_key_snapshot *), bf_error *err)
{
    bf_redis_key_snapshot s;
    bf_conn *l = whole->conn;
    const unsigned n = whole->shards, step = l->one_slot ? 1 : n;
    bool going = true;
    int rc = 0;
    for (unsigned i = 0; going && rc == 0 && i < n; i += step) {
        bf_conn_begin(l, BF_READS);
        for (unsigned j = i; j < i + step; j++) {
            bf_redis *one = bf_redis_key(whole, j);
            bf_conn_route(l, one->key);
            bf_redis_append_key_reads(one);
        }
        rc = bf_conn_exchange(l, err);
        for (unsigned j = i; going && rc == 0 && j < i + step; j++) {
            bf_redis *one = bf_redis_key(whole, j);
            going = take(one, bf_redis_take_key_reads(one, &s, err) < 0 ? NULL : &s);
        }
    }
    return rc < 0 ? rc : going;
}

static bool open_if_sound(bf_redis *r, const bf_redis_key_snapshot *s)
{
    bf_redis_meta m;
    r->prefetched = false;
    if (!s || r->conn->reply.n < 2 || bf_redis_meta_read(r, &m, NULL) < 0 ||
        m.whole_id != r->whole->filter_id || m.desc.kind || s->end != m.mark ||
        bf_redis_take_meta(r, &m, NULL) < 0)
        return true;
    r->prefetched = (uint64_t)s->bytes == bf_redis_length(r);
    return true;
}

int bf_redis_prefetch_shards(bf_redis *whole, bf_error *err)
{
    const int rc = read_keys(whole, open_if_sound, err);
    return rc < 0 ? rc : 0;
}

/* A filter that was cleared or has grown has a new mark, and is the same filter. */
static bool is_current(bf_redis *r, const bf_redis_key_snapshot *s)
{
    const bf_redis_reply *hash = &r->conn->reply;
    const uint32_t mark = s ? bf_redis_id_in(hash, bf_redis_field(hash, "mark")) : 0;
    return mark && bf_redis_id_in(hash, bf_redis_field(hash, "born")) == r->filter_id &&
           (r->desc.kind || (uint64_t)s->bytes == bf_redis_length(r)) &&
           (bf_redis_mark_apart(r) || s->end == mark);
}

/* A key of another type is not this filter; Redis may also be unreachable or refuse to say it. */
int bf_redis_keys_current(bf_redis *r, bf_error *err)
{
    bf_error why = { .code = 0 };
    const int rc = read_keys(r, is_current, &why);
    if (rc == 1 || (rc == 0 && why.code != BF_EIO)) return rc;
    if (err) *err = why;
    return why.code;
}
