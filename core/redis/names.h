/* names.h - all names in Redis that are derived from a filter's key K. Private. */
#ifndef BF_REDIS_NAMES_H
#define BF_REDIS_NAMES_H
#include "redis/redis.h"

enum bf_redis_kind_of_name {
    BF_NAME_META,   /* K:meta, the companion hash of the string K                     */
    BF_NAME_SHARD,  /* K:i                                                            */
    BF_NAME_PART,   /* {K}:p<i>, of a growing filter                                  */
    BF_NAME_EPOCH,  /* {K}:w<i>, of a forgetting filter                               */
    BF_NAME_TEMP,   /* {K}:tmp:<random>                                               */
    BF_NAME_CONFIG, /* {K}:config, Redisson's hash                                    */
};
/* Returns a name, which the caller frees; NULL: out of memory. i is used only by names with a
 * number. */
char *bf_redis_name(const bf_conn *l, const char *key, enum bf_redis_kind_of_name kind, int64_t i);
/* Does the key have a hash tag ({...}, not empty)?  In a cluster only the tag decides the slot. */
bool bf_redis_tagged(const char *key);
#endif
