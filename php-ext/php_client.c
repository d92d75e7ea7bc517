/* php_client.c - lets the core use a client object of phpredis or Predis: errors of round trips,
 * and the lifetime of the client. php_redis.c and php_predis.c send commands and read replies. */
#include "php_redis.h"
#include <errno.h>
#include <time.h>

/* True if the text of an exception is an error reply of Redis. phpredis throws some of them, for
 * example "OOM command not allowed ..." and "The Redis Cluster is down (CLUSTERDOWN)". */
static bool is_error_reply(const zend_string *text)
{
    if (strstr(ZSTR_VAL(text), "(CLUSTERDOWN)")) return true;
    size_t word = strspn(ZSTR_VAL(text), "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    return word > 1 && ZSTR_VAL(text)[word] == ' ';
}

/* Ends a pipeline or transaction of the object, and closes its connection; phpredis opens a new
 * connection for the next command. Keeps a pending exception. If that exception ends the script
 * or the Fiber, no method of a subclass is called. */
static void reset(php_bf_client *c)
{
    zend_object *standing = php_bf_set_aside();
    c->ending = php_bf_ends(standing);
    if (c->predis) {
        if (!c->ending) php_bf_call_only(c, "disconnect");
        c->ending = false;
        php_bf_restore(standing);
        return;
    }
    /* An object without a mode (pipeline, transaction) may still have queued commands. They would
     * be sent with the next pipeline, and its replies would not match its commands. Only
     * discard() removes queued commands, and only in a pipeline. */
    if (c->piped && php_bf_call_for_number(c, "getmode") == 0) php_bf_call_only(c, "pipeline");
    if (!c->cluster && php_bf_call_for_number(c, "getmode") > 0) {
        php_bf_call_only(c, "discard");
        if (!EG(exception)) c->piped = false;
    }
    if (c->ending)
        php_bf_drop_exception();
    else
        php_bf_forget_exception();
    php_bf_call_only(c, "close");
    c->ending = false;
    php_bf_restore(standing);
}

/* False for phpredis before 6.3: after a node is lost, the next command of its RedisCluster
 * would dereference NULL. */
static bool survives_lost_node(void)
{
    const char *version = zend_get_module_version("redis");
    return version && (ZEND_STRTOL(version, NULL, 10) > 6 ||
                          (!strncmp(version, "6.", 2) && ZEND_STRTOL(version + 2, NULL, 10) >= 3));
}

/* True if the exception comes from phpredis, Predis or php_bf_run(), or is NULL. Other exceptions
 * come from PHP code in a subclass, so they have no errno. */
static bool is_of_connection(zend_object *exception)
{
    zval rv;
    if (!exception || php_bf_is_a(exception, "redisexception") ||
        php_bf_is_a(exception, "redisclusterexception") ||
        php_bf_is_a(exception, "predis\\communicationexception"))
        return true;
    return exception->ce == php_bf_exception_ce &&
           zval_get_long(zend_read_property(
               exception->ce, exception, "code", strlen("code"), true, &rv)) == BF_EIO;
}

/* Returns the errno of a fault; 0: not known. The exceptions of both clients do not distinguish a
 * time-out from a reset of the connection, but the elapsed time does. */
static int errno_of(php_bf_client *c, const zend_string *text, uint64_t took_ms)
{
    if (strstr(ZSTR_VAL(text), "onnection refused") ||
        strstr(ZSTR_VAL(text), "communicate with any node"))
        return ECONNREFUSED;
    if (strstr(ZSTR_VAL(text), "imed out")) return ETIMEDOUT;
    if (strstr(ZSTR_VAL(text), "getaddrinfo") || strstr(ZSTR_VAL(text), "protocol") ||
        ZSTR_LEN(text) == 0 || c->cluster)
        return 0;
    zval answer;
    double limit = 0;
    if (c->predis)
        limit = php_bf_predis_timeout(c);
    else {
        if (php_bf_call(c, "getreadtimeout", 0, NULL, &answer)) limit = zval_get_double(&answer);
        zval_ptr_dtor(&answer);
    }
    if (limit <= 0)
        limit =
            (double)zend_ini_long("default_socket_timeout", strlen("default_socket_timeout"), 0);
    return limit > 0 && (double)took_ms >= limit * 1000 ? ETIMEDOUT : ECONNRESET;
}

uint64_t php_bf_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Resets the object after a failed round trip, and reports the pending exception to the sink: as
 * the replies of all commands, or as a fault of the connection. Returns a BF_CLIENT_ value. */
static int failed(php_bf_client *c, const bf_redis_part *parts, size_t nparts, uint64_t took_ms,
    bf_reply_sink *sink)
{
    if (php_bf_ends(EG(exception))) {
        reset(c);
        return BF_CLIENT_STOP;
    }
    zend_object *standing = php_bf_set_aside();
    zval rv, *message = standing ? zend_read_property(standing->ce, standing, "message",
                                       strlen("message"), true, &rv)
                                 : NULL;
    zend_string *text = message && Z_TYPE_P(message) == IS_STRING
                            ? zend_string_copy(Z_STR_P(message))
                            : ZSTR_EMPTY_ALLOC();
    const int code = is_of_connection(standing) ? errno_of(c, text, took_ms) : 0;
    php_bf_restore(standing);
    reset(c);
    if (php_bf_ends(EG(exception))) {
        zend_string_release(text);
        return BF_CLIENT_STOP;
    }
    c->lost = c->cluster && !c->predis && !survives_lost_node();
    int how = BF_CLIENT_LOST;
    if (is_error_reply(text)) {
        size_t commands = 0;
        for (size_t i = 0; i < nparts; i++) commands += parts[i].commands;
        bf_redis_range all = { 0, commands };
        bf_reply_expect(sink, &all, 1);
        for (size_t i = 0; i < commands; i++)
            bf_reply_put_error(sink, ZSTR_VAL(text), ZSTR_LEN(text));
        bf_reply_expect(sink, NULL, 0);
        how = BF_CLIENT_ANSWERED;
    } else {
        bf_reply_fault(sink, code, ZSTR_VAL(text), ZSTR_LEN(text));
        if (code == ECONNREFUSED || strstr(ZSTR_VAL(text), "getaddrinfo")) how = BF_CLIENT_UNSENT;
    }
    zend_string_release(text);
    return how;
}

/* Prepares the object for a round trip. Resets an object that another process used, because a
 * connection belongs to one process, and one whose last round trip did not end. Returns false with
 * an exception, or if the object is in a pipeline or transaction of the user. */
static bool ready(php_bf_client *c, bool must_reset)
{
    const bool phpredis = !c->cluster && !c->predis;
    if (c->process != bf_process() || must_reset || c->piped) {
        c->process = bf_process();
        reset(c);
    }
    return !phpredis || php_bf_call_for_number(c, "getmode") == 0;
}

static int refuse(bf_reply_sink *sink, const char *why)
{
    bf_reply_fault(sink, 0, why, strlen(why));
    return BF_CLIENT_UNSENT;
}

static int attempt(php_bf_client *c, const bf_redis_part *parts, size_t nparts, bool must_reset,
    bf_reply_sink *sink)
{
    const uint64_t start = php_bf_now_ms();
    if (c->lost)
        return refuse(
            sink, "a node was lost, phpredis before 6.3 crashes now: create a new object");
    if (!ready(c, must_reset))
        return EG(exception)
                   ? failed(c, parts, nparts, 0, sink)
                   : refuse(sink, "the Redis object is in a pipeline or transaction: end it first");
    const bool done = php_bf_run(c, parts, nparts, sink);
    if (done) return BF_CLIENT_ANSWERED;
    int how = failed(c, parts, nparts, php_bf_now_ms() - start, sink);
    if (how == BF_CLIENT_ANSWERED) php_bf_forget_exception();
    return how;
}

/* PHP code may run during a round trip of Predis: a signal handler, a destructor, another Fiber. A
 * second round trip on the same connection would read the replies of the first, so it is refused.
 * BF_G(talking) has the connections, by number of object: true during a round trip; false if a
 * round trip did not end or the core refused a reply, so the connection is reset before use. */
static int attempt_alone(
    php_bf_client *c, const bf_redis_part *parts, size_t nparts, bf_reply_sink *sink)
{
    zval connection, busy, unfinished;
    ZVAL_TRUE(&busy);
    ZVAL_FALSE(&unfinished);
    ZVAL_OBJ_COPY(&connection, c->object);
    if (c->predis && !php_bf_predis_follow(&connection, "getconnection"))
        return failed(c, parts, nparts, 0, sink);
    const uint32_t number = Z_OBJ_HANDLE(connection);
    const zval *state = zend_hash_index_find(&BF_G(talking), number);
    int how;
    if (c->predis && state && Z_TYPE_P(state) == IS_TRUE)
        how = refuse(sink, "the client is still waiting for another reply: try again");
    else {
        const bool must_reset = state && Z_TYPE_P(state) == IS_FALSE;
        c->connection = number;
        zend_hash_index_update(&BF_G(talking), number, &busy);
        how = attempt(c, parts, nparts, must_reset, sink);
        if (how == BF_CLIENT_STOP) /* the connection may not be reset */
            zend_hash_index_update(&BF_G(talking), number, &unfinished);
        else
            zend_hash_index_del(&BF_G(talking), number);
    }
    zval_ptr_dtor(&connection);
    return how;
}

/* What the core asks for, and the exception that was pending. */
typedef struct {
    php_bf_client *c;
    const bf_redis_part *parts;
    size_t nparts;
    bool report;
    bf_reply_sink *sink;
    zend_object *standing;
    int how;
} request;

/* Runs code(r) for the core. Returns false after a fatal error, now or earlier in the same call of
 * the core, and if an exception ends the script or Fiber. After a fatal error no round trip goes
 * on. */
static bool run(void (*code)(void *), request *r)
{
    zval *state;
    if (php_bf_ends(EG(exception)) || BF_G(bailed_out)) return false;
    r->standing = php_bf_set_aside();
    php_bf_run_php(code, r);
    if (!BF_G(bailed_out)) return true;
    ZEND_HASH_FOREACH_VAL(&BF_G(talking), state) { ZVAL_FALSE(state); }
    ZEND_HASH_FOREACH_END();
    return false;
}

/* report: true if the user gets the fault of this call. Then the exception of this call stays
 * pending, as the previous exception of php_bf_raise, and an earlier pending exception is dropped.
 * false: the earlier exception stays pending, and the exception of this call is dropped. */
static void run_exchange(void *context)
{
    request *r = context;
    if (r->report) {
        EG(exception) = r->standing;
        php_bf_forget_exception();
    }
    r->how = attempt_alone(r->c, r->parts, r->nparts, r->sink);
    if (!r->report) php_bf_restore(r->standing);
}

static int exchange(
    void *ctx, const bf_redis_part *parts, size_t nparts, bool report, bf_reply_sink *sink)
{
    request r = { ctx, parts, nparts, report, sink, NULL, BF_CLIENT_STOP };
    return run(run_exchange, &r) ? r.how : BF_CLIENT_STOP;
}

static void run_drop(void *context)
{
    request *r = context;
    reset(r->c);
    php_bf_restore(r->standing);
}

/* Closes the connection: the core refused a reply that exchange() has delivered. */
static void drop(void *ctx)
{
    php_bf_client *c = ctx;
    zval unfinished;
    ZVAL_FALSE(&unfinished); /* the reset may fail: each client of the connection repeats it */
    zend_hash_index_update(&BF_G(talking), c->connection, &unfinished);
    run(run_drop, &(request){ .c = c });
}

/* ---- creating and freeing ---- */
bool php_bf_is_client(const zend_object *object)
{
    return php_bf_is_a(object, "redis") || php_bf_is_a(object, "rediscluster") ||
           php_bf_is_a(object, "predis\\clientinterface");
}

php_bf_client *php_bf_client_new(zend_object *object, bf_spec *spec, zend_string *key)
{
    php_bf_client *c = ecalloc(1, sizeof *c);
    c->refs = 1;
    c->object = object;
    GC_ADDREF(object);
    c->cluster = php_bf_is_a(object, "rediscluster");
    c->predis = php_bf_is_a(object, "predis\\clientinterface");
    c->process = bf_process();
    if (c->predis)
        php_bf_predis_describe(c);
    else if (c->cluster)
        snprintf(c->name, sizeof c->name, "a cluster");
    else {
        zend_string *host = php_bf_call_for_text(c, "gethost");
        snprintf(c->name, sizeof c->name,
            ZSTR_VAL(host)[0] == '/' ? "%.33s" : "%.26s:" ZEND_LONG_FMT, ZSTR_VAL(host),
            php_bf_call_for_number(c, "getport"));
        zend_string_release(host);
        if (EG(exception)) snprintf(c->name, sizeof c->name, "no server");
        php_bf_forget_exception();
    }
    /* prepends the object's prefix to the key, as other methods of the object do */
    if (key && ZSTR_LEN(key) && !EG(exception)) {
        zval prefix;
        if (!php_bf_prefix(c, &prefix)) ZVAL_EMPTY_STRING(&prefix);
        /* ignores that the object has no connection: the first command reports that */
        php_bf_forget_exception();
        c->key =
            zend_string_concat2(Z_STRVAL(prefix), Z_STRLEN(prefix), ZSTR_VAL(key), ZSTR_LEN(key));
        zval_ptr_dtor(&prefix);
    }
    spec->key = c->key ? ZSTR_VAL(c->key) : NULL;
    spec->redis_client = &c->host;
    c->host = (bf_redis_client){
        .exchange = exchange, .drop = drop, .name = c->name, .cluster = c->cluster, .ctx = c
    };
    if (c->cluster && spec->wait_replicas && !EG(exception))
        zend_throw_exception(php_bf_exception_ce,
            "waitReplicas is not possible with a cluster's object: it sends commands as scripts, "
            "and a script cannot WAIT",
            BF_ENOTSUP);
    if (!EG(exception)) return c;
    php_bf_client_release(c);
    spec->redis_client = NULL;
    return NULL;
}

php_bf_client *php_bf_client_hold(php_bf_client *c)
{
    c->refs++;
    return c;
}

void php_bf_client_release(php_bf_client *c)
{
    if (!c || --c->refs) return;
    if (c->key) zend_string_release(c->key);
    OBJ_RELEASE(c->object);
    efree(c);
}

zend_object *php_bf_client_object(const php_bf_client *c) { return c->object; }
