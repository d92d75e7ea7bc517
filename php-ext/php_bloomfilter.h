/* php_bloomfilter.h - declarations that the files of the PHP extension share.
 * bloomfilter.stub.php is the reference of the methods. */
#ifndef PHP_BLOOMFILTER_H
#define PHP_BLOOMFILTER_H
#include "php.h"
#include "zend_exceptions.h"
#include "bloomfilter_host.h"

/* BF_VERSION in PECL's form; scripts/release writes both. */
#define PHP_BLOOMFILTER_VERSION "1.0.0RC1"

#if PHP_VERSION_ID < 80100
#error "PHP 8.1 or newer is needed"
#endif
#if SIZEOF_ZEND_LONG < 8
#error "a 64-bit PHP is needed: m, n and positions are PHP integers"
#endif

/* PHP callables that the core calls: a clock, or hash functions. An object shares its callables
 * with its clones. */
typedef struct {
    zval closures; /* an array of Closures: the clock, or the hash functions */
    zend_fcall_info_cache caches[BF_FUNCTIONS_MAX]; /* valid while closures is not freed */
    bf_functions functions;                         /* count is 0 for a clock */
    uint32_t refs;
} php_bf_callback;
typedef struct php_bf_client php_bf_client; /* php_redis.h: a phpredis object used as a home */

/* An open filter. Several objects may share one that the process keeps open. */
typedef struct {
    bf_filter *f;
    uint64_t used; /* value of BF_G(openings) at the last use by a constructor */
    uint32_t refs; /* reference count: objects, and the table BF_G(maps) */
    bool kept;     /* was open already when a constructor last used this handle */
    /* the client that f uses, or NULL; a handle with a client is not in the table */
    php_bf_client *client;
} php_bf_handle;

typedef struct {
    bf_filter *f;          /* handle->f; NULL: the object is not constructed yet, or is closed */
    php_bf_handle *handle; /* NULL if f is NULL */
    php_bf_callback *callback; /* or NULL */
    bool created;              /* the constructor of this object created the filter */
    /* during a rebuild: the filter whose bits f will replace, with a reference; else NULL */
    php_bf_handle *rebuilt;
    zend_object std;
} php_bf;

ZEND_BEGIN_MODULE_GLOBALS(bloomfilter)
/* filters kept open: name_of(), made of path or URL and options -> php_bf_handle */
HashTable maps;
zend_long max_maps;       /* INI bloomfilter.max_maps                                */
bool warn;                /* INI bloomfilter.warn                                    */
bool unserialize_storage; /* INI bloomfilter.unserialize_storage                     */
HashTable talking;        /* connections in a round trip, see php_client.c */
bool bailed_out;          /* PHP code ended in a fatal error, see php_bf_bail_out */
uint64_t openings;        /* number of uses of maps, to find the least recently used entry */
ZEND_END_MODULE_GLOBALS(bloomfilter)
ZEND_EXTERN_MODULE_GLOBALS(bloomfilter)
#define BF_G(v) ZEND_MODULE_GLOBALS_ACCESSOR(bloomfilter, v)
#if defined(ZTS) && defined(COMPILE_DL_BLOOMFILTER)
ZEND_TSRMLS_CACHE_EXTERN()
#endif

static zend_always_inline php_bf *php_bf_from(zend_object *object)
{
    return (php_bf *)((char *)object - offsetof(php_bf, std));
}

/* ---- PHP code that runs during a call ----
 * A clock, a hash function, a client, a stream, __toString(), a generator or an error handler may
 * close filters, change variables, throw, or end in a fatal error. Three rules hold everywhere:
 *   - What is needed after PHP code has run has a reference: $this by PHP_BF_HOLD, callables by a
 *     Closure, values of references and of iterators by a copy.
 *   - What PHP code can change is read again, for example bf->f.
 *   - PHP code runs in a frame of an internal function: that of a method, or php_bf_operator. If
 * the core has called back, it runs through php_bf_run_php. */
static zend_always_inline bool php_bf_owns_this(const zend_execute_data *execute_data)
{
    return ZEND_CALL_INFO(execute_data) & ZEND_CALL_RELEASE_THIS;
}
static zend_always_inline void php_bf_let_go(zend_object *const *held)
{
    if (UNEXPECTED(*held)) OBJ_RELEASE(*held);
}
/* Begins a method: declares self, which is $this, and lives until the method returns. If PHP calls
 * a method for count() or for a callable, the frame of the call has no reference to $this. */
#define PHP_BF_HOLD()                                                                              \
    zend_object *const self = Z_OBJ_P(ZEND_THIS);                                                  \
    zend_object *const held_ __attribute__((cleanup(php_bf_let_go), unused)) =                     \
        php_bf_owns_this(execute_data) ? NULL : (GC_ADDREF(self), self)
/* Declares `filter`, the filter of self, or throws an exception and returns. */
#define PHP_BF_OPEN(filter)                                                                        \
    bf_filter *const filter = php_bf_from(self)->f;                                                \
    if (UNEXPECTED(!filter)) {                                                                     \
        php_bf_raise_closed();                                                                     \
        RETURN_THROWS();                                                                           \
    } else                                                                                         \
        (void)0
#define PHP_BF_THIS(filter)                                                                        \
    PHP_BF_HOLD();                                                                                 \
    PHP_BF_OPEN(filter)

extern zend_class_entry *php_bf_ce, *php_bf_counting_ce, *php_bf_exception_ce;

/* php_bloomfilter.c: exceptions */
ZEND_COLD void php_bf_raise(const bf_error *err); /* throws the exception for err */
ZEND_COLD void php_bf_raise_closed(void);
/* The core may run PHP code: a clock, hash functions, a client. A fatal error in PHP code is a
 * longjmp, which must not cross the core. So the callback catches the error and sets
 * BF_G(bailed_out), and later callbacks run no PHP code. After the core has returned, the error
 * continues: in php_bf_raise, or in php_bf_rethrow_bailout if the core returned no error. */
ZEND_COLD void php_bf_bail_out(void);
static zend_always_inline void php_bf_rethrow_bailout(void)
{
    if (UNEXPECTED(BF_G(bailed_out))) php_bf_bail_out();
}
/* True if this exception ends the script (exit) or the Fiber. Such an exception must not be
 * replaced, and no user code may run after it. NULL: false. */
static inline bool php_bf_ends(const zend_object *exception)
{
    return exception && (zend_is_unwind_exit(exception) || zend_is_graceful_exit(exception));
}

/* For messages: the class of an object, the type of another value. */
static inline const char *php_bf_type_name(const zval *v)
{
    return Z_TYPE_P(v) == IS_OBJECT ? ZSTR_VAL(Z_OBJCE_P(v)->name) : zend_zval_type_name(v);
}

/* php_names.c: class names with the prefix of the INI file */
bool php_bf_names_valid(void);               /* returns false after it raised a warning */
zend_string *php_bf_name(const char *plain); /* the caller releases it */
zend_class_entry *php_bf_rename_types(zend_class_entry *ce);

/* php_object.c: the object */
void php_bf_init_handlers(void);
zend_object *php_bf_create(zend_class_entry *ce);
/* returns false with an exception if the object was constructed before */
bool php_bf_is_fresh(zend_object *object);
/* sets the readonly properties; the object takes over the caller's reference to handle */
void php_bf_init_object(zend_object *object, php_bf_handle *handle);
void php_bf_close_object(php_bf *bf);
/* Gives handle and callback (or NULL) to a new object; releases both on failure. If handle is
 * NULL, throws *err. Returns false with an exception. */
bool php_bf_install(
    zend_object *object, php_bf_handle *handle, php_bf_callback *callback, const bf_error *err);
/* as php_bf_install, with a new object of class ce in *to */
void php_bf_wrap(zval *to, zend_class_entry *ce, php_bf_handle *handle, php_bf_callback *callback,
    const bf_error *err);

/* php_callback.c */
/* The only way from the core to PHP code. Runs code(context), which may throw. Returns false with
 * an exception, also if one was pending before, and after a fatal error: see php_bf_bail_out. */
bool php_bf_run_php(void (*code)(void *), void *context);
/* A pending exception while other PHP code runs. set_aside returns it and makes it no longer
 * pending. put_back makes it pending again, or the previous exception of a later one. restore makes
 * it pending again and drops a later one, unless the later one ends the script or Fiber. drop drops
 * any pending exception; forget drops one that does not end the script or Fiber, and so does
 * restore(NULL). */
zend_object *php_bf_set_aside(void);
void php_bf_put_back(zend_object *standing); /* accepts NULL */
void php_bf_restore(zend_object *standing);
void php_bf_drop_exception(void);
void php_bf_forget_exception(void);
/* Stores the callables of a constructor in spec and *made (NULL: none were given). clock_at: the
 * number of the argument clock, for messages. Returns false with an exception. _share and _free
 * accept NULL. */
bool php_bf_callback_set(
    bf_spec *spec, zval *clock, uint32_t clock_at, HashTable *functions, php_bf_callback **made);
php_bf_callback *php_bf_callback_share(php_bf_callback *c);
void php_bf_callback_free(php_bf_callback *c);

/* php_sets.c: warnings. php_bf_watch makes the core warn when the filter is overfull.
 * php_bf_begin_adds gives that warning if it is due; it may run code that closes the filter.
 * Returns false with an exception. */
void php_bf_watch(php_bf_handle *handle);
bool php_bf_begin_adds(zend_object *object);
void php_bf_warn_opened(const zval *made); /* does nothing if made is not an object */
static zend_always_inline bool php_bf_counts(const zend_class_entry *ce)
{
    return instanceof_function(ce, php_bf_counting_ce);
}

/* php_persistent.c: files and filters in Redis that stay open between requests */
void php_bf_maps_init(zend_bloomfilter_globals *globals);
void php_bf_maps_free(zend_bloomfilter_globals *globals);
zend_long php_bf_maps_open(void);
void php_bf_maps_drop_idle(void);
/* Opens a filter, or returns one that the process keeps open. NULL: *err has the reason. */
php_bf_handle *php_bf_open(const bf_spec *spec, bf_error *err);
/* Returns a new handle that owns f; NULL if f is NULL (*err is unchanged) or out of memory. */
php_bf_handle *php_bf_hold(bf_filter *f, bf_error *err);
void php_bf_release(php_bf_handle *handle); /* accepts NULL */

/* php_redis.c: phpredis objects */
bool php_bf_is_client(const zend_object *object);
/* php_bf_client_new sets redis_client and key in spec. The caller owns the first reference to
 * the client. Returns NULL with an exception. */
php_bf_client *php_bf_client_new(zend_object *object, bf_spec *spec, zend_string *key);
php_bf_client *php_bf_client_hold(php_bf_client *c);
void php_bf_client_release(php_bf_client *c); /* accepts NULL */
zend_object *php_bf_client_object(const php_bf_client *c);

/* php_bytes.c: PHP code cannot close a stream until it is returned, but it can free the stream by
 * dropping the last reference: the caller has one. borrow returns the flags for the return. */
uint32_t php_bf_borrow_stream(php_stream *stream);
void php_bf_return_stream(php_stream *stream, uint32_t flags);
/* a file or stream that save() writes or load() reads */
typedef struct {
    char *path; /* absolute, or NULL: use stream */
    php_stream *stream;
    uint32_t flags; /* the stream's flags before php_bf_find_place */
    bool opened;    /* true: php_bf_find_place opened the stream; false: the caller's stream */
} php_bf_place;
/* at: the argument, a path or a stream. Returns false with an exception. Otherwise the caller
 * calls php_bf_leave_place. */
bool php_bf_find_place(php_bf_place *place, zval *at, bool write);
int php_bf_leave_place(const php_bf_place *place);
/* Return a string that the caller releases, or NULL with an exception. */
zend_string *php_bf_read_stream(const php_bf_place *place);
zend_string *php_bf_decode(const zend_string *base64);
zend_string *php_bf_decode_json(HashTable *data, const zend_string *text); /* one is NULL */

/* php_spec.c: arguments */
/* Both check open_basedir, and return NULL with an exception; the caller frees the result with
 * efree. php_bf_path returns the absolute path. php_bf_storage returns the absolute path of a
 * path or of file:PATH, or a copy of a URL. */
char *php_bf_path(const char *path);
char *php_bf_storage(const zend_string *storage);
/* Reads a number of seconds or a DateInterval; at: the number of the argument. Returns false with
 * an exception. */
bool php_bf_seconds(zval *v, uint32_t at, double *seconds);
#endif
