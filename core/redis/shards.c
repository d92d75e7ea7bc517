/* shards.c - a filter with several keys in Redis: the shards K:0, K:1, ..., and K:meta with the
 * parameters.
 *
 * A shard is stored like a filter without shards. K:meta is created before the shards and deleted
 * after them. If the process dies in between, shards are missing. Then opening the filter is an
 * error, unless the caller passes parameters: then the missing shards are created. */
#include "redis/redis.h"

/* Initializes r as shard i of `whole`. */
static int init_shard(bf_redis *r, bf_redis *whole, unsigned i, bf_error *err)
{
    *r = (bf_redis){ .conn = whole->conn,
        .whole = whole,
        .shards = 1,
        .epoch = BF_NEVER,
        .wait_replicas = whole->wait_replicas,
        .caches = whole->caches,
        .cache_max_age = whole->cache_max_age };
    r->key = bf_redis_name(r->conn, whole->key, BF_NAME_SHARD, i);
    r->meta = r->key ? bf_redis_name(r->conn, r->key, BF_NAME_META, 0) : NULL;
    if (!r->meta) return bf_fail(err, BF_ENOMEM, "out of memory");
    bf_conn_label(r->conn, r->key, r->label);
    return 0;
}

void bf_redis_free_shards(bf_redis *r)
{
    for (unsigned i = 0; r->shard && i < r->shards; i++) {
        free(r->shard[i].key);
        free(r->shard[i].meta);
        bf_redis_cache_free(r->shard + i);
    }
    free(r->shard);
    r->shard = NULL;
    r->shards = 1;
}

static int take_shards(bf_redis *r, const bf_params *d, bf_error *err)
{
    if (!(r->shard = calloc(d->g.shards, sizeof *r->shard)))
        return bf_fail(err, BF_ENOMEM, "out of memory");
    r->shards = d->g.shards;
    bf_redis_set_params(r, d, NULL, NULL);
    int rc = 0;
    for (unsigned i = 0; rc == 0 && i < r->shards; i++) {
        rc = init_shard(r->shard + i, r, i, err);
        bf_redis_set_params(r->shard + i, d, NULL, NULL);
    }
    if (rc < 0) bf_redis_free_shards(r);
    return rc;
}

/* Opens shard i. make: creates the shard if it does not exist. */
static int attach_shard(bf_redis *all, const bf_params *d, unsigned i, bool make, bf_error *err)
{
    /* m and k only let the creation pass its check; the new shard has the parameters d */
    const bf_spec spec = { .m = make, .k = make, .must_exist = !make };
    bf_params have;
    int rc = 0;
    bf_redis *r = bf_redis_key(all, i);
    for (int tries = 0; rc == 0 && tries < BF_REDIS_TRIES; tries++) {
        rc = bf_redis_attach_key(r, &spec, &have, err);
        if (rc == 0 && (rc = bf_redis_make(r, d, err)) == 1) {
            r->whole_id = all->filter_id;
            r->made = all->made = true;
            return 0;
        }
        if (rc == 1 && bf_difference(&have, d, BF_SAME_BITS))
            return bf_fail(err, BF_EMISMATCH,
                "%s is a shard of another filter: %s m=%llu k=%u shards=%u", r->label, have.name,
                (unsigned long long)have.g.m, have.g.k, have.g.shards);
    }
    if (rc < 0) return rc;
    /* a constructor has created the shard after the upload created K:meta */
    if (rc == 1) return bf_redis_contents(all) ? bf_redis_unite_contents(r, err) : 0;
    return bf_fail(err, BF_EIO,
        "%s is created and deleted all the time: it could neither be opened nor created", r->label);
}

/* Returns 1 if any shard exists, 0 if not, or an error. */
static int any_shard(bf_redis *r, bf_error *err)
{
    bf_conn *l = r->conn;
    long long n = 0;
    int rc = 0;
    for (unsigned i = 0; rc == 0 && i < r->shards; i++) {
        rc = bf_conn_query(l, err, "EXISTS %s", bf_redis_key(r, i)->key);
        if (rc == 0 && !bf_reply_integer(&l->reply, 0, &n)) rc = bf_redis_fail_protocol(r, err);
        if (rc == 0) rc = n != 0;
    }
    bf_redis_select(r);
    return rc;
}

/* Opens all shards. make: creates the missing shards, then deletes the field `making` from K:meta.
 * Until then no other filter may use the name. */
static int attach_all(bf_redis *r, const bf_params *d, bool make, bf_error *err)
{
    bf_error fault;
    int rc = 0;
    for (unsigned i = 0; rc == 0 && i < r->shards; i++) rc = attach_shard(r, d, i, make, err);
    if (rc < 0) return rc;
    if (!make || !r->making) return 0;
    rc = bf_redis_run_meta(r, "HDEL making", 0, &fault);
    if (rc == 0 || fault.lost)
        return 0; /* if K:meta belongs to another filter, the next call returns the error */
    if (err) *err = fault;
    return rc;
}

int bf_redis_attach_shards(bf_redis *r, const bf_spec *spec, const bf_params *d, bf_error *err)
{
    const bool make = bf_may_create(spec);
    int rc = take_shards(r, d, err);
    if (rc < 0) return rc;
    if (bf_redis_contents(
            r)) { /* the name is in use; completing the shards would lose the other keys */
        if ((rc = r->making ? 1 : any_shard(r, err)) != 0) return rc;
        rc = 1;
    } else if ((rc = bf_check_match(d, spec, r->label, err)) < 0 && make && !r->making &&
               any_shard(r, NULL) == 0)
        rc = 1;
    if (rc == 0) rc = bf_redis_prefetch_shards(r, err);
    if (rc == 0) rc = attach_all(r, d, make, err);
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

/* Sets *id to the filter's id in the first shard that has one: if only K:meta was lost, the filter
 * keeps its id. Otherwise chooses a new id. */
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
    if (*id == 0) *id = bf_random();
    return rc;
}

/* Also replaces a lost filter that opening has found. After an error, deletes the keys that it has
 * created. */
int bf_redis_make_shards(bf_redis *r, const bf_params *d, bf_error *err)
{
    uint32_t id = r->mark ? bf_random() : 0;
    long long made = 0;
    int rc = take_shards(r, d, err);
    if (rc < 0) return rc;
    if (bf_redis_contents(r) && (rc = any_shard(r, err)) > 0) {
        const bool overtaken = bf_redis_has_other_id(r);
        bf_redis_free_shards(r);
        return overtaken ? 0
                         : bf_fail(err, BF_EFORMAT,
                               "%s has shards of a filter whose :meta is lost: delete them first",
                               r->label);
    }
    if (rc == 0 && id == 0) rc = find_id(r, &id, err);
    bf_redis_select(r);
    if (rc == 0) {
        bf_conn_begin(r->conn, BF_WRITES);
        bf_conn_eval(r->conn, bf_script_create, 2);
        bf_conn_append(r->conn, "%s %s %x %s making 1", r->key, r->meta, r->mark, "");
        bf_redis_meta_put(r, d, id);
        rc = bf_conn_run_script(r->conn, &made, err);
    }
    if (rc == 0 && made) {
        r->mark = r->filter_id = id;
        r->making = true;
        if ((rc = attach_all(r, d, true, err)) < 0) {
            const bool overtaken = bf_redis_has_other_id(r);
            for (unsigned i = 0; i < r->shards; i++)
                if (r->shard[i].made) bf_redis_run(bf_redis_key(r, i), "DEL", 0, NULL);
            bf_redis_run_meta(r, "DEL", 0, NULL);
            r->made = false;
            if (overtaken) rc = made = 0;
        }
    }
    bf_redis_select(r);
    if (rc == 0 && made) return 1;
    bf_redis_free_shards(r);
    return rc;
}

/* ---- changes of K:meta ---- */
int bf_redis_run_meta(bf_redis *r, const char *command, uint64_t argument, bf_error *err)
{
    bf_conn *l = r->conn;
    long long done = 0;
    bf_redis_select(r);
    bf_conn_begin(l, BF_WRITES);
    bf_conn_eval(l, bf_script_care, 1);
    bf_conn_append(l, "%s %s %x %s", r->meta, "", r->filter_id, "");
    bf_conn_append(l, command, argument);
    const int rc = bf_conn_run_script(l, &done, err);
    return rc < 0 || done == 1 ? rc : bf_redis_fail_lost(r, err);
}
