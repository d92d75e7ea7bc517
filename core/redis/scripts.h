/* scripts.h - the Lua scripts: what must happen in one step.  `call` is redis.call in them.
 * Private.  KEYS and ARGV of each are in scripts.c. */
#ifndef BF_REDIS_SCRIPTS_H
#define BF_REDIS_SCRIPTS_H
#include "redis/redis.h"

extern const char bf_script_create[], bf_script_exchange[], bf_script_care[], bf_script_append[],
    bf_script_turn[], bf_script_put[], bf_script_count_down[], bf_script_add[],
    bf_script_add_foreign[], bf_script_add_redisson[], bf_script_adopt[];

/* Begins a script over K and K:meta, and a temporary key where one is given: its KEYS, and the
 * first two of ARGV. */
static inline void bf_redis_script(const bf_redis *r, const char *text, const char *temp)
{
    bf_conn *l = r->conn;
    bf_conn_eval(l, text, 2 + (temp != NULL));
    bf_conn_append(l, "%s %s", r->key, r->meta);
    if (temp) bf_conn_append(l, "%s", temp);
    bf_conn_append(l, "%n %x", r->mark_at, r->mark);
}
#endif
