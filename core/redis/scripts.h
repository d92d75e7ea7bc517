/* scripts.h - the Lua scripts, for changes that must be atomic.  Private.  In them, `call` is
 * redis.call. scripts.c lists the KEYS and ARGV of each. */
#ifndef BF_REDIS_SCRIPTS_H
#define BF_REDIS_SCRIPTS_H
#include "redis/redis.h"

extern const char bf_script_create[], bf_script_exchange[], bf_script_care[], bf_script_append[],
    bf_script_turn[], bf_script_put[], bf_script_count_down[], bf_script_add[],
    bf_script_add_foreign[], bf_script_add_redisson[], bf_script_adopt[];

/* Begins a script: its KEYS are K, K:meta and a temporary key if given; its first ARGV are the
 * mark's offset and the mark. */
static inline void bf_redis_script(const bf_redis *r, const char *text, const char *temp)
{
    bf_conn *l = r->conn;
    bf_conn_eval(l, text, 2 + (temp != NULL));
    bf_conn_append(l, "%s %s", r->key, r->meta);
    if (temp) bf_conn_append(l, "%s", temp);
    bf_conn_append(l, "%n %x", r->mark_at, r->mark);
}
#endif
