/* tls.c - TLS for socket.c, with OpenSSL: handshake, verification of the server, encryption.
 * OpenSSL is loaded only when TLS is used, because loading takes time. OpenSSL does not
 * use the socket: its records are in two memory BIOs, and bf_socket_in and bf_socket_out receive
 * and send them with the deadline of the exchange. */
#include "base/base.h"
#ifdef BF_HAVE_OPENSSL
#include "redis/connection.h"
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECORD = 16 << 10 };

/* ---- loading the library; these functions are the same in OpenSSL 1.1.1 and 3 ---- */
/* clang-format off */
#define FUNCTIONS(F) \
    F(BIO_ctrl_pending) F(BIO_new) F(BIO_read) F(BIO_s_mem) F(BIO_write) F(ERR_clear_error) \
    F(ERR_peek_last_error) F(ERR_reason_error_string) F(SSL_CTX_ctrl) F(SSL_CTX_free) \
    F(SSL_CTX_load_verify_locations) F(SSL_CTX_new) F(SSL_CTX_set_default_verify_paths) \
    F(SSL_CTX_set_verify) F(SSL_CTX_use_PrivateKey_file) F(SSL_CTX_use_certificate_chain_file) \
    F(SSL_connect) F(SSL_ctrl) F(SSL_free) F(SSL_get0_param) F(SSL_get_error) \
    F(SSL_get_verify_result) F(SSL_new) F(SSL_pending) F(SSL_read) F(SSL_set1_host) \
    F(SSL_set_bio) F(SSL_write) F(TLS_client_method) F(X509_VERIFY_PARAM_set1_ip_asc) \
    F(X509_verify_cert_error_string)
/* clang-format on */
#define POINTER(name) __typeof__(&name) name;
static struct {
    FUNCTIONS(POINTER)
} ssl;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static char missing[200];

static void note_missing(void) /* stores the first error of dlopen or dlsym */
{
    const char *why = dlerror();
    if (!*missing) snprintf(missing, sizeof missing, "%s", why ? why : "no reason given");
}

static void load(void)
{
    static const char *const names[] = { "libssl.so.3", "libssl.so.1.1", "libssl.3.dylib" };
    void *lib = NULL;
    for (size_t i = 0; !lib && i < sizeof names / sizeof *names; i++)
        if (!(lib = dlopen(names[i], RTLD_NOW | RTLD_LOCAL))) note_missing();
    if (!lib) return;
    *missing = 0;
#define FIND(name)                                                                                 \
    if (!(ssl.name = (__typeof__(&name))dlsym(lib, #name))) note_missing();
    FUNCTIONS(FIND)
}

struct bf_tls {
    SSL_CTX *ctx;
    SSL *ssl;
    BIO *in, *out;
}; /* SSL_free also frees the BIOs */

void bf_tls_free(bf_tls *t)
{
    if (!t) return;
    if (t->ssl) ssl.SSL_free(t->ssl);
    if (t->ctx) ssl.SSL_CTX_free(t->ctx);
    free(t);
}

/* ---- sending and receiving ---- */
static ssize_t receive_record(bf_socket *s)
{
    char record[RECORD];
    ssize_t n = bf_socket_in(s, record, sizeof record);
    if (n > 0 && ssl.BIO_write(s->tls->in, record, (int)n) != n) {
        errno = ENOMEM;
        return -1;
    }
    return n;
}

static int flush(bf_socket *s)
{
    char record[RECORD];
    int n;
    while ((n = ssl.BIO_read(s->tls->out, record, sizeof record)) > 0)
        if (bf_socket_out(s, record, (size_t)n) < 0) return -1;
    return 0;
}

/* Called after an OpenSSL function returned rc: sends its output, and receives if it needs input.
 * Returns the number of received bytes, 0 if the connection was closed, or -1 and errno. */
static ssize_t resume(bf_socket *s, int rc)
{
    const int e = ssl.SSL_get_error(s->tls->ssl, rc);
    const bool sent = flush(s) == 0; /* after a fault, this sends the alert */
    if (e == SSL_ERROR_WANT_READ) return sent ? receive_record(s) : -1;
    if (e == SSL_ERROR_ZERO_RETURN) return 0;
    errno = EPROTO;
    return -1;
}

ssize_t bf_tls_in(bf_socket *s, void *bytes, size_t cap)
{
    for (;;) {
        ssl.ERR_clear_error();
        int n = ssl.SSL_read(s->tls->ssl, bytes, (int)cap);
        if (n > 0) return n;
        ssize_t more = resume(s, n);
        if (more <= 0) return more;
    }
}

bool bf_tls_has_more(const bf_tls *t)
{
    return ssl.SSL_pending(t->ssl) > 0 || ssl.BIO_ctrl_pending(t->in) > 0;
}

int bf_tls_out(bf_socket *s, const char *bytes, size_t len)
{
    for (size_t done = 0; done < len;) {
        const size_t c = len - done < RECORD ? len - done : RECORD;
        ssl.ERR_clear_error();
        int n = ssl.SSL_write(s->tls->ssl, bytes + done, (int)c);
        if (n > 0) done += (size_t)n;
        if (n > 0 ? flush(s) < 0 : resume(s, n) <= 0) return -1;
    }
    return 0;
}

/* ---- verification: the certificate authorities are the system's, or those in the URL; the
 * certificate must be valid for the name or address in the URL ---- */
static bool fail_tls(bf_socket *s, const char *what, const char *file)
{
    const long verdict = s->tls->ssl ? ssl.SSL_get_verify_result(s->tls->ssl) : X509_V_OK;
    const char *why = verdict != X509_V_OK ? ssl.X509_verify_cert_error_string(verdict)
                                           : ssl.ERR_reason_error_string(ssl.ERR_peek_last_error());
    bf_fail(&s->fault, BF_EIO, "%s: %s%.60s: %.80s", s->label, what, file,
        why ? why : "OpenSSL gives no reason");
    ssl.ERR_clear_error();
    return false;
}

static bool trust(bf_socket *s)
{
    bf_tls *t = s->tls;
    const bf_redis_url *u = s->url;
    if (!(u->ca ? ssl.SSL_CTX_load_verify_locations(t->ctx, u->ca, NULL)
                : ssl.SSL_CTX_set_default_verify_paths(t->ctx)))
        return fail_tls(
            s, "cannot read CA certificates from ", u->ca ? u->ca : "the system's default store");
    if (u->cert && (ssl.SSL_CTX_use_certificate_chain_file(t->ctx, u->cert) != 1 ||
                       ssl.SSL_CTX_use_PrivateKey_file(t->ctx, u->cert, SSL_FILETYPE_PEM) != 1))
        return fail_tls(
            s, "cannot read a certificate and its key (PEM, both in one file) from ", u->cert);
    ssl.SSL_CTX_set_verify(t->ctx, SSL_VERIFY_PEER, NULL);
    ssl.SSL_CTX_ctrl(t->ctx, SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION, NULL);
    return true;
}

/* Sets the name or address for which the certificate must be valid. Returns false: out of
 * memory. */
static bool expect_host(bf_tls *t, const char *host)
{
    struct in6_addr ip;
    if (inet_pton(AF_INET, host, &ip) == 1 || inet_pton(AF_INET6, host, &ip) == 1)
        return ssl.X509_VERIFY_PARAM_set1_ip_asc(ssl.SSL_get0_param(t->ssl), host) == 1;
    ssl.SSL_ctrl(
        t->ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, (void *)(uintptr_t)host);
    return ssl.SSL_set1_host(t->ssl, host) == 1;
}

static bool prepare(bf_socket *s)
{
    bf_tls *t = s->tls;
    if (!(t->ctx = ssl.SSL_CTX_new(ssl.TLS_client_method()))) return bf_socket_no_memory(s);
    if (!trust(s)) return false;
    t->ssl = ssl.SSL_new(t->ctx);
    BIO *in = t->in = ssl.BIO_new(ssl.BIO_s_mem()), *out = t->out = ssl.BIO_new(ssl.BIO_s_mem());
    if (t->ssl && in && out) ssl.SSL_set_bio(t->ssl, in, out);
    return (t->ssl && in && out && expect_host(t, s->url->host)) || bf_socket_no_memory(s);
}

bool bf_tls_begin(bf_socket *s)
{
    pthread_once(&once, load);
    if (*missing) {
        bf_fail(&s->fault, BF_ENOTSUP, "rediss:// needs OpenSSL for TLS: %.120s", missing);
        return false;
    }
    ssl.ERR_clear_error();
    if (!(s->tls = calloc(1, sizeof *s->tls))) return bf_socket_no_memory(s);
    if (!prepare(s)) return false;
    for (int shaken; (shaken = ssl.SSL_connect(s->tls->ssl)) != 1;) {
        const ssize_t more = resume(s, shaken);
        if (more == 0) errno = ECONNRESET;
        if (more <= 0)
            return errno == EPROTO ? fail_tls(s, "no TLS with it", "") : bf_socket_broken(s, errno);
    }
    return flush(s) == 0 || bf_socket_broken(s, errno);
}
#endif
