/* php_bloomfilter.h - what the files of the PHP extension share: the object, and the way from bf_error to exceptions.
 * Knows PHP and bloomfilter.h; nothing of how the core works.  bloomfilter.stub.php is the reference of the methods. */
#ifndef PHP_BLOOMFILTER_H
#define PHP_BLOOMFILTER_H
#include "php.h"
#include "bloomfilter.h"

#if PHP_VERSION_ID < 80100
# error "PHP 8.1 or newer is needed"
#endif
#if SIZEOF_ZEND_LONG < 8
# error "a 64-bit PHP is needed: m, n and positions are PHP integers"
#endif

typedef struct {
    bf_filter *f;              /* owned; NULL: never constructed, or closed */
    zend_object std;
} php_bf;

static zend_always_inline php_bf *php_bf_from(zend_object *object)
{
    return (php_bf *)((char *)object - offsetof(php_bf, std));
}

/* The first lines of a method: the filter of $this, or an exception. */
#define PHP_BF_THIS(f) \
    PHP_BF_CHECK_THIS(); \
    bf_filter *f = php_bf_from(Z_OBJ_P(ZEND_THIS))->f
#define PHP_BF_CHECK_THIS() \
    if (UNEXPECTED(!php_bf_from(Z_OBJ_P(ZEND_THIS))->f)) { php_bf_raise_closed(); RETURN_THROWS(); } else (void)0

extern zend_class_entry *php_bf_ce, *php_bf_exception_ce;

/* php_bloomfilter.c: errors */
ZEND_COLD void php_bf_raise(const bf_error *err);        /* the only way from bf_error to an exception       */
ZEND_COLD void php_bf_raise_closed(void);

/* php_object.c: the object */
void php_bf_init_handlers(void);
zend_object *php_bf_create(zend_class_entry *ce);
bool php_bf_is_fresh(zend_object *object);               /* false + exception: it is constructed already      */
void php_bf_adopt(zend_object *object, bf_filter *f);    /* takes f over and sets the readonly properties     */
void php_bf_wrap(zval *to, zend_class_entry *ce, bf_filter *f, const bf_error *err);  /* a new object, or *err thrown */

/* php_spec.c: arguments */
char *php_bf_path(const zend_string *path);              /* absolute, efree it; NULL: exception               */
void php_bf_set_secret(bf_spec *spec, const zend_string *secret);  /* secret may be NULL                   */
char *php_bf_storage(const zend_string *storage);        /* the same for a path; a URL is left as it is       */
#endif
