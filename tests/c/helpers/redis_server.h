/* redis_server.h - a redis-server of the test's own: loopback, a free port, a folder of its own,
 * stopped by its pid; and a client that shares no code with the core.  The servers die with the
 * test. */
#ifndef REDIS_SERVER_H
#define REDIS_SERVER_H
#include "optional.h"
#include <arpa/inet.h>
#include <sys/prctl.h>
#include <sys/socket.h>

/* tls: a port that speaks TLS beside the plain one, 0 = none; keys: the folder that has ca.pem, and
 * NAME.pem and NAME.key, where name is the server's; clients: "yes" = they must show a certificate,
 * too. */
typedef struct {
    pid_t pid;
    int port, tls, client;
    bool old;
    char folder[32], password[32], url[160];
    const char *keys, *name, *clients;
} server;

static inline void rs_pause(int ms)
{
    nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000L }, NULL);
}
static inline double rs_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* A socket bound to a free port of 127.0.0.1.  While it is open nobody else gets this port, but who
 * asks for it, as redis-server does, may listen there. */
static int rs_bind(int *port)
{
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int)) ||
        bind(fd, (struct sockaddr *)&a, sizeof a) || getsockname(fd, (struct sockaddr *)&a, &len)) {
        perror("bind");
        exit(1);
    }
    *port = ntohs(a.sin_port);
    return fd;
}

static inline int rs_connect(int port)
{
    struct sockaddr_in a = { .sin_family = AF_INET,
        .sin_port = htons((uint16_t)port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof a)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* ---- the client: an inline command, the reply as it comes; a text's own bytes are returned with
 * their length ---- */
/* Looked at first, because what follows the text line is read by others. */
static size_t rs_line(int fd, char *line, size_t cap)
{
    size_t n = 0;
    while (n + 1 < cap) {
        ssize_t there = recvfrom(fd, line + n, cap - 1 - n, MSG_PEEK, NULL, NULL);
        const char *end = there > 0 ? memchr(line + n, '\n', (size_t)there) : NULL;
        if (there <= 0) break;
        ssize_t got = read(fd, line + n, end ? (size_t)(end + 1 - line) - n : (size_t)there);
        if (got <= 0) break;
        n += (size_t)got;
        if (end) break;
    }
    line[n] = 0;
    return n;
}

/* The end of the reply, or the member of one, that begins there; NULL: it is not complete. */
static inline const char *reply_end(const char *at, const char *end)
{
    const char *line = memchr(at, '\n', (size_t)(end - at));
    if (!line++) return NULL;
    if (*at == '$' && at[1] != '-') {
        line += atol(at + 1) + 2;
        return line <= end ? line : NULL;
    }
    if (*at == '*')
        for (long n = atol(at + 1); line && n > 0; n--) line = reply_end(line, end);
    return line;
}

static char *rs_reply(int fd, size_t *len)
{
    static char text[1 << 20];
    *len = rs_line(fd, text, sizeof text);
    if (*len >= 2) text[ *len -= 2] = 0;
    if (*text == '*') {
        for (long n = atol(text + 1); n > 0; n--) {
            size_t ignored;
            rs_reply(fd, &ignored);
        }
        return text;
    }
    if (*text != '$') return text;
    long want = atol(text + 1);
    if (want < 0) {
        strcpy(text, "nil");
        *len = 3;
        return text;
    }
    size_t got = 0;
    while (got < (size_t)want + 2) {
        ssize_t c = read(fd, text + got, (size_t)want + 2 - got);
        if (c <= 0) break;
        got += (size_t)c;
    }
    text[ *len = (size_t)want] = 0;
    return text;
}

static inline char *rs_bytes(server *s, size_t *len, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static inline char *rs_command(server *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static char *rs_send(server *s, size_t *len, const char *format, va_list ap)
{
    char command[4096];
    vsnprintf(command, sizeof command - 3, format, ap);
    strcat(command, "\r\n");
    if (s->client < 0) {
        if ((s->client = rs_connect(s->port)) < 0) return "no connection";
        if (*s->password) {
            char auth[64];
            snprintf(auth, sizeof auth, "AUTH %s\r\n", s->password);
            if (write(s->client, auth, strlen(auth)) > 0) rs_reply(s->client, len);
        }
    }
    if (write(s->client, command, strlen(command)) < 0) return "not sent";
    return rs_reply(s->client, len);
}
static inline char *rs_bytes(server *s, size_t *len, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    char *r = rs_send(s, len, format, ap);
    va_end(ap);
    return r;
}
static inline char *rs_command(server *s, const char *format, ...)
{
    size_t len;
    va_list ap;
    va_start(ap, format);
    char *r = rs_send(s, &len, format, ap);
    va_end(ap);
    return r;
}
static inline long rs_number(server *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static inline long rs_number(server *s, const char *format, ...)
{
    size_t len;
    va_list ap;
    va_start(ap, format);
    char *r = rs_send(s, &len, format, ap);
    va_end(ap);
    return *r == ':' ? atol(r + 1) : -1000;
}

/* ---- the server ---- */
static void rs_run(const server *s)
{
    char port[16], socket_[64], tls[4][100];
    const char *args[40] = { "redis-server", "--port", port, "--bind", "127.0.0.1", "--unixsocket",
        socket_, "--save", "", "--appendonly", "no", "--dir", s->folder, "--enable-debug-command",
        "yes", "--loglevel", "warning", "--daemonize", "no" };
    int n = 19, null = open("/dev/null", O_RDWR);
    snprintf(port, sizeof port, "%d", s->port);
    snprintf(socket_, sizeof socket_, "%s/socket", s->folder);
    if (*s->password) {
        args[n++] = "--requirepass";
        args[n++] = s->password;
    }
    if (s->old) {
        args[n++] = "--rename-command";
        args[n++] = "BITFIELD_RO";
        args[n++] = "";
    } /* as before Redis 6.2 */
    if (s->tls) {
        const char *more[] = { "--tls-port", tls[0], "--tls-ca-cert-file", tls[1],
            "--tls-cert-file", tls[2], "--tls-key-file", tls[3], "--tls-auth-clients", s->clients };
        snprintf(tls[0], sizeof tls[0], "%d", s->tls);
        snprintf(tls[1], sizeof tls[1], "%s/ca.pem", s->keys);
        snprintf(tls[2], sizeof tls[2], "%s/%s.pem", s->keys, s->name);
        snprintf(tls[3], sizeof tls[3], "%s/%s.key", s->keys, s->name);
        for (size_t i = 0; i < COUNT(more); i++) args[n++] = more[i];
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(null, 0);
    dup2(null, 1);
    execvp("redis-server", (char **)args);
    perror("redis-server");
    _exit(127);
}

/* Also after a stop: on the same port. */
static void rs_resume(server *s)
{
    s->client = -1;
    if ((s->pid = fork()) == 0) rs_run(s);
    for (int i = 0; i < PATIENCE * 50; i++) {
        char *pong = rs_command(s, "PING");
        if (!strcmp(pong, "+PONG")) return;
        if (s->client >= 0) {
            close(s->client);
            s->client = -1;
        }
        if (waitpid(s->pid, NULL, WNOHANG) == s->pid) break;
        rs_pause(20);
    }
    fprintf(stderr, "redis-server does not run: is it installed?\n");
    printf("0 passed, 1 failed\n");
    exit(1);
}

/* What is not given is zero: with keys, name and clients it speaks TLS, too. */
static inline void rs_begin(server *s)
{
    strcpy(s->folder, "/tmp/bf-redis-XXXXXX");
    if (!mkdtemp(s->folder)) {
        perror("mkdtemp");
        exit(1);
    }
    rs_bind(&s->port); /* stays open: the port is the server's also while it is stopped */
    if (s->keys) rs_bind(&s->tls);
    rs_resume(s);
}

static inline void rs_start(server *s, const char *password)
{
    *s = (server){ .client = -1 };
    if (password) snprintf(s->password, sizeof s->password, "%s", password);
    rs_begin(s);
}

static void rs_stop(server *s, int signal)
{
    if (s->client >= 0) close(s->client);
    s->client = -1;
    kill(s->pid, signal);
    waitpid(s->pid, NULL, 0);
}

static void rs_end(server *s)
{
    rs_stop(s, SIGKILL);
    char command[80];
    snprintf(command, sizeof command, "rm -rf %s", s->folder);
    if (system(command)) fprintf(stderr, "%s is left\n", s->folder);
}

/* One more server, with all that `of` has. */
static inline void rs_replica(server *s, const server *of)
{
    rs_start(s, NULL);
    rs_command(s, "REPLICAOF 127.0.0.1 %d", of->port);
    for (int i = 0;
        i < PATIENCE * 50 && !strstr(rs_command(s, "INFO replication"), "link_status:up"); i++)
        rs_pause(20);
}

static inline int main_with_redis(server *s)
{
    if (!s->pid) rs_start(s, NULL);
    run_tests();
    rs_end(s);
    return FINISH();
}

/* redis://127.0.0.1:PORT/0?key=KEY and what follows; lives until the next call. */
static inline const char *rs_url(server *s, const char *key, const char *more)
{
    snprintf(s->url, sizeof s->url, "redis://%s%s%s127.0.0.1:%d/0?key=%s&timeout=%d%s",
        *s->password ? ":" : "", s->password, *s->password ? "@" : "", s->port, key, PATIENCE,
        more);
    return s->url;
}
#endif
