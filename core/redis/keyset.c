/* keyset.c - a filter of several keys in Redis: its shards (K:0, K:1, ...) or its parts, and
 * K:meta, which has the filter's parameters.  Names: names.c.  When a part is created, and which
 * part a key goes to, is decided in scalable.c and window.c; batch.c asks several keys in one trip.
 *
 * A shard is stored as a filter without shards is, with its own mark and companion hash.  So code
 * that selects a shard creates, follows and clears it as such a filter.  K:meta is created first
 * and deleted last.  A process that dies in between leaves a filter with missing shards: opening it
 * is an error, and the next constructor creates them. */
#include "bits/bits.h"
#include "parts/filter.h"
#include "redis/open.h"
#include "redis/bitmap.h"
#include "redis/names.h"
#include "redis/keyset.h"
#include "redis/generation.h"
#include "redis/meta.h"
#include "redis/scripts.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- shards ---- */
void bf_redis_free_shards(bf_redis *r)
{
    for (unsigned i = 0; r->shard && i < r->shards; i++) {
        free(r->shard[i].key);
        free(r->shard[i].meta);
    }
    free(r->shard);
    r->shard = NULL;
    r->shards = 1;
}

static int take_shards(bf_redis *r, const bf_desc *d, bf_error *err)
{
    bool fine = (r->shard = calloc(d->g.shards, sizeof *r->shard)) != NULL;
    r->shards = fine ? d->g.shards : 1;
    bf_redis_place(r, d);
    for (unsigned i = 0; fine && i < r->shards; i++) {
        bf_redis *one = r->shard + i;
        *one = (bf_redis){
            .conn = r->conn, .whole = r, .shards = 1, .wait_replicas = r->wait_replicas
        };
        bf_redis_place(one, d);
        one->key = bf_redis_name(r->conn, r->key, BF_NAME_SHARD, i);
        one->meta = one->key ? bf_redis_name(r->conn, one->key, BF_NAME_META, 0) : NULL;
        if ((fine = one->meta != NULL)) bf_conn_label(r->conn, one->key, one->label);
    }
    if (fine) return 0;
    bf_redis_free_shards(r);
    return bf_fail(err, BF_ENOMEM, "out of memory");
}

/* ---- opening and making ---- */
/* Returns 1 if shard i was opened, 2 if it was created. */
static int attach_shard(bf_redis *all, const bf_desc *d, unsigned i, bool make, bf_error *err)
{
    const bf_spec spec = {
        .m = make, .k = make, .must_exist = !make
    }; /* sufficient or not, nothing else */
    bf_desc have;
    int rc = 0;
    bf_redis *r = bf_redis_key(all, i);
    for (int tries = 0; rc == 0 && tries < BF_REDIS_TRIES; tries++) {
        rc = bf_redis_attach_key(r, &spec, &have, err);
        if (rc == 0 && (rc = bf_redis_make(r, d, err)) == 1) {
            r->whole_id = all->filter_id;
            return 2;
        }
        if (rc == 1 && bf_difference(&have, d, BF_SAME_BITS))
            return bf_fail(err, BF_EMISMATCH,
                "%s is a shard of another filter: %s m=%llu k=%u shards=%u", r->label, have.name,
                (unsigned long long)have.g.m, have.g.k, have.g.shards);
    }
    return rc ? rc
              : bf_fail(err, BF_EIO,
                    "%s is created and deleted all the time: it could neither be opened nor "
                    "created",
                    r->label);
}

static bool any_shard(bf_redis *r)
{
    bf_conn *l = r->conn;
    long long n = 1;
    for (unsigned i = 0; i < r->shards; i++) {
        if (bf_conn_ask(l, NULL, "EXISTS %s", bf_redis_key(r, i)->key) < 0 ||
            !bf_reply_integer(&l->reply, 0, &n) || n)
            return true;
    }
    return false;
}

/* Opens all shards, or with make creates those that are missing: mine, where it is not NULL.  While
 * K:meta has the field making, no other filter can take the name. */
static int attach_all(bf_redis *r, const bf_desc *d, bool make, bool *mine, bf_error *err)
{
    bf_error fault;
    for (unsigned i = 0; i < r->shards; i++) {
        const int rc = attach_shard(r, d, i, make, err);
        if (rc < 0) return rc;
        r->made |= rc == 2;
        if (mine) mine[i] = rc == 2;
    }
    if (!make || !r->making) return 0;
    const int rc = bf_redis_whole_command(r, "HDEL", "making", &fault);
    if (rc == 0 || fault.lost) return 0; /* the next call finds another filter's K:meta */
    if (err) *err = fault;
    return rc;
}

/* K:meta has d.  A filter that has lost all its shards may be replaced by one with other
 * parameters. */
int bf_redis_attach_shards(
    bf_redis *r, const bf_spec *spec, const bf_desc *d, uint32_t mark, bf_error *err)
{
    const bool make = !spec->read_only && !spec->must_exist && bf_sufficient(spec);
    int rc = take_shards(r, d, err);
    if (rc < 0) return rc;
    r->mark = mark;
    if ((rc = bf_match(d, spec, r->label, err)) < 0 && make && !r->making && !any_shard(r)) rc = 1;
    if (rc == 0) rc = attach_all(r, d, make, NULL, err);
    bf_redis_select(r);
    if (rc == 0) return 1;
    bf_redis_free_shards(r);
    return rc < 0 ? rc : 0;
}

bool bf_redis_has_other_id(bf_redis *r)
{
    uint32_t id;
    bf_redis_select(r);
    return bf_redis_fetch_id(r, &id, NULL) == 0 && id && id != r->filter_id;
}

/* If K:meta alone was lost, the shards still name the id that it had, and keep it. */
static int find_id(bf_redis *r, uint32_t *id, bf_error *err)
{
    bf_redis_meta m;
    int rc = 0;
    for (unsigned i = 0; rc == 0 && *id == 0 && i < r->shards; i++) {
        bf_redis *one = bf_redis_key(r, i);
        rc = bf_redis_fetch_meta(one, err);
        if (rc == 0 && one->conn->reply.n && bf_redis_meta_read(one, &m, NULL) == 0)
            *id = m.whole_id;
    }
    if (*id == 0) *id = bf_redis_new_mark();
    return rc;
}

/* Replaces the lost filter that was seen, if there was one; 0 if the name is in use by now.  A
 * creation that fails leaves nothing behind. */
int bf_redis_make_shards(bf_redis *r, const bf_desc *d, bf_error *err)
{
    bool mine[BF_SHARDS_MAX] = { false };
    uint32_t id = r->seen ? bf_redis_new_mark() : 0;
    long long made = 0;
    int rc = take_shards(r, d, err);
    if (rc < 0) return rc;
    if (id == 0) rc = find_id(r, &id, err);
    bf_redis_select(r);
    if (rc == 0) {
        bf_conn_begin(r->conn, BF_WRITES);
        bf_conn_eval(r->conn, bf_script_create, 2);
        bf_conn_append(r->conn, "%s %s %x making 1", r->key, r->meta, r->seen);
        bf_redis_meta_put(r, d, id);
        rc = bf_conn_run_script(r->conn, &made, err);
    }
    if (rc == 0 && made) {
        r->mark = r->filter_id = id;
        r->making = true;
        if ((rc = attach_all(r, d, true, mine, err)) < 0) {
            const bool overtaken = bf_redis_has_other_id(r);
            for (unsigned i = 0; i < r->shards; i++)
                if (mine[i]) bf_redis_remove(bf_redis_key(r, i), NULL);
            bf_redis_whole_command(r, "DEL", NULL, NULL);
            r->made = false;
            if (overtaken) rc = made = 0;
        }
    }
    bf_redis_select(r);
    if (rc == 0 && made) return 1;
    bf_redis_free_shards(r);
    return rc;
}

/* ---- a new part ---- */
char *bf_redis_begin_part(bf_redis *r, const bf_desc *d, uint32_t mark, bf_error *err)
{
    char *temp = bf_redis_name(r->conn, r->key, BF_NAME_TEMP, 0);
    if (!temp) {
        bf_fail(err, BF_ENOMEM, "out of memory");
        return NULL;
    }
    bf_redis_place(r, d);
    if (bf_redis_zeros(r, temp, mark, err) == 0) {
        bf_conn_begin(r->conn, BF_WRITES);
        return temp;
    }
    bf_redis_discard(r, temp);
    free(temp);
    return NULL;
}

int bf_redis_end_part(bf_redis *r, char *temp, bf_error *err)
{
    long long v = -1;
    const int rc = bf_conn_run_script(r->conn, &v, err);
    if (rc < 0) bf_redis_discard(r, temp);
    free(temp);
    if (rc < 0 || (v >= 0 && v <= 2)) return rc < 0 ? rc : (int)v;
    if (v != 3) return bf_fail(err, BF_EIO, "%s: unexpected reply to a script", r->label);
    return bf_fail(err, BF_EFORMAT,
        "%s holds bytes that are not a part of this filter: use another key, or delete them",
        r->label);
}

/* ---- which filter it is ---- */
/* A handle follows a re-creation only if the parameters are the same.  *id: that of the filter
 * under the key now. */
int bf_redis_check_alike(bf_filter *f, uint32_t *id, bf_error *err)
{
    bf_redis *whole = bf_redis_whole(f);
    const bf_desc *have = &f->chain->desc;
    bf_redis_meta m;
    bf_redis_lock(whole);
    int rc = bf_redis_fetch_meta(whole, err);
    if (rc == 0)
        rc = whole->conn->reply.n ? bf_redis_meta_read(whole, &m, err)
                                  : bf_redis_fail_lost(whole, err);
    bf_conn_unlock(whole->conn);
    *id = rc == 0 ? m.id : 0;
    if (rc < 0) return rc;
    if (!bf_difference(&m.desc, have, BF_SAME_FILTER) && m.desc.g.n == have->g.n &&
        m.desc.g.p == have->g.p)
        return 0;
    return bf_fail(
        err, BF_EMISMATCH, "%s was re-created with other parameters: open it again", whole->label);
}

/* The handle uses the new filter from now on.  Raises one error, none if it has raised "is lost".
 */
int bf_redis_take_recreated(bf_filter *f, uint32_t born, bf_error *err)
{
    bf_redis *whole = bf_redis_whole(f);
    uint64_t gone = 0;
    for (unsigned i = 0; i < f->chain->count || i < f->chain->kept; i++) {
        bf_redis *r = f->chain->piece[i]->part.store.impl;
        if (!r) continue;
        gone += r->added;
        r->added = 0;
        /* by the part: doubts() takes that away where the whole is to tell */
        if (r->outcome != BF_FINE) bf_flag_set(&whole->loss_reported);
        r->outcome = BF_FINE;
    }
    const bool told = bf_flag_get(&whole->loss_reported);
    whole->filter_id = born;
    bf_flag_clear(&whole->loss_reported);
    if (told) bf_flag_set(&f->chain->moved);
    return told ? 0 : bf_redis_fail_recreated(whole->label, gone, err);
}

/* ---- the hash of the whole ---- */
int bf_redis_whole_command(bf_redis *r, const char *command, const char *argument, bf_error *err)
{
    bf_conn *l = r->conn;
    long long done = 0;
    bf_redis_select(r);
    bf_conn_begin(l, BF_WRITES);
    bf_conn_eval(l, bf_script_whole, 1);
    bf_conn_append(l, "%s %x %s", r->meta, r->filter_id, command);
    if (argument) bf_conn_append(l, "%s", argument);
    const int rc = bf_conn_run_script(l, &done, err);
    return rc < 0 || done == 1 ? rc : bf_redis_fail_lost(r, err);
}

int bf_redis_whole_expire(bf_redis *r, double seconds, bf_error *err)
{
    char ms[24] = "";
    *bf_redis_digits(ms, bf_redis_ms(seconds)) = 0;
    return bf_redis_whole_command(
        r, seconds > 0 ? "PEXPIRE" : "PERSIST", seconds > 0 ? ms : NULL, err);
}
