/* foreign.c - bitmaps of other systems, opened as they are or taken over (adopt); and filters of
 * Redisson. */
#include "parts/filter.h"
#include "redis/generation.h"
#include "redis/meta.h"
#include "redis/foreign.h"
#include "redis/scripts.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a bitmap ---- */
int bf_redis_no_cache(const bf_redis *r, bf_error *err)
{
    return bf_fail(
        err, BF_ENOTSUP, "%s is a foreign bitmap: it has no mark, and cache needs one", r->label);
}

static int none_past(bf_redis *r, uint64_t m, bf_error *err)
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

/* A string shorter than m is normal: Redis does not store trailing zeros.  If it is longer, m is
 * wrong, and present keys would read as absent.  Our own bits are longer by their mark: such a
 * string is a filter that lost its companion hash. */
static int long_as_m(bf_redis *r, uint64_t m, uint64_t bytes, bf_error *err)
{
    if (bytes <= (m + 7) / 8 || bytes == bf_redis_length(r)) return none_past(r, m, err);
    return bf_fail(err, BF_EMISMATCH,
        "%s holds %llu bytes, m=%llu bits take %llu: it has another m", r->label,
        (unsigned long long)bytes, (unsigned long long)m, (unsigned long long)((m + 7) / 8));
}

/* ---- taking over a bitmap that another system made and goes on with ----
 * It gets a companion hash, and the mark after its last bit, or where that is the last bit of all
 * in the companion hash alone.  Their bits stay where they are, and their offsets end below the
 * mark.  The string grows to the mark a step at a time, each in a script that writes past its end
 * only: a bit that they set meanwhile is never overwritten. */
/* Takes over a string that is at most as long as d needs.  Returns 1 if it is ours now, 0 if it has
 * changed meanwhile. */
static int adopt(bf_redis *r, const bf_params *d, bf_error *err)
{
    enum { STEPS = 8 }; /* rounds of BF_REDIS_STEP bytes */
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
            (uint64_t)STEPS * BF_REDIS_STEP, r->seen, mark);
        bf_redis_meta_put(r, d, mark);
        bf_conn_append(l, "adopted 1");
        if ((rc = bf_conn_run_script(l, &done, err)) < 0) return rc;
    }
    if (done != 1) return 0;
    r->mark = r->filter_id = mark;
    r->adopted = true;
    return 1;
}

/* Opens another system's bitmap: no companion hash, no mark; the string is never lengthened. */
int bf_redis_attach_foreign(
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
    bf_redis_set_params(r, d);
    if ((rc = long_as_m(r, d->g.m, (uint64_t)bytes, err)) < 0) return rc;
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

/* The other system began a new bitmap after the adopted one was lost: adopts it again. */
int bf_redis_adopt_again(
    bf_redis *r, const bf_spec *spec, const bf_params *d, long long bytes, bf_error *err)
{
    int rc = bf_check_match(d, spec, r->label, err);
    if (rc == 0) rc = long_as_m(r, d->g.m, (uint64_t)bytes, err);
    return rc < 0 ? rc : adopt(r, d, err);
}

/* ---- Redisson ----
 * Redisson 3.45.1 keeps the bits in K, created by the first add, and {K}:config, a hash of
 *   size   hashIterations   expectedInsertions   falseProbability
 * It is written as Redisson writes it, so either side can create the filter and both can use it.
 * There is no mark: every trip asks for size and hashIterations, as Redisson's own scripts do,
 * which shows that the filter was deleted or has other parameters.  The loss of K alone, or an
 * equal filter in its place, cannot be detected. */
enum { REAL = 48 };                  /* a double as text, with NUL */
enum { AS_IT_WAS = 1, CHANGED = 2 }; /* what Redisson filters have in place of a mark; 0: lost */

bool bf_is_redisson(const char *scheme) { return scheme && !strcmp(scheme, "redisson"); }

/* ---- reading ---- */
int bf_redisson_read(const bf_redis *r, bf_params *d, bf_error *err)
{
    const bf_redis_reply *from = &r->conn->reply;
    uint64_t k, n;
    bf_find_scheme(d, "redisson", NULL, NULL); /* cannot fail: the table has this row */
    d->g = (bf_geometry){ .shards = 1 };
    if (!bf_redis_whole_number(
            from, bf_redis_field(from, "size"), 10, 1, d->scheme->m_max, &d->g.m) ||
        !bf_redis_whole_number(from, bf_redis_field(from, "hashIterations"), 10, 1, BF_K_MAX, &k))
        return bf_fail(err, BF_EFORMAT,
            "%s: Redisson's hash beside it (the key with :config) has no valid size or "
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

bool bf_redisson_found(const bf_redis *r)
{
    return bf_redis_field(&r->conn->reply, "size") < r->conn->reply.n;
}

void bf_redisson_put_mark(bf_redis *r)
{
    bf_conn_command(r->conn, "HMGET %s size hashIterations", r->meta);
}

uint32_t bf_redisson_mark(const bf_redis *r)
{
    uint64_t m = 0, k = 0;
    const bf_redis_reply *from = &r->conn->reply;
    if (from->n != 2 || !bf_redis_whole_number(from, 0, 10, 1, UINT64_MAX, &m) ||
        !bf_redis_whole_number(from, 1, 10, 1, UINT64_MAX, &k))
        return 0;
    return m == r->desc.g.m && k == r->desc.g.k ? AS_IT_WAS : CHANGED;
}

int bf_redisson_changed(const bf_redis *r, uint32_t seen, bf_error *err)
{
    if (seen == 0) return bf_redis_fail_lost(r, err);
    return bf_fail(err, BF_EMISMATCH,
        "%s was re-created by Redisson: its :config is no longer m=%llu k=%u", r->label,
        (unsigned long long)r->desc.g.m, r->desc.g.k);
}

void bf_redisson_place(bf_redis *r, const bf_params *d)
{
    bf_redis_set_params(r, d);
    r->foreign = r->redisson = true;
    r->mark = AS_IT_WAS;
}

/* ---- making ---- */
/* Formats p as Java's Double.toString: the shortest digits that read back as p, below 0.001
 * as 1.0E-4. */
static void as_java(char out[REAL], double p)
{
    char e[REAL], *power;
    int places = 0;
    bf_print(e, sizeof e, "%.0e", p);
    /* 16 digits are always enough */
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
    as_java(p, d->g.p);
    bf_conn_begin(l, BF_WRITES);
    bf_conn_eval(l, bf_script_create, 2);
    bf_conn_append(l,
        "%s %s %s size %n hashIterations %n expectedInsertions %n falseProbability %s", r->key,
        r->meta, "", d->g.m, (uint64_t)d->g.k, d->g.n, p);
    const int rc = bf_conn_run_script(l, &made, err);
    if (rc < 0) return rc;
    if (made) bf_redisson_place(r, d);
    return made != 0;
}
