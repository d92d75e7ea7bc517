/* php_spec.c - constructor arguments to bf_spec: __construct, plan, open.
 * Knows what PHP values are numbers and paths.  Ranges, formulas and what goes with what are the
 * core's. */
#include "php_bloomfilter.h"
#include "base/parameters.h"
#include "fopen_wrappers.h"
#include "zend_exceptions.h"
#include "zend_interfaces.h"
#include "zend_smart_str.h"

/* ---- numbers: what does not fit bf_spec, or would read as "not given" there, is refused here ----
 */
static int refuse_value(bf_error *err, const char *name, zval *v)
{
    smart_str text = { 0 };
    if (Z_TYPE_P(v) == IS_DOUBLE)
        smart_str_append_double(&text, Z_DVAL_P(v), -1, false);
    else
        smart_str_append_long(&text, Z_LVAL_P(v));
    smart_str_0(&text);
    int code = bf_refuse(err, name, ZSTR_VAL(text.s));
    /* (capacity, error rate), as other packages take them */
    if (!strcmp(name, "n") && Z_TYPE_P(v) == IS_DOUBLE && Z_DVAL_P(v) > 0 && Z_DVAL_P(v) < 1)
        snprintf(err->msg + strlen(err->msg), sizeof err->msg - strlen(err->msg),
            "; for a rate write new BloomFilter(n: keys, p: %s)", ZSTR_VAL(text.s));
    smart_str_free(&text);
    return code;
}

/* Whole floats are welcome: 1e9 is how one writes it.  2^63 as a float is out of range, as is 1.5.
 */
static int read_size(const char *name, zval *v, uint64_t *to, bf_error *err)
{
    if (!v) return 0;
    if (Z_TYPE_P(v) == IS_LONG && Z_LVAL_P(v) > 0)
        *to = (uint64_t)Z_LVAL_P(v);
    else if (Z_TYPE_P(v) == IS_DOUBLE && Z_DVAL_P(v) >= 1 && Z_DVAL_P(v) < 0x1p63 &&
             zend_finite(Z_DVAL_P(v)) && Z_DVAL_P(v) == (double)(uint64_t)Z_DVAL_P(v))
        *to = (uint64_t)Z_DVAL_P(v);
    else
        return refuse_value(err, name, v);
    return 0;
}

static int read_small(const char *name, zend_long given, bool absent, unsigned *to, bf_error *err)
{
    zval v;
    if (absent) return 0;
    ZVAL_LONG(&v, given);
    if (given <= 0 || given > UINT32_MAX) return refuse_value(err, name, &v);
    *to = (unsigned)given;
    return 0;
}

/* ceil(m / n * log(2)), the classic way to a k, is a float in PHP. */
static int read_positions(const char *name, zval *v, unsigned *to, bf_error *err)
{
    uint64_t size = 0;
    int rc = read_size(name, v, &size, err);
    if (rc < 0) return rc;
    if (size > UINT32_MAX) return refuse_value(err, name, v);
    *to = (unsigned)size;
    return 0;
}

static int read_real0(const char *name, double given, bool absent, double *to, bf_error *err)
{
    zval v;
    if (absent) return 0;
    ZVAL_DOUBLE(&v, given);
    if (!(given >= 0) || !zend_finite(given)) return refuse_value(err, name, &v);
    *to = given > 0 ? given : BF_ALWAYS_TRY;
    return 0;
}

static int read_real(const char *name, double given, bool absent, double *to, bf_error *err)
{
    zval v;
    if (absent) return 0;
    ZVAL_DOUBLE(&v, given);
    if (given == 0 || !zend_finite(given)) return refuse_value(err, name, &v);
    *to = given;
    return 0;
}

/* ---- paths: made absolute for PHP's own working directory; links are left to the core, which has
 * its rules ---- */
static char *whole_path(const char *path)
{
    char cwd[MAXPATHLEN], *full;
    if (IS_ABSOLUTE_PATH(path, strlen(path)))
        full = estrdup(path);
    else /* ./: a path that looks like a URL stays a path */
        spprintf(&full, 0, "%s/%s", VCWD_GETCWD(cwd, sizeof cwd) ? cwd : ".", path);
    if (php_check_open_basedir_ex(full, 0) == 0) return full;
    zend_throw_exception_ex(php_bf_exception_ce, BF_EIO, "open_basedir does not allow %s", full);
    efree(full);
    return NULL;
}

char *php_bf_path(const zend_string *path)
{
    if (ZSTR_LEN(path) && strlen(ZSTR_VAL(path)) == ZSTR_LEN(path))
        return whole_path(ZSTR_VAL(path));
    zend_value_error("a path must not be empty or hold NUL bytes");
    return NULL;
}

/* The socket and certificates that a URL names, as the core reads them. */
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

/* What is a file for the core, file:PATH too, goes on as its absolute path, which open_basedir has
 * seen. */
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

/* ---- the constructor's arguments.  false: exception.  spec->storage is the caller's to efree.
 * ---- */
/* A row of parameters.h as the fields that it is read into, ... */
#define FIELD(kind, name, ...) FIELD_##kind(name)
#define FIELD_SIZE(name) zval *name;
#define FIELD_COUNT(name) zval *name;
#define FIELD_SMALL(name)                                                                          \
    zend_long name;                                                                                \
    bool no_##name;
#define FIELD_REAL(name)                                                                           \
    double name;                                                                                   \
    bool no_##name;
#define FIELD_REAL0(name) FIELD_REAL(name)
#define FIELD_TEXT(name) zend_string *name;
#define FIELD_FLAG(name) bool name;
#define FIELD_SECRET(name) zend_string *name;
#define FIELD_STORAGE(name)                                                                        \
    zend_string *name;                                                                             \
    zend_object *object; /* instead of storage */
#define FIELD_CLOCK(name)                                                                          \
    zend_fcall_info name;                                                                          \
    zend_fcall_info_cache name##_cache;
#define FIELD_HASHES(name) HashTable *name;
typedef struct {
    BF_PARAMETERS(FIELD)
    uint32_t storage_at; /* which argument that is */
} arguments;

/* ... as what they are before that, ... */
#define ABSENT(kind, name, ...) ABSENT_##kind(name)
#define ABSENT_SIZE(name)
#define ABSENT_COUNT(name)
#define ABSENT_SMALL(name) .no_##name = true,
#define ABSENT_REAL(name) .no_##name = true,
#define ABSENT_REAL0(name) ABSENT_REAL(name)
#define ABSENT_TEXT(name)
#define ABSENT_FLAG(name)
#define ABSENT_SECRET(name)
#define ABSENT_STORAGE(name)
#define ABSENT_CLOCK(name)
#define ABSENT_HASHES(name)
#define NOT_GIVEN { BF_PARAMETERS(ABSENT) }

/* ... as how PHP reads it into them, ... */
#define PARSE(kind, name, ...) PARSE_##kind(name)
#define PARSE_SIZE(name) Z_PARAM_NUMBER_OR_NULL(a.name)
#define PARSE_COUNT(name) Z_PARAM_NUMBER_OR_NULL(a.name)
#define PARSE_SMALL(name) Z_PARAM_LONG_OR_NULL(a.name, a.no_##name)
#define PARSE_REAL(name) Z_PARAM_DOUBLE_OR_NULL(a.name, a.no_##name)
#define PARSE_REAL0(name) PARSE_REAL(name)
#define PARSE_TEXT(name) Z_PARAM_PATH_STR_OR_NULL(a.name)
#define PARSE_FLAG(name) Z_PARAM_BOOL(a.name)
#define PARSE_SECRET(name) Z_PARAM_STR_OR_NULL(a.name)
#define PARSE_STORAGE(name) Z_PARAM_OBJ_OR_STR_OR_NULL(a.object, a.name)
#define PARSE_CLOCK(name) Z_PARAM_FUNC_OR_NULL(a.name, a.name##_cache)
#define PARSE_HASHES(name) Z_PARAM_ARRAY_HT_OR_NULL(a.name)

/* ... and as how it goes from there to bf_spec: true where it is refused. */
#define GIVE(kind, name, ...) GIVE_##kind(name)
#define GIVE_SIZE(name) read_size(#name, a->name, &spec->name, &err) < 0 ||
#define GIVE_COUNT(name) read_positions(#name, a->name, &spec->name, &err) < 0 ||
#define GIVE_SMALL(name) read_small(#name, a->name, a->no_##name, &spec->name, &err) < 0 ||
#define GIVE_REAL(name) read_real(#name, a->name, a->no_##name, &spec->name, &err) < 0 ||
#define GIVE_REAL0(name) read_real0(#name, a->name, a->no_##name, &spec->name, &err) < 0 ||
#define GIVE_TEXT(name) (spec->name = a->name ? ZSTR_VAL(a->name) : NULL, false) ||
#define GIVE_FLAG(name) (spec->name = a->name, false) ||
#define GIVE_SECRET(name) (php_bf_set_secret(spec, a->name), false) ||
#define GIVE_STORAGE(name)
#define GIVE_CLOCK(name)
#define GIVE_HASHES(name)

#define ONE(...) +1
enum { PARAMETERS = BF_PARAMETERS(ONE) };

void php_bf_set_secret(bf_spec *spec, const zend_string *secret)
{
    if (!secret) return;
    spec->secret = ZSTR_VAL(secret);
    spec->secret_len = ZSTR_LEN(secret);
}

/* A client, or an object that is a path as text. */
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
                "must be a path, a URL or a phpredis object (Redis, RedisCluster), %s given",
                ZSTR_VAL(a->object->ce->name));
        return false;
    }
    spec->storage = php_bf_storage(text);
    zend_string_release(text);
    return spec->storage != NULL;
}

static bool to_spec(const arguments *a, bf_spec *spec)
{
    bf_error err;
    if (BF_PARAMETERS(GIVE) false) {
        php_bf_raise(&err);
        return false;
    }
    if (a->object) return from_object(a, spec);
    if (a->storage && strlen(ZSTR_VAL(a->storage)) != ZSTR_LEN(a->storage)) {
        zend_argument_value_error(a->storage_at, "must not contain any null bytes");
        return false;
    }
    return !a->storage || (spec->storage = php_bf_storage(a->storage));
}

static void free_storage(const bf_spec *spec)
{
    php_bf_client_release(php_bf_client_of(spec));
    if (spec->storage) efree((char *)spec->storage);
}

/* What is PHP's own code in a filter: a clock, hash functions.  false: exception, and what spec got
 * is freed. */
static bool hosts_code(const arguments *a, bf_spec *spec, php_bf_clock **clock)
{
    php_bf_clock_set(spec, *clock = php_bf_clock_new(&a->clock, &a->clock_cache));
    if (php_bf_hashes_set(spec, a->hashes, clock)) return true;
    free_storage(spec);
    return false;
}

static bool read_spec(INTERNAL_FUNCTION_PARAMETERS, bf_spec *spec, php_bf_clock **clock)
{
    arguments a = NOT_GIVEN;
    a.storage_at = 7;
    ZEND_PARSE_PARAMETERS_START(0, PARAMETERS)
    Z_PARAM_OPTIONAL
    BF_PARAMETERS(PARSE)
    ZEND_PARSE_PARAMETERS_END_EX(return false);
    if (!to_spec(&a, spec)) return false;
    return hosts_code(&a, spec, clock);
}

/* fromBytes: what the bytes must be, or do not say of themselves. */
bool php_bf_read_expected(INTERNAL_FUNCTION_PARAMETERS, zend_string **bytes, const char **format,
    bf_spec *spec, php_bf_clock **clock)
{
    arguments a = NOT_GIVEN;
    zend_string *as = NULL;
    ZEND_PARSE_PARAMETERS_START(1, 10)
    Z_PARAM_STR(*bytes)
    Z_PARAM_OPTIONAL
    Z_PARAM_STR_OR_NULL(a.secret)
    Z_PARAM_PATH_STR_OR_NULL(as)
    BF_NUMBERS(PARSE) BF_SCHEME(PARSE) BF_CLOCK(PARSE) ZEND_PARSE_PARAMETERS_END_EX(return false);
    *format = as ? ZSTR_VAL(as) : NULL;
    if (!to_spec(&a, spec)) return false;
    return hosts_code(&a, spec, clock);
}

PHP_METHOD(BloomFilter, __construct)
{
    bf_spec spec = { 0 };
    bf_error err;
    php_bf_clock *clock = NULL;
    if (!php_bf_is_fresh(Z_OBJ_P(ZEND_THIS)) ||
        !read_spec(INTERNAL_FUNCTION_PARAM_PASSTHRU, &spec, &clock))
        RETURN_THROWS();
    spec.counting = php_bf_counts(Z_OBJCE_P(ZEND_THIS));
    php_bf_map *map;
    bf_filter *f = php_bf_open(&spec, &map, &err);
    free_storage(&spec);
    php_bf_go_on();
    if (f && php_bf_is_fresh(Z_OBJ_P(ZEND_THIS))) {
        php_bf_adopt(Z_OBJ_P(ZEND_THIS), f, map);
        php_bf_from(Z_OBJ_P(ZEND_THIS))->clock = clock;
        php_bf_weakness(ZEND_THIS);
        return;
    }
    if (!f)
        php_bf_raise(&err);
    else
        php_bf_let_go(f, map);
    php_bf_clock_free(clock);
}

PHP_METHOD(BloomFilter, plan)
{
    bf_spec spec = { 0 };
    bf_error err;
    php_bf_clock *clock = NULL;
    if (!read_spec(INTERNAL_FUNCTION_PARAM_PASSTHRU, &spec, &clock)) RETURN_THROWS();
    spec.counting = php_bf_counts(zend_get_called_scope(execute_data));
    int rc = bf_plan(&spec, &err);
    free_storage(&spec);
    php_bf_clock_free(clock);
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
    arguments a = NOT_GIVEN;
    a.storage_at = 1;
    bf_spec spec = { .must_exist = true,
        .counting = php_bf_counts(zend_get_called_scope(execute_data)) };
    bf_error err;
    ZEND_PARSE_PARAMETERS_START(1, PARAMETERS + 1)
    Z_PARAM_OBJ_OR_STR(a.object, a.storage)
    Z_PARAM_OPTIONAL
    Z_PARAM_STR_OR_NULL(a.secret)
    Z_PARAM_PATH_STR_OR_NULL(a.key)
    Z_PARAM_BOOL(spec.read_only)
    BF_NUMBERS(PARSE) BF_SCHEME(PARSE) BF_MORE(PARSE) BF_CLOCK(PARSE) ZEND_PARSE_PARAMETERS_END();
    if (!to_spec(&a, &spec)) RETURN_THROWS();
    php_bf_map *map;
    php_bf_clock *clock;
    if (!hosts_code(&a, &spec, &clock)) RETURN_THROWS();
    bf_filter *f = php_bf_open(&spec, &map, &err);
    free_storage(&spec);
    php_bf_wrap(return_value, zend_get_called_scope(execute_data), f, map, clock, &err);
    php_bf_weakness(return_value);
}
