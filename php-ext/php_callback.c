/* php_callback.c - PHP code that the core calls, and the callables among it: a clock, or the hash
 * functions of the scheme "functions". A filter has a clock or hash functions, never both. */
#include "php_bloomfilter.h"
#include "zend_closures.h"
#include "zend_exceptions.h"
#include "zend_interfaces.h"

bool php_bf_run_php(void (*code)(void *), void *context)
{
    if (EG(exception) || BF_G(bailed_out)) return false;
    zend_try { code(context); }
    zend_catch { BF_G(bailed_out) = true; }
    zend_end_try();
    return !EG(exception) && !BF_G(bailed_out);
}

zend_object *php_bf_set_aside(void)
{
    zend_object *standing = EG(exception);
    EG(exception) = NULL;
    return standing;
}

void php_bf_put_back(zend_object *standing)
{
    if (EXPECTED(!standing)) return;
    if (!EG(exception))
        EG(exception) = standing;
    else if (php_bf_ends(EG(exception)))
        OBJ_RELEASE(standing);
    else
        zend_exception_set_previous(EG(exception), standing);
}

/* Freeing an exception may run destructors, which may throw another one. */
void php_bf_drop_exception(void)
{
    while (EG(exception)) OBJ_RELEASE(php_bf_set_aside());
}

void php_bf_forget_exception(void)
{
    while (EG(exception) && !php_bf_ends(EG(exception))) OBJ_RELEASE(php_bf_set_aside());
}

void php_bf_restore(zend_object *standing)
{
    php_bf_forget_exception();
    if (standing && EG(exception) && !php_bf_ends(standing)) {
        OBJ_RELEASE(standing);
    } else if (standing) {
        php_bf_drop_exception();
        EG(exception) = standing;
    }
}

/* Each object adds a reference to the array, because each object reports the array to the cycle
 * collector. If a reference were reported twice, the collector would free the array too early. */
php_bf_callback *php_bf_callback_share(php_bf_callback *c)
{
    if (!c) return NULL;
    c->refs++;
    Z_ADDREF(c->closures);
    return c;
}

void php_bf_callback_free(php_bf_callback *c)
{
    zval mine;
    if (!c) return;
    ZVAL_COPY_VALUE(&mine, &c->closures);
    if (!--c->refs) efree(c);
    zval_ptr_dtor(&mine); /* may run a destructor */
}

/* Calls closure number i. Returns false with an exception. The caller frees *answer in both
 * cases. */
static bool call(php_bf_callback *c, uint32_t i, zval *argument, zval *answer)
{
    zend_fcall_info info = {
        .size = sizeof info, .retval = answer, .params = argument, .param_count = argument != NULL
    };
    ZVAL_UNDEF(answer);
    return zend_call_function(&info, &c->caches[i]) == SUCCESS && !EG(exception);
}

/* ---- the clock ---- */
typedef struct {
    php_bf_callback *c;
    double seconds;
} clock_call;

static void read_seconds(void *context)
{
    clock_call *clock = context;
    zval now;
    if (call(clock->c, 0, NULL, &now)) {
        if (EXPECTED(Z_TYPE(now) == IS_DOUBLE))
            clock->seconds = Z_DVAL(now);
        else if (Z_TYPE(now) == IS_LONG)
            clock->seconds = (double)Z_LVAL(now);
        else
            zend_type_error("clock must return int|float, %s returned", zend_zval_type_name(&now));
        if (zend_isnan(clock->seconds) && !EG(exception))
            zend_value_error("clock must return a number of seconds, got NAN");
    }
    zval_ptr_dtor(&now);
}

/* Returns NaN with an exception or after a fatal error, now or earlier in the same call of the
 * core. Then the core returns an error. */
static double call_clock(void *context)
{
    clock_call clock = { context, ZEND_NAN };
    return php_bf_run_php(read_seconds, &clock) ? clock.seconds : ZEND_NAN;
}

/* ---- hash functions ---- */
typedef struct {
    php_bf_callback *c;
    bf_key key;
    uint64_t *digests;
} hash_call;

static bool read_digest(php_bf_callback *c, uint32_t i, zval *key, uint64_t *digest)
{
    zval answer;
    if (call(c, i, key, &answer)) {
        if (Z_TYPE(answer) == IS_LONG && Z_LVAL(answer) >= 0)
            *digest = (uint64_t)Z_LVAL(answer);
        else if (Z_TYPE(answer) == IS_LONG)
            zend_value_error("hashes[%u] must return 0 to " ZEND_LONG_FMT ", got " ZEND_LONG_FMT, i,
                ZEND_LONG_MAX, Z_LVAL(answer));
        else
            zend_type_error(
                "hashes[%u] must return an int, %s returned", i, zend_zval_type_name(&answer));
    }
    zval_ptr_dtor(&answer);
    return !EG(exception);
}

static void read_digests(void *context)
{
    const hash_call *hash = context;
    zval text;
    ZVAL_STRINGL(&text, hash->key.ptr, hash->key.len);
    for (uint32_t i = 0; i < hash->c->functions.count; i++)
        if (!read_digest(hash->c, i, &text, hash->digests + i)) break;
    zval_ptr_dtor(&text);
}

/* Returns non-zero in the cases in which call_clock() returns NaN. */
static int call_hashes(void *context, const void *key, size_t len, uint64_t *digests)
{
    hash_call hash = { context, { key, len }, digests };
    return !php_bf_run_php(read_digests, &hash);
}

/* ---- the callables of a constructor ---- */
static php_bf_callback *new_callback(void)
{
    php_bf_callback *c = emalloc(sizeof *c);
    array_init(&c->closures);
    c->functions.count = 0;
    c->refs = 1;
    return c;
}

/* Appends a callable as a Closure, which has references to all that its call needs. An array
 * [&$object, 'method'] has none to the object. The caller's private methods are callable. Returns
 * false with an exception. */
static bool append(php_bf_callback *c, zval *callable)
{
    zval closure;
    zend_fcall_info info;
    const uint32_t i = zend_hash_num_elements(Z_ARRVAL(c->closures));
    zend_call_method_with_1_params(NULL, zend_ce_closure, NULL, "fromcallable", &closure, callable);
    if (EG(exception)) return false;
    zend_fcall_info_init(&closure, 0, &info, &c->caches[i], NULL, NULL);
    zend_hash_next_index_insert(Z_ARRVAL(c->closures), &closure);
    return true;
}

static php_bf_callback *new_hashes(HashTable *functions)
{
    zval *given;
    php_bf_callback *c = new_callback();
    ZEND_HASH_FOREACH_VAL(functions, given)
    {
        zval function;
        ZVAL_COPY_DEREF(&function, given);
        if (append(c, &function))
            c->functions.count++;
        else
            zend_type_error("hashes[%u] must be callable, %s given", c->functions.count,
                zend_zval_type_name(&function));
        zval_ptr_dtor(&function);
        if (EG(exception)) break;
    }
    ZEND_HASH_FOREACH_END();
    c->functions.call = call_hashes;
    c->functions.ctx = c;
    return c;
}

/* Throws the TypeError of PHP's own functions, whose text has the reason. */
static ZEND_COLD void refuse_clock(zval *clock, uint32_t at)
{
    zend_fcall_info info;
    zend_fcall_info_cache cache;
    char *why = NULL;
    zend_object *standing = php_bf_set_aside();
    zend_fcall_info_init(clock, 0, &info, &cache, NULL, &why);
    zend_argument_type_error(at, "must be a valid callback or null, %s", why ? why : "got none");
    if (why) efree(why);
    php_bf_put_back(standing);
}

bool php_bf_callback_set(
    bf_spec *spec, zval *clock, uint32_t clock_at, HashTable *functions, php_bf_callback **made)
{
    php_bf_callback *c = *made = NULL;
    if (functions && clock)
        zend_value_error("a filter with hashes cannot forget: window and clock must not be given");
    else if (functions && zend_hash_num_elements(functions) > BF_FUNCTIONS_MAX)
        zend_value_error("hash functions must be 1 to %d, got %u", BF_FUNCTIONS_MAX,
            zend_hash_num_elements(functions));
    else if (functions) {
        c = new_hashes(functions);
        spec->functions = &c->functions;
    } else if (clock) {
        c = new_callback();
        if (!append(c, clock)) refuse_clock(clock, clock_at);
        spec->clock = call_clock;
        spec->clock_ctx = c;
    }
    if (!EG(exception)) {
        *made = c;
        return true;
    }
    php_bf_callback_free(c);
    return false;
}
