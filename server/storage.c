/* storage.c - where the filters of a server are: one file, a folder, or Redis.  Opens, creates and
 * deletes filters there, and checks that they still exist. */
#include "registry.h"
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char suffix[] = ".bloom";
enum { SUFFIX = sizeof suffix - 1 };

int stored_fail(bf_error *err, int code, const char *format, ...)
{
    va_list args;
    *err = (bf_error){ .code = code, .key = BF_NO_KEY };
    va_start(args, format);
    vsnprintf(err->msg, sizeof err->msg, format, args);
    va_end(args);
    return code;
}

bool stored_is_main(text name) { return text_is(name, TEXT(DEFAULT_NAME)); }

/* ---- names ---- */
bool filter_name_ok(text name)
{
    if (name.len == 0 || name.len > NAME_BYTES || name.ptr[0] == '.') return false;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!letter && !(c >= '0' && c <= '9') && !memchr("_.:{}@-", c, 7)) return false;
    }
    return true;
}

/* Returns the URL of a named filter, freed by the caller; its key in Redis is K:f:NAME.  A colon in
 * NAME becomes %3A, so the key never equals K:meta or another derived key of a filter. */
static char *url_of(const char *url, text name)
{
    char more[NAME_BYTES * 5 + 4] = ":f:";
    size_t n = 3;
    for (size_t i = 0; i < name.len; i++) {
        const char c = name.ptr[i];
        const char *code = c == ':' ? "%253A" : c == '{' ? "%7B" : c == '}' ? "%7D" : "%40";
        if (memchr(":{}@", c, 4))
            n += (size_t)sprintf(more + n, "%s", code);
        else
            more[n++] = c;
    }
    more[n] = 0;
    const size_t len = bf_url_beside(url, more, NULL, 0);
    char *out = malloc(len + 1);
    if (out) bf_url_beside(url, more, out, len + 1);
    return out;
}

static char *file_of(const char *folder, text name)
{
    char *out = malloc(strlen(folder) + name.len + sizeof suffix);
    if (out) sprintf(out, "%s%.*s%s", folder, (int)name.len, name.ptr, suffix);
    return out;
}

int stored_at(const filters *fs, text name, char **storage, bf_error *err)
{
    const char *s = fs->o->storage;
    const bool main = stored_is_main(name) && !fs->folder;
    *storage = NULL;
    if (!s || (!main && !fs->folder && !fs->remote)) return 0;
    *storage = main ? strdup(s) : fs->remote ? url_of(s, name) : file_of(fs->folder, name);
    return *storage ? 0 : stored_fail(err, BF_ENOMEM, "out of memory");
}

int stored_folder(filters *fs, bf_error *err)
{
    const char *s = NULL;
    struct stat st;
    const int is = fs->o->storage ? bf_storage_path(fs->o->storage, &s, err) : 0;
    const size_t len = s ? strlen(s) : 0;
    fs->remote = fs->o->storage && is == 0;
    if (is <= 0) return is;
    const bool wanted = s[len - 1] == '/';
    if (wanted && fs->o->create && mkdir(s, 0777) < 0 && errno != EEXIST)
        return stored_fail(err, BF_EIO, "cannot create %.100s: %s", s, strerror(errno));
    const bool found = stat(s, &st) == 0, is_folder = found && S_ISDIR(st.st_mode);
    if (wanted && !found && errno == ENOENT)
        return stored_fail(
            err, BF_ENOENT, "--storage %.80s does not exist: --create creates it", s);
    if (wanted && !is_folder)
        return stored_fail(
            err, BF_EIO, "--storage %.80s: %s", s, strerror(found ? ENOTDIR : errno));
    if (!is_folder) return 0;
    fs->folder = malloc(len + 4);
    if (!fs->folder) return stored_fail(err, BF_ENOMEM, "out of memory");
    /* "./" because the text after "file:" may look like a URL */
    sprintf(
        fs->folder, "%s%s%s", s != fs->o->storage && *s != '/' ? "./" : "", s, wanted ? "" : "/");
    (void)bf_remove_leftovers(fs->folder, NULL); /* a folder that cannot be read fails later */
    return 0;
}

static bool is_filter(const char *file, text *name)
{
    const size_t len = strlen(file);
    *name = (text){ file, len > SUFFIX ? len - SUFFIX : 0 };
    return filter_name_ok(*name) && !strcmp(file + name->len, suffix);
}

int stored_each(const filters *fs, int (*each)(void *ctx, text name, uint64_t bytes, bf_error *err),
    void *ctx, bf_error *err)
{
    DIR *dir = opendir(fs->folder);
    struct dirent *e;
    struct stat st;
    text name;
    int rc =
        dir ? 0 : stored_fail(err, BF_EIO, "cannot open %.100s: %s", fs->folder, strerror(errno));
    while (rc == 0 && (e = readdir(dir)))
        if (is_filter(e->d_name, &name) && fstatat(dirfd(dir), e->d_name, &st, 0) == 0)
            rc = each(ctx, name, (uint64_t)st.st_size, err);
    if (dir) closedir(dir);
    return rc;
}

/* ---- opening ---- */
bf_spec *stored_spec(bf_spec *spec, const options *o)
{
    /* an existing filter may have counters, even if the spec does not require them */
    spec->may_count = !spec->counting;
    spec->threads = true; /* also with one worker, because threads of jobs.c use filters, too */
    if (!spec->overfull) spec->overfull = o->overfull;
    spec->secret = o->keyed ? o->secret : NULL;
    spec->secret_len = o->keyed ? BF_SECRET_BYTES : 0;
    return spec;
}

static bf_spec main_spec(const options *o, const char *storage)
{
    bf_spec spec = { .m = o->m,
        .n = o->n,
        .k = (unsigned)o->k,
        .p = o->p,
        .scheme = o->scheme,
        .grow = o->grow,
        .window = o->window,
        .parts = o->parts,
        .counting = o->counting,
        .exclusive = o->exclusive,
        .adopt = o->adopt,
        .storage = storage };
    return *stored_spec(&spec, o);
}

/* If the options give no size, opens the stored filter, or creates a filter of the default size.
 * A scheme without n and p first opens a bitmap of another system. */
bf_filter *stored_open_main(const filters *fs, const char *storage, bf_error *err)
{
    bf_spec spec = main_spec(fs->o, storage);
    const bool may_be_foreign = fs->remote && spec.scheme && !spec.n && spec.p == 0;
    if (may_be_foreign && !spec.adopt) {
        spec.must_exist = true;
        bf_filter *f = bf_open(&spec, err);
        if (f || err->code != BF_ENOENT) return f;
        spec.must_exist = false;
    }
    if (spec.m || spec.n || spec.k || spec.p != 0) return bf_open(&spec, err);
    if (storage) {
        spec.must_exist = true;
        bf_filter *f = bf_open(&spec, err);
        if (f || err->code != BF_ENOENT) return f;
        spec.must_exist = false;
    }
    spec.n = 1000000;
    spec.p = 0.01;
    return bf_open(&spec, err);
}

bf_filter *stored_open(
    const filters *fs, text name, const char *storage, const bf_spec *as, bf_error *err)
{
    bf_spec spec = as ? *as : stored_is_main(name) ? main_spec(fs->o, storage) : (bf_spec){ 0 };
    spec.storage = storage;
    stored_spec(&spec, fs->o);
    spec.must_exist = true;
    spec.exclusive = fs->o->exclusive;
    bf_filter *f = bf_open(&spec, err);
    if (f) return f;
    const bool refused =
        err->code == BF_EMISMATCH || err->code == BF_EINVAL || err->code == BF_ENOTSUP;
    if (as && refused) return NULL; /* the request's parameters are wrong */
    if (err->code == BF_ENOENT)
        err->code = FILTER_ABSENT;
    else if (err->code != BF_ENOMEM)
        err->code = BF_EIO;
    return NULL;
}

static int save_new(bf_filter *from, const char *storage, bf_error *err)
{
    const char *path;
    int rc = bf_storage_path(storage, &path, err);
    if (rc >= 0) rc = bf_save_new(from, path, err);
    return rc < 0 && err->sys_errno == EEXIST
               ? stored_fail(err, FILTER_EXISTS, "the filter's file exists")
               : rc;
}

static bf_filter *upload_remote(
    const filters *fs, const char *storage, bf_filter *from, bf_error *err)
{
    bf_filter *f = bf_upload_new(from, stored_spec(&(bf_spec){ .storage = storage }, fs->o), err);
    if (!f && err->sys_errno == EEXIST) stored_fail(err, FILTER_EXISTS, "the filter exists");
    return f;
}

bf_filter *stored_upload(
    const filters *fs, text name, const char *storage, bf_filter *from, bf_error *err)
{
    if (!storage) return bf_retain(from);
    if (fs->remote) return upload_remote(fs, storage, from, err);
    return save_new(from, storage, err) < 0 ? NULL : stored_open(fs, name, storage, NULL, err);
}

bool stored_exists(const filters *fs, const served *s)
{
    return bf_is_current(s->f, stored_spec(&(bf_spec){ .storage = s->storage }, fs->o), NULL) == 1;
}

/* In Redis the mark is not read here, because adds and tests check the mark themselves. */
bool stored_is_current(const filters *fs, const served *s)
{
    if (flag_is_set(&s->gone) || flag_is_set(&s->must_recheck)) return false;
    return !s->storage || s->remote || stored_exists(fs, s);
}

/* Deletes the remaining keys of a lost filter, such as its companion hash: creates a filter of the
 * same name, then deletes that filter with all its keys. */
static int remove_remains(const served *s, bf_error *err)
{
    bf_filter *f = bf_open(&(bf_spec){ .storage = s->storage, .n = 1, .p = 0.5 }, err);
    int rc = f ? bf_delete(f, err) : err->code;
    bf_close(f);
    return rc;
}

static int remove_remote(served *s, bf_error *err)
{
    int rc = bf_delete(s->f, err);
    if (rc < 0 && err->lost)
        rc = bf_delete(s->f, err); /* a re-created filter is the handle's now */
    return rc < 0 && err->lost ? remove_remains(s, err) : rc;
}

/* Returns a negative code on failure.  A filter that does not exist is not a failure. */
int stored_remove(served *s, bf_error *err)
{
    if (!s->storage) return 0;
    if (s->remote) return remove_remote(s, err);
    const char *path;
    const int rc = bf_storage_path(s->storage, &path, err);
    if (rc < 0) return rc;
    return unlink(path) == 0 || errno == ENOENT
               ? 0
               : stored_fail(err, BF_EIO, "cannot remove %.100s: %s", path, strerror(errno));
}

/* ---- for clients ---- */
/* Finds the path in the text: complete, its end after "...", or a part of its beginning.  A part
 * has at least PART_MIN bytes.  Returns the length of the found text, 0: not found. */
static size_t find_path(const char *text, const char *path, const char **at)
{
    enum { PART_MIN = 8 };
    const size_t len = strlen(path);
    if ((*at = strstr(text, path))) return len;
    const char *dots = strstr(text, "...");
    for (size_t n = len; dots && n >= PART_MIN; n--)
        if (!strncmp(dots + 3, path + len - n, n)) {
            *at = dots;
            return 3 + n;
        }
    for (const char *p = text; *p && len >= PART_MIN; p++) {
        size_t n = 0;
        while (n < len && p[n] == path[n]) n++;
        if (n < PART_MIN) continue;
        *at = p;
        return n;
    }
    return 0;
}

static void put_instead(bf_error *err, const char *path, const char *shown)
{
    const bf_error old = *err;
    const char *at = NULL;
    const size_t len = find_path(old.msg, path, &at);
    if (at)
        snprintf(
            err->msg, sizeof err->msg, "%.*s%s%s", (int)(at - old.msg), old.msg, shown, at + len);
}

void stored_hide_path(const filters *fs, text name, bf_error *err)
{
    char *storage, shown[NAME_BYTES + 20];
    const char *path;
    bf_error other;
    if (!name.len) name = TEXT(DEFAULT_NAME);
    if (fs->remote || stored_at(fs, name, &storage, &other) < 0 || !storage) return;
    snprintf(shown, sizeof shown, "the filter \"%.*s\"", (int)name.len, name.ptr);
    if (bf_storage_path(storage, &path, &other) > 0) put_instead(err, path, shown);
    if (fs->folder && strlen(fs->folder) > 1) put_instead(err, fs->folder, "");
    free(storage);
}
