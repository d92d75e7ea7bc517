/* filters.c - the list of open filters, and the lock of each filter. */
#include "clock.h"
#include "output.h"
#include "registry.h"
#include <stdio.h>
#include <stdlib.h>

enum { TRIES = 8 }; /* attempts to adopt a bitmap that other threads open meanwhile */

/* ---- one filter ---- */
void registry_release(served *s)
{
    if (!s || __atomic_sub_fetch(&s->refs, 1, __ATOMIC_ACQ_REL)) return;
    bf_close(s->f);
    free(s->storage);
    pthread_rwlock_destroy(&s->use);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

static void init_lock(pthread_rwlock_t *lock)
{
    pthread_rwlockattr_t attr;
    pthread_rwlockattr_init(&attr);
#ifdef __GLIBC__ /* by default new readers overtake a writer, which then may never get the lock */
    pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
#endif
    pthread_rwlock_init(lock, &attr);
    pthread_rwlockattr_destroy(&attr);
}

static int log_warning(void *s, const char *sentence)
{
    say("filter %s: %s", ((served *)s)->name, sentence);
    return 0;
}

served *registry_new(const filters *fs, text name, bf_filter *f, char *storage, bf_error *err)
{
    bf_info info;
    char sentence[BF_SENTENCE_BYTES];
    served *s = calloc(1, sizeof *s);
    if (!s) {
        bf_close(f);
        free(storage);
        stored_fail(err, BF_ENOMEM, "out of memory");
        return NULL;
    }
    memcpy(s->name, name.ptr, name.len);
    s->f = f;
    s->storage = storage;
    static uint64_t serials; /* atomic */
    s->serial = __atomic_add_fetch(&serials, 1, __ATOMIC_RELAXED);
    s->refs = 1;
    s->remote = fs->remote;
    pthread_mutex_init(&s->lock, NULL);
    init_lock(&s->use);
    bf_get_info(f, &info);
    if (bf_open_warning(f, sentence, sizeof sentence)) log_warning(s, sentence);
    bf_set_warning(f, log_warning, s);
    s->grows = info.grow > 0;
    s->counts = info.counting;
    s->takes_any_key = bf_takes_any_key(f);
    return s;
}

/* ---- the sorted list ---- */
static int compare(text name, const char *with)
{
    size_t len = strlen(with);
    int c = memcmp(name.ptr, with, name.len < len ? name.len : len);
    return c ? c : (name.len > len) - (name.len < len);
}

/* Returns the index of the name; if *found is false, the index for inserting it. */
static size_t find_place(const filters *fs, text name, bool *found)
{
    size_t low = 0, high = fs->count;
    *found = false;
    while (low < high && !*found) {
        size_t mid = (low + high) / 2;
        int c = compare(name, fs->all[mid]->name);
        if (c == 0) {
            *found = true;
            return mid;
        }
        if (c < 0)
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

static served *add_reference(served *s)
{
    if (s) __atomic_add_fetch(&s->refs, 1, __ATOMIC_RELAXED);
    return s;
}

served *registry_take(filters *fs, text name)
{
    bool found;
    pthread_rwlock_rdlock(&fs->lock);
    size_t i = find_place(fs, name, &found);
    served *s = add_reference(found ? fs->all[i] : NULL);
    pthread_rwlock_unlock(&fs->lock);
    return s;
}

static bool insert(filters *fs, size_t i, served *s)
{
    served **all = realloc(fs->all, (fs->count + 1) * sizeof *all);
    if (!all) return false;
    fs->all = all;
    memmove(all + i + 1, all + i, (fs->count++ - i) * sizeof *all);
    all[i] = s;
    return true;
}

/* s is not in the list yet, so no other thread uses its handle. */
static void inherit(served *s, const served *old)
{
    if ((s->asked = __atomic_load_n(&old->asked, __ATOMIC_RELAXED)))
        bf_set_overfull(s->f, s->asked);
    s->adds = counter_get(&old->adds);
    s->added = counter_get(&old->added);
    s->hits = counter_get(&old->hits);
    s->misses = counter_get(&old->misses);
    s->removed = counter_get(&old->removed);
}

served *registry_replace(filters *fs, served *seen, served *fresh)
{
    bool found;
    served *out = fresh, *rest = NULL;
    pthread_rwlock_wrlock(&fs->lock);
    size_t i = find_place(fs, name_of(fresh), &found);
    if (found && fs->all[i] != seen) {
        rest = fresh;
        out = add_reference(fs->all[i]);
    } else if (found) {
        inherit(fresh, seen);
        flag_set(&seen->gone);
        rest = seen;
        fs->all[i] = add_reference(fresh);
    } else if (insert(fs, i, fresh))
        add_reference(fresh);
    else {
        rest = fresh;
        out = NULL;
    }
    pthread_rwlock_unlock(&fs->lock);
    registry_release(rest);
    return out;
}

void registry_remove(filters *fs, served *s)
{
    bool found;
    pthread_rwlock_wrlock(&fs->lock);
    size_t i = find_place(fs, name_of(s), &found);
    found = found && fs->all[i] == s;
    if (found) memmove(fs->all + i, fs->all + i + 1, (--fs->count - i) * sizeof *fs->all);
    flag_set(&s->gone);
    pthread_rwlock_unlock(&fs->lock);
    if (found) registry_release(s);
}

served **filters_list(filters *fs, size_t *count)
{
    pthread_rwlock_rdlock(&fs->lock);
    served **all = malloc((fs->count + 1) * sizeof *all);
    *count = all ? fs->count : 0;
    for (size_t i = 0; i < *count; i++) all[i] = add_reference(fs->all[i]);
    pthread_rwlock_unlock(&fs->lock);
    return all;
}

void filters_list_free(served **all, size_t count)
{
    for (size_t i = 0; i < count; i++) registry_release(all[i]);
    free(all);
}

/* ---- opening ---- */
/* Returns the parameters with which the foreign bitmap s was opened. */
static bf_spec description_of(const served *s)
{
    bf_info i;
    bf_get_info(s->f, &i);
    return (bf_spec){ .m = i.m, .k = i.k, .scheme = i.scheme };
}

static served *open_stored(filters *fs, text name, served *seen, const bf_spec *as, bf_error *err)
{
    char *storage;
    bf_filter *f = NULL;
    if (stored_at(fs, name, &storage, err) < 0) return NULL;
    /* stored_open() reads the parameters of "default" from the options, which may lack adopt */
    const bf_spec *first = as && as->adopt && stored_is_main(name) ? as : NULL;
    if (storage)
        f = stored_open(fs, name, storage, first, err);
    else
        stored_fail(err, FILTER_ABSENT, "it is not there");
    const bool foreign = !f && storage && fs->remote && err->code != FILTER_ABSENT && !err->lost;
    const bf_spec before = foreign && seen && seen->foreign ? description_of(seen) : (bf_spec){ 0 };
    if (!as && before.m) as = &before;
    if (foreign && as) f = stored_open(fs, name, storage, as, err);
    if (!f) {
        free(storage);
        return NULL;
    }
    served *s = registry_new(fs, name, f, storage, err);
    if (s) s->foreign = foreign && !as->adopt;
    if (s && !(s = registry_replace(fs, seen, s))) stored_fail(err, BF_ENOMEM, "out of memory");
    return s;
}

served *registry_look_up(filters *fs, text name, bf_error *err)
{
    return registry_look_up_as(fs, name, NULL, err);
}

/* True if requests can use this entry.  The file of an entry that was to be opened again may be
 * back under its name; then it is not opened a second time, which an exclusive writer could not do.
 */
static bool is_usable(filters *fs, served *s)
{
    if (s->storage && !s->remote && stored_exists(fs, s))
        __atomic_store_n(&s->must_recheck, false, __ATOMIC_RELEASE);
    return stored_is_current(fs, s);
}

served *registry_look_up_as(filters *fs, text name, const bf_spec *as, bf_error *err)
{
    served *s = NULL, *seen;
    for (int i = 0; i < TRIES && !s; i++) {
        seen = registry_take(fs, name);
        const bool adopts = seen && as && as->adopt;
        if (seen && !adopts && is_usable(fs, seen)) return seen;
        /* workers must not add to `seen` until the list has a new entry */
        if (seen) flag_set(&seen->must_recheck);
        s = open_stored(fs, name, seen, as, err);
        if (!s && seen && err->code == FILTER_ABSENT && !stored_is_main(name))
            registry_remove(fs, seen);
        registry_release(seen);
        if (!s || !s->foreign || !as || !as->adopt) return s;
        /* another thread's entry is in the list, opened before the adoption */
        registry_release(s);
        s = NULL;
    }
    stored_fail(err, BF_EBUSY, "the filter is opened again and again: try later");
    return NULL;
}

/* A missing filter "default" is an error of the server, not a 404. */
int registry_missing(text name, bf_error *err)
{
    char what[sizeof err->msg];
    if (err->code != FILTER_ABSENT) return err->code;
    if (!stored_is_main(name)) return err->code = FILTER_GONE;
    snprintf(what, sizeof what, "%s", err->msg);
    return stored_fail(err, BF_EIO, "the filter \"default\" is gone: %.100s", what);
}

static text full_name(text name) { return name.len ? name : TEXT(DEFAULT_NAME); }

/* ---- for requests ---- */
served *filters_get_open(filters *fs, text name, bool to_add)
{
    served *s = registry_take(fs, full_name(name));
    if (!s) return NULL;
    const bool current = to_add ? !flag_is_set(&s->gone) && !flag_is_set(&s->must_recheck)
                                : stored_is_current(fs, s);
    if (current && pthread_rwlock_tryrdlock(&s->use) == 0) return s;
    registry_release(s);
    return NULL;
}

served *registry_find(filters *fs, text name, bool alone, bf_error *err)
{
    name = full_name(name);
    served *s = registry_look_up(fs, name, err);
    if (!s) {
        registry_missing(name, err);
        return NULL;
    }
    if (alone)
        pthread_rwlock_wrlock(&s->use);
    else
        pthread_rwlock_rdlock(&s->use);
    return s;
}

served *filters_get(filters *fs, text name, bf_error *err)
{
    return registry_find(fs, name, false, err);
}

bool filters_has_open(filters *fs, text name)
{
    bool found;
    name = full_name(name);
    pthread_rwlock_rdlock(&fs->lock);
    const size_t i = find_place(fs, name, &found);
    const bool open =
        found && !flag_is_set(&fs->all[i]->gone) && !flag_is_set(&fs->all[i]->must_recheck);
    pthread_rwlock_unlock(&fs->lock);
    return open;
}

void filters_release(served *s)
{
    pthread_rwlock_unlock(&s->use);
    registry_release(s);
}

/* Does not wait for a merge, a clear or a change of the filter: they hold the lock `use`, perhaps
 * for long, and what they do shows that the filter answers. */
int filters_health(filters *fs, bool open, bf_error *err)
{
    served *s = registry_take(fs, TEXT(DEFAULT_NAME));
    if (s && !stored_is_current(fs, s)) {
        registry_release(s);
        s = NULL;
    }
    if (!s && open) s = registry_look_up(fs, TEXT(DEFAULT_NAME), err);
    if (!s) return open ? registry_missing(TEXT(DEFAULT_NAME), err) : FILTER_ABSENT;
    int64_t rc = 0;
    if (pthread_rwlock_tryrdlock(&s->use) == 0) {
        rc = bf_test_many(s->f, &(bf_key){ "", 0 }, 1, NULL, err);
        pthread_rwlock_unlock(&s->use);
    }
    const bool answers = rc >= 0 || rc == BF_EINVAL || rc == BF_EBUSY;
    if (!answers) filters_recheck(s);
    registry_release(s);
    return answers ? 0 : (int)rc;
}

bool filters_answers(const filters *fs, const served *s)
{
    return !flag_is_set(&s->must_recheck) || stored_exists(fs, s);
}

bool filters_is_same(const filters *fs, const served *s)
{
    return s->remote || stored_is_current(fs, s);
}
void filters_recheck(served *s)
{
    if (s->remote) flag_set(&s->must_recheck);
}

/* Removes deleted files from the list, and opens files that replaced other files.  In Redis, checks
 * that the companion hash exists: adds and tests do not read the hash, but opening needs it. */
void filters_refresh(filters *fs)
{
    size_t count;
    bf_error err;
    served **all = filters_list(fs, &count);
    for (size_t i = 0; i < count; i++)
        if (all[i]->remote && !stored_exists(fs, all[i]))
            filters_recheck(all[i]);
        else if (all[i]->storage && !stored_is_current(fs, all[i]))
            registry_release(registry_look_up(fs, name_of(all[i]), &err));
    filters_list_free(all, count);
}

/* ---- start and end of the server ---- */
static int open_named(void *ctx, text name, uint64_t bytes, bf_error *err)
{
    (void)bytes;
    served *s = registry_look_up(ctx, name, err);
    registry_release(s);
    /* deleted after the folder was read */
    if (s || err->code == FILTER_ABSENT) return 0;
    stored_hide_path(ctx, name, err); /* a long path may be truncated before the name */
    return err->code;
}

int filters_open(filters *fs, const options *o, bf_error *err)
{
    char *storage;
    *fs = (filters){ .o = o };
    init_lock(&fs->lock);
    pthread_mutex_init(&fs->claiming, NULL);
    int rc = stored_folder(fs, err);
    if (rc < 0 || (rc = stored_at(fs, TEXT(DEFAULT_NAME), &storage, err)) < 0) return rc;
    bf_filter *f = stored_open_main(fs, storage, err);
    if (!f) {
        free(storage);
        return err->code;
    }
    served *s = registry_new(fs, TEXT(DEFAULT_NAME), f, storage, err);
    if (!s || !(s = registry_replace(fs, NULL, s)))
        return stored_fail(err, BF_ENOMEM, "out of memory");
    registry_release(s);
    return fs->folder ? stored_each(fs, open_named, fs, err) : 0;
}

int filters_sync(filters *fs, char failed[NAME_BYTES + 1], bf_error *err)
{
    int rc = 0;
    size_t count;
    /* a copy of the list, because jobs may change the list */
    served **all = filters_list(fs, &count);
    if (!all) return stored_fail(err, BF_ENOMEM, "out of memory");
    for (size_t i = 0; i < count; i++) {
        bf_error one;
        int code = bf_sync(all[i]->f, &one);
        if (code < 0 && filters_is_same(fs, all[i])) { /* a deleted file is not an error */
            rc = code;
            *err = one;
            if (failed) memcpy(failed, all[i]->name, NAME_BYTES + 1);
        }
    }
    filters_list_free(all, count);
    return rc;
}

void filters_close(filters *fs)
{
    for (size_t i = 0; i < fs->count; i++) registry_release(fs->all[i]);
    free(fs->all);
    free(fs->folder);
    pthread_rwlock_destroy(&fs->lock);
    pthread_mutex_destroy(&fs->claiming);
    *fs = (filters){ 0 };
}

/* ---- fill and state ---- */
bool filter_last_state(served *s, bf_state *out)
{
    pthread_mutex_lock(&s->lock);
    const bool known = s->state_at != 0;
    *out = s->state;
    pthread_mutex_unlock(&s->lock);
    return known;
}

int filter_state(served *s, bf_state *out, bf_error *err)
{
    pthread_mutex_lock(&s->lock);
    const uint64_t now = clock_ns(), age = now - s->state_at, most = 50 * s->state_cost;
    const bool known = s->state_at != 0;
    *out = s->state;
    pthread_mutex_unlock(&s->lock);
    if (known && age <= (most > 900000000 ? most : 900000000)) return 0;
    bf_state fresh;
    const int rc = bf_get_state(s->f, &fresh, err);
    if (rc < 0) return rc == BF_EBUSY && known ? 0 : rc;
    pthread_mutex_lock(&s->lock);
    *out = s->state = fresh;
    s->state_at = now;
    s->state_cost = clock_ns() - now;
    pthread_mutex_unlock(&s->lock);
    return rc;
}
