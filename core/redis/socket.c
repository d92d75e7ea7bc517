/* socket.c - the client that a URL uses: one connection, and a deadline for each exchange. Sends
 * AUTH and SELECT on a new connection. After a fault, the next bytes on a connection may be the
 * reply to an earlier command. So the connection is closed; the next exchange opens another. */
#include "base/system.h"
#include "base/os.h"
#include "redis/connection.h"
#include <errno.h>
#include <fcntl.h>
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

enum { IN_BYTES = 1 << 16, GREETING_BYTES = 4096, AHEAD_BYTES = 1 << 14 };

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

#ifndef BF_HAVE_OPENSSL /* tables.c refuses rediss:// in this build */
#define bf_tls_begin(s) false
#define bf_tls_in bf_socket_in
#define bf_tls_out bf_socket_out
#define bf_tls_has_more(t) false
#define bf_tls_free(t) ((void)0)
#endif

/* ---- faults ---- */
void bf_socket_close(bf_socket *s)
{
    bf_tls_free(s->tls);
    s->tls = NULL;
    if (s->fd >= 0) bf_os_socket_close(s->fd);
    s->fd = -1;
    s->ahead = 0;
}

void bf_socket_abandon(bf_socket *s)
{
    s->tls = NULL;
    s->in = NULL;
    bf_socket_close(s);
}

bool bf_socket_broken(bf_socket *s, int e)
{
    if (e == EAGAIN) e = ETIMEDOUT;
    s->timed_out = e == ETIMEDOUT;
    bf_socket_close(s);
    bf_fail_sys(&s->fault, e, "get a reply from", s->label);
    return false;
}

bool bf_socket_no_memory(bf_socket *s)
{
    bf_socket_close(s);
    bf_fail(&s->fault, BF_ENOMEM, "out of memory");
    return false;
}

/* ---- sending and receiving ---- */
static void start_deadline(bf_socket *s)
{
    s->got_bytes = false;
    s->deadline = now_ms() + (int64_t)(s->url->timeout * 1000);
}

/* MSG_NOSIGNAL: a write to a closed connection returns an error and raises no SIGPIPE. */
int bf_socket_out(bf_socket *s, const char *bytes, size_t len)
{
    for (size_t done = 0; done < len;) {
        ssize_t c = send(s->fd, bytes + done, len - done, MSG_NOSIGNAL);
        if (c < 0 && errno != EINTR) return -1;
        if (c > 0) {
            done += (size_t)c;
            s->sent = true;
        }
        if (done < len && now_ms() > s->deadline) {
            errno = ETIMEDOUT;
            return -1;
        }
    }
    return 0;
}

/* Without TLS, the first read of an exchange blocks for at most SO_RCVTIMEO. All later reads,
 * and all reads with TLS, poll until the deadline. */
ssize_t bf_socket_in(bf_socket *s, void *bytes, size_t cap)
{
    const bool watched = s->got_bytes || s->tls;
    ssize_t c;
    do {
        if (watched) {
            int64_t left = s->deadline - now_ms();
            struct pollfd p = { .fd = s->fd, .events = POLLIN };
            if (left <= 0 || poll(&p, 1, (int)left) == 0) {
                errno = ETIMEDOUT;
                return -1;
            }
        }
        c = recv(s->fd, bytes, cap, watched ? MSG_DONTWAIT : 0);
        if (c < 0 && errno == EINTR && now_ms() > s->deadline) errno = ETIMEDOUT;
    } while (c < 0 && (errno == EINTR || (watched && errno == EAGAIN)));
    return c;
}

static bool transmit(bf_socket *s, const char *bytes, size_t len)
{
    return (s->tls ? bf_tls_out : bf_socket_out)(s, bytes, len) == 0 || bf_socket_broken(s, errno);
}

/* Passes received bytes to the sink until the sink has `replies` replies. Returns false on failure;
 * if the sink refused the bytes, s->fault has no code. */
static bool receive(bf_socket *s, bf_reply_sink *sink, size_t replies)
{
    for (int64_t got = 0; got < (int64_t)replies;) {
        ssize_t c = (s->tls ? bf_tls_in : bf_socket_in)(s, s->in, IN_BYTES);
        if (c <= 0) return bf_socket_broken(s, c < 0 ? errno : ECONNRESET);
        s->got_bytes = true;
        if ((got = bf_reply_feed(sink, s->in, (size_t)c)) < 0) return false;
    }
    return true;
}

/* ---- AUTH and SELECT ---- */
static bool send_greeting(bf_socket *s)
{
    const char *user = s->url->user, *pass = s->url->pass ? s->url->pass : "";
    const size_t cap = strlen(pass) + (user ? strlen(user) : 0) + 128;
    char db[16], *text = calloc(cap, 1);
    if (!text) return bf_socket_no_memory(s);
    int len = 0;
    if (user)
        len = snprintf(text, cap, "*3\r\n$4\r\nAUTH\r\n$%zu\r\n%s\r\n$%zu\r\n%s\r\n", strlen(user),
            user, strlen(pass), pass);
    else if (s->url->pass)
        len = snprintf(text, cap, "*2\r\n$4\r\nAUTH\r\n$%zu\r\n%s\r\n", strlen(pass), pass);
    if (s->url->db)
        len += snprintf(text + len, cap - (size_t)len, "*2\r\n$6\r\nSELECT\r\n$%d\r\n%s\r\n",
            snprintf(db, sizeof db, "%u", s->url->db), db);
    const bool sent = transmit(s, text, (size_t)len);
    for (volatile char *p = text; p < text + len; p++) *p = 0; /* wipes the password */
    free(text);
    return sent;
}

static bool greet(bf_socket *s)
{
    const size_t n = (s->url->pass != NULL) + (s->url->db != 0);
    bf_redis_replies got = { 0 };
    bf_reply_sink sink = { 0 };
    char text[72] = "the server does not speak the Redis protocol";
    bool fine = n == 0 || send_greeting(s);
    if (n && fine) {
        if (!bf_sink_begin(&sink, &got, n, n, GREETING_BYTES)) fine = bf_socket_no_memory(s);
        fine = fine && receive(s, &sink, n) && bf_sink_complete(&sink);
        for (size_t i = 0; fine && i < n; i++) {
            const bf_redis_reply reply = bf_replies_next(&got);
            fine = !bf_reply_error(&reply, text, sizeof text);
        }
        if (!fine && !s->fault.code) bf_fail(&s->fault, BF_EIO, "%s: %s", s->label, text);
    }
    if (!fine) bf_socket_close(s);
    bf_replies_free(&got);
    free(sink.rest.at);
    return fine;
}

/* ---- connecting ---- */
static bool fail_unreachable(bf_socket *s, int e)
{
    s->timed_out = e == ETIMEDOUT || e == EHOSTUNREACH; /* there is no reply from that address */
    bf_fail_sys(&s->fault, e, "reach", s->label);
    return false;
}

/* Waits until connect() has finished; returns its errno. */
static int wait_connected(int fd, int64_t until)
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

/* Returns a connected socket in blocking mode, or -1 and errno. */
static int connect_to(const struct sockaddr *a, socklen_t len, int64_t until)
{
    int yes = 1, e = 0, fd = bf_above_stdio(bf_os_socket(a->sa_family));
    if (fd < 0) return -1;
    if (connect(fd, a, len) < 0 && (e = errno) && (e == EINPROGRESS || e == EINTR))
        e = wait_connected(fd, until);
    if (e) {
        bf_os_socket_close(fd);
        errno = e;
        return -1;
    }
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    if (a->sa_family != AF_UNIX) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return fd;
}

static bool connect_to_path(bf_socket *s)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    memcpy(a.sun_path, s->url->path, strlen(s->url->path)); /* url.c has checked the length */
    s->fd = connect_to((const struct sockaddr *)&a, sizeof a, s->deadline);
    return s->fd >= 0 || fail_unreachable(s, errno);
}

/* A name may have several addresses, and the first may not answer. So each address gets an equal
 * share of the remaining time. The resolver has its own timeouts. */
static bool connect_to_host(bf_socket *s)
{
    const struct addrinfo wanted = { .ai_socktype = SOCK_STREAM };
    struct addrinfo *all;
    char port[12];
    int n = 0, e;
    snprintf(port, sizeof port, "%u", s->url->port);
    if ((e = getaddrinfo(s->url->host, port, &wanted, &all))) {
        s->timed_out = e == EAI_AGAIN;
        bf_fail(&s->fault, e == EAI_MEMORY ? BF_ENOMEM : BF_EIO, "cannot reach %s: %.50s", s->label,
            gai_strerror(e));
        return false;
    }
    start_deadline(s);
    for (const struct addrinfo *a = all; a; a = a->ai_next) n++;
    for (const struct addrinfo *a = all; a && s->fd < 0; a = a->ai_next, n--) {
        const int64_t left = s->deadline - now_ms();
        s->fd =
            connect_to(a->ai_addr, a->ai_addrlen, s->deadline - left + (left > 0 ? left / n : 0));
        /* reports the first error, because the resolver returns the best address first */
        if (s->fd < 0 && !e) e = errno;
    }
    freeaddrinfo(all);
    return s->fd >= 0 || fail_unreachable(s, e);
}

static bool connect_(bf_socket *s)
{
    const double timeout = s->url->timeout;
    const struct timeval tv = { (time_t)timeout,
        (suseconds_t)((timeout - (double)(time_t)timeout) * 1e6) };
    s->fresh = true;
    start_deadline(s);
    if (!s->in && !(s->in = malloc(IN_BYTES))) return bf_socket_no_memory(s);
    if (!(s->url->path ? connect_to_path : connect_to_host)(s)) return false;
    if (setsockopt(s->fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv) < 0 ||
        setsockopt(s->fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof tv) < 0)
        return bf_socket_broken(s, errno);
    start_deadline(s);
    if (s->url->tls && !bf_tls_begin(s)) {
        bf_socket_close(s);
        return false;
    }
    s->connection++;
    return greet(s);
}

/* ---- an exchange ---- */
/* Returns true if the server has closed the connection (restart, idle timeout), or has sent bytes
 * before a command. Such bytes would be read as the reply to the next command. */
static bool is_gone(const bf_socket *s)
{
    char c;
    if (s->tls && bf_tls_has_more(s->tls)) return true;
    return recv(s->fd, &c, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 || (errno != EAGAIN && errno != EINTR);
}

static bool is_allowed(bf_socket *s)
{
    int64_t silent_for;
    if (bf_breaker_allows(&s->breaker, s->fd >= 0, &silent_for)) return true;
    s->timed_out = true;
    bf_fail(&s->fault, BF_EIO, "cannot reach %s: %s: it did not answer %.1f s ago", s->label,
        strerror(ETIMEDOUT), (double)silent_for / 1000);
    s->fault.sys_errno = ETIMEDOUT;
    return false;
}

/* Sends all requests in one step: their bytes are adjacent in memory. */
static bool send_and_receive(
    bf_socket *s, const bf_redis_part *parts, size_t nparts, bf_reply_sink *sink)
{
    size_t len = 0, commands = 0;
    for (size_t i = 0; i < nparts; i++) {
        len += parts[i].len;
        commands += parts[i].commands;
    }
    if (s->fd < 0 && !connect_(s)) return false;
    start_deadline(s);
    const size_t ahead = s->ahead;
    s->ahead = 0;
    s->sent = ahead > 0;
    return transmit(s, (const char *)parts->bytes + ahead, len - ahead) &&
           receive(s, sink, commands);
}

void bf_socket_send_ahead(bf_socket *s, const char *bytes, size_t len)
{
    if (s->fd < 0 || s->tls || len - s->ahead < AHEAD_BYTES || (!s->ahead && is_gone(s))) return;
    const ssize_t c = send(s->fd, bytes + s->ahead, len - s->ahead, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (c > 0) s->ahead += (size_t)c;
}

static int socket_exchange(
    void *ctx, const bf_redis_part *parts, size_t nparts, bool report, bf_reply_sink *sink)
{
    bf_socket *s = ctx;
    (void)report;
    s->fault.code = s->fault.sys_errno = 0;
    s->fresh = s->sent = s->timed_out = false;
    if (s->fd >= 0 && !s->ahead && is_gone(s)) bf_socket_close(s);
    if (!is_allowed(s)) {
        if (s->ahead) bf_socket_close(s);
        return BF_CLIENT_UNSENT;
    }
    const bool done = send_and_receive(s, parts, nparts, sink);
    (s->timed_out ? bf_breaker_timed_out : bf_breaker_answered)(&s->breaker, !s->fresh);
    if (done) bf_reply_connection(sink, s->connection);
    return done ? BF_CLIENT_ANSWERED : s->sent ? BF_CLIENT_LOST : BF_CLIENT_UNSENT;
}

static void socket_drop(void *s) { bf_socket_close(s); }

/* ---- creating and freeing ---- */
bf_socket *bf_socket_new(const bf_redis_url *url)
{
    bf_socket *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->client = (bf_redis_client){ .exchange = socket_exchange, .drop = socket_drop, .ctx = s };
    s->url = url;
    s->fd = -1;
    s->breaker =
        (bf_breaker){ .server = bf_breaker_server(url->path ? url->path : url->host, url->port),
            .retry_after = (int64_t)(url->retry_after * 1000),
            /* one time-out for connecting, one for AUTH and SELECT, one for the commands */
            .longest_call = (int64_t)(3 * 1000 * url->timeout) };
    return s;
}

void bf_socket_free(bf_socket *s)
{
    if (!s) return;
    bf_socket_close(s);
    free(s->in);
    free(s);
}
