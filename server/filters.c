/* filters.c - the filters that are served: opening, making, dropping, merging.  Knows the core and where filters are stored;
 * knows no HTTP. */
#include "filters.h"
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

typedef unsigned long long ull;
static const char suffix[] = ".bloom";

static int fail(bf_error *err, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));
static int fail(bf_error *err, int code, const char *format, ...)
{
    va_list args;
    *err = (bf_error){ .code = code, .key = BF_NO_KEY };
    va_start(args, format);
    vsnprintf(err->msg, sizeof err->msg, format, args);
    va_end(args);
    return code;
}

bool filter_name_ok(text name)
{
    if (name.len == 0 || name.len > NAME_BYTES || name.ptr[0] == '.') return false;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-')) return false;
    }
    return true;
}

/* ---- the sorted list ---- */
static int compare(text name, const char *with)
{
    size_t len = strlen(with);
    int c = memcmp(name.ptr, with, name.len < len ? name.len : len);
    return c ? c : (name.len > len) - (name.len < len);
}

/* Where the name is, or where it belongs. */
static size_t place(const filters *fs, text name, bool *found)
{
    size_t low = 0, high = fs->count;
    *found = false;
    while (low < high && !*found) {
        size_t mid = (low + high) / 2;
        int c = compare(name, fs->all[mid]->name);
        if (c == 0) { *found = true; return mid; }
        if (c < 0) high = mid; else low = mid + 1;
    }
    return low;
}

static served *find(const filters *fs, text name)
{
    bool found;
    size_t i = place(fs, name, &found);
    return found ? fs->all[i] : NULL;
}

static void forget(served *s)
{
    if (!s) return;
    bf_close(s->f);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

/* Takes f over. */
static served *enlist(filters *fs, text name, bf_filter *f, bf_error *err)
{
    bool found;
    bf_info info;
    size_t i = place(fs, name, &found);
    served *s = calloc(1, sizeof *s), **all = realloc(fs->all, (fs->count + 1) * sizeof *all);
    if (all) fs->all = all;
    if (!s || !all) {
        free(s);
        bf_close(f);
        fail(err, BF_ENOMEM, "out of memory");
        return NULL;
    }
    memcpy(s->name, name.ptr, name.len);
    s->f = f;
    pthread_mutex_init(&s->lock, NULL);
    bf_get_info(f, &info);
    s->sure = !strcmp(info.scheme, "classic") || !strcmp(info.scheme, "block") || !strcmp(info.scheme, "block2");
    memmove(all + i + 1, all + i, (fs->count++ - i) * sizeof *all);
    return all[i] = s;
}

/* ---- where they are stored ---- */
/* In Redis the named filters are beside the main one: K:f:NAME.  No name holds a colon: none meets K:meta or another's. */
static char *url_of(const char *url, text name)
{
    const char *key = strchr(url, '?');
    while (key && strncmp(key + 1, "key=", 4)) key = strchr(key + 1, '&');
    const char *rest = key ? key + 1 + strcspn(key + 1, "&") : url + strlen(url);
    char *out = malloc(strlen(url) + name.len + 4);
    if (out) sprintf(out, "%.*s:f:%.*s%s", (int)(rest - url), url, (int)name.len, name.ptr, rest);
    return out;
}

/* The storage of a named filter; NULL = memory.  To be freed. */
static char *storage_of(const filters *fs, text name)
{
    const char *s = fs->o->storage;
    if (s && bf_is_url(s)) return url_of(s, name);
    if (!fs->folder) return NULL;
    char *out = malloc(strlen(fs->folder) + name.len + sizeof suffix);
    if (out) sprintf(out, "%s%.*s%s", fs->folder, (int)name.len, name.ptr, suffix);
    return out;
}

static bool is_stored(const filters *fs) { return fs->folder || (fs->o->storage && bf_is_url(fs->o->storage)); }
static bool exists(const char *path) { struct stat st; return !bf_is_url(path) && stat(path, &st) == 0; }

/* What all filters of a server have in common. */
static bf_spec *common(bf_spec *spec, const options *o)
{
    spec->threads = true;                            /* even one worker: another thread counts the bits meanwhile */
    spec->secret = o->keyed ? o->secret : NULL;
    spec->secret_len = o->keyed ? BF_SECRET_BYTES : 0;
    return spec;
}

static bf_filter *open_stored(const options *o, const char *storage, bf_error *err)
{
    return bf_open(common(&(bf_spec){ .storage = storage, .must_exist = true }, o), err);
}

/* A name that is not known yet may be in the storage: another daemon or process made it. */
static served *find_stored(filters *fs, text name)
{
    bf_error err;
    served *s = find(fs, name);
    char *storage = s ? NULL : storage_of(fs, name);
    if (storage && (bf_is_url(storage) || exists(storage))) {
        bf_filter *f = open_stored(fs->o, storage, &err);
        if (f) s = enlist(fs, name, f, &err);
        else if (!bf_is_url(storage)) fprintf(stderr, "bloomfilterd: %s\n", err.msg);
    }
    free(storage);
    return s;
}

/* What the message has of the path, often too long for it, gives way to the file's name. */
static int name_it(bf_error *err, const char *path, const char *file)
{
    const bf_error old = *err;
    char start[8];
    snprintf(start, sizeof start, "%s", path);
    const char *at = strstr(old.msg, start), *rest = at ? at : old.msg;
    while (*path && *rest == *path) { rest++; path++; }
    return fail(err, old.code, "%.*s%s%s%.80s", at ? (int)(at - old.msg) : 0, old.msg, file, at ? "" : ": ", rest);
}

static int open_named(filters *fs, bf_error *err)
{
    DIR *dir = opendir(fs->folder);
    struct dirent *e;
    int rc = dir ? 0 : fail(err, BF_EIO, "cannot open %.100s: %s", fs->folder, strerror(errno));
    while (rc == 0 && (e = readdir(dir))) {
        size_t len = strlen(e->d_name);
        text name = { e->d_name, len > sizeof suffix - 1 ? len - (sizeof suffix - 1) : 0 };
        if (!filter_name_ok(name) || strcmp(e->d_name + name.len, suffix) || find(fs, name)) continue;
        char *storage = storage_of(fs, name);
        bf_filter *f = storage ? open_stored(fs->o, storage, err) : NULL;
        if (!storage) rc = fail(err, BF_ENOMEM, "out of memory");
        else if (!f) rc = name_it(err, storage, e->d_name);
        else if (!enlist(fs, name, f, err)) rc = err->code;
        free(storage);
    }
    if (dir) closedir(dir);
    return rc;
}

/* ---- the main one ---- */
static bf_spec main_spec(const options *o, const char *storage)
{
    bf_spec spec = { .m = o->m, .n = o->n, .k = (unsigned)o->k, .p = o->p, .scheme = o->scheme, .storage = storage };
    return *common(&spec, o);
}

/* Without any size: what the storage holds; where it holds nothing, a filter of the usual size. */
static bf_filter *open_main(const options *o, const char *storage, bf_error *err)
{
    bf_spec spec = main_spec(o, storage);
    if (spec.m || spec.n || spec.k || spec.p != 0) return bf_open(&spec, err);
    if (storage && (bf_is_url(storage) || exists(storage))) {
        bf_filter *f = bf_open(&spec, err);
        if (f || !bf_is_url(storage) || err->code == BF_EIO) return f;
    }
    spec.n = 1000000;
    spec.p = 0.01;
    return bf_open(&spec, err);
}

static int find_folder(filters *fs, bf_error *err)
{
    const char *s = fs->o->storage;
    struct stat st;
    size_t len = s ? strlen(s) : 0;
    if (!s || bf_is_url(s)) return 0;
    if (s[len - 1] == '/' && mkdir(s, 0777) < 0 && errno != EEXIST) return fail(err, BF_EIO, "cannot make %.100s: %s", s, strerror(errno));
    if (s[len - 1] != '/' && (stat(s, &st) < 0 || !S_ISDIR(st.st_mode))) return 0;
    fs->folder = malloc(len + 2);
    if (!fs->folder) return fail(err, BF_ENOMEM, "out of memory");
    memcpy(fs->folder, s, len + 1);
    if (s[len - 1] != '/') memcpy(fs->folder + len, "/", 2);
    return 0;
}

int filters_open(filters *fs, const options *o, bf_error *err)
{
    pthread_rwlockattr_t attr;
    *fs = (filters){ .o = o };
    pthread_rwlockattr_init(&attr);
#ifdef __GLIBC__                                             /* else a steady stream of requests may keep a new filter waiting */
    pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
#endif
    pthread_rwlock_init(&fs->lock, &attr);
    pthread_rwlockattr_destroy(&attr);
    int rc = find_folder(fs, err);
    if (rc < 0) return rc;
    char *inside = fs->folder ? storage_of(fs, TEXT(DEFAULT_NAME)) : NULL;
    bf_filter *f = fs->folder && !inside ? NULL : open_main(o, inside ? inside : o->storage, err);
    free(inside);
    if (!f || !(fs->main = enlist(fs, TEXT(DEFAULT_NAME), f, err))) return err->code < 0 ? err->code : BF_ENOMEM;
    return fs->folder ? open_named(fs, err) : 0;
}

int filters_sync(filters *fs, bf_error *err)
{
    int rc = 0;
    pthread_rwlock_wrlock(&fs->lock);
    for (size_t i = 0; i < fs->count; i++) {
        bf_error one;
        int code = bf_sync(fs->all[i]->f, &one);
        if (code < 0) { rc = code; *err = one; }
    }
    pthread_rwlock_unlock(&fs->lock);
    return rc;
}

void filters_close(filters *fs)
{
    for (size_t i = 0; i < fs->count; i++) forget(fs->all[i]);
    free(fs->all);
    free(fs->folder);
    pthread_rwlock_destroy(&fs->lock);
    *fs = (filters){ 0 };
}

/* ---- what requests do ---- */
served *filters_use(filters *fs, text name)
{
    pthread_rwlock_rdlock(&fs->lock);
    served *s = name.len == 0 ? fs->main : find(fs, name);
    if (!s && is_stored(fs)) {
        pthread_rwlock_unlock(&fs->lock);
        pthread_rwlock_wrlock(&fs->lock);
        s = find_stored(fs, name);                   /* held alone: dearer, and right */
    }
    if (!s) pthread_rwlock_unlock(&fs->lock);
    return s;
}

void filters_done(filters *fs) { pthread_rwlock_unlock(&fs->lock); }

/* 0, or what differs between what is there and what the (planned) spec asks for. */
static int same(served *s, const bf_spec *plan, bf_error *err)
{
    bf_info have;
    bf_get_info(s->f, &have);
    if (strcmp(have.scheme, plan->scheme)) return fail(err, BF_EMISMATCH, "%s has scheme %s, asked for %s", s->name, have.scheme, plan->scheme);
    if (have.m == plan->m && have.k == plan->k && have.n == plan->n && have.p == plan->p) return 0;
    return fail(err, BF_EMISMATCH, "%s has m=%llu n=%llu k=%u p=%.6g, asked for m=%llu n=%llu k=%u p=%.6g", s->name, (ull)have.m,
                (ull)have.n, have.k, have.p, (ull)plan->m, (ull)plan->n, plan->k, plan->p);
}

static int make(filters *fs, text name, bf_spec *spec, const bf_spec *plan, bf_error *err)
{
    const ull bytes = (plan->m + 7) / 8, most = fs->o->max_filter, many = fs->o->max_filters;
    if (fs->count > many) return fail(err, FILTER_MANY, "there are %llu named filters, as many as --max-filters allows", many);
    if (bytes > most) return fail(err, FILTER_LARGE, "it would take %llu bytes, and --max-filter is %llu", bytes, most);
    char *storage = storage_of(fs, name);
    if (!storage && is_stored(fs)) return fail(err, BF_ENOMEM, "out of memory");
    spec->storage = storage;
    bf_filter *f = bf_open(spec, err);
    int rc = f && enlist(fs, name, f, err) ? 1 : err->code;
    free(storage);
    spec->storage = NULL;
    return rc;
}

int filters_put(filters *fs, text name, bf_spec *spec, bf_error *err)
{
    bf_spec plan = *common(spec, fs->o);
    int rc = bf_plan(&plan, err);
    if (rc < 0) return rc;
    pthread_rwlock_wrlock(&fs->lock);
    served *s = find_stored(fs, name);
    rc = s ? same(s, &plan, err) : make(fs, name, spec, &plan, err);
    pthread_rwlock_unlock(&fs->lock);
    return rc;
}

/* Its storage goes with it. */
static int remove_stored(const filters *fs, served *s, bf_error *err)
{
    char *storage = storage_of(fs, (text){ s->name, strlen(s->name) });
    int rc = 0;
    if (!storage && is_stored(fs)) rc = fail(err, BF_ENOMEM, "out of memory");
    else if (storage && bf_is_url(storage)) rc = bf_delete(s->f, err);
    else if (storage && unlink(storage) < 0 && errno != ENOENT) rc = fail(err, BF_EIO, "cannot remove %.100s: %s", storage, strerror(errno));
    free(storage);
    return rc;
}

int filters_drop(filters *fs, text name, bf_error *err)
{
    pthread_rwlock_wrlock(&fs->lock);
    served *s = find_stored(fs, name);
    int rc = !s ? FILTER_GONE : s == fs->main ? fail(err, FILTER_STAYS, "the filter \"default\" stays as long as the server") : remove_stored(fs, s, err);
    if (s && rc == 0) {
        bool found;
        size_t i = place(fs, name, &found);
        memmove(fs->all + i, fs->all + i + 1, (--fs->count - i) * sizeof *fs->all);
        forget(s);
    }
    pthread_rwlock_unlock(&fs->lock);
    return rc;
}

int filters_merge(filters *fs, text name, text image, bf_error *err)
{
    bf_filter *from = bf_from_bytes(image.ptr, image.len, common(&(bf_spec){ 0 }, fs->o), err);
    if (!from) return err->code;
    pthread_rwlock_wrlock(&fs->lock);
    served *s = name.len ? find_stored(fs, name) : fs->main;
    int rc = s ? bf_unite(s->f, from, err) : FILTER_GONE;
    if (rc == BF_EINVAL) rc = BF_EMISMATCH;
    if (s) s->state_at = 0;
    pthread_rwlock_unlock(&fs->lock);
    bf_close(from);
    return rc;
}

int filters_image(filters *fs, text name, buffer *out, uint64_t most, bf_error *err)
{
    int rc = FILTER_GONE;
    pthread_rwlock_wrlock(&fs->lock);
    served *s = find_stored(fs, name);
    if (s) {
        const int64_t length = bf_bytes_as(s->f, NULL, err);
        const ull bytes = (ull)length;
        if (length < 0) rc = (int)length;
        else if (bytes > most) rc = fail(err, FILTER_LARGE, "its %llu bytes are more than --max-buffered allows now", bytes);
        else if (!buffer_reserve(out, bytes)) rc = fail(err, BF_ENOMEM, "out of memory for %llu bytes", bytes);
        else if ((rc = bf_to_bytes_as(s->f, NULL, out->ptr, bytes, err)) >= 0) out->len = (size_t)bytes;
    }
    pthread_rwlock_unlock(&fs->lock);
    return rc < 0 ? rc : 0;
}

/* ---- what is in one ---- */
static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

int filter_state(served *s, bf_state *out, bf_error *err)
{
    int rc = 0;
    pthread_mutex_lock(&s->lock);
    uint64_t now = now_ns(), age = now - s->state_at, most = 50 * s->state_cost;
    if (s->state_at == 0 || age > (most > 900000000 ? most : 900000000)) {
        rc = bf_get_state(s->f, &s->state, err);
        if (rc >= 0) { s->state_at = now; s->state_cost = now_ns() - now; }
    }
    *out = s->state;
    pthread_mutex_unlock(&s->lock);
    return rc;
}
