/* test_failing_calls.c - each scenario runs with its 1st, 2nd, 3rd ... call to the system failing,
 * until it runs through.  Whatever fails: a code and a sentence, nothing leaked, no file in part,
 * no key lost that was acknowledged, and the same scenario goes through right after.  About
 * core/filter.c, core/home/memory.c, core/home/file.c, core/redis/store.c. */
/* wraps: malloc calloc realloc strdup strndup free open fsync ftruncate fstat rename msync */
/* wraps: linkat posix_fallocate mmap pread pwrite send recv poll getentropy flock */
#include "../../core/bloomfilter.h"
#include "check.h"
#include "optional.h"
#include "each_call_fails.h"
#include "redis_server.h"

static server redis;
static char url[200];

static void flush(void) { rs_command(&redis, "FLUSHALL"); }

/* ---- scenarios: each ends at the first error, with everything closed ---- */
static void memory(void)
{
    bf_error e = { 0 };
    static const uint8_t secret[] = "0123456789abcdef";
    bf_spec spec = { .n = 1000, .p = 0.01, .secret = secret, .secret_len = BF_SECRET_BYTES },
            again = { .secret = secret, .secret_len = BF_SECRET_BYTES };
    bf_filter *copy = NULL, *back = NULL, *f = bf_open(&spec, &e);
    bf_info info;
    uint8_t *bytes = NULL;
    if (!f) {
        CHECK(failed && e.code == BF_ENOMEM);
        return;
    }
    if (!try(bf_add_many(f, keys, KEYS, NULL, &e), &e)) goto done;
    if (!(copy = bf_copy(f, &e))) {
        CHECK(failed && e.code == BF_ENOMEM);
        goto done;
    }
    if (!try(bf_unite(f, copy, &e), &e)) goto done;
    bf_get_info(f, &info);
    armed = false;
    bytes = malloc(info.image_bytes);
    armed = true;
    if (!try(bf_to_bytes(f, bytes, info.image_bytes, &e), &e)) goto done;
    if (!(back = bf_from_bytes(bytes, info.image_bytes, &again, &e))) {
        CHECK(failed && e.code == BF_ENOMEM);
        goto done;
    }
    CHECK_EQ(bf_equal(f, back, &e), 1);
done:
    armed = false;
    free(bytes);
    armed = true;
    CLOSE(f, copy, back);
}

static void file(void) { use_storage(&(bf_spec){ .n = 1000, .p = 0.01, .storage = path }); }

static void save_and_load(void)
{
    bf_error e = { 0 };
    bf_filter *back = NULL, *f = bf_open(&(bf_spec){ .n = 1000, .p = 0.01 }, &e);
    if (!f) {
        CHECK(failed);
        return;
    }
    if (!try(bf_add_many(f, keys, KEYS, NULL, &e), &e) || !try(bf_save(f, other, &e), &e))
        goto done;
    acknowledged = true;
    if (!(back = bf_load(other, NULL, &e)))
        CHECK(failed && e.msg[0]);
    else
        CHECK_EQ(bf_equal(f, back, &e), 1);
done:
    CLOSE(f, back);
}

static void remote(void) { use_storage(&(bf_spec){ .n = 1000, .p = 0.01, .storage = url }); }

static void remote_whole(void)
{
    bf_error e = { 0 };
    bf_state state;
    bf_filter *copy = NULL, *f = bf_open(&(bf_spec){ .n = 1000, .p = 0.01, .storage = url }, &e);
    if (!f) {
        CHECK(failed && e.msg[0]);
        return;
    }
    if (!try(bf_add_many(f, keys, KEYS, NULL, &e), &e)) goto done;
    acknowledged = true;
    if (!(copy = bf_copy(f, &e))) {
        CHECK(failed && e.msg[0]);
        goto done;
    }
    CHECK_EQ(bf_test_many(copy, keys, KEYS, NULL, &e), KEYS);
    if (!try(bf_unite(f, copy, &e), &e) || !try(bf_get_state(f, &state, &e), &e) ||
        !try(bf_expire(f, 100, &e), &e))
        goto done;
    acknowledged = false; /* from here on they may be gone */
    if (try(bf_clear(f, &e), &e)) try(bf_delete(f, &e), &e);
done:
    CLOSE(f, copy);
}

TEST(every_call_of_a_memory_filter_fails_once)
{
    NEEDS_SODIUM;
    each_fails(memory, NULL, true);
}
TEST(every_call_that_makes_a_file_fails_once) { each_fails(file, path, true); }
TEST(every_call_on_an_existing_file_fails_once) { each_fails(file, path, false); }
TEST(every_call_of_save_fails_once) { each_fails(save_and_load, other, true); }
TEST(every_call_of_save_over_a_file_fails_once) { each_fails(save_and_load, other, false); }
TEST(every_call_that_makes_a_filter_in_redis_fails_once) { each_fails(remote, url, true); }
TEST(every_call_on_an_existing_filter_in_redis_fails_once) { each_fails(remote, url, false); }
TEST(every_call_on_a_whole_filter_in_redis_fails_once) { each_fails(remote_whole, url, true); }

TEST(random_secret_fails)
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
    forget_url = flush;
    rs_start(&redis, NULL);
    snprintf(url, sizeof url, "%s", rs_url(&redis, "once", "&timeout=2&retry_after=0"));
    const int rc = main_once();
    rs_end(&redis);
    return rc;
}
