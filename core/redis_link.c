/* redis_link.c - one connection to Redis: commands out, replies in, a deadline for each trip, a new connection after a fault
 * and in a fork's child.  Knows sockets, AUTH and SELECT; knows nothing of filters.  A connection that may be out of step
 * (time-out, nonsense, a fault in the middle) is dropped, never read further. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "seams.h"
#ifdef BF_HAVE_HIREDIS
#include "bits.h"
#include "redis.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { REPLY_MOST = 64 << 20, PUSH_FROM = 16 << 10, OUT_KEPT = 4 << 20, HANDING_OVER = -1 };

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- life ---- */
/* What messages call it: at most 80 bytes, because bf_fail_sys shows so many. */
void bf_link_label(bf_link *l)
{
    const bf_redis_url *u = &l->url;
    size_t len = strlen(u->key), path = u->path ? strlen(u->path) : 0;
    const char *dots = len > 30 ? ".." : "";
    if (u->path) snprintf(l->label, sizeof l->label, "Redis key %.30s%s at %s%s", u->key, dots, path > 32 ? ".." : "", u->path + (path > 32 ? path - 32 : 0));
    else snprintf(l->label, sizeof l->label, "Redis key %.30s%s at %.26s:%u", u->key, dots, u->host, u->port);
    for (char *p = l->label; *p; p++) if (iscntrl((unsigned char)*p)) *p = '?';
}

int bf_link_init(bf_link *l, const char *storage, const char *key, bf_error *err)
{
    int rc = bf_redis_url_parse(&l->url, storage, key, err);
    if (rc < 0) { bf_redis_url_free(&l->url); return rc; }
    bf_link_label(l);
    pthread_mutex_init(&l->mutex, NULL);
    bf_int_set(&l->pid, (int)getpid());
    return 0;
}

void bf_link_drop(bf_link *l)
{
    if (l->context) redisFree(l->context);
    if (l->reader) redisReaderFree(l->reader);
    l->context = NULL;
    l->reader = NULL;
}

/* A child must not speak on its parent's connection.  What another thread of the parent held at the fork may be half
 * changed: it is left alone, only its socket is closed. */
static void let_go(bf_link *l)
{
    if (pthread_mutex_trylock(&l->mutex) == 0) { bf_link_drop(l); pthread_mutex_unlock(&l->mutex); }
    else {
        if (l->context && l->context->fd >= 0) close(l->context->fd);
        l->context = NULL;
        l->reader = NULL;
        l->reply = (bf_redis_reply){ 0 };
        l->out = NULL;
        l->out_cap = l->out_len = 0;
    }
    pthread_mutex_init(&l->mutex, NULL);
}

static void come_home(bf_link *l)
{
    int me = (int)getpid(), was = bf_int(&l->pid);
    while (was != me) {
        if (was != HANDING_OVER && bf_int_swap(&l->pid, &was, HANDING_OVER)) { let_go(l); bf_int_set(&l->pid, me); }
        was = bf_int(&l->pid);
    }
}

void bf_link_free(bf_link *l)
{
    if (!l->url.key) return;                                /* never begun */
    come_home(l);
    bf_link_drop(l);
    bf_reply_free(&l->reply);
    free(l->out);
    bf_redis_url_free(&l->url);
    pthread_mutex_destroy(&l->mutex);
}

void bf_link_lock(bf_link *l) { come_home(l); pthread_mutex_lock(&l->mutex); }
void bf_link_unlock(bf_link *l) { pthread_mutex_unlock(&l->mutex); }

/* ---- faults ---- */
static int broken(bf_link *l, int e, bf_error *err)
{
    if (e == EAGAIN || e == EWOULDBLOCK) e = ETIMEDOUT;
    l->timed_out = e == ETIMEDOUT;
    bf_link_drop(l);
    return bf_fail_sys(err, e, "get an answer from", l->label);
}

static int no_memory(bf_link *l, bf_error *err)
{
    bf_link_drop(l);
    return bf_fail(err, BF_ENOMEM, "out of memory");
}

int bf_link_refusal(const bf_link *l, bf_error *err)
{
    char text[72];
    if (!bf_reply_error(&l->reply, text, sizeof text)) return 0;
    return bf_fail(err, strncmp(text, "WRONGTYPE", 9) ? BF_EIO : BF_EFORMAT, "%s: %s", l->label, text);
}

/* ---- connecting ---- */
static int greet(bf_link *l, bf_error *err)
{
    size_t n = 0;
    const bf_redis_url *u = &l->url;
    if (u->pass) {
        bf_link_count(l, u->user ? 3 : 2);
        bf_link_word(l, "AUTH");
        if (u->user) bf_link_word(l, u->user);
        bf_link_word(l, u->pass);
        n++;
    }
    if (u->db) { bf_link_count(l, 2); bf_link_word(l, "SELECT"); bf_link_number(l, u->db); n++; }
    if (n == 0) return 0;
    int rc = bf_link_finish(l, n, err);
    if (l->out) memset(l->out, 0, l->out_cap);              /* the password */
    if (rc < 0) bf_link_drop(l);
    return rc;
}

static int unreachable(bf_link *l, redisContext *c, int e, bf_error *err)
{
    int rc = c && c->err == REDIS_ERR_IO && e ? bf_fail_sys(err, e, "reach", l->label)
           : c ? bf_fail(err, BF_EIO, "cannot reach %s: %.50s", l->label, c->errstr) : bf_fail(err, BF_ENOMEM, "out of memory");
    l->timed_out = e == ETIMEDOUT;
    if (c) redisFree(c);
    return rc;
}

static void start_trip(bf_link *l)
{
    l->sent = l->heard = false;
    l->deadline = now_ms() + (int64_t)(l->url.timeout * 1000);
}

static int connect_(bf_link *l, bf_error *err)
{
    const bf_redis_url *u = &l->url;
    struct timeval tv = { (time_t)u->timeout, (suseconds_t)((u->timeout - (double)(time_t)u->timeout) * 1e6) };
    errno = 0;
    redisContext *c = u->path ? redisConnectUnixWithTimeout(u->path, tv) : redisConnectWithTimeout(u->host, (int)u->port, tv);
    if (!c || c->err) return unreachable(l, c, errno, err);
    l->context = c;
    fcntl(c->fd, F_SETFD, FD_CLOEXEC);
    if (redisSetTimeout(c, tv) != REDIS_OK) return broken(l, errno ? errno : EIO, err);
    if (!(l->reader = bf_reply_reader(&l->reply))) return no_memory(l, err);
    start_trip(l);
    return greet(l, err);
}

/* Did the server close it meanwhile (restart, idle time-out)?  Or is there what no command asked for? */
static bool gone(const bf_link *l)
{
    char c;
    return recv(l->context->fd, &c, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

int bf_link_begin(bf_link *l, bool probe, bf_error *err)
{
    l->out_len = 0;
    l->no_memory = l->timed_out = false;
    if (probe && l->context && gone(l)) bf_link_drop(l);
    l->fresh = !l->context;
    int rc = l->fresh ? connect_(l, err) : 0;
    start_trip(l);
    return rc;
}

/* ---- out ---- */
char *bf_link_room(bf_link *l, size_t bytes)
{
    if (bytes > l->out_cap - l->out_len) {
        size_t cap = 2 * l->out_cap + bytes + 1024;
        char *more = realloc(l->out, cap);
        if (!more) { l->no_memory = true; return NULL; }
        l->out = more;
        l->out_cap = cap;
    }
    return l->out + l->out_len;
}

char *bf_redis_digits(char *at, uint64_t v)
{
    char text[20];
    size_t n = 0;
    do text[n++] = (char)('0' + v % 10); while (v /= 10);
    while (n) *at++ = text[--n];
    return at;
}

static void header(bf_link *l, char kind, size_t n)
{
    char *at = bf_link_room(l, 24);
    if (!at) return;
    *at++ = kind;
    at = bf_redis_digits(at, n);
    *at++ = '\r';
    *at++ = '\n';
    l->out_len = (size_t)(at - l->out);
}

void bf_link_count(bf_link *l, size_t args) { header(l, '*', args); }

void bf_link_arg(bf_link *l, const void *bytes, size_t len)
{
    header(l, '$', len);
    char *at = bf_link_room(l, len + 2);
    if (!at) return;
    if (len) memcpy(at, bytes, len);
    memcpy(at + len, "\r\n", 2);
    l->out_len += len + 2;
}

void bf_link_word(bf_link *l, const char *word) { bf_link_arg(l, word, strlen(word)); }

void bf_link_number(bf_link *l, uint64_t v)
{
    char text[24];
    bf_link_arg(l, text, (size_t)(bf_redis_digits(text, v) - text));
}

/* send() and not hiredis's write(): a closed connection must be an error, not a SIGPIPE. */
void bf_link_push(bf_link *l)
{
    if (l->out_len < PUSH_FROM || l->no_memory || !l->context) return;
    ssize_t c = send(l->context->fd, l->out, l->out_len, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (c <= 0) return;                                     /* a fault comes back at the next send */
    l->sent = true;
    l->out_len -= (size_t)c;
    memmove(l->out, l->out + c, l->out_len);
}

int bf_link_send(bf_link *l, bf_error *err)
{
    if (l->no_memory) return no_memory(l, err);
    for (size_t done = 0; done < l->out_len;) {
        ssize_t c = send(l->context->fd, l->out + done, l->out_len - done, MSG_NOSIGNAL);
        if (c < 0 && errno != EINTR) return broken(l, errno, err);
        if (c > 0) { done += (size_t)c; l->sent = true; }
        if (done < l->out_len && now_ms() > l->deadline) return broken(l, ETIMEDOUT, err);
    }
    l->out_len = 0;
    if (l->out_cap > OUT_KEPT) { free(l->out); l->out = NULL; l->out_cap = 0; }
    return 0;
}

/* ---- in ---- */
/* The socket's own time-out covers the first read of a trip; what comes in drops after that is held to the deadline. */
static int receive(bf_link *l, bf_error *err)
{
    char buf[1 << 16];
    ssize_t c;
    do {
        if (l->heard) {
            int64_t left = l->deadline - now_ms();
            struct pollfd p = { .fd = l->context->fd, .events = POLLIN };
            if (left <= 0 || poll(&p, 1, (int)left) == 0) return broken(l, ETIMEDOUT, err);
        }
        c = recv(l->context->fd, buf, sizeof buf, l->heard ? MSG_DONTWAIT : 0);
        if (c < 0 && errno == EINTR && now_ms() > l->deadline) return broken(l, ETIMEDOUT, err);
    } while (c < 0 && (errno == EINTR || (l->heard && errno == EAGAIN)));
    if (c <= 0) return broken(l, c < 0 ? errno : ECONNRESET, err);
    l->heard = true;
    return redisReaderFeed(l->reader, buf, (size_t)c) == REDIS_OK ? 0 : no_memory(l, err);
}

static int nonsense(bf_link *l, bf_error *err)
{
    bf_link_drop(l);
    return bf_fail(err, BF_EIO, "%s: what answers does not speak Redis's protocol", l->label);
}

int bf_link_next(bf_link *l, bf_error *err)
{
    bf_reply_reset(&l->reply);
    for (;;) {
        void *whole = NULL;
        if (redisReaderGetReply(l->reader, &whole) != REDIS_OK) return nonsense(l, err);
        if (l->reply.no_memory) return no_memory(l, err);
        if (whole) return 0;
        if (l->reader->len > REPLY_MOST || l->reply.used > REPLY_MOST) return nonsense(l, err);
        int rc = receive(l, err);
        if (rc < 0) return rc;
    }
}

int bf_link_finish(bf_link *l, size_t n, bf_error *err)
{
    int rc = bf_link_send(l, err), refused = 0;
    for (size_t i = 0; rc == 0 && i < n; i++)
        if ((rc = bf_link_next(l, err)) == 0 && refused == 0) refused = bf_link_refusal(l, err);
    return rc < 0 ? rc : refused;
}
#endif
