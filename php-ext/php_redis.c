/* php_redis.c - a phpredis object, Redis or RedisCluster, as the core's Redis client: a trip's commands are walked and called
 * on it, its answers put into the core's sink.  Knows phpredis's methods; knows nothing of filters.
 *
 *   Redis         one command: rawCommand(); several: pipeline(), rawCommand()..., exec()
 *   RedisCluster  has no pipeline, and its rawCommand() follows neither MOVED nor ASK; eval() does.  So the commands of one key go
 *                 as the arguments of one small script, and a command that is a script already goes to eval() as it is
 *
 * After any fault the connection is closed, because it may be out of step; phpredis makes a new one by itself. */
#include "php_bloomfilter.h"
#include "zend_exceptions.h"
#include <errno.h>
#include <time.h>
#include <unistd.h>

enum { OPT_PREFIX = 2 };       /* Redis::OPT_PREFIX, for RedisCluster's objects too */

struct php_bf_client {
    bf_redis_client host;      /* what the core calls */
    zend_object *object;
    bool cluster;
    uint32_t refs;
    zend_string *key;          /* with the object's own prefix */
    bool lost;                 /* a cluster that must not be used any more: see may_go_on */
    pid_t pid;                 /* of the process that the connection belongs to */
    char name[48];
};

/* Errors come back as arrays, because phpredis leaves the text of a nested error to the last one that was. */
static const char each_command[] =
    "local r,i={},1 while i<=#ARGV do local n=tonumber(ARGV[i]) local v=redis.pcall(unpack(ARGV,i+1,i+n)) "
    "if type(v)=='table' and v.err then v={'\\0error',v.err} end r[#r+1]=v i=i+n+1 end return r";
static const char error_mark[] = "\0error";

/* ---- calling it ---- */
/* false: an exception is set. */
static bool call(php_bf_client *c, const char *method, uint32_t argc, zval *argv, zval *answer)
{
    zend_function *f = zend_hash_str_find_ptr(&c->object->ce->function_table, method, strlen(method));
    ZVAL_UNDEF(answer);
    if (!f) zend_throw_error(NULL, "%s has no method %s()", ZSTR_VAL(c->object->ce->name), method);
    else zend_call_known_function(f, c->object, c->object->ce, answer, argc, argv, NULL);
    return !EG(exception);
}

static zend_long call_for_number(php_bf_client *c, const char *method)
{
    zval answer;
    zend_long v = call(c, method, 0, NULL, &answer) ? zval_get_long(&answer) : -1;
    zval_ptr_dtor(&answer);
    return v;
}

static void call_only(php_bf_client *c, const char *method)
{
    zval answer;
    call(c, method, 0, NULL, &answer);
    zval_ptr_dtor(&answer);
}

/* An empty string where there is none; to be released. */
static zend_string *call_for_text(php_bf_client *c, const char *method)
{
    zval answer;
    zend_string *text = call(c, method, 0, NULL, &answer) && Z_TYPE(answer) == IS_STRING ? zend_string_copy(Z_STR(answer)) : ZSTR_EMPTY_ALLOC();
    zval_ptr_dtor(&answer);
    return text;
}

/* ---- arguments ---- */
static void set_text(zval *to, const bf_key *arg)
{
    if (arg->len == 1) ZVAL_INTERNED_STR(to, ZSTR_CHAR(*(const unsigned char *)arg->ptr));
    else ZVAL_STRINGL(to, arg->ptr, arg->len);
}

static void free_all(zval *v, size_t n)
{
    for (size_t i = 0; i < n; i++) zval_ptr_dtor(v + i);
}

/* ---- answers ---- */
static void put(bf_reply_sink *sink, zval *v)
{
    switch (Z_TYPE_P(v)) {
    case IS_LONG: bf_reply_put_integer(sink, Z_LVAL_P(v)); return;
    case IS_STRING: bf_reply_put_text(sink, Z_STRVAL_P(v), Z_STRLEN_P(v)); return;
    case IS_TRUE: bf_reply_put_text(sink, "OK", 2); return;
    case IS_ARRAY: {
        zval *member;
        bf_reply_put_array(sink, zend_hash_num_elements(Z_ARRVAL_P(v)));
        ZEND_HASH_FOREACH_VAL(Z_ARRVAL_P(v), member) { put(sink, member); } ZEND_HASH_FOREACH_END();
        return;
    }
    default: bf_reply_put_nil(sink);
    }
}

/* false is nil, or an error whose text is the last one. */
static void put_reply(php_bf_client *c, bf_reply_sink *sink, zval *v)
{
    zend_string *error = Z_TYPE_P(v) == IS_FALSE ? call_for_text(c, "getlasterror") : ZSTR_EMPTY_ALLOC();
    if (ZSTR_LEN(error)) bf_reply_put_error(sink, ZSTR_VAL(error), ZSTR_LEN(error));
    else put(sink, v);
    zend_string_release(error);
}

static void put_scripted(bf_reply_sink *sink, zval *v)
{
    zval *first = Z_TYPE_P(v) == IS_ARRAY ? zend_hash_index_find(Z_ARRVAL_P(v), 0) : NULL;
    zval *second = first ? zend_hash_index_find(Z_ARRVAL_P(v), 1) : NULL;
    bool error = second && Z_TYPE_P(first) == IS_STRING && Z_TYPE_P(second) == IS_STRING && Z_STRLEN_P(first) == sizeof error_mark - 1
              && memcmp(Z_STRVAL_P(first), error_mark, sizeof error_mark - 1) == 0;
    if (error) bf_reply_put_error(sink, Z_STRVAL_P(second), Z_STRLEN_P(second));
    else put(sink, v);
}

/* ---- Redis ---- */
static bool raw(php_bf_client *c, bf_commands *commands, zval *answer)
{
    bf_key arg;
    uint32_t n = 0;
    if (!bf_command_next(commands)) return false;
    zval *argv = safe_emalloc(commands->args, sizeof *argv, 0);
    while (bf_command_arg(commands, &arg)) set_text(argv + n++, &arg);
    bool done = call(c, "rawcommand", n, argv, answer);
    free_all(argv, n);
    efree(argv);
    return done;
}

static bool one(php_bf_client *c, const bf_redis_part *p, bf_reply_sink *sink)
{
    zval answer;
    bf_commands commands = { p->bytes, (const char *)p->bytes + p->len, 0 };
    call_only(c, "clearlasterror");
    ZVAL_UNDEF(&answer);
    bool done = raw(c, &commands, &answer);
    if (done) put_reply(c, sink, &answer);
    zval_ptr_dtor(&answer);
    return done;
}

static bool queue(php_bf_client *c, const bf_redis_part *p)
{
    zval ignored;
    bf_commands commands = { p->bytes, (const char *)p->bytes + p->len, 0 };
    bool done = true;
    for (size_t i = 0; done && i < p->commands; i++) {
        ZVAL_UNDEF(&ignored);
        done = raw(c, &commands, &ignored);
        zval_ptr_dtor(&ignored);
    }
    return done;
}

static bool run_pipeline(php_bf_client *c, const bf_redis_part *parts, size_t nparts, size_t commands, bf_reply_sink *sink)
{
    zval answer, *reply;
    call_only(c, "clearlasterror");
    call_only(c, "pipeline");
    for (size_t i = 0; !EG(exception) && i < nparts; i++) queue(c, parts + i);
    if (EG(exception) || !call(c, "exec", 0, NULL, &answer)) return false;
    bool whole = Z_TYPE(answer) == IS_ARRAY && zend_hash_num_elements(Z_ARRVAL(answer)) == commands;
    if (whole) ZEND_HASH_FOREACH_VAL(Z_ARRVAL(answer), reply) { put_reply(c, sink, reply); } ZEND_HASH_FOREACH_END();
    else zend_throw_exception(php_bf_exception_ce, "the connection was lost in the middle of the answers", BF_EIO);
    zval_ptr_dtor(&answer);
    return whole;
}

/* ---- RedisCluster ---- */
/* EVAL script numkeys key... arg... -> eval(script, [key..., arg...], numkeys) */
static bool eval(php_bf_client *c, bf_commands *commands, zval *answer)
{
    bf_key script, arg;
    zval argv[3], text;
    if (!bf_command_arg(commands, &script) || !bf_command_arg(commands, &arg)) return false;
    ZVAL_STRINGL(&argv[0], script.ptr, script.len);
    ZVAL_LONG(&argv[2], ZEND_STRTOL(arg.ptr, NULL, 10));
    array_init(&argv[1]);
    while (bf_command_arg(commands, &arg)) {
        set_text(&text, &arg);
        zend_hash_next_index_insert(Z_ARRVAL(argv[1]), &text);
    }
    bool done = call(c, "eval", 3, argv, answer);
    free_all(argv, 2);
    return done;
}

static bool eval_own(php_bf_client *c, bf_commands *commands, bf_reply_sink *sink)
{
    zval answer;
    call_only(c, "clearlasterror");
    ZVAL_UNDEF(&answer);
    bool done = eval(c, commands, &answer);
    if (done) put_reply(c, sink, &answer);
    zval_ptr_dtor(&answer);
    return done;
}

static void add_command(HashTable *list, bf_commands *commands, const bf_key *name)
{
    bf_key arg;
    zval text;
    ZVAL_LONG(&text, (zend_long)commands->args + 1);
    zend_hash_next_index_insert(list, &text);
    set_text(&text, name);
    zend_hash_next_index_insert(list, &text);
    while (bf_command_arg(commands, &arg)) {
        set_text(&text, &arg);
        zend_hash_next_index_insert(list, &text);
    }
}

static bool put_each(php_bf_client *c, bf_reply_sink *sink, zval *answer, size_t n)
{
    zval *reply;
    if (Z_TYPE_P(answer) == IS_ARRAY && zend_hash_num_elements(Z_ARRVAL_P(answer)) == n) {
        ZEND_HASH_FOREACH_VAL(Z_ARRVAL_P(answer), reply) { put_scripted(sink, reply); } ZEND_HASH_FOREACH_END();
        return true;
    }
    zend_string *error = call_for_text(c, "getlasterror");    /* the script was refused: none was executed */
    bool refused = Z_TYPE_P(answer) == IS_FALSE && ZSTR_LEN(error);
    for (size_t i = 0; refused && i < n; i++) bf_reply_put_error(sink, ZSTR_VAL(error), ZSTR_LEN(error));
    if (!refused) zend_throw_exception(php_bf_exception_ce, "the answer is not one", BF_EIO);
    zend_string_release(error);
    return refused;
}

static bool eval_each(php_bf_client *c, const bf_redis_part *p, bf_reply_sink *sink)
{
    zval argv[3], answer, key;
    bf_key name;
    bf_commands commands = { p->bytes, (const char *)p->bytes + p->len, 0 };
    call_only(c, "clearlasterror");
    ZVAL_STRINGL(&argv[0], each_command, sizeof each_command - 1);
    array_init(&argv[1]);
    ZVAL_LONG(&argv[2], 1);
    ZVAL_STRINGL(&key, p->key, p->key_len);
    zend_hash_next_index_insert(Z_ARRVAL(argv[1]), &key);
    while (bf_command_next(&commands) && bf_command_arg(&commands, &name)) add_command(Z_ARRVAL(argv[1]), &commands, &name);
    bool done = call(c, "eval", 3, argv, &answer) && put_each(c, sink, &answer, p->commands);
    free_all(argv, 2);
    zval_ptr_dtor(&answer);
    return done;
}

static bool run_cluster(php_bf_client *c, const bf_redis_part *p, bf_reply_sink *sink)
{
    bf_key name;
    bf_commands commands = { p->bytes, (const char *)p->bytes + p->len, 0 };
    bool script = p->commands == 1 && bf_command_next(&commands) && bf_command_arg(&commands, &name) && name.len == 4 && !memcmp(name.ptr, "EVAL", 4);
    return script ? eval_own(c, &commands, sink) : eval_each(c, p, sink);
}

/* eval() would put the prefix before keys that have it already.  true: *prefix must be put back. */
static bool take_prefix(php_bf_client *c, zval *prefix)
{
    zval argv[2], ignored;
    ZVAL_LONG(&argv[0], OPT_PREFIX);
    if (!call(c, "getoption", 1, argv, prefix) || Z_TYPE_P(prefix) != IS_STRING || Z_STRLEN_P(prefix) == 0) { zval_ptr_dtor(prefix); return false; }
    ZVAL_EMPTY_STRING(&argv[1]);
    call(c, "setoption", 2, argv, &ignored);
    return true;
}

static void put_prefix_back(php_bf_client *c, zval *prefix)
{
    zval argv[2], ignored;
    zend_object *standing = EG(exception);
    EG(exception) = NULL;
    ZVAL_LONG(&argv[0], OPT_PREFIX);
    ZVAL_COPY_VALUE(&argv[1], prefix);
    call(c, "setoption", 2, argv, &ignored);
    zval_ptr_dtor(prefix);
    if (standing) EG(exception) = standing;
}

/* ---- one trip ---- */
static bool run(php_bf_client *c, const bf_redis_part *parts, size_t nparts, bf_reply_sink *sink)
{
    size_t commands = 0;
    zval prefix;
    bool done = true;
    for (size_t i = 0; i < nparts; i++) commands += parts[i].commands;
    if (!c->cluster) return commands == 1 ? one(c, parts, sink) : run_pipeline(c, parts, nparts, commands, sink);
    bool prefixed = take_prefix(c, &prefix);
    for (size_t i = 0; done && !EG(exception) && i < nparts; i++) done = run_cluster(c, parts + i, sink);
    if (prefixed) put_prefix_back(c, &prefix);
    return done && !EG(exception);
}

/* phpredis throws some error replies: "OOM command not allowed ...", "The Redis Cluster is down (CLUSTERDOWN)". */
static bool is_refusal(const zend_string *text)
{
    if (strstr(ZSTR_VAL(text), "(CLUSTERDOWN)")) return true;
    size_t word = strspn(ZSTR_VAL(text), "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    return word > 1 && ZSTR_VAL(text)[word] == ' ';
}

/* The object as if nothing had been: in no mode, with a new connection at its next command. */
static void reset(php_bf_client *c)
{
    zend_object *standing = EG(exception);
    EG(exception) = NULL;
    if (!c->cluster && call_for_number(c, "getmode") > 0) call_only(c, "discard");
    call_only(c, "close");
    if (EG(exception)) { zend_object *later = EG(exception); EG(exception) = NULL; OBJ_RELEASE(later); }
    EG(exception) = standing;
}

static zend_string *message_of(zend_object *exception)
{
    zval rv, *text = zend_read_property(exception->ce, exception, "message", strlen("message"), true, &rv);
    return Z_TYPE_P(text) == IS_STRING ? zend_string_copy(Z_STR_P(text)) : ZSTR_EMPTY_ALLOC();
}

/* phpredis before 6.3 forgets its map of the slots where a node is lost, and its next command reads through a NULL. */
static bool may_go_on(void)
{
    const char *version = zend_get_module_version("redis");
    return version && (ZEND_STRTOL(version, NULL, 10) > 6 || (!strncmp(version, "6.", 2) && ZEND_STRTOL(version + 2, NULL, 10) >= 3));
}

static bool is_a(const zend_object *object, const char *lower_name)
{
    zend_class_entry *ce = zend_hash_str_find_ptr(EG(class_table), lower_name, strlen(lower_name));
    return ce && instanceof_function(object->ce, ce);
}

/* Of phpredis, or our own: anything else comes from a subclass of the user's, and says itself what it is. */
static bool is_of_connection(const zend_object *exception)
{
    return !exception || exception->ce == php_bf_exception_ce || is_a(exception, "redisexception") || is_a(exception, "redisclusterexception");
}

/* Its exceptions do not tell a time-out from a reset; the clock does. */
static int errno_of(php_bf_client *c, const zend_string *text, uint64_t took_ms)
{
    if (strstr(ZSTR_VAL(text), "onnection refused") || strstr(ZSTR_VAL(text), "communicate with any node")) return ECONNREFUSED;
    if (strstr(ZSTR_VAL(text), "imed out")) return ETIMEDOUT;
    if (strstr(ZSTR_VAL(text), "getaddrinfo") || strstr(ZSTR_VAL(text), "protocol") || ZSTR_LEN(text) == 0 || c->cluster) return 0;
    zval answer;
    double limit = call(c, "getreadtimeout", 0, NULL, &answer) ? zval_get_double(&answer) : 0;
    zval_ptr_dtor(&answer);
    if (limit <= 0) limit = (double)zend_ini_long("default_socket_timeout", strlen("default_socket_timeout"), 0);
    return limit > 0 && (double)took_ms >= limit * 1000 ? ETIMEDOUT : ECONNRESET;
}

static uint64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static int failed(php_bf_client *c, const bf_redis_part *parts, size_t nparts, uint64_t took_ms, bf_reply_sink *sink)
{
    if (EG(exception) && zend_is_unwind_exit(EG(exception))) return BF_CLIENT_STOP;
    zend_object *standing = EG(exception);
    EG(exception) = NULL;
    zend_string *text = standing ? message_of(standing) : ZSTR_EMPTY_ALLOC();
    const int code = is_of_connection(standing) ? errno_of(c, text, took_ms) : 0;
    EG(exception) = standing;
    reset(c);
    c->lost = c->cluster && !may_go_on();
    int how = BF_CLIENT_LOST;
    if (is_refusal(text)) {
        size_t commands = 0;
        for (size_t i = 0; i < nparts; i++) commands += parts[i].commands;
        bf_redis_range all = { 0, commands };
        bf_reply_expect(sink, &all, 1);
        for (size_t i = 0; i < commands; i++) bf_reply_put_error(sink, ZSTR_VAL(text), ZSTR_LEN(text));
        bf_reply_expect(sink, NULL, 0);
        how = BF_CLIENT_ANSWERED;
    } else {
        bf_reply_fault(sink, code, ZSTR_VAL(text), ZSTR_LEN(text));
        if (code == ECONNREFUSED || strstr(ZSTR_VAL(text), "getaddrinfo")) how = BF_CLIENT_UNSENT;
    }
    zend_string_release(text);
    return how;
}

static void forget_exception(void)
{
    if (EG(exception) && !zend_is_unwind_exit(EG(exception))) zend_clear_exception();
}

/* false: not ready, or an exception.  A connection has one process, and the user's own pipeline or transaction must not get our commands. */
static bool ready(php_bf_client *c)
{
    if (c->pid != getpid()) {
        c->pid = getpid();
        reset(c);
    }
    return c->cluster || call_for_number(c, "getmode") == 0;
}

static int refuse(bf_reply_sink *sink, const char *why)
{
    bf_reply_fault(sink, 0, why, strlen(why));
    return BF_CLIENT_UNSENT;
}

static int attempt(php_bf_client *c, const bf_redis_part *parts, size_t nparts, bf_reply_sink *sink)
{
    const uint64_t start = now_ms();
    if (c->lost) return refuse(sink, "a node was lost, where phpredis before 6.3 crashes: make a new object");
    if (!ready(c)) return EG(exception) ? failed(c, parts, nparts, 0, sink) : refuse(sink, "the Redis object is in a pipeline or transaction: end that first");
    if (run(c, parts, nparts, sink)) return BF_CLIENT_ANSWERED;
    int how = failed(c, parts, nparts, now_ms() - start, sink);
    if (how == BF_CLIENT_ANSWERED) forget_exception();
    return how;
}

/* An exception stays set for php_bf_raise, whose own has it as its previous one.  One that is set already is from a trip before:
 * of a call that tries again it is forgotten; beside a fault that nobody hears of it stands. */
static int exchange(void *ctx, const bf_redis_part *parts, size_t nparts, bool report, bf_reply_sink *sink)
{
    if (EG(exception) && zend_is_unwind_exit(EG(exception))) return BF_CLIENT_STOP;
    if (report) {
        forget_exception();
        return attempt(ctx, parts, nparts, sink);
    }
    zend_object *standing = EG(exception);
    EG(exception) = NULL;
    int how = attempt(ctx, parts, nparts, sink);
    if (standing) {
        if (EG(exception)) { zend_object *later = EG(exception); EG(exception) = NULL; OBJ_RELEASE(later); }
        EG(exception) = standing;
    } else forget_exception();
    return how;
}

/* ---- its life ---- */
static void name_it(php_bf_client *c)
{
    if (c->cluster) snprintf(c->name, sizeof c->name, "a cluster");
    else {
        zend_string *host = call_for_text(c, "gethost");
        snprintf(c->name, sizeof c->name, ZSTR_VAL(host)[0] == '/' ? "%.33s" : "%.26s:" ZEND_LONG_FMT, ZSTR_VAL(host), call_for_number(c, "getport"));
        zend_string_release(host);
        if (EG(exception)) { zend_clear_exception(); snprintf(c->name, sizeof c->name, "no server"); }
    }
}

bool php_bf_is_client(const zend_object *object) { return is_a(object, "redis") || is_a(object, "rediscluster"); }

/* The key as the object's other methods would name it, OPT_PREFIX before it. */
static void set_key(php_bf_client *c, zend_string *key)
{
    zval argv, prefix;
    ZVAL_LONG(&argv, OPT_PREFIX);
    const bool has = call(c, "getoption", 1, &argv, &prefix) && Z_TYPE(prefix) == IS_STRING;
    if (EG(exception)) zend_clear_exception();            /* never connected: the first command says so */
    c->key = has ? zend_string_concat2(Z_STRVAL(prefix), Z_STRLEN(prefix), ZSTR_VAL(key), ZSTR_LEN(key)) : zend_string_copy(key);
    zval_ptr_dtor(&prefix);
}

php_bf_client *php_bf_client_new(zend_object *object, bf_spec *spec, zend_string *key)
{
    php_bf_client *c = ecalloc(1, sizeof *c);
    c->refs = 1;
    c->object = object;
    GC_ADDREF(object);
    c->cluster = is_a(object, "rediscluster");
    c->pid = getpid();
    name_it(c);
    if (key && ZSTR_LEN(key) && !EG(exception)) set_key(c, key);
    spec->key = c->key ? ZSTR_VAL(c->key) : NULL;
    spec->redis_client = &c->host;
    c->host = (bf_redis_client){ .exchange = exchange, .name = c->name, .cluster = c->cluster, .ctx = c };
    if (c->cluster && spec->wait_replicas && !EG(exception))
        zend_throw_exception(php_bf_exception_ce, "waitReplicas cannot go through a RedisCluster of phpredis: commands go as scripts there, and WAIT must not", BF_ENOTSUP);
    if (!EG(exception)) return c;
    php_bf_client_release(c);
    spec->redis_client = NULL;
    return NULL;
}

php_bf_client *php_bf_client_of(const bf_spec *spec) { return spec->redis_client ? spec->redis_client->ctx : NULL; }
php_bf_client *php_bf_client_hold(php_bf_client *c) { c->refs++; return c; }

void php_bf_client_release(php_bf_client *c)
{
    if (!c || --c->refs) return;
    if (c->key) zend_string_release(c->key);
    OBJ_RELEASE(c->object);
    efree(c);
}

zend_object *php_bf_client_object(const php_bf_client *c) { return c->object; }
