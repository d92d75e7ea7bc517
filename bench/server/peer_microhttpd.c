/* peer_microhttpd.c PORT POOL - the least that libmicrohttpd needs to answer "true": epoll, one
 * thread, a persistent response. POOL is its memory a connection in bytes: a request line that must
 * hold a URL of 16 KiB needs 32768. */
#include <microhttpd.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static struct MHD_Response *answer;

/* An answer on the first call would close the connection. */
static enum MHD_Result handle(void *cls, struct MHD_Connection *c, const char *url,
    const char *method, const char *version, const char *data, size_t *size, void **state)
{
    static int seen;
    (void)cls;
    (void)url;
    (void)method;
    (void)version;
    (void)data;
    (void)size;
    if (!*state) {
        *state = &seen;
        return MHD_YES;
    }
    return MHD_queue_response(c, 200, answer);
}

int main(int argc, char **argv)
{
    struct rlimit l;
    if (argc != 3 || getrlimit(RLIMIT_NOFILE, &l)) return 2;
    l.rlim_cur = l.rlim_max;
    setrlimit(RLIMIT_NOFILE, &l);
    answer = MHD_create_response_from_buffer(4, "true", MHD_RESPMEM_PERSISTENT);
    struct MHD_Daemon *d = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD, (uint16_t)atoi(argv[1]),
        NULL, NULL, handle, NULL, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)atoi(argv[2]),
        MHD_OPTION_CONNECTION_LIMIT, 12000u, MHD_OPTION_LISTEN_BACKLOG_SIZE, 4096u,
        MHD_OPTION_CONNECTION_TIMEOUT, 75u, MHD_OPTION_END);
    if (!d) return 1;
    pause();
    MHD_stop_daemon(d);
}
