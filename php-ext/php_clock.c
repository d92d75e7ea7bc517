/* php_clock.c - clocks for filters that forget: a PHP callable as the core's clock.
 * Knows how PHP is called; knows nothing of time. */
#include "php_bloomfilter.h"
#include "zend_exceptions.h"

php_bf_clock *php_bf_clock_new(zval *callable)
{
    if (!callable) return NULL;
    php_bf_clock *clock = emalloc(sizeof *clock);
    ZVAL_COPY(&clock->callable, callable);
    clock->refs = 1;
    clock->running = 0;
    return clock;
}

php_bf_clock *php_bf_clock_share(php_bf_clock *clock)
{
    if (clock) clock->refs++;
    return clock;
}

void php_bf_clock_free(php_bf_clock *clock)
{
    if (!clock || --clock->refs) return;
    zval_ptr_dtor(&clock->callable);
    efree(clock);
}

/* NaN: it threw, or something has thrown before; the core gives up. */
static double ask(void *context)
{
    php_bf_clock *clock = context;
    zval now;
    double seconds = ZEND_NAN;
    if (EG(exception)) return seconds;
    ZVAL_UNDEF(&now);
    clock->running++;
    if (call_user_function(NULL, NULL, &clock->callable, &now, 0, NULL) == SUCCESS && !EG(exception)) {
        if (Z_TYPE(now) == IS_LONG) seconds = (double)Z_LVAL(now);
        else if (Z_TYPE(now) == IS_DOUBLE) seconds = Z_DVAL(now);
        else zend_type_error("clock must return int|float, %s returned", zend_zval_type_name(&now));
        if (zend_isnan(seconds) && !EG(exception)) zend_value_error("clock must return a number of seconds, got NAN");
    }
    clock->running--;
    zval_ptr_dtor(&now);
    return seconds;
}

void php_bf_clock_set(bf_spec *spec, php_bf_clock *clock)
{
    if (!clock) return;
    spec->clock = ask;
    spec->clock_ctx = clock;
}
