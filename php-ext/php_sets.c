/* php_sets.c - whole filters: set operations, what is in them, sync, clear, expire, delete, close.
 * Knows nothing but how to map answers: each method is one call of the core. */
#include "php_bloomfilter.h"

/* ---- two filters ---- */
/* The other operand, or NULL: exception. */
static bf_filter *other_filter(INTERNAL_FUNCTION_PARAMETERS)
{
    zend_object *other;
    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_OBJ_OF_CLASS(other, php_bf_ce)
    ZEND_PARSE_PARAMETERS_END_EX(return NULL);
    bf_filter *f = php_bf_from(other)->f;
    if (!f) php_bf_raise_closed();
    return f;
}

static void combine(INTERNAL_FUNCTION_PARAMETERS, int (*call)(bf_filter *, bf_filter *, bf_error *))
{
    bf_error err;
    bf_filter *other = other_filter(INTERNAL_FUNCTION_PARAM_PASSTHRU);
    if (!other) RETURN_THROWS();
    PHP_BF_THIS(f);
    bf_filter *result = bf_copy(f, &err);
    if (result && call(result, other, &err) < 0) {
        bf_close(result);
        result = NULL;
    }
    php_bf_wrap(return_value, Z_OBJCE_P(ZEND_THIS), result, NULL, &err);
}

PHP_METHOD(BloomFilter, union) { combine(INTERNAL_FUNCTION_PARAM_PASSTHRU, bf_unite); }
PHP_METHOD(BloomFilter, intersect) { combine(INTERNAL_FUNCTION_PARAM_PASSTHRU, bf_intersect); }

PHP_METHOD(BloomFilter, equals)
{
    bf_error err;
    bf_filter *other = other_filter(INTERNAL_FUNCTION_PARAM_PASSTHRU);
    if (!other) RETURN_THROWS();
    PHP_BF_THIS(f);
    int equal = bf_equal(f, other, &err);
    if (equal >= 0) RETURN_BOOL(equal);
    php_bf_raise(&err);
}

/* ---- what is in it ---- */
static bool get_state(INTERNAL_FUNCTION_PARAMETERS, bf_state *state)
{
    bf_error err;
    ZEND_PARSE_PARAMETERS_START(0, 0)
    ZEND_PARSE_PARAMETERS_END_EX(return false);
    bf_filter *f = php_bf_from(Z_OBJ_P(ZEND_THIS))->f;
    if (!f) php_bf_raise_closed();
    else if (bf_get_state(f, state, &err) >= 0) return true;
    else php_bf_raise(&err);
    return false;
}

PHP_METHOD(BloomFilter, count)
{
    bf_state state;
    if (!get_state(INTERNAL_FUNCTION_PARAM_PASSTHRU, &state)) RETURN_THROWS();
    RETURN_LONG(state.count < 0x1p63 ? (zend_long)(state.count + 0.5) : ZEND_LONG_MAX);
}

PHP_METHOD(BloomFilter, fillRatio)
{
    bf_state state;
    if (get_state(INTERNAL_FUNCTION_PARAM_PASSTHRU, &state)) RETURN_DOUBLE(state.fill);
}

PHP_METHOD(BloomFilter, fpr)
{
    bf_state state;
    if (get_state(INTERNAL_FUNCTION_PARAM_PASSTHRU, &state)) RETURN_DOUBLE(state.fpr);
}

/* ---- what is done to it ---- */
static void command(INTERNAL_FUNCTION_PARAMETERS, int (*call)(bf_filter *, bf_error *))
{
    bf_error err;
    ZEND_PARSE_PARAMETERS_NONE();
    PHP_BF_THIS(f);
    if (call(f, &err) < 0) php_bf_raise(&err);
}

PHP_METHOD(BloomFilter, clear) { command(INTERNAL_FUNCTION_PARAM_PASSTHRU, bf_clear); }
PHP_METHOD(BloomFilter, sync) { command(INTERNAL_FUNCTION_PARAM_PASSTHRU, bf_sync); }

PHP_METHOD(BloomFilter, delete) { command(INTERNAL_FUNCTION_PARAM_PASSTHRU, bf_delete); }

PHP_METHOD(BloomFilter, expire)
{
    zval *seconds;
    bf_error err;
    ZEND_PARSE_PARAMETERS_START(1, 1)
        Z_PARAM_NUMBER_OR_NULL(seconds)
    ZEND_PARSE_PARAMETERS_END();
    PHP_BF_THIS(f);
    double s = seconds ? zval_get_double(seconds) : 0;      /* the core's "never" */
    if (seconds && s == 0) zend_value_error("seconds must be above 0, or null for never, got 0");
    else if (bf_expire(f, s, &err) < 0) php_bf_raise(&err);
}

PHP_METHOD(BloomFilter, shards)
{
    bf_info info;
    ZEND_PARSE_PARAMETERS_NONE();
    PHP_BF_THIS(f);
    bf_get_info(f, &info);
    RETURN_LONG(info.shards);
}

PHP_METHOD(BloomFilter, close)
{
    ZEND_PARSE_PARAMETERS_NONE();
    php_bf_close_object(php_bf_from(Z_OBJ_P(ZEND_THIS)));
}
