/* redisson.c - a filter as Redisson keeps it (3.45.1): the bits in K, made by the first add, and
 * {K}:config, a hash of
 *   size   hashIterations   expectedInsertions   falseProbability
 * Written as Redisson writes it, so that either side may make the filter and both go on with it. It
 * has no mark: instead every trip asks for size and hashIterations, as Redisson's own scripts do,
 * and finds out that the filter was deleted or is another one.  Nobody finds out that K alone was
 * lost, or that an equal filter was made in its place. */
#include "parts/filter.h"
#include "redis/mark.h"
#include "redis/meta.h"
#include "redis/redisson.h"
#include "redis/scripts.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REAL = 48 };                  /* a double as text, a NUL */
enum { AS_IT_WAS = 1, CHANGED = 2 }; /* what stands for the mark; 0 = gone */

bool bf_is_redisson(const char *scheme) { return scheme && !strcmp(scheme, "redisson"); }

/* ---- reading ---- */
static bool positive_number(const bf_redis_reply *r, size_t i, uint64_t most, uint64_t *out)
{
    return bf_redis_whole_number(r, i, 10, out) && *out >= 1 && *out <= most;
}

int bf_redisson_read(const bf_redis *r, bf_desc *d, bf_error *err)
{
    const bf_redis_reply *from = &r->conn->reply;
    uint64_t k, n;
    bf_find_scheme(d, "redisson", NULL, NULL); /* a row of the table */
    d->g = (bf_geometry){ .shards = 1 };
    if (!positive_number(from, bf_redis_field(from, "size"), d->scheme->m_max, &d->g.m) ||
        !positive_number(from, bf_redis_field(from, "hashIterations"), BF_K_MAX, &k))
        return bf_fail(err, BF_EFORMAT,
            "%s: Redisson's hash beside it (the key with :config) has no valid size or "
            "hashIterations",
            r->label);
    d->g.k = (unsigned)k;
    d->g.lines = d->g.m;
    d->g.n = positive_number(from, bf_redis_field(from, "expectedInsertions"), BF_N_MAX, &n) ? n
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
    if (from->n != 2 || !positive_number(from, 0, UINT64_MAX, &m) ||
        !positive_number(from, 1, UINT64_MAX, &k))
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

void bf_redisson_place(bf_redis *r, const bf_desc *d)
{
    bf_redis_place(r, d);
    r->foreign = r->redisson = true;
    r->mark = AS_IT_WAS;
}

/* ---- making ---- */
/* As Java's Double.toString: the shortest digits that give p again, below 0.001 as 1.0E-4. */
static void as_java(char out[REAL], double p)
{
    char e[REAL], *power;
    int places = 0;
    bf_print(e, sizeof e, "%.0e", p);
    while (bf_real(e, NULL) != p) bf_print(e, sizeof e, "%.*e", ++places, p); /* 16 always do */
    power = strchr(e, 'e');
    *power++ = 0;
    if (p >= 1e-3)
        bf_print(out, REAL, "%.*f", places - atoi(power), p);
    else
        snprintf(out, REAL, "%.24s%sE%d", e, places ? "" : ".0", atoi(power));
}

int bf_redisson_make(bf_redis *r, const bf_desc *d, bf_error *err)
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
