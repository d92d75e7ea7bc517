/* php_predis.c - executes commands through a Predis client (Predis\ClientInterface, versions 1 to
 * 3).
 *
 *   one server     the core's bytes over the stream of Predis\Connection\StreamConnection; with
 *                  other classes, also subclasses: writeRequest()..., readResponse()...
 *   a replication  the same with its master, because a replica may lack the last adds
 *   a cluster      EVAL, as php_redis.c does for phpredis: Predis follows MOVED and ASK
 *
 * Predis connects, logs in and disconnects. Commands are RawCommand objects where they are not
 * bytes. They go to the client's connection, not to the client: an error reply is then a reply, and
 * the other replies of a pipeline are not lost. */
#include "php_redis.h"
#include <main/php_network.h>

static bool is_replication(const zend_object *connection)
{
    return php_bf_is_a(connection, "predis\\connection\\replication\\replicationinterface") ||
           php_bf_is_a(connection, "predis\\connection\\aggregate\\replicationinterface");
}

bool php_bf_predis_follow(zval *at, const char *method)
{
    zval next;
    bool done = php_bf_call_on(Z_OBJ_P(at), Z_OBJCE_P(at), method, 0, NULL, &next);
    zval_ptr_dtor(at);
    ZVAL_COPY_VALUE(at, &next);
    if (done && Z_TYPE_P(at) == IS_OBJECT) return true;
    zval_ptr_dtor(at);
    ZVAL_UNDEF(at);
    if (done)
        zend_throw_exception_ex(
            php_bf_exception_ce, BF_EIO, "Predis has no connection: %s() returns none", method);
    return false;
}

static bool get_connection(php_bf_client *c, zval *connection)
{
    ZVAL_OBJ_COPY(connection, c->object);
    return php_bf_predis_follow(connection, "getconnection") &&
           (!is_replication(Z_OBJ_P(connection)) || php_bf_predis_follow(connection, "getmaster"));
}

static bool create(uint32_t argc, zval *argv, zval *command)
{
    static const char name[] = "Predis\\Command\\RawCommand";
    zend_string *text = zend_string_init(name, sizeof name - 1, false);
    zend_class_entry *ce = zend_lookup_class(text);
    zend_string_release(text);
    ZVAL_UNDEF(command);
    return ce && php_bf_call_on(NULL, ce, "create", argc, argv, command);
}

static bool call_with_command(zval *connection, const char *method, zval *command, zval *answer)
{
    return php_bf_call_on(Z_OBJ_P(connection), Z_OBJCE_P(connection), method, 1, command, answer);
}

/* Copies a property of an object; null if it is missing. */
static void copy_property(zval *to, zval *object, const char *name)
{
    zval rv;
    ZVAL_UNDEF(&rv);
    ZVAL_COPY_DEREF(
        to, zend_read_property(Z_OBJCE_P(object), Z_OBJ_P(object), name, strlen(name), true, &rv));
    zval_ptr_dtor(&rv);
}

/* In Predis 3 the resource is in an object: replaces the object by it. Returns NULL if it is no
 * stream (phpiredis). */
static php_stream *stream_of(zval *resource)
{
    if (Z_TYPE_P(resource) == IS_OBJECT) {
        zval object;
        ZVAL_COPY_VALUE(&object, resource);
        copy_property(resource, &object, "stream");
        zval_ptr_dtor(&object);
    }
    if (Z_TYPE_P(resource) != IS_RESOURCE) return NULL;
    return zend_fetch_resource2(
        Z_RES_P(resource), NULL, php_file_le_stream(), php_file_le_pstream());
}

/* ---- commands ---- */
bool php_bf_predis_command(php_bf_client *c, uint32_t argc, zval *argv, zval *answer)
{
    zval connection, command;
    ZVAL_UNDEF(answer);
    if (!get_connection(c, &connection)) return false;
    bool done = create(argc, argv, &command) &&
                call_with_command(&connection, "executecommand", &command, answer);
    zval_ptr_dtor(&command);
    zval_ptr_dtor(&connection);
    return done;
}

/* argv: script, list of keys and arguments, number of keys, as for phpredis's eval() */
bool php_bf_predis_eval(php_bf_client *c, zval *argv, zval *answer)
{
    HashTable *list = Z_ARRVAL(argv[1]);
    uint32_t n = 3;
    zval *v, *flat = safe_emalloc(zend_hash_num_elements(list) + n, sizeof *flat, 0);
    ZVAL_STRING(&flat[0], "EVAL");
    ZVAL_COPY(&flat[1], &argv[0]);
    ZVAL_STR(&flat[2], zval_get_string(&argv[2]));
    ZEND_HASH_FOREACH_VAL(list, v) { ZVAL_STR(&flat[n++], zval_get_string(v)); }
    ZEND_HASH_FOREACH_END();
    bool done = php_bf_predis_command(c, n, flat, answer);
    php_bf_free_arguments(flat, n);
    return done;
}

static bool write_all(
    zval *connection, const bf_redis_part *parts, size_t nparts, HashTable *written)
{
    zval command, ignored;
    uint32_t n;
    for (size_t i = 0; i < nparts; i++) {
        bf_commands queued = { parts[i].bytes, (const char *)parts[i].bytes + parts[i].len, 0 };
        for (zval *argv; (argv = php_bf_arguments(&queued, &n)) != NULL;) {
            bool made = create(n, argv, &command);
            php_bf_free_arguments(argv, n);
            if (!made) return false;
            zend_hash_next_index_insert(written, &command);
            bool done = call_with_command(connection, "writerequest", &command, &ignored);
            zval_ptr_dtor(&ignored);
            if (!done) return false;
        }
    }
    return true;
}

static bool run_commands(php_bf_client *c, zval *connection, const bf_redis_part *parts,
    size_t nparts, bf_reply_sink *sink)
{
    zval written, replies, reply, *v;
    array_init(&written);
    array_init(&replies);
    bool done = write_all(connection, parts, nparts, Z_ARRVAL(written));
    ZEND_HASH_FOREACH_VAL(Z_ARRVAL(written), v)
    {
        if (!done) break;
        done = call_with_command(connection, "readresponse", v, &reply);
        zend_hash_next_index_insert(Z_ARRVAL(replies), &reply);
    }
    ZEND_HASH_FOREACH_END();
    if (done) ZEND_HASH_FOREACH_VAL(Z_ARRVAL(replies), v)
        {
            php_bf_put_reply(c, sink, v);
        }
    ZEND_HASH_FOREACH_END();
    zval_ptr_dtor(&replies);
    zval_ptr_dtor(&written);
    return done;
}

/* ---- bytes ---- */
/* Gets the connection's stream; Predis connects if it is not connected. Returns NULL with an
 * exception. */
static php_stream *open_stream(zval *connection, zval *resource)
{
    php_stream *stream = NULL;
    if (php_bf_call_on(
            Z_OBJ_P(connection), Z_OBJCE_P(connection), "getresource", 0, NULL, resource) &&
        !(stream = stream_of(resource)))
        zend_throw_exception(php_bf_exception_ce, "Predis has no connection", BF_EIO);
    return stream;
}

/* The same, but connects again if the server has closed the connection. */
static php_stream *open_live_stream(zval *connection, zval *resource)
{
    zval ignored;
    php_stream *stream = open_stream(connection, resource);
    if (!stream || php_stream_set_option(stream, PHP_STREAM_OPTION_CHECK_LIVENESS, 0, NULL) !=
                       PHP_STREAM_OPTION_RETURN_ERR)
        return stream;
    zval_ptr_dtor(resource);
    ZVAL_UNDEF(resource);
    bool closed =
        php_bf_call_on(Z_OBJ_P(connection), Z_OBJCE_P(connection), "disconnect", 0, NULL, &ignored);
    zval_ptr_dtor(&ignored);
    return closed ? open_stream(connection, resource) : NULL;
}

static bool write_bytes(php_stream *stream, const char *bytes, size_t len)
{
    while (len) {
        const ssize_t n = php_stream_write(stream, bytes, len);
        if (n <= 0 || EG(exception)) return false;
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}

/* Predis has given its read_write_timeout to the stream, which is a socket or TLS. Returns -1 if
 * there is no limit. */
static int limit_ms(const php_stream *stream)
{
    if (!strstr(stream->ops->label, "_socket")) return -1;
    return php_tvtoto(&((php_netstream_data_t *)stream->abstract)->timeout);
}

/* Returns NULL, or the method of Predis that throws, and the text of its exception. The replies
 * together have the time of one read, because a server may send a byte now and then. */
static const char *exchange_bytes(php_stream *stream, const bf_redis_part *parts, size_t nparts,
    bf_reply_sink *sink, const char **why)
{
    char bytes[8192];
    int64_t commands = 0, replies = 0;
    *why = "Error while writing bytes to the server.";
    for (size_t i = 0; i < nparts; i++) {
        commands += (int64_t)parts[i].commands;
        if (!write_bytes(stream, parts[i].bytes, parts[i].len)) return "onconnectionerror";
    }
    *why = "Error while reading bytes from the server.";
    const uint64_t start = php_bf_now_ms();
    const int limit = limit_ms(stream);
    while (replies >= 0 && replies < commands) {
        const ssize_t n = php_stream_read(stream, bytes, sizeof bytes);
        if (n <= 0 || EG(exception)) return "onconnectionerror";
        replies = bf_reply_feed(sink, bytes, (size_t)n);
        if (replies >= 0 && replies < commands && limit >= 0 &&
            php_bf_now_ms() - start >= (uint64_t)limit)
            return "onconnectionerror";
    }
    *why = "The server does not speak the Redis protocol.";
    return replies == BF_EFORMAT ? "onprotocolerror" : NULL;
}

/* Throws the exceptions that Predis throws. Like Predis, hides PHP's warnings about the stream. */
static bool run_bytes(
    zval *connection, const bf_redis_part *parts, size_t nparts, bf_reply_sink *sink)
{
    zval resource, text, ignored;
    zend_object *o = Z_OBJ_P(connection);
    php_stream *stream = open_live_stream(connection, &resource);
    if (stream) {
        const char *why;
        const int reporting = EG(error_reporting);
        EG(error_reporting) &= E_FATAL_ERRORS;
        const uint32_t flags = php_bf_borrow_stream(stream);
        const char *thrower = exchange_bytes(stream, parts, nparts, sink, &why);
        php_bf_return_stream(stream, flags);
        EG(error_reporting) = reporting;
        if (thrower && !EG(exception)) {
            ZVAL_STRING(&text, why);
            php_bf_call_on(o, o->ce, thrower, 1, &text, &ignored);
            zval_ptr_dtor(&ignored);
            zval_ptr_dtor(&text);
        }
    }
    zval_ptr_dtor(&resource);
    return stream && !EG(exception);
}

bool php_bf_predis_run(
    php_bf_client *c, const bf_redis_part *parts, size_t nparts, bf_reply_sink *sink)
{
    zval connection;
    if (!get_connection(c, &connection)) return false;
    const bool done = Z_OBJCE(connection) == php_bf_class_of("predis\\connection\\streamconnection")
                          ? run_bytes(&connection, parts, nparts, sink)
                          : run_commands(c, &connection, parts, nparts, sink);
    zval_ptr_dtor(&connection);
    return done;
}

/* Reads a property of the object *at, and releases the object. Returns an empty string if there is
 * no such property. */
static zend_string *property(zval *at, const char *name)
{
    zval value;
    copy_property(&value, at, name);
    zend_string *text = zval_try_get_string(&value);
    zval_ptr_dtor(&value);
    zval_ptr_dtor(at);
    return text ? text : ZSTR_EMPTY_ALLOC();
}

bool php_bf_predis_prefix(php_bf_client *c, zval *prefix)
{
    zval options;
    ZVAL_OBJ_COPY(&options, c->object);
    ZVAL_EMPTY_STRING(prefix);
    if (php_bf_predis_follow(&options, "getoptions"))
        ZVAL_STR(prefix, property(&options, "prefix"));
    if (Z_STRLEN_P(prefix)) return true;
    zval_ptr_dtor(prefix);
    return false;
}

double php_bf_predis_timeout(php_bf_client *c)
{
    zval at;
    double seconds = 0;
    if (get_connection(c, &at) && php_bf_predis_follow(&at, "getparameters")) {
        zend_string *text = property(&at, "read_write_timeout");
        seconds = zend_strtod(ZSTR_VAL(text), NULL);
        zend_string_release(text);
    }
    php_bf_forget_exception();
    return seconds;
}

void php_bf_predis_describe(php_bf_client *c)
{
    zval connection;
    ZVAL_OBJ_COPY(&connection, c->object);
    if (!php_bf_predis_follow(&connection, "getconnection")) return;
    if (php_bf_is_a(Z_OBJ(connection), "predis\\connection\\nodeconnectioninterface")) {
        zend_string *text = zval_try_get_string(&connection);
        if (text) {
            snprintf(c->name, sizeof c->name, "%.33s", ZSTR_VAL(text));
            zend_string_release(text);
        }
    } else {
        c->cluster = !is_replication(Z_OBJ(connection));
        snprintf(c->name, sizeof c->name, c->cluster ? "a cluster" : "a master");
    }
    zval_ptr_dtor(&connection);
}
