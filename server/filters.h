/* filters.h - the open filters: "default" and the named ones.  Independent of HTTP.
 *
 *   filters --list--> served (reference counted) --> bf_filter
 *
 * The list has a lock.  A thread holds it only to read or change the list, never while it opens a
 * filter or waits for Redis.  Each filter has a read-write lock: a merge or a clear takes it for
 * writing, all other requests for reading.  If another process replaces the file of a filter, the
 * next request opens the new file.  A key is acknowledged only if filters_is_same after the add. */
#ifndef BFD_FILTERS_H
#define BFD_FILTERS_H
#include "options.h"
#include <pthread.h>

enum { NAME_BYTES = 128 };
#define DEFAULT_NAME "default"

typedef struct {
    char name[NAME_BYTES + 1];
    bf_filter *f;
    char *storage; /* path or redis:// URL; NULL: memory */
    bool remote, grows, counts;
    bool takes_any_key; /* the scheme accepts every key; schemes of older systems refuse some */
    bool foreign; /* another system's bitmap in Redis, not adopted: opening needs parameters */
    bool gone;    /* atomic: deleted or replaced, and not in the list */
    /* atomic: a call failed, or the file is missing or was replaced; the next request opens the
     * filter again */
    bool must_recheck;
    uint64_t serial; /* unique in this process */
    unsigned refs;   /* atomic: reference count; the list owns one reference */
    pthread_rwlock_t use;
    /* relaxed atomics: numbers of keys since the start.  adds: passed to an add; added: of these
     * the new ones; hits: tested and present; misses: tested and absent; removed: by a remove */
    uint64_t adds, added, hits, misses, removed;
    unsigned asked;       /* atomic: BF_OVERFULL_... of the last PUT that named it, or 0 */
    pthread_mutex_t lock; /* protects the following members */
    bf_state state;       /* the last known state */
    uint64_t state_at;    /* ns on the monotonic clock, when state was read; 0: not known */
    uint64_t state_cost;  /* ns that reading state took */
} served;

/* Bytes reserved in --max-total for a filter that is being created or grows.  While a filter has a
 * claim, the claim is counted instead of the filter's size. */
typedef struct claim {
    struct claim *next;
    text name;
    uint64_t bytes;
} claim;

typedef struct {
    const options *o;
    char *folder; /* folder of the named filters, ends in /; NULL: none */
    bool remote;  /* all filters of this server are in Redis */
    pthread_rwlock_t lock;
    served **all;             /* sorted by name; `lock` protects it and count */
    size_t count;             /* number of entries in all */
    pthread_mutex_t claiming; /* protects claims */
    claim *claims;
} filters;

/* Error codes in addition to the core's.  GONE: no filter has this name.  ABSENT: the storage
 * contains no such filter.  STAYS: not allowed for this filter. */
enum {
    FILTER_GONE = -100,
    FILTER_STAYS = -101,
    FILTER_MANY = -102,
    FILTER_LARGE = -103,
    FILTER_ABSENT = -104,
    FILTER_EXISTS = -105
};

int filters_open(filters *fs, const options *o, bf_error *err);
/* Writes all files to disk.  After an error, failed (may be NULL) has the name of a filter that
 * could not be written. */
int filters_sync(filters *fs, char failed[NAME_BYTES + 1], bf_error *err);
void filters_close(filters *fs);

/* Returns the filter of this name if it is open, current and not locked; the caller calls
 * filters_release.  Never waits.  NULL: filters_get may still find the filter.  to_add: does not
 * check the file, to save a system call; the caller calls filters_is_same after the add. */
served *filters_get_open(filters *fs, text name, bool to_add);
/* True if the filter is in the list and need not be opened again.  Does not check the storage. */
bool filters_has_open(filters *fs, text name);
/* Returns the filter of this name, and opens it first if necessary; the caller calls
 * filters_release.  May wait for Redis, for a disk and for a merge.  NULL: *err has the reason;
 * code FILTER_GONE if no filter has this name. */
served *filters_get(filters *fs, text name, bf_error *err);
void filters_release(served *s);
/* Returns 0 if the filter "default" works or is locked, else an error.  open: if the filter is not
 * current, true opens it and false returns FILTER_ABSENT. */
int filters_health(filters *fs, bool open, bf_error *err);
/* True if requests use this handle: it need not be opened again, or the storage still contains its
 * filter.  In Redis this may take a round trip. */
bool filters_answers(const filters *fs, const served *s);
/* True if the list still has this filter and its file was not replaced.  Called after an add and
 * before the reply: if false, the request is repeated. */
bool filters_is_same(const filters *fs, const served *s);
/* Called after a failed call.  In Redis: the next request opens the filter again, because another
 * process may have deleted or re-created it. */
void filters_recheck(served *s);
/* quota.c: reserves bytes for the filter `name`, or fails if --max-total does not allow them. */
int claim_make(filters *fs, claim *c, text name, uint64_t bytes, bf_error *err);
/* Called before an add.  If the filter must grow for so many keys, reserves its new size; the
 * caller then calls claim_drop.  Otherwise sets c->bytes to 0. */
int filters_grow(filters *fs, served *s, uint64_t keys, claim *c, bf_error *err);
void claim_drop(filters *fs, claim *c);
/* Called once a second, and before a report about files: finds filters that other processes
 * deleted or replaced. */
void filters_refresh(filters *fs);
/* Returns all filters, each with a reference; NULL: out of memory.  The caller calls
 * filters_list_free. */
served **filters_list(filters *fs, size_t *count);
void filters_list_free(served **all, size_t count);

/* Creates a filter.  Returns 1: created; 0: exists with these parameters; BF_EMISMATCH: exists with
 * other parameters; or another error.  If the result is not negative, *out is the filter, and the
 * caller calls filters_release. */
int filters_put(filters *fs, text name, bf_spec *spec, served **out, bf_error *err);
/* Sets what an add to a full filter does.  The caller has the filter from filters_put(). */
void filters_set_overfull(served *s, unsigned overfull);
/* As filters_put(), from an image (bf_to_bytes).  FILTER_EXISTS if the name is in use. */
int filters_upload(filters *fs, text name, text image, served **out, bf_error *err);
/* As filters_upload(), from a filter of so many bytes, which is closed. */
int filters_add(
    filters *fs, text name, bf_filter *from, uint64_t bytes, served **out, bf_error *err);
int filters_drop(filters *fs, text name, bf_error *err);
int filters_clear(filters *fs, text name, bf_error *err);
int filters_merge(filters *fs, text name, text image, bf_error *err);

bool filter_name_ok(text name);
static inline text name_of(const served *s) { return (text){ s->name, strlen(s->name) }; }
static inline const char *kind_of(bool counting, double grow, double window)
{
    return counting ? "counting" : grow > 0 ? "grow" : window > 0 ? "window" : "fixed";
}
/* Gets fill and count, at most about a second old; older if counting takes long.  If the filter is
 * locked, a thread that must not wait gets the last known state. */
int filter_state(served *s, bf_state *out, bf_error *err);
/* Gets the last known state of any age.  Returns false if no state is known. */
bool filter_last_state(served *s, bf_state *out);
static inline void counter_add(uint64_t *what, uint64_t n)
{
    __atomic_fetch_add(what, n, __ATOMIC_RELAXED);
}
static inline uint64_t counter_get(const uint64_t *what)
{
    return __atomic_load_n(what, __ATOMIC_RELAXED);
}

/* ---- storage.c: files, a folder of files, or Redis ---- */
/* Sets *err and returns code. */
int stored_fail(bf_error *err, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Sets fs->folder and fs->remote from --storage, and removes what killed processes left there. */
int stored_folder(filters *fs, bf_error *err);
/* Sets *storage to the path or URL of the filter of this name, freed by the caller; NULL: memory.
 */
int stored_at(const filters *fs, text name, char **storage, bf_error *err);
/* Sets the fields that are the same for all filters of a server. */
bf_spec *stored_spec(bf_spec *spec, const options *o);
/* Opens or creates "default" when the server starts. */
bf_filter *stored_open_main(const filters *fs, const char *storage, bf_error *err);
/* Opens an existing filter.  as: the parameters of a foreign bitmap, or NULL.  err->code:
 * FILTER_ABSENT, BF_ENOMEM, or BF_EIO for all other reasons; with `as`, the core's code if the
 * parameters are refused. */
bf_filter *stored_open(
    const filters *fs, text name, const char *storage, const bf_spec *as, bf_error *err);
/* Stores a copy of `from` and opens it.  storage NULL (memory): returns `from` with a further
 * reference.  err->code FILTER_EXISTS: the storage contains a filter already. */
bf_filter *stored_upload(
    const filters *fs, text name, const char *storage, bf_filter *from, bf_error *err);
/* False if the filter left the list or must be opened again, or its file was deleted or replaced.
 */
bool stored_is_current(const filters *fs, const served *s);
/* True if the storage still contains this filter.  In Redis this takes a round trip. */
bool stored_exists(const filters *fs, const served *s);
int stored_remove(served *s, bf_error *err);
/* Calls each() for every filter in the folder.  Stops at the first error and returns that. */
int stored_each(const filters *fs, int (*each)(void *ctx, text name, uint64_t bytes, bf_error *err),
    void *ctx, bf_error *err);
bool stored_is_main(text name);
/* Replaces the path in the message by the filter's name, because clients must not see folders. */
void stored_hide_path(const filters *fs, text name, bf_error *err);
#endif
