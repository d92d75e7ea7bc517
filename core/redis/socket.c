/* socket.c - the transport of a URL: one connection of our own, on hiredis, with a deadline for
 * each trip and a new connection after a fault.  Knows sockets, AUTH and SELECT.  A connection that
 * may be out of step (time-out, nonsense, a fault in the middle) is dropped, never read further. */
#include "base/system.h"
#include "parts/filter.h"
#ifdef BF_HAVE_HIREDIS
#include "bits/bits.h"
#include "redis/breaker.h"
#include "redis/transport.h"
#include <errno.h>
#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
    PUSH_FROM = 16 << 10,
    IN_BYTES = 1 << 16,
    HEAD = 64
}; /* HEAD: of a leaf before its text, and CR LF */

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- hiredis parses, these put the leaves into one array ---- */
/* NULL ends the parser: more came than may, or there is no memory for it. */
static void *on_leaf(
    const redisReadTask *task, int type, long long value, const char *text, size_t len)
{
    bf_redis_reply *r = task->privdata;
    bf_reply_leaf(r, type, value, text, len);
    return r->too_much || r->no_memory ? NULL : r;
}
static void *on_text(const redisReadTask *task, char *bytes, size_t len)
{
    return on_leaf(
        task, task->type == REDIS_REPLY_ERROR ? BF_LEAF_ERROR : BF_LEAF_TEXT, 0, bytes, len);
}
static void *on_integer(const redisReadTask *task, long long v)
{
    return on_leaf(task, BF_LEAF_INTEGER, v, NULL, 0);
}
static void *on_nil(const redisReadTask *task) { return on_leaf(task, BF_LEAF_NIL, 0, NULL, 0); }
static void *on_members(const redisReadTask *task, size_t n)
{
    return bf_reply_array(task->privdata, n) ? task->privdata : NULL;
}
#if HIREDIS_MAJOR >= 1
static void *on_array(const redisReadTask *task, size_t n) { return on_members(task, n); }
static void *on_double(const redisReadTask *task, double v, char *text, size_t len)
{
    (void)v;
    return on_leaf(task, BF_LEAF_TEXT, 0, text, len);
}
static void *on_bool(const redisReadTask *task, int v)
{
    return on_leaf(task, BF_LEAF_INTEGER, v, NULL, 0);
}
#else
static void *on_array(const redisReadTask *task, int n) { return on_members(task, (size_t)n); }
#endif
static void on_free(void *r) { (void)r; }
static redisReplyObjectFunctions callbacks = {
    .createString = on_text,
    .createArray = on_array,
    .createInteger = on_integer,
    .createNil = on_nil,
    .freeObject = on_free,
#if HIREDIS_MAJOR >= 1
    .createDouble = on_double,
    .createBool = on_bool,
#endif
};

static bool make_reader(bf_link *l)
{
    redisReader *reader = redisReaderCreateWithFunctions(&callbacks);
    l->in = malloc(IN_BYTES); /* threads may have less than that of stack */
    if (!reader || !l->in) {
        if (reader) redisReaderFree(reader);
        return false;
    }
    reader->privdata = &l->got.all;
    reader->maxbuf = 1 << 20; /* kept from trip to trip */
    l->reader = reader;
    return true;
}

#ifdef BF_HAVE_OPENSSL
#define tls_begin bf_tls_begin
#define tls_in bf_tls_in
#define tls_out bf_tls_out
static void tls_free(bf_link *l)
{
    bf_tls_free(l->tls);
    l->tls = NULL;
}
#else /* tables.c has refused rediss:// */
#define tls_begin(l, err) (-1)
#define tls_in bf_socket_in
#define tls_out bf_socket_out
static void tls_free(bf_link *l) { (void)l; }
#endif

/* ---- life ---- */
static void drop(bf_link *l)
{
    tls_free(l);
    if (l->context) redisFree(l->context);
    if (l->reader) redisReaderFree(l->reader);
    free(l->in);
    l->context = NULL;
    l->reader = NULL;
    l->in = NULL;
}

static void abandon(bf_link *l)
{
    if (l->context) close(l->context->fd);
    l->context = NULL;
    l->reader = NULL;
    l->in = NULL;
    l->tls = NULL;
}

int bf_socket_broken(bf_link *l, int e, bf_error *err)
{
    if (e == EAGAIN) e = ETIMEDOUT;
    l->timed_out = e == ETIMEDOUT;
    bf_link_drop(l);
    return bf_fail_sys(err, e, "get a reply from", l->label);
}

/* ---- connecting ---- */
/* A trip of its own, while the commands of another one wait; it is not sent again. */
static int greet(bf_link *l, bf_error *err)
{
    const bf_redis_url *u = &l->url;
    const bf_link was = *l;
    l->out = NULL;
    l->out_len = l->out_cap = l->commands = 0;
    l->changes = true;
    l->opened = false;
    if (u->pass && u->user)
        bf_link_put(l, "AUTH", u->user, u->pass);
    else if (u->pass)
        bf_link_put(l, "AUTH", u->pass);
    if (u->db) bf_link_say(l, "sn", "SELECT", (uint64_t)u->db);
    const int rc = l->commands ? bf_link_finish(l, err) : 0;
    if (l->out) memset(l->out, 0, l->out_cap); /* the password */
    free(l->out);
    l->out = was.out;
    l->out_len = was.out_len;
    l->out_cap = was.out_cap;
    l->commands = was.commands;
    l->changes = was.changes;
    if (rc < 0) bf_link_drop(l);
    return rc;
}

static void start_trip(bf_link *l)
{
    l->sent = l->pushed > 0;
    l->heard = false;
    l->deadline = now_ms() + (int64_t)(l->url.timeout * 1000);
}

/* Waits for a connect() that goes on by itself, signals or not. */
static int connected(int fd, int64_t until)
{
    struct pollfd p = { .fd = fd, .events = POLLOUT };
    int e = 0, n;
    socklen_t len = sizeof e;
    do {
        int64_t left = until - now_ms();
        n = poll(&p, 1, left > 0 ? (int)left : 0);
    } while (n < 0 && errno == EINTR);
    if (n <= 0) return n < 0 ? errno : ETIMEDOUT;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &e, &len) < 0 ? errno : e;
}

/* A socket that is connected by then, in blocking mode; -1 and errno. */
static int reach(const struct sockaddr *a, socklen_t len, int64_t until)
{
    int yes = 1, e = 0,
        fd = bf_off_standard(socket(a->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (fd < 0) return -1;
    if (connect(fd, a, len) < 0 && (e = errno) && (e == EINPROGRESS || e == EINTR))
        e = connected(fd, until);
    if (e) {
        close(fd);
        errno = e;
        return -1;
    }
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    if (a->sa_family != AF_UNIX) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return fd;
}

static int unreachable(bf_link *l, int e, bf_error *err)
{
    l->timed_out = e == ETIMEDOUT || e == EHOSTUNREACH; /* nothing answers at that address */
    return bf_fail_sys(err, e, "reach", l->label);
}

static int reach_path(bf_link *l, bf_error *err)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    memcpy(a.sun_path, l->url.path, strlen(l->url.path)); /* url.c has seen that it fits */
    int fd = reach((const struct sockaddr *)&a, sizeof a, l->deadline);
    return fd < 0 ? unreachable(l, errno, err) : fd;
}

/* The system's resolver has time-outs of its own, which the trip's deadline does not shorten. */
static int look_up(bf_link *l, struct addrinfo **all, bf_error *err)
{
    const struct addrinfo wanted = { .ai_socktype = SOCK_STREAM };
    char port[12];
    snprintf(port, sizeof port, "%u", l->url.port);
    const int e = getaddrinfo(l->url.host, port, &wanted, all);
    if (e == 0) {
        start_trip(l);
        return 0;
    }
    l->timed_out = e == EAI_AGAIN;
    return bf_fail(err, e == EAI_MEMORY ? BF_ENOMEM : BF_EIO, "cannot reach %s: %.50s", l->label,
        gai_strerror(e));
}

/* A name may have several addresses, of which the first may be dead: each gets its share of the
 * time that is left. */
static int reach_host(bf_link *l, bf_error *err)
{
    struct addrinfo *all;
    int fd = -1, n = 0, e = 0;
    const int rc = look_up(l, &all, err);
    if (rc < 0) return rc;
    for (const struct addrinfo *a = all; a; a = a->ai_next) n++;
    for (const struct addrinfo *a = all; a && fd < 0; a = a->ai_next, n--) {
        const int64_t left = l->deadline - now_ms();
        fd = reach(a->ai_addr, a->ai_addrlen, l->deadline - left + (left > 0 ? left / n : 0));
        if (fd < 0 && !e) e = errno; /* the system puts those first that it can reach at all */
    }
    freeaddrinfo(all);
    return fd < 0 ? unreachable(l, e, err) : fd;
}

static int connect_(bf_link *l, bf_error *err)
{
    const bf_redis_url *u = &l->url;
    struct timeval tv = { (time_t)u->timeout,
        (suseconds_t)((u->timeout - (double)(time_t)u->timeout) * 1e6) };
    start_trip(l);
    const int fd = u->path ? reach_path(l, err) : reach_host(l, err);
    if (fd < 0) return fd;
    if (!(l->context = redisConnectFd(fd))) {
        close(fd);
        return bf_link_no_memory(l, err);
    }
    if (redisSetTimeout(l->context, tv) != REDIS_OK)
        return bf_socket_broken(l, errno ? errno : EIO, err);
    if (!make_reader(l)) return bf_link_no_memory(l, err);
    start_trip(l);
    int rc = u->tls ? tls_begin(l, err) : 0;
    if (rc < 0) {
        bf_link_drop(l);
        return rc;
    }
    l->stands = true;
    l->era++;
    return greet(l, err);
}

/* Did the server close it meanwhile (restart, idle time-out)?  Or is there what no command asked
 * for? */
static bool gone(const bf_link *l)
{
    char c;
    return recv(l->context->fd, &c, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 ||
           (errno != EAGAIN && errno != EINTR);
}

/* More replies came than commands went out. */
static bool left_over(const bf_link *l) { return l->reader->len > l->reader->pos; }

static void probe(bf_link *l)
{
    if (l->context && !l->probed && (left_over(l) || (l->changes && gone(l)))) bf_link_drop(l);
    l->probed = true;
}

static int ready(bf_link *l, bf_error *err)
{
    int rc = 0;
    probe(l);
    if (!l->context) {
        l->fresh = true;
        l->pushed = 0;
        rc = connect_(l, err);
    }
    start_trip(l);
    return rc;
}

static bf_breaker breaker_of(const bf_link *l)
{
    const int64_t timeout = (int64_t)(l->url.timeout * 1000);
    return (bf_breaker){ .server = l->server,
        .retry_after = (int64_t)(l->url.retry_after * 1000),
        .longest_call = 3 * timeout }; /* connecting, AUTH, the commands */
}

/* Asked once per trip, before its first byte. */
static bool is_allowed(bf_link *l, bf_error *err)
{
    const bf_breaker b = breaker_of(l);
    int64_t silent_for;
    l->allowed = l->allowed || bf_breaker_allows(&b, l->context != NULL, &silent_for);
    if (l->allowed) return true;
    l->sent = false;
    l->timed_out = true;
    bf_fail(err, BF_EIO, "cannot reach %s: %s: it did not answer %.1f s ago", l->label,
        strerror(ETIMEDOUT), (double)silent_for / 1000);
    if (err) err->sys_errno = ETIMEDOUT;
    return false;
}

/* ---- out ---- */
/* send() and not hiredis's write(): a closed connection must be an error, not a SIGPIPE. */
static void push(bf_link *l)
{
    if (l->out_len - l->pushed < PUSH_FROM || l->tls) return;
    probe(l);
    if (!l->context || !is_allowed(l, NULL)) return;
    ssize_t c = send(
        l->context->fd, l->out + l->pushed, l->out_len - l->pushed, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (c > 0) l->pushed += (size_t)c; /* a fault comes back at the next send */
}

int bf_socket_out(bf_link *l, const char *bytes, size_t len)
{
    for (size_t done = 0; done < len;) {
        ssize_t c = send(l->context->fd, bytes + done, len - done, MSG_NOSIGNAL);
        if (c < 0 && errno != EINTR) return -1;
        if (c > 0) {
            done += (size_t)c;
            l->sent = true;
        }
        if (done < len && now_ms() > l->deadline) {
            errno = ETIMEDOUT;
            return -1;
        }
    }
    return 0;
}

/* ---- in ---- */
/* The socket's own time-out covers the first read of a trip; what comes in drops after that, or
 * before TLS has a whole record of it, is held to the deadline. */
ssize_t bf_socket_in(bf_link *l, void *bytes, size_t cap)
{
    const bool watched = l->heard || l->tls;
    ssize_t c;
    do {
        if (watched) {
            int64_t left = l->deadline - now_ms();
            struct pollfd p = { .fd = l->context->fd, .events = POLLIN };
            if (left <= 0 || poll(&p, 1, (int)left) == 0) {
                errno = ETIMEDOUT;
                return -1;
            }
        }
        c = recv(l->context->fd, bytes, cap, watched ? MSG_DONTWAIT : 0);
        if (c < 0 && errno == EINTR && now_ms() > l->deadline) errno = ETIMEDOUT;
    } while (c < 0 && (errno == EINTR || (watched && errno == EAGAIN)));
    return c;
}

static int receive(bf_link *l, bf_error *err)
{
    ssize_t c = (l->tls ? tls_in : bf_socket_in)(l, l->in, IN_BYTES);
    if (c <= 0) return bf_socket_broken(l, c < 0 ? errno : ECONNRESET, err);
    l->heard = true;
    return redisReaderFeed(l->reader, l->in, (size_t)c) == REDIS_OK ? 0 : bf_link_no_memory(l, err);
}

static int take(bf_link *l, bf_error *err)
{
    bf_redis_reply *all = &l->got.all;
    all->arrays = 0;
    bf_reply_limit(all, all->n + l->each.leaves, all->used + l->each.bytes);
    for (;;) {
        void *whole = NULL;
        const bool sound = redisReaderGetReply(l->reader, &whole) == REDIS_OK;
        if (all->no_memory) return bf_link_no_memory(l, err);
        if (all->too_much) return bf_link_too_much(l, err);
        if (!sound) return bf_link_nonsense(l, err);
        if (whole) return 0;
        if (l->reader->len - l->reader->pos > l->each.bytes + HEAD) return bf_link_too_much(l, err);
        int rc = receive(l, err);
        if (rc < 0) return rc;
    }
}

/* ---- both ---- */
static int send_and_receive(bf_link *l, bf_error *err)
{
    int rc = ready(l, err);
    if (rc < 0) return rc;
    if ((l->tls ? tls_out : bf_socket_out)(l, l->out + l->pushed, l->out_len - l->pushed) < 0)
        return bf_socket_broken(l, errno, err);
    if (!bf_replies_begin(&l->got, l->commands)) return bf_link_no_memory(l, err);
    for (size_t i = 0; i < l->commands; i++) {
        const size_t from = l->got.all.n;
        if ((rc = take(l, err)) < 0) return rc;
        l->got.window[i] = (bf_redis_window){ from, l->got.all.n - from, true };
    }
    return 0;
}

static int exchange(bf_link *l, bf_error *err)
{
    const bf_breaker b = breaker_of(l);
    if (!is_allowed(l, err)) return err ? err->code : BF_EIO;
    const int rc = send_and_receive(l, err);
    (l->timed_out ? bf_breaker_timed_out : bf_breaker_answered)(&b, !l->fresh);
    return rc;
}

static const bf_transport socket_transport = {
    .push = push, .exchange = exchange, .drop = drop, .abandon = abandon
};

int bf_socket_open(bf_link *l, const bf_spec *spec, bf_error *err)
{
    l->transport = &socket_transport;
    const int rc = bf_redis_url_parse(&l->url, spec->storage, spec->key, err);
    if (rc == 0)
        l->server = bf_breaker_server(l->url.path ? l->url.path : l->url.host, l->url.port);
    return bf_link_ready(l, rc);
}
#else
#include "redis/transport.h"

int bf_socket_open(bf_link *l, const bf_spec *spec, bf_error *err)
{
    (void)l;
    return bf_fail(err, BF_ENOTSUP, "storage %.10s...: this build lacks hiredis", spec->storage);
}
#endif
