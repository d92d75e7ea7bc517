/* test_once.c - each scenario runs with its 1st, 2nd, 3rd ... call to the system failing, until it runs through.  Whatever
 * fails: a code and a sentence, nothing leaked, no file in part, no key lost that was acknowledged, and the same scenario
 * goes through right after.
 * wraps: malloc calloc realloc strdup strndup free open fsync ftruncate fstat rename msync linkat posix_fallocate mmap pread pwrite send recv poll getentropy redisConnectWithTimeout redisReaderFeed */
#include "../../core/bloomfilter.h"
#include "check.h"
#include "once.h"
#include "redis_server.h"
#include <dirent.h>

enum { KEYS = 300, MOST = 2000 };
static char folder[] = "/tmp/bf-once-XXXXXX", path[64], saved[64], url[200];
static server redis;
static bool have_redis;
static bf_key keys[KEYS];
static char texts[KEYS][16];
static bool acknowledged;              /* all of keys are in the storage of the scenario */

static bool try(int64_t rc, const bf_error *e)
{
    if (rc >= 0) return true;
    CHECK(failed);
    CHECK(e->code == rc && e->msg[0]);
    return false;
}

/* ---- scenarios: each ends at the first error, with everything closed ---- */
static void memory(void)
{
    bf_error e = { 0 };
    static const uint8_t secret[] = "0123456789abcdef";
    bf_spec spec = { .n = 1000, .p = 0.01, .secret = secret, .secret_len = BF_SECRET_BYTES }, again = { .secret = secret, .secret_len = BF_SECRET_BYTES };
    bf_filter *copy = NULL, *back = NULL, *f = bf_open(&spec, &e);
    bf_info info;
    uint8_t *bytes = NULL;
    if (!f) { CHECK(failed && e.code == BF_ENOMEM); return; }
    if (!try(bf_add_many(f, keys, KEYS, NULL, &e), &e)) goto done;
    if (!(copy = bf_copy(f, &e))) { CHECK(failed && e.code == BF_ENOMEM); goto done; }
    if (!try(bf_unite(f, copy, &e), &e)) goto done;
    bf_get_info(f, &info);
    armed = false;
    bytes = malloc(info.image_bytes);
    armed = true;
    if (!try(bf_to_bytes(f, bytes, info.image_bytes, &e), &e)) goto done;
    if (!(back = bf_from_bytes(bytes, info.image_bytes, &again, &e))) { CHECK(failed && e.code == BF_ENOMEM); goto done; }
    CHECK_EQ(bf_equal(f, back, &e), 1);
done:
    armed = false;
    free(bytes);
    armed = true;
    bf_close(f);
    bf_close(copy);
    bf_close(back);
}

static void use_storage(const bf_spec *spec)
{
    bf_error e = { 0 };
    bf_filter *f = bf_open(spec, &e);
    if (!f) { CHECK(failed && e.code < 0 && e.msg[0]); return; }
    if (try(bf_add_many(f, keys, KEYS, NULL, &e), &e)) {
        acknowledged = true;
        int64_t n = bf_test_many(f, keys, KEYS, NULL, &e);
        if (n >= 0) CHECK_EQ(n, KEYS);
        else CHECK(failed);
        try(bf_sync(f, &e), &e);
    }
    /* The object is still good for what comes after the fault. */
    if (failed) {
        int64_t n = bf_add_many(f, keys, KEYS, NULL, &e);
        if (n >= 0) acknowledged = true;
        CHECK(n >= 0);
        CHECK_EQ(bf_test_many(f, keys, KEYS, NULL, &e), KEYS);
    }
    bf_close(f);
}

static void file(void) { use_storage(&(bf_spec){ .n = 1000, .p = 0.01, .storage = path }); }

static void save_and_load(void)
{
    bf_error e = { 0 };
    bf_filter *back = NULL, *f = bf_open(&(bf_spec){ .n = 1000, .p = 0.01 }, &e);
    if (!f) { CHECK(failed); return; }
    if (!try(bf_add_many(f, keys, KEYS, NULL, &e), &e) || !try(bf_save(f, saved, &e), &e)) goto done;
    acknowledged = true;
    if (!(back = bf_load(saved, NULL, &e))) CHECK(failed && e.msg[0]);
    else CHECK_EQ(bf_equal(f, back, &e), 1);
done:
    bf_close(f);
    bf_close(back);
}

static void remote(void) { use_storage(&(bf_spec){ .n = 1000, .p = 0.01, .storage = url }); }

static void remote_whole(void)
{
    bf_error e = { 0 };
    bf_state state;
    bf_filter *copy = NULL, *f = bf_open(&(bf_spec){ .n = 1000, .p = 0.01, .storage = url }, &e);
    if (!f) { CHECK(failed && e.msg[0]); return; }
    if (!try(bf_add_many(f, keys, KEYS, NULL, &e), &e)) goto done;
    acknowledged = true;
    if (!(copy = bf_copy(f, &e))) { CHECK(failed && e.msg[0]); goto done; }
    CHECK_EQ(bf_test_many(copy, keys, KEYS, NULL, &e), KEYS);
    if (!try(bf_unite(f, copy, &e), &e) || !try(bf_get_state(f, &state, &e), &e) || !try(bf_expire(f, 100, &e), &e)) goto done;
    acknowledged = false;                                   /* from here on they may be gone */
    if (try(bf_clear(f, &e), &e)) try(bf_delete(f, &e), &e);
done:
    bf_close(f);
    bf_close(copy);
}

/* ---- what must hold afterwards ---- */
static int open_files(void)
{
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    while (d && readdir(d)) n++;
    if (d) closedir(d);
    return n;
}

static void no_other_file(void)
{
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.' && strcmp(e->d_name, "f.bloom") && strcmp(e->d_name, "s.bloom")) {
            fprintf(stderr, "left behind: %s\n", e->d_name);
            CHECK(!"no partial file stays behind");
        }
    if (d) closedir(d);
}

/* What is in the storage is a whole filter, with all keys in it if it said so. */
static void whole(const char *storage)
{
    bf_error e = { 0 };
    bf_filter *f = bf_open(&(bf_spec){ .storage = storage, .must_exist = true }, &e);
    if (!f) {                                               /* nothing there: fine if nothing was acknowledged */
        CHECK(!acknowledged);
        CHECK(e.sys_errno == ENOENT || strstr(e.msg, "does not exist"));
        return;
    }
    if (acknowledged) CHECK_EQ(bf_test_many(f, keys, KEYS, NULL, &e), KEYS);
    bf_close(f);
}

static void forget(const char *storage)
{
    if (storage && storage[0] == '/') unlink(storage);
    else if (storage) rs_command(&redis, "FLUSHALL");
}

/* fresh: the storage is empty each time; else the filter of the run before is there. */
static void each_fails(void (*scenario)(void), const char *storage, bool fresh)
{
    long n = 0;
    forget(storage);
    do {
        if (fresh) forget(storage);
        int files = open_files();
        calls = held = 0;
        fail_at = ++n;
        failed = acknowledged = false;
        armed = true;
        scenario();
        armed = false;
        int before = failed_here;
        CHECK_EQ(held, 0);
        CHECK_EQ(open_files(), files);
        no_other_file();
        if (storage) whole(storage);
        if (failed_here > before) fprintf(stderr, "  ... after call %ld failed, %s\n", n, failed ? failed_call : "none");
    } while (failed && n < MOST && failed_here < 20);
    CHECK(n > 3 && n < MOST);
    forget(storage);
}

static void every_call_of_a_memory_filter_fails_once(void) { each_fails(memory, NULL, true); }
static void every_call_that_makes_a_file_fails_once(void) { each_fails(file, path, true); }
static void every_call_on_an_existing_file_fails_once(void) { each_fails(file, path, false); }
static void every_call_of_save_fails_once(void) { each_fails(save_and_load, saved, true); }
static void every_call_of_save_over_a_file_fails_once(void) { each_fails(save_and_load, saved, false); }
static void every_call_that_makes_a_filter_in_redis_fails_once(void) { if (have_redis) each_fails(remote, url, true); }
static void every_call_on_an_existing_filter_in_redis_fails_once(void) { if (have_redis) each_fails(remote, url, false); }
static void every_call_on_a_whole_filter_in_redis_fails_once(void) { if (have_redis) each_fails(remote_whole, url, true); }

static void random_secret_fails(void)
{
    bf_error e = { 0 };
    uint8_t a[BF_SECRET_BYTES], b[BF_SECRET_BYTES];
    CHECK_EQ(bf_random_secret(a, &e), 0);
    CHECK_EQ(bf_random_secret(b, &e), 0);
    CHECK(memcmp(a, b, sizeof a) != 0);
    calls = 0;
    fail_at = 1;
    armed = true;
    CHECK_EQ(bf_random_secret(a, &e), BF_EIO);
    armed = false;
    CHECK_HAS(e.msg, "random");
}

int main(void)
{
    if (!mkdtemp(folder)) return 1;
    snprintf(path, sizeof path, "%s/f.bloom", folder);
    snprintf(saved, sizeof saved, "%s/s.bloom", folder);
    for (int i = 0; i < KEYS; i++) {
        int len = snprintf(texts[i], sizeof texts[i], "key %d", i);
        keys[i] = (bf_key){ texts[i], (size_t)len };
    }
    RUN(every_call_of_a_memory_filter_fails_once);
    RUN(every_call_that_makes_a_file_fails_once);
    RUN(every_call_on_an_existing_file_fails_once);
    RUN(every_call_of_save_fails_once);
    RUN(every_call_of_save_over_a_file_fails_once);
    bf_error e;
    have_redis = bf_open(&(bf_spec){ .storage = "redis://127.0.0.1:1?key=x" }, &e) || e.code != BF_ENOTSUP;
    if (have_redis) {
        rs_start(&redis, NULL);
        snprintf(url, sizeof url, "%s", rs_url(&redis, "once", "&timeout=2"));
    }
    RUN(every_call_that_makes_a_filter_in_redis_fails_once);
    RUN(every_call_on_an_existing_filter_in_redis_fails_once);
    RUN(every_call_on_a_whole_filter_in_redis_fails_once);
    RUN(random_secret_fails);
    if (have_redis) rs_end(&redis);
    rmdir(folder);
    return FINISH();
}
