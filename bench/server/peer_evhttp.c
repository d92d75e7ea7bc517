/* peer_evhttp.c PORT - the least that libevent's evhttp needs to answer "true". */
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <stdlib.h>
#include <sys/resource.h>

static void handle(struct evhttp_request *r, void *ctx)
{
    struct evbuffer *b = evbuffer_new();
    (void)ctx;
    evbuffer_add(b, "true", 4);
    evhttp_send_reply(r, 200, "OK", b);
    evbuffer_free(b);
}

int main(int argc, char **argv)
{
    struct rlimit l;
    if (argc != 2 || getrlimit(RLIMIT_NOFILE, &l)) return 2;
    l.rlim_cur = l.rlim_max;
    setrlimit(RLIMIT_NOFILE, &l);
    struct event_base *base = event_base_new();
    struct evhttp *http = evhttp_new(base);
    evhttp_set_gencb(http, handle, NULL);
    if (evhttp_bind_socket(http, "127.0.0.1", (uint16_t)atoi(argv[1]))) return 1;
    event_base_dispatch(base);
}
