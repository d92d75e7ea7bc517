/* php_spec.c - turns the arguments of __construct, plan, open, fromBytes and load into a bf_spec.
 * The core checks ranges and combinations. */
#include "php_bloomfilter.h"
#include "base/parameters.h"
#include "ext/date/php_date.h"
#include "fopen_wrappers.h"
#include "zend_exceptions.h"
#include "zend_interfaces.h"
#include "zend_smart_str.h"

/* ---- numbers: refuses values that bf_spec cannot store, and 0 (in bf_spec: "not given") ---- */
static int refuse_value(bf_error *err, const char *name, zval *v)
{
    smart_str text = { 0 };
    if (Z_TYPE_P(v) == IS_DOUBLE)
        smart_str_append_double(&text, Z_DVAL_P(v), -1, false);
    else
        smart_str_append_long(&text, Z_LVAL_P(v));
    smart_str_0(&text);
    int code = bf_refuse(err, name, ZSTR_VAL(text.s));
    /* in other packages the arguments are (capacity, error rate) */
    if (!strcmp(name, "n") && Z_TYPE_P(v) == IS_DOUBLE && Z_DVAL_P(v) > 0 && Z_DVAL_P(v) < 1)
        snprintf(err->msg + strlen(err->msg), sizeof err->msg - strlen(err->msg),
            "; for a rate write new BloomFilter(n: keys, p: %s)", ZSTR_VAL(text.s));
    smart_str_free(&text);
    return code;
}

/* Reads a positive integer into `size` bytes. Accepts a float without a fraction, such as 1e9. */
static int read_whole(const char *name, zval *v, void *to, size_t size, bf_error *err)
{
    uint64_t whole = 0;
    if (!v) return 0;
    if (Z_TYPE_P(v) == IS_LONG && Z_LVAL_P(v) > 0)
        whole = (uint64_t)Z_LVAL_P(v);
    else if (Z_TYPE_P(v) == IS_DOUBLE && Z_DVAL_P(v) >= 1 && Z_DVAL_P(v) < 0x1p63 &&
             Z_DVAL_P(v) == (double)(uint64_t)Z_DVAL_P(v))
        whole = (uint64_t)Z_DVAL_P(v);
    if (whole == 0 || (size == sizeof(unsigned) && whole > UINT32_MAX))
        return refuse_value(err, name, v);
    if (size == sizeof(unsigned))
        *(unsigned *)to = (unsigned)whole;
    else
        *(uint64_t *)to = whole;
    return 0;
}

static int read_small(const char *name, zend_long given, bool absent, unsigned *to, bf_error *err)
{
    zval v;
    ZVAL_LONG(&v, given);
    return read_whole(name, absent ? NULL : &v, to, sizeof *to, err);
}

/* Reads a finite float that is not 0. zero (for retryAfter): accepts 0 as BF_ALWAYS_TRY, and
 * refuses negative values. The core checks the range. */
static int read_real(const char *name, double given, bool zero, double *to, bf_error *err)
{
    zval v;
    ZVAL_DOUBLE(&v, given);
    if (!zend_finite(given) || (zero ? given < 0 : given == 0)) return refuse_value(err, name, &v);
    *to = given == 0 ? BF_ALWAYS_TRY : given;
    return 0;
}

/* Returns false with an exception. A month has no fixed length; an interval of DateTime::diff() has
 * its number of days. */
static bool seconds_of_interval(zval *v, uint32_t at, double *seconds)
{
    const php_interval_obj *interval = Z_PHPINTERVAL_P(v);
    const timelib_rel_time *t = interval->initialized ? interval->diff : NULL;
    const bool counted = t && t->days != TIMELIB_UNSET;
    if (!t || t->have_special_relative || t->have_weekday_relative || t->first_last_day_of ||
        (!counted && (t->y || t->m))) {
        zend_argument_value_error(at, "must be a DateInterval of days, hours, minutes and seconds");
        return false;
    }
    *seconds = (double)(counted ? t->days : t->d) * 86400 + (double)t->h * 3600 +
               (double)t->i * 60 + (double)t->s + (double)t->us / 1e6;
    if (t->invert) *seconds = -*seconds;
    return true;
}

/* As PHP names a value in its own error about the type of an argument. */
static const char *name_of_argument(const zval *v)
{
#if PHP_VERSION_ID >= 80300
    return zend_zval_value_name(v);
#else
    return php_bf_type_name(v);
#endif
}

bool php_bf_seconds(zval *v, uint32_t at, double *seconds)
{
    bool null;
    if (Z_TYPE_P(v) == IS_OBJECT && instanceof_function(Z_OBJCE_P(v), php_date_get_interval_ce()))
        return seconds_of_interval(v, at, seconds);
    if (zend_parse_arg_double(v, seconds, &null, false, at)) return true;
    if (!EG(exception))
        zend_argument_type_error(
            at, "must be of type DateInterval|float|null, %s given", name_of_argument(v));
    return false;
}

static int read_span(const char *name, zval *v, uint32_t at, bool zero, double *to, bf_error *err)
{
    double seconds;
    err->code = BF_EHOST;
    return php_bf_seconds(v, at, &seconds) ? read_real(name, seconds, zero, to, err) : BF_EHOST;
}

/* ---- paths: made absolute with PHP's working directory. Symbolic links are not resolved, because
 * the core has its own rules for links ---- */
static char *whole_path(const char *path)
{
    char cwd[MAXPATHLEN], *full;
    if (IS_ABSOLUTE_PATH(path, strlen(path)))
        full = estrdup(path);
    else /* with the folder before it, a path cannot look like a URL */
        spprintf(&full, 0, "%s/%s", VCWD_GETCWD(cwd, sizeof cwd) ? cwd : ".", path);
    if (php_check_open_basedir_ex(full, 0) == 0) return full;
    zend_throw_exception_ex(php_bf_exception_ce, BF_EIO, "open_basedir does not allow %s", full);
    efree(full);
    return NULL;
}

char *php_bf_path(const char *path)
{
    if (*path) return whole_path(path);
    zend_value_error("a path must not be empty");
    return NULL;
}

/* Checks that open_basedir allows the socket and the certificate files that a URL names. */
static bool may_reach(const char *url)
{
    char *path;
    bf_error err;
    int rc = 1;
    if (!PG(open_basedir) || !*PG(open_basedir)) return true;
    for (unsigned i = 0; rc > 0 && (rc = bf_url_file(url, i, &path, &err)) > 0; i++) {
        if (php_check_open_basedir_ex(path, 0) != 0) {
            zend_throw_exception_ex(
                php_bf_exception_ce, BF_EIO, "open_basedir does not allow %s", path);
            rc = BF_EIO;
        }
        free(path);
    }
    if (rc < 0 && !EG(exception))
        zend_throw_exception_ex(php_bf_exception_ce, BF_EIO,
            "open_basedir does not allow a URL that cannot be read: %s", err.msg);
    return rc == 0;
}

char *php_bf_storage(const zend_string *storage)
{
    const char *path;
    bf_error err;
    if (strlen(ZSTR_VAL(storage)) != ZSTR_LEN(storage)) {
        zend_value_error("a storage must not hold NUL bytes");
        return NULL;
    }
    const int is = bf_storage_path(ZSTR_VAL(storage), &path, &err);
    if (is > 0) return whole_path(path);
    if (is < 0)
        php_bf_raise(&err);
    else if (may_reach(ZSTR_VAL(storage)))
        return estrndup(ZSTR_VAL(storage), ZSTR_LEN(storage));
    return NULL;
}

/* ---- the arguments of a constructor, generated from the rows of parameters.h ---- */
/* FIELD: declares the field for an argument. */
#define FIELD(kind, name, ...) FIELD_##kind(name)
#define FIELD_SIZE(name) zval *name;
#define FIELD_COUNT(name) zval *name;
#define FIELD_SMALL(name) zend_long name;
#define FIELD_REAL(name) double name;
#define FIELD_SPAN(name)                                                                           \
    zval *name;                                                                                    \
    uint32_t name##_at; /* number of the argument, from 1; for messages */
#define FIELD_SPAN0(name) FIELD_SPAN(name)
#define FIELD_TEXT(name) zend_string *name;
#define FIELD_CHOICE(name) zend_string *name;
#define FIELD_FLAG(name) bool name;
#define FIELD_SECRET(name) zend_string *name;
#define FIELD_STORAGE(name)                                                                        \
    zend_string *name;                                                                             \
    zend_object *object; /* given in place of storage */                                           \
    uint32_t name##_at;
#define FIELD_CLOCK(name)                                                                          \
    zval *name;                                                                                    \
    uint32_t name##_at;
#define FIELD_HASHES(name) HashTable *name;
#define INDEX(kind, name, ...) AT_##name,
enum { BF_PARAMETERS(INDEX) PARAMETERS };
typedef struct {
    /* absent: for ints and floats, true if the argument was not given */
    BF_PARAMETERS(FIELD) bool absent[PARAMETERS];
} arguments;

/* PARSE: reads an argument into its field; _i is the number of the argument in PHP's macros. */
#define PARSE(kind, name, ...) PARSE_##kind(name)
#define PARSE_SIZE(name) Z_PARAM_NUMBER_OR_NULL(a.name)
#define PARSE_COUNT(name) Z_PARAM_NUMBER_OR_NULL(a.name)
#define PARSE_SMALL(name) Z_PARAM_LONG_OR_NULL(a.name, a.absent[AT_##name])
#define PARSE_REAL(name) Z_PARAM_DOUBLE_OR_NULL(a.name, a.absent[AT_##name])
#define PARSE_SPAN(name) PARSE_CLOCK(name)
#define PARSE_SPAN0(name) PARSE_CLOCK(name)
#define PARSE_TEXT(name) Z_PARAM_PATH_STR_OR_NULL(a.name)
#define PARSE_CHOICE(name) PARSE_TEXT(name)
#define PARSE_FLAG(name) Z_PARAM_BOOL(a.name)
#define PARSE_SECRET(name) Z_PARAM_STR_OR_NULL(a.name)
#define PARSE_STORAGE(name) Z_PARAM_OBJ_OR_STR_OR_NULL(a.object, a.name) a.name##_at = _i;
#define PARSE_CLOCK(name) Z_PARAM_ZVAL_OR_NULL(a.name) a.name##_at = _i;
#define PARSE_HASHES(name) Z_PARAM_ARRAY_HT_OR_NULL(a.name)

/* GIVE: copies a field to bf_spec; true if the value is refused. */
#define GIVE(kind, name, ...) GIVE_##kind(name)
#define GIVE_SIZE(name) read_whole(#name, a->name, &spec->name, sizeof spec->name, &err) < 0 ||
#define GIVE_COUNT(name) GIVE_SIZE(name)
#define GIVE_SMALL(name) read_small(#name, a->name, a->absent[AT_##name], &spec->name, &err) < 0 ||
#define GIVE_REAL(name)                                                                            \
    (!a->absent[AT_##name] && read_real(#name, a->name, false, &spec->name, &err) < 0) ||
#define GIVE_SPAN(name)                                                                            \
    (a->name && read_span(#name, a->name, a->name##_at, false, &spec->name, &err) < 0) ||
#define GIVE_SPAN0(name)                                                                           \
    (a->name && read_span(#name, a->name, a->name##_at, true, &spec->name, &err) < 0) ||
#define GIVE_TEXT(name) (spec->name = a->name ? ZSTR_VAL(a->name) : NULL, false) ||
#define GIVE_CHOICE(name) (a->name && bf_read_overfull(ZSTR_VAL(a->name), &spec->name, &err) < 0) ||
#define GIVE_FLAG(name) (spec->name = a->name, false) ||
#define GIVE_SECRET(name)                                                                          \
    (spec->name = a->name ? ZSTR_VAL(a->name) : NULL,                                              \
        spec->name##_len = a->name ? ZSTR_LEN(a->name) : 0, false) ||
#define GIVE_STORAGE(name)
#define GIVE_CLOCK(name)
#define GIVE_HASHES(name)

static arguments no_arguments(void)
{
    arguments a = { 0 };
    memset(a.absent, true, sizeof a.absent);
    return a;
}

/* Reads the storage from a client object or a Stringable. Returns false with an exception. */
static bool from_object(const arguments *a, bf_spec *spec)
{
    if (php_bf_is_client(a->object)) return php_bf_client_new(a->object, spec, a->key) != NULL;
    zval object;
    ZVAL_OBJ(&object, a->object);
    zend_string *text = instanceof_function(a->object->ce, zend_ce_stringable)
                            ? zval_try_get_string(&object)
                            : NULL;
    if (!text) {
        if (!EG(exception))
            zend_argument_type_error(a->storage_at,
                "must be a path, a URL or a phpredis object (Redis, RedisCluster) or "
                "Predis\\ClientInterface, %s given",
                ZSTR_VAL(a->object->ce->name));
        return false;
    }
    spec->storage = php_bf_storage(text);
    zend_string_release(text);
    return spec->storage != NULL;
}

static void free_storage(const bf_spec *spec)
{
    if (spec->redis_client) php_bf_client_release(spec->redis_client->ctx);
    if (spec->storage) efree((char *)spec->storage);
}

/* Fills spec; the caller calls free_storage(). Returns false with an exception; then the caller
 * frees nothing. The callables come first: later steps run PHP code, which may free what a callable
 * refers to. */
static bool to_spec(const arguments *a, bf_spec *spec, php_bf_callback **callback)
{
    bf_error err;
    if (BF_PARAMETERS(GIVE) false) {
        php_bf_raise(&err);
        return false;
    }
    if (!php_bf_callback_set(spec, a->clock, a->clock_at, a->hashes, callback)) return false;
    if (a->storage && strlen(ZSTR_VAL(a->storage)) != ZSTR_LEN(a->storage))
        zend_argument_value_error(a->storage_at, "must not contain any null bytes");
    else if (a->object ? from_object(a, spec)
                       : !a->storage || (spec->storage = php_bf_storage(a->storage)) != NULL)
        return true;
    php_bf_callback_free(*callback);
    return false;
}

static bool read_spec(INTERNAL_FUNCTION_PARAMETERS, bf_spec *spec, php_bf_callback **callback)
{
    arguments a = no_arguments();
    ZEND_PARSE_PARAMETERS_START(0, PARAMETERS)
    Z_PARAM_OPTIONAL
    BF_PARAMETERS(PARSE)
    ZEND_PARSE_PARAMETERS_END_EX(return false);
    return to_spec(&a, spec, callback);
}

/* Returns a new object; its class is the one on which the static method was called. */
static void return_filter(INTERNAL_FUNCTION_PARAMETERS, php_bf_handle *handle,
    php_bf_callback *callback, const bf_error *err)
{
    php_bf_wrap(return_value, zend_get_called_scope(execute_data), handle, callback, err);
    php_bf_warn_opened(return_value);
}

PHP_METHOD(BloomFilter, __construct)
{
    bf_spec spec = { 0 };
    bf_error err;
    php_bf_callback *callback = NULL;
    PHP_BF_HOLD();
    if (!php_bf_is_fresh(self) || !read_spec(INTERNAL_FUNCTION_PARAM_PASSTHRU, &spec, &callback))
        RETURN_THROWS();
    spec.counting = php_bf_counts(self->ce);
    php_bf_handle *handle = php_bf_open(&spec, &err);
    free_storage(&spec);
    if (php_bf_install(self, handle, callback, &err)) php_bf_warn_opened(ZEND_THIS);
}

PHP_METHOD(BloomFilter, plan)
{
    bf_spec spec = { 0 };
    bf_error err;
    char sentence[BF_SENTENCE_BYTES];
    php_bf_callback *callback = NULL;
    if (!read_spec(INTERNAL_FUNCTION_PARAM_PASSTHRU, &spec, &callback)) RETURN_THROWS();
    spec.counting = php_bf_counts(zend_get_called_scope(execute_data));
    int rc = bf_plan(&spec, &err);
    const bool warns = rc == 0 && (spec.overfull || BF_G(warn)) &&
                       bf_plan_warning(&spec, sentence, sizeof sentence);
    free_storage(&spec);
    php_bf_callback_free(callback);
    if (rc < 0) {
        php_bf_raise(&err);
        RETURN_THROWS();
    }
    array_init(return_value);
    add_assoc_long(return_value, "m", (zend_long)spec.m);
    add_assoc_long(return_value, "n", (zend_long)spec.n);
    add_assoc_long(return_value, "k", (zend_long)spec.k);
    add_assoc_double(return_value, "p", spec.p);
    add_assoc_string(return_value, "scheme", spec.scheme);
    if (warns) php_error_docref(NULL, E_USER_WARNING, "%s, or set bloomfilter.warn=0", sentence);
}

PHP_METHOD(BloomFilter, randomSecret)
{
    bf_error err;
    char secret[BF_SECRET_BYTES];
    ZEND_PARSE_PARAMETERS_NONE();
    if (bf_random_secret(secret, &err) < 0) {
        php_bf_raise(&err);
        RETURN_THROWS();
    }
    RETURN_STRINGL(secret, sizeof secret);
}

PHP_METHOD(BloomFilter, open)
{
    arguments a = no_arguments();
    bf_spec spec = { .must_exist = true,
        .counting = php_bf_counts(zend_get_called_scope(execute_data)) };
    bf_error err;
    php_bf_callback *callback;
    ZEND_PARSE_PARAMETERS_START(1, PARAMETERS + 1)
    Z_PARAM_OBJ_OR_STR(a.object, a.storage)
    a.storage_at = 1;
    Z_PARAM_OPTIONAL
    Z_PARAM_STR_OR_NULL(a.secret)
    Z_PARAM_PATH_STR_OR_NULL(a.key)
    Z_PARAM_BOOL(spec.read_only)
    BF_NUMBERS(PARSE) BF_SCHEME(PARSE) BF_MORE(PARSE) BF_CLOCK(PARSE) ZEND_PARSE_PARAMETERS_END();
    if (!to_spec(&a, &spec, &callback)) RETURN_THROWS();
    php_bf_handle *handle = php_bf_open(&spec, &err);
    free_storage(&spec);
    return_filter(INTERNAL_FUNCTION_PARAM_PASSTHRU, handle, callback, &err);
}

/* ---- bytes and files. Arguments must match the data, or complete data without parameters ---- */
static void from_image(INTERNAL_FUNCTION_PARAMETERS, bool base64)
{
    arguments a = no_arguments();
    zend_string *data, *bytes, *format = NULL;
    bf_spec expect = { .counting = php_bf_counts(zend_get_called_scope(execute_data)) };
    bf_error err;
    php_bf_callback *callback;
    ZEND_PARSE_PARAMETERS_START(1, 11)
    Z_PARAM_STR(data)
    Z_PARAM_OPTIONAL
    Z_PARAM_STR_OR_NULL(a.secret)
    Z_PARAM_PATH_STR_OR_NULL(format)
    BF_NUMBERS(PARSE) BF_SCHEME(PARSE) BF_CLOCK(PARSE) BF_HANDLE(PARSE) ZEND_PARSE_PARAMETERS_END();
    if (!(bytes = base64 ? php_bf_decode(data) : zend_string_copy(data))) RETURN_THROWS();
    if (to_spec(&a, &expect, &callback)) {
        bf_filter *f = bf_from_bytes_as(
            ZSTR_VAL(bytes), ZSTR_LEN(bytes), format ? ZSTR_VAL(format) : NULL, &expect, &err);
        return_filter(INTERNAL_FUNCTION_PARAM_PASSTHRU, php_bf_hold(f, &err), callback, &err);
    }
    zend_string_release(bytes);
}

PHP_METHOD(BloomFilter, fromBytes) { from_image(INTERNAL_FUNCTION_PARAM_PASSTHRU, false); }
PHP_METHOD(BloomFilter, fromBase64) { from_image(INTERNAL_FUNCTION_PARAM_PASSTHRU, true); }

PHP_METHOD(BloomFilter, fromJson)
{
    arguments a = no_arguments();
    HashTable *data;
    zend_string *text, *bytes;
    bf_spec expect = { .counting = php_bf_counts(zend_get_called_scope(execute_data)) };
    bf_error err;
    php_bf_callback *callback;
    ZEND_PARSE_PARAMETERS_START(1, 4)
    Z_PARAM_ARRAY_HT_OR_STR(data, text)
    Z_PARAM_OPTIONAL
    BF_CLOCK(PARSE) BF_HANDLE(PARSE) ZEND_PARSE_PARAMETERS_END();
    if (!to_spec(&a, &expect, &callback)) RETURN_THROWS();
    err.code = BF_EHOST;
    bytes = php_bf_decode_json(data, text);
    bf_filter *f = bytes ? bf_from_bytes(ZSTR_VAL(bytes), ZSTR_LEN(bytes), &expect, &err) : NULL;
    return_filter(INTERNAL_FUNCTION_PARAM_PASSTHRU, php_bf_hold(f, &err), callback, &err);
    if (bytes) zend_string_release(bytes);
}

PHP_METHOD(BloomFilter, load)
{
    arguments a = no_arguments();
    zval *path;
    zend_string *bytes = NULL;
    php_bf_place place;
    bf_spec expect = { .counting = php_bf_counts(zend_get_called_scope(execute_data)) };
    bf_error err = { .code = BF_EHOST };
    bf_filter *f = NULL;
    php_bf_callback *callback;
    ZEND_PARSE_PARAMETERS_START(1, 5)
    Z_PARAM_ZVAL(path)
    Z_PARAM_OPTIONAL
    Z_PARAM_STR_OR_NULL(a.secret)
    BF_CLOCK(PARSE) BF_HANDLE(PARSE) ZEND_PARSE_PARAMETERS_END();
    if (!to_spec(&a, &expect, &callback)) RETURN_THROWS();
    if (php_bf_find_place(&place, path, false)) {
        if (place.path)
            f = bf_load(place.path, &expect, &err);
        else if ((bytes = php_bf_read_stream(&place)))
            f = bf_from_bytes(ZSTR_VAL(bytes), ZSTR_LEN(bytes), &expect, &err);
    }
    return_filter(INTERNAL_FUNCTION_PARAM_PASSTHRU, php_bf_hold(f, &err), callback, &err);
    if (bytes) zend_string_release(bytes);
    php_bf_leave_place(&place);
}

/* ---- filters of the module RedisBloom ---- */
/* Reads (storage, key) into spec; the caller calls free_storage(). Returns false with an
 * exception. */
static bool read_place(INTERNAL_FUNCTION_PARAMETERS, bf_spec *spec)
{
    arguments a = no_arguments();
    php_bf_callback *callback;
    ZEND_PARSE_PARAMETERS_START(1, 2)
    Z_PARAM_OBJ_OR_STR(a.object, a.storage)
    a.storage_at = 1;
    Z_PARAM_OPTIONAL
    Z_PARAM_PATH_STR_OR_NULL(a.key)
    ZEND_PARSE_PARAMETERS_END_EX(return false);
    return to_spec(&a, spec, &callback);
}

PHP_METHOD(BloomFilter, fromRedisBloom)
{
    bf_spec spec = { .counting = php_bf_counts(zend_get_called_scope(execute_data)) };
    bf_error err;
    if (!read_place(INTERNAL_FUNCTION_PARAM_PASSTHRU, &spec)) RETURN_THROWS();
    bf_filter *f = bf_from_redisbloom(&spec, &err);
    free_storage(&spec);
    return_filter(INTERNAL_FUNCTION_PARAM_PASSTHRU, php_bf_hold(f, &err), NULL, &err);
}

PHP_METHOD(BloomFilter, toRedisBloom)
{
    bf_spec spec = { 0 };
    bf_error err;
    PHP_BF_HOLD();
    if (!read_place(INTERNAL_FUNCTION_PARAM_PASSTHRU, &spec)) RETURN_THROWS();
    bf_filter *f = php_bf_from(self)->f;
    if (!f)
        php_bf_raise_closed();
    else if (bf_to_redisbloom(f, &spec, &err) < 0)
        php_bf_raise(&err);
    free_storage(&spec);
}
