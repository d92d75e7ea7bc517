/* filter_admin.c - creates, deletes and unites filters.  Knows the core and the list of filters;
 * knows no HTTP. */
#include "parts/filter.h"
#include "registry.h"
#include <stdio.h>
#include <stdlib.h>

typedef unsigned long long ull;
enum { TRIES = 8 };                       /* how often another process may replace the filter */
enum { HEADER = 4096, WINDOW_PARTS = 4 }; /* bytes of a header page; default number of parts */

/* Returns 0 if the filter has the parameters of spec, or BF_EMISMATCH with the first that differs.
 * spec->scheme must be the planned one. */
static int same(served *s, const bf_spec *spec, bf_error *err)
{
    const bf_params *have = &s->f->desc;
    const char *kind = kind_of(have->g.counting, have->grow, have->window),
               *wanted = kind_of(spec->counting, spec->grow, spec->window);
    if (strcmp(kind, wanted) || (have->grow != 0) != (spec->grow != 0))
        return stored_fail(
            err, BF_EMISMATCH, "%s is of kind %s, asked for %s", s->name, kind, wanted);
    return bf_check_match(have, spec, s->name, err);
}

static size_t count_of(filters *fs)
{
    pthread_rwlock_rdlock(&fs->lock);
    const size_t n = fs->count;
    pthread_rwlock_unlock(&fs->lock);
    return n;
}

/* Opens the filter of spec.  If keys that are left of a filter that Redis lost prevent that,
 * deletes them and opens it once more. */
static bf_filter *open_anew(served *lost, const bf_spec *spec, bf_error *err)
{
    bf_filter *f = bf_open(spec, err);
    if (f || !lost) return f;
    return stored_remove(lost, err) < 0 ? NULL : bf_open(spec, err);
}

/* Creates a filter and puts it into the list.  seen: the entry of this name, whose filter is gone,
 * or NULL.  Returns 1, or 0 if another thread or process was faster, with the same parameters. *out
 * has a reference, which the caller drops. */
static int make(
    filters *fs, text name, served *seen, const bf_spec *spec, served **out, bf_error *err)
{
    bf_spec own = *spec;
    char *storage;
    int rc = stored_at(fs, name, &storage, err);
    if (rc < 0) return rc;
    own.storage = storage;
    own.exclusive = fs->o->exclusive && storage;
    bf_filter *f = open_anew(fs->remote ? seen : NULL, &own, err);
    if (!f) {
        free(storage);
        return err->code;
    }
    bf_info made;
    bf_get_info(f, &made);
    served *mine = registry_serve(fs, name, f, storage, err);
    served *s = mine ? registry_enlist(fs, seen, mine) : NULL;
    if (!s) return stored_fail(err, BF_ENOMEM, "out of memory");
    *out = s;
    rc = s == mine && made.created ? 0 : same(s, spec, err);
    return rc < 0 ? rc : s == mine && made.created;
}

static int make_within(filters *fs, text name, served *seen, const bf_spec *spec,
    const bf_spec *plan, served **out, bf_error *err)
{
    const ull bytes = plan->counting ? (plan->m + 1) / 2 : (plan->m + 7) / 8,
              most = fs->o->max_filter, many = fs->o->max_filters;
    const ull heads = plan->window > 0 ? 2 + (plan->parts ? plan->parts : WINDOW_PARTS)
                      : plan->grow > 0 ? 2
                                       : 1;
    claim c;
    if (!seen && count_of(fs) > many)
        return stored_fail(err, FILTER_MANY,
            "there are %llu named filters, as many as --max-filters allows", many);
    if (bytes > most)
        return stored_fail(err, FILTER_LARGE,
            "the filter would take %llu bytes, more than --max-filter %llu", bytes, most);
    int rc = claim_make(fs, &c, name, bytes + heads * HEADER, err);
    if (rc < 0) return rc;
    rc = make(fs, name, seen, spec, out, err);
    claim_drop(fs, &c);
    return rc;
}

/* Returns true if all parts of the filter exist: a test of an absent key reads every part. */
static bool is_whole(served *s)
{
    static const char *const keys[] = { "0", "1", "2", "3", "4", "5", "6", "7" };
    int rc = 1;
    for (size_t i = 0; rc == 1 && i < sizeof keys / sizeof *keys; i++)
        rc = bf_test(s->f, keys[i], 1, NULL);
    return rc >= 0;
}

/* Looks in Redis whether the filter still exists: Redis may have lost it without any call having
 * noticed. */
static void check_remote(filters *fs, served *s)
{
    if (s && s->remote && (!stored_stands(fs, s) || !is_whole(s))) filters_doubt(s);
}

int filters_put(filters *fs, text name, bf_spec *spec, served **out, bf_error *err)
{
    bf_spec plan = *stored_spec(spec, fs->o);
    served *s = NULL;
    plan.may_count = spec->may_count =
        false; /* the new filter is of exactly the kind that was asked for */
    int rc = bf_plan(&plan, err);
    if (rc < 0) return rc;
    spec->scheme = plan.scheme;
    served *seen = registry_take(fs, name);
    check_remote(fs, seen);
    registry_let_go(seen);
    s = registry_look_up(fs, name, err);
    if (s)
        rc = same(s, spec, err);
    else if (err->code != FILTER_ABSENT && !err->lost)
        rc = err->code;
    else {
        seen = registry_take(fs, name); /* a lost filter stays in the list */
        rc = make_within(fs, name, seen, spec, &plan, &s, err);
        registry_let_go(seen);
    }
    if (rc < 0)
        registry_let_go(s);
    else
        pthread_rwlock_rdlock(&(*out = s)->use);
    return rc;
}

int filters_drop(filters *fs, text name, bf_error *err)
{
    if (stored_is_main(name))
        return stored_fail(err, FILTER_STAYS,
            "the filter \"default\" cannot be deleted: it stays as long as the server runs");
    served *seen = registry_take(fs, name), *s = registry_look_up(fs, name, err);
    int rc = s ? stored_remove(s, err) : registry_missing(name, err);
    if (rc < 0 && s && s->remote &&
        err->code == BF_EMISMATCH) { /* another process created a different one */
        filters_doubt(s);
        registry_let_go(s);
        rc = (s = registry_look_up(fs, name, err)) ? stored_remove(s, err)
                                                   : registry_missing(name, err);
    }
    if (!s && seen && seen->remote && err->lost) rc = stored_remove(seen, err);
    if (rc == FILTER_GONE && seen && seen->remote)
        rc = 0; /* stored_remove has deleted the rest of the lost filter */
    if (rc >= 0) registry_unlist(fs, s ? s : seen);
    registry_let_go(s);
    registry_let_go(seen);
    return rc;
}

int filters_merge(filters *fs, text name, text image, bf_error *err)
{
    bf_filter *from = bf_from_bytes(image.ptr, image.len, stored_spec(&(bf_spec){ 0 }, fs->o), err);
    if (!from)
        return err->code == BF_EFORMAT ? BF_EINVAL
                                       : err->code; /* the client sent invalid bytes: 400 */
    bool kept = false;
    int rc = 0;
    for (int i = 0; rc >= 0 && !kept && i < TRIES; i++) {
        served *s = registry_find(fs, name, true, err);
        if (!s) {
            rc = err->code;
            break;
        }
        rc = bf_unite(s->f, from, err);
        if (rc < 0) filters_doubt(s);
        pthread_mutex_lock(&s->lock);
        s->state_at = 0;
        pthread_mutex_unlock(&s->lock);
        __atomic_store_n(&s->spare, 0, __ATOMIC_RELAXED);
        if (rc >= 0) filters_watch(s, 1);
        kept = filters_kept(fs, s);
        if (!kept) rc = 0;
        filters_done(s);
    }
    bf_close(from);
    if (rc >= 0 && !kept)
        rc = stored_fail(err, BF_EIO, "the filter is replaced again and again: try later");
    return rc == BF_EINVAL ? BF_EMISMATCH : rc;
}
