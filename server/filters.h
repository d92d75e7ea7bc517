/* filters.h - the filters that are served: "default" and the named ones.  Knows the core and where
 * filters are stored; knows no HTTP.
 *
 *   filters --list--> served (counted references) --> bf_filter
 *
 * The list has a lock that is held only to look a name up or to exchange an entry, never while a
 * filter is opened or while a thread waits for Redis.  Each filter has a read-write lock: adding,
 * testing, counting and copying share it, a merge holds it alone.  If another process replaced a
 * filter (its file was deleted, or another file has its name), the next request opens the new one.
 * A key is acknowledged only if the name still led to its filter after the key was added. */
#ifndef BFD_FILTERS_H
#define BFD_FILTERS_H
#include "options.h"
#include <pthread.h>

enum { NAME_BYTES = 128 };
#define DEFAULT_NAME "default"

typedef struct {
    char name[NAME_BYTES + 1];
    bf_filter *f;
    char *storage; /* NULL = memory                                     */
    bool remote, grows, counts;
    bool sure;    /* its scheme accepts every key */
    bool gone;    /* atomic: deleted or replaced, not in the list      */
    bool doubted; /* atomic: a call failed or its file is gone; the next request opens it again */
    uint64_t serial; /* unique in this process */
    unsigned refs;   /* atomic; the list has one                          */
    pthread_rwlock_t use;
    uint64_t adds, added, hits, misses, removed; /* keys since the start; relaxed atomics    */
    int64_t spare,
        looked;    /* atomics; of the fill: new keys until the next check; ms of the last check */
    bool overfull; /* atomic: the warning was logged */
    pthread_mutex_t lock;          /* protects what follows                             */
    bf_state state;                /* at the time state_at                              */
    uint64_t state_at, state_cost; /* ns on the monotonic clock, 0 = never; how long it took, ns */
} served;

/* Bytes reserved for a filter that is being created or grows: counted instead of its size. */
typedef struct claim {
    struct claim *next;
    text name;
    uint64_t bytes;
} claim;

typedef struct {
    const options *o;
    char *folder; /* of the named filters, ends in /; NULL = none      */
    bool remote;  /* all filters of this server are in Redis */
    pthread_rwlock_t lock;
    served **all; /* sorted by name                                    */
    size_t count;
    pthread_mutex_t claiming;
    claim *claims;
} filters;

/* Further error codes.  ABSENT: the storage holds no such filter. */
enum {
    FILTER_GONE = -100,
    FILTER_STAYS = -101,
    FILTER_MANY = -102,
    FILTER_LARGE = -103,
    FILTER_ABSENT = -104
};

int filters_open(filters *fs, const options *o, bf_error *err);
int filters_sync(filters *fs, bf_error *err);
void filters_close(filters *fs);

/* The filter of this name, if it is open and current, until filters_done.  Never waits; NULL: call
 * filters_find.  to_add: leaves the system call that checks the file to filters_kept, afterwards.
 */
served *filters_known(filters *fs, text name, bool to_add);
bool filters_has_open(filters *fs, text name); /* Is it open, and did its last call succeed? */
/* The same, opened if it is not open: may wait for Redis, for a disk and for a merge.  NULL: *err
 * has the reason, with the code FILTER_GONE if no filter has this name. */
served *filters_find(filters *fs, text name, bf_error *err);
void filters_done(served *s);
/* Does "default" answer?  One that is locked does.  open: open it if it is not current.  0 or an
 * error: without `open` FILTER_ABSENT also means that it would have to be opened. */
int filters_health(filters *fs, bool open, bf_error *err);
/* After keys were added, before the reply: does the name still lead to this filter?  False: find it
 * again and repeat. */
bool filters_kept(const filters *fs, const served *s);
/* After a failed call: another process may have deleted or re-created the filter. */
void filters_doubt(served *s);
/* Counts new keys; from time to time checks whether the filter holds too many. */
void filters_watch(served *s, uint64_t fresh);
/* quota.c: reserves bytes for this filter, or fails if --max-total does not allow them. */
int claim_make(filters *fs, claim *c, text name, uint64_t bytes, bf_error *err);
/* Before an add: reserves what the filter must grow by for so many keys, until claim_drop. */
int filters_grow(filters *fs, served *s, uint64_t keys, claim *c, bf_error *err);
void claim_drop(filters *fs, claim *c);
/* Once a second: notices filters that other processes deleted or replaced. */
void filters_refresh(filters *fs);
/* All filters, with a reference each; NULL: no memory.  filters_unlist releases them. */
served **filters_list(filters *fs, size_t *count);
void filters_unlist(served **all, size_t count);

/* 1 created, 0 it exists with these parameters, or an error (BF_EMISMATCH: with others).  *out: the
 * filter, until filters_done. */
int filters_put(filters *fs, text name, bf_spec *spec, served **out, bf_error *err);
int filters_drop(filters *fs, text name, bf_error *err);
int filters_merge(filters *fs, text name, text image, bf_error *err);

bool filter_name_ok(text name);
static inline text name_of(const served *s) { return (text){ s->name, strlen(s->name) }; }
static inline const char *kind_of(bool counting, double grow, double window)
{
    return counting ? "counting" : grow > 0 ? "grow" : window > 0 ? "window" : "fixed";
}
/* Its fill and count, at most about a second old; older if counting takes long.  If the filter is
 * locked, a thread that must not wait gets the last known state. */
int filter_state(served *s, bf_state *out, bf_error *err);
static inline void tally(uint64_t *what, uint64_t n)
{
    __atomic_fetch_add(what, n, __ATOMIC_RELAXED);
}
static inline uint64_t tallied(const uint64_t *what)
{
    return __atomic_load_n(what, __ATOMIC_RELAXED);
}

/* ---- storage.c: files, a folder of files, or Redis ---- */
int stored_fail(bf_error *err, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int stored_folder(filters *fs, bf_error *err); /* sets fs->folder and fs->remote */
/* *storage: path or URL of the filter of this name, NULL = memory; the caller frees it. */
int stored_at(const filters *fs, text name, char **storage, bf_error *err);
bf_spec *stored_spec(
    bf_spec *spec, const options *o); /* Sets what all filters of a server have in common. */
bf_filter *stored_main(const filters *fs, const char *storage,
    bf_error *err); /* At the start; creates the filter if it does not exist. */
bf_filter *stored_open(const filters *fs, text name, const char *storage,
    bf_error *err); /* err->code FILTER_ABSENT, BF_EIO ... */
bool stored_is_current(const filters *fs, const served *s);
/* Does the storage still hold this filter?  Takes a round trip in Redis. */
bool stored_stands(const filters *fs, const served *s);
int stored_remove(served *s, bf_error *err);
/* Calls each() for every filter in the folder until it returns an error. */
int stored_each(const filters *fs, int (*each)(void *ctx, text name, uint64_t bytes, bf_error *err),
    void *ctx, bf_error *err);
bool stored_is_main(text name);
/* Replaces the path or URL in the message by the filter's name: clients must not see folders. */
void stored_hide(const filters *fs, text name, bf_error *err);
#endif
