/* blast.c PORT CONNECTIONS REQUEST REPLY_BYTES SECONDS - sends the bytes of the file REQUEST over
 * and over on each connection, one request at a time, and waits for REPLY_BYTES each time.  Prints
 * requests and nanoseconds. Knows no protocol: HTTP and Redis's are driven alike. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 64 };
typedef struct {
    int fd;
    size_t sent, got;
} link_;
static char *request, sink[1 << 20];
static size_t request_len, reply_len;
static unsigned long long done;

static unsigned long long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (unsigned long long)t.tv_sec * 1000000000 + (unsigned long long)t.tv_nsec;
}

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void send_more(link_ *l)
{
    while (l->sent < request_len) {
        ssize_t n = send(l->fd, request + l->sent, request_len - l->sent, MSG_NOSIGNAL);
        if (n < 0 && errno == EAGAIN) return;
        if (n < 0) die("send");
        l->sent += (size_t)n;
    }
}

static void receive(link_ *l)
{
    ssize_t n = recv(l->fd, sink, sizeof sink, 0);
    if (n < 0 && errno == EAGAIN) return;
    if (n <= 0) die("recv");
    if ((l->got += (size_t)n) > reply_len) {
        fprintf(stderr, "a reply of more than %zu bytes\n", reply_len);
        exit(1);
    }
    if (l->got < reply_len) return;
    done++;
    l->sent = l->got = 0;
    send_more(l);
}

static int dial(int port)
{
    struct sockaddr_in a = { .sin_family = AF_INET,
        .sin_port = htons((uint16_t)port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof a) < 0) die("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd;
}

static void load(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &st) < 0 || !(request = malloc((size_t)st.st_size))) die(path);
    request_len = (size_t)st.st_size;
    if (read(fd, request, request_len) != st.st_size) die(path);
    close(fd);
}

int main(int argc, char **argv)
{
    static link_ links[MOST];
    struct epoll_event events[MOST];
    if (argc != 6 || atoi(argv[2]) > MOST) return 2;
    int epoll = epoll_create1(0), count = atoi(argv[2]);
    load(argv[3]);
    reply_len = (size_t)atoll(argv[4]);
    unsigned long long start = now(), end = start + (unsigned long long)(atof(argv[5]) * 1e9);
    for (int i = 0; i < count; i++) {
        links[i].fd = dial(atoi(argv[1]));
        struct epoll_event e = { .events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = &links[i] };
        epoll_ctl(epoll, EPOLL_CTL_ADD, links[i].fd, &e);
        send_more(&links[i]);
    }
    while (now() < end) {
        int n = epoll_wait(epoll, events, MOST, 100);
        for (int i = 0; i < n; i++) {
            if (events[i].events & EPOLLOUT) send_more(events[i].data.ptr);
            if (events[i].events & EPOLLIN)
                for (link_ *l = events[i].data.ptr;;) {
                    unsigned long long before = done;
                    size_t got = l->got;
                    receive(l);
                    if (done == before && l->got == got) break;
                }
        }
    }
    printf("%llu %llu\n", done, now() - start);
}
