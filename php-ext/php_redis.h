/* php_redis.h - declarations that php_redis.c, php_predis.c and php_client.c share. */
#ifndef PHP_REDIS_H
#define PHP_REDIS_H
#include "php_bloomfilter.h"
#include <unistd.h>

enum { OPT_PREFIX = 2 }; /* Redis::OPT_PREFIX, also used for RedisCluster */

struct php_bf_client {
    bf_redis_client host; /* the interface that the core uses */
    zend_object *object;
    bool cluster;
    bool predis; /* Predis\ClientInterface; false: phpredis */
    uint32_t refs;
    zend_string *key;    /* with the object's prefix; or NULL */
    bool lost;           /* the object must not be used again, see survives_lost_node */
    bool piped;          /* the object may have queued commands */
    uint32_t connection; /* number of the last round trip's connection, see BF_G(talking) */
    bool ending;   /* the script or its Fiber ends: methods of a subclass must not be called */
    int process;   /* bf_process() of the process that uses the connection */
    char name[48]; /* host and port, or socket path; for messages */
};

uint64_t php_bf_now_ms(void); /* php_client.c: a clock that only goes forward */

/* php_redis.c: functions that call methods of the object. php_bf_call returns false with an
 * exception. */
zend_class_entry *php_bf_class_of(const char *lower_name);
bool php_bf_is_a(const zend_object *object, const char *lower_name);
bool php_bf_call_on(zend_object *object, zend_class_entry *ce, const char *method, uint32_t argc,
    zval *argv, zval *answer);
bool php_bf_call(php_bf_client *c, const char *method, uint32_t argc, zval *argv, zval *answer);
zend_long php_bf_call_for_number(php_bf_client *c, const char *method);
zend_string *php_bf_call_for_text(php_bf_client *c, const char *method);
void php_bf_call_only(php_bf_client *c, const char *method);
bool php_bf_prefix(php_bf_client *c, zval *prefix);
/* Sends all commands and puts their replies into the sink. Returns false with an exception. */
bool php_bf_run(php_bf_client *c, const bf_redis_part *parts, size_t nparts, bf_reply_sink *sink);
/* Gets the arguments of the next command; the caller frees them with php_bf_free_arguments. */
zval *php_bf_arguments(bf_commands *commands, uint32_t *n);
void php_bf_free_arguments(zval *argv, uint32_t n);
void php_bf_put_reply(php_bf_client *c, bf_reply_sink *sink, zval *v);

/* php_predis.c: the same for Predis. Functions that return bool return false with an exception. */
/* Replaces the object *at by the object that its method returns. Returns false with an exception,
 * also if the method returns no object; *at is then undefined. */
bool php_bf_predis_follow(zval *at, const char *method);
void php_bf_predis_describe(php_bf_client *c); /* sets cluster and name */
bool php_bf_predis_prefix(php_bf_client *c, zval *prefix);
bool php_bf_predis_command(php_bf_client *c, uint32_t argc, zval *argv, zval *answer);
bool php_bf_predis_eval(php_bf_client *c, zval *argv, zval *answer);
bool php_bf_predis_run(
    php_bf_client *c, const bf_redis_part *parts, size_t nparts, bf_reply_sink *sink);
double php_bf_predis_timeout(php_bf_client *c); /* seconds; 0: PHP's default */
#endif
