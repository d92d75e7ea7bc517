/* filters.h - the open filters: "default" and the named ones.  Knows the core and where filters are
 * stored; knows no HTTP.
 *
 *   filters --list--> served (reference counted) --> bf_filter
 *
 * The list has a lock.  A thread holds it only to look a name up or to exchange an entry, never
 * while it opens a filter or waits for Redis.  Each filter has a read-write lock: requests share
 * it, only a merge holds it alone.  If another process deletes or replaces the file of a filter,
 * the next request opens the present one.  A key is acknowledged only if the name still leads to
 * its filter after the key was added. */
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
    bool takes_any_key; /* the scheme accepts every key; older ones refuse some */
    bool foreign; /* another system's bitmap in Redis, not adopted: the name alone cannot open it */
    bool gone;    /* atomic: deleted or replaced; the list has another entry or none */
    /* atomic: a call failed or the file is missing; the next request opens the filter again */
    bool must_recheck;
    uint64_t serial; /* unique in this process */
    unsigned refs;   /* atomic: reference count; the list owns one reference */
    pthread_rwlock_t use;
    uint64_t adds, added, hits, misses, removed; /* keys since the start; relaxed atomics */
    /* atomics: new keys until the next check of the fill; ms of the last check */
    int64_t new_until_check, checked_at;
    bool overfull;        /* atomic: the warning was logged */
    unsigned asked;       /* atomic: BF_OVERFULL_... of the last PUT that named it, or 0 */
    pthread_mutex_t lock; /* protects the following members */
    bf_state state;       /* known state, at the time state_at */
    /* ns on the monotonic clock, 0: state is not known; ns that bf_get_state took */
    uint64_t state_at, state_cost;
} served;

/* Bytes reserved in --max-total for a filter that is being created or grows.  The sum counts them
 * instead of the filter's present size. */
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
    served **all; /* sorted by name */
    size_t count;
    pthread_mutex_t claiming;
    claim *claims;
} filters;

/* Error codes in addition to the core's.  ABSENT: the storage holds no such filter. */
enum {
    FILTER_GONE = -100,
    FILTER_STAYS = -101,
    FILTER_MANY = -102,
    FILTER_LARGE = -103,
    FILTER_ABSENT = -104,
    FILTER_EXISTS = -105
};

int filters_open(filters *fs, const options *o, bf_error *err);
/* Writes all files to disk.  On error failed, if not NULL, gets the name of a filter. */
int filters_sync(filters *fs, char failed[NAME_BYTES + 1], bf_error *err);
void filters_close(filters *fs);

/* Returns the filter of this name if it is open and current; the caller calls filters_release.
 * Never waits.  NULL: filters_get may still find it.  to_add: skips the system call that checks the
 * file; filters_is_same does that afterwards. */
served *filters_get_open(filters *fs, text name, bool to_add);
/* True if the filter is open and its last call succeeded. */
bool filters_has_open(filters *fs, text name);
/* Returns the filter of this name, and opens it first if necessary; the caller calls
 * filters_release.  May wait for Redis, for a disk and for a merge.  NULL: *err has the reason;
 * code FILTER_GONE if no filter has this name. */
served *filters_get(filters *fs, text name, bf_error *err);
void filters_release(served *s);
/* Returns 0 if "default" answers or is locked, else an error.  open: opens it if it is not current;
 * if open is false, a filter that is not current is FILTER_ABSENT. */
int filters_health(filters *fs, bool open, bf_error *err);
/* True if the name still leads to this filter.  Called after keys were added and before the reply:
 * if false, the request is repeated. */
bool filters_is_same(const filters *fs, const served *s);
/* Called after a failed call: the next request opens the filter again, because another process may
 * have deleted or re-created it. */
void filters_recheck(served *s);
/* Counts new keys, and checks now and then whether the filter holds more keys than it is sized for.
 */
void filters_count_new(served *s, uint64_t fresh);
/* quota.c: reserves bytes for the filter `name`, or fails if --max-total does not allow them. */
int claim_make(filters *fs, claim *c, text name, uint64_t bytes, bf_error *err);
/* Called before an add: reserves the bytes by which the filter must grow for so many keys, until
 * claim_drop. */
int filters_grow(filters *fs, served *s, uint64_t keys, claim *c, bf_error *err);
void claim_drop(filters *fs, claim *c);
/* Called once a second: finds filters that other processes deleted or replaced. */
void filters_refresh(filters *fs);
/* Returns all filters, each with a reference; NULL: out of memory.  The caller calls
 * filters_list_free. */
served **filters_list(filters *fs, size_t *count);
void filters_list_free(served **all, size_t count);

/* Creates a filter.  Returns 1 if it was created, 0 if it exists with these parameters,
 * BF_EMISMATCH if it exists with others, or another error.  *out: the filter, until
 * filters_release. */
int filters_put(filters *fs, text name, bf_spec *spec, served **out, bf_error *err);
/* Creates a filter from its image (bf_to_bytes).  FILTER_EXISTS if there is one.  *out: the filter,
 * until filters_release. */
int filters_upload(filters *fs, text name, text image, served **out, bf_error *err);
int filters_drop(filters *fs, text name, bf_error *err);
int filters_clear(filters *fs, text name, bf_error *err);
int filters_merge(filters *fs, text name, text image, bf_error *err);

bool filter_name_ok(text name);
static inline text name_of(const served *s) { return (text){ s->name, strlen(s->name) }; }
static inline const char *kind_of(bool counting, double grow, double window)
{
    return counting ? "counting" : grow > 0 ? "grow" : window > 0 ? "window" : "fixed";
}
/* Gets fill and count, at most about a second old; older if counting takes long.  A thread that
 * must not wait gets the last known state of a locked filter. */
int filter_state(served *s, bf_state *out, bf_error *err);
/* Gets the last known state, however old.  Returns false if there is none. */
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
int stored_fail(bf_error *err, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int stored_folder(filters *fs, bf_error *err); /* Sets fs->folder and fs->remote from --storage. */
/* Sets *storage to the path or URL of the filter of this name, or NULL: memory.  The caller frees
 * it. */
int stored_at(const filters *fs, text name, char **storage, bf_error *err);
/* Sets the fields that are the same for all filters of a server. */
bf_spec *stored_spec(bf_spec *spec, const options *o);
/* Opens or creates "default" when the server starts. */
bf_filter *stored_open_main(const filters *fs, const char *storage, bf_error *err);
/* Opens an existing filter.  as: the parameters of a foreign bitmap, or NULL.  err->code:
 * FILTER_ABSENT, BF_ENOMEM, or BF_EIO for all other reasons. */
bf_filter *stored_open(
    const filters *fs, text name, const char *storage, const bf_spec *as, bf_error *err);
/* Stores a filter that is equal to `from` and opens it.  storage NULL: it is `from` itself, with a
 * further reference.  err->code FILTER_EXISTS: the storage holds a filter already. */
bf_filter *stored_upload(
    const filters *fs, text name, const char *storage, bf_filter *from, bf_error *err);
bool stored_is_current(const filters *fs, const served *s);
/* True if the storage still holds this filter.  In Redis it takes a round trip. */
bool stored_exists(const filters *fs, const served *s);
int stored_remove(served *s, bf_error *err);
/* Calls each() for every filter in the folder; stops at the first error and returns it. */
int stored_each(const filters *fs, int (*each)(void *ctx, text name, uint64_t bytes, bf_error *err),
    void *ctx, bf_error *err);
bool stored_is_main(text name);
/* Replaces the path or URL in the message by the filter's name, because clients must not see
 * folders. */
void stored_hide_path(const filters *fs, text name, bf_error *err);
#endif
