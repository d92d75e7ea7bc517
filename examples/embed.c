/* embed.c - all steps of using a filter in a C program: sizes, single keys, batches, errors, a
 * file.
 *
 *     cc embed.c $(pkg-config --cflags --libs bloomfilter) -o embed
 *     ./embed seen.bloom           the second run finds all keys present
 *
 * Prints what it did; on an error, one sentence and exit status 2. */
#include <bloomfilter.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { URLS = 3 };
static const char *const urls[URLS] = { "https://example.org/", "https://example.org/a",
    "https://example.org/b" };

/* Sizes before anything is allocated. */
static int show_plan(bf_spec spec, bf_error *err)
{
    int rc = bf_plan(&spec, err);
    if (rc < 0) return rc;
    printf("%" PRIu64 " keys at %g: %" PRIu64 " bytes, %u bits set per key, scheme %s\n", spec.n,
        spec.p, spec.m / 8, spec.k, spec.scheme);
    return 0;
}

/* One key.  Three answers in one int, so never `if (!bf_add(...))`. */
static int add_one(bf_filter *seen, const char *url, bf_error *err)
{
    int answer = bf_add(seen, url, strlen(url), err);
    if (answer < 0) return answer;
    printf("%s is %s\n", url, answer == BF_ADDED ? "new" : "a repeat");
    return 0;
}

/* Many keys: several times as fast as single ones, and in Redis one round trip for all. */
static int add_many(bf_filter *seen, bf_error *err)
{
    bf_key keys[URLS];
    uint8_t fresh[URLS];
    for (size_t i = 0; i < URLS; i++) keys[i] = (bf_key){ urls[i], strlen(urls[i]) };
    int64_t count = bf_add_many(seen, keys, URLS, fresh, err);
    if (count < 0) return (int)count;
    printf("of %d urls %" PRId64 " were new\n", URLS, count);
    return 0;
}

static int show_state(bf_filter *seen, bf_error *err)
{
    bf_state state;
    int rc = bf_get_state(seen, &state, err);
    if (rc < 0) return rc;
    printf("about %.0f keys in it\n", state.count);
    return 0;
}

int main(int argc, char **argv)
{
    bf_spec spec = {
        .n = 1000000, .p = 0.001, .storage = argc > 1 ? argv[1] : NULL
    }; /* NULL: memory of this process */
    bf_error err;
    bf_filter *seen = bf_open(&spec, &err);
    int rc = seen ? show_plan(spec, &err) : -1;
    if (rc >= 0) rc = add_one(seen, urls[0], &err);
    if (rc >= 0) rc = add_many(seen, &err);
    if (rc >= 0) rc = show_state(seen, &err);
    if (rc >= 0) rc = bf_sync(seen, &err); /* from here on it survives a power loss */
    if (rc < 0) fprintf(stderr, "embed: %s\n", err.msg);
    bf_close(seen); /* NULL is fine */
    return rc < 0 ? 2 : 0;
}
