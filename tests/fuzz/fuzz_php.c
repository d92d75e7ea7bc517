/* fuzz_php.c - the PHP extension in a PHP of its own (the embed SAPI): fuzz_php.inc makes values of
 * the input and calls methods with them.  An exception that leaves it is a finding, as is what the
 * sanitizers see: Zend's allocator is off, so that they see every string and array. */
#include <sapi/embed/php_embed.h>
#include "fuzz_host.h"

extern zend_module_entry bloomfilter_module_entry;

static int startup(sapi_module_struct *sapi)
{
    return php_module_startup(sapi, &bloomfilter_module_entry);
}

/* Each request: the driver's classes and functions are gone with the one before. */
static void load_driver(void)
{
    char text[5000];
    snprintf(text, sizeof text, "const FOLDER = '%s'; require '%s/fuzz_php.inc';", folder, TARGETS);
    MUST(zend_eval_string(text, NULL, "fuzz_php") == SUCCESS);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    setenv("USE_ZEND_ALLOC", "0", 1);
    setenv("USE_TRACKED_ALLOC", "1",
        1); /* what a request leaves behind is freed at its end all the same */
    php_embed_module.startup = startup;
    php_embed_module.php_ini_ignore = 1;
    MUST(php_embed_init(0, NULL) == SUCCESS);
    begin_host("php");
    load_driver();
    return 0;
}

static void renew_request(void)
{
    php_request_shutdown(NULL);
    MUST(php_request_startup() == SUCCESS);
    load_driver();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static unsigned runs;
    zval name, given, result;
    bool bailed = false;
    begin_input();
    if (++runs % 500 == 0) renew_request();
    ZVAL_STRING(&name, "fuzz");
    ZVAL_STRINGL(&given, (const char *)data, len);
    zend_try
    {
        MUST(call_user_function(NULL, NULL, &name, &result, 1, &given) == SUCCESS);
        zval_ptr_dtor(&result);
    }
    zend_catch { bailed = true; }
    zend_end_try();
    MUST(!bailed && !EG(exception));
    zval_ptr_dtor(&name);
    zval_ptr_dtor(&given);
    end_input();
    return 0;
}
