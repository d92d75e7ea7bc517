/* php_redis.h - what php_redis.c (commands and replies) and php_client.c (round trips, errors, the
 * lifetime of the client) share. */
#ifndef PHP_REDIS_H
#define PHP_REDIS_H
#include "php_bloomfilter.h"
#include <unistd.h>

enum { OPT_PREFIX = 2 }; /* Redis::OPT_PREFIX, for RedisCluster's objects too */

struct php_bf_client {
    bf_redis_client host; /* the interface for the core */
    zend_object *object;
    bool cluster;
    uint32_t refs;
    zend_string *key; /* including the object's own prefix */
    bool lost;        /* a cluster object that must not be used any more: see may_go_on */
    bool piped;       /* phpredis may have queued commands */
    bool ending;      /* the script or its Fiber is ending: no method of a subclass is called */
    bool unfinished;  /* a round trip began and did not return, because of a fatal error */
    int process;      /* bf_process() of the process that owns the connection */
    char name[48];
};

/* php_redis.c: calls of phpredis's methods, its own or overridden ones.  False: an exception is
 * set.
 */
zend_class_entry *php_bf_class_of(const char *lower_name);
bool php_bf_call(php_bf_client *c, const char *method, uint32_t argc, zval *argv, zval *answer);
zend_long php_bf_call_for_number(php_bf_client *c, const char *method);
zend_string *php_bf_call_for_text(php_bf_client *c, const char *method);
void php_bf_call_only(php_bf_client *c, const char *method);
void php_bf_forget_exception(void);
void php_bf_drop_exception(void);
void php_bf_restore(zend_object *standing);
bool php_bf_prefix(php_bf_client *c, zval *prefix);
/* Sends all commands and puts their replies into the sink.  False: an exception. */
bool php_bf_run(php_bf_client *c, const bf_redis_part *parts, size_t nparts, bf_reply_sink *sink);
#endif
