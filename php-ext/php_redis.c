/* php_redis.c - executes the commands of a round trip through a client object, and puts the
 * replies into the core's sink. php_predis.c has what is different with Predis. phpredis:
 *
 *   Redis         pipeline(), rawCommand()..., exec()
 *   RedisCluster  eval(), because its rawCommand() does not follow MOVED and ASK. The commands
 *                 about one key become arguments of one small script, each_command. A command
 *                 EVAL and its ECHO become one script
 *
 * After any fault the connection is closed, because its next bytes may be the reply to an earlier
 * command. */
#include "php_redis.h"

enum { DEPTH = 8 };    /* maximum depth of nested arrays in a reply */
enum { PIPELINE = 2 }; /* Redis::PIPELINE */

/* Executes the commands in ARGV: number of arguments, arguments, and so on. Returns an error as an
 * array {error_mark, text}, because phpredis does not keep the text of a nested error. */
static const char each_command[] =
    "local r,i={},1 while i<=#ARGV do local n=tonumber(ARGV[i]) local "
    "v=redis.pcall(unpack(ARGV,i+1,i+n)) "
    "if type(v)=='table' and v.err then v={'\\0error',v.err} end r[#r+1]=v i=i+n+1 end return r";
static const char error_mark[] = "\0error";
/* The same for one script: before and after its text. The last argument is the number of the ECHO.
 */
static const char script_head[] = "local n=table.remove(ARGV) local v=(function() ",
                  script_tail[] = "\nend)() if type(v)=='table' and v.err then "
                                  "v={'\\0error',v.err} end return {v,n}";

/* ---- calling methods of the object ---- */
zend_class_entry *php_bf_class_of(const char *lower_name)
{
    return zend_hash_str_find_ptr(EG(class_table), lower_name, strlen(lower_name));
}

bool php_bf_is_a(const zend_object *object, const char *lower_name)
{
    zend_class_entry *ce = php_bf_class_of(lower_name);
    return ce && instanceof_function(object->ce, ce);
}

/* Calls the method of class ce; object is NULL for a static method. Returns false with an
 * exception. The caller frees *answer in both cases. */
bool php_bf_call_on(zend_object *object, zend_class_entry *ce, const char *method, uint32_t argc,
    zval *argv, zval *answer)
{
    zend_function *f = zend_hash_str_find_ptr(&ce->function_table, method, strlen(method));
    zend_fcall_info what = {
        .size = sizeof what, .object = object, .retval = answer, .params = argv, .param_count = argc
    };
    zend_fcall_info_cache whose = {
        .function_handler = f, .object = object, .called_scope = object ? object->ce : ce
    };
    ZVAL_UNDEF(answer);
    if (f)
        zend_call_function(&what, &whose);
    else
        zend_throw_error(NULL, "%s has no method %s()", ZSTR_VAL(ce->name), method);
    return !EG(exception);
}

/* Calls a method of the client. If c->ending is true, calls phpredis's method even if a subclass
 * overrides that. */
bool php_bf_call(php_bf_client *c, const char *method, uint32_t argc, zval *argv, zval *answer)
{
    zend_class_entry *ce =
        c->ending ? php_bf_class_of(c->cluster ? "rediscluster" : "redis") : c->object->ce;
    return php_bf_call_on(c->object, ce, method, argc, argv, answer);
}

zend_long php_bf_call_for_number(php_bf_client *c, const char *method)
{
    zval answer;
    zend_long v = php_bf_call(c, method, 0, NULL, &answer) ? zval_get_long(&answer) : -1;
    zval_ptr_dtor(&answer);
    return v;
}

void php_bf_call_only(php_bf_client *c, const char *method)
{
    zval answer;
    php_bf_call(c, method, 0, NULL, &answer);
    zval_ptr_dtor(&answer);
}

/* Calls a method that returns a string. Returns an empty string if the method returns another type
 * or throws. The caller releases the result. */
zend_string *php_bf_call_for_text(php_bf_client *c, const char *method)
{
    zval answer;
    zend_string *text = php_bf_call(c, method, 0, NULL, &answer) && Z_TYPE(answer) == IS_STRING
                            ? zend_string_copy(Z_STR(answer))
                            : ZSTR_EMPTY_ALLOC();
    zval_ptr_dtor(&answer);
    return text;
}

/* ---- arguments ---- */
static void set_text(zval *to, const bf_key *arg)
{
    if (arg->len == 1)
        ZVAL_INTERNED_STR(to, ZSTR_CHAR(*(const unsigned char *)arg->ptr));
    else
        ZVAL_STRINGL(to, arg->ptr, arg->len);
}

static void free_all(zval *v, size_t n)
{
    for (size_t i = 0; i < n; i++) zval_ptr_dtor(v + i);
}

zval *php_bf_arguments(bf_commands *commands, uint32_t *n)
{
    bf_key arg;
    *n = 0;
    if (!bf_command_next(commands)) return NULL;
    zval *argv = safe_emalloc(commands->args, sizeof *argv, 0);
    while (bf_command_arg(commands, &arg)) set_text(argv + (*n)++, &arg);
    return argv;
}

void php_bf_free_arguments(zval *argv, uint32_t n)
{
    free_all(argv, n);
    efree(argv);
}

/* ---- replies ---- */
static void put(bf_reply_sink *sink, zval *v, int deep)
{
    switch (Z_TYPE_P(v)) {
    case IS_LONG: bf_reply_put_integer(sink, Z_LVAL_P(v)); return;
    case IS_STRING: bf_reply_put_text(sink, Z_STRVAL_P(v), Z_STRLEN_P(v)); return;
    case IS_TRUE: bf_reply_put_status(sink, "OK", 2); return;
    case IS_ARRAY: {
        zval *member;
        bf_reply_put_array(sink, zend_hash_num_elements(Z_ARRVAL_P(v)));
        ZEND_HASH_FOREACH_VAL(Z_ARRVAL_P(v), member)
        {
            if (deep < DEPTH)
                put(sink, member, deep + 1);
            else
                bf_reply_put_nil(sink);
        }
        ZEND_HASH_FOREACH_END();
        return;
    }
    case IS_OBJECT: { /* Predis\Response\Error or Status */
        zend_string *text = zval_try_get_string(v);
        if (!text)
            bf_reply_put_nil(sink);
        else if (php_bf_is_a(Z_OBJ_P(v), "predis\\response\\errorinterface"))
            bf_reply_put_error(sink, ZSTR_VAL(text), ZSTR_LEN(text));
        else
            bf_reply_put_status(sink, ZSTR_VAL(text), ZSTR_LEN(text));
        if (text) zend_string_release(text);
        return;
    }
    default: bf_reply_put_nil(sink);
    }
}

/* phpredis returns false for nil and for an error. getlasterror() returns the text of the error. */
void php_bf_put_reply(php_bf_client *c, bf_reply_sink *sink, zval *v)
{
    zend_string *error = Z_TYPE_P(v) == IS_FALSE && !c->predis
                             ? php_bf_call_for_text(c, "getlasterror")
                             : ZSTR_EMPTY_ALLOC();
    if (ZSTR_LEN(error))
        bf_reply_put_error(sink, ZSTR_VAL(error), ZSTR_LEN(error));
    else
        put(sink, v, 0);
    zend_string_release(error);
}

/* ---- Redis ---- */
static void queue(php_bf_client *c, bf_commands *commands)
{
    uint32_t n;
    zval ignored, *argv = php_bf_arguments(commands, &n);
    php_bf_call(c, "rawcommand", n, argv, &ignored);
    zval_ptr_dtor(&ignored);
    php_bf_free_arguments(argv, n);
}

/* True if exec() will clear the queue of commands: exec() is phpredis's method, and the object is
 * in a pipeline. An object that PHP code has closed meanwhile keeps its queue without a pipeline.
 */
static bool exec_clears_queue(php_bf_client *c)
{
    const HashTable *methods = &c->object->ce->function_table;
    const zend_function *f = zend_hash_str_find_ptr(methods, "exec", strlen("exec"));
    return f && f->type == ZEND_INTERNAL_FUNCTION &&
           php_bf_call_for_number(c, "getmode") == PIPELINE;
}

static bool run_pipeline(php_bf_client *c, const bf_redis_part *parts, size_t nparts,
    size_t commands, bf_reply_sink *sink)
{
    zval answer, *reply;
    php_bf_call_only(c, "clearlasterror");
    c->piped = true;
    php_bf_call_only(c, "pipeline");
    for (size_t i = 0; !EG(exception) && i < nparts; i++) {
        bf_commands commands_of_part = { parts[i].bytes,
            (const char *)parts[i].bytes + parts[i].len, 0 };
        for (size_t n = 0; !EG(exception) && n < parts[i].commands; n++)
            queue(c, &commands_of_part);
    }
    if (!EG(exception)) c->piped = !exec_clears_queue(c);
    if (EG(exception) || !php_bf_call(c, "exec", 0, NULL, &answer)) return false;
    bool whole = Z_TYPE(answer) == IS_ARRAY && zend_hash_num_elements(Z_ARRVAL(answer)) == commands;
    if (whole) ZEND_HASH_FOREACH_VAL(Z_ARRVAL(answer), reply)
        {
            php_bf_put_reply(c, sink, reply);
        }
    ZEND_HASH_FOREACH_END();
    else zend_throw_exception(
        php_bf_exception_ce, "the connection was lost between the replies", BF_EIO);
    if (whole) c->piped = false;
    zval_ptr_dtor(&answer);
    return whole;
}

/* ---- RedisCluster ---- */
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
        ZEND_HASH_FOREACH_VAL(Z_ARRVAL_P(answer), reply)
        {
            const bool list = Z_TYPE_P(reply) == IS_ARRAY;
            zval *mark = list ? zend_hash_index_find(Z_ARRVAL_P(reply), 0) : NULL;
            zval *text = mark ? zend_hash_index_find(Z_ARRVAL_P(reply), 1) : NULL;
            if (text && Z_TYPE_P(mark) == IS_STRING && Z_TYPE_P(text) == IS_STRING &&
                Z_STRLEN_P(mark) == sizeof error_mark - 1 &&
                memcmp(Z_STRVAL_P(mark), error_mark, sizeof error_mark - 1) == 0)
                bf_reply_put_error(sink, Z_STRVAL_P(text), Z_STRLEN_P(text));
            else
                put(sink, reply, 0);
        }
        ZEND_HASH_FOREACH_END();
        return true;
    }
    /* Redis refused the script, so no command was executed */
    const bool thrown = Z_TYPE_P(answer) == IS_OBJECT;
    zend_string *error = thrown ? zval_get_string(answer) : php_bf_call_for_text(c, "getlasterror");
    bool refused = (thrown || Z_TYPE_P(answer) == IS_FALSE) && ZSTR_LEN(error);
    for (size_t i = 0; refused && i < n; i++)
        bf_reply_put_error(sink, ZSTR_VAL(error), ZSTR_LEN(error));
    if (!refused) zend_throw_exception(php_bf_exception_ce, "unexpected reply", BF_EIO);
    zend_string_release(error);
    return refused;
}

static bool is_named(const bf_key *name, const char *text)
{
    return name->len == strlen(text) && !memcmp(name->ptr, text, name->len);
}

/* Adds the keys of the commands to list, each once, and returns their number. While a slot moves,
 * Redis looks for declared keys only: it would run the script where another key is missing. */
static zend_long add_keys(zval *list, const bf_redis_part *p)
{
    bf_key name, key;
    HashTable seen;
    bf_commands commands = { p->bytes, (const char *)p->bytes + p->len, 0 };
    zend_hash_init(&seen, 8, NULL, NULL, 0);
    while (bf_command_next(&commands) && bf_command_arg(&commands, &name)) {
        if (!bf_command_arg(&commands, &key) || is_named(&name, "ECHO"))
            key = (bf_key){ p->key, p->key_len };
        if (zend_hash_str_add_empty_element(&seen, key.ptr, key.len))
            add_next_index_stringl(list, key.ptr, key.len);
    }
    zend_hash_destroy(&seen);
    return zend_hash_num_elements(Z_ARRVAL_P(list));
}

/* EVAL script numkeys key... arg..., ECHO number -> eval(script, [key..., arg..., number], numkeys)
 */
static void put_script_arguments(zval argv[3], bf_commands *commands)
{
    bf_key arg;
    zval text;
    bf_command_arg(commands, &arg);
    ZVAL_STR(&argv[0], zend_string_concat3(script_head, sizeof script_head - 1, arg.ptr, arg.len,
                           script_tail, sizeof script_tail - 1));
    bf_command_arg(commands, &arg);
    ZVAL_LONG(&argv[2], ZEND_STRTOL(arg.ptr, NULL, 10));
    for (int i = 0; i < 2; i++, bf_command_next(commands), bf_command_arg(commands, &arg))
        while (bf_command_arg(commands, &arg)) {
            set_text(&text, &arg);
            zend_hash_next_index_insert(Z_ARRVAL(argv[1]), &text);
        }
}

/* A command EVAL is alone in its part, except for the ECHO, because a script cannot run scripts. */
static bool run_part(php_bf_client *c, const bf_redis_part *p, bf_reply_sink *sink)
{
    zval argv[3], answer;
    bf_key name;
    bf_commands commands = { p->bytes, (const char *)p->bytes + p->len, 0 };
    if (!c->predis) php_bf_call_only(c, "clearlasterror");
    array_init(&argv[1]);
    bf_command_next(&commands);
    bf_command_arg(&commands, &name);
    if (is_named(&name, "EVAL"))
        put_script_arguments(argv, &commands);
    else {
        ZVAL_STRINGL(&argv[0], each_command, sizeof each_command - 1);
        ZVAL_LONG(&argv[2], add_keys(&argv[1], p));
        do add_command(Z_ARRVAL(argv[1]), &commands, &name);
        while (bf_command_next(&commands) && bf_command_arg(&commands, &name));
    }
    bool done = (c->predis ? php_bf_predis_eval(c, argv, &answer)
                           : php_bf_call(c, "eval", 3, argv, &answer)) &&
                put_each(c, sink, &answer, p->commands);
    free_all(argv, 2);
    zval_ptr_dtor(&answer);
    return done;
}

/* Gets the object's prefix for keys; the caller frees it. Returns false if there is no prefix. */
bool php_bf_prefix(php_bf_client *c, zval *prefix)
{
    zval argv;
    if (c->predis) return php_bf_predis_prefix(c, prefix);
    ZVAL_LONG(&argv, OPT_PREFIX);
    if (php_bf_call(c, "getoption", 1, &argv, prefix) && Z_TYPE_P(prefix) == IS_STRING &&
        Z_STRLEN_P(prefix))
        return true;
    zval_ptr_dtor(prefix);
    return false;
}

static void put_prefix_back(php_bf_client *c, zval *prefix)
{
    zval argv[2], ignored;
    zend_object *standing = php_bf_set_aside();
    ZVAL_LONG(&argv[0], OPT_PREFIX);
    ZVAL_COPY_VALUE(&argv[1], prefix);
    c->ending = php_bf_ends(standing);
    php_bf_call(c, "setoption", 2, argv, &ignored);
    c->ending = false;
    zval_ptr_dtor(&ignored);
    zval_ptr_dtor(prefix);
    if (standing) php_bf_restore(standing);
}

/* ---- one round trip ---- */
bool php_bf_run(php_bf_client *c, const bf_redis_part *parts, size_t nparts, bf_reply_sink *sink)
{
    size_t commands = 0;
    zval prefix;
    bool done = true;
    for (size_t i = 0; i < nparts; i++) commands += parts[i].commands;
    if (!c->cluster)
        return c->predis ? php_bf_predis_run(c, parts, nparts, sink)
                         : run_pipeline(c, parts, nparts, commands, sink);
    /* phpredis's eval() would prepend the prefix to keys that already have it */
    bool prefixed = !c->predis && php_bf_prefix(c, &prefix);
    if (prefixed) {
        zval argv[2], ignored;
        ZVAL_LONG(&argv[0], OPT_PREFIX);
        ZVAL_EMPTY_STRING(&argv[1]);
        php_bf_call(c, "setoption", 2, argv, &ignored);
    }
    for (size_t i = 0; done && !EG(exception) && i < nparts; i++)
        done = run_part(c, parts + i, sink);
    if (prefixed) put_prefix_back(c, &prefix);
    return done && !EG(exception);
}
