/* php_names.c - the names of the classes. INI bloomfilter.class_prefix is prepended to each
 * name, for projects that already have a class BloomFilter. */
#include "php_bloomfilter.h"
#include "php_ini.h"

enum { PREFIX_MAX = 128 };

static bool begins_label(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80;
}

/* True if text is a valid prefix: names separated by backslashes, with or without a backslash at
 * the end. */
static bool is_prefix(const char *text)
{
    bool fresh = true;
    if (strlen(text) > PREFIX_MAX) return false;
    for (const char *c = text; *c; c++) {
        if (*c == '\\' ? fresh
                       : !begins_label((unsigned char)*c) && (fresh || *c < '0' || *c > '9'))
            return false;
        fresh = *c == '\\';
    }
    return true;
}

static const char *prefix(void)
{
    static const char name[] = "bloomfilter.class_prefix";
    const char *text = zend_ini_string(name, sizeof name - 1, false);
    return text ? text : "";
}

bool php_bf_names_valid(void)
{
    if (is_prefix(prefix())) return true;
    zend_error(E_CORE_WARNING,
        "bloomfilter.class_prefix must be empty or the beginning of a class name, such as Bloom\\ "
        "(at "
        "most %d bytes, no backslash first), got \"%s\"",
        PREFIX_MAX, prefix());
    return false;
}

zend_string *php_bf_name(const char *plain) { return zend_strpprintf(0, "%s%s", prefix(), plain); }

/* Adds the prefix to a type of an argument or result that is a class of this extension. The
 * generated code registers such types without prefix. */
static void rename_type(zend_type *type)
{
    if (!ZEND_TYPE_HAS_NAME(*type)) return;
    const zend_string *name = ZEND_TYPE_NAME(*type);
    if (!zend_string_equals_literal(name, "BloomFilter") &&
        !zend_string_equals_literal(name, "CountingBloomFilter"))
        return;
    zend_string *made = php_bf_name(ZSTR_VAL(name));
    ZEND_TYPE_SET_PTR(*type, zend_string_init_interned(ZSTR_VAL(made), ZSTR_LEN(made), true));
    zend_string_release(made);
}

zend_class_entry *php_bf_rename_types(zend_class_entry *ce)
{
    zend_function *f;
    if (!*prefix()) return ce;
    ZEND_HASH_FOREACH_PTR(&ce->function_table, f)
    {
        if (f->common.scope != ce || f->type != ZEND_INTERNAL_FUNCTION) continue;
        for (int i = -1; i < (int)f->common.num_args; i++)
            rename_type(&f->internal_function.arg_info[i].type);
    }
    ZEND_HASH_FOREACH_END();
    return ce;
}
