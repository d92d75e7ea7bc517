/* sockets.c - include/sys/socket.h by Winsock. */
#ifdef _WIN32
#include "base/system.h"
#include "base/os.h"
#include <sys/socket.h>
#undef connect
#undef send
#undef recv
#undef setsockopt
#undef getsockopt
#undef getaddrinfo

static int errno_of(int error)
{
    return error == WSAEWOULDBLOCK    ? EAGAIN
           : error == WSAEINPROGRESS  ? EINPROGRESS
           : error == WSAETIMEDOUT    ? ETIMEDOUT
           : error == WSAECONNREFUSED ? ECONNREFUSED
           : error == WSAECONNRESET   ? ECONNRESET
           : error == WSAECONNABORTED ? ECONNRESET
           : error == WSAEHOSTUNREACH ? EHOSTUNREACH
           : error == WSAENETUNREACH  ? ENETUNREACH
           : error == WSAEAFNOSUPPORT ? EAFNOSUPPORT
           : error == WSAENOBUFS      ? ENOMEM
           : error == WSAEMFILE       ? EMFILE
                                      : EIO;
}
static int checked(int rc)
{
    if (rc == SOCKET_ERROR) errno = errno_of(WSAGetLastError());
    return rc;
}

static void start(void)
{
    WSADATA data;
    (void)WSAStartup(MAKEWORD(2, 2), &data); /* if it fails, so does what follows */
}
static void start_once(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start);
}

int bf_win_getaddrinfo(
    const char *host, const char *port, const struct addrinfo *want, struct addrinfo **all)
{
    start_once();
    return getaddrinfo(host, port, want, all);
}

static int set_nonblocking(int fd, u_long on)
{
    return checked(ioctlsocket((SOCKET)fd, (long)FIONBIO, &on));
}
int bf_os_socket(int family)
{
    start_once();
    const int fd = (int)WSASocketW(
        family, SOCK_STREAM, 0, NULL, 0, WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT);
    if (checked(fd) >= 0 && set_nonblocking(fd, 1) < 0) {
        closesocket((SOCKET)fd);
        return -1;
    }
    return fd;
}
void bf_os_socket_close(int fd)
{
    const int keep = errno;
    closesocket((SOCKET)fd);
    errno = keep;
}
/* The second flags are those of a socket. */
int fcntl(int fd, int what, ...)
{
    va_list ap;
    va_start(ap, what);
    const int flags = va_arg(ap, int);
    va_end(ap);
    if (what == F_SETFL) return set_nonblocking(fd, (flags & O_NONBLOCK) != 0);
    return what == F_GETFL ? O_NONBLOCK : bf_win_dup_above_2(fd);
}

int bf_win_connect(int fd, const struct sockaddr *to, socklen_t len)
{
    const int rc = checked(connect((SOCKET)fd, to, len));
    if (rc < 0 && errno == EAGAIN) errno = EINPROGRESS;
    return rc;
}

/* Not WSAPoll, which before 2020 did not report that a connection was refused. */
int bf_win_poll(struct pollfd *one, unsigned n, int ms)
{
    fd_set in, out, failed;
    struct timeval wait = { ms / 1000, ms % 1000 * 1000 };
    (void)n;
    FD_ZERO(&in);
    FD_ZERO(&out);
    FD_ZERO(&failed);
    FD_SET(one->fd, &failed);
    FD_SET(one->fd, one->events & POLLOUT ? &out : &in);
    return checked(select(0, &in, &out, &failed, &wait));
}

/* Winsock has no flag for one call that does not wait. */
ssize_t bf_win_send(int fd, const void *bytes, size_t len, int flags)
{
    const int some = len > 1 << 30 ? 1 << 30 : (int)len;
    if (flags & MSG_DONTWAIT && set_nonblocking(fd, 1) < 0) return -1;
    const int n = checked(send((SOCKET)fd, bytes, some, 0)), e = errno;
    if (flags & MSG_DONTWAIT) set_nonblocking(fd, 0);
    errno = e;
    return n;
}
ssize_t bf_win_recv(int fd, void *bytes, size_t cap, int flags)
{
    struct pollfd p = { .fd = (SOCKET)fd, .events = POLLIN };
    if (flags & MSG_DONTWAIT) {
        const int ready = bf_win_poll(&p, 1, 0);
        if (ready == 0) errno = EAGAIN;
        if (ready <= 0) return -1;
    }
    const int n = (int)(cap > 1 << 30 ? 1 << 30 : cap);
    return checked(recv((SOCKET)fd, bytes, n, flags & ~MSG_DONTWAIT));
}

int bf_win_setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
    const struct timeval *t = value;
    DWORD ms;
    if (level == SOL_SOCKET && (name == SO_RCVTIMEO || name == SO_SNDTIMEO)) {
        ms = (DWORD)t->tv_sec * 1000 + (DWORD)(t->tv_usec + 999) / 1000;
        value = &ms;
        len = sizeof ms;
    }
    return checked(setsockopt((SOCKET)fd, level, name, value, len));
}
int bf_win_getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
    const int rc = checked(getsockopt((SOCKET)fd, level, name, value, len));
    int *error = value;
    if (rc == 0 && level == SOL_SOCKET && name == SO_ERROR && *error) *error = errno_of(*error);
    return rc;
}
#endif
