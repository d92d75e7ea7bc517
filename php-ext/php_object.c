/* php_object.c - the PHP object: creates, clones and frees it, and reads its properties.
 * m, n, k, p and scheme are ordinary readonly properties that are set once (m again if the filter
 * grows). bitset, grow, window, parts and created have empty slots, because a dump of an object
 * must not contain megabytes; they are read from the core each time. */
#include "php_bloomfilter.h"
#include "zend_exceptions.h"

enum { SLOT_M, SLOT_N, SLOT_K, SLOT_P, SLOT_SCHEME }; /* in the order of the stub */

static zend_object_handlers handlers;
static zend_internal_function operator_function; /* the function of the frames of operators */

/* ---- creating, closing, cloning ---- */
zend_object *php_bf_create(zend_class_entry *ce)
{
    php_bf *bf = zend_object_alloc(sizeof *bf, ce);
    memset(bf, 0, offsetof(php_bf, std));
    zend_object_std_init(&bf->std, ce);
    object_properties_init(&bf->std, ce);
    bf->std.handlers = &handlers;
    return &bf->std;
}

/* Clears f, handle and callback before releasing them, because a destructor of a clock or client
 * may use the object. */
void php_bf_close_object(php_bf *bf)
{
    php_bf_handle *handle = bf->handle;
    php_bf_callback *callback = bf->callback;
    if (bf->rebuilt) { /* the cancellation does nothing after a completed rebuild */
        bf_rebuild_cancel(bf->rebuilt->f, bf->f, NULL);
        php_bf_release(bf->rebuilt);
        bf->rebuilt = NULL;
    }
    bf->f = NULL;
    bf->handle = NULL;
    bf->callback = NULL;
    php_bf_release(handle);
    php_bf_callback_free(callback);
}

static void free_object(zend_object *object)
{
    php_bf_close_object(php_bf_from(object));
    zend_object_std_dtor(object);
}

/* ---- operators: clone, ==, reading a property ----
 * PHP executes them in the frame of the user's function. PHP code of a client or clock would move
 * the opline of that frame when it throws. So an operator begins a frame of its own, and the
 * exception reaches the user's function when the operator ends. */
/* Returns false if an exception is pending: some functions of PHP compare on after one. */
static bool begin_operator(zend_execute_data *frame, zend_object *object)
{
    if (EG(exception)) return false;
    *frame = (zend_execute_data){ .func = (zend_function *)&operator_function,
        .prev_execute_data = EG(current_execute_data) };
    ZVAL_OBJ_COPY(&frame->This, object);
    EG(current_execute_data) = frame;
    return true;
}

static void end_operator(zend_execute_data *frame)
{
    zend_execute_data *const user = frame->prev_execute_data;
    OBJ_RELEASE(Z_OBJ(frame->This));
    EG(current_execute_data) = user;
    php_bf_rethrow_bailout();
    if (EG(exception) && user && user->func && ZEND_USER_CODE(user->func->type))
        zend_rethrow_exception(user);
}

/* Copies the filter from any home to memory. Returns an object even with an exception, as PHP
 * requires. The copy is complete before __clone() runs. */
static zend_object *clone_object(zend_object *object)
{
    zend_object *copy = php_bf_create(object->ce);
    php_bf *bf = php_bf_from(object), *made = php_bf_from(copy);
    zend_execute_data frame;
    bf_error err;
    if (!begin_operator(&frame, object)) return copy;
    if (!bf->f)
        php_bf_raise_closed();
    else if (!(made->handle = php_bf_hold(bf_copy(bf->f, &err), &err)))
        php_bf_raise(&err);
    else {
        made->f = made->handle->f;
        made->callback = php_bf_callback_share(bf->callback);
        zend_objects_clone_members(copy, object);
    }
    end_operator(&frame);
    return copy;
}

/* Called before and after the arguments are read, because reading arguments may run code. Checks f,
 * too, because ArrayObject can unset the readonly m. */
bool php_bf_is_fresh(zend_object *object)
{
    if (!php_bf_from(object)->f && Z_TYPE_P(OBJ_PROP_NUM(object, SLOT_M)) == IS_UNDEF) return true;
    zend_throw_error(NULL, "%s object is already constructed", ZSTR_VAL(object->ce->name));
    return false;
}

/* Returns the empty slot of a property, after freeing a value that reflection may have set. */
static zval *slot(zend_object *object, int number)
{
    zval *v = OBJ_PROP_NUM(object, number);
    zval_ptr_dtor(v);
    Z_PROP_FLAG_P(v) = 0; /* clears the flag "uninitialized" */
    return v;
}

void php_bf_init_object(zend_object *object, php_bf_handle *handle)
{
    bf_info info;
    bf_get_info(handle->f, &info);
    ZVAL_LONG(slot(object, SLOT_M), (zend_long)info.m);
    ZVAL_LONG(slot(object, SLOT_N), (zend_long)info.n);
    ZVAL_LONG(slot(object, SLOT_K), (zend_long)info.k);
    ZVAL_DOUBLE(slot(object, SLOT_P), info.p);
    ZVAL_STRING(slot(object, SLOT_SCHEME), info.scheme);
    php_bf_from(object)->f = handle->f;
    php_bf_from(object)->handle = handle;
    php_bf_from(object)->created = info.created && !handle->kept;
}

bool php_bf_install(
    zend_object *object, php_bf_handle *handle, php_bf_callback *callback, const bf_error *err)
{
    const bool fits = handle && object && php_bf_is_fresh(object);
    if (fits) {
        php_bf_init_object(object, handle);
        php_bf_from(object)->callback = callback;
    } else if (handle)
        php_bf_release(handle);
    else
        php_bf_raise(err);
    if (!fits) php_bf_callback_free(callback);
    php_bf_rethrow_bailout();
    return fits;
}

void php_bf_wrap(zval *to, zend_class_entry *ce, php_bf_handle *handle, php_bf_callback *callback,
    const bf_error *err)
{
    /* object_init_ex throws an exception for an abstract subclass */
    const bool made = handle && object_init_ex(to, ce) == SUCCESS;
    php_bf_install(made ? Z_OBJ_P(to) : NULL, handle, callback, err);
}

/* ---- properties ---- */
/* True if the property is read from the core each time. */
static bool is_live(const zend_string *name)
{
    return zend_string_equals_literal(name, "bitset") || zend_string_equals_literal(name, "grow") ||
           zend_string_equals_literal(name, "window") ||
           zend_string_equals_literal(name, "parts") || zend_string_equals_literal(name, "created");
}

static void read_bitset(zend_object *object, zval *to)
{
    bf_filter *f = php_bf_from(object)->f;
    zend_execute_data frame;
    zend_string *bits = NULL;
    bf_info info;
    bf_part_info first;
    bf_error err;
    ZVAL_UNDEF(to);
    if (!begin_operator(&frame, object)) return;
    int64_t rc = bf_get_part(f, 0, &first, &err); /* updates the number of parts */
    if (rc >= 0) {
        bf_get_info(f, &info);
        bits = zend_string_alloc((size_t)info.bitset_bytes, 0);
        rc = bf_read_bits(f, 0, ZSTR_VAL(bits), ZSTR_LEN(bits), &err);
    }
    if (rc >= 0) {
        ZSTR_VAL(bits)[ZSTR_LEN(bits)] = '\0';
        ZVAL_NEW_STR(to, bits);
    } else {
        if (bits) zend_string_efree(bits);
        php_bf_raise(&err);
    }
    end_operator(&frame);
}

static void read_live(zend_object *object, const zend_string *name, zval *to)
{
    const php_bf *bf = php_bf_from(object);
    bf_info info;
    bf_get_info(bf->f, &info);
    ZVAL_NULL(to);
    if (zend_string_equals_literal(name, "bitset"))
        read_bitset(object, to);
    else if (zend_string_equals_literal(name, "created"))
        ZVAL_BOOL(to, bf->created);
    else if (zend_string_equals_literal(name, "grow") && info.grow != 0)
        ZVAL_DOUBLE(to, info.grow);
    else if (zend_string_equals_literal(name, "window") && info.window != 0)
        ZVAL_DOUBLE(to, info.window);
    else if (zend_string_equals_literal(name, "parts") && info.parts != 0)
        ZVAL_LONG(to, (zend_long)info.parts);
}

/* If name is m or NULL, updates the property m and returns true: PHP must not cache m, because a
 * filter may grow. */
static bool renew_m(zend_object *object, const zend_string *name)
{
    bf_info info;
    bf_filter *f = php_bf_from(object)->f;
    if (name && !zend_string_equals_literal(name, "m")) return false;
    if (f && Z_TYPE_P(OBJ_PROP_NUM(object, SLOT_M)) == IS_LONG) {
        bf_get_info(f, &info);
        ZVAL_LONG(OBJ_PROP_NUM(object, SLOT_M), (zend_long)info.m);
    }
    return true;
}

static ZEND_COLD void refuse_write(zend_object *object, const zend_string *name)
{
    zend_throw_error(NULL, "Cannot modify readonly property %s::$%s", ZSTR_VAL(object->ce->name),
        ZSTR_VAL(name));
}

static zval *read_property(zend_object *object, zend_string *name, int type, void **cache, zval *rv)
{
    if (!is_live(name))
        return zend_std_read_property(object, name, type, renew_m(object, name) ? NULL : cache, rv);
    bf_filter *f = php_bf_from(object)->f;
    ZVAL_UNDEF(rv);
    if (type != BP_VAR_R && type != BP_VAR_IS)
        refuse_write(object, name);
    else if (f)
        read_live(object, name, rv);
    else if (type == BP_VAR_R)
        php_bf_raise_closed();
    return Z_ISUNDEF_P(rv) ? &EG(uninitialized_zval) : rv;
}

static zval *write_property(zend_object *object, zend_string *name, zval *value, void **cache)
{
    if (!is_live(name)) return zend_std_write_property(object, name, value, cache);
    refuse_write(object, name);
    return &EG(error_zval);
}

static zval *property_pointer(zend_object *object, zend_string *name, int type, void **cache)
{
    if (!is_live(name)) return zend_std_get_property_ptr_ptr(object, name, type, cache);
    refuse_write(object, name);
    return &EG(error_zval);
}

static int has_property(zend_object *object, zend_string *name, int how, void **cache)
{
    if (!is_live(name)) return zend_std_has_property(object, name, how, cache);
    if (!php_bf_from(object)->f) return 0;
    if (how == ZEND_PROPERTY_EXISTS ||
        (how != ZEND_PROPERTY_NOT_EMPTY && zend_string_equals_literal(name, "bitset")))
        return 1;
    zval v;
    read_live(object, name, &v);
    int yes =
        !Z_ISUNDEF(v) && (how == ZEND_PROPERTY_NOT_EMPTY ? zend_is_true(&v) : Z_TYPE(v) != IS_NULL);
    zval_ptr_dtor(&v);
    return yes;
}

/* Returns a copy of the properties. Without the copy, var_dump() shows empty slots as
 * "uninitialized". */
static HashTable *debug_info(zend_object *object, int *is_temp)
{
    if (object->ce->__debugInfo) return zend_std_get_debug_info(object, is_temp);
    *is_temp = 1;
    renew_m(object, NULL);
    return zend_array_dup(zend_std_get_properties(object));
}

static HashTable *properties(zend_object *object)
{
    renew_m(object, NULL);
    return zend_std_get_properties(object);
}

/* For `==`: as equals(), but filters of different classes are different. */
static int compare(zval *a, zval *b)
{
    ZEND_COMPARE_OBJECTS_FALLBACK(a, b);
    zend_object *one = Z_OBJ_P(a), *other = Z_OBJ_P(b);
    zend_execute_data frame;
    bf_error err;
    int equal = 0;
    if (one->ce != other->ce || !begin_operator(&frame, one)) return ZEND_UNCOMPARABLE;
    GC_ADDREF(other);
    if (!php_bf_from(one)->f || !php_bf_from(other)->f)
        php_bf_raise_closed();
    else if ((equal = bf_equal(php_bf_from(one)->f, php_bf_from(other)->f, &err)) < 0)
        php_bf_raise(&err);
    OBJ_RELEASE(other);
    end_operator(&frame);
    return equal > 0 ? 0 : ZEND_UNCOMPARABLE;
}

/* Reports the clock, the hash functions and the client, because these may refer to the object. */
static HashTable *get_gc(zend_object *object, zval **table, int *n)
{
    php_bf *bf = php_bf_from(object);
    php_bf_client *client = bf->handle ? bf->handle->client : NULL;
    zend_get_gc_buffer *buffer = zend_get_gc_buffer_create();
    if (client) zend_get_gc_buffer_add_obj(buffer, php_bf_client_object(client));
    if (bf->callback) zend_get_gc_buffer_add_zval(buffer, &bf->callback->closures);
    zend_get_gc_buffer_use(buffer, table, n);
    return zend_std_get_properties(object);
}

void php_bf_init_handlers(void)
{
    operator_function = (zend_internal_function){ .type = ZEND_INTERNAL_FUNCTION,
        .function_name = zend_string_init_interned(ZEND_STRL("{operator}"), true),
        .scope = php_bf_ce };
    memcpy(&handlers, zend_get_std_object_handlers(), sizeof handlers);
    handlers.offset = offsetof(php_bf, std);
    handlers.free_obj = free_object;
    handlers.clone_obj = clone_object;
    handlers.read_property = read_property;
    handlers.write_property = write_property;
    handlers.get_property_ptr_ptr = property_pointer;
    handlers.has_property = has_property;
    handlers.get_properties = properties;
    handlers.get_debug_info = debug_info;
    handlers.get_gc = get_gc;
    handlers.compare = compare;
}
