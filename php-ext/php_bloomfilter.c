/* php_bloomfilter.c - the module: its entry, classes, INI entries, page in phpinfo() and
 * exceptions. The methods are in php_spec.c, php_keys.c, php_sets.c and php_bytes.c. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "php_bloomfilter.h"
#include "base/parameters.h"
#include "ext/json/php_json.h"
#include "ext/spl/spl_exceptions.h"
#include "ext/standard/info.h"
#include "zend_attributes.h"
#include "zend_exceptions.h"
#include "zend_interfaces.h"
#include "zend_smart_str.h"
#include <xxhash.h> /* only for its version number */
#ifdef BF_HAVE_SODIUM
#include <sodium/version.h>
#endif
#if PHP_VERSION_ID < 80200
#define zend_add_parameter_attribute(...) /* #[SensitiveParameter] exists since PHP 8.2 */
#endif
/* redefined to prepend the class prefix to the names in bloomfilter_arginfo.h */
#undef INIT_CLASS_ENTRY
#define INIT_CLASS_ENTRY(ce, plain, functions)                                                     \
    do {                                                                                           \
        zend_string *name = php_bf_name(plain);                                                    \
        INIT_CLASS_ENTRY_EX(ce, ZSTR_VAL(name), ZSTR_LEN(name), functions);                        \
        zend_string_release(name);                                                                 \
    } while (0)
#include "bloomfilter_arginfo.h"

#define TEXT2(x) #x
#define TEXT(x) TEXT2(x)

zend_class_entry *php_bf_ce, *php_bf_counting_ce, *php_bf_exception_ce;

/* The names of parameters in the core and in PHP. A PHP name is never longer. */
static const struct {
    const char *core, *php;
} names[] = {
#define ROW(kind, name, php, above, below, range, sentence) { #name, #php },
    BF_PARAMETERS(ROW){ "read_only", "readOnly" }
};

/* Copies a message and replaces the core's names of parameters by PHP's. A name must follow a
 * blank or begin the message, and end at a blank, '=', a comma or the end of the message. So a
 * path that contains a name stays unchanged. */
static void use_php_names(const char *msg, char *out)
{
    for (const char *at = msg; *at;) {
        size_t i = 0, len = 0;
        for (; (at == msg || at[-1] == ' ') && i < sizeof names / sizeof *names; i++, len = 0)
            if (!strncmp(at, names[i].core, len = strlen(names[i].core)) &&
                (!at[len] || strchr(" =,", at[len])))
                break;
        if (!len) {
            *out++ = *at++;
            continue;
        }
        out = stpcpy(out, names[i].php);
        at += len;
    }
    *out = 0;
}

_Static_assert(BF_ENOMEM == -2 && BF_EIO == -3 && BF_EFORMAT == -4 && BF_EMISMATCH == -5 &&
                   BF_ENOTSUP == -6 && BF_EBUSY == -8 && BF_ENOENT == -9 && BF_ELOST == -10 &&
                   BF_EFULL == -11,
    "the constants of BloomFilterException are the codes of the core");

void php_bf_raise(const bf_error *err)
{
    char msg[sizeof err->msg];
    php_bf_rethrow_bailout();
    if (err->code == BF_EHOST && EG(exception)) return; /* the host's exception is already set */
    use_php_names(err->msg, msg);
    if (err->code == BF_EINVAL)
        zend_value_error("%s", msg);
    else
        zend_throw_exception(php_bf_exception_ce, msg, err->lost ? BF_ELOST : err->code);
}

void php_bf_bail_out(void)
{
    BF_G(bailed_out) = false;
    zend_bailout();
}

void php_bf_raise_closed(void)
{
    zend_throw_exception(php_bf_exception_ce, "the filter is closed, or was never constructed", 0);
}

/* ---- globals: one set per process, or per thread in a threaded PHP ---- */
ZEND_DECLARE_MODULE_GLOBALS(bloomfilter)
#if defined(ZTS) && defined(COMPILE_DL_BLOOMFILTER)
ZEND_TSRMLS_CACHE_DEFINE()
#endif

PHP_INI_BEGIN()
STD_PHP_INI_ENTRY("bloomfilter.max_maps", "64", PHP_INI_SYSTEM, OnUpdateLongGEZero, max_maps,
    zend_bloomfilter_globals, bloomfilter_globals)
STD_PHP_INI_BOOLEAN("bloomfilter.warn", "1", PHP_INI_ALL, OnUpdateBool, warn,
    zend_bloomfilter_globals, bloomfilter_globals)
STD_PHP_INI_BOOLEAN("bloomfilter.unserialize_storage", "0", PHP_INI_ALL, OnUpdateBool,
    unserialize_storage, zend_bloomfilter_globals, bloomfilter_globals)
PHP_INI_ENTRY("bloomfilter.class_prefix", "", PHP_INI_SYSTEM, NULL)
PHP_INI_END()

static PHP_GINIT_FUNCTION(bloomfilter)
{
#if defined(ZTS) && defined(COMPILE_DL_BLOOMFILTER)
    ZEND_TSRMLS_CACHE_UPDATE();
#endif
    memset(bloomfilter_globals, 0, sizeof *bloomfilter_globals);
    php_bf_maps_init(bloomfilter_globals);
    zend_hash_init(&bloomfilter_globals->talking, 0, NULL, NULL, true);
}

static PHP_GSHUTDOWN_FUNCTION(bloomfilter)
{
    php_bf_maps_free(bloomfilter_globals);
    zend_hash_destroy(&bloomfilter_globals->talking);
}

/* ---- the module ---- */
static PHP_MINIT_FUNCTION(bloomfilter)
{
    REGISTER_INI_ENTRIES();
    if (!php_bf_names_valid()) return FAILURE;
    php_bf_exception_ce = register_class_BloomFilterException(spl_ce_RuntimeException);
    php_bf_ce = php_bf_rename_types(
        register_class_BloomFilter(zend_ce_countable, php_json_serializable_ce));
    php_bf_ce->create_object = php_bf_create;
    php_bf_counting_ce = php_bf_rename_types(register_class_CountingBloomFilter(php_bf_ce));
    php_bf_init_handlers();
    return SUCCESS;
}

static PHP_MSHUTDOWN_FUNCTION(bloomfilter)
{
    UNREGISTER_INI_ENTRIES();
    return SUCCESS;
}

/* After a fatal error PHP does not resume Fibers, so calls that wait in Fibers never return. */
static PHP_RSHUTDOWN_FUNCTION(bloomfilter)
{
    bf_abandon_calls();
    zend_hash_clean(&BF_G(talking));
    BF_G(bailed_out) = false;
    return SUCCESS;
}

static PHP_MINFO_FUNCTION(bloomfilter)
{
    smart_str schemes = { 0 };
    char maps[64];
    for (size_t i = 0; bf_scheme_name(i); i++) {
        if (i) smart_str_appends(&schemes, ", ");
        smart_str_appends(&schemes, bf_scheme_name(i));
    }
    smart_str_0(&schemes);
    php_info_print_table_start();
    php_info_print_table_row(2, "bloomfilter", PHP_BLOOMFILTER_VERSION);
    php_info_print_table_row(2, "core", bf_version());
    php_info_print_table_row(2, "schemes", ZSTR_VAL(schemes.s));
    php_info_print_table_row(2, "xxHash (compiled in)",
        TEXT(XXH_VERSION_MAJOR) "." TEXT(XXH_VERSION_MINOR) "." TEXT(XXH_VERSION_RELEASE));
#ifdef BF_HAVE_SODIUM
    php_info_print_table_row(2, "libsodium (keyed filters)", SODIUM_VERSION_STRING);
#else
    php_info_print_table_row(2, "libsodium (keyed filters)", "not built in");
#endif
#ifdef BF_HAVE_OPENSSL
    php_info_print_table_row(2, "OpenSSL (rediss://)", "loaded when it is needed");
#else
    php_info_print_table_row(2, "OpenSSL (rediss://)", "not built in");
#endif
    snprintf(maps, sizeof maps, ZEND_LONG_FMT " (at most " ZEND_LONG_FMT ")", php_bf_maps_open(),
        BF_G(max_maps));
    php_info_print_table_row(2, "files and Redis filters kept open", maps);
    php_info_print_table_end();
    DISPLAY_INI_ENTRIES();
    smart_str_free(&schemes);
}

static const zend_module_dep bloomfilter_deps[] = { ZEND_MOD_REQUIRED("spl")
        ZEND_MOD_REQUIRED("json") ZEND_MOD_REQUIRED("date") ZEND_MOD_END };

zend_module_entry bloomfilter_module_entry = { STANDARD_MODULE_HEADER_EX, NULL, bloomfilter_deps,
    "bloomfilter", NULL, PHP_MINIT(bloomfilter), PHP_MSHUTDOWN(bloomfilter), NULL,
    PHP_RSHUTDOWN(bloomfilter), PHP_MINFO(bloomfilter), PHP_BLOOMFILTER_VERSION,
    PHP_MODULE_GLOBALS(bloomfilter), PHP_GINIT(bloomfilter), PHP_GSHUTDOWN(bloomfilter), NULL,
    STANDARD_MODULE_PROPERTIES_EX };

#ifdef COMPILE_DL_BLOOMFILTER
ZEND_GET_MODULE(bloomfilter)
#endif
