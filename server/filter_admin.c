/* filter_admin.c - creates, deletes, clears and unites filters.  Independent of HTTP. */
#include "parts/filter.h"
#include "registry.h"
#include <stdio.h>
#include <stdlib.h>

typedef unsigned long long ull;
enum { TRIES = 8 }; /* attempts to change a filter that other processes replace */
/* HEADER: bytes of a header page.  WINDOW_PARTS: parts of a forgetting filter by default. */
enum { HEADER = 4096, WINDOW_PARTS = 4 };

/* Returns 0 if the filter has the parameters of spec.  Otherwise returns BF_EMISMATCH, and *err
 * names the first parameter that differs.  bf_plan must have set spec->scheme. */
static int check_parameters(served *s, const bf_spec *spec, bf_error *err)
{
    const bf_params *have = &s->f->desc;
    const char *kind = kind_of(have->g.counting, have->grow, have->window),
               *wanted = kind_of(spec->counting, spec->grow, spec->window);
    if (strcmp(kind, wanted) || (have->grow != 0) != (spec->grow != 0))
        return stored_fail(
            err, BF_EMISMATCH, "%s is of kind %s, asked for %s", s->name, kind, wanted);
    return bf_check_match(have, spec, s->name, err);
}

/* A filter to be created: uploaded (from), or described by parameters (spec). */
typedef struct {
    bf_spec spec;
    bf_filter *from;  /* the uploaded filter, or NULL */
    uint64_t bytes;   /* bytes of the bits, or of the image */
    uint64_t headers; /* bytes of a file's header pages */
} creation;

/* Returns 0 if the existing filter s has the parameters of `new`, else an error.  An upload always
 * gets FILTER_EXISTS. */
static int check_existing(served *s, const creation *new, bf_error *err)
{
    return new->from ? stored_fail(err, FILTER_EXISTS, "the filter \"%s\" exists", s->name)
                     : check_parameters(s, &new->spec, err);
}

static size_t filter_count(filters *fs)
{
    pthread_rwlock_rdlock(&fs->lock);
    const size_t n = fs->count;
    pthread_rwlock_unlock(&fs->lock);
    return n;
}

/* Opens the filter of spec.  lost: an earlier filter of this name that Redis lost, or NULL; if
 * opening fails, deletes the remaining keys of `lost` and tries again. */
static bf_filter *open_after_loss(served *lost, const bf_spec *spec, bf_error *err)
{
    bf_filter *f = bf_open(spec, err);
    if (f || !lost) return f;
    return stored_remove(lost, err) < 0 ? NULL : bf_open(spec, err);
}

/* Creates a filter and puts it into the list.  seen: the list's entry of this name, whose filter
 * was lost, or NULL.  Returns 1; 0 if another thread or process has created an equal filter
 * meanwhile; or an error.  *out: the filter with a reference that the caller drops, also after an
 * error; or unchanged. */
static int create_filter(
    filters *fs, text name, served *seen, const creation *new, served **out, bf_error *err)
{
    bf_spec own = new->spec;
    char *storage;
    int rc = stored_at(fs, name, &storage, err);
    if (rc < 0) return rc;
    own.storage = storage;
    own.exclusive = fs->o->exclusive && storage;
    bf_filter *f = new->from ? stored_upload(fs, name, storage, new->from, err)
                             : open_after_loss(fs->remote ? seen : NULL, &own, err);
    if (!f) {
        free(storage);
        return err->code;
    }
    bf_info info;
    bf_get_info(f, &info);
    served *mine = registry_new(fs, name, f, storage, err);
    served *s = mine ? registry_replace(fs, seen, mine) : NULL;
    if (!s) return stored_fail(err, BF_ENOMEM, "out of memory");
    *out = s;
    const bool created = s == mine && (info.created || new->from);
    return created ? 1 : check_existing(s, new, err);
}

static int create_within_limits(
    filters *fs, text name, served *seen, const creation *new, served **out, bf_error *err)
{
    const ull bytes = new->bytes, most = fs->o->max_filter, many = fs->o->max_filters;
    claim c;
    if (!seen && filter_count(fs) > many)
        return stored_fail(err, FILTER_MANY,
            "there are %llu named filters, as many as --max-filters allows", many);
    if (bytes > most)
        return stored_fail(err, FILTER_LARGE,
            "the filter would take %llu bytes, more than --max-filter %llu", bytes, most);
    int rc = claim_make(fs, &c, name, bytes + new->headers, err);
    if (rc < 0) return rc;
    rc = create_filter(fs, name, seen, new, out, err);
    claim_drop(fs, &c);
    return rc;
}

/* Returns true if all parts of the filter exist.  Tests a few keys, because the test of an absent
 * key reads every part. */
static bool has_all_parts(served *s)
{
    static const char *const keys[] = { "0", "1", "2", "3", "4", "5", "6", "7" };
    int rc = 1;
    for (size_t i = 0; rc == 1 && i < sizeof keys / sizeof *keys; i++)
        rc = bf_test(s->f, keys[i], 1, NULL);
    return rc >= 0;
}

/* Calls filters_recheck if Redis has lost the filter, which earlier calls may not have detected. */
static void check_lost(filters *fs, served *s)
{
    if (s && s->remote && (!stored_exists(fs, s) || !has_all_parts(s))) filters_recheck(s);
}

/* Finds or creates the filter for filters_put().  as: the parameters of a foreign bitmap, or NULL.
 */
static int find_or_create(
    filters *fs, text name, const creation *new, const bf_spec *as, served **out, bf_error *err)
{
    int rc;
    served *seen = registry_take(fs, name);
    check_lost(fs, seen);
    registry_release(seen);
    served *s = registry_look_up_as(fs, name, as, err);
    if (s)
        rc = check_existing(s, new, err);
    else if (err->code != FILTER_ABSENT && !err->lost)
        rc = err->code;
    else {
        seen = registry_take(fs, name); /* NULL, or an entry whose filter Redis lost */
        rc = create_within_limits(fs, name, seen, new, &s, err);
        registry_release(seen);
    }
    if (rc < 0)
        registry_release(s);
    else
        pthread_rwlock_rdlock(&(*out = s)->use);
    return rc;
}

/* The caller holds `use` for reading, before and after; for the change this function holds `use`
 * for writing. */
void filters_set_overfull(served *s, unsigned overfull)
{
    pthread_rwlock_unlock(&s->use);
    pthread_rwlock_wrlock(&s->use);
    bf_set_overfull(s->f, overfull);
    __atomic_store_n(&s->asked, overfull, __ATOMIC_RELAXED);
    pthread_rwlock_unlock(&s->use);
    pthread_rwlock_rdlock(&s->use);
}

int filters_put(filters *fs, text name, bf_spec *spec, served **out, bf_error *err)
{
    const unsigned overfull = spec->overfull;
    bf_spec plan = *stored_spec(spec, fs->o);
    const bf_spec as = { .m = spec->m, .k = spec->k, .scheme = spec->scheme, .adopt = spec->adopt };
    const bool sized_by_bits = spec->scheme && !spec->n && spec->p == 0 && !spec->counting;
    if (spec->adopt && !(fs->remote && spec->scheme))
        return stored_fail(err, BF_EINVAL,
            fs->remote ? "adopt takes over another system's bitmap: scheme must be given"
                       : "adopt is for filters in Redis: see --storage");
    /* stored_spec() allowed both kinds; a new filter must be of the requested kind */
    plan.may_count = spec->may_count = plan.adopt = false;
    int rc = bf_plan(&plan, err);
    if (rc < 0) return rc;
    spec->scheme = plan.scheme;
    const uint64_t parts = plan.parts ? plan.parts : WINDOW_PARTS, pages = plan.window > 0
                                                                               ? 2 + parts
                                                                           : plan.grow > 0 ? 2
                                                                                           : 1;
    const creation new = { .spec = *spec,
        .bytes = plan.counting ? (plan.m + 1) / 2 : (plan.m + 7) / 8,
        .headers = pages * HEADER };
    rc = find_or_create(fs, name, &new, fs->remote && sized_by_bits ? &as : NULL, out, err);
    if (rc >= 0 && overfull) filters_set_overfull(*out, overfull);
    return rc;
}

/* Returns the filter of an image that a client sent; NULL: *err has the reason. */
static bf_filter *read_image(const filters *fs, text image, bf_error *err)
{
    bf_filter *f = bf_from_bytes(image.ptr, image.len, stored_spec(&(bf_spec){ 0 }, fs->o), err);
    if (!f && err->code == BF_EFORMAT) err->code = BF_EINVAL; /* the client's fault: 400 */
    if (f) bf_set_threads(f, true);
    return f;
}

int filters_add(
    filters *fs, text name, bf_filter *from, uint64_t bytes, served **out, bf_error *err)
{
    const creation new = { .from = from, .bytes = bytes };
    const int rc = find_or_create(fs, name, &new, NULL, out, err);
    bf_close(from);
    return rc;
}

int filters_upload(filters *fs, text name, text image, served **out, bf_error *err)
{
    bf_filter *from = read_image(fs, image, err);
    return from ? filters_add(fs, name, from, image.len, out, err) : err->code;
}

int filters_drop(filters *fs, text name, bf_error *err)
{
    if (stored_is_main(name))
        return stored_fail(err, FILTER_STAYS,
            "the filter \"default\" cannot be deleted: it stays as long as the server runs");
    served *seen = registry_take(fs, name), *s = registry_look_up(fs, name, err);
    int rc = s ? stored_remove(s, err) : registry_missing(name, err);
    if (rc < 0 && s && s->remote &&
        err->code == BF_EMISMATCH) { /* re-created by another process with other parameters */
        filters_recheck(s);
        registry_release(s);
        rc = (s = registry_look_up(fs, name, err)) ? stored_remove(s, err)
                                                   : registry_missing(name, err);
    }
    if (!s && seen && seen->remote && err->lost) rc = stored_remove(seen, err);
    if (rc == FILTER_GONE && seen && seen->remote)
        rc = 0; /* Redis lost a filter of the list: it is deleted */
    if (rc >= 0) registry_remove(fs, s ? s : seen);
    registry_release(s);
    registry_release(seen);
    return rc;
}

/* Calls change(s->f, from) with the filter of this name, while no other request uses the filter. */
static int change_alone(filters *fs, text name, int (*change)(bf_filter *, bf_filter *, bf_error *),
    bf_filter *from, bf_error *err)
{
    bool same = false;
    int rc = 0;
    for (int i = 0; rc >= 0 && !same && i < TRIES; i++) {
        served *s = registry_find(fs, name, true, err);
        if (!s) return err->code;
        rc = change(s->f, from, err);
        if (rc < 0) filters_recheck(s);
        pthread_mutex_lock(&s->lock);
        if (s->state_at) s->state_at = 1; /* the state is known, but out of date */
        pthread_mutex_unlock(&s->lock);
        if (rc >= 0) bf_begin_adds(s->f, NULL); /* a union may be more than it is sized for */
        same = filters_is_same(fs, s);
        if (!same) rc = 0;
        filters_release(s);
    }
    if (rc >= 0 && !same)
        rc = stored_fail(err, BF_EIO, "the filter is replaced again and again: try later");
    return rc;
}

int filters_merge(filters *fs, text name, text image, bf_error *err)
{
    bf_filter *from = read_image(fs, image, err);
    if (!from) return err->code;
    const int rc = change_alone(fs, name, bf_unite, from, err);
    bf_close(from);
    return rc == BF_EINVAL ? BF_EMISMATCH : rc;
}

static int clear(bf_filter *f, bf_filter *unused, bf_error *err)
{
    (void)unused;
    return bf_clear(f, err);
}

int filters_clear(filters *fs, text name, bf_error *err)
{
    return change_alone(fs, name, clear, NULL, err);
}
