/* options.h - the options of the command line; bloomfilterd.8 describes them. */
#ifndef BFD_OPTIONS_H
#define BFD_OPTIONS_H
#include "bloomfilter_host.h"
#include "bytes.h"

enum { ALLOW_HOSTS = 64 };

typedef struct {
    const char *host;
    unsigned port, threads;
    uint64_t m, n, k;
    double p, grow, window;
    unsigned parts, overfull;
    bool counting, exclusive, adopt, create;
    const char *scheme, *storage, *access_log;
    char *token;
    bool keyed;
    uint8_t secret[BF_SECRET_BYTES]; /* the secret of all filters; valid if `keyed` */
    bool log_keys;
    uint64_t max_url, max_header, max_body; /* bytes */
    uint64_t max_buffered;                  /* bytes: all bodies and replies together */
    uint64_t max_filter;                    /* bytes: one filter that a request creates */
    uint64_t max_total;                     /* bytes: all filters together */
    uint64_t max_connections, max_filters;
    uint64_t deadline, idle; /* seconds */
    const char *allow_host[ALLOW_HOSTS];
    unsigned allow_hosts;
} options;

/* Returns 0: run; 1: printed help or version; 2: wrong options; -1: standard output cannot be
 * written.  Prints an error message for 2 and -1. */
int options_read(options *o, int argc, char **argv);
#endif
