/* php_keys.c - methods that take keys: one key, or a batch. A batch gathers bf_batch_size() keys
 * for each call of the core.
 *
 * While keys are gathered, a generator or a __toString() may run any code: close the filter, change
 * a variable, throw. So each flush reads the filter from the object again, and a batch holds
 * references to strings that such code may free. */
#include "php_bloomfilter.h"
#include "ext/spl/spl_iterators.h"
#include "zend_exceptions.h"
#include "zend_interfaces.h"

/* AHEAD: see prefetch(). TEXT_MAX: bytes for an int as text. */
enum { AHEAD = 32, TEXT_MAX = 24 };

typedef int64_t many_call(bf_filter *, const bf_key *, size_t, uint8_t *, bf_error *);

/* ---- the bytes of a PHP value ---- */
/* Reads v as a key, which may point into text (TEXT_MAX bytes). *held: a string that the caller
 * releases after using the key, or NULL. Returns false with an exception of __toString(), or
 * without one if v has the wrong type. */
static bool read_key(zval *v, bf_key *key, char *text, zend_string **held)
{
    *held = NULL;
    if (Z_TYPE_P(v) == IS_LONG) {
        char *digits = zend_print_long_to_buf(text + TEXT_MAX - 1, Z_LVAL_P(v));
        *key = (bf_key){ digits, (size_t)(text + TEXT_MAX - 1 - digits) };
        return true;
    }
    if (Z_TYPE_P(v) == IS_STRING)
        *held = zend_string_copy(Z_STR_P(v));
    else if (Z_TYPE_P(v) != IS_OBJECT || !instanceof_function(Z_OBJCE_P(v), zend_ce_stringable) ||
             !(*held = zval_try_get_string(v)))
        return false;
    *key = (bf_key){ ZSTR_VAL(*held), ZSTR_LEN(*held) };
    return true;
}

/* ---- one key ---- */
/* Reads v as a key. Returns false with an exception. */
static bool single_key(zval *v, bf_key *key, char *text, zend_string **held)
{
    const bool good = read_key(v, key, text, held);
    if (!good && !EG(exception))
        zend_argument_type_error(
            1, "must be of type string, int or Stringable, %s given", php_bf_type_name(v));
    return good;
}

typedef enum { ADD, TEST, REMOVE, COUNT_OF } operation;
static zend_always_inline int call_core(
    operation op, bf_filter *f, const void *key, size_t len, bf_error *err)
{
    return op == ADD      ? bf_add(f, key, len, err)
           : op == TEST   ? bf_test(f, key, len, err)
           : op == REMOVE ? bf_remove(f, key, len, err)
                          : bf_count_of(f, key, len, err);
}

/* For keys that are not strings, and for a frame that has no reference to $this. Not inlined, to
 * keep the other case fast. */
static zend_never_inline int call_other(
    zend_execute_data *execute_data, operation op, zval *v, bf_error *err)
{
    char text[TEXT_MAX];
    bf_key key;
    zend_string *held;
    int answer = err->code = BF_EHOST;
    PHP_BF_HOLD();
    if (!single_key(v, &key, text, &held)) return answer;
    bf_filter *f = php_bf_from(self)->f; /* __toString() may have closed the filter */
    if (f)
        answer = call_core(op, f, key.ptr, key.len, err);
    else
        php_bf_raise_closed();
    if (held) zend_string_release(held);
    return answer;
}

static zend_always_inline void call_one(INTERNAL_FUNCTION_PARAMETERS, operation op)
{
    zval *v;
    bf_error err;
    int answer;
    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_ZVAL(v)
    ZEND_PARSE_PARAMETERS_END();
    php_bf *bf = php_bf_from(Z_OBJ_P(ZEND_THIS));
    if (UNEXPECTED(!bf->f)) {
        php_bf_raise_closed();
        RETURN_THROWS();
    }
    if (EXPECTED(Z_TYPE_P(v) == IS_STRING && php_bf_owns_this(execute_data)))
        answer = call_core(op, bf->f, Z_STRVAL_P(v), Z_STRLEN_P(v), &err);
    else
        answer = call_other(execute_data, op, v, &err);
    if (UNEXPECTED(answer < 0)) {
        php_bf_raise(&err);
        RETURN_THROWS();
    }
    if (op == COUNT_OF) RETURN_LONG(answer);
    RETURN_BOOL(answer);
}

PHP_METHOD(BloomFilter, add) { call_one(INTERNAL_FUNCTION_PARAM_PASSTHRU, ADD); }
PHP_METHOD(BloomFilter, exists) { call_one(INTERNAL_FUNCTION_PARAM_PASSTHRU, TEST); }
PHP_METHOD(CountingBloomFilter, remove) { call_one(INTERNAL_FUNCTION_PARAM_PASSTHRU, REMOVE); }
PHP_METHOD(CountingBloomFilter, countOf) { call_one(INTERNAL_FUNCTION_PARAM_PASSTHRU, COUNT_OF); }

static void return_positions(zval *return_value, bf_filter *f, const bf_key *key)
{
    bf_info info;
    bf_error err;
    bf_get_info(f, &info);
    size_t room = info.k; /* a part may have a larger k */
    uint64_t *pos = safe_emalloc(room, sizeof *pos, 0);
    int64_t n;
    while ((n = bf_hashcode(f, key->ptr, key->len, pos, room, &err)) > (int64_t)room)
        pos = safe_erealloc(pos, room = (size_t)n, sizeof *pos, 0);
    if (n < 0)
        php_bf_raise(&err);
    else {
        array_init_size(return_value, (uint32_t)n);
        for (int64_t i = 0; i < n; i++) add_next_index_long(return_value, (zend_long)pos[i]);
    }
    efree(pos);
}

PHP_METHOD(BloomFilter, hashcode)
{
    zval *v;
    char text[TEXT_MAX];
    bf_key key;
    zend_string *held;
    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_ZVAL(v)
    ZEND_PARSE_PARAMETERS_END();
    PHP_BF_HOLD();
    if (!single_key(v, &key, text, &held)) RETURN_THROWS();
    bf_filter *f = php_bf_from(self)->f;
    if (f)
        return_positions(return_value, f, &key);
    else
        php_bf_raise_closed();
    if (held) zend_string_release(held);
}

/* ---- batches ---- */
typedef struct {
    zend_object *self; /* the PHP object of the filter */
    many_call *call;
    uint8_t *each;   /* receives the answers of the next flush; NULL: not needed */
    int64_t hits;    /* number of keys that were new, present or removed */
    HashTable *keys; /* the array of keys; NULL: the keys come from an iterator */
    /* addNew: the values of references by their number in `keys`, as they were read */
    HashTable *values;
    zend_ulong done; /* number of keys passed to the core */
    size_t n;        /* number of keys in `key` */
    size_t nheld;    /* number of strings in `held` */
    size_t most;     /* maximum of n */
    bf_key key[BF_BATCH_SIZE_MAX];
    zend_string *held[BF_BATCH_SIZE_MAX];
    char text[BF_BATCH_SIZE_MAX][TEXT_MAX];
} batch;

/* Gives a warning that is due, before a key is read. Returns false with an exception. */
static bool batch_init(batch *b, zend_object *self, many_call *call, uint8_t *each)
{
    if (call == bf_add_many && !php_bf_begin_adds(self)) return false;
    b->self = self;
    b->call = call;
    b->each = each;
    b->hits = 0;
    b->keys = b->values = NULL;
    b->done = 0;
    b->n = b->nheld = 0;
    b->most = bf_batch_size(php_bf_from(self)->f);
    return true;
}

/* Sets $e->index: the key's index in the array (a number or a name), or its number in the iterator.
 */
static ZEND_COLD void set_index(zend_ulong index, zend_string *name)
{
    zval at;
    if (!EG(exception)) return;
    if (name)
        ZVAL_STR_COPY(&at, name);
    else
        ZVAL_LONG(&at, (zend_long)index);
    zend_string *property = zend_string_init("index", strlen("index"), 0);
    zend_hash_update(zend_std_get_properties(EG(exception)), property, &at);
    zend_string_release(property);
}

/* Throws an exception about the key at this index. type: a TypeError, else a ValueError. */
static ZEND_COLD void raise_at(bool type, const char *what, zend_ulong index, zend_string *name)
{
    char number[32];
    snprintf(number, sizeof number, ZEND_LONG_FMT, (zend_long)index);
    const char *quote = name ? "\"" : "", *place = name ? ZSTR_VAL(name) : number;
    if (type)
        zend_argument_type_error(1, "%s given at index %s%s%s", what, quote, place, quote);
    else
        zend_value_error("%s, given at index %s%s%s", what, quote, place, quote);
    set_index(index, name);
}

/* Throws the core's error about one key, with the key's index. */
static ZEND_COLD void raise_refused(const batch *b, const bf_error *err)
{
    zend_ulong nth = b->done + err->key, index = nth;
    zend_string *name = NULL;
    if (b->keys) {
        HashPosition at = 0;
        zend_hash_internal_pointer_reset_ex(b->keys, &at);
        while (nth--) zend_hash_move_forward_ex(b->keys, &at);
        zend_hash_get_current_key_ex(b->keys, &name, &index, &at);
    }
    if (err->code != BF_EFULL) {
        raise_at(false, err->msg, index, name);
        return;
    }
    php_bf_raise(err);
    set_index(index, name);
}

/* Passes the gathered keys to the core, also after an exception that was thrown between two keys.
 * Returns false with an exception. */
static bool flush(batch *b)
{
    zend_object *standing = php_bf_ends(EG(exception)) ? NULL : php_bf_set_aside();
    bf_error err;
    bf_filter *f = php_bf_from(b->self)->f;
    int64_t hits = b->n == 0 ? 0 : f ? b->call(f, b->key, b->n, b->each, &err) : BF_EHOST;
    if (hits >= 0)
        b->hits += hits;
    else if (f && err.key != BF_NO_KEY && !EG(exception))
        raise_refused(b, &err);
    else if (f)
        php_bf_raise(&err);
    else
        php_bf_raise_closed();
    b->done += b->n;
    if (b->each) b->each += b->n;
    while (b->nheld) zend_string_release(b->held[--b->nheld]);
    b->n = 0;
    php_bf_put_back(standing);
    return hits >= 0;
}

/* Gathers a key and holds a reference to its string. A key of a wrong type is reported under this
 * index, after the keys before it were added. Returns false with an exception. */
static zend_never_inline bool take(batch *b, zval *given, zend_ulong index, zend_string *name)
{
    zval v; /* a copy: __toString() may change a reference, or the iterator's array */
    ZVAL_COPY_DEREF(&v, given);
    const bool good = read_key(&v, &b->key[b->n], b->text[b->n], &b->held[b->nheld]);
    if (!good && !EG(exception)) {
        char what[160];
        snprintf(what, sizeof what, "must hold keys of type string, int or Stringable, %s",
            php_bf_type_name(&v));
        raise_at(true, what, index, name);
    }
    if (good) {
        if (b->values && Z_ISREF_P(given)) {
            Z_TRY_ADDREF(v);
            zend_hash_index_add_new(b->values, b->done + b->n, &v);
        }
        if (b->held[b->nheld]) b->nheld++;
        b->n++;
    }
    zval_ptr_dtor(&v); /* may run a destructor */
    const bool threw = EG(exception) != NULL;
    return (b->n < b->most && !threw) || (flush(b) && !threw);
}

/* The strings of an array are scattered over the heap. Prefetches the header of the string that is
 * AHEAD elements later, and the remaining bytes of the present string, which the core will hash.
 * If the later value is not a string, the prefetch does no harm. */
static zend_always_inline void prefetch(const HashTable *keys, const zval *v)
{
#if PHP_VERSION_ID >= 80200
    const zval *ahead = (const zval *)((const char *)v + AHEAD * ZEND_HASH_ELEMENT_SIZE(keys));
    const zval *end = ZEND_HASH_ELEMENT(keys, keys->nNumUsed);
#else
    const zval *ahead = &((const Bucket *)v + AHEAD)->val, *end = &keys->arData[keys->nNumUsed].val;
#endif
    if (ahead < end) __builtin_prefetch(Z_STR_P(ahead));
    /* the bytes of a string begin at offset 24, so byte 40 is in the next line */
    __builtin_prefetch(Z_STRVAL_P(v) + 40);
    __builtin_prefetch(Z_STRVAL_P(v) + Z_STRLEN_P(v));
}

/* No other code can change or free the array during this call. So strings of the array need no
 * references. */
static bool take_array(batch *b, HashTable *keys)
{
    zend_ulong index;
    zend_string *name;
    zval *v;
    b->keys = keys;
    ZEND_HASH_FOREACH_KEY_VAL(keys, index, name, v)
    {
        if (EXPECTED(Z_TYPE_P(v) == IS_STRING)) {
            prefetch(keys, v);
            b->key[b->n++] = (bf_key){ Z_STRVAL_P(v), Z_STRLEN_P(v) };
            if (b->n == b->most && UNEXPECTED(!flush(b))) return false;
        } else if (!take(b, v, index, name))
            return false;
    }
    ZEND_HASH_FOREACH_END();
    return flush(b);
}

static int take_current(zend_object_iterator *iter, void *arg)
{
    batch *b = arg;
    zval *v = iter->funcs->get_current_data(iter);
    if (UNEXPECTED(!v || EG(exception) || !take(b, v, b->done + b->n, NULL)))
        return ZEND_HASH_APPLY_STOP;
    return ZEND_HASH_APPLY_KEEP;
}

static bool take_all(batch *b, zval *keys)
{
    if (Z_TYPE_P(keys) == IS_ARRAY) return take_array(b, Z_ARRVAL_P(keys));
    spl_iterator_apply(keys, take_current, b);
    return flush(b) && !EG(exception); /* adds the keys before an exception */
}

static void call_many(INTERNAL_FUNCTION_PARAMETERS, many_call *call)
{
    zval *keys;
    batch b;
    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_ITERABLE(keys)
    ZEND_PARSE_PARAMETERS_END();
    PHP_BF_THIS(opened);
    (void)opened; /* checked only */
    if (!batch_init(&b, self, call, NULL) || !take_all(&b, keys)) RETURN_THROWS();
    RETVAL_LONG(b.hits);
}

PHP_METHOD(BloomFilter, addMany) { call_many(INTERNAL_FUNCTION_PARAM_PASSTHRU, bf_add_many); }
PHP_METHOD(CountingBloomFilter, removeMany)
{
    call_many(INTERNAL_FUNCTION_PARAM_PASSTHRU, bf_remove_many);
}

/* Adds the keys to `fresh`, a filter in memory that no other code can use, then completes the
 * rebuild of `self`. If a generator closes `self`, the error is thrown after the last key. */
static bool rebuild(zend_object *self, zend_object *fresh, zval *keys, int64_t *hits)
{
    batch b;
    bf_error err;
    if (bf_add_many(php_bf_from(fresh)->f, NULL, 0, NULL, &err) < 0) { /* it takes hashes */
        php_bf_raise(&err);
        return false;
    }
    if (!batch_init(&b, fresh, bf_add_many, NULL) || !take_all(&b, keys)) return false;
    *hits = b.hits;
    if (!php_bf_from(self)->f)
        php_bf_raise_closed();
    else if (bf_rebuild_end(php_bf_from(self)->f, php_bf_from(fresh)->f, &err) < 0)
        php_bf_raise(&err);
    php_bf_rethrow_bailout();
    return !EG(exception);
}

PHP_METHOD(BloomFilter, rebuild)
{
    zval *keys;
    bf_error err;
    int64_t hits;
    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_ITERABLE(keys)
    ZEND_PARSE_PARAMETERS_END();
    PHP_BF_THIS(f);
    php_bf_handle *empty = php_bf_hold(bf_rebuild_begin(f, &err), &err);
    if (!empty) {
        php_bf_raise(&err);
        RETURN_THROWS();
    }
    zend_object *fresh = php_bf_create(php_bf_ce);
    php_bf_init_object(fresh, empty);
    php_bf_from(fresh)->callback = php_bf_callback_share(php_bf_from(self)->callback);
    /* freeing `fresh` cancels a rebuild that was not completed */
    php_bf_from(fresh)->rebuilt = php_bf_from(self)->handle;
    php_bf_from(fresh)->rebuilt->refs++;
    if (rebuild(self, fresh, keys, &hits)) {
        php_bf_from(self)->created = false;
        RETVAL_LONG(hits);
    }
    OBJ_RELEASE(fresh);
}

/* ---- batches that return an array ---- */
static void return_list(zval *return_value, const uint8_t *each, uint32_t n)
{
    zval answer = { 0 }; /* a bool has only a type, but the macro below copies the value as well */
    array_init_size(return_value, n);
    zend_hash_real_init_packed(Z_ARRVAL_P(return_value));
    ZEND_HASH_FILL_PACKED(Z_ARRVAL_P(return_value))
    {
        for (uint32_t i = 0; i < n; i++) {
            ZVAL_BOOL(&answer, each[i]);
            ZEND_HASH_FILL_ADD(&answer);
        }
    }
    ZEND_HASH_FILL_END();
}

/* Returns the answer for each key under the key's index, or with `add` only the keys that were new.
 */
static void return_answers(zval *return_value, const batch *b, const uint8_t *each, bool add)
{
    zend_ulong index, nth = 0;
    zend_string *name;
    zval *v, answer;
    const uint32_t n = zend_hash_num_elements(b->keys);
    if (!add && HT_IS_PACKED(b->keys) && HT_IS_WITHOUT_HOLES(b->keys)) {
        return_list(return_value, each, n);
        return;
    }
    array_init_size(return_value, add ? (uint32_t)b->hits : n);
    ZEND_HASH_FOREACH_KEY_VAL(b->keys, index, name, v)
    {
        const bool hit = each[nth++];
        if (add && !hit) continue;
        if (add)
            ZVAL_COPY(&answer, Z_ISREF_P(v) ? zend_hash_index_find(b->values, nth - 1) : v);
        else
            ZVAL_BOOL(&answer, hit);
        if (name)
            zend_hash_add_new(Z_ARRVAL_P(return_value), name, &answer);
        else
            zend_hash_index_add_new(Z_ARRVAL_P(return_value), index, &answer);
    }
    ZEND_HASH_FOREACH_END();
}

static void call_each(INTERNAL_FUNCTION_PARAMETERS, bool add)
{
    HashTable *keys;
    batch b;
    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_ARRAY_HT(keys)
    ZEND_PARSE_PARAMETERS_END();
    PHP_BF_THIS(opened);
    (void)opened; /* checked only */
    uint8_t *each = safe_emalloc(zend_hash_num_elements(keys), 1, 1);
    if (batch_init(&b, self, add ? bf_add_many : bf_test_many, each)) {
        if (add) b.values = zend_new_array(0);
        if (take_array(&b, keys)) return_answers(return_value, &b, each, add);
        if (add) zend_array_release(b.values);
    }
    efree(each);
}

PHP_METHOD(BloomFilter, existMany) { call_each(INTERNAL_FUNCTION_PARAM_PASSTHRU, false); }
PHP_METHOD(BloomFilter, addNew) { call_each(INTERNAL_FUNCTION_PARAM_PASSTHRU, true); }

/* ---- hashes: 8 bytes each, little-endian ---- */
static void call_hashes(INTERNAL_FUNCTION_PARAMETERS, bool add)
{
    zend_string *given;
    bf_error err;
    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_STR(given)
    ZEND_PARSE_PARAMETERS_END();
    PHP_BF_THIS(opened);
    (void)opened; /* a warning may run code that closes the filter */
    const size_t n = ZSTR_LEN(given) / sizeof(uint64_t);
    if (ZSTR_LEN(given) % sizeof(uint64_t)) {
        zend_argument_value_error(
            1, "must hold 8 bytes per hash, %zu bytes given", ZSTR_LEN(given));
        RETURN_THROWS();
    }
    if (add && !php_bf_begin_adds(self)) RETURN_THROWS();
    bf_filter *f = php_bf_from(self)->f;
    if (!f) {
        php_bf_raise_closed();
        RETURN_THROWS();
    }
    uint64_t *hash = safe_emalloc(n, sizeof *hash + 1, 1);
    uint8_t *each = (uint8_t *)(hash + n);
    memcpy(hash, ZSTR_VAL(given), ZSTR_LEN(given));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    for (size_t i = 0; i < n; i++) hash[i] = __builtin_bswap64(hash[i]);
#endif
    const int64_t hits = (add ? bf_add_hashes : bf_test_hashes)(f, hash, n, each, &err);
    if (hits < 0) {
        php_bf_raise(&err);
        if (err.key != BF_NO_KEY) set_index(err.key, NULL);
    } else if (add)
        RETVAL_LONG(hits);
    else
        return_list(return_value, each, (uint32_t)n);
    efree(hash);
}

PHP_METHOD(BloomFilter, addHashes) { call_hashes(INTERNAL_FUNCTION_PARAM_PASSTHRU, true); }
PHP_METHOD(BloomFilter, existHashes) { call_hashes(INTERNAL_FUNCTION_PARAM_PASSTHRU, false); }
