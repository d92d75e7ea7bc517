/* events.c - the events that a worker waits for.  No other file of the server calls epoll or
 * eventfd, which only Linux has. */
#include "server.h"
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

static bool control(worker *w, int how, int fd, unsigned events, void *source)
{
    struct epoll_event e = { .events = events, .data.ptr = source };
    return epoll_ctl(w->waiting, how, fd, &e) == 0;
}

bool events_listen(worker *w, bool on)
{
    return control(w, on ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, w->s->listener, EPOLLIN | EPOLLEXCLUSIVE,
        &w->s->listener);
}

static unsigned wanted(wait_for what)
{
    return what == WAIT_READABLE ? EPOLLIN : what == WAIT_WRITABLE ? EPOLLOUT : 0;
}

bool events_add(worker *w, conn *c) { return control(w, EPOLL_CTL_ADD, c->fd, EPOLLIN, c); }
bool events_watch(worker *w, conn *c, wait_for what)
{
    return control(w, EPOLL_CTL_MOD, c->fd, wanted(what), c);
}

int events_wait(worker *w, event events[EVENTS_MAX], int timeout)
{
    struct epoll_event got[EVENTS_MAX];
    const int n = epoll_wait(w->waiting, got, EVENTS_MAX, timeout);
    for (int i = 0; i < n; i++)
        events[i] = (event){ got[i].data.ptr, got[i].events & (EPOLLOUT | EPOLLERR | EPOLLHUP) };
    return n;
}

/* Fails if the event counter is at its limit: the worker wakes up anyway. */
void events_wake(worker *w)
{
    const uint64_t one = 1;
    const ssize_t ignored = write(w->wake, &one, sizeof one);
    (void)ignored;
}

bool events_woken(worker *w)
{
    uint64_t ignored;
    return read(w->wake, &ignored, sizeof ignored) > 0;
}

bool events_init(worker *w)
{
    w->waiting = epoll_create1(EPOLL_CLOEXEC);
    w->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return w->waiting >= 0 && w->wake >= 0 && control(w, EPOLL_CTL_ADD, w->wake, EPOLLIN, &w->wake);
}

void events_free(worker *w)
{
    close(w->waiting);
    close(w->wake);
}
