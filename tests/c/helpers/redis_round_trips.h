/* redis_round_trips.h - a filter's round trips to Redis, one by one: the linker sends send, recv
 * and poll here (see "wraps:" in the test, which CMakeLists.txt reads).  Before a round trip, or
 * before one of its commands, another client may act; or something in its reply becomes something
 * else.  Knows Redis's protocol by itself; the server is a real one. */
#ifndef REDIS_ROUND_TRIPS_H
#define REDIS_ROUND_TRIPS_H
#include "redis_server.h"

typedef struct {
    const char *from, *end;
} reply_node; /* a reply, or a member of one, with its members */
enum { TRIPS_BYTES = 1 << 21, TRIPS_NODES = 1 << 20 };
static struct {
    bool on;              /* they are counted                                            */
    bool commands;        /* what is counted are commands, and each goes out alone       */
    long count, at;       /* so far; the one that something happens to                   */
    bool after;           /* and to all that follow                                      */
    void (*before)(void); /* what another client does before the commands go out         */
    const char *instead;  /* bytes that come in the place of node `node`, or NULL        */
    size_t node;
    bool cut;     /* the connection ends there                             */
    bool stutter; /* nothing is sent or received at once, and signals come */
    bool happened;
    bool greeting; /* what it happened to was AUTH, which is not sent again */
    bool hash;     /* ... read a hash */
    char was;      /* what the node was: its first byte                     */
    /* of the round trip that goes on */
    bool sending, meddled;
    const char *out; /* the commands that go out now, and how many bytes */
    size_t out_len;
    size_t sent, given, have, nodes; /* sent: commands; nodes: in its reply, before */
    char bytes[TRIPS_BYTES];
} trips;

ssize_t __real_send(int fd, const void *buf, size_t n, int flags);
ssize_t __real_recv(int fd, void *buf, size_t n, int flags);
int __real_poll(struct pollfd *fds, nfds_t n, int ms);
ssize_t __wrap_send(int fd, const void *buf, size_t n, int flags);
ssize_t __wrap_recv(int fd, void *buf, size_t n, int flags);
int __wrap_poll(struct pollfd *fds, nfds_t n, int ms);

/* Node number *n, in the order of their beginnings; counts down. */
static bool reply_find(const char *at, const char *end, size_t *n, reply_node *found)
{
    for (; at < end; at = reply_end(at, end)) {
        const char *stop = reply_end(at, end),
                   *first = (const char *)memchr(at, '\n', (size_t)(end - at)) + 1;
        if ((*n)-- == 0) {
            *found = (reply_node){ at, stop };
            return true;
        }
        if (*at == '*' && reply_find(first, stop, n, found)) return true;
    }
    return false;
}

/* Appends so many replies to those that are there. */
static bool trips_read(int fd, size_t replies)
{
    size_t at = trips.have;
    while (replies > 0) {
        const char *stop =
            at < trips.have ? reply_end(trips.bytes + at, trips.bytes + trips.have) : NULL;
        if (stop) {
            at = (size_t)(stop - trips.bytes);
            replies--;
            continue;
        }
        ssize_t c = __real_recv(fd, trips.bytes + trips.have, sizeof trips.bytes - trips.have, 0);
        if (c < 0 && errno == EINTR) continue; /* the process was stopped meanwhile */
        if (c <= 0) return false;
        trips.have += (size_t)c;
    }
    return true;
}

static void trips_spoil(void)
{
    reply_node found;
    size_t n = TRIPS_NODES, len = strlen(trips.instead);
    char *end = trips.bytes + trips.have;
    reply_find(trips.bytes, end, &n, &found);
    trips.nodes = TRIPS_NODES - n;
    n = trips.node;
    if (!reply_find(trips.bytes, end, &n, &found)) return;
    trips.happened = true;
    trips.was = *found.from;
    const size_t tail = trips.cut ? 0 : (size_t)(end - found.end),
                 at = (size_t)(found.from - trips.bytes);
    memmove(trips.bytes + at + len, found.end, tail);
    memcpy(trips.bytes + at, trips.instead, len);
    trips.have = at + len + tail;
}

static bool trips_stutter(void)
{
    static unsigned turn;
    errno = EINTR;
    return turn++ % 2 == 0;
}

static void trips_act(void (*act)(void))
{
    if (!act) return;
    trips.on = false;
    act();
    trips.on = trips.happened = true;
}

static inline bool goes_out(const char *word)
{
    return memmem(trips.out, trips.out_len, word, strlen(word)) != NULL;
}
/* The next one goes out. */
static void trips_next(const char *commands, size_t len)
{
    trips.count++;
    trips.meddled =
        trips.at && (trips.count == trips.at || (trips.after && trips.count > trips.at));
    trips.out = commands;
    trips.out_len = len;
    if (trips.count == trips.at) {
        trips.greeting = len > 14 && !memcmp(commands + 8, "AUTH", 4);
        trips.hash = goes_out("HGETALL");
    }
    if (trips.meddled) trips_act(trips.before);
}

static ssize_t trips_send_all(int fd, const char *buf, size_t n)
{
    for (size_t done = 0; done < n;) {
        ssize_t c = __real_send(fd, buf + done, n - done, MSG_NOSIGNAL);
        if (c < 0 && errno == EINTR) continue;
        if (c <= 0) return c;
        done += (size_t)c;
    }
    return (ssize_t)n;
}

/* Each command after the reply to the one before.  ECHO only ends a round trip. */
static ssize_t trips_send_each(int fd, const char *buf, size_t n)
{
    static const char echo[] = "*2\r\n$4\r\nECHO";
    for (const char *at = buf, *next; at < buf + n; at = next) {
        next = reply_end(at, buf + n);
        const size_t len = (size_t)(next - at);
        if (len < sizeof echo || memcmp(at, echo, sizeof echo - 1) != 0) trips_next(at, len);
        if (trips_send_all(fd, at, len) < 0 || !trips_read(fd, 1)) {
            errno = ECONNRESET;
            return -1;
        }
    }
    return (ssize_t)n;
}

ssize_t __wrap_send(int fd, const void *buf, size_t n, int flags)
{
    if (!trips.on) return __real_send(fd, buf, n, flags);
    if (!trips.sending) {
        trips.sending = true;
        trips.sent = trips.have = trips.given = 0;
        if (!trips.commands) trips_next(buf, n);
    }
    if (trips.commands) return trips_send_each(fd, buf, n);
    if (trips.stutter)
        return trips_stutter() ? -1 : __real_send(fd, buf, n < 1000 ? n : 1000, flags);
    for (const char *at = buf, *end = at + n; at < end; at = reply_end(at, end))
        trips.sent++; /* all of it is whole commands */
    return trips_send_all(fd, buf, n);
}

ssize_t __wrap_recv(int fd, void *buf, size_t n, int flags)
{
    if (!trips.on || flags & MSG_PEEK) return __real_recv(fd, buf, n, flags);
    const bool first = trips.sending;
    trips.sending = false;
    if (trips.stutter) return trips_stutter() ? -1 : __real_recv(fd, buf, n < 700 ? n : 700, flags);
    if (!trips.commands && (!trips.meddled || !trips.instead))
        return __real_recv(fd, buf, n, flags);
    if (first && !trips.commands) {
        trips_read(fd, trips.sent);
        trips_spoil();
    }
    n = n < trips.have - trips.given
            ? n
            : trips.have - trips.given; /* nothing left: the connection ends */
    memcpy(buf, trips.bytes + trips.given, n);
    trips.given += n;
    return (ssize_t)n;
}

int __wrap_poll(struct pollfd *fds, nfds_t n, int ms)
{
    const bool here = trips.commands ? trips.have > trips.given : trips.meddled && trips.instead;
    return trips.on && here ? 1 : __real_poll(fds, n, ms);
}

static inline void trips_begin(long at)
{
    trips.count = 0;
    trips.at = at;
    trips.sending = trips.meddled = trips.happened = trips.greeting = false;
    trips.on = true;
}
static inline void trips_stop(void) { trips.on = false; }
#endif
