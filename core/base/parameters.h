/* parameters.h - the one table of the parameters of a filter: names, kinds, ranges, descriptions.
 * These rows become the parsers of PHP and Python, Python's signatures, the names that the daemon's
 * PUT accepts (BF_NUMBERS, BF_SCHEME, BF_STORED, BF_HANDLE) and the messages of bf_refuse.
 * scripts/parameters checks that the stubs, the command line, the daemon and the reference agree
 * with the rows.
 *
 *   X(KIND, name in C and Python, name in PHP, above, below, range, sentence)
 *
 *   SIZE    uint64_t      SMALL  unsigned      REAL  double, above < v < below
 *   SPAN    REAL, seconds; PHP also takes a DateInterval, Python a timedelta
 *   SPAN0   SPAN, 0 <= v < below; 0 is stored as BF_ALWAYS_TRY, because 0 in bf_spec means "not
 *           given"
 *   COUNT   unsigned; PHP also accepts a float without a fraction
 *   CHOICE  unsigned; a text in the other languages, one of those in the range
 *   TEXT, FLAG, SECRET, STORAGE, CLOCK, HASHES (bf_spec.functions)
 *
 * CONTRIBUTING.md lists what a new parameter needs. */
#ifndef BF_PARAMETERS_H
#define BF_PARAMETERS_H

/* clang-format off */
#define BF_NUMBERS(X)                                                                              \
    X(SIZE, m, m, 0, 0, "1 to 1099511627776 bits", "bits")                                         \
    X(SIZE, n, n, 0, 0, "1 to 9223372036854775807 keys", "keys the filter is sized for")           \
    X(COUNT, k, k, 0, 0, "1 to 4096 positions", "positions per key")                               \
    X(REAL, p, p, 0, 1, "above 0 and below 1", "rate of false positives at n keys")
#define BF_SCHEME(X)                                                                               \
    X(TEXT, scheme, scheme, 0, 0, NULL, "how a key becomes positions")
#define BF_SECRET(X)                                                                               \
    X(SECRET, secret, secret, 0, 0, "16 bytes", "for keys that strangers choose; never stored")
#define BF_STORAGE(X)                                                                              \
    X(STORAGE, storage, storage, 0, 0, NULL, "a path, a URL or a Redis client; none: memory")
#define BF_KEY(X)                                                                                  \
    X(TEXT, key, key, 0, 0, NULL, "name of the filter in Redis, if the URL has none")
#define BF_STORED(X)                                                                               \
    X(REAL, grow, grow, 0x1.fffffffffffffp-1, HUGE_VAL, "a factor from 1 to 1024",                 \
        "the filter grows past n by this factor and keeps p; 1: parts of one size")                \
    X(SPAN, window, window, 0, HUGE_VAL,                                                           \
        "a number of seconds above 0, 0.0001 or more for each part, at most 1e300",                \
        "a key is remembered for at least this many seconds after its last add")                   \
    X(SMALL, shards, shards, 0, 0, "1 to 4096", "equal slices, in Redis each under its own name")  \
    X(SMALL, parts, parts, 0, 0, "1 to 255", "steps in which a window forgets; 4 by default")
#define BF_HOME(X)                                                                                 \
    X(SPAN, timeout, timeout, 0, HUGE_VAL, "0.001 to 86400 seconds",                               \
        "Redis: seconds that a round trip may take")                                               \
    X(SPAN0, retry_after, retryAfter, 0, HUGE_VAL, "0 to 86400 seconds",                           \
        "Redis: seconds without a new attempt after a time-out; 1 by default, 0: none")            \
    X(FLAG, cache, cache, 0, 0, NULL, "Redis: keys known to be present need no round trip")        \
    X(SPAN, cache_max_age, cacheMaxAge, 0, HUGE_VAL, "a number of seconds above 0",                \
        "Redis: maximum age of the cache in seconds; 1 by default")                                \
    X(SMALL, wait_replicas, waitReplicas, 0, 0, "1 to 4294967295 replicas",                        \
        "Redis: an add returns when this many replicas have the key")                              \
    X(FLAG, adopt, adopt, 0, 0, NULL,                                                              \
        "Redis: makes another system's bitmap a filter of this library")                           \
    X(FLAG, exclusive, exclusive, 0, 0, NULL,                                                      \
        "file: this handle is the only writer; adds are as fast as in memory")
/* Parameters of a handle. They are not stored. A copy gets them from its original; load and
 * from_bytes take them as arguments. */
#define BF_HANDLE(X)                                                                               \
    X(CHOICE, overfull, overfull, 0, 0, "warn, raise or ignore",                                   \
        "effect of more keys than n: a warning (the default), errors, or nothing")
#define BF_CLOCK(X)                                                                                \
    X(CLOCK, clock, clock, 0, 0, NULL, "window: a function that returns the time in seconds")      \
    X(HASHES, hashes, hashes, 0, 0, "1 to 16 functions",                                           \
        "hash functions of your own, bytes to int: slow")
/* clang-format on */
#define BF_MORE(X) BF_STORED(X) BF_HOME(X) BF_HANDLE(X)

/* All parameters, in the order of PHP's constructor. In Python most of them are keyword-only. */
#define BF_PARAMETERS(X)                                                                           \
    BF_NUMBERS(X) BF_SCHEME(X) BF_SECRET(X) BF_STORAGE(X) BF_KEY(X) BF_MORE(X) BF_CLOCK(X)
#endif
