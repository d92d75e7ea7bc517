/* main.c - starts and ends the daemon: options, filters, the listening socket, threads, signals.
 *
 * SIGTERM, SIGINT and SIGHUP are blocked in all threads.  The main thread waits for them, and calls
 * jobs_refresh() once a second. */
#define _GNU_SOURCE
#include "resp.h"
#include "notify.h"
#include "output.h"
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
    /* DRAIN: ms for requests to end; LAST_WAIT: ms more for jobs if that time is over.  SPARE_FDS:
     * descriptors for other uses than connections and filters.  MMAP_MIN: bytes. */
    DRAIN = 7000,
    LAST_WAIT = 1000,
    SPARE_FDS = 64,
    BACKLOG = 4096,
    MMAP_MIN = 128 << 10
};

static int report_error(const char *what, const char *why)
{
    char shown[sizeof((bf_error *)0)->msg];
    /* an error may quote a wrong URL, with its password, as a path */
    bf_hide_passwords(why, shown, sizeof shown);
    say("%s: %s", what, shown);
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
    if (rc) return report_error(what, gai_strerror(rc));
    s->listener = -1;
    for (struct addrinfo *a = all; a && s->listener < 0; a = a->ai_next) s->listener = listen_on(a);
    if (s->listener < 0) report_error(what, strerror(errno));
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

/* Raises the limit on open files for --max-connections and --max-filters.  If the system forbids
 * that, lowers --max-connections and prints a message. */
static void raise_limits(options *o)
{
    struct rlimit l;
    if (getrlimit(RLIMIT_NOFILE, &l) < 0) return;
    rlim_t want = o->max_connections + SPARE_FDS + o->max_filters;
    if (l.rlim_cur < want) {
        struct rlimit more = { want, l.rlim_max < want ? want : l.rlim_max };
        if (setrlimit(RLIMIT_NOFILE, &more) < 0) {
            l.rlim_cur = l.rlim_max;
            setrlimit(RLIMIT_NOFILE, &l);
        }
        getrlimit(RLIMIT_NOFILE, &l);
    }
    if (l.rlim_cur >= want) return;
    uint64_t left = l.rlim_cur > 2 * SPARE_FDS ? l.rlim_cur - SPARE_FDS : l.rlim_cur / 2;
    say("%llu connections at most, not %llu: that is the limit on open files here",
        (unsigned long long)left, (unsigned long long)o->max_connections);
    if (left < o->max_connections) o->max_connections = left;
}

/* ---- life ---- */
/* Opens the socket and the filters.  Name servers, Redis and locks may take long, and there are no
 * requests to end yet: so the signals `ends` end the process in the meantime. */
static int open_server(server *s, const sigset_t *ends)
{
    bf_error err;
    s->started = clock_ms();
    history_init(&s->history);
    pthread_mutex_init(&s->loading, NULL);
    raise_limits(&s->o);
    pthread_sigmask(SIG_UNBLOCK, ends, NULL);
    /* before creating filters, because a second daemon on the same port must not create any */
    int rc = open_listener(s);
    if (rc == 0 && filters_open(&s->fs, &s->o, &err) < 0) rc = report_error("the filter", err.msg);
    pthread_sigmask(SIG_BLOCK, ends, NULL);
    if (rc == 0) s->loopback = is_loopback(s->listener);
    return rc;
}

static int start_threads(server *s)
{
    if (!jobs_open(s)) return report_error("threads", strerror(errno));
    s->workers = calloc(s->o.threads, sizeof *s->workers);
    if (!s->workers) return report_error("threads", "out of memory");
    for (unsigned i = 0; i < s->o.threads; i++)
        if (!worker_init(&s->workers[i], s)) return report_error("a thread", strerror(errno));
    for (unsigned i = 0; i < s->o.threads; i++) {
        int rc = pthread_create(&s->workers[i].thread, NULL, worker_run, &s->workers[i]);
        if (rc) return report_error("a thread", strerror(rc));
    }
    return 0;
}

static void announce(server *s)
{
    bf_info i;
    char status[200];
    size_t count;
    served **all = filters_list(&s->fs, &count), *main = filters_get_open(&s->fs, TEXT(""), false);
    char storage[512] = "memory";
    if (s->o.storage) bf_hide_passwords(s->o.storage, storage, sizeof storage);
    say("version %s, storage %s, named filters: %zu", bf_version(), storage, count ? count - 1 : 0);
    if (!s->loopback && !s->o.token)
        say("no token: whoever can reach %s can add keys and delete filters; use --token-file",
            s->o.host);
    say("listening on %s port %u", s->o.host, port_of(s->listener));
    if (main) {
        bf_get_info(main->f, &i);
        if (i.created && s->o.storage)
            say("filter default: it did not exist, and was created empty");
        snprintf(status, sizeof status, "STATUS=m=%llu n=%llu k=%u, %s, %zu named filters\nREADY=1",
            (unsigned long long)i.m, (unsigned long long)i.n, i.k, i.scheme, count ? count - 1 : 0);
        filters_release(main);
    }
    notify(main ? status : "READY=1");
    filters_list_free(all, count);
}

static void reopen_log(server *s)
{
    if (!log_open(s)) say("%s: %s; the old one stays in use", s->o.access_log, strerror(errno));
}

/* Waits for SIGTERM or SIGINT and returns its number. */
static int wait_for_end(server *s, const sigset_t *signals)
{
    struct timespec second = { 1, 0 };
    uint64_t next = 0;
    for (;;) {
        int signal = sigtimedwait(signals, NULL, &second);
        if (signal == SIGTERM || signal == SIGINT) return signal;
        if (signal == SIGHUP) reopen_log(s);
        if (clock_ms() >= next) {
            jobs_refresh(s);
            next = clock_ms() + 900;
        }
    }
}

static int end_server(server *s, int signal)
{
    bf_error err;
    notify("STOPPING=1");
    s->drain_until = clock_ms() + DRAIN;
    __atomic_store_n(&s->draining, true, __ATOMIC_RELEASE);
    for (unsigned i = 0; i < s->o.threads; i++) events_wake(&s->workers[i]);
    for (unsigned i = 0; i < s->o.threads; i++) pthread_join(s->workers[i].thread, NULL);
    close(s->listener);
    s->stuck =
        !jobs_stop(s, clock_ms() < s->drain_until ? s->drain_until : s->drain_until + LAST_WAIT);
    bf_set_deadline(clock_ms() + LAST_WAIT);
    const int rc = filters_sync(&s->fs, NULL, &err);
    if (rc < 0) report_error("the filters may not be on disk", err.msg);
    say("ended by %s after %llu requests%s%s", signal == SIGTERM ? "SIGTERM" : "SIGINT",
        (unsigned long long)stats_requests(s),
        rc < 0 || !s->o.storage || s->fs.remote ? "" : "; its files are on disk",
        s->stuck ? "; a request that waited was not answered" : "");
    return rc;
}

static void release_server(server *s)
{
    jobs_close(s);
    loads_expire(s, true);
    for (unsigned i = 0; s->workers && i < s->o.threads; i++) worker_free(&s->workers[i]);
    free(s->workers);
    filters_close(&s->fs);
    free(s->o.token);
}

/* Opens /dev/null for each of the descriptors 0 to 2 that is closed.  A socket with such a number
 * would receive the daemon's messages. */
static void occupy_standard_fds(void)
{
    int fd;
    do fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= 2);
    if (fd > 2) close(fd);
}

/* Lets glibc return freed buffers to the system, so that --max-buffered limits real memory.  By
 * default glibc raises its mmap threshold when a large buffer is freed.  Later buffers are then in
 * the heap and leave gaps there. */
static void return_freed_memory(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, MMAP_MIN);
#endif
}

int main(int argc, char **argv)
{
    static server s;
    sigset_t ends, signals;
    return_freed_memory();
    int rc = options_read(&s.o, argc, argv);
    if (rc) return rc == 1 ? 0 : rc < 0 ? 1 : 2;
    occupy_standard_fds();
    signal(SIGPIPE, SIG_IGN); /* a failed write to Redis or stderr must not end the daemon */
    signal(SIGXFSZ, SIG_IGN); /* a log that reaches RLIMIT_FSIZE must not end the daemon */
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    signals = ends;
    sigaddset(&signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    if (!output_start(MESSAGES, STDERR_FILENO, NULL)) {
        perror("bloomfilterd: a thread");
        return 1;
    }
    if (!log_open(&s)) rc = report_error(s.o.access_log, strerror(errno));
    if (rc == 0) rc = open_server(&s, &ends);
    if (rc == 0) rc = start_threads(&s);
    const bool started = rc == 0;
    if (started) {
        announce(&s);
        rc = end_server(&s, wait_for_end(&s, &signals));
    }
    output_end(clock_ms() + LAST_WAIT);
    if (s.stuck) _exit(rc < 0 ? 1 : 0); /* a job still runs and uses the filters */
    if (started) release_server(&s);
    return rc < 0 ? 1 : 0;
}
