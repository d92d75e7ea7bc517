/* php_bytes.c - filters as bytes, as base64, in files and streams, and as serialized PHP values. */
#include "php_bloomfilter.h"
#include "ext/json/php_json.h"
#include "ext/standard/base64.h"
#include "zend_exceptions.h"
#include <errno.h>

static zval *find(HashTable *data, const char *name, int type)
{
    zval *v = zend_hash_str_find_deref(data, name, strlen(name));
    return v && Z_TYPE_P(v) == type ? v : NULL;
}

/* format: the name of another system's format; NULL: our format. Returns NULL with an exception. */
static zend_string *to_bytes(bf_filter *f, const char *format)
{
    bf_error err;
    int64_t rc = bf_bytes_as(f, format, &err);
    zend_string *bytes = rc < 0 ? NULL : zend_string_alloc((size_t)rc, 0);
    if (bytes) rc = bf_to_bytes_as(f, format, ZSTR_VAL(bytes), ZSTR_LEN(bytes), &err);
    if (rc < 0) {
        if (bytes) zend_string_efree(bytes);
        php_bf_raise(&err);
        return NULL;
    }
    ZSTR_VAL(bytes)[ZSTR_LEN(bytes)] = '\0';
    return bytes;
}

PHP_METHOD(BloomFilter, toBytes)
{
    zend_string *format = NULL;
    PHP_BF_HOLD();
    ZEND_PARSE_PARAMETERS_START(0, 1)
    Z_PARAM_OPTIONAL
    Z_PARAM_PATH_STR_OR_NULL(format)
    ZEND_PARSE_PARAMETERS_END();
    PHP_BF_OPEN(f);
    zend_string *bytes = to_bytes(f, format ? ZSTR_VAL(format) : NULL);
    if (bytes) RETURN_NEW_STR(bytes);
}

static zend_string *to_base64(bf_filter *f)
{
    zend_string *bytes = to_bytes(f, NULL), *base64 = NULL;
    if (!bytes) return NULL;
    base64 = php_base64_encode((const unsigned char *)ZSTR_VAL(bytes), ZSTR_LEN(bytes));
    zend_string_release(bytes);
    return base64;
}

PHP_METHOD(BloomFilter, toBase64)
{
    ZEND_PARSE_PARAMETERS_NONE();
    PHP_BF_THIS(f);
    zend_string *base64 = to_base64(f);
    if (base64) RETURN_STR(base64);
}

zend_string *php_bf_decode(const zend_string *base64)
{
    const unsigned char *text = (const unsigned char *)ZSTR_VAL(base64);
    zend_string *bytes = php_base64_decode_ex(text, ZSTR_LEN(base64), true);
    if (!bytes) zend_throw_exception(php_bf_exception_ce, "the text is not base64", BF_EFORMAT);
    return bytes;
}

zend_string *php_bf_decode_json(HashTable *data, const zend_string *text)
{
    zval decoded;
    ZVAL_UNDEF(&decoded);
    if (text && php_json_decode_ex(&decoded, ZSTR_VAL(text), ZSTR_LEN(text),
                    PHP_JSON_OBJECT_AS_ARRAY | PHP_JSON_THROW_ON_ERROR,
                    PHP_JSON_PARSER_DEFAULT_DEPTH) != SUCCESS)
        zend_throw_exception(php_bf_exception_ce, "the text is not JSON", BF_EFORMAT);
    else if (text)
        data = Z_TYPE(decoded) == IS_ARRAY ? Z_ARRVAL(decoded) : NULL;
    const zval *base64 = data ? find(data, "bloomfilter", IS_STRING) : NULL;
    zend_string *bytes = base64 ? php_bf_decode(Z_STR_P(base64)) : NULL;
    if (!base64 && !EG(exception))
        zend_throw_exception(php_bf_exception_ce,
            "the JSON is not a filter: it has no text bloomfilter", BF_EFORMAT);
    zval_ptr_dtor(&decoded);
    return bytes;
}

PHP_METHOD(BloomFilter, jsonSerialize)
{
    bf_info info;
    zend_string *base64;
    ZEND_PARSE_PARAMETERS_NONE();
    PHP_BF_THIS(f);
    bf_get_info(f, &info);
    if (info.keyed && strcmp(info.scheme, "functions"))
        zend_throw_exception(php_bf_exception_ce,
            "a keyed filter cannot be encoded as JSON, its secret is never stored: use toBase64() "
            "and fromBase64(secret: ...)",
            BF_ENOTSUP);
    else if (strcmp(info.home, "memory"))
        zend_throw_exception(php_bf_exception_ce,
            "a filter in a file or in Redis cannot be encoded as JSON: encode a copy in memory, "
            "json_encode(clone $filter)",
            BF_ENOTSUP);
    else if ((base64 = to_base64(f))) {
        array_init(return_value);
        add_assoc_str(return_value, "bloomfilter", base64);
    }
}

/* ---- files and streams ---- */
/* Flags of a stream in use: PHP shows no notices, because a fault becomes our exception; and PHP
 * code of the stream cannot close it. */
#define WHILE_OURS (PHP_STREAM_FLAG_SUPPRESS_ERRORS | PHP_STREAM_FLAG_NO_FCLOSE)
uint32_t php_bf_borrow_stream(php_stream *stream)
{
    const uint32_t flags = stream->flags;
    stream->flags |= WHILE_OURS;
    return flags;
}

void php_bf_return_stream(php_stream *stream, uint32_t flags)
{
    stream->flags = (stream->flags & ~WHILE_OURS) | (flags & WHILE_OURS);
}

/* Opens a stream by its URL; turns PHP's warning into an exception. If url is the path of a file,
 * opens nothing and sets *path to the path without file://; else sets *path to NULL. */
static php_stream *open_stream(const char *url, bool write, const char **path)
{
    zend_error_handling saved;
    php_stream *stream = NULL;
    const char *mode = write ? "wb" : "rb";
    zend_replace_error_handling(EH_THROW, php_bf_exception_ce, &saved);
    const php_stream_wrapper *wrapper = php_stream_locate_url_wrapper(url, path, 0);
    if (wrapper != &php_plain_files_wrapper) *path = NULL;
    if (EG(exception)) *path = NULL; /* the wrapper does not exist */
    /* the code of a user's wrapper may cause warnings, and errno after it is not ours */
    const bool users = wrapper && !strcmp(wrapper->wops->label, "user-space");
    errno = 0;
    if (!users && !*path && !EG(exception))
        stream = php_stream_open_wrapper(url, mode, REPORT_ERRORS, NULL);
    const bool missing = !users && errno == ENOENT;
    zend_restore_error_handling(&saved);
    if (users) stream = php_stream_open_wrapper(url, mode, 0, NULL);
    if (*path || (stream && !EG(exception))) return stream;
    if (stream) php_stream_close(stream);
    const bool ours = !EG(exception) || EG(exception)->ce == php_bf_exception_ce;
    if (ours && (missing || !EG(exception))) { /* some wrappers report no reason */
        php_bf_drop_exception();
        zend_throw_exception_ex(php_bf_exception_ce, missing && !write ? BF_ENOENT : BF_EIO,
            "cannot open %s%s", url, missing ? ": No such file or directory" : "");
    } else if (ours)
        zend_update_property_long(zend_ce_exception, EG(exception), ZEND_STRL("code"), BF_EIO);
    return NULL;
}

bool php_bf_find_place(php_bf_place *place, zval *at, bool write)
{
    const char *path;
    *place = (php_bf_place){ .opened = Z_TYPE_P(at) != IS_RESOURCE };
    if (!place->opened)
        php_stream_from_zval_no_verify(place->stream, at);
    else if (Z_TYPE_P(at) != IS_STRING)
        zend_argument_type_error(
            1, "must be a path or an open stream, %s given", php_bf_type_name(at));
    else if (strlen(Z_STRVAL_P(at)) != Z_STRLEN_P(at))
        zend_argument_value_error(1, "must not contain any null bytes");
    else if (bf_is_url(Z_STRVAL_P(at)))
        place->path = php_bf_storage(Z_STR_P(at));
    else if (!(place->stream = open_stream(Z_STRVAL_P(at), write, &path)) && path)
        place->path = path == Z_STRVAL_P(at) ? php_bf_storage(Z_STR_P(at)) : php_bf_path(path);
    if (!place->stream) return place->path != NULL;
    place->flags = php_bf_borrow_stream(place->stream);
    return true;
}

/* Returns 0, or another value if the stream cannot be closed. */
int php_bf_leave_place(const php_bf_place *place)
{
    if (place->path) efree(place->path);
    if (!place->stream) return 0;
    php_bf_return_stream(place->stream, place->flags);
    return place->opened ? php_stream_close(place->stream) : 0;
}

/* Returns false for a wrapper of the user without stream_flush, which stores in stream_write: PHP
 * reports that its flush fails, since PHP 8.6 also when it is closed. */
static bool has_flush(const php_stream *stream)
{
    const zval *user = &stream->wrapperdata;
    return Z_TYPE_P(user) != IS_OBJECT ||
           zend_hash_str_exists(&Z_OBJCE_P(user)->function_table, ZEND_STRL("stream_flush"));
}

/* Returns what the image needs, or less at the end of the stream. From a stream of a path, which
 * must hold nothing else, returns also the byte that follows, if there is one. */
zend_string *php_bf_read_stream(const php_bf_place *place)
{
    enum { FIRST = 65536 };
    php_stream *stream = place->stream;
    bool whole = false;
    zend_string *bytes = zend_string_alloc(FIRST, 0);
    size_t len = 0;
    uint64_t wants = bf_image_wants(NULL, 0);
    while (wants) {
        if (len == ZSTR_LEN(bytes)) bytes = zend_string_safe_realloc(bytes, 2, len, 0, false);
        const size_t room = ZSTR_LEN(bytes) - len;
        const ssize_t got = php_stream_read(stream, ZSTR_VAL(bytes) + len, MIN(wants, room));
        if (got <= 0 || EG(exception)) break;
        len += (size_t)got;
        if ((wants -= (uint64_t)got) > 0 || whole) continue;
        wants = bf_image_wants(ZSTR_VAL(bytes), len);
        whole = !wants && place->opened;
        if (whole) wants = 1;
    }
    if (!EG(exception) && (!wants || php_stream_eof(stream))) {
        ZSTR_VAL(bytes)[ZSTR_LEN(bytes) = len] = '\0';
        return bytes;
    }
    if (!EG(exception))
        zend_throw_exception(php_bf_exception_ce, "the stream cannot be read to its end", BF_EIO);
    zend_string_efree(bytes);
    return NULL;
}

PHP_METHOD(BloomFilter, save)
{
    zval *path;
    zend_string *bytes = NULL;
    ssize_t written = 0;
    php_bf_place place;
    bf_error err;
    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_ZVAL(path)
    ZEND_PARSE_PARAMETERS_END();
    PHP_BF_THIS(open);
    if (!php_bf_find_place(&place, path, true)) RETURN_THROWS();
    bf_filter *f = php_bf_from(self)->f; /* opening a stream may close the filter */
    if (f != open)
        php_bf_raise_closed();
    else if (place.path) {
        php_bf_maps_drop_idle();
        if (bf_save(f, place.path, &err) < 0) php_bf_raise(&err);
    } else if ((bytes = to_bytes(f, NULL)))
        written = php_stream_write(place.stream, ZSTR_VAL(bytes), ZSTR_LEN(bytes));
    const bool flushes = bytes && !EG(exception) && has_flush(place.stream),
               flushed = !flushes || php_stream_flush(place.stream) == 0,
               left = php_bf_leave_place(&place) == 0 || !flushes;
    if (bytes && !EG(exception) && (!flushed || !left || written != (ssize_t)ZSTR_LEN(bytes)))
        zend_throw_exception_ex(php_bf_exception_ce, BF_EIO,
            "the stream did not take the filter: %zd of its %zu bytes are written%s",
            written < 0 ? 0 : written, ZSTR_LEN(bytes), flushed ? "" : ", and a flush failed");
    if (bytes) zend_string_release(bytes);
}

/* ---- serialization: ['bytes' => string] or ['storage' => path or URL, 'key' => name in Redis,
 * 'readOnly' => true], with 'overfull' => its text if it was given, and 'members' => properties of
 * a subclass ---- */
static const char *const own[] = { "m", "n", "k", "p", "scheme" };

static void add_members(zval *to, zend_object *object)
{
    zval members;
    ZVAL_ARR(&members, zend_array_dup(zend_std_get_properties(object)));
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        zend_hash_str_del(Z_ARRVAL(members), own[i], strlen(own[i]));
    if (zend_hash_num_elements(Z_ARRVAL(members)))
        add_assoc_zval(to, "members", &members);
    else
        zval_ptr_dtor(&members);
}

/* Returns why this filter cannot be serialized, or NULL. */
static const char *not_serializable(const bf_info *info, bool callback)
{
    if (callback && !strcmp(info->scheme, "functions"))
        return "a filter with hash functions of its own cannot be serialized: use toBytes() and "
               "fromBytes(hashes: ...)";
    if (callback)
        return "a filter with a clock of its own cannot be serialized: use toBytes() and "
               "fromBytes(clock: ...)";
    if (info->keyed)
        return "a keyed filter cannot be serialized, its secret is never stored: use toBytes() and "
               "fromBytes(secret: ...)";
    if (!strcmp(info->home, "memory") || info->storage) return NULL;
    return "a filter on a client object cannot be serialized: use toBytes()";
}

PHP_METHOD(BloomFilter, __serialize)
{
    bf_info info;
    zend_string *bytes;
    ZEND_PARSE_PARAMETERS_NONE();
    PHP_BF_THIS(f);
    bf_get_info(f, &info);
    const char *why = not_serializable(&info, php_bf_from(self)->callback != NULL);
    if (why) {
        zend_throw_exception(php_bf_exception_ce, why, BF_ENOTSUP);
        RETURN_THROWS();
    }
    array_init(return_value);
    if (info.storage) {
        add_assoc_string(return_value, "storage", info.storage);
        if (info.key) add_assoc_string(return_value, "key", info.key);
        if (info.read_only) add_assoc_bool(return_value, "readOnly", true);
    } else if ((bytes = to_bytes(f, NULL)))
        add_assoc_str(return_value, "bytes", bytes);
    else
        RETURN_THROWS();
    if (info.overfull) add_assoc_string(return_value, "overfull", bf_overfull_name(info.overfull));
    add_members(return_value, self);
}

/* Opens the storage of a serialized filter. spec: the parameters that the filter must have. */
static php_bf_handle *reopen(
    const zend_string *storage, const zval *key, bool read_only, bf_spec spec, bf_error *err)
{
    spec.key = key ? Z_STRVAL_P(key) : NULL;
    spec.must_exist = true;
    spec.read_only = read_only;
    err->code = BF_EHOST;
    /* A serialized string may come from an attacker, who must not choose which files and servers
     * are opened, or learn which exist. */
    if (!BF_G(unserialize_storage))
        zend_throw_exception(php_bf_exception_ce,
            "the serialized filter is in a file or in Redis: unserialize() opens those only with "
            "the INI setting bloomfilter.unserialize_storage=1",
            BF_ENOTSUP);
    else if (key && strlen(Z_STRVAL_P(key)) != Z_STRLEN_P(key))
        zend_value_error("a key of a storage must not hold NUL bytes");
    else
        spec.storage = php_bf_storage(storage);
    if (!spec.storage) return NULL;
    php_bf_handle *handle = php_bf_open(&spec, err);
    efree((char *)spec.storage);
    return handle;
}

/* Sets a property with PHP's usual checks. So serialized data cannot overwrite the readonly m, or
 * store a string in an int. */
static void load_member(zend_object *object, zend_string *mangled, zval *v)
{
    const char *of, *name;
    size_t len;
    zend_class_entry *scope = object->ce;
    if (zend_unmangle_property_name_ex(mangled, &of, &name, &len) == FAILURE) return;
    if (of && *of != '*') { /* private: only code of its class may set it */
        zend_string *class_name = zend_string_init(of, strlen(of), 0);
        scope = zend_lookup_class_ex(class_name, NULL, ZEND_FETCH_CLASS_NO_AUTOLOAD);
        zend_string_release(class_name);
        if (!scope || !instanceof_function(object->ce, scope)) return;
    }
    zend_update_property(scope, object, name, len, v);
}

/* Setting a property may run PHP code (a conversion, a hook, __set()), and that code may change
 * the array. So the array is kept alive and each value is copied. */
static void load_members(zend_object *object, HashTable *members)
{
    zend_string *name;
    zval *v, value;
    GC_TRY_ADDREF(members);
    ZEND_HASH_FOREACH_STR_KEY_VAL(members, name, v)
    {
        if (!name) continue;
        ZVAL_COPY_DEREF(&value, v);
        load_member(object, name, &value);
        zval_ptr_dtor(&value);
        if (EG(exception)) break;
    }
    ZEND_HASH_FOREACH_END();
    zend_array_release(members);
}

PHP_METHOD(BloomFilter, __unserialize)
{
    HashTable *data;
    bf_error err;
    php_bf_handle *handle;
    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_ARRAY_HT(data)
    ZEND_PARSE_PARAMETERS_END();
    PHP_BF_HOLD();
    if (!php_bf_is_fresh(self)) RETURN_THROWS();
    zval *bytes = find(data, "bytes", IS_STRING), *storage = find(data, "storage", IS_STRING);
    zval *members = find(data, "members", IS_ARRAY);
    zval *overfull = find(data, "overfull", IS_STRING);
    bf_spec expect = { .counting = php_bf_counts(self->ce) };
    if (overfull && bf_read_overfull(Z_STRVAL_P(overfull), &expect.overfull, &err) < 0) {
        php_bf_raise(&err);
        RETURN_THROWS();
    }
    if (bytes)
        handle =
            php_bf_hold(bf_from_bytes(Z_STRVAL_P(bytes), Z_STRLEN_P(bytes), &expect, &err), &err);
    else if (storage)
        handle = reopen(Z_STR_P(storage), find(data, "key", IS_STRING),
            find(data, "readOnly", IS_TRUE), expect, &err);
    else {
        zend_throw_exception(php_bf_exception_ce,
            "the serialized data is not a filter: it has neither bytes nor storage", BF_EFORMAT);
        RETURN_THROWS();
    }
    if (php_bf_install(self, handle, NULL, &err) && members)
        load_members(self, Z_ARRVAL_P(members));
}
