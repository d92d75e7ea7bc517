/* main.c - the daemon's life: options, filters, the listening socket, threads, signals, the end.
 * Knows no HTTP.
 *
 * All signals are blocked in all threads; this one waits for them, and once a second looks at fill
 * and requests. */
#define _GNU_SOURCE
#include "server.h"
#include "notify.h"
#include <errno.h>
#include <fcntl.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    DRAIN = 7000,
    LAST = 1000,
    SPARE = 64,
    BACKLOG = 4096,
    APART = 128 << 10
}; /* DRAIN, LAST: ms.  SPARE: descriptors for other uses than connections.  APART: bytes. */

static int complain(const char *what, const char *why)
{
    char shown[sizeof((bf_error *)0)->msg];
    bf_hide_passwords(why, shown,
        sizeof shown); /* an error may quote a wrong URL, with its password, as a path */
    fprintf(stderr, "bloomfilterd: %s: %s\n", what, shown);
    return -1;
}

/* ---- the socket ---- */
static int listen_on(const struct addrinfo *a)
{
    int yes = 1,
        fd = socket(a->ai_family, a->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, a->ai_protocol);
    if (fd < 0) return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(fd, a->ai_addr, a->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0) return fd;
    int why = errno;
    close(fd);
    errno = why;
    return -1;
}

static int open_listener(server *s)
{
    struct addrinfo want = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV },
                    *all;
    char port[16], what[256];
    snprintf(port, sizeof port, "%u", s->o.port);
    snprintf(what, sizeof what, "cannot listen on %.200s port %s", s->o.host, port);
    int rc = getaddrinfo(s->o.host, port, &want, &all);
    if (rc) return complain(what, gai_strerror(rc));
    s->listener = -1;
    for (struct addrinfo *a = all; a && s->listener < 0; a = a->ai_next) s->listener = listen_on(a);
    if (s->listener < 0) complain(what, strerror(errno));
    freeaddrinfo(all);
    return s->listener < 0 ? -1 : 0;
}

static bool is_loopback(int fd)
{
    static const uint8_t mapped[13] = { [10] = 0xff, [11] = 0xff, [12] = 127 };
    struct sockaddr_storage a = { 0 };
    socklen_t len = sizeof a;
    if (getsockname(fd, (struct sockaddr *)&a, &len) < 0) return false;
    const struct in_addr *four = &((struct sockaddr_in *)&a)->sin_addr;
    const struct in6_addr *six = &((struct sockaddr_in6 *)&a)->sin6_addr;
    if (a.ss_family == AF_INET) return ntohl(four->s_addr) >> 24 == 127;
    if (a.ss_family != AF_INET6) return false;
    return IN6_IS_ADDR_LOOPBACK(six) || !memcmp(six, mapped, sizeof mapped);
}

static unsigned port_of(int fd)
{
    struct sockaddr_storage a = { 0 };
    socklen_t len = sizeof a;
    char port[16] = "0";
    if (getsockname(fd, (struct sockaddr *)&a, &len) == 0)
        getnameinfo((struct sockaddr *)&a, len, NULL, 0, port, sizeof port, NI_NUMERICSERV);
    return (unsigned)atoi(port);
}

/* Raises the limit of descriptors for --max-connections, or as far as the system allows. */
static void raise_limits(options *o)
{
    struct rlimit l;
    if (getrlimit(RLIMIT_NOFILE, &l) < 0) return;
    rlim_t want = o->max_connections + SPARE + o->max_filters;
    if (l.rlim_cur < want) {
        struct rlimit more = { want, l.rlim_max < want ? want : l.rlim_max };
        if (setrlimit(RLIMIT_NOFILE, &more) < 0) {
            l.rlim_cur = l.rlim_max;
            setrlimit(RLIMIT_NOFILE, &l);
        }
        getrlimit(RLIMIT_NOFILE, &l);
    }
    if (l.rlim_cur >= want) return;
    uint64_t left = l.rlim_cur > 2 * SPARE ? l.rlim_cur - SPARE : l.rlim_cur / 2;
    fprintf(stderr,
        "bloomfilterd: %llu connections at most, not %llu: that is the limit on open files here\n",
        (unsigned long long)left, (unsigned long long)o->max_connections);
    if (left < o->max_connections) o->max_connections = left;
}

/* ---- life ---- */
static int start(server *s)
{
    bf_error err;
    s->listener = s->log_fd = -1;
    s->started = clock_ms();
    history_init(&s->history);
    raise_limits(&s->o);
    if (open_listener(s) < 0)
        return -1; /* listens before a filter is created: a second daemon on this port must create
                      none */
    s->loopback = is_loopback(s->listener);
    if (log_open(s) < 0) return complain(s->o.access_log, strerror(errno));
    if (filters_open(&s->fs, &s->o, &err) < 0) return complain("the filter", err.msg);
    if (!jobs_open(s)) return complain("threads", strerror(errno));
    s->workers = calloc(s->o.threads, sizeof *s->workers);
    if (!s->workers) return complain("threads", "out of memory");
    for (unsigned i = 0; i < s->o.threads; i++)
        if (!worker_init(&s->workers[i], s)) return complain("a thread", strerror(errno));
    for (unsigned i = 0; i < s->o.threads; i++) {
        int rc = pthread_create(&s->workers[i].thread, NULL, worker_run, &s->workers[i]);
        if (rc) {
            complain("a thread", strerror(rc));
            _exit(1);
        }
    }
    return 0;
}

static void announce(server *s)
{
    bf_info i;
    char status[200];
    size_t count;
    served **all = filters_list(&s->fs, &count), *main = filters_known(&s->fs, TEXT(""), false);
    fprintf(stderr, "bloomfilterd: listening on %s port %u\n", s->o.host, port_of(s->listener));
    if (main) {
        bf_get_info(main->f, &i);
        snprintf(status, sizeof status, "STATUS=m=%llu n=%llu k=%u, %s, %zu named filters\nREADY=1",
            (unsigned long long)i.m, (unsigned long long)i.n, i.k, i.scheme, count ? count - 1 : 0);
        filters_done(main);
    }
    notify(main ? status : "READY=1");
    filters_unlist(all, count);
}

static void reopen(server *s)
{
    if (log_open(s) < 0)
        fprintf(stderr, "bloomfilterd: %s: %s; the old one stays in use\n", s->o.access_log,
            strerror(errno));
}

/* Returns when SIGTERM or SIGINT has come. */
static void wait_for_end(server *s, const sigset_t *signals)
{
    struct timespec second = { 1, 0 };
    uint64_t next = 0;
    for (;;) {
        int signal = sigtimedwait(signals, NULL, &second);
        if (signal == SIGTERM || signal == SIGINT) return;
        if (signal == SIGHUP) reopen(s);
        if (clock_ms() >= next) {
            jobs_look(s);
            next = clock_ms() + 900;
        }
    }
}

static int end(server *s)
{
    bf_error err;
    uint64_t one = 1;
    notify("STOPPING=1");
    s->drain_until = clock_ms() + DRAIN;
    __atomic_store_n(&s->draining, true, __ATOMIC_RELEASE);
    for (unsigned i = 0; i < s->o.threads; i++)
        if (write(s->workers[i].wake, &one, sizeof one) < 0)
            complain("a thread", "cannot be woken");
    for (unsigned i = 0; i < s->o.threads; i++) pthread_join(s->workers[i].thread, NULL);
    close(s->listener);
    s->stuck = !jobs_stop(s, clock_ms() < s->drain_until ? s->drain_until : s->drain_until + LAST);
    return filters_sync(&s->fs, &err) < 0 ? complain("the filters may not be on disk", err.msg) : 0;
}

static void release(server *s)
{
    jobs_close(s);
    for (unsigned i = 0; s->workers && i < s->o.threads; i++) worker_free(&s->workers[i]);
    free(s->workers);
    filters_close(&s->fs);
    free(s->o.token);
    if (s->log_fd >= 0) close(s->log_fd);
}

/* If descriptors 0 to 2 are closed, sockets would get these numbers, and messages would be written
 * into them. */
static void keep_standard(void)
{
    int fd;
    do fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= 2);
    if (fd > 2) close(fd);
}

/* Makes freed memory return to the system, so that --max-buffered limits real memory.  By default
 * glibc raises its mmap threshold after a large buffer was freed, and later ones leave gaps in the
 * heap. */
static void give_back(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, APART);
#endif
}

int main(int argc, char **argv)
{
    static server s;
    sigset_t signals;
    give_back();
    int rc = options_read(&s.o, argc, argv);
    if (rc) return rc == 1 ? 0 : rc < 0 ? 1 : 2;
    keep_standard();
    signal(SIGPIPE, SIG_IGN); /* the core writes to Redis, stderr may be closed */
    signal(SIGXFSZ, SIG_IGN); /* a log that reaches RLIMIT_FSIZE must not end the daemon */
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    if (start(&s) < 0) return 1;
    announce(&s);
    wait_for_end(&s, &signals);
    rc = end(&s);
    if (s.stuck) _exit(rc < 0 ? 1 : 0); /* a thread still waits for Redis */
    release(&s);
    return rc < 0 ? 1 : 0;
}
