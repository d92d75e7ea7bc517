/* bench_empty.c - a PHP class whose methods do nothing: what calling a method of an extension costs
 * at least. Takes its one string by the fast parameter API, as a good extension does; knows nothing
 * of filters. */
#include "php.h"

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_key, 0, 1, _IS_BOOL, 0)
ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
ZEND_END_ARG_INFO()

static void nothing(INTERNAL_FUNCTION_PARAMETERS)
{
    zend_string *key;
    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_STR(key)
    ZEND_PARSE_PARAMETERS_END();
    (void)key;
    RETURN_FALSE;
}

static const zend_function_entry methods[] = { ZEND_RAW_FENTRY("add", nothing, arginfo_key,
    ZEND_ACC_PUBLIC) ZEND_RAW_FENTRY("exists", nothing, arginfo_key, ZEND_ACC_PUBLIC) ZEND_FE_END };

static PHP_MINIT_FUNCTION(bench_empty)
{
    zend_class_entry ce;
    (void)type;
    (void)module_number;
    INIT_CLASS_ENTRY(ce, "BenchEmpty", methods);
    return zend_register_internal_class(&ce) ? SUCCESS : FAILURE;
}

static zend_module_entry bench_empty_module_entry = { STANDARD_MODULE_HEADER, "bench_empty", NULL,
    PHP_MINIT(bench_empty), NULL, NULL, NULL, NULL, "0", STANDARD_MODULE_PROPERTIES };
ZEND_GET_MODULE(bench_empty)
