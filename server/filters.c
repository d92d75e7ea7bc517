/* filters.c - the list of the filters that are served, and the locks of requests that use them.
 * filter_admin.c creates, deletes and unites filters, storage.c knows where they are. */
#include "clock.h"
#include "registry.h"
#include <stdio.h>
#include <stdlib.h>

/* ---- one filter ---- */
void registry_let_go(served *s)
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
#ifdef __GLIBC__ /* by default a steady stream of readers would keep a writer waiting for ever */
    pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
#endif
    pthread_rwlock_init(lock, &attr);
    pthread_rwlockattr_destroy(&attr);
}

served *registry_serve(const filters *fs, text name, bf_filter *f, char *storage, bf_error *err)
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
    if (bf_hash_warning(f, sentence, sizeof sentence))
        fprintf(stderr, "bloomfilterd: filter %s: %s\n", s->name, sentence);
    s->spare = info.created ? (int64_t)info.n : 0;
    s->grows = info.grow > 0;
    s->counts = info.counting;
    s->sure = !strcmp(info.scheme, "classic") || !strcmp(info.scheme, "block") ||
              !strcmp(info.scheme, "block2");
    return s;
}

/* ---- the sorted list ---- */
static int compare(text name, const char *with)
{
    size_t len = strlen(with);
    int c = memcmp(name.ptr, with, name.len < len ? name.len : len);
    return c ? c : (name.len > len) - (name.len < len);
}

/* Returns the index of the name, or where to insert it. */
static size_t place(const filters *fs, text name, bool *found)
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

static served *refer(served *s)
{
    if (s) __atomic_add_fetch(&s->refs, 1, __ATOMIC_RELAXED);
    return s;
}

served *registry_take(filters *fs, text name)
{
    bool found;
    pthread_rwlock_rdlock(&fs->lock);
    size_t i = place(fs, name, &found);
    served *s = refer(found ? fs->all[i] : NULL);
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

static void inherit(served *s, const served *old)
{
    s->adds = tallied(&old->adds);
    s->added = tallied(&old->added);
    s->hits = tallied(&old->hits);
    s->misses = tallied(&old->misses);
    s->removed = tallied(&old->removed);
}

served *registry_enlist(filters *fs, served *seen, served *fresh)
{
    bool found;
    served *out = fresh, *rest = NULL;
    pthread_rwlock_wrlock(&fs->lock);
    size_t i = place(fs, name_of(fresh), &found);
    if (found && fs->all[i] != seen) {
        rest = fresh;
        out = refer(fs->all[i]);
    } else if (found) {
        inherit(fresh, seen);
        raise_(&seen->gone);
        rest = seen;
        fs->all[i] = refer(fresh);
    } else if (insert(fs, i, fresh))
        refer(fresh);
    else {
        rest = fresh;
        out = NULL;
    }
    pthread_rwlock_unlock(&fs->lock);
    registry_let_go(rest);
    return out;
}

void registry_unlist(filters *fs, served *s)
{
    bool found;
    pthread_rwlock_wrlock(&fs->lock);
    size_t i = place(fs, name_of(s), &found);
    found = found && fs->all[i] == s;
    if (found) memmove(fs->all + i, fs->all + i + 1, (--fs->count - i) * sizeof *fs->all);
    raise_(&s->gone);
    pthread_rwlock_unlock(&fs->lock);
    if (found) registry_let_go(s);
}

served **filters_list(filters *fs, size_t *count)
{
    pthread_rwlock_rdlock(&fs->lock);
    served **all = malloc((fs->count + 1) * sizeof *all);
    *count = all ? fs->count : 0;
    for (size_t i = 0; i < *count; i++) all[i] = refer(fs->all[i]);
    pthread_rwlock_unlock(&fs->lock);
    return all;
}

void filters_unlist(served **all, size_t count)
{
    for (size_t i = 0; i < count; i++) registry_let_go(all[i]);
    free(all);
}

/* ---- opening ---- */
static served *find_stored(filters *fs, text name, served *seen, bf_error *err)
{
    char *storage;
    if (stored_at(fs, name, &storage, err) < 0) return NULL;
    bf_filter *f = storage ? stored_open(fs, name, storage, err) : NULL;
    if (!storage) stored_fail(err, FILTER_ABSENT, "it is not there");
    if (!f) {
        free(storage);
        return NULL;
    }
    served *s = registry_serve(fs, name, f, storage, err);
    if (s && !(s = registry_enlist(fs, seen, s))) stored_fail(err, BF_ENOMEM, "out of memory");
    return s;
}

served *registry_look_up(filters *fs, text name, bf_error *err)
{
    served *seen = registry_take(fs, name);
    if (seen && stored_is_current(fs, seen)) return seen;
    if (seen) raise_(&seen->doubted); /* no request may add to it until the entry is replaced */
    served *s = find_stored(fs, name, seen, err);
    if (!s && seen && err->code == FILTER_ABSENT && !stored_is_main(name))
        registry_unlist(fs, seen);
    registry_let_go(seen);
    return s;
}

/* The filter "default" is never a 404: if its storage lost it, that is an error of the server. */
int registry_missing(text name, bf_error *err)
{
    char what[sizeof err->msg];
    if (err->code != FILTER_ABSENT) return err->code;
    if (!stored_is_main(name)) return err->code = FILTER_GONE;
    snprintf(what, sizeof what, "%s", err->msg);
    return stored_fail(err, BF_EIO, "the filter \"default\" is gone: %.100s", what);
}

static text full_name(text name) { return name.len ? name : TEXT(DEFAULT_NAME); }

/* ---- what requests do ---- */
served *filters_known(filters *fs, text name, bool to_add)
{
    served *s = registry_take(fs, full_name(name));
    if (!s) return NULL;
    const bool current =
        to_add ? !raised(&s->gone) && !raised(&s->doubted) : stored_is_current(fs, s);
    if (current && pthread_rwlock_tryrdlock(&s->use) == 0) return s;
    registry_let_go(s);
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

served *filters_find(filters *fs, text name, bf_error *err)
{
    return registry_find(fs, name, false, err);
}

bool filters_has_open(filters *fs, text name)
{
    bool found;
    name = full_name(name);
    pthread_rwlock_rdlock(&fs->lock);
    const size_t i = place(fs, name, &found);
    const bool open = found && !raised(&fs->all[i]->gone) && !raised(&fs->all[i]->doubted);
    pthread_rwlock_unlock(&fs->lock);
    return open;
}

void filters_done(served *s)
{
    pthread_rwlock_unlock(&s->use);
    registry_let_go(s);
}

/* Does not take the lock `use`: a merge may hold it for long. */
int filters_health(filters *fs, bool open, bf_error *err)
{
    served *s = registry_take(fs, TEXT(DEFAULT_NAME));
    if (s && !stored_is_current(fs, s)) {
        registry_let_go(s);
        s = NULL;
    }
    if (!s && open) s = registry_look_up(fs, TEXT(DEFAULT_NAME), err);
    if (!s) return open ? registry_missing(TEXT(DEFAULT_NAME), err) : FILTER_ABSENT;
    const int64_t rc = bf_test_many(s->f, &(bf_key){ "", 0 }, 1, NULL, err);
    const bool answers = rc >= 0 || rc == BF_EINVAL || rc == BF_EBUSY;
    if (!answers) filters_doubt(s);
    registry_let_go(s);
    return answers ? 0 : (int)rc;
}

bool filters_kept(const filters *fs, const served *s)
{
    return s->remote || stored_is_current(fs, s);
}
void filters_doubt(served *s)
{
    if (s->remote) raise_(&s->doubted);
}

/* Removes deleted files from the list and opens those that replaced them.  In Redis it looks for
 * the companion hash, which calls do not read, and without which no other program opens the filter.
 */
void filters_refresh(filters *fs)
{
    size_t count;
    bf_error err;
    served **all = filters_list(fs, &count);
    for (size_t i = 0; i < count; i++)
        if (all[i]->remote && !stored_stands(fs, all[i]))
            filters_doubt(all[i]);
        else if (all[i]->storage && !stored_is_current(fs, all[i]))
            registry_let_go(registry_look_up(fs, name_of(all[i]), &err));
    filters_unlist(all, count);
}

/* ---- start and end of the server ---- */
/* Replaces the path in the message, which may have cut it short, by the file's name. */
static int name_it(bf_error *err, const char *path, text name)
{
    const bf_error old = *err;
    char start[8];
    snprintf(start, sizeof start, "%s", path);
    const char *at = strstr(old.msg, start), *rest = at ? at : old.msg;
    while (*path && *rest == *path) {
        rest++;
        path++;
    }
    return stored_fail(err, old.code, "%.*s%.*s.bloom%s%.80s", at ? (int)(at - old.msg) : 0,
        old.msg, (int)name.len, name.ptr, at ? "" : ": ", rest);
}

static int open_named(void *ctx, text name, uint64_t bytes, bf_error *err)
{
    filters *fs = ctx;
    char *path;
    (void)bytes;
    served *s = registry_look_up(fs, name, err);
    const bf_error why = *err;
    if (s) {
        registry_let_go(s);
        return 0;
    }
    if (err->code == FILTER_ABSENT) return 0; /* the file was deleted since the folder was read */
    int rc = stored_at(fs, name, &path, err);
    if (rc < 0) return rc;
    *err = why;
    rc = name_it(err, path, name);
    free(path);
    return rc;
}

int filters_open(filters *fs, const options *o, bf_error *err)
{
    char *storage;
    *fs = (filters){ .o = o };
    init_lock(&fs->lock);
    pthread_mutex_init(&fs->claiming, NULL);
    int rc = stored_folder(fs, err);
    if (rc < 0 || (rc = stored_at(fs, TEXT(DEFAULT_NAME), &storage, err)) < 0) return rc;
    bf_filter *f = stored_main(fs, storage, err);
    if (!f) {
        free(storage);
        return err->code;
    }
    served *s = registry_serve(fs, TEXT(DEFAULT_NAME), f, storage, err);
    if (!s || !(s = registry_enlist(fs, NULL, s)))
        return stored_fail(err, BF_ENOMEM, "out of memory");
    registry_let_go(s);
    return fs->folder ? stored_each(fs, open_named, fs, err) : 0;
}

/* Deleted files are not synced. */
int filters_sync(filters *fs, bf_error *err)
{
    int rc = 0;
    size_t count;
    served **all = filters_list(
        fs, &count); /* a copy, because a thread that is stuck may still change the list */
    if (!all) return stored_fail(err, BF_ENOMEM, "out of memory");
    for (size_t i = 0; i < count; i++) {
        bf_error one;
        int code = bf_sync(all[i]->f, &one);
        if (code < 0 && filters_kept(fs, all[i])) {
            rc = code;
            *err = one;
        }
    }
    filters_unlist(all, count);
    return rc;
}

void filters_close(filters *fs)
{
    for (size_t i = 0; i < fs->count; i++) registry_let_go(fs->all[i]);
    free(fs->all);
    free(fs->folder);
    pthread_rwlock_destroy(&fs->lock);
    pthread_mutex_destroy(&fs->claiming);
    *fs = (filters){ 0 };
}

/* ---- what is in one ---- */
/* Logs a line if the filter holds more keys than it is sized for.  Such a filter is checked again,
 * because another process may clear it: after n / 8 new keys, in Redis once a minute. */
static void look(served *s)
{
    char sentence[BF_SENTENCE_BYTES];
    int64_t left;
    const bool full = bf_check_fill(s->f, &left, sentence, sizeof sentence) == 1;
    if (full) {
        bf_info info;
        bf_get_info(s->f, &info);
        left = s->remote ? 0 : (int64_t)(info.n / 8);
    }
    if (full && !__atomic_exchange_n(&s->overfull, true, __ATOMIC_RELAXED))
        fprintf(stderr, "bloomfilterd: filter %s: %s\n", s->name, sentence);
    if (!full) __atomic_store_n(&s->overfull, false, __ATOMIC_RELAXED);
    __atomic_store_n(&s->spare, left, __ATOMIC_RELAXED);
}

void filters_watch(served *s, uint64_t fresh)
{
    enum { AGAIN = 61000 }; /* ms; the core asks Redis at most once a minute */
    if (fresh == 0 || __atomic_sub_fetch(&s->spare, (int64_t)fresh, __ATOMIC_RELAXED) >= 0) return;
    const int64_t now = (int64_t)(clock_ns() / 1000000);
    if (s->remote && __atomic_load_n(&s->overfull, __ATOMIC_RELAXED) &&
        now - __atomic_load_n(&s->looked, __ATOMIC_RELAXED) < AGAIN)
        return;
    __atomic_store_n(&s->looked, now, __ATOMIC_RELAXED);
    look(s);
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
