/* socket.c - a connection of our own to the server of a URL: one at a time, with a deadline for
 * each exchange and a new connection after a fault.  Knows sockets, AUTH and SELECT; what the
 * replies are, resp.c knows.  A connection that may be out of step (a time-out, nonsense, a fault
 * in the middle) is closed, never read further. */
#include "base/system.h"
#include "base/base.h"
#include "redis/socket.h"
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
#ifdef BF_HAVE_HIREDIS
#include <hiredis/hiredis.h>
#else /* tables.c has refused redis:// */
#define redisFormatCommand(to, ...) (*(to) = NULL, -1)
#define redisFreeCommand(command) ((void)(command))
#endif

enum { PUSH_FROM = 16 << 10, IN_BYTES = 1 << 16 };

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

#ifdef BF_HAVE_OPENSSL
#define tls_begin bf_tls_begin
#define tls_in bf_tls_in
#define tls_out bf_tls_out
#define tls_free bf_tls_free
#else /* tables.c has refused rediss:// */
#define tls_begin(s) false
#define tls_in bf_socket_in
#define tls_out bf_socket_out
#define tls_free(t) ((void)0)
#endif

/* ---- faults ---- */
void bf_socket_close(bf_socket *s)
{
    tls_free(s->tls);
    s->tls = NULL;
    if (s->fd >= 0) close(s->fd);
    s->fd = -1;
    s->allowed = false; /* the breaker is asked again for the next connection */
}

void bf_socket_abandon(bf_socket *s)
{
    if (s->fd >= 0) close(s->fd);
    s->fd = -1;
    s->tls = NULL;
    s->in = NULL;
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

static bool unreachable(bf_socket *s, int e)
{
    s->timed_out = e == ETIMEDOUT || e == EHOSTUNREACH; /* nothing answers at that address */
    bf_fail_sys(&s->fault, e, "reach", s->label);
    return false;
}

/* ---- in and out ---- */
static void start_deadline(bf_socket *s)
{
    s->got_bytes = false;
    s->deadline = now_ms() + (int64_t)(s->url->timeout * 1000);
}

/* MSG_NOSIGNAL: a closed connection must be an error, not a SIGPIPE. */
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

/* The socket's own time-out covers the first read of an exchange; what comes in drops after that,
 * or before TLS has a whole record of it, is held to the deadline. */
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

/* How many bytes came into in at `at`; 0: a fault. */
static size_t receive(bf_socket *s, size_t at)
{
    ssize_t c = (s->tls ? tls_in : bf_socket_in)(s, s->in + at, IN_BYTES - at);
    if (c <= 0) bf_socket_broken(s, c < 0 ? errno : ECONNRESET);
    s->got_bytes = true;
    return c > 0 ? (size_t)c : 0;
}

static bool transmit(bf_socket *s, const char *bytes, size_t len)
{
    return (s->tls ? tls_out : bf_socket_out)(s, bytes, len) == 0 || bf_socket_broken(s, errno);
}

/* ---- AUTH and SELECT ---- */
static bool is_greeted(bf_socket *s, const char *reply, size_t len)
{
    char text[72];
    if (len && *reply == '+') return true;
    if (len && *reply == '-') {
        snprintf(text, sizeof text, "%.*s", (int)len - 1, reply + 1);
        text[strcspn(text, "\r")] = 0;
        bf_reply_clean(text);
        bf_fail(&s->fault, BF_EIO, "%s: %s", s->label, text);
    } else
        bf_fail(&s->fault, BF_EIO, "%s: the server does not speak the Redis protocol", s->label);
    bf_socket_close(s);
    return false;
}

/* Each reply is one text line. */
static bool read_greetings(bf_socket *s, unsigned count)
{
    for (size_t have = 0, at = 0; count;) {
        const char *end = memchr(s->in + at, '\n', have - at);
        if (!end && have == IN_BYTES) return is_greeted(s, "", 0);
        if (!end) {
            const size_t c = receive(s, have);
            if (c == 0) return false;
            have += c;
            continue;
        }
        if (!is_greeted(s, s->in + at, (size_t)(end - s->in) - at)) return false;
        at = (size_t)(end + 1 - s->in);
        if (--count == 0 && at != have) return is_greeted(s, "", 0);
    }
    return true;
}

static bool send_command(bf_socket *s, char *command, int len)
{
    if (len < 0) return bf_socket_no_memory(s);
    const bool sent = transmit(s, command, (size_t)len);
    for (volatile char *p = command; p < command + len; p++) *p = 0; /* the password */
    redisFreeCommand(command);
    return sent;
}

static bool greet(bf_socket *s)
{
    const bf_redis_url *u = s->url;
    char *command = NULL;
    int len;
    if (u->pass) {
        len = u->user ? redisFormatCommand(&command, "AUTH %s %s", u->user, u->pass)
                      : redisFormatCommand(&command, "AUTH %s", u->pass);
        if (!send_command(s, command, len)) return false;
    }
    if (u->db) {
        len = redisFormatCommand(&command, "SELECT %u", u->db);
        if (!send_command(s, command, len)) return false;
    }
    return read_greetings(s, (u->pass != NULL) + (u->db != 0));
}

/* ---- connecting ---- */
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
static int connect_to(const struct sockaddr *a, socklen_t len, int64_t until)
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

static bool connect_to_path(bf_socket *s)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    memcpy(a.sun_path, s->url->path, strlen(s->url->path)); /* url.c has seen that it fits */
    s->fd = connect_to((const struct sockaddr *)&a, sizeof a, s->deadline);
    return s->fd >= 0 || unreachable(s, errno);
}

/* The system's resolver has time-outs of its own, which the deadline does not shorten. */
static bool look_up(bf_socket *s, struct addrinfo **all)
{
    const struct addrinfo wanted = { .ai_socktype = SOCK_STREAM };
    char port[12];
    snprintf(port, sizeof port, "%u", s->url->port);
    const int e = getaddrinfo(s->url->host, port, &wanted, all);
    if (e == 0) return true;
    s->timed_out = e == EAI_AGAIN;
    bf_fail(&s->fault, e == EAI_MEMORY ? BF_ENOMEM : BF_EIO, "cannot reach %s: %.50s", s->label,
        gai_strerror(e));
    return false;
}

/* A name may have several addresses, of which the first may be dead: each gets its share of the
 * time that is left. */
static bool connect_to_host(bf_socket *s)
{
    struct addrinfo *all;
    int n = 0, e = 0;
    if (!look_up(s, &all)) return false;
    start_deadline(s);
    for (const struct addrinfo *a = all; a; a = a->ai_next) n++;
    for (const struct addrinfo *a = all; a && s->fd < 0; a = a->ai_next, n--) {
        const int64_t left = s->deadline - now_ms();
        s->fd =
            connect_to(a->ai_addr, a->ai_addrlen, s->deadline - left + (left > 0 ? left / n : 0));
        if (s->fd < 0 && !e) e = errno; /* the system puts those first that it can reach at all */
    }
    freeaddrinfo(all);
    return s->fd >= 0 || unreachable(s, e);
}

static bool connect_(bf_socket *s)
{
    const double timeout = s->url->timeout;
    const struct timeval tv = { (time_t)timeout,
        (suseconds_t)((timeout - (double)(time_t)timeout) * 1e6) };
    s->fresh = true;
    s->pushed = 0;
    start_deadline(s);
    if (!s->in && !(s->in = malloc(IN_BYTES))) return bf_socket_no_memory(s);
    if (!(s->url->path ? connect_to_path : connect_to_host)(s)) return false;
    if (setsockopt(s->fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv) < 0 ||
        setsockopt(s->fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof tv) < 0)
        return bf_socket_broken(s, errno);
    start_deadline(s);
    if (s->url->tls && !tls_begin(s)) {
        bf_socket_close(s);
        return false;
    }
    s->connection++;
    return greet(s);
}

/* Did the server close it meanwhile (restart, idle time-out)?  Or is there what no command asked
 * for? */
static bool is_gone(const bf_socket *s)
{
    char c;
    return recv(s->fd, &c, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 || (errno != EAGAIN && errno != EINTR);
}

static void probe(bf_socket *s)
{
    if (s->fd >= 0 && !s->probed && s->changes && is_gone(s)) bf_socket_close(s);
    s->probed = true;
}

/* ---- an exchange ---- */
/* Asked once per connection of an exchange, before its first byte. */
static bool is_allowed(bf_socket *s)
{
    int64_t silent_for;
    s->allowed = s->allowed || bf_breaker_allows(&s->breaker, s->fd >= 0, &silent_for);
    if (s->allowed) return true;
    s->timed_out = true;
    bf_fail(&s->fault, BF_EIO, "cannot reach %s: %s: it did not answer %.1f s ago", s->label,
        strerror(ETIMEDOUT), (double)silent_for / 1000);
    s->fault.sys_errno = ETIMEDOUT;
    return false;
}

void bf_socket_begin(bf_socket *s, bool changes)
{
    s->changes = changes;
    s->pushed = 0;
    s->allowed = s->probed = s->fresh = s->sent = s->timed_out = false;
}

void bf_socket_push(bf_socket *s, const char *label, const char *bytes, size_t len)
{
    if (len - s->pushed < PUSH_FROM || s->tls) return;
    s->label = label;
    probe(s);
    if (s->fd < 0 || !is_allowed(s)) return;
    ssize_t c = send(s->fd, bytes + s->pushed, len - s->pushed, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (c > 0) s->pushed += (size_t)c; /* a fault comes back at the exchange */
}

/* All commands there and all replies back.  The commands lie one after another. */
static bool round_trip(bf_socket *s, const bf_redis_part *parts, size_t nparts, bf_reply_sink *sink)
{
    const char *bytes = parts->bytes, *end = bytes;
    int64_t commands = 0, got = 0;
    for (size_t i = 0; i < nparts; i++) {
        end += parts[i].len;
        commands += (int64_t)parts[i].commands;
    }
    if (s->fd < 0 && !connect_(s)) return false;
    start_deadline(s);
    s->sent = s->pushed > 0;
    bytes += s->pushed;
    if (!transmit(s, bytes, (size_t)(end - bytes))) return false;
    while (got < commands) {
        const size_t c = receive(s, 0);
        if (c == 0) return false;
        if ((got = bf_reply_feed(sink, s->in, c)) < 0) return false; /* the sink knows why */
    }
    return true;
}

static int exchange(
    void *ctx, const bf_redis_part *parts, size_t nparts, bool report, bf_reply_sink *sink)
{
    bf_socket *s = ctx;
    (void)report;
    s->fault.code = s->fault.sys_errno = 0;
    s->sent = s->pushed > 0;
    s->timed_out = false;
    probe(s);
    if (!is_allowed(s)) return BF_CLIENT_UNSENT;
    const bool done = round_trip(s, parts, nparts, sink);
    (s->timed_out ? bf_breaker_timed_out : bf_breaker_answered)(&s->breaker, !s->fresh);
    if (done) bf_reply_connection(sink, s->connection);
    return done ? BF_CLIENT_ANSWERED : s->sent ? BF_CLIENT_LOST : BF_CLIENT_UNSENT;
}

/* ---- life ---- */
bf_socket *bf_socket_new(const bf_redis_url *url, bf_error *err)
{
    bf_socket *s = calloc(1, sizeof *s);
    if (!s) {
        bf_fail(err, BF_ENOMEM, "out of memory");
        return NULL;
    }
    s->client = (bf_redis_client){ .exchange = exchange, .ctx = s };
    s->url = url;
    s->fd = -1;
    s->breaker = (bf_breaker){ .server =
                                   bf_breaker_server(url->path ? url->path : url->host, url->port),
        .retry_after = (int64_t)(url->retry_after * 1000),
        .longest_call = (int64_t)(3 * 1000 * url->timeout) }; /* connecting, AUTH, the commands */
    return s;
}

void bf_socket_free(bf_socket *s)
{
    if (!s) return;
    bf_socket_close(s);
    free(s->in);
    free(s);
}
