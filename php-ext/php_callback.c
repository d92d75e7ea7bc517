/* php_callback.c - PHP callables that the core calls: a clock, or the hash functions of the
 * scheme "functions". A filter has a clock or hash functions, never both. */
#include "php_bloomfilter.h"
#include "zend_exceptions.h"

static php_bf_callback *new_callback(void)
{
    php_bf_callback *c = emalloc(sizeof *c);
    array_init(&c->callables);
    c->functions.count = 0;
    c->refs = 1;
    return c;
}

/* cache: resolved in the scope of the constructor's caller, so that the callable may be a private
 * method of the caller. */
static void append(php_bf_callback *c, zval *callable, const zend_fcall_info_cache *cache)
{
    zval copy;
    ZVAL_COPY(&copy, callable);
    c->caches[zend_hash_num_elements(Z_ARRVAL(c->callables))] = *cache;
    zend_hash_next_index_insert(Z_ARRVAL(c->callables), &copy);
}

/* Each object adds a reference to the array, because each object reports the array to the cycle
 * collector. If a reference were reported twice, the collector would free the array too early. */
php_bf_callback *php_bf_callback_share(php_bf_callback *c)
{
    if (!c) return NULL;
    c->refs++;
    Z_ADDREF(c->callables);
    return c;
}

void php_bf_callback_free(php_bf_callback *c)
{
    zval mine;
    if (!c) return;
    ZVAL_COPY_VALUE(&mine, &c->callables);
    if (!--c->refs) efree(c);
    zval_ptr_dtor(&mine); /* may run a destructor */
}

/* Calls callable number i. Returns false with an exception. The caller frees *answer in both
 * cases. */
static bool call(php_bf_callback *c, uint32_t i, zval *argument, zval *answer)
{
    /* a copy, because the call of a __call() method changes the cache */
    zend_fcall_info_cache cache = c->caches[i];
    zend_fcall_info info = {
        .size = sizeof info, .retval = answer, .params = argument, .param_count = argument != NULL
    };
    ZVAL_COPY_VALUE(&info.function_name, zend_hash_index_find(Z_ARRVAL(c->callables), i));
    ZVAL_UNDEF(answer);
    return zend_call_function(&info, &cache) == SUCCESS && !EG(exception);
}

/* ---- the clock ---- */
static double read_seconds(php_bf_callback *c)
{
    zval now;
    double seconds = ZEND_NAN;
    if (call(c, 0, NULL, &now)) {
        if (EXPECTED(Z_TYPE(now) == IS_DOUBLE))
            seconds = Z_DVAL(now);
        else if (Z_TYPE(now) == IS_LONG)
            seconds = (double)Z_LVAL(now);
        else
            zend_type_error("clock must return int|float, %s returned", zend_zval_type_name(&now));
        if (zend_isnan(seconds) && !EG(exception))
            zend_value_error("clock must return a number of seconds, got NAN");
    }
    zval_ptr_dtor(&now);
    return seconds;
}

/* Returns NaN if PHP code, now or earlier in the same call of the core, threw an exception or
 * ended in a fatal error. Then the core returns an error. */
static double call_clock(void *context)
{
    volatile double seconds = ZEND_NAN;
    if (EG(exception) || BF_G(bailed_out)) return seconds;
    zend_try { seconds = read_seconds(context); }
    zend_catch { BF_G(bailed_out) = true; }
    zend_end_try();
    return seconds;
}

/* ---- hash functions ---- */
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

/* Returns non-zero in the cases in which call_clock() returns NaN. */
static int call_hashes(void *context, const void *key, size_t len, uint64_t *digests)
{
    php_bf_callback *c = context;
    volatile bool good = !EG(exception) && !BF_G(bailed_out);
    zval text;
    if (!good) return 1;
    zend_try
    {
        ZVAL_STRINGL(&text, key, len);
        for (uint32_t i = 0; good && i < c->functions.count; i++)
            good = read_digest(c, i, &text, digests + i);
        zval_ptr_dtor(&text);
    }
    zend_catch
    {
        BF_G(bailed_out) = true;
        good = false;
    }
    zend_end_try();
    return !good;
}

/* ---- the callables of a constructor ---- */
bool php_bf_callback_set(bf_spec *spec, const zend_fcall_info *clock,
    const zend_fcall_info_cache *cache, HashTable *functions, php_bf_callback **made)
{
    zval *function;
    php_bf_callback *c = *made = NULL;
    if (functions && ZEND_FCI_INITIALIZED(*clock))
        zend_value_error("a filter with hashes cannot forget: window and clock must not be given");
    else if (functions && zend_hash_num_elements(functions) > BF_FUNCTIONS_MAX)
        zend_value_error("hash functions must be 1 to %d, got %u", BF_FUNCTIONS_MAX,
            zend_hash_num_elements(functions));
    else if (functions) {
        c = new_callback();
        ZEND_HASH_FOREACH_VAL(functions, function)
        {
            char *why = NULL;
            zend_fcall_info info;
            zend_fcall_info_cache found;
            ZVAL_DEREF(function);
            const bool good =
                zend_fcall_info_init(function, 0, &info, &found, NULL, &why) == SUCCESS;
            if (why) efree(why);
            if (!good) {
                zend_type_error("hashes[%u] must be callable, %s given", c->functions.count,
                    zend_zval_type_name(function));
                break;
            }
            zend_release_fcall_info_cache(&found); /* frees the trampoline of a __call() method */
            append(c, function, &found);
            c->functions.count++;
        }
        ZEND_HASH_FOREACH_END();
        c->functions.call = call_hashes;
        c->functions.ctx = c;
        spec->functions = &c->functions;
    } else if (ZEND_FCI_INITIALIZED(*clock)) {
        zval callable;
        ZVAL_COPY_VALUE(&callable, &clock->function_name);
        c = new_callback();
        append(c, &callable, cache);
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
