/* php_sets.c - methods about a complete filter: set operations, statistics, sync, clear, expire,
 * delete, close. */
#include "php_bloomfilter.h"
#include "zend_exceptions.h"

static zend_long whole(double count)
{
    return count < 0x1p63 ? (zend_long)(count + 0.5) : ZEND_LONG_MAX;
}

/* ---- two filters ---- */
/* Gets the filter of the argument, if it and $this are open. Returns NULL with an exception. */
static bf_filter *other_operand(INTERNAL_FUNCTION_PARAMETERS)
{
    zend_object *object;
    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_OBJ_OF_CLASS(object, php_bf_ce)
    ZEND_PARSE_PARAMETERS_END_EX(return NULL);
    bf_filter *other = php_bf_from(object)->f;
    if (other && php_bf_from(Z_OBJ_P(ZEND_THIS))->f) return other;
    php_bf_raise_closed();
    return NULL;
}
/* Begins a method of two filters: declares self, f and other, or throws an exception and returns.
 */
#define OPERANDS()                                                                                 \
    PHP_BF_HOLD();                                                                                 \
    bf_filter *const other = other_operand(INTERNAL_FUNCTION_PARAM_PASSTHRU);                      \
    if (!other) RETURN_THROWS();                                                                   \
    bf_filter *const f = php_bf_from(self)->f

static void combine(
    INTERNAL_FUNCTION_PARAMETERS, bf_filter *(*call)(bf_filter *, bf_filter *, bf_error *))
{
    bf_error err;
    OPERANDS();
    php_bf_callback *callback = php_bf_callback_share(php_bf_from(self)->callback);
    php_bf_wrap(return_value, self->ce, php_bf_hold(call(f, other, &err), &err), callback, &err);
}

PHP_METHOD(BloomFilter, union) { combine(INTERNAL_FUNCTION_PARAM_PASSTHRU, bf_union); }
PHP_METHOD(BloomFilter, intersect) { combine(INTERNAL_FUNCTION_PARAM_PASSTHRU, bf_intersection); }

static void compare(INTERNAL_FUNCTION_PARAMETERS, int (*call)(bf_filter *, bf_filter *, bf_error *))
{
    bf_error err;
    OPERANDS();
    const int answer = call(f, other, &err);
    if (answer >= 0) RETURN_BOOL(answer);
    php_bf_raise(&err);
}

PHP_METHOD(BloomFilter, equals) { compare(INTERNAL_FUNCTION_PARAM_PASSTHRU, bf_equal); }
PHP_METHOD(BloomFilter, isSubsetOf) { compare(INTERNAL_FUNCTION_PARAM_PASSTHRU, bf_subset); }

PHP_METHOD(BloomFilter, merge)
{
    bf_error err;
    OPERANDS();
    if (!php_bf_begin_adds(self)) RETURN_THROWS();
    const zend_object *from = Z_OBJ_P(ZEND_CALL_ARG(execute_data, 1));
    if (!php_bf_from((zend_object *)from)->f)
        php_bf_raise_closed();
    else if (bf_unite(f, other, &err) < 0)
        php_bf_raise(&err);
    php_bf_rethrow_bailout();
}

static void estimate(
    INTERNAL_FUNCTION_PARAMETERS, int (*call)(bf_filter *, bf_filter *, double *, bf_error *))
{
    bf_error err;
    double count;
    OPERANDS();
    if (call(f, other, &count, &err) >= 0) RETURN_LONG(whole(count));
    php_bf_raise(&err);
}

PHP_METHOD(BloomFilter, unionCount) { estimate(INTERNAL_FUNCTION_PARAM_PASSTHRU, bf_union_count); }
PHP_METHOD(BloomFilter, intersectionCount)
{
    estimate(INTERNAL_FUNCTION_PARAM_PASSTHRU, bf_intersection_count);
}

PHP_METHOD(CountingBloomFilter, toPlain)
{
    bf_error err;
    ZEND_PARSE_PARAMETERS_NONE();
    PHP_BF_THIS(f);
    php_bf_callback *callback = php_bf_callback_share(php_bf_from(self)->callback);
    php_bf_wrap(return_value, php_bf_ce, php_bf_hold(bf_to_plain(f, &err), &err), callback, &err);
}

/* ---- more than half full? ---- */
/* The INI setting is used only if the filter was opened without `overfull`. */
static bool may_warn(const bf_filter *f)
{
    bf_info info;
    bf_get_info(f, &info);
    return (info.overfull || BF_G(warn)) && !EG(exception);
}

static void raise_warning(void *context)
{
    const char *sentence = context;
    php_error_docref(NULL, E_USER_WARNING, "%c%s, or set bloomfilter.warn=0",
        toupper((unsigned char)*sentence), sentence + 1);
}

/* Keeps the handle alive: an error handler may close the filter. If it did, the call must end. */
static int give_warning(void *ctx, const char *sentence)
{
    php_bf_handle *handle = ctx;
    if (!may_warn(handle->f)) return 0;
    handle->refs++;
    const bool fine = php_bf_run_php(raise_warning, (void *)sentence), closed = handle->refs == 1;
    php_bf_release(handle);
    if (fine && closed) php_bf_raise_closed();
    return fine && !closed ? 0 : -1;
}

void php_bf_watch(php_bf_handle *handle) { bf_set_warning(handle->f, give_warning, handle); }

bool php_bf_begin_adds(zend_object *object)
{
    bf_error err;
    const int rc = bf_begin_adds(php_bf_from(object)->f, &err);
    if (rc < 0)
        php_bf_raise(&err);
    else if (!php_bf_from(object)->f)
        php_bf_raise_closed();
    return !EG(exception);
}

void php_bf_warn_opened(const zval *made)
{
    char sentence[BF_SENTENCE_BYTES];
    if (Z_TYPE_P(made) != IS_OBJECT || EG(exception)) return;
    const php_bf *bf = php_bf_from(Z_OBJ_P(made));
    if (bf->handle->kept) return; /* an earlier constructor has warned */
    if (!may_warn(bf->f) || !bf_open_warning(bf->f, sentence, sizeof sentence)) return;
    php_error_docref(NULL, E_USER_WARNING, "%s, or set bloomfilter.warn=0", sentence);
}

PHP_METHOD(BloomFilter, saturated)
{
    bf_error err;
    uint64_t wait;
    ZEND_PARSE_PARAMETERS_NONE();
    PHP_BF_THIS(f);
    int full = bf_saturated(f, &wait, &err);
    if (full >= 0) RETURN_BOOL(full != 0);
    php_bf_raise(&err);
}

/* ---- contents ---- */
static bool get_state(bf_filter *f, bf_state *state)
{
    bf_error err;
    if (bf_get_state(f, state, &err) >= 0) return true;
    php_bf_raise(&err);
    return false;
}

PHP_METHOD(BloomFilter, count)
{
    bf_state state;
    ZEND_PARSE_PARAMETERS_NONE();
    PHP_BF_THIS(f);
    if (get_state(f, &state)) RETURN_LONG(whole(state.count));
}

PHP_METHOD(BloomFilter, fillRatio)
{
    bf_state state;
    ZEND_PARSE_PARAMETERS_NONE();
    PHP_BF_THIS(f);
    if (get_state(f, &state)) RETURN_DOUBLE(state.fill);
}

PHP_METHOD(BloomFilter, fpr)
{
    bf_state state;
    ZEND_PARSE_PARAMETERS_NONE();
    PHP_BF_THIS(f);
    if (get_state(f, &state)) RETURN_DOUBLE(state.fpr);
}

static void add_text_or_null(zval *to, const char *name, const char *text)
{
    if (text)
        add_assoc_string(to, name, text);
    else
        add_assoc_null(to, name);
}

/* ---- parts ---- */
static void part_to_array(zval *to, const bf_info *whole, const bf_part_info *p)
{
    array_init(to);
    add_assoc_long(to, "firstBit", (zend_long)p->first_bit);
    add_assoc_long(to, "m", (zend_long)p->m);
    add_assoc_long(to, "n", (zend_long)p->n);
    add_assoc_double(to, "p", p->p);
    if (whole->grow != 0) add_assoc_long(to, "keys", (zend_long)p->keys);
    if (whole->window == 0) return;
    if (p->until > p->since) {
        add_assoc_double(to, "since", p->since);
        add_assoc_double(to, "until", p->until);
    } else {
        add_assoc_null(to, "since");
        add_assoc_null(to, "until");
    }
}

static bool list_parts(zval *to, bf_filter *f)
{
    bf_info info;
    bf_part_info part;
    bf_error err;
    array_init(to);
    info.part_count = 1;
    for (unsigned i = 0; i < info.part_count; i++) { /* reading part 0 updates part_count */
        zval one;
        if (bf_get_part(f, i, &part, &err) < 0) {
            zval_ptr_dtor(to);
            php_bf_raise(&err);
            return false;
        }
        bf_get_info(f, &info);
        part_to_array(&one, &info, &part);
        add_next_index_zval(to, &one);
    }
    return true;
}

PHP_METHOD(BloomFilter, info)
{
    bf_info i;
    bf_state s;
    zval parts;
    ZEND_PARSE_PARAMETERS_NONE();
    PHP_BF_THIS(f);
    if (!get_state(f, &s) || !list_parts(&parts, f)) RETURN_THROWS();
    bf_get_info(f, &i);
    array_init(return_value);
    add_assoc_long(return_value, "m", (zend_long)i.m);
    add_assoc_long(return_value, "n", (zend_long)i.n);
    add_assoc_long(return_value, "k", (zend_long)i.k);
    add_assoc_double(return_value, "p", i.p);
    add_assoc_string(return_value, "scheme", i.scheme);
    add_assoc_string(return_value, "home", i.home);
    add_text_or_null(return_value, "storage", i.shown);
    add_text_or_null(return_value, "key", i.key);
    add_assoc_bool(return_value, "counting", i.counting);
    add_assoc_long(return_value, "shards", (zend_long)i.shards);
    add_assoc_zval(return_value, "parts", &parts);
    add_assoc_double(return_value, "grow", i.grow);
    add_assoc_double(return_value, "window", i.window);
    add_assoc_long(return_value, "bytes", (zend_long)i.bitset_bytes);
    add_assoc_bool(return_value, "keyed", i.keyed);
    add_assoc_bool(return_value, "readOnly", i.read_only);
    add_assoc_long(return_value, "ones", (zend_long)s.ones);
    add_assoc_double(return_value, "fillRatio", s.fill);
    add_assoc_long(return_value, "count", whole(s.count));
    add_assoc_double(return_value, "fpr", s.fpr);
    add_assoc_bool(return_value, "saturated", s.saturated != 0);
}

/* ---- commands ---- */
static void command(INTERNAL_FUNCTION_PARAMETERS, int (*call)(bf_filter *, bf_error *))
{
    bf_error err;
    ZEND_PARSE_PARAMETERS_NONE();
    PHP_BF_THIS(f);
    if (call(f, &err) < 0) php_bf_raise(&err);
    php_bf_rethrow_bailout();
}

PHP_METHOD(BloomFilter, clear) { command(INTERNAL_FUNCTION_PARAM_PASSTHRU, bf_clear); }
PHP_METHOD(BloomFilter, sync) { command(INTERNAL_FUNCTION_PARAM_PASSTHRU, bf_sync); }

PHP_METHOD(BloomFilter, delete) { command(INTERNAL_FUNCTION_PARAM_PASSTHRU, bf_delete); }

PHP_METHOD(BloomFilter, expire)
{
    zval *seconds;
    bf_error err;
    PHP_BF_HOLD();
    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_ZVAL_OR_NULL(seconds)
    ZEND_PARSE_PARAMETERS_END();
    double s = 0; /* never */
    if (seconds && !php_bf_seconds(seconds, 1, &s)) RETURN_THROWS();
    PHP_BF_OPEN(f);
    if (seconds && s == 0)
        zend_value_error("seconds must be above 0, or null for never, got 0");
    else if (bf_expire(f, s, &err) < 0)
        php_bf_raise(&err);
    php_bf_rethrow_bailout();
}

PHP_METHOD(BloomFilter, isCurrent)
{
    bf_error err;
    ZEND_PARSE_PARAMETERS_NONE();
    PHP_BF_THIS(f);
    const int current = bf_is_current(f, NULL, &err);
    if (current >= 0) RETURN_BOOL(current);
    php_bf_raise(&err);
}

PHP_METHOD(BloomFilter, shards)
{
    bf_info info;
    ZEND_PARSE_PARAMETERS_NONE();
    PHP_BF_THIS(f);
    bf_get_info(f, &info);
    RETURN_LONG(info.shards);
}

PHP_METHOD(BloomFilter, partInfo)
{
    zval list;
    ZEND_PARSE_PARAMETERS_NONE();
    PHP_BF_THIS(f);
    if (!list_parts(&list, f)) RETURN_THROWS();
    RETURN_COPY_VALUE(&list);
}

PHP_METHOD(BloomFilter, close)
{
    bf_error err;
    ZEND_PARSE_PARAMETERS_NONE();
    PHP_BF_HOLD();
    php_bf *bf = php_bf_from(self);
    if (bf->f && bf_busy(bf->f, &err) < 0) {
        php_bf_raise(&err);
        return;
    }
    const bool replaced = bf->f && bf_check_file(bf->f, &err) < 0;
    php_bf_close_object(bf);
    if (replaced) php_bf_raise(&err);
}
