/* socket.h - what the core uses of sockets, by Winsock. A socket is an int here: Windows gives
 * handles 32 significant bits. bf_os_socket_close closes it. The functions set errno. */
#ifndef BF_WINDOWS_SOCKET_H
#define BF_WINDOWS_SOCKET_H
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <winsock2.h>
/* after winsock2.h */
#include <afunix.h>
#include <ws2tcpip.h>
#undef small
#undef near
#undef far

enum { MSG_NOSIGNAL = 0, MSG_DONTWAIT = 1 << 30 };
typedef long suseconds_t;

int bf_win_connect(int fd, const struct sockaddr *to, socklen_t len);
ssize_t bf_win_send(int fd, const void *bytes, size_t len, int flags);
ssize_t bf_win_recv(int fd, void *bytes, size_t cap, int flags);
int bf_win_setsockopt(int fd, int level, int name, const void *value, socklen_t len);
int bf_win_getsockopt(int fd, int level, int name, void *value, socklen_t *len);
int bf_win_poll(struct pollfd *one, unsigned n, int ms); /* n: 1 */
int bf_win_getaddrinfo(
    const char *host, const char *port, const struct addrinfo *want, struct addrinfo **all);
#define connect(...) bf_win_connect(__VA_ARGS__)
#define send(...) bf_win_send(__VA_ARGS__)
#define recv(...) bf_win_recv(__VA_ARGS__)
#define setsockopt(...) bf_win_setsockopt(__VA_ARGS__)
#define getsockopt(...) bf_win_getsockopt(__VA_ARGS__)
#define poll(...) bf_win_poll(__VA_ARGS__)
#define getaddrinfo(...) bf_win_getaddrinfo(__VA_ARGS__)
#endif
