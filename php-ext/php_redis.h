/* php_redis.h - declarations that php_redis.c and php_client.c share. */
#ifndef PHP_REDIS_H
#define PHP_REDIS_H
#include "php_bloomfilter.h"
#include <unistd.h>

enum { OPT_PREFIX = 2 }; /* Redis::OPT_PREFIX, also used for RedisCluster */

struct php_bf_client {
    bf_redis_client host; /* the interface that the core uses */
    zend_object *object;
    bool cluster;
    uint32_t refs;
    zend_string *key; /* with the object's prefix; or NULL */
    bool lost;        /* the object must not be used again, see survives_lost_node */
    bool piped;       /* the object may have queued commands */
    bool ending;      /* the script or its Fiber ends: methods of a subclass must not be called */
    bool unfinished;  /* a round trip did not return, because of a fatal error */
    int process;      /* bf_process() of the process that owns the connection */
    char name[48];    /* host and port, or socket path; for messages */
};

/* php_redis.c: functions that call methods of the object. php_bf_call returns false with an
 * exception. */
zend_class_entry *php_bf_class_of(const char *lower_name);
bool php_bf_call(php_bf_client *c, const char *method, uint32_t argc, zval *argv, zval *answer);
zend_long php_bf_call_for_number(php_bf_client *c, const char *method);
zend_string *php_bf_call_for_text(php_bf_client *c, const char *method);
void php_bf_call_only(php_bf_client *c, const char *method);
void php_bf_forget_exception(void);
void php_bf_drop_exception(void);
void php_bf_restore(zend_object *standing);
bool php_bf_prefix(php_bf_client *c, zval *prefix);
/* Sends all commands and puts their replies into the sink. Returns false with an exception. */
bool php_bf_run(php_bf_client *c, const bf_redis_part *parts, size_t nparts, bf_reply_sink *sink);
#endif
