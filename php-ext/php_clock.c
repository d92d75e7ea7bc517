/* php_clock.c - clocks for filters that forget: a PHP callable as the core's clock.
 * Knows how PHP is called; knows nothing of time. */
#include "php_bloomfilter.h"
#include "zend_exceptions.h"

/* What is called is what the constructor's caller could call, a private method of its own too. */
php_bf_clock *php_bf_clock_new(const zend_fcall_info *info, const zend_fcall_info_cache *cache)
{
    if (!ZEND_FCI_INITIALIZED(*info)) return NULL;
    php_bf_clock *clock = emalloc(sizeof *clock);
    ZVAL_COPY(&clock->callable, &info->function_name);
    clock->what = *cache;
    clock->functions.count = 0;
    clock->refs = 1;
    return clock;
}

/* Each object has a reference of its own to the callable, because each tells the cycle collector of
 * it: one that is told of twice would be collected with the first of them. */
php_bf_clock *php_bf_clock_share(php_bf_clock *clock)
{
    if (!clock) return NULL;
    clock->refs++;
    Z_TRY_ADDREF(clock->callable);
    return clock;
}

void php_bf_clock_free(php_bf_clock *clock)
{
    zval mine;
    if (!clock) return;
    ZVAL_COPY_VALUE(&mine, &clock->callable);
    if (!--clock->refs) efree(clock);
    zval_ptr_dtor(&mine); /* may run a destructor of the user's */
}

static double seconds_of(php_bf_clock *clock)
{
    zval now;
    double seconds = ZEND_NAN;
    zend_fcall_info_cache what = clock->what; /* none of __call(): it is found again each time */
    zend_fcall_info info = { .size = sizeof info, .retval = &now };
    ZVAL_COPY_VALUE(&info.function_name, &clock->callable);
    ZVAL_UNDEF(&now);
    if (zend_call_function(&info, &what) == SUCCESS && !EG(exception)) {
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

/* NaN: it threw, or something has thrown before, or it was a fatal error; the core gives up. */
static double ask(void *context)
{
    volatile double seconds = ZEND_NAN;
    if (EG(exception) || BF_G(bailed_out)) return seconds;
    zend_try { seconds = seconds_of(context); }
    zend_catch { BF_G(bailed_out) = true; }
    zend_end_try();
    return seconds;
}

void php_bf_clock_set(bf_spec *spec, php_bf_clock *clock)
{
    if (!clock) return;
    spec->clock = ask;
    spec->clock_ctx = clock;
}
