/* filters.h - the filters that are served: the one called "default" and the named ones.  Knows the core and where they are
 * stored; knows no HTTP.
 *
 * One lock for all: whoever adds or tests holds it shared, whoever makes, drops, merges or copies a filter alone. */
#ifndef BFD_FILTERS_H
#define BFD_FILTERS_H
#include "options.h"
#include <pthread.h>

enum { NAME_BYTES = 64 };
#define DEFAULT_NAME "default"

typedef struct {
    char name[NAME_BYTES + 1];
    bf_filter *f;
    uint64_t adds, added, hits, misses;              /* keys since the start; relaxed atomics             */
    bool sure;                                       /* its scheme takes any key: no batch is refused     */
    pthread_mutex_t lock;                            /* of what follows                                   */
    bf_state state;                                  /* as it was at state_at                             */
    uint64_t state_at, state_cost;                   /* ns on the monotonic clock; ns that it took; 0 = not yet */
} served;

typedef struct {
    const options *o;
    char *folder;                                    /* of the named filters, ends in /; NULL = none      */
    pthread_rwlock_t lock;
    served **all;                                    /* sorted by name                                    */
    size_t count;
    served *main;
} filters;

enum { FILTER_GONE = -100, FILTER_STAYS = -101, FILTER_MANY = -102, FILTER_LARGE = -103 };   /* beside BF_E... */

int filters_open(filters *fs, const options *o, bf_error *err);
int filters_sync(filters *fs, bf_error *err);
void filters_close(filters *fs);

/* A filter to add to or to test, NULL = there is none; filters_done in any other case. */
served *filters_use(filters *fs, text name);
void filters_done(filters *fs);
/* 1 made, 0 was there with these parameters, or an error (BF_EMISMATCH: other ones). */
int filters_put(filters *fs, text name, bf_spec *spec, bf_error *err);
int filters_drop(filters *fs, text name, bf_error *err);
int filters_merge(filters *fs, text name, text image, bf_error *err);
int filters_image(filters *fs, text name, buffer *out, uint64_t most, bf_error *err);

bool filter_name_ok(text name);
/* What is in it, at most about a second old; where a pass over it takes long, older. */
int filter_state(served *s, bf_state *out, bf_error *err);
static inline void tally(uint64_t *what, uint64_t n) { __atomic_fetch_add(what, n, __ATOMIC_RELAXED); }
static inline uint64_t tallied(const uint64_t *what) { return __atomic_load_n(what, __ATOMIC_RELAXED); }
#endif
