/* filters.h - the filters that are served: the one called "default" and the named ones.  Knows the
 * core and where they are stored; knows no HTTP.
 *
 *   filters --list--> served (counted references) --> bf_filter
 *
 * The list has a lock that is held only to look a name up or to exchange an entry: never while a
 * filter is opened, and never while Redis is waited for.  Each filter has a lock of its own: shared
 * for those who add, test, count and copy, alone for whoever merges.  A filter that another process
 * replaced (its file was deleted, or another one has its name) is left: the next request opens what
 * is there now, and a key is acknowledged only if its filter still was the one that the name leads
 * to after the key was added. */
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
    bool sure;       /* its scheme takes any key: no batch is refused     */
    bool gone;       /* atomic: dropped or replaced, not in the list      */
    bool doubted;    /* atomic: a call failed or its file is gone, the next one opens it again */
    uint64_t serial; /* no two of them have the same */
    unsigned refs;   /* atomic; the list has one                          */
    pthread_rwlock_t use;
    uint64_t adds, added, hits, misses, removed; /* keys since the start; relaxed atomics    */
    int64_t spare, looked; /* atomics: new keys before it is worth a look; ms of the last one */
    bool overfull;         /* atomic: the log has a line about it                            */
    pthread_mutex_t lock;  /* of what follows                                   */
    bf_state state;        /* as it was at state_at                             */
    uint64_t state_at, state_cost; /* ns on the monotonic clock; ns that it took; 0 = not yet */
} served;

/* Bytes that a filter may take from now on: counted in place of what it takes. */
typedef struct claim {
    struct claim *next;
    text name;
    uint64_t bytes;
} claim;

typedef struct {
    const options *o;
    char *folder; /* of the named filters, ends in /; NULL = none      */
    bool remote;  /* all of them are in Redis                          */
    pthread_rwlock_t lock;
    served **all; /* sorted by name                                    */
    size_t count;
    pthread_mutex_t claiming;
    claim *claims;
} filters;

/* Beside BF_E...  ABSENT: its storage holds no such filter. */
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

/* A filter that is known and still is what its name leads to, for a call of its own: never waits.
 * NULL: filters_find.  to_add: it is looked at afterwards, by filters_kept, and not now as well. */
served *filters_known(filters *fs, text name, bool to_add);
bool filters_has_open(filters *fs, text name); /* is it, and did its last call not fail? */
/* The same, looked for where it is stored and opened where need be: it may wait for Redis, for a
 * disk and for a merge.  Where it is NULL *err has a code, FILTER_GONE where there is none of this
 * name. */
served *filters_find(filters *fs, text name, bf_error *err);
void filters_done(served *s);
/* Does the one called "default" answer?  A filter that is locked does.  open: it may be opened
 * again. 0 or an error, FILTER_ABSENT also where it would have to be opened. */
int filters_health(filters *fs, bool open, bf_error *err);
/* After keys were added and before that is said: are they in what the name leads to now?  False:
 * find it again, repeat. */
bool filters_kept(const filters *fs, const served *s);
/* A call to it failed: it may have been lost, deleted or made again by others. */
void filters_doubt(served *s);
/* After so many new keys: does it hold too many by now? */
void filters_watch(served *s, uint64_t fresh);
/* quota.c: may this filter take so many bytes in all? */
int claim_make(filters *fs, claim *c, text name, uint64_t bytes, bf_error *err);
/* Before so many keys: a filter that must grow for them claims the room, until claim_drop. */
int filters_grow(filters *fs, served *s, uint64_t keys, claim *c, bf_error *err);
void claim_drop(filters *fs, claim *c);
/* Every second: what other processes deleted or replaced is noticed even where nobody asks for it.
 */
void filters_refresh(filters *fs);
/* All of them, with a reference each; NULL: no memory.  filters_unlist gives them back. */
served **filters_list(filters *fs, size_t *count);
void filters_unlist(served **all, size_t count);

/* 1 made, 0 was there with these parameters, or an error (BF_EMISMATCH: other ones).  *out: it, for
 * a call of its own, until filters_done. */
int filters_put(filters *fs, text name, bf_spec *spec, served **out, bf_error *err);
int filters_drop(filters *fs, text name, bf_error *err);
int filters_merge(filters *fs, text name, text image, bf_error *err);

bool filter_name_ok(text name);
static inline const char *kind_of(bool counting, double grow, double window)
{
    return counting ? "counting" : grow > 0 ? "grow" : window > 0 ? "window" : "fixed";
}
/* What is in it, at most about a second old; where a pass over it takes long, older.  In a thread
 * that must not wait the last one known where it is locked. */
int filter_state(served *s, bf_state *out, bf_error *err);
static inline void tally(uint64_t *what, uint64_t n)
{
    __atomic_fetch_add(what, n, __ATOMIC_RELAXED);
}
static inline uint64_t tallied(const uint64_t *what)
{
    return __atomic_load_n(what, __ATOMIC_RELAXED);
}

/* ---- storage.c: where they are ---- */
int stored_fail(bf_error *err, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int stored_folder(filters *fs, bf_error *err); /* finds out whether --storage is one */
/* *storage: where the filter of this name is, NULL = memory; to be freed. */
int stored_at(const filters *fs, text name, char **storage, bf_error *err);
bf_spec *stored_spec(
    bf_spec *spec, const options *o); /* what all filters of a server have in common */
bf_filter *stored_main(const filters *fs, const char *storage,
    bf_error *err); /* at the start: made where it is not there */
bf_filter *stored_open(const filters *fs, text name, const char *storage,
    bf_error *err); /* err->code FILTER_ABSENT, BF_EIO ... */
bool stored_is_current(const filters *fs, const served *s);
bool stored_stands(const filters *fs, const served *s); /* also of Redis, by a trip */
int stored_remove(served *s, bf_error *err);
/* Names in the folder, one after the other; false: that was the last.  Start with *dir NULL. */
int stored_each(const filters *fs, int (*each)(void *ctx, text name, uint64_t bytes, bf_error *err),
    void *ctx, bf_error *err);
bool stored_is_main(text name);
/* The filter's name in the place of where it is: clients need not know folders. */
void stored_hide(const filters *fs, text name, bf_error *err);
#endif
