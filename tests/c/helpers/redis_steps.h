/* redis_steps.h - a filter's trips to Redis, one by one: the linker sends the core's send, recv and
 * poll here (see "wraps:" in the test, which CMakeLists.txt reads).  Before a trip another client
 * may act, or something in its answer becomes something else.  Knows Redis's protocol by itself;
 * the server is a real one. */
#ifndef REDIS_STEPS_H
#define REDIS_STEPS_H
#include "redis_server.h"

typedef struct {
    const char *from, *end;
} steps_node; /* of an answer: a reply, or a member of one, with its members */
enum { STEPS_BYTES = 1 << 21, STEPS_NODES = 1 << 20 };
static struct {
    bool on;              /* trips are counted                                     */
    long trips, at;       /* so far; the one that something happens to, 0 = none    */
    bool after;           /* and to all that follow                                */
    void (*before)(void); /* what another client does before the commands go out   */
    const char *instead;  /* bytes that come in the place of node `node`, or NULL  */
    size_t node;
    bool cut;     /* the connection ends there                             */
    bool stutter; /* nothing is sent or received at once, and signals come */
    bool happened;
    char was, parent; /* what the node was, its first byte; what it was in     */
    /* of the trip that goes on */
    bool sending, meddled;
    const char *out; /* the commands that go out now, and how many bytes */
    size_t out_len;
    size_t commands, given, have, nodes; /* nodes: in its answer, before */
    char bytes[STEPS_BYTES];
} steps;

ssize_t __real_send(int fd, const void *buf, size_t n, int flags);
ssize_t __real_recv(int fd, void *buf, size_t n, int flags);
int __real_poll(struct pollfd *fds, nfds_t n, int ms);
ssize_t __wrap_send(int fd, const void *buf, size_t n, int flags);
ssize_t __wrap_recv(int fd, void *buf, size_t n, int flags);
int __wrap_poll(struct pollfd *fds, nfds_t n, int ms);

/* The end of the node that begins there; NULL where it is not all there yet. */
static const char *steps_end(const char *at, const char *end)
{
    const char *line = memchr(at, '\n', (size_t)(end - at));
    if (!line++) return NULL;
    if (*at == '$' && at[1] != '-') {
        line += atol(at + 1) + 2;
        return line <= end ? line : NULL;
    }
    if (*at == '*')
        for (long n = atol(at + 1); line && n > 0; n--) line = steps_end(line, end);
    return line;
}

/* Node number *n, in the order of their beginnings; counts down. */
static bool steps_find(const char *at, const char *end, size_t *n, char parent, steps_node *found)
{
    for (; at < end; at = steps_end(at, end)) {
        const char *stop = steps_end(at, end),
                   *first = (const char *)memchr(at, '\n', (size_t)(end - at)) + 1;
        if ((*n)-- == 0) {
            *found = (steps_node){ at, stop };
            steps.parent = parent;
            return true;
        }
        if (*at == '*' && steps_find(first, stop, n, '*', found)) return true;
    }
    return false;
}

static void steps_read_all(int fd)
{
    const char *at = steps.bytes;
    steps.have = steps.given = 0;
    for (size_t replies = 0; replies < steps.commands;) {
        const char *stop = steps.have ? steps_end(at, steps.bytes + steps.have) : NULL;
        if (stop) {
            at = stop;
            replies++;
            continue;
        }
        ssize_t c = __real_recv(fd, steps.bytes + steps.have, sizeof steps.bytes - steps.have, 0);
        if (c <= 0) return;
        steps.have += (size_t)c;
    }
}

static void steps_spoil(void)
{
    steps_node found;
    size_t n = STEPS_NODES, len = strlen(steps.instead);
    char *end = steps.bytes + steps.have;
    steps_find(steps.bytes, end, &n, 0, &found);
    steps.nodes = STEPS_NODES - n;
    n = steps.node;
    if (!steps_find(steps.bytes, end, &n, 0, &found)) return;
    steps.happened = true;
    steps.was = *found.from;
    const size_t tail = steps.cut ? 0 : (size_t)(end - found.end),
                 at = (size_t)(found.from - steps.bytes);
    memmove(steps.bytes + at + len, found.end, tail);
    memcpy(steps.bytes + at, steps.instead, len);
    steps.have = at + len + tail;
}

static bool steps_stutter(void)
{
    static unsigned turn;
    errno = EINTR;
    return turn++ % 2 == 0;
}

ssize_t __wrap_send(int fd, const void *buf, size_t n, int flags)
{
    if (!steps.on) return __real_send(fd, buf, n, flags);
    if (!steps.sending) {
        steps.sending = true;
        steps.commands = 0;
        steps.trips++;
        steps.meddled =
            steps.at && (steps.trips == steps.at || (steps.after && steps.trips > steps.at));
        if (steps.meddled && steps.before) {
            steps.on = false;
            steps.out = buf;
            steps.out_len = n;
            steps.before();
            steps.on = steps.happened = true;
        }
    }
    if (steps.stutter)
        return steps_stutter() ? -1 : __real_send(fd, buf, n < 1000 ? n : 1000, flags);
    for (const char *at = buf, *end = at + n; at < end; at = steps_end(at, end))
        steps.commands++; /* all of it is whole commands */
    for (size_t done = 0; done < n;) {
        ssize_t c = __real_send(fd, (const char *)buf + done, n - done, MSG_NOSIGNAL);
        if (c <= 0) return c;
        done += (size_t)c;
    }
    return (ssize_t)n;
}

ssize_t __wrap_recv(int fd, void *buf, size_t n, int flags)
{
    if (!steps.on || flags & MSG_PEEK) return __real_recv(fd, buf, n, flags);
    const bool first = steps.sending;
    steps.sending = false;
    if (steps.stutter) return steps_stutter() ? -1 : __real_recv(fd, buf, n < 700 ? n : 700, flags);
    if (!steps.meddled || !steps.instead) return __real_recv(fd, buf, n, flags);
    if (first) {
        steps_read_all(fd);
        steps_spoil();
    }
    n = n < steps.have - steps.given
            ? n
            : steps.have - steps.given; /* nothing left: the connection ends */
    memcpy(buf, steps.bytes + steps.given, n);
    steps.given += n;
    return (ssize_t)n;
}

int __wrap_poll(struct pollfd *fds, nfds_t n, int ms)
{
    return steps.on && steps.meddled && steps.instead ? 1 : __real_poll(fds, n, ms);
}

static inline void steps_begin(long at)
{
    steps.trips = 0;
    steps.at = at;
    steps.sending = steps.meddled = steps.happened = false;
    steps.on = true;
}
static inline void steps_stop(void) { steps.on = false; }
#endif
