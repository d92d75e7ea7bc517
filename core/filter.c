/* filter.c - checks a spec, opens or creates the filter that it describes (bf_open), and computes
 * missing parameters (bf_plan). */
#include "sets/rebuild.h"
#include "parts/parts.h"
#include "sets/sets.h"
#include <errno.h>
#include <string.h>

/* ---- checks of a spec ---- */
static int check_spec(const bf_spec *spec, bf_error *err)
{
    static const char zeros[BF_RESERVED];
    const char *path;
    bool in_redis = spec->redis_client || (spec->storage && bf_is_url(spec->storage));
    if (memcmp(spec->reserved, zeros, sizeof zeros) != 0)
        return bf_fail(err, BF_EINVAL,
            "bf_spec.reserved is not 0: the struct was not cleared, or the program needs a later "
            "version of the library");
    if (bf_check_before_open(spec, err) < 0) return BF_EINVAL;
    if (spec->storage && bf_storage_path(spec->storage, &path, err) < 0) return BF_EINVAL;
    if (spec->counting && spec->window != 0)
        return bf_fail(err, BF_EINVAL, "a counting filter cannot forget: window must not be given");
    if (spec->counting && spec->client)
        return bf_fail(err, BF_ENOTSUP, "a client callback cannot count");
    if (spec->grow != 0 && !bf_grow_valid(spec->grow))
        return bf_refuse_real(err, "grow", spec->grow);
    if (spec->window != 0 && !bf_window_valid(spec->window, 1))
        return bf_refuse_real(err, "window", spec->window);
    const bool many = spec->grow != 0 || spec->window != 0;
    if (many && spec->shards > 1)
        return bf_fail(err, BF_EINVAL,
            "shards=%u: a filter with shards can neither grow nor forget", spec->shards);
    if ((spec->parts || spec->clock) && spec->window == 0 && !spec->storage && !in_redis)
        return bf_fail(err, BF_EINVAL, "%s is for forgetting filters: give window",
            spec->parts ? "parts" : "clock");
    if (spec->timeout != 0 && !(spec->timeout >= 0.001 && spec->timeout <= 86400))
        return bf_refuse_real(err, "timeout", spec->timeout);
    if (spec->retry_after != BF_ALWAYS_TRY &&
        !(spec->retry_after >= 0 && spec->retry_after <= 86400))
        return bf_refuse_real(err, "retry_after", spec->retry_after);
    if (spec->cache_max_age != 0 && !(spec->cache_max_age > 0))
        return bf_refuse_real(err, "cache_max_age", spec->cache_max_age);
    if ((spec->timeout != 0 || spec->retry_after != 0 || spec->wait_replicas || spec->cache ||
            spec->cache_max_age != 0) &&
        !in_redis)
        return bf_fail(err, BF_EINVAL,
            "timeout, retry_after, wait_replicas, cache and cache_max_age are for filters in "
            "Redis, but no Redis is given");
    if (spec->adopt && (!in_redis || spec->read_only || !spec->scheme))
        return bf_fail(err, BF_EINVAL,
            !in_redis         ? "adopt is for filters in Redis, but no Redis is given"
            : spec->read_only ? "adopt writes to the filter: read_only must not be given"
                              : "adopt takes over another system's bitmap: scheme must be given");
    if (spec->exclusive && (!spec->storage || in_redis || spec->client || spec->read_only))
        return bf_fail(err, BF_EINVAL,
            spec->read_only ? "exclusive is for writing: read_only must not be given"
                            : "exclusive is for mapped files, but no file is given");
    if (spec->cache_max_age != 0 && !spec->cache)
        return bf_fail(err, BF_EINVAL, "cache_max_age=%g needs cache", spec->cache_max_age);
    if (spec->key && !spec->client && !in_redis)
        return bf_fail(err, BF_EINVAL,
            "key=%.60s names a filter inside Redis, but no Redis is given", spec->key);
    if ((spec->read_only || spec->must_exist) && !spec->storage && !spec->client &&
        !spec->redis_client)
        return bf_fail(err, BF_EINVAL, "%s needs a storage to open",
            spec->read_only ? "read_only" : "must_exist");
    return 0;
}

/* ---- opening ---- */
/* Returns BF_ENOTSUP if f has many parts and its home cannot store them, else 0. */
static int require_parts(const bf_filter *f, bf_error *err)
{
    const bf_store_ops *ops = f->bitmap.store.ops;
    if (!f->variant->many || ops->chain) return 0;
    return bf_fail(err, BF_ENOTSUP, "home %s cannot hold filters that grow or forget", ops->name);
}

/* Opens all parts of a filter and returns 1, or an error. */
static int open_parts(bf_filter *f, const bf_spec *spec, bf_error *err)
{
    int rc = require_parts(f, err);
    if (rc == 0 && f->variant->many && (rc = bf_chain_begin(f, spec, err)) == 0)
        rc = f->bitmap.store.ops->chain->follow(f, err);
    return rc < 0 ? rc : 1;
}

static int attach_filter(bf_filter *f, const bf_spec *spec, bf_error *err)
{
    bf_params d;
    bf_store *s = &f->bitmap.store;
    int rc = s->ops->attach ? s->ops->attach(s, spec, &d, err) : 0;
    if (rc <= 0) return rc;
    if (s->contents) {
        bf_fail(err, BF_EIO, "%.200s exists: delete it, or use another key", bf_where(f));
        if (err) err->sys_errno = EEXIST;
        return BF_EIO;
    }
    if ((rc = bf_check_match(&d, spec, bf_where(f), err)) < 0 ||
        (rc = bf_filter_init_from(f, &d, spec, err)) < 0)
        return rc;
    if ((rc = bf_secret_match(d.secret_check, f->desc.secret_check, bf_where(f), err)) < 0)
        return rc;
    return open_parts(f, spec, err);
}

static int create_new(bf_filter *f, const bf_spec *spec, bf_error *err)
{
    bf_params d;
    bf_store *s = &f->bitmap.store;
    int rc = s->contents ? 0 : bf_size_any(&d, spec, s->ops->most_bits, err);
    if (s->contents) d = s->contents->desc;
    if (rc < 0 || (rc = bf_filter_init_from(f, &d, spec, err)) < 0 ||
        (rc = require_parts(f, err)) < 0)
        return rc;
    if (s->contents &&
        (rc = bf_secret_match(d.secret_check, f->desc.secret_check, bf_where(f), err)) < 0)
        return rc;
    rc = s->ops->create(s, &f->desc, spec, err);
    return rc > 0 ? open_parts(f, spec, err) : rc;
}

static int keep_names(bf_filter *f, const bf_spec *spec, bf_error *err)
{
    const bool named = spec->storage || spec->redis_client;
    if ((spec->storage && !(f->storage = strdup(spec->storage))) ||
        (named && spec->key && !(f->key = strdup(spec->key))))
        return bf_fail(err, BF_ENOMEM, "out of memory");
    return 0;
}

/* contents: the filter must not exist yet and gets these; NULL: opens or creates it. */
static bf_filter *open_filter(const bf_spec *spec, const bf_filter *contents, bf_error *err)
{
    bf_filter *f = NULL;
    int rc = 0;
    bool made = false;
    if (check_spec(spec, err) < 0) return NULL;
    const bf_store_ops *ops = bf_find_store(spec, err);
    if (!ops) return NULL;
    if (!(f = bf_handle_new(ops, err))) return NULL;
    if (keep_names(f, spec, err) < 0) goto fail;
    f->runs_host_code = spec->client || spec->redis_client;
    f->read_only = f->bitmap.store.read_only = spec->read_only;
    f->exclusive = spec->exclusive;
    f->opened_by = bf_process();
    f->bitmap.store.contents = contents;
    /* rc stays 0 if another process creates the filter first: the next try attaches to it */
    for (int tries = 0; rc == 0 && tries < 100; tries++)
        if ((rc = attach_filter(f, spec, err)) == 0) made = (rc = create_new(f, spec, err)) > 0;
    if (rc == 0)
        rc = bf_fail(err, BF_EIO,
            "%.80s is created and deleted all the time: it could neither be opened nor created",
            bf_where(f));
    f->bitmap.store.contents = NULL;
    if (rc < 0) goto fail;
    bf_finish_open(f, spec->threads);
    /* Taking the lock completes a rebuild whose process died. If the lock is busy now, the next
     * add completes the rebuild. */
    bf_guard g;
    if (!f->bitmap.store.read_only && !bf_settled(bf_generation(f)) && bf_writable(f, NULL) == 0 &&
        bf_guard_lock(f, &g, NULL) == 0)
        bf_unlock(f);
    f->never_written = !ops->attach && f->bitmap.store.words;
    f->created = (made || f->bitmap.store.made) && !spec->client;
    return f;
fail:
    bf_close(f);
    return NULL;
}

/* A try that failed may have set *err, although a later one succeeded. */
bf_filter *bf_open(const bf_spec *spec, bf_error *err)
{
    bf_filter *f = open_filter(spec, NULL, err);
    if (f && err) *err = (bf_error){ 0 };
    return f;
}

/* from is in addressable memory. */
static bf_filter *upload(bf_filter *from, const bf_spec *to, bf_error *err)
{
    bf_spec spec = *to;
    spec.n = from->desc.g.n; /* so the spec may create a filter */
    spec.p = from->desc.g.p;
    if (bf_parts_lock_all(from, err) < 0) return NULL;
    bf_filter *f = open_filter(&spec, from, err);
    bf_parts_unlock(from);
    return f;
}

bf_filter *bf_upload_new(bf_filter *from, const bf_spec *to, bf_error *err)
{
    BF_CALL(from, NULL, NULL);
    const bf_store_ops *ops = bf_find_store(to, err);
    if (!ops) return NULL;
    if (ops->attach && ops->remove && from->part[0]->bitmap.store.words)
        return upload(from, to, err);
    bf_fail(err, BF_ENOTSUP, "only filters in memory and in files are uploaded, to Redis");
    return NULL;
}

/* Uploads a copy: another thread or process may add meanwhile, or replace the file. */
static int save_at_url(bf_filter *f, const char *url, bf_error *err)
{
    bf_error why = { .code = BF_ENOMEM };
    bf_filter *copy = bf_copy_entered(f, &why), *saved = NULL;
    if (copy) {
        bf_spec to = bf_copy_spec(copy);
        to.storage = url;
        if (!copy->own_clock) to.clock = NULL;
        saved = upload(copy, &to, &why);
    }
    bf_close(copy);
    if (!saved && err) *err = why;
    bf_close(saved);
    return saved ? 0 : why.code;
}

static int save(bf_filter *f, const char *path, bool replace, bf_error *err)
{
    const char *file;
    BF_CALL(f, NULL, entered);
    const int is = bf_storage_path(path, &file, err);
    if (is < 0) return is;
    return is ? bf_save_file(f, file, replace, err) : save_at_url(f, path, err);
}

int bf_save(bf_filter *f, const char *path, bf_error *err) { return save(f, path, true, err); }

int bf_save_new(bf_filter *f, const char *path, bf_error *err) { return save(f, path, false, err); }

bf_filter *bf_load(const char *path, const bf_spec *expect, bf_error *err)
{
    const char *file;
    const int is = bf_storage_path(path, &file, err);
    if (is) return is < 0 ? NULL : bf_load_file(file, expect, err);
    bf_spec spec = expect ? *expect : (bf_spec){ .may_count = true };
    spec.storage = path;
    spec.must_exist = spec.read_only = true;
    bf_filter *f = bf_open(&spec, err), *copy = f ? bf_copy(f, err) : NULL;
    bf_close(f);
    return copy;
}

bf_filter *bf_create(uint64_t m, uint64_t n, unsigned k, double p, const char *scheme,
    const char *storage, bf_error *err)
{
    return bf_open(
        &(bf_spec){ .m = m, .n = n, .k = k, .p = p, .scheme = scheme, .storage = storage }, err);
}

int bf_plan(bf_spec *spec, bf_error *err)
{
    bf_params d, first;
    uint64_t check;
    int rc = check_spec(spec, err); /* refuses everything that bf_open refuses */
    const bf_store_ops *home = bf_find_store(spec, NULL);
    if (rc < 0 || (rc = bf_size_any(&d, spec, home ? home->most_bits : 0, err)) < 0 ||
        (rc = bf_secret_check(d.scheme, spec, &check, err)) < 0)
        return rc;
    if (bf_has_parts(&d)) {
        if ((rc = bf_chain_part(&d, 0, 0, &first, err)) < 0) return rc;
        d.g.m = first.g.m * bf_parts_stored(&d);
    }
    spec->m = d.g.m;
    spec->n = d.g.n;
    spec->k = d.g.k;
    spec->p = bf_effective_p(&d);
    spec->shards = d.g.shards;
    spec->scheme = d.scheme->name;
    if (strcmp(d.name, d.scheme->name) != 0)
        spec->scheme = memcpy(spec->planned, d.name, sizeof d.name);
    return 0;
}

int bf_is_current(const bf_filter *f, const bf_spec *spec, bf_error *err)
{
    BF_CALL((bf_filter *)f, NULL, entered);
    const bf_store *s = &f->bitmap.store;
    uint64_t given;
    if (!spec && s->ops->has_name)
        return s->ops->has_name(s) && s->ops->check((bf_store *)s, NULL) == 0;
    if (!spec) return s->ops->current ? s->ops->current(s, err) : 1;
    if (check_spec(spec, err) < 0) return err ? err->code : BF_EINVAL;
    if (!spec->storage || !f->storage || strcmp(spec->storage, f->storage) != 0) return 0;
    if ((spec->key || f->key) && (!spec->key || !f->key || strcmp(spec->key, f->key) != 0))
        return 0;
    if (f->read_only != spec->read_only || !s->ops->current || s->ops->current(s, NULL) <= 0)
        return 0;
    int rc = bf_check_match(&f->desc, spec, bf_where(f), err);
    if (rc < 0 || (rc = bf_secret_check(f->desc.scheme, spec, &given, err)) < 0) return rc;
    return (rc = bf_secret_match(f->desc.secret_check, given, bf_where(f), err)) < 0 ? rc : 1;
}
