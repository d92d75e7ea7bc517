/* keyset.c - a filter with several keys in Redis: shards (K:0, K:1, ...) or parts, and K:meta with
 * the parameters.
 *
 * A shard is stored like a filter without shards. K:meta is created before the shards and deleted
 * after them. If the process dies in between, shards are missing. Then opening the filter is an
 * error, unless the caller passes parameters: then the missing shards are created. */
#include "redis/redis.h"

/* Initializes r as a shard or part of `whole`. kind and i determine the name of r. */
static int init_sibling(
    bf_redis *r, bf_redis *whole, enum bf_redis_kind_of_name kind, int64_t i, bf_error *err)
{
    *r = (bf_redis){ .conn = whole->conn,
        .whole = whole,
        .shards = 1,
        .wait_replicas = whole->wait_replicas,
        .caches = whole->caches,
        .cache_max_age = whole->cache_max_age };
    r->key = bf_redis_name(r->conn, whole->key, kind, i);
    r->meta = r->key ? bf_redis_name(r->conn, r->key, BF_NAME_META, 0) : NULL;
    if (!r->meta) return bf_fail(err, BF_ENOMEM, "out of memory");
    bf_conn_label(r->conn, r->key, r->label);
    return 0;
}

/* ---- shards ---- */
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
    bf_redis_set_params(r, d);
    int rc = 0;
    for (unsigned i = 0; rc == 0 && i < r->shards; i++) {
        rc = init_sibling(r->shard + i, r, BF_NAME_SHARD, i, err);
        bf_redis_set_params(r->shard + i, d);
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
    if (rc) return rc < 0 ? rc : 0;
    return bf_fail(err, BF_EIO,
        "%s is created and deleted all the time: it could neither be opened nor created", r->label);
}

/* Returns true if any shard exists, or after an error. */
static bool any_shard(bf_redis *r)
{
    bf_conn *l = r->conn;
    long long n = 1;
    for (unsigned i = 0; i < r->shards; i++) {
        if (bf_conn_query(l, NULL, "EXISTS %s", bf_redis_key(r, i)->key) < 0 ||
            !bf_reply_integer(&l->reply, 0, &n) || n)
            return true;
    }
    return false;
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
    if ((rc = bf_check_match(d, spec, r->label, err)) < 0 && make && !r->making && !any_shard(r))
        rc = 1;
    if (rc == 0) rc = bf_redis_prefetch_keys(r, NULL, r->shards, err);
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
    if (id == 0) rc = find_id(r, &id, err);
    bf_redis_select(r);
    if (rc == 0) {
        bf_conn_begin(r->conn, BF_WRITES);
        bf_conn_eval(r->conn, bf_script_create, 2);
        bf_conn_append(r->conn, "%s %s %x making 1", r->key, r->meta, r->mark);
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

/* ---- parts ---- */
static enum bf_redis_kind_of_name kind_of_part(const bf_filter *f)
{
    return f->variant->forgets ? BF_NAME_EPOCH : BF_NAME_PART;
}

/* A part is not freed before the filter is closed, because other threads may be using the part. */
bf_part *bf_redis_part_slot(bf_filter *f, unsigned i, bf_error *err)
{
    bf_part *p = f->part[i];
    if (p) return p;
    if (!(p = calloc(1, sizeof *p))) {
        bf_fail(err, BF_ENOMEM, "out of memory");
        return NULL;
    }
    p->bitmap.store =
        (bf_store){ .ops = f->bitmap.store.ops, .read_only = f->bitmap.store.read_only };
    p->live = &p->own;
    bf_live_set(p->live, f->variant->forgets ? BF_NEVER : 0);
    bf_fence();
    f->part[i] = p;
    return p;
}

/* Clears the pointers before it frees anything; bf_redis_name_part sets them last. So a child
 * forked at any moment, which takes over the lock, finds complete data or NULL. */
void bf_redis_close_part(bf_part *p)
{
    bf_store *s = &p->bitmap.store, old = *s;
    bf_live_set(p->live, BF_NEVER);
    p->last_mark = 0;
    s->label = NULL;
    s->impl = NULL;
    bf_fence();
    s->ops->close(&old);
}

int bf_redis_name_part(bf_filter *f, bf_part *p, int64_t number, bf_error *err)
{
    bf_store *s = &p->bitmap.store, new = *s;
    bf_redis *r = new.impl = malloc(sizeof *r);
    if (!r) return bf_fail(err, BF_ENOMEM, "out of memory");
    const int rc = init_sibling(r, bf_redis_whole(f), kind_of_part(f), number, err);
    if (rc < 0) {
        s->ops->close(&new);
        return rc;
    }
    bf_fence();
    s->impl = r;
    s->label = r->label;
    return 0;
}

static int open_part(bf_filter *f, bf_part *p, int64_t number, bf_error *err)
{
    const bf_params *want = &f->desc;
    const bool forgets = f->variant->forgets;
    const char *of = forgets ? "of epoch " : "", *label = bf_redis_whole(f)->label;
    bf_params d;
    int rc =
        p->bitmap.store.ops->attach(&p->bitmap.store, &(bf_spec){ .must_exist = true }, &d, err);
    if (rc == BF_ENOENT && forgets) return bf_redis_fail_lost(bf_redis_whole(f), err);
    if (rc < 0) return rc;
    if (d.kind || bf_difference(&d, want, forgets ? BF_SAME_BITS : BF_SAME_HASH))
        return bf_fail(err, BF_EFORMAT, "%s: its part %s%lld does not belong to it", label, of,
            (long long)number);
    d.index = forgets ? 0 : (unsigned)number;
    if (!bf_chain_part_possible(want, &d))
        return bf_fail(err, BF_EFORMAT,
            "%s: its part %s%lld has n=%llu, which does not fit m=%llu, p=%g, k=%u", label, of,
            (long long)number, (unsigned long long)d.g.n, (unsigned long long)d.g.m, d.g.p, d.g.k);
    bf_live_set(p->live, forgets ? number : (int64_t)bf_redis_of(p)->keys);
    return 0;
}

int bf_redis_open_parts(
    bf_filter *f, bf_part *const *p, const int64_t *number, unsigned n, bf_error *err)
{
    bf_redis *r[BF_PARTS_MAX];
    int rc = 0;
    for (unsigned i = 0; i < n; i++) {
        if (!bf_redis_of(p[i])) rc = bf_redis_name_part(f, p[i], number[i], err);
        if (rc < 0) return rc;
        r[i] = bf_redis_of(p[i]);
    }
    {
        BF_REDIS_LOCK(bf_redis_whole(f));
        rc = bf_redis_prefetch_keys(bf_redis_whole(f), r, n, err);
    }
    for (unsigned i = 0; rc == 0 && i < n; i++) rc = open_part(f, p[i], number[i], err);
    return rc;
}

static void append_names(bf_filter *f, int64_t number)
{
    bf_redis part, *whole = bf_redis_whole(f);
    if (init_sibling(&part, whole, kind_of_part(f), number, NULL) < 0)
        whole->conn->no_memory = true;
    else
        bf_conn_append(whole->conn, "%s %s", part.key, part.meta);
    free(part.key);
    free(part.meta);
}

/* Appends EVAL of bf_script_append or bf_script_turn and the arguments before the part's fields.
 * next: the new mark of the part that was the newest. */
static void append_script(
    bf_filter *f, const bf_redis *r, const bf_redis_new_part *new, const char *temp, uint32_t next)
{
    bf_redis *whole = bf_redis_whole(f);
    bf_conn *l = whole->conn;
    const bool grows = f->variant->grows, first = new->newest == BF_NEVER;
    const unsigned later = first && grows ? BF_PARTS_MAX - 1 : 0;
    const bf_redis *before = grows && !first ? bf_redis_of(f->part[new->newest]) : NULL;
    bf_conn_eval(l, grows ? bf_script_append : bf_script_turn, 6 + 2 * later);
    if (first)
        bf_conn_append(l, "%s %s", whole->key, whole->meta);
    else
        append_names(f, new->newest);
    bf_conn_append(l, "%s %s %s %s", temp, r->key, r->meta, whole->meta);
    for (unsigned i = 1; i <= later; i++) append_names(f, i);
    bf_conn_append(l, "%n %x %r %x %i", before ? before->mark_at : r->mark_at,
        before ? before->mark : whole->filter_id, next, next, new->number);
    if (grows)
        bf_conn_append(l, "%n", (uint64_t)(first ? bf_redis_params_args(&f->desc) : 0));
    else
        bf_conn_append(l, "%n %i %i", new->ms, new->oldest, new->newest);
    if (later) bf_redis_append_params(whole, &f->desc, f->desc.secret_check);
}

/* *v: the number that the script returned */
static int create_part(bf_filter *f, bf_redis *r, const bf_redis_new_part *new, uint32_t next,
    long long *v, bf_error *err)
{
    BF_REDIS_LOCK(r);
    char *temp = bf_redis_name(r->conn, r->key, BF_NAME_TEMP, 0);
    if (!temp) return bf_fail(err, BF_ENOMEM, "out of memory");
    bf_redis_set_params(r, new->desc);
    r->mark = r->filter_id = bf_random();
    int rc = bf_redis_zeros(r, temp, r->mark, err);
    if (rc == 0) {
        bf_conn_begin(r->conn, BF_WRITES);
        append_script(f, r, new, temp, next);
        bf_redis_meta_put(r, new->desc, r->mark);
        rc = bf_conn_run_script(r->conn, v, err);
    }
    if (rc < 0) bf_redis_discard(r, temp);
    free(temp);
    return rc;
}

int bf_redis_make_part(bf_filter *f, bf_part *p, const bf_redis_new_part *new, bf_error *err)
{
    bf_redis *r = bf_redis_of(p);
    const uint32_t next = bf_random();
    long long v = -1;
    const int rc = create_part(f, r, new, next, &v, err);
    if (rc < 0 || v == 0 || v == 2) return rc < 0 ? rc : (int)v;
    if (v == -1) return bf_redis_fail_temp(r, err);
    if (v != 1)
        return v == 3 ? bf_fail(err, BF_EFORMAT,
                            "%s holds bytes that are not a part of this filter: use another key, "
                            "or delete them",
                            r->label)
                      : bf_redis_fail_protocol(r, err);
    p->last_mark = r->mark;
    if (f->variant->forgets || new->newest == BF_NEVER) return 1;
    bf_redis *before = bf_redis_of(f->part[new->newest]);
    bf_uint_store_release(&before->mark, next);
    return 1;
}

/* ---- the id in K:meta ---- */
int bf_redis_finish_fields(bf_redis *whole, size_t n, bf_error *err)
{
    const bf_redis_reply *reply = &whole->conn->reply;
    const int rc = bf_conn_finish(whole->conn, err);
    if (rc < 0) return rc;
    bool sound = reply->n == n;
    for (size_t i = 0; sound && i < n; i++)
        sound = reply->leaves[i].type == BF_LEAF_TEXT || reply->leaves[i].type == BF_LEAF_NIL;
    if (!sound) return bf_redis_fail_protocol(whole, err);
    if (reply->leaves[0].type == BF_LEAF_NIL) {
        bf_flag_set(&whole->loss_reported);
        return bf_redis_fail_lost(whole, err);
    }
    return bf_redis_id_in(reply, 0) != whole->filter_id;
}

int bf_redis_follow_id(bf_filter *f, bool opening, bf_error *err)
{
    bf_redis *whole = bf_redis_whole(f);
    bf_redis_meta m;
    uint64_t gone = 0;
    int rc;
    {
        BF_REDIS_LOCK(whole);
        rc = bf_redis_reread_meta(whole, &m, err);
    }
    if (rc < 0) return rc;
    if (bf_difference(&m.desc, &f->desc, BF_SAME_FILTER) || m.desc.g.n != f->desc.g.n ||
        m.desc.g.p != f->desc.g.p)
        return bf_fail(err, BF_EMISMATCH, "%s was re-created with other parameters: open it again",
            whole->label);
    const uint32_t before = whole->filter_id;
    if (m.id == before) return 0;
    whole->filter_id = m.id;
    (m.users_clock ? bf_flag_set : bf_flag_clear)(&whole->users_clock);
    if (f->count == 0) return 0;
    if (f->variant->grows && (rc = open_part(f, f->part[0], 0, err)) < 0) {
        if (!opening) whole->filter_id = before; /* so that the next call reports the error, too */
        return rc;
    }
    for (unsigned i = 0; i < BF_PARTS_MAX && f->part[i]; i++) {
        bf_redis *r = bf_redis_of(f->part[i]);
        if (r) gone += r->added;
        if (r) r->added = 0;
        f->part[i]->last_mark = 0;
        if (f->variant->forgets) bf_redis_close_part(f->part[i]);
    }
    f->newest = BF_NEVER;
    bf_live_set(f->epoch, BF_NEVER);
    bf_flag_clear(&f->at_limit);
    if (f->variant->grows) bf_uint_store_release(&f->count, 1);
    if (opening) return 0;
    const bool reported = whole->doubt || bf_flag_get(&whole->loss_reported);
    whole->doubt = false;
    bf_flag_clear(&whole->loss_reported);
    return reported ? 0 : bf_redis_fail_recreated(whole->label, gone, err);
}

/* ---- changes of K:meta ---- */
int bf_redis_run_meta(bf_redis *r, const char *command, uint64_t argument, bf_error *err)
{
    bf_conn *l = r->conn;
    long long done = 0;
    bf_redis_select(r);
    bf_conn_begin(l, BF_WRITES);
    bf_conn_eval(l, bf_script_care, 1);
    bf_conn_append(l, "%s %s %x", r->meta, "", r->filter_id);
    bf_conn_append(l, command, argument);
    const int rc = bf_conn_run_script(l, &done, err);
    return rc < 0 || done == 1 ? rc : bf_redis_fail_lost(r, err);
}
