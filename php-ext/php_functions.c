/* php_functions.c - hash functions of the user's: PHP callables as the core's scheme "functions".
 * They go where a clock would, because a filter with functions has none.  Knows how PHP is called;
 * knows nothing of positions. */
#include "php_bloomfilter.h"
#include "zend_exceptions.h"

static bool number_of(const zval *answer, uint32_t i, uint64_t *digest)
{
    if (Z_TYPE_P(answer) == IS_LONG && Z_LVAL_P(answer) >= 0)
        *digest = (uint64_t)Z_LVAL_P(answer);
    else if (Z_TYPE_P(answer) == IS_LONG)
        zend_value_error("hashes[%u] must return 0 to " ZEND_LONG_FMT ", got " ZEND_LONG_FMT, i,
            ZEND_LONG_MAX, Z_LVAL_P(answer));
    else
        zend_type_error(
            "hashes[%u] must return an int, %s returned", i, zend_zval_type_name(answer));
    return !EG(exception);
}

/* false: it threw, or did not return a number. */
static bool call_one(php_bf_clock *hashes, uint32_t i, zval *key, uint64_t *digest)
{
    zval answer;
    zend_fcall_info_cache what =
        hashes->each[i]; /* none of __call(): it is found again each time */
    zend_fcall_info info = {
        .size = sizeof info, .retval = &answer, .params = key, .param_count = 1
    };
    zval *callable = zend_hash_index_find(Z_ARRVAL(hashes->callable), i);
    ZVAL_COPY_VALUE(&info.function_name, callable);
    ZVAL_UNDEF(&answer);
    const bool good = zend_call_function(&info, &what) == SUCCESS && !EG(exception) &&
                      number_of(&answer, i, digest);
    zval_ptr_dtor(&answer);
    return good;
}

/* Non-zero: one failed, or something has thrown before, or it was a fatal error. */
static int ask(void *ctx, const void *key, size_t len, uint64_t *digests)
{
    php_bf_clock *hashes = ctx;
    volatile bool good = !EG(exception) && !BF_G(bailed_out);
    zval text;
    if (!good) return 1;
    zend_try
    {
        ZVAL_STRINGL(&text, key, len);
        for (uint32_t i = 0; good && i < hashes->functions.count; i++)
            good = call_one(hashes, i, &text, digests + i);
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

/* What is called is what the caller could call, a private method of its own too. */
static bool take(php_bf_clock *hashes, zval *function, uint32_t i)
{
    char *why = NULL;
    zend_fcall_info info;
    const bool good =
        zend_fcall_info_init(function, 0, &info, &hashes->each[i], NULL, &why) == SUCCESS;
    if (why) efree(why);
    if (good) {
        zval copy;
        zend_release_fcall_info_cache(&hashes->each[i]); /* of __call() */
        ZVAL_COPY(&copy, function);
        zend_hash_next_index_insert(Z_ARRVAL(hashes->callable), &copy);
    } else
        zend_type_error("hashes[%u] must be callable, %s given", i, zend_zval_type_name(function));
    return good;
}

bool php_bf_hashes_set(bf_spec *spec, HashTable *functions, php_bf_clock **clock)
{
    zval *function;
    uint32_t i = 0;
    if (!functions) return true;
    if (*clock) {
        zend_value_error("a filter with hashes cannot forget: window and clock must not be given");
        php_bf_clock_free(*clock);
        *clock = NULL;
        return false;
    }
    if (zend_hash_num_elements(functions) > BF_FUNCTIONS_MAX) {
        zend_value_error("hash functions must be 1 to %d, got %u", BF_FUNCTIONS_MAX,
            zend_hash_num_elements(functions));
        return false;
    }
    php_bf_clock *hashes = emalloc(sizeof *hashes);
    array_init(&hashes->callable);
    hashes->refs = 1;
    bool good = true;
    ZEND_HASH_FOREACH_VAL(functions, function)
    {
        ZVAL_DEREF(function);
        if (!(good = take(hashes, function, i++))) break;
    }
    ZEND_HASH_FOREACH_END();
    hashes->functions = (bf_functions){ .count = i, .call = ask, .ctx = hashes };
    if (!good) {
        php_bf_clock_free(hashes);
        return false;
    }
    spec->functions = &hashes->functions;
    *clock = hashes;
    return true;
}
