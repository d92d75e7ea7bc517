/* options.c - parses the command line and prints --help. */
#include "options.h"
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char help[] =
    "usage: bloomfilterd [OPTION]...\n"
    "Serves Bloom filters over HTTP: GET /add=KEY, GET /contain=KEY, batches by POST, named filters below /f/.\n"
    "Example: bloomfilterd --storage seen/ --create --token-file token\n"
    "\n"
    "  --host HOST            address to listen on (127.0.0.1)\n"
    "  --port PORT            port to listen on, 0 = any free one (6381)\n"
    "  --allow-host NAME      a name that requests may have in Host and Origin; repeat it for each name.  On a loopback\n"
    "                         address only this name, the value of --host, 127.0.0.1, localhost and [::1] are allowed\n"
    "  --threads T            threads that answer requests (1)\n"
    "  --token T              require `Authorization: Bearer T`; --token-file FILE reads T from a file\n"
    "\n"
    "the filter `default` (without a size: the stored one, or a new one for 1,000,000 keys at 1 %)\n"
    "  -m M, -n N, -p P, -k K bits, keys, false-positive rate, positions per key: 1000000, 1e6, 1M; 0.01, 1%\n"
    "  --grow G               it grows past n by this factor and keeps p; needs -n with -p or -m, or their defaults\n"
    "  --window S, --parts N  it forgets keys after S seconds, in N steps (4)\n"
    "  --counting             it has counters instead of bits, for /remove and /count\n"
    "  --scheme NAME          classic, block, block2 ...; with -m and -k also another system's bitmap in Redis\n"
    "  --adopt                take over that bitmap; the other system can continue to use it\n"
    "\n"
    "all filters\n"
    "  --secret-file FILE     their secret, for keys that strangers choose: 16 bytes, or 32 hexadecimal digits\n"
    "  --storage S            FILE: a mapped file, shared with other processes (named filters: memory); FOLDER/: also\n"
    "                         the named filters, as NAME.bloom; redis://HOST:PORT/DB?key=K: a bitmap in Redis.\n"
    "                         Default: memory, lost at exit\n"
    "  --create               create FOLDER/ if it does not exist\n"
    "  --overfull WHAT        with more keys than n: warn (a line on standard error), raise (adds are 507), ignore\n"
    "  --exclusive            the daemon is the only writer of its files; other processes may open them to read\n"
    "\n"
    "limits (sizes in bytes, also with K, M, G of 1024; times in seconds)\n"
    "  --max-url N            length of a URL (16K), else 414\n"
    "  --max-header N         size of a request's header (16K), else 431\n"
    "  --max-body N           size of a body (64M), else 413\n"
    "  --max-buffered N       bodies and replies that clients make the daemon hold (1G), else 503\n"
    "  --max-filter N         size of a filter that a request creates (4G), else 507\n"
    "  --max-filters N        number of named filters (1024), else 507\n"
    "  --max-total N          size of all filters together (a quarter of the memory), else 507\n"
    "  --max-connections N    number of connections (16384), else 503\n"
    "  --deadline S           time for a request to arrive (30), else 408, and to wait for locks, else 503; for its reply\n"
    "                         to be read, plus 1 s per 64 KiB\n"
    "  --idle S               time without a request until a connection is closed (75)\n"
    "\n"
    "  --access-log FILE      write one line of JSON per request; SIGHUP reopens the file\n"
    "  --log-keys             write keys to the access log, too\n"
    "  --help, --version\n"
    "\n"
    "SIGTERM and SIGINT: the daemon answers the requests that have begun, writes the filters to disk and exits with 0.\n";

enum {
    HOST = 256,
    PORT,
    THREADS,
    TOKEN,
    TOKEN_FILE,
    SCHEME,
    GROW,
    WINDOW,
    PARTS,
    COUNTING,
    SECRET_FILE,
    STORAGE,
    EXCLUSIVE,
    OVERFULL,
    ADOPT,
    CREATE,
    MAX_URL,
    MAX_HEADER,
    MAX_BODY,
    MAX_BUFFERED,
    MAX_FILTER,
    MAX_FILTERS,
    MAX_TOTAL,
    MAX_CONNECTIONS,
    DEADLINE,
    IDLE,
    ACCESS_LOG,
    LOG_KEYS,
    ALLOW_HOST,
    VERSION
};

static const struct option names[] = { { "host", 1, 0, HOST }, { "port", 1, 0, PORT },
    { "threads", 1, 0, THREADS }, { "token", 1, 0, TOKEN }, { "token-file", 1, 0, TOKEN_FILE },
    { "grow", 1, 0, GROW }, { "window", 1, 0, WINDOW }, { "parts", 1, 0, PARTS },
    { "counting", 0, 0, COUNTING }, { "scheme", 1, 0, SCHEME },
    { "secret-file", 1, 0, SECRET_FILE }, { "storage", 1, 0, STORAGE },
    { "exclusive", 0, 0, EXCLUSIVE }, { "adopt", 0, 0, ADOPT }, { "create", 0, 0, CREATE },
    { "overfull", 1, 0, OVERFULL }, { "max-url", 1, 0, MAX_URL },
    { "max-header", 1, 0, MAX_HEADER }, { "max-body", 1, 0, MAX_BODY },
    { "max-buffered", 1, 0, MAX_BUFFERED }, { "max-filter", 1, 0, MAX_FILTER },
    { "max-filters", 1, 0, MAX_FILTERS }, { "max-total", 1, 0, MAX_TOTAL },
    { "max-connections", 1, 0, MAX_CONNECTIONS }, { "deadline", 1, 0, DEADLINE },
    { "idle", 1, 0, IDLE }, { "access-log", 1, 0, ACCESS_LOG }, { "log-keys", 0, 0, LOG_KEYS },
    { "allow-host", 1, 0, ALLOW_HOST }, { "help", 0, 0, 'h' }, { "version", 0, 0, VERSION },
    { 0 } };

static int refuse(const char *name, const char *must, const char *value)
{
    fprintf(stderr, "bloomfilterd: %s must be %s, got %s\n", name, must, value);
    return 2;
}

static int read_whole(
    const char *name, uint64_t thousand, uint64_t *out, uint64_t least, uint64_t most)
{
    char must[80];
    const text t = { optarg, strlen(optarg) };
    if (parse_whole(t, thousand, out) && *out >= least && *out <= most) return 0;
    snprintf(
        must, sizeof must, "%llu to %llu", (unsigned long long)least, (unsigned long long)most);
    return refuse(name, must, optarg);
}

static int whole(const char *name, uint64_t *out, uint64_t least, uint64_t most)
{
    return read_whole(name, 1000, out, least, most);
}

static int bytes(const char *name, uint64_t *out, uint64_t least, uint64_t most)
{
    return read_whole(name, 1024, out, least, most);
}

static int small(const char *name, unsigned *out, uint64_t least, uint64_t most)
{
    uint64_t v = 0;
    int rc = whole(name, &v, least, most);
    *out = (unsigned)v;
    return rc;
}

static int set_token(options *o, const char *token)
{
    if (!*token) return refuse("the token", "at least one byte", "none");
    free(o->token);
    o->token = strdup(token);
    if (o->token) return 0;
    fprintf(stderr, "bloomfilterd: out of memory\n");
    return 2;
}

/* Reads at most `most` bytes from the beginning of a file.  Returns the number of bytes; -1 after
 * printing an error. */
static ssize_t read_file(const char *path, char *buf, size_t most)
{
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(buf, 1, most, f) : 0;
    bool failed = !f || ferror(f);
    if (failed) fprintf(stderr, "bloomfilterd: cannot read %s: %s\n", path, strerror(errno));
    if (f) fclose(f);
    return failed ? -1 : (ssize_t)n;
}

static int token_file(options *o, const char *path)
{
    char line[1024];
    ssize_t n = read_file(path, line, sizeof line - 1);
    if (n < 0) return 2;
    if (n == sizeof line - 1 && !memchr(line, '\n', sizeof line - 1))
        return refuse("the token", "shorter than 1023 bytes", "a longer line in its file");
    line[n] = 0;
    line[strcspn(line, "\r\n")] = 0;
    return set_token(o, line);
}

static int secret_file(options *o, const char *path)
{
    bf_error err;
    o->keyed = bf_read_secret(path, o->secret, &err) == 0;
    if (!o->keyed) fprintf(stderr, "bloomfilterd: --secret-file: %s\n", err.msg);
    return o->keyed ? 0 : 2;
}

static int sizes(options *o, int option)
{
    switch (option) {
    case 'm': return whole("m", &o->m, 1, BF_M_MAX);
    case 'n': return whole("n", &o->n, 1, BF_N_MAX);
    case 'k': return whole("k", &o->k, 1, BF_K_MAX);
    default:
        return parse_number((text){ optarg, strlen(optarg) }, &o->p) && o->p > 0 && o->p < 1
                   ? 0
                   : refuse("p", "between 0 and 1", optarg);
    }
}

/* Reads --grow or --window.  The error message is the library's. */
static int factor(const char *name, double *to, double above)
{
    bf_error err;
    if (parse_number((text){ optarg, strlen(optarg) }, to) && *to > above) return 0;
    bf_refuse(&err, name, optarg);
    fprintf(stderr, "bloomfilterd: %s\n", err.msg);
    return 2;
}

static int limit(options *o, int option)
{
    const uint64_t most = UINT64_C(1) << 40;
    switch (option) {
    case MAX_URL: return bytes("--max-url", &o->max_url, 16, most);
    case MAX_HEADER: return bytes("--max-header", &o->max_header, 64, most);
    case MAX_BODY: return bytes("--max-body", &o->max_body, 0, most);
    case MAX_BUFFERED: return bytes("--max-buffered", &o->max_buffered, 0, most);
    case MAX_FILTER: return bytes("--max-filter", &o->max_filter, 1, most);
    case MAX_FILTERS: return whole("--max-filters", &o->max_filters, 0, 1000000);
    case MAX_TOTAL: return bytes("--max-total", &o->max_total, 0, UINT64_C(1) << 50);
    case MAX_CONNECTIONS: return whole("--max-connections", &o->max_connections, 1, 10000000);
    case DEADLINE: return whole("--deadline", &o->deadline, 1, 86400);
    default: return whole("--idle", &o->idle, 1, 86400);
    }
}

static int allow_host(options *o, const char *name)
{
    const char *option = "--allow-host";
    const bool plain = *name && !name[strcspn(name, "/ \t,")];
    if (!plain) return refuse(option, "the name of a host, not a URL", name);
    if (o->allow_hosts == ALLOW_HOSTS) return refuse(option, "given 64 times at most", name);
    o->allow_host[o->allow_hosts++] = name;
    return 0;
}

/* Returns 1, or -1 if standard output cannot be written. */
static int say(const char *answer)
{
    if (fputs(answer, stdout) >= 0 && fflush(stdout) == 0) return 1;
    fprintf(stderr, "bloomfilterd: cannot write to standard output: %s\n", strerror(errno));
    return -1;
}

static int take(options *o, int option)
{
    switch (option) {
    case 'm':
    case 'n':
    case 'k':
    case 'p': return sizes(o, option);
    case HOST: o->host = optarg; return 0;
    case PORT: return small("--port", &o->port, 0, 65535);
    case THREADS: return small("--threads", &o->threads, 1, 256);
    case TOKEN: {
        int rc = set_token(o, optarg);
        memset(optarg, '*', strlen(optarg)); /* hides the token from ps */
        return rc;
    }
    case TOKEN_FILE: return token_file(o, optarg);
    case GROW: return factor("grow", &o->grow, 0x1.fffffffffffffp-1);
    case WINDOW: return factor("window", &o->window, 0);
    case PARTS: return small("--parts", &o->parts, 1, 255);
    case COUNTING: o->counting = true; return 0;
    case SCHEME: o->scheme = optarg; return 0;
    case SECRET_FILE: return secret_file(o, optarg);
    case STORAGE:
        o->storage = optarg;
        return *optarg ? 0 : refuse("--storage", "a path or a URL", "nothing");
    case EXCLUSIVE: o->exclusive = true; return 0;
    case OVERFULL:
        return bf_read_overfull(optarg, &o->overfull, NULL) == 0
                   ? 0
                   : refuse("--overfull", "warn, raise or ignore", optarg);
    case ADOPT: o->adopt = true; return 0;
    case CREATE: o->create = true; return 0;
    case ACCESS_LOG: o->access_log = optarg; return 0;
    case LOG_KEYS: o->log_keys = true; return 0;
    case ALLOW_HOST: return allow_host(o, optarg);
    case 'h': return say(help);
    case VERSION: return say("bloomfilterd " BF_VERSION "\n");
    case '?': fprintf(stderr, "try bloomfilterd --help\n"); return 2;
    default: return limit(o, option);
    }
}

static uint64_t quarter_of_memory(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && bytes > 0 ? (uint64_t)pages * (uint64_t)bytes / 4 : UINT64_C(1) << 30;
}

int options_read(options *o, int argc, char **argv)
{
    int option, rc = 0;
    *o = (options){ .host = "127.0.0.1",
        .port = 6381,
        .threads = 1,
        .max_url = 16 << 10,
        .max_header = 16 << 10,
        .max_body = 64 << 20,
        .max_buffered = UINT64_C(1) << 30,
        .max_filter = UINT64_C(4) << 30,
        .max_total = quarter_of_memory(),
        .max_connections = 16384,
        .max_filters = 1024,
        .deadline = 30,
        .idle = 75 };
    while (rc == 0 && (option = getopt_long(argc, argv, "m:n:p:k:h", names, NULL)) != -1)
        rc = take(o, option);
    if (rc == 0 && optind < argc)
        rc = refuse("an argument", "an option (try --help)", argv[optind]);
    return rc;
}
