dnl config.m4 - builds the PHP extension from core/**/*.c and php-ext/*.c: phpize && ./configure && make

dnl After each check autoconf runs `rm -f core ...`, for dumps of a compiler that crashed.  Here core is
dnl a folder, and rm would report it each time.
m4_divert_text([DEFAULTS], [rm ()
{
  for bf_operand
  do
    shift
    test "x$bf_operand" = xcore || set -- "$[@]" "$bf_operand"
  done
  command rm "$[@]"
}
])
PHP_ARG_ENABLE([bloomfilter],
  [whether to enable Bloom filters],
  [AS_HELP_STRING([--enable-bloomfilter], [Enable the class BloomFilter])])

PHP_ARG_WITH([bloomfilter-sodium],
  [whether to use libsodium for keyed filters],
  [AS_HELP_STRING([--without-bloomfilter-sodium],
    [Build without keyed filters (default: with them where libsodium is found)])],
  [auto], [no])

PHP_ARG_WITH([bloomfilter-tls],
  [whether to use OpenSSL for filters in Redis over TLS (rediss://)],
  [AS_HELP_STRING([--without-bloomfilter-tls],
    [Build without filters in Redis over TLS (default: with them where OpenSSL's headers are found)])],
  [auto], [no])

if test "$PHP_BLOOMFILTER" != "no"; then
  dnl ---- PHP's integers: they are m, n and the positions; Zend has 64 bits where these are defined ----
  AC_MSG_CHECKING([for integers of 64 bits])
  AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
    #if !defined(__x86_64__) && !defined(__LP64__) && !defined(_LP64)
    #error
    #endif
  ]])],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([a 64-bit PHP is needed: m, n and positions are PHP integers, and those of this machine end at 2147483647. The Python package and the C library work here])])

  dnl ---- xxHash: its header only, compiled in ----
  PKG_CHECK_MODULES([BF_XXHASH], [libxxhash >= 0.8.0], [], [BF_XXHASH_CFLAGS=])
  bf_old_cppflags=$CPPFLAGS
  CPPFLAGS="$CPPFLAGS $BF_XXHASH_CFLAGS"
  AC_MSG_CHECKING([for xxhash.h with XXH3])
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[
    #define XXH_INLINE_ALL
    #include <xxhash.h>
  ]], [[return (int)XXH3_64bits("", 0)]])],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([xxhash.h 0.8 or newer is missing: install it first (Debian, Ubuntu: apt install libxxhash-dev; Fedora: xxhash-devel; Alpine: xxhash-dev; macOS: brew install xxhash)])])
  CPPFLAGS=$bf_old_cppflags
  PHP_EVAL_INCLINE($BF_XXHASH_CFLAGS)

  dnl ---- libsodium: keyed filters ----
  BF_CFLAGS=
  if test "$PHP_BLOOMFILTER_SODIUM" != "no"; then
    PKG_CHECK_MODULES([BF_SODIUM], [libsodium >= 1.0.9], [
      PHP_EVAL_INCLINE($BF_SODIUM_CFLAGS)
      PHP_EVAL_LIBLINE($BF_SODIUM_LIBS, BLOOMFILTER_SHARED_LIBADD)
      BF_CFLAGS="-DBF_HAVE_SODIUM=1"
    ], [
      if test "$PHP_BLOOMFILTER_SODIUM" = "yes"; then
        AC_MSG_ERROR([libsodium was asked for and is missing: install it first (Debian, Ubuntu: apt install libsodium-dev)])
      fi
      AC_MSG_WARN([libsodium not found: building without keyed filters (secret:). Debian, Ubuntu: apt install libsodium-dev])
    ])
  fi

  dnl ---- OpenSSL: rediss://.  Its headers only, the library is loaded by the first one ----
  if test "$PHP_BLOOMFILTER_TLS" != "no"; then
    PKG_CHECK_MODULES([BF_OPENSSL], [openssl >= 1.1.1], [
      PHP_EVAL_INCLINE($BF_OPENSSL_CFLAGS)
      PHP_ADD_LIBRARY(dl,, BLOOMFILTER_SHARED_LIBADD)
      BF_CFLAGS="$BF_CFLAGS -DBF_HAVE_OPENSSL=1"
    ], [
      if test "$PHP_BLOOMFILTER_TLS" = "yes"; then
        AC_MSG_ERROR([OpenSSL's headers were asked for and are missing: install them first (Debian, Ubuntu: apt install libssl-dev)])
      fi
      AC_MSG_WARN([OpenSSL not found: building without filters in Redis over TLS. Debian, Ubuntu: apt install libssl-dev])
    ])
  fi
  PHP_ADD_LIBRARY(m,, BLOOMFILTER_SHARED_LIBADD)
  PHP_SUBST(BLOOMFILTER_SHARED_LIBADD)

  dnl ---- flags: the core wants -O3; a level the user chose stands ----
  AX_CHECK_COMPILE_FLAG([-fvisibility=hidden], [BF_CFLAGS="$BF_CFLAGS -fvisibility=hidden"])
  AX_CHECK_COMPILE_FLAG([-ffp-contract=off], [BF_CFLAGS="$BF_CFLAGS -ffp-contract=off"])
  AX_CHECK_COMPILE_FLAG([-fno-math-errno], [BF_CFLAGS="$BF_CFLAGS -fno-math-errno"])
  if test -n "$auto_cflags" && test "$PHP_DEBUG" != "1"; then
    BF_CFLAGS="$BF_CFLAGS -O3"
  fi

  dnl ---- every source there is: no list to keep ----
  bf_here=PHP_EXT_SRCDIR(bloomfilter)
  bf_sources=`cd "$bf_here" && echo core/*.c core/*/*.c core/*/*/*.c php-ext/*.c`
  PHP_NEW_EXTENSION([bloomfilter], [$bf_sources], [$ext_shared],, [-I@ext_srcdir@/core -I@ext_srcdir@/php-ext -DZEND_ENABLE_STATIC_TSRMLS_CACHE=1 $BF_CFLAGS])
  for bf_dir in `cd "$bf_here" && find core -type d`; do
    PHP_ADD_BUILD_DIR([$ext_builddir/$bf_dir])
  done
  PHP_ADD_BUILD_DIR([$ext_builddir/php-ext])
  PHP_ADD_EXTENSION_DEP(bloomfilter, spl)
fi
